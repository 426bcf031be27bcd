"""The least-squares certificate: how far the data would have to move for these weights to be exactly optimal.

Weights w minimise ½ ‖Xw - y‖² exactly when the gradient Xᵀr, r = y - Xw, is zero. In general they are the exact minimiser
for data X + F with  ‖F‖ = ‖Xᵀr‖ / ‖r‖  (Stewart 1977, theorem 3.1). That length, relative to the data's own, is a backward
error: a number at the level of rounding says that no better weights can be told apart on data known to that precision.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import (
    EPS,
    as_rows,
    combination,
    is_array,
    is_label,
    is_number,
    norm,
    potentials_and_sums,
    signs,
    squares,
)
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.margins.margin import both_signs

__all__ = ["LeastSquaresGap"]

INTERPOLATED = 1e-9
"""Residuals below this, relative to the labels, count as none: the loss could not be lowered by more than 1e-18 of itself."""


@dataclass(frozen=True, eq=False)
class LeastSquaresGap(Certificate):
    """Loss and backward error of least-squares weights.

    Parameters
    ----------
    loss : float
        ½ Σ s_i (y_i - w·x_i)², with labels ±1.
    backward_error : float
        ‖Xᵀr‖ / (‖r‖ ‖X‖): relative change of the data that makes the weights exactly optimal; 0 when
        ‖r‖ is below 1e-9 ‖y‖.
    weights : ndarray, shape (D,)
        The plane, clamped weight last.
    sample_weight : ndarray, shape (n,), or None
        Weights s_i of the examples, if not all 1.
    clamp : float
        Value of the clamped input; 0 for none.
    positive : label
        The label that counts as +1.

    Examples
    --------
    >>> X, y = np.array([[1.0], [1.0]]), np.array([1, 0])
    >>> print(LeastSquaresGap.measure(X, y, weights=np.array([0.0]), positive=1))
    loss 1, backward error 0
    """

    loss: float
    backward_error: float
    weights: FloatArray
    sample_weight: FloatArray | None
    clamp: float
    positive: Label

    def __str__(self) -> str:
        return f"loss {self.loss:.4g}, backward error {self.backward_error:.2g}"

    @classmethod
    def measure(
        cls,
        X: Matrix,
        y: Labels,
        *,
        weights: FloatArray,
        sample_weight: FloatArray | None = None,
        clamp: float = 0.0,
        positive: Label,
    ) -> Self:
        """Measure loss and backward error of weights (D,) on examples X (n, d) with labels y (n,)."""
        X, y = as_rows(X, y)
        loss, backward = _loss_and_error(X, signs(y, positive), weights, sample_weight, clamp)
        return cls(loss, backward, weights.copy(), sample_weight, clamp, positive)

    def well_formed(self) -> Verdict:
        """Check types, shapes and ranges of the fields."""
        weighted = self.sample_weight is not None
        positive = not weighted or (is_array(self.sample_weight, 1) and bool((np.asarray(self.sample_weight) >= 0).all()))
        return Verdict.of(
            (is_number(self.loss, least=0.0), "the loss is not a number >= 0"),
            (is_number(self.backward_error, least=0.0, infinite=True), "the backward error is not a number >= 0"),
            (is_array(self.weights, 1), "the weights are not a row of finite numbers"),
            (positive, "the sample weights are not numbers >= 0"),
            (is_number(self.clamp), "the clamped input is not a number"),
            (is_label(self.positive), f"{self.positive!r} cannot be a label"),
        )

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute both numbers."""
        D = X.shape[1] + bool(self.clamp)
        shaped = Verdict.of(
            (self.weights.shape == (D,), f"weights for {self.weights.size} inputs, but the data have {D}"),
            (self.sample_weight is None or self.sample_weight.shape == y.shape, "one sample weight per example expected"),
            (both_signs(y, self.positive), f"not both {self.positive!r} and others in y"),
        )
        if not shaped:
            return shaped
        loss, backward = _loss_and_error(X, signs(y, self.positive), self.weights, self.sample_weight, self.clamp)
        noise = 64 * max(X.shape) * EPS
        total = y.size if self.sample_weight is None else float(self.sample_weight.sum())
        close = np.isfinite(loss) and abs(loss - self.loss) <= 1e-9 * loss + noise * noise * total
        better = np.isfinite(backward) and self.backward_error >= backward - noise
        return Verdict.of(
            (bool(close), f"the loss is {loss:.6g}, not {self.loss:.6g}"),
            (bool(better), f"the backward error is {backward:.3g}, not {self.backward_error:.3g}"),
        )

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        weighted = body["sample_weight"]
        arrays = {
            "weights": np.asarray(body["weights"], dtype=np.float64),
            "sample_weight": None if weighted is None else np.asarray(weighted, dtype=np.float64),
        }
        return cls(**{**body, **arrays, "backward_error": float(body["backward_error"])})


def _loss_and_error(X: Matrix, y: FloatArray, w: FloatArray, s: FloatArray | None, clamp: float) -> tuple[float, float]:
    """Return ½ Σ s r² and ‖Xᵀ s r‖ / (‖√s r‖ ‖√s X‖), the norm of X by Frobenius; a reproduced y has error 0."""
    s = np.ones(y.size) if s is None else s
    outputs, _ = potentials_and_sums(X, w[None], np.zeros((1, y.size)), clamp)
    r = y - outputs[:, 0]
    size = np.sqrt(float((s * (squares(X) + clamp * clamp)).sum()))
    loss = 0.5 * float((s * r * r).sum())
    if np.sqrt(2 * loss) <= INTERPOLATED * norm(np.sqrt(s)) or size == 0.0:
        return loss, 0.0
    gradient = norm(combination(X, (s * r)[None], clamp))
    return loss, gradient / (np.sqrt(2.0 * loss) * size)
