"""The pocket perceptron."""

from collections.abc import Callable
from typing import Any

import numpy as np

from halfspace._typing import FloatArray
from halfspace.models.parameters import Examples
from halfspace.models.planes.prediction import PlaneMixin
from halfspace.models.planes.rosenblatt import RosenblattClassifier
from halfspace.rows.outputs import outputs
from halfspace.solvers.loop import Run
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.pocket import Pocket, close_runs, start_pocket
from halfspace.solvers.rules.sweep import State, Task

__all__ = ["PocketPerceptron"]


class PocketPerceptron(PlaneMixin, RosenblattClassifier):
    """The perceptron that keeps its best plane in a pocket: for data no plane separates.

    Finding the plane with the fewest errors is NP-hard, so the answer says "best found", never "best".

    Parameters
    ----------
    ratchet : bool, default True
        A plane goes into the pocket only if it errs less on all the data, not just for longer. A stream (`partial_fit`) has
        no "all the data": there the longest run of correct answers decides.
    intercept : {"clamped", "none"}, default "clamped"
        Bias as the weight of a clamped input, or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    max_iter : int, default 100
        Maximum number of epochs.
    max_time : float, optional
        Time limit in seconds.
    shuffle : bool, default True
        New order in every epoch, in blocks for large data.
    class_weight : dict or "balanced", optional
        Rate multiplier per class, and what an error on that class costs.
    warm_start : bool, default False
        Go on from the last fit.
    verbose : int, default 0
        1: a line every half second; 2: a line every epoch.
    random_state : int, RandomState or None
        Seed of the order.

    Attributes
    ----------
    errors_ : int or ndarray, shape (K,)
        Training examples the pocket gets wrong, per two-class problem.
    certificate_ : MistakeBound or PerClass
        Mistakes made, their bound, and the margin bracket of the pocket.
    outcome_, coef_, intercept_, alpha_, mistakes_, history_, classes_, n_features_in_, n_iter_
        As for `Perceptron`.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y, *_ = hs.data.two_clouds(200, distance=2.0)
    >>> model = hs.PocketPerceptron(random_state=0).fit(X, y)
    >>> bool(model.errors_ == (model.predict(X) != y).sum()), model.outcome_.reason
    (True, 'iteration budget spent')
    """

    def __init__(
        self,
        *,
        ratchet: bool = True,
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        max_iter: int = 100,
        max_time: float | None = None,
        shuffle: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.ratchet = ratchet
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.max_time = max_time
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def _remembering(self, state: State) -> Pocket:
        return start_pocket(state, ratchet=self.ratchet)

    def _renewed(self, memory: Pocket | None, state: State) -> Pocket:
        memory = start_pocket(state, ratchet=False) if memory is None else memory
        return memory._replace(alpha=np.zeros_like(state.alpha), ratchet=np.zeros(1, dtype=np.int64))

    def _run(self, task: Task, data: Examples, watch: Callable[..., bool]) -> Run:
        run = super()._run(task, data, watch)
        close_runs(self._memory, task, self._state)
        wrong = self._wrong(task)
        self.errors_ = int(wrong[0]) if wrong.size == 1 else wrong
        return run

    def _wrong(self, task: Task) -> Any:
        """Count the examples the pocket gets wrong, per problem."""
        answers = outputs(task.X, self._answer()[0]) > 0
        return (answers != (task.target[:, None] == task.positive)).sum(axis=0)

    def _answer(self) -> tuple[FloatArray, FloatArray]:
        return self._memory.W, self._memory.alpha

    def _explained(self, outcome: Outcome) -> Outcome:
        if outcome.converged:
            return outcome
        found = f" Best found: {np.sum(self.errors_):,} errors on the training examples."
        remedy = "More epochs may find fewer (no one can say how many: the problem is NP-hard); a kernel may need none."
        return Outcome(outcome.reason, outcome.sentence + found, remedy)
