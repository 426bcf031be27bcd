"""How wrong a large-margin model is, without a test set: exact leave-one-out errors, with the proof."""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from halfspace._memory import admit
from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates.margins.gap import DualityGap, KernelGap
from halfspace.certificates.margins.leave_one_out import LeaveOneOut, Refits
from halfspace.errors import GapWarning, InputError, NotSeparatedWarning
from halfspace.models.kernel.adatron import KernelAdaTron
from halfspace.models.parameters import Examples, read_examples
from halfspace.models.planes.adatron import AdaTron
from halfspace.rows.labels import example_weights
from halfspace.rows.operations import sparsified
from halfspace.rows.views import Gram
from halfspace.solvers.linear.soft_margin import Problem, combined
from halfspace.solvers.rules.adatron import AdaTron as Rule
from halfspace.solvers.rules.leave_one_out import settle
from halfspace.solvers.rules.sweep import Forget, State, Task, start, sweep

__all__ = ["leave_one_out"]

TOL = 1e-6
"""Relative duality gap of the strengths that the bound starts from: with 1e-3 it clears hardly any example."""
ROUNDS = 60
"""Rounds of a refit after which a sign is left undecided."""


def leave_one_out(model: Any, X: Matrix, y: Labels, *, max_time: float | None = None) -> LeaveOneOut:
    """Count the examples that a large-margin model gets wrong when each is left out in turn, and prove the count.

    A bound clears most examples without learning anything again. For each of the others the model is learnt again without it,
    from the strengths of all, until the sign of its output is sure by the duality gap. The answer is that of n separate fits
    to the optimum.

    Parameters
    ----------
    model : AdaTron or KernelAdaTron
        Its parameters are used; it need not be fitted and stays as it is. Two classes, intercept "clamped" or "none",
        class_weight a table or None. A kernel's gamma="scale" is computed from all examples.
    X : array or CSR matrix, shape (n, d)
        Examples, as the model gets them: what was learnt from them before, such as a scale, is not left out.
    y : array, shape (n,)
        Labels of two classes.
    max_time : float, optional
        Time limit in seconds. Examples that are not reached in time are `undecided`.

    Returns
    -------
    LeaveOneOut
        `errors` of `examples` (`error` is their share), `undecided`; `verify(X, y)` proves the count again from the data.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> import halfspace as hs
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> proof = hs.leave_one_out(hs.AdaTron(C=0.01), scale(X), y)
    >>> proof.errors, proof.undecided, bool(proof.verify(scale(X), y))
    (9, 0, True)
    """
    deadline = None if max_time is None else time.perf_counter() + _limit(max_time)
    fitted = _fitted(model, X, y, max_time)
    data = read_examples(clone(model), X, y, float(fitted._fitted_clamp))  # noqa: SLF001  (models of this package)
    data.inspection()
    s = example_weights(model.class_weight, None, data.classes, data.target, "leave_one_out")
    kernel = fitted.kernel_ if isinstance(model, KernelAdaTron) else None
    task = _task(data, s, kernel)
    state, rule = start(task), Rule(1.0, float(model.C))
    state.alpha[0] = np.clip(fitted._alpha[0] if isinstance(model, AdaTron) else fitted.alpha_, 0.0, rule.cap * s)  # noqa: SLF001
    _reweigh(task, state)
    settle(rule, task, state, -1, rounds=ROUNDS, tol=TOL)
    weight = None if (s == 1.0).all() else s
    about: dict[str, Any] = {"C": rule.cap, "sample_weight": weight, "clamp": data.clamp, "positive": data.classes.tolist()[1]}
    about |= {"weights": state.W[0].copy()} if kernel is None else {"kernel": kernel}
    kind: Any = DualityGap if kernel is None else KernelGap
    proof = LeaveOneOut.draft(data.X, data.y, kind.measure(data.X, data.y, strengths=state.alpha[0], **about))
    if np.isinf(proof.gap.primal):
        msg = "leave_one_out: with C=inf there is no optimum, as no plane was found between the classes. Give a finite C."
        raise InputError(msg)
    base, found = state.alpha[0].copy(), []
    for i in proof.suspects.tolist():
        if deadline is not None and time.perf_counter() >= deadline:
            break
        found.append((i, _without(i, rule, task, state)))
    rest = [(i, _taken(base, i)) for i in proof.suspects[len(found) :].tolist()]
    return proof.with_refits(data.X, data.y, Refits.of(base, found + rest))


def _limit(max_time: Any) -> float:
    if not isinstance(max_time, int | float) or isinstance(max_time, bool) or not max_time > 0:
        msg = (
            f"The 'max_time' parameter of leave_one_out must be a positive number of seconds or None. Got {max_time!r} instead."
        )
        raise InputError(msg)
    return float(max_time)


def _fitted(model: Any, X: Matrix, y: Labels, max_time: float | None) -> Any:
    """Return a model with these parameters, learnt to a small gap; refuse those that the theorem is not about."""
    if not isinstance(model, AdaTron | KernelAdaTron):
        msg = f"leave_one_out is about AdaTron and KernelAdaTron. Got {type(model).__name__} instead."
        raise InputError(msg)
    balanced = isinstance(model.class_weight, str)
    cells = getattr(model, "n_cells", None) is not None
    if model.intercept == "free" or balanced or cells:
        what = (
            "intercept='free'"
            if model.intercept == "free"
            else f"class_weight={model.class_weight!r}"
            if balanced
            else "n_cells"
        )
        remedy = (
            "Use intercept='clamped'."
            if model.intercept == "free"
            else "Give the weights as a table."
            if balanced
            else "Use n_cells=None."
        )
        msg = f"leave_one_out: its theorem does not hold with {what}. {remedy}"
        raise InputError(msg)
    if np.unique(np.asarray(y)).size > 2:
        msg = "leave_one_out is a question about two classes. Ask for each class against the rest, e.g. y == label."
        raise InputError(msg)
    tol = min(float(model.tol), TOL)
    fresh = clone(model).set_params(tol=tol, max_time=max_time, verbose=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        warnings.simplefilter("ignore", NotSeparatedWarning)
        return fresh.fit(X, y)


def _task(data: Examples, s: FloatArray, kernel: Any) -> Task:
    """Return the examples as the rule sees them: as rows, or as a kernel matrix."""
    view, q = sparsified(data.view), data.q
    if kernel is not None:
        n = data.y.size
        admit("leave_one_out", 8.0 * n * n, f"the kernel matrix of {n:,} examples", "give fewer rows", data.X)
        K = np.asarray(data.X if kernel.is_precomputed else kernel.exact(data.X, data.X), dtype=np.float64) + data.clamp**2
        view, q = Gram(np.ascontiguousarray(K)), K.diagonal().copy()
    return Task(view, data.target.astype(np.int64), np.array([1]), q, s)


def _reweigh(task: Task, state: State) -> None:
    """Compute the weights anew from the strengths."""
    sign = np.where(task.target == 1, 1.0, -1.0)
    state.W[0] = combined(Problem(task.X, sign, task.s, task.q), state.alpha[0])


def _without(i: int, rule: Rule, task: Task, state: State) -> FloatArray:
    """Return the strengths learnt without example i, shape (n,)."""
    own = state._replace(W=state.W.copy(), alpha=state.alpha.copy())
    sweep(Rule(1.0, 0.0), Forget(), task, own, 0, np.array([i]))  # a cap of 0 takes its strength away
    settle(rule, task, own, i, rounds=ROUNDS)
    return np.asarray(own.alpha[0])


def _taken(base: FloatArray, i: int) -> FloatArray:
    """Return the strengths of all without that of example i."""
    return np.where(np.arange(base.size) == i, 0.0, base)
