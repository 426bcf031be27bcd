"""NumPy archives: `X` (n, d) and `y` (n,), or a matrix in the parts `data`, `indices`, `indptr`, `shape` as SciPy writes it.

Arrays are read in rows, in bounded memory. Before any memory is taken, what an array's header declares is compared with the
bytes that are there. Nothing is ever unpickled.
"""

import math
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, vstack

from halfspace._memory import admit
from halfspace._typing import Labels
from halfspace.errors import FileError
from halfspace.files.opening import OpenedFile, explained
from halfspace.files.sampling import Piece
from halfspace.notes import Note

__all__ = ["Reader"]

PIECE = 1 << 26
"""Bytes of rows that are read at a time."""
CSR_PARTS = ("data", "indices", "indptr", "shape")


class _Member:
    """One array of the archive, read from its start in parts."""

    def __init__(self, name: str, stream: Any, n_bytes: int) -> None:
        with explained(name, "a NumPy array"), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # NumPy's, about headers that it had to repair
            version = np.lib.format.read_magic(stream)
            header = {1: np.lib.format.read_array_header_1_0}.get(version[0], np.lib.format.read_array_header_2_0)
            self.shape, self.fortran, self.dtype = header(stream)
        if self.dtype.hasobject or self.dtype.names or self.dtype.kind not in "biufUS":
            msg = f"{name}: has dtype {self.dtype}; expected numbers or strings (unpickling objects could run code)."
            raise FileError(msg)
        declared = math.prod(self.shape) * self.dtype.itemsize
        if min(self.shape, default=0) < 0 or declared != n_bytes - stream.tell():
            msg = (
                f"{name}: declares shape {self.shape} and dtype {self.dtype}, which does not match its size of {n_bytes} bytes."
            )
            raise FileError(msg)
        self._name, self._stream = name, stream
        self.entry_bytes = max(1, self.dtype.itemsize * math.prod(self.shape[1:]))

    def take(self, count: int) -> Any:
        """Read the next so many entries along the first axis (all of them if stored by columns)."""
        shape = (count, *self.shape[1:])
        admit(self._name, 2 * count * self.entry_bytes, f"{count:,} entries of {self.entry_bytes:,} bytes", "store less of it")
        array: Any = np.empty(shape, self.dtype, order="F" if self.fortran else "C")
        rest = memoryview(array.reshape(-1, order="A").view(np.uint8)) if array.size else memoryview(b"")
        with explained(self._name, "a NumPy array"):
            while rest:
                size = self._stream.readinto(rest)
                if not size:
                    msg = "the array is truncated"
                    raise EOFError(msg)
                rest = rest[size:]
        return array.astype(self.dtype.newbyteorder("="), copy=False)

    def all(self) -> Any:
        """Read everything."""
        return self.take(self.shape[0]) if self.shape else self.take(1)[0]


class Reader:
    """Read an archive; see `halfspace.files.reading.Reader` for what the members mean."""

    settled = True
    names: tuple[str, ...] = ()
    details: tuple[str, ...] = ()

    def __init__(self, file: OpenedFile) -> None:
        self._file = file
        self.notes = list[Note]()
        with explained(file.name, "a NumPy archive"), zipfile.ZipFile(file.path) as archive:
            entries = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if "[Content_Types].xml" in entries:
            msg = f"{file.name}: is an Office document, not a NumPy archive; leave out --format if it is a workbook."
            raise FileError(msg)
        self._sparse = all(part in entries for part in CSR_PARTS)
        if not self._sparse and "X" not in entries:
            msg = f"{file.name}: expected the arrays X and y, or {', '.join(CSR_PARTS)} and y; it has {sorted(entries)[:20]}."
            raise FileError(msg)
        self._entries = {name: info.filename for name, info in entries.items()}

    @contextmanager
    def _members(self, *names: str) -> Iterator[tuple[_Member, ...]]:
        """Open arrays of the archive."""
        with explained(self._file.name, "a NumPy archive"), zipfile.ZipFile(self._file.path) as archive:
            members, streams = [], []
            for name in names:
                stream = archive.open(self._entries[name])
                streams.append(stream)
                size = archive.getinfo(self._entries[name]).file_size
                members.append(_Member(f"{self._file.name}, array {name!r}", stream, size))
            try:
                yield tuple(members)
            finally:
                for stream in streams:
                    stream.close()

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield rows with their labels."""
        first, y = 0, self._labels()
        for X in self._sparse_rows(batch_rows) if self._sparse else self._dense_rows(batch_rows):
            if first == 0 and y is not None and y.shape[0] != self._n_rows:
                msg = f"{self._file.name}: X has {self._n_rows} rows, but y has {y.shape[0]} labels; expected one per row."
                raise FileError(msg)
            yield Piece(X, None if y is None else y[first : first + X.shape[0]])
            first += X.shape[0]

    def _labels(self) -> Labels | None:
        """Read y, if it is there."""
        if "y" not in self._entries:
            return None
        with self._members("y") as (member,):
            y = member.all()
        if y.ndim == 2 and 1 in y.shape:
            y = y.ravel()
        if y.ndim != 1:
            msg = f"{self._file.name}: y has shape {y.shape}; expected one label per row."
            raise FileError(msg)
        try:
            return np.char.decode(y, "utf-8") if y.dtype.kind == "S" else y
        except UnicodeDecodeError as error:
            msg = f"{self._file.name}: y holds bytes that are not UTF-8 text; store the labels as text or numbers."
            raise FileError(msg) from error

    def _dense_rows(self, batch_rows: int) -> Iterator[Any]:
        """Yield rows of X."""
        with self._members("X") as (member,):
            if len(member.shape) != 2 or member.shape[1] < 1 or member.dtype.kind not in "biuf":
                msg = f"{self._file.name}: X has shape {member.shape} and type {member.dtype}; expected numbers, (n, d)."
                raise FileError(msg)
            self._n_rows = member.shape[0]
            step = max(1, self._n_rows if member.fortran else min(batch_rows, PIECE // member.entry_bytes))
            for first in range(0, self._n_rows, step):
                yield member.take(min(step, self._n_rows - first))

    def _sparse_rows(self, batch_rows: int) -> Iterator[Any]:
        """Yield rows of a CSR matrix, checked."""
        with self._members("shape", "indptr", *(["format"] if "format" in self._entries else [])) as (shape, pointers, *kind):
            if kind and bytes(np.asarray(kind[0].all())).replace(b"\0", b"") != b"csr":
                msg = f"{self._file.name}: the matrix is not in CSR format; save X.tocsr() instead."
                raise FileError(msg)
            (n, d), indptr = (int(v) for v in shape.all()), np.asarray(pointers.all())
        if not 1 <= d < 2**31:
            msg = f"{self._file.name}: 'shape' declares {d} columns; expected from 1 to 2^31 - 1."
            raise FileError(msg)
        self._n_rows = n
        with self._members("data", "indices") as (data, indices):
            if indices.dtype.kind not in "iu" or data.dtype.kind not in "biuf" or indptr.dtype.kind not in "iu":
                msg = f"{self._file.name}: 'indices' and 'indptr' must be integers and 'data' numeric; save the matrix again."
                raise FileError(msg)
            if indptr.shape != (n + 1,) or np.any(np.diff(indptr) < 0) or indptr[0] != 0 or indptr[-1] != data.shape[0]:
                msg = f"{self._file.name}: 'indptr' does not describe {n} rows; save the matrix again."
                raise FileError(msg)
            for first in range(0, n, batch_rows):
                part = indptr[first : first + batch_rows + 1]
                count = int(part[-1] - part[0])
                X = csr_matrix((data.take(count), indices.take(count), part - part[0]), shape=(part.size - 1, d))
                X.check_format(full_check=True)
                X.sort_indices()
                yield X

    def cleaned(self, column: Any) -> Any:
        """Return the column; archives have none by name."""
        return column

    def join(self, pieces: list[Any]) -> Any:
        """Return one array or CSR matrix."""
        if len(pieces) == 1:
            return pieces[0]
        return vstack(pieces, format="csr") if self._sparse else np.concatenate(pieces)
