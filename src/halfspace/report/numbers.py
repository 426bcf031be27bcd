"""What a report says about predicted numbers: predictions against the truth, residuals, weights with errors.

Residuals are those of training rows, by folds that had not seen them; a pattern in them is something that the winner misses.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from halfspace import LogTarget
from halfspace._text import shown
from halfspace._typing import FloatArray, IntArray
from halfspace.ladder.components import behind
from halfspace.report.findings import FarRow, Influence, Numbers, Pairs, Residuals
from halfspace.tables.columns import as_table, is_table, kind_of, moments_of, numbers_of, take, texts_of

__all__ = ["find_numbers", "residuals_by_column", "residuals_by_value", "weights_with_errors"]

MOST_POINTS, MOST_COLUMNS, MOST_LABELS, MOST_FAR, MOST_WEIGHTS = 1_000, 6, 8, 10, 20
GROUPS, LEAST_GROUP = 10, 5
"""Groups of residuals, and least rows of one."""
SECONDS_OF_YEAR = 31_556_952.0


def find_numbers(ladder: Any, X: Any, y: FloatArray, names: Sequence[str], columns: Sequence[str], rows: IntArray) -> Numbers:
    """Collect what there is to say about numbers.

    `names` are those of the encoded inputs, `columns` those of the table that residuals are shown against, the most important
    first, `rows` the numbers of the rows in the file.
    """
    train, test = np.asarray(ladder.train_), np.asarray(ladder.test_)
    unseen, predicted = train[: len(ladder.out_of_fold_)], np.asarray(ladder.out_of_fold_)
    kept = np.isfinite(predicted)
    unseen, predicted = unseen[kept], predicted[kept]
    if not unseen.size:
        unseen, predicted = test, np.asarray(ladder.test_outputs_)
    held = (test, ladder.test_outputs_) if test.size else (unseen, predicted)
    residuals = y[unseen] - predicted
    varied = unseen.size > LEAST_GROUP and np.ptp(predicted) > 0
    shown_against = [residuals_by_value("prediction", predicted, residuals)] if varied else []
    for column in columns[:MOST_COLUMNS]:
        shown_against += residuals_by_column(X, column, unseen, residuals)
    far = np.argsort(-np.abs(residuals), kind="stable")[:MOST_FAR]
    return Numbers(
        mean=float(y.mean()),
        deviation=float(y.std()),
        low=float(y.min()),
        high=float(y.max()),
        pairs=_pairs(y[held[0]], np.asarray(held[1]), held_out=bool(test.size)),
        residuals=tuple(shown_against),
        coefficients=weights_with_errors(ladder.estimator_, names),
        logarithm=isinstance(behind(ladder.estimator_), LogTarget),
        far=tuple(FarRow(int(rows[unseen[i]]), float(y[unseen[i]]), float(predicted[i])) for i in far),
    )


def _pairs(true: FloatArray, predicted: FloatArray, *, held_out: bool) -> Pairs | None:
    """Return a sample of pairs."""
    if not true.size:
        return None
    some = _sample(true.size)
    return Pairs(tuple(true[some].tolist()), tuple(predicted[some].tolist()), held_out, int(true.size))


def _sample(n: int) -> IntArray:
    """Return at most so many of n rows."""
    return np.arange(n) if n <= MOST_POINTS else np.sort(np.random.default_rng(0).choice(n, MOST_POINTS, replace=False))


def weights_with_errors(model: Any, names: Sequence[str]) -> Influence | None:
    """Return the largest weights of a linear model, or of one of the logarithm, with their standard errors; None for others."""
    V = getattr(model, "components_", None)
    model = behind(model)
    model = getattr(model, "regressor_", model)
    if not hasattr(model, "coef_") or np.ndim(model.coef_) != 1:
        return None
    weights = np.asarray(model.coef_, dtype=np.float64)
    if hasattr(model, "standard_errors_"):
        errors = np.asarray(model.standard_errors_, dtype=np.float64)
    elif hasattr(model, "covariance_"):
        errors = np.sqrt(np.diag(model.covariance_))[: weights.size]
    else:
        return None
    if V is not None:  # principal components are uncorrelated, and so are the errors of their weights
        weights, errors = weights @ V, np.sqrt(errors**2 @ V**2)
    order = np.argsort(-np.abs(weights), kind="stable")[:MOST_WEIGHTS]
    kept = tuple(shown(names[i], 60) for i in order)
    return Influence("", kept, tuple(weights[order].tolist()), tuple(errors[order].tolist()), weights.size - order.size)


def residuals_by_column(X: Any, column: str, rows: IntArray, residuals: FloatArray) -> list[Residuals]:
    """Return the residuals (n,) of rows (n,) against a column of the table, if it can be drawn: one or none."""
    values = _values(X, column, rows)
    if values is None:
        return []
    if values.dtype.kind == "f":
        seen = np.isfinite(values)
        if np.count_nonzero(seen) <= LEAST_GROUP or np.ptp(values[seen]) == 0:
            return []
        return [residuals_by_value(column, values[seen], residuals[seen])]
    return [_by_label(column, values, residuals)]


def _values(X: Any, column: str, rows: IntArray) -> Any:
    """Return the values of a column: floats, NaN where missing, or text; None if the table has no such column."""
    if is_table(X):
        table = as_table(take(X, rows))
        if column not in table.column_names:
            return None
        found = table.column(column)
        kind = kind_of(found)
        if kind == "moment":
            seconds = moments_of(found)[0]
            return np.where(np.isnat(seconds), np.nan, 1970.0 + seconds.astype(np.int64) / SECONDS_OF_YEAR)
        numbers, unread = numbers_of(found)
        if kind != "switch" and np.isfinite(numbers).any() and unread == 0:
            return numbers
        return np.array(["missing" if text is None else text for text in texts_of(found).to_pylist()], dtype=str)
    place = column.removeprefix("x")
    if not place.isdecimal() or int(place) >= X.shape[1]:
        return None
    part = take(X, rows)[:, int(place)]
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64).ravel()


def residuals_by_value(name: str, x: FloatArray, residuals: FloatArray) -> Residuals:
    """Return residuals (n,) against numbers (n,), with their means in groups of about equal size; equal numbers stay together.

    Examples
    --------
    >>> import numpy as np
    >>> residuals_by_value("age", np.arange(20.0), np.repeat([1.0, -1.0], 10)).groups[0]
    (2.0, 1.0, 0.0, 5)
    """
    order = np.argsort(x, kind="stable")
    ranked = x[order]
    count = max(min(GROUPS, x.size // LEAST_GROUP), 1)
    starts = np.unique(np.searchsorted(ranked, ranked[np.arange(count) * x.size // count]))
    groups = tuple(_group(float(x[part].mean()), residuals[part]) for part in np.split(order, starts[1:]))
    some = _sample(x.size)
    return Residuals(shown(name, 60), tuple(x[some].tolist()), tuple(residuals[some].tolist()), groups)


def _by_label(name: str, labels: Any, residuals: FloatArray) -> Residuals:
    """Return the means of residuals for the commonest values of a column of text."""
    known, numbers, counts = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_LABELS]
    groups = tuple(_group(k + 1.0, residuals[numbers == label]) for k, label in enumerate(order))
    return Residuals(shown(name, 60), (), (), groups, tuple(shown(known[label], 20) for label in order))


def _group(place: float, residuals: FloatArray) -> tuple[float, float, float, int]:
    """Return the place, mean, standard error and number of residuals."""
    error = float(residuals.std(ddof=1) / np.sqrt(residuals.size)) if residuals.size > 1 else float("nan")
    return place, float(residuals.mean()), error, int(residuals.size)
