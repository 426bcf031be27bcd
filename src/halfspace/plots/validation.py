"""Pictures of over-fitting: scores of rows learnt from and of rows that were not, over a parameter or the number of rows."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray
from halfspace.errors import InputError
from halfspace.plots.axes import place

__all__ = ["LearningCurveDisplay", "ValidationDisplay"]


@dataclass
class ValidationDisplay:
    """Training and validation scores over a parameter, from the work that a search has done anyway.

    Parameters
    ----------
    values : ndarray, shape (m,)
        Values of the parameter, rising.
    validation : ndarray, shape (m,)
        Mean score, or error, of rows that were not learnt from.
    error : ndarray, shape (m,), optional
        Standard errors of these.
    training : ndarray, shape (m,), optional
        The same of rows learnt from, where the search knows it.
    parameter, score : str
        What the values are, and what is measured.
    greater : bool, default True
        Whether larger is better.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.plots import ValidationDisplay
    >>> X, y, *_ = hs.data.two_clouds(60, distance=3.0)
    >>> search = hs.KernelAdaTronCV(Cs=[0.1, 10.0], gammas=[0.01, 1.0], cv=3).fit(X, y)
    >>> display = ValidationDisplay.from_search(search, "gamma")
    >>> display.values.tolist(), bool(display.validation.max() == search.best_score_)
    ([0.01, 1.0], True)
    """

    values: FloatArray
    validation: FloatArray
    error: FloatArray | None = None
    training: FloatArray | None = None
    parameter: str = "parameter"
    score: str = "score"
    greater: bool = True

    @property
    def best(self) -> float:
        """The value with the best validation score."""
        sign = 1.0 if self.greater else -1.0
        return float(self.values[np.nanargmax(sign * self.validation)])

    @classmethod
    def from_search(cls, search: Any, parameter: str = "C", *, ax: Any = None) -> Self:
        """Draw what a search knows: for every value of the parameter its best score over the other parameters.

        Parameters
        ----------
        search : KernelAdaTronCV, AdaTronCV, LinearRegression(ridge="cv"), KernelRegression, RidgePath or GridSearchCV
            Fitted; a `GridSearchCV(return_train_score=True)` has the training side too.
        parameter : str, default "C"
            The parameter of a search over several; `"ridge"` and `"gamma"` of regressions.
        ax : Axes, optional
            Where to draw.
        """
        history = getattr(search, "history_", {})
        if hasattr(search, "cv_results_"):
            found = _of_grid(cls, search, parameter)
        elif hasattr(search, "mean_scores_"):
            caps, order = np.asarray(search.Cs, dtype=float), np.argsort(search.Cs)
            found = cls(caps[order], search.mean_scores_[order], search.standard_errors_[order], parameter="C")
        elif hasattr(search, "loo_errors") or "loo_errors" in history:
            ridges, errors = (search.ridges, search.loo_errors) if not history else (history["ridges"], history["loo_errors"])
            found = cls(np.asarray(ridges), np.asarray(errors), parameter="ridge", score="leave-one-out error", greater=False)
        elif "errors" in history:
            found = _of_kernel_ridge(cls, history, parameter)
        else:
            msg = f"ValidationDisplay needs a fitted search that keeps the scores of its points; got {type(search).__name__}."
            raise InputError(msg)
        drawn: Self = found.plot(ax)
        return drawn

    @classmethod
    def from_scores(
        cls, values: Any, training: Any, validation: Any, *, parameter: str = "parameter", score: str = "score", ax: Any = None
    ) -> Self:
        """Draw scores of folds, shape (m, folds), as `sklearn.model_selection.validation_curve` returns them."""
        seen, unseen = np.asarray(training, dtype=float), np.asarray(validation, dtype=float)
        error = unseen.std(axis=1, ddof=1) / np.sqrt(unseen.shape[1])
        return cls(np.asarray(values, dtype=float), unseen.mean(axis=1), error, seen.mean(axis=1), parameter, score).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        ax = place(self, ax)
        _two_sides(ax, self.values, self.training, self.validation, self.error)
        ax.axvline(self.best, color="black", linewidth=0.8, linestyle=":", label=f"best: {self.best:.3g}")
        positive = self.values[self.values > 0]
        if positive.size == self.values.size and positive.max() >= 100 * positive.min():
            ax.set_xscale("log")
        ax.set(xlabel=self.parameter, ylabel=self.score)
        ax.legend(fontsize=8)
        return self


def _of_grid(kind: type, search: Any, parameter: str) -> Any:
    """Return the best mean score of every value of a parameter in scikit-learn's table of results."""
    table = search.cv_results_
    if f"param_{parameter}" not in table:
        known = ", ".join(name.removeprefix("param_") for name in table if name.startswith("param_"))
        msg = f"this search has no parameter {parameter!r}; it has: {known}"
        raise InputError(msg)
    values = np.asarray(table[f"param_{parameter}"], dtype=float)
    mean = np.asarray(table["mean_test_score"], dtype=float)
    folds = sum(name.startswith("split") and name.endswith("_test_score") for name in table)
    places = []
    for value in np.unique(values[np.isfinite(values)]):
        here = np.flatnonzero((values == value) & np.isfinite(mean))
        if here.size:
            places.append(here[np.argmax(mean[here])])
    error = np.asarray(table["std_test_score"])[places] / np.sqrt(max(folds - 1, 1))
    training = np.asarray(table["mean_train_score"])[places] if "mean_train_score" in table else None
    return kind(values[places], mean[places], error, training, parameter)


def _of_kernel_ridge(kind: type, history: dict[str, Any], parameter: str) -> Any:
    """Return the least leave-one-out error of every width or λ that a kernel regression has tried."""
    errors = np.where(np.isfinite(history["errors"]), history["errors"], np.inf)
    widths = np.asarray(history["gammas"], dtype=float)
    if parameter == "gamma":
        order = np.argsort(widths)
        values, least = widths[order], errors.min(axis=1)[order]
    else:
        width = int(errors.min(axis=1).argmin())
        values, least = history["ridges"][width], errors[width]
    known = np.isfinite(least)
    return kind(
        np.asarray(values, dtype=float)[known],
        least[known],
        parameter="gamma" if parameter == "gamma" else "ridge",
        score="leave-one-out error, share of the variance",
        greater=False,
    )


@dataclass
class LearningCurveDisplay:
    """Scores of rows learnt from and of rows that were not, over the number of rows learnt from.

    Far apart, the model memorises, and more rows help; close together and low, it is too simple.

    Parameters
    ----------
    rows : ndarray, shape (m,)
        Rows learnt from.
    training, validation, error : ndarray, shape (m,)
        Mean scores of both sides, and the standard error of the second; `training` is None where it is not known.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.plots import LearningCurveDisplay
    >>> X, y, *_ = hs.data.two_clouds(200, distance=2.0)
    >>> display = LearningCurveDisplay.from_estimator(hs.AveragedPerceptron(random_state=0), X, y, cv=3)
    >>> display.rows.size == display.training.size == display.validation.size
    True
    """

    rows: FloatArray
    training: FloatArray | None
    validation: FloatArray
    error: FloatArray

    @classmethod
    def from_ladder(cls, ladder: Any, *, ax: Any = None) -> Self:
        """Draw the curve of a ladder that was fitted with `curve=True`."""
        points = np.array(getattr(ladder, "learning_curve_", ()), dtype=float)
        if not points.size:
            msg = "LearningCurveDisplay needs a ladder fitted with curve=True; this one has no learning_curve_."
            raise InputError(msg)
        training = points[:, 3] if points.shape[1] > 3 else None
        return cls(points[:, 0], training, points[:, 1], points[:, 2]).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **how: Any) -> Self:
        """Fit an estimator to growing parts of X, shape (n, d); `how` goes to `sklearn.model_selection.learning_curve`."""
        from sklearn.model_selection import learning_curve  # noqa: PLC0415  (only this way of three needs it)

        how = {"train_sizes": np.geomspace(0.1, 1.0, 6), "shuffle": True, "random_state": 0, **how}
        rows, seen, unseen = learning_curve(estimator, X, y, **how)
        error = unseen.std(axis=1, ddof=1) / np.sqrt(unseen.shape[1])
        return cls(rows.astype(float), seen.mean(axis=1), unseen.mean(axis=1), error).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        ax = place(self, ax)
        _two_sides(ax, self.rows, self.training, self.validation, self.error)
        ax.set(xlabel="rows learnt from", ylabel="score", xscale="log")
        ax.legend(fontsize=8)
        return self


def _two_sides(ax: Any, at: FloatArray, training: FloatArray | None, validation: FloatArray, error: FloatArray | None) -> None:
    """Draw both curves, with a band of one standard error."""
    if training is not None:
        ax.plot(at, training, color="#b2182b", marker=".", linestyle="--", label="rows learnt from")
    ax.plot(at, validation, color="#2166ac", marker="o", label="rows not seen")
    if error is not None:
        ax.fill_between(at, validation - error, validation + error, color="#2166ac", alpha=0.15, linewidth=0)
