"""What questions do unless they are told otherwise is what their documentation says, and the limits are those known."""

import inspect
import re
from importlib import import_module

import numpy as np
import pytest

import halfspace as hs
from halfspace.errors import InputError

X, Y = np.array([[1.0], [2.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
MODEL = hs.Perceptron(random_state=0).fit(X, Y)
ASKED = {
    "bias_variance": (hs.bias_variance, lambda ask: ask(MODEL, None, n_sets=0)),
    "chance": (hs.separable_by_chance, lambda ask: ask(X, Y, permutations=-1)),
    "experiment": (hs.experiment, lambda ask: ask("hebb", N=0, alphas=[1.0])),
    "learning_curve": (hs.LearningCurve, lambda ask: ask(MODEL, n_repeats=0).fit(X, Y)),
    "margin_bracket": (hs.margin_bracket, lambda ask: ask(X, Y, tol=2.0)),
    "pac_bayes": (hs.pac_bayes, lambda ask: ask(MODEL, X, Y, delta=2.0)),
    "query": (hs.query, lambda ask: ask(MODEL, X, k=0)),
    "audit": (hs.audit, lambda ask: ask(Y, Y, level=2.0)),
    "separability": (hs.separability, lambda ask: ask(X, Y, intercept="some")),
    "version_space": (hs.VersionSpace, lambda ask: ask(X, Y, intercept="some")),
}
"""How each is asked, and in which way it is asked wrongly."""
DOCUMENTED = re.compile(r"^ *(\w+) : .*, default (\S+)$", re.MULTILINE)


def stated(function):
    """Return the defaults that a docstring states, by name."""
    return {name: eval(value, {}) for name, value in DOCUMENTED.findall(inspect.getdoc(function) or "")}  # noqa: S307  (our own words)


@pytest.mark.parametrize("name", ASKED)
def test_defaults_are_those_of_the_documentation(name):
    """Every default that a docstring states is that of the signature, and every number in a signature is stated."""
    ask, wrongly = ASKED[name]
    with pytest.raises((InputError, TypeError)):
        wrongly(ask)
    for function in (ask, *([ask.predict] if name == "learning_curve" else [ask.sample] if name == "version_space" else [])):
        found = {key: one.default for key, one in inspect.signature(function).parameters.items()}
        known = stated(function)
        assert {key: found[key] for key in known} == known
        assert {key for key, value in found.items() if isinstance(value, int | float)} <= set(known)
    if name == "version_space":
        assert inspect.signature(ask.share).parameters["n"].default == 1000


KNOWN = {
    "bias_variance": {"GROUPS": 50},
    "experiment": {"MEMBERS": 1000, "TESTS": 2000},
    "learning_curve": {
        "EXPONENTS": (0.5, 1.0),
        "SHIFTS": (0.0, 0.5, 1.0, 2.0, 4.0),
        "HIGHEST": 0.6,
        "GRID": 120,
        "HELD": {2: (17, 20), 4: (18, 20), 10: (17, 20)},
        "FEWEST": 40,
    },
    "pac_bayes": {},
    "query": {"WIDER": 2},
    "separability": {"WIDE": 3000, "SMALL": 20_000_000, "BRACKETS": 4.0},
    "version_space": {"CENTRE": 2000, "BATCHES": 20, "LEVEL": 20_000},
}


@pytest.mark.parametrize("name", KNOWN)
def test_limits_and_grids_are_those_known(name):
    """Whoever changes how much is drawn, tried or looked at changes it here too, and says why answers differ."""
    ask, wrongly = ASKED[name]
    with pytest.raises((InputError, TypeError)):
        wrongly(ask)
    module = import_module(f"halfspace.questions.{name}")
    assert {key: getattr(module, key) for key in KNOWN[name]} == KNOWN[name]
    if name == "pac_bayes":
        assert (module.LENGTHS.size, *module.LENGTHS[[0, -1]]) == pytest.approx((40, 0.5, 200.0), rel=1e-12)


def test_leaving_out_is_as_exact_as_known():
    """The tolerance and the rounds of each refit."""
    with pytest.raises(InputError):
        hs.leave_one_out(MODEL, X, Y)
    module = import_module("halfspace.questions.leave_one_out")
    assert (module.TOL, module.ROUNDS) == (1e-6, 60)
