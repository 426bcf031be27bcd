"""The voted perceptron."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates import Certificate, PerClass
from halfspace.certificates.margins.ballot import Ballot
from halfspace.models.parameters import Examples, usable_rows
from halfspace.models.planes.presenting import PresentingClassifier
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.presenting import Presenting, Training
from halfspace.solvers.rules.sweep import State, Task
from halfspace.solvers.rules.voted import Log, join, poll, start_log, votes_of

__all__ = ["VotedPerceptron"]

BLOCK = 1 << 22
"""Inner products held at a time while predicting."""


class VotedPerceptron(PresentingClassifier):
    """Every weight vector a perceptron ever had votes, as often as it survived examples.

    The decision is not a plane, so there is no `coef_`; memory and prediction time grow with the number of mistakes.

    Parameters
    ----------
    margin : float, default 0.0
        An example counts as a mistake until its potential exceeds this.
    intercept : {"clamped", "none"}, default "clamped"
        Bias as the weight of a clamped input, or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    max_iter : int, default 1
        Epochs, fewer if one brings no mistake.
    max_time : float, optional
        Time limit in seconds.
    shuffle : bool, default True
        New order in every epoch, in blocks for large data.
    class_weight : dict or "balanced", optional
        Rate multiplier per class.
    warm_start : bool, default False
        Go on from the last fit.
    verbose : int, default 0
        1: a line every half second; 2: a line every epoch.
    random_state : int, RandomState or None
        Seed of the order.

    Attributes
    ----------
    votes_ : list of ndarray
        Per problem, the votes of each weight vector in the order they arose; they sum to the presentations after the first
        mistake.
    certificate_ : MistakeBound or PerClass
        Mistakes, their bound, and the margin bracket of the last weights.
    outcome_, alpha_, mistakes_, history_, classes_, n_features_in_, n_iter_
        As for `Perceptron`.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X, y = np.array([[1.0], [2.0], [-1.0]]), np.array([1, 1, 0])
    >>> model = hs.VotedPerceptron(shuffle=False, intercept="none").fit(X, y)
    >>> [votes.tolist() for votes in model.votes_], model.predict([[-4.0]]).tolist()
    ([[3]], [0])
    """

    learnt: ClassVar[dict[str, Any]] = {"_memory": Log, "_pages": [("rows(_m,d)", Log)]}

    def __init__(
        self,
        *,
        margin: float = 0.0,
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        max_iter: int = 1,
        max_time: float | None = None,
        shuffle: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.margin = margin
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.max_time = max_time
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def _remembering(self, state: State, memory: Log | None = None) -> Log:
        return start_log(state.alpha.size)

    def _prepare(self, X: Matrix, y: Labels, sample_weight: Any = None) -> tuple[Examples, Presenting, Training]:
        before = (self._state, self._pages) if self.warm_start and hasattr(self, "_pages") else None
        data, method, training = super()._prepare(X, y, sample_weight)
        if before is not None and (self._began.any() or training.state.clock[0] > 0):  # the old vectors keep their votes
            training.state.clock[0], training.pages = before[0].clock[0], before[1]
            self._settle(data.X, method.task, training)
        return data, method, training

    def _settle(self, X: Matrix, task: Task, training: Training) -> None:
        """Put the log away, together with the rows its mistakes were made on."""
        log = join(training.logs)
        local = np.zeros(X.shape[0], dtype=np.int64)
        local[log.row] = 1
        rows = np.flatnonzero(local)
        local[rows] = np.arange(rows.size)
        self._pages: list[tuple[Matrix, Log]] = [*training.pages, (X[rows], log._replace(row=local[log.row]))]

    def _certify(
        self, data: Examples, W: FloatArray, alpha: FloatArray, s: FloatArray, proofs: dict[int, FloatArray]
    ) -> Certificate:
        proof: Any = super()._certify(data, W, alpha, s, proofs)
        rows = [_numbers(support, data.X) for support, _ in self._pages]
        if any(numbers is None for numbers in rows):  # of a warm start on other data: the vote is not about these alone
            return proof  # type: ignore[no-any-return]
        log, now = join([log for _, log in self._pages]), int(self._state.clock[0])
        number = np.concatenate([numbers[log.row] for numbers, (_, log) in zip(rows, self._pages, strict=True)])
        parts = []
        for k, part in enumerate(getattr(proof, "parts", [proof])):
            own, sign = log.k == k, np.where(data.target == data.positive[k], 1.0, -1.0)
            ballot = Ballot(0, number[own], log.change[own], log.time[own], now)
            parts.append(replace(part, ballot=ballot.counted(data.X, sign, part.bracket)))
        return parts[0] if len(parts) == 1 else PerClass(proof.classes, tuple(parts))

    @property
    def coef_(self) -> FloatArray:
        """There is none: the decision is not a plane."""
        msg = "VotedPerceptron has no coef_: many planes vote, see votes_."
        raise AttributeError(msg)

    @property
    def intercept_(self) -> FloatArray:
        """There is none: the decision is not a plane."""
        msg = "VotedPerceptron has no intercept_: many planes vote, see votes_."
        raise AttributeError(msg)

    def _votes(self) -> list[FloatArray]:
        """Return the votes page by page."""
        whole = join([log for _, log in self._pages])
        votes = votes_of(whole, self._state.W.shape[0], int(self._state.clock[0]))
        return np.split(votes, np.cumsum([log.row.size for _, log in self._pages])[:-1])

    @property
    def votes_(self) -> list[IntArray]:
        """Votes of each weight vector, per problem, in the order they arose."""
        self._known()
        whole, votes = join([log for _, log in self._pages]), np.concatenate(self._votes())
        return [votes[whole.k == k].astype(np.int64) for k in range(self._state.W.shape[0])]

    def _scores(self, X: Matrix) -> FloatArray:
        usable_rows(X, self._clamp, type(self).__name__)
        tally = np.zeros((X.shape[0], self._state.W.shape[0]))
        output = np.zeros_like(tally)
        for (support, log), votes in zip(self._pages, self._votes(), strict=True):
            step = max(1, BLOCK // max(support.shape[0], 1))
            for first in range(0, X.shape[0], step):
                rows = slice(first, first + step)
                products = np.asarray(_dense(X[rows].astype(np.float64) @ support.T.astype(np.float64))) + self._clamp**2
                poll(np.ascontiguousarray(products), log, votes, output[rows], tally[rows])
        return tally / max(int(self._state.clock[0]), 1)

    def to_graph(self, graph: Any, X: str) -> str:
        """Add the nodes of the vote to an ONNX graph (`halfspace.exports`); return the name of the scores of the rows X."""
        logs, first = [], 0
        for support, log in self._pages:
            logs.append(log._replace(row=log.row + first))
            first += support.shape[0]
        support = np.concatenate([_dense(rows) for rows, _ in self._pages]).astype(np.float64)
        products = graph("Add", graph("MatMul", X, support.T), self._clamp**2)
        tally = graph.running_votes(products, join(logs), np.concatenate(self._votes()), self._state.W.shape[0])
        return str(graph("Div", tally, max(float(self._state.clock[0]), 1.0)))

    def _explained(self, outcome: Outcome) -> Outcome:
        if outcome.reason != "iteration budget spent":
            return outcome
        return Outcome("passes done", f"{self.n_iter_} epochs, as asked; {int(np.sum(self.mistakes_)):,} weight vectors vote.")

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse votes on rows that there are not; make room for the mistakes of the next epoch."""
        super().check_learnt(fitted, sizes)
        if not fitted["_pages"]:
            raise ValueError("VotedPerceptron: it has no votes")
        for support, log in fitted["_pages"]:
            log.check(support.shape[0])
        fitted["_memory"] = fitted["_memory"].emptied(fitted["_state"].alpha.size)


def _numbers(support: Matrix, X: Matrix) -> Any:
    """Return which rows of X these are, shape (m,); None if one of them is not among them."""
    known = {key: i for i, key in enumerate(_keys(X))}
    found = [known.get(key, -1) for key in _keys(support)]
    return None if -1 in found else np.array(found, dtype=np.int64)


def _keys(X: Any) -> Iterator[int]:
    """Yield a hash of every row."""
    if not sparse.issparse(X):
        return (hash(row.tobytes()) for row in X)
    ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return (hash((X.indices[a:b].tobytes(), X.data[a:b].tobytes())) for a, b in ends)


def _dense(products: Any) -> Any:
    """Return inner products as an array, whatever they were computed from."""
    return products.toarray() if sparse.issparse(products) else products
