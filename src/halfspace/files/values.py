"""What reading a file gives: `Dataset`, `Batch`, and `Source`, which says where they came from without holding data."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from halfspace._typing import IntArray, Labels, Matrix
from halfspace.notes import Note

__all__ = ["Batch", "Dataset", "Piece", "Source"]


@dataclass(frozen=True)
class Source:
    """Where a dataset came from; no data.

    Parameters
    ----------
    name : str
        Name of the file without its folder, or "standard input".
    format : str
        "csv", "parquet", "arrow", "jsonl", "svmlight" or "npz".
    n_bytes : int
        Size of the file as it lies on the disk.
    columns : tuple of str
        Names of all columns in the order of the file, the target included; empty for formats without names.
    details : tuple of str
        How the file was read, e.g. "delimiter ';'", "packed with gzip".

    Examples
    --------
    >>> Source("iris.csv", "csv", 4551).name
    'iris.csv'
    """

    name: str
    format: str
    n_bytes: int
    columns: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dataset:
    """Rows of a file, ready to be encoded.

    Parameters
    ----------
    X : pyarrow.Table, ndarray of shape (n, d), or csr_matrix of shape (n, d)
        The features; a table comes without its target column.
    y : ndarray of shape (n,), or None
        Labels: strings, whole numbers (int64) or bools. None if the file brings none.
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

    Examples
    --------
    >>> import numpy as np
    >>> source = Source("two.npz", "npz", 512)
    >>> Dataset(np.eye(2), np.array([0, 1]), np.arange(2), 2, None, (), source).n_rows
    2
    """

    X: Matrix
    y: Labels | None
    rows: IntArray
    n_rows: int
    target: str | None
    notes: tuple[Note, ...]
    source: Source


@dataclass(frozen=True)
class Batch:
    """Some consecutive rows of a file.

    Parameters
    ----------
    X : pyarrow.Table, ndarray of shape (m, d), or csr_matrix of shape (m, d)
        The rows; a table holds all columns of the file, a target among them.
    first : int
        Number in the file of the first of them, from 0.

    Examples
    --------
    >>> import numpy as np
    >>> Batch(np.eye(2), first=65_536).first
    65536
    """

    X: Matrix
    first: int


class Piece(NamedTuple):
    """What a format's reader hands on: consecutive rows, not yet of their final types, and labels if the format has them."""

    X: Any
    y: Labels | None = None
