"""svmlight text, 100 MB of it, against scikit-learn's reader; both give the same bits."""

import tempfile
from io import BytesIO
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from benchmarks.race import Case
from halfspace.files import read

SIZE = 100_000_000


def _write(path, decimals):
    """Write rows of some 50 entries, rounded to so many decimals, again and again until the file is large enough."""
    X = sparse.random(1000, 1000, 0.05, "csr", random_state=0)
    X.data = X.data.round(decimals) if decimals is not None else X.data
    block = BytesIO()
    dump_svmlight_file(X, np.arange(1000) % 2, block, zero_based=False)
    with path.open("wb") as out:
        for _ in range(SIZE // len(block.getvalue()) + 1):
            out.write(block.getvalue())


def _same(size):
    """Check that both matrices and labels are equal bit for bit."""

    def check(outputs):
        ours, (X, y) = outputs.values()
        equal = all(np.array_equal(getattr(ours.X, part), getattr(X, part)) for part in ("data", "indices", "indptr"))
        if not equal or not np.array_equal(ours.y, y):
            msg = "the two readers disagree"
            raise AssertionError(msg)
        return f"{size / 1e6:.0f} MB, {X.nnz:,} values, bit for bit the same"

    return check


def cases():
    for name, decimals in (("four decimals", 4), ("all digits", None)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.svm"
            _write(path, decimals)
            yield Case(
                f"svmlight text, {name}",
                {"halfspace": lambda path=path: read(path), "scikit-learn": lambda path=path: load_svmlight_file(str(path))},
                3.0,
                check=_same(path.stat().st_size),
                repeats=2,
            )
