"""The loop: budgets, interruption, pieces, progress."""

import time

import numpy as np
import pytest

import halfspace as hs
from halfspace.data import two_clouds
from halfspace.rows.orders import in_order
from halfspace.rows.outputs import squared_norms
from halfspace.solvers import Budget, Method, Rosenblatt, Task, iterate, solve, start

RULE = Method(lambda _: Rosenblatt())


def overlapping(n=40):
    X, y, *_ = two_clouds(n, 2, distance=1.0, random_state=0)
    return Task(X, (y > 0).astype(np.int64), np.array([1]), squared_norms(X), np.ones(n))


def test_pieces_do_not_change_the_answer(monkeypatch):
    """Cutting an epoch into pieces changes when we look at the clock, not what is learnt."""
    states = []
    for piece in (1, 7, 1 << 20):
        monkeypatch.setattr("halfspace.solvers.loop.PIECE", piece)
        task = overlapping()
        states.append(solve(RULE, task, start(task), in_order(40), Budget(5)).state)
    for state in states[1:]:
        np.testing.assert_array_equal(state.W, states[0].W)
        np.testing.assert_array_equal(state.mistakes, states[0].mistakes)


def test_iteration_budget():
    """max_iter is the most epochs, and the outcome says that it was spent."""
    task = overlapping()
    run = solve(RULE, task, start(task), in_order(40), Budget(7))
    assert run.epochs == 7
    assert run.outcome.reason == "iteration budget spent"
    assert "max_iter=7" in run.outcome.sentence


def test_time_budget_holds():
    """max_time ends the run soon after it is spent, in the middle of an epoch if need be, with a true certificate."""
    X, y, *_ = two_clouds(300, 2, distance=1.0, random_state=0)
    with pytest.warns(hs.errors.NotSeparatedWarning, match="max_time=0.2"):
        hs.Perceptron(max_iter=10**9, max_time=0.2, random_state=0).fit(X, y)
    begin = time.perf_counter()
    with pytest.warns(hs.errors.NotSeparatedWarning, match="max_time"):
        model = hs.Perceptron(max_iter=10**9, max_time=0.3, random_state=0).fit(X, y)
    assert 0.3 <= time.perf_counter() - begin < 3.0
    assert model.outcome_.reason == "time budget spent"
    assert model.certificate_.verify(X, y)


def test_an_interrupt_keeps_the_best_so_far():
    """Ctrl-C is an outcome: the fit returns with its true certificate, and a warm start goes on from there."""
    X, y, *_ = two_clouds(60, 2, distance=1.0, random_state=0)

    class Impatient:
        def setup(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            del estimator, context
            self.count = getattr(self, "count", 0) + 1
            if self.count == 3:
                raise KeyboardInterrupt

        def teardown(self, estimator, context): ...

    model = hs.Perceptron(max_iter=100, random_state=0, warm_start=True).set_callbacks(Impatient()).fit(X, y)
    assert model.outcome_.reason == "interrupted"
    assert model.n_iter_ == 3
    assert "warm_start" in str(model.outcome_)
    assert model.certificate_.verify(X, y)


def test_iterate_stops_by_itself_only_when_nothing_changes():
    """iterate ends after the first epoch without an update, and yields the state after every piece."""
    X, y, *_ = two_clouds(40, 2, distance=8.0, random_state=0)
    task = Task(X, (y > 0).astype(np.int64), np.array([1]), squared_norms(X), np.ones(40))
    steps = list(iterate(RULE, task, start(task), in_order(40)))
    assert steps[-1].finished
    assert steps[-1].active.size == 0
    assert all(step.active.size for step in steps[:-1])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_overflowing_weights_are_said_to_diverge():
    """Weights that overflow end the run with an outcome that says so."""
    task = overlapping()
    run = solve(Method(lambda _: Rosenblatt(1e308)), task, start(task), in_order(40), Budget(50))
    assert run.outcome.reason == "diverged"
    assert "eta0" in run.outcome.remedy
