"""Shuffling in blocks of rows against shuffling single rows: held-out accuracy, over ten seeds."""

from unittest import mock

import numpy as np
from sklearn.model_selection import train_test_split

import halfspace as hs
from benchmarks.problems import dense, sparse_rows
from benchmarks.race import Case


def _accuracies(X, y, *, single):
    """Return held-out accuracies of the averaged perceptron over ten seeds."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    with mock.patch("halfspace.rows.orders.CACHE_ENTRIES", 1 << 62 if single else 0):
        return np.array([hs.AveragedPerceptron(max_iter=3, random_state=s).fit(X, y).score(X_test, y_test) for s in range(10)])


def cases():
    for name, (rows, labels) in (("dense", dense()), ("CSR", sparse_rows())):
        X, y = rows[:40_000], labels[:40_000]

        def check(outputs):
            blocks, rows = outputs["blocks"], outputs["single rows"]
            error = np.sqrt(blocks.var() / 10 + rows.var() / 10) + 1e-4
            if blocks.mean() < rows.mean() - 3 * error:
                msg = f"blocks are worse: {blocks.mean():.4f} against {rows.mean():.4f}"
                raise AssertionError(msg)
            return f"held-out accuracy {blocks.mean():.4f}, single rows {rows.mean():.4f} (+- {error:.4f})"

        yield Case(
            f"shuffling in blocks, {name} 40k rows: accuracy does not suffer",
            {
                "blocks": lambda X=X, y=y: _accuracies(X, y, single=False),
                "single rows": lambda X=X, y=y: _accuracies(X, y, single=True),
            },
            1.0,
            check=check,
            repeats=2,
        )
