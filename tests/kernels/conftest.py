"""The kernels and rows that every law is tested on."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.mixture import GaussianMixture

from halfspace.kernels import (
    RBF,
    BSpline,
    ConditionalExpectation,
    Constant,
    Cosine,
    FromFunction,
    Laplacian,
    Lift,
    Linear,
    Polynomial,
    Sigmoid,
)

RNG = np.random.default_rng(7)
ROWS = RNG.normal(size=(23, 4))
OTHERS = RNG.normal(size=(17, 4)) + 0.5
ROWS[3], OTHERS[5], OTHERS[6] = 0.0, 0.0, ROWS[2]  # a row of zeros in each, and one in both
MIXTURE = GaussianMixture(3, random_state=0).fit(RNG.normal(size=(60, 4)))


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def shares(X):
    """Probabilities of three classes."""
    scores = np.exp(dense(X)[:, :3])
    return scores / scores.sum(axis=1, keepdims=True)


def overlap(a, b):
    return float(np.minimum(a, b).sum())


FINITE = {
    "linear": Linear(),
    "constant": Constant(2.5),
    "polynomial": Polynomial(3, gamma=0.5, coef0=1.5),
    "homogeneous": Polynomial(2, gamma=0.7),
    "cosine": Cosine(),
    "sum": Linear() + 2.0 * Polynomial(2) + 1,
    "product": (Linear() + 1) * Cosine(),
    "power": (Linear() + 0.5) ** 3,
    "normalized": Polynomial(2, coef0=1.0).normalized(),
    "centered": Polynomial(2, coef0=0.5).centered().resolved(OTHERS),
    "columns": Linear().on([0, 2]) + Polynomial(2).on([1]),
    "mapped": Linear().after(Lift().fit(ROWS)),
    "conditional": ConditionalExpectation(shares).resolved(ROWS),
}
INFINITE = {
    "rbf": RBF(0.3),
    "laplacian": Laplacian(0.8),
    "hat": BSpline(order=0, scale=1.5),
    "spline": BSpline(order=2, scale=0.7),
    "mixed": (RBF(0.5) + 0.5 * Polynomial(3, coef0=1.0)) * Laplacian(0.2),
    "centered rbf": RBF(0.2).centered().resolved(ROWS),
    "normalized sum": (RBF(0.5) + Linear()).normalized(),
}
NO_PROOF = {
    "sigmoid": Sigmoid(0.2, 0.1),
    "function": FromFunction(overlap),
    "negative": Polynomial(2, coef0=-1.0),
}
DENSE_ONLY = {"mixture": ConditionalExpectation(MIXTURE)}
CASES = {
    "finite": {**FINITE, **DENSE_ONLY},
    "proved": {**FINITE, **INFINITE, **DENSE_ONLY},
    "kernel": {**FINITE, **INFINITE, **NO_PROOF},
}


def pytest_generate_tests(metafunc):
    for name, cases in CASES.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, cases.values(), ids=cases.keys())


@pytest.fixture
def A():
    return ROWS.copy()


@pytest.fixture
def B():
    return OTHERS.copy()
