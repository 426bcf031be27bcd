"""How many calls lie between `fit` and the rule that runs: a reader follows as many (run with the JIT switched off)."""

import sys

import numba
import numpy as np
import pytest

import halfspace as hs
from halfspace.cli import main

pytestmark = pytest.mark.skipif(not numba.config.DISABLE_JIT, reason="compiled code leaves no call frames")


def walk(call, goal):
    """Return the functions of ours on the stack when a function called `goal` is first entered, from the outside in.

    The table of an open function is no step of the walk: what it calls is found by the name and the type.
    """
    found = []

    def look(frame, event, _):
        if event == "call" and not found and frame.f_code.co_name == goal:
            while frame is not None:
                module = frame.f_globals.get("__name__", "")
                if "halfspace" in module.split(".") and module != "halfspace._dispatch":
                    found.insert(0, frame.f_code.co_name)
                frame = frame.f_back

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


X = np.array([[0.0, 1.0], [1.0, 0.0], [4.0, 1.0], [5.0, 0.0]])
y = np.array([0, 0, 1, 1])
WALKS = {
    "GMLVQ": (lambda: hs.GMLVQ(optimizer="online", max_iter=1).fit(X, y), "learn_matrix", 6),
    "KernelAdaTron": (lambda: hs.KernelAdaTron().fit(X, y), "pair_step", 7),
}


@pytest.mark.parametrize("name", WALKS)
def test_the_walk_to_the_rule_is_short(name):
    """From `fit` to the rule there are at most so many call frames of ours, both ends counted."""
    call, goal, most = WALKS[name]
    call()  # what is read once, such as lazy imports, is no part of the walk
    found = walk(call, goal)
    assert found[0] == "fit"
    assert found[-1] == goal
    assert len(found) <= most, found


def test_the_command_walks_to_the_rule_of_a_rung(tmp_path):
    """Between the command and the walk of a rung's model lie seven call frames of ours: the rule is reached in fourteen."""
    table = tmp_path / "t.csv"
    rows = [f"{i % 7},{i * i % 11},{'yes' if i % 7 + i * i % 11 > 8 else 'no'}" for i in range(40)]
    table.write_text("\n".join(["a,b,y", *rows]), encoding="utf-8")

    def fit():
        with pytest.raises(SystemExit):
            main(["fit", str(table), "--target", "y", "--rungs", "perceptron"])

    model = walk(lambda: hs.AveragedPerceptron(random_state=0).fit(X, y), "sweep")
    found = walk(fit, "sweep")
    assert found == ["main", "invoke", "run", "fit", "climb", "score_rung", "fitted", *model]
    assert len(found) <= 12, found  # then the open function and the rule itself
