"""What the races of prototype classifiers share: the data, and sklvq in an environment of its own.

sklvq 0.1.2 runs only beside scikit-learn 1.2, so NumPy 1: `peer_python` makes an environment for it in .venv-sklvq (a folder
that ignores itself), once, with pip's own settings. The data go over in a file; the clock runs in that process, around `fit`
alone, after a small fit. Everybody gets the same doubles: columns standardised with the mean and spread of the training rows.
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.kernel_setup import run_child
from benchmarks.problems import load_shared

__all__ = ["EPOCH", "SOLVERS", "Data", "peer", "peer_file", "standardised"]

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / ".venv-sklvq"
NEEDS = ("scikit-learn<1.3", "numpy<2", "sklvq==0.1.2")
LIMIT = 600.0
"""Seconds after which a fit of the peer is stopped."""

EPOCH = ("steepest-gradient-descent", {"max_runs": 1, "batch_size": 1})
SOLVERS = {
    "waypoint": ("waypoint-gradient-descent", {}),
    "lbfgs": ("limited-memory-bfgs", {}),
    "bfgs": ("broyden-fletcher-goldfarb-shanno", {}),
    "adam": ("adaptive-moment-estimation", {}),
    "sgd": ("steepest-gradient-descent", {}),
}
"""The optimisers of sklvq at their own settings."""


@dataclass(frozen=True, eq=False)
class Data:
    """A published split, standardised."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def __str__(self):
        return f"{self.name} {self.y.size:,} x {self.X.shape[1]}, {np.unique(self.y).size} classes"


def satimage_like(rows=6435, random_state=0):
    """Return rows shaped as those of satimage, which is not at hand: 9 neighbouring pixels of 4 bands each, 6 kinds of ground.

    A kind of ground is a mixture of three spectra; all pixels of a row share one, but up to four of the eight around the centre
    show a second kind of ground. 4,435 rows learn, as in the published split.
    """
    rng = np.random.default_rng(random_state)
    spectra = 80.0 + 14.0 * rng.standard_normal((6, 1, 4)) + 6.0 * rng.standard_normal((6, 3, 4))
    y, beside = rng.integers(0, 6, (2, rows))
    own, other = (spectra[kind, rng.integers(0, 3, rows)] for kind in (y, beside))
    strange = np.arange(9) < rng.integers(0, 5, rows)[:, None]  # pixels at the edge of the window, so never the centre
    pixels = np.where(strange[:, :, None], other[:, None], own[:, None])
    light = 5.0 * rng.standard_normal((rows, 1, 1))
    X = (pixels + light + 6.0 * rng.standard_normal(pixels.shape)).reshape(rows, 36)
    return X[:4435], y[:4435], X[4435:], y[4435:]


@cache
def standardised(name):
    """Return a published split with its columns standardised, or None (and a line saying so) where it is not there."""
    data = satimage_like() if name == "satimage-like" else load_shared(name)
    if data is None:
        print(f"{name}: left out, ../shared/data is not there")
        return None
    X, X_test = (np.asarray(part, dtype=np.float64) for part in (data[0], data[2]))
    mean, spread = X.mean(axis=0), X.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    return Data(name, (X - mean) / spread, data[1], (X_test - mean) / spread, data[3])


@cache
def peer_python():
    """Return the Python that has sklvq, making its environment if there is none."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / "complete").exists():
        print(f"making {ENVIRONMENT.name} for sklvq, once")
        subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
        (ENVIRONMENT / ".gitignore").write_text("*\n", encoding="utf-8")
        subprocess.run([python, "-m", "pip", "install", "--quiet", *NEEDS], check=True)
        (ENVIRONMENT / "complete").touch()
    return python


@cache
def _file(name):
    """Write a split where the peer can read it; return the path."""
    data = standardised(name)
    path = Path(tempfile.mkdtemp(prefix="halfspace-lvq-")) / f"{name}.npz"
    np.savez(path, X=data.X, y=data.y, X_test=data.X_test, y_test=data.y_test)
    return path


def peer(model, name, solver, *, prototypes=1, beta=1.0, limit=LIMIT):
    """Fit sklvq's GLVQ or GMLVQ on a split; return its seconds and accuracies, or None if it diverged or took too long.

    `solver` is a pair: the name sklvq knows it by, and its settings. `beta` is the slope of the sigmoid, 1 as it comes; after
    `limit` seconds the fit is stopped.
    """
    return peer_file(model, _file(name), solver, prototypes=prototypes, beta=beta, limit=limit)


def peer_file(model, path, solver, *, prototypes=1, beta=1.0, limit=LIMIT):
    """Do what `peer` does with a file that holds X, y, X_test and y_test."""
    task = {"model": model, "prototypes": prototypes, "beta": beta, "seed": 0}
    task |= {"solver": solver[0], "solver_params": solver[1]}
    return run_child([str(ROOT / "benchmarks" / "lvq_peer.py"), str(path), json.dumps(task)], limit, peer_python())
