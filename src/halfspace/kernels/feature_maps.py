"""Explicit features: finite maps φ with <φ(x), φ(x')> = k(x, x'), approximate ones, and some for particular shapes.

The maps of scikit-learn (Nystroem, RBFSampler) are used where they know the kernel; the rest is here. All are scikit-learn
transformers.
"""

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from halfspace._matrices import admitted
from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.kernels.base import Kernel
from halfspace.kernels.inner_product import Cosine, Linear, Polynomial, Sigmoid
from halfspace.kernels.parameters import check_count
from halfspace.kernels.radial import RBF, Laplacian

__all__ = ["FeatureMap", "FourierMap", "LandmarkMap", "Lift", "PolarCoordinates", "RandomMasks", "features"]

DIRECTIONS = 1e-12
"""Directions of the landmarks shorter than this, relative to the longest, are rounding and left out."""


def features(kernel: Kernel, n_components: int, method: str, random_state: Any) -> Any:
    """Return a transformer whose inner products approximate the kernel; see `Kernel.features`."""
    from sklearn.kernel_approximation import Nystroem, RBFSampler  # noqa: PLC0415  (slow to import, and seldom needed)

    check_count(n_components, "features", "n_components")
    if method == "nystroem":
        named = _name_in_sklearn(kernel)
        if named is None:
            return LandmarkMap(kernel, n_components=n_components, random_state=random_state)
        return Nystroem(n_components=n_components, random_state=random_state, **named)
    if method != "fourier":
        msg = f"features: method must be 'nystroem' or 'fourier', got {method!r}"
        raise InputError(msg)
    if isinstance(kernel, RBF) and (kernel.is_resolved() or kernel.gamma == "scale"):
        return RBFSampler(gamma=kernel.gamma, n_components=n_components, random_state=random_state)
    if isinstance(kernel, RBF | Laplacian):
        return FourierMap(kernel, n_components=n_components, random_state=random_state)
    msg = f"features: random Fourier features are known for RBF and Laplacian, not for {kernel}; use method='nystroem'"
    raise InputError(msg)


def _name_in_sklearn(kernel: Kernel) -> dict[str, Any] | None:
    """Return the parameters by which scikit-learn knows this kernel; None if it does not, or some are still to be learnt."""
    if not kernel.is_resolved():
        return None
    if isinstance(kernel, Linear | Cosine):
        return {"kernel": type(kernel).__name__.lower()}
    if isinstance(kernel, RBF):
        return {"kernel": "rbf", "gamma": kernel.gamma}
    if isinstance(kernel, Polynomial):
        return {"kernel": "poly", "gamma": kernel.gamma, "degree": kernel.degree, "coef0": kernel.coef0}
    if isinstance(kernel, Sigmoid):
        return {"kernel": "sigmoid", "gamma": kernel.gamma, "coef0": kernel.coef0}
    return None


class _Map(TransformerMixin, BaseEstimator):
    """What the maps here share: checked rows in, an array of floats out, `n_features_out_` of them with a `word` each."""

    word: ClassVar[str]
    n_features_out_: int

    def _checked(self, X: Matrix, *, reset: bool) -> Any:
        """Return rows, checked as scikit-learn does."""
        X = admitted(X, type(self).__name__)
        return validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return a name for every feature: a word and a number."""
        del input_features
        check_is_fitted(self)
        return np.array([f"{self.word}{i}" for i in range(self.n_features_out_)], dtype=object)


class _KernelMap(_Map):
    """A map for a kernel, made of randomly chosen parts."""

    def __init__(self, kernel: Any, *, n_components: int = 100, random_state: Any = 0) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state


class FeatureMap(_Map):
    """The finite feature map of a kernel that has one: inner products of the result are the kernel.

    Parameters
    ----------
    kernel : Kernel
        Made of Linear, Polynomial, Constant, Cosine, ConditionalExpectation by the algebra.

    Examples
    --------
    >>> phi = Polynomial(2).feature_map()
    >>> phi.fit_transform([[1.0, 2.0]])  # x², sqrt(2) x y, y²
    array([[1.        , 2.82842712, 4.        ]])
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def fit(self, X: Matrix, y: Labels | None = None) -> Self:
        """Learn what the kernel learns from the rows X, shape (n, d)."""
        del y
        rows = self._checked(X, reset=True)
        self.kernel_ = self.kernel.resolved(rows)
        self.n_features_out_ = self.kernel_.mapped(rows[:1]).shape[1]
        return self

    def transform(self, X: Matrix) -> FloatArray:
        """Return φ(x_i) for every row, shape (n, D)."""
        check_is_fitted(self, "kernel_")
        rows = self._checked(X, reset=False)
        return self.kernel_.mapped(rows.astype(np.float64, copy=False))

    @property
    def word(self) -> str:  # type: ignore[override]
        """The kernel's kind."""
        return type(self.kernel).__name__.lower()


class LandmarkMap(_KernelMap):
    """Nystroem's map for any kernel value: coordinates in the span of randomly chosen rows, the landmarks.

    Parameters
    ----------
    kernel : Kernel
        A kernel; parameters like gamma="scale" are learnt in `fit`.
    n_components : int
        Number of landmarks; fewer if there are fewer rows, or if they are dependent in feature space.
    random_state : int or None
        Seed of the choice.

    Examples
    --------
    >>> X = np.arange(6.0)[:, None]
    >>> Z = LandmarkMap(Laplacian(1.0), n_components=6).fit_transform(X)  # all rows: exact
    >>> bool(np.allclose(Z @ Z.T, Laplacian(1.0).exact(X)))
    True
    """

    word: ClassVar[str] = "landmark"

    def fit(self, X: Matrix, y: Labels | None = None) -> Self:
        """Choose landmarks among the rows X, shape (n, d)."""
        del y
        rows = self._checked(X, reset=True)
        self.kernel_ = self.kernel.resolved(rows)
        chosen = check_random_state(self.random_state).permutation(rows.shape[0])[: self.n_components]
        self.component_indices_ = np.sort(chosen)
        self.components_ = rows[self.component_indices_]
        values, vectors = np.linalg.eigh(self.kernel_.exact(self.components_))
        kept = values > DIRECTIONS * max(values[-1], 0.0)
        self.normalization_ = vectors[:, kept] / np.sqrt(values[kept])
        self.n_features_out_ = self.normalization_.shape[1]
        return self

    def transform(self, X: Matrix) -> FloatArray:
        """Return the coordinates of every row, shape (n, D)."""
        check_is_fitted(self, "components_")
        rows = self._checked(X, reset=False)
        Z: FloatArray = self.kernel_.matrix(rows, self.components_, dtype=np.float64) @ self.normalization_
        return Z


class FourierMap(_KernelMap):
    """Random Fourier features, sqrt(2/D) cos(ω·x + b), for the Gaussian and the exponential kernel.

    The frequencies ω are drawn from the kernel's Fourier transform: a Gaussian for `RBF`, a multivariate Cauchy distribution
    for `Laplacian`. The error of an inner product falls like 1/sqrt(n_components).

    Parameters
    ----------
    kernel : RBF or Laplacian
        Parameters like gamma="median" are learnt in `fit`.
    n_components : int
        Number of features.
    random_state : int or None
        Seed of the frequencies.

    Examples
    --------
    >>> X = np.arange(4.0)[:, None]
    >>> Z = FourierMap(Laplacian(1.0), n_components=20000).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - Laplacian(1.0).exact(X)).max() < 0.03)
    True
    """

    word: ClassVar[str] = "wave"

    def fit(self, X: Matrix, y: Labels | None = None) -> Self:
        """Draw frequencies for rows like those of X, shape (n, d)."""
        del y
        rows = self._checked(X, reset=True)
        self.kernel_ = self.kernel.resolved(rows)
        random, gamma = check_random_state(self.random_state), float(self.kernel_.gamma)
        self.frequencies_ = random.normal(size=(rows.shape[1], self.n_components))
        if isinstance(self.kernel_, RBF):
            self.frequencies_ *= np.sqrt(2.0 * gamma)
        else:  # a Gaussian of random width, a multivariate t of one degree of freedom
            self.frequencies_ *= gamma / np.abs(random.normal(size=self.n_components))
        self.phases_ = random.uniform(0.0, 2.0 * np.pi, size=self.n_components)
        self.n_features_out_ = self.n_components
        return self

    def transform(self, X: Matrix) -> FloatArray:
        """Return the features of every row, shape (n, n_components)."""
        check_is_fitted(self, "frequencies_")
        angles = np.asarray(self._checked(X, reset=False) @ self.frequencies_) + self.phases_
        Z: FloatArray = np.sqrt(2.0 / self.n_components) * np.cos(angles)
        return Z


class RandomMasks(_Map):
    """Rosenblatt's association units: each sees a few inputs, with random signs, and fires if their sum passes its threshold.

    Parameters
    ----------
    n_components : int
        Number of units.
    n_inputs : int
        Inputs that a unit sees, at most d.
    threshold : float or None
        What the sum must pass; None: for each unit its value on a random row of the training data, so that units fire for
        some of the data and not for the rest.
    random_state : int or None
        Seed of connections, signs and rows.

    Examples
    --------
    >>> import halfspace as hs
    >>> toy = hs.data.checkerboard(200, squares=2)
    >>> units = RandomMasks(300, n_inputs=2).fit_transform(toy.X)
    >>> hs.separability(toy.X, toy.y).verdict, hs.separability(units, toy.y).verdict
    ('inseparable', 'separable')
    """

    word: ClassVar[str] = "unit"

    def __init__(
        self, n_components: int = 100, *, n_inputs: int = 8, threshold: float | None = None, random_state: Any = 0
    ) -> None:
        self.n_components = n_components
        self.n_inputs = n_inputs
        self.threshold = threshold
        self.random_state = random_state

    def fit(self, X: Matrix, y: Labels | None = None) -> Self:
        """Connect the units to inputs of rows like those of X, shape (n, d)."""
        del y
        check_count(self.n_components, "RandomMasks", "n_components")
        check_count(self.n_inputs, "RandomMasks", "n_inputs")
        rows = self._checked(X, reset=True)
        random, d = check_random_state(self.random_state), rows.shape[1]
        seen = min(self.n_inputs, d)
        inputs = np.concatenate([random.choice(d, size=seen, replace=False) for _ in range(self.n_components)])
        signs = random.choice([-1.0, 1.0], size=inputs.size)
        starts = np.arange(0, inputs.size + 1, seen)
        self.n_features_out_ = self.n_components
        self.masks_ = sparse.csr_array((signs, inputs, starts), shape=(self.n_components, d))
        if self.threshold is None:
            examples = rows[random.randint(rows.shape[0], size=self.n_components)]
            examples = examples.toarray() if sparse.issparse(examples) else examples
            self.thresholds_ = np.asarray(self.masks_.multiply(examples).sum(axis=1), dtype=np.float64).ravel()
        else:
            self.thresholds_ = np.full(self.n_components, float(self.threshold))
        return self

    def transform(self, X: Matrix) -> FloatArray:
        """Return 1 for every unit that fires and 0 for the others, shape (n, n_components)."""
        check_is_fitted(self, "masks_")
        sums = self._checked(X, reset=False) @ self.masks_.T
        sums = sums.toarray() if sparse.issparse(sums) else sums
        fired: FloatArray = (np.asarray(sums) > self.thresholds_).astype(np.float64)
        return fired


class _Planar(_Map):
    """A map of two of the columns."""

    def __init__(self, *, columns: tuple[int, int] = (0, 1)) -> None:
        self.columns = columns

    def fit(self, X: Matrix, y: Labels | None = None) -> Self:
        """Check that the columns are there; nothing else is learnt."""
        del y
        rows = self._checked(X, reset=True)
        numbers = tuple(self.columns)
        if len(numbers) != 2 or not all(0 <= j < rows.shape[1] for j in numbers):
            name, d = type(self).__name__, rows.shape[1]
            msg = f"{name}: columns={self.columns!r} are not two of the columns of X, which has {d} feature(s)"
            raise InputError(msg)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether the number of columns is known."""
        return hasattr(self, "n_features_in_")

    def _columns(self, X: Matrix) -> tuple[Any, FloatArray, FloatArray]:
        """Return all rows as an array, and the two columns."""
        check_is_fitted(self)
        rows = self._checked(X, reset=False)
        dense = rows.toarray() if sparse.issparse(rows) else rows
        x, y = (dense[:, j].astype(np.float64) for j in self.columns)
        return dense, x, y

    def _names(self, input_features: Any) -> list[str]:
        """Return the names of the inputs."""
        given = getattr(self, "feature_names_in_", None) if input_features is None else input_features
        return list(given) if given is not None else [f"x{j}" for j in range(self.n_features_in_)]


class PolarCoordinates(_Planar):
    """Radius, and cosine and sine of the angle minus the radius times `turns`: a spiral becomes a ray.

    With `turns` = 2π per unit of radius a spiral that makes one turn per unit is unrolled: its points have one angle. All
    other columns are left out.

    Parameters
    ----------
    columns : pair of int
        The columns that hold x and y.
    turns : float
        Angle that is taken back per unit of radius; 0 for plain polar coordinates.

    Examples
    --------
    >>> PolarCoordinates().fit_transform([[0.0, 2.0]]).round(6)
    array([[2., 0., 1.]])
    """

    def __init__(self, *, columns: tuple[int, int] = (0, 1), turns: float = 0.0) -> None:
        super().__init__(columns=columns)
        self.turns = turns

    def transform(self, X: Matrix) -> FloatArray:
        """Return radius, cosine and sine for every row, shape (n, 3)."""
        _, x, y = self._columns(X)
        radius = np.hypot(x, y)
        angle = np.arctan2(y, x) - self.turns * radius
        return np.column_stack([radius, np.cos(angle), np.sin(angle)])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the three features."""
        del input_features
        return np.array(["radius", "cosine", "sine"], dtype=object)


class Lift(_Planar):
    """All columns, and x² + y² as one more: rings become layers, which a plane separates.

    Parameters
    ----------
    columns : pair of int
        The columns that hold x and y.

    Examples
    --------
    >>> Lift().fit_transform([[1.0, 2.0]])
    array([[1., 2., 5.]])
    """

    def transform(self, X: Matrix) -> FloatArray:
        """Return the rows with x² + y² appended, shape (n, d + 1)."""
        dense, x, y = self._columns(X)
        return np.column_stack([dense, x * x + y * y])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the inputs, and that of their lift."""
        names = self._names(input_features)
        x, y = (names[j] for j in self.columns)
        return np.array([*names, f"{x}²+{y}²"], dtype=object)
