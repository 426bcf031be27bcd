"""The Adaline."""

import time
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.callback import with_callbacks

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates import Certificate, LeastSquaresGap, PerClass
from halfspace.errors import InputError
from halfspace.models.parameters import Examples, read_examples, require_choice, require_number, restored_on_error
from halfspace.models.planes.prediction import shared
from halfspace.models.planes.presenting import PresentingClassifier
from halfspace.rows.labels import example_weights
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.regression.least_squares import least_squares
from halfspace.solvers.rules.delta import Delta
from halfspace.solvers.rules.sweep import Forget, State, Task, start
from halfspace.solvers.run import run

__all__ = ["Adaline"]


class Adaline(PresentingClassifier):
    """Adaptive linear element: the plane with the least squared error to labels ±1, at once or by the delta rule.

    The delta rule of Widrow and Hoff is gradient descent on the squared error, with the learning rate `eta0`.

    Parameters
    ----------
    solver : {"exact", "online"}, default "exact"
        Least squares at once (the smallest weights where several fit equally well), or the delta rule epoch by epoch. "At once"
        is by conjugate gradients for sparse rows, very many columns, or where `max_time` does not allow for more.
    eta0 : float, default 0.01
        Rate of the delta rule, in the first epoch of an online fit and throughout a stream. A step is cut at 1/‖x‖².
    half_life : float, default 10.0
        Epochs after which an online fit's rate is halved; it falls like 1/(1 + epoch/half_life). Infinite: constant.
    tol : float, default 1e-4
        An online fit, or one by conjugate gradients, stops when its backward error is below this.
    intercept : {"clamped", "none"}, default "clamped"
        Bias as the weight of a clamped input, or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    max_iter : int, default 1000
        Maximum number of epochs of an online fit, and of steps by conjugate gradients.
    max_time : float, optional
        Time limit in seconds.
    shuffle : bool, default True
        New order in every epoch, in blocks for large data.
    class_weight : dict or "balanced", optional
        Weight of the squared errors per class.
    warm_start : bool, default False
        An online fit goes on from the last one.
    verbose : int, default 0
        1: a line every half second; 2: a line every epoch.
    random_state : int, RandomState or None
        Seed of the order.

    Attributes
    ----------
    certificate_ : LeastSquaresGap or PerClass
        Loss and backward error, recomputed from the data.
    alpha_ : ndarray, shape (n,) or (K, n)
        Strengths with `w = Σ alpha_i y_i x_i`; they may be negative here.
    mistakes_ : int or ndarray, shape (K,)
        Examples that were on the wrong side when shown; 0 for the exact solver, which shows none.
    outcome_, coef_, intercept_, history_, classes_, n_features_in_, n_iter_
        As for `Perceptron`.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 0, 1])
    >>> model = hs.Adaline().fit(X, y)
    >>> model.coef_.round(6).tolist(), model.intercept_.round(6).tolist(), bool(model.certificate_.verify(X, y))
    ([[1.0]], [-1.333333], True)
    """

    def __init__(
        self,
        *,
        solver: str = "exact",
        eta0: float = 0.01,
        half_life: float = 10.0,
        tol: float = 1e-4,
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        max_iter: int = 1000,
        max_time: float | None = None,
        shuffle: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.solver = solver
        self.eta0 = eta0
        self.half_life = half_life
        self.tol = tol
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.max_time = max_time
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Matrix, y: Labels, sample_weight: Any = None) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : array, shape (n,)
            Labels.
        sample_weight : array, shape (n,), optional
            Weights of the squared errors, for the exact solver: a weight of 2 is the same as an example twice. The online
            solver depends on the order of the examples and does not take it.
        """
        with restored_on_error(self):
            began = time.perf_counter()
            self._check_parameters()
            if self.solver == "exact":
                return self._fit_exactly(X, y, sample_weight, began)
            if sample_weight is not None:
                msg = "Adaline(solver='online') takes no sample_weight: use solver='exact', or class_weight."
                raise InputError(msg)
            data, method, training = self._prepare(X, y)
            reporter = self._reporter(X, y, data, method, training)
            return self._store(data, method, run(method, self._budget(began, data), training, reporter.watch), reporter)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_choice(self, "solver", "exact", "online")
        require_number(self, "eta0")
        require_number(self, "tol")
        if not isinstance(self.half_life, float) or self.half_life != np.inf:
            require_number(self, "half_life")

    def _fit_exactly(self, X: Matrix, y: Labels, sample_weight: Any, began: float) -> Self:
        """Solve the least-squares problem and certify it."""
        data = read_examples(self, X, y, self._asked_clamp())
        data.inspection()
        self._fitted_clamp = data.clamp
        s = example_weights(self.class_weight, sample_weight, data.classes, data.target, type(self).__name__)
        signs = np.where(data.target[:, None] == data.positive, 1.0, -1.0)
        W, signed, iterated = least_squares(data.X, signs, s, data.clamp, float(self.tol), self._budget(began, data))
        task = Task(data.view, data.target, data.positive, data.q, s)
        self._state: State = start(task, W)._replace(alpha=signed * signs.T)
        self._memory, self._began, self._native = Forget(), np.zeros_like(W), False
        self.classes_, self.n_iter_, self.history_, self.mistakes_ = data.classes, 1, {}, self._mistakes()
        self.certificate_ = self._certify(data, W, self._state.alpha, s, {})
        self.outcome_ = Outcome("solved", f"Solved: {self.certificate_}.")
        if iterated is not None:
            self.n_iter_, self.history_ = iterated.rounds, iterated.course.history()
            self.outcome_ = self._explained(iterated.outcome)
        return self

    def _rule(self) -> Delta:
        return Delta(float(self.eta0), float(self.half_life))

    def _enough(self, data: Examples, s: FloatArray) -> Callable[[State], bool]:
        return lambda state: self._backward_error(self._certify(data, state.W, state.alpha, s, {})) <= self.tol

    def _certify(
        self, data: Examples, W: FloatArray, alpha: FloatArray, s: FloatArray, proofs: dict[int, FloatArray]
    ) -> Certificate:
        weight = None if (s == 1.0).all() else s
        labels = data.classes[data.positive].tolist()
        parts = [
            LeastSquaresGap.measure(data.X, data.y, weights=w, sample_weight=weight, clamp=data.clamp, positive=label)
            for w, label in zip(shared(W), labels, strict=True)
        ]
        return parts[0] if len(parts) == 1 else PerClass(tuple(labels), tuple(parts))

    @staticmethod
    def _backward_error(certificate: Certificate) -> float:
        """Return the largest backward error of a certificate's parts."""
        parts = certificate.parts if isinstance(certificate, PerClass) else (certificate,)
        return max(part.backward_error for part in parts if isinstance(part, LeastSquaresGap))

    def _explained(self, outcome: Outcome) -> Outcome:
        error = self._backward_error(self.certificate_)
        if error <= self.tol:
            unit = "step" if self.solver == "exact" else "epoch"
            return Outcome("converged", f"Converged in {unit} {self.n_iter_}: backward error {error:.2g} <= tol={self.tol:g}.")
        remedy = "Scale the features, accept a larger tol, or raise max_iter or max_time."
        if self.solver == "online":
            remedy = "solver='exact' needs no rate; or scale the features, change eta0 or half_life, or raise max_iter."
        return Outcome(outcome.reason, f"{outcome.sentence} Backward error {error:.2g} > tol={self.tol:g}.", remedy)
