"""The vote of all the functions that a perceptron ever had: the mistakes that made them, and how often the vote is wrong.

Function m is  f_m = Σ_{j<=m} step_j (k(x_j, ·) + clamp²),  the sum over the mistakes so far; it has a vote for every example
presented until the next mistake, and the answer is the sign of  Σ_m votes_m sgn(f_m(x)),  with sgn(0) = -1.

The vote of an output within rounding of 0 may fall on either side: the checker counts the examples that such votes could
decide, and allows the claim to be off by as many.
"""

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates.arithmetic import EPS
from halfspace.certificates.base import Verdict
from halfspace.certificates.expansion import scales
from halfspace.certificates.fields import faults
from halfspace.kernels import Kernel, Linear

__all__ = ["Ballot"]

JUDGED = 1000
"""Examples that the vote is counted on: of more, every so many-th."""
BLOCK = 1 << 22
"""Outputs held at a time."""


class Ballot(NamedTuple):
    """The mistakes of one problem in order, and the errors of the vote among at most a thousand examples, spread evenly.

    Parameters
    ----------
    errors : int
        Examples that the vote gets wrong: of n the numbers 0, s, 2s, ... with s = n/1000, rounded up.
    rows, steps, times : ndarray, shape (m,)
        The example of each mistake, how much of it was added, with its sign, and how many examples had been presented.
    presented : int
        Examples presented in all.
    """

    errors: Annotated[int, "int >= 0"]
    rows: Annotated[IntArray, "int(m) >= 0", "asked"]
    steps: Annotated[FloatArray, "finite(m)", "asked"]
    times: Annotated[IntArray, "int(m) >= 0", "asked"]
    presented: Annotated[int, "int >= 0", "asked"]

    def __str__(self) -> str:
        return f"the vote errs on {self.errors:,} of at most {JUDGED:,} examples"

    def counted(self, X: Matrix, sign: FloatArray, bracket: Any) -> Self:
        """Return the vote with its errors on examples X (n, d) with labels ±1; the bracket knows clamped input and kernel."""
        return self._replace(errors=sum(self._wrong(sign[own], tally) for own, tally, _ in self._tallies(X, bracket)))

    def well_formed(self) -> Verdict:
        """Check the fields, and that the mistakes are in order."""
        found = faults(self)
        ordered = not found and bool((np.diff(self.times, append=self.presented) >= 0).all())
        return Verdict.of(*((False, text) for text in found), (ordered or bool(found), "the mistakes are not in order"))

    def confirm(self, X: Matrix, sign: FloatArray, bracket: Any) -> Verdict:
        """Count the votes anew."""
        if self.rows.size and self.rows.max() >= X.shape[0]:
            return Verdict.of((False, f"a row outside 0..{X.shape[0] - 1}"))
        wrong, unsure = self._counted(X, sign, bracket)
        return Verdict.of((abs(self.errors - wrong) <= unsure, f"the vote makes {wrong} errors, not {self.errors}"))

    @staticmethod
    def _wrong(sign: FloatArray, tally: FloatArray) -> int:
        """Return how many examples with labels ±1 a tally gets wrong."""
        return int(((tally > 0.0) != (sign > 0.0)).sum())

    def _tallies(self, X: Matrix, bracket: Any) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
        """Yield judged rows in blocks, the tally of the votes on each, and the outputs of all that voted."""
        kernel, judged = getattr(bracket, "kernel", Linear()), np.arange(0, X.shape[0], -(-X.shape[0] // JUDGED))
        used, place = np.unique(self.rows, return_inverse=True)
        for own, values in _blocks(kernel, X, judged, used, self.rows.size):
            outputs = np.cumsum((values + bracket.clamp**2)[:, place] * self.steps, axis=1)
            yield own, np.where(outputs > 0.0, 1.0, -1.0) @ self._votes(), outputs

    def _votes(self) -> FloatArray:
        """Return how many examples each function survived, shape (m,)."""
        return np.diff(self.times, append=self.presented).astype(np.float64)

    def _counted(self, X: Matrix, sign: FloatArray, bracket: Any) -> tuple[int, int]:
        """Return how many judged examples the vote gets wrong, and how many of them rounding could decide."""
        size = scales(getattr(bracket, "kernel", Linear()), X, bracket.clamp)
        spare = 2.0 * (self.rows.size + X.shape[1] + 8) * EPS
        reach = np.cumsum(np.abs(self.steps) * size.lengths[self.rows])
        wrong = unsure = 0
        for own, tally, outputs in self._tallies(X, bracket):
            error = spare * size.lengths[own][:, None] * reach + size.entry * np.cumsum(np.abs(self.steps))
            doubt = (np.abs(outputs) <= error) @ self._votes()
            wrong += self._wrong(sign[own], tally)
            unsure += int((np.abs(tally) <= 2.0 * doubt)[doubt > 0.0].sum())
        return wrong, unsure


def _blocks(kernel: Kernel, X: Any, judged: IntArray, used: IntArray, m: int) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield judged rows in blocks, with the kernel's values for the rows that are used."""
    step = max(1, BLOCK // max(m, 1))
    for first in range(0, judged.size, step):
        own = judged[first : first + step]
        if used.size == 0:
            yield own, np.zeros((own.size, used.size))
            continue
        values: Any = X[own][:, used] if kernel.is_precomputed else kernel.exact(X[own], X[used])
        yield own, np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)
