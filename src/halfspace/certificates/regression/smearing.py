"""The certificate of a model of the logarithm of a target: its claim about log y, and the factor that makes means of medians.

Problem    f(x) predicts log y. Where there is noise, exp f(x) is near the median of y at x, and below its mean.
Factor     If the residuals e = log y - f(x) do not depend on x, the mean of y at x is  exp f(x) · E exp(e).  Whatever their
           distribution is, the mean of exp(e_i) over the examples stands for the expectation (Duan 1983, "smearing").
Residuals  Those of the examples for a line, as in the paper. A function of a kernel's space bends towards its examples, so its
           residuals are those of examples left out, one at a time (`halfspace.certificates.regression.kernel_ridge`).
Range      exp makes much of a line that runs on: log predictions end one range of log y beyond the least and the largest.
Reference  Duan 1983, "Smearing estimate: a nonparametric retransformation method", section 2.
"""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates.arithmetic import EPS
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.regression.kernel_ridge import KernelRidgeCells, KernelRidgeGap
from halfspace.certificates.regression.posterior import GaussianPosterior
from halfspace.certificates.regression.ridge import RidgeGap, read_targets
from halfspace.errors import InputError

__all__ = ["LogSmearing"]


class _Measured(NamedTuple):
    """The factor and how far rounding may have moved it, and the range of log y."""

    factor: float
    blur: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class LogSmearing(Certificate):
    """A claim about a model of log y, and the factor by which exp of its predictions are multiplied.

    Parameters
    ----------
    part : RidgeGap, GaussianPosterior, KernelRidgeGap or KernelRidgeCells
        The claim about the model whose target is log y.
    factor : float
        Mean of exp(log y - f(x)).
    low, high : float
        The least and the largest log y.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [1.0]]), np.exp([0.0, 1.0, 3.0])
    >>> part = RidgeGap.measure(X, np.log(y), weights=np.array([2.0]))
    >>> proof = LogSmearing.measure(X, y, part)
    >>> round(proof.factor, 6), bool(proof.verify(X, y)), bool(proof.verify(X, 2 * y))
    (1.362054, True, False)
    """

    part: Annotated[Certificate, "certificate"]
    factor: Annotated[float, "finite > 0"]
    low: float
    high: float

    def __str__(self) -> str:
        return f"of log y: {self.part}; predictions are exp of it times {self.factor:.6g}"

    @classmethod
    def measure(cls, X: Matrix, y: Labels, part: Certificate, residuals: FloatArray | None = None) -> Self:
        """Measure the factor of a model of log y on examples X, shape (n, d), with targets y > 0, shape (n,).

        `residuals` of log y, shape (n,), 0 without weight, are what a solver has at hand; they are computed if not given.
        """
        X, Y = read_targets(X, y, "LogSmearing")
        draft = cls(part, 1.0, 0.0, 0.0)
        with np.errstate(all="ignore"):
            found = draft._measured(X, Y, None if residuals is None else (residuals, np.zeros(residuals.size)))
        if not np.isfinite(found.factor):
            msg = "LogSmearing: the targets differ from the model by so many orders of magnitude that exp overflows."
            raise InputError(msg)
        return cls(part, found.factor, found.low, found.high)

    def read(self, X: Matrix, y: Labels | None) -> tuple[Any, Labels]:
        """Check what is handed in: finite examples, and one positive target each."""
        rows, targets = read_targets(X, y, type(self).__name__)
        if not (targets > 0.0).all():
            raise InputError("a LogSmearing is about targets > 0, of which there is a logarithm")
        return rows, targets

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that the part is about a model of one target whose residuals are known."""
        if not isinstance(self.part, RidgeGap | GaussianPosterior | KernelRidgeGap | KernelRidgeCells):
            return [(False, "the part is not about a line or a function of a kernel")]
        return [(self.low <= self.high, "the least log y is above the largest")]

    def predictor(self, y: Labels) -> dict[str, Any]:
        """Return what predicts log y, and what is done with it."""
        return {**self.part.predictor(y), "factor": self.factor, "range": np.array([self.low, self.high])}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Check the part about log y, and compute the factor again."""
        part = Verdict.of((y.shape[1] == 1, f"the certificate is about one target, but y has {y.shape[1]}"))
        part = part and self.part.confirm(X, np.log(y))
        if not part:
            return part
        found = self._measured(X, y)
        off = abs(self.factor - found.factor)
        ends, true = np.array([self.low, self.high]), np.array([found.low, found.high])
        same = bool((np.abs(ends - true) <= 4.0 * EPS * np.abs(true)).all())
        return Verdict.of(
            (bool(off <= 2.0 * found.blur), f"the factor is {found.factor:.6g}, not {self.factor:.6g}"),
            (same, f"log y is between {found.low:.6g} and {found.high:.6g}, not {self.low:.6g} and {self.high:.6g}"),
        )

    def _measured(self, X: Matrix, y: FloatArray, known: tuple[FloatArray, FloatArray] | None = None) -> _Measured:
        """Return what data say; `known` are residuals and how far rounding may have moved them."""
        z = np.log(y)
        part: Any = self.part
        residuals, off = part.residuals(X, z) if known is None else known
        s = getattr(part, "sample_weight", None)
        shares = (np.ones(z.shape[0]) if s is None else s) / (z.shape[0] if s is None else s.sum())
        smeared = shares * np.exp(residuals)
        factor = float(smeared.sum())
        blur = float((smeared * np.expm1(off + 4.0 * EPS * np.abs(residuals))).sum()) + 4.0 * EPS * (z.shape[0] + 8) * factor
        return _Measured(factor, blur, float(z.min()), float(z.max()))
