"""Kernels as values: parameters, equality, printing, files, scikit-learn."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import SVC

from halfspace.errors import InputError
from halfspace.kernels import (
    RBF,
    BSpline,
    ConditionalExpectation,
    Cosine,
    FromFunction,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    as_kernel,
    from_dict,
)

PRINTED = {
    "x·x'": Linear(),
    "exp(-0.5‖x - x'‖²)": RBF(0.5),
    "exp(-‖x - x'‖²)": RBF(1.0),
    "exp(-γ(scale)‖x - x'‖²)": RBF(),
    "exp(-2‖x - x'‖)": Laplacian(2),
    "(0.5 x·x' + 1)^3": Polynomial(3, 0.5, 1.0),
    "(x·x' - 1)^2": Polynomial(2, coef0=-1.0),
    "(x·x')^2": Polynomial(2),
    "tanh(2 x·x' + 0.5)": Sigmoid(2.0, 0.5),
    "x·x'/(‖x‖‖x'‖)": Cosine(),
    "Π_j B_5((x_j - x'_j)/2)": BSpline(2, scale=2.0),
    "Σ_c p(c|x) p(c|x')/P(c)": ConditionalExpectation(),
    "K(x, x')": Precomputed(),
    "dot(x, x')": FromFunction(np.dot),
    "exp(-0.5‖x - x'‖²) + 0.5 (x·x' + 1)^3": RBF(0.5) + 0.5 * Polynomial(3, coef0=1),
    "2 (x·x' + 1) · exp(-‖x - x'‖²)": 2 * ((Linear() + 1) * RBF(1.0)),
    "(x·x' + exp(-‖x - x'‖²))^2": (Linear() + RBF(1.0)) ** 2,
    "normalized(x·x' + 1)": (Linear() + 1).normalized(),
    "centered(x·x')": Linear().centered(),
    "(x·x' + 1) on columns 0, 2": (Linear() + 1).on([0, 2]),
    "x·x' after absolute": Linear().after(np.abs),
}


@pytest.mark.parametrize("formula", PRINTED)
def test_printing_gives_the_formula(formula):
    """str(kernel) is the formula a textbook would print."""
    assert str(PRINTED[formula]) == formula


def test_kernels_compare_and_hash_by_value(A):
    """Equal parameters make equal kernels, whatever they are made of."""
    assert RBF(0.5) == RBF(0.5) == RBF(np.float64(0.5))
    assert hash(RBF(0.5) + Linear()) == hash(RBF(0.5) + Linear())
    assert RBF(0.5) != RBF(0.25)
    assert RBF(0.5) != Laplacian(0.5)
    assert RBF(0.5) != 0.5
    assert Linear() + RBF(1.0) != RBF(1.0) + Linear()
    centred = Linear().centered()
    assert centred.resolved(A) == centred.resolved(A.copy())
    assert hash(centred.resolved(A)) == hash(centred.resolved(A.copy()))
    assert centred.resolved(A) != centred.resolved(A + 1)
    assert centred.resolved(sparse.csr_array(A)) == centred.resolved(sparse.csr_array(A))
    assert len({RBF(1), RBF(1.0), Linear(), Linear()}) == 2


def test_kernels_cannot_change(A):
    """Assignments are refused, and what is learnt is a copy that cannot be written to."""
    kernel = RBF(0.5)
    with pytest.raises(AttributeError):
        kernel.gamma = 1.0
    X = A.copy()
    centred = Linear().centered().resolved(X)
    before = centred.exact(A)
    X[:] = 0.0
    assert np.array_equal(centred.exact(A), before)
    with pytest.raises(ValueError, match="read-only"):
        centred.reference[0, 0] = 1.0


def test_parameters_by_name():
    """get_params lists parts too; with_params makes new values; unknown names are refused with the known ones."""
    kernel = RBF(0.5) + 2 * Polynomial(3)
    params = kernel.get_params()
    assert params["left__gamma"] == 0.5
    assert params["right__kernel__degree"] == 3
    assert set(kernel.get_params(deep=False)) == {"left", "right"}
    changed = kernel.with_params(left__gamma=1.0, right__kernel__degree=2, right__factor=3.0)
    assert changed == RBF(1.0) + 3.0 * Polynomial(2)
    assert kernel == RBF(0.5) + 2 * Polynomial(3)
    assert kernel.with_params(left=Laplacian(0.5), left__gamma=2.0) == Laplacian(2.0) + 2 * Polynomial(3)
    assert RBF(0.5).with_params() == RBF(0.5)
    with pytest.raises(InputError, match="no parameter 'width'; it has: gamma"):
        RBF(0.5).with_params(width=1.0)
    with pytest.raises(InputError, match="no parameter 'gamma__deep'"):
        RBF(0.5).with_params(gamma__deep=1.0)
    with pytest.raises(InputError, match="gamma must be"):
        kernel.with_params(left__gamma=-1.0)


def test_set_params_points_to_with_params():
    """scikit-learn's setter leaves an immutable value alone and says what to use."""
    kernel = RBF(0.5)
    assert kernel.set_params() is kernel
    with pytest.raises(TypeError, match=r"with_params\(gamma=...\)"):
        kernel.set_params(gamma=1.0)


def test_scikit_learn_clones_kernels(kernel):
    """clone gives an equal kernel, as does the class called with its own parameters; repr names the class."""
    assert clone(kernel) == kernel
    assert type(kernel)(**kernel.get_params(deep=False)) == kernel
    assert repr(kernel).startswith(type(kernel).__name__)


def test_svc_takes_our_kernels(A):
    """A kernel value is a kernel function for scikit-learn, and cloned with its estimator."""
    y = (A[:, 0] * A[:, 1] > 0).astype(int)
    ours = clone(SVC(kernel=RBF(0.7))).fit(A, y)
    theirs = SVC(kernel="rbf", gamma=0.7).fit(A, y)
    assert np.allclose(ours.decision_function(A), theirs.decision_function(A), atol=1e-2)
    assert np.array_equal(ours.support_, theirs.support_)
    assert ours.get_params()["kernel__gamma"] == 0.7


def test_files_keep_every_bit(kernel, A, B):
    """to_dict, JSON, from_dict: an equal kernel with bit-equal values; functions are refused."""
    if any(callable(value) for name, value in kernel.get_params().items() if not hasattr(value, "exact")):
        with pytest.raises(InputError, match="cannot be written to a file"):
            kernel.to_dict()
        return
    if "transform" in kernel.get_params():
        with pytest.raises(InputError, match="cannot be written to a file"):
            kernel.to_dict()
        return
    again = from_dict(json.loads(json.dumps(kernel.to_dict())))
    assert again == kernel
    assert type(again) is type(kernel)
    assert np.array_equal(again.exact(A, B), kernel.exact(A, B))


def test_files_of_learnt_kernels(A):
    """Irrational parameters, float32 and sparse reference rows survive too."""
    for kernel in (
        RBF(1.0 / 3.0),
        RBF(np.float32(0.1)),
        RBF("median").resolved(A),
        RBF("median"),
        Linear().centered().resolved(A.astype(np.float32)),
        Linear().centered().resolved(sparse.csr_array(A)),
        ConditionalExpectation(priors=(0.3, 0.7)),
    ):
        again = from_dict(json.loads(json.dumps(kernel.to_dict())))
        assert again == kernel
        assert again.to_dict() == kernel.to_dict()


@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        {"kind": "Nothing"},
        {"kind": 3},
        {"kind": "Kernel"},
        {"kind": "Composite"},
        {"kind": "RBF", "gamma": -1.0},
        {"kind": "RBF", "width": 1.0},
        {"kind": "Sum", "left": {"kind": "Linear"}},
        {"kind": "Sum", "left": {"kind": "Linear"}, "right": 3},
        {"kind": "Sum", "left": {"kind": "Linear"}, "right": {"kind": "Sum"}},
        {"kind": "FromFunction", "f": "print"},
        {"kind": "Centered", "kernel": {"kind": "Linear"}, "reference": {"array": [1.0], "dtype": "<f8", "shape": [3, 3]}},
        {"kind": "Centered", "kernel": {"kind": "Linear"}, "reference": {"array": [1.0], "dtype": "O!", "shape": [1, 1]}},
        {"kind": "Centered", "kernel": {"kind": "Linear"}, "reference": {"csr": {}, "shape": [1, 1]}},
    ],
)
def test_damaged_files_are_refused(body):
    """Whatever else stands in a file raises InputError and nothing else."""
    with pytest.raises(InputError):
        from_dict(body)


def test_kernels_by_name():
    """Estimators' parameters describe kernels; kernels and functions pass; the rest is refused with what there is."""
    assert as_kernel("rbf") == RBF("scale")
    assert as_kernel("linear", gamma=3.0) == Linear()
    assert as_kernel("poly", gamma=2.0, degree=2, coef0=1.0) == Polynomial(2, 2.0, 1.0)
    assert as_kernel("laplacian", gamma="median") == Laplacian("median")
    assert as_kernel("cosine") == Cosine()
    assert as_kernel("sigmoid", gamma=0.5, coef0=1.0) == Sigmoid(0.5, 1.0)
    assert as_kernel("precomputed") == Precomputed()
    kernel = RBF(0.5) + 1
    assert as_kernel(kernel, gamma=7.0) is kernel
    assert as_kernel(np.dot) == FromFunction(np.dot)
    with pytest.raises(InputError, match="'rbf', 'linear'"):
        as_kernel("gaussian")
