"""The margin bracket: how far apart the classes are, between two numbers that are theorems at every moment.

Lower side. The margin of any weights is at most the best:  min_i y_i w·x_i / ‖w‖ <= kappa*.
Upper side. For any strengths lambda >= 0 with sum 1:  kappa* <= ‖Σ lambda_i y_i x_i‖,  because a unit vector with margin
kappa* has inner product at least kappa* with every y_i x_i, so also with their mean, whose length is at least that.
Free bias.  With outputs w·x + b the lower side is  min_i y_i (w·x_i + b) / ‖w‖,  and the upper side needs  Σ lambda_i y_i = 0,
which cancels b; what is left of that sum is multiplied by 2R, the most a sensible bias can be, and added.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import (
    as_rows,
    is_array,
    is_label,
    is_number,
    norm,
    potentials_and_sums,
    radius,
    rounding,
    shares,
    signs,
    squares,
    unit_scale,
    vanishes_exactly,
)
from halfspace.certificates.base import Certificate, Verdict

__all__ = ["MarginBracket", "Sides", "confirmed", "matching", "rebuilt", "sound_bracket", "sound_witnesses"]

SLACK = 4.0
"""A claim gives away this many rounding errors; a checker demands that one is left."""


class Sides(NamedTuple):
    """Both sides of a bracket as computed, before rounding is allowed for."""

    lower: float
    upper: float
    radius: float
    terms: int  # longest chain of additions behind either side

    def outward(self) -> tuple[float, float]:
        """Return both sides moved apart by several rounding errors, and within what the radius allows."""
        slack = SLACK * rounding(self.terms, self.radius)
        return max(self.lower - slack, -self.radius), max(min(self.upper + slack, self.radius), 0.0)


@dataclass(frozen=True, eq=False)
class MarginBracket(Certificate):
    """Two-sided bound on the best margin of two classes, with the witnesses of both sides.

    Parameters
    ----------
    lower, upper : float
        `lower <= kappa* <= upper`. A positive lower side proves the classes separable; an upper side of exactly 0 was
        confirmed in rational arithmetic and proves them inseparable (Gordan's theorem).
    radius : float
        Length R of the longest example, clamped input included.
    weights : ndarray, shape (D,)
        The plane of the lower side, clamped weight last.
    rows, strengths : ndarray, shape (m,)
        The examples of the upper side and their strengths (any positive multiple).
    clamp : float
        Value of the clamped input; 0 for none.
    positive : label
        The label that counts as +1.
    bias : float
        Free bias; 0 if there is none.
    free : bool
        Whether the bias is free: not counted in the length of the weights.

    Examples
    --------
    >>> X, y = np.array([[2.0], [-2.0]]), np.array([1, 0])
    >>> bracket = MarginBracket.measure(X, y, weights=np.array([1.0]), strengths=np.array([1.0, 1.0]), positive=1)
    >>> print(bracket)
    2 <= kappa* <= 2
    >>> bool(bracket.verify(X, y))
    True
    """

    lower: float
    upper: float
    radius: float
    weights: FloatArray
    rows: IntArray
    strengths: FloatArray
    clamp: float
    positive: Label
    bias: float = 0.0
    free: bool = False

    def __str__(self) -> str:
        return f"{self.lower:.4g} <= kappa* <= {self.upper:.4g}"

    @property
    def separable(self) -> bool | None:
        """True or False if the bracket proves it, None if it is too wide to tell."""
        return True if self.lower > 0 else False if self.upper <= 0 else None

    @classmethod
    def measure(
        cls,
        X: Matrix,
        y: Labels,
        *,
        weights: FloatArray,
        strengths: FloatArray | None = None,
        clamp: float = 0.0,
        positive: Label,
        bias: float | None = None,
    ) -> Self:
        """Measure the bracket of these weights (D,) and strengths (n,) on examples X (n, d) with labels y (n,).

        Without usable strengths the shortest example is the upper side's witness. A `bias` that is given is a free one.
        """
        X, y = as_rows(X, y)
        strengths = np.zeros(X.shape[0]) if strengths is None else np.maximum(np.nan_to_num(strengths), 0.0)
        if not strengths.any():
            strengths[np.argmin(squares(X))] = 1.0
        rows = np.flatnonzero(strengths)
        draft = cls(-np.inf, np.inf, 0.0, weights, rows, strengths[rows], clamp, positive, bias or 0.0, bias is not None)
        sides = draft._sides(X, y)
        bracket = cls.claim(sides, weights=weights, strengths=strengths, clamp=clamp, positive=positive)
        bracket = replace(bracket, bias=draft.bias, free=draft.free)
        if sides.upper <= 2 * rounding(sides.terms, sides.radius) and draft._gordan(X, y):
            return replace(bracket, upper=0.0)
        return bracket

    @classmethod
    def claim(cls, sides: "Sides", *, weights: FloatArray, strengths: FloatArray, clamp: float = 0.0, positive: Label) -> Self:
        """Make the bracket of numbers that a solver has at hand; `verify` will not take its word for any of them."""
        rows = np.flatnonzero(strengths > 0)
        lower, upper = sides.outward()
        return cls(lower, upper, sides.radius, weights.copy(), rows, strengths[rows], clamp, positive)

    def well_formed(self) -> Verdict:
        """Check types, shapes and ranges of the fields."""
        return Verdict.of(
            *sound_bracket(self),
            (is_array(self.weights, 1), "the weights are not a row of finite numbers"),
            (is_label(self.positive), f"{self.positive!r} cannot be a label"),
            (isinstance(self.free, bool), "free is neither true nor false"),
            (
                is_number(self.bias) and (self.free is True or self.bias == 0.0),
                "the bias is not a number, or not free and not 0",
            ),
            (not (self.free is True and self.clamp), "a bias cannot be both free and clamped"),
            (not sound_witnesses(self) or np.unique(self.rows).size == self.rows.size, "a row is named twice"),
        )

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute both sides and the radius."""
        shaped = Verdict.of(*matching(self, X), (both_signs(y, self.positive), f"not both {self.positive!r} and others in y"))
        if not shaped:
            return shaped
        proved = self.upper == 0.0 and self._gordan(X, y)
        return Verdict.of(*confirmed(self, self._sides(X, y), exactly_zero=proved))

    def _sides(self, X: Matrix, y: Labels) -> Sides:
        """Return min_i y_i (w·x_i + bias) / ‖w‖ (minus infinity for w = 0) and the length of the mean Σ lambda_i y_i x_i."""
        w, sign, R = unit_scale(self.weights), signs(y, self.positive), radius(X, self.clamp)
        scale = norm(self.weights) / norm(w) if norm(w) > 0 else 1.0
        c = np.zeros(X.shape[0])
        c[self.rows] = shares(self.strengths)
        outputs, sums = potentials_and_sums(X, w[None], (c * sign)[None], self.clamp)
        lower = float((sign * (outputs[:, 0] + self.bias / scale)).min()) / norm(w) if norm(w) > 0 else -np.inf
        rest = 2.0 * R * abs(float((c * sign).sum())) if self.free else 0.0
        return Sides(lower, norm(sums) + rest, R, sum(X.shape))

    def _gordan(self, X: Matrix, y: Labels) -> bool:
        """Tell whether the strengths are an exact Gordan certificate: not all zero, none negative, signed sum zero."""
        c = np.zeros(X.shape[0])
        c[self.rows] = self.strengths
        clamp = 1.0 if self.free else self.clamp
        return bool((self.strengths >= 0).all()) and vanishes_exactly(X, c * signs(y, self.positive), clamp)

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        return cls(**rebuilt(body))


def _array(values: Any, kind: Any) -> Any:
    """Turn plain numbers into an array, without rounding fractions to whole numbers."""
    array = np.asarray(values, dtype=np.float64)
    if kind is np.int64 and not (np.array_equal(array, np.trunc(array)) and (np.abs(array) < 2**53).all()):
        msg = "a row or class number is not a whole number"
        raise ValueError(msg)
    return array.astype(kind)


def rebuilt(body: dict[str, Any]) -> dict[str, Any]:
    """Turn the plain fields of a bracket or a gap back into arrays and floats."""
    kinds = {"weights": np.float64, "rows": np.int64, "rivals": np.int64, "strengths": np.float64}
    fields = {name: _array(value, kinds[name]) if name in kinds else value for name, value in body.items()}
    numbers = ("lower", "upper", "radius", "clamp", "bias", "primal", "dual", "C")
    return {**fields, **{name: float(body[name]) for name in numbers if name in body}}


def both_signs(y: Labels, positive: Label) -> bool:
    """Tell whether some labels are the positive one and some are not: a single class separates itself from nothing."""
    mine = np.asarray(y) == positive
    return np.shape(mine) == np.shape(y) and bool(np.any(mine)) and not bool(np.all(mine))


def sound_witnesses(bracket: Any) -> bool:
    """Tell whether rows and strengths are what they should be."""
    rows, strengths = bracket.rows, bracket.strengths
    if not (is_array(rows, 1, "i") and is_array(strengths, 1)) or rows.shape != strengths.shape or rows.size == 0:
        return False
    return bool((rows >= 0).all() and (strengths >= 0).all() and strengths.any())


def sound_bracket(bracket: Any) -> list[tuple[bool, str]]:
    """Return the claims about the fields that every bracket has."""
    sides = is_number(bracket.lower, infinite=True) and is_number(bracket.upper, least=0.0, infinite=True)
    return [
        (sides, "the sides are not numbers, or the upper one is negative"),
        (not sides or bracket.lower <= bracket.upper, "the lower side is above the upper one"),
        (is_number(bracket.radius, least=0.0), "the radius is not a number >= 0"),
        (is_number(bracket.clamp), "the clamped input is not a number"),
        (sound_witnesses(bracket), "rows and strengths are not matching rows >= 0 and strengths >= 0, some positive"),
    ]


def matching(bracket: Any, X: Matrix) -> list[tuple[bool, str]]:
    """Return the claims that a bracket is for data of this shape."""
    n, D = X.shape[0], X.shape[1] + bool(bracket.clamp)
    inputs = bracket.weights.shape[-1]
    return [
        (inputs == D, f"weights for {inputs} inputs, but the data have {D}"),
        (bool((bracket.rows < n).all()), f"a row outside 0..{n - 1}"),
    ]


def confirmed(bracket: Any, sides: Sides, *, exactly_zero: bool) -> list[tuple[bool, str]]:
    """Return the claims of a bracket, judged by sides computed anew; NaN and infinity confirm nothing."""
    error, R = rounding(sides.terms, sides.radius), sides.radius
    finite = bool(np.isfinite(R) and np.isfinite(sides.upper) and (np.isfinite(sides.lower) or sides.lower == -np.inf))
    low_side = finite and bracket.lower <= max(sides.lower - error, -R)
    positive = bracket.upper > 0.0 or R == 0.0  # a float residual proves no zero, unless there is nothing but zeros
    high_side = exactly_zero or (finite and positive and bracket.upper >= min(sides.upper + error, R))
    return [
        (low_side, f"the weights have margin {sides.lower:.6g}, not {bracket.lower:.6g}"),
        (high_side, f"the strengths allow a margin of {sides.upper:.6g}, not only {bracket.upper:.6g}"),
        (finite and abs(bracket.radius - R) <= 1e-9 * R, f"the radius is {R:.6g}, not {bracket.radius:.6g}"),
    ]
