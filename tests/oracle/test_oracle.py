"""Verified claims against the truth: what a checker confirms is true in rational arithmetic, and no fit's own proof is refuted.

Each case draws small, nasty data and one way to a claim, and asks the checker about the fit's own proof, about copies of it
with a number changed, and about the proof on other data. Whatever it confirms, the oracle (conftest.py) must find true.

    python -m pytest tests/oracle --cases 20000 --seed 1
"""

import warnings
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import halfspace as hs
from halfspace.certificates import (
    DualityGap,
    KernelBracket,
    KernelGap,
    MarginBracket,
    NeighbourErrors,
    NeighbourMeans,
    TargetMean,
)
from halfspace.certificates.expansion import indefiniteness
from halfspace.kernels import Linear, Polynomial, Precomputed

NUMBERS = {"LinearRegression", "means of neighbours", "mean"}
"""Claims about targets that are numbers."""
CLAIMED = {
    "lower",
    "upper",
    "primal",
    "dual",
    "margin",
    "radius",
    "loss",
    "objective",
    "gap",
    "backward_error",
    "sigma2",
    "error",
}
RIDGES = 0.0, 1e-9, 1.0, 1e9
BLOCK = 25
"""Cases of one test."""
LARGEST = 1e150
TIGHT = 0.3
"""Share of the cases in which one number is moved as far as the checker lets it."""


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


def measured(rng, intercept, kind=None):
    """Return a way to a claim about weights and strengths that no fit would stop at: any sign, any balance, any length."""
    kind, C = int(rng.integers(4)) if kind is None else kind, float(rng.choice([0.1, 1.0, np.inf]))
    clamp, over = float(intercept == "clamped"), kernel(rng)

    def claim(X, y):
        n, d = X.shape
        label = np.unique(np.asarray(y))[1:].tolist()[0]
        bias = float(rng.normal()) if intercept == "free" else None
        about = {"positive": label, "clamp": clamp, "bias": bias}
        if rng.random() < 0.5:  # weights and strengths near the best
            model = hs.AdaTron(C=C, intercept=intercept, tol=1e-9, max_iter=100).fit(X, y)
            bias = float(model.intercept_[0]) if intercept == "free" else None
            w = np.append(model.coef_[0], model.intercept_[0]) if clamp else model.coef_[0]
            alpha = model.alpha_.ravel() * (1.0 + rng.choice([0.0, 1e-9, 0.1]) * rng.uniform(-1.0, 0.0, size=n))
        else:
            w, alpha = rng.normal(size=d + int(clamp)), rng.uniform(size=n) * min(C, 1.0) * (rng.random(n) < 0.7)
        w = np.asarray(w, dtype=np.float64)
        if kind == 0:
            return MarginBracket.measure(X, y, weights=w, strengths=alpha, **about)
        if kind == 1:
            return DualityGap.measure(X, y, weights=w, strengths=np.minimum(alpha, C), C=C, **about)
        if kind == 2:
            return KernelBracket.measure(X, y, kernel=over, strengths=alpha + (not alpha.any()), **about)
        return KernelGap.measure(X, y, kernel=over, strengths=np.minimum(alpha, C), C=C, **about)

    return claim


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
        "measured": measured(rng, intercept),
        "Adaline": fitted(hs.Adaline(intercept=either)),
        "LinearRegression": fitted(hs.LinearRegression(ridge=float(rng.choice(RIDGES)), intercept=intercept)),
        "LVQ": fitted(hs.LVQ(n_prototypes=1, init="mean", max_iter=steps, random_state=seed)),
        "neighbours": lambda X, y: NeighbourErrors.measure(X, y, k=int(rng.integers(1, len(y)))),
        "means of neighbours": lambda X, y: NeighbourMeans.measure(X, y, k=int(rng.integers(1, len(y)))),
        "mean": TargetMean.measure,
    }


def targets(rng, X):
    """Draw real targets: a plane of the examples with or without noise, or anything."""
    t = X @ rng.normal(size=X.shape[1]) if rng.random() < 0.7 else rng.normal(size=X.shape[0]) * 10.0 ** rng.uniform(-6, 6)
    return np.asarray(t + rng.choice([0.0, 1e-9, 1.0]) * rng.normal(size=X.shape[0]), dtype=np.float64)


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


def tightest(rng, proof, X, y, names=()):
    """Return the proof with one number moved as far as the checker lets it, found by halving."""
    names = names or [f.name for f in fields(proof) if type(getattr(proof, f.name)) is float and f.name in CLAIMED]
    if not names:
        return proof
    name, way = str(rng.choice(names)), float(rng.choice([-1.0, 1.0]))
    way = {"lower": 1.0, "dual": 1.0, "upper": -1.0, "primal": -1.0}.get(name, way)
    value = getattr(proof, name)
    near, far = 0.0, way * (abs(value) if np.isfinite(value) and value else 1.0)
    for _ in range(50):
        middle = 0.5 * (near + far)
        near, far = (middle, far) if replace(proof, **{name: value + middle}).verify(X, y) else (near, middle)
    return replace(proof, **{name: value + near})


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
    y = targets(rng, X) if name in NUMBERS else labels(rng, X.shape[0])
    given, wrong = stored(rng, X), []
    try:
        proof = way[name](given, y)
    except ValueError:  # examples too long or too short for the method: it says so
        return []
    verdict = proof.verify(given, y)
    if not verdict and name != "measured":
        wrong.append(f"{name}: its own proof is {verdict}")
    trials = [
        ("the proof", proof, X),
        *(("a changed proof", changed(rng, proof), X) for _ in range(3)),
        ("other data", proof, moved(rng, X)),
    ]
    if rng.random() < TIGHT:
        trials.append(("the tightest proof accepted", tightest(rng, proof, given, y), X))
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


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", range(4), ids=["bracket", "gap", "kernel bracket", "kernel gap"])
@pytest.mark.parametrize("field", ["lower or primal", "upper or dual"])
def test_the_tightest_claim_that_a_checker_accepts_is_true(oracle, kind, field):
    """Of rows far from the origin, whose sums round: a side moved as far as the checker lets it is still on the true side."""
    rng = np.random.default_rng([kind, len(field)])
    for _ in range(10):
        X, y = rng.normal(size=(5, 3)) + 100.0, np.array([0, 1, 0, 1, 1])
        proof = measured(rng, "clamped" if rng.random() < 0.5 else "none", kind)(X, y)
        name = next(part for part in field.split(" or ") if hasattr(proof, part))
        claim = tightest(rng, proof, X, y, [name])
        assert claim.verify(X, y)
        assert not oracle(claim, X, y)


def test_what_an_indefinite_matrix_lacks_is_paid_for(margin_of):
    """A matrix indefinite by asymmetry is taken for one with more on its diagonal: definite, and within what is accepted."""
    K, y = np.array([[1.0, 1.0 + 2.0**-23], [1.0, 1.0]]), np.array([1, 0])
    shift, objection = indefiniteness(Precomputed(), K)
    assert objection is None
    definite = np.diag([Fraction(shift)] * 2) + np.vectorize(Fraction)(0.5 * (K + K.T))
    assert definite[0, 0] * definite[1, 1] >= definite[0, 1] ** 2
    proof = KernelBracket.measure(K, y, kernel=Precomputed(), strengths=np.ones(2), positive=1)
    assert proof.verify(K, y)
    claim = tightest(np.random.default_rng(0), proof, K, y, ["upper"])
    squared = margin_of([[fmpq(v.numerator, v.denominator) for v in row] for row in definite], [1, -1])
    assert fmpq(*claim.upper.as_integer_ratio()) ** 2 >= squared > 0
