"""Rosenblatt's perceptron."""

from typing import Any

import numpy as np

from halfspace._typing import FloatArray
from halfspace.models.parameters import require_choice
from halfspace.models.planes.presenting import PresentingClassifier
from halfspace.solvers.outcome import Outcome

__all__ = ["Perceptron"]


class Perceptron(PresentingClassifier):
    """Rosenblatt's perceptron: on a mistake, add the example; stop when an epoch brings none.

    On separable data it stops, after at most (R/kappa)² mistakes, and says so with a proof. On inseparable data it never
    settles: it stops at `max_iter` or `max_time`, or earlier with a proof that no plane exists, and `outcome_` says what to
    try instead.

    `E_i = y_i w·x_i` is the local potential of an example, `alpha_` its embedding strength: w = Σ alpha_i y_i x_i.

    Parameters
    ----------
    eta0 : float, default 1.0
        Rate. From zero weights and with `margin=0` it only scales the answer.
    margin : float, default 0.0
        An example counts as a mistake until its potential y f(x) exceeds this.
    start : {"zero", "unit"}, default "zero"
        Start from zero weights, or from the first unit vector.
    intercept : {"clamped", "none"}, default "clamped"
        Bias as the weight of a clamped input, or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    max_iter : int, default 1000
        Maximum number of epochs.
    max_time : float, optional
        Time limit in seconds.
    shuffle : bool, default True
        New order in every epoch, in blocks of neighbouring rows for large data (see `halfspace.rows.orders.Orders`).
    multi_class : {"ovr", "native"}, default "ovr"
        More than two classes: one plane each against the rest, or all together (truth up, winner down).
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
        Mistakes made, the most the theorem allows, and the margin bracket; `certificate_.verify(X, y)` checks it.
    outcome_ : Outcome
        Why the fit stopped, and a remedy.
    coef_, intercept_ : ndarray, shape (K, d), (K,)
        The plane.
    alpha_ : ndarray, shape (n,) or (K, n)
        Strengths: `w = Σ alpha_i y_i x_i`, plus the start.
    mistakes_ : int or ndarray, shape (K,)
        Mistakes made.
    history_ : dict of ndarray
        Per epoch: mistakes so far, squared norm of the weights, overlap with the answer, seconds.
    classes_, n_features_in_, n_iter_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X, y = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -1.0]]), np.array(["up", "up", "down"])
    >>> model = hs.Perceptron(shuffle=False).fit(X, y)
    >>> model.predict([[3.0, 3.0]]).tolist(), model.mistakes_, model.outcome_.reason
    (['up'], 1, 'converged')
    >>> bool(model.certificate_.verify(X, y))
    True
    """

    def __init__(
        self,
        *,
        eta0: float = 1.0,
        margin: float = 0.0,
        start: str = "zero",
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        max_iter: int = 1000,
        max_time: float | None = None,
        shuffle: bool = True,
        multi_class: str = "ovr",
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.eta0 = eta0
        self.margin = margin
        self.start = start
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_choice(self, "start", "zero", "unit")

    def _first_weights(self, shape: tuple[int, int]) -> FloatArray | None:
        if self.start == "zero":
            return None
        W = np.zeros(shape)
        W[:, 0] = 1.0
        return W

    def _explained(self, outcome: Outcome) -> Outcome:
        if outcome.converged:
            return outcome
        proved = outcome.reason == "proved inseparable"
        ways = "PocketPerceptron keeps the plane with the fewest errors found, AveragedPerceptron tolerates them, and a kernel "
        ways += "or a feature map (PolynomialFeatures, Nystroem) may separate what a plane cannot."
        remedy = f"No plane separates these data: {ways}" if proved else f"If a plane exists, raise max_iter; if not: {ways}"
        known = "" if proved else " The classes are neither separated nor proved inseparable."
        outcome = Outcome(outcome.reason, outcome.sentence + known, f"{outcome.remedy} {remedy}".strip())
        if outcome.reason != "interrupted":
            self._warn(outcome)
        return outcome
