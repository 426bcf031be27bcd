"""svmlight (libsvm) text: `label index:value index:value ... # comment`, indices from 0 or from 1.

As in scikit-learn, indices count from 1 unless the file has an index 0. They need not ascend, but must not repeat within a row;
blank lines and comments are skipped, `qid` is ignored with a note. Every number is the double nearest to its text.

pyarrow's CSV parser reads the numbers: blanks become line ends, so that a line is `index:value`, two columns, or `:label`. What
it cannot read is read again line by line in Python, which gives the number or says which line is wrong.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from scipy.sparse import csr_matrix, vstack

from halfspace._typing import FloatArray, IntArray, Labels
from halfspace.errors import FileError
from halfspace.files.opening import OpenedFile
from halfspace.files.sampling import Piece
from halfspace.files.text import line_blocks
from halfspace.notes import Note

__all__ = ["Reader"]

LARGEST_INDEX = 2**31 - 1
COMMENT = re.compile(rb"#[^\n]*")
QUERY = re.compile(rb"^([^\S\n]*\S+[^\S\n]+)q\S*", re.MULTILINE)
INDENT = re.compile(rb"^[^\S\n]+", re.MULTILINE)
BLANKS_TO_SPACES = bytes(32 if c < 32 and c != 10 else c for c in range(256))
BLANKS_TO_LINES = bytes(10 if c <= 32 else c for c in range(256))
ENTRY = re.compile(rb"(\d+):(\S+)")
PARSE = pacsv.ParseOptions(delimiter=":", quote_char=False)
READ = pacsv.ReadOptions(column_names=["index", "value"])
CONVERT = pacsv.ConvertOptions(column_types={"index": pa.int32(), "value": pa.float64()}, null_values=[""])


class Lines(NamedTuple):
    """Lines of text as labels (n,), and the entries of each row as CSR has them."""

    labels: FloatArray
    values: FloatArray
    indices: Labels  # int32
    indptr: IntArray


class Reader:
    """Read svmlight text; see `halfspace.files.reading.Reader` for what the members mean."""

    settled = False
    names: tuple[str, ...] = ()

    def __init__(self, file: OpenedFile) -> None:
        self._file = file
        self.notes: list[Note] = []
        self._lowest, self._highest = LARGEST_INDEX, -1
        self.first_index: int | None = None

    @property
    def base(self) -> int:
        """The number of the first column, 0 or 1: as given, or 0 if it occurs."""
        if self.first_index is None:
            return int(0 < self._lowest <= self._highest)
        if self._lowest < self.first_index:
            msg = f"{self._file.name}: index {self._lowest} occurs, but the model counts columns from {self.first_index}."
            raise FileError(msg)
        return self.first_index

    @property
    def details(self) -> tuple[str, ...]:
        """Where indices begin."""
        return (f"indices from {self.base}",)

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield rows with their labels; columns are numbered as in the file."""
        line = 1
        for block in line_blocks(self._file, self.notes):
            text = block if b"\n" in block else block.replace(b"\r", b"\n")
            X, y = self._parsed(text.removesuffix(b"\n"), line)
            line += text.count(b"\n")
            for first in range(0, y.size, batch_rows):
                rows = slice(first, first + batch_rows)
                yield Piece(X if y.size <= batch_rows else X[rows], y[rows])

    def _parsed(self, text: bytes, line: int) -> tuple[Any, FloatArray]:
        """Parse whole lines, the first of which has number `line`."""
        text = text.translate(BLANKS_TO_SPACES)  # or a control character would count as a label that is missing
        text = COMMENT.sub(b"", text) if b"#" in text else text
        if b"q" in text:
            text, n_queries = QUERY.subn(rb"\1", text)
            self.notes += [Note("query numbers")] * bool(n_queries)
        found = _by_pyarrow(text) or self._by_python(text, line)
        self._lowest = min(self._lowest, int(found.indices.min(initial=LARGEST_INDEX)))
        self._highest = max(self._highest, int(found.indices.max(initial=-1)))
        X = self._matrix(found.values, found.indices, found.indptr)
        if not X.has_canonical_format:
            X = X.sorted_indices()
            X = self._matrix(X.data, X.indices, X.indptr)
            if not X.has_canonical_format:  # an index repeats, and this says in which line
                self._by_python(text, line)
        return X, found.labels

    def _matrix(self, *parts: Any) -> Any:
        """Return data, indices and row pointers as a CSR matrix."""
        return csr_matrix(parts, shape=(parts[2].size - 1, min(self._highest, LARGEST_INDEX - 1) + 1))

    def _by_python(self, text: bytes, line: int) -> Lines:
        """Read what pyarrow could not; raise an error that names the first line that is wrong."""
        labels, values, indices, indptr = list[float](), list[float](), list[int](), [0]
        for place, tokens in enumerate(map(bytes.split, text.split(b"\n")), line):
            if not tokens:
                continue
            labels.append(self._number(tokens[0], "expected a label", place))
            row = {}
            for token in tokens[1:]:
                entry = ENTRY.fullmatch(token)
                if entry is None:
                    self._refuse("expected 'index:value' with a whole index of at least 0", token, place)
                index = int(entry[1][:20])
                if index > LARGEST_INDEX:
                    self._refuse(f"the index is above the limit {LARGEST_INDEX}", token, place)
                if index in row:
                    self._refuse(f"index {index} repeats in this row", token, place)
                row[index] = self._number(entry[2], "expected a number after the colon", place)
            indices += row
            values += row.values()
            indptr.append(len(indices))
        return Lines(np.array(labels), np.array(values, dtype=np.float64), np.array(indices, np.int32), np.array(indptr))

    def _number(self, token: bytes, expected: str, line: int) -> float:
        """Read a number."""
        try:
            return float(token)
        except ValueError:
            self._refuse(expected, token, line)

    def _refuse(self, expected: str, token: bytes, line: int) -> NoReturn:
        """Say what is wrong in which line."""
        msg = f"{self._file.name}: line {line}: {expected}. Got {token[:40].decode(errors='replace')!r} instead."
        raise FileError(msg) from None

    def cleaned(self, column: Any) -> Any:
        """Return the column; the format has none by name."""
        return column

    def join(self, pieces: list[Any]) -> Any:
        """Return one CSR matrix whose columns count from 0, as wide as the largest index of the file."""
        base = self.base
        width = self._highest + 1 - base
        if width > LARGEST_INDEX:
            msg = f"{self._file.name}: index {self._highest} makes {width} columns; the limit is {LARGEST_INDEX}."
            raise FileError(msg)
        parts = [csr_matrix((X.data, X.indices - np.int32(base), X.indptr), shape=(X.shape[0], width)) for X in pieces]
        return parts[0] if len(parts) == 1 else vstack(parts, format="csr")


def _by_pyarrow(text: bytes) -> Lines | None:
    """Read lines without comments, or return None if some are not as plain as pyarrow needs them."""
    text = INDENT.sub(b"", text) if INDENT.search(text) else text
    lines = (b":" + text.replace(b"\n", b"\n:")).translate(BLANKS_TO_LINES)
    try:
        table = pacsv.read_csv(pa.BufferReader(lines), read_options=READ, parse_options=PARSE, convert_options=CONVERT)
    except pa.ArrowInvalid:
        return None
    index, value = table.column("index").combine_chunks(), table.column("value").combine_chunks()
    if index.null_count != text.count(b"\n") + 1:  # an entry without an index
        return None
    is_label = np.asarray(index.is_null())
    if value.null_count:  # blank lines are no rows
        is_row = np.asarray(value.is_valid())
        if not is_label[~is_row].all():
            return None
        index, value, is_label = index.filter(is_row), value.filter(is_row), is_label[is_row]
    values, indices = value.to_numpy(), index.drop_null().to_numpy()
    if b"x" in text or b"X" in text or indices.min(initial=0) < 0:  # pyarrow reads 0x1f and -1 as whole numbers
        return None
    first = np.flatnonzero(is_label)
    indptr = np.append(first - np.arange(first.size), indices.size)
    return Lines(values[first], values[~is_label], indices, indptr)
