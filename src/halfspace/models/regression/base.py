"""What the regressions share: reading examples and targets, predicting, saying what was learnt."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfspace._matrices import admitted
from halfspace._typing import FloatArray, Matrix
from halfspace.errors import InputError
from halfspace.models.parameters import is_ready, read_matrix, refuse_vanishing, require_choice, require_number, usable_rows
from halfspace.rows.design import Design, column_means
from halfspace.rows.labels import example_weights
from halfspace.rows.operations import outputs
from halfspace.rows.threads import one_blas_thread
from halfspace.rows.views import view_of

__all__ = ["Regression", "RegressionMixin", "asked_clamp", "read_regression", "read_ridges", "table"]

SMALLEST = 1e-140
"""Squared lengths of examples below this are lost when they are squared again."""
NOISELESS = 1e-11
"""Residuals below this share of the largest target are not told from rounding."""
LARGEST = 1e120
"""Largest target: squares, and sums of them, must stay finite."""


@dataclass(frozen=True)
class Regression:
    """Checked examples with real targets, and the design the solvers read."""

    X: Matrix
    Y: FloatArray
    """Targets as given, shape (n, m)."""
    design: Design
    y_mean: FloatArray
    """What is subtracted from the targets, shape (m,): their means if the constant is free, else 0."""
    free: bool
    single: bool
    """Whether the targets came as one column without a second axis."""

    @property
    def centred(self) -> FloatArray:
        """Targets less the constant, shape (n, m)."""
        return self.Y - self.y_mean

    @property
    def total(self) -> float:
        """Number of examples: the sum of their weights."""
        return float(self.design.s.sum())

    @property
    def sample_weight(self) -> FloatArray | None:
        """Weights of the examples, None if all are 1."""
        return None if (self.design.s == 1.0).all() else self.design.s

    @property
    def floor(self) -> FloatArray:
        """Sum of squares below which residuals are the rounding of the targets, shape (m,)."""
        largest = np.abs(self.Y).max(axis=0)
        return np.asarray(self.total * (NOISELESS * np.where(largest > 0.0, largest, 1.0)) ** 2)

    def some(self, rows: Any) -> "Regression":
        """Return some of the examples, by number, about their own means."""
        X, Y, s = self.X[rows], self.Y[rows], self.design.s[rows]
        centre = column_means(X, s) if self.free else self.design.centre
        y_mean = s @ Y / s.sum() if self.free else self.y_mean
        return Regression(X, Y, Design(X, s, self.design.clamp, centre), y_mean, self.free, self.single)

    def constants(self, W: FloatArray) -> FloatArray:
        """Return the constant of each target, shape (m,), for weights (D, m)."""
        d = self.X.shape[1]
        return np.asarray(self.y_mean - self.design.centre @ W[:d] + self.design.clamp * W[d:].sum(axis=0))

    def shaped(self, values: Any) -> Any:
        """Return values per target, shape (m, ...), without that axis if the targets had none; a number as a float."""
        if not self.single:
            return np.ascontiguousarray(values)
        return float(values[0]) if np.ndim(values[0]) == 0 else np.ascontiguousarray(values[0])


def read_regression(
    estimator: Any, X: Matrix, y: Any, sample_weight: Any, *, reset: bool = True, multi: bool = True
) -> Regression:
    """Check examples, targets and weights; set the scikit-learn attributes that describe them."""
    owner = type(estimator).__name__
    y = None if y is None else admitted(y, owner, "y")
    X, y = read_matrix(estimator, X, y, reset=reset, multi_output=multi, y_numeric=True)
    free, clamp = estimator.intercept == "free", asked_clamp(estimator)
    refuse_vanishing(X, usable_rows(X, clamp, owner)[1], clamp, owner, SMALLEST)
    Y = np.asarray(y, dtype=np.float64).reshape(y.shape[0], -1)
    if not np.abs(Y).max() <= LARGEST or 0.0 < np.abs(Y).max() < 1.0 / LARGEST:
        msg = f"{owner}: y holds targets beyond {LARGEST:g}, or only some below {1 / LARGEST:g}: squares are lost. Scale them."
        raise InputError(msg)
    s = example_weights(None, sample_weight, np.zeros(1), np.zeros(Y.shape[0], dtype=np.int64), owner)
    with one_blas_thread():
        centre = column_means(X, s) if free else np.zeros(X.shape[1])
    y_mean = s @ Y / s.sum() if free else np.zeros(Y.shape[1])
    return Regression(X, Y, Design(X, s, clamp, centre), y_mean, free, y.ndim == 1)


def asked_clamp(estimator: Any) -> float:
    """Return the value of the clamped input that the parameters ask for; 0 for none."""
    return float(estimator.intercept_scaling) if estimator.intercept == "clamped" else 0.0


def read_ridges(ridges: Any, owner: str) -> FloatArray:
    """Return a grid of λ > 0 in rising order, or refuse it."""
    expected = f"The 'ridges' parameter of {owner} must be a list of numbers from 1e-50 to 1e50. Got {ridges!r} instead."
    try:
        grid = np.sort(np.asarray(ridges, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(expected) from error
    if grid.ndim != 1 or grid.size == 0 or not ((grid >= 1e-50) & (grid <= 1e50)).all():
        raise InputError(expected)
    return grid


def table(model: Any, weights: FloatArray, errors: FloatArray, heading: str) -> list[str]:
    """Return the lines of a table of weights and their errors, shape (d + 1,), by name, the constant last."""
    names = [*getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)]), "(constant)"]
    width = max(12, *(len(name) + 2 for name in names))
    lines = [f"{'feature':<{width}}{'weight':>12}  {heading:>12}"]
    return lines + [f"{name:<{width}}{w:>12.5g}  {e:>12.5g}" for name, w, e in zip(names, weights, errors, strict=True)]


class RegressionMixin:
    """Prediction by `coef_` and `intercept_`, and the parameters that say how the constant is fitted."""

    coef_: FloatArray
    intercept_: Any

    def __sklearn_tags__(self) -> Any:
        """Say that sparse matrices are welcome."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags

    def _check_intercept(self) -> None:
        require_choice(self, "intercept", "clamped", "free", "none")
        require_number(self, "intercept_scaling")

    def _read(self, X: Matrix) -> Matrix:
        """Check examples to predict for."""
        check_is_fitted(self)
        X = X if is_ready(self, X) else read_matrix(self, X, reset=False)
        usable_rows(X, 0.0, type(self).__name__)
        return X

    def _means(self, X: Matrix) -> FloatArray:
        """Return the predictions for checked X, shape (n,) or (n, m)."""
        predicted = np.asarray(outputs(view_of(X, 0.0), np.atleast_2d(self.coef_)) + self.intercept_)
        return predicted[:, 0] if self.coef_.ndim == 1 else predicted
