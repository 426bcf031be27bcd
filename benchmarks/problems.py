"""Data for the races: generated, except MNIST, which is read from ../shared/data where that exists."""

import importlib.util
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse

__all__ = ["dense", "load_shared", "mnist", "shared", "sparse_rows", "text_rows"]

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
def text_rows(n=100_000, d=50_000, entries=75, noise=0.05):
    """Return the sparse rows scaled to length 1, as vectors of texts are."""
    X, y = sparse_rows(n, d, entries, noise)
    X = X.copy()
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    return X, y


def load_shared(name):
    """Return what the loader of ../shared/data does, or None where the data are not there."""
    if not SHARED.exists():
        return None
    spec = importlib.util.spec_from_file_location("shared_data", SHARED)
    loader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loader)
    return loader.load(name)


@cache
def mnist():
    """Return MNIST scaled to [0, 1] as (X, y, X_test, y_test), or None where the data are not there."""
    data = load_shared("mnist")
    if data is None:
        return None
    X, y, X_test, y_test = data
    return X / 255.0, y, X_test / 255.0, y_test


@cache
def shared(name, *, one_class=None, form="csr"):
    """Return (X, y) of a published set as floats, y 0 or 1 if `one_class` is set against the rest; None if it is not there."""
    data = load_shared(name)
    if data is None:
        return None
    X, y = data[0].astype(np.float64), data[1]
    if form == "dense" and sparse.issparse(X):
        X = np.ascontiguousarray(X.toarray())
    if form == "standardised":
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return X, y if one_class is None else (y == one_class).astype(np.int64)
