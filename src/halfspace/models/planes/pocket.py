"""The pocket perceptron."""

from typing import Any, ClassVar

import numpy as np

from halfspace._typing import FloatArray, Matrix
from halfspace.models.planes.presenting import PresentingClassifier
from halfspace.rows.operations import outputs
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.pocket import Pocket, close_runs, start_pocket
from halfspace.solvers.rules.presenting import Training, copied
from halfspace.solvers.rules.sweep import State, Task

__all__ = ["PocketPerceptron"]


class PocketPerceptron(PresentingClassifier):
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

    learnt: ClassVar[dict[str, Any]] = {"_W": "finite8(K,D)", "_alpha": "f8(K,n)", "_memory": Pocket, "?errors_": "int | i8(K)"}

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

    def _remembering(self, state: State, memory: Pocket | None = None) -> Pocket:
        if memory is None:
            return start_pocket(state, ratchet=self.ratchet)
        return memory._replace(alpha=np.zeros_like(state.alpha), ratchet=np.zeros(1, dtype=np.int64))

    def _settle(self, X: Matrix, task: Task, training: Training) -> None:
        best = copied(training.memory)
        close_runs(best, task, training.state)
        self._W, self._alpha = best.W, best.alpha
        wrong = ((outputs(task.X, best.W) > 0) != (task.target[:, None] == task.positive)).sum(axis=0)
        self.errors_ = int(wrong[0]) if wrong.size == 1 else wrong

    def _answer(self) -> tuple[FloatArray, FloatArray]:
        return self._W, self._alpha

    def _explained(self, outcome: Outcome) -> Outcome:
        if outcome.converged:
            return outcome
        found = f" Best found: {np.sum(self.errors_):,} errors on the training examples."
        remedy = "More epochs may find fewer (no one can say how many: the problem is NP-hard); a kernel may need none."
        return Outcome(outcome.reason, outcome.sentence + found, remedy)
