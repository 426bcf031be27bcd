"""Verified claims against the truth: what a checker confirms is true in rational arithmetic, and no fit's own proof is refuted.

Each case draws small, nasty data and one way to a claim, and asks the checker about the fit's own proof, about copies of it
with a number changed, and about the proof on other data. Whatever it confirms, the oracle (conftest.py) must find true.

    python -m pytest tests/oracle --cases 20000 --seed 1
"""

import warnings
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import halfspace as hs
from halfspace.certificates import DualityGap, MarginBracket, NeighbourErrors
from halfspace.kernels import Linear, Polynomial

BLOCK = 25
"""Cases of one test."""
LARGEST = 1e150


def values(rng, n, d):
    """Draw a table of one of several kinds."""
    kind = rng.integers(8)
    if kind == 0:
        return rng.integers(-2, 3, size=(n, d)).astype(float)  # many ties, touching hulls
    if kind == 1:
        return rng.integers(-2, 3, size=(n, d)) * (1.0 + rng.integers(-2, 3, size=(n, d)) * 2.0**-52)  # all but ties
    if kind == 2:
        return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-8, 8, size=d)  # columns of different scales
    if kind == 3:
        return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-8, 8, size=(n, 1))  # rows of different lengths
    if kind == 4:
        return 10.0 ** rng.uniform(0, 9) + rng.normal(size=(n, d))  # far from the origin
    if kind == 5:
        return rng.integers(-3, 4, size=(n, d)) * 5e-324  # denormal
    if kind == 6:
        return np.repeat(rng.normal(size=(n, 1)), d, axis=1) + 1e-12 * rng.normal(size=(n, d))  # nearly equal columns
    return rng.normal(size=(n, d))


def table(rng):
    """Draw examples: with duplicates, constant columns, zeros and any scale, as float32 or float64."""
    n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    X = values(rng, n, d)
    if rng.random() < 0.3:
        X = X * 10.0 ** rng.uniform(-150, 150)
    for change in rng.permutation(4)[: rng.integers(3)]:
        if change == 0:
            X[rng.integers(n)] = X[rng.integers(n)]
        elif change == 1:
            X[:, rng.integers(d)] = rng.choice([0.0, 1.0, X[0, 0]])
        elif change == 2:
            X[rng.integers(n)] = 0.0
        else:
            X[rng.integers(n)] *= -1.0
    X = np.clip(X, -LARGEST, LARGEST)
    single = rng.random() < 0.2 and np.abs(X).max() < 1e38
    return X.astype(np.float32) if single else X


def stored(rng, X):
    """Return the same numbers in another storage: C or Fortran order, or CSR with entries unsorted and in two halves."""
    way = rng.integers(4)
    if way == 0:
        return X
    if way == 1:
        return np.asfortranarray(X)
    rows = sparse.csr_matrix(X)
    if way == 2 or (rows.nnz and np.abs(rows.data).min() < 1e-30):
        return rows
    entries = [np.repeat(rows.data[a:b] / 2, 2)[::-1] for a, b in zip(rows.indptr, rows.indptr[1:], strict=False)]
    columns = [np.repeat(rows.indices[a:b], 2)[::-1] for a, b in zip(rows.indptr, rows.indptr[1:], strict=False)]
    return sparse.csr_matrix((np.concatenate(entries), np.concatenate(columns), 2 * rows.indptr), shape=rows.shape)


def labels(rng, n):
    """Draw labels of two classes, of several types."""
    y = rng.integers(2, size=n)
    y[rng.permutation(n)[:2]] = 0, 1
    return [y, y.astype(bool), np.array(["no", "yes"])[y], y - 0.5, y.astype(object)][rng.integers(5)]


def kernel(rng):
    return (
        Linear() if rng.random() < 0.3 else Polynomial(int(rng.integers(1, 4)), gamma=float(rng.choice([0.5, 1.0])), coef0=1.0)
    )


def fitted(model):
    return lambda X, y: model.fit(X, y).certificate_


def ways(rng):
    """Return the ways to a claim about labelled examples, each with parameters drawn anew."""
    intercept = str(rng.choice(["clamped", "free", "none"]))
    either = "clamped" if intercept == "free" else intercept
    C = float(rng.choice([0.01, 1.0, 100.0, np.inf]))
    tol, steps = float(rng.choice([1e-2, 1e-6, 1e-12])), int(rng.choice([1, 10, 200]))
    seed = int(rng.integers(1000))
    return {
        "separability": lambda X, y: hs.separability(X, y, intercept),
        "margin_bracket": lambda X, y: hs.margin_bracket(X, y, intercept=intercept, tol=max(tol, 1e-6), max_time=0.05),
        "Perceptron": fitted(hs.Perceptron(intercept=either, max_iter=steps, random_state=seed)),
        "AveragedPerceptron": fitted(hs.AveragedPerceptron(intercept=either, max_iter=steps, random_state=seed)),
        "PocketPerceptron": fitted(hs.PocketPerceptron(intercept=either, max_iter=steps, random_state=seed)),
        "PassiveAggressive": fitted(hs.PassiveAggressive(intercept=either, max_iter=steps, random_state=seed)),
        "HebbClassifier": fitted(hs.HebbClassifier(intercept=either)),
        "MinOver": fitted(hs.MinOver(intercept=intercept, tol=tol, max_iter=steps)),
        "AdaTron": fitted(hs.AdaTron(C=C, intercept=intercept, tol=tol, max_iter=steps)),
        "AdaTron, hard": fitted(hs.AdaTron(C=np.inf, intercept=intercept, tol=tol, max_iter=10 * steps)),
        "KernelPerceptron": fitted(hs.KernelPerceptron(kernel(rng), intercept=either, max_iter=steps, random_state=seed)),
        "KernelMinOver": fitted(hs.KernelMinOver(kernel(rng), intercept=intercept, tol=tol, max_iter=steps)),
        "KernelAdaTron": fitted(hs.KernelAdaTron(kernel(rng), C=C, intercept=intercept, tol=tol, max_iter=steps)),
        "LVQ": fitted(hs.LVQ(n_prototypes=1, init="mean", max_iter=steps, random_state=seed)),
        "neighbours": lambda X, y: NeighbourErrors.measure(X, y, k=int(rng.integers(1, len(y)))),
    }


def changed(rng, proof):
    """Return a copy with a number changed, or a number of the certificate inside, or None if it has none to change."""
    names = [f.name for f in fields(proof) if type(getattr(proof, f.name)) in (int, float)]
    inner = [f.name for f in fields(proof) if is_dataclass(getattr(proof, f.name)) and f.name != "kernel"]
    if inner and rng.random() < 0.5:
        return replace(proof, **{inner[0]: changed(rng, getattr(proof, inner[0]))})
    if not names:
        return proof
    name = str(rng.choice(names))
    value = getattr(proof, name)
    if isinstance(value, int):
        return replace(proof, **{name: max(0, value + int(rng.choice([-1, 1])))})
    step = float(rng.choice([-1, 1])) * 10.0 ** float(rng.choice([-16, -14, -12, -9, -6, -3, 0]))
    return replace(proof, **{name: value * (1.0 + step)})


def moved(rng, X):
    """Return other data: an entry changed, or the same row in another place."""
    other = np.array(X, dtype=np.float64)
    i, j = rng.integers(other.shape[0]), rng.integers(other.shape[1])
    other[i, j] = other[i, j] * (1.0 + float(rng.choice([1e-15, 1e-9, 1e-3, -2.0]))) if rng.random() < 0.7 else other[0, j]
    return other


def examine(oracle, rng):
    """Draw a case; return what is wrong with it, each with what led there."""
    X, way = table(rng), ways(rng)
    name = str(rng.choice(list(way)))
    y = labels(rng, X.shape[0])
    given, wrong = stored(rng, X), []
    try:
        proof = way[name](given, y)
    except ValueError:  # examples too long or too short for the method: it says so
        return []
    verdict = proof.verify(given, y)
    if not verdict:
        wrong.append(f"{name}: its own proof is {verdict}")
    trials = [
        ("the proof", proof, X),
        *(("a changed proof", changed(rng, proof), X) for _ in range(3)),
        ("other data", proof, moved(rng, X)),
    ]
    for what, claim, data in trials:
        if claim.verify(stored(rng, data), y):
            wrong += [f"{name}: {what} verifies, but {text}" for text in oracle(claim, data, y)]
    return [f"{text}\n    X = {X.tolist()} ({X.dtype}), y = {y.tolist()}\n    {proof}" for text in wrong]


def test_what_verifies_is_true_and_every_fit_proves_itself(oracle, cases):
    """No verified claim is false, and no fit's own proof is refuted, on small and nasty data."""
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for seed, number in cases:
            found = examine(oracle, np.random.default_rng([seed, number]))
            wrong += [f"case {number} of seed {seed}, {text}" for text in found]
    assert not wrong, "\n".join(wrong[:20])


def pytest_generate_tests(metafunc):
    """Cut the cases into blocks, a test each."""
    if "cases" in metafunc.fixturenames:
        count, seed = metafunc.config.getoption("--cases"), metafunc.config.getoption("--seed")
        blocks = [[(seed, k) for k in range(first, min(first + BLOCK, count))] for first in range(0, count, BLOCK)]
        metafunc.parametrize("cases", blocks, ids=[f"{block[0][1]}-{block[-1][1]}" for block in blocks])


DIAMOND, ALTERNATING = np.array([[2.0], [-2.0], [3.0]]), np.array([1, 0, 1])
TRUE = {
    "bracket": lambda: MarginBracket.measure(DIAMOND, ALTERNATING, weights=np.ones(1), strengths=np.ones(3), positive=1),
    "gap": lambda: DualityGap.measure(
        DIAMOND, ALTERNATING, weights=np.array([0.5]), strengths=np.array([0.125, 0.125, 0.0]), C=1.0, positive=1
    ),
    "hard gap": lambda: DualityGap.measure(
        DIAMOND, ALTERNATING, weights=np.array([0.5]), strengths=np.array([0.125, 0.125, 0.0]), C=np.inf, positive=1
    ),
}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("bracket", {"lower": 2.0 + 1e-9, "upper": 3.0}),
        ("bracket", {"upper": 2.0 - 1e-9}),
        ("bracket", {"radius": 3.1}),
        ("gap", {"primal": 0.125 - 1e-12}),
        ("gap", {"dual": 0.125 + 1e-12}),
        ("hard gap", {"primal": 0.125 - 1e-12}),
        ("hard gap", {"dual": 0.125 + 1e-12}),
    ],
)
def test_the_oracle_tells_true_from_false(oracle, name, change):
    """Two points at ±2 have a best margin of 2 and an optimum of 1/8: less and more is found false."""
    proof = TRUE[name]()
    assert not oracle(proof, DIAMOND, ALTERNATING)
    assert oracle(replace(proof, **change), DIAMOND, ALTERNATING)
