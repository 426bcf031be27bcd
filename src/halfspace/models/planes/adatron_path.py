"""The AdaTron for many caps: the regularisation path."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates import Certificate
from halfspace.models.multiclass import Task, tasks_of
from halfspace.models.parameters import budget_of, read_caps, read_examples
from halfspace.models.planes.adatron import AdaTron
from halfspace.models.planes.large_margin import Fitting
from halfspace.rows.labels import example_weights
from halfspace.solvers.run import Budget

__all__ = ["AdaTronPath", "adatron_path", "climb"]


@dataclass(frozen=True)
class AdaTronPath:
    """AdaTrons for several caps, each fitted and certified.

    Parameters
    ----------
    models : tuple of AdaTron
        One per cap, in the order of the caps asked for.
    """

    models: tuple[AdaTron, ...]

    def __iter__(self) -> Iterator[AdaTron]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)

    @property
    def Cs(self) -> FloatArray:  # noqa: N802  (C is a word here)
        """Caps, shape (m,)."""
        return np.array([model.C for model in self.models])

    @property
    def coefs(self) -> FloatArray:
        """Weights, shape (m, K, d)."""
        return np.array([model.coef_ for model in self.models])

    @property
    def intercepts(self) -> FloatArray:
        """Biases, shape (m, K)."""
        return np.array([model.intercept_ for model in self.models])

    @property
    def n_support(self) -> IntArray:
        """Numbers of support vectors, shape (m,)."""
        return np.array([model.support_.size for model in self.models])

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """The proof of every answer."""
        return tuple(model.certificate_ for model in self.models)


def climb(
    models: list[AdaTron], fitting: Fitting, tasks: list[Task], given: tuple[Any, Any], budget: Budget, *, certify: bool
) -> None:
    """Fit the models in the order of their caps, each from where the one before ended, and leave the others their share.

    Those that need no proof are left as they are once the time is over, but for the first.
    """
    before: dict[str, Any] = {}
    for k, model in enumerate(sorted(models, key=lambda model: float(model.C))):
        left = budget.left()
        if k and left == 0.0 and not certify:
            return
        share = budget._replace(max_time=left and left / (len(models) - k), began=time.perf_counter(), reserve=0.0)
        model.n_features_in_ = fitting.data.X.shape[1]
        learn = model._learn if certify else model._solve  # noqa: SLF001  (a model and its path are one)
        learn(fitting, tasks, before, share, given)
        before = dict(vars(model))


def adatron_path(
    X: Matrix, y: Labels, Cs: Sequence[float] | FloatArray, sample_weight: Any = None, **params: Any
) -> AdaTronPath:
    """Fit an AdaTron for each of several caps, each warm-started from the next smaller one.

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d)
        Examples; checked and read once for the whole path.
    y : array, shape (n,)
        Labels.
    Cs : sequence of float, shape (m,)
        Caps, in any order; inf is one too.
    sample_weight : array, shape (n,), optional
        Multiplies the caps per example.
    **params
        Parameters of `AdaTron`; `max_time` counts for all caps together.

    Returns
    -------
    AdaTronPath
        The fitted models in the order of `Cs`, and their weights, supports and certificates as arrays.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X, y = np.array([[0.5], [2.0], [-1.0], [-2.0]]), np.array([1, 1, 0, 0])
    >>> path = hs.adatron_path(X, y, [0.01, 1.0], intercept="none", tol=1e-6)
    >>> path.coefs.round(3).ravel().tolist(), path.n_support.tolist()
    ([0.055, 1.0], [4, 2])
    """
    began = time.perf_counter()
    models = [AdaTron(C=C, **params) for C in read_caps(Cs, "adatron_path")]
    first = models[0]
    for model in models:
        model._check_parameters()  # noqa: SLF001
    data = read_examples(first, X, y, first._asked_clamp())  # noqa: SLF001
    data.inspection()
    s = example_weights(first.class_weight, sample_weight, data.classes, data.target, "adatron_path")
    tasks = tasks_of(data, s)
    budget = budget_of(first, began, len(models) * (1 + len(tasks)) * data.entries)
    climb(models, Fitting.of(data, s), tasks, (X, y), budget, certify=True)
    for model in models:
        model.__dict__.update({name: value for name, value in vars(first).items() if name == "feature_names_in_"})
    return AdaTronPath(tuple(models))
