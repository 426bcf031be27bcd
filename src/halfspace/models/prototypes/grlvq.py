"""Generalised relevance learning vector quantisation."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, Matrix
from halfspace.models.parameters import read_matrix, require_number, usable_rows
from halfspace.models.prototypes.classifier import PrototypeClassifier

__all__ = ["GRLVQ"]


class GRLVQ(OneToOneFeatureMixin, TransformerMixin, PrototypeClassifier):
    """Generalised relevance LVQ: prototypes, and how much each feature counts in the distance to them.

    The cost is that of `GLVQ` with d = Σ λ_j (x_j - w_j)², relevances λ_j >= 0 that sum to 1. Those of features in different
    units are not comparable: standardise first to read them as importance.

    Parameters
    ----------
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
        The same of the metric: a step turns the roots of the relevances by about this much.
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
    omega_ : ndarray, shape (d,)
        ω: the features are multiplied by these before distances are taken.
    relevances_ : ndarray, shape (d,)
        λ = ω²: how much each feature counts; they sum to 1.
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
    >>> from halfspace import GRLVQ
    >>> X, y = np.array([[0.0, 3.0], [1.0, -2.0], [4.0, 2.0], [5.0, -3.0]]), np.array([0, 0, 1, 1])
    >>> model = GRLVQ().fit(X, y)
    >>> model.relevances_.round(2).tolist(), model.certificate_.errors
    ([1.0, 0.0], 0)
    """

    learnt: ClassVar[dict[str, Any]] = {"omega_": "f8(d)"}

    _learns_metric = True

    def __init__(
        self,
        *,
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

    def _first_metric(self, W: FloatArray, n_classes: int, rng: Any, n_rows: int = 0) -> FloatArray:
        return np.full(W.shape[1], 1.0 / np.sqrt(W.shape[1]))

    @property
    def relevances_(self) -> FloatArray:
        """λ_j = ω_j², shape (d,)."""
        squares = np.square(self.omega_)
        return np.asarray(squares / squares.sum())

    def transform(self, X: Matrix) -> FloatArray:
        """Return the features times the roots of their relevances, shape (n, d): there the metric is the plain one.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        check_is_fitted(self)
        X = read_matrix(self, X, reset=False)
        usable_rows(X, 0.0, type(self).__name__)
        roots = np.sqrt(self.relevances_).astype(X.dtype)
        scaled: FloatArray = X.multiply(roots).tocsr() if hasattr(X, "multiply") else X * roots
        return scaled
