"""The voted perceptron.

Problem    Weights that survive many examples deserve more trust than the last ones.
Rule       Rosenblatt's; each weight vector gets one vote for the example that made it and one for every example it then
           gets right, and the answer is the sign of  Σ_m votes_m sgn(w_m·x).
           The vectors are not stored: w_m is a prefix sum of mistakes, so the log of mistakes and the rows they were made
           on say everything, and reading it needs inner products only, so a kernel would do.
Theorem    Mistakes as in `rosenblatt.py`. The expected error on one more example is at most  2/(n+1)  times the expected
           value of the mistake bound, for any order of the examples.
Reference  Freund and Schapire 1999, figure 1 and theorem 3.
"""

from typing import Annotated, NamedTuple

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, IntArray
from halfspace.solvers.rules.sweep import State, Task, remember

__all__ = ["Log", "drain", "join", "poll", "start_log", "votes_of"]


class Log(NamedTuple):
    """Mistakes in the order they were made; `size[0]` of the entries are in use."""

    k: Annotated[IntArray, "i8(_l) in 0..K"]  # which problem
    row: Annotated[IntArray, "i8(_l)"]  # which example
    change: Annotated[FloatArray, "f8(_l)"]  # how much of it was added, with its sign
    time: Annotated[IntArray, "i8(_l)"]  # examples presented before this one
    size: Annotated[IntArray, "i8(1)"]

    def stored(self) -> "Log":
        """Return the entries in use, which are all that a model file holds."""
        m = int(self.size[0])
        return Log(self.k[:m], self.row[:m], self.change[:m], self.time[:m], self.size)

    def check(self, rows: int) -> None:
        """Refuse a log from a file with mistakes on rows that there are not; all its entries are in use."""
        if self.row.size and not 0 <= self.row.min() <= self.row.max() < rows:
            raise ValueError("a log of mistakes points outside the examples")
        self.size[:] = self.k.size

    def emptied(self, capacity: int) -> "Log":
        """Return an empty log with room for `capacity` mistakes; one that is not empty is refused."""
        if self.k.size:
            raise ValueError("a log of mistakes should be empty")
        return start_log(capacity)


@remember.register(Log)
def _(memory: Log, task: Task, state: State, k: int, i: int, change: float, t: int) -> None:
    m = memory.size[0]
    memory.k[m] = k
    memory.row[m] = i
    memory.change[m] = change
    memory.time[m] = state.clock[0] + t
    memory.size[0] = m + 1


def start_log(capacity: int) -> Log:
    """Make room for `capacity` mistakes."""
    return Log(
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity),
        np.empty(capacity, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


def drain(log: Log) -> Log:
    """Take the entries out."""
    m = int(log.size[0])
    taken = Log(log.k[:m].copy(), log.row[:m].copy(), log.change[:m].copy(), log.time[:m].copy(), log.size.copy())
    log.size[0] = 0
    return taken


def join(logs: list[Log]) -> Log:
    """Put logs one after the other."""
    if not logs:
        return drain(start_log(0))
    columns = [np.concatenate([log[c] for log in logs]) for c in range(4)]
    return Log(columns[0], columns[1], columns[2], columns[3], np.array([columns[0].size]))


def votes_of(log: Log, K: int, now: int) -> FloatArray:
    """Return the votes of the vector each entry made, shape (m,): examples until the next change of its problem."""
    votes = np.zeros(log.row.size)
    for k in range(K):
        mine = np.flatnonzero(log.k == k)
        votes[mine] = np.diff(log.time[mine], append=now)
    return votes


@compiled
def poll(products: FloatArray, log: Log, votes: FloatArray, output: FloatArray, tally: FloatArray) -> None:
    """Let the vectors of a log vote on each x; sgn(0) = -1.

    `products` (n, m) are the inner products of the x with the rows mistakes were made on; `output` (n, K), the w·x of the
    vector before this log, and `tally` (n, K) are carried on.
    """
    for i in range(products.shape[0]):
        for m in range(log.row.size):
            k = log.k[m]
            output[i, k] += log.change[m] * products[i, log.row[m]]
            tally[i, k] += votes[m] if output[i, k] > 0.0 else -votes[m]
