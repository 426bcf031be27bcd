"""Which way a question is looked into: by exact search where that is quick, by the perceptron alone for very many columns."""

from importlib import import_module

import numpy as np
import pytest
from scipy import sparse

from halfspace.errors import InputError

questions = import_module("halfspace.questions.separability")


class LookedError(Exception):
    """Says which search was asked."""


@pytest.mark.parametrize(
    ("shape", "way"), [((9, 3), "search"), ((5, 4), "search"), ((6, 4), "wide_search"), ((4, 6), "wide_search")]
)
def test_very_many_columns_are_left_to_the_perceptron(shape, way, monkeypatch):
    """Beyond so many columns, unless the table has few numbers; both ends belong to the exact search."""

    def asked(name):
        def look(*_):
            raise LookedError(name)

        return look

    for name in ("search", "wide_search"):
        monkeypatch.setattr(questions, name, asked(name))
    monkeypatch.setattr(questions, "WIDE", 3)
    monkeypatch.setattr(questions, "SMALL", 20)
    rows = np.arange(float(shape[0] * shape[1])).reshape(shape)
    with pytest.raises(LookedError) as found:
        questions.separability(rows, np.arange(shape[0]) % 2)
    assert str(found.value) == way


@pytest.mark.parametrize("seconds", [0, -1.0, True, "1", float("nan")])
def test_a_time_limit_is_a_positive_number(seconds):
    """Anything else is refused by name; so are labels that are missing and words for no kind of bias."""
    rows, y = np.array([[1.0], [2.0]]), np.array([0, 1])
    with pytest.raises(InputError, match="'max_time' parameter of separability"):
        questions.separability(rows, y, max_time=seconds)
    with pytest.raises(InputError, match="needs labels"):
        questions.separability(rows, None)
    with pytest.raises(InputError, match="'intercept' parameter of separability"):
        questions.separability(rows, y, intercept="some")
    with pytest.warns(FutureWarning, match="intercept='free'"):
        assert questions.read_intercept(True, "separability") == "free"
    with pytest.warns(FutureWarning, match="intercept='none'"):
        assert questions.read_intercept(np.False_, "separability") == "none"


@pytest.mark.parametrize(("form", "entries"), [(np.asarray, 4.0), (sparse.csr_array, 2.5)])
def test_time_for_the_bracket_is_set_aside(form, entries, monkeypatch):
    """As many passes over all entries, the constant one included, as measuring it takes."""

    def found(_look, _signed, budget):
        raise LookedError(budget.reserve)

    monkeypatch.setattr(questions, "_found", found)
    monkeypatch.setattr(questions, "BRACKETS", 6.0)
    monkeypatch.setattr(questions, "PROVED", 3.0)
    rows = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [4.0, 5.0, 0.0], [0.0, 0.0, 6.0]])
    with pytest.raises(LookedError) as seen:
        questions.separability(form(rows), np.arange(4) % 2)
    assert seen.value.args == (6.0 * 4 * entries / 3.0,)


@pytest.mark.parametrize("seed", range(4))
def test_columns_that_are_sums_of_others_but_for_rounding_need_no_simplex(seed, monkeypatch):
    """Standardised 0/1 columns of all values, and sums of them: what is left of these is rounding, which decides exactly."""
    monkeypatch.setattr(import_module("halfspace.solvers.exact.separating"), "simplex", None)
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (120, 5))
    Z = np.hstack([codes[:, [j]] == np.arange(4) for j in range(5)]).astype(float)
    Z = np.hstack([Z, 3.0 * Z[:, :6] + Z[:, 6:12]])
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    y = rng.integers(0, 2, 120)
    proof = questions.separability(Z, y)
    assert proof.verdict == "inseparable"
    assert proof.verify(Z, y)
