"""Memory: every step is predicted before it is allocated, and any megabyte stays within two gigabytes.

The peak of a process of its own is measured, not limited: libraries reserve far more address space than they use. Linux's
`ru_maxrss` would also count what the process that started it held, so `VmHWM` is read where there is one.
"""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from scipy import sparse

import halfspace as hs
from halfspace import _memory
from halfspace._memory import admit, bytes_of, limit_of, memory_limit, parsed, room
from halfspace.errors import InputError, MemoryLimitError
from halfspace.files import read
from halfspace.files.kinds import Columns
from halfspace.ladder.rungs import Setting, _kernel
from halfspace.modelfiles import load, save
from halfspace.tables import TableEncoder, recipes

rng = np.random.default_rng(0)


PEAK = """
status = __import__("pathlib").Path("/proc/self/status")
peaks = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:")] if status.exists() else []
print(1024 * int((peaks or [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss])[0]))
"""


def run_and_measure(code, *arguments, seconds=120):
    """Run code in a process of its own; return what it printed as JSON, and its peak in bytes."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))\n"
    command = [sys.executable, "-c", limit + textwrap.dedent(code) + PEAK, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    *lines, peak = done.stdout.splitlines()
    return [json.loads(line) for line in lines], int(peak)


HOSTILE = """
import json, sys, zipfile
from pathlib import Path
import numpy as np
import halfspace as hs
from halfspace import memory_limit
from halfspace.errors import MemoryLimitError
from halfspace.files import read

folder = Path(sys.argv[1])

def told(name, target=None):
    try:
        with memory_limit(n_bytes=(folder / name).stat().st_size):
            data = read(folder / name, target, max_rows=1_000_000)
            ladder = hs.Ladder(rungs=["majority"]).fit(data.X, data.y)
    except MemoryLimitError as error:
        print(json.dumps(str(error)))
    else:
        print(json.dumps([ladder.winner_, len(data.y), ladder.n_features_in_]))

lines = [f"{i % 2} {1 + i % 7}:1 {3000 + i}:2" for i in range(30)]
(folder / "huge.svm").write_text("\\n".join([*lines, "1 300000000:1"]))
told("huge.svm")
with zipfile.ZipFile(folder / "zeros.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
    for name, array in {"X": np.zeros((400_000, 900), np.int8), "y": np.arange(400_000) % 2}.items():
        if name == "X":
            array[::7, 3] = 1
        with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array(member, array)
    del array
told("zeros.npz")
(folder / "commas.csv").write_text(("," * 500_000 + "\\n") * 2)
told("commas.csv", "0")
keys = [json.dumps({f"k{i}": i, "y": i % 2}) for i in range(10_000)]
(folder / "keys.jsonl").write_text("\\n".join(keys))
told("keys.jsonl", "y")
"""


def test_any_megabyte_stays_within_two_gigabytes(tmp_path):
    """An index of 300 million, a bomb of zeros, a million commas and a new key in every line: a model or one sentence."""
    (huge, zeros, commas, keys), peak = run_and_measure(HOSTILE, tmp_path)
    assert huge == ["majority", 31, 300_000_000]
    assert zeros[0] == "majority"
    assert 1000 < zeros[1] < 400_000  # a sample
    assert "a table of 500,001 columns would need about 7 GB" in commas
    assert keys[0] == "majority"
    assert keys[2] == 10_000
    assert max((tmp_path / name).stat().st_size for name in ("huge.svm", "zeros.npz", "commas.csv", "keys.jsonl")) < 3e6
    assert peak < 2e9


# ------------------------------------------------------------ the rule
@pytest.mark.parametrize(
    ("text", "n_bytes"), [("2GB", 2e9), ("1.5 GiB", 1.5 * 2**30), ("500 mb", 5e8), (3e9, 3e9), ("2000000", 2e6)]
)
def test_sizes_are_read_as_people_write_them(text, n_bytes):
    """A number of bytes, or a number with a unit."""
    assert parsed(text) == n_bytes


@pytest.mark.parametrize("value", ["", "2 apples", "-1GB", 0, True, None, "1KB", 1e30, float("nan"), [1]])
def test_what_is_no_size_is_refused(value):
    """Nonsense ends in a sentence with an example."""
    with pytest.raises(InputError, match="'max_memory' must be a number of bytes"):
        parsed(value)


def test_the_default_depends_on_the_machine_and_the_input_only(monkeypatch):
    """The smaller of a quarter of RAM and max(2 GB, 20 times the input)."""
    monkeypatch.setattr(_memory, "machine", lambda: 32 * 10**9)
    assert [limit_of(None, n) for n in (0, 10**8, 2 * 10**8, 10**12)] == [2 * 10**9, 2 * 10**9, 4 * 10**9, 8 * 10**9]
    monkeypatch.setattr(_memory, "machine", lambda: 4 * 10**9)
    assert limit_of(None, 10**12) == 10**9


def test_a_limit_holds_inside_unless_another_is_given():
    """Limits nest: what is left out stays as it is outside."""
    with memory_limit("3GB") as outer:
        with memory_limit() as same, memory_limit("1GB") as inner:
            assert (outer, same, inner, room()) == (3e9, 3e9, 1e9, 1e9 - _memory.OVERHEAD)
        assert room() == 3e9 - _memory.OVERHEAD
        admit("Someone", room(), "just enough", "nothing to do")
        with pytest.raises(
            MemoryLimitError, match=r"Someone: a table would need about 3 GB, but the memory limit of 3 GB leaves 2.5 GB; do"
        ):
            admit("Someone", 3e9, "a table", "do something else")


def test_bytes_of_any_input():
    """Arrays, sparse matrices, tables and data frames say how large they are; a list does not."""
    X = np.zeros((10, 3))
    frame = pytest.importorskip("pandas").DataFrame(X)
    S = sparse.csr_matrix(np.eye(4))
    assert [bytes_of(v) for v in (X, pa.table({"a": X[:, 0]}), frame, [1.0])] == [240, 80, 240, 0]
    assert bytes_of(S) == S.data.nbytes + S.indices.nbytes + S.indptr.nbytes


# ------------------------------------------------------------ readers
def test_a_sample_is_cut_to_what_fits_and_says_so(tmp_path):
    """With max_rows a file too large for the limit gives fewer rows and a note; without, a sentence."""
    np.savez(tmp_path / "t.npz", X=np.zeros((100_000, 50)), y=np.arange(100_000) % 2)
    with memory_limit("560 MB"):
        data = read(tmp_path / "t.npz", max_rows=1_000_000)
        assert 1000 < len(data.y) < 100_000
        assert "more would not fit the memory limit" in " ".join(map(str, data.notes))
        with pytest.raises(MemoryLimitError, match="give max_rows for a sample"):
            read(tmp_path / "t.npz")
    assert len(read(tmp_path / "t.npz").y) == 100_000


def packed_tables(folder):
    """Write a word of a thousand letters thirty thousand times, packed in every way there is; each file is small."""
    words = pa.table({"s": ["x" * 1000] * 30_000, "y": np.arange(30_000) % 2})
    coded = words.set_column(0, "s", words.column("s").dictionary_encode())
    feather.write_feather(words, folder / "blocks.feather", compression="zstd", chunksize=30_000)
    with pa.ipc.new_stream(folder / "stream.arrows", words.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as out:
        out.write_table(words)
    pq.write_table(words, folder / "plain.parquet", compression="zstd", use_dictionary=False)
    pq.write_table(words, folder / "words.parquet", compression="zstd")
    feather.write_feather(coded, folder / "words.feather")


def test_packed_tables_are_sized_by_their_headers(tmp_path):
    """Blocks that do not fit unpacked are refused unread; a word in every row is written out a few rows at a time."""
    packed_tables(tmp_path)
    with memory_limit("530 MB"):
        for name in ("blocks.feather", "stream.arrows", "plain.parquet"):
            assert (tmp_path / name).stat().st_size < 1e6
            with pytest.raises(MemoryLimitError, match=r"its largest .* would need about 6"):
                read(tmp_path / name, "y", max_rows=10**6)
        for name in ("words.parquet", "words.feather"):
            assert 1000 < len(read(tmp_path / name, "y", max_rows=10**6).y) < 30_000
    for name in ("blocks.feather", "stream.arrows", "plain.parquet", "words.parquet", "words.feather"):
        data = read(tmp_path / name, "y")
        assert data.X.column("s").to_pylist() == ["x" * 1000] * 30_000


@pytest.mark.parametrize("n", [1, 12, 900])
def test_many_short_columns_are_typed_like_each_by_itself(n):
    """One look at all columns finds the kinds that a look at each would, and casts to the same values."""
    draws = {
        "whole": lambda: str(rng.integers(-99, 99)),
        "number": lambda: f"{rng.normal():.3f}",
        "mixed": lambda: rng.choice(["1", "2.5", "1e3", "+7"]),
        "code": lambda: f"0{rng.integers(9)}",
        "long": lambda: "1234567890123456789",
        "words": lambda: rng.choice(["a", "1", "-"]),
        "spaced": lambda: rng.choice([" 1", "2 "]),
        "grouped": lambda: "1,234",
        "dates": lambda: "2023-01-02",
        "truth": lambda: rng.choice(["true", "False"]),
        "infinite": lambda: "inf",
        "hex": lambda: "0x1f",
        "nothing": lambda: None,
    }
    kinds = list(draws)
    columns = {}
    for j in range(130):
        values = [None if rng.random() < 0.2 else draws[kinds[j % len(kinds)]]() for _ in range(n)]
        columns[f"c{j}"] = pa.array(values, pa.string())
    together, apart = Columns([]), Columns([])
    table = pa.table(columns)
    together.learn(table)
    for name in columns:
        apart.learn(table.select([name]))
    assert together.kinds == apart.kinds
    typed = together.typed(table)
    for name in columns:
        apart.kinds = {name: together.kinds[name]}
        assert typed.column(name).to_pylist() == apart.typed(table.select([name])).column(name).to_pylist()


def test_many_numeric_columns_of_a_table_are_encoded_like_each_by_itself(monkeypatch):
    """Reasons for leaving out and notes are the same, and outputs up to the rounding of a column's mean."""
    X = rng.normal(size=(25, 120)).round(3)
    columns = {f"c{j}": X[:, j] for j in range(120)} | {"n": np.arange(25), "m": np.arange(25) * 7, "same": np.ones(25)}
    table, new = pa.table(columns), pa.table({name: values[:5] for name, values in columns.items()})
    at_once = TableEncoder().fit(table)
    out = at_once.transform(new)
    monkeypatch.setattr(recipes, "FEW_NUMBERS", 0)
    apart = TableEncoder().fit(table)
    assert at_once.dropped_ == apart.dropped_ != ()
    assert at_once.notes_ == apart.notes_
    assert np.allclose(out, apart.transform(new), rtol=0.0, atol=1e-13)


# ------------------------------------------------------------ sparse rows
def test_a_very_wide_sparse_matrix_is_taken_for_what_it_holds(tmp_path):
    """Of a billion columns those with a value are kept, in the file too; others in new rows are ignored."""
    X = sparse.csr_matrix(([1.0, -2.0, 3.0, 4.0], ([0, 1, 2, 3], [5, 999_999_999, 5, 7])), shape=(4, 10**9))
    encoder = TableEncoder().fit(X)
    Z = encoder.transform(X)
    assert encoder.n_features_in_ == 10**9
    assert encoder.get_feature_names_out().tolist() == ["x5", "x7", "x999999999"]
    assert np.array_equal(Z.toarray(), [[1 / 3, 0, 0], [0, 0, -1], [1, 0, 0], [0, 1, 0]])
    new = sparse.csr_matrix(([9.0, 8.0, 6.0], ([0, 1, 1], [6, 7, 10])), shape=(2, 10**9))
    assert np.array_equal(encoder.transform(new).toarray(), [[0, 0, 0], [0, 2, 0]])
    ladder = hs.Ladder(rungs=["majority", "neighbours"]).fit(X, [0, 1, 0, 1])
    save(ladder, tmp_path / "m.halfspace")
    assert (tmp_path / "m.halfspace").stat().st_size < 100_000
    assert np.array_equal(load(tmp_path / "m.halfspace").decision_function(new), ladder.decision_function(new))
    assert ladder.verify(X, [0, 1, 0, 1])


# ------------------------------------------------------------ many classes
def test_pairs_that_do_not_fit_become_one_against_the_rest():
    """The kernel rung falls back; the machine itself refuses, with the remedy."""
    X, y = rng.normal(size=(60, 2)), np.arange(60)
    with memory_limit("520 MB"):
        with pytest.raises(MemoryLimitError, match=r"1,770 kernel machines on 60 examples would need .*multi_class='ovr'"):
            hs.KernelAdaTron(multi_class="ovo").fit(X, y)
        assert _kernel(X, y, Setting()).model.multi_class == "ovr"


def test_a_path_counts_the_strengths_it_keeps():
    """A path keeps the strengths of every machine at every point: too many of them are refused before the first."""
    X, y = rng.normal(size=(600, 2)), np.arange(600) % 300
    with memory_limit("560 MB"), pytest.raises(MemoryLimitError, match=r"kernel_path: .* give fewer Cs, gammas or rows"):
        hs.kernel_path(X, y)


def test_rungs_that_do_not_fit_are_skipped_and_named():
    """With a thousand classes planes with a strength per example and class do not fit; the majority is kept with its score."""
    X, y = rng.normal(size=(3000, 2)), np.arange(3000) % 1000
    ladder = hs.Ladder(rungs=["majority", "neighbours", "perceptron", "adaline"], max_memory="580 MB").fit(X, y)
    found = {rung.name: rung for rung in ladder.rungs_}
    assert ladder.winner_ in {"majority", "neighbours"}
    assert found["majority"].climbed
    for name in ("perceptron", "adaline"):
        assert "1,000 problems of 2,000 x 2 would need about 128 MB" in found[name].skipped
        assert "memory limit of 580 MB" in found[name].skipped
    assert ladder.out_of_fold_.shape == (0, 1000)
    assert np.allclose(ladder.predict_proba(X[:3]).sum(axis=1), 1.0)


def test_more_classes_than_fit_are_refused_in_one_sentence():
    """The table of errors has the square of their number."""
    y = np.arange(4000) % 2000
    with pytest.raises(MemoryLimitError, match="the 2,000 x 2,000 table of errors would need about 96 MB"):
        hs.Ladder(max_memory="550 MB").fit(np.zeros((4000, 1)), y)


def test_a_ladder_says_how_many_rows_would_fit():
    """Rows that do not fit once encoded are refused with the number that does."""
    X = rng.normal(size=(20_000, 60))
    with pytest.raises(MemoryLimitError, match=r"16,000 training rows of 60 encoded inputs would need .*at most 7,\d\d\d rows"):
        hs.Ladder(max_memory="530 MB").fit(X, np.arange(20_000) % 2)
    with pytest.raises(InputError, match="max_memory"):
        hs.Ladder(max_memory="plenty").fit(X, np.arange(20_000) % 2)


# ------------------------------------------------------------ squares
@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (hs.AdaTron(), (3, 10**9)),
        (hs.Perceptron(), (3, 10**9)),
        (hs.GLVQ(), (3, 10**8)),
        (hs.GMLVQ(), (3, 20_000)),
        (hs.BayesianRegression(), (3, 30_000)),
        (hs.LinearRegression(ridge="cv"), (9_000, 9_000)),
    ],
)
def test_what_grows_faster_than_its_input_is_refused(model, shape):
    """Weights of a billion features, a full metric, a covariance and a spectrum: refused before anything is allocated."""
    X = sparse.csr_matrix((np.ones(3), ([0, 1, 2], [0, 1, 2])), shape=shape)
    with memory_limit("2GB"), pytest.raises(InputError, match=r"memory limit of 2 GB|are too many for that"):
        model.fit(X, np.arange(shape[0]) % 2)
