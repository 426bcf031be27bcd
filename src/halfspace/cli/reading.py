"""The data of a command: a file, standard input, or the built-in problem when no file is named."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from halfspace._typing import Labels
from halfspace.data import catalogue
from halfspace.errors import InputError
from halfspace.files import Dataset, Source, read, task_of
from halfspace.notes import Note

__all__ = ["BUILT_IN", "as_numbers", "built_in", "bytes_on_disk", "labels", "read_data"]

BUILT_IN = "breast_cancer"
"""The problem used when no file is named."""


def bytes_on_disk(file: str | None) -> int:
    """Return the size of a file, which the memory limit grows with; 0 where it is not known."""
    path = Path(file.partition("#")[0] if file else "-")
    return path.stat().st_size if path.is_file() else 0


def read_data(file: str | None, target: str | None, **options: Any) -> Dataset:
    """Read a file, or the built-in problem; the options are those of `read`."""
    if file is not None:
        return read(file, target, **options)
    data = built_in(BUILT_IN)
    if options.get("task", "auto") == "regress":
        msg = f"without a FILE the built-in data are used, whose target {data.target!r} holds classes; name a FILE"
        raise InputError(msg)
    if target not in {None, data.target}:
        msg = f"without a FILE the built-in data are used, whose target is {data.target!r}, not {target!r}; name a FILE"
        raise InputError(msg)
    return _some_rows(data, options.get("rows"), options.get("max_rows"), options.get("random_state", 0))


def built_in(name: str, n: int | None = None, random_state: int = 0) -> Dataset:
    """Return a problem of the catalogue as if it had been read from a file."""
    columns, target = catalogue.make(name, n, random_state=random_state)
    y = np.asarray(columns[target])
    X = pa.table({column: values for column, values in columns.items() if column != target})
    source = Source(name=name, format="built-in", n_bytes=0)
    return Dataset(X, y, np.arange(y.size), int(y.size), target, (), source, task_of(y, target))


def labels(data: Dataset, *, numbers: bool = False) -> Labels:
    """Return the labels of a dataset, shape (n,), or refuse one without, and numbers where classes are needed."""
    if data.y is None:
        msg = f"{data.source.name} has no labels; name the column that holds them with --target"
        raise InputError(msg)
    if data.task is not None and data.task.task == "regress" and not numbers:
        msg = f"{data.task.reason.rstrip('.') or 'the target is read as numbers'}. Classes are expected here."
        raise InputError(msg)
    return data.y


def as_numbers(X: Any, names: Any = None) -> Any:
    """Return examples as a matrix, for models and proofs without a preprocessing of their own."""
    if not isinstance(X, pa.Table):
        return X
    if names is not None:
        missing = [name for name in names if name not in X.column_names]
        if missing:
            msg = f"the file has no column {missing[0]!r}, which the model needs; its columns are: {X.column_names[:20]}"
            raise InputError(msg)
        X = X.select([str(name) for name in names])
    for name, column in zip(X.column_names, X.columns, strict=True):
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_boolean(column.type)):
            msg = f"column {name!r} is not numeric, and this model has no preprocessing; fit with `halfspace fit --save`"
            raise InputError(msg)
    return np.column_stack([np.asarray(column.cast(pa.float64()).to_numpy()) for column in X.columns])


def _some_rows(data: Dataset, rows: Any, max_rows: int | None, random_state: int) -> Dataset:
    """Keep the named rows, or a sample."""
    if rows is None and (max_rows is None or max_rows >= data.n_rows):
        return data
    if rows is None:
        rows = np.sort(np.random.default_rng(random_state).choice(data.n_rows, max_rows, replace=False))
    if np.max(rows) >= data.n_rows:
        msg = f"the built-in data have no row {np.max(rows)}"
        raise InputError(msg)
    notes = (Note("sample", count=len(rows), detail=f"{data.n_rows:,}"),) if max_rows else ()
    return replace(data, X=data.X.take(rows), y=labels(data)[rows], rows=np.asarray(rows), notes=notes)
