"""Exact leave-one-out errors: the bound holds, the count is that of n fits, and the certificate says so by itself."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale
from sklearn.svm import SVC, LinearSVC

import halfspace as hs
from halfspace.certificates import DualityGap, KernelGap, LeaveOneOut
from halfspace.errors import InputError
from halfspace.kernels import RBF, Precomputed

questions = import_module("halfspace.questions.leave_one_out")

TWO = np.array([0, 1])


def cloud(n, d, seed, apart=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    y[:2] = TWO
    return rng.standard_normal((n, d)) + apart * (2 * y[:, None] - 1) / np.sqrt(d), y


def left_out(model, X, y):
    """Return the potential of every example after learning from all others, n fits."""
    found = np.empty(y.size)
    for i in range(y.size):
        rest = np.arange(y.size) != i
        found[i] = (2 * y[i] - 1) * model.fit(X[rest], y[rest]).decision_function(X[[i]])[0]
    return found


@pytest.mark.parametrize("C", [0.01, 1.0, np.inf])
def test_the_count_is_that_of_n_fits(C):
    """Learning n times without one example each errs as often, with errors tolerated or not."""
    X, y = cloud(60, 3, 1, apart=1.0 if np.isfinite(C) else 6.0)
    proof = hs.leave_one_out(hs.AdaTron(C=C), X, y)
    truth = left_out(hs.AdaTron(C=C, tol=1e-8), X, y)
    assert (proof.errors, proof.undecided) == ((truth <= 0).sum(), 0)
    assert proof.verify(X, y)
    assert set(np.flatnonzero(truth <= 0)) <= set(proof.suspects.tolist())


def test_it_agrees_with_brute_force_by_liblinear():
    """On real data the errors are those of LinearSVC with the hinge loss, fitted once for every example that is left out."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = scale(X)[::4], y[::4]
    proof = hs.leave_one_out(hs.AdaTron(C=0.01), X, y)
    truth = left_out(LinearSVC(C=0.01, loss="hinge", tol=1e-5, max_iter=100_000), X, y)
    assert (proof.errors, proof.undecided) == ((truth <= 0).sum(), 0)


def test_kernels_have_it_too():
    """In a kernel's space the errors are those of LIBSVM on K + 1 with n fits."""
    X, y = cloud(50, 2, 2)
    y = (np.sum(X**2, axis=1) > 2.0).astype(int)
    proof = hs.leave_one_out(hs.KernelAdaTron(RBF(0.5), C=1.0), X, y)
    K = RBF(0.5).exact(X, X) + 1.0
    wrong = 0
    for i in range(y.size):
        rest = np.arange(y.size) != i
        model = hs.KernelAdaTron("precomputed", C=1.0, intercept="none", tol=1e-8).fit(K[np.ix_(rest, rest)], y[rest])
        wrong += (2 * y[i] - 1) * model.decision_function(K[[i]][:, rest])[0] <= 0
    assert (proof.errors, proof.undecided) == (wrong, 0)
    assert proof.verify(X, y)
    given = hs.leave_one_out(hs.KernelAdaTron("precomputed", C=1.0, intercept="none"), K, y)
    assert (given.errors, given.undecided) == (wrong, 0)
    assert given.verify(K, y)


def test_the_bound_is_never_above_the_truth():
    """Whatever the gap, from 1e-6 to 100, no example that the bound clears is wrong when left out."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = cloud(25, 2, seed)
        C = 10.0 ** rng.uniform(-2, 1)
        truth = left_out(hs.AdaTron(C=C, tol=1e-9), X, y)
        best = hs.AdaTron(C=C, tol=1e-9).fit(X, y).alpha_
        for noise in (0.0, 1e-5, 1e-3, 0.1, 1.0):
            alpha = np.clip(best + noise * C * rng.uniform(-1, 1, 25) * (rng.random(25) < 0.5), 0.0, C)
            V = np.append(X.T @ (alpha * (2 * y - 1)), np.sum(alpha * (2 * y - 1)))
            gap = DualityGap.measure(X, y, weights=V, strengths=alpha, C=C, clamp=1.0, positive=1)
            cleared = np.setdiff1d(np.arange(25), LeaveOneOut.draft(X, y, gap).suspects)
            assert (truth[cleared] > 0).all()


def test_sparse_rows_and_weighted_classes():
    """Sparse rows give the count of dense ones, and weights of classes are kept in every refit."""
    X, y = cloud(60, 5, 3)
    X[np.abs(X) < 0.5] = 0.0
    model = hs.AdaTron(C=0.5, class_weight={0: 1.0, 1: 3.0})
    dense, thin = hs.leave_one_out(model, X, y), hs.leave_one_out(model, sparse.csr_array(X), y)
    truth = left_out(hs.AdaTron(C=0.5, class_weight={0: 1.0, 1: 3.0}, tol=1e-8), X, y)
    assert dense.errors == thin.errors == (truth <= 0).sum()
    assert thin.verify(X, y)


def test_a_row_of_zeros_is_the_negative_class():
    """Without a bias a row of zeros has output 0 whatever is learnt: wrong if its label is the positive one."""
    X, y = np.array([[1.0], [2.0], [-1.0], [-2.0], [0.0], [0.0]]), np.array([1, 1, 0, 0, 0, 1])
    proof = hs.leave_one_out(hs.AdaTron(intercept="none"), X, y)
    assert (proof.errors, proof.undecided) == (1, 0)
    assert proof.verify(X, y)


def test_no_time_leaves_examples_undecided():
    """A time limit is kept, and what was not reached is counted as undecided, which the certificate confirms."""
    X, y = cloud(200, 5, 4, apart=0.2)
    proof = hs.leave_one_out(hs.AdaTron(C=1.0), X, y, max_time=1e-6)
    assert proof.undecided > 0
    assert proof.verify(X, y)
    assert "undecided" in str(proof)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (hs.AdaTron(intercept="free"), "with intercept='free'. Use intercept='clamped'"),
        (hs.AdaTron(class_weight="balanced"), "with class_weight='balanced'. Give the weights as a table"),
        (hs.KernelAdaTron(n_cells=2), "with n_cells. Use n_cells=None"),
        (hs.Perceptron(), "Perceptron"),
        (SVC(), "SVC"),
        (hs.AdaTron(C=np.inf), "finite C"),
    ],
)
def test_what_the_theorem_is_not_about_is_refused(model, says):
    """A free bias, weights that depend on the data, cells, other models and inseparable data without errors are refused."""
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])
    with pytest.raises(InputError, match=says):
        hs.leave_one_out(model, X, y)
    with pytest.raises(InputError, match="max_time"):
        hs.leave_one_out(hs.AdaTron(), X, y, max_time=0)
    with pytest.raises(InputError, match="two classes"):
        hs.leave_one_out(hs.AdaTron(), X, np.array([0, 1, 2, 0]))


def test_it_can_be_written_and_read():
    """The JSON form is read back and verifies, for planes and kernels."""
    X, y = cloud(30, 2, 5)
    for model, kind in ((hs.AdaTron(C=1.0), DualityGap), (hs.KernelAdaTron(RBF(1.0)), KernelGap)):
        proof = hs.certificates.from_json(hs.leave_one_out(model, X, y).to_json())
        assert isinstance(proof.gap, kind)
        assert proof.verify(X, y)


def test_the_clock_is_asked_before_each_refit(monkeypatch):
    """At the end of the time nothing more is learnt: what was not reached is undecided."""
    module, X, y = import_module("halfspace.questions.leave_one_out"), *cloud(30, 2, 4, apart=0.2)
    every = hs.leave_one_out(hs.AdaTron(), X, y)
    q = every.suspects.size
    assert q > 3
    for ticks, reached in (([0.0, 5.0], 0), ([0.0, 4.0, 5.0], 1), ([0.0, *[4.9] * q], q)):
        clock = iter(ticks)
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda clock=clock: next(clock)))
        learnt = []
        monkeypatch.setattr(module, "_without", lambda i, *_, learnt=learnt: learnt.append(i) or module._taken(np.zeros(30), i))
        hs.leave_one_out(hs.AdaTron(), X, y, max_time=5.0)
        assert learnt == every.suspects[:reached].tolist()


@pytest.mark.parametrize("clamp", [0.0, 3.0])
def test_a_kernel_matrix_is_asked_for_as_large_as_it_is(clamp, monkeypatch):
    """Eight bytes for each pair of examples, the square of the clamped input in each entry, labels and lengths beside it."""
    asked, X = [], np.array([[1.0, 2.0], [0.0, -1.0], [2.0, 0.5]])
    monkeypatch.setattr(questions, "admit", lambda _who, needed, *_: asked.append(needed))
    data = SimpleNamespace(view=X, q=np.ones(3), X=X, y=np.arange(3), clamp=clamp, target=np.array([0, 1, 1]))
    task = questions._task(data, np.ones(3), RBF(0.5))
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)) + clamp**2
    assert asked == [72.0]
    np.testing.assert_allclose(task.X.K, K, rtol=1e-12)
    assert task.q == pytest.approx(np.full(3, 1.0 + clamp**2), rel=1e-12)
    data.X = K - clamp**2
    np.testing.assert_allclose(questions._task(data, np.ones(3), Precomputed()).X.K, K, rtol=1e-12)


def test_nothing_is_printed_and_no_earlier_fit_counts(capsys):
    """A model that talks, and one that would go on, are asked as if they were new."""
    X, y = cloud(20, 2, 0)
    plain = hs.leave_one_out(hs.AdaTron(C=1.0), X, y)
    model = hs.AdaTron(C=1.0, verbose=2, warm_start=True).fit(X, 1 - y)
    capsys.readouterr()
    again = hs.leave_one_out(model, X, y)
    assert capsys.readouterr().out == ""
    assert (again.errors, again.suspects.tolist()) == (plain.errors, plain.suspects.tolist())
