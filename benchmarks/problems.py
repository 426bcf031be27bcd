"""Data for the races: generated, except MNIST, which is read from ../shared/data where that exists."""

import importlib.util
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse

__all__ = ["dense", "mnist", "sparse_rows"]

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "load.py"


@cache
def dense(n=200_000, d=100, noise=0.05):
    """Return Gaussian rows labelled by a random teacher, a share of the labels flipped."""
    rng = np.random.default_rng(0)
    X, teacher = rng.standard_normal((n, d)), rng.standard_normal(d)
    flipped = rng.random(n) < noise
    return X, np.where((X @ teacher > 0) ^ flipped, 1, 0)


@cache
def sparse_rows(n=200_000, d=50_000, entries=75, noise=0.05):
    """Return sparse rows with `entries` Gaussian values in random columns, labelled by a random teacher with noise."""
    rng = np.random.default_rng(1)
    columns = np.sort(rng.integers(0, d, (n, entries)).astype(np.int32), axis=1).ravel()
    X = sparse.csr_matrix(
        (rng.standard_normal(n * entries), columns, np.arange(0, n * entries + 1, entries, dtype=np.int32)), (n, d)
    )
    X.sum_duplicates()
    flipped = rng.random(n) < noise
    return X, np.where((X @ rng.standard_normal(d) > 0) ^ flipped, 1, 0)


@cache
def mnist():
    """Return MNIST scaled to [0, 1] as (X, y, X_test, y_test), or None where the data are not there."""
    if not SHARED.exists():
        return None
    spec = importlib.util.spec_from_file_location("shared_data", SHARED)
    loader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loader)
    X, y, X_test, y_test = loader.load("mnist")
    return X / 255.0, y, X_test / 255.0, y_test
