"""From a table to the numbers a model reads, learnt once and kept as plain data."""

import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from halfspace._clock import in_time
from halfspace._learnt import Learnt
from halfspace._matrices import admitted
from halfspace._text import listed, plural
from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.notes import Note, sentences
from halfspace.tables import recipes, sparse_columns, words
from halfspace.tables.columns import arranged, as_table, is_table, numbers_of
from halfspace.tables.recipes import check_recipes

__all__ = ["TableEncoder"]

SCALES = ("standard", "log", "rank", "normal", "none")
BLOCK_NUMBERS = 2**20
"""Rows are encoded in blocks of about so many outputs: they stay in the processor's cache, and memory is bounded."""
LEAST_BLOCK_ROWS, MOST_BLOCK_ROWS = 2**9, 2**14


class TableEncoder(Learnt, TransformerMixin, BaseEstimator):
    """Turn a table of numbers, categories and dates into a matrix of numbers.

    - Numbers: the median stands in where a value is missing, and one more output marks these rows; then the column is scaled.
    - Categories (text, true or false, dictionary columns): one output per value, 1 where the row has it; a column of two
      values has one output. A missing value is a value of its own. Of more than `max_categories` values the most frequent are
      kept and the others share one output. A value never seen in `fit` goes there too, or has no output at all.
    - Dates and times (in UTC): year, month, day, weekday (0 is Monday), hour and the day as a running number; scaled
      like numbers.
    - Text that is a plain number, or a date in one spelling (2023-12-31, 31.12.2023, 12/31/2023 or 31/12/2023), in more than
      95 % of the rows is read as such; numbers with leading zeros are codes, so categories.
    - Free text (values of four or more words on average, more than `max_categories`, most of them different): its words and
      pairs of words, hashed, at most 20,000 of those in two or more rows, weighted by tf-idf; each row has length √10.
    - Left out, with a note: columns with one value only or with none; other text of more than 20 rows of which more than 90 %
      are different (ids, names); columns of a table that count its rows (0, 1, 2, ... or 1, 2, 3, ...).

    A matrix without column names has numbers only, NaN where missing. A sparse matrix stays sparse: its columns are divided by
    their largest absolute value if `scale="standard"`, and nothing is left out, except that of more than 100,000 columns only
    those with a value are kept.

    Why not skrub's TableVectorizer or scikit-learn's ColumnTransformer: both need pandas for named columns, and a fitted one
    can be stored as a pickle only. This one is numbers and words in dictionaries, so a model file holds it as data; where both
    can do the same the outputs agree, which a test checks.

    Parameters
    ----------
    scale : {"standard", "log", "rank", "normal", "none"}, default "standard"
        How numbers are scaled. "standard": to mean 0 and variance 1. "log": the same, of the logarithm for columns whose
        skewness is beyond ±1 (prices, incomes): of x, of 1 + x if they have zeros, and of the distance from the other end if
        they have negative values or their tail below. "rank": by the probability integral transform, the share F(x) of the
        training values below x (a repeated value counts half), as √12 (F(x) - 1/2), which has mean 0 and variance 1 and stays
        within ±√3 for outliers and for values never seen. "normal": likewise, as Φ⁻¹(F(x)), which is distributed normally, cut
        at ±3. "none": as they are.
    max_categories : int, default 50
        Maximum number of values of a column that get an output of their own.
    keep_text : {"auto", True, False}, default "auto"
        Which text becomes words and pairs of words: "auto": free text, see above; True: also all other text that would be left
        out, if some word comes in two rows; False: none.

    Attributes
    ----------
    columns_ : tuple of str
        Names of the columns seen in `fit`, "x0", "x1", ... for a plain matrix; of a very wide sparse one, of those kept.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of object
        The same names, as scikit-learn has them; only after a fit on a table.
    groups_ : tuple of (str, int, int)
        Column name, first output and last output + 1 of each column that was kept.
    dropped_ : tuple of (str, str)
        Column name and reason of each column that was left out.
    notes_ : tuple of Note
        What was left out, filled in or read differently; `str(note)` is a sentence.
    recipes_ : list of dict
        What is done with each column that was kept, see `halfspace.tables.recipes`.
    used_ : ndarray of int, or None
        Numbers of the columns kept of a very wide sparse matrix; None if all are.
    sparse_ : bool
        Whether `transform` gives a CSR matrix: after a fit on a sparse matrix, or if there are more than 100 outputs of which
        fewer than 10 % differ from 0 in a row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"size": [1.0, 3.0, None], "colour": ["red", "blue", "red"], "id": [1, 2, 3]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'size missing', 'colour=red']
    >>> encoder.transform(table).round(2).tolist()
    [[-1.22, 0.0, 1.0], [1.22, 0.0, 0.0], [0.0, 1.0, 1.0]]
    """

    learnt: ClassVar[dict[str, Any]] = {
        "n_features_in_": "=d",
        "columns_": ["str"],
        "named_": "bool",
        "sparse_": "bool",
        "recipes_": "plain",
        "?notes_": [Note],
        "groups_": [("str", "int", "int")],
        "largest_": "none | f8(_w)",
        "?used_": "none | i8(_w) in 0..d",
    }
    learns_more: ClassVar[bool] = True
    earlier: ClassVar[dict[str, Any]] = {"keep_text": False}

    def __init__(self, *, scale: str = "standard", max_categories: int = 50, keep_text: bool | str = "auto") -> None:
        self.scale = scale
        self.max_categories = max_categories
        self.keep_text = keep_text

    def fit(self, X: Matrix, y: Any = None) -> Self:
        """Learn what to do with each column.

        Parameters
        ----------
        X : table or matrix, shape (n, d)
            A pyarrow.Table, anything else with `__arrow_c_stream__` (pandas, polars), an array, or a sparse matrix.
        y : ignored
            Here because scikit-learn's pipelines hand it over.

        Returns
        -------
        TableEncoder
            Itself, fitted.
        """
        del y
        self._check_parameters()
        named = is_table(X)
        table = as_table(X) if named else self._read_matrix(X)
        n_rows, n_columns = table.shape
        if not n_rows or not n_columns:
            msg = f"TableEncoder: the table has {n_rows} rows and {n_columns} columns. Give at least two rows and one column."
            raise InputError(msg)
        state = {"named_": named, "n_features_in_": n_columns, "used_": None}
        if sparse.issparse(table):  # scikit-learn's check hands sparse input on as it is
            state |= sparse_columns.learn(table, self.scale)
        else:
            columns = tuple(table.column_names) if named else tuple(f"x{j}" for j in range(n_columns))
            with uncollected():
                state |= {"columns_": columns, **self._learn(table, columns)}
        self.__dict__.update(state)
        return self

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        if not (isinstance(self.scale, str) and self.scale in SCALES):
            msg = f"The 'scale' parameter of TableEncoder must be one of {', '.join(SCALES)}. Got {self.scale!r} instead."
            raise InputError(msg)
        most = self.max_categories
        if not isinstance(most, int | np.integer) or isinstance(most, bool) or most < 1:
            msg = f"The 'max_categories' parameter of TableEncoder must be a whole number >= 1. Got {most!r} instead."
            raise InputError(msg)
        if not (isinstance(self.keep_text, bool) or self.keep_text == "auto"):
            msg = f"The 'keep_text' parameter of TableEncoder must be 'auto', True or False. Got {self.keep_text!r} instead."
            raise InputError(msg)

    def _read_matrix(self, X: Matrix, *, fitted: bool = False) -> Any:
        """Return a plain matrix after scikit-learn's checks; NaN stands for a missing value."""
        if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
            msg = f"TableEncoder: X is an array of {X.dtype}. Give dates as a column of a table, or turn them into numbers."
            raise InputError(msg)
        X = admitted(X, "TableEncoder")
        rules = {"accept_sparse": "csr", "dtype": "numeric", "ensure_all_finite": False}
        if fitted:
            return validate_data(self, X, reset=False, **rules)
        return check_array(X, estimator=self, input_name="X", **rules)

    def _learn(self, table: Any, columns: tuple[str, ...]) -> dict[str, Any]:
        """Learn one recipe per column; refuse a table of which nothing is left."""
        options = recipes.Options(self.scale, int(self.max_categories), self.keep_text)
        at_once = recipes.learn_matrix(table, self.scale)
        learned = at_once or []
        for j, name in enumerate(columns) if not learned else ():
            in_time(j, len(columns))
            learned.append(recipes.learn(_column(table, j), name, options))
        dropped = tuple((name, one.reason) for name, one in zip(columns, learned, strict=True) if one.recipe is None)
        if len(dropped) == len(columns):
            reasons = "; ".join(f"{name!r}: {reason}" for name, reason in dropped[:5])
            found = plural(table.shape[0], "sample")
            msg = f"TableEncoder: no usable column in {found}. {reasons}. Give a column whose values differ."
            raise InputError(msg)
        kept = [one.recipe | {"column": j} for j, one in enumerate(learned) if one.recipe is not None]
        widths = [recipes.width(recipe) for recipe in kept]
        ends = np.cumsum(widths).tolist()
        names = [columns[recipe["column"]] for recipe in kept]
        filled = sum(map(recipes.filled, kept))
        return {
            "recipes_": kept,
            "groups_": tuple((name, end - n, end) for name, n, end in zip(names, widths, ends, strict=True)),
            "dropped_": dropped,
            "notes_": tuple(_notes_of_fit(columns, learned, table.shape[0])) if not at_once or dropped else (),
            "sparse_": ends[-1] > 100 and filled < 0.1 * ends[-1],
            "largest_": None,
        }

    def transform(self, X: Matrix) -> Matrix:
        """Encode rows; each row by itself, so batches of rows give the same numbers as all rows at once.

        Parameters
        ----------
        X : table or matrix, shape (n, d)
            Columns of a table are found by their names; further ones are ignored, and absent ones count as
            missing, with a warning.

        Returns
        -------
        ndarray or csr_matrix, shape (n, D), float64
            The outputs, D = `len(get_feature_names_out())`.
        """
        matrix, notes = self.transform_with_notes(X)
        if absent := [note for note in notes if note.kind == "absent"]:
            warnings.warn(" ".join(sentences(absent)), UserWarning, stacklevel=2)
        return matrix

    def transform_with_notes(self, X: Matrix) -> tuple[Matrix, tuple[Note, ...]]:
        """Encode rows, and note what did not fit: absent columns, unreadable values, unseen categories.

        Examples
        --------
        >>> import pyarrow as pa
        >>> encoder = TableEncoder(scale="none").fit(pa.table({"size": [1, 5, 2], "age": [3, 9, 4]}))
        >>> matrix, notes = encoder.transform_with_notes(pa.table({"size": ["4", "big"]}))
        >>> matrix.tolist(), len(notes)
        ([[4.0, 4.0], [2.0, 4.0]], 2)
        """
        check_is_fitted(self)
        table, notes = self._read_rows(X)
        if self.largest_ is not None:
            return sparse_columns.divide(sparse.csr_matrix(table), self.largest_, self._used()), notes
        n_outputs = self.groups_[-1][2]
        counts = np.zeros((len(self.recipes_), 2), dtype=np.int64)
        whole = None if self.sparse_ else np.zeros((table.shape[0], n_outputs))
        pieces = [sparse.csr_matrix((0, n_outputs))]
        texts = any(recipe["kind"] == "words" for recipe in self.recipes_)
        for start, stop in _blocks(table.shape[0], n_outputs):
            block = table.slice(start, stop - start) if is_table(table) else table[start:stop]
            if whole is None and texts:
                piece, happened = self._scattered(block)
                pieces.append(piece)
                counts += happened
                continue
            out = np.zeros((stop - start, n_outputs)) if whole is None else whole[start:stop]
            with uncollected():
                counts += self._write(block, out)
            if whole is None:
                pieces.append(sparse.csr_matrix(out))
        matrix = sparse.vstack(pieces, format="csr") if whole is None else whole
        for k in np.flatnonzero(counts.any(axis=1)).tolist():
            found = zip(("unreadable", "unseen"), counts[k].tolist(), strict=True)
            notes += tuple(Note(kind, self.groups_[k][0], n) for kind, n in found if n)
        return matrix, notes

    def _used(self) -> IntArray | None:
        """Return the columns of a very wide sparse matrix that are kept; None for all. Older model files have all."""
        return vars(self).get("used_")

    def _write(self, block: Any, out: FloatArray) -> list[recipes.Counts]:
        """Write the outputs of a block of rows into `out`, which holds zeros; return what happened in each column."""
        if recipes.write_matrix(self.recipes_, block, out):
            return [recipes.Counts()] * len(self.recipes_)
        counts = []
        for k, (recipe, (name, first, end)) in enumerate(zip(self.recipes_, self.groups_, strict=True)):
            in_time(k, len(self.recipes_))
            counts.append(recipes.write(recipe, _column(block, recipe["column"]), name, out[:, first:end]))
        return counts

    def _scattered(self, block: Any) -> tuple[Matrix, list[recipes.Counts]]:
        """Return the outputs of a block of rows with text as a CSR matrix, and what happened in each column."""
        pieces, found = [], []
        for recipe, (name, first, end) in zip(self.recipes_, self.groups_, strict=True):
            column = _column(block, recipe["column"])
            if recipe["kind"] == "words":
                pieces.append(words.write(recipe, column))
                found.append(recipes.Counts())
            else:
                out = np.zeros((block.shape[0], end - first))
                found.append(recipes.write(recipe, column, name, out))
                pieces.append(sparse.csr_matrix(out))
        return sparse.hstack(pieces, format="csr"), found

    def _read_rows(self, X: Matrix) -> tuple[Any, tuple[Note, ...]]:
        """Return rows with the columns of `fit` in their order, and notes on absent and unknown columns."""
        if not is_table(X):
            matrix = self._read_matrix(X, fitted=True)
            # likewise here: rows may come sparse to an encoder fitted on an array
            return (matrix.toarray() if sparse.issparse(matrix) and self.largest_ is None else matrix), ()
        table = as_table(X)
        if self.named_:
            self._refuse_unknown(table.column_names)
            there, known = set(table.column_names), set(self.columns_)
            absent = (Note("absent", name) for name, _, _ in self.groups_ if name not in there)
            extra = (Note("ignored", name) for name in table.column_names if name not in known)
            return arranged(table, self.columns_), (*absent, *extra)
        if table.num_columns != self.n_features_in_:
            msg = f"X has {table.num_columns} features, but TableEncoder is expecting {self.n_features_in_} features as input."
            raise InputError(msg)
        return (table if self.largest_ is None else np.column_stack([numbers_of(one)[0] for one in table.columns])), ()

    def _refuse_unknown(self, given: list[str]) -> None:
        """Refuse a table without any known column: it is another file, or its header is missing."""
        if not any(name in given for name, _, _ in self.groups_):
            seen, now = listed((name for name, _, _ in self.groups_), show=repr), listed(given, show=repr)
            msg = (
                f"TableEncoder: none of the columns seen in fit is present: expected {seen}, got {now or 'no column'}."
                " Is this the right table, and does it have its header?"
            )
            raise InputError(msg)

    def get_feature_names_out(self, input_features: Any = None) -> Labels:
        """Return the name of each output: the column's name and what the output stands for, such as "colour=red".

        Parameters
        ----------
        input_features : array-like of str, or None
            Other names for the columns of a plain matrix; for a table they must be the names seen in `fit`.

        Returns
        -------
        ndarray of object, shape (D,)
            The names.
        """
        check_is_fitted(self)
        columns = self.columns_ if input_features is None else tuple(str(name) for name in input_features)
        used = self._used()
        if used is not None and len(columns) == self.n_features_in_:
            columns = tuple(columns[j] for j in used.tolist())
        if len(columns) != len(self.columns_) or (self.named_ and columns != self.columns_):
            msg = "TableEncoder: input_features is not equal to feature_names_in_: give the names seen in fit, or None."
            raise InputError(msg)
        if self.largest_ is not None:
            return np.array(columns, dtype=object)
        names = [columns[recipe["column"]] + suffix for recipe in self.recipes_ for suffix in recipes.suffixes(recipe)]
        return np.array(names, dtype=object)

    @property
    def feature_names_in_(self) -> Labels:
        """Names of the columns seen in `fit`, if it was given a table."""
        if not vars(self).get("named_", False):
            msg = "feature_names_in_: TableEncoder has not been fitted on a table with column names."
            raise AttributeError(msg)
        return np.array(self.columns_, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse recipes and outputs that do not fit: the outputs decide how much memory encoding takes."""
        used, largest = fitted.get("used_"), fitted["largest_"]
        width = sizes["d"] if used is None else used.size
        if len(fitted["columns_"]) != width or (largest is not None and largest.size != width):
            raise ValueError("TableEncoder: there is not one name per column")
        if used is not None and (largest is None or not used.size or np.any(np.diff(used) <= 0)):
            raise ValueError("TableEncoder: the columns in use do not ascend")
        if fitted["largest_"] is None:
            check_recipes(fitted["recipes_"], fitted["groups_"], sizes["d"])


@contextmanager
def uncollected() -> Iterator[None]:
    """Make many small objects, none of which refers back to another, without a search for cycles among all there are.

    Of 30,000 columns that search takes twice as long as all the rest.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _column(table: Any, j: int) -> Any:
    """Return one column of a table, or of a matrix as float64."""
    return np.asarray(table[:, j], dtype=np.float64) if isinstance(table, np.ndarray) else table.column(j)


def _notes_of_fit(columns: tuple[str, ...], learned: list[recipes.Learned], n_rows: int) -> Iterator[Note]:
    """Yield what was left out, filled in or read differently, one kind after another."""
    every = list(zip(columns, learned, strict=True))
    kept = [(name, one, one.recipe) for name, one in every if one.recipe is not None]
    yield from (Note("left out", name, detail=one.reason) for name, one in every if one.recipe is None)
    yield from (Note("filled", name, one.gaps, f"{n_rows:,}") for name, one, _ in kept if one.gaps)
    yield from (Note("misread", name, one.lost) for name, one, _ in kept if one.lost)
    yield from (Note("long numbers", name) for name, one in every if one.long)
    yield from (Note("extreme", name) for name, _, recipe in kept if recipe["kind"] == "number" and recipe["parts"][0]["huge"])
    yield from (Note("words", name, len(recipe["names"])) for name, _, recipe in kept if recipe["kind"] == "words")
    yield from (Note("pooled", name) for name, _, recipe in kept if recipe["kind"] == "category" and recipe["other"])


def _blocks(n_rows: int, n_outputs: int) -> Iterator[tuple[int, int]]:
    """Cut the rows into blocks: first row and last row + 1."""
    step = min(max(BLOCK_NUMBERS // n_outputs, LEAST_BLOCK_ROWS), MOST_BLOCK_ROWS)
    for start in range(0, n_rows, step):
        yield start, min(start + step, n_rows)
