"""The algebra: what each operation is, and that it keeps the proof."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from halfspace.errors import InputError
from halfspace.kernels import RBF, Centered, Constant, Cosine, Laplacian, Linear, Mapped, Polynomial, Sigmoid


def test_finite_maps_give_the_kernel(finite, A, B):
    """<φ(x), φ(x')> = k(x, x') for every kernel with a finite map, fitted on one set and applied to another."""
    phi = finite.feature_map().fit(A)
    K = finite.exact(A, B)
    P, Q = phi.transform(A), phi.transform(B)
    assert np.allclose(P @ Q.T, K, rtol=1e-9, atol=1e-10 * (1 + np.abs(K).max()))
    assert phi.get_feature_names_out().shape == (P.shape[1],)


def test_every_kernel_with_a_reason_is_positive(proved, A, B):
    """No eigenvalue is below what rounding explains, on clouds, lines and far away."""
    assert proved.reason()
    rng = np.random.default_rng(3)
    for X in (A, np.concatenate([A, B, A[:5]]), 0.01 * A, np.outer(rng.normal(size=30), A[0]), A + 10.0):
        K = proved.exact(X)
        error = len(K) * proved.rounding(X) + 8 * len(K) * np.finfo(float).eps * np.linalg.norm(K, 2)
        assert np.linalg.eigvalsh(0.5 * (K + K.T))[0] >= -error


def test_operations_are_what_they_say(A, B):
    """+, *, numbers and powers act on the values."""
    P, Q = Polynomial(2, coef0=1.0), RBF(0.5)
    p, q = P.exact(A, B), Q.exact(A, B)
    for kernel, expected in [
        (P + Q, p + q),
        (P * Q, p * q),
        (3 * P, 3 * p),
        (P * 0.5, 0.5 * p),
        (P**3, p**3),
        (P + 2, p + 2),
        (2 + P, p + 2),
        (sum([P, Q]), p + q),
        (P.on([1, 3]), P.exact(A[:, [1, 3]], B[:, [1, 3]])),
        (P.on(np.array([False, True, False, True])), P.exact(A[:, [1, 3]], B[:, [1, 3]])),
        (P.after(np.abs), P.exact(np.abs(A), np.abs(B))),
    ]:
        assert np.allclose(kernel.exact(A, B), expected, rtol=1e-12)
        assert np.allclose(kernel.exact_diagonal(A), np.diagonal(kernel.exact(A)))


@given(
    st.floats(0.1, 3.0),
    st.floats(0.0, 2.0),
    st.integers(1, 4),
    st.lists(st.lists(st.floats(-2, 2, width=32), min_size=2, max_size=2), min_size=2, max_size=6),
)
@settings(max_examples=40, deadline=None)
def test_a_polynomial_is_a_power_of_a_sum(gamma, coef0, degree, rows):
    """(γ x·x' + c)^m is the m-th power of γ Linear() + c, and m factors are a power."""
    X = np.array(rows)
    whole = Polynomial(degree, gamma, coef0)
    power = (gamma * Linear() + coef0) ** degree
    K = whole.exact(X)
    assert np.allclose(K, power.exact(X), rtol=1e-12, atol=1e-12)
    factors = gamma * Linear() + coef0
    product = factors
    for _ in range(degree - 1):
        product = product * factors
    assert np.allclose(K, product.exact(X), rtol=1e-12, atol=1e-12)
    sizes = np.abs(K).max() + 1
    assert np.abs(K - power.exact(X)).max() <= whole.rounding(X) + power.rounding(X) + 1e-15 * sizes


def test_exponents_add_up(A, B):
    """A product of Gaussians is a Gaussian of the sum, and of columns one of all."""
    product = RBF(0.5) * RBF(0.25)
    assert np.allclose(product.exact(A, B), RBF(0.75).exact(A, B), rtol=1e-12)
    columns = RBF(0.5).on([0, 1]) * RBF(0.5).on([2, 3])
    assert np.allclose(columns.exact(A, B), RBF(0.5).exact(A, B), rtol=1e-12)
    assert np.allclose((RBF(0.25) ** 2).exact(A, B), RBF(0.5).exact(A, B), rtol=1e-12)


def test_normalized_kernels_have_a_diagonal_of_ones(proved, A):
    """k(x, x) = 1 after normalising, 0 for rows that are 0 in feature space, and |k| <= 1."""
    kernel = proved.normalized()
    own = proved.exact_diagonal(A)
    assert np.array_equal(kernel.exact_diagonal(A), np.where(own > 0, 1.0, 0.0))
    assert np.array_equal(np.diagonal(kernel.exact(A)), np.where(own > 0, 1.0, 0.0))
    error = kernel.rounding(A)
    assert np.isinf(error) or np.abs(kernel.exact(A)).max() <= 1.0 + error
    assert np.allclose(Linear().normalized().exact(A), Cosine().exact(A), atol=1e-14)


def test_centered_kernels_have_mean_zero(proved, A, B):
    """Rows and columns of the centred matrix sum to 0, and for new rows it is φ minus the same mean."""
    if isinstance(proved, Centered):
        return  # centring twice is tested below
    kernel = proved.centered().resolved(A)
    K, n = kernel.exact(A), len(A)
    scale = np.abs(proved.exact(A)).max()
    assert np.abs(K.mean(axis=0)).max() <= 1e-12 * scale
    H = np.eye(n) - 1.0 / n
    assert np.allclose(K, H @ proved.exact(A) @ H, atol=1e-12 * scale)
    expected = (proved.exact(B, A) - proved.exact(A).mean(axis=0)) @ H
    assert np.allclose(kernel.exact(B, A), expected, atol=1e-12 * scale)


def test_centering_twice_changes_nothing(A, B):
    """The mean of centred features is 0; resolving again keeps the first reference rows."""
    once = RBF(0.5).centered().resolved(A)
    twice = once.centered().resolved(A)
    assert np.allclose(once.exact(B), twice.exact(B), atol=1e-13)
    assert once.resolved(B) == once
    assert np.allclose(Linear().centered().resolved(A).exact(B), (B - A.mean(axis=0)) @ (B - A.mean(axis=0)).T)
    with pytest.raises(InputError, match="reference rows have 4 columns"):
        once.exact(B[:, :2])


def test_maps_are_fitted_by_resolved(A, B):
    """A transformer that is not fitted is copied and fitted; the one given stays as it was."""
    scaler = StandardScaler()
    kernel = RBF().after(scaler)
    assert not kernel.is_resolved()
    fitted = kernel.resolved(A)
    assert fitted.is_resolved()
    assert not hasattr(scaler, "mean_")
    Z = StandardScaler().fit(A)
    gamma = 1.0 / (4 * Z.transform(A).var())
    assert np.allclose(fitted.exact(B, A), RBF(gamma).exact(Z.transform(B), Z.transform(A)))
    assert fitted.resolved(B) is fitted or np.allclose(fitted.resolved(B).exact(A), fitted.exact(A))
    pca = PCA(2).fit(A)
    assert np.allclose(Linear().after(pca).exact(B), pca.transform(B) @ pca.transform(B).T)


def test_columns_learn_from_their_columns(A):
    """gamma="scale" of a kernel on some columns is theirs."""
    kernel = (RBF().on([0, 1]) + RBF().on([2, 3])).resolved(A)
    assert np.isclose(kernel.left.kernel.gamma, 1.0 / (2 * A[:, :2].var()))
    assert np.isclose(kernel.right.kernel.gamma, 1.0 / (2 * A[:, 2:].var()))


def test_proofs_need_all_their_parts():
    """No reason where a part has none or a factor is negative; the reason names the parts."""
    for kernel in (
        Sigmoid(1.0) + Linear(),
        Sigmoid(1.0) * Linear(),
        Sigmoid(1.0) ** 2,
        2 * Sigmoid(1.0),
        -1 * Linear(),
        Constant(-1.0),
        Polynomial(2, coef0=-0.5),
        Sigmoid(1.0).normalized(),
        Sigmoid(1.0).centered(),
        Sigmoid(1.0).on([0]),
        Mapped(Sigmoid(1.0), np.abs),
    ):
        assert kernel.reason() is None
    text = (RBF(0.5) + Laplacian(0.5)).reason()
    assert "Bochner" in text
    assert "Schoenberg" in text
    assert "sum" in text


def test_what_is_no_kernel_is_not_added():
    """Strings, arrays and None take no part in the algebra."""
    for other in ("rbf", None, [1.0], True):
        with pytest.raises(TypeError):
            Linear() + other
        with pytest.raises(TypeError):
            Linear() * other
    with pytest.raises(InputError, match="FromFunction"):
        Centered(np.dot)
    for kernel in (RBF(1.0), Laplacian(1.0) + 1, Sigmoid(1.0)):
        with pytest.raises(InputError, match="no finite feature map"):
            kernel.feature_map().fit(np.eye(3))
    with pytest.raises(InputError, match="no kernel in general"):
        Polynomial(2, coef0=-1.0).feature_map().fit(np.eye(3))
    with pytest.raises(InputError, match="more than 200000"):
        Polynomial(9).feature_map().fit(np.ones((1, 40)))
