"""The margin bracket of several classes learnt together, by Kesler's construction.

"The truth beats every rival",  w_y·x > w_v·x,  is a two-class statement about the vector (e_y - e_v) ⊗ x and the long weight
vector W. So both sides of the margin bracket carry over, with one vector per example and rival.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import (
    as_rows,
    is_array,
    is_label,
    norm,
    potentials_and_sums,
    radius,
    shares,
    squares,
    unit_scale,
)
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.margins.margin import (
    MarginBracket,
    Sides,
    confirmed,
    matching,
    rebuilt,
    sound_bracket,
    sound_witnesses,
)

__all__ = ["KeslerBracket", "rivals_only"]


@dataclass(frozen=True, eq=False)
class KeslerBracket(Certificate):
    """Two-sided bound on the best margin of several classes learnt together (truth against its strongest rival).

    Parameters
    ----------
    lower, upper : float
        `lower <= kappa* <= upper` for the margin min over i, v of (w_y - w_v)·x_i / ‖W‖.
    radius : float
        Length of the longest vector (e_y - e_v) ⊗ x: √2 times that of the longest example.
    weights : ndarray, shape (K, D)
        The planes of the lower side.
    rows, rivals, strengths : ndarray, shape (m,)
        Example, rival class number and strength of each term of the upper side.
    clamp : float
        Value of the clamped input; 0 for none.
    classes : tuple
        The labels, in the order of the rows of `weights`.

    Examples
    --------
    >>> X, y = np.eye(3), np.array(["a", "b", "c"])
    >>> alpha = np.ones((3, 3)) - np.eye(3)
    >>> print(KeslerBracket.measure(X, y, weights=np.eye(3), strengths=alpha, classes=y))
    0.5774 <= kappa* <= 0.7071
    """

    lower: float
    upper: float
    radius: float
    weights: FloatArray
    rows: IntArray
    rivals: IntArray
    strengths: FloatArray
    clamp: float
    classes: tuple[Label, ...]

    __str__ = MarginBracket.__str__
    separable = MarginBracket.separable

    @classmethod
    def measure(
        cls,
        X: Matrix,
        y: Labels,
        *,
        weights: FloatArray,
        strengths: FloatArray,
        clamp: float = 0.0,
        classes: Labels,
    ) -> Self:
        """Measure the bracket of planes (K, D) and strengths (K, n); the strengths of the true classes are not read."""
        X, y = as_rows(X, y)
        truth = np.searchsorted(classes, y)
        alpha = rivals_only(strengths, truth)
        if not alpha.any():
            i = int(np.argmin(squares(X)))
            alpha[0 if truth[i] else 1, i] = 1.0
        rivals, rows = np.nonzero(alpha)
        lower, upper = _kesler_sides(X, truth, weights, (rows, rivals, alpha[rivals, rows]), clamp)
        sides = Sides(lower, upper, np.sqrt(2.0) * radius(X, clamp), 2 * sum(X.shape))
        return cls.claim(sides, weights=weights, strengths=alpha, clamp=clamp, classes=classes)

    @classmethod
    def claim(cls, sides: Sides, *, weights: FloatArray, strengths: FloatArray, clamp: float = 0.0, classes: Labels) -> Self:
        """Make the bracket of numbers that a solver has at hand, with strengths (K, n) of the rivals only."""
        rivals, rows = np.nonzero(strengths > 0)
        lower, upper = sides.outward()
        labels = tuple(np.asarray(classes).tolist())
        return cls(lower, upper, sides.radius, weights.copy(), rows, rivals, strengths[rivals, rows], clamp, labels)

    def well_formed(self) -> Verdict:
        """Check types, shapes and ranges of the fields."""
        labels = isinstance(self.classes, tuple) and all(is_label(c) for c in self.classes)
        distinct = labels and len(set(self.classes)) == len(self.classes) >= 2
        planes = is_array(self.weights, 2) and distinct and self.weights.shape[0] == len(self.classes)
        rivals = sound_witnesses(self) and is_array(self.rivals, 1, "i") and self.rivals.shape == self.rows.shape
        named = rivals and planes and bool(((self.rivals >= 0) & (self.rivals < len(self.classes))).all())
        return Verdict.of(
            *sound_bracket(self),
            (distinct, "the classes are not at least two different labels"),
            (planes, "the weights are not one row of finite numbers per class"),
            (named, "the rivals are not one class number per row"),
            (
                not rivals or len(set(zip(self.rows.tolist(), self.rivals.tolist(), strict=True))) == self.rows.size,
                "a pair twice",
            ),
        )

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute both sides and the radius."""
        numbers = {label: k for k, label in enumerate(self.classes)}
        truth = np.array([numbers.get(label, -1) for label in y.tolist()])
        shaped = Verdict.of(*matching(self, X), (bool((truth >= 0).all()), "y has a label the certificate does not know"))
        if not shaped:
            return shaped
        if (truth[self.rows] == self.rivals).any():
            return Verdict.of((False, "a rival is the truth itself"))
        lower, upper = _kesler_sides(X, truth, self.weights, (self.rows, self.rivals, self.strengths), self.clamp)
        sides = Sides(lower, upper, np.sqrt(2.0) * radius(X, self.clamp), 2 * sum(X.shape))
        return Verdict.of(*confirmed(self, sides, exactly_zero=False))

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        return cls(**{**rebuilt(body), "classes": tuple(body["classes"])})


def rivals_only(strengths: FloatArray, truth: IntArray) -> FloatArray:
    """Copy strengths (K, n) without those of the true classes, and without negative ones."""
    alpha = np.maximum(strengths, 0.0)
    alpha[truth, np.arange(truth.size)] = 0.0
    return alpha


def _kesler_sides(
    X: Matrix, truth: IntArray, W: FloatArray, pairs: tuple[IntArray, IntArray, FloatArray], clamp: float
) -> tuple[float, float]:
    """Return both sides for the vectors (e_y - e_v) ⊗ x."""
    rows, rivals, strengths = pairs
    W, share = unit_scale(W), shares(strengths)
    c = np.zeros((W.shape[0], truth.size))
    np.add.at(c, (rivals, rows), -share)
    np.add.at(c, (truth[rows], rows), share)
    scores, sums = potentials_and_sums(X, W, c, clamp)
    own = scores[np.arange(truth.size), truth].copy()
    scores[np.arange(truth.size), truth] = -np.inf
    length = norm(W.ravel())
    lower = float((own - scores.max(axis=1)).min()) / length if length > 0 else -np.inf
    return lower, norm(sums.ravel())
