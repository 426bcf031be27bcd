"""The solver in a kernel's space: right against an independent one, with levels, a small working set, and from any start."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.datasets import make_moons

from halfspace.kernels import RBF, Precomputed
from halfspace.kernels.gram import LazyGram
from halfspace.solvers.kernel import machine as kernel_margin
from halfspace.solvers.kernel.machine import KernelMachine, KernelProblem, hard_gap, share_values, solve_at_once
from halfspace.solvers.kernel.sweep import KernelSweep
from halfspace.solvers.run import Budget, run, steps

both = pytest.mark.parametrize("free", [False, True], ids=["no bias", "free bias"])


def problem(n=30, C=2.0, free=False, noise=0.3, gamma=1.0, stored=False, room=20_000):
    X, labels = make_moons(n, noise=noise, random_state=0)
    y = np.where(labels == 1, 1.0, -1.0)
    kernel = RBF(gamma)
    gram = LazyGram(Precomputed(), kernel.exact(X, X)) if stored else LazyGram(kernel, X)
    return KernelProblem(gram, np.arange(n), y, np.full(n, C), free, room), kernel.exact(X, X)


def solve(method, start=None, max_iter=10_000, **limits):
    """Run a method; return its answer, the reason it ended, and its rounds."""
    watch = limits.pop("watch", None)
    done = run(method, Budget(max_iter, **limits), method.start(start), watch)
    return method.certify(done.state), done.outcome.reason, done.rounds


def true_values(made, K, answer):
    """Return primal and dual value of an answer, by the textbook, and what is left of the sum rule."""
    f = K @ answer.b
    loss = (made.c * np.maximum(0.0, 1.0 - made.y * (f + answer.bias))).sum()
    return 0.5 * answer.b @ f + loss, made.y @ answer.b - 0.5 * answer.b @ f, answer.b.sum()


def quadratic_optimum(made, K):
    """Return the dual optimum by a general solver of scipy."""
    lo, hi = made.bounds()
    rules = [{"type": "eq", "fun": np.sum, "jac": np.ones_like}] if made.free else []
    found = minimize(
        lambda b: 0.5 * b @ K @ b - made.y @ b,
        np.zeros(lo.size),
        jac=lambda b: K @ b - made.y,
        bounds=list(zip(lo, hi, strict=True)),
        constraints=rules,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return -found.fun


@both
@pytest.mark.parametrize("C", [0.1, 2.0, 50.0])
@pytest.mark.parametrize("stored", [False, True])
def test_pairs_and_sweeps_reach_the_optimum_of_a_general_solver(free, C, stored):
    """Both solvers return feasible strengths whose values bracket the optimum, with their gap as told."""
    made, K = problem(C=C, free=free, stored=stored)
    best = quadratic_optimum(made, K)
    lo, hi = made.bounds()
    for method in (KernelMachine(made, 1e-6), KernelSweep(made, 1e-6)):
        answer, reason, _ = solve(method, max_iter=100_000)
        primal, dual, rest = true_values(made, K, answer)
        assert reason == "converged"
        assert (answer.b >= lo).all()
        assert (answer.b <= hi).all()
        assert abs(rest) < 1e-9 * C * 30 or not free
        assert answer.primal == pytest.approx(primal, rel=1e-9)
        assert answer.dual == pytest.approx(dual, rel=1e-9)
        assert primal - dual <= 1.01e-6 * primal
        assert dual == pytest.approx(best, rel=2e-6)


@both
def test_levels_and_a_small_working_set_give_the_same_optimum(free, monkeypatch):
    """Nested samples from 16 examples on, and room for 24 only: the same optimum to the tolerance."""
    made, K = problem(120, free=free)
    plain = solve(KernelMachine(made, 1e-4))[0]
    monkeypatch.setattr(kernel_margin, "SMALLEST", 16)
    levels = solve(KernelMachine(made, 1e-4, seed=1))[0]
    small = solve(KernelMachine(made._replace(room=64), 1e-2, seed=2), max_iter=300)[0]
    for answer, tol in ((levels, 1e-4), (small, 1e-2)):
        primal, dual, _ = true_values(made, K, answer)
        assert primal - dual <= 1.01 * tol * primal
        assert dual <= plain.primal * (1 + 1e-9)
        assert plain.dual <= primal * (1 + 1e-9)


@both
def test_a_start_at_the_optimum_ends_at_once(free):
    """From the strengths of an earlier run nothing is left to do."""
    made, _ = problem(free=free)
    first = solve(KernelMachine(made, 1e-5))[0]
    again, _, rounds = solve(KernelMachine(made, 2e-5, seed=1), first.b)
    assert rounds <= 1
    assert_allclose(again.primal, first.primal, rtol=5e-5)


@both
def test_budgets_end_a_run_with_true_values(free):
    """One round, a deadline in the past, a watcher or a cancellation end the run; both values are those of the strengths."""
    made, K = problem(60, C=100.0, free=free, gamma=10.0)
    for limits, expected in (
        ({"max_iter": 1}, "iteration budget spent"),
        ({"max_time": 0.0}, "time budget spent"),
        ({"watch": lambda at: True}, "stopped by callback"),  # noqa: ARG005
        ({"cancelled": lambda: True}, "interrupted"),
    ):
        for method in (KernelMachine(made, 1e-12), KernelSweep(made, 1e-12)):
            answer, reason, _ = solve(method, **limits)
            primal, dual, _ = true_values(made, K, answer)
            assert reason in {expected, "rounding limit reached", "converged"}
            assert answer.primal == pytest.approx(primal, rel=1e-6)
            assert answer.dual == pytest.approx(dual, rel=1e-6, abs=1e-9)


@both
def test_the_largest_margin_is_that_of_a_very_large_cap(free):
    """Errors forbidden: the bracket closes, and a soft margin with a cap nobody reaches has the same optimum."""
    made, K = problem(24, free=free, noise=0.05, gamma=2.0)
    hard, reason, _ = solve(KernelMachine(made._replace(c=np.full(24, np.inf)), 1e-5))
    assert reason == "converged"
    soft = solve(KernelMachine(made._replace(c=np.full(24, 1e5)), 1e-6))[0]
    assert hard.primal == pytest.approx(soft.primal, rel=1e-4)
    assert hard.dual <= soft.primal * (1 + 1e-9)
    f = K @ hard.b + hard.bias
    assert (made.y * f).min() > 0.99
    bias, primal, dual = hard_gap(made.y, hard.b, made.y - K @ hard.b, free=free)
    assert (bias, primal, dual) == pytest.approx((hard.bias, hard.primal, hard.dual), rel=1e-6)


def test_both_hard_values_do_not_change_with_the_length():
    """Scaling all strengths changes neither side of the bracket."""
    made, K = problem(24, noise=0.05, gamma=2.0)
    answer = solve(KernelMachine(made._replace(c=np.full(24, np.inf)), 1e-3))[0]
    for scale in (1e-3, 7.0):
        b = scale * answer.b
        _, primal, dual = hard_gap(made.y, b, made.y - K @ b, free=False)
        assert (primal, dual) == pytest.approx((answer.primal, answer.dual), rel=1e-9)


@both
@pytest.mark.parametrize("few", [0, 320])
@pytest.mark.parametrize("C", [100.0, np.inf])
def test_a_machine_cut_anywhere_has_true_values_and_stepped_it_is_the_same(free, C, few, monkeypatch):
    """After every piece of work the answer is one, as after Ctrl-C; and looking at it changes nothing but that piece."""
    monkeypatch.setattr(kernel_margin, "STEPS", 8)
    monkeypatch.setattr(kernel_margin, "FEW", few)
    made, K = problem(40, C=C, free=free, gamma=3.0)
    method = KernelMachine(made, 1e-6)
    state, reference, seen = method.start(), solve(method)[0], 0
    for at in steps(method, state, Budget(10_000)):
        seen += 1
        if state.level is not None and np.isfinite(C) and (few or seen % 7 == 0):
            cut = method.start()
            for k, _ in enumerate(steps(method, cut, Budget(10_000)), 1):
                if k == seen:
                    break
            answer = method.certify(cut)
            primal, dual, rest = true_values(made, K, answer)
            assert (answer.primal, answer.dual) == pytest.approx((primal, dual), rel=1e-6, abs=1e-9)
            assert abs(rest) < 1e-6 or not free
        del at
    assert seen > (1 if few else 2)
    assert_allclose(method.certify(state).b, reference.b, rtol=0.0, atol=0.0)


@both
def test_contradictions_go_to_the_cap(free):
    """Two equal examples with different labels both end at the cap, whatever it is."""
    K = np.ones((2, 2))
    made = KernelProblem(LazyGram(Precomputed(), K), np.arange(2), np.array([1.0, -1.0]), np.full(2, 1e4), free)
    answer, reason, _ = solve(KernelMachine(made, 1e-6), max_iter=50)
    assert reason == "converged"
    assert_allclose(answer.b, [1e4, -1e4])


@pytest.mark.compiled
@pytest.mark.parametrize("kernel", ["linear", "poly", "laplacian"])
def test_long_rows_of_kernels_without_a_bound_on_single_precision_are_proved(kernel):
    """Kept rows know sums, not errors, of kernels whose single precision has no bound: all of h is computed in double."""
    import halfspace as hs

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1700, 120)).astype(np.float32)
    y = (X[:, 0] + 0.3 * X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=1700) > 0).astype(int)
    model = hs.KernelAdaTron(kernel, gamma=0.05, degree=2, coef0=1.0, C=0.1, tol=1e-3).fit(X, y)
    assert model.outcome_.converged
    assert model.certificate_.verify(X, y)


# ------------------------------------------------------------ few examples
@both
def test_several_problems_of_few_examples_at_once_are_those_solved_one_by_one(free):
    """One compiled call for three labellings gives the strengths, values, rounds and course of three runs, bit for bit."""
    made, _ = problem(60, C=3.0, free=free)
    labels = np.sign(np.random.default_rng(0).normal(size=(3, 60)))
    methods = [KernelMachine(made._replace(y=y), 1e-6) for y in labels]
    for method, at_once in zip(methods, solve_at_once(methods, Budget(100)), strict=True):
        alone = run(method, Budget(100), method.start())
        assert_array_equal(method.certify(at_once.state).b, method.certify(alone.state).b)
        assert method.certify(at_once.state)[4:] == method.certify(alone.state)[4:]
        assert (at_once.rounds, at_once.outcome.reason) == (alone.rounds, alone.outcome.reason)
        assert_array_equal(at_once.course.history()["dual"], alone.course.history()["dual"])


@pytest.mark.parametrize("change", ["no errors", "other rows", "a time limit", "few rounds", "many examples"])
def test_what_cannot_be_solved_at_once_is_left_to_runs(change):
    """Hard margins, problems on other examples, limits and many examples are not begun."""
    made, _ = problem(400 if change == "many examples" else 40, C=np.inf if change == "no errors" else 1.0)
    other = made._replace(rows=made.rows[::-1]) if change == "other rows" else made
    limits = {"a time limit": Budget(100, 10.0), "few rounds": Budget(2)}
    assert solve_at_once([KernelMachine(made, 1e-3), KernelMachine(other, 1e-3)], limits.get(change, Budget(100))) == [None] * 2


# ------------------------------------------------------------ shared values
@both
@pytest.mark.parametrize("C", [1.0, 100.0, np.inf])
@pytest.mark.parametrize("tol", [1e-3, 1e-9], ids=["single precision", "double precision"])
def test_problems_that_share_all_kernel_values_reach_their_own_optimum(free, C, tol, monkeypatch):
    """With all values computed once, each of three labellings ends with the gap that is asked, in any order of the rows."""
    monkeypatch.setattr(kernel_margin, "FEW", 20)
    hard = np.isinf(C)
    made, K = problem(60, C=C, free=free, noise=0.05 if hard else 0.3, gamma=10.0)
    order = np.random.default_rng(1).permutation(60)
    flipped = made._replace(y=-made.y)
    last = made._replace(rows=order, y=made.y[order])
    methods = [KernelMachine(one, tol) for one in (made, flipped, last)]
    share_values(methods)
    assert made.gram.shared.shape == (60, 60)
    answers = []
    for method in methods:
        answer, reason, rounds = solve(method)
        assert reason == "converged" or (tol < 1e-6 and reason == "rounding limit reached")
        assert rounds >= 1
        assert answer.primal - answer.dual <= tol * answer.primal or (hard and tol < 1e-6)
        answers.append(answer)
    assert answers[0].primal == pytest.approx(answers[1].primal, rel=2 * tol)
    assert answers[0].primal == pytest.approx(answers[2].primal, rel=2 * tol)
    if not hard:
        assert answers[0].primal == pytest.approx(true_values(made, K, answers[0])[0], rel=1e-9)


def test_values_are_shared_only_where_that_pays():
    """A problem of a part of the examples, and few problems of many examples, leave the values to be computed when needed."""
    made, _ = problem(3400)
    share_values([KernelMachine(made, 1e-3)])
    part = made._replace(rows=made.rows[:2000], y=made.y[:2000], c=made.c[:2000])
    share_values([KernelMachine(part, 1e-3)] * 20)
    assert made.gram.shared is None
