"""Novel or typical: the plane furthest from the origin, its proof, its promise, and the test of drift."""

import pickle
import warnings
from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import halfspace as hs
from halfspace.certificates.novelty import allowed, needed
from halfspace.errors import FewRowsWarning, GapWarning, InputError
from halfspace.kernels import RBF, Linear
from halfspace.kernels.gram import LazyGram
from halfspace.models.kernel.novelty import near_gamma
from halfspace.solvers.kernel.one_class import OneClassMachine, one_class
from halfspace.solvers.run import Budget, run

pytestmark = pytest.mark.compiled
RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3)) * [1.0, 10.0, 0.1]
NEW = RNG.normal(size=(50, 3)) * [2.0, 20.0, 0.2]


def solved(X, gamma=0.5, nu=0.1, tol=1e-6):
    """Return the answer of the machine on these rows."""
    method = OneClassMachine(one_class(LazyGram(RBF(gamma), X), nu, 20_000), tol)
    done = run(method, Budget(10_000))
    assert done.outcome.converged
    return method.answer(done.state)


# ------------------------------------------------------------ the machine
@pytest.mark.parametrize(("nu", "gamma"), [(0.01, 0.2), (0.1, 0.2), (0.5, 0.2), (0.1, 5.0), (0.03, 300.0)])
def test_the_optimum_is_that_of_libsvm(nu, gamma):
    """½‖w‖², rho and the scores are those of OneClassSVM on the same rows, whose strengths add up to nu n, not to 1."""
    rows = X / X.std(axis=0)
    answer, peer = solved(rows, gamma, nu), OneClassSVM(gamma=gamma, nu=nu, tol=1e-9).fit(rows)
    unit = peer.dual_coef_.sum()
    assert answer.upper == pytest.approx(0.5 * peer.dual_coef_[0] @ peer.score_samples(rows[peer.support_]) / unit**2, rel=1e-5)
    assert answer.rho == pytest.approx(peer.offset_[0] / unit, rel=1e-3)
    far = np.sqrt(answer.upper - answer.lower) + 1e-4 * np.sqrt(answer.upper)
    assert np.abs(answer.outputs - peer.score_samples(rows) / unit).max() <= far


@pytest.mark.parametrize("nu", [0.05, 0.3, 1.0])
def test_nu_is_between_the_shares(nu):
    """At most nu n rows are below the plane, and at least nu n have positive strength (Schölkopf et al. 2001)."""
    answer = solved(X / X.std(axis=0), nu=nu)
    assert (answer.outputs < answer.rho * (1 - 1e-4)).mean() <= nu <= (answer.alpha > 0).mean() + 1e-12
    assert answer.alpha.sum() == pytest.approx(1.0)
    assert answer.alpha.max() <= 1.0 / (nu * 400) * (1 + 1e-12)


def test_many_rows_start_from_samples():
    """With thousands of rows samples are solved first; the sides of all rows are as near as asked, and true."""
    rows = RNG.normal(size=(7000, 2))
    answer = solved(rows, gamma=1.0, tol=1e-3)
    used = np.flatnonzero(answer.alpha)
    f = RBF(1.0).exact(rows, rows[used]) @ answer.alpha[used]
    np.testing.assert_allclose(answer.outputs[f < answer.rho], f[f < answer.rho], rtol=1e-9)
    assert answer.upper == pytest.approx(0.5 * answer.alpha[used] @ f[used])
    assert 0.999 * answer.upper <= answer.lower <= answer.upper


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_machine_that_is_interrupted_answers_about_all_rows(steps):
    """While a sample is solved too: the strengths of all rows add up to 1, and both sides hold."""
    rows = RNG.normal(size=(7000, 2))
    method = OneClassMachine(one_class(LazyGram(RBF(1.0), rows), 0.1, 20_000), 1e-9)
    state = method.start()
    for _ in range(steps):
        method.step(state, 1)
    answer = method.answer(state)
    best = solved(rows, gamma=1.0, tol=1e-4)
    assert answer.alpha.sum() == pytest.approx(1.0)
    assert answer.lower <= best.upper
    assert best.lower <= answer.upper


def test_order_and_repetition_do_not_matter():
    """Rows in another order, or every row twice, give the same function, as far as both gaps allow."""
    rows = X / X.std(axis=0)
    order = RNG.permutation(400)
    answer = solved(rows)
    for other, place in ((solved(rows[order]), np.argsort(order)), (solved(np.repeat(rows, 2, axis=0)), 2 * np.arange(400))):
        far = sum(np.sqrt(max(a.upper - a.lower, 0.0)) for a in (answer, other))
        assert np.abs(other.outputs[place] - answer.outputs).max() <= far + 1e-12


# ------------------------------------------------------------ the proof
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", RBF(0.3) + Linear()])
def test_the_certificate_holds_and_is_refuted_on_other_rows(kernel):
    """The gap is as small as asked; other rows, another threshold or a row set apart that was learnt from refute it."""
    rows = X + np.array([5.0, 50.0, 0.5])
    model = hs.Novelty(kernel).fit(rows)
    proof = model.certificate_
    assert model.outcome_.converged
    assert proof.relative_gap <= model.tol
    assert model.verify(rows)
    assert not proof.verify(2.0 * rows)
    assert not proof.verify(rows[::-1])
    assert not replace(proof, threshold=proof.scores[2]).verify(rows)
    assert not replace(proof, apart=np.append(proof.learnt[:1], proof.apart[1:])).verify(rows)
    assert not proof.verify(rows[:100])
    assert proof.stability == pytest.approx(proof.rho / np.linalg.norm(np.sqrt(2.0 * proof.upper)))


def test_dense_sparse_single_and_precomputed_rows_agree():
    """The same rows stored otherwise give the same scores, and each model verifies on the rows of the other."""
    model, thin = hs.Novelty(tol=1e-7).fit(X), sparse.csr_array(X)
    other = hs.Novelty(tol=1e-7).fit(thin)
    np.testing.assert_allclose(other.score_samples(NEW), model.score_samples(sparse.csr_array(NEW)), atol=1e-5)
    assert model.verify(thin)
    assert other.verify(X)
    K = model.kernel_.exact(X * model.scale_)
    matrix = hs.Novelty("precomputed", tol=1e-7).fit(K)
    np.testing.assert_allclose(matrix.score_samples(K), model.score_samples(X), rtol=1e-5)
    assert matrix.verify(K)
    single = hs.Novelty().fit(X.astype(np.float32))
    assert single.verify(X.astype(np.float32))


def test_columns_are_scaled():
    """Units do not matter: rows in other units get the same p-values, but for scale=False."""
    units = np.array([1e-3, 1.0, 1e5])
    np.testing.assert_array_equal(hs.Novelty().fit(X * units).p_values(NEW * units), hs.Novelty().fit(X).p_values(NEW))
    assert hs.Novelty(scale=False).fit(X).scale_ is None
    piped = make_pipeline(StandardScaler(), hs.Novelty(scale=False)).fit(X)
    assert np.mean(piped.predict(NEW) == hs.Novelty().fit(X).predict(NEW)) > 0.9


def test_files_and_pickles(tmp_path):
    """A loaded model, from a file or a pickle, answers the same, with the same proof."""
    model = hs.Novelty(level=0.05).fit(X)
    hs.save(model, tmp_path / "model.halfspace")
    for other in (hs.load(tmp_path / "model.halfspace"), pickle.loads(pickle.dumps(model))):  # noqa: S301  (our own)
        assert np.array_equal(other.p_values(NEW), model.p_values(NEW))
        assert other.drift(NEW) == model.drift(NEW)
        assert other.verify(X)


# ------------------------------------------------------------ the promise
def test_p_values_are_places_among_rows_set_apart():
    """p = (1 + #{scores <= f(x)})/(m + 1), counted one by one; novel are those of at most the level, for any level."""
    rows = np.round(X)  # with ties
    for level in (0.01, 0.07, 0.29, 1.0 / 3.0, 0.5):
        model = hs.Novelty(level=level).fit(rows)
        f, m = model.score_samples(NEW), model.calibration_scores_.size
        p = np.array([Fraction(1 + int((model.calibration_scores_ <= score).sum()), m + 1) for score in f])
        assert model.p_values(NEW).tolist() == [float(value) for value in p]
        assert model.predict(NEW).tolist() == [-1 if float(value) <= level else 1 for value in p]
        assert m == needed(level, allowed(level, m))  # no row set apart is of no use


@pytest.mark.parametrize("kind", ["normal", "heavy tails", "grid"])
def test_false_alarms_are_as_promised(kind):
    """Over many problems the mean share of false alarms is k/(m + 1); its spread is that of Beta(k, m + 1 - k)."""
    rng, shares, problems = np.random.default_rng(1), [], 40
    for seed in range(problems):
        draw = rng.standard_t(1.5, size=(1300, 2)) if kind == "heavy tails" else rng.normal(size=(1300, 2))
        rows = np.round(draw) if kind == "grid" else draw
        model = hs.Novelty(level=0.05, random_state=seed).fit(rows[:300])
        shares.append((model.predict(rows[300:]) < 0).mean())
    m = model.calibration_scores_.size
    k = allowed(0.05, m)
    spread = np.sqrt(k * (m + 1 - k) / ((m + 1) ** 2 * (m + 2)) + 0.05 * 0.95 / 1000) / np.sqrt(problems)
    assert k / (m + 1) == 0.05
    assert np.mean(shares) <= 0.05 + 4.0 * spread
    assert kind == "grid" or np.mean(shares) >= 0.05 - 4.0 * spread


def test_novel_rows_are_found():
    """Rows from elsewhere are called novel, rows from the same source are not."""
    model = hs.Novelty().fit(X)
    assert (model.predict(X[:50] + np.array([8.0, 0.0, 0.0])) < 0).all()
    assert (model.predict(RNG.normal(size=(200, 3)) * [1.0, 10.0, 0.1]) < 0).mean() < 0.05


@pytest.mark.parametrize(("rows", "novel", "level"), [(10, 3, 0.05), (50, 9, 0.1), (200, 1, 0.01), (7, 7, 0.2)])
def test_drift_is_judged_by_the_exact_chance(rows, novel, level):
    """The chance of so many novel rows is that of drawing without replacement: all orders of old and new rows are as likely."""
    model = hs.Novelty(level=level).fit(X)
    m = model.calibration_scores_.size
    k = allowed(level, m)
    ways = [comb(v + k - 1, v) * comb(rows - v + m - k, rows - v) for v in range(rows + 1)]
    drift = model.drift_of(np.where(np.arange(rows) < novel, level, 1.0))
    assert drift[:3] == (rows, novel, k / (m + 1))
    assert drift.p_value == pytest.approx(float(Fraction(sum(ways[novel:]), comb(rows + m, rows))), rel=1e-9)
    assert drift.found == (drift.p_value <= 0.01)
    assert ("no sign of drift" in str(drift)) != drift.found


def test_drift_is_called_only_as_often_as_it_may():
    """Of batches like the past at most 1 % show drift; a batch from elsewhere does."""
    rng, found = np.random.default_rng(2), 0
    for seed in range(40):
        rows = rng.normal(size=(500, 2))
        model = hs.Novelty(level=0.05, random_state=seed).fit(rows[:300])
        found += model.drift(rows[300:]).found
        assert model.drift(rows[300:] + 2.0).found
    assert found <= 3  # of 40 at most 0.4 are expected


# ------------------------------------------------------------ few, many and degenerate rows
def test_too_few_rows_for_the_level_are_told():
    """The warning says how many are needed; no row is then called novel, and one row more is enough."""
    with pytest.warns(FewRowsWarning, match=r"needs 99 rows set apart and 20 to learn from, 119 in all, but n_samples = 118"):
        model = hs.Novelty().fit(X[:118])
    assert model.offset_ == -np.inf
    assert (model.predict(100.0 * NEW) == 1).all()
    assert model.p_values(100.0 * NEW).max() == 1.0 / 60.0
    assert str(model.drift(X[:60])).startswith("Too few rows")
    assert "look unlike the rows learnt from" in str(model.drift(NEW))
    assert model.verify(X[:118])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hs.Novelty().fit(X[:119]).calibration_scores_.size == 99


@pytest.mark.parametrize("level", [0.01, 0.03, 0.1, 0.29, 0.5])
def test_the_rows_needed_are_the_fewest(level):
    """needed(level, k) rows allow k places, one row less does not."""
    for k in (1, 2, 7):
        m = needed(level, k)
        assert Fraction(k, m + 1) <= Fraction(level) or k / (m + 1) <= level
        assert allowed(level, m) >= k
        assert m == 0 or allowed(level, m - 1) < k


@pytest.mark.filterwarnings("ignore::halfspace.errors.FewRowsWarning")
@pytest.mark.parametrize(
    "rows",
    [
        X[:1],
        X[:2],
        np.ones((300, 2)),
        np.zeros((300, 2)),
        np.repeat(X[:3], 100, axis=0),
        X[:, :1],
        np.hstack([X, np.ones((400, 1))]),
    ],
    ids=["one row", "two rows", "constant", "zeros", "repeated", "one column", "a constant column"],
)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_degenerate_rows(rows, kernel):
    """Every fit ends with a proof that verifies and p-values between 0 and 1; rows that are all alike are not novel."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        model = hs.Novelty(kernel).fit(rows)
    assert model.verify(rows)
    assert ((model.p_values(rows) > 0.0) & (model.p_values(rows) <= 1.0)).all()
    assert np.ptp(rows) > 0.0 or (model.predict(rows) == 1).all()


@pytest.mark.filterwarnings("ignore::halfspace.errors.GapWarning")
def test_of_many_rows_a_sample_is_taken_and_less_if_time_is_short():
    """At most `kernel_rows` are learnt from and `calibration_rows` set apart; in little time fewer, by prediction."""
    rows = RNG.normal(size=(20_000, 2))
    model = hs.Novelty(kernel_rows=500, calibration_rows=1000).fit(rows)
    assert (model.certificate_.learnt.size, model.calibration_scores_.size) == (500, 999)
    assert "500 of 20,000 rows were learnt from, 999 set apart" in str(model.outcome_)
    hurried = hs.Novelty(max_time=0.05).fit(rows)
    assert hurried.certificate_.learnt.size < 1000
    assert model.verify(rows)
    assert hurried.verify(rows)


def test_the_width_follows_near_rows():
    """gamma="near" knows the distance to the fifth nearest row; of repeated rows it looks at the others."""
    assert near_gamma(np.arange(50.0)[:, None], 2) == pytest.approx(1 / 9)
    assert near_gamma(np.repeat([[0.0], [2.0]], 20, axis=0), 2) == pytest.approx(1 / 4)
    assert near_gamma(np.ones((9, 2)), 2) == 1.0
    assert hs.Novelty(gamma=0.25).fit(X).kernel_ == RBF(0.25)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"level": 0.0}, "'level' parameter of Novelty"),
        ({"level": 1.0}, "'level' parameter of Novelty must be below 1"),
        ({"nu": 1.5}, "'nu' parameter of Novelty must be at most 1"),
        ({"calibration_rows": 50}, "at least 99, as the level 0.01 needs"),
        ({"kernel_rows": 3}, "at least 20"),
        ({"scale": "yes"}, "True or False"),
        ({"kernel": "cubic"}, "'kernel' parameter of Novelty"),
        ({"gamma": "wide"}, "'kernel' parameter of Novelty"),
    ],
)
def test_parameters_that_cannot_be_used_are_refused(wrong, words):
    """The message names the parameter and what was expected, and the model stays as it was."""
    model = hs.Novelty(**wrong)
    with pytest.raises(InputError, match=words):
        model.fit(X)
    assert not hasattr(model, "certificate_")
