"""The averaged perceptron."""

from typing import Any, ClassVar

from halfspace._typing import FloatArray, Matrix
from halfspace.models.planes.presenting import PresentingClassifier
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.averaged import Mean, mean, start_mean, sum_up
from halfspace.solvers.rules.presenting import Training
from halfspace.solvers.rules.sweep import State, Task

__all__ = ["AveragedPerceptron"]


class AveragedPerceptron(PresentingClassifier):
    """The mean of all weights a perceptron ever had: nearly as good as a vote, as cheap as one plane.

    Tolerates inseparable data, and is the strong simple model to beat. Costs little more than the plain rule: only mistakes
    are booked (see `halfspace.solvers.rules.averaged`).

    Parameters
    ----------
    margin : float, default 0.0
        An example counts as a mistake until its potential exceeds this.
    intercept : {"clamped", "none"}, default "clamped"
        Bias as the weight of a clamped input, or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    max_iter : int, default 10
        Epochs, fewer if one brings no mistake.
    max_time : float, optional
        Time limit in seconds.
    shuffle : bool, default True
        New order in every epoch, in blocks for large data.
    multi_class : {"ovr", "native"}, default "ovr"
        One plane each against the rest, or all together.
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
    certificate_ : MistakeBound or PerClass
        Mistakes of the rule, their bound, and the margin bracket of the mean weights.
    outcome_, coef_, intercept_, alpha_, mistakes_, history_, classes_, n_features_in_, n_iter_
        As for `Perceptron`; `coef_` and `alpha_` are means over all presentations.

    Examples
    --------
    >>> import halfspace as hs
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = hs.AveragedPerceptron(random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.95), bool(model.certificate_.verify(X[::2], y[::2]))
    (True, True)
    """

    learnt: ClassVar[dict[str, Any]] = {"_W": "finite8(K,D)", "_alpha": "f8(K,n)", "_memory": Mean}

    def __init__(
        self,
        *,
        margin: float = 0.0,
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        max_iter: int = 10,
        max_time: float | None = None,
        shuffle: bool = True,
        multi_class: str = "ovr",
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
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def _remembering(self, state: State, memory: Mean | None = None) -> Mean:
        return start_mean(state, None if memory is None else memory.total)

    def _settle(self, X: Matrix, task: Task, training: Training) -> None:
        sum_up(training.memory, task)
        self._W, self._alpha = mean(training.memory, training.state)

    def _answer(self) -> tuple[FloatArray, FloatArray]:
        return self._W, self._alpha

    def _explained(self, outcome: Outcome) -> Outcome:
        if outcome.reason != "iteration budget spent":
            return outcome
        return Outcome("passes done", f"{self.n_iter_} epochs, as asked; the answer is the mean over all of them.")

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse a mean of other weights."""
        super().check_learnt(fitted, sizes)
        if fitted["_memory"].U.shape != fitted["_state"].W.shape:
            raise ValueError("AveragedPerceptron: the mean is not of the weights")
