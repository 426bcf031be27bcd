"""What GLVQ, GRLVQ and GMLVQ share: the cost, and its two optimisers."""

import time
from typing import Any, Self

import numpy as np
from sklearn.callback import with_callbacks

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.models.parameters import Examples, require_choice, require_number, restored_on_error
from halfspace.models.progress import Reporter
from halfspace.models.prototypes.learner import Fitted, PrototypeLearner
from halfspace.solvers.prototypes.glvq import Book, Rates
from halfspace.solvers.prototypes.glvq_batch import Descent, Landscape, descend

__all__ = ["GeneralisedLVQ"]

SMALL = 2000
"""Rows up to which optimizer="auto" descends the whole cost."""


class GeneralisedLVQ(PrototypeLearner):
    """A prototype classifier that minimises Φ = Σ f(μ), by presenting examples or as a whole."""

    _learns_metric: bool = False

    @with_callbacks
    def fit(self, X: Matrix, y: Labels, sample_weight: Any = None) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples; float32 and float64 are used as they are.
        y : array, shape (n,)
            Labels of any kind: numbers, strings, bools.
        sample_weight : array, shape (n,), optional
            Weights of the rows in the cost: a weight of 2 is the same as a row twice. Needs the batch optimiser: the online
            one depends on the order of the rows and takes class_weight only.

        Returns
        -------
        self
            With `prototypes_`, `prototype_labels_`, `certificate_`, `outcome_`, `cost_`, `history_`, `n_iter_`, `classes_`.
        """
        with restored_on_error(self):
            if sample_weight is not None and self.optimizer == "online":
                name = type(self).__name__
                msg = f"{name}(optimizer='online') takes no sample_weight: use optimizer='batch', or class_weight."
                raise InputError(msg)
            whole = self.optimizer == "batch" or (self.optimizer == "auto" and sample_weight is not None)
            self._fit(X, y, sample_weight, self._descend if whole else self._optimise)
            self.cost_ = self.certificate_.cost
            return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_choice(self, "optimizer", "auto", "batch", "online")
        require_number(self, "beta", least=0.0)

    def _beta(self) -> float:
        return float(self.beta)

    def _rule(self, share: float) -> Rates:
        steepest = float(self.beta) / 4.0 if self.beta > 0.0 else 1.0
        metric = float(self.metric_eta0) if self._learns_metric else 0.0
        return Rates(share * float(self.eta0) / steepest, share * metric / steepest, float(self.beta))

    def _optimise(self, data: Examples, s: FloatArray, book: Book, rng: Any, reporter: Reporter) -> Fitted:
        """Descend the whole cost of few rows, if that is left open, and present many."""
        whole = self.optimizer == "auto" and (data.y.size <= SMALL or book.omega.ndim == 3)
        return (self._descend if whole else self._present)(data, s, book, rng, reporter)

    def _descend(self, data: Examples, s: FloatArray, book: Book, rng: Any, reporter: Reporter) -> Fitted:
        """Descend the whole cost."""
        began, seconds = time.perf_counter(), [0.0]
        asked = False

        def watch(W: FloatArray, omega: FloatArray, cost: float) -> bool:
            nonlocal asked
            self._keep(book._replace(W=W, omega=omega))
            seconds.append(time.perf_counter() - began)
            step = len(seconds) - 1
            asked = reporter.tell(f"step {step}: cost {cost:.6g}, {seconds[-1]:.1f} s", last=step >= self.max_iter)
            return asked or (self.max_time is not None and seconds[-1] > self.max_time)

        at = Landscape(data.view, data.target, s, book.labels, float(self.beta), self._learns_metric)
        end = descend(at, book.W, book.omega, int(self.max_iter), float(self.tol), watch)
        if end.reason == "stopped by callback" and not asked:
            end = end._replace(reason="time budget spent")
        history = {"cost": end.costs * s.sum(), "seconds": np.array(seconds)}
        after = book._replace(W=end.W, omega=end.omega)
        return Fitted(after, end.reason, max(end.costs.size - 1, 1), history, *self._said(end))

    def _said(self, end: Descent) -> tuple[str, str]:
        """Return what happened in a descent, and what to do about it."""
        steps, on = end.costs.size - 1, "call fit with warm_start=True to go on."
        fell = f"the mean cost fell from {end.costs[0]:.4g} to {end.costs[-1]:.4g}"
        if end.reason == "converged":
            return f"Converged after {steps} steps: {fell}, in the last by less than tol={self.tol:g} of it.", ""
        if end.reason == "rounding limit reached":
            return f"No lower cost was found in the direction of step {steps + 1}, as at a kink of the cost: {fell}.", ""
        remedies = {"iteration budget spent": f"Raise max_iter, or {on}", "time budget spent": f"Raise max_time, or {on}"}
        return f"Stopped after {steps} steps: {fell}.", remedies.get(end.reason, on.capitalize())
