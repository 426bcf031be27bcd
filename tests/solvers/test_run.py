"""The driver: budgets, Ctrl-C, watching, cancelling, the course, on a method that only counts."""

import itertools
import threading
import time
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from halfspace.solvers.outcome import Outcome
from halfspace.solvers.run import Budget, Course, Progress, Shares, run, run_all, steps


class Counting(NamedTuple):
    """Count to `goal`, `pieces` steps to a round, or many rounds to a step; interrupt at `trap`."""

    goal: int = 10**9
    pieces: int = 1
    trap: int = -1
    unit: str = "epoch"
    columns: tuple[str, ...] = ("count",)

    def start(self, before=None):
        return np.zeros(2, dtype=np.int64) if before is None else before.copy()

    def step(self, state, most):
        if state[0] == self.trap:
            raise KeyboardInterrupt
        if self.pieces > 1:
            state[1] += 1
            if state[1] % self.pieces:
                return ()
        rounds = min(most, self.goal - int(state[0]), 100)
        state[0] += rounds
        counts = np.arange(state[0] - rounds + 1, state[0] + 1)
        return counts, np.outer(counts, [1.0, 2.0])

    def status(self, state):
        return "converged" if state[0] >= self.goal else None

    def certify(self, state):
        return state[0]


def test_a_run_ends_when_nothing_is_left_to_do():
    """The outcome is the method's own status, and the course has a row for every round."""
    end = run(Counting(goal=250), Budget(1000))
    assert end.outcome == Outcome("converged", "Converged after 250 epochs.")
    assert end.rounds == 250
    assert end.course.history()["count"].tolist() == list(range(1, 251))
    assert (np.diff(end.course.history()["seconds"]) >= 0).all()


def test_a_method_with_nothing_to_do_makes_no_step():
    """A state that is finished already converges in no rounds, with an empty course."""
    end = run(Counting(goal=0), Budget(5))
    assert end.outcome.reason == "converged"
    assert end.rounds == 0
    assert end.course.history()["round"].size == 0


def test_the_iteration_budget_is_kept_exactly():
    """No step goes beyond max_iter, however many rounds it may hold, and the words are singular for one round."""
    end = run(Counting(), Budget(137))
    assert end.state[0] == end.rounds == 137
    assert end.outcome == Outcome("iteration budget spent", "Stopped after 137 epochs (max_iter=137).")
    assert run(Counting(unit="push"), Budget(1)).outcome.sentence == "Stopped after 1 push (max_iter=1)."
    assert run(Counting(unit="push"), Budget(2)).outcome.sentence == "Stopped after 2 pushes (max_iter=2)."


def test_the_time_budget_ends_a_run_inside_a_round():
    """max_time is looked at after every piece, not after every round."""
    begin = time.perf_counter()
    end = run(Counting(pieces=10**9), Budget(10, max_time=0.05))
    assert 0.05 <= time.perf_counter() - begin < 2.0
    assert end.outcome.reason == "time budget spent"
    assert "max_time=0.05" in end.outcome.sentence
    assert end.rounds == 0


def test_ctrl_c_is_an_outcome():
    """An interrupt in a step or in a watcher keeps the state, and the remedy says how to go on."""
    end = run(Counting(trap=100), Budget(1000))
    assert (end.outcome.reason, end.rounds, end.state[0]) == ("interrupted", 100, 100)
    assert "warm_start" in end.outcome.remedy

    def impatient(at):
        if at.round == 3:
            raise KeyboardInterrupt
        return False

    end = run(Counting(), Budget(1000), watch=impatient)
    assert (end.outcome.reason, end.rounds, end.state[0]) == ("interrupted", 3, 3)


def test_other_errors_pass():
    """Only Ctrl-C is caught."""

    def broken(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(Counting(), Budget(10), watch=broken)


@pytest.mark.parametrize("every", [1, 7])
def test_a_watcher_sees_the_rounds_it_asks_for_and_may_stop(every):
    """watch is called every so many rounds, also after the last one; a true answer stops the run."""
    seen = []
    end = run(Counting(goal=21), Budget(1000), watch=lambda at: seen.append(at.round), every=every)
    assert seen == list(range(every, 22, every))
    assert end.outcome.reason == "converged"
    end = run(Counting(), Budget(1000), watch=lambda at: at.round >= 14, every=every)
    assert end.outcome == Outcome("stopped by callback", "Stopped by a callback after 14 epochs.")
    assert end.state[0] == 14


def test_a_watcher_is_not_called_inside_a_round():
    """Pieces of a round are the driver's own affair."""
    seen = []
    run(Counting(pieces=3), Budget(4), watch=lambda at: seen.append(at.finished))
    assert seen == [1, 1, 1, 1]


def test_another_thread_can_cancel():
    """A budget asks before every piece whether it is cancelled."""
    answers = iter([False, False, True])
    last = []

    def cancelled():
        last.append(next(answers, True))
        return last[-1]

    end = run(Counting(), Budget(10**9, cancelled=cancelled))
    assert end.outcome.reason == "interrupted"
    assert end.rounds == 200


def test_a_method_may_finish_when_a_budget_is_spent():
    """`finish` takes the state to a point worth keeping, and may even reach the goal."""

    class Finishing(Counting):
        def finish(self, state):
            state[0] = self.goal

    assert run(Finishing(goal=50), Budget(10)).outcome.reason == "converged"
    assert run(Finishing(goal=50), Budget(10), watch=lambda at: at.round == 5).state[0] == 5


def test_cut_watched_and_resumed_runs_agree():
    """Running in one go, watched, by steps and resumed leave the same state."""
    method = Counting()
    whole = run(method, Budget(90)).state
    half = method.start(run(method, Budget(40)).state)
    assert run(method, Budget(50), state=half).state[0] == whole[0]
    assert run(method, Budget(90), watch=lambda _: False).state[0] == whole[0]
    assert [at.round for at in steps(method, method.start(), Budget(90), every=20)] == [20, 40, 60, 80, 90]


def test_the_course_is_thinned_but_keeps_its_end():
    """However many rounds there are, few are kept, equally far apart; the last one is always there."""
    end = run(Counting(), Budget(100_001))
    history = end.course.history()
    assert Course.KEPT // 2 <= history["round"].size <= Course.KEPT + 1
    assert history["round"][-1] == history["count"][-1] == 100_001
    assert np.unique(np.diff(history["round"][:-1])).size == 1
    np.testing.assert_array_equal(history["round"], history["count"])


def test_snapshots_are_few_and_copied():
    """At most 64 snapshots are kept, each that of its round; none if two do not fit into the room."""
    end = run(Counting(), Budget(1000))
    assert Course.SNAPSHOTS // 2 <= len(end.course.snapshots) <= Course.SNAPSHOTS
    for number, array in end.course.snapshots:
        assert array.tolist() == [number, 2.0 * number]
    course = Course(())
    course.note(Progress(1, 1, None, 0.0, (np.broadcast_to(1.0, (1, int(Course.ROOM // 8))),)))
    assert not course.snapshots


def test_columns_of_several_problems_stay_wide():
    """A column with one entry per problem is flat for one problem, and (rounds, K) for more."""
    course = Course(("one", "two"))
    course.note(Progress(2, 2, None, 0.0, (np.ones((2, 1)), np.ones((2, 3)))))
    assert course.history()["one"].shape == (2,)
    assert course.history()["two"].shape == (2, 3)


def test_the_driver_costs_little():
    """A run of a few steps spends well under 0.2 ms in the driver."""
    best = np.inf
    for _ in range(20):
        begin = time.perf_counter()
        run(Counting(goal=300), Budget(1000))
        best = min(best, time.perf_counter() - begin)
    assert best < 4e-4


# ------------------------------------------------------------ time
class Clock:
    """A clock that moves when it is told to."""

    def __init__(self):
        self.now = 100.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """Replace the driver's clock."""
    clock = Clock()
    monkeypatch.setattr("halfspace.solvers.run.time", clock)
    return clock


class Slow(NamedTuple):
    """Needs `rounds` rounds of a second each."""

    clock: Clock
    rounds: int
    unit: str = "epoch"
    columns: tuple[str, ...] = ("count",)

    def start(self):
        return np.zeros(1)

    def step(self, state, most):
        del most
        self.clock.now += 1.0
        state += 1
        return (state.copy(),)

    def status(self, state):
        return "converged" if state[0] >= self.rounds else None


def test_time_counts_from_the_call_and_leaves_room_for_the_proof(clock):
    """Of max_time=10 what was spent before the run and what the proof will need is taken off, the latter up to a half."""
    began = clock.now
    clock.now += 3.0
    end = run(Slow(clock, 100), Budget(100, 10.0, began=began, reserve=2.0))
    assert (end.rounds, end.seconds) == (5, 8.0)
    assert end.outcome.sentence == "Stopped after 8 s (max_time=10), 5 epochs."
    assert Budget(1, 10.0, began=clock.now, reserve=1e9).left() == 5.0
    assert Budget(1, 10.0, began=clock.now - 20.0).left() == 0.0
    assert Budget(1, None, began=clock.now).left() is None


def test_a_run_that_was_cut_goes_on(clock):
    """Given the end of a run, the rounds and the course go on where it stopped."""
    cut = run(Slow(clock, 9), Budget(100, 4.0))
    end = run(Slow(clock, 9), Budget(100, 10.0), cut)
    assert (cut.outcome.reason, end.outcome.reason, end.rounds) == ("time budget spent", "converged", 9)
    assert end.course.history()["count"].tolist() == list(range(1, 10))


def test_time_that_one_problem_does_not_need_goes_to_another(clock):
    """Nine quick problems and a long one, in little more time than they need together: all are solved, whatever the order."""
    for order in itertools.islice(itertools.permutations([30, *[1] * 9]), 0, None, 10**6 // 3):
        began = clock.now
        ends = run_all([partial(run, Slow(clock, rounds)) for rounds in order], Budget(1000, 45.0, began=began), 1)
        assert [end.outcome.reason for end in ends] == ["converged"] * 10
        assert [end.rounds for end in ends] == list(order)


def test_problems_short_of_time_share_it(clock):
    """No problem takes the time of another, and all of it is used."""
    began = clock.now
    ends = run_all([partial(run, Slow(clock, 10**9)) for _ in range(4)], Budget(10**9, 100.0, began=began), 1)
    assert {end.outcome.reason for end in ends} == {"time budget spent"}
    assert min(end.rounds for end in ends) >= 24
    assert 100.0 <= clock.now - began <= 104.0


def test_an_interrupted_problem_stops_those_that_would_go_on(clock):
    """After Ctrl-C in one problem no other makes a step, and time that is left is not shared again."""

    class Trapped(Slow):
        def step(self, state, most):
            if state[0] == 2:
                raise KeyboardInterrupt
            return Slow.step(self, state, most)

    ends = run_all([partial(run, kind(clock, 10**9)) for kind in (Slow, Trapped, Slow)], Budget(10**9, 30.0), 1)
    assert [end.outcome.reason for end in ends] == ["time budget spent", "interrupted", "interrupted"]
    assert ends[2].rounds == 0


def test_shares_are_handed_out_in_threads():
    """Each of several threads gets a budget of its own, and a stop reaches all."""
    shares, got = Shares.of(Budget(5, 100.0), 2, 4), []
    workers = [threading.Thread(target=lambda: got.append(shares.next())) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(round(share.max_time) for share in got) == [50, 67, 100, 100]
    shares.stop.set()
    assert all(share.cancelled() for share in got)
