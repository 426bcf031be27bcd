"""The certificate of novelty detection: how far a plane is from the best one, and what its threshold promises.

Problem    min  ½‖w‖² - rho + 1/(nu t) Σ max(0, rho - f(x_i))   over w and rho, f(x) = w·φ(x), on the t rows learnt from. Its
           least value is -½‖w*‖²; w* is the shortest vector of the reduced hull, 0 <= alpha_i <= 1/(nu t), Σ alpha_i = 1.
Upper side ½‖w‖² of w = Σ alpha_i φ(x_i). What rounding leaves of Σ alpha_i = 1 is paid for by the longest row.
Lower side rho - ½‖w‖² - 1/(nu t) Σ max(0, rho - f(x_i)) <= ½‖w*‖²  for any w and rho: the problem's value, negated.
           Hence ‖w - w*‖² <= upper - lower: the problem curves by 1 around w*, and w* is the shortest vector of the hull.
Threshold  A new row that is exchangeable with m rows set apart, which had no part in f, takes each of the m + 1 places in the
           order of their scores with the same chance. Its p-value is  (1 + #{scores <= f(x)})/(m + 1),  so that
           P(p <= level) <= level:  rows below the k-th lowest score are called novel,  k = floor(level (m + 1))  (Vovk,
           Gammerman and Shafer 2005, proposition 2.3; rows set apart: Papadopoulos et al. 2002). The checker recomputes scores,
           order and threshold. That rows are exchangeable, and were set apart by chance, is assumed.
"""

from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, checked_rows, columns_scaled
from halfspace.certificates.base import Unlabelled, Verdict
from halfspace.certificates.expansion import Scales, outputs, proved_scales, squares_of
from halfspace.certificates.margins.bracket import SLACK, different, within
from halfspace.certificates.predictor import functions_of
from halfspace.errors import InputError
from halfspace.kernels import Kernel

__all__ = ["OneClassGap", "allowed", "needed", "own_part"]

LOOSE = 1e-7
"""A claim may be looser than the truth by this share of the upper side: a solver's numbers need not be the checker's."""


def allowed(level: float, m: int) -> int:
    """Return how many of m + 1 places are called novel: the largest k with k/(m + 1) <= level.

    Examples
    --------
    >>> allowed(0.01, 98), allowed(0.01, 99), allowed(0.29, 99)
    (0, 1, 29)
    """
    k = floor(level * (m + 1))
    return next(j for j in (k + 1, k, k - 1) if j / (m + 1) <= level)


def needed(level: float, k: int = 1) -> int:
    """Return the least number of rows to set apart of which k places may be called novel.

    Examples
    --------
    >>> needed(0.01), needed(0.01, 2), needed(0.29, 29)
    (99, 199, 99)
    """
    m = ceil(k / level) - 1
    return next(j for j in (m - 1, m, m + 1) if j >= 0 and k / (j + 1) <= level)


def own_part(kernel: Kernel, X: Matrix, rows: IntArray, scale: FloatArray | None) -> Any:
    """Return some rows, their columns scaled; of a precomputed matrix their rows and columns."""
    return X[rows][:, rows] if kernel.is_precomputed else columns_scaled(X[rows], scale)


class _Sums(NamedTuple):
    """What both sides are made of, each with a bound on its rounding."""

    square: float  # ‖w‖²
    square_error: float
    short: FloatArray  # rho - f(x_i) where that is positive or could be
    error: FloatArray  # of these
    rest: float  # what is left of Σ alpha_i = 1
    radius: float
    spare: float  # relative rounding of sums over the rows

    def sides(self, rho: float, cap: float, slack: float) -> tuple[float, float]:
        """Return both sides, moved apart by `slack` rounding errors."""
        loss = cap * float(np.maximum(0.0, self.short).sum())
        length = np.sqrt(self.square + slack * self.square_error) + slack * self.rest * self.radius
        error = 0.5 * self.square_error + cap * float(self.error.sum()) + self.spare * (abs(rho) + self.square + loss)
        return rho - 0.5 * self.square - loss - slack * error, 0.5 * float(length) ** 2 * (1.0 + slack * self.spare)


@dataclass(frozen=True, eq=False)
class OneClassGap(Unlabelled):
    """Both sides of ½‖w*‖², the plane of maximal stability from the origin, and the threshold by rows set apart.

    Parameters
    ----------
    lower, upper : float
        `lower <= ½‖w*‖² <= upper`, rounding allowed for; `upper` is that of the function.
    nu : float
        Most that may lie below the plane, as a share of the rows learnt from.
    kernel : Kernel
        The kernel, every parameter a number. For `Precomputed` the rows are those of the kernel matrix, shape (n, n).
    scale : ndarray, shape (d,), or None
        What every column was multiplied by, if anything.
    learnt : ndarray of int, shape (t,)
        The rows learnt from, in order.
    rows, strengths : ndarray, shape (s,)
        Those of positive strength, and their strengths, which add up to 1.
    rho : float
        Offset of the plane f(x) = rho.
    apart : ndarray of int, shape (m,)
        The rows set apart, in the order of their scores.
    scores : ndarray, shape (m,)
        Their scores f(x), from the lowest up.
    level : float
        At most this share of rows like those set apart is called novel.
    threshold : float
        Rows with a score below it are called novel: the k-th lowest score, k = floor(level (m + 1)); -inf if k is 0.

    Examples
    --------
    >>> from halfspace.kernels import RBF
    >>> X = np.array([[0.0], [1.0], [0.5], [3.0]])
    >>> proof = OneClassGap.measure(X, kernel=RBF(1.0), strengths=np.array([0.5, 0.5]), nu=0.5, rho=0.68, level=0.5)
    >>> print(proof)
    0.33803 <= ½‖w*‖² <= 0.34197, relative gap 0.012; at most 33.3 % of rows like the 2 set apart are called novel
    >>> bool(proof.verify(X)), bool(proof.verify(X + 1.0)), bool(proof.verify(2.0 * X))
    (True, True, False)
    """

    lower: Annotated[float, "finite >= 0"]
    upper: Annotated[float, "finite >= 0"]
    nu: Annotated[float, "finite > 0", "asked"]
    kernel: Annotated[Kernel, "kernel", "asked"]
    scale: Annotated[FloatArray | None, "finite(d) > 0 | none", "asked"]
    learnt: Annotated[IntArray, "int(t) >= 0"]
    rows: Annotated[IntArray, "int(s) >= 0"]
    strengths: Annotated[FloatArray, "finite(s) > 0"]
    rho: float
    apart: Annotated[IntArray, "int(m) >= 0"]
    scores: Annotated[FloatArray, "finite(m)"]
    level: Annotated[float, "finite in 0..1", "asked"]
    threshold: Annotated[float, "real"]

    def __str__(self) -> str:
        m = self.scores.size
        sides = f"{self.lower:.6g} <= ½‖w*‖² <= {self.upper:.6g}, relative gap {self.relative_gap:.2g}"
        share = 100.0 * allowed(self.level, m) / (m + 1)
        return f"{sides}; at most {share:.3g} % of rows like the {m:,} set apart are called novel"

    @property
    def relative_gap(self) -> float:
        """(upper - lower) / upper; 0 if both are 0."""
        return (self.upper - self.lower) / self.upper if self.upper > 0.0 else 0.0

    @property
    def stability(self) -> float:
        """Distance rho/‖w‖ of the plane from the origin, in the kernel's space."""
        return self.rho / float(np.sqrt(2.0 * self.upper)) if self.upper > 0.0 else 0.0

    @classmethod
    def measure(
        cls,
        X: Matrix,
        *,
        kernel: Kernel,
        strengths: FloatArray,
        nu: float,
        rho: float,
        level: float,
        scale: FloatArray | None = None,
    ) -> Self:
        """Measure strengths (t,) of the first t rows, all others set apart.

        Raises
        ------
        InputError
            If the kernel is not positive semi-definite on these rows, or that could not be found out.
        """
        X, alpha = checked_rows(X), np.asarray(strengths, dtype=np.float64)
        learnt, apart = np.arange(alpha.size), np.arange(alpha.size, X.shape[0])
        kernel = kernel.resolved(columns_scaled(X[learnt], scale))
        draft = cls.draft(kernel, scale, learnt, alpha, float(nu), float(rho))
        F, size = draft._outputs(X, np.concatenate([learnt, apart]))  # noqa: SLF001  (its own kind)
        found = F[alpha.size :]
        return draft.claim(size, F[: alpha.size], 0.0).calibrated(apart, found, float(level))

    @classmethod
    def draft(
        cls, kernel: Kernel, scale: FloatArray | None, learnt: IntArray, strengths: FloatArray, nu: float, rho: float
    ) -> Self:
        """Return the certificate that claims nothing yet, of strengths (t,) of the rows learnt from; none is set apart."""
        used = np.flatnonzero(strengths > 0.0)
        nothing = np.empty(0, dtype=np.int64), np.empty(0)
        return cls(0.0, 0.0, nu, kernel, scale, learnt, learnt[used], strengths[used], rho, *nothing, 0.5, -np.inf)

    def claim(self, size: Scales, outputs: FloatArray, error: FloatArray | float) -> Self:
        """Claim what follows from the outputs f (t,) of the rows learnt from, off by at most `error` beyond one double sum.

        `size` measures the rows learnt from and set apart, in this order. `verify` takes no word for any of it.
        """
        with np.errstate(all="ignore"):
            sums = self._collected(outputs, np.broadcast_to(error, outputs.shape), size)
            lower, upper = sums.sides(self.rho, self._cap, SLACK)
        return replace(self, lower=float(min(max(lower, 0.0), upper)), upper=float(upper))

    def calibrated(self, apart: IntArray, scores: FloatArray, level: float) -> Self:
        """Set the threshold by the scores (m,) of rows set apart."""
        order = np.argsort(scores, kind="stable")
        scores, k = scores[order], allowed(level, scores.size)
        threshold = float(scores[k - 1]) if k else -np.inf
        return replace(self, apart=apart[order], scores=scores, level=level, threshold=threshold)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check the order of the sides, that rows set apart had no part in learning, and the threshold."""
        k, everyone = allowed(self.level, self.scores.size), np.concatenate([self.learnt, self.apart])
        return [
            (self.lower <= self.upper, "the lower side is above the upper one"),
            (self.nu <= 1.0, "nu is above 1"),
            (bool((np.diff(self.learnt) > 0).all()) and self.learnt.size > 0, "the rows learnt from are not in order"),
            (np.unique(everyone).size == everyone.size, "a row set apart was learnt from, or is named twice"),
            different(self.rows),
            (bool(np.isin(self.rows, self.learnt).all()), "a row of positive strength was not learnt from"),
            (bool((np.diff(self.scores) >= 0.0).all()), "the scores are not in order"),
            (
                self.threshold == (self.scores[k - 1] if k else -np.inf),
                f"the threshold is not the lowest score number {k}",
            ),
        ]

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return the function, the scores of rows set apart, and the threshold."""
        return {
            "kernel": self.kernel,
            "functions": functions_of(self.rows, self.strengths[None]),
            "bias": np.zeros(1),
            "clamp": 0.0,
            "voting": False,
            "scale": self.scale,
            "scores": self.scores,
            "threshold": self.threshold,
        }

    def confirm(self, X: Matrix, y: Labels) -> Verdict:  # noqa: ARG002  (there are no labels)
        """Recompute both sides, the caps and the scores."""
        used, t = np.concatenate([self.learnt, self.apart]), self.learnt.size
        inside = Verdict.of(within(used, X.shape[0]), self._as_wide(X))
        if not inside:
            return inside
        try:
            F, size = self._outputs(X, used)
        except InputError as error:  # the kernel is indefinite, or was made for other data
            return Verdict.of((False, str(error)))
        sums = self._collected(F[:t], np.zeros(t), size)
        (lower, upper), (lowest, highest) = (sums.sides(self.rho, self._cap, slack) for slack in (1.0, 64.0))
        least, total = max(lowest - LOOSE * upper, 0.0), float(self.strengths.sum())
        blur = 4.0 * size.errors(self._places(used), self.strengths[:, None])[0][t:, 0] + 128 * EPS * total * size.radius**2
        close = np.abs(F[t:] - self.scores) <= blur
        return Verdict.of(
            (bool((self.strengths <= self._cap * (1.0 + 8 * EPS)).all()), "a strength is above its cap"),
            (bool(np.isfinite(upper) and upper <= self.upper <= highest * (1.0 + LOOSE)), f"½‖w‖² is {upper:.12g}, not less"),
            (bool(least <= self.lower <= max(lower, 0.0)), f"the plane proves {lower:.12g}, not {self.lower:.12g}"),
            (bool(close.all()), f"{np.count_nonzero(~close)} of {close.size} scores of rows set apart are others"),
        )

    def _as_wide(self, X: Matrix) -> tuple[bool, str]:
        """Return the claim that there is a scale for every column."""
        return self.scale is None or self.scale.size == X.shape[1], "the scales are for another number of columns"

    @property
    def _cap(self) -> float:
        """The largest strength that is allowed."""
        return 1.0 / (self.nu * self.learnt.size)

    def _places(self, used: IntArray) -> IntArray:
        """Return where the rows of positive strength are among those used; the rows learnt from come first, in order."""
        places: IntArray = np.searchsorted(used[: self.learnt.size], self.rows)
        return places

    def _outputs(self, X: Matrix, used: IntArray) -> tuple[FloatArray, Scales]:
        """Return f of the rows used, and their size in the kernel's space."""
        part = own_part(self.kernel, X, used, self.scale)
        size = proved_scales(self.kernel, part, 0.0)
        return outputs(self.kernel, part, self._places(used), self.strengths[:, None], 0.0)[:, 0], size

    def _collected(self, f: FloatArray, extra: FloatArray, size: Scales) -> _Sums:
        """Put together outputs (t,) and squared length, with bounds on the rounding of each."""
        t, alpha, places = self.learnt.size, self.strengths, self._places(self.learnt)
        error, square_error = size.errors(places, alpha[:, None])
        error, spare = error[:t, 0] + extra, 2 * (t + alpha.size + 8) * EPS
        square = float(squares_of(f[:, None], places, alpha[:, None])[0])
        near = ~(f > self.rho + SLACK * error)  # also what is not a number
        rest = abs(1.0 - float(alpha.sum())) + spare
        vague = float(square_error[0]) + float(alpha @ extra[places])
        return _Sums(square, vague, (self.rho - f)[near], error[near], rest, size.radius, spare)
