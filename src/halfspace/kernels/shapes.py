"""Maps for particular shapes: Rosenblatt's random masks, polar coordinates for spirals, the lift for rings."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.kernels.feature_maps import _Map
from halfspace.kernels.parameters import check_count

__all__ = ["Lift", "PolarCoordinates", "RandomMasks"]


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

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return a name for every unit."""
        del input_features
        return np.array([f"unit{i}" for i in range(self.n_components)], dtype=object)


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
