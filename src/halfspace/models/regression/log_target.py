"""A regression of the logarithm of a positive target, whose predictions are in the target's own units."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, Matrix
from halfspace.certificates.regression.smearing import LogSmearing
from halfspace.errors import InputError
from halfspace.models.certified import Certified
from halfspace.models.parameters import UNLABELLED, read_matrix, require, restored_on_error
from halfspace.models.regression.bayesian_regression import BayesianRegression
from halfspace.models.regression.kernel_regression import KernelRegression
from halfspace.models.regression.kernel_ridge import KernelRidgeModel
from halfspace.models.regression.linear_regression import LinearRegression
from halfspace.models.regression.relevance import RelevanceKernelRegressor

__all__ = ["LogTarget"]

INNER = LinearRegression, BayesianRegression, KernelRegression, RelevanceKernelRegressor


class LogTarget(Certified, MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    """Fit the logarithm of a positive target, and predict the mean in its own units: for prices, wages, weights.

    Effects that multiply become sums, and errors of 10 % count alike for small and large targets. exp of a prediction is near
    the median of the target; times `factor_`, the mean of exp(residual) (Duan 1983, "smearing"), it is the mean, which is what
    least squares is after. Log predictions end one range of log y beyond the least and the largest: exp would make much of a
    line that runs on.

    Parameters
    ----------
    regressor : LinearRegression, BayesianRegression, KernelRegression or RelevanceKernelRegressor, optional
        The model of log y; by default `LinearRegression()`.

    Attributes
    ----------
    regressor_ : estimator
        The fitted model of log y.
    factor_ : float
        Mean of exp(log y - f(x)): over the examples for a line, over examples left out for a kernel.
    range_ : ndarray, shape (2,)
        The least and the largest log y.
    certificate_ : LogSmearing
        The claim of the model about log y, and the factor.
    outcome_, n_features_in_, feature_names_in_, n_iter_
        As for the other estimators.

    Examples
    --------
    A power law, m = 2 a³, is a line in logarithms:

    >>> import numpy as np, halfspace as hs
    >>> a = np.array([[1.0], [2.0], [3.0], [5.0]])
    >>> model = hs.LogTarget().fit(np.log(a), 2.0 * a[:, 0] ** 3)
    >>> model.regressor_.coef_.round(6).tolist(), model.predict(np.log([[4.0]])).round(6).tolist(), round(model.factor_, 6)
    ([3.0], [128.0], 1.0)
    """

    learnt: ClassVar[dict[str, Any]] = {
        **UNLABELLED,
        "regressor_": "model:LinearRegression,BayesianRegression,KernelRegression,RelevanceKernelRegressor",
        "factor_": "finite > 0",
        "range_": "finite8(2)",
    }

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse a model of other rows."""
        if vars(fitted["regressor_"]).get("n_features_in_") != sizes["d"]:
            raise ValueError("LogTarget: its model knows other features")

    def __init__(self, regressor: Any = None) -> None:
        self.regressor = regressor

    def __sklearn_tags__(self) -> Any:
        """Say that targets are positive and one, and take sparse rows where the model of log y does."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        tags.target_tags.multi_output = False
        tags.input_tags = get_tags(self._asked()).input_tags
        return tags

    def _asked(self) -> Any:
        """Return the model of log y that is asked for."""
        return LinearRegression() if self.regressor is None else self.regressor

    def fit(self, X: Matrix, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model of log y, and measure the factor.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : array, shape (n,)
            Targets > 0.
        sample_weight : array, shape (n,), optional
            Weights of the examples.

        Returns
        -------
        self
        """
        with restored_on_error(self):
            names = " or ".join(kind.__name__ for kind in INNER)
            require(self, "regressor", f"None, {names}", holds=isinstance(self._asked(), INNER))
            _, target = read_matrix(self, X, y, reset=True, y_numeric=True)
            target = np.asarray(target, dtype=np.float64)
            if not (target > 0.0).all():
                bad = int(np.flatnonzero(~(target > 0.0))[0])
                msg = (
                    f"LogTarget fits the logarithm of y, so all targets must be positive; y[{bad}] = {target[bad]:g}. "
                    f"Fit {type(self._asked()).__name__} itself, or add a constant that means something."
                )
                raise InputError(msg)
            model = self.regressor_ = clone(self._asked()).fit(X, np.log(target), sample_weight)
            left_out = np.log(target) - model.left_out_ if isinstance(model, KernelRidgeModel) else None
            known = None if left_out is None else np.where(np.isfinite(left_out), left_out, 0.0)
            self.certificate_ = LogSmearing.measure(X, target, model.certificate_, known)
            self.factor_ = self.certificate_.factor
            self.range_ = np.array([self.certificate_.low, self.certificate_.high])
            self.n_iter_, said = model.n_iter_, model.outcome_
            smeared = f"Predictions are exp of it times {self.factor_:.4g}, the mean of exp(residual)."
            self.outcome_ = type(said)(said.reason, f"Of log y: {said.sentence} {smeared}", said.remedy)
            return self

    def predict(self, X: Matrix) -> FloatArray:
        """Return the predicted means of the target, shape (n,).

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        check_is_fitted(self)
        return self._in_units(self.regressor_.predict(X))

    @property
    def left_out_(self) -> FloatArray:
        """Prediction for every example by a model of log y that has not seen it, shape (n,), if that is a kernel's."""
        return self._in_units(self.regressor_.left_out_)

    @property
    def unseen_(self) -> FloatArray:
        """Prediction for examples by models of log y whose metric they did not teach either, shape (n,); NaN: there is none."""
        return self._in_units(self.regressor_.unseen_)

    def _in_units(self, logs: FloatArray) -> FloatArray:
        """Return means of the target, shape (n,), from predictions of log y."""
        low, high = self.range_
        return np.asarray(self.factor_ * np.exp(np.clip(logs, low - (high - low), high + (high - low))))
