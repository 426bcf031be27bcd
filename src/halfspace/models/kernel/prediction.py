"""What kernel models share: a plane in the kernel's space, known by its support vectors, and its margin bracket."""

from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates import KernelBracket
from halfspace.certificates.expansion import indefiniteness, outputs, scales, squares_of
from halfspace.errors import InputError
from halfspace.kernels import Kernel, as_kernel
from halfspace.kernels.fast.blocked_products import Group, combined
from halfspace.models.multiclass import support_table
from halfspace.models.parameters import Examples, require, usable_rows
from halfspace.models.planes.prediction import PredictingMixin

__all__ = ["MEASURED", "Expansion", "KernelPlaneMixin", "Measured", "fit_single", "measured", "stacked"]

MEASURED = 40
"""Entries that are read in the time that the bracket of one problem takes, for one example."""

BLOCK = 1 << 22
"""Kernel values held at a time while predicting."""
SINGLE = 1e-30, 1e30
"""Where the largest kernel value is between these, single precision holds what matters, and sums of many values are finite."""


def fit_single(diagonal: FloatArray) -> bool:
    """Tell whether kernel values fit single precision, from those of rows with themselves (n,): no other is larger."""
    return SINGLE[0] < float(np.max(diagonal, initial=0.0)) < SINGLE[1]


class Expansion(NamedTuple):
    """K functions f_k = Σ_j coefficients[k, j] k(x_j, ·) + bias_k on the same support vectors."""

    kernel: Kernel
    support: Annotated[Matrix, "rows(_m,d)"]  # (m, d) support vectors
    rows: Annotated[
        IntArray, "i8(_m)"
    ]  # (m,) the training examples they are, -1 where there is no telling; for a precomputed kernel its columns
    coefficients: Annotated[FloatArray, "finite8(K,_m)"]  # (K, m)
    bias: Annotated[FloatArray, "f8(K)"]  # (K,)
    groups: Annotated[
        tuple[Group, ...], [("i8(_g) in 0.._m", "i8(_f) in 0..K")]
    ] = ()  # support vectors, and the functions that use them, if that is not all of them

    def check(self, d: int) -> None:
        """Refuse an expansion read from a file whose kernel cannot be computed on its support vectors."""
        if not self.kernel.is_precomputed:
            if self.support.shape[0]:
                self.kernel.exact(self.support[:1])
        elif self.rows.size and not 0 <= self.rows.min() <= self.rows.max() < d:
            raise ValueError("columns of a precomputed kernel lie outside it")

    def values(self, X: Matrix) -> Any:
        """Return the kernel values of rows of X with the support vectors, shape (n, m)."""
        if self.kernel.is_precomputed:
            part = X[:, self.rows]
            return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
        if self.rows.size == 0:
            return np.zeros((X.shape[0], 0))
        return self.kernel.matrix(X, self.support, dtype=self._kind(X))

    def _kind(self, X: Matrix) -> Any:
        """Return the precision for rows of X: single if all numbers are, and kernel values neither overflow nor vanish."""
        both = X, self.support
        single = all(rows.dtype == np.float32 and fit_single(self.kernel.exact_diagonal(rows)) for rows in both)
        return np.float32 if single else np.float64

    def blocks(self, X: Matrix) -> list[slice]:
        """Cut the rows of X into blocks of some million kernel values."""
        step = max(1, BLOCK // max(self.rows.size, 1))
        return [slice(first, min(first + step, X.shape[0])) for first in range(0, X.shape[0], step)]

    def outputs(self, X: Matrix) -> FloatArray:
        """Return the outputs on rows of X, shape (n, K)."""
        if self.rows.size and not self.kernel.is_precomputed:
            quick = combined(self.kernel, self.support, self.coefficients, X, self._kind(X), self.groups)
            if quick is not None:
                return quick + self.bias
        parts = [self.values(X[rows]) @ self.coefficients.T for rows in self.blocks(X)]
        return np.asarray(np.concatenate(parts) + self.bias, dtype=np.float64)


class KernelPlaneMixin(PredictingMixin):
    """A model whose answer is an `Expansion` (`_expansion`) and strengths of its training examples (`_alpha`, shape (K, n)).

    It has the parameters `kernel`, `gamma`, `degree`, `coef0`, `intercept` and `intercept_scaling`.
    """

    learnt: ClassVar[dict[str, Any]] = {
        "_expansion": Expansion,
        "?_lengths": "f8(K)",
        "?_caps": "f8(t)",
        "?_labels": "labels(t)",
        "?_potentials": "f8(K,t)",
    }

    needs: ClassVar[dict[str, tuple[str, ...]]] = {"_potentials": ("_lengths", "_caps", "_labels")}

    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    classes_: Labels
    _expansion: Expansion
    _alpha: FloatArray
    _potentials: FloatArray  # (K, n), (K,), (n,) and (n,): what `support_table` needs
    _lengths: FloatArray
    _caps: FloatArray
    _labels: Labels

    def __sklearn_tags__(self) -> Any:
        """Say that rows of a precomputed kernel belong together with their columns."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = getattr(self.kernel, "is_precomputed", False) or self.kernel == "precomputed"
        return tags

    def set_params(self, **params: Any) -> Self:
        """Set parameters; `kernel__gamma` and the like replace a kernel value by another one."""
        inner = {name.removeprefix("kernel__"): params.pop(name) for name in list(params) if name.startswith("kernel__")}
        super().set_params(**params)  # type: ignore[misc]
        if inner and not isinstance(self.kernel, Kernel):
            msg = f"{type(self).__name__}: 'kernel__{next(iter(inner))}' needs a kernel of halfspace.kernels, but kernel is "
            msg += f"{self.kernel!r}: set 'gamma', 'degree' or 'coef0' instead."
            raise InputError(msg)
        self.kernel = self.kernel.with_params(**inner) if inner else self.kernel
        return self

    def _asked_kernel(self) -> Kernel:
        """Return the kernel that the parameters ask for."""
        known = isinstance(self.kernel, str | Kernel) or callable(self.kernel)
        require(self, "kernel", "the name of a kernel, a kernel or a function", holds=known)
        try:
            return as_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        except InputError as error:
            msg = f"The 'kernel' parameter of {type(self).__name__} (with 'gamma', 'degree', 'coef0') cannot be used: {error}"
            raise InputError(msg) from error

    def _proved_kernel(self, X: Matrix) -> tuple[Kernel, float]:
        """Return the kernel with parameters learnt from X, and what makes its matrix surely positive semi-definite."""
        kernel = self._asked_kernel().resolved(X)
        shift, objection = indefiniteness(kernel, X)
        if objection is not None:
            msg = f"{type(self).__name__}: {objection}"
            raise InputError(msg)
        return kernel, shift

    def _answer(self) -> tuple[FloatArray, FloatArray]:
        return self._expansion.coefficients, self._alpha

    @property
    def kernel_(self) -> Kernel:
        """The kernel, every parameter a number."""
        self._known()
        return self._expansion.kernel

    @property
    def support_vectors_(self) -> Matrix:
        """Support vectors, shape (m, d)."""
        self._known()
        return self._expansion.support.copy()

    @property
    def dual_coef_(self) -> FloatArray:
        """Strength times label of every support vector, shape (K, m)."""
        return self._known()[0].copy()

    @property
    def intercept_(self) -> FloatArray:
        """Bias, shape (K,); of a clamped input its square times the sum of `dual_coef_`."""
        self._known()
        return self._expansion.bias.copy()

    def _scores(self, X: Matrix) -> FloatArray:
        usable_rows(X, 0.0, type(self).__name__)
        return self._expansion.outputs(X)

    def support_table(self, *, everyone: bool = False) -> Any:
        """List the support vectors: row, label, strength, stability, slack and role (with more than two classes: class).

        Parameters
        ----------
        everyone : bool, default False
            List the examples of strength 0 too.

        Returns
        -------
        DataFrame or structured array
            Of the last `fit`; a structured array where pandas is not installed.
        """
        alpha = self._known()[1]
        if not hasattr(self, "_potentials"):
            msg = f"{type(self).__name__}.support_table lists the examples of a data set, but this model learnt from a stream"
            raise AttributeError(msg)
        classes = [None] if alpha.shape[0] == 1 else self.classes_.tolist()
        return support_table(alpha, self._potentials, self._lengths, self._caps, self._labels, classes, everyone=everyone)

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse a kernel that cannot be computed on the support vectors."""
        fitted["_expansion"].check(sizes["d"])


def stacked(first: Matrix, second: Matrix) -> Matrix:
    """Put rows one below the other."""
    if sparse.issparse(first) or sparse.issparse(second):
        return sparse.vstack([sparse.csr_array(first), sparse.csr_array(second)], format="csr")
    return np.concatenate([first, second])


class Measured(NamedTuple):
    """What K functions look like on the training examples."""

    parts: list[KernelBracket]
    E: FloatArray  # (K, n) potentials
    lengths: FloatArray  # (K,) ‖f_k‖


def measured(data: Examples, shift: float, alpha: FloatArray, expansion: Expansion) -> Measured:
    """Measure the margin bracket of every problem, in one pass over the kernel's exact values.

    The functions of the lower sides are those that predict: the brackets share the memory of their coefficients, so a model
    whose coefficients were changed no longer verifies. The strengths `alpha`, shape (K, n), are the witnesses of the upper
    sides: negative ones count as 0; without any the shortest example is taken. `shift` is that of `_proved_kernel`.
    """
    kernel, support, labels = expansion.kernel, expansion.rows, data.classes[data.positive].tolist()
    signs = np.where(data.target == data.positive[:, None], 1.0, -1.0)
    size = scales(kernel, data.X, data.clamp, shift)
    alpha = np.maximum(alpha, 0.0)
    alpha[~alpha.any(axis=1), np.argmin(size.lengths)] = 1.0
    functions = np.zeros_like(alpha)
    functions[:, support] = expansion.coefficients
    rows = np.flatnonzero(alpha.any(axis=0) | functions.any(axis=0))
    c = np.concatenate([functions[:, rows], (alpha * signs)[:, rows]]).T
    F = outputs(kernel, data.X, rows, c, data.clamp)
    squares, K = squares_of(F, rows, c), len(labels)
    E, parts = signs * F[:, :K].T, []
    for k, label in enumerate(labels):
        witness = np.flatnonzero(alpha[k])
        sides, function = (-np.inf, np.inf, 0.0), (support, expansion.coefficients[k])
        draft = KernelBracket(*sides, kernel, *function, witness, alpha[k, witness], data.clamp, label)
        parts.append(draft.claim(size, signs[k], E[k], float(squares[k]), witness_square=float(squares[K + k])))
    return Measured(parts, E, np.sqrt(squares[:K]))
