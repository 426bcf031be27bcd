"""The voted perceptron."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.models.parameters import Examples, usable_rows
from halfspace.models.planes.rosenblatt import RosenblattClassifier
from halfspace.solvers.loop import Progress, Run
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.sweep import State, Task
from halfspace.solvers.rules.voted import Log, drain, join, poll, start_log, votes_of

__all__ = ["VotedPerceptron"]

BLOCK = 1 << 22
"""Inner products held at a time while predicting."""


class VotedPerceptron(RosenblattClassifier):
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

    def _remembering(self, state: State) -> Log:
        if not (self.warm_start and hasattr(self, "_pages")):
            self._pages: list[tuple[Matrix, Log]] = []
        self._loose: list[Log] = []
        return start_log(state.alpha.size)

    def _renewed(self, memory: Log | None, state: State) -> Log:
        return self._remembering(state) if memory is None else start_log(state.alpha.size)

    def _begin(self, task: Task, data: Examples, before: dict[str, Any]) -> tuple[State, Log, FloatArray]:
        state, memory, began = super()._begin(task, data, before)
        if began.any():  # new data after a warm start: the old vectors keep their votes
            state.clock[:] = before["_state"].clock
        elif state.clock[0] == 0:  # from scratch
            self._pages = []
        return state, memory, began

    def _run(self, task: Task, data: Examples, watch: Callable[..., bool]) -> Run:
        def keep(at: Progress) -> bool:
            self._loose.append(drain(self._memory))
            return watch(at)

        run = super()._run(task, data, keep)
        self._file(data.X)
        return run

    def _take_in(self, X: Matrix, y: Labels, sample_weight: Any) -> Self:
        super()._take_in(X, y, sample_weight)
        self._file(X)
        return self

    def _file(self, X: Matrix) -> None:
        """Put the log away, together with the rows its mistakes were made on."""
        log = join([*self._loose, drain(self._memory)])
        self._loose = []
        rows, local = np.unique(log.row, return_inverse=True)
        self._pages = [*self._pages, (X[rows], log._replace(row=local.astype(np.int64)))]

    def _answer(self) -> tuple[FloatArray, FloatArray]:
        return self._state.W, self._state.alpha

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


def _dense(products: Any) -> Any:
    """Return inner products as an array, whatever they were computed from."""
    return products.toarray() if sparse.issparse(products) else products
