"""The certificate of a prototype classifier: its errors, its cost, how flat the cost is there, and how safe the rows are.

A row is given the label of its nearest prototype, d_k(x) = ‖Ω(x - w_k)‖². Claims, each recomputed from the data (formulas and
rounding: `relative_distances`):

- errors: rows whose nearest prototype has another label; near ties may fall either way;
- radius: no row that is right becomes wrong by a move shorter than this, in the units of the inputs;
- cost: Σ s_i f(μ_i) of generalised LVQ, μ = (d+ - d-) / (d+ + d-), and the relative length of its gradient;
- costs: the course of a batch method, which never rises and ends in that cost.

Claims give away four times their rounding, the checker demands one.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import as_rows, is_array, is_label, is_number
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.prototypes.relative_distances import Prototypes, Survey, survey
from halfspace.errors import InputError

__all__ = ["PrototypeErrors"]

COST_ROUNDING = 1e-9
"""How far, relative to the sum of weights, a cost of the course may be off: solvers sum in their own order."""


@dataclass(frozen=True, eq=False)
class PrototypeErrors(Certificate):
    """Errors of the nearest prototype on labelled examples, with safe radii, and the cost with its slope.

    Parameters
    ----------
    errors : int
        Rows whose nearest prototype has another label; of prototypes equally near, the first counts.
    radius : float
        Rows that are right stay right under any move shorter than this, in the units of the inputs; 0 if none is right.
    median_radius : float
        The same for at least half of all rows (rows that are wrong have radius 0).
    cost : float or None
        Σ s_i f(μ_i), an upper bound that is larger by rounding only; None without `beta`.
    gradient : float or None
        Relative length of the cost's gradient, 0 where the cost is stationary, rounded up: with respect to the prototypes,
        over the sum of what the rows pull one by one; with respect to Ω, over the slope of stretching Ω as a whole if no
        pull cancelled another; the larger one. None without `beta`.
    prototypes : ndarray, shape (P, d)
        The prototypes.
    prototype_labels : tuple of length P
        Their labels.
    omega : ndarray or None
        The metric Ω: shape (m, d); (d,) for a diagonal, the square roots of relevances; (c, m, d) for one per class, in
        the sorted order of the labels; None for the Euclidean one.
    beta : float or None
        Slope of the sigmoid f(μ) = 1 / (1 + exp(-βμ)); 0 for f(μ) = μ; None where no cost is claimed.
    sample_weight : ndarray, shape (n,), or None
        Weights s_i of the rows in the cost, if not all 1.
    costs : ndarray, shape (steps,)
        The cost in the course of a batch method; empty for other methods.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [4.0]]), np.array(["a", "a", "b"])
    >>> proof = PrototypeErrors.measure(X, y, prototypes=np.array([[0.0], [4.0]]), labels=["a", "b"])
    >>> print(proof, bool(proof.verify(X, y)), bool(proof.verify(X, y[::-1])))
    2 prototypes: 0 errors; rows that are right stay so within 1, half of all rows within 2 True False
    """

    errors: int
    radius: float
    median_radius: float
    cost: float | None
    gradient: float | None
    prototypes: FloatArray
    prototype_labels: tuple[Label, ...]
    omega: FloatArray | None
    beta: float | None
    sample_weight: FloatArray | None
    costs: FloatArray

    def __str__(self) -> str:
        count = f"{self.errors:,} error{'' if self.errors == 1 else 's'}"
        safe = f"rows that are right stay so within {self.radius:.3g}, half of all rows within {self.median_radius:.3g}"
        cost = "" if self.cost is None else f"; cost {self.cost:.6g}, relative gradient {self.gradient:.2g}"
        return f"{len(self.prototype_labels):,} prototypes: {count}; {safe}{cost}"

    @classmethod
    def measure(
        cls,
        X: Matrix,
        y: Labels,
        *,
        prototypes: FloatArray,
        labels: Any,
        omega: FloatArray | None = None,
        beta: float | None = None,
        sample_weight: FloatArray | None = None,
        costs: Any = (),
    ) -> Self:
        """Measure what prototypes (P, d) with labels (P,) do on examples X (n, d) with labels y (n,).

        Arrays are taken in float64. Every label of y needs a prototype; a cost (`beta`) needs prototypes of two labels.
        """
        X, y = as_rows(X, y)
        about: dict[str, Any] = {
            "prototypes": np.asarray(prototypes, dtype=np.float64),  # the model's own memory: a changed model is not proved
            "prototype_labels": tuple(np.asarray(labels).tolist()),
            "omega": _array(omega),
            "beta": None if beta is None else float(beta),
            "sample_weight": _array(sample_weight),
            "costs": np.array(costs, dtype=np.float64),
        }
        none = None if beta is None else 0.0
        draft = cls(0, 0.0, 0.0, none, none, **about)
        sound = draft.well_formed() and draft.fits(X, y)
        if not sound:
            msg = f"PrototypeErrors.measure: {'; '.join(sound.reasons)}; hand in what one fitted model holds"
            raise InputError(msg)
        found = draft.survey(X, y, give=4.0)
        if beta is None:
            return cls(found.errors, found.radius, found.median_radius, None, None, **about)
        cost, gradient = found.cost + 4.0 * found.cost_slack, found.gradient + 4.0 * found.gradient_slack
        return cls(found.errors, found.radius, found.median_radius, cost, gradient, **about)

    def survey(self, X: Matrix, y: Labels, *, give: float) -> Survey:
        """Recompute everything from checked examples; radii give away `give` times their rounding."""
        classes, target = np.unique(np.asarray(self.prototype_labels), return_inverse=True)
        s = np.ones(y.size) if self.sample_weight is None else self.sample_weight
        given = Prototypes(self.prototypes, target, self.omega)
        with np.errstate(all="ignore"):  # what is not finite is refused, not warned of
            return survey(X, np.searchsorted(classes, y), given, self.beta, s, give=give)

    def well_formed(self) -> Verdict:
        """Check types, shapes and ranges of the fields."""
        labels = isinstance(self.prototype_labels, tuple) and all(is_label(label) for label in self.prototype_labels)
        paired = labels and is_array(self.prototypes, 2) and self.prototypes.shape[0] == len(self.prototype_labels) >= 1
        if not paired or self.prototypes.shape[1] < 1:
            return Verdict.of((False, "there is not one label for each of at least one prototype of finite numbers"))
        weighted = self.sample_weight is not None
        counts = isinstance(self.errors, int) and not isinstance(self.errors, bool) and self.errors >= 0
        claimed = [value is not None for value in (self.beta, self.cost, self.gradient)]
        sloped = is_number(self.beta, least=0.0) and is_number(self.cost) and is_number(self.gradient, least=0.0)
        return Verdict.of(
            (counts, "the errors are not a count"),
            (is_number(self.radius, least=0.0, infinite=True), "the radius is not a number >= 0"),
            (is_number(self.median_radius, least=0.0, infinite=True), "the median radius is not a number >= 0"),
            (not any(claimed) or (all(claimed) and sloped), "beta, cost and gradient are not numbers, or not all there"),
            (not any(claimed) or len(set(self.prototype_labels)) > 1, "a cost needs prototypes of two labels"),
            (self._metric_fits(), "the metric is not an array of shape (d,), (m, d) or (classes, m, d)"),
            (not weighted or _weights(self.sample_weight), "the sample weights are not numbers >= 0"),
            (is_array(self.costs, 1) and (any(claimed) or not self.costs.size), "the costs are not a course of the cost"),
        )

    def _metric_fits(self) -> bool:
        """Tell whether Ω has a row for every input, and a matrix for every class if it is one per class."""
        if self.omega is None:
            return True
        shaped = any(is_array(self.omega, axes) for axes in (1, 2, 3)) and self.omega.size > 0
        classes = self.omega.ndim < 3 or self.omega.shape[0] == len(set(self.prototype_labels))
        return shaped and self.omega.shape[-1] == self.prototypes.shape[1] and classes

    def fits(self, X: Matrix, y: Labels) -> Verdict:
        """Check that the claim is about data of this shape and these labels."""
        d = self.prototypes.shape[1]
        strangers = set(np.unique(y).tolist()) - set(self.prototype_labels)
        return Verdict.of(
            (X.shape[1] == d, f"the prototypes have {d} inputs, but the data {X.shape[1]}"),
            (not strangers, f"y has labels without a prototype: {sorted(map(str, strangers))}"),
            (self.sample_weight is None or self.sample_weight.shape == y.shape, "one sample weight per example expected"),
        )

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute every number."""
        fits = self.fits(X, y)
        if not fits:
            return fits
        found = self.survey(X, y, give=1.0)
        count = f"{found.certain:,}" if found.certain == found.possible else f"{found.certain:,} to {found.possible:,}"
        claims = [
            (found.certain <= self.errors <= found.possible, f"{count} rows are wrong, not {self.errors:,}"),
            (self.radius <= found.radius, f"rows that are right are safe within {found.radius:.6g}, not {self.radius:.6g}"),
            (
                self.median_radius <= found.median_radius,
                f"half of the rows are safe within {found.median_radius:.6g}, not {self.median_radius:.6g}",
            ),
        ]
        if self.cost is not None and self.gradient is not None:
            low, high = found.cost + found.cost_slack, found.cost + 8.0 * found.cost_slack
            flat = self.gradient >= found.gradient + found.gradient_slack
            claims += [
                (low <= self.cost <= high, f"the cost is {found.cost:.9g}, not {self.cost:.9g}"),
                (flat, f"the relative gradient is {found.gradient:.3g}, not {self.gradient:.3g}"),
                self._course(float(y.size if self.sample_weight is None else self.sample_weight.sum()), found.cost_slack),
            ]
        return Verdict.of(*((bool(true), text) for true, text in claims))

    def _course(self, total: float, slack: float) -> tuple[bool, str]:
        """Judge the course of the cost: it never rises, and ends in the cost."""
        spare = COST_ROUNDING * total
        falls = bool((np.diff(self.costs) <= spare).all())
        ends = self.costs.size == 0 or abs(self.costs[-1] - np.float64(self.cost)) <= 2.0 * spare + 8.0 * slack
        return falls and bool(ends), "the course of the cost rises, or does not end in the cost"

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        arrays = {name: _array(body[name]) for name in ("prototypes", "omega", "sample_weight", "costs")}
        numbers = {name: float(body[name]) for name in ("radius", "median_radius")}
        return cls(**{**body, **arrays, **numbers, "prototype_labels": tuple(body["prototype_labels"])})


def _weights(value: Any) -> bool:
    return is_array(value, 1) and bool((value >= 0.0).all())


def _array(value: Any) -> FloatArray | None:
    return None if value is None else np.asarray(value, dtype=np.float64)
