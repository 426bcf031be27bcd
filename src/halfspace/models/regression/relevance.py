"""The relevance kernel machine: kernel ridge whose metric is learnt from its own gradients, for numbers and for classes."""

import time
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, OneToOneFeatureMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from halfspace._memory import admit
from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates import KernelRidgeClasses, Verdict
from halfspace.certificates.log_odds import LogOdds
from halfspace.certificates.regression.kernel_ridge import class_targets
from halfspace.errors import InputError
from halfspace.kernels import Kernel
from halfspace.models.parameters import LABELLED, UNLABELLED, read_matrix, require, require_number, restored_on_error
from halfspace.models.progress import Reporter
from halfspace.models.regression.base import Regression
from halfspace.models.regression.kernel_ridge import KernelRidgeModel
from halfspace.rows.labels import read_classes
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.regression.relevance import TEACHERS, Ends, Task, find_metric

__all__ = ["RelevanceKernelClassifier", "RelevanceKernelRegressor"]

SEARCHED = 4.0
"""Seconds of a search on as many rows as it looks at, where the machine is slow; with fewer, by the square of their share."""
LOOKED_AT = 2_500
"""Rows that a search looks at, at most."""
ENOUGH = 1_000
"""Examples that the search did not look at, from which on they alone are told of as unseen: they met the whole machine."""
SHARE = 2.0 / 3.0
"""Of `max_time` for the search."""


class _Relevance(OneToOneFeatureMixin, TransformerMixin, KernelRidgeModel):
    """What both machines share: the search for a metric, and what it leaves behind."""

    learnt: ClassVar[dict[str, Any]] = {
        "relevances_": "f8(d)",
        "unseen_": "f8(n) | f8(n,K)",
    }

    intercept = "free"
    intercept_scaling = 1.0
    borrowed: ClassVar[float] = 0.5
    classes: ClassVar[bool]
    _ended: tuple[str, str, int]

    def __init__(
        self,
        *,
        kernel: Kernel | None = None,
        ridge: float | None = None,
        kernel_rows: int = 5000,
        warm_start: bool = False,
        max_time: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.ridge = ridge
        self.kernel_rows = kernel_rows
        self.warm_start = warm_start
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        self._check_rows()
        known = self.kernel is None or (isinstance(self.kernel, Kernel) and not self.kernel.is_precomputed)
        require(self, "kernel", "None or a kernel of halfspace.kernels for rows", holds=known)
        if self.kernel is not None:
            require_number(self, "ridge")
        require(self, "ridge", "None unless a kernel is given", holds=self.kernel is not None or self.ridge is None)

    def _plan(self, data: Regression) -> Kernel | None:
        """Return a kernel that is given or to be kept, or None; refuse what does not fit into memory."""
        n, d = data.X.shape
        held, looked = min(n, int(self.kernel_rows)), min(n, LOOKED_AT)
        needed = 8.0 * (4 * held * held + 3 * n * (d + data.Y.shape[1])) + 12.0 * looked * (2 * looked + 3 * d)
        needed += 24.0 * min(n, TEACHERS) * d
        admit(type(self).__name__, needed, f"machines of {held:,} examples", "lower kernel_rows", data.X)
        if self.kernel is not None:
            return self.kernel.resolved(data.X)
        if not (self.warm_start and hasattr(self, "_expansion")):
            return None
        if self._expansion.coefficients.shape[0] != data.Y.shape[1]:
            msg = f"{type(self).__name__}: warm_start goes on with as many targets or classes as before"
            raise InputError(msg)
        return self._expansion.kernel

    def _cell_share(self, share: float) -> float:
        return max(0.16, 0.28 * float(np.sqrt(share)))  # of 15,000 examples as dear as of 5,000

    def _searching(self, plan: Kernel | None, r: int, matrix: float) -> float:
        return 0.0 if plan is not None else SEARCHED * min(1.0, r / LOOKED_AT) ** 2 + 0.05

    def _search(self, data: Regression, rows: IntArray, plan: Kernel | None, rng: Any, began: float) -> Kernel:
        """Find the metric on some rows, or take the one that is there."""
        if plan is not None:
            if self.kernel is not None:
                factors = getattr(plan, "factors", None)
                self.relevances_ = np.ones(data.X.shape[1]) if factors is None else factors / factors.max()
                self.ridge_, self.history_, self.n_iter_ = float(self.ridge), {}, 1  # type: ignore[arg-type]
            self.unseen_ = np.full(data.Y.shape[: 1 if data.single else 2], np.nan)
            return plan
        rows = np.flatnonzero(data.design.s)  # all: beyond the sample, metrics are learnt in cells
        s, Y = data.design.s[rows], data.Y[rows]
        mean = np.zeros(Y.shape[1]) if self.classes else s @ Y / s.sum()
        spread = np.ones(Y.shape[1]) if self.classes else np.sqrt(s @ np.square(Y - mean) / s.sum())
        spread = np.where(spread > 0.0, spread, 1.0)
        X = data.X if rows.size == data.X.shape[0] else data.X[rows]
        task = Task(X, ((Y - mean) / spread).astype(np.float32), (s / s.mean()).astype(np.float32), self.classes)
        deadline = None if self.max_time is None else began + float(self.max_time) * SHARE
        reporter = Reporter(self, data.X, data.Y, dict, 1)
        found = find_metric(task, rng, Ends(deadline, reporter.line, self.n_jobs))
        reporter.close()
        unseen = np.full(data.Y.shape, np.nan)
        unseen[rows] = found.unseen * spread + mean
        self.unseen_ = unseen[:, 0] if data.single else unseen
        self._searched = rows[found.read]
        self.ridge_, self.relevances_, self.history_ = found.ridge * float(s.mean()), found.relevances, found.history
        self.n_iter_, self._ended = len(found.history["loss"]), (found.ended, found.name, found.rounds)
        return found.kernel

    def _see_unseen(self) -> None:
        """Add the outputs for examples left out that the search did not look at; where they are many, they are all."""
        if "_searched" not in vars(self):
            return
        others = ~np.isnan(self.left_out_.reshape(self.left_out_.shape[0], -1)[:, 0])  # examples of weight
        others[self.__dict__.pop("_searched")] = False
        if others.sum() >= ENOUGH:
            self.unseen_ = np.full_like(self.left_out_, np.nan)
        self.unseen_[others] = self.left_out_[others]

    def _explained(self, plan: Kernel | None, cells: int) -> Outcome:
        about = f" in {cells} cells, an approximation" if cells > 1 else ""
        sentence = f"Solved by Cholesky{about}: {str(self.certificate_).splitlines()[0]}."
        if plan is not None:
            return Outcome("solved", f"{sentence} The metric was {'given' if self.kernel is not None else 'learnt before'}.")
        ended, name, rounds = self.__dict__.pop("_ended")
        metric = f"a metric learnt in {rounds} round{'s' * (rounds > 1)}" if rounds else "no learnt metric"
        sentence += f" Of {self.n_iter_} machines, judged by rows that taught no metric, {name} with {metric}"
        if ended == "complete":
            return Outcome("solved", f"{sentence} was best.")
        remedy = "Raise max_time: not all machines were tried." if ended != "interrupted" else "Fit again to try all machines."
        return Outcome(ended, f"{sentence} was the best so far.", remedy)

    @property
    def metric_(self) -> FloatArray:
        """Factors of the columns, on their scales, in the distance of the kernel, shape (d,)."""
        check_is_fitted(self)
        factors = getattr(self._expansion.kernel, "factors", None)
        return np.ones(self.n_features_in_) if factors is None else np.array(factors)

    def transform(self, X: Matrix) -> FloatArray:
        """Return the columns on their scales, times their factors, shape (n, d): what the kernel measures distances of.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        X = self._read(X)
        found: FloatArray = self._expansion.kernel.coordinates(X)
        return found


class RelevanceKernelRegressor(MultiOutputMixin, RegressorMixin, _Relevance):
    """Kernel ridge whose metric is learnt from its own gradients: for tables, where boosted trees are the rival.

    Tried are a line, `RBF`, `Laplacian` and `Manhattan` kernels of columns that are standardised, logarithmic or normal; the
    last two also with a metric that weighs every column by the mean square of the function's slope along it, in some rounds.
    Scale, width and λ are chosen by exact leave-one-out, the kernel and its metric by examples that taught no metric. What is
    proved is the machine *given* its metric, which is a choice, as a width is. Beyond `kernel_rows` examples the space of the
    metric is cut into cells with a machine each.

    Parameters
    ----------
    kernel : Kernel, optional
        A kernel to use instead of learning one, such as `kernel_` of another fit; it needs a `ridge`.
    ridge : float, optional
        λ > 0 for that kernel.
    kernel_rows : int, default 5000
        Most examples of one machine; of more, cells of about a fourth to a sixth as many are made, whose
        machines know also half as many of the examples next to their borders.
    warm_start : bool, default False
        Keep metric and λ of the last fit, and only solve for the examples given.
    max_time : float, optional
        Time limit in seconds; the search stops at two thirds of it, and the best machine so far is fitted.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    verbose : int, default 0
        1 prints a line for every machine tried.
    random_state : int, RandomState or None, default 0
        Seed of folds, samples and cells.

    Attributes
    ----------
    relevances_ : ndarray, shape (d,)
        Mean square of the function's slope along every column, on its scale, the largest 1.
    metric_ : ndarray, shape (d,)
        Factors of the columns in the kernel's distance.
    kernel_ : OnScales
        The kernel, with scales and metric.
    ridge_ : float
        The λ used.
    left_out_ : ndarray, shape (n,) or (n, m)
        Prediction for every example by a machine that has not seen it, given the metric; NaN without weight.
    unseen_ : ndarray, shape (n,) or (n, m)
        Prediction for examples by machines whose metric they did not teach either; NaN where there is none. Metrics are learnt
        from 12,000 examples at most; for others it is `left_out_`, and if there are 1,000 of these, only they have one.
    history_ : dict
        Of the machines tried: `kernel`, `rounds`, `power` of the relevances, `factor` of λ and `loss`.
    certificate_ : KernelRidgeGap or KernelRidgeCells
        How far f can be from the best function, and its leave-one-out error.
    dual_coef_, intercept_, left_out_error_, outcome_, n_features_in_, feature_names_in_, n_iter_
        As for `KernelRegression`; `n_iter_` is the number of machines tried.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X = np.random.default_rng(0).normal(size=(120, 4))
    >>> y = np.sin(2.0 * X[:, 0]) + 0.1 * X[:, 1]
    >>> model = hs.RelevanceKernelRegressor().fit(X, y)
    >>> int(model.relevances_.argmax()), bool(model.left_out_error_ < 0.1 * y.var()), bool(model.verify(X, y))
    (0, True, True)
    """

    learnt: ClassVar[dict[str, Any]] = UNLABELLED
    classes: ClassVar[bool] = False

    def fit(self, X: Matrix, y: Any, sample_weight: Any = None) -> Self:
        """Learn the metric, and fit the function.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : array, shape (n,) or (n, m)
            Targets.
        sample_weight : array, shape (n,), optional
            Weights of the examples.

        Returns
        -------
        self
        """
        with restored_on_error(self), one_blas_thread():
            began = time.perf_counter()
            self._check_parameters()
            self._learn(X, y, sample_weight, began)
            self._see_unseen()
            return self

    def predict(self, X: Matrix) -> FloatArray:
        """Return the predicted targets, shape (n,) or (n, m).

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        found = self._outputs(X)
        return found[:, 0] if self._single else found


class RelevanceKernelClassifier(ClassifierMixin, _Relevance):
    """Kernel ridge for classes whose metric is learnt from its own gradients: for tables, where boosted trees are the rival.

    A function for each class (one for two) is fitted to targets ±1, all by one factorisation; how kernel, metric and λ are
    chosen is said at `RelevanceKernelRegressor`. Probabilities follow from the outputs for examples left out.

    Parameters
    ----------
    kernel : Kernel, optional
        A kernel to use instead of learning one, such as `kernel_` of another fit; it needs a `ridge`.
    ridge : float, optional
        λ > 0 for that kernel.
    kernel_rows : int, default 5000
        Most examples of one machine; of more, cells of about a fourth to a sixth as many are made, whose
        machines know also half as many of the examples next to their borders.
    warm_start : bool, default False
        Keep metric and λ of the last fit, and only solve for the examples given, which must be of the same classes.
    max_time : float, optional
        Time limit in seconds; the search stops at two thirds of it, and the best machine so far is fitted.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    verbose : int, default 0
        1 prints a line for every machine tried.
    random_state : int, RandomState or None, default 0
        Seed of folds, samples and cells.

    Attributes
    ----------
    classes_ : ndarray, shape (K,)
        The labels.
    relevances_, metric_, kernel_, ridge_, history_
        As for `RelevanceKernelRegressor`.
    left_out_ : ndarray, shape (n,) or (n, K)
        Output for every example by a machine that has not seen it, given the metric; NaN without weight.
    unseen_ : ndarray, shape (n,) or (n, K)
        Output for examples by machines whose metric they did not teach either; NaN where there is none.
    calibration_ : LogOdds
        From outputs to probabilities.
    certificate_ : KernelRidgeClasses
        How far the functions can be from the best ones, and the mistakes on examples left out.
    dual_coef_, intercept_, left_out_error_, outcome_, n_features_in_, feature_names_in_, n_iter_
        As for `KernelRegression`; `n_iter_` is the number of machines tried.

    Examples
    --------
    >>> import halfspace as hs
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = hs.RelevanceKernelClassifier().fit(X, y)
    >>> model.certificate_.mistakes <= 8, model.predict_proba(X[:2]).shape, bool(model.verify(X, y))
    (True, (2, 3), True)
    """

    learnt: ClassVar[dict[str, Any]] = {**LABELLED, "calibration_": LogOdds}
    classes: ClassVar[bool] = True
    classes_: Labels

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse what the machines are refused for, and probabilities that would not be any."""
        super().check_learnt(fitted, sizes)
        if (fitted["left_out_"].ndim == 1) != (sizes["c"] == 2) or not fitted["calibration_"].sound(sizes["c"]):
            raise ValueError("RelevanceKernelClassifier: its probabilities would not be any")

    def fit(self, X: Matrix, y: Labels, sample_weight: Any = None) -> Self:
        """Learn the metric, fit a function for each class, and learn their probabilities.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : array, shape (n,)
            Labels of two or more classes.
        sample_weight : array, shape (n,), optional
            Weights of the examples.

        Returns
        -------
        self
        """
        with restored_on_error(self), one_blas_thread():
            began = time.perf_counter()
            self._check_parameters()
            X, y = read_matrix(self, X, y, reset=True)
            classes, target = read_classes(y, type(self).__name__)
            if self.warm_start and hasattr(self, "classes_") and not np.array_equal(classes, self.classes_):
                msg = f"{type(self).__name__}: warm_start goes on with the classes {self.classes_.tolist()}, not others"
                raise InputError(msg)
            self.classes_ = classes
            T = class_targets(target, classes.size)
            self._learn(X, T[:, 0] if classes.size == 2 else T, sample_weight, began)
            self._see_unseen()
            seen, F = ~np.isnan(self.left_out_.reshape(target.size, -1)[:, 0]), self.left_out_
            wrong = (F > 0.0) != (target == 1) if F.ndim == 1 else F.argmax(axis=1) != target
            self.certificate_ = KernelRidgeClasses(tuple(classes.tolist()), self.certificate_, int((wrong & seen).sum()))
            self.calibration_ = LogOdds.of(F, target, anchored=True)
            return self

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return the outputs f(x), shape (n,) for two classes and (n, K) for more.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        found = self._outputs(X)
        return found[:, 0] if self._single else found

    def predict_proba(self, X: Matrix) -> FloatArray:
        """Return the probabilities of the classes, shape (n, K); the most probable is the one predicted.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        outputs = self.decision_function(X)
        return self.calibration_.probabilities(outputs)

    def predict(self, X: Matrix) -> Labels:
        """Return the predicted labels, shape (n,); f(x) = 0 predicts the first of two classes.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        outputs = self.decision_function(X)
        labels: Labels = self.classes_[(outputs > 0).astype(int) if outputs.ndim == 1 else outputs.argmax(axis=1)]
        return labels

    def verify(self, X: Matrix, y: Labels | None = None) -> Verdict:
        """Check the proof, that the model predicts with its numbers, and that probabilities follow from outputs left out.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            The examples given to `fit`.
        y : array, shape (n,)
            Their labels.
        """
        proved = super().verify(X, y)
        if not proved:
            return proved
        with one_blas_thread():
            fair = self.calibration_.agrees(self.left_out_, np.searchsorted(self.classes_, np.asarray(y)), anchored=True)
        return Verdict.of((fair, "the probabilities are not those of the outputs for rows left out"))
