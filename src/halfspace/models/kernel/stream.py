"""Kernel perceptrons on data sets and streams: which learner goes on with which examples."""

from copy import deepcopy
from typing import Any, NoReturn, Self

import numpy as np
from sklearn.utils import check_random_state

from halfspace._typing import IntArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.models.kernel.learners import OnBudget, Setting, Unbounded, fingerprint
from halfspace.models.kernel.prediction import KernelPlaneMixin
from halfspace.models.parameters import Examples, usable_rows
from halfspace.models.planes.stream import StreamMixin
from halfspace.rows.labels import class_numbers, example_weights
from halfspace.rows.orders import in_order, shuffled
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.sweep import Task

__all__ = ["KernelStreamMixin"]


class KernelStreamMixin(StreamMixin, KernelPlaneMixin):
    """A model that learns by presenting examples in a kernel's space; a learner (`_learner`) keeps the support vectors."""

    variant: str
    budget: int | None
    budget_rule: str
    cache_size: float
    shuffle: bool
    warm_start: bool
    random_state: Any
    _learner: Any

    def _begin(self, setting: Setting, data: Examples, task: Task, before: dict[str, Any]) -> tuple[Any, Any]:
        """Return learner and presenter: fresh ones, or those of the last fit if `warm_start` and the data are the same."""
        mark, old = fingerprint(data.X, data.target), before.get("_learner") if self.warm_start else None
        same = old is not None and old.mark == mark and np.array_equal(before["classes_"], data.classes)
        if old is not None and same and old.setting == setting and isinstance(old, OnBudget) == (self.budget is not None):
            learner = old.resumed()
            return learner, learner.go_on(data.X, task)
        learner = self._new_learner(setting, data.X.shape[1], data.positive.size)
        return learner, learner.begin(data.X, task, mark)

    def _new_learner(self, setting: Setting, width: int, n_problems: int) -> Unbounded | OnBudget:
        """Return a learner that knows nothing yet; refuse a budget that the memory has no room for."""
        if self.budget is None:
            return Unbounded(setting)
        tables = 2 if self.budget_rule == "projectron" else 1
        needed = 8.0 * n_problems * self.budget * (tables * self.budget + width)
        if needed > setting.room:
            msg = f"KernelPerceptron: a budget of {self.budget:,} for {n_problems} problem(s) needs {needed / 1e6:,.0f} "
            msg += f"MB, but cache_size allows {self.cache_size:g}. Lower the budget or raise cache_size."
            raise InputError(msg)
        return OnBudget(setting, int(self.budget), self.budget_rule)

    def _orders(self, data: Examples) -> Any:
        """Yield the order of the examples in each epoch."""
        if not self.shuffle:
            return in_order(data.y.size)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return shuffled(data.y.size, float(data.X.shape[1]), data.target, np.random.default_rng(seed))

    def _take_in(self, X: Matrix, y: Labels, sample_weight: Any) -> Self:
        owner = type(self).__name__
        view, q = usable_rows(X, self._clamp, owner)
        target = class_numbers(y, self.classes_, owner)
        s = example_weights(self.class_weight, sample_weight, self.classes_, target, owner)
        positive = np.array([1]) if self.classes_.size == 2 else np.arange(self.classes_.size)
        if not hasattr(self, "_learner"):
            kernel = self._asked_kernel().resolved(X)
            setting = Setting(kernel, self._clamp**2, self.variant, 1e6 * self.cache_size)
            self._learner = self._new_learner(setting, X.shape[1], positive.size)
        if self._learner.setting.kernel.is_precomputed:
            msg = "KernelPerceptron.partial_fit cannot use a precomputed kernel: new rows have no columns yet. Use fit."
            raise InputError(msg)
        presenter = self._learner.begin(X, Task(view, target, positive, q, s))
        everyone, active = np.arange(target.size), np.arange(positive.size)
        for first in range(0, target.size, presenter.piece):
            presenter.present(everyone[first : first + presenter.piece], active)
        self._store(X)
        self.n_iter_ = 1
        self.outcome_ = Outcome("passes done", f"{self._learner.clock:,} examples of a stream, each seen once.")
        for name in ("certificate_", "history_", "_potentials"):
            vars(self).pop(name, None)
        return self

    def _store(self, X: Matrix) -> None:
        """Read the answer from the learner."""
        learner = self._learner
        learner.settle(X)
        self._expansion, self._alpha, self.mistakes_ = learner.expansion(), learner.alpha(), self._mistakes()

    def _so_far(self, X: Matrix) -> dict[str, Any]:
        """Return what a callback needs to predict with the model as it is now."""
        self._store(X)
        return deepcopy({name: value for name, value in vars(self).items() if name.startswith("_") or name == "classes_"})

    def _mistakes(self) -> int | IntArray:
        """Mistakes so far: a number, or one per class."""
        counts: IntArray = self._learner.mistakes
        return int(counts[0]) if counts.size == 1 else counts.copy()

    @property
    def certify(self) -> NoReturn:
        """Not offered: a certificate names its support vectors by their rows, which a stream does not keep."""
        msg = f"{type(self).__name__} has no certify: its certificates name support vectors by their rows. fit gives one."
        raise AttributeError(msg)
