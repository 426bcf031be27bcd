"""Kernel values: right, the same for every storage, with rounding inside its bound."""

import numpy as np
import pytest
from scipy import sparse
from scipy.interpolate import BSpline as Spline
from scipy.stats import multivariate_normal
from sklearn.metrics.pairwise import cosine_similarity, polynomial_kernel, rbf_kernel, sigmoid_kernel

from halfspace import IsotropicMixture
from halfspace.errors import InputError
from halfspace.kernels import (
    RBF,
    BSpline,
    ConditionalExpectation,
    Cosine,
    FromFunction,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    base,
)
from halfspace.kernels.parameters import median_distance
from halfspace.rows.threads import alone


@pytest.mark.parametrize(
    ("textbook", "formula"),
    [
        (Linear(), lambda A, B: A @ B.T),
        (Polynomial(3, 0.5, 2.0), lambda A, B: polynomial_kernel(A, B, degree=3, gamma=0.5, coef0=2.0)),
        (RBF(0.7), lambda A, B: rbf_kernel(A, B, gamma=0.7)),
        (Laplacian(0.7), lambda A, B: np.exp(-0.7 * np.linalg.norm(A[:, None] - B[None], axis=2))),
        (Cosine(), cosine_similarity),
        (Sigmoid(0.7, -0.5), lambda A, B: sigmoid_kernel(A, B, gamma=0.7, coef0=-0.5)),
    ],
    ids=lambda value: "formula" if callable(value) and not hasattr(value, "exact") else str(value),
)
def test_textbook_kernels_have_their_formula(textbook, formula, A, B):
    """Each kernel is what the textbook, or scikit-learn, says."""
    assert np.allclose(textbook.exact(A, B), formula(A, B), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("order", range(8))
def test_splines_are_splines(order):
    """B_{2n+1} agrees with SciPy's basis spline, is a probability density, and vanishes outside."""
    m = 2 * order + 1
    knots = np.arange(m + 2) - (m + 1) / 2
    t = np.linspace(knots[0], knots[-1], 401)
    values = BSpline(order).exact(t[:, None], np.zeros((1, 1)))[:, 0]
    assert np.allclose(values, Spline.basis_element(knots, extrapolate=False)(t), atol=1e-12)
    assert np.isclose(np.trapezoid(values, t), 1.0, atol=1e-3)
    assert BSpline(order)([knots[-1] + 0.1], [0.0]) == 0.0


def test_a_mixture_gives_the_expectation_over_its_components(A, B):
    """Σ_c P(c) p(x|c) p(x'|c), with the densities of the components themselves."""
    from sklearn.mixture import GaussianMixture

    model = GaussianMixture(3, random_state=0).fit(np.concatenate([A, B]))
    parts = [multivariate_normal(mean, cov) for mean, cov in zip(model.means_, model.covariances_, strict=True)]
    expected = sum(p * np.outer(part.pdf(A), part.pdf(B)) for p, part in zip(model.weights_, parts, strict=True))
    assert np.allclose(ConditionalExpectation(model).exact(A, B), expected, rtol=1e-9)
    plain = ConditionalExpectation(model, density=False).exact(A, B)
    lengths = np.exp(model.score_samples(A))[:, None] * np.exp(model.score_samples(B))[None]
    assert np.allclose(plain * lengths, expected, rtol=1e-9)


def test_a_classifier_gives_probabilities_over_priors(A, B):
    """Σ_c p(c|x) p(c|x') / P(c), the priors learnt as means; rows of probabilities need no model."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(A, np.arange(len(A)) % 3)
    P, Q = model.predict_proba(A), model.predict_proba(B)
    expected = (P / P.mean(axis=0)) @ Q.T
    assert np.allclose(ConditionalExpectation(model).resolved(A).exact(A, B), expected)
    assert np.allclose(ConditionalExpectation().resolved(P).exact(P, Q), expected)


def test_dense_and_sparse_rows_agree(kernel, A, B):
    """The storage of the rows, array or CSR, does not matter; nor does mixing them."""
    A, B = np.where(np.abs(A) < 0.4, 0.0, A), np.where(np.abs(B) < 0.4, 0.0, B)
    K = kernel.exact(A, B)
    for first, second in [
        (sparse.csr_array(A), sparse.csr_array(B)),
        (sparse.csr_matrix(A), B),
        (A, sparse.csr_matrix(B)),
    ]:
        assert np.allclose(kernel.exact(first, second), K, rtol=1e-11, atol=1e-12)
        assert np.allclose(kernel.matrix(first, second), K, rtol=1e-11, atol=1e-7)  # compiled roots of rounded squares
    assert np.allclose(kernel.exact_diagonal(sparse.csr_array(A)), kernel.exact_diagonal(A), rtol=1e-11, atol=1e-12)
    assert kernel.rounding(sparse.csr_array(A), B) >= 0.0


def test_matrix_and_exact_agree(kernel, A, B):
    """The fast form is the plain form, in both precisions."""
    assert np.allclose(kernel.matrix(A, B), kernel.exact(A, B), rtol=1e-11, atol=1e-7)  # compiled roots of rounded squares
    K = kernel.matrix(A)
    assert np.allclose(K, kernel.exact(A), rtol=1e-11, atol=1e-7)
    assert np.array_equal(np.diagonal(K), kernel.exact_diagonal(A))
    single = kernel.matrix(A.astype(np.float32), B.astype(np.float32))
    assert single.dtype == np.float32
    assert kernel.matrix(A.astype(np.float32), B).dtype == np.float64
    assert kernel.matrix(A, B, dtype=np.float32).dtype == np.float32
    assert np.allclose(single, kernel.exact(A, B), rtol=1e-4, atol=1e-4)


def test_the_matrix_is_symmetric_and_has_the_diagonal(kernel, A):
    """K = Kᵀ to the last bit, with k(x, x) on the diagonal."""
    K = kernel.exact(A)
    assert np.allclose(K, K.T, rtol=0.0, atol=2 * kernel.rounding(A))
    assert np.array_equal(np.diagonal(K), kernel.exact_diagonal(A))


def test_blocks_and_threads_change_nothing(kernel, A, B, monkeypatch):
    """Many small blocks, by one thread or several, give the same numbers."""
    whole = kernel.exact(A, B)
    monkeypatch.setattr(base, "BLOCK_VALUES", 40)
    monkeypatch.setattr("halfspace.kernels.fast.blocked_products.fill", lambda *_: False)
    out, again = np.empty(whole.shape), np.empty(whole.shape)
    base._fill_in_blocks(kernel, A, B, out)
    with alone():
        base._fill_in_blocks(kernel, A, B, again)
    assert np.array_equal(out, again)
    assert np.allclose(out, whole, rtol=1e-11, atol=1e-12)
    square = kernel.matrix(A)
    assert np.allclose(square, kernel.exact(A), rtol=1e-11, atol=1e-12)
    assert not kernel.is_symmetric() or np.array_equal(square, square.T)


def test_two_rows_give_a_number(kernel, A, B):
    """k(a, b) of single rows is the entry of the matrix."""
    value = kernel(A[0], B[1])
    assert isinstance(value, float)
    assert np.isclose(value, kernel.exact(A, B)[0, 1], rtol=1e-11, atol=1e-12)
    assert np.allclose(kernel(A, B), kernel.exact(A, B), rtol=1e-11, atol=1e-7)


def test_distances_in_feature_space(finite, A, B):
    """‖φ(a) - φ(b)‖ is the distance of the explicit features."""
    P, Q = finite.mapped(A), finite.mapped(B)
    expected = np.linalg.norm(P[:, None] - Q[None], axis=2)
    scale = 1.0 + np.abs(P).max()
    assert np.allclose(finite.distance(A, B), expected, atol=1e-6 * scale)
    assert np.isclose(finite.distance(A[0], B[0]), expected[0, 0], atol=1e-6 * scale)


def test_nearest_in_feature_space(A, B, monkeypatch):
    """The nearest rows come in order, and an example finds itself."""
    away, found = RBF(0.5).nearest(A, B, n_neighbors=3)
    D = np.linalg.norm(A[:, None] - B[None], axis=2)
    assert np.array_equal(found, np.argsort(D, axis=1, kind="stable")[:, :3])
    assert (np.diff(away, axis=1) >= 0).all()
    monkeypatch.setattr(base, "BLOCK_VALUES", 50)
    assert np.array_equal(RBF(0.5).nearest(A, A)[1][:, 0], np.arange(len(A)))
    with pytest.raises(InputError, match="from 1 to the 17 rows"):
        RBF(0.5).nearest(A, B, n_neighbors=18)


def test_scale_is_scikit_learns(A):
    """gamma="scale" is 1 / (d Var X), for dense and sparse rows, and 1 for constant data."""
    for kernel in (RBF(), Laplacian(), Polynomial(gamma="scale"), Sigmoid()):
        assert np.isclose(kernel.resolved(A).gamma, 1.0 / (4 * A.var()))
        assert np.isclose(kernel.resolved(sparse.csr_array(A)).gamma, 1.0 / (4 * A.var()))
        assert kernel.resolved(np.ones((5, 4))).gamma == 1.0
        assert kernel.with_params(gamma="auto").resolved(A).gamma == 0.25
        assert kernel.resolved(A).resolved(2 * A) == kernel.resolved(A)


def test_the_median_heuristic(A):
    """gamma="median" puts the median pair at exp(-½) (Gaussian) or exp(-1) (exponential), for dense and sparse rows."""
    i, j = np.triu_indices(len(A), 1)
    median = np.median(np.linalg.norm(A[i] - A[j], axis=1))
    assert np.isclose(RBF("median").resolved(A).gamma, 1.0 / (2.0 * median**2))
    assert np.isclose(Laplacian("median").resolved(sparse.csr_array(A)).gamma, 1.0 / median)
    assert RBF("median").resolved(np.zeros((3, 2))).gamma == 1.0
    many = np.random.default_rng(0).normal(size=(400, 3))
    assert median_distance(many) == median_distance(many)
    assert np.isclose(median_distance(many), 2.175, atol=0.1)


def test_precomputed_matrices_are_taken_as_they_are(A, B):
    """fit gets K (n, n), predict K (m, n); values with some examples are columns."""
    K, kernel = RBF(0.5).exact(A), Precomputed()
    assert np.array_equal(kernel.exact(K), K)
    assert np.array_equal(kernel.matrix(K.astype(np.float32)), K.astype(np.float32))
    assert np.array_equal(kernel.exact_diagonal(K), np.ones(len(A)))
    assert np.array_equal(kernel.exact(sparse.csr_array(K)), K)
    wide = RBF(0.5).exact(B, A)
    assert np.array_equal(kernel.matrix(wide), wide)
    assert np.array_equal(kernel.columns(wide, np.array([4, 2])), wide[:, [4, 2]])
    assert kernel.is_precomputed
    assert (kernel + 1).is_precomputed
    assert not RBF().is_precomputed
    assert np.array_equal((2 * kernel + 1).matrix(K), 2 * K + 1)
    with pytest.raises(InputError, match="use columns"):
        kernel.exact(K, K[:3])
    with pytest.raises(InputError, match="square"):
        kernel.exact_diagonal(wide)
    with pytest.raises(InputError, match="square"):
        (kernel + 1).matrix(wide)


def test_functions_of_two_rows(A, B):
    """Any function will do, Numba's too; what returns no number is refused."""
    from numba import njit

    compiled = njit(lambda a, b: np.exp(-0.3 * ((a - b) ** 2).sum()))
    assert np.allclose(FromFunction(compiled).matrix(A, B), RBF(0.3).exact(A, B))
    with pytest.raises(InputError, match="one number"):
        FromFunction(lambda a, b: a + b).exact(A, B)
    with pytest.raises(InputError, match="function of two rows"):
        FromFunction(3)
    with pytest.raises(InputError, match="error must be"):
        FromFunction(lambda a, b: 0.0, error=-1.0)  # noqa: ARG005


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RBF(-1.0), "gamma must be a number > 0"),
        (lambda: RBF(0.0), "gamma must be"),
        (lambda: RBF(np.nan), "gamma must be"),
        (lambda: RBF("wide"), "gamma must be"),
        (lambda: RBF(10**400), "gamma must be"),
        (lambda: RBF(True), "gamma must be"),
        (lambda: Laplacian(np.inf), "gamma must be"),
        (lambda: Polynomial(0), "degree must be a whole number >= 1"),
        (lambda: Polynomial(2.5), "degree must be"),
        (lambda: Polynomial(2, gamma="median"), "gamma must be"),
        (lambda: Polynomial(2, coef0=np.inf), "coef0 must be a finite number"),
        (lambda: Sigmoid(1.0, "1"), "coef0 must be"),
        (lambda: BSpline(-1), "order must be"),
        (lambda: BSpline(8), "at most 7"),
        (lambda: BSpline(1, scale=0.0), "scale must be"),
        (lambda: ConditionalExpectation(3), "predict_proba"),
        (lambda: ConditionalExpectation(priors=(0.5, -0.5)), "priors must be"),
        (lambda: ConditionalExpectation(density=True), "score_samples"),
        (lambda: RBF(1.0) ** 0, "exponent must be"),
        (lambda: RBF(1.0) * np.inf, None),
        (lambda: Linear().on([]), "at least one column"),
        (lambda: Linear().on([-1]), "column numbers >= 0"),
        (lambda: Linear().after(3), "transformer or a function"),
    ],
)
def test_bad_parameters_are_refused(make, words):
    """Every message says who, what was expected and what came."""
    with pytest.raises(InputError if words else TypeError, match=words):
        make()


def test_bad_rows_are_refused(A, B):
    """Rows that are not finite, empty, or of another width; values too large; parameters not learnt yet."""
    for kernel in (RBF(1.0), Linear() + 1, BSpline()):
        for method in (kernel.exact, kernel.matrix):
            with pytest.raises(InputError, match="NaN"):
                method(np.where(A > 1.0, np.nan, A), B)
            with pytest.raises(InputError, match="4 columns and B has 3"):
                method(A, B[:, :3])
            with pytest.raises(InputError, match=r"shape \(n, d\)"):
                method(A[0], B[0])
            with pytest.raises(InputError, match="finite numbers"):
                method([["a"]], [["b"]])
    with pytest.raises(InputError, match="too large"):
        Polynomial(9).exact(1e200 * A, B)
    with pytest.raises(InputError, match="too large"):
        Polynomial(9).matrix(1e200 * A, B)
    with pytest.raises(InputError, match=r"call resolved\(X\)"):
        RBF().exact(A, B)
    with pytest.raises(InputError, match=r"call resolved\(X\)"):
        (Linear() + RBF()).matrix(A, B)
    with pytest.raises(InputError, match="column 7 wanted"):
        Linear().on([7]).exact(A)
    with pytest.raises(InputError, match="float32 or float64"):
        RBF(1.0).matrix(A, dtype=np.int64)
    with pytest.raises(InputError, match="2 priors"):
        ConditionalExpectation(priors=(0.5, 0.5)).exact(A)


def test_lengths_near_the_limits_of_floats_do_not_hurt_the_cosine():
    """Rows of length 1e-200 and 1e200 have an angle too."""
    X = np.array([[3e-200, 4e-200], [3e200, 4e200], [4.0, -3.0]])
    expected = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert np.allclose(Cosine().exact(X), expected, atol=1e-15)
    assert np.allclose(Cosine().exact(sparse.csr_array(X)), expected, atol=1e-15)


def test_our_own_mixture_is_a_model_of_causes():
    """An IsotropicMixture gives the kernel of its own densities, Σ_c P(c) p(x|c) p(x'|c), a prototype without rows included."""
    X = np.random.default_rng(0).standard_normal((40, 2)) + np.repeat([[0.0, 0.0], [6.0, 0.0]], 20, axis=0)
    mixture = IsotropicMixture(2, random_state=0).fit(X)
    distances = ((X[:, None] - mixture.prototypes_) ** 2).sum(axis=2)
    densities = np.exp(-0.5 * distances / mixture.sigma_**2) / (2 * np.pi * mixture.sigma_**2)
    expected = densities * mixture.weights_ @ densities.T
    np.testing.assert_allclose(ConditionalExpectation(mixture).exact(X), expected, rtol=1e-9)
    mixture.weights_, mixture.prototypes_ = np.append(mixture.weights_, 0.0), np.vstack([mixture.prototypes_, [[9.0, 9.0]]])
    np.testing.assert_allclose(ConditionalExpectation(mixture).exact(X), expected, rtol=1e-9)
