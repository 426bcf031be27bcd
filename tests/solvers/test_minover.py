"""MinOver's laws: the bracket at every push, and accelerators that push the same rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize

from halfspace.data import teacher_student, two_clouds, xor
from halfspace.rows.operations import squared_norms
from halfspace.rows.views import Gram, view_of
from halfspace.solvers import run as driver
from halfspace.solvers.linear.minover import Pushing
from halfspace.solvers.linear.minover_accelerated import (
    Columns,
    Nearby,
    accelerate,
    push_columns,
    push_nearby,
    start_columns,
    start_nearby,
)
from halfspace.solvers.rules.minover import RETURNED, TIGHT, Problem, push_plain, start, width
from halfspace.solvers.run import Budget

ENDLESS = 10**15


def problem_of(X, y, clamp=0.0):
    view = view_of(X, clamp)
    return Problem(view, np.asarray(y, dtype=float), squared_norms(view))


def plain(problem, pushes, tol=0.0):
    state, pushed = start(problem), np.empty(pushes, dtype=np.int64)
    done, status = push_plain(problem, state, pushed, tol)
    return state, pushed[:done], status


def fast(problem, pushes, memory, tol=0.0, budget=ENDLESS):
    """Push with an accelerator, in pieces of `budget` rows."""
    state, pushed, done, status = start(problem), np.empty(pushes, dtype=np.int64), 0, 0
    memory = memory(problem, state)
    push = push_columns if isinstance(memory, Columns) else push_nearby
    while done < pushes and status == 0:
        more, status = push(problem, state, memory, pushed[done:], tol, budget)
        done += more
    return state, pushed[:done], status


NEARBY = lambda problem, _: start_nearby(problem)  # noqa: E731  (a table of memories reads best as values)
ROOMY = lambda problem, state: start_columns(problem, state, 1e6)  # noqa: E731
NARROW = lambda problem, state: start_columns(problem, state, 3 * 8 * problem.y.size)  # noqa: E731
accelerators = pytest.mark.parametrize("memory", [NEARBY, ROOMY, NARROW], ids=["nearby", "columns", "three columns"])


def exact_margin(X, y):
    """Return the best margin through the origin: the length of the shortest point in the hull of the signed rows."""
    Q = (y[:, None] * X) @ (y[:, None] * X).T
    n = len(y)
    simplex = [{"type": "eq", "fun": lambda a: a.sum() - 1.0, "jac": np.ones_like}]
    options = {"maxiter": 500, "ftol": 1e-15}
    found = minimize(
        lambda a: a @ Q @ a,
        np.full(n, 1 / n),
        jac=lambda a: 2 * Q @ a,
        bounds=[(0, 1)] * n,
        constraints=simplex,
        options=options,
    )
    return np.sqrt(found.fun)


def test_the_bracket_holds_and_is_nested_at_every_push():
    """After each push lower <= kappa* <= upper, the lower side never falls and the upper never rises."""
    toy = teacher_student(25, 4, margin=0.15, random_state=0)
    kappa, problem = exact_margin(toy.X, toy.y), problem_of(toy.X, toy.y)
    state, one, last = start(problem), np.empty(1, dtype=np.int64), (-np.inf, np.inf)
    for _ in range(300):
        push_plain(problem, state, one, 0.0)
        assert state.sides[0] - 1e-7 <= kappa <= state.sides[1] + 1e-7
        assert state.sides[0] >= last[0]
        assert state.sides[1] <= last[1]
        last = tuple(state.sides)
    assert width(state) < 0.1


def test_both_sides_have_their_witnesses():
    """The kept weights have the lower side's stability and are Σ alpha y x; the kept strengths have the upper side's mean."""
    toy = teacher_student(30, 4, margin=0.1, random_state=1)
    state, *_ = plain(problem_of(toy.X, toy.y), 137)
    signed = toy.y[:, None] * toy.X
    assert_allclose(state.lower_alpha @ signed, state.lower_w, rtol=1e-9, atol=1e-9)
    assert_allclose((signed @ state.lower_w).min() / np.linalg.norm(state.lower_w), state.sides[0], rtol=1e-9)
    shares = state.upper_alpha / state.upper_alpha.sum()
    assert_allclose(np.linalg.norm(shares @ signed), state.sides[1], rtol=1e-9)


def test_it_pushes_the_lowest_potential_and_the_lowest_row_of_a_tie():
    """Every pushed row has the lowest potential of the weights before, and is the first such row."""
    rng = np.random.default_rng(2)
    X = rng.integers(-3, 4, (20, 3)).astype(float)
    X[:10, 0] += 8.0
    X[10:, 0] -= 8.0
    X[7], y, w = X[3], np.repeat([1.0, -1.0], 10), np.zeros(3)
    _, pushed, _ = plain(problem_of(X, y), 60)
    for mu in pushed:
        assert mu == np.argmin(y * (X @ w))
        w += y[mu] * X[mu]


@accelerators
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("data", ["teacher", "clouds", "overlapping", "duplicates"])
def test_accelerated_pushes_are_the_plain_ones(memory, storage, data):
    """The accelerators push the same rows in the same order as the plain rule, cut into pieces or not, with equal brackets."""
    X, y, *_ = {
        "teacher": lambda: teacher_student(60, 6, margin=0.05, random_state=3),
        "clouds": lambda: two_clouds(80, 3, distance=8.0, random_state=4),
        "overlapping": lambda: two_clouds(50, 3, distance=1.0, random_state=5),
        "duplicates": lambda: two_clouds(40, 2, distance=9.0, random_state=6),
    }[data]()
    if data == "duplicates":
        X, y = np.round(np.vstack([X, X])), np.r_[y, y]
    problem = problem_of(storage(X), y, clamp=1.0)
    reference, rows, _ = plain(problem, 150)
    for budget in (ENDLESS, 100):
        state, pushed, _ = fast(problem, 150, memory, budget=budget)
        assert_array_equal(pushed, rows)
        assert_allclose(state.sides, reference.sides, rtol=1e-9)
        assert_array_equal(state.lower_alpha, reference.lower_alpha)
        assert_array_equal(state.upper_alpha, reference.upper_alpha)


@pytest.mark.compiled
@accelerators
@pytest.mark.parametrize(("n", "d", "distance"), [(3000, 2, 9.0), (1000, 30, 9.0)])
def test_accelerated_pushes_are_the_plain_ones_for_thousands(memory, n, d, distance):
    """Over thousands of pushes, past the point where kept potentials are computed anew, the rows are still the same."""
    toy = two_clouds(n, d, distance=distance, random_state=0)
    problem = problem_of(toy.X, toy.y, clamp=1.0)
    assert_array_equal(fast(problem, 6000, memory)[1], plain(problem, 6000)[1])


def test_candidates_spare_most_of_the_reading():
    """In the long run, a small part of the rows is looked at per push."""
    toy = two_clouds(300, 2, distance=10.0, random_state=1)
    problem = problem_of(toy.X, toy.y, clamp=1.0)
    state, memory, pushed = start(problem), start_nearby(problem), np.empty(400, dtype=np.int64)
    push_nearby(problem, state, memory, pushed, 0.0, ENDLESS)
    done, _ = push_nearby(problem, state, memory, pushed, 0.0, 30 * 300)
    assert done > 2 * 30


def test_the_shape_chooses_the_accelerator():
    """Short rows, and rows too many for columns, are looked at nearby; long rows get columns."""
    long, short = problem_of(np.ones((10, 40)), np.ones(10)), problem_of(np.ones((10, 3)), np.ones(10))
    assert isinstance(accelerate(long, start(long), 1e6), Columns)
    assert isinstance(accelerate(long, start(long), 100.0), Nearby)
    assert isinstance(accelerate(short, start(short), 1e6), Nearby)


def test_rows_and_kernel_rows_give_the_same_pushes():
    """On the matrix of inner products the pushes and strengths are those on the rows."""
    toy = teacher_student(30, 5, margin=0.1, random_state=7)
    kernel = Gram(toy.X @ toy.X.T)
    rows = plain(problem_of(toy.X, toy.y), 80)[1]
    assert_array_equal(plain(Problem(kernel, toy.y.astype(float), squared_norms(kernel)), 80)[1], rows)


def test_it_stops_when_tight_and_when_weights_return():
    """A bracket within tol ends the pushes; on XOR the weights come back, and what was pushed in between adds up to zero."""
    toy = teacher_student(20, 3, margin=0.2, random_state=0)
    state, pushed, status = plain(problem_of(toy.X, toy.y), 5000, tol=0.05)
    assert status == TIGHT
    assert width(state) <= 0.05
    assert pushed.size < 5000
    X, y, *_ = xor()
    state, pushed, status = plain(problem_of(X, y, clamp=1.0), 100)
    assert status == RETURNED
    gained = (state.alpha - state.anchor_alpha) * y
    assert gained.any()
    assert_array_equal(gained @ np.column_stack([X, np.ones(4)]), 0.0)


def run(X, y, max_iter=200, prove=lambda *_: False, watch=None, **options):
    method = Pushing([problem_of(X, y, clamp=1.0)], 1e-9, max_iter, prove=prove, **options)
    end = driver.run(method, Budget(10**9), watch=watch)
    return end, end.state.states[0]


def test_returning_weights_that_prove_nothing_do_not_stop_the_run():
    """If the multipliers are refused the run goes on to its budget, and does not ask again."""
    asked = []
    X, y, *_ = xor()
    ended, state = run(X, y, prove=lambda k, gained: bool(asked.append((k, gained))))
    assert len(asked) == 1
    assert ended.outcome.reason == "iteration budget spent"
    assert state.counts[0] == 200


def test_interrupts_and_watchers_end_a_run_with_its_state():
    """Ctrl-C and a watcher's wish are outcomes; the bracket reached is kept."""

    def interrupt(_):
        raise KeyboardInterrupt

    toy = two_clouds(30, 3, distance=8.0)
    for watch, reason in ((interrupt, "interrupted"), (lambda _: True, "stopped by callback")):
        ended, state = run(toy.X, toy.y, watch=watch)
        assert ended.outcome.reason == reason
        assert np.isfinite(state.sides).all()


@pytest.mark.parametrize("options", [{"plain": True}, {"longest": 1}, {"plain": True, "longest": 7}])
def test_pieces_and_accelerators_do_not_change_the_pushes(options):
    """Pushed one by one, in pieces, plainly or with less reading: the strengths and their bracket are the same."""
    toy = two_clouds(60, 3, distance=8.0, random_state=2)
    reference, other = run(toy.X, toy.y)[1], run(toy.X, toy.y, **options)[1]
    for name in ("alpha", "lower_alpha", "upper_alpha", "counts"):
        assert_array_equal(getattr(other, name), getattr(reference, name))
    assert_allclose(other.sides, reference.sides, rtol=1e-9)
