"""Numba's cache watches only the file of the cached function, so the tests keep one cache per state of the sources."""

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).parent


def source_hash() -> str:
    """Return a short hash of the sources that are compiled: none above the solvers is."""
    digest = hashlib.sha256()
    package = ROOT / "src" / "halfspace"
    for folder in ("rows", "kernels", "solvers"):
        for path in sorted((package / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    digest.update((package / "_dispatch.py").read_bytes())
    return digest.hexdigest()[:16]


os.environ["NUMBA_CACHE_DIR"] = str(ROOT / ".numba_cache" / source_hash())
