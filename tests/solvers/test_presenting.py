"""Presenting: budgets, interruption, pieces, and equal bits however a run is cut."""

import inspect
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import halfspace as hs
from halfspace.data import two_clouds
from halfspace.models.planes.presenting import PresentingClassifier
from halfspace.rows.operations import squared_norms
from halfspace.rows.orders import Orders
from halfspace.solvers import Budget, Outcome, Presenting, Rosenblatt, Task
from halfspace.solvers.rules.rosenblatt import strengthen
from halfspace.solvers.run import run, steps

quiet = pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")
FAMILY = [
    hs.Perceptron(),
    hs.Perceptron(multi_class="native"),
    hs.AveragedPerceptron(),
    hs.AveragedPerceptron(multi_class="native"),
    hs.VotedPerceptron(),
    hs.PocketPerceptron(),
    hs.PocketPerceptron(ratchet=False),
    hs.Adaline(solver="online"),
    hs.PassiveAggressive(),
]
everyone = pytest.mark.parametrize("model", FAMILY, ids=str)


def overlapping(n=40, eta=1.0, seed=None):
    X, y, *_ = two_clouds(n, 2, distance=1.0, random_state=0)
    task = Task(X, (y > 0).astype(np.int64), np.array([1]), squared_norms(X), np.ones(n))
    return Presenting(Rosenblatt(eta), task, Orders.in_order(n) if seed is None else Orders(np.arange(n), 1, seed))


def three_classes(n=60, d=4):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    return rng.standard_normal((n, d)) + 1.0 * np.eye(3, d)[y], y


def clone(model, **options):
    return type(model)(**{**model.get_params(), **options})


def learnt(model, X):
    """Return everything that presenting changed."""
    votes = model.votes_ if isinstance(model, hs.VotedPerceptron) else [part for part in model._memory if np.ndim(part)]
    return [*model._state, *votes, model.decision_function(X), model.alpha_]


def assert_equal_bits(ours, theirs, X):
    for one, other in zip(learnt(ours, X), learnt(theirs, X), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("seed", [None, 3])
def test_pieces_do_not_change_the_answer(monkeypatch, seed):
    """Cutting an epoch into pieces changes when we look at the clock, not what is learnt; nor does watching."""
    ends = []
    for piece in (1, 7, 1 << 20):
        monkeypatch.setattr("halfspace.solvers.rules.presenting.PIECE", piece)
        ends.append(run(overlapping(seed=seed), Budget(5)))
    ends.append(run(overlapping(seed=seed), Budget(5), watch=lambda _: False))
    for end in ends:
        for one, other in zip(end.state.state, ends[0].state.state, strict=True):
            np.testing.assert_array_equal(one, other)
        for name in ("mistakes", "squared_norm"):
            np.testing.assert_array_equal(end.course.history()[name], ends[0].course.history()[name])


@quiet
@everyone
@pytest.mark.parametrize("shuffle", [True, False])
def test_resumed_runs_give_the_bits_of_one_go(model, shuffle):
    """Twice three epochs with a warm start are six, bit for bit, shuffled or not."""
    X, y = three_classes()
    options = {"shuffle": shuffle, "random_state": 5}
    whole = clone(model, max_iter=6, **options).fit(X, y)
    halves = clone(model, max_iter=3, warm_start=True, **options).fit(X, y).fit(X, y)
    assert_equal_bits(halves, whole, X)
    np.testing.assert_array_equal(halves.mistakes_, whole.mistakes_)
    assert halves.certificate_.verify(X, y)


@quiet
@everyone
def test_a_run_that_is_cut_inside_an_epoch_goes_on_there(model, monkeypatch):
    """A fit that ends in the middle of an epoch, and is resumed, gives the bits of one go."""
    X, y = three_classes()
    whole = clone(model, max_iter=3, random_state=1).fit(X, y)
    monkeypatch.setattr("halfspace.solvers.rules.presenting.PIECE", 4 * 3 * 17)
    cut = clone(model, max_iter=3, random_state=1, warm_start=True, max_time=1e-9).fit(X, y)
    assert 0 < cut._state.clock[2] < 60
    assert cut.outcome_.reason == "time budget spent"
    cut.set_params(max_time=None).fit(X, y)
    assert_equal_bits(cut, whole, X)


@quiet
@everyone
@pytest.mark.parametrize("classes", [2, 3])
def test_steps_are_a_fit_that_can_be_watched(model, classes):
    """`steps` yields after every epoch, the model predicts at each, and at the end it is as fit would have left it."""
    X, y = three_classes()
    X, y = X[y < classes], y[y < classes]
    whole = clone(model, max_iter=4, random_state=2).fit(X, y)
    stepped, rounds = clone(model, max_iter=4, random_state=2), []
    for at in stepped.steps(X, y):
        rounds.append(at.round)
        so_far = clone(model, max_iter=at.round, random_state=2).fit(X, y)
        np.testing.assert_array_equal(stepped.predict(X), so_far.predict(X))
    assert rounds == list(range(1, whole.n_iter_ + 1))
    assert_equal_bits(stepped, whole, X)
    assert stepped.outcome_ == whole.outcome_
    assert stepped.certificate_.to_json() == whole.certificate_.to_json()
    assert stepped.history_.keys() == whole.history_.keys()


@pytest.mark.compiled
@quiet
def test_many_epochs_of_small_data_are_one_call():
    """A thousand shuffled epochs of a few rows take milliseconds: many of them go in one piece of compiled work."""
    X, y, *_ = two_clouds(40, 3, distance=1.0, random_state=0)
    hs.Perceptron(max_iter=10, random_state=0).fit(X, y)
    begin = time.perf_counter()
    model = hs.Perceptron(max_iter=1000, patience=None, random_state=0).fit(X, y)
    assert model.n_iter_ == model.history_["epoch"].size == 1000
    assert time.perf_counter() - begin < 0.2


def test_iteration_budget():
    """max_iter is the maximum number of epochs, and the outcome says that it was spent."""
    end = run(overlapping(), Budget(7))
    assert end.rounds == 7
    assert end.outcome.reason == "iteration budget spent"
    assert "max_iter=7" in end.outcome.sentence


def test_time_budget_holds():
    """max_time ends the run soon after it is spent, in the middle of an epoch if need be, with a true certificate."""
    X, y, *_ = two_clouds(300, 2, distance=1.0, random_state=0)
    with pytest.warns(hs.errors.NotSeparatedWarning, match="max_time=0.2"):
        hs.Perceptron(max_iter=10**9, patience=None, max_time=0.2, random_state=0).fit(X, y)
    begin = time.perf_counter()
    with pytest.warns(hs.errors.NotSeparatedWarning, match="max_time"):
        model = hs.Perceptron(max_iter=10**9, patience=None, max_time=0.3, random_state=0).fit(X, y)
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


def test_steps_end_by_themselves_when_nothing_changes():
    """A run ends after the first epoch without an update."""
    X, y, *_ = two_clouds(40, 2, distance=8.0, random_state=0)
    task = Task(X, (y > 0).astype(np.int64), np.array([1]), squared_norms(X), np.ones(40))
    method = Presenting(Rosenblatt(), task, Orders.in_order(40))
    mistakes = [int(at.table[0][-1, 0]) for at in steps(method, method.start(), Budget(10**6), every=1)]
    assert mistakes[-1] == mistakes[-2]
    assert len(set(mistakes)) == len(mistakes) - 1


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_overflowing_weights_are_said_to_diverge():
    """Weights that overflow end the run, and the model says what to do."""
    assert run(overlapping(eta=1e308), Budget(50)).outcome.reason == "diverged"
    model = hs.HebbClassifier().fit([[1.0], [-1.0]], [1, 0])
    assert "eta0" in model._described(Outcome("diverged", "Diverged.")).remedy


@quiet
@everyone
def test_the_certificate_is_about_the_weights_that_predict(model):
    """The certificate's weights are the model's own array, so a model whose weights are changed no longer verifies."""
    X, y = three_classes()
    fitted = clone(model, max_iter=5, random_state=0).fit(X, y)
    proof, W = fitted.certificate_, fitted._answer()[0]
    parts = proof.parts if hasattr(proof, "parts") else (proof,)
    for part in parts:
        assert np.shares_memory(getattr(part, "bracket", part).weights, W)
    assert proof.verify(X, y)
    np.negative(W, out=W)
    assert not proof.verify(X, y)


@quiet
def test_a_stream_leaves_a_certificate_in_other_hands_alone():
    """partial_fit goes on with weights of its own: a certificate that somebody keeps stays true."""
    X, y = three_classes()
    model = hs.Perceptron(max_iter=5, random_state=0).fit(X, y)
    proof = model.certificate_
    model.partial_fit(X, y)
    assert proof.verify(X, y)


def test_fit_reaches_its_rule_in_six_calls(monkeypatch):
    """fit, run, step, present, sweep, rule: whoever steps into a fit (JIT off) soon sees the rule.

    The frame of the open function itself, which looks up the rule's type, is the language's and not counted.
    """
    frames = []
    package = str(Path(inspect.getfile(hs)).parent)

    def rule(*_):
        frame, names = sys._getframe(1), []
        while frame is not None:
            if frame.f_code.co_filename.startswith(package) and not frame.f_code.co_filename.endswith("_dispatch.py"):
                names.append(frame.f_code.co_name)
            frame = frame.f_back
        frames.append(names[::-1])
        return 0.0

    plain = [f for name in ("present", "sweep") for f in [_python(f"halfspace.solvers.rules.sweep.{name}")]]
    monkeypatch.setattr("halfspace.solvers.rules.presenting.present", plain[0])
    monkeypatch.setattr("halfspace.solvers.rules.sweep.sweep", plain[1])
    monkeypatch.setattr("halfspace.solvers.rules.sweep.strengthen", rule)
    hs.Perceptron().fit([[1.0], [-1.0]], [1, 0])
    assert frames[0] == ["fit", "run", "step", "present", "sweep"]
    assert strengthen is not rule


def _python(name):
    module, name = name.rsplit(".", 1)
    function = getattr(sys.modules[module], name)
    return getattr(function, "py_func", function)


def test_a_presenting_model_is_one_class_on_top_of_five():
    """Above Perceptron there are few classes of ours."""
    ours = [kind for kind in hs.Perceptron.__mro__[1:] if kind.__module__.startswith("halfspace")]
    assert ours[0] is PresentingClassifier
    assert len(ours) <= 6
