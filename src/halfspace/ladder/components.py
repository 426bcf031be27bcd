"""Principal components as a simple start before a rung: learnt from the rows that the rung learns from, in every fold anew.

scikit-learn's PCA finds them: from the covariance of dense rows, by Lanczos iterations of sparse ones, of which a share of the
variance is not known beforehand, so that the number of components must be given. The sums that make components of a row, and
what is proved of them, are in `halfspace.certificates.components`.
"""

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.decomposition import PCA

from halfspace._memory import admit
from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates import Certificate, PrincipalComponents
from halfspace.certificates.arithmetic import projected
from halfspace.errors import InputError
from halfspace.exports.scores import model_scores
from halfspace.models.certified import Certified
from halfspace.solvers.outcome import Outcome

__all__ = ["Components", "OnComponents", "admit_components", "behind", "checked_pca", "seconds_of_components"]

PRINCIPAL = 1e-10
"""Least variance of a component, as a share of the largest: below, a direction is rounding."""
FLOPS = 2e9
"""Operations of a decomposition in a second, where the machine is slow."""
PASSED = ("alpha_", "support_", "k_")
"""What a model knows of its examples, whatever it sees of them."""


def checked_pca(pca: Any) -> bool:
    """Tell whether this is None, a share of the variance below 1, or a number of components."""
    whole = isinstance(pca, int | np.integer) and not isinstance(pca, bool)
    return pca is None or bool(whole and pca >= 1) or bool(isinstance(pca, float | np.floating) and 0.0 < pca < 1.0)


def admit_components(owner: str, pca: Any, Z: Matrix) -> None:
    """Refuse encoded rows Z, shape (n, d), whose components cannot be found, or do not fit the memory limit."""
    n, d = Z.shape
    if sparse.issparse(Z):
        if isinstance(pca, float):
            msg = (
                f"{owner}: how many components hold a share of {pca:g} of the variance is not known of {n:,} sparse rows of "
                f"{d:,} inputs without all of them; give the number of components instead, such as --pca 50 (pca=50)."
            )
            raise InputError(msg)
        needed, what = 8.0 * (n + 2 * d) * min(2 * pca + 1, n, d), f"{pca:,} principal components of {d:,} inputs"
    else:
        least = min(n, d)
        needed, what = (
            8.0 * (3.0 * n * d + 3.0 * least**2 + (d > n) * n * d),
            f"the principal components of {n:,} x {d:,} inputs",
        )
    admit(owner, needed, what, "ask for fewer, or leave columns out" if sparse.issparse(Z) else "leave columns out", Z)


def seconds_of_components(pca: Any, X: Matrix) -> float:
    """Predict the seconds to find components of rows X, shape (n, d), and to turn the rows into them."""
    n, d = X.shape
    if sparse.issparse(X):
        return float(100.0 * pca * X.nnz / FLOPS)
    return float(2.0 * n * d * min(n, d) + 10.0 * min(n, d) ** 3) / FLOPS


class Components(NamedTuple):
    """Means of the inputs (d,), directions (k, d), variances (k,) and the variance of all inputs."""

    mean: FloatArray
    directions: FloatArray
    variances: FloatArray
    total: float

    @classmethod
    def of(cls, X: Matrix, pca: Any) -> Self:
        """Find the components of rows X, shape (n, d): so many, or those that hold a share of the variance."""
        n, d = X.shape
        mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        if sparse.issparse(X):
            if min(n, d) < 3:
                return cls.of(X.toarray(), pca)
            found: Any = PCA(min(int(pca), min(n, d) - 1), svd_solver="arpack", random_state=0).fit(X)
            total = float(np.asarray(X.multiply(X).sum(axis=0)).sum() - n * (mean @ mean)) / (n - 1)
        else:
            centred = X - mean
            total = float(np.square(centred).sum()) / max(n - 1, 1)
            if not total > 0.0:
                raise InputError("all rows are the same, so they have no principal components; leave --pca (pca) out")
            asked = float(pca) if isinstance(pca, float | np.floating) else min(int(pca), n, d)
            found = PCA(asked, svd_solver="covariance_eigh" if n >= d else "full").fit(centred)
        v: FloatArray = found.explained_variance_
        kept = v > PRINCIPAL * v[0]
        return cls(mean, np.ascontiguousarray(found.components_[kept]), np.ascontiguousarray(v[kept]), total)

    def __call__(self, X: Matrix) -> FloatArray:
        """Return the components of rows X, shape (n, k)."""
        return projected(X, self.mean, self.directions)


class OnComponents(Certified, MetaEstimatorMixin, BaseEstimator):
    """A model that sees principal components of its rows.

    Parameters
    ----------
    model : estimator
        Learns from the components.
    pca : float or int, default 0.95
        Share of the variance that the components hold, or their number.

    Attributes
    ----------
    model_ : estimator
        The fitted model.
    mean_, components_, variances_, total_ : ndarray and float
        Of the rows: as `PrincipalComponents` has them.
    certificate_ : PrincipalComponents
        The model's claim, and that the components are those of the rows.
    """

    learnt: ClassVar[dict[str, Any]] = {
        "n_features_in_": "=d",
        "?classes_": "distinct(c)",
        "model_": "model",
        "mean_": "finite8(d)",
        "components_": "finite8(k,d)",
        "variances_": "finite8(k) >= 0",
        "total_": "finite >= 0",
        "outcome_": Outcome,
        "_certificate": "none | certificate",
    }

    def __init__(self, model: Any = None, pca: Any = 0.95) -> None:
        self.model = model
        self.pca = pca

    def fit(self, X: Matrix, y: Labels, sample_weight: Any = None) -> Self:
        """Find the components of rows X, shape (n, d), with targets y, shape (n,), and fit the model to them."""
        found = Components.of(X, self.pca)
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.around(clone(self.model).fit(found(X), y, **weight), found)

    def around(self, model: Any, found: Components) -> Self:
        """Take a model that was fitted to these components."""
        self.mean_, self.components_, self.variances_, self.total_ = found
        self.model_, self.outcome_, self.n_features_in_ = model, model.outcome_, int(found.mean.size)
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_
        self._certificate: PrincipalComponents | None = None
        return self

    @property
    def certificate_(self) -> PrincipalComponents:
        """The claim, made on first access."""
        if self._certificate is None:
            part: Certificate = self.model_.certificate_
            self._certificate = PrincipalComponents(part, self.mean_, self.components_, self.variances_, self.total_)
        return self._certificate

    def _seen(self, X: Matrix) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            seen = projected(X, self.mean_, self.components_)
        if not np.isfinite(seen).all():
            raise InputError("principal components: rows are so large that products overflow. Scale the columns.")
        return seen

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return the outputs of the model, shape (n,) or (n, K)."""
        outputs: FloatArray = self.model_.decision_function(self._seen(X))
        return outputs

    def predict(self, X: Matrix) -> Labels:
        """Return the model's labels or numbers, shape (n,)."""
        found: Labels = self.model_.predict(self._seen(X))
        return found

    def __getattr__(self, name: str) -> Any:
        if name in PASSED and "model_" in vars(self):
            return getattr(self.model_, name)
        msg = f"{type(self).__name__!r} object has no attribute {name!r}"
        raise AttributeError(msg)

    @property
    def coef_(self) -> FloatArray:
        """Weights of the inputs of a linear model, shape (K, d) or (d,)."""
        return np.asarray(_linear(self).coef_ @ self.components_)

    @property
    def intercept_(self) -> Any:
        """Constants that belong to `coef_`."""
        return _linear(self).intercept_ - self.coef_ @ self.mean_

    @property
    def relevances_(self) -> FloatArray:
        """Shares of the inputs in the metric of a model that learns one, shape (d,)."""
        omega = np.asarray(self.model_.omega_)  # of a model without a metric, an AttributeError
        omega = np.diag(omega) if omega.ndim == 1 else omega
        squares = np.square(omega @ self.components_).sum(axis=-2)
        shares: FloatArray = np.atleast_2d(squares / squares.sum(axis=-1, keepdims=True)).mean(axis=0)
        return shares

    def to_graph(self, graph: Any, X: str) -> Any:
        """Add the components, a matrix product, and the model's outputs to an ONNX graph; return their name."""
        V = self.components_
        return model_scores(self.model_, graph, graph("Sub", graph("MatMul", X, V.T.copy()), V @ self.mean_))

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse a model of another number of components, or of other classes."""
        inner = vars(fitted["model_"])
        if inner.get("n_features_in_", sizes["k"]) != sizes["k"]:
            raise ValueError("OnComponents: the model knows another number of components")
        if not np.array_equal(inner.get("classes_", ()), fitted.get("classes_", ())):
            raise ValueError("OnComponents: the model knows other classes")


def _linear(model: OnComponents) -> Any:
    """Return the model behind, if its outputs are linear; else there is no such attribute."""
    if not hasattr(model.model_, "coef_"):
        msg = f"a {type(model.model_).__name__} has no weights of inputs"
        raise AttributeError(msg)
    return model.model_


def behind(model: Any) -> Any:
    """Return the model that sees the components, or the model itself."""
    return model.model_ if isinstance(model, OnComponents) else model
