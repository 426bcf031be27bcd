"""`read` and `stream`: from a file of any known format to rows.

Each format has a file of its own with a `Reader`; what it must offer is said there in one place, `Reader` below.
"""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from halfspace._clock import seconds_left
from halfspace._memory import admit, bytes_of, memory_limit, room
from halfspace._typing import IntArray, Labels, Matrix
from halfspace.errors import FileError, InputError
from halfspace.files.opening import COLUMN_BYTES, OpenedFile, format_of, opened
from halfspace.files.sampling import Chosen, Everything, Piece, Sample
from halfspace.files.targets import TASKS, TaskChoice, choice_of, coded, column_named, is_whole, labels_of, numbers_from
from halfspace.notes import Note

__all__ = ["Batch", "Dataset", "Reader", "Source", "read", "stream"]

HOMES = {
    "csv": "csv.Reader",
    "excel": "excel.Reader",
    "jsonl": "json_lines.Reader",
    "parquet": "arrow.ParquetReader",
    "arrow": "arrow.ArrowReader",
    "npz": "npz.Reader",
    "svmlight": "svmlight.Reader",
}
BATCH_ROWS = 65_536
COPIES, CELL_BYTES = 4, 32
"""Copies of a stored row while a file is read and split, and bytes of a value once rows are encoded and cut into folds."""
FEWEST = 10
"""Rows that a sample must at least have."""
CELLS, ROW_CELLS, ALWAYS = 8e6, 5, 10_000
"""Values that are typed, encoded and cut into folds in a second, values that a row costs beside its own; and rows for which
there is always time."""


@dataclass(frozen=True)
class Source:
    """Where a dataset came from; no data.

    Parameters
    ----------
    name : str
        Name of the file without its folder, or "standard input".
    format : str
        "csv", "excel", "parquet", "arrow", "jsonl", "svmlight" or "npz".
    n_bytes : int
        Size of the file on disk.
    columns : tuple of str
        Names of all columns in the order of the file, the target included; empty for formats without names.
    details : tuple of str
        How the file was read, e.g. "delimiter ';'", "sheet 'Prices'", "gzip".
    day_first : tuple of str
        Columns whose dates are written day/month/year.
    first_index : int or None
        Number of the first column in an svmlight file.
    """

    name: str
    format: str
    n_bytes: int
    columns: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    day_first: tuple[str, ...] = ()
    first_index: int | None = None


@dataclass(frozen=True)
class Dataset:
    """Rows of a file, ready to be encoded.

    Parameters
    ----------
    X : pyarrow.Table, ndarray of shape (n, d), or csr_matrix of shape (n, d)
        The features; a table comes without its target column.
    y : ndarray of shape (n,), or None
        Classes as strings, whole numbers (int64) or bools; numbers as float64. None if the file has none.
    rows : ndarray of shape (n,)
        Number of each row in the file, from 0, not counting the header: ascending, or as asked for by `rows=`.
    n_rows : int
        Rows in the file, those not kept included.
    target : str or None
        Name of the column the labels came from.
    notes : tuple of Note
        What was assumed, renamed or left out; `str(note)` is a sentence.
    source : Source
        Where the rows came from.
    task : TaskChoice or None
        Whether y holds classes or numbers, and why; None without y.
    ids : pyarrow.ChunkedArray of shape (n,), or None
        The column that names the rows, if one was given.
    groups : ndarray of int64, shape (n,), or None
        Number of the group that each row belongs to, if a column was given; in order of first appearance.
    times : ndarray of float64 or datetime64, shape (n,), or None
        When each row was, if a column was given.
    """

    X: Matrix
    y: Labels | None
    rows: IntArray
    n_rows: int
    target: str | None
    notes: tuple[Note, ...]
    source: Source
    task: TaskChoice | None = None
    ids: Any = None
    groups: IntArray | None = None
    times: Any = None


@dataclass(frozen=True)
class Batch:
    """Some consecutive rows of a file.

    Parameters
    ----------
    X : pyarrow.Table, ndarray of shape (m, d), or csr_matrix of shape (m, d)
        The rows; a table has all columns of the file, the target included.
    first : int
        Number in the file of the first of them, from 0.
    """

    X: Matrix
    first: int


class Reader(Protocol):
    """What a format must offer: rows in pieces, as often as asked, and their final types once all pieces have been seen."""

    settled: bool
    """Whether `join` is right before all pieces have been seen."""
    notes: list[Note]
    """What was assumed, renamed or left out."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, known when the first piece has been seen; empty if the format has none."""

    @property
    def details(self) -> tuple[str, ...]:
        """How the file is written."""

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield the rows from the start, at most so many at a time."""

    def cleaned(self, column: Any) -> Any:
        """Return a column of a piece with all that is missing in it null."""

    def join(self, pieces: list[Any]) -> Any:
        """Put the X of pieces one below the other, in their final types; the list is used up."""


def read(
    path: str | Path,
    target: str | int | None = None,
    *,
    task: str = "auto",
    drop: Iterable[str | int] = (),
    id: str | int | None = None,  # noqa: A002 - likewise
    group: str | int | None = None,
    time: str | int | None = None,
    format: str | None = None,  # noqa: A002 - the word users know from the command
    max_rows: int | None = None,
    random_state: int = 0,
    rows: Any = None,
) -> Dataset:
    r"""Read a file: CSV, TSV, JSON lines, svmlight (these also with gzip), Excel, Parquet, Arrow or npz.

    Parameters
    ----------
    path : str or Path
        The file, or "-" for standard input; `book.xlsx#Prices` names a sheet of a workbook, otherwise the first is read.
    target : str or int, optional
        Column to predict: its name, or its place (from 0; -1 is the last). Needed for tables; svmlight files and npz
        archives contain their labels. Rows without a label are left out.
    task : {"auto", "classify", "regress"}
        Whether the target is read as classes or as numbers; "auto" decides by its values (see `task_of`) and says so in a note.
        With `rows`, which may be too few to tell, "auto" means classes.
    drop : iterable of str or int
        Columns to be left out.
    id : str or int, optional
        Column that names the rows: no input, but kept for the predictions.
    group : str or int, optional
        Column that says whose row it is, where rows of one individual must stay on one side of every split: no input.
    time : str or int, optional
        Column that says when it was, where validation must go forwards: dates, times or numbers. It stays an input.
    format : str, optional
        "csv", "tsv", "excel", "parquet", "arrow", "jsonl", "svmlight" or "npz"; by default by suffix, else by content.
    max_rows : int, optional
        Keep a uniform random sample of at most so many rows, and of no more than the memory limit has room for.
    random_state : int, default 0
        Seed of the sample.
    rows : array-like of int, optional
        Keep exactly the rows with these numbers, in this order.

    Returns
    -------
    Dataset
        Types of columns and labels come from all rows of the file, so a part of it has the values of the whole, bit for bit.

    Raises
    ------
    FileError
        If the file cannot be read: one sentence with the line where there is one.
    InputError
        If the target holds neither classes nor numbers, or not those of the task.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "flowers.csv"
    ...     _ = file.write_text("height,species\n1.5,rose\n2,lily\n,rose\n")
    ...     flowers = read(file, "species")
    >>> flowers.X.column_names, flowers.y.tolist(), flowers.n_rows
    (['height'], ['rose', 'lily', 'rose'], 3)
    """
    if task not in TASKS:
        msg = f"'task' must be one of {', '.join(TASKS)}. Got {task!r} instead."
        raise InputError(msg)
    keep = Chosen(rows) if rows is not None else Everything() if max_rows is None else Sample(max_rows, random_state)
    with opened(path) as file, memory_limit(n_bytes=file.n_bytes):
        kind = format_of(file, format)
        reading = _Reading(file, kind, keep, task)
        reading.asked = {"drop": drop if isinstance(drop, str | int) else tuple(drop), "id": id, "group": group, "time": time}
        return reading.run(target, check=rows is None)


def stream(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - as in `read`
    batch_rows: int = BATCH_ROWS,
    texts: Iterable[str] = (),
    day_first: Iterable[str] = (),
    first_index: int | None = None,
) -> Generator[Batch]:
    r"""Read a file in batches, in bounded memory.

    Formats without column types are read twice, so that all batches have the same types.

    Parameters
    ----------
    path : str or Path
        As in `read`; standard input is spooled to a temporary file.
    format : str, optional
        As in `read`.
    batch_rows : int, default 65536
        Maximum number of rows in a batch.
    texts : iterable of str
        Columns that stay text even if all their values look like numbers, dates or truth values: those that were text in a
        file read before. Only formats without column types need this.
    day_first : iterable of str
        Columns whose dates are day/month/year where both orders fit, as in a file read before; by default month/day/year.
    first_index : int, optional
        Number of the first column in an svmlight file, 0 or 1; by default 0 if it occurs, else 1.

    Yields
    ------
    Batch
        Rows in the order of the file, with all columns.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "three.csv"
    ...     _ = file.write_text("a\n1\n2\n2.5\n")
    ...     [batch.X["a"].to_pylist() for batch in stream(file, batch_rows=2)]
    [[1.0, 2.0], [2.5]]
    """
    with opened(path) as file:
        reader = _reader(file, format_of(file, format))
        if hasattr(reader, "columns"):
            reader.columns.texts, reader.columns.day_first = frozenset(texts), frozenset(day_first)
        if hasattr(reader, "first_index"):
            reader.first_index = first_index
        if not reader.settled:
            for _ in reader.pieces(batch_rows):
                pass
        first = 0
        for piece in reader.pieces(batch_rows):
            yield Batch(reader.join([piece.X]), first)
            first += piece.X.shape[0]
        if first == 0:
            raise FileError(_no_rows(file))


def _reader(file: OpenedFile, kind: str) -> Reader:
    """Return the reader of a format."""
    module, name = HOMES[kind].split(".")
    try:
        return cast("Reader", getattr(import_module(f"halfspace.files.{module}"), name)(file))
    except ModuleNotFoundError as error:
        extra = {"pyarrow": "cli", "fastexcel": "excel"}.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        msg = f'{file.name}: reading {kind} needs {error.name}; install it with: pip install "halfspace[{extra}]"'
        raise InputError(msg) from error


def _no_rows(file: OpenedFile) -> str:
    return f"{file.name}: has no rows; expected at least one row of values below the header."


class _Reading:
    """One pass over a file that keeps some rows."""

    def __init__(self, file: OpenedFile, kind: str, keep: Everything, task: str) -> None:
        self.file, self.kind, self.keep, self.task = file, kind, keep, task
        self.reader = _reader(file, kind)
        self.n_rows = self._held = 0
        self._cells = 0.0  # values of a row
        self.whole = True
        self.asked: dict[str, Any] = {}

    def run(self, target: str | int | None, *, check: bool) -> Dataset:
        """Go through the file and return the rows kept."""
        column = None
        for piece in self.reader.pieces(BATCH_ROWS):
            if self.reader.names and column is None:
                again = [note.column for note in self.reader.notes if note.kind == "renamed" and note.detail == target]
                column = column_named(target, self.reader.names, self.file.name, again if check else ())
            self._admit(piece)
            self._in_time()
            self.keep.add(self.n_rows, piece, self._labelled(piece, column))
            self.n_rows += piece.X.shape[0]
            if isinstance(self.keep, Sample) and self.keep.is_full:
                self.keep.prune()
        if self.n_rows == 0:
            raise FileError(_no_rows(self.file))
        if column is None and any(self.asked.values()):
            msg = f"{self.file.name}: has no named columns: drop, id, group and time cannot name one."
            raise FileError(msg)
        return self._dataset(column, target, check=check)

    def _admit(self, piece: Piece) -> None:
        """Cut a sample to the rows that there is room for; refuse what does not fit where all rows were asked for."""
        X, n, columns = piece.X, piece.X.shape[0], len(self.reader.names)
        if not n:
            return
        if isinstance(self.keep, Sample):
            self._cells = cells = X.nnz / n if hasattr(X, "nnz") else max(columns, X.shape[1])
            row = COPIES * bytes_of(X) / n + CELL_BYTES * cells
            what = f"a sample of {FEWEST} rows of {cells:,.0f} values"
            admit(self.file.name, FEWEST * row + COLUMN_BYTES * columns, what, "leave columns out")
            self.keep.restrict(int((room() - COLUMN_BYTES * columns) / row), "memory")
        else:
            self._held += bytes_of(X)
            what = f"reading it, of which {self.n_rows + n:,} rows are in memory,"
            admit(self.file.name, 2 * self._held, what, "give max_rows for a sample of its rows")

    def _in_time(self) -> None:
        """Refuse to go on reading once the time limit has passed: a sample of the first rows only would be none of the file."""
        left = seconds_left() if self.n_rows else None
        if left is not None and left <= 0.0:
            msg = f"{self.file.name}: the time limit was reached while reading it, after {self.n_rows:,} rows; raise it."
            raise FileError(msg)

    def _labelled(self, piece: Piece, column: str | None) -> NDArray[np.bool_]:
        """Tell which rows have a label, and go on finding out whether all labels are whole numbers."""
        n = piece.X.shape[0]
        if column is not None:
            if column not in piece.X.column_names:
                return np.zeros(n, dtype=bool)
            values = self.reader.cleaned(piece.X.column(column))
            self.whole = self.whole and is_whole(values.drop_null())
            return np.asarray(values.is_valid())
        if piece.y is None or piece.y.dtype.kind != "f":
            return np.ones(n, dtype=bool)
        known = ~np.isnan(piece.y)
        self.whole = self.whole and is_whole(piece.y[known])
        return known

    def _dataset(self, column: str | None, target: str | int | None, *, check: bool) -> Dataset:
        """Assemble what was kept."""
        keep, left = self.keep, seconds_left()
        if isinstance(keep, Sample):
            if left is not None:  # a quarter of it for what every row costs, however quick the method
                keep.restrict(max(ALWAYS, int(0.25 * left * CELLS / (self._cells + ROW_CELLS))), "time")
            keep.prune()
        order, rows = keep.order(), keep.all_rows()
        if not keep.pieces:
            msg = f"{self.file.name}: the target {column or 'y'!r} is missing in all rows; expected a value for every row."
            raise InputError(msg)
        y = self._own_labels(target)
        X = self.reader.join([piece.X for piece in keep.pieces])
        keep.pieces.clear()
        if order is not None:
            X, y, rows = X.take(order) if column else X[order], None if y is None else y[order], rows[order]
        aside: tuple[Any, ...] = (X, None, None, None)
        hints: tuple[Note, ...] = ()
        if column is not None:
            y = X.column(column)
            aside, hints = self._inputs(X.drop_columns([column]), column)
            if not aside[0].num_columns:
                msg = f"{self.file.name}: has no column beside the target {column!r}; expected at least one to predict it from."
                raise FileError(msg)
        labels, task = (None, None) if y is None else self._labels(y, column, check=check)
        details = (*(("gzip",) if self.file.gzipped else ()), *self.reader.details)
        columns = getattr(self.reader, "columns", None)
        source = Source(
            self.file.name,
            self.kind,
            self.file.n_bytes,
            self.reader.names,
            details,
            columns.in_day_first() if columns else (),
            getattr(self.reader, "base", None),
        )
        notes = self._notes(rows.size, target, check=check)
        if task and not task.evident:
            notes += (Note("task", detail=task.reason),)
        X, *beside = aside
        return Dataset(X, labels, rows, self.n_rows, column, notes + hints * check, source, task, *beside)

    def _inputs(self, table: Any, target: str) -> tuple[tuple[Any, ...], tuple[Note, ...]]:
        """Return the inputs with the columns that have another role beside them, and hints about the inputs."""
        from halfspace.files.hints import hints_of  # noqa: PLC0415 - formats without column names need no pyarrow
        from halfspace.files.roles import Roles  # noqa: PLC0415

        roles = Roles.named(self.reader.names, self.file.name, target, **self.asked)
        aside = roles.split(table, self.file.name)
        return aside, tuple(note for note in hints_of(aside.X) if note.column != roles.time)

    def _own_labels(self, target: str | int | None) -> Labels | None:
        """Return the labels that came with the rows, if the format has them."""
        labels = [piece.y for piece in self.keep.pieces if piece.y is not None]
        if labels:
            return np.concatenate(labels)
        if target is not None and not self.reader.names:
            msg = f"{self.file.name}: has neither labels (an array y) nor named columns, so there is no target {target!r}."
            raise FileError(msg)
        return None

    def _labels(self, y: Any, column: str | None, *, check: bool) -> tuple[Labels, TaskChoice]:
        """Return labels of their final type, and whether they are classes or numbers."""
        name = f"{self.file.name}: the target" + (f" {column!r}" if column else "")
        if getattr(y, "null_count", 0):
            msg = f"{name} has a dash (-) among its numbers; leave the cell empty if the label is missing, or name the class."
            raise InputError(msg)
        codes, values = coded(y, name)
        task = TaskChoice("classify" if self.task == "auto" else self.task, "", evident=True)
        if self.task == "auto" and check:
            task = choice_of(values, np.bincount(codes, minlength=values.size), whole=self.whole, name=name)
        if task.task == "regress":
            return numbers_from(codes, values, name=name, check=check), task
        return labels_of(codes, values, whole=self.whole, name=name, check=check), task

    def _notes(self, n_kept: int, target: str | int | None, *, check: bool) -> tuple[Note, ...]:
        """Return all notes, those of the reader first."""
        notes = list(dict.fromkeys(self.reader.notes))
        unlabelled = self.n_rows - self.keep.n_labelled
        if unlabelled:
            notes.append(Note("unlabelled", count=unlabelled, detail=f"{self.n_rows:,}"))
        if check and n_kept < self.keep.n_labelled:
            lack = getattr(self.keep, "lack", "")
            notes.append(Note(f"sample for {lack}" if lack else "sample", count=n_kept, detail=f"{self.keep.n_labelled:,}"))
        if target is not None and not self.reader.names:
            notes.append(Note("own labels", str(target), detail=self.file.name))
        return tuple(notes)
