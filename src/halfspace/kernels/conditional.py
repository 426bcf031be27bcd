"""The conditional expectation kernel: two rows are alike if the same causes explain them.

    k(x, x') = E_c[p(x|c) p(x'|c)] = Σ_c P(c) p(x|c) p(x'|c),   φ_c(x) = sqrt(P(c)) p(x|c).

By Bayes p(x|c) = p(c|x) p(x) / P(c), so φ_c(x) = p(x) · p(c|x) / sqrt(P(c)). A mixture knows p(x) and gets that kernel. A
classifier only knows p(c|x): without the factor p(x) the kernel is  Σ_c p(c|x) p(c|x') / P(c),  the same up to the lengths of
rows in feature space.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, Matrix
from halfspace.errors import InputError
from halfspace.kernels.base import Kernel
from halfspace.kernels.products import checked, doubled, inner, inner_bounds, squares

__all__ = ["ConditionalExpectation"]


@dataclass(frozen=True, eq=False)
class ConditionalExpectation(Kernel):
    """`E_c[p(x|c) p(x'|c)]` over the components of a mixture or the classes of a classifier.

    Parameters
    ----------
    model : fitted mixture, fitted classifier, callable or None
        What knows `p(c|x)`: by its `predict_proba` or `responsibilities`, or as a function from rows, shape (n, d), to
        probabilities, shape (n, C).
        None: the rows are probabilities themselves.
    priors : sequence of float, optional
        P(c), shape (C,). By default the model's `weights_` or `class_prior_`, else what `resolved(X)` finds as the mean of
        `p(c|x)`.
    density : bool, optional
        Whether to multiply by p(x), from the model's `score_samples`; by default if the model is a mixture (has `weights_`).

    Examples
    --------
    >>> kernel = ConditionalExpectation(priors=(0.25, 0.75))
    >>> print(kernel, kernel([1.0, 0.0], [1.0, 0.0]), kernel([1.0, 0.0], [0.0, 1.0]))
    Σ_c p(c|x) p(c|x')/P(c) 4.0 0.0
    """

    model: Any = None
    priors: Any = None
    density: bool | None = None

    def __post_init__(self) -> None:
        if not (self.model is None or callable(self.model) or self._asked() is not None):
            msg = f"ConditionalExpectation: a model with predict_proba, a function or None expected, got {self.model!r}"
            raise InputError(msg)
        if self.density and not hasattr(self.model, "score_samples"):
            msg = (
                f"ConditionalExpectation: density=True needs a model with score_samples, not {self.model!r}; use density=False"
            )
            raise InputError(msg)
        learnt = getattr(self.model, "weights_", getattr(self.model, "class_prior_", None))
        known = learnt if self.priors is None else self.priors
        if known is None:
            return
        priors = np.asarray(known, dtype=np.float64)
        if priors.ndim != 1 or not np.isfinite(priors).all() or (priors < 0).any() or not priors.any():
            msg = f"ConditionalExpectation: priors must be numbers >= 0, one per class and not all 0, got {known!r}"
            raise InputError(msg)
        object.__setattr__(self, "priors", tuple(priors.tolist()))

    @property
    def has_density(self) -> bool:
        """Whether p(x) is a factor."""
        if self.density is not None:
            return self.density
        return hasattr(self.model, "weights_") and hasattr(self.model, "score_samples")

    def __str__(self) -> str:
        return "Σ_c P(c) p(x|c) p(x'|c)" if self.has_density else "Σ_c p(c|x) p(c|x')/P(c)"

    def is_resolved(self) -> bool:
        """Tell whether P(c) is known."""
        return self.priors is not None

    def resolved(self, X: Matrix) -> Kernel:
        """Return the kernel with P(c) learnt as the mean of p(c|x) over X, if it is not known."""
        if self.is_resolved():
            return self
        return replace(self, priors=self._probabilities(doubled(checked(X, "X", "ConditionalExpectation"))).mean(axis=0))

    def mapped(self, A: Any) -> FloatArray:
        """Return p(c|x) / sqrt(P(c)), times p(x) if that is known, shape (n, C)."""
        P = self._probabilities(A)
        if P.shape[1] != len(self.priors):
            msg = f"ConditionalExpectation: {len(self.priors)} priors, but p(c|x) for {P.shape[1]} classes"
            raise InputError(msg)
        roots = np.sqrt(self.priors)
        P = np.divide(P, roots, out=np.zeros_like(P), where=roots > 0)  # what never occurs explains no row
        return P * np.exp(self.model.score_samples(A))[:, None] if self.has_density else P

    def values(self, A: Any, B: Any) -> FloatArray:
        """Return the sums over the classes."""
        mine = self.mapped(A)
        return inner(mine, mine if A is B else self.mapped(B))

    def own_values(self, A: Any) -> FloatArray:
        """Return the sums over the classes for every row with itself."""
        return squares(self.mapped(A))

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding, taking the model's probabilities to be what they are meant to be."""
        size, error = inner_bounds(self.mapped(A), self.mapped(B))
        return size, 2.0 * error

    def reason(self) -> str | None:
        """Return the proof."""
        return f"{self} is an inner product of one feature per class"

    def _asked(self) -> Any:
        """Return the method that knows p(c|x), if the model has one: a classifier's, or a mixture's."""
        return getattr(self.model, "predict_proba", None) or getattr(self.model, "responsibilities", None)

    def _probabilities(self, A: Any) -> FloatArray:
        """Return p(c|x) for every row, shape (n, C)."""
        if self.model is None:
            return A.toarray() if sparse.issparse(A) else A
        try:
            ask = self._asked()
            if ask is not None:
                check_is_fitted(self.model)
            P = np.asarray((ask or self.model)(A), dtype=np.float64)
        except NotFittedError as error:
            msg = f"ConditionalExpectation: {self.model!r} is not fitted; fit it first"
            raise InputError(msg) from error
        if P.ndim != 2 or P.shape[0] != A.shape[0]:
            msg = f"ConditionalExpectation: p(c|x) of shape ({A.shape[0]}, classes) expected from the model, got {P.shape}"
            raise InputError(msg)
        return P
