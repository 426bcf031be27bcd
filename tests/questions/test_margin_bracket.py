"""The best margin of two classes: known ones are enclosed as narrowly as asked, with every kind of bias."""

from fractions import Fraction

import numpy as np
import pytest

import halfspace as hs
from halfspace.errors import InputError
from halfspace.questions.margin_bracket import _whole

X = np.array([[3.0, 1.0], [4.0, -2.0], [1.0, 1.0], [0.0, -3.0]])
Y = np.array(["yes", "yes", "no", "no"])


@pytest.mark.parametrize(
    ("intercept", "margin"),
    [("free", 1.0), ("none", None), ("clamped", None)],
)
@pytest.mark.parametrize("tol", [0.3, 1e-3, 1e-6])
def test_the_bracket_is_as_narrow_as_asked(intercept, margin, tol):
    """lower <= kappa* <= upper with (upper - lower)/upper <= tol; with a free bias half the distance of the hulls."""
    bracket = hs.margin_bracket(X, Y, intercept=intercept, tol=tol)
    assert bracket.verify(X, Y)
    assert (bracket.free, bracket.clamp, bracket.positive) == (intercept == "free", float(intercept == "clamped"), "yes")
    assert bracket.weights.size == 2 + (intercept == "clamped")
    if intercept == "none":
        assert bracket.lower < 0.0  # no plane through the origin: the classes are on the same side
        return
    assert 0.0 < bracket.lower <= bracket.upper
    assert bracket.upper - bracket.lower <= tol * bracket.upper * (1 + 1e-9)
    if margin is not None:
        assert bracket.lower <= margin <= bracket.upper


def test_a_coarse_bracket_stops_earlier():
    """By default a thousandth; an answer that may be coarser is not made finer than it has to be."""
    rng = np.random.default_rng(0)
    data = rng.standard_normal((60, 5))
    labels = (data @ np.arange(1.0, 6.0) > 0).astype(int)
    data += 0.2 * np.where(labels, 1.0, -1.0)[:, None]
    width = {tol: 1.0 - (b := hs.margin_bracket(data, labels, tol=tol)).lower / b.upper for tol in (0.5, 1e-3, 1e-7)}
    default = hs.margin_bracket(data, labels)
    assert width[0.5] > 1e-3 >= width[1e-3] > 1e-7 >= width[1e-7]
    assert 1.0 - default.lower / default.upper == width[1e-3]


def test_inseparable_classes_have_an_upper_side_of_zero():
    """Where the exact multipliers are short, the sum vanishes exactly, and the bracket proves it."""
    data, labels = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 1, 0, 1])
    bracket = hs.margin_bracket(data, labels)
    assert (bracket.upper, bracket.separable) == (0.0, False)
    assert bracket.verify(data, labels)


def test_multipliers_become_whole_numbers_where_floats_hold_them():
    """Shares over their common denominator are exact up to 2^53; longer ones are rounded."""
    assert _whole({3: Fraction(1, 3), 0: Fraction(1, 6), 1: Fraction(1, 2)}, 5).tolist() == [1.0, 3.0, 0.0, 2.0, 0.0]
    edge = Fraction(2**53 - 1, 2**53)
    assert _whole({0: edge, 1: 1 - edge}, 2).tolist() == [2.0**53 - 1, 1.0]
    long = Fraction(1, 2**60 + 1)
    assert _whole({0: 1 - long, 1: long}, 2).tolist() == [float(1 - long), float(long)]
    assert _whole({0: Fraction(1, 2**53 + 1), 1: Fraction(2**53, 2**53 + 1)}, 2).tolist() == [
        float(Fraction(1, 2**53 + 1)),
        float(Fraction(2**53, 2**53 + 1)),
    ]


@pytest.mark.parametrize("tol", [0.0, 1.0, -0.5, True, "1e-3", None])
def test_no_width_but_one_between_0_and_1_is_understood(tol):
    """Another is refused in words, and so are more than two classes and an unknown intercept."""
    with pytest.raises(InputError, match="'tol' parameter"):
        hs.margin_bracket(X, Y, tol=tol)
    with pytest.raises(InputError, match="two classes"):
        hs.margin_bracket(X, np.arange(4))
    with pytest.raises(InputError, match="'intercept' parameter"):
        hs.margin_bracket(X, Y, intercept="maybe")
