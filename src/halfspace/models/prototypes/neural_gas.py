"""Neural gas as a scikit-learn estimator."""

from typing import Any

from halfspace.models.parameters import require_choice, require_number
from halfspace.models.prototypes.quantiser import Quantiser
from halfspace.rows.orders import Geometric
from halfspace.solvers.prototypes.neural_gas import Gas

__all__ = ["NeuralGas"]


class NeuralGas(Quantiser):
    """Neural gas: each row pulls all prototypes, the nearer they rank the more.

    `w_k += rate exp(-rank_k / λ) (x - w_k)`, rank 0 the nearest, of equally near ones the lower number first. Rate and range
    λ fall geometrically over the presentations (Martinetz, Berkovich and Schulten 1993), which makes the result nearly
    independent of the start. λ -> 0 is `VectorQuantizer`.

    The shrinking range is an annealing: it leads past most local minima.

    Parameters
    ----------
    n_prototypes : int, default 8
        Number of prototypes K.
    lambda0 : float or None, default None
        First range; None for K / 2.
    lambda_end : float, default 0.01
        Last range; below 0.027 only the winner moves. Streams (`partial_fit`) are learnt with this range.
    eta0 : float, default 0.5
        First rate, above 0 and at most 1.
    eta_end : float, default 0.005
        Last rate. Streams are learnt at this rate.
    solver : {"fast", "plain"}, default "fast"
        "plain" presents rows by the rule as it is written in `halfspace.solvers.prototypes.neural_gas`, slow but easy to
        follow; "fast" does the same by its accelerator.
    init : "sample", "k-means++" or array, shape (K, d), default "sample"
        Where prototypes start: on rows drawn at random, on rows far from each other, or as given.
    max_iter : int, default 10
        Epochs: how often each row is presented.
    max_time : float or None, default None
        Seconds after which to stop; None for no limit.
    shuffle : bool, default True
        Whether every epoch presents the rows in a new order.
    warm_start : bool, default False
        Whether `fit` starts from the prototypes of the last fit; one that was cut short is continued.
    random_state : int, RandomState or None, default None
        Random seed for start and order.
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
        Why the fit stopped.
    history_ : dict of arrays
        `epoch`, `seconds`, and `error`: the sum over an epoch of squared distances, measured as rows were presented.
    n_iter_ : int
        Epochs begun.
    n_features_in_ : int
        Number of features d.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((1000, 1))
    >>> gas = NeuralGas(4, random_state=0).fit(X)
    >>> np.sort(gas.prototypes_.ravel()).round(1).tolist()
    [0.1, 0.4, 0.6, 0.9]
    >>> bool(gas.certificate_.verify(X))
    True
    """

    def __init__(
        self,
        n_prototypes: int = 8,
        *,
        lambda0: float | None = None,
        lambda_end: float = 0.01,
        eta0: float = 0.5,
        eta_end: float = 0.005,
        solver: str = "fast",
        init: Any = "sample",
        max_iter: int = 10,
        max_time: float | None = None,
        shuffle: bool = True,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.lambda0 = lambda0
        self.lambda_end = lambda_end
        self.eta0 = eta0
        self.eta_end = eta_end
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.max_time = max_time
        self.shuffle = shuffle
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_choice(self, "solver", "fast", "plain")
        require_number(self, "lambda_end")
        if self.lambda0 is not None:
            require_number(self, "lambda0")

    def _rule(self) -> Gas:
        first = 0.5 * self.n_prototypes if self.lambda0 is None else float(self.lambda0)
        rate, width = Geometric(float(self.eta0), float(self.eta_end)), Geometric(first, float(self.lambda_end))
        return Gas(rate, width, self.solver == "plain")
