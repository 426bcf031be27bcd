"""Every number of every certificate is checked, is a parameter of the question, or is printed apart as reported by the run."""

import json
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import pytest
from scipy import stats

from halfspace import certificates as proofs
from halfspace.certificates import Certificate, from_json
from halfspace.certificates.fields import faults, roles, specs
from halfspace.certificates.regression.posterior import Sums
from halfspace.errors import CertificateError, InputError
from halfspace.kernels import RBF

APART = "; reported by the run, not proved: "
FILES = sorted((Path(__file__).parent / "stored").glob("*.json"))
LESS = {
    "MarginBracket.lower",
    "KeslerBracket.lower",
    "Separability.margin",
    "PrototypeErrors.radius",
    "PrototypeErrors.median_radius",
    "GaussianPosterior.precision",
}
"""Claims of the form "at least": a smaller number is a weaker claim, and true. (A precision ends at rounding.)"""
MORE = {
    "MarginBracket.upper",
    "HamLoss.bound",
    "StreamMistakes.bound",
    "KernelRidgeGap.distance",
    "KernelRidgeGap.gap",
    "KeslerBracket.upper",
    "LeastSquaresGap.backward_error",
    "NeighbourErrors.errors",
    "NeighbourMeans.error",
    "PrototypeErrors.gradient",
    "RidgeGap.backward_error",
    "RidgeGap.rounding",
    "RidgeGap.gap",
}
"""Claims of the form "at most": a larger number is a weaker claim, and true."""


class Case(NamedTuple):
    """A true certificate and its data."""

    certificate: Any
    X: Any
    y: Any


class Change(NamedTuple):
    """A certificate with one number changed: in the field of `part`, a part of it, whose own data are X and y."""

    field: str
    role: str
    name: str
    old: Any
    new: Any
    whole: Any
    part: Any
    X: Any
    y: Any


def stored(path):
    body = json.loads(path.read_text(encoding="utf-8"))
    return Case(
        from_json(json.dumps(body["certificate"])), np.array(body["X"]), None if body["y"] is None else np.array(body["y"])
    )


SIGNED = np.array([[3.0, 0.5], [1.0, 2.0], [4.0, 4.0], [5.0, 2.0]])
X, Y = SIGNED * np.array([[1.0], [-1.0], [1.0], [-1.0]]), np.array([1, 0, 1, 0])
BEST, SHARES = np.array([1.32, 1.76]), np.array([0.16, 0.84, 0.0, 0.0])
"""The shortest vector of the hull of the signed rows, and how it is made of them: any change of either makes it worse."""


def tight_bracket():
    return proofs.MarginBracket.measure(X, Y, weights=BEST, strengths=SHARES, positive=1)


def tight_gap(C):
    weights, strengths = BEST / (BEST @ BEST), SHARES / (BEST @ BEST)
    return proofs.DualityGap.measure(X, Y, weights=weights, strengths=strengths, C=C, positive=1)


def tight_kesler():
    W, alpha = np.eye(3) - 1.0 / 3.0, np.ones((3, 3)) - np.eye(3)
    y = np.array(["a", "b", "c"])
    return Case(proofs.KeslerBracket.measure(np.eye(3), y, weights=W, strengths=alpha, classes=y), np.eye(3), y)


def best_least_squares():
    best = np.linalg.lstsq(X, 2.0 * Y - 1.0, rcond=None)[0]
    return proofs.LeastSquaresGap.measure(X, Y, weights=best, positive=1)


def with_course():
    part = stored(FILES[0].parent / "MixtureLikelihood.json")
    level = part.certificate.log_likelihood
    return part._replace(certificate=replace(part.certificate, course=(level - 2.0, level - 1.0, level)))


def with_costs():
    part = stored(FILES[0].parent / "PrototypeErrors-cost.json")
    cost = part.certificate.cost
    return part._replace(certificate=replace(part.certificate, costs=np.array([cost + 2.0, cost + 1.0, cost])))


def weighted_posterior():
    sums, s = Sums(np.array([[2.0, 4.0]]), 4.0, np.zeros(1), 0.0), np.array([4.0])
    options = {"alpha": 1.0, "beta": 0.25, "weights": np.array([1.0]), "covariance": np.array([[0.5]]), "sample_weight": s}
    return Case(proofs.GaussianPosterior.of(sums, **options), np.array([[1.0]]), np.array([2.0]))


def weighted_quantisation():
    s = np.array([1.0, 2.0, 0.5, 1.0])
    return Case(proofs.Quantisation.measure(X, prototypes=np.array([[3.0, 2.0], [-3.0, -2.0]]), sample_weight=s), X, None)


def weighted_cells():
    rows, labels = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array(["a", "a", "b", "a"])
    parts = proofs.OneLabel("a"), proofs.OneLabel("b")
    cells, s = np.array([0, 0, 1, -1]), np.array([1.0, 1.0, 1.0, 0.0])
    return Case(proofs.PerCell(np.array([[0.5], [8.5]]), cells, parts, s), rows, labels)


def weighted_ridge_cells():
    rows, targets = np.array([[0.0], [1.0], [8.0], [9.5], [30.0]]), np.array([1.0, 2.0, 0.5, 0.25, 7.0])
    cells, s = np.array([0, 0, 1, 1, -1]), np.array([1.0, 2.0, 1.0, 0.5, 0.0])
    about = {"kernel": RBF(0.5), "coefficients": np.array([[0.4, 0.5]]), "ridge": 1.0}
    parts = (proofs.KernelRidgeGap.measure(rows[k], targets[k], sample_weight=s[k], **about) for k in (slice(2), slice(2, 4)))
    return Case(proofs.KernelRidgeCells(np.array([[0.5], [8.5]]), cells, tuple(parts), s), rows, targets)


def tight_one_class():
    """Return the best plane from the origin for rows on a line, whose shortest vector has any strengths but these longer."""
    rows = np.array([[0.0], [1.0], [3.0], [0.25], [0.5], [9.0]])
    K = np.exp(-((rows[:3] - rows[:3].T) ** 2))
    alpha = np.linalg.solve(K, np.ones(3))
    alpha /= alpha.sum()
    about = {"kernel": RBF(1.0), "strengths": alpha, "nu": 0.5, "rho": alpha @ K @ alpha, "level": 0.25}
    return Case(proofs.OneClassGap.measure(rows, **about), rows, None)


CASES: dict[str, Callable[[], Case]] = {
    **{path.stem: lambda path=path: stored(path) for path in FILES},
    "tight bracket": lambda: Case(tight_bracket(), X, Y),
    "tight gap": lambda: Case(tight_gap(1.0), X, Y),
    "tight hard gap": lambda: Case(tight_gap(np.inf), X, Y),
    "tight Kesler": tight_kesler,
    "mistakes": lambda: Case(proofs.MistakeBound.of(1, tight_bracket(), proofs.Novikoff(1.0, 1.0, 0.5, 0.25)), X, Y),
    "aggressive": lambda: Case(
        proofs.MistakeBound.of(1, tight_bracket(), proofs.PassiveAggressiveBound(0.01, 0.5, 0.25)), X, Y
    ),
    "tight plane from the origin": tight_one_class,
    "weighted posterior": weighted_posterior,
    "weighted quantisation": weighted_quantisation,
    "least squares": lambda: Case(best_least_squares(), X, Y),
    "cells": weighted_cells,
    "ridge cells": weighted_ridge_cells,
    "ridge": lambda: Case(proofs.RidgeGap.measure(X, Y, weights=np.array([0.1, 0.2]), ridge=1.0), X, Y),
    "mixture with its course": with_course,
    "prototypes with their costs": with_costs,
}


# ---------------------------------------------------------------- changes
def other_numbers(value):
    """Return other values for a number, by name."""
    v = float(value)
    found = {"zero": 0.0, "twice": 2.0 * v, "negated": -v, "one more": v + 1.0, "one less": v - 1.0, "huge": 1e300}
    found |= {"a little more": v * 1.001 if v else 1e-3, "a little less": v * 0.999 if v else -1e-3}
    found |= {"not a number": np.nan, "infinite": np.inf, "minus infinity": -np.inf}
    if isinstance(value, int | np.integer):
        found = {name: int(x) if np.isfinite(x) and x == int(x) else x for name, x in found.items()}
    return {name: x for name, x in found.items() if x != value}


def other_arrays(value):
    """Return an array with one number changed, or all, or their order."""
    found, flat = {"twice": 2 * value, "negated": -value, "zero": 0 * value, "short": value[:-1]}, value.ravel()
    found["in another order"] = np.roll(flat, 1).reshape(value.shape)
    for place in (0, flat.size - 1):
        for name, number in other_numbers(flat[place].item()).items():
            if flat.dtype.kind == "f" or (isinstance(number, int) and abs(number) < 2**62):
                changed = flat.copy()
                changed[place] = number
                found[f"[{place}] {name}"] = changed.reshape(value.shape)
    return {name: a for name, a in found.items() if not np.array_equal(a, value)}


def others(value):
    """Return other values for a number, an array or a tuple of numbers, or a table of fractions; for anything else none."""
    if isinstance(value, bool):
        return {"the other": not value}
    if isinstance(value, int | float | np.number):
        return other_numbers(value)
    if isinstance(value, np.ndarray):
        return other_arrays(value) if value.size else {}
    if isinstance(value, tuple) and value and all(isinstance(v, int | float | tuple) for v in value):
        numbers = other_arrays(np.array(value)).items()
        return {name: tuple(tuple(v) if isinstance(v, list) else v for v in a.tolist()) for name, a in numbers}
    if isinstance(value, dict) and value:
        row, share = next(iter(value.items()))
        return {
            "twice": {row: 2 * share for row, share in value.items()},
            "one a little more": value | {row: share + Fraction(1, 10**9)},
            "one less": {r: share for r, share in value.items() if r != row},
            "another row": {r + (r == row) * 7: share for r, share in value.items()},
        }
    return {}


def of_part(certificate, k, X, y):
    """Return the data of part k of a collection."""
    if isinstance(certificate, proofs.PerPair):
        mine = np.isin(y, [certificate.classes[i] for i in certificate.pairs[k]])
        return X[mine], y[mine]
    if isinstance(certificate, proofs.PerCell):
        mine = certificate.known(k, np.flatnonzero(certificate.cells == k))
        return X[mine], y[mine]
    return (X, y[:, k]) if isinstance(certificate, proofs.PerOutput) else (X, y)


def changes(part, X, y, whole=lambda part: part):
    """Yield every change of every field of a certificate, its theorem and its parts."""
    for name, role in roles(type(part)).items():
        value = getattr(part, name)

        def put(new, part=part, name=name):
            return part._replace(**{name: new}) if hasattr(part, "_fields") else replace(part, **{name: new})

        if isinstance(value, Certificate) or hasattr(value, "_fields"):
            yield from changes(value, X, y, lambda new, put=put: whole(put(new)))
        elif isinstance(value, tuple) and value and isinstance(value[0], Certificate):
            for k, one in enumerate(value):
                into = lambda new, put=put, k=k, value=value: whole(put((*value[:k], new, *value[k + 1 :])))  # noqa: E731
                yield from changes(one, *of_part(part, k, X, y), into)
        else:
            for how, new in others(value).items():
                yield Change(f"{type(part).__name__}.{name}", role, how, value, new, whole(put(new)), put(new), X, y)


def holds(certificate, X, y):
    """Return whether a certificate holds; one that is malformed does not, and nothing else is raised or warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return bool(certificate.verify(X, y))
        except (CertificateError, InputError):
            return False


# ---------------------------------------------------------------- what is true, from the definitions
def clamped(X, clamp):
    return np.hstack([X, np.full((len(X), 1), clamp)]) if clamp else X


def true_margin(c, X, y):
    """Both sides of a margin bracket, written out."""
    A, s = clamped(X, c.clamp), np.where(y == c.positive, 1.0, -1.0)
    length, share = np.linalg.norm(c.weights), c.strengths / c.strengths.sum()
    lower = (s * (A @ c.weights + c.bias)).min() / length if length else -np.inf
    upper = np.linalg.norm((share * s[c.rows]) @ A[c.rows])
    upper += c.free * 2.0 * np.linalg.norm(A, axis=1).max() * abs(share @ s[c.rows])
    return c.lower <= lower + 1e-12 and c.upper >= upper - 1e-12


def true_kesler(c, X, y):
    """Both sides of a bracket of several classes, written out."""
    A, target = clamped(X, c.clamp), np.array([c.classes.index(label) for label in y.tolist()])
    scores, sums = A @ c.weights.T, np.zeros(c.weights.shape)
    ahead = min(scores[i, t] - scores[i, v] for i, t in enumerate(target) for v in range(len(c.classes)) if v != t)
    for i, v, strength in zip(c.rows, c.rivals, c.strengths / c.strengths.sum(), strict=True):
        sums[target[i]] += strength * A[i]
        sums[v] -= strength * A[i]
    return c.lower <= ahead / np.linalg.norm(c.weights) + 1e-12 and c.upper >= np.linalg.norm(sums) - 1e-12


def true_gap(c, X, y):
    """Primal and dual value in the plane, or in the space of a polynomial kernel, written out; with C = inf by directions."""
    s = np.where(y == c.positive, 1.0, -1.0)
    if isinstance(c, proofs.KernelGap):
        K = (c.kernel.gamma * X @ X.T + c.kernel.coef0) ** c.kernel.degree + c.clamp**2
        f = (K[:, c.rows] * s[c.rows]) @ c.strengths
        square = own = (c.strengths * s[c.rows]) @ f[c.rows]
    else:
        A = clamped(X, c.clamp)
        v = (c.strengths * s[c.rows]) @ A[c.rows]
        f, square, own = A @ c.weights, c.weights @ c.weights, v @ v
    E, weights = s * (f + c.bias), np.ones(len(y)) if c.sample_weight is None else c.sample_weight
    if np.isinf(c.C):
        primal, dual = square / 2 / E[weights > 0].min() ** 2, c.strengths.sum() ** 2 / own / 2
        primal = primal if E[weights > 0].min() > 0 else np.inf
    else:
        primal, dual = square / 2 + c.C * weights @ np.maximum(0.0, 1.0 - E), c.strengths.sum() - own / 2
    balanced = not c.free or abs(c.strengths @ s[c.rows]) < 1e-9
    return balanced and c.primal >= primal * (1 - 1e-9) and c.dual <= max(dual, 0.0) * (1 + 1e-9)


def true_vote(c, X, y):
    """The errors and the disagreement of a committee of two classes by majority, counted one by one.

    An output of 0 that is the sum of numbers which cancel may count as either sign: in another order it might not vanish.
    """
    outputs, lengths = clamped(X, c.clamp) @ c.members[:, 0].T, np.linalg.norm(c.members[:, 0], axis=1)
    return any(_counted(c, outputs + blur, lengths, y) for blur in (0.0, -1e-12, 1e-12))


def _counted(c, outputs, lengths, y):
    votes, ties, many = outputs > 0, (outputs / lengths).sum(axis=1) > 0, 2 * (outputs > 0).sum(axis=1)
    choice = np.where(many == len(c.members), ties, many > len(c.members))
    return c.errors == (choice != y).sum() and abs(c.disagreement - (votes != choice[:, None]).mean()) < 1e-12


def true_cells(c, X, y):  # noqa: ARG001  (the labels are the parts' affair)
    """Every example is nearest to the centre of its cell."""
    distances = [[sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, w, strict=True)) for w in c.centres] for x in X]
    return all(cell == -1 or row[cell] == min(row) for row, cell in zip(distances, c.cells, strict=True))


def true_separability(c, X, y):
    """The plane has every example on its side by the margin, or the multipliers cancel, in fractions."""
    rows = [[Fraction(v) for v in x] + [Fraction(c.intercept)] for x in X.tolist()]
    signed = [[v if label == c.positive else -v for v in row] for row, label in zip(rows, y.tolist(), strict=True)]
    if c.verdict == "inseparable":
        sums = [sum(share * signed[i][j] for i, share in c.multipliers.items()) for j in range(len(rows[0]))]
        return not any(sums) and sum(c.multipliers.values()) == 1 and min(c.multipliers.values()) > 0
    w = [Fraction(v) for v in [*c.w.tolist(), c.b]]
    least = Fraction(c.margin) ** 2 * sum(v * v for v in w[:-1])
    potentials = [sum(a * b for a, b in zip(w, row, strict=True)) for row in signed]
    return c.verdict == "separable" and all(E > 0 and least <= E * E for E in potentials)


def true_least_squares(c, X, y):
    """The loss, and the smaller of two changes of the data that make the weights optimal, in long doubles."""
    A, w = clamped(X, c.clamp).astype(np.longdouble), c.weights.astype(np.longdouble)
    s = np.sqrt(np.ones(len(y)) if c.sample_weight is None else c.sample_weight)
    A, r = A * s[:, None], (np.where(y == c.positive, 1.0, -1.0) - A @ w) * s
    length = np.linalg.norm(r.astype(float))
    moves = np.linalg.norm((r @ A).astype(float)) / length, length / np.linalg.norm(c.weights)
    close = abs(c.loss - length**2 / 2) <= 1e-8 * c.loss + 1e-30
    return close and c.backward_error >= min(moves) / np.linalg.norm(A.astype(float)) * (1 - 1e-8)


def true_prototypes(c, X, y):
    """Errors, safe radii and the cost of prototypes with a diagonal metric, written out."""
    omega = np.ones(X.shape[1]) if c.omega is None else c.omega
    labels = np.array(c.prototype_labels)
    D = (((X[:, None] - c.prototypes) * omega) ** 2).sum(axis=2)
    radii, cost = [], 0.0
    for distances, label in zip(D, y, strict=True):
        plus = np.where(labels == label, distances, np.inf).argmin()
        slopes = 2.0 * np.linalg.norm((c.prototypes - c.prototypes[plus]) * omega**2, axis=1)
        rivals = labels != label
        minus = distances[rivals].min()
        radii.append(((distances - distances[plus])[rivals] / slopes[rivals]).min())
        cost += 1.0 / (1.0 + np.exp(-(c.beta or 0.0) * (distances[plus] - minus) / (distances[plus] + minus)))
    safe = np.maximum(radii, 0.0)
    right = safe[np.array(radii) > 0].min(initial=np.inf)
    return (
        c.errors == np.sum(np.array(radii) <= 0)
        and c.radius <= right + 1e-12
        and c.median_radius <= np.sort(safe)[(len(safe) - 1) // 2] + 1e-12
        and (c.cost is None or abs(c.cost - cost) < 1e-9)
    )


def true_one_class(c, X, y):  # noqa: ARG001  (there are no labels)
    """Both sides of the shortest vector of the reduced hull, the scores and the threshold, written out for a Gaussian."""
    A = X if c.scale is None else X * c.scale
    f = np.exp(-c.kernel.gamma * ((A[:, None] - A[c.rows]) ** 2).sum(axis=2)) @ c.strengths
    square, cap = c.strengths @ f[c.rows], 1.0 / (c.nu * c.learnt.size)
    lower = c.rho - square / 2 - cap * np.maximum(0.0, c.rho - f[c.learnt]).sum()
    m = len(c.scores)
    places = [k for k in range(m + 1) if k / (m + 1) <= c.level]
    return (
        c.lower <= max(lower, 0.0) + 1e-9
        and c.upper >= square / 2 - 1e-9
        and abs(c.strengths.sum() - 1.0) < 1e-9
        and c.strengths.max() <= cap + 1e-9
        and c.nu <= 1.0
        and set(c.rows) <= set(c.learnt)
        and len({*c.learnt, *c.apart}) == c.learnt.size + m
        and np.abs(f[c.apart] - c.scores).max() < 1e-9
        and c.threshold == (np.sort(c.scores)[places[-1] - 1] if places[-1] else -np.inf)
    )


@cache
def left_out_errors(kernel, C, clamp, labels, rows, weights):
    """Count the examples that are wrong after coordinate ascent without each, in long loops."""
    X, s = np.array(rows), np.array(labels)
    K = ((X @ X.T if kernel is None else (kernel.gamma * X @ X.T + kernel.coef0) ** kernel.degree) + clamp**2) * s * s[:, None]
    wrong = 0
    for i in range(s.size):
        alpha, caps = np.zeros(s.size), C * np.array(weights) * (np.arange(s.size) != i)
        for _ in range(3000):
            for j in range(s.size):
                alpha[j] = min(max(alpha[j] + (1.0 - K[j] @ alpha) / K[j, j], 0.0), caps[j])
        wrong += K[i] @ alpha <= 0
    return wrong


def true_leave_one_out(c, X, y):
    """The errors, by learning again without every example."""
    g, s = c.gap, np.where(y == c.gap.positive, 1.0, -1.0)
    weights = np.ones(len(y)) if g.sample_weight is None else g.sample_weight
    about = getattr(g, "kernel", None), g.C, g.clamp, tuple(s), tuple(map(tuple, X.tolist())), tuple(weights)
    return c.examples == len(y) and c.errors <= left_out_errors(*about) <= c.errors + c.undecided


def true_stream(c, X, y):
    """The bound against the fixed weights, written out."""
    s = np.where(y == c.positive, 1.0, -1.0)
    v = sum((a * s[i] * X[i] for i, a in zip(c.rows, c.strengths, strict=True)), np.zeros(X.shape[1]))
    same = abs(c.square - v @ v) <= 1e-8 * (v @ v)
    return same and c.mistakes <= c.bound and c.bound >= v @ v + 2.0 * np.maximum(0.0, 1.0 - s * (X @ v)).sum()


def true_loss(c, X, y):
    """The ham above the threshold, and the binomial tail at the bound."""
    ham = X[y != c.positive, 0]
    tail = stats.binom.cdf(c.lost, c.ham, min(c.bound, 1.0)) if c.bound < 1.0 else 0.0
    return c.ham == len(ham) and c.lost == (ham > c.threshold).sum() and tail <= (1.0 - c.confidence) * (1 + 1e-6)


def true_centre(c, X, y):
    """All members and the plane are right on all examples, in fractions, and the plane is along their mean."""
    b, s = c.bracket, np.where(y == c.bracket.positive, 1, -1)
    if c.empty is not None:
        return not len(c.members) and true_separability(c.empty, X, y)
    linear = hasattr(b, "weights")
    K = np.zeros((4, 4)) if linear else (b.kernel.gamma * X @ X.T + b.kernel.coef0) ** b.kernel.degree + b.clamp**2
    rows = clamped(X, b.clamp) if linear else K
    plane = b.weights if linear else np.bincount(b.support, b.coefficients, len(y))
    if not len(c.members):
        return True
    if c.members.shape[1] != plane.size:
        return False
    inside = all(
        sign * sum((Fraction(a) * Fraction(v) for a, v in zip(row, w, strict=True)), Fraction(0)) > 0
        for w in [*c.members.tolist(), plane.tolist()]
        for sign, row in zip(s.tolist(), rows.tolist(), strict=True)
    )
    mean = c.members.mean(axis=0)
    return inside and np.allclose(plane / np.linalg.norm(plane), mean / np.linalg.norm(mean), atol=1e-8)


TRUTHS = {
    "VersionSpaceCentre": true_centre,
    "LeaveOneOut": true_leave_one_out,
    "StreamMistakes": true_stream,
    "HamLoss": true_loss,
    "MarginBracket": true_margin,
    "KeslerBracket": true_kesler,
    "DualityGap": true_gap,
    "KernelGap": true_gap,
    "CommitteeVote": true_vote,
    "OneClassGap": true_one_class,
    "PerCell": true_cells,
    "KernelRidgeCells": true_cells,
    "LeastSquaresGap": true_least_squares,
    "Separability": true_separability,
    "PrototypeErrors": true_prototypes,
}
OWN = [kind for kind in Certificate.kinds.values() if kind.__module__.startswith("halfspace.")]
WITHIN = {
    part for kind in OWN for spec in specs(kind).values() for part in get_args(spec) or (spec,) if hasattr(part, "_fields")
}
KINDS = [*OWN, *WITHIN]
"""Certificates, and the theorems and other values within them."""
NUMBERS = re.compile(r"^(finite|real|number|int|dict)|of (finite|int)")
"""How the annotation of a field begins that holds numbers, or ends if it holds several."""
ALSO_TRUE = {
    ("KernelBracket.coefficients", "twice"),  # only the direction of a function counts,
    ("KernelBracket.strengths", "twice"),  # and the proportions of strengths
    ("Quantisation.lower", "zero"),  # no bound is claimed
    ("RidgeGap.rounding", "a little less"),  # four times the rounding is stated
}


def weaker(change):
    """Tell whether a change of one side of a bound makes a weaker claim."""
    less, more = change.field in LESS, change.field in MORE
    return bool((less and np.all(change.new < change.old)) or (more and np.all(change.new > change.old)))


def same_terms(change):
    """Tell whether rows were exchanged that have the same strength: the same sum."""
    return change.field.endswith(".rows") and change.name == "in another order" and np.ptp(change.part.strengths) == 0.0


def still_true(change):
    """Tell whether a changed claim is true for a reason of its own."""
    kind = change.field.partition(".")[0]
    if weaker(change) or same_terms(change) or (change.field, change.name) in ALSO_TRUE:
        return True
    with np.errstate(all="ignore"):
        return kind in TRUTHS and bool(TRUTHS[kind](change.part, change.X, change.y))


# ---------------------------------------------------------------- the tests
@cache
def walked(case):
    """Return, of one certificate, the fields of which some sound change is refuted, and the changes that verify falsely."""
    certificate, X, y = CASES[case]()
    assert holds(certificate, X, y)
    checked, false = set(), []
    for change in changes(certificate, X, y):
        accepted = holds(change.whole, X, y)
        if not accepted and not faults(change.part):
            checked.add(change.field)
        judged = change.role == "proved" or (change.role == "asked" and change.field.partition(".")[0] in TRUTHS)
        if accepted and judged and not still_true(change):
            false.append(f"{change.field} {change.name}: {change.old} -> {change.new}")
    return checked, false


@pytest.mark.parametrize("case", CASES)
def test_a_changed_number_refutes_or_is_true(case):
    """Changing a number of a true certificate refutes it, unless the changed claim is true by its definition."""
    assert walked(case)[1] == []


def test_every_number_is_checked_or_declared():
    """Each number of each kind of certificate and theorem is one that changes refute, or is declared as asked or reported."""
    checked = set().union(*(walked(case)[0] for case in CASES))
    seen = {change.field: change.role for case in CASES for change in changes(*CASES[case]())}
    numbers = {f"{kind.__name__}.{name}" for kind in KINDS for name, spec in specs(kind).items() if NUMBERS.search(str(spec))}
    assert numbers <= set(seen)
    assert {field for field, role in seen.items() if role == "proved"} <= checked


def test_what_is_reported_is_printed_apart():
    """A reported number is in the sentence, after the words that say so, and what is before them does not depend on it."""
    shown = set()
    for make in CASES.values():
        certificate, X, y = make()
        before, _, after = str(certificate).partition(APART)
        assert bool(after) == bool(certificate.reports()) or "parts" in roles(type(certificate))
        for change in changes(certificate, X, y):
            if change.role == "reported" and not faults(change.part) and change.name not in ("in another order", "short"):
                now, _, said = str(change.whole).partition(APART)
                assert now == before
                shown |= {change.field} if said != after else set()
    reported = {f"{kind.__name__}.{name}" for kind in KINDS for name, role in roles(kind).items() if role == "reported"}
    assert shown | {"MixtureLikelihood.course", "PrototypeErrors.costs"} == reported


# ---------------------------------------------------------------- sentences that were false and verified
def test_no_bound_on_mistakes_from_a_free_bias():
    """Novikoff's theorem is about the margin of the rule's own weights: with a free bias the margin is another, larger one."""
    far, y = np.array([[10.0], [11.0]]), np.array([0, 1])
    bracket = proofs.MarginBracket.measure(far, y, weights=np.array([1.0]), strengths=np.ones(2), positive=1, bias=-10.5)
    assert holds(bracket, far, y)
    assert not holds(proofs.MistakeBound.of(1, bracket, proofs.Novikoff()), far, y)


def test_a_vote_is_that_of_the_mistakes():
    """Where all mistakes are there, to vote, their number is no longer only reported."""
    proof, X, y = stored(FILES[0].parent / "MistakeBound-vote.json")
    assert not any(holds(replace(proof, mistakes=n), X, y) for n in (0, proof.mistakes - 1, proof.mistakes + 1))


@pytest.mark.parametrize("vote", ["majority", "stability"])
def test_a_committee_of_zero_outputs_has_its_errors(vote):
    """Outputs that are zero in any order of summation are no matter of rounding: they count as the first class."""
    data, y = np.array([[1.0, 0.0], [-1.0, 0.0], [2.0, 0.0]]), np.array([0, 1, 1])
    proof = proofs.CommitteeVote.measure(data, y, members=np.array([[[0.0, 1.0]]]), vote=vote, clamp=0.0, classes=(0, 1))
    assert proof.errors == 2
    assert holds(proof, data, y)
    assert not any(holds(replace(proof, errors=errors), data, y) for errors in (0, 1, 3))


def test_an_open_vote_that_decides_nothing_leaves_no_choice_open():
    """Of three members two are sure: whichever way the third falls, the committee's errors are what they are."""
    data, y = np.array([[1.0, 1.0], [-2.0, -2.0]]), np.array([1, 0])
    members = np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[1.0, -1.0]]])
    proof = proofs.CommitteeVote.measure(data, y, members=members, vote="majority", clamp=0.0, classes=(0, 1))
    assert holds(proof, data, y)
    assert not any(holds(replace(proof, errors=errors), data, y) for errors in (1, 2))


def test_without_weights_nothing_is_claimed():
    """A cost or an error of examples that all have weight 0 is no claim."""
    for case in ("prototypes with their costs", "weighted quantisation"):
        proof, X, y = CASES[case]()
        nothing = {"cost": 0.0, "gradient": 1.0, "costs": np.zeros(0)} if "costs" in case else {"error": 0.0, "lower": 0.0}
        nothing |= {"sample_weight": np.zeros(len(X))} | ({} if "costs" in case else {"sizes": np.zeros(2), "step_gain": 0.0})
        assert not holds(replace(proof, **nothing), X, y)


@pytest.mark.parametrize("level", [0.0, 1.0, -np.inf, 1e300])
def test_an_exact_fit_has_no_other_likelihood(level):
    """Where the variance is 0 the likelihood is infinite, and no other number verifies."""
    proof, X, y = stored(FILES[0].parent / "RidgeGap-exact.json")
    assert not holds(replace(proof, log_likelihood=level), X, y)


@pytest.mark.parametrize("precision", [0.0, 1e-17, 1e-16, 1e-8, 1e-3, 0.1])
def test_the_precision_of_a_posterior_follows_from_it(precision):
    """A posterior claims no more digits than rounding leaves, and not many fewer than it has."""
    proof, X, y = stored(FILES[0].parent / "GaussianPosterior.json")
    assert not holds(replace(proof, precision=precision), X, y)


def test_without_an_intercept_no_hulls_need_intersect():
    """Through the origin no plane separates examples on both sides of it from others; their hulls may well be apart."""
    data, y = np.array([[1.0], [-1.0], [5.0]]), np.array([1, 1, 0])
    halves = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    proof = proofs.Separability.by_multipliers(halves, 1, intercept=False, positive=1)
    assert holds(proof, data, y)
    assert "contains the origin" in str(proof)
    assert "hulls intersect" not in str(proof)
    assert not holds(replace(proof, multipliers={row: 2 * share for row, share in halves.items()}), data, y)


def test_a_cell_has_a_gap_or_one_label():
    """A cell whose part is another kind of claim is refuted, and nothing fails on the way."""
    proof, X, y = stored(FILES[0].parent / "PerCell.json")
    for path in FILES:
        part = stored(path).certificate
        if not isinstance(part, proofs.KernelGap | proofs.DualityGap | proofs.OneLabel | proofs.PerPair):
            assert not holds(replace(proof, parts=(part, proof.parts[1])), X, y), path.stem


def test_freezing_is_replayed():
    """The checker runs a filter again with its own rule of freezing: other parameters of it refute the errors claimed."""
    signal = np.sin(np.arange(20.0))[:, None]
    echo = 0.5 * signal[:, 0] + np.where(np.arange(20) == 8, 9.0, 0.0)
    rule = {"normalised": True, "rate": 0.5, "delta": 0.01, "threshold": 2.0, "hangover": 3}
    proof = proofs.FilterBound.measure(signal, echo, n_taps=2, **rule)
    assert holds(proof, signal, echo)
    for change in ({"hangover": 0}, {"hangover": 4}, {"threshold": np.inf}, {"rate": 0.4}, {"delta": 0.0}):
        assert not holds(replace(proof, **change), signal, echo)
