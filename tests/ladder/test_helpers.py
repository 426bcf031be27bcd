"""The private helpers of `halfspace.ladder`, each on a small case."""

import signal

import numpy as np
from scipy import sparse
from sklearn.preprocessing import FunctionTransformer

from halfspace import separability
from halfspace.certificates import calibration
from halfspace.ladder import climbing, preparing, values
from halfspace.ladder.measures import MEASURES
from halfspace.ladder.tasks import Classes, split
from halfspace.questions.separability import renumbered
from halfspace.tables.columns import take


def test_calibration():
    """Probabilities rise with the output, and cross one half with the sign."""
    assert calibration.Curve(2.0, 0.25).of_sigmoid(np.array([0.0, 100.0])).tolist() == [0.5, 0.875]
    f = np.array([-2.0, -1.0, 1.0, 2.0])
    fair = calibration.Calibration.of(f, np.array([0, 1, 0, 1]))
    P = fair.probabilities(f)
    assert (bool((np.diff(P[:, 1]) >= 0).all()), bool(((P[:, 1] > 0.5) == (f > 0)).all())) == (True, True)


def test_climbing():
    """Ctrl-C ends a block early and is ignored in another."""
    found = []
    with climbing.Interruptible() as block:
        found.append(1)
        raise KeyboardInterrupt
    assert (found, block.interrupted) == ([1], True)
    with climbing.undisturbed():
        signal.raise_signal(signal.SIGINT)


def test_preparing():
    """Rows are taken, made dense, named and split."""
    assert take(np.arange(6).reshape(3, 2), np.array([2, 0])).tolist() == [[4, 5], [0, 1]]
    assert type(preparing.dense_if_small(sparse.eye(3, format="csr"))).__name__ == "ndarray"
    assert preparing.input_groups(FunctionTransformer(), 2) == (["x0", "x1"], [("x0", 0, 1), ("x1", 1, 2)])
    train, test = split(Classes(np.arange(2), MEASURES["accuracy"]), np.repeat([0, 1], 50), 0.2, seed=0)
    assert (train.size, test.size) == (80, 20)


def test_values():
    """Proofs are numbered as in the file, and a test result has its interval."""
    X, y = (np.array([[0.0], [1.0], [2.0]]), np.array(["a", "b", "a"]))
    assert renumbered([("b", separability(X, y))], np.array([7, 8, 9]))[0][1].obstacle.tolist() == [7, 8, 9]
    y = np.array(["a"] * 9 + ["b"])
    result = values.TestResult.measure(np.array(["a"] * 10), y, np.array(["a", "b"]), MEASURES["accuracy"])
    assert (result.score, round(result.low, 3), round(result.high, 3), result.confusion.tolist()) == (
        0.9,
        0.555,
        0.997,
        [[9, 0], [1, 0]],
    )
