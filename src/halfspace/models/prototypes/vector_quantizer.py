"""Vector quantisation as a scikit-learn estimator."""

from typing import Any

from halfspace.models.parameters import require_switch
from halfspace.models.prototypes.quantiser import Quantiser
from halfspace.rows.orders import Geometric
from halfspace.solvers.prototypes.quantising import WinnerTakesAll

__all__ = ["VectorQuantizer"]


class VectorQuantizer(Quantiser):
    """Online vector quantisation: each row pulls its nearest prototype.

    `w_k += rate (x - w_k)` for the winner k, the rate falling geometrically from `eta0` to `eta_end`. Prototypes that win
    nothing in an epoch are revived. The result depends on the start; `NeuralGas` depends on it less.

    This is competitive learning, winner takes all.

    Parameters
    ----------
    n_prototypes : int, default 8
        Number of prototypes K.
    init : "k-means++", "sample" or array, shape (K, d), default "k-means++"
        Where prototypes start: on rows far from each other, on rows drawn at random, or as given.
    eta0 : float, default 0.1
        First rate, above 0 and at most 1.
    eta_end : float, default 0.001
        Last rate; the same as `eta0` for a constant one. Streams (`partial_fit`) are learnt at this rate.
    max_iter : int, default 20
        Epochs: how often each row is presented.
    max_time : float or None, default None
        Seconds after which to stop; None for no limit.
    shuffle : bool, default True
        Whether every epoch presents the rows in a new order.
    revive : bool, default True
        Whether a prototype that won nothing in an epoch is put on a row drawn in proportion to its error.
    warm_start : bool, default False
        Whether `fit` starts from the prototypes of the last fit; one that was cut short is continued.
    random_state : int, RandomState or None, default None
        Random seed for start, order and revival.
    verbose : int, default 0
        1 prints progress twice a second, 2 every epoch.

    Attributes
    ----------
    prototypes_ : ndarray, shape (K, d)
        The prototypes, in the units of the data; `cluster_centers_` is the same.
    labels_ : ndarray of int, shape (n,)
        The nearest prototype of each row; of equally near ones the first.
    inertia_ : float
        Quantisation error Σ ‖x_i - w_label(i)‖². Errors compare only at the same K.
    certificate_ : Quantisation
        Proof of assignment and error, and a bound for any other K prototypes; `certificate_.verify(X)`.
    outcome_ : Outcome
        Why the fit stopped, and how many prototypes were revived.
    history_ : dict of arrays
        `epoch`, `seconds`, and `error`: the sum over an epoch of squared distances, measured as rows were presented.
    n_iter_ : int
        Epochs begun.
    n_features_in_ : int
        Number of features d.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2]])
    >>> model = VectorQuantizer(2, init=[[0.0], [1.0]], random_state=0).fit(X)
    >>> model.labels_.tolist(), model.prototypes_.round(1).tolist()
    ([0, 0, 1, 1], [[0.1], [1.1]])
    >>> print(model.outcome_)
    20 of 20 epochs presented: quantisation error 0.0427409.
    """

    def __init__(
        self,
        n_prototypes: int = 8,
        *,
        init: Any = "k-means++",
        eta0: float = 0.1,
        eta_end: float = 0.001,
        max_iter: int = 20,
        max_time: float | None = None,
        shuffle: bool = True,
        revive: bool = True,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.init = init
        self.eta0 = eta0
        self.eta_end = eta_end
        self.max_iter = max_iter
        self.max_time = max_time
        self.shuffle = shuffle
        self.revive = revive
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_switch(self, "revive")

    def _rule(self) -> WinnerTakesAll:
        return WinnerTakesAll(Geometric(float(self.eta0), float(self.eta_end)))
