"""svmlight text: the same bits as scikit-learn's reader, and faults by line."""

import gzip
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from halfspace.errors import FileError
from halfspace.files import read, svmlight, text
from halfspace.notes import Note


def written(folder, content, name="t.svm"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def assert_same(path):
    found = read(path)
    X, y = load_svmlight_file(str(path))
    assert found.X.shape == X.shape
    np.testing.assert_array_equal(found.X.data.view(np.uint64), X.data.view(np.uint64))
    np.testing.assert_array_equal(found.X.indices, X.indices)
    np.testing.assert_array_equal(found.X.indptr, X.indptr)
    np.testing.assert_array_equal(found.y.astype(float), y)


def random_number(random):
    """Return the text of a number of one of many kinds: any bits, many digits, half-way cases, subnormal."""
    kind = random.integers(6)
    if kind == 0:
        bits = int(random.integers(0, 0x7FE, endpoint=True)) << 52 | int(random.integers(1 << 52))
        return repr(struct.unpack("<d", struct.pack("<Q", bits))[0])
    if kind == 1:
        return f"{random.integers(10**18)}e{random.integers(-340, 290)}"
    if kind == 2:
        return f"{random.standard_normal():.{random.integers(1, 25)}f}"
    if kind == 3:
        return str((int(random.integers(1 << 52, 1 << 53)) * 2 + 1) << int(random.integers(0, 9)))
    if kind == 4:
        return f"{random.integers(1, 10**6) * 5e-324:.{random.integers(1, 18)}e}"
    return random.choice(["0", "-0", "+1", ".5", "3.", "1E5", "-1e-5", "1e400", "4.9e-324", "2.4e-324", "nan", "-inf"])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("base", [0, 1], ids=["from 0", "from 1"])
def test_the_bits_are_those_of_scikit_learn(tmp_path, seed, base):
    """Random files, with exponents, many digits, half-way cases and subnormal numbers, give scikit-learn's matrix exactly."""
    random = np.random.default_rng(seed)
    lines = []
    for row in range(150):
        indices = np.sort(random.choice(50, random.integers(0, 9), replace=False)) + base
        indices = indices if row else np.union1d(indices, [base])
        entries = " ".join(f"{i}:{random_number(random)}" for i in indices)
        lines.append(f"{random.choice(['+1', '-1', '2', '3.0'])} {entries}{random.choice(['', ' # note', ' '])}")
    assert_same(written(tmp_path, "\n".join(lines) + "\n"))


@given(st.floats(allow_nan=False), st.integers(0, 17), st.integers(0, 2**64 - 1), st.integers(-400, 400))
def test_numbers_are_read_as_python_reads_them(value, digits, w, q):
    """Any double written in full, any shortened form of it, and any whole number times a power of ten become the same bits."""
    forms = [repr(value), f"{value:.{digits}e}", f"{value:.{digits}g}", f"{w}e{q}"]
    lines = "".join(f"1 1:{form}\n" for form in forms).encode()
    found = svmlight._by_pyarrow(lines)
    if found is not None:  # else Python reads them
        np.testing.assert_array_equal(found.values.view(np.uint64), np.array(list(map(float, forms))).view(np.uint64))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_scikit_learn_writes(tmp_path, dtype):
    """Files written by scikit-learn are read back, packed or not."""
    X = sparse.random(200, 40, 0.2, "csr", random_state=0, dtype=dtype)
    path = tmp_path / "t.svm"
    dump_svmlight_file(X, np.arange(200) % 3, str(path), zero_based=False)
    assert_same(path)
    packed = written(tmp_path, gzip.compress(path.read_bytes()), "u.txt.gz")
    assert (read(packed).X != read(path).X).nnz == 0


@pytest.mark.parametrize(
    "content",
    [
        "1 1:2\n-1 2:3",
        "1 1:2\r\n-1 2:3\r\n",
        "\n  \n# head\n1 1:2 # c\n\n-1\t2:3#c\n \n",
        "1 1:2 \n-1    2:3\t\n",
        "1\n-1 3:4\n",
        "1 1:2\n-1 0:3\n",
    ],
    ids=["no last line end", "CRLF", "comments and blanks", "blanks", "empty row", "index 0"],
)
def test_forms_of_a_file(tmp_path, content):
    """Comments, blank lines, any white space and empty rows are read as scikit-learn reads them."""
    assert_same(written(tmp_path, content))


def test_queries_are_ignored_with_a_note(tmp_path):
    """`qid` is allowed and said to be ignored."""
    found = read(written(tmp_path, "1 qid:3 1:2\n2 qid:4 2:3\n"))
    assert found.X.toarray().tolist() == [[2, 0], [0, 3]]
    assert found.notes == (Note("query numbers"),)


def test_indices_need_not_ascend(tmp_path):
    """Indices are sorted within their row."""
    found = read(written(tmp_path, "1 3:3 1:1 2:2\n0 2:5 1:4\n"))
    assert found.X.toarray().tolist() == [[1, 2, 3], [4, 5, 0]]
    assert found.X.indices.tolist() == [0, 1, 2, 0, 1]


def test_blocks_do_not_matter(tmp_path, monkeypatch):
    """A file read in blocks of 1 kB gives the matrix of one block, and a fault has the same line."""
    random = np.random.default_rng(1)
    content = "".join(f"{i % 2} {1 + i % 7}:{v} 9:1\n" for i, v in enumerate(random.standard_normal(400)))
    path = written(tmp_path, content + "\n# end\n")
    whole = read(path)
    monkeypatch.setattr(text.line_blocks, "__defaults__", (1000,))
    parts = read(path)
    assert (whole.X != parts.X).nnz == 0
    assert whole.X.shape == parts.X.shape
    with pytest.raises(FileError, match="line 401"):
        read(written(tmp_path, content + "1 2:x\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 1:2\n1 2\n", "line 2: expected 'index:value'.* Got '2' instead"),
        ("1 1:2\n1 2: 3\n", "line 2: expected 'index:value'"),
        ("1 1:2\n1 -2:3\n", "line 2: expected 'index:value'"),
        ("1 1:2\n1 2:x\n", "line 2: expected a number after the colon. Got 'x' instead"),
        ("1 1:2\n\none 2:3\n", "line 3: expected a label. Got 'one' instead"),
        ("1 1:2\n1,2 2:3\n", "line 2: expected a label. Got '1,2' instead"),
        ("1 1:2\n1 2:3 2:4\n", "line 2: index 2 repeats"),
        ("1 1:2\n1 2:3 1:2 2:4\n", "line 2: index 2 repeats"),
        ("1 1:2\n1 2147483648:3\n", "above the limit 2147483647"),
        ("1 0:2\n1 2147483647:3\n", "the limit is 2147483647"),
        ("1 1:2\n1 99999999999999999999999:3\n", "above the limit"),
        ("1 1:2\n1 2:3\0\n", "is not text"),
        ("# nothing\n", "has no rows"),
        ("1 1:2:3\n", "expected a number"),
        ("1 1:2\n1 0x1f:3\n", "line 2: expected 'index:value'"),
        ("1 1:2\n1 1.5:3\n", "line 2: expected 'index:value'"),
        ("1 1:2\n1 +2:3\n", "line 2: expected 'index:value'"),
        ("1 1:2\n1 :3\n", "line 2: expected 'index:value'"),
        (":1 1:2\n1 2:3\n", "line 1: expected a label"),
        ("1 1:2\n1 2:\n", "line 2: expected 'index:value'"),
        ("1 1:2\n\x1f 3:4\n", "line 2: expected a label. Got '3:4' instead"),
        ("\x1f qid:1 0:1\n-1 2:3\n", "line 1: expected a label. Got 'qid:1' instead"),
    ],
    ids=[
        *("no colon", "space", "negative", "word", "label", "several labels", "twice", "twice apart", "huge", "huge from 0"),
        *("very huge", "NUL", "no rows", "two colons"),
        *("hexadecimal", "fraction", "plus", "no index", "colon before the label", "no value"),
        *("control character for a label", "query for a label"),
    ],
)
def test_malformed_text_is_named_by_line(tmp_path, content, message):
    """What is malformed is one sentence with file and line."""
    with pytest.raises(FileError, match=message) as caught:
        read(written(tmp_path, content))
    assert str(caught.value).startswith("t.svm: ")


def test_labels(tmp_path):
    """Whole labels are int64, few reals strings, many reals numbers."""
    assert read(written(tmp_path, "1.0 1:2\n+2 1:3\n")).y.dtype == np.int64
    assert read(written(tmp_path, "1.5 1:2\n2 1:3\n")).y.tolist() == ["1.5", "2.0"]
    assert read(written(tmp_path, "".join(f"{i / 7} 1:1\n" for i in range(50)))).y.tolist() == [i / 7 for i in range(50)]


def test_a_target_is_not_used(tmp_path):
    """A target named for a format that brings labels is said not to be used."""
    assert read(written(tmp_path, "1 1:2\n2 1:3\n"), "y").notes[-1].kind == "own labels"


def test_reader_is_a_reader():
    """The reader offers what `read` asks for."""
    assert {"pieces", "join", "cleaned", "details", "names"} <= set(dir(svmlight.Reader))
