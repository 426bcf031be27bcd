"""What little time allows is known before it is spent: smaller samples, fewer pieces, and a proof that still holds."""

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import halfspace as hs
from halfspace._clock import in_time, seconds_left, until
from halfspace.certificates.log_odds import LogOdds
from halfspace.certificates.margins import vote
from halfspace.certificates.margins.mistakes import BudgetedMistakes, Projection
from halfspace.certificates.prototypes import errors
from halfspace.certificates.regression import posterior
from halfspace.errors import FileError, InputError
from halfspace.files import read, reading
from halfspace.kernels import RBF
from halfspace.kernels.gram import LazyGram
from halfspace.ladder.climbing import Judged, Training
from halfspace.ladder.estimator import _thinned
from halfspace.solvers.kernel import grid_search, sweep
from halfspace.solvers.kernel.grid_search import WidthSearch
from halfspace.solvers.kernel.machine import KernelMachine, KernelProblem, _levels
from halfspace.solvers.kernel.minover import KernelPushing, Table
from halfspace.solvers.run import Budget, Shares, run
from halfspace.tables import TableEncoder

pytestmark = pytest.mark.filterwarnings("ignore::halfspace.errors.GapWarning", "ignore::halfspace.errors.NotSeparatedWarning")


def noisy(n, d, classes=2, seed=0):
    """Return rows whose labels no plane explains."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), np.arange(n) % classes


def kernel_problem(n=4000, seconds=np.inf):
    """Return a two-class problem of a kernel machine."""
    X, y = noisy(n, 4)
    return KernelProblem(LazyGram(RBF(0.5), X), np.arange(n), 2.0 * y - 1.0, np.ones(n), free=False, seconds=seconds)


def test_a_kernel_machine_with_little_time_begins_with_few_examples():
    """The first level shrinks with the seconds; the levels rise to all examples."""
    plenty, little = _levels(kernel_problem()), _levels(kernel_problem(seconds=1e-3))
    assert little[0] < 100 < plenty[0]
    assert little == sorted(set(little))
    assert little[-1] == plenty[-1] == 4000


@pytest.mark.compiled
def test_a_kernel_machine_says_what_is_due_before_it_is_done():
    """A machine that is stopped before every costly piece computes fewer kernel values than it announced."""
    problem = kernel_problem(3000)
    method = KernelMachine(problem, 1e-3)
    state, announced = method.start(), []
    for _ in range(40):
        method.step(state, 1)
        announced.append(state.due)
        if state.due > 1e5:
            break
    assert announced[-1] > 1e5
    assert method.ending(state) >= problem.gram.seconds(announced[-1]) / 64
    before = state.level.b.copy()
    method.finish(state)
    answer = method.certify(state)
    assert np.array_equal(np.sort(np.abs(answer.b)), np.sort(np.abs(before)))
    np.testing.assert_allclose(
        answer.h, problem.y - problem.gram.times(problem.rows, answer.b, problem.rows, np.float64), atol=1e-6
    )


@pytest.mark.parametrize("free", [False, True])
def test_sweeps_in_pieces_are_the_sweeps_in_one_go(monkeypatch, free):
    """The matrix by some rows, and a sweep by some examples, give what a whole matrix and whole sweeps give."""
    problem = kernel_problem(60)._replace(free=free)
    whole = run(sweep.KernelSweep(problem, 1e-6), Budget(30)).state
    monkeypatch.setattr(sweep, "VALUES", 500)
    monkeypatch.setattr(sweep, "PIECE", 700)
    pieces = run(sweep.KernelSweep(problem, 1e-6), Budget(30)).state
    np.testing.assert_allclose(pieces.answer.b, whole.answer.b, rtol=1e-9, atol=1e-12)


def test_sweeps_that_had_no_time_for_the_matrix_claim_nothing_false():
    """Ended before the matrix is there, the answer is that of no strengths at all."""
    problem = kernel_problem(60)
    method = sweep.KernelSweep(problem, 1e-6)
    answer = method.certify(method.start())
    assert not answer.b.any()
    assert answer.dual == 0.0 < answer.primal


def test_sparse_rows_stay_sparse_where_there_is_no_time_to_make_them_dense():
    """With little time values are those of the sparse rows themselves; without a limit rows are made ready as ever."""
    X = sparse.random(60, 400, 0.05, format="csr", random_state=0)
    plain, thin = (LazyGram(RBF(0.1), X, 1.0, stored=0.0, seconds=seconds) for seconds in (None, 1e-6))
    everyone, some = np.arange(60), np.arange(7)
    assert thin.thin
    assert not plain.thin
    assert not LazyGram(RBF(0.1), X.toarray(), seconds=1e-6).thin
    np.testing.assert_allclose(thin.block(some, everyone, np.float64), plain.block(some, everyone, np.float64), rtol=1e-9)
    out = thin.times(some, np.ones(7), everyone, np.float64)
    np.testing.assert_allclose(out, plain.times(some, np.ones(7), everyone, np.float64), rtol=1e-9)
    assert thin.seconds(1e6) < plain.seconds(1e6)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "model",
    [
        hs.KernelAdaTron(max_time=1e-4),
        hs.KernelAdaTron(max_time=1e-4, C=np.inf),
        hs.KernelAdaTron(max_time=1e-4, solver="sweep"),
        hs.KernelAdaTron(max_time=1e-4, n_cells=5),
        hs.KernelPerceptron(max_time=1e-4),
        hs.KernelPerceptron(max_time=1e-4, variant="voted"),
        hs.KernelPerceptron(max_time=1e-4, budget=10),
        hs.KernelMinOver(max_time=1e-4),
        hs.BayesPoint(max_time=1e-4),
        hs.BayesPoint("rbf", max_time=1e-4),
    ],
    ids=str,
)
def test_many_classes_without_time_keep_a_model_with_a_true_proof(model):
    """Problems that were never begun have no strengths, cells are fewer, and what is claimed of each class holds."""
    X, y = noisy(400, 4, classes=12)
    model.fit(X, y)
    assert model.outcome_.reason == "time budget spent"
    assert model.verify(X, y)
    assert set(model.predict(X)) <= set(y)


@pytest.mark.compiled
def test_the_proof_of_many_classes_is_counted_before_they_push():
    """All classes push in a round, each rows of its own: the fewer seconds, the fewer pushes, as each lengthens the proof."""
    X, y = noisy(2000, 4, classes=100)
    signs, gram = np.where(y == np.arange(100)[:, None], 1.0, -1.0), LazyGram(RBF(0.5), X)
    lengths = [KernelPushing.of(signs, Table(gram, 1e9), 1e-2, 10**6, seconds).longest for seconds in (None, 1e3, 1.0, 1e-3)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > lengths[1] > lengths[2] > lengths[3] == 1
    assert gram.seconds(1e6, 200) > 1.5 * gram.seconds(1e6)


@pytest.mark.compiled
def test_a_grid_looks_at_the_clock_within_a_fold():
    """However small machines are, a fold of many classes is not one piece: it is cut into groups of machines."""
    X, y = noisy(120, 3, classes=12)
    search = hs.KernelAdaTronCV(Cs=[1.0], gammas=[0.5], cv=2, n_jobs=1)
    made = []

    def seen(self, state, most):
        made.append(1)
        return step(self, state, most)

    step = WidthSearch.step
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WidthSearch, "step", seen)
        patch.setattr(grid_search, "GROUP", 2)
        search.fit(X, y)
    assert len(made) >= 12


def test_the_rounding_of_a_competitor_refutes_nothing():
    """Rows that nearly depend on each other cancel: what rounding adds to a competitor's length is granted, not more."""
    X, y = np.array([[0.0], [1e-5], [2.0], [-2.0]]), np.array([1, 0, 1, 0])
    parts = {"kernel": RBF(0.5), "coefficients": np.array([1e6, -1e6, 1.0, -1.0]), "theorem": Projection(4), "positive": 1}
    proof = BudgetedMistakes.measure(2, X, y, **parts)
    least = proof._seen(X, 2.0 * y - 1.0).upper(1.0, 1.0)[0]
    assert proof.norm > least * (1.0 + 1e-6)
    assert proof.verify(X, y)
    for factor in (1.01, 0.99):
        norm = factor * proof.norm
        assert not replace(proof, norm=norm, bound=proof.theorem.bound(norm, proof.loss)).verify(X, y)


def test_votes_are_counted_by_member():
    """The votes for each class are what a comparison of all votes with all classes counts; of two classes, the majority."""
    votes = np.random.default_rng(0).integers(0, 4, (30, 7))
    assert np.array_equal(vote.counted(votes, 4), (votes[:, :, None] == np.arange(4)).sum(axis=1))
    assert np.array_equal(vote.counted(votes % 2, 1)[:, 0], 2 * (votes % 2).sum(axis=1) - 7)


def test_problems_that_share_little_time_look_at_the_clock_after_every_round():
    """A share of milliseconds allows one round between two looks; a long one as many as the method likes."""
    long, short = (Shares.of(Budget(100, seconds), 1, 10).next() for seconds in (100.0, 0.01))
    assert short.piece == 1 < long.piece


@pytest.mark.parametrize(
    "model",
    [hs.KernelRegression(max_time=0.05), hs.IsotropicMixture(4, max_time=0.01, random_state=0)],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.compiled
def test_a_sample_is_learnt_from_where_time_allows_no_more(model):
    """The outcome says so, and the proof about the examples of the sample holds."""
    X, y = noisy(8000, 10)
    model.fit(X, y.astype(float))
    assert model.outcome_.reason == "time budget spent"
    assert "a sample of" in str(model.outcome_)
    used = model.certificate_.sample_weight > 0
    assert 0 < np.count_nonzero(used) < 8000
    assert model.verify(X, y.astype(float))
    heavier = replace(model.certificate_, sample_weight=np.where(np.arange(8000) < 300, 1.0, model.certificate_.sample_weight))
    assert not heavier.verify(X, y.astype(float))


@pytest.mark.compiled
def test_searches_without_time_keep_a_model_with_a_true_proof():
    """Grid and folds are left out, or some of them, and the fit to all examples is proved."""
    X, y = noisy(300, 5, classes=3)
    kernel = hs.KernelAdaTronCV(max_time=1e-3).fit(X, y)
    assert kernel.outcome_.reason == "time budget spent"
    assert np.isnan(kernel.cv_results_["mean_test_score"]).all()
    planes = hs.AdaTronCV(max_time=1e-3).fit(X, y)
    assert np.isnan(planes.scores_).any()
    assert np.isfinite(planes.mean_scores_).any()
    assert kernel.verify(X, y)
    assert planes.verify(X, y)


@pytest.mark.compiled
def test_a_committee_without_time_has_fewer_members():
    """At least one is trained, and the proof is about those that were."""
    X, y = noisy(3000, 10)
    model = hs.PerceptronCommittee(n_members=9, max_time=1e-4, random_state=0).fit(X, y)
    assert 1 <= model.members_.shape[0] < 9
    assert "There was no time for" in str(model.outcome_)
    assert model.verify(X, y)


@pytest.mark.compiled
def test_a_metric_of_many_columns_has_the_rank_that_time_allows():
    """The rank is cut only where none was asked for, the outcome says so, and the proof holds."""
    X, y = noisy(40, 300)
    model = hs.GMLVQ(max_time=0.05, random_state=0).fit(X, y)
    assert model.omega_.shape[0] < 300
    assert f"rank {model.omega_.shape[0]}" in str(model.outcome_)
    assert model.verify(X, y)
    assert hs.GMLVQ(rank=3, max_time=0.05, random_state=0).fit(X, y).omega_.shape == (3, 300)


def test_the_norm_of_a_large_metric_lies_between_its_bounds(monkeypatch):
    """Bounds that need no singular values enclose the largest of them."""
    monkeypatch.setattr(errors, "WIDE", 4)
    for seed in range(5):
        omega = np.random.default_rng(seed).standard_normal((10, 12))
        least, most = errors._norms(omega)
        assert 0.9 * np.linalg.norm(omega, 2) <= least <= np.linalg.norm(omega, 2) <= most
    assert errors._norms(np.zeros((10, 12))) == (0.0, 0.0)


def test_a_posterior_in_the_span_of_the_rows_is_the_posterior(monkeypatch):
    """Few rows of many columns: mean, covariance and evidence are those of all coordinates, and what is changed is refuted."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 40))
    y = X[:, 0] + 0.1 * rng.standard_normal(6)
    whole = hs.BayesianRegression(prior_precision=1.0, noise_precision=4.0).fit(X, y)
    monkeypatch.setattr(posterior, "WIDE", 8)
    thin = hs.BayesianRegression(prior_precision=1.0, noise_precision=4.0).fit(X, y)
    np.testing.assert_allclose(thin.covariance_, whole.covariance_, atol=1e-12)
    np.testing.assert_allclose(thin.coef_, whole.coef_, atol=1e-12)
    assert thin.log_evidence_ == pytest.approx(whole.log_evidence_, rel=1e-12)
    assert thin.verify(X, y)
    assert whole.certificate_.verify(X, y)
    changed = thin.covariance_.copy()
    changed[3, 5] += 1e-3
    assert not replace(thin.certificate_, covariance=changed).verify(X, y)


def test_a_table_of_many_columns_is_refused_where_reading_it_would_take_too_long(tmp_path):
    """The seconds are predicted from the header, before anything is read; without a limit nothing is said."""
    path = tmp_path / "wide.csv"
    header = ",".join(f"x{k}" for k in range(20_000))
    path.write_text(f"{header}\n" + f"{','.join(['1'] * 20_000)}\n" * 2, encoding="utf-8")
    with until(time.perf_counter() + 0.1), pytest.raises(FileError, match="a table of 20,000 columns takes about 2 s to read"):
        read(path, "x0")
    assert seconds_left() is None


def test_encoding_many_columns_ends_at_the_deadline():
    """Of more than a thousand columns none is begun after it; fewer are always encoded."""
    words = pa.array(["ab", "cd", "ab"])
    with until(time.perf_counter() - 1.0):
        with pytest.raises(InputError, match="The time limit was reached at column 0 of 1,001"):
            TableEncoder().fit(pa.table({f"c{k}": words for k in range(1001)}))
        assert TableEncoder().fit(pa.table({f"c{k}": words for k in range(20)})).n_features_in_ == 20
        in_time(999, 1000)


def test_a_long_table_is_sampled_where_its_rows_would_take_too_long(tmp_path, monkeypatch):
    """A command with little time left keeps fewer rows, says so, and still knows the types of all."""
    monkeypatch.setattr(reading, "ALWAYS", 50)
    path = tmp_path / "long.csv"
    path.write_text("a,b,target\n" + "1,2,x\n3,4,y\n" * 200 + "1.5,2,x\n", encoding="utf-8")
    with until(time.perf_counter() + 5.0):
        everyone = read(path, "target", max_rows=1000)
        monkeypatch.setattr(reading, "CELLS", 1.0)
        few = read(path, "target", max_rows=1000)
    assert (everyone.rows.size, few.rows.size, few.n_rows) == (401, 50, 401)
    assert "a sample of 50 of 401 rows: more would not be learnt from within the time limit" in " ".join(map(str, few.notes))
    assert few.X.schema == everyone.X.schema == read(path, "target").X.schema


def test_reading_ends_at_the_deadline_in_a_sentence(tmp_path, monkeypatch):
    """A file whose rows are not all read by then is refused, with the rows that were; one of a single piece is always read."""
    monkeypatch.setattr(reading, "BATCH_ROWS", 100)
    path = tmp_path / "long.csv"
    path.write_text("a,target\n" + "1,x\n3,y\n" * 200, encoding="utf-8")
    with until(time.perf_counter() - 1.0):
        with pytest.raises(FileError, match=r"long.csv: the time limit was reached while reading it, after 100 rows"):
            read(path, "target")
        monkeypatch.setattr(reading, "BATCH_ROWS", 1000)
        assert read(path, "target").rows.size == 400


def test_probabilities_are_fitted_to_as_many_outputs_as_there_is_time_for():
    """Late ones are fitted to a thousand, evenly chosen; the others count as not predicted, so that a checker fits the same."""
    f = np.random.default_rng(0).standard_normal(5000)
    target = (f + np.random.default_rng(1).standard_normal(5000) > 0).astype(int)
    thin = _thinned(f, time.perf_counter() - 1.0)
    kept = np.isfinite(thin)
    assert np.array_equal(np.flatnonzero(kept), np.arange(0, 5000, 5))
    assert LogOdds.of(thin, target).agrees(thin, target)
    assert _thinned(f, None) is _thinned(f, time.perf_counter() + 60.0) is f


def test_a_model_that_answers_slowly_is_asked_about_fewer_rows():
    """A tenth of the rows tell how long all would take; with plenty of time, or no limit, all are asked about."""
    asked, rows = [], np.arange(2000)

    def judged(_model, _X, held):
        asked.append(held.size)
        return Judged(held, held, held, held)

    for seconds, count in ((0.0, 200), (None, 2000), (1e6, 2000)):
        training = SimpleNamespace(judged=judged, seconds_left=lambda seconds=seconds: seconds)
        assert Training.judged_in_time(training, None, None, rows).held.size == count
    assert asked == [200, 200, 2000, 200, 2000]
