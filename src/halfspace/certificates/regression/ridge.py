"""The ridge certificate: how much the objective could still fall, recomputed from the data.

The objective  f(w) = Σ s_i (y_i - w·x̃_i - c)² + λ‖w‖²  curves by at least 2λ in every direction of w. So with the gradient 2g
the least value is no further below than  ‖g‖²/λ; an unpenalised constant c that is off by δ adds  δ² Σ s_i, and is moved to
its best value before g is taken. No objective is further above its least value than above 0. Without a λ that is all there is:
then the backward error says how far the data A = √S (X̃, 1) would have to move for the weights to be exactly optimal. Of two
moves the smaller counts: -rrᵀA/‖r‖² takes the gradient from the residuals r, rwᵀ/‖w‖² takes the residuals away (Stewart 1977,
theorem 3.1; with a λ the rows √λ I belong to the data).

The least-squares certificate: how far the data would have to move for these weights to be exactly optimal.

Weights w minimise ½ ‖Xw - y‖² exactly when the gradient Xᵀr, r = y - Xw, is zero. In general they are the exact minimiser
for data X + F with  ‖F‖ = ‖Xᵀr‖ / ‖r‖  or  ‖r‖ / ‖w‖, as above. The smaller length, relative to the data's own, is a backward
error: a number at the level of rounding says that no better weights can be told apart on data known to that precision.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_array, check_consistent_length

from halfspace._matrices import admitted
from halfspace._typing import FloatArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import (
    EPS,
    as_rows,
    both_signs,
    checked_rows,
    combination,
    exponent,
    held,
    matching,
    norm,
    one_weight_each,
    plain_floats,
    row_outputs,
    scaled,
    signs,
    some_weight,
    squares,
)
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.predictor import joined, line
from halfspace.errors import InputError

__all__ = ["LeastSquaresGap", "PerOutput", "RidgeGap", "fits", "line_residuals", "log_likelihood", "read_targets"]

SMALLEST = 1e-280
"""Squares below this have lost digits to underflow."""
TINY = 1e-307
"""What underflow can take from a sum of squares."""
CLOSE = 1e-9
"""Relative difference that two sums of the same numbers may have."""
LOST = "examples, targets or weights are so large or so small that squares of them are lost"


def read_targets(X: Matrix, y: Labels | None, kind: str) -> tuple[Any, FloatArray]:
    """Check examples and real targets, shape (n,) or (n, m), handed to a checker; return the targets as (n, m)."""
    if y is None:
        msg = f"a {kind} is about examples with targets: verify(X, y) needs the targets y"
        raise InputError(msg)
    rows = checked_rows(X)
    if plain_floats(y) and y.dtype == np.float64 and y.shape[0] == rows.shape[0]:
        return rows, y.reshape(y.shape[0], -1)
    targets = check_array(admitted(y, "verify", "y"), ensure_2d=False, dtype=np.float64, input_name="y")
    check_consistent_length(rows, targets)
    return rows, targets.reshape(targets.shape[0], -1)


def log_likelihood(n: float, sigma2: float) -> float:
    """Return the largest log-likelihood of n residuals of mean square `sigma2` under Gaussian noise."""
    with np.errstate(divide="ignore"):
        return float(-0.5 * n * (np.log(2 * np.pi * sigma2) + 1.0))


class _Measured(NamedTuple):
    """What the data say, and how far rounding may have moved it."""

    objective: float
    gap: float
    backward_error: float
    sigma2: float
    total: float
    blur: float
    """Rounding of the objective, and of Σ s_i r_i²."""

    def admits(self, claimed: float, found: float, rounding: float | None, size: float) -> bool:
        """Tell whether a sum of squares lies within `rounding` of what is claimed, that itself being no more than rounding.

        Certificates of earlier versions name none: theirs must be right to nine digits, or where residuals are no more than
        rounding, to so much of the targets' squares, `size`.
        """
        room = CLOSE * found + CLOSE * CLOSE * size if rounding is None else rounding
        honest = rounding is None or rounding <= 64.0 * self.blur
        return bool(honest and abs(found - claimed) + self.blur <= room)


def _within(value: float, rounding: float | None) -> str:
    """Return a sum of squares in words: both sides of it, where rounding makes a difference that shows."""
    if rounding is None or rounding <= 1e-7 * value:
        return f"{value:.6g}"
    return f"between {max(value - rounding, 0.0):.6g} and {value + rounding:.6g}"


def fits(X: Matrix, y: Labels, weights: FloatArray, clamp: float, sample_weight: FloatArray | None) -> Verdict:
    """Judge whether weights, and those of the examples, are of the size of rows X, shape (n, d), and one target y (n, 1)."""
    return Verdict.of(
        matching(weights, clamp, X),
        one_weight_each(sample_weight, y.shape[0]),
        (y.shape[1] == 1, f"the certificate is about one target, but y has {y.shape[1]}"),
    )


def line_residuals(certificate: Any, X: Matrix, y: Labels) -> tuple[FloatArray, FloatArray]:
    """Return the residuals of a line for targets y (n, 1), and how far rounding may have moved each, shape (n,)."""
    w, clamp = certificate.weights, certificate.clamp
    outputs = row_outputs(X, w[None], clamp)
    size = np.abs(y[:, 0]) + abs(certificate.constant) + np.sqrt(squares(X) + clamp * clamp) * norm(w)
    return y[:, 0] - outputs[:, 0] - certificate.constant, 2.0 * EPS * (w.size + 8) * size


@dataclass(frozen=True, eq=False)
class RidgeGap(Certificate):
    """Objective of ridge weights, how far above the least value it can be, and the likelihood at it.

    Parameters
    ----------
    objective : float
        Σ s_i (y_i - w·x̃_i - c)² + λ‖w‖², up to `rounding`.
    gap : float
        At most so much is the objective above its least value; for λ = 0 the objective itself, since none is below 0.
    backward_error : float
        At most so large a relative change of the data makes the weights exactly optimal.
    sigma2 : float
        Mean squared residual, the maximum-likelihood variance of the noise; up to `rounding` / Σ s_i.
    log_likelihood : float
        At that variance; infinite where it is 0.
    ridge : float
        λ.
    weights : ndarray, shape (D,)
        Weights, the clamped one last if there is one.
    constant : float
        The unpenalised constant c; 0 if there is none.
    free : bool
        Whether the constant was fitted.
    clamp : float
        Value of the clamped input; 0 for none.
    sample_weight : ndarray, shape (n,), or None
        Weights s_i of the examples, if not all 1.
    rounding : float or None
        The objective is within so much of what is stated: little, unless large weights cancel, as those of nearly equal
        columns do. None in certificates of earlier versions, which must be right to nine digits.

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0]]), np.array([3.0, 6.0])
    >>> proof = RidgeGap.measure(X, y, weights=np.array([1.5]), ridge=5.0)
    >>> print(proof, bool(proof.verify(X, y)))
    objective 22.5, at most 6e-26 above the least True
    """

    objective: Annotated[float, "finite >= 0"]
    gap: Annotated[float, "real >= 0"]
    backward_error: Annotated[float, "real >= 0"]
    sigma2: Annotated[float, "finite >= 0"]
    log_likelihood: Annotated[float, "real"]
    ridge: Annotated[float, "finite >= 0", "asked"]
    weights: Annotated[FloatArray, "finite(D)"]
    constant: float
    free: Annotated[bool, "bool", "asked"]
    clamp: Annotated[float, "finite", "asked"]
    sample_weight: Annotated[FloatArray | None, "finite(n) >= 0 | none", "asked"]
    rounding: Annotated[float | None, "finite >= 0 | none"] = None

    def __str__(self) -> str:
        near = f"at most {self.gap:.2g} above the least" if self.ridge else f"backward error at most {self.backward_error:.2g}"
        return f"objective {_within(self.objective, self.rounding)}, {near}"

    @classmethod
    def measure(
        cls,
        X: Matrix,
        y: Labels,
        *,
        weights: FloatArray,
        ridge: float = 0.0,
        constant: float | None = None,
        clamp: float = 0.0,
        sample_weight: FloatArray | None = None,
    ) -> Self:
        """Measure weights (D,), and an unpenalised constant if there is one, on examples X (n, d) with targets y (n,)."""
        X, Y = read_targets(X, y, "RidgeGap")
        free, c = constant is not None, float(constant or 0.0)
        rounded = cls(0.0, 0.0, 0.0, 0.0, 0.0, ridge, held(weights), c, free, clamp, sample_weight)
        with np.errstate(all="ignore"):
            found = rounded.measured(X, Y[:, 0], slack=4.0)
        if found is None:
            msg = "RidgeGap: examples and their weights are so small that their squares underflow. Scale them."
            raise InputError(msg)
        numbers = found.objective, found.gap, found.backward_error, found.sigma2, log_likelihood(found.total, found.sigma2)
        return cls(*numbers, ridge, rounded.weights, c, free, clamp, sample_weight, 4.0 * found.blur)

    def read(self, X: Matrix, y: Labels | None) -> tuple[Any, Labels]:
        """Check what is handed in: finite examples, and one real target each."""
        return read_targets(X, y, type(self).__name__)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that a constant was fitted if there is one, and that some example has weight."""
        return [
            (self.free or self.constant == 0.0, "the constant is not 0 though it was not fitted"),
            some_weight(self.sample_weight),
        ]

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return weights and constant."""
        return line(self)

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute every number."""
        shaped = fits(X, y, self.weights, self.clamp, self.sample_weight)
        if not shaped:
            return shaped
        found = self.measured(X, y[:, 0], slack=1.0)
        if found is None or not np.isfinite(found).all():
            return Verdict.of((False, LOST))
        size = norm(y if self.sample_weight is None else np.sqrt(self.sample_weight) * y[:, 0]) ** 2
        close = found.admits(self.objective, found.objective, self.rounding, size)
        variance = found.admits(self.sigma2 * found.total, found.sigma2 * found.total, self.rounding, size)
        likely = log_likelihood(found.total, self.sigma2)
        off = abs(likely - self.log_likelihood)
        same = likely == self.log_likelihood or (np.isfinite(likely) and off <= CLOSE * (found.total + abs(likely)))
        return Verdict.of(
            (
                close,
                f"the objective is {found.objective:.6g} up to {found.blur:.3g}, not {_within(self.objective, self.rounding)}",
            ),
            (bool(self.gap >= found.gap), f"the gap can be {found.gap:.3g}, not only {self.gap:.3g}"),
            (
                bool(self.backward_error >= found.backward_error),
                f"the backward error can be {found.backward_error:.3g}, not only {self.backward_error:.3g}",
            ),
            (variance, f"the variance is {found.sigma2:.6g}, not {self.sigma2:.6g}"),
            (bool(same), f"the log-likelihood is {likely:.6g}, not {self.log_likelihood:.6g}"),
        )

    def residuals(self, X: Matrix, y: Labels) -> tuple[FloatArray, FloatArray]:
        """Return the residuals of targets y (n, 1), and how far rounding may have moved each, shape (n,)."""
        return line_residuals(self, X, y)

    def measured(self, X: Matrix, y: FloatArray, slack: float) -> _Measured | None:
        """Measure on the data; bounds give away `slack` times what rounding can have changed. None if squares are lost."""
        e = 0 if self.ridge or self.free else exponent(X, self.clamp)  # without a penalty the units of X do not matter
        X, clamp, w = scaled(X, e), float(np.ldexp(self.clamp, -e)), np.ldexp(self.weights, e)
        s = np.ones(y.size) if self.sample_weight is None else self.sample_weight
        total, root = float(s.sum()), np.sqrt(s)
        outputs = row_outputs(X, w[None], clamp)
        r = y - outputs[:, 0] - self.constant
        rows = np.sqrt(squares(X) + clamp * clamp)
        data = float(np.sqrt((s * (rows**2 + self.free)).sum() + self.ridge * w.size))
        if data * data < SMALLEST and abs(X).max() > 0.0:
            return None
        length, error = norm(w), norm(root * r)
        size = norm(np.array([error, np.sqrt(self.ridge) * length]))

        shift = float((s * r).sum()) / total if self.free else 0.0
        g, here = combination(X, s * np.stack([r - shift, r]), clamp) - self.ridge * w
        # Rounding: an output is a sum of D products (off_each), the gradient one of n residuals times a row.
        off_each = 2.0 * EPS * (w.size + 8) * (np.abs(y) + abs(self.constant) + rows * length)
        blurred = off_each + 2.0 * EPS * (y.size + 8) * np.abs(r)
        drift = float((s * blurred).sum()) / total if self.free else 0.0
        moved = float((s * rows * (blurred + drift)).sum()) + 8.0 * EPS * self.ridge * length
        off = np.square(abs(shift) + slack * drift) * total

        unsure = norm(root * off_each)
        objective = size * size
        blur = (2.0 * error + unsure) * unsure + 4.0 * EPS * (y.size + w.size + 8) * objective
        blur += TINY if objective < SMALLEST and error > 0.0 else 0.0
        above = objective * (1.0 + slack * CLOSE) + 2.0 * slack * blur
        if self.ridge:
            above = min(above, np.square((norm(g) + slack * moved) / np.sqrt(self.ridge)) + off)
        steepest = norm(np.append(here, shift * total)) + slack * (moved + drift * total)
        rest = size + slack * unsure + slack * EPS * (y.size + w.size) * size
        sure = max(size - (rest - size), 0.0)
        moves = np.divide([steepest, rest], np.array([sure, norm(np.append(w, self.constant))]) * data)
        backward = 0.0 if data == 0.0 or rest == 0.0 else float(np.fmin(*moves))
        return _Measured(objective, float(above), backward, error * error / total, total, blur)


@dataclass(frozen=True, eq=False)
class PerOutput(Certificate):
    """The certificates of several targets, in the order of their columns; it holds if all of them do.

    Parameters
    ----------
    parts : tuple of Certificate
        One for each column of the targets.

    Examples
    --------
    >>> X, Y = np.array([[1.0], [2.0]]), np.array([[1.0, 0.0], [2.0, 0.0]])
    >>> proof = PerOutput(tuple(RidgeGap.measure(X, Y[:, k], weights=np.array([1.0 - k])) for k in range(2)))
    >>> bool(proof.verify(X, Y)), bool(proof.verify(X, Y[:, ::-1]))
    (True, False)
    """

    parts: Annotated[tuple[Certificate, ...], "tuple(m) of certificate"]

    def __iter__(self) -> Iterator[Certificate]:
        return iter(self.parts)

    def __getitem__(self, column: int) -> Certificate:
        return self.parts[column]

    def __str__(self) -> str:
        return "\n".join(f"target {k}: {part}" for k, part in enumerate(self.parts))

    def read(self, X: Matrix, y: Labels | None) -> tuple[Any, Labels]:
        """Check what is handed in: finite examples, and a row of real targets each."""
        return read_targets(X, y, "PerOutput")

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that each part is about one target."""
        ridges = len(self.parts) > 0 and all(isinstance(part, RidgeGap) for part in self.parts)
        return [(ridges, "there is not one RidgeGap for each target")]

    def predictor(self, y: Labels) -> dict[str, Any]:
        """Return weights and constants of all outputs."""
        return joined([part.predictor(y) for part in self.parts])

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Check every part."""
        if y.shape[1] != len(self.parts):
            return Verdict.of((False, f"certificates for {len(self.parts)} targets, but y has {y.shape[1]}"))
        return Verdict.all_of([(f"target {k}", part.confirm(X, y[:, k : k + 1])) for k, part in enumerate(self.parts)])


@dataclass(frozen=True, eq=False)
class LeastSquaresGap(Certificate):
    """Loss and backward error of least-squares weights.

    Parameters
    ----------
    loss : float
        ½ Σ s_i (y_i - w·x_i)², with labels ±1, up to `rounding`.
    backward_error : float
        At most so large a relative change of the data makes the weights exactly optimal: ‖Xᵀr‖ / (‖r‖ ‖X‖), or where that is
        less ‖r‖ / (‖w‖ ‖X‖), which takes the residuals away; rounded up.
    weights : ndarray, shape (D,)
        The plane, clamped weight last.
    sample_weight : ndarray, shape (n,), or None
        Weights s_i of the examples, if not all 1.
    clamp : float
        Value of the clamped input; 0 for none.
    positive : label
        The label that counts as +1.
    rounding : float or None
        The loss is within so much of what is stated. None in certificates of earlier versions, which must be right to nine
        digits.

    Examples
    --------
    >>> X, y = np.array([[1.0], [1.0]]), np.array([1, 0])
    >>> print(LeastSquaresGap.measure(X, y, weights=np.array([0.0]), positive=1))
    loss 1, backward error at most 3.4e-14
    """

    loss: Annotated[float, "finite >= 0"]
    backward_error: Annotated[float, "real >= 0"]
    weights: Annotated[FloatArray, "finite(D)"]
    sample_weight: Annotated[FloatArray | None, "finite(n) >= 0 | none", "asked"]
    clamp: Annotated[float, "finite", "asked"]
    positive: Annotated[Label, "label", "asked"]
    rounding: Annotated[float | None, "finite >= 0 | none"] = None

    def __str__(self) -> str:
        return f"loss {_within(self.loss, self.rounding)}, backward error at most {self.backward_error:.2g}"

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
        draft = cls(0.0, 0.0, held(weights), sample_weight, clamp, positive)
        with np.errstate(all="ignore"):
            found = draft._measured(X, y, slack=4.0)
        if found is None:
            msg = "LeastSquaresGap: examples, weights or targets are so large or so small that squares are lost. Scale them."
            raise InputError(msg)
        numbers = 0.5 * found.objective, found.backward_error
        return cls(*numbers, draft.weights, sample_weight, clamp, positive, 2.0 * found.blur)

    def _measured(self, X: Matrix, y: Labels, slack: float) -> _Measured | None:
        """Measure on checked data, as ridge weights without a penalty; None if squares are lost."""
        plain = RidgeGap(
            0.0, 0.0, 0.0, 0.0, 0.0, 0.0, self.weights, 0.0, free=False, clamp=self.clamp, sample_weight=self.sample_weight
        )
        return plain.measured(X, signs(y, self.positive), slack)

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return the plane."""
        return {"weights": self.weights[None], "bias": np.array([0.0]), "clamp": self.clamp, "positive": [self.positive]}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute both numbers."""
        shaped = Verdict.of(
            matching(self.weights, self.clamp, X),
            one_weight_each(self.sample_weight, y.size),
            both_signs(y, self.positive),
        )
        if not shaped:
            return shaped
        found = self._measured(X, y, slack=1.0)
        if found is None or not np.isfinite(found).all():
            return Verdict.of((False, LOST))
        loss, total = 0.5 * found.objective, y.size if self.sample_weight is None else float(self.sample_weight.sum())
        half = None if self.rounding is None else 2.0 * self.rounding
        close = found.admits(2.0 * self.loss, found.objective, half, total)
        better = self.backward_error * (1.0 + CLOSE) >= found.backward_error
        return Verdict.of(
            (close, f"the loss is {loss:.6g} up to {0.5 * found.blur:.3g}, not {_within(self.loss, self.rounding)}"),
            (bool(better), f"the backward error can be {found.backward_error:.3g}, not only {self.backward_error:.3g}"),
        )
