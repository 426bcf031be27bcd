"""The committee: votes, disagreement, seeds, threads and budgets."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import halfspace as hs
from halfspace.certificates import from_json
from halfspace.data import two_clouds
from halfspace.errors import InputError
from halfspace.models.planes.committee import PerceptronCommittee

VARIANTS = [
    PerceptronCommittee(n_members=5, max_iter=3, random_state=0),
    PerceptronCommittee(n_members=4, max_iter=3, random_state=0),
    PerceptronCommittee(n_members=5, max_iter=3, vote="stability", intercept="none", random_state=0),
    PerceptronCommittee(n_members=5, max_iter=3, diversity="bootstrap", random_state=0),
    PerceptronCommittee(n_members=5, max_iter=3, diversity="features", vote="stability", random_state=0),
]
every = pytest.mark.parametrize("model", VARIANTS, ids=["majority", "even", "stability", "bootstrap", "features"])
both = pytest.mark.parametrize("classes", [2, 3])


def clone(model, **options):
    from sklearn.base import clone as copy

    return copy(model).set_params(**options)


def overlapping(classes=3, n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return rng.standard_normal((n, d)) + 1.2 * np.eye(3, d)[y], np.array(["a", "b", "c"])[y]


@every
@both
def test_the_certificate_verifies_and_counts_the_errors(model, classes):
    """The certificate's errors and disagreement are the model's, and it holds on these data but not on other labels."""
    X, y = overlapping(classes)
    fitted = clone(model).fit(X, y)
    proof = fitted.certificate_
    assert proof.errors == (fitted.predict(X) != y).sum()
    assert proof.disagreement == pytest.approx(fitted.disagreement_.mean())
    assert proof.verify(X, y)
    assert from_json(proof.to_json()).verify(X, y)
    assert not proof.verify(X, np.roll(y, 1))


@every
@both
def test_predictions_are_what_the_members_vote(model, classes):
    """By majority the prediction is a class with the most votes; the disagreement is the share of other votes."""
    X, y = overlapping(classes)
    fitted = clone(model).fit(X, y)
    inputs = X if fitted.intercept == "none" else np.column_stack([X, np.ones(len(X))])
    planes = np.einsum("nd,mkd->nmk", inputs, fitted.members_)
    votes = (planes[:, :, 0] > 0).astype(int) if classes == 2 else planes.argmax(axis=2)
    chosen = np.searchsorted(fitted.classes_, fitted.predict(X))
    assert_allclose(fitted.disagreement(X), (votes != chosen[:, None]).mean(axis=1))
    assert_array_equal(fitted.disagreement(X), fitted.disagreement_)
    counts = (votes[:, :, None] == np.arange(classes)).sum(axis=1)
    stability = (planes / np.linalg.norm(fitted.members_, axis=2)).sum(axis=1)
    if fitted.vote == "majority":
        assert_array_equal(counts[np.arange(len(y)), chosen], counts.max(axis=1))
    elif classes == 2:
        assert_array_equal(chosen, (stability[:, 0] > 0).astype(int))
    else:
        assert_array_equal(chosen, stability.argmax(axis=1))


@every
@both
def test_the_decision_function_is_consistent_with_predict(model, classes):
    """predict is the sign or the largest of decision_function, whose majority part is within reach of whole votes."""
    X, y = overlapping(classes)
    fitted = clone(model).fit(X, y)
    scores = fitted.decision_function(X)
    chosen = (scores > 0).astype(int) if classes == 2 else scores.argmax(axis=1)
    assert_array_equal(fitted.classes_[chosen], fitted.predict(X))
    assert scores.shape == ((60,) if classes == 2 else (60, 3))


def test_members_by_order_are_perceptrons_that_differ():
    """Members that saw other orders are different planes, and a committee of one errs like a perceptron."""
    X, y = overlapping(2)
    members = clone(VARIANTS[0]).fit(X, y).members_
    assert len({member.tobytes() for member in members}) == 5
    alone = PerceptronCommittee(n_members=1, random_state=0).fit(X, y)
    assert_array_equal(alone.disagreement_, 0.0)


def test_features_are_left_out():
    """Each member uses its share of the features, always with the bias, and at least one."""
    X, y = overlapping(2, d=10)
    model = PerceptronCommittee(diversity="features", max_features=0.3, max_iter=2, random_state=0).fit(X, y)
    used = (model.members_[:, 0, :-1] != 0).sum(axis=1)
    assert used.max() <= 3
    assert (model.members_[:, 0, -1] != 0).any()
    assert len({tuple(np.flatnonzero(m[0, :-1])) for m in model.members_}) > 1
    one = PerceptronCommittee(diversity="features", max_features=0.01, max_iter=2, random_state=0).fit(X, y)
    assert (one.members_[:, 0, :-1] != 0).sum(axis=1).max() == 1


@every
def test_storage_and_threads_do_not_matter(model):
    """Dense and sparse rows, float32, and any number of threads give the same committee for the same seed."""
    X, y = overlapping(3)
    X = X.astype(np.float32).astype(float)
    reference = clone(model).fit(X, y)
    assert_array_equal(clone(model, n_jobs=2).fit(X, y).members_, reference.members_)
    for other in (sparse.csr_matrix(X), sparse.csc_array(X), X.astype(np.float32)):
        fitted = clone(model).fit(other, y)
        assert_allclose(fitted.members_, reference.members_, rtol=1e-9, atol=1e-9)
        assert fitted.certificate_.verify(other, y)


def test_the_committee_errs_less_than_its_members():
    """On overlapping clouds the vote is better than the mean member, and examples in doubt are where errors are."""
    X, y, *_ = two_clouds(300, 5, distance=2.0, random_state=0)
    model = PerceptronCommittee(n_members=15, max_iter=3, random_state=0).fit(X, y)
    inputs = np.column_stack([X, np.ones(300)])
    alone = [(np.where(inputs @ member[0] > 0, 1, -1) != y).mean() for member in model.members_]
    wrong = model.predict(X) != y
    assert wrong.mean() < np.mean(alone)
    assert model.disagreement_[wrong].mean() > model.disagreement_[~wrong].mean()
    assert model.disagreement_.max() <= 0.5


def test_class_weights_move_the_vote():
    """A class that counts more is missed less often."""
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.15).astype(int)
    X = rng.standard_normal((400, 2)) + 1.2 * y[:, None]
    found = [
        PerceptronCommittee(max_iter=3, class_weight=weight, random_state=0).fit(X, y).predict(X)[y == 1].mean()
        for weight in ({1: 0.1}, {1: 10.0})
    ]
    assert found[1] > found[0]


def test_outcomes_and_progress(capsys):
    """The outcome counts the members that separate their examples; verbose tells a line per member."""
    X, y, *_ = two_clouds(40, 2, distance=12.0, random_state=0)
    model = PerceptronCommittee(n_members=3, random_state=0, verbose=1).fit(X, y)
    assert model.outcome_.reason == "converged"
    assert "3 of 3" in str(model.outcome_)
    assert capsys.readouterr().err.count("[PerceptronCommittee]") == 3
    X, y = overlapping(2)
    assert PerceptronCommittee(n_members=3, max_iter=2).fit(X, y).outcome_.reason == "passes done"
    assert not hasattr(model, "alpha_")


def test_interrupts_keep_the_members_there_are(monkeypatch):
    """Ctrl-C in the second member leaves a committee of two, with its certificate."""
    from halfspace.models.planes import committee

    X, y = overlapping(2)
    original, calls = committee.run, []

    class Interrupted:
        """A method whose second step is interrupted."""

        def __init__(self, method):
            self.method, self.done = method, False

        def __getattr__(self, name):
            return getattr(self.method, name)

        def step(self, state, _most):
            if self.done:
                raise KeyboardInterrupt
            self.done = True
            return self.method.step(state, 1)

    def run(method, *arguments):
        calls.append(1)
        return original(Interrupted(method) if len(calls) == 2 else method, *arguments)

    monkeypatch.setattr(committee, "run", run)
    model = PerceptronCommittee(n_members=5, max_iter=3, random_state=0).fit(X, y)
    assert model.outcome_.reason == "interrupted"
    assert len(model.members_) == 2
    assert model.certificate_.verify(X, y)


@pytest.mark.compiled
def test_max_time_holds():
    """A budget of time is for the whole committee."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20_000, 20)), rng.integers(0, 2, 20_000)
    PerceptronCommittee(max_iter=1, n_members=1).fit(X, y)
    begin = time.perf_counter()
    model = PerceptronCommittee(max_iter=10**6, max_time=0.3).fit(X, y)
    assert time.perf_counter() - begin < 3.0
    assert model.outcome_.reason == "time budget spent"
    assert "Raise max_time" in model.outcome_.remedy


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_members", 0),
        ("n_members", 2.5),
        ("diversity", "luck"),
        ("max_features", 0.0),
        ("max_features", 1.5),
        ("max_features", True),
        ("vote", "lottery"),
        ("eta0", 0.0),
        ("margin", -1.0),
        ("intercept", "free"),
        ("intercept_scaling", 0.0),
        ("max_iter", 0),
        ("max_time", 0.0),
        ("n_jobs", 0),
        ("n_jobs", "all"),
        ("verbose", -1),
        ("random_state", "seed"),
    ],
)
def test_bad_parameters_are_refused(name, value):
    """A parameter out of range is named with what was expected, and nothing is changed."""
    X, y = overlapping(2)
    model = clone(VARIANTS[0]).fit(X, y)
    before = model.members_
    with pytest.raises(InputError, match=f"{name}.*PerceptronCommittee"):
        model.set_params(**{name: value}).fit(X, y)
    assert model.members_ is before


def test_a_new_vote_needs_a_new_fit():
    """Changing the parameter after the fit does not change the fitted committee."""
    X, y = overlapping(2)
    model = clone(VARIANTS[0]).fit(X, y)
    before = model.decision_function(X)
    assert_array_equal(model.set_params(vote="stability").decision_function(X), before)
    assert isinstance(model.certificate_, hs.certificates.Certificate)
