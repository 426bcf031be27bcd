"""MinOver as an estimator: the bracket it returns, its symmetries, budgets and warm starts."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from sklearn.callback import ProgressBar, ScoringMonitor

from halfspace.certificates import MarginBracket, PerClass, from_json
from halfspace.data import teacher_student, two_clouds, xor
from halfspace.errors import InputError, NotSeparatedWarning
from halfspace.models.planes.minover import MinOver

quiet = pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")


def clouds(seed=0, n=40, d=3):
    toy = two_clouds(n, d, distance=8.0, random_state=seed)
    return toy.X, toy.y


def three_classes(n=45, seed=0):
    y = np.arange(n) % 3
    X = np.random.default_rng(seed).standard_normal((n, 3)) + 9.0 * np.eye(3)[y]
    return X, np.array(["a", "b", "c"])[y]


def exact_margin(X, y, clamp):
    """Return the best margin with the clamped input, from a quadratic programme: min ‖w‖² with y w·x >= 1."""
    A = y[:, None] * (np.column_stack([X, np.full(len(y), clamp)]) if clamp else X)
    feasible = {"type": "ineq", "fun": lambda w: A @ w - 1.0, "jac": lambda _: A}
    first = np.linalg.lstsq(A, np.ones(len(y)), rcond=None)[0]
    found = minimize(lambda w: w @ w, 5 * first, jac=lambda w: 2 * w, constraints=[feasible], options={"ftol": 1e-15})
    assert found.success
    return 1.0 / np.sqrt(found.fun)


@pytest.mark.parametrize("options", [{"intercept": "none"}, {}, {"intercept_scaling": 3.0}], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_bracket_contains_the_exact_margin_within_tol(options, seed):
    """Both sides meet within tol around the margin of a quadratic programme, and the certificate verifies."""
    X, y = clouds(seed, 16)
    model = MinOver(tol=0.02, **options).fit(X, y)
    clamp = 0.0 if "intercept" in options else options.get("intercept_scaling", 1.0)
    proof, kappa = model.certificate_, exact_margin(X, y, clamp)
    assert model.outcome_.converged
    assert proof.lower - 1e-6 <= kappa <= proof.upper + 1e-6
    assert (proof.upper - proof.lower) / proof.upper <= 0.02 + 1e-9
    assert proof.verify(X, y)
    assert from_json(proof.to_json()).verify(X, y)


def test_history_is_a_nested_bracket():
    """Over the pushes the lower side never falls, the upper never rises, and both end at the certificate's."""
    X, y = clouds(1)
    model = MinOver(tol=0.005).fit(X, y)
    course = model.history_
    assert (np.diff(course["lower"]) >= 0).all()
    assert (np.diff(course["upper"]) <= 0).all()
    assert (np.diff(course["seconds"]) >= 0).all()
    assert course["push"][-1] == model.n_iter_
    assert_allclose([course["lower"][-1], course["upper"][-1]], [model.certificate_.lower, model.certificate_.upper], rtol=1e-9)


def test_the_weights_are_held_by_the_strengths():
    """The plane is Σ alpha_i y_i x_i, with whole numbers of pushes, and has the certified margin."""
    X, y = clouds(2)
    model = MinOver().fit(X, y)
    held = (model.alpha_ * y) @ np.column_stack([X, np.ones(len(y))])
    assert_allclose(np.append(model.coef_[0], model.intercept_), held, rtol=1e-9, atol=1e-9)
    assert_array_equal(model.alpha_, np.round(model.alpha_))
    kappa = (y * model.decision_function(X)).min() / np.linalg.norm(held)
    assert kappa == pytest.approx(model.certificate_.lower, rel=1e-9)


@pytest.mark.parametrize("d", [3, 20], ids=["nearby", "columns"])
def test_storage_does_not_matter(d):
    """Dense, CSR and float32 rows of the same numbers give the same pushes."""
    X, y = clouds(3, d=d)
    X = X.astype(np.float32).astype(float)
    X[np.abs(X) < 0.25] = 0.0
    reference = MinOver(tol=0.05).fit(X, y)
    for other in (sparse.csr_array(X), sparse.csc_matrix(X), np.asfortranarray(X), X.astype(np.float32)):
        model = MinOver(tol=0.05).fit(other, y)
        assert_array_equal(model.alpha_, reference.alpha_)
        assert model.certificate_.verify(other, y)


def test_symmetries():
    """Flipped labels flip the plane; permuted rows, where no potentials tie but at the start, reach the same margin."""
    X, y = clouds(4)
    model = MinOver(tol=0.02).fit(X, y)
    assert_allclose(MinOver(tol=0.02).fit(X, -y).decision_function(X), -model.decision_function(X), rtol=1e-9)
    rest = 1 + np.random.default_rng(0).permutation(len(y) - 1)
    order = np.r_[0, rest]  # the first push is a tie of all rows: it goes to row 0
    moved = MinOver(tol=0.02).fit(X[order], y[order])
    assert_array_equal(moved.alpha_, model.alpha_[order])
    assert moved.certificate_.lower == pytest.approx(model.certificate_.lower, rel=1e-9)


def test_scaling_the_inputs_scales_the_margin():
    """Multiplying all inputs, the clamped one too, makes the same pushes and multiplies the bracket."""
    X, y = clouds(5)
    one, eight = MinOver().fit(X, y), MinOver(intercept_scaling=8.0).fit(8 * X, y)
    assert_array_equal(one.alpha_, eight.alpha_)
    assert eight.certificate_.upper == pytest.approx(8 * one.certificate_.upper)


@pytest.mark.parametrize("d", [3, 20], ids=["nearby", "columns"])
def test_a_warm_start_goes_on_where_it_stopped(d):
    """Three fits of 40 pushes with a warm start are one of 120: the same strengths, weights and bracket."""
    X, y = clouds(6, d=d)
    whole = MinOver(max_iter=120, tol=1e-9).fit(X, y)
    parts = MinOver(max_iter=40, tol=1e-9, warm_start=True).fit(X, y).fit(X, y).fit(X, y)
    assert_array_equal(parts.alpha_, whole.alpha_)
    assert_allclose(parts.coef_, whole.coef_, rtol=1e-12)
    assert parts.certificate_.upper == pytest.approx(whole.certificate_.upper, rel=1e-12)
    assert parts.n_iter_ == 40
    assert parts.history_["push"][-1] == 120


def test_a_warm_start_on_other_data_starts_afresh():
    """On other data, labels or inputs the answer is that of a cold start: no bracket is inherited."""
    X, y = clouds(7)
    warm = MinOver(warm_start=True).fit(X, y)
    for data, labels in ((X[::-1] + 0.5, y[::-1]), (X[10:30, :2], y[10:30]), (X, y)):
        warm.fit(data, labels)
        assert_array_equal(warm.alpha_, MinOver().fit(data, labels).alpha_)
        assert warm.certificate_.verify(data, labels)
    assert warm.fit(X, y).n_iter_ == 0


def test_more_than_two_classes_are_separate_brackets():
    """One-vs-rest fits have one bracket per class, each that of the two-class problem, and predict by the largest output."""
    X, y = three_classes()
    model = MinOver(tol=0.05).fit(X, y)
    assert isinstance(model.certificate_, PerClass)
    assert model.certificate_.verify(X, y)
    assert model.coef_.shape == (3, 3)
    assert model.alpha_.shape == (3, 45)
    assert model.history_["lower"].shape == (model.history_["seconds"].size, 3)
    assert model.score(X, y) == 1.0
    for k, label in enumerate("abc"):
        alone = MinOver(tol=0.05).fit(X, y == label)
        assert_array_equal(alone.alpha_, model.alpha_[k])


def test_xor_is_proved_inseparable():
    """On XOR the weights return, which is an exact proof: the upper side is 0 and verifies."""
    X, y, *_ = xor()
    with pytest.warns(NotSeparatedWarning, match="No plane separates"):
        model = MinOver().fit(X, y)
    assert model.outcome_.reason == "proved inseparable"
    assert model.certificate_.separable is False
    assert model.certificate_.verify(X, y)


def test_overlapping_classes_are_not_called_separated():
    """Where no plane exists and none is excluded, the outcome says so with remedies, and the bracket is true."""
    X, y, *_ = two_clouds(40, 2, distance=1.0, random_state=0)
    with pytest.warns(NotSeparatedWarning, match="neither separated nor proved"):
        model = MinOver(max_iter=300).fit(X, y)
    assert not model.outcome_.converged
    assert "separability" in model.outcome_.remedy
    assert "AdaTron" in model.outcome_.remedy
    assert model.certificate_.lower <= 0 < model.certificate_.upper
    assert model.certificate_.verify(X, y)


def test_a_spent_budget_on_separable_data_keeps_its_bracket():
    """Stopped early, the model separates, says how far the bracket is, and names the faster way, without a warning."""
    X, y = clouds(8)
    model = MinOver(tol=1e-6, max_iter=100).fit(X, y)
    assert model.outcome_.reason == "iteration budget spent"
    assert "max_iter=100" in str(model.outcome_)
    assert "AdaTron" in model.outcome_.remedy
    assert model.n_iter_ == 100
    assert model.certificate_.separable is True
    assert model.score(X, y) == 1.0


@quiet
@pytest.mark.compiled
@pytest.mark.parametrize("n_classes", [2, 5])
def test_max_time_holds(n_classes):
    """A budget of time is kept to within a few pieces of work, and reported."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20_000, 30)), rng.integers(0, n_classes, 20_000)
    MinOver(max_iter=1).fit(X, y)
    begin = time.perf_counter()
    model = MinOver(max_iter=10**9, max_time=0.3).fit(X, y)
    assert model.outcome_.reason == "time budget spent"
    assert model.history_["seconds"][-1] < 0.8
    assert time.perf_counter() - begin < 3.0


@quiet
def test_progress_and_callbacks(capsys):
    """verbose tells pushes and width on standard error; scikit-learn's callbacks see the model grow."""
    X, y = clouds(9)
    MinOver().fit(X, y)
    assert capsys.readouterr().err == ""
    MinOver(verbose=2).fit(X, y)
    told = capsys.readouterr().err
    assert "[MinOver]" in told
    assert "pushes" in told
    assert "Converged" in told
    monitor = ScoringMonitor(scoring="accuracy")
    MinOver(tol=1e-6, max_iter=60).set_callbacks(monitor, ProgressBar()).fit(X, y)
    assert monitor.get_logs()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tol", 0.0),
        ("tol", 1.0),
        ("tol", "small"),
        ("intercept", "free"),
        ("intercept_scaling", -1.0),
        ("max_iter", 0),
        ("max_iter", 2.5),
        ("max_time", -1.0),
        ("warm_start", 1),
        ("verbose", -1),
    ],
)
def test_bad_parameters_are_refused(name, value):
    """A parameter out of range is named with what was expected, and nothing is changed."""
    X, y = clouds(0)
    model = MinOver().fit(X, y)
    before = model.certificate_
    with pytest.raises(InputError, match=f"{name}.*MinOver"):
        model.set_params(**{name: value}).fit(X, y)
    assert model.certificate_ is before


def test_there_is_no_stream():
    """MinOver needs all examples at once and offers no partial_fit; zero rows and a teacher's data are no trouble."""
    assert not hasattr(MinOver(), "partial_fit")
    toy = teacher_student(20, 3, margin=0.2, random_state=1)
    model = MinOver(intercept="none").fit(toy.X, toy.y)
    assert isinstance(model.certificate_, MarginBracket)
    assert model.certificate_.lower >= 0.99 * toy.margin


@pytest.mark.parametrize("solver", ["auto", "plain"])
def test_steps_are_a_fit_push_by_push(solver):
    """`steps` yields after every push, the model predicts at each, and at the end it is as fit would have left it."""
    toy = two_clouds(40, 3, distance=9.0, random_state=0)
    whole = MinOver(tol=0.05, solver=solver).fit(toy.X, toy.y)
    stepped, rounds = MinOver(tol=0.05, solver=solver), 0
    for at in stepped.steps(toy.X, toy.y):
        rounds += 1
        assert at.state.states[0].counts[0] == rounds
        assert stepped.predict(toy.X).shape == (40,)
    assert rounds == whole.n_iter_ == stepped.n_iter_
    np.testing.assert_array_equal(stepped.coef_, whole.coef_)
    np.testing.assert_array_equal(stepped.alpha_, whole.alpha_)
    assert stepped.outcome_ == whole.outcome_
    assert stepped.certificate_.verify(toy.X, toy.y)
