"""What linear regression says of weights and freedom that the data leave open, from where on."""

from types import SimpleNamespace

import numpy as np
import pytest

from halfspace.models.regression import linear_regression


def explained(total=8.0, gamma=2.0, rank=2, D=2, ridge=0.0, free=False, examples=8, run=None):
    data = SimpleNamespace(total=total, free=free, design=SimpleNamespace(D=D, s=np.ones(examples)))
    fit = SimpleNamespace(route="a way", rank=rank, gamma=gamma, run=run)
    choice = SimpleNamespace(fit=fit, how="", remedy="", ridge=ridge)
    return linear_regression._explained(data, choice, "a claim\nand more")


@pytest.mark.parametrize(("left", "said"), [(0.0, True), (0.5, True), (1.0, True), (1.5, False)])
def test_no_freedom_is_left_within_a_billionth_of_the_examples(left, said):
    """So much of the sum of weights is no freedom; the constant takes one."""
    for free in (False, True):
        found = explained(total=1e9, gamma=1e9 - left - free, free=free)
        assert ("No degrees of freedom are left" in found.sentence) is said
        assert found.reason == "solved"


@pytest.mark.parametrize(
    ("rank", "ridge", "examples", "free", "said"),
    [
        (2, 0.0, 8, False, None),
        (1, 0.0, 8, False, "fit equally well (rank 1 of 2 inputs)"),
        (0, 0.0, 8, False, "fit equally well (rank 0 of 2 inputs)"),
        (-1, 0.0, 8, False, None),
        (1, 0.5, 8, False, None),
        (1, 0.0, 1, False, "fit exactly (rank 1 of 2 inputs)"),
        (1, 0.0, 2, True, "fit exactly (rank 1 of 2 inputs)"),
        (1, 0.0, 2, False, "fit equally well (rank 1 of 2 inputs)"),
    ],
)
def test_weights_that_the_data_leave_open_are_said_to_be(rank, ridge, examples, free, said):
    """Below full rank without a penalty; where rank and constant are as many as the examples, they fit exactly."""
    found = explained(rank=rank, ridge=ridge, examples=examples, free=free)
    assert ("Infinitely many weights" in found.sentence) is (said is not None)
    assert (said or "") in found.sentence
    assert ("collinear" in found.remedy) is (said is not None)
    assert found.sentence.startswith("Solved by a way: a claim.")


def test_what_was_not_decomposed_has_the_reason_of_its_run():
    """A run that converged is solved; another one says why it ended, and what to do."""
    for reason, said in (("converged", "solved"), ("time", "time")):
        run = SimpleNamespace(outcome=SimpleNamespace(reason=reason, sentence="It ended.", remedy="Wait."))
        found = explained(run=run, gamma=8.0)
        assert found.reason == said
        assert "Not decomposed" in found.sentence
        assert ("It ended." in found.sentence) is ("Wait." in found.remedy) is (reason != "converged")
        assert "degrees of freedom are left" not in found.sentence
