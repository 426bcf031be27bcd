"""Where a model came from: what `certify` and `inspect` need to know beyond the model itself. Counts and names, no data.

The dictionary `ladder.origin_` is stored in the model file:

    built_in     name of the built-in problem, or None
    source       name of the file without its folder, its format and its bytes
    target       column of the labels
    columns      names of the other columns
    texts        those among them that were text
    first_index  number of the first column in an svmlight file, else None
    day_first    columns whose dates are written day/month/year
    n_rows       rows in the file
    rows         rows that were used, in the file's numbering from 0, ascending, shape (n,)
    seed, time   random seed; when the fit ended (UTC, ISO 8601)
    task         "classify" or "regress"
    roles        columns that are no inputs: those dropped, and the names of `id`, `group` and `time`, or None
    versions     of halfspace, Python, NumPy and scikit-learn
    hardest      training rows with the lowest potentials out of fold: their row numbers and potentials
"""

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from halfspace import __version__
from halfspace._typing import IntArray
from halfspace.cli.reading import labels
from halfspace.files import Dataset
from halfspace.report.outputs import potentials

__all__ = ["HARDEST", "describe"]

HARDEST = 50
"""Hard examples that are kept by row number."""


def describe(ladder: Any, data: Dataset, roles: dict[str, Any], *, seed: int, built_in: str | None) -> dict[str, Any]:
    """Return the origin of a ladder that was fitted to `data`, read with columns in these roles."""
    names = getattr(data.X, "column_names", None)
    used = np.asarray(data.rows, dtype=np.int64)
    return {
        "task": ladder.task,
        "roles": {**roles, "drop": list(roles["drop"])},
        "built_in": built_in,
        "source": {"name": data.source.name, "format": data.source.format, "n_bytes": int(data.source.n_bytes)},
        "target": data.target,
        "columns": list(names) if names is not None else None,
        "first_index": data.source.first_index,
        "day_first": list(data.source.day_first),
        "texts": [field.name for field in data.X.schema if str(field.type) == "string"] if names is not None else [],
        "n_columns": int(data.X.shape[1]),
        "n_rows": int(data.n_rows),
        "rows": used,
        "seed": int(seed),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "halfspace": __version__,
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "scikit-learn": version("scikit-learn"),
        },
        **_hardest(ladder, data, used),
    }


def _hardest(ladder: Any, data: Dataset, used: IntArray) -> dict[str, Any]:
    """Return the training rows that were furthest on the wrong side, of a ladder of classes."""
    if ladder.task != "classify":
        return {}
    truth = np.searchsorted(ladder.classes_, labels(data))
    found = potentials(ladder.out_of_fold_, truth[ladder.train_], getattr(ladder.estimator_, "coef_", None))
    hardest = np.argsort(found.E, kind="stable")[:HARDEST]
    return {"hardest": {"rows": used[ladder.train_[found.rows[hardest]]], "potentials": found.E[hardest]}}
