"""The perceptron against scikit-learn's, dense and sparse, shuffled and in order."""

import numpy as np
from sklearn.linear_model import Perceptron

import halfspace as hs
from benchmarks.problems import dense, sparse_rows
from benchmarks.race import Case


def _no_worse(X, y):
    """Check that our plane errs at most three points more on the training data (noise moves last weights as much)."""

    def check(outputs):
        ours, peer = (np.mean(model.predict(X) == y) for model in list(outputs.values())[:2])
        if ours < peer - 0.03:
            msg = f"ours is worse: {ours:.4f} against {peer:.4f}"
            raise AssertionError(msg)
        return f"training accuracy {ours:.3f}, peer {peer:.3f}"

    return check


def _race(name, X, y, bar, *, shuffle):
    return Case(
        name,
        {
            "halfspace": lambda: hs.Perceptron(max_iter=10, shuffle=shuffle, random_state=0).fit(X, y),
            "scikit-learn": lambda: Perceptron(max_iter=10, tol=None, shuffle=shuffle, random_state=0).fit(X, y),
        },
        bar,
        check=_no_worse(X, y),
        repeats=9,
    )


def cases():
    X, y = dense()
    narrow = X.astype(np.float32)
    S, z = sparse_rows()
    yield _race("dense float64 200k x 100, 10 epochs, shuffled", X, y, 4.0, shuffle=True)
    yield _race("dense float64 200k x 100, 10 epochs, in order", X, y, 2.5, shuffle=False)
    yield _race("dense float32 200k x 100, 10 epochs, shuffled", narrow, y, 4.0, shuffle=True)
    yield _race("CSR 200k x 50k, 75 a row, 10 epochs, shuffled", S, z, 2.0, shuffle=True)
    yield _race("CSR 200k x 50k, 75 a row, 10 epochs, in order", S, z, 1.2, shuffle=False)
    for name, A, b in (("dense", X, y), ("CSR", S, z)):
        yield Case(
            f"averaged against plain, both ours, {name}",
            {
                "averaged": lambda A=A, b=b: hs.AveragedPerceptron(max_iter=10, random_state=0).fit(A, b),
                "plain": lambda A=A, b=b: hs.Perceptron(max_iter=10, random_state=0).fit(A, b),
            },
            1.3,
            at_most=True,
            repeats=9,
        )
