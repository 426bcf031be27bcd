"""Generalised matrix learning vector quantisation."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from halfspace._memory import admit, room
from halfspace._typing import FloatArray, Matrix
from halfspace.errors import InputError
from halfspace.models.parameters import is_count, read_matrix, require, require_number, require_switch, usable_rows
from halfspace.models.prototypes.classifier import DESCENT, PrototypeClassifier
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.run import Run

__all__ = ["GMLVQ"]

WIDE, PRODUCTS, STORED = 100, 2.5e8, 300
"""Columns from which a time limit may cut the rank; products m (n + m) d in a second, for some steps and the proof;
and products that take as long as all that a descent stores of a metric."""


class GMLVQ(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrototypeClassifier):
    """Generalised matrix LVQ: prototypes, and the directions in input space that tell the classes apart.

    The cost is that of `GLVQ` with d = ‖Ω(x - w)‖² = (x - w)ᵀΛ(x - w), Λ = ΩᵀΩ of trace 1. `relevances_` are Λ's diagonal;
    `transform` maps to Λ's leading directions, for plots or as features. Relevances of features in different units are not
    comparable: standardise first to read them as importance.

    Parameters
    ----------
    rank : int, optional
        Rows of Ω: most directions the metric sees; all if None. A limited rank starts from the directions in which the
        first prototypes differ most.
    per_class : bool, default False
        One Ω per class, used in the distances to its prototypes; by the batch optimiser only.
    n_components : int, default 2
        Directions that `transform` returns, the most relevant first.
    n_prototypes : int or dict from label to int, default 1
        Prototypes per class; a class with fewer rows has as many as rows.
    init : {"k-means", "mean", "sample"}, default "k-means"
        Start: k-means within each class, its mean (several: with some noise), or rows drawn at random.
    beta : float, default 20.0
        Slope of the sigmoid f; the larger, the nearer the cost is to the number of errors. 0: f(μ) = μ.
    optimizer : {"auto", "batch", "online", "plain"}, default "auto"
        "batch" descends the whole cost by L-BFGS, which never rises; "online" presents one row after another, which is
        much faster on many rows; "auto" takes "batch" up to 2,000 rows and with sample_weight; "plain" is "online" by the
        rule as it is written in `halfspace.solvers.prototypes.glvq`, slow but easy to follow.
    eta0 : float, default 0.01
        Online rate of the prototypes in the first epoch, and throughout a stream: about the share of the way to the row, where
        f is steepest. It needs no adapting to the units of the inputs.
    metric_eta0 : float, default 0.001
        The same of the metric: a step turns Ω by about this much.
    half_life : float, default 5.0
        Epochs after which the rates are halved; they fall like 1/(1 + epoch/half_life). Infinite: constant.
    max_iter : int, default 100
        Maximum number of epochs, or of steps of the batch optimiser.
    max_time : float, optional
        Time limit in seconds.
    tol : float, default 1e-6
        Online: an epoch that moves the prototypes by no more than this share of their spread is the last. Batch: a step that
        lowers the cost by no more than this share is.
    shuffle : bool, default True
        New order in every epoch, in blocks for large data.
    class_weight : dict or "balanced", optional
        Weight of the rows of each class in the cost.
    warm_start : bool, default False
        A fit goes on from the last one.
    verbose : int, default 0
        1: a line every half second; 2: a line every epoch or step.
    random_state : int, RandomState or None
        Seed of start and order.

    Attributes
    ----------
    prototypes_ : ndarray, shape (P, d)
        In the units of the inputs, sorted by class.
    prototype_labels_ : ndarray, shape (P,)
        Their labels.
    omega_ : ndarray, shape (m, d) or (K, m, d)
        Ω, or one for each class.
    relevances_ : ndarray, shape (d,) or (K, d)
        Diagonal of Λ: how much each feature counts; they sum to 1.
    lambda_ : ndarray, shape (d, d) or (K, d, d)
        Λ = ΩᵀΩ.
    cost_ : float
        Φ at the end.
    certificate_ : PrototypeErrors
        Errors, cost, its relative gradient, and how far rows may move without becoming wrong, recomputed from the data.
    outcome_ : Outcome
        Why the fit stopped, and what to do about it.
    history_ : dict of ndarray
        Batch: `cost` and `seconds`, from the start on. Online: `errors` when shown, `moved` (share of the prototypes' spread)
        and `seconds`, epoch by epoch.
    classes_, n_features_in_, n_iter_
        Labels, inputs, epochs or steps.

    Examples
    --------
    >>> import numpy as np
    >>> from halfspace import GMLVQ
    >>> X, y = np.array([[0.0, 3.0], [1.0, -2.0], [4.0, 2.0], [5.0, -3.0]]), np.array([0, 0, 1, 1])
    >>> model = GMLVQ().fit(X, y)
    >>> int(model.relevances_.argmax()), model.certificate_.errors, model.transform(X).shape
    (0, 0, (4, 2))
    """

    learnt: ClassVar[dict[str, Any]] = {"omega_": "f8(r,d) | f8(c,r,d)"}

    _learns_metric = True

    def __init__(
        self,
        *,
        rank: int | None = None,
        per_class: bool = False,
        n_components: int = 2,
        n_prototypes: int | dict[Any, int] = 1,
        init: str = "k-means",
        beta: float = 20.0,
        optimizer: str = "auto",
        eta0: float = 0.01,
        metric_eta0: float = 0.001,
        half_life: float = 5.0,
        max_iter: int = 100,
        max_time: float | None = None,
        tol: float = 1e-6,
        shuffle: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.rank = rank
        self.per_class = per_class
        self.n_components = n_components
        self.n_prototypes = n_prototypes
        self.init = init
        self.beta = beta
        self.optimizer = optimizer
        self.eta0 = eta0
        self.metric_eta0 = metric_eta0
        self.half_life = half_life
        self.max_iter = max_iter
        self.max_time = max_time
        self.tol = tol
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number(self, "metric_eta0", least=0.0)
        require_switch(self, "per_class")
        for name, optional in (("rank", True), ("n_components", False)):
            value = getattr(self, name)
            words = "a positive integer or None" if optional else "a positive integer"
            require(self, name, words, holds=is_count(value) or (optional and value is None))
        if self.per_class and self.optimizer in ("online", "plain"):
            msg = "GMLVQ(per_class=True) learns by the batch optimiser only: use optimizer='batch' or 'auto'."
            raise InputError(msg)

    def _first_metric(self, W: FloatArray, n_classes: int, rng: Any, n_rows: int = 0) -> FloatArray:
        d, metrics = W.shape[1], n_classes if self.per_class else 1
        m = d if self.rank is None else min(int(self.rank), d)
        if self.rank is None and self.max_time is not None and d > WIDE and n_rows:
            products, n = float(self.max_time) * PRODUCTS / (d * metrics), float(n_rows + STORED)
            m = min(
                m, max(1, int(0.5 * (np.sqrt(n * n + 4.0 * products) - n))), max(1, int(room(W) / (8 * DESCENT * metrics * d)))
            )
        admit("GMLVQ", 8.0 * DESCENT * metrics * m * d, f"a metric of {m:,} x {d:,} numbers", "give a smaller rank", W)
        omega = (np.eye(d) if m == d else _directions(W, m, rng)) / np.sqrt(m)
        return np.tile(omega, (n_classes, 1, 1)) if self.per_class else omega

    def _explained(self, method: Any, end: Run, n: int) -> Outcome:
        outcome = super()._explained(method, end, n)
        m, d = self.omega_.shape[-2:]
        if self.rank is not None or m == d:
            return outcome
        hurry = f"The metric has rank {m}, for max_time={self.max_time:g} allows no more of {d:,} columns."
        return Outcome(outcome.reason, f"{outcome.sentence} {hurry}", outcome.remedy or "Raise max_time, or give a rank.")

    @property
    def lambda_(self) -> FloatArray:
        """Λ = ΩᵀΩ, shape (d, d), or one for each class, shape (K, d, d)."""
        return np.asarray(np.swapaxes(self.omega_, -1, -2) @ self.omega_)

    @property
    def relevances_(self) -> FloatArray:
        """Diagonal of Λ, shape (d,), or one for each class, shape (K, d)."""
        return np.asarray(np.square(self.omega_).sum(axis=-2))

    @property
    def _n_features_out(self) -> int:
        """Number of directions that `transform` returns."""
        if not is_count(self.n_components):  # an AttributeError, for whoever looks around with dir() or hasattr()
            msg = f"The 'n_components' parameter of GMLVQ must be a positive integer. Got {self.n_components!r} instead."
            raise AttributeError(msg)
        return min(int(self.n_components), int(self.omega_.shape[-1]))

    def transform(self, X: Matrix) -> FloatArray:
        """Return the rows in Λ's leading directions, shape (n, n_components), the most relevant first.

        A direction is scaled by the root of its eigenvalue, so with all of them distances are those of the metric. Of one
        metric per class, the mean of their Λ is taken.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        check_is_fitted(self)
        require(self, "n_components", "a positive integer", holds=is_count(self.n_components))
        X = read_matrix(self, X, reset=False)
        usable_rows(X, 0.0, type(self).__name__)
        stacked = self.omega_.reshape(-1, self.omega_.shape[-1]) / np.sqrt(self.omega_[..., 0, 0].size)
        _, lengths, directions = np.linalg.svd(stacked)
        scale = np.zeros(directions.shape[0])
        scale[: lengths.size] = lengths
        leading = scale[: self._n_features_out, None] * directions[: self._n_features_out]
        largest = np.abs(leading).argmax(axis=1)
        signs = np.sign(leading[np.arange(largest.size), largest])
        return np.asarray(X @ (leading.T * signs).astype(X.dtype))


def _directions(W: FloatArray, m: int, rng: Any) -> FloatArray:
    """Return m orthonormal directions, shape (m, d): first those in which prototypes differ most, then random ones."""
    spread = W - W.mean(axis=0) if W.shape[0] else W
    _, lengths, leading = np.linalg.svd(spread, full_matrices=False)
    known = leading[: np.count_nonzero(lengths > 1e-9 * lengths.max(initial=0.0))][:m]
    more = rng.standard_normal((m, W.shape[1]))
    return np.asarray(np.linalg.qr(np.concatenate([known, more]).T)[0].T[:m])
