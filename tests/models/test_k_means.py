"""K-means: scikit-learn's results, with outcome and proof."""

import pickle
from copy import deepcopy
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import cluster
from sklearn.base import clone

from halfspace import KMeans
from halfspace.errors import InputError
from halfspace.solvers.prototypes.farthest_first import farthest_first


def clouds(n=80, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return 4.0 * rng.standard_normal((4, d))[np.arange(n) % 4] + rng.standard_normal((n, d))


WEIGHTS = np.random.default_rng(1).integers(0, 4, 80).astype(float)
SAME = {
    "plain": ({}, {}),
    "starts": ({"n_init": 4}, {"n_init": 4}),
    "starts in time": ({"n_init": 4, "max_time": 1e3}, {"n_init": 4}),
    "random rows": ({"init": "sample"}, {"init": "random"}),
    "random rows in time": ({"init": "sample", "max_time": 1e3}, {"init": "random"}),
    "given rows": ({"init": clouds()[:6]}, {"init": clouds()[:6]}),
    "elkan": ({"algorithm": "elkan", "tol": 0.0}, {"algorithm": "elkan", "tol": 0.0}),
}


KINDS = {"float64": (np.float64, None), "float32 weighted": (np.float32, WEIGHTS), "csr weighted": (sparse.csr_array, WEIGHTS)}


@pytest.mark.compiled
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", SAME)
def test_results_are_scikit_learns_to_the_bit(case, kind):
    """With the same seed, every number and every prediction is that of scikit-learn's KMeans."""
    stored, weights = KINDS[kind]
    X, (ours, theirs) = stored(clouds()), SAME[case]
    model = KMeans(6, random_state=3, **ours).fit(X, sample_weight=weights)
    other = cluster.KMeans(6, random_state=3, **theirs).fit(X, sample_weight=weights)
    assert_array_equal(model.prototypes_, other.cluster_centers_, strict=True)
    assert_array_equal(model.labels_, other.labels_)
    assert (model.inertia_, model.n_iter_) == (other.inertia_, other.n_iter_)
    assert_array_equal(model.predict(X), other.predict(X))
    assert_array_equal(model.transform(X), other.transform(X), strict=True)
    assert model.score(X) == other.score(X)
    assert model.certificate_.verify(X)


def test_the_proof_is_made_when_asked_for_and_travels():
    """The certificate is measured on first reading, or before a copy or a pickle is made, which then has it."""
    X = clouds()
    model = KMeans(4, random_state=0).fit(X)
    assert deepcopy(model).certificate_.verify(X)
    assert pickle.loads(pickle.dumps(KMeans(4, random_state=0).fit(X))).certificate_.verify(X)  # noqa: S301  (our own)
    assert model.certificate_ is model.certificate_
    assert deepcopy(model).certificate_.verify(X)
    assert model.certificate_.step_gain <= 1e-9 * model.inertia_
    assert np.shares_memory(model.prototypes_, model.certificate_.prototypes)
    assert not hasattr(clone(model), "certificate_")


@pytest.mark.parametrize("kind", [np.float64, np.float32, sparse.csr_array], ids=["float64", "float32", "csr"])
def test_rows_changed_after_the_fit_are_refused(kind):
    """A proof asked for after X was changed in place would be about other numbers: it is refused; the old rows are proved."""
    X = kind(clouds())
    model, before = KMeans(4, random_state=0).fit(X), X.copy()
    (X.data if sparse.issparse(X) else X)[:20] += 0.5
    with pytest.raises(InputError, match="changed"):
        _ = model.certificate_
    copy = deepcopy(model)  # of a model without a proof
    assert not hasattr(copy, "certificate_")
    assert copy.certify(before).verify(before)
    assert model.certify(before).verify(before)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_the_proof_is_right_where_scikit_learn_rounds():
    """With a row far away scikit-learn's products lose the others' distances: labels_ err, the certificate's do not."""
    X = np.vstack([clouds(), np.full((1, 3), 1e12)])
    model = KMeans(4, random_state=0).fit(X)
    nearest = ((X[:, None] - model.prototypes_) ** 2).sum(axis=2).argmin(axis=1)
    assert (model.labels_ != nearest).any()
    assert_array_equal(model.certificate_.labels, nearest)
    assert model.certificate_.verify(X)


def test_unusable_weights_are_refused():
    """Negative and far too large weights are refused before anything is learnt, as the proof could not bear them."""
    for weight in (-1.0, 1e60):
        with pytest.raises(InputError, match="sample_weight"):
            KMeans(2).fit(clouds(), sample_weight=np.full(80, weight))


def test_outcomes_say_what_was_reached():
    """A fit that converged says so; one that ran out of steps or time says that, with a remedy."""
    X = clouds()
    assert KMeans(4, random_state=0).fit(X).outcome_.converged
    short = KMeans(6, max_iter=1, random_state=0).fit(X).outcome_
    assert short.reason == "iteration budget spent"
    assert "max_iter" in short.remedy
    hasty = KMeans(4, n_init=50, max_time=1e-9, random_state=0).fit(X)
    assert hasty.outcome_.reason == "time budget spent"
    assert hasty.certificate_.verify(X)


def test_ctrl_c_between_init_keeps_the_best(monkeypatch):
    """An interrupt after a start keeps it; one before the first start leaves the model as it was."""
    X, real, calls = clouds(), cluster.KMeans.fit, []

    def interrupted(self, *args, **kwargs):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(self, *args, **kwargs)

    monkeypatch.setattr(cluster.KMeans, "fit", interrupted)
    model = KMeans(4, n_init=5, max_time=1e3, random_state=0).fit(X)
    assert model.outcome_.reason == "interrupted"
    calls[:] = [1, 1]
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert {name: id(value) for name, value in vars(model).items()} == {name: id(value) for name, value in before.items()}


def test_progress_has_a_line_per_start(capsys):
    """With verbose=2 every start is reported on standard error."""
    KMeans(2, n_init=3, verbose=2, random_state=0).fit(clouds(20))
    assert capsys.readouterr().err.count("[KMeans] start") == 3


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"n_clusters": 0}, "n_clusters"),
        ({"n_clusters": 2.5}, "n_clusters"),
        ({"n_init": "many"}, "n_init"),
        ({"tol": -1.0}, "tol"),
        ({"init": "random"}, "init"),
        ({"init": np.zeros((3, 2))}, "init"),
        ({"n_clusters": 200}, "n_clusters"),
        ({"n_clusters": 200, "init": "farthest"}, "n_clusters"),
        ({"max_time": 0.0}, "max_time"),
        ({"random_state": "x"}, "random_state"),
        ({"verbose": -1}, "verbose"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(parameters, word):
    """What cannot be used is refused before anything is learnt, naming the parameter."""
    model = KMeans(**{"n_clusters": 4, **parameters})
    with pytest.raises(InputError, match=word):
        model.fit(clouds())
    assert not hasattr(model, "labels_")


def test_farthest_rows_halve_the_best_cover_at_worst():
    """Farthest-first rows are different, ever nearer to those before, and do not depend on copies or weights of rows."""
    X = clouds(40)
    W = farthest_first(X, np.ones(40), 6)
    steps = [np.sqrt(((W[:k, None] - W[k]) ** 2).sum(axis=2)).min() for k in range(1, 6)]
    assert all(far >= near for far, near in pairwise(steps))
    reach = np.sqrt(((X[:, None] - W) ** 2).sum(axis=2)).min(axis=1).max()
    assert reach <= steps[-1]
    counts = np.arange(40) % 3
    assert_allclose(farthest_first(np.repeat(X, counts, axis=0), np.ones(counts.sum()), 5), farthest_first(X, counts * 1.0, 5))
    assert_array_equal(KMeans(3, init="farthest").fit(X).labels_, KMeans(3, init="farthest").fit(X).labels_)


class Slow:
    """A clock, and scikit-learn's fit that takes a second a step on it, and ten to draw the first prototypes."""

    def __init__(self, monkeypatch):
        self.now, self.steps, real = 0.0, [], cluster.KMeans.fit
        monkeypatch.setattr("halfspace.models.prototypes.k_means.time", self)
        monkeypatch.setattr("halfspace.solvers.run.time", self)
        monkeypatch.setattr("halfspace.models.prototypes.k_means.QUICK", 1e-9)

        def fit(model, *args, **kwargs):
            found = real(model, *args, **kwargs)
            self.steps.append(found.n_iter_)
            self.now += found.n_iter_ + 1.0
            return found

        monkeypatch.setattr(cluster.KMeans, "fit", fit)

    def perf_counter(self):
        return self.now


@pytest.mark.parametrize("init", ["sample", "given"])
def test_a_start_makes_the_steps_there_is_time_for(monkeypatch, init):
    """Where a start may take longer than is left, one step is timed, and as many are made as fit into three quarters of it."""
    X = clouds(2000)
    init = X[:30].copy() if init == "given" else init
    clock = Slow(monkeypatch)
    model = KMeans(30, init=init, n_init=1, tol=0.0, max_time=14.0, random_state=0).fit(X)
    assert clock.steps == [1, 8]  # 12 s are left after a step and the measuring of its error: 9 for steps and one to measure
    assert clock.now <= 14.0
    assert (model.outcome_.reason, model.n_iter_) == ("time budget spent", 8)
    assert "max_time=14" in model.outcome_.sentence
    assert model.certificate_.verify(X)


def test_a_start_that_converges_in_time_is_scikit_learns(monkeypatch):
    """Begun again from the prototypes that were drawn once, a start that converges is the one scikit-learn makes."""
    X = clouds(400)
    other = cluster.KMeans(5, n_init=1, random_state=3).fit(X)
    Slow(monkeypatch)
    monkeypatch.setattr("halfspace.models.prototypes.k_means.QUICK", 1.0)
    model = KMeans(5, n_init=1, max_time=1e6, random_state=3).fit(X)
    assert model.outcome_.converged
    assert_array_equal(model.prototypes_, other.cluster_centers_)
    assert (model.inertia_, model.n_iter_) == (other.inertia_, other.n_iter_)
