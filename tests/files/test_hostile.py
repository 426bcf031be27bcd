"""Binary formats: damaged, truncated or hostile, every file ends in rows or in one sentence."""

import gzip
import io
import pickle
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from scipy import sparse

from halfspace import memory_limit
from halfspace.errors import FileError, InputError, MemoryLimitError
from halfspace.files import read, stream

rng = np.random.default_rng(0)
TABLE = pa.table({"a": rng.standard_normal(500), "s": [f"w{i % 9}" for i in range(500)], "y": [i % 2 for i in range(500)]})


def parquet():
    out = io.BytesIO()
    pq.write_table(TABLE, out)
    return out.getvalue()


def arrow():
    out = io.BytesIO()
    feather.write_feather(TABLE, out)
    return out.getvalue()


def arrow_stream():
    out = io.BytesIO()
    with pa.ipc.new_stream(out, TABLE.schema) as writer:
        writer.write_table(TABLE)
    return out.getvalue()


def npz(**arrays):
    out = io.BytesIO()
    np.savez_compressed(out, **(arrays or {"X": rng.standard_normal((300, 3)), "y": np.arange(300) % 2}))
    return out.getvalue()


def sparse_npz():
    out = io.BytesIO()
    sparse.save_npz(out, sparse.random(200, 30, 0.1, "csr", random_state=0))
    return out.getvalue()


def packed_csv():
    return gzip.compress(b"a,y\n" + b"".join(b"%d,%d\n" % (i * i, i % 3) for i in range(500)))


def svm():
    return b"".join(b"%d 1:%d 3:0.%d\n" % (i % 2, i, i * i) for i in range(300))


def jsonl():
    return b"".join(b'{"a": %d, "y": "c%d"}\n' % (i, i % 2) for i in range(300))


MAKERS = {
    "parquet": parquet,
    "arrow": arrow,
    "arrows": arrow_stream,
    "npz": npz,
    "sparse.npz": sparse_npz,
    "csv.gz": packed_csv,
    "svm": svm,
    "jsonl": jsonl,
}


@pytest.mark.parametrize("ending", MAKERS)
@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.99])
def test_a_file_cut_short_is_one_sentence(tmp_path, ending, share):
    """Of a file cut anywhere either a whole number of rows is read or one sentence says that it is damaged."""
    content = MAKERS[ending]()
    path = tmp_path / f"t.{ending}"
    path.write_bytes(content[: max(1, int(len(content) * share))])
    if ending in {"svm", "jsonl", "arrows"}:  # text may well end there, and an Arrow stream is made to
        outcome(path)
        return
    with pytest.raises(FileError, match=f"t.{ending}.*(damaged|truncated|match)"):
        read(path, "y")


def outcome(path):
    """Read a file both ways; only sentences of ours may come out."""
    for attempt in (lambda: read(path, "y"), lambda: [batch.X.shape for batch in stream(path)]):
        try:
            attempt()
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017 - there may be no error


def member(array, shape=None, descr=None):
    """Return the bytes of an npy file that may lie about itself."""
    out = io.BytesIO()
    header = {
        "descr": descr or np.lib.format.dtype_to_descr(array.dtype),
        "fortran_order": False,
        "shape": shape or array.shape,
    }
    np.lib.format.write_array_header_2_0(out, header)
    return out.getvalue() + array.tobytes()


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members.items():
            out.writestr(f"{name}.npy", content)
    return path


HONEST = member(np.eye(3))
FIVE = {"data": member(np.ones(5)), "indices": member(np.arange(5)), "indptr": member(np.array([0, 2, 5]))}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"X": member(np.eye(3), (10**9, 10**9))}, "declares .* which does not match its size"),
        ({"X": member(np.eye(3), (10**12, 0))}, "declares|expected numbers"),
        ({"X": member(np.empty((3, 0)), (10**12, 0))}, "expected numbers"),
        ({"X": member(np.eye(3), (-1, 3))}, "declares"),
        ({"X": member(np.eye(3), descr="|O")}, "could run code"),
        ({"X": HONEST, "y": np.lib.format.magic(1, 0) + pickle.dumps([1])}, "damaged"),
        ({"X": np.lib.format.magic(1, 0) + b"\x0e\x00{'descr': '<f8\n"}, "damaged"),
        ({"X": member(np.array([["a"]]))}, "expected numbers"),
        ({"X": member(np.zeros(3))}, "expected numbers"),
        ({"X": HONEST, "y": member(np.arange(4))}, "X has 3 rows, but y has 4 labels"),
        ({"X": HONEST, "y": member(np.eye(3))}, "y has shape"),
        ({"Z": HONEST}, "expected the arrays X and y"),
        ({"[Content_Types].xml": b""}, "expected the arrays|Office"),
        ({**FIVE, "shape": member(np.array([2, 3]))}, "damaged"),
        ({**FIVE, "shape": member(np.array([3, 9]))}, "'indptr' does not describe"),
        ({**FIVE, "shape": member(np.array([2, 2**40]))}, "declares"),
        ({**FIVE, "indices": member(np.ones(5)), "shape": member(np.array([2, 9]))}, "must be integers"),
        ({**FIVE, "indices": member(np.arange(4)), "shape": member(np.array([2, 9]))}, "damaged"),
        ({**FIVE, "format": member(np.array(b"csc")), "shape": member(np.array([2, 9]))}, "not in CSR format"),
    ],
    ids=[
        *(
            "bomb",
            "lying rows",
            "rows of nothing",
            "negative",
            "objects",
            "pickle",
            "open header",
            "words",
            "one axis",
            "too many labels",
        ),
        *(
            "square labels",
            "no X",
            "office",
            "index beyond",
            "pointers",
            "columns",
            "real indices",
            "few indices",
            "by columns",
        ),
    ],
)
def test_archives_that_lie_are_refused(tmp_path, members, message):
    """An archive whose headers, parts or types do not fit is refused before memory is taken, and nothing is unpickled."""
    with pytest.raises(FileError, match=message):
        read(archive(tmp_path / "t.npz", **members))


def test_an_archive_that_unpacks_to_more_than_memory_is_refused(tmp_path):
    """The size unpacked is looked at first."""
    path = archive(tmp_path / "t.npz", X=member(np.zeros((1000, 1000), order="F")))
    with memory_limit("510 MB"), pytest.raises(MemoryLimitError, match="would need about 16 MB, but the memory limit"):
        read(path)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", "<i4", "|b1"])
def test_archives_of_any_plain_kind(tmp_path, order, kind):
    """Arrays by rows or columns, of any byte order, are read as they are, and may be written to."""
    X = np.array([[0, 1], [2, 3], [4, 5]]).astype(kind, order=order)
    np.savez(tmp_path / "t.npz", X=X, y=np.array([b"u", b"v", b"u"]))
    found = read(tmp_path / "t.npz")
    np.testing.assert_array_equal(found.X, X)
    assert found.X.dtype.isnative
    assert found.X.flags.writeable
    assert found.y.tolist() == ["u", "v", "u"]


def test_sparse_archives(tmp_path):
    """What SciPy saves, with labels beside it or without, is read as CSR."""
    X = sparse.random(300, 20, 0.2, "csr", random_state=1)
    np.savez(tmp_path / "t.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=np.arange(300) % 3)
    found = read(tmp_path / "t.npz")
    assert (found.X != X).nnz == 0
    assert found.y.tolist() == (np.arange(300) % 3).tolist()
    sparse.save_npz(tmp_path / "u.npz", X)
    assert read(tmp_path / "u.npz").y is None
    with pytest.raises(FileError, match="has neither labels"):
        read(tmp_path / "u.npz", "y")


def test_columns_that_are_no_plain_values_are_left_out(tmp_path):
    """Lists and bytes are left out with a note; dictionaries, decimals and long strings become plain."""
    table = pa.table(
        {
            "l": [[1], [2]],
            "b": [b"x", b"y"],
            "d": pa.array(["u", "v"]).dictionary_encode(),
            "s": pa.array(["u", "v"], pa.large_string()),
            "n": pa.array([1, 2], pa.decimal128(9, 2)),
            "y": pa.array(["p", "q"]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet", "y")
    assert found.X.schema.types == [pa.string(), pa.string(), pa.float64()]
    assert len(found.notes) == 2


def test_parquet_codes_without_a_word_are_refused(tmp_path):
    """A column whose codes name words that its dictionary lacks is damaged, as a whole and in batches."""
    path = tmp_path / "t.parquet"
    pq.write_table(TABLE, path, compression="none")
    column = pq.read_metadata(path).row_group(0).column(1)
    content, end = bytearray(path.read_bytes()), column.dictionary_page_offset + column.total_compressed_size
    content[end - 20 : end] = b"\xff" * 20
    path.write_bytes(content)
    for ask in (lambda: read(path, "y"), lambda: list(stream(path))):
        with pytest.raises(FileError, match="Dictionary indices invalid"):
            ask()


def test_parquet_statistics_that_contradict_the_schema_are_refused(tmp_path):
    """Four counts of list levels for a column that is no list are an error, not the end of the process."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"s": ["u", "v"], "y": [1, 2]}), path)
    none, four = b"\x19\x06\x19\x26\x00\x04\x00", b"\x19\x46\x19\x26\x00\x04\x00"
    content = path.read_bytes()
    assert none in content
    path.write_bytes(content.replace(none, four))
    with pytest.raises(FileError, match="histogram size mismatch"):
        read(path, "y")


def test_arrow_dictionaries_of_a_type_that_python_lacks_are_refused(tmp_path):
    """A dictionary that the footer says holds intervals of months is an error that names the file."""
    path = tmp_path / "t.arrow"
    feather.write_feather(pa.table({"d": pa.array(["u", "v"]).dictionary_encode(), "y": [1, 2]}), path, "uncompressed")
    before, text, after = path.read_bytes().rpartition(b"\x01\x05\x14\x00\x00\x00")
    assert text
    path.write_bytes(before + b"\x01\x0b\x14\x00\x00\x00" + after)
    with pytest.raises(FileError, match=r"^t\.arrow: the file is damaged"):
        read(path, "y")


def test_names_in_an_archive_are_told_in_one_line(tmp_path):
    """An archive that is no table is refused in one sentence, whatever its members are called."""
    path = tmp_path / "t.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a\n\n\x1fb", b"")
    with pytest.raises(FileError, match=r"It holds a .*b\.$") as caught:
        read(path)
    assert "\n" not in str(caught.value)


def test_a_target_twice_of_which_one_is_left_out(tmp_path):
    """Of two columns with the name of the target, the one that holds lists is not asked about."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table([["u", "v"], [[1], [2]], [1, 2]], names=["y", "y", "a"]), path)
    assert read(path, "y").y.tolist() == ["u", "v"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"BZh91AY", "bzip2"),
        (b"\x28\xb5\x2f\xfd....", "Zstandard"),
        (b"\x89HDF....", "HDF5"),
        (b"FEA1....", "version 1"),
        (b'[{"a": 1}]', "one JSON array"),
        (b"PK\x03\x04....", "damaged"),
        (b"\x80\x04\x95\x00\x00", "is not text"),
    ],
    ids=["bz2", "zst", "hdf5", "feather 1", "json array", "zip", "pickle"],
)
def test_strangers_are_named(tmp_path, content, message):
    """Well-known formats that are not read are called by their name."""
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(FileError, match=message):
        read(tmp_path / "t", "y")
