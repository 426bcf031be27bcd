"""A second process that compiles what a first `fit` needs later, while the first one reads, learns and compiles what is next.

Numba keeps what it compiles on disk, where each process finds what the other has finished. This one is started before anything
slow is imported, if nothing at all has been compiled yet and a core is free for it, and ends with the command at the latest.
"""

import atexit
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["nothing_compiled", "start"]

FIRST = "sweep.present-*.nbi"
"""Numba's index of a function that every `fit` needs."""


def nothing_compiled() -> bool:
    """Tell whether nothing is where Numba looks first; where else it may look is not asked."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    if folder:
        return not (Path(folder).exists() and not os.access(folder, os.W_OK)) and not any(Path(folder).rglob(FIRST))
    beside_the_code = Path(__file__).parents[1] / "solvers" / "rules" / "__pycache__"
    return os.access(beside_the_code.parent, os.W_OK) and not any(beside_the_code.glob(FIRST))


def start() -> None:
    """Start it, if there is something to do and a core to do it on; Ctrl-C is not for it."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores < 2 or not nothing_compiled():
        return
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, "-m", "halfspace.cli.warm"], stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
    )
    atexit.register(process.kill)
