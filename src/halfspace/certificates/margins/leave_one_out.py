"""Leave-one-out errors of a large-margin problem: most by a bound, the rest by learning again.

Problem    That of `KernelGap`, with strengths alpha of duality gap g, potentials E_i = y_i f(x_i) of the same strengths,
           caps C_i and K_ii = k(x_i, x_i) + clamp². No free bias. E_i° is the potential of example i after learning from all
           others.
Bound      For any 0 < c <= C_i, strength c for example i beside the best strengths of the others is feasible, so the dual
           value  D° + c (1 - E_i°) - c² K_ii/2  is at most  D + g;  and  D° >= D - alpha_i (1 - E_i) - alpha_i² K_ii/2,  the
           value without example i. Hence
               E_i° >= 1 - h/c - c K_ii/2,    h = g + alpha_i (1 - E_i) + alpha_i² K_ii/2,
           and the best c is  min(C_i, √(2h/K_ii)).  For g = 0 this is Jaakkola and Haussler's bound (1999). Where it is
           positive the example is right when left out, and nothing need be learnt again.
Refit      Other examples, the suspects, come with strengths that were learnt without them, of gap g'. The dual value curves at
           least like ½‖f - f°‖², so  ‖f - f°‖² <= 2g',  and the sign of the output is sure where  |f(x_i)| > √(2g' K_ii).  With
           C = inf f is that of the best dual value on the ray of the strengths. An example of zeros, where there is no clamped
           input, has output 0, which is the negative class.

What is not sure is undecided, and counted apart. The kernel's parameters are those of all examples.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from halfspace._text import plural
from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, as_rows, combination, potentials_and_sums, signs, squares
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.expansion import Scales, outputs, proved_scales
from halfspace.certificates.margins.bracket import SLACK, different, within
from halfspace.certificates.margins.gap import DualityGap, KernelGap

__all__ = ["LeaveOneOut", "Refits"]

ENTRIES = 1 << 22
"""Outputs of refits that are computed at a time."""
TINY = 1e-290


class Refits(NamedTuple):
    """Strengths learnt without one example each, as changes of common ones: those of refit k lie at starts[k]:starts[k + 1]."""

    suspects: IntArray  # (q,) the example that is left out
    starts: IntArray  # (q + 1,)
    changed: IntArray  # (p,) examples of another strength
    strengths: FloatArray  # (p,) which is this

    @classmethod
    def of(cls, base: FloatArray, found: list[tuple[int, FloatArray]]) -> Self:
        """Collect (example, strengths without it), all beside the strengths `base`, shape (n,)."""
        places = [np.flatnonzero(strengths != base) for _, strengths in found]
        values = [strengths[own] for (_, strengths), own in zip(found, places, strict=True)]
        starts = np.cumsum([0, *(own.size for own in places)])
        empty = np.empty(0, dtype=np.int64)
        return cls(
            np.array([i for i, _ in found], dtype=np.int64),
            starts.astype(np.int64),
            np.concatenate([empty, *places]).astype(np.int64),
            np.concatenate([np.empty(0), *values]),
        )


@dataclass(frozen=True, eq=False)
class LeaveOneOut(Certificate):
    """How many examples are wrong when each is left out in turn, exactly.

    Parameters
    ----------
    gap : DualityGap or KernelGap
        Strengths learnt from all examples and how near they are to the optimum. No free bias.
    suspects : ndarray, shape (q,)
        Examples that the bound does not clear.
    starts : ndarray, shape (q + 1,)
        Where the changes of each suspect begin, and end.
    changed, strengths : ndarray, shape (p,)
        Strengths learnt without each suspect, where they differ from those of `gap`.
    examples : int
        Examples that are left out in turn: those of positive weight.
    errors : int
        Examples that are certainly wrong when left out.
    undecided : int
        Suspects whose sign is not sure; 0 if `errors` is exact.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y = np.array([[-3.0], [-2.0], [-1.25], [1.0], [2.25], [3.0], [-2.5]]), np.array([0, 0, 0, 1, 1, 1, 1])
    >>> proof = hs.leave_one_out(hs.AdaTron(C=1.0), X, y)
    >>> print(proof)
    leave-one-out error 1/7 = 0.143: 3 examples by a bound, 4 by learning again without them
    >>> bool(proof.verify(X, y)), bool(proof.verify(X, 1 - y))
    (True, False)
    """

    gap: DualityGap | KernelGap
    suspects: Annotated[IntArray, "int(q) >= 0"]
    starts: Annotated[IntArray, "int(r) >= 0"]
    changed: Annotated[IntArray, "int(p) >= 0"]
    strengths: Annotated[FloatArray, "finite(p) >= 0"]
    examples: Annotated[int, "int > 0"]
    errors: Annotated[int, "int >= 0"]
    undecided: Annotated[int, "int >= 0"]

    @property
    def error(self) -> float:
        """Share of the examples that are certainly wrong when left out."""
        return self.errors / self.examples

    def __str__(self) -> str:
        n, q, most = self.examples, self.suspects.size, self.errors + self.undecided
        upper = f" to {most}/{n}" if self.undecided else ""
        share = f"{self.error:.3g}" + (f" to {most / n:.3g}" if self.undecided else "")
        how = f"{plural(n - q, 'example')} by a bound, {q} by learning again without them"
        left = f", of which {self.undecided} undecided" if self.undecided else ""
        return f"leave-one-out error {self.errors}/{n}{upper} = {share}: {how}{left}"

    @classmethod
    def draft(cls, X: Matrix, y: Labels, gap: DualityGap | KernelGap) -> Self:
        """Return the certificate whose suspects are all examples that the bound does not clear, none learnt again yet."""
        X, y = as_rows(X, y)
        n = y.size if gap.sample_weight is None else int((gap.sample_weight > 0).sum())
        plain = cls(gap, *Refits.of(np.zeros(0), []), n, 0, n)
        suspects = np.flatnonzero(~plain._cleared(plain._setting(X, y), SLACK))
        return replace(plain, suspects=suspects, starts=np.zeros(suspects.size + 1, dtype=np.int64), undecided=suspects.size)

    def with_refits(self, X: Matrix, y: Labels, refits: Refits) -> Self:
        """Return the certificate with strengths learnt without the suspects, and the errors that they prove."""
        fuller = replace(self, **refits._asdict())
        X, y = as_rows(X, y)
        wrong, open_ = fuller._counted(fuller._setting(X, y), SLACK)  # noqa: SLF001  (its own kind)
        return replace(fuller, errors=wrong, undecided=open_)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that the bias is none or clamped, that the changes are in order and the counts possible."""
        q, p, starts = self.suspects.size, self.changed.size, self.starts
        ordered = starts.size == q + 1 and starts[0] == 0 and starts[-1] == p and bool((np.diff(starts) >= 0).all())
        return [
            (not self.gap.free, "the bound does not hold with a free bias"),
            (ordered, "the starts of the changes are not in order"),
            different(self.suspects),
            (self.errors + self.undecided <= self.examples, "there are more errors than examples"),
        ]

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Check the gap, the bound of every other example and the sign of every suspect."""
        n = y.size
        inner = self.gap.confirm(X, y) and Verdict.of(within(self.suspects, n), within(self.changed, n))
        if not inner:
            return inner
        about, caps = self._setting(X, y), self.gap._caps(n)  # noqa: SLF001  (the gap is part of this)
        refits = self._refits(np.arange(self.suspects.size), about.base)
        feasible = all(a[i] == 0.0 and bool((a <= caps).all()) for i, a in refits)
        (wrong, open_), (fewest, most), there = self._counted(about, 1.0), self._counted(about, 64.0), caps > 0
        return Verdict.of(
            (self.examples == int(there.sum()), f"there are {int(there.sum())} examples, not {self.examples}"),
            (bool(there[self.suspects].all()), "a suspect has no weight"),
            (feasible, "the strengths of a refit are beyond their caps, or hold the example that is left out"),
            (fewest <= self.errors <= wrong, f"{wrong} examples are certainly wrong, not {self.errors}"),
            (
                wrong + open_ <= self.errors + self.undecided <= fewest + most,
                f"{wrong + open_} examples may be wrong, not {self.errors + self.undecided}",
            ),
        )

    # ------------------------------------------------------------ how it is decided
    def _setting(self, X: Matrix, y: Labels) -> "_Setting":
        """Measure the examples once for all refits."""
        gap, base = self.gap, np.zeros(y.size)
        base[gap.rows] = gap.strengths
        if isinstance(gap, KernelGap):
            proved = proved_scales(gap.kernel, X, gap.clamp)
            return _Setting(X, signs(y, gap.positive), base, proved.lengths, proved)
        lengths = np.sqrt(squares(X) + gap.clamp**2) * (1 + (X.shape[1] + 8) * EPS)
        return _Setting(X, signs(y, gap.positive), base, lengths, None)

    def _cleared(self, about: "_Setting", slack: float) -> Any:
        """Tell which examples are right by the bound, shape (n,); those without weight are never left out."""
        (found,) = self._found(about, about.base[:, None], [None], slack)
        caps, K = self.gap._caps(about.base.size), about.lengths**2  # noqa: SLF001  (the gap is part of this)
        if not np.isfinite(found.gap):
            return caps <= 0.0
        alpha = found.t * about.base
        h = found.gap + alpha * (1.0 - found.E + found.error) + 0.5 * alpha**2 * K
        h = np.maximum(h * (1.0 + 64 * EPS), TINY)
        c = np.minimum(np.where(caps > 0, caps, 1.0), np.sqrt(2.0 * h / np.maximum(K, TINY)))
        return (1.0 - h / c - 0.5 * c * K > 0.0) | (caps <= 0.0)

    def _counted(self, about: "_Setting", slack: float) -> tuple[int, int]:
        """Count the examples that are certainly wrong when left out, and those that are undecided."""
        listed = np.zeros(about.base.size, dtype=bool)
        listed[self.suspects] = True
        wrong, open_ = 0, int((~self._cleared(about, slack) & ~listed).sum())
        step = max(1, ENTRIES // about.base.size)
        for first in range(0, self.suspects.size, step):
            part = list(self._refits(np.arange(first, min(first + step, self.suspects.size)), about.base))
            left_out, A = [i for i, _ in part], np.stack([a for _, a in part], axis=1)
            for i, found in zip(left_out, self._found(about, A, left_out, slack), strict=True):
                sign = _sure_sign(found, i, about)
                wrong += sign < 0
                open_ += sign == 0
        return wrong, open_

    def _refits(self, numbers: IntArray, base: FloatArray) -> Iterator[tuple[int, FloatArray]]:
        """Yield some suspects with the strengths that were learnt without them, shape (n,)."""
        for k in numbers:
            own = slice(self.starts[k], self.starts[k + 1])
            strengths = base.copy()
            strengths[self.changed[own]] = self.strengths[own]
            yield int(self.suspects[k]), strengths

    def _found(self, about: "_Setting", A: FloatArray, left_out: list[Any], slack: float) -> Iterator["_Found"]:
        """Yield what strengths A, shape (n, k), prove, each without the example left out."""
        gap, X, n, hard = self.gap, about.X, about.base.size, np.isinf(self.gap.C)
        V = F = np.empty(0)
        if isinstance(gap, KernelGap):
            rows = np.flatnonzero(A.any(axis=1))
            F = outputs(gap.kernel, X, rows, A[rows] * about.sign[rows, None], gap.clamp)
        else:
            V = combination(X, np.ascontiguousarray((A * about.sign[:, None]).T), gap.clamp)
            F = potentials_and_sums(X, V, np.zeros((1, n)), gap.clamp)[0]
        s = np.ones(n) if gap.sample_weight is None else gap.sample_weight
        for k, i in enumerate(left_out):
            weight = gap.sample_weight if i is None else np.where(np.arange(n) == i, 0.0, s)
            E, a = about.sign * F[:, k], A[:, k]
            if isinstance(gap, KernelGap) and about.scales is not None:
                kernel = KernelGap.draft(gap.kernel, a, gap.C, weight, None, gap.clamp, gap.positive)
                sums: Any = kernel.sums_of(E, about.sign, about.scales)
                E, error = sums.E, sums.error
            else:
                plane = DualityGap.draft(V[k], a, gap.C, weight, None, gap.clamp, gap.positive)
                sums = plane.sums_of(E, V[k], float(about.lengths.max()), about.sign)
                error = sums.least_error + sums.size_error * about.lengths
            primal, dual = sums.values(slack, hard=hard)
            t = (sums.total / sums.square if sums.square > 0.0 else np.nan) if hard else 1.0
            yield _Found(np.float64(primal) - dual, t * sums.total / max(a.sum(), TINY), t * E, slack * t * error)


class _Setting(NamedTuple):
    """The examples as every refit sees them."""

    X: Matrix
    sign: FloatArray  # (n,)
    base: FloatArray  # (n,) strengths learnt from all
    lengths: FloatArray  # (n,) of the examples, rounded up
    scales: Scales | None  # of a kernel


class _Found(NamedTuple):
    """What strengths prove, with rounding on the safe side."""

    gap: float
    t: float  # what the strengths are multiplied by for C = inf
    E: FloatArray  # (n,) potentials
    error: FloatArray  # (n,) of which this may be rounding


def _sure_sign(found: _Found, i: int, about: _Setting) -> int:
    """Return the sign of the potential of the example that was left out, 0 where it is not sure."""
    if about.scales is None and about.lengths[i] == 0.0:
        return -int(about.sign[i])  # an output of 0 is that of the negative class
    reach = np.sqrt(2.0 * max(found.gap, 0.0)) * about.lengths[i] * (1.0 + 64 * EPS) + found.error[i]
    return int(np.sign(found.E[i])) if abs(found.E[i]) > reach else 0  # also where it is not a number
