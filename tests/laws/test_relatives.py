"""What is special about each relative of the perceptron."""

import numpy as np
import pytest
from scipy import sparse

import halfspace as hs
from halfspace.data import teacher_student, two_clouds
from halfspace.solvers.regression.conjugate import ConjugateGradients
from halfspace.solvers.regression.least_squares import least_squares
from halfspace.solvers.run import Budget, run

quiet = pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")


def all_vectors(X, y, epochs):
    """Return the weights after every presentation of the plain rule, clamped input last."""
    A, w, seen = np.column_stack([X, np.ones(len(X))]), np.zeros(X.shape[1] + 1), []
    for _ in range(epochs):
        for x, label in zip(A, y, strict=True):
            w = w + label * x if label * (w @ x) <= 0 else w
            seen.append(w)
    return np.array(seen)


def test_the_average_is_the_mean_of_all_weights():
    """coef_ is the mean of the weights after each presentation, and Σ alpha_i y_i x_i with the mean strengths."""
    X, y, *_ = two_clouds(30, 2, distance=2.0, random_state=0)
    model = hs.AveragedPerceptron(max_iter=4, shuffle=False).fit(X, y)
    expected = all_vectors(X, y, 4).mean(axis=0)
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), expected, rtol=1e-12, atol=1e-12)
    held = (model.alpha_ * y) @ np.column_stack([X, np.ones(30)])
    np.testing.assert_allclose(held, expected, rtol=1e-9, atol=1e-9)


def test_the_vote_is_a_vote_of_all_weights():
    """The decision is the mean sign of all weight vectors, each as often as it was in force; sgn(0) = -1."""
    X, y, *_ = two_clouds(30, 2, distance=2.0, random_state=0)
    model = hs.VotedPerceptron(max_iter=4, shuffle=False).fit(X, y)
    signs = np.where(np.column_stack([X, np.ones(30)]) @ all_vectors(X, y, 4).T > 0, 1.0, -1.0)
    np.testing.assert_allclose(model.decision_function(X), signs.mean(axis=1), rtol=1e-12)
    assert model.votes_[0].sum() == 4 * 30
    assert len(model.votes_[0]) == model.mistakes_
    np.testing.assert_allclose(model.fit(sparse.csr_array(X), y).decision_function(X), signs.mean(axis=1), rtol=1e-12)


def test_the_ratchet_never_lets_errors_rise():
    """With the ratchet more epochs never mean more errors, and the pocket is as good as it says."""
    X, y, *_ = two_clouds(60, 2, distance=1.0, random_state=3)
    errors = []
    for epochs in (1, 3, 10, 30):
        model = hs.PocketPerceptron(max_iter=epochs, random_state=0).fit(X, y)
        assert model.errors_ == (model.predict(X) != y).sum()
        errors.append(model.errors_)
    assert errors == sorted(errors, reverse=True)
    assert "NP-hard" in model.outcome_.remedy


@quiet
def test_the_pocket_is_better_than_the_last_weights():
    """On overlapping clouds the pocket errs less than the weights the plain rule happens to end with."""
    X, y, *_ = two_clouds(100, 2, distance=1.5, random_state=0)
    last = [(hs.Perceptron(max_iter=20, random_state=seed).fit(X, y).predict(X) != y).sum() for seed in range(3)]
    pocket = [hs.PocketPerceptron(max_iter=20, random_state=seed).fit(X, y).errors_ for seed in range(3)]
    assert max(pocket) < min(last)


def test_hebb_is_the_difference_of_class_sums_and_weight_is_repetition():
    """w = Σ s_i y_i x_i, so a weight of 3 is three copies."""
    rng = np.random.default_rng(0)
    X, y, s = rng.standard_normal((20, 3)), np.arange(20) % 2, rng.integers(0, 4, 20)
    weighted = hs.HebbClassifier().fit(X, y, sample_weight=s)
    repeated = hs.HebbClassifier().fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-12)
    np.testing.assert_allclose(weighted.coef_[0], (s * (2 * y - 1)) @ X, rtol=1e-12)


@pytest.mark.parametrize(("n", "d"), [(50, 4), (5, 20)])
def test_adaline_is_least_squares_and_the_smallest_such(n, d):
    """Over-determined: the least-squares plane; under-determined: no error, and the smallest norm; both from numpy's lstsq."""
    rng = np.random.default_rng(n)
    X, y = rng.standard_normal((n, d)), np.arange(n) % 2
    model = hs.Adaline().fit(X, y)
    A = np.column_stack([X, np.ones(n)])
    expected = np.linalg.lstsq(A, 2.0 * y - 1, rcond=None)[0]
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose((model.alpha_ * (2 * y - 1)) @ A, expected, rtol=1e-8, atol=1e-8)
    assert model.certificate_.backward_error < 1e-12
    assert model.outcome_.converged


@pytest.mark.parametrize(("n", "d", "half_life"), [(40, 3, 20.0), (6, 15, np.inf)])
def test_both_routes_of_the_adaline_agree(n, d, half_life):
    """The delta rule tends to the exact plane: with a falling rate where over-determined, at once where under-determined."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((n, d)) / np.sqrt(d), np.arange(n) % 2
    exact = hs.Adaline().fit(X, y)
    online = hs.Adaline(solver="online", eta0=0.2, half_life=half_life, tol=1e-6, max_iter=1500, random_state=0).fit(X, y)
    np.testing.assert_allclose(online.coef_, exact.coef_, atol=2e-3)


@pytest.mark.parametrize("shape", [(300, 20), (20, 300)])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_all_routes_of_least_squares_agree(shape, storage, monkeypatch):
    """Decomposition, square system and iteration give the same weights and strengths that reproduce them."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal(shape)
    X[:, 1] = X[:, 0]
    Y, s = rng.standard_normal((shape[0], 2)), rng.random(shape[0]) + 0.5
    reference = least_squares(storage(X), Y, s, 1.0, 1e-12, Budget(1000)).W
    A = np.column_stack([X, np.ones(shape[0])])
    for limits in ({"SMALL": 0, "FEW": 0}, {"SQUARE": 0}):
        for name, value in limits.items():
            monkeypatch.setattr(f"halfspace.solvers.regression.least_squares.{name}", value)
        W, a, end = least_squares(storage(X), Y, s, 1.0, 1e-12, Budget(1000))
        assert (end is not None) == (sparse.issparse(storage(X)) or "SQUARE" in limits)
        np.testing.assert_allclose(W, reference, atol=1e-6)
        np.testing.assert_allclose(a @ A, W, atol=1e-6)


def test_an_adaline_on_sparse_rows_never_stores_them_densely(monkeypatch):
    """Sparse rows that are not few are multiplied as they are, to the backward error asked for, and so is their proof made."""
    X = sparse.random(2000, 8000, 0.005, format="csr", random_state=0)
    y = np.arange(2000) % 2

    def refuse(*_):
        raise AssertionError("a dense copy")

    for kind in (sparse.csr_matrix, sparse.csr_array):
        monkeypatch.setattr(kind, "toarray", refuse)
    model = hs.Adaline().fit(X, y)
    assert model.outcome_.converged
    assert model.n_iter_ > 1
    assert model.certificate_.backward_error <= 1e-4
    np.testing.assert_allclose((model.alpha_ * (2 * y - 1)) @ X, model.coef_[0], atol=1e-9)


def test_an_adaline_short_of_time_iterates_instead_of_factorising():
    """A dense problem whose factorisation would take longer than max_time ends early with a true backward error."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((900, 1000)), np.arange(900) % 2
    model = hs.Adaline(max_time=1e-3, tol=1e-13).fit(X, y)
    assert model.outcome_.reason == "time budget spent"
    assert "max_time" in model.outcome_.remedy
    assert model.certificate_.verify(X, y)


def test_conjugate_gradients_end_where_rounding_does():
    """A tolerance beyond rounding, a zero target and columns of very different lengths end the steps, not the run's limit."""
    rng = np.random.default_rng(1)
    A = rng.standard_normal((60, 8)) * np.logspace(0, -6, 8)
    Y = np.column_stack([rng.standard_normal(60), np.zeros(60)])
    end = run(ConjugateGradients(A, Y, 1e-30), Budget(10**6))
    assert end.outcome.reason in {"rounding limit reached", "converged"}
    assert not end.state.W[:, 1].any()
    loss = [np.linalg.norm(A @ W - Y[:, 0]) for W in (end.state.W[:, 0], np.linalg.lstsq(A, Y[:, 0], rcond=None)[0])]
    assert loss[0] <= loss[1] * (1 + 1e-6)


def test_passive_aggressive_does_the_least_that_makes_the_example_right():
    """After a PA step E = 1 exactly, and no shorter step would do; PA-I never moves by more than C."""
    X, y = np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([1, 0])
    model = hs.PassiveAggressive(variant="PA", intercept="none").partial_fit(X[:1], y[:1], classes=[0, 1])
    np.testing.assert_allclose(model.coef_[0], X[0] / 25.0)
    capped = hs.PassiveAggressive(C=0.01, intercept="none").partial_fit(X[:1], y[:1], classes=[0, 1])
    np.testing.assert_allclose(capped.coef_[0], 0.01 * X[0])
    soft = hs.PassiveAggressive(C=0.5, variant="PA-II", intercept="none").partial_fit(X[:1], y[:1], classes=[0, 1])
    np.testing.assert_allclose(soft.coef_[0], X[0] / 26.0)


@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
def test_passive_aggressive_mistakes_stay_below_their_bound(variant):
    """Mistakes number at most what Crammer et al. prove, with the teacher's margin and with the certified one."""
    toy = teacher_student(200, 5, margin=0.1, random_state=5)
    model = hs.PassiveAggressive(variant=variant, C=0.7, intercept="none", max_iter=50, random_state=0).fit(toy.X, toy.y)
    factor = {"PA": 1.0, "PA-I": max(1.0, 1 / 0.7), "PA-II": 1.0 + 0.5 / 0.7}[variant]
    assert model.mistakes_ <= factor / toy.margin**2
    assert model.mistakes_ <= model.certificate_.bound
    assert model.certificate_.verify(toy.X, toy.y)


def test_native_multiclass_moves_truth_up_and_winner_down():
    """Each mistake adds the example to the true class and takes it from the winner, so the planes sum to zero."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 80)
    X = rng.standard_normal((80, 5)) + 4 * np.eye(4, 5)[y]
    model = hs.Perceptron(multi_class="native", random_state=0).fit(X, y)
    assert model.outcome_.converged
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-9)
    signs = np.where(y == np.arange(4)[:, None], 1.0, -1.0)
    np.testing.assert_allclose((model.alpha_ * signs) @ X, model.coef_, atol=1e-9)
    proof = model.certificate_
    assert 0 < proof.bracket.lower <= proof.bracket.upper
    assert model.mistakes_ <= proof.bound
