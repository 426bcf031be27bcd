"""Rosenblatt's perceptron."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates import MarginBracket
from halfspace.errors import InputError
from halfspace.models.parameters import is_count, require, require_choice, require_switch
from halfspace.models.planes.presenting import PresentingClassifier
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.proof_curves import ProofCurves, curves_of
from halfspace.solvers.rules.signum import Signum
from halfspace.solvers.rules.sweep import SEED
from halfspace.solvers.rules.voted import join, start_log
from halfspace.solvers.run import Budget, run
from halfspace.theory import compression_bound

__all__ = ["Perceptron"]


class Perceptron(PresentingClassifier):
    """Rosenblatt's perceptron: on a mistake, add the example; stop when an epoch brings none.

    On separable data it stops, after at most (R/kappa)² mistakes, and says so with a proof. On inseparable data it never
    settles: it stops when `patience`, `max_iter` or `max_time` is over, or earlier with a proof that no plane exists, and
    `outcome_` says what to try instead.

    `E_i = y_i w·x_i` is the local potential of an example, `alpha_` its embedding strength: w = Σ alpha_i y_i x_i.

    Parameters
    ----------
    eta0 : float, default 1.0
        Rate. From zero weights and with `margin=0` it only scales the answer.
    margin : float, default 0.0
        An example counts as a mistake until its potential y f(x) exceeds this.
    start : {"zero", "unit"}, default "zero"
        Start from zero weights, or from D equal ones of length 1, (1/√D, ..., 1/√D), the clamped weight among them.
    at_zero : {"mistake", "negative"}, default "mistake"
        What an output of exactly 0 is while learning: a mistake for both classes, E <= 0; or the answer of a threshold unit
        with sgn(0) = -1, so that a negative example is right. The latter needs `margin=0`, and one plane per class.
    intercept : {"clamped", "none"}, default "clamped"
        Bias as the weight of a clamped input, or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    max_iter : int, default 1000
        Maximum number of epochs.
    patience : int or None, default 10
        Stop when the fewest mistakes in an epoch have not fallen for so many epochs; None to go on up to `max_iter`. A run
        that Novikoff's theorem promises to end within `max_iter` epochs is never stopped: (R/kappa)² <= max_iter. With
        `replacement` an epoch may miss mistakes, and with weights that differ they do not count alike: only `max_iter` counts.
    max_time : float, optional
        Time limit in seconds.
    shuffle : bool, default True
        New order in every epoch, in blocks of neighbouring rows for large data (see `halfspace.rows.orders.Orders`).
    replacement : bool, default False
        With `shuffle`: draw the n examples of an epoch at random with replacement. After an epoch without a mistake all
        examples are looked at before the fit ends.
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
    criterion_ : float or ndarray, shape (K,)
        Perceptron criterion Σ max(0, -y f) on the examples, whose stochastic gradient the rule follows; 0 if separated.
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

    earlier: ClassVar[dict[str, Any]] = {"patience": None, "replacement": False, "at_zero": "mistake"}

    def __init__(
        self,
        *,
        eta0: float = 1.0,
        margin: float = 0.0,
        start: str = "zero",
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        max_iter: int = 1000,
        patience: int | None = 10,
        max_time: float | None = None,
        shuffle: bool = True,
        replacement: bool = False,
        at_zero: str = "mistake",
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
        self.patience = patience
        self.max_time = max_time
        self.shuffle = shuffle
        self.replacement = replacement
        self.at_zero = at_zero
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_choice(self, "start", "zero", "unit")
        require_choice(self, "at_zero", "mistake", "negative")
        plain = self.at_zero == "mistake" or (self.margin == 0.0 and self.multi_class == "ovr")
        require(self, "at_zero", "'mistake' with a margin or multi_class='native'", holds=plain)
        require_switch(self, "replacement")
        require(self, "replacement", "False without shuffle", holds=bool(self.shuffle) or not self.replacement)
        require(self, "patience", "a positive integer or None", holds=self.patience is None or is_count(self.patience))

    def _rule(self) -> Any:
        return super()._rule() if self.at_zero == "mistake" else Signum(float(self.eta0))

    def _first_weights(self, shape: tuple[int, int]) -> FloatArray | None:
        if self.start == "zero":
            return None
        return np.full(shape, 1.0 / np.sqrt(shape[1]))

    def compression_bound(self, delta: float = 0.05) -> float:
        """Bound the error on new examples by the number of examples that the perceptron ever erred on.

        These, shown in the same order, give the same weights: with probability 1 - delta over independent examples the error
        is at most that of `halfspace.theory.compression_bound`. Needs a fit that separated its examples from zero weights or
        `start="unit"`, with rates that do not depend on the labels.

        Parameters
        ----------
        delta : float, default 0.05
            Probability that the bound fails.

        Returns
        -------
        float
            The bound, at most 1.
        """
        check_is_fitted(self)
        fixed = not isinstance(self.class_weight, str) and not self.warm_start
        if not ("certificate_" in vars(self) and self.outcome_.converged and fixed) or np.any(self.criterion_):
            msg = "Perceptron.compression_bound needs a fit that converged, without warm_start and class_weight='balanced'."
            raise InputError(msg)
        # Whether large data are shuffled in blocks depends on how sorted the labels are: two schemes share delta.
        return compression_bound(self.support_.size, self.alpha_.shape[-1], 0.5 * delta if self.shuffle else delta)

    def proof_curves(self, X: Matrix, y: Labels, teacher: Any = None) -> ProofCurves:
        """Return both curves of the convergence proof, mistake by mistake: w·w* and ‖w‖², with their bounds.

        The run is repeated on the examples of the last `fit`, of two classes; any rate, margin and start.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            The examples given to `fit`.
        y : array, shape (n,)
            Their labels.
        teacher : array, shape (D,), optional
            Weights w* that separate them, the clamped one last; by default the answer.

        Returns
        -------
        ProofCurves
            `overlap`, `square`, `cosine_squared` and their bounds, shape (mistakes + 1,).
        """
        check_is_fitted(self)
        if "certificate_" not in vars(self) or self.classes_.size != 2 or self.warm_start:
            msg = "Perceptron.proof_curves needs a fit of two classes, without warm_start."
            raise InputError(msg)
        twin: Perceptron = clone(self)
        data, method, _ = twin._prepare(X, y)
        orders = method.orders._replace(seed=int(self._state.clock[SEED]))
        again = replace(method, orders=orders, remembering=lambda state: start_log(state.alpha.size), prove=None)
        training = run(again, Budget(self.n_iter_)).state
        if not np.array_equal(training.state.W, self._state.W):
            msg = "Perceptron.proof_curves: these are not the examples, or not all the epochs, that the weights come from."
            raise InputError(msg)
        w = np.asarray(self._state.W[0] if teacher is None else teacher, dtype=np.float64)
        if w.shape != self._began[0].shape:
            msg = f"Perceptron.proof_curves: 'teacher' must have {self._began[0].size} weights. Got shape {w.shape} instead."
            raise InputError(msg)
        positive = data.classes.tolist()[1]
        bracket = MarginBracket.measure(data.X, data.y, weights=w, clamp=data.clamp, positive=positive)
        if not bracket.lower > 0.0:
            msg = "Perceptron.proof_curves: these weights w* do not separate the examples, so the proof says nothing."
            raise InputError(msg)
        theorem = self._theorem(method.task.s, float(np.linalg.norm(self._began[0])))
        unit = w / np.linalg.norm(w)
        return curves_of(data.view, join(training.logs), self._began[0], unit, bracket.lower, bracket.radius, theorem)

    def _explained(self, outcome: Outcome) -> Outcome:
        if outcome.converged:
            return outcome
        proved = outcome.reason == "proved inseparable"
        ways = "PocketPerceptron keeps the plane with the fewest errors found, AveragedPerceptron tolerates them, and a kernel "
        ways += "or a feature map (PolynomialFeatures, Nystroem) may separate what a plane cannot."
        further = "patience=None goes on up to max_iter" if outcome.reason == "no progress" else "raise max_iter"
        remedy = f"No plane separates these data: {ways}" if proved else f"If a plane exists, {further}; if not: {ways}"
        known = "" if proved else " The classes are neither separated nor proved inseparable."
        outcome = Outcome(outcome.reason, outcome.sentence + known, f"{outcome.remedy} {remedy}".strip())
        if outcome.reason != "interrupted":
            self._warn(outcome)
        return outcome
