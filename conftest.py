"""Numba's cache watches only the file of the cached function, so the tests keep one cache per state of the sources."""

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).parent


def source_hash() -> str:
    """Return a short hash of all sources of the package."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


os.environ["NUMBA_CACHE_DIR"] = str(ROOT / ".numba_cache" / source_hash())
