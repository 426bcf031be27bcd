"""What the support vectors say about new examples: two bounds on the error that need no test set.

Which       The optimum w* depends on the examples with E_i* <= 1 alone: the others have strength 0. A duality gap g puts w*
            within √(2g) of w (the objective curves at least like ½‖w - w*‖²), so an example with
            E_i > 1 + √(2g) ‖x_i‖  is certainly not a support vector: `support` counts all the others.
Leave out   Learning again without a non-support example gives the same plane, which gets it right. So leaving one out at a
            time errs on at most `support` of the n examples (Vapnik 1995).
Compress    The support vectors alone give the plane back, and it gets all other examples right. If the examples were drawn
            independently from one source, then with probability 1 - delta its error e on new ones has
            n binom(n, k) (1 - e)^(n - k) >= delta  for k support vectors, so  e <= 1 - exp(-x)  with
            x = (ln binom(n, k) + ln(n / delta)) / (n - k)  (Littlestone and Warmuth 1986).
"""

from dataclasses import dataclass
from math import comb, expm1, lgamma, log, log1p
from typing import Annotated, Self

import numpy as np

from halfspace._typing import Labels, Matrix
from halfspace.certificates.arithmetic import EPS, as_rows, rounding, row_outputs, signs, squares
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.margins.gap import DualityGap
from halfspace.errors import InputError

__all__ = ["SupportBounds"]


@dataclass(frozen=True, eq=False)
class SupportBounds(Certificate):
    """Bounds on the error on new examples, from the number of support vectors.

    Parameters
    ----------
    gap : DualityGap
        The plane and how near it is to the optimum; clamped or no bias, no example weights.
    support : int
        Examples that may be support vectors of the optimum, at most.
    examples : int
        Examples in all.
    leave_one_out : float
        support / examples, an upper bound on the leave-one-out error.
    compression : float
        Upper bound on the error on new examples, with probability 1 - delta; 1 if it says nothing.
    delta : float
        Probability that the compression bound fails.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y = np.linspace(-1.0, 1.0, 50)[:, None], np.repeat([0, 1], 25)
    >>> model = hs.AdaTron(C=np.inf, tol=1e-9).fit(X, y)
    >>> bounds = SupportBounds.measure(X, y, model.certificate_)
    >>> print(bounds)
    2 of 50 examples may be support vectors: leave-one-out error <= 0.04, error on new examples <= 0.253 (probability 0.95)
    >>> bool(bounds.verify(X, y))
    True
    """

    gap: DualityGap
    support: Annotated[int, "int >= 0"]
    examples: Annotated[int, "int > 0"]
    leave_one_out: Annotated[float, "finite >= 0"]
    compression: Annotated[float, "finite >= 0"]
    delta: Annotated[float, "finite > 0", "asked"]

    def __str__(self) -> str:
        return (
            f"{self.support} of {self.examples} examples may be support vectors: leave-one-out error <= "
            f"{self.leave_one_out:.3g}, error on new examples <= {self.compression:.3g} (probability {1 - self.delta:g})"
        )

    @classmethod
    def measure(cls, X: Matrix, y: Labels, gap: DualityGap, delta: float = 0.05) -> Self:
        """Count the possible support vectors of the optimum near a certified plane."""
        if not isinstance(gap, DualityGap) or gap.free or gap.sample_weight is not None:
            msg = "SupportBounds needs a DualityGap without a free bias and without example weights"
            raise InputError(msg)
        if not isinstance(delta, int | float) or not 0.0 < delta < 1.0:
            msg = f"delta must be a probability between 0 and 1. Got {delta!r} instead."
            raise InputError(msg)
        X, y = as_rows(X, y)
        support = _possible_support(X, y, gap, 4.0)
        return cls(gap, support, y.size, support / y.size, _compression(y.size, support, float(delta)), float(delta))

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that the gap is one the theorems are about, and that the counts are possible."""
        return [
            (not self.gap.free and self.gap.sample_weight is None, "the gap has a free bias or example weights"),
            (self.support <= self.examples, "there are more support vectors than examples"),
            (self.delta < 1.0, "delta is not below 1"),
        ]

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Check the gap, count again and evaluate both bounds."""
        inner = self.gap.confirm(X, y)
        if not inner:
            return inner
        least, most = _possible_support(X, y, self.gap, 1.0), _possible_support(X, y, self.gap, 64.0)
        bound = _compression(y.size, self.support, self.delta)
        earlier = min(1.0, -log1p(-bound)) if bound < 1.0 else 1.0  # x itself, which is weaker: in files of earlier versions
        return Verdict.of(
            (self.examples == y.size, f"there are {y.size} examples, not {self.examples}"),
            (least <= self.support <= most, f"{least} examples may be support vectors, not {self.support}"),
            (self.leave_one_out == self.support / self.examples, "the leave-one-out bound is not support / examples"),
            (
                any(abs(self.compression - value) <= 1e-12 * value for value in (bound, earlier)),
                f"the compression bound is {bound:.6g}, not {self.compression:.6g}",
            ),
        )


def _possible_support(X: Matrix, y: Labels, gap: DualityGap, slack: float) -> int:
    """Count the examples that cannot be excluded, with `slack` rounding errors on the safe side."""
    hard = np.isinf(gap.C)
    w, primal = gap.weights, gap.primal
    outputs = row_outputs(X, w[None], gap.clamp)
    E = signs(y, gap.positive) * outputs[:, 0]
    lengths = np.sqrt(squares(X) + gap.clamp**2) * (1 + (X.shape[1] + 8) * EPS)
    error = slack * rounding(w.size, float(lengths.max())) * float(np.linalg.norm(w))
    if hard:  # the primal value is that of the weights scaled to least potential 1
        if not np.isfinite(primal):
            return int(y.size)
        E, error = E / (E.min() - error), error / abs(E.min() - error)
    distance = np.sqrt(2.0 * max(primal - gap.dual, 0.0))
    return int((~(E - error > 1.0 + distance * lengths)).sum())  # also what is not a number


def _compression(n: int, k: int, delta: float) -> float:
    """Return the bound of Littlestone and Warmuth for n examples compressed to k, at most 1."""
    if k >= n:
        return 1.0
    ways = log(comb(n, k)) if n <= 1000 else lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    return -expm1(-(ways + log(n / delta)) / (n - k))
