"""The elbow: errors over the number of prototypes, each with its proof."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.svm import SVC

from halfspace import IsotropicMixture, KMeans, elbow
from halfspace.errors import InputError


def clouds(n=60, d=4):
    rng = np.random.default_rng(0)
    return 6.0 * rng.standard_normal((3, d))[np.arange(n) % 3] + rng.standard_normal((n, d))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_every_row_of_the_table_is_proved(kind):
    """Errors fall with K, never below the certified bound, start at the scatter about the mean, and all verify."""
    X = clouds()
    table = elbow(kind(X), [3, 1, 2, 5])
    assert table.Ks.tolist() == [1, 2, 3, 5]
    assert (np.diff(table.errors) < 0.0).all()
    assert (table.lowers <= table.errors).all()
    assert_allclose(table.errors[0], ((X - X.mean(axis=0)) ** 2).sum())
    assert_allclose(table.lowers[0], table.errors[0])
    assert table.rows[0].relative == pytest.approx(1.0)
    assert all(row.certificate.verify(stored(X)) for row in table for stored in (np.asarray, sparse.csr_array))
    assert len(table) == 4
    assert table.outcome.converged


def test_the_table_prints_with_its_caveat(capsys):
    """The printed table has a line per K and says what errors can be compared with; verbose tells each K."""
    text = str(elbow(clouds(), [1, 4], verbose=1))
    assert text.splitlines()[1].split()[0] == "1"
    assert "same K" in text
    assert "hint" in text
    assert capsys.readouterr().err.count("[elbow] K =") == 2


def test_weights_are_those_of_repeated_rows():
    """A weight of 2 counts as a row twice."""
    X, s = clouds(), np.arange(60) % 3
    model = KMeans(init="farthest", tol=0.0)
    weighted = elbow(X, [1, 3], estimator=model, sample_weight=s.astype(float))
    repeated = elbow(np.repeat(X, s, axis=0), [1, 3], estimator=model)
    assert_allclose(weighted.errors, repeated.errors)
    assert_allclose(weighted.lowers, repeated.lowers)


def test_an_interrupt_and_a_spent_budget_keep_what_is_done(monkeypatch):
    """Ctrl-C and max_time end the table early, and it says so."""
    assert elbow(clouds(), [1, 2, 3], max_time=1e-9).Ks.tolist() == [1]
    module = sys.modules["halfspace.models.prototypes.elbow"]  # the name in the package is that of the function
    real = module._fitted

    def interrupted(estimator, K, *rest):
        if K == 3:
            raise KeyboardInterrupt
        return real(estimator, K, *rest)

    monkeypatch.setattr(module, "_fitted", interrupted)
    table = elbow(clouds(), [1, 2, 3])
    assert_array_equal(table.Ks, [1, 2])
    assert table.outcome.reason == "interrupted"
    assert "Interrupted" in str(table)
    with pytest.raises(KeyboardInterrupt):
        elbow(clouds(), [3])


@pytest.mark.parametrize("Ks", [[], [0], [2, 2], [61], [1.5], [True], "12", 3.0], ids=str)
def test_unusable_numbers_of_prototypes_are_refused(Ks):
    """Numbers that are not different, whole and possible are refused by name."""
    with pytest.raises(InputError, match="Ks"):
        elbow(clouds(), Ks)


def test_models_without_a_quantisation_error_are_refused():
    """A mixture's likelihood is no quantisation error, and a model without prototypes has none."""
    with pytest.raises(InputError, match="quantisation"):
        elbow(clouds(), [2], estimator=IsotropicMixture())
    with pytest.raises(InputError, match="n_clusters"):
        elbow(clouds(), [2], estimator=SVC())


def test_the_picture_shows_errors_and_bounds():
    """The display draws the errors, the certified bounds and the band between them."""
    pytest.importorskip("matplotlib").use("Agg")
    from halfspace.plots import ElbowDisplay

    table = elbow(clouds(), [1, 2, 3])
    display = ElbowDisplay.from_elbow(table)
    assert_array_equal(display.ax_.lines[0].get_ydata(), table.errors)
    assert_array_equal(display.ax_.lines[1].get_ydata(), table.lowers)
    display.figure_.clf()
