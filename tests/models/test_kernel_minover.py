"""MinOver in a kernel's space: its bracket, MinOver's pushes on the feature map, memory, warm starts."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.callback import ScoringMonitor
from sklearn.svm import SVC

import halfspace as hs
from halfspace.certificates import KernelBracket, PerClass, from_json
from halfspace.data import spirals, two_clouds, xor
from halfspace.errors import InputError, NotSeparatedWarning
from halfspace.kernels import RBF, Polynomial
from halfspace.kernels.gram import LazyGram
from halfspace.rows.views import Gram, sqlength
from halfspace.solvers.kernel import minover as kernel_minover
from halfspace.solvers.rules.minover import Problem, push_plain, start

quiet = pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")
Model = hs.KernelMinOver


def half_turn(n=60):
    toy = spirals(n, turns=0.75)
    return toy.X, toy.y


def three_clouds(n=45):
    y = np.arange(n) % 3
    X = np.random.default_rng(0).standard_normal((n, 2)) + 6.0 * np.array([[0, 1], [1, -1], [-1, -1]])[y]
    return X, np.array(["a", "b", "c"])[y]


def exact_margin(K, y):
    """Return the best margin without bias from scikit-learn's support vector machine with a large cap on K, bias cancelled.

    Every example and its negative with the opposite label: the best bias is 0 by symmetry.
    """
    twice = np.block([[K, -K], [-K, K]])
    machine = SVC(kernel="precomputed", C=1e9, tol=1e-9).fit(twice, np.r_[y, -y])
    c = np.zeros(2 * len(y))
    c[machine.support_] = machine.dual_coef_[0]
    return 1.0 / np.sqrt(c @ twice @ c)


@pytest.mark.parametrize("options", [{"intercept": "none"}, {}, {"intercept_scaling": 3.0}], ids=str)
def test_the_bracket_contains_the_exact_margin_within_tol(options):
    """Both sides meet within tol around the margin of a quadratic programme, and the certificate verifies."""
    X, y = half_turn(30)
    model = Model(RBF(4.0), tol=0.03, **options).fit(X, y)
    clamp = 0.0 if "intercept" in options else options.get("intercept_scaling", 1.0)
    proof, kappa = model.certificate_, exact_margin(RBF(4.0).exact(X) + clamp**2, y)
    assert isinstance(proof, KernelBracket)
    assert model.outcome_.converged
    assert proof.lower - 1e-6 <= kappa <= proof.upper + 1e-6
    assert (proof.upper - proof.lower) / proof.upper <= 0.03 + 1e-6
    assert from_json(proof.to_json()).verify(X, y)
    assert not proof.verify(X, -y)


@pytest.mark.parametrize("clamp", [0.0, 2.0])
def test_the_pushes_are_those_of_minover_on_the_feature_map(clamp):
    """On whole numbers, where sums are exact, kernel and feature map push the same examples and know the same bracket."""
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (30, 2)).astype(float)
    y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 > 6.5, 1, -1)
    features = (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)
    bias = {"intercept": "clamped", "intercept_scaling": clamp} if clamp else {"intercept": "none"}
    if not clamp:
        features, kernel = np.c_[features, np.full(len(X), 2.0)], Polynomial(2, 1.0) + 4.0
    else:
        kernel = Polynomial(2, 1.0)
    primal = hs.MinOver(tol=0.05, **bias).fit(features, y)
    model = Model(kernel, tol=0.05, **bias).fit(X, y)
    assert model.outcome_.converged
    assert_array_equal(model.alpha_, primal.alpha_)
    assert model.n_iter_ == primal.n_iter_
    assert model.certificate_.lower == pytest.approx(primal.certificate_.lower, rel=1e-6)
    assert model.certificate_.upper == pytest.approx(primal.certificate_.upper, rel=1e-6)


def test_every_push_keeps_outputs_and_length():
    """After every push the outputs are those of the strengths, and the bracket is a theorem, with all rows there or some."""
    X, y = half_turn(20)
    K, signs = RBF(4.0).exact(X), y.astype(float)
    best = exact_margin(K, y)
    for view, push in (
        (Gram(K), push_plain),
        (kernel_minover.GramRows(K[::-1].copy(), np.arange(20)[::-1].copy()), kernel_minover.push_present),
    ):
        problem = Problem(view, signs, K.diagonal().copy())
        state = start(problem)
        for _ in range(200):
            push(problem, state, np.empty(1, dtype=np.int64), 1e-9)
            c = state.alpha * signs
            assert_allclose(state.w, K @ c, rtol=1e-9, atol=1e-9)
            assert sqlength(Gram(K), state.w, state.alpha, signs) == pytest.approx(c @ K @ c, rel=1e-9)
            assert state.sides[0] <= best + 1e-6
            assert state.sides[1] >= best - 1e-6
        assert state.alpha.sum() == 200


def test_a_changed_model_no_longer_verifies():
    """The certificate has no coefficients of its own: it shares those that predict."""
    X, y = three_clouds()
    model = Model(RBF(0.05), tol=0.1).fit(X, y)
    assert all(np.shares_memory(part.coefficients, model._expansion.coefficients) for part in model.certificate_.parts)
    model._expansion.coefficients[:] *= -1.0
    assert not model.certificate_.verify(X, y)


def test_history_is_a_nested_bracket():
    """Over the pushes the lower side never falls, the upper never rises, and both end at the certificate's."""
    X, y = half_turn()
    model = Model(RBF(4.0), tol=0.03).fit(X, y)
    course = model.history_
    assert (np.diff(course["lower"]) >= 0).all()
    assert (np.diff(course["upper"]) <= 0).all()
    assert course["push"][-1] == model.n_iter_
    assert_allclose([course["lower"][-1], course["upper"][-1]], [model.certificate_.lower, model.certificate_.upper], rtol=1e-6)


def test_rows_that_do_not_fit_are_computed_when_needed(monkeypatch):
    """With room for a few rows the pushes are the same, and no more than those rows are ever held."""
    X, y = half_turn()
    asked, block = [], LazyGram.block
    reference = Model(RBF(4.0), tol=0.05).fit(X, y)
    monkeypatch.setattr(LazyGram, "block", lambda *args, **kw: asked.append(args[1].size) or block(*args, **kw))
    model = Model(RBF(4.0), tol=0.05, cache_size=0.01).fit(X, y)
    assert_array_equal(model.alpha_, reference.alpha_)
    assert "when needed" in model.outcome_.sentence
    assert max(asked) <= kernel_minover.TOGETHER


def test_storage_does_not_matter():
    """Dense, CSR, float32 and precomputed examples of the same numbers give the same pushes."""
    X, y = half_turn(40)
    X = X.astype(np.float32).astype(float)
    reference = Model(RBF(4.0), tol=0.1).fit(X, y)
    for other in (sparse.csr_array(X), np.asfortranarray(X), X.astype(np.float32)):
        model = Model(RBF(4.0), tol=0.1).fit(other, y)
        assert_array_equal(model.alpha_, reference.alpha_)
        assert model.certificate_.verify(other, y)
    K = RBF(4.0).exact(X)
    given = Model("precomputed", tol=0.1).fit(K, y)
    assert_array_equal(given.alpha_, reference.alpha_)
    assert_allclose(given.decision_function(K), reference.decision_function(X), rtol=1e-9)
    assert given.certificate_.verify(K, y)


def test_symmetries():
    """Flipped labels flip the function; permuted rows, where no potentials tie but at the start, reach the same margin."""
    X, y = half_turn(40)
    X = X + 0.01 * np.random.default_rng(0).standard_normal(X.shape)  # no two potentials tie
    model = Model(RBF(4.0), tol=0.1).fit(X, y)
    assert_allclose(Model(RBF(4.0), tol=0.1).fit(X, -y).decision_function(X), -model.decision_function(X), rtol=1e-9)
    order = np.r_[0, 1 + np.random.default_rng(1).permutation(39)]
    assert_array_equal(Model(RBF(4.0), tol=0.1).fit(X[order], y[order]).alpha_, model.alpha_[order])


def test_a_warm_start_goes_on_where_it_stopped():
    """Three fits of 40 pushes with a warm start are one of 120; other data start afresh."""
    X, y = half_turn()
    whole = Model(RBF(4.0), max_iter=120, tol=1e-6).fit(X, y)
    parts = Model(RBF(4.0), max_iter=40, tol=1e-6, warm_start=True).fit(X, y).fit(X, y).fit(X, y)
    assert_array_equal(parts.alpha_, whole.alpha_)
    assert parts.certificate_.upper == pytest.approx(whole.certificate_.upper, rel=1e-9)
    assert parts.history_["push"][-1] == 120
    afresh = parts.fit(X[::-1], y[::-1])
    assert_array_equal(afresh.alpha_, Model(RBF(4.0), max_iter=40, tol=1e-6).fit(X[::-1], y[::-1]).alpha_)
    wider = parts.set_params(kernel=RBF(2.0)).fit(X[::-1], y[::-1])
    assert_array_equal(wider.alpha_, Model(RBF(2.0), max_iter=40, tol=1e-6).fit(X[::-1], y[::-1]).alpha_)


def test_more_than_two_classes_are_separate_brackets():
    """One-vs-rest fits have one bracket per class, each that of the two-class problem, and predict by the largest output."""
    X, y = three_clouds()
    model = Model(RBF(0.05), tol=0.1).fit(X, y)
    assert isinstance(model.certificate_, PerClass)
    assert model.certificate_.verify(X, y)
    assert model.alpha_.shape == (3, 45)
    assert model.score(X, y) == 1.0
    for k, label in enumerate("abc"):
        assert_array_equal(Model(RBF(0.05), tol=0.1).fit(X, y == label).alpha_, model.alpha_[k])
    assert set(model.support_table()["class"]) == {"a", "b", "c"}


def test_what_a_kernel_does_not_separate_is_not_called_separated():
    """XOR with a linear kernel: the bracket is true, the outcome says what to try."""
    X, y, *_ = xor()
    with pytest.warns(NotSeparatedWarning, match="narrower"):
        model = Model("linear", max_iter=200).fit(X, y)
    assert not model.outcome_.converged
    assert model.certificate_.lower <= 0
    assert model.certificate_.verify(X, y)


def test_a_spent_budget_on_separable_data_keeps_its_bracket():
    """Stopped early, the model separates and says how far the bracket is, without a warning."""
    X, y = half_turn()
    model = Model(RBF(20.0), tol=1e-6, max_iter=300).fit(X, y)
    assert model.outcome_.reason == "iteration budget spent"
    assert "max_iter=300" in str(model.outcome_)
    assert model.n_iter_ == 300
    assert model.certificate_.separable
    assert model.score(X, y) == 1.0


@quiet
@pytest.mark.compiled
@pytest.mark.parametrize("cache_size", [512.0, 1.0])
def test_max_time_holds(cache_size):
    """A budget of time is kept to within a few pieces of work, and reported."""
    X, y, *_ = two_clouds(3000, 5, distance=0.5)
    Model(max_iter=2).fit(X, y)
    model = Model(max_iter=10**9, max_time=0.5, cache_size=cache_size)
    begin = time.perf_counter()
    model.fit(X, y)
    assert model.outcome_.reason == "time budget spent"
    assert time.perf_counter() - begin < 5.0
    assert model.certificate_.verify(X, y)


@quiet
def test_progress_and_callbacks(capsys):
    """verbose tells pushes and width on standard error; scikit-learn's callbacks see the model grow."""
    X, y = half_turn(20)
    Model(RBF(4.0), tol=0.1, verbose=2).fit(X, y)
    told = capsys.readouterr().err
    assert "pushes" in told
    assert "Converged" in told
    monitor = ScoringMonitor(scoring="accuracy")
    Model(RBF(4.0), tol=1e-6, max_iter=60).set_callbacks(monitor).fit(X, y)
    assert monitor.get_logs()


@pytest.mark.parametrize(
    ("name", "value"),
    [("tol", 0.0), ("tol", 1.0), ("kernel", "gauss"), ("intercept", "free"), ("cache_size", -1), ("max_iter", 0)],
)
def test_bad_parameters_are_refused(name, value):
    """A parameter out of range is named with what was expected, and nothing is changed."""
    X, y = half_turn(20)
    model = Model(RBF(4.0), tol=0.2).fit(X, y)
    before = model.certificate_
    with pytest.raises(InputError, match=f"{name}.*KernelMinOver"):
        model.set_params(**{name: value}).fit(X, y)
    assert model.certificate_ is before
