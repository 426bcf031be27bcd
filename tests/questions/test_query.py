"""Which rows to label next: the least certain, spread out, with what follows from the labelled ones proved."""

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
    """All chosen rows are among the 3k nearest to the plane, the nearest of all first, and none twice."""
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
