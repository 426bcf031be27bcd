"""Options of the test suite, its compiled code and its threads.

Numba's cache watches only the file of the cached function, so the tests keep one cache per state of the sources. BLAS has one
thread: the suite runs in as many processes as there are cores, and threads of BLAS that wait for a core do so by spinning.
"""

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent


def source_hash() -> str:
    """Return a short hash of the sources that are compiled: none above the solvers is, but the mail filter's."""
    digest = hashlib.sha256()
    package = ROOT / "src" / "halfspace"
    for folder in ("rows", "kernels", "solvers", "mail"):
        for path in sorted((package / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    for name in ("_dispatch.py", "_fetching.py"):
        digest.update((package / name).read_bytes())
    return digest.hexdigest()[:16]


os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
os.environ["NUMBA_CACHE_DIR"] = str(ROOT / ".numba_cache" / source_hash())


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    """Close what a test has drawn: Matplotlib warns of the twenty-first open figure."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that runs every setting of an estimator through the shared checks, and those of drawn cases."""
    parser.addoption("--variants", action="store_true", help="also run tests marked as variants of others")
    parser.addoption("--cases", type=int, default=500, help="cases drawn for the oracle in tests/oracle")
    parser.addoption("--seed", type=int, default=0, help="seed of these cases")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave variants out unless they are asked for."""
    if not config.getoption("--variants"):
        left_out = [item for item in items if item.get_closest_marker("variant")]
        items[:] = [item for item in items if not item.get_closest_marker("variant")]
        config.hook.pytest_deselected(items=left_out)
