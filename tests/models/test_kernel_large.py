"""Kernel machines for many examples: one per cell; approximate, said so, and each part proved."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons

import halfspace as hs
from halfspace.certificates import KernelGap, OneLabel, PerCell, check, from_json
from halfspace.certificates.groups import nearest_centres
from halfspace.errors import CertificateError, GapWarning, InputError
from halfspace.kernels import RBF
from halfspace.models.kernel.cells import cut

every_kind = pytest.mark.parametrize("intercept", ["clamped", "free", "none"])


def moons(n=60, noise=0.2, seed=0):
    return make_moons(n, noise=noise, random_state=seed)


def three(n=60):
    """Return three classes, of which some cells hold only one or two."""
    return make_blobs(n, centers=[[0, 0], [1.5, 0], [8, 8]], random_state=0)


def proved(model, data, labels, path=None):
    verdict = model.certificate_.verify(data, labels)
    assert verdict, str(verdict)
    if path is not None:
        model.certificate_.to_json(path)
        assert check(path, data, labels)
    assert np.isfinite(model.decision_function(data)).all()
    assert "approximation" in str(model.outcome_)


@every_kind
@pytest.mark.parametrize("labels", ["two", "three"])
def test_approximate_fits_are_proved_and_say_what_they_are(intercept, labels, tmp_path):
    """Every part has a true certificate, also from a file, and the outcome says that the answer is approximate."""
    data, target = moons() if labels == "two" else three()
    target = np.array(["a", "b", "c"])[target]
    model = hs.KernelAdaTron(C=5.0, gamma=1.0, intercept=intercept, n_cells=3).fit(data, target)
    proved(model, data, target, tmp_path / "proof.json")
    assert model.outcome_.reason == "converged"
    assert model.score(data, target) > 0.7
    classes = 1 if labels == "two" else 3
    assert model.alpha_.shape == ((60,) if classes == 1 else (3, 60))
    assert model.dual_coef_.shape[0] == classes
    assert model.decision_function(data).shape == ((60,) if classes == 1 else (60, 3))
    assert not model.certificate_.verify(data, target[::-1])
    assert not model.certificate_.verify(data * 1.01, target)


def test_weights_of_zero_leave_out():
    """An example without weight plays no part, and the certificate holds on all the data."""
    data, labels = moons()
    s = np.ones(60)
    s[::4] = 0.0
    model = hs.KernelAdaTron(C=5.0, gamma=1.0, n_cells=3).fit(data, labels, sample_weight=s)
    assert not model.alpha_[s == 0].any()
    proved(model, data, labels)
    with pytest.raises(InputError, match="positive weight"):
        clone(model).fit(data, labels, sample_weight=labels * 1.0)


def test_sparse_rows_single_precision_and_memory_maps(tmp_path):
    """CSR rows, float32 and rows on disk are taken as they are."""
    data, labels = moons()
    np.save(tmp_path / "X.npy", data)
    given = [sparse.csr_array(data), np.load(tmp_path / "X.npy", mmap_mode="r")]
    plain = hs.KernelAdaTron(C=5.0, gamma=1.0, n_cells=3).fit(data, labels)
    for rows in given:
        model = hs.KernelAdaTron(C=5.0, gamma=1.0, n_cells=3).fit(rows, labels)
        proved(model, rows, labels)
        assert_allclose(model.decision_function(rows), plain.decision_function(data), atol=0.1)
    small = data.astype(np.float32)
    proved(hs.KernelAdaTron(C=5.0, gamma=1.0, n_cells=3).fit(small, labels), small, labels)


def test_answers_do_not_depend_on_threads():
    """The same seed gives the same machines for any number of threads."""
    data, labels = three()
    first, second = (hs.KernelAdaTron(C=5.0, gamma=1.0, n_jobs=jobs, n_cells=3).fit(data, labels) for jobs in (1, 2))
    assert_array_equal(first.alpha_, second.alpha_)
    assert_array_equal(first.decision_function(data), second.decision_function(data))


def test_what_does_not_go_together_is_refused():
    """Pairs of classes and precomputed matrices are refused by name."""
    data, labels = three()
    with pytest.raises(InputError, match="multi_class"):
        hs.KernelAdaTron(multi_class="ovo", n_cells=3).fit(data, labels)
    with pytest.raises(InputError, match="precomputed"):
        hs.KernelAdaTron("precomputed", n_cells=3).fit(RBF(1.0).exact(data, data), labels)
    with pytest.raises(InputError, match=r"proof|semi-definite"):
        hs.KernelAdaTron("sigmoid", gamma=1.0, coef0=-1.0, n_cells=3).fit(data, labels)


def test_a_plain_fit_after_a_large_one_forgets_it():
    """Set back to one machine, the model has a table and a plain certificate again."""
    data, labels = moons()
    model = hs.KernelAdaTron(gamma=1.0, n_cells=3).fit(data, labels)
    model.set_params(n_cells=None).fit(data, labels)
    fresh = hs.KernelAdaTron(gamma=1.0).fit(data, labels)
    assert isinstance(model.certificate_, KernelGap)
    assert_array_equal(model.decision_function(data), fresh.decision_function(data))
    assert len(model.support_table()) == model.support_.size


def test_an_early_end_warns_with_the_true_gap():
    """A spent budget is a warning at the caller's line, and the certificate is true."""
    data, labels = moons(60, 0.4)
    with pytest.warns(GapWarning, match="budget") as caught:
        model = hs.KernelAdaTron(C=100.0, gamma=3.0, tol=1e-7, max_iter=1, solver="sweep", n_cells=3).fit(data, labels)
    assert caught[0].filename == __file__
    proved(model, data, labels)


# ---------------------------------------------------------------- cells
def test_one_cell_is_the_plain_machine():
    """n_cells=1 gives the function of the plain machine."""
    data, labels = moons()
    one = hs.KernelAdaTron(C=5.0, gamma=1.0, n_cells=1, tol=1e-6).fit(data, labels)
    plain = hs.KernelAdaTron(C=5.0, gamma=1.0, tol=1e-6).fit(data, labels)
    assert_allclose(one.decision_function(data), plain.decision_function(data), atol=1e-3)
    assert_allclose(one.intercept_, plain.intercept_, atol=1e-3)


def test_each_cell_has_the_machine_of_its_examples():
    """A row is answered by the machine that was trained on the examples around its nearest centre, alone."""
    data, labels = moons(80)
    model = hs.KernelAdaTron(C=5.0, gamma=1.0, n_cells=4, tol=1e-6).fit(data, labels)
    proof = model.certificate_
    cells = nearest_centres(data, proof.centres)
    assert_array_equal(cells, proof.cells)
    seen = 0
    for k, part in enumerate(proof.parts):
        mine = cells == k
        if isinstance(part, OneLabel):
            assert_array_equal(model.predict(data[mine]), np.full(mine.sum(), part.label))
            continue
        own = hs.KernelAdaTron(C=5.0, gamma=1.0, tol=1e-6).fit(data[mine], labels[mine])
        assert_allclose(model.decision_function(data[mine]), own.decision_function(data[mine]), atol=5e-3)
        seen += 1
    assert seen >= 2


def test_cells_of_one_class_and_of_two_among_three():
    """Where a cell knows only some classes, the others never win there, and a cell of one class predicts it everywhere."""
    data, labels = three()
    model = hs.KernelAdaTron(gamma=1.0, n_cells=2).fit(data, labels)
    kinds = {type(part) for part in model.certificate_.parts}
    assert kinds == {OneLabel, KernelGap}
    far = np.array([[9.0, 9.0], [100.0, 100.0]])
    assert_array_equal(model.predict(far), [2, 2])
    near = data[labels != 2]
    assert set(model.predict(near).tolist()) == {0, 1}
    scores = model.decision_function(near)
    assert (scores[:, 2] < scores[:, :2].min(axis=1)).all()
    with pytest.raises(AttributeError, match="cell"):
        model.support_table()


def test_all_cells_of_one_class():
    """More cells than examples: every example has its cell and its label."""
    data, labels = np.array([[0.0], [1.0], [5.0]]), np.array(["a", "b", "a"])
    model = hs.KernelAdaTron(n_cells=10).fit(data, labels)
    assert_array_equal(model.predict(data), labels)
    proved(model, data, labels)
    assert model.support_.size == 0


def test_equal_examples_share_a_cell():
    """Fewer different rows than cells: fewer cells, without a word from K-means."""
    data, labels = np.repeat([[0.0], [1.0]], 5, axis=0), np.tile([0, 1, 1, 0, 1], 2)
    model = hs.KernelAdaTron(n_cells=4).fit(data, labels)
    assert len(model.certificate_.parts) == 2
    proved(model, data, labels)


def test_no_cell_is_much_larger_than_the_others():
    """A dense lump among far outliers is cut again until its cells have at most twice the mean size."""
    rng = np.random.default_rng(0)
    data = np.vstack([rng.standard_normal((400, 2)), 100.0 * rng.standard_normal((40, 2))])
    centres, cells = cut(data, 10, 0)
    assert np.bincount(cells).max() <= 88
    assert_array_equal(nearest_centres(data, centres), cells)
    assert np.bincount(cells).min() > 0


def test_a_spoilt_proof_of_cells_is_refuted():
    """Cells moved, parts swapped, false or missing: refuted, and what has no sound form is not even read."""
    data, labels = three()
    proof = hs.KernelAdaTron(gamma=1.0, n_cells=3).fit(data, labels).certificate_
    assert proof.verify(data, labels)
    cells = proof.cells.copy()
    cells[0] = (cells[0] + 1) % len(proof.parts)
    gap = next(k for k, part in enumerate(proof.parts) if isinstance(part, KernelGap))
    false = list(proof.parts)
    false[gap] = replace(false[gap], dual=false[gap].primal)
    changes = [
        {"cells": cells},
        {"cells": np.zeros_like(proof.cells)},
        {"cells": np.full_like(proof.cells, -1)},
        {"cells": proof.cells[:-1]},
        {"cells": proof.cells + len(proof.parts)},
        {"cells": proof.cells * 1.0},
        {"centres": proof.centres[::-1]},
        {"centres": proof.centres[:, :1]},
        {"centres": proof.centres * np.nan},
        {"parts": proof.parts[::-1]},
        {"parts": proof.parts[:-1]},
        {"parts": (proof, *proof.parts[1:])},
        {"parts": tuple(false)},
        {"parts": (OneLabel(0),) * len(proof.parts)},
        {"parts": (None,) * len(proof.parts)},
    ]
    for change in changes:
        assert not replace(proof, **change).verify(data, labels), change
    for change in ({"parts": proof.parts[:-1]}, {"cells": proof.cells + 9}, {"parts": (OneLabel([1]),) * 3}):
        with pytest.raises(CertificateError):
            from_json(replace(proof, **change).to_json())
    assert "cells" in str(proof)
    assert proof.relative_gap <= 1e-3


@pytest.mark.compiled
def test_cells_learn_what_one_machine_learns():
    """On 20,000 rows of a checkerboard a machine per cell is right as often as the data allow, in a fraction of the time."""
    rng = np.random.default_rng(0)
    data = rng.uniform(0, 8, (24_000, 2)).astype(np.float32)
    labels = (np.floor(data).sum(axis=1) % 2).astype(int)
    model = hs.KernelAdaTron(C=10.0, gamma=2.0, n_cells=16).fit(data[:20_000], labels[:20_000])
    assert model.score(data[20_000:], labels[20_000:]) > 0.95
    assert model.outcome_.reason == "converged"
    assert isinstance(model.certificate_, PerCell)
    assert model.certificate_.verify(data[:20_000], labels[:20_000])
