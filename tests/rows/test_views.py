"""Views and row operations."""

import numpy as np
import pytest
from scipy import sparse

from halfspace import AdaTron, Perceptron
from halfspace.rows import views
from halfspace.rows.operations import outputs, squared_norms
from halfspace.rows.views import CSR, Clamped, Gram, axpy, dot, entries_per_row, n_columns, n_rows, sqlength, sqnorm, view_of

X = np.array([[1.0, 0.0, 2.0], [0.0, -3.0, 0.5]])


def storages():
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    return [X, np.asfortranarray(X), X.astype(np.float32), sparse.csr_matrix(X), sparse.csr_array(X.astype(np.float32)), wide]


@pytest.mark.parametrize("matrix", storages(), ids=lambda m: f"{type(m).__name__}-{m.dtype}")
@pytest.mark.parametrize("clamp", [0.0, 0.5])
def test_the_three_operations(matrix, clamp):
    """dot, axpy and sqnorm do what they say on every storage, with and without the clamped input."""
    view = view_of(matrix, clamp)
    full = np.column_stack([X, np.full(2, clamp)]) if clamp else X
    w = np.arange(1.0, full.shape[1] + 1)
    assert (n_rows(view), n_columns(view)) == full.shape
    for i in range(2):
        assert dot(view, i, w) == pytest.approx(full[i] @ w)
        assert sqnorm(view, i) == pytest.approx(full[i] @ full[i])
        moved = w.copy()
        axpy(-2.0, view, i, moved)
        np.testing.assert_allclose(moved, w - 2.0 * full[i])
    np.testing.assert_allclose(squared_norms(view), (full**2).sum(axis=1))
    np.testing.assert_allclose(outputs(view, np.stack([w, -w])), np.stack([full @ w, -full @ w], axis=1))


def test_long_column_numbers_are_read_as_they_are():
    """A view of 64-bit numbers, which matrices beyond 2**32 entries have, reads the same rows."""
    S = sparse.csr_matrix(X)
    long = CSR(S.data, S.indices.astype(np.uint64), S.indptr.astype(np.uint64), 3)
    w = np.array([1.0, 2.0, 3.0])
    assert [dot(long, i, w) for i in range(2)] == [dot(view_of(S), i, w) for i in range(2)]
    assert [sqnorm(long, i) for i in range(2)] == [5.0, 9.25]


def test_kernel_rows():
    """In a Gram view the weights are the outputs of all rows: a product reads one, adding a row adds a row of the matrix."""
    K, alpha, y = X @ X.T, np.array([1.0, 2.0]), np.array([1.0, -1.0])
    outputs = K @ (alpha * y)
    assert dot(Gram(K), 1, outputs) == outputs[1]
    assert sqlength(Gram(K), outputs, alpha, y) == pytest.approx((alpha * y) @ K @ (alpha * y))
    axpy(0.5, Gram(K), 0, outputs)
    assert outputs == pytest.approx(K @ [1.5, -2.0])
    assert sqnorm(Gram(K), 1) == K[1, 1]
    assert (n_rows(Gram(K)), n_columns(Gram(K)), entries_per_row(Gram(K))) == (2, 2, 2.0)


@pytest.mark.parametrize("view", [X, view_of(sparse.csr_array(X)), Clamped(X, 1.0)], ids=["dense", "sparse", "clamped"])
def test_the_length_of_weights_that_are_known_is_their_own(view):
    """Outside a kernel's space the squared length is that of the weights, whatever the strengths."""
    assert sqlength(view, np.array([3.0, 4.0]), np.zeros(2), np.ones(2)) == 25.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_is_copied_that_need_not_be(dtype):
    """C-ordered arrays and canonical CSR matrices are read where they lie."""
    A = np.ones((4, 3), dtype=dtype)
    assert np.shares_memory(view_of(A), A)
    S = sparse.csr_matrix(A)
    view = view_of(S, 1.0)
    assert isinstance(view, Clamped)
    assert isinstance(view.rows, CSR)
    assert np.shares_memory(view.rows.data, S.data)
    assert np.shares_memory(view.rows.indices, S.indices)


def test_read_only_arrays_are_read_where_they_lie():
    """A read-only array is neither copied nor written to, and needs no compilation of its own."""
    A = np.arange(6.0).reshape(2, 3)
    A.setflags(write=False)
    view = view_of(A)
    assert np.shares_memory(view, A)
    assert view.flags.writeable
    assert dot(view, 1, np.ones(3)) == 12.0


def test_duplicate_entries_are_added_up_in_a_copy():
    """A CSR matrix with an entry stored twice means their sum, and is not changed by us."""
    S = sparse.csr_matrix((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    assert sqnorm(view_of(S), 0) == 9.0
    assert S.data.tolist() == [1.0, 2.0]


@pytest.mark.compiled
def test_many_rows_in_threads_are_the_same():
    """Outputs and norms of many rows, computed in threads, are bit for bit those of the rows alone."""
    rng = np.random.default_rng(0)
    A, w = rng.standard_normal((30_001, 40)), rng.standard_normal((2, 40))
    whole = outputs(A, w)
    for i in (0, 15_000, 15_001, 30_000):
        np.testing.assert_array_equal(outputs(A[i : i + 1], w)[0], whole[i])
        np.testing.assert_array_equal(squared_norms(A[i : i + 1])[0], squared_norms(A)[i])


@pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "CSR"])
def test_asking_for_rows_ahead_changes_no_bit(storage, monkeypatch):
    """A fit, its order and its outputs are the same whether later rows are asked for or not."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 40)) * (rng.random((300, 40)) < 0.5)
    y = rows[:, 0] + rng.normal(size=300) > 0.0
    models = []
    for near in (0, 1 << 40):
        monkeypatch.setattr(views, "NEAR", near)
        monkeypatch.setattr(views, "NEAREST", near)
        assert (views.lead_of(view_of(storage(rows))) > 0) == (near == 0)
        machine = AdaTron(tol=1e-6).fit(sparse.csr_matrix(np.tile(rows, (8, 1))), np.tile(y, 8))
        models.append((Perceptron(max_iter=5, random_state=0).fit(storage(rows), y), machine))
    for one, other in zip(*models, strict=True):
        np.testing.assert_array_equal(one.coef_, other.coef_)
        np.testing.assert_array_equal(one.decision_function(storage(rows)), other.decision_function(storage(rows)))


def test_how_far_ahead_to_ask():
    """About as many bytes whatever a row's length; nothing for rows in cache or of a kernel matrix."""
    wide, narrow = np.zeros((10, 500_000)), np.zeros((500_000, 10))
    assert views.lead_of(wide) == 1
    assert views.lead_of(Clamped(narrow, 1.0)) == 1 + views.LEAD // 80
    assert views.lead_of(X) == views.lead_of(Gram(np.zeros((2000, 2000)))) == 0
    views.ahead(Gram(X), 0)  # plain Python has nothing to ask
    views.ahead(view_of(sparse.csr_matrix(X), 1.0), 0)
    assert views.lead_of(np.zeros((1000, 100)), scattered=True) > 0
