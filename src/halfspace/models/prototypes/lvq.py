"""Learning vector quantisation by Kohonen's rules."""

from typing import Any, Self

from sklearn.callback import with_callbacks

from halfspace._typing import Labels, Matrix
from halfspace.models.parameters import require, require_choice, require_number, restored_on_error
from halfspace.models.prototypes.classifier import PrototypeClassifier
from halfspace.solvers.prototypes.kohonen import LVQ1, LVQ3

__all__ = ["LVQ"]


class LVQ(PrototypeClassifier):
    """Learning vector quantisation: a row draws prototypes of its class and pushes others, by Kohonen's rules.

    Parameters
    ----------
    variant : {"1", "2.1", "3"}, default "1"
        LVQ1 moves the nearest prototype; LVQ2.1 the two nearest, if one has the row's class and the other has not, and the row
        lies in the window between them; LVQ3 also, a little, the two nearest if both have the row's class.
    n_prototypes : int or dict from label to int, default 1
        Prototypes per class; a class with fewer rows has as many as rows.
    init : {"k-means", "mean", "sample"}, default "k-means"
        Start: k-means within each class, its mean (several: with some noise), or rows drawn at random.
    eta0 : float, default 0.01
        Rate in the first epoch, and throughout a stream: the share of the way to the row that a prototype moves.
    half_life : float, default 5.0
        Epochs after which the rate is halved; it falls like 1/(1 + epoch/half_life). Infinite: constant.
    window : float, default 0.3
        Width of the window of LVQ2.1 and LVQ3, from 0 to 1 (excluded).
    epsilon : float, default 0.2
        Share of the rate with which LVQ3 draws two prototypes of the row's class.
    max_iter : int, default 50
        Maximum number of epochs.
    max_time : float, optional
        Time limit in seconds.
    tol : float, default 1e-4
        An epoch that moves the prototypes by no more than this share of their spread is the last.
    shuffle : bool, default True
        New order in every epoch, in blocks for large data.
    class_weight : dict or "balanced", optional
        Factor of the rate for rows of each class.
    warm_start : bool, default False
        A fit goes on from the last one.
    verbose : int, default 0
        1: a line every half second; 2: a line every epoch.
    random_state : int, RandomState or None
        Seed of start and order.

    Attributes
    ----------
    prototypes_ : ndarray, shape (P, d)
        In the units of the inputs, sorted by class.
    prototype_labels_ : ndarray, shape (P,)
        Their labels.
    certificate_ : PrototypeErrors
        Errors on the training rows and how far rows may move without becoming wrong, recomputed from the data.
    outcome_ : Outcome
        Why the fit stopped, and what to do about it.
    history_ : dict of ndarray
        `errors` when shown, `moved` (share of the prototypes' spread) and `seconds`, epoch by epoch.
    classes_, n_features_in_, n_iter_
        Labels, inputs, epochs.

    Examples
    --------
    >>> import numpy as np
    >>> from halfspace import LVQ
    >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array(["low", "low", "high", "high"])
    >>> model = LVQ(random_state=0).fit(X, y)
    >>> model.predict([[1.5], [3.5]]).tolist(), model.certificate_.errors, bool(model.certificate_.verify(X, y))
    (['low', 'high'], 0, True)
    >>> model.predict_with_reject([[2.4], [4.4]], threshold=0.5, rejected="?").tolist()
    ['?', 'high']
    """

    def __init__(
        self,
        *,
        variant: str = "1",
        n_prototypes: int | dict[Any, int] = 1,
        init: str = "k-means",
        eta0: float = 0.01,
        half_life: float = 5.0,
        window: float = 0.3,
        epsilon: float = 0.2,
        max_iter: int = 50,
        max_time: float | None = None,
        tol: float = 1e-4,
        shuffle: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.variant = variant
        self.n_prototypes = n_prototypes
        self.init = init
        self.eta0 = eta0
        self.half_life = half_life
        self.window = window
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.max_time = max_time
        self.tol = tol
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Matrix, y: Labels) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples; float32 and float64 are used as they are.
        y : array, shape (n,)
            Labels of any kind: numbers, strings, bools.

        Returns
        -------
        self
            With `prototypes_`, `prototype_labels_`, `certificate_`, `outcome_`, `history_`, `n_iter_`, `classes_`.
        """
        with restored_on_error(self):
            return self._learn(X, y)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_choice(self, "variant", "1", "2.1", "3")
        require_number(self, "window", least=0.0)
        require(self, "window", "a number from 0 to 1 (excluded)", holds=self.window < 1.0)
        require_number(self, "epsilon", least=0.0)

    def _rule(self) -> LVQ1 | LVQ3:
        if self.variant == "1":
            return LVQ1(float(self.eta0))
        return LVQ3(float(self.eta0), float(self.window), float(self.epsilon) if self.variant == "3" else 0.0)
