"""Which rows to label next: the least certain, spread out, with what follows from the labelled ones proved."""

from importlib import import_module
from inspect import signature
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom
from sklearn.ensemble import RandomForestClassifier

import halfspace as hs
from halfspace.errors import InputError

X, Y = np.array([[-2.0, 0.0], [-1.0, 1.0], [1.0, 0.5], [2.0, -1.0]]), np.array(["a", "a", "b", "b"])
POOL = np.random.default_rng(0).standard_normal((300, 2)) * 2.0
MODEL = hs.AdaTron(C=np.inf).fit(X, Y)


def test_the_least_certain_rows_are_chosen():
    """All chosen rows are among the 2k nearest to the plane, the nearest of all first, and none twice."""
    found = hs.query(MODEL, POOL, k=10)
    near = np.abs(MODEL.decision_function(POOL)) / np.sqrt((POOL**2).sum(axis=1) + 1.0)
    assert found.rows[0] == near.argmin()
    assert set(found.rows.tolist()) <= set(np.argsort(near)[:30].tolist())
    assert len(set(found.rows.tolist())) == 10
    assert found.predicted.tolist() == MODEL.predict(POOL[found.rows]).tolist()
    assert "rank 1 of 300" in found.reasons[0]


def test_a_batch_is_spread_out():
    """Copies of the nearest row are not asked for twice while others are near."""
    nearest = POOL[hs.query(MODEL, POOL, k=1).rows]
    pool = np.vstack([np.repeat(nearest, 5, axis=0), POOL])
    rows = hs.query(MODEL, pool, k=5).rows
    assert (rows < 5).sum() + (pool[rows[rows >= 5]] == nearest).all(axis=1).sum() == 1


def test_a_model_that_sees_one_class_is_given_random_rows():
    """Of a pool in which the model sees one class, rows are random and say why; with a few of another class they are not."""
    model = hs.AdaTron().fit(np.array([[-1.0], [1.0]]), [0, 1])
    pool = np.linspace(0.5, 1.0, 400)[:, None]
    found = hs.query(model, pool, k=4)
    assert {*found.reasons} == {"random: the model sees one class nearly everywhere"}
    assert np.isnan(found.margins).all()
    pool[:2] = -0.5
    assert set(hs.query(model, pool, k=4).rows) <= {*range(14)}
    assert set(hs.query(model, pool[2:202], k=4).rows) <= {*range(12)}  # in few rows there may be one class


def test_forced_labels_are_proved():
    """A row far beyond a class can have its label only: the other one is proved inseparable, about the rows with it last."""
    pool = np.array([[-6.0, 0.0], [0.1, 0.2]])
    forced = hs.query(MODEL, pool, k=2, labelled=(X, Y)).forced
    assert {row: found.label for row, found in forced.items()} == {0: "a"}
    assert forced[0].proof.verify(np.vstack([X, pool[:1]]), np.append(Y, "b"))


def test_inseparable_rows_force_nothing():
    """Where no plane separates the labelled rows, nothing follows from them."""
    assert hs.query(MODEL, POOL, k=3, labelled=(np.vstack([X, X[:1]]), np.append(Y, "b"))).forced == {}


def test_any_classifier_will_do():
    """Probabilities, several classes, sparse rows: the smallest lead of the best class comes first."""
    y = np.arange(300) % 3
    forest = RandomForestClassifier(5, random_state=0).fit(POOL, y)
    P = np.sort(forest.predict_proba(POOL), axis=1)
    found = hs.query(forest, POOL, k=4)
    assert found.margins[0] == (P[:, 2] - P[:, 1]).min()
    three = hs.AdaTron().fit(POOL, y)
    dense, thin = (hs.query(three, pool, k=4).rows.tolist() for pool in (POOL, sparse.csr_array(POOL)))
    assert dense == thin


def test_the_audit_is_random_and_apart():
    """Rows of the audit are none of those chosen; with the strategy "random" all rows are random."""
    found = hs.query(MODEL, POOL, k=10, n_audit=20)
    assert found.audit_rows.size == 20
    assert not set(found.audit_rows.tolist()) & set(found.rows.tolist())
    assert hs.query(MODEL, POOL, k=5, strategy="random").reasons == ("random",) * 5


@pytest.mark.parametrize(("errors", "n"), [(0, 30), (3, 30), (30, 30)])
def test_the_interval_is_that_of_clopper_and_pearson(errors, n):
    """At each end the chance of so many errors, or so few, is 2.5 %."""
    found = hs.audit(np.arange(n) < errors, np.zeros(n, dtype=bool))
    if errors:
        assert binom.sf(errors - 1, n, found.low) == pytest.approx(0.025)
    if errors < n:
        assert binom.cdf(errors, n, found.high) == pytest.approx(0.025)


def test_it_says_when_to_stop():
    """Where the model is sure of every row it says stop, else go on."""
    assert "go on" in hs.query(MODEL, POOL, k=3).advice
    assert "Stop" in hs.query(MODEL, POOL[np.abs(MODEL.decision_function(POOL)) > 1.0], k=3).advice


@pytest.mark.parametrize(
    ("change", "says"),
    [({"k": 0}, "'k'"), ({"strategy": "bald"}, "strategy"), ({"n_audit": -1}, "n_audit"), ({"model": hs.KMeans()}, "KMeans")],
)
def test_bad_parameters_are_refused(change, says):
    """Each is refused by name."""
    with pytest.raises(InputError, match=says):
        hs.query(**({"model": MODEL, "pool": POOL} | change))
    with pytest.raises(InputError, match="as many labels"):
        hs.audit([0, 1], [0])
    with pytest.raises(InputError, match="level"):
        hs.audit([0], [0], level=2.0)


class Says:
    """A classifier with these outputs, or probabilities, for the rows of a pool numbered by their first column."""

    def __init__(self, values, *, proba=False, plane=False):
        self.values = np.asarray(values)
        setattr(self, "predict_proba" if proba else "decision_function", lambda X: self.values[X[:, 0].astype(int)])
        if plane:
            self.coef_ = np.ones((1, 2))

    def predict(self, X):
        return X[:, 0].astype(int)


def numbered(n, *columns):
    return np.column_stack([np.arange(n, dtype=float), *columns])


def test_margins_are_distances_outputs_or_leads():
    """Of a plane |f|/‖(x, 1)‖, of a function |f|, else the lead of the best class; unsure are |f| and leads below 1, or 0.5."""
    pool, f = numbered(4, [2.0, 0.0, 1.0, 5.0]), np.array([-1.0, 0.999, -0.25, 3.0])
    scores = np.array([[3.0, 1.0, 2.0], [0.0, 0.5, 0.25], [7.0, 7.0, 7.0], [0.0, 9.0, 1.0]])
    shares = np.array([[0.75, 0.25, 0.0], [0.7, 0.25, 0.05], [0.2, 0.5, 0.3], [0.0, 1.0, 0.0]])
    for model, expected, unsure in (
        (Says(f), np.abs(f), 2),
        (Says(f, plane=True), np.abs(f) / np.sqrt((pool**2).sum(axis=1) + 1.0), 2),
        (Says(scores), [1.0, 0.25, 0.0, 8.0], 2),
        (Says(shares, proba=True), [0.5, 0.45, 0.2, 1.0], 2),
    ):
        found = hs.query(model, pool, k=4)
        assert found.rows.tolist() == found.predicted.tolist() == np.argsort(expected, kind="stable").tolist()
        assert found.margins == pytest.approx(np.sort(expected), rel=1e-12)
        assert (found.unsure, found.n_pool) == (unsure, 4)
        assert [reason.partition("rank ")[2] for reason in found.reasons] == [f"{k} of 4" for k in (1, 2, 3, 4)]
    assert hs.query(Says(f), pool, k=3, n_audit=9).audit_rows.tolist() == [3]
    assert not hs.query(Says(f), pool, k=9, n_audit=9).audit_rows.size
    tied = hs.query(Says([1.0, 1.0, 0.5, 1.0]), pool, k=4)
    assert tied.rows[0] == 2
    assert [reason.partition("rank ")[2] for reason in tied.reasons] == ["1 of 4", *["2 of 4"] * 3]


def test_a_batch_is_the_farthest_first_order_of_the_near_half():
    """Of the 2k nearest, but of no more than half the pool, each next is farthest from all taken; columns by their spread."""
    questions, rng = import_module("halfspace.questions.query"), np.random.default_rng(2)
    for n, k, candidates in ((7, 2, 4), (6, 2, 3), (20, 2, 4), (3, 3, 3), (9, 1, 2), (2, 1, 1), (40, 6, 12)):
        pool = numbered(n, 7.0 * rng.standard_normal(n), np.full(n, 4.0))
        margins = rng.permutation(n) / n
        near = np.argsort(margins)[:candidates]
        A = pool[near] / [pool[near, 0].std() or 1.0, pool[near, 1].std() or 1.0, 1.0]
        taken = [0]
        while len(taken) < k:
            nearest = [min(((a - A[t]) ** 2).sum() for t in taken) for a in A]
            taken.append(int(np.argmax(nearest)))
        found = hs.query(Says(margins), pool, k=k)
        assert set(found.rows.tolist()) == set(near[taken].tolist())
    assert questions._smallest(np.array([2.0, 1.0, 1.0, 0.0, 1.0]), 4).tolist() == [3, 1, 2, 4]
    assert questions._spread(np.ones((3, 1)), 3).tolist() == [0, 1, 2]
    assert questions.WIDER == 2
    defaults = signature(hs.query).parameters
    assert [defaults[name].default for name in ("k", "n_audit", "random_state")] == [20, 0, 0]
    random = hs.query(Says(np.ones(30)), numbered(30), k=10, strategy="random", n_audit=20)
    assert len({*random.rows.tolist(), *random.audit_rows.tolist()}) == 30
    assert np.isnan(random.margins).all()


def test_audits_at_their_ends():
    """No error has the lower end 0, nothing but errors the upper end 1; levels are between 0 and 1, and rows are needed."""
    for errors, n, level in ((0, 1, 0.95), (1, 1, 0.95), (1, 3, 0.5)):
        found = hs.audit(np.arange(n) < errors, np.zeros(n, dtype=bool), level=level)
        assert (found.errors, found.n, found.level) == (errors, n, level)
        tail = (1.0 - level) / 2.0
        assert found.low == pytest.approx(0.0 if not errors else 1.0 - (1.0 - tail) ** (1.0 / n), rel=1e-9)
        assert (found.high == 1.0) if errors == n else (binom.cdf(errors, n, found.high) == pytest.approx(tail))
    assert signature(hs.audit).parameters["level"].default == 0.95
    for wrong in (0.0, 1.0, 1):
        with pytest.raises(InputError, match="level"):
            hs.audit([0], [0], level=wrong)
    for labels in ([], [[0, 1]]):
        with pytest.raises(InputError, match="at least one"):
            hs.audit(labels, labels)


def test_what_is_asked_must_be_whole_numbers():
    """k is at least 1, rows of the audit at least 0, and neither is True or a fraction."""
    assert hs.query(MODEL, POOL, k=1, n_audit=0).rows.size == 1
    for wrong in ({"k": True}, {"n_audit": True}, {"k": 1.5}, {"n_audit": 0.5}, {"k": 0}, {"n_audit": -1}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            hs.query(MODEL, POOL, **wrong)
    for wrong in (SimpleNamespace(predict=len), SimpleNamespace(decision_function=len), SimpleNamespace(predict_proba=len)):
        with pytest.raises(InputError, match="decision_function or predict_proba"):
            hs.query(wrong, POOL)


def test_a_model_that_encodes_gets_the_pool_as_it_is():
    """Any other gets the numbers that were checked; labelled rows are encoded as the pool is."""
    seen = []

    class Table(SimpleNamespace):
        def decision_function(self, pool):
            seen.append(pool)
            return np.array([0.5, -2.0, 1.0])

        def predict(self, pool):
            return np.arange(len(pool))

    words = ["one", "three", "sixteen"]
    lengths = lambda pool: np.array([[float(len(word))] for word in pool])  # noqa: E731
    found = hs.query(Table(encode=lengths), words, k=2, labelled=(["a", "bb", "ccccccccc"], [0, 0, 1]))
    assert seen.pop() is words
    assert found.rows.tolist() == [0, 2]
    assert not found.forced
    assert hs.query(Table(encode=lengths), ["x", "y", "a very long word"], k=3, labelled=(["", "bb", "cccc"], [0, 0, 1])).forced
    hs.query(Table(), [[3], [5], [16]], k=2)
    assert seen[-1].tolist() == [[3.0], [5.0], [16.0]]
    assert isinstance(seen[-1], np.ndarray)


@pytest.mark.parametrize("classes", [2, 3, 4, 6])
@pytest.mark.parametrize("asked", ["decision_function", "predict_proba"])
def test_a_lead_is_that_of_the_first_over_the_second(asked, classes):
    """Of any number of classes, by outputs or by probabilities; unsure is below 1 or one half."""
    found = np.random.default_rng(classes).uniform(0.0, 2.0, size=(40, classes))
    model = SimpleNamespace(**{asked: lambda _: found})
    lead, unsure, best = import_module("halfspace.questions.query")._margins(model, None, None)
    expected = [first - second for *_, second, first in map(sorted, found.tolist())]
    assert lead.tolist() == expected
    assert unsure.tolist() == [value < (1.0 if asked == "decision_function" else 0.5) for value in expected]
    assert best.tolist() == [row.index(max(row)) for row in found.tolist()]
