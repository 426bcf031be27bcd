"""How far each number of a certificate may move before it is refuted is known, to a factor: no more and no less than rounding.

The reach of a number is the largest power of 2, in quarters, that can be added to it, or taken away, so that the certificate
still holds. `reach.json` records them as they were when the checkers were last compared with the exact oracle (tests/oracle).
A checker that gives away more or less than then fails here, and whoever means it writes the record anew (run this file) and
explains the differences.

What is allowed for rounding is a sum of terms, of which the largest hides the others. In an arithmetic of 32 bits in place of
53 (`EPS` of the checkers, no operation) all of them are far above what really is rounded: there `coarse.json` records numbers
to twelve digits, and reaches to a thousandth. `inside.json` has the numbers on the way to them: of every value that a checker
puts together (`Survey`, `Sides`, `Scales` and the like), each field in one number, of the same examples dense and sparse.

Nor does a claim depend on units: inputs, targets, examples' weights and planes may be measured in any power of 2, which are
exact. Every number is then the same but for a power of 2 that its meaning tells (`UNITS`), and so is its reach.
"""

import json
import sys
import warnings
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from halfspace import certificates as proofs
from halfspace.certificates import Certificate, from_json
from halfspace.certificates.arithmetic import projected
from halfspace.certificates.fields import roles
from halfspace.certificates.margins.leave_one_out import Refits
from halfspace.certificates.regression.posterior import Sums
from halfspace.errors import CertificateError, InputError
from halfspace.kernels import RBF, Linear, Polynomial, Precomputed

RECORD, COARSE, INSIDE = (Path(__file__).with_name(f"{name}.json") for name in ("reach", "coarse", "inside"))
NEVER, ALWAYS = -200.0, 60.0
"""Exponents of the least and the largest change that is tried."""
STEP = 0.25
FACTOR = STEP
"""By so many powers of 2 a reach may be off: compilers and libraries sum in other orders."""

UNIT, FINE = 2.0**-32, 2.0**-9
"""The precision of the coarse arithmetic, and the steps in which reaches are recorded there, in powers of 2."""

N = 12
X = np.sin(1.0 + 1.7 * np.arange(2.0 * N)).reshape(N, 2) + np.outer(np.where(np.arange(N) % 2, 0.75, -0.75), [1.0, 0.5])
Y = np.arange(N) % 2
S = 0.5 + np.arange(N) % 3
IDLE = np.where(np.arange(N) % 5 == 2, 0.0, S)
THREE = np.arange(N) % 3
WEIGHTS = np.array([1.5, 0.75])
ALPHA = 0.05 + 0.03 * (np.arange(N) // 2 % 4)  # the classes balance
UNEVEN = ALPHA + 1e-6 * (np.arange(N) == 3)
T = X @ np.array([0.5, -0.25]) + 0.1 * np.cos(np.arange(N))
APART = X + np.outer(np.where(Y, 2.0, -2.0), [1.0, 0.5])


def gap(C=1.0, strengths=ALPHA, **more):
    data = APART if np.isinf(C) else X
    weights = np.append(WEIGHTS, 0.1) if more.get("clamp") else WEIGHTS
    return proofs.DualityGap.measure(data, Y, weights=weights, strengths=strengths, C=C, positive=1, **more), data, Y


def kernel_gap(C=1.0, kernel=None, strengths=ALPHA, **more):
    data, about = APART if np.isinf(C) else X, {"kernel": kernel or RBF(0.5), "strengths": strengths, "C": C, "positive": 1}
    return proofs.KernelGap.measure(data, Y, **about, **more), data, Y


def at_margin(kernel=None):
    data = np.column_stack([np.where(Y, 1.0, -1.0), np.zeros(N)])  # all potentials are 1, but for rounding
    about = {"strengths": np.full(N, 1.0 / N), "C": 1.0, "positive": 1}
    if kernel is None:
        return proofs.DualityGap.measure(data, Y, weights=np.array([1.0, 0.0]), **about), data, Y
    return proofs.KernelGap.measure(data, Y, kernel=kernel, **about), data, Y


def unproved(kind, **more):
    K = RBF(0.5).exact(X)  # a matrix of which nothing is known but its numbers
    return kind.measure(K, Y, kernel=Precomputed(), strengths=ALPHA, positive=1, **more), K, Y


def spread():
    W = np.array([[0.0, 0.0], [1.0, 0.0], [1e5, 0.0], [1e5 + 1.0, 0.0]])
    data = W[np.arange(N) % 4] + 0.1 * X
    return proofs.PrototypeErrors.measure(data, Y, prototypes=W, labels=[0, 1, 0, 1], beta=3.0), data, Y


def bracket(strengths=ALPHA, **more):
    weights = np.append(WEIGHTS, 0.1) if more.get("clamp") else WEIGHTS
    return proofs.MarginBracket.measure(APART, Y, weights=weights, strengths=strengths, positive=1, **more), APART, Y


def kernel_bracket(strengths=ALPHA, **more):
    return proofs.KernelBracket.measure(APART, Y, kernel=Polynomial(2), strengths=strengths, positive=1, **more), APART, Y


def prototypes(omega=None, **more):
    about = {"prototypes": X[[0, 1, 2, 5]], "labels": [0, 1, 0, 1], "omega": omega, **more}
    return proofs.PrototypeErrors.measure(X, Y, **about), X, Y


def quantisation(rows=(0, 1, 4), **more):
    return proofs.Quantisation.measure(X, prototypes=X[list(rows)] + 0.1, **more), X, None


def wide_quantisation():
    data = X[:4].reshape(2, 4)[[0, 1, 0]] + np.diag(np.arange(1.0, 5.0))[:3]
    return proofs.Quantisation.measure(data, prototypes=data[:2] + 0.1), data, None


def ridge(**more):
    weights = more.pop("weights", [0.5, -0.25, 0.1] if more.get("clamp") else [0.5, -0.25])
    return proofs.RidgeGap.measure(X, T, weights=np.array(weights), **more), X, T


def nearly(s, mean):
    """Return weights near the best ones, about a mean if there is a constant."""
    A = X - mean.sum(axis=0)
    return np.linalg.solve((A.T * s) @ A + 0.5 * np.eye(2), (A.T * s) @ T) + np.array([1e-3, -2e-3])


def earlier(proof, data, targets):
    return replace(proof, rounding=None), data, targets


def kernel_ridge(**more):
    s = more.get("sample_weight", np.ones(N))
    data_gap = proofs.KernelRidgeGap.measure(X, T, kernel=RBF(0.5), coefficients=0.1 * (s * T)[None], ridge=0.5, **more)
    return data_gap, X, T


def mixture(sigmas=(0.75, 1.5), **more):
    about = {"weights": np.array([0.25, 0.75]), "prototypes": X[:2].copy(), "sigmas": np.array(sigmas)}
    return proofs.MixtureLikelihood.measure(X, **about, **more), X, None


def course():
    plain = prototypes(beta=3.0, sample_weight=S)[0]
    return replace(plain, costs=plain.cost + np.array([2.0, 1.0, 0.0])), X, Y


def far(make, **more):
    about = {"prototypes": 1e6 + X[[0, 1, 2, 5]], **more}
    return make(1e6 + X, **about), 1e6 + X


def adaptive(**rule):
    about = {"normalised": True, "rate": 0.75, "delta": 0.125, "threshold": np.inf, "hangover": 0, **rule}
    return proofs.FilterBound.measure(X, T, n_taps=2, **about), X, T


def posterior(data=X, alpha=0.5, beta=2.0, share=None, **more):
    """Return the posterior of precisions, of those that maximise the evidence, or of their ratio with the noise unknown."""
    targets, clamp, maximised = T[: len(data)], more.get("clamp", 0.0), more.get("maximised", ())
    s = more.get("sample_weight", np.ones(len(data)))
    A = np.hstack([data, np.full((len(data), 1), clamp)]) if clamp else data
    means = (s @ data / s.sum(), s @ targets / s.sum()) if more.get("free") else (np.zeros(data.shape[1]), 0.0)
    A, t, D = A - means[0] if more.get("free") else A, targets - means[1], A.shape[1]
    for _ in range(400 if maximised else 1):
        precision = beta * (A.T * s) @ A + alpha * np.eye(D)
        m, error = np.linalg.solve(precision, beta * (A.T * s) @ t), 0.0
        error, gamma = s @ (t - A @ m) ** 2, D - alpha * np.trace(np.linalg.inv(precision))
        if share:
            more["freedom"] = s.sum() - more.get("free", False)
            beta = more["freedom"] / (error + share * m @ m)
            share = gamma * more["freedom"] / (s.sum() * beta * m @ m) if maximised else share
            alpha = share * beta
        alpha = gamma / (m @ m) if "alpha" in maximised and not share else alpha
        beta = (s.sum() - gamma) / error if "beta" in maximised else beta
    precision = beta * (A.T * s) @ A + alpha * np.eye(D)
    about = {"weights": np.linalg.solve(precision, beta * (A.T * s) @ t), "covariance": np.linalg.inv(precision)}
    R = np.linalg.qr(np.sqrt(s)[:, None] * np.column_stack([A, t]), mode="r")
    return proofs.GaussianPosterior.of(Sums(R, s.sum(), *means), alpha=alpha, beta=beta, **about, **more), data, targets


def components(data=X, k=1):
    mean, values, found = data.mean(axis=0), None, None
    values, found = np.linalg.eigh(np.cov(data.T))
    V, v = found[:, ::-1][:, :k].T.copy(), values[::-1][:k].copy()
    part = proofs.RidgeGap.measure(projected(data, mean, V), T[: len(data)], weights=np.full(k, 0.25), ridge=0.5)
    return proofs.PrincipalComponents(part, mean, V, v, float(values.sum())), data, T[: len(data)]


def several():
    targets, c = np.stack([T, T[::-1]], axis=1), np.array([0.25, -0.5])
    about = {"coefficients": 0.1 * targets.T, "ridge": 0.5, "constants": c, "sample_weight": S}
    return proofs.KernelRidgeGap.measure(X, targets, kernel=RBF(0.5), **about), X, targets


CENTRES, CELLS = np.array([[-0.75, -0.5], [0.75, 0.5]]), np.arange(N) % 2
"""Two cells, of the rows far enough apart."""


def cells():
    parts, y = [], THREE % 2
    for k in (0, 1):
        own, about = k == CELLS, {"kernel": RBF(0.5), "C": 1.0, "positive": 1, "sample_weight": S[k == CELLS]}
        parts.append(proofs.KernelGap.measure(APART[own], y[own], strengths=ALPHA[own], **about))
    return proofs.PerCell(CENTRES, CELLS, tuple(parts), S), APART, y


def ridge_cells():
    about, own = {"kernel": RBF(0.5), "ridge": 0.5}, [k == CELLS for k in (0, 1)]
    parts = [proofs.KernelRidgeGap.measure(APART[k], T[k], coefficients=0.1 * T[k][None], **about) for k in own]
    return proofs.KernelRidgeCells(CENTRES, CELLS, tuple(parts)), APART, T


def wide_prototypes(omega):
    data = np.hstack([X, X[::-1] ** 2])
    about = {"prototypes": data[[0, 1, 2, 5]], "labels": [0, 1, 0, 1], "omega": omega, "beta": 3.0}
    return proofs.PrototypeErrors.measure(data, Y, **about), data, Y


def mistakes(theorem, **more):
    return proofs.MistakeBound.of(3, bracket(**more)[0], theorem), APART, Y


def kesler():
    W = np.vstack([WEIGHTS, -WEIGHTS, [0.5, -1.0]])
    alpha = np.full((N, 3), 0.1)
    alpha[np.arange(N), THREE] = 0.0
    centres = 3.0 * np.array([[1.0, 0.5], [-1.0, -0.5], [0.5, -1.0]])
    data = X + centres[THREE]
    return proofs.KeslerBracket.measure(data, THREE, weights=W, strengths=alpha.T, classes=np.arange(3)), data, THREE


def budget(**more):
    c = np.where(Y, 1.0, -1.0) * ALPHA * 4
    theorem = proofs.Projection(5, 0.25)
    return proofs.BudgetedMistakes.measure(2, X, Y, kernel=RBF(0.5), coefficients=c, theorem=theorem, positive=1, **more), X, Y


def committee(vote):
    members = np.stack([WEIGHTS, WEIGHTS[::-1], [1.0, -0.25]])[:, None]
    return proofs.CommitteeVote.measure(X, Y, members=members, vote=vote, clamp=0.0, classes=(0, 1)), X, Y


def at_the_plane():
    """Return a plane through one of its own rows: whether that is below is a matter of rounding."""
    f = np.exp(-0.5 * ((X[:8, None] - X[None, :8]) ** 2).sum(axis=2)) @ np.full(8, 0.125)
    return one_class(nu=0.9, rho=float(np.sort(f)[2]))


def one_class(**more):
    about = {"kernel": RBF(0.5), "strengths": np.full(8, 0.125), "nu": 0.75, "rho": 0.35, "level": 0.25, **more}
    return proofs.OneClassGap.measure(X, **about), X, None


def left_out(kernel=None, C=1.0, strengths=ALPHA, **more):
    """Return leave-one-out errors of which some are settled by a bound, and others by strengths learnt without them."""
    proof, data, y = gap(C, strengths, **more) if kernel is None else kernel_gap(C, kernel, strengths, **more)
    plain = proofs.LeaveOneOut.draft(data, y, proof)
    refits = [(i, np.where(np.arange(N) == i, 0.0, strengths * (1.0 + 0.05 * (i % 3)))) for i in plain.suspects.tolist()]
    return plain.with_refits(data, y, Refits.of(strengths, refits)), data, y


def stream():
    data = X / 4.0
    return proofs.StreamMistakes.measure(3, data, Y, rows=np.array([0, 3, 4]), strengths=ALPHA[:3], positive=1), data, Y


CASES = {
    "gap": gap,
    "gap, clamped": lambda: gap(clamp=2.0),
    "gap, free bias": lambda: gap(bias=0.25),
    "gap, uneven": lambda: gap(bias=0.25, strengths=UNEVEN),
    "gap, weighted": lambda: gap(sample_weight=S),
    "hard gap": lambda: gap(np.inf),
    "hard gap, free bias": lambda: gap(np.inf, bias=0.25),
    "hard gap, uneven": lambda: gap(np.inf, bias=0.25, strengths=UNEVEN),
    "kernel gap": kernel_gap,
    "kernel gap, clamped": lambda: kernel_gap(clamp=2.0, kernel=Polynomial(2)),
    "kernel gap, free bias": lambda: kernel_gap(bias=0.25),
    "kernel gap, uneven": lambda: kernel_gap(bias=0.25, strengths=UNEVEN),
    "kernel gap, weighted": lambda: kernel_gap(sample_weight=S, kernel=Linear()),
    "hard kernel gap": lambda: kernel_gap(np.inf, kernel=Linear()),
    "hard kernel gap, free bias": lambda: kernel_gap(np.inf, kernel=Linear(), bias=0.25),
    "hard kernel gap, uneven": lambda: kernel_gap(np.inf, kernel=Linear(), bias=0.25, strengths=UNEVEN),
    "gap, large bias": lambda: gap(bias=1e5),
    "kernel gap, large bias": lambda: kernel_gap(bias=1e5),
    "kernel gap, unproved": lambda: unproved(proofs.KernelGap, C=1.0),
    "kernel bracket, unproved": lambda: unproved(proofs.KernelBracket),
    "prototypes, spread": spread,
    "gap at the margin": at_margin,
    "kernel gap at the margin": lambda: at_margin(Linear()),
    "bracket": bracket,
    "bracket, clamped": lambda: bracket(clamp=2.0),
    "bracket, free bias": lambda: bracket(bias=0.25),
    "bracket, uneven": lambda: bracket(bias=0.25, strengths=UNEVEN),
    "kernel bracket": kernel_bracket,
    "kernel bracket, clamped": lambda: kernel_bracket(clamp=2.0),
    "kernel bracket, free bias": lambda: kernel_bracket(bias=0.25),
    "kernel bracket, large bias": lambda: kernel_bracket(bias=1e5),
    "kernel bracket, uneven": lambda: kernel_bracket(bias=0.25, strengths=UNEVEN),
    "Kesler": kesler,
    "prototypes": prototypes,
    "prototypes, cost": lambda: prototypes(beta=0.0),
    "prototypes, sigmoid": lambda: prototypes(beta=3.0, sample_weight=S),
    "prototypes, relevances": lambda: prototypes(np.array([0.8, 0.6]), beta=3.0),
    "prototypes, matrix": lambda: prototypes(np.array([[0.8, 0.2], [-0.1, 0.6]]), beta=3.0),
    "prototypes, local": lambda: prototypes(np.array([[[0.8, 0.2], [-0.1, 0.6]], [[0.5, 0.0], [0.3, 0.9]]]), beta=3.0),
    "quantisation": quantisation,
    "quantisation, weighted": lambda: quantisation((0, 1), sample_weight=S),
    "quantisation, wide": wide_quantisation,
    "least squares": lambda: (proofs.LeastSquaresGap.measure(X, Y, weights=WEIGHTS, positive=1), X, Y),
    "least squares, weighted": lambda: (
        proofs.LeastSquaresGap.measure(X, Y, weights=np.array([0.5, 0.2, 0.1]), positive=1, clamp=2.0, sample_weight=S),
        X,
        Y,
    ),
    "ridge": lambda: ridge(ridge=0.5),
    "ridge, none": ridge,
    "ridge, clamped": lambda: ridge(ridge=0.5, clamp=2.0),
    "ridge, constant": lambda: ridge(ridge=0.5, constant=0.25),
    "ridge, weighted": lambda: ridge(ridge=0.5, constant=0.25, sample_weight=S),
    "ridge, no weights": lambda: ridge(ridge=0.5, weights=[0.0, 0.0], constant=0.0),
    "ridge, near": lambda: ridge(ridge=0.5, weights=nearly(np.ones(N), np.zeros((0, 2)))),
    "ridge, near, constant": lambda: ridge(ridge=0.5, weights=nearly(S, S[None] @ X / S.sum()), constant=0.0, sample_weight=S),
    "ridge, earlier": lambda: earlier(*ridge(ridge=0.5, sample_weight=S)),
    "least squares, earlier": lambda: earlier(proofs.LeastSquaresGap.measure(X, Y, weights=WEIGHTS, positive=1), X, Y),
    "kernel ridge": kernel_ridge,
    "kernel ridge, clamped": lambda: kernel_ridge(clamp=2.0),
    "kernel ridge, constant": lambda: kernel_ridge(constants=np.array([0.25]), sample_weight=S),
    "log": lambda: (proofs.LogSmearing.measure(X, np.exp(T), ridge(ridge=0.5)[0]), X, np.exp(T)),
    "log, constant": lambda: (proofs.LogSmearing.measure(X, np.exp(T), ridge(constant=0.25, sample_weight=S)[0]), X, np.exp(T)),
    "log, clamped": lambda: (proofs.LogSmearing.measure(X, np.exp(T), ridge(ridge=0.5, clamp=2.0)[0]), X, np.exp(T)),
    "log, kernel": lambda: (proofs.LogSmearing.measure(X, np.exp(T), kernel_ridge()[0]), X, np.exp(T)),
    "mean": lambda: (proofs.TargetMean.measure(X, T), X, T),
    "means of neighbours": lambda: (proofs.NeighbourMeans.measure(X, T, k=3), X, T),
    "mixture": mixture,
    "mixture, common": lambda: mixture((0.75, 0.75), rule="common", floor=0.5, sample_weight=S),
    "mixture, fixed": lambda: mixture((0.75, 0.75), rule="fixed"),
    "prototypes, course": course,
    "prototypes, far": lambda: (
        *far(lambda data, **about: proofs.PrototypeErrors.measure(data, Y, labels=[0, 1, 0, 1], **about), beta=3.0),
        Y,
    ),
    "quantisation, far": lambda: (*far(proofs.Quantisation.measure), None),
    "filter": adaptive,
    "filter, plain": lambda: adaptive(normalised=False, rate=0.25, threshold=0.5, hangover=1),
    "posterior": posterior,
    "posterior, free": lambda: posterior(free=True, sample_weight=S),
    "posterior, clamped": lambda: posterior(clamp=2.0),
    "posterior, maximised": lambda: posterior(maximised=("alpha", "beta"), sample_weight=S),
    "posterior, unknown noise": lambda: posterior(share=0.25),
    "posterior, unknown noise, free": lambda: posterior(share=0.25, free=True, maximised=("alpha",), sample_weight=S),
    "posterior, wide": lambda: posterior(X[:6].reshape(2, 6)),
    "posterior, wide, free": lambda: posterior(3.0 + X.reshape(3, 8), free=True),
    "components": components,
    "components, wide": lambda: components(X.reshape(4, 6), 2),
    "kernel ridge, outputs": several,
    "ridge by output": lambda: (
        proofs.PerOutput((ridge(ridge=0.5)[0], ridge(ridge=0.5, weights=[0.25, 0.5])[0])),
        X,
        np.stack([T, T], axis=1),
    ),
    "cells": cells,
    "cells of kernel ridge": ridge_cells,
    "prototypes, wide": lambda: wide_prototypes(np.outer(np.cos(np.arange(4.0)), np.sin(1.0 + np.arange(4.0))) + np.eye(4)),
    "prototypes, heavy": lambda: prototypes(beta=30.0, sample_weight=1e3 * S),
    "budget, room": lambda: budget(scale=1.5),
    "budget, room, passes": lambda: budget(passes=2, scale=6.0, clamp=2.0, rescale=True),
    "filter, frozen": lambda: adaptive(threshold=1.5, hangover=2),
    "mixture, dead": lambda: (
        proofs.MixtureLikelihood.measure(
            X, weights=np.array([0.0, 1.0]), prototypes=X[:2].copy(), sigmas=np.array([0.75, 1.5])
        ),
        X,
        None,
    ),
    "quantisation, dead": lambda: (
        proofs.Quantisation.measure(X, prototypes=np.vstack([X[:2] + 0.1, [[50.0, 50.0]]]), sample_weight=IDLE),
        X,
        None,
    ),
    "gap, idle": lambda: gap(sample_weight=IDLE, strengths=np.where(IDLE > 0.0, ALPHA, 0.0)),
    "kernel gap, idle": lambda: kernel_gap(sample_weight=IDLE, strengths=np.where(IDLE > 0.0, ALPHA, 0.0)),
    "kernel ridge, idle": lambda: kernel_ridge(sample_weight=IDLE),
    "mixture, floor": lambda: mixture((0.75, 1.5), floor=0.5),
    "one class, at the plane": at_the_plane,
    "one class, tight": lambda: one_class(nu=0.9, rho=0.4, level=0.5),
    "mistakes": lambda: mistakes(proofs.Novikoff(0.5, 2.0, 0.25, 3.0)),
    "mistakes, passive-aggressive": lambda: mistakes(proofs.PassiveAggressiveBound(0.125, 0.5, 2.0), clamp=2.0),
    "one class": one_class,
    "one class, scaled": lambda: one_class(scale=np.array([0.5, 2.0]), nu=0.5, rho=0.2),
    "budget": budget,
    "budget, passes": lambda: budget(passes=3, scale=5.0, clamp=2.0, rescale=True),
    "majority": lambda: committee("majority"),
    "stability": lambda: committee("stability"),
    "support": lambda: (proofs.SupportBounds.measure(X, Y, gap()[0]), X, Y),
}
FURTHER = {
    "left out": left_out,
    "left out, weighted": lambda: left_out(sample_weight=S, clamp=2.0),
    "left out, hard": lambda: left_out(C=np.inf),
    "left out, kernel": lambda: left_out(RBF(0.5)),
    "left out, hard kernel": lambda: left_out(Linear(), C=np.inf, clamp=2.0),
    "left out, idle": lambda: left_out(RBF(0.5), sample_weight=IDLE, strengths=np.where(IDLE > 0.0, ALPHA, 0.0)),
    "stream": stream,
}
"""Of these only the numbers on the way are recorded."""


def numbers(part, whole=lambda part: part, path=""):
    """Yield name, value and a way to put another, of the first and last real number of each field of a certificate."""
    for name in roles(type(part)):
        value = getattr(part, name)

        def put(new, part=part, name=name):
            return whole(part._replace(**{name: new}) if hasattr(part, "_fields") else replace(part, **{name: new}))

        if isinstance(value, Certificate) or hasattr(value, "_fields"):
            yield from numbers(value, put, f"{path}{name}.")
        elif isinstance(value, tuple) and value and isinstance(value[0], Certificate):
            last = len(value) - 1
            yield from numbers(value[-1], lambda new, put=put, value=value: put((*value[:-1], new)), f"{path}{name}[{last}].")
        elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
            for place in sorted({0, value.size - 1}) if value.size else ():

                def put_one(new, value=value, place=place, put=put):
                    changed = value.copy()
                    changed.flat[place] = new
                    return put(changed)

                yield f"{path}{name}[{place}]", float(value.flat[place]), put_one
        elif isinstance(value, float) and np.isfinite(value):
            yield path + name, value, put


def holds(certificate, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return bool(certificate.verify(X, y))
        except (CertificateError, InputError):
            return False


def reach(value, put, direction, X, y, step=STEP):
    """Return the exponent of the largest power of 2 by which a number may move; NEVER if by none."""
    low, high = NEVER, ALWAYS
    while high - low > step:
        middle = step * ((low + high) // (2 * step))
        moved = value + direction * 2.0**middle
        low, high = (middle, high) if moved == value or holds(put(moved), X, y) else (low, middle)
    return low


def measured(case, step=STEP):
    certificate, data, labels = CASES[case]()
    assert holds(certificate, data, labels)
    return {
        name: [value, *(reach(value, put, direction, data, labels, step) for direction in (-1.0, 1.0))]
        for name, value, put in numbers(certificate)
    }


@contextmanager
def coarse():
    """Have checkers reckon with an arithmetic of 32 bits, and with many columns where there are more than three."""
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("halfspace.certificates") and hasattr(module, "EPS"):
                patch.setattr(module, "EPS", UNIT)
            if name.startswith("halfspace.certificates") and hasattr(module, "WIDE"):
                patch.setattr(module, "WIDE", 3)
        yield


EXACT = ("ridge, earlier", "least squares, earlier", "budget", "budget, passes")
"""What earlier versions claimed gave away rounding in 53 bits only, and in coarse ones a length of 1 is not at most 1."""
IN_COARSE = [case for case in CASES if case not in EXACT]
OF_MACHINE = ("precision",)
"""What holds a residual as it was found, of a few units in the last place: other processors find another."""


@pytest.mark.parametrize("case", IN_COARSE)
def test_every_term_of_what_is_allowed_for_rounding_is_known(case):
    """In coarse arithmetic every number is the one recorded, and may move as far as recorded, to a thousandth."""
    recorded = json.loads(COARSE.read_text(encoding="utf-8"))[case]
    with coarse():
        proof, X, y = CASES[case]()
        found = {name: (value, put) for name, value, put in numbers(proof)}
        assert {name: value for name, (value, _) in found.items()} == {
            name: pytest.approx(value, rel=1e-5 if name in OF_MACHINE else 1e-12, abs=1e-18)
            for name, (value, *_) in recorded.items()
        }
        for name, (value, put) in found.items():
            for direction, reach in zip((-1.0, 1.0), recorded[name][1:], strict=True):
                inside, outside = (value + direction * 2.0 ** (reach + off) for off in (-FINE, 2.0 * FINE))
                assert reach == NEVER or holds(put(inside), X, y), f"{name}: refused within 2^{reach}"
                assert reach >= ALWAYS - 1 or outside == value or not holds(put(outside), X, y), (
                    f"{name}: accepted beyond 2^{reach}"
                )


def weighed(value):
    """Return all numbers within a value in one, each with a weight of its own, and the same of their sizes."""
    if isinstance(value, list | tuple):
        return sum(((1.0 + 0.1 * k) * np.array(weighed(part)) for k, part in enumerate(value)), np.zeros(2))
    if not isinstance(value, float | int | np.ndarray | np.generic) or np.asarray(value).dtype.kind not in "fiub":
        return (0.0, 0.0)
    numbers = np.nan_to_num(np.asarray(value, dtype=np.float64).ravel(), nan=7.0, posinf=11.0, neginf=-13.0)
    weights = np.cos(np.arange(numbers.size))
    return float(numbers @ weights), float(np.abs(numbers) @ np.abs(weights))


@contextmanager
def watched():
    """Yield the sums of all fields of the values that checkers put together, by name."""
    sums = {}
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            ours = vars(module).values() if name.startswith("halfspace.certificates.") else ()
            for kind in [one for one in ours if isinstance(one, type) and hasattr(one, "_fields") and one.__module__ == name]:

                def new(cls, *args, plain=kind.__new__, **more):
                    made = plain(cls, *args, **more)
                    for field, value in made._asdict().items():
                        key = f"{cls.__name__}.{field}"
                        sums[key] = sums.get(key, 0.0) + np.array(weighed(value))
                    return made

                patch.setattr(kind, "__new__", new)
        yield sums


STORED = sorted((Path(__file__).parent / "stored").glob("*.json"))
ALSO = [*IN_COARSE, *FURTHER, *(path.stem for path in STORED)]
"""The stored certificates too, whether or not what they give away for rounding is enough in coarse arithmetic."""


def stored(name):
    kept = json.loads((STORED[0].parent / f"{name}.json").read_text(encoding="utf-8"))
    return from_json(json.dumps(kept["certificate"])), np.array(kept["X"]), kept["y"] and np.array(kept["y"])


def inside(case, form=lambda X: X):
    """Return what is put together while a case is checked, in coarse arithmetic, and what it says predicts."""
    with coarse():
        known = CASES | FURTHER
        proof, X, y = known[case]() if case in known else stored(case)
        with watched() as sums:
            assert proof.verify(form(X), y) or case not in known
    sums |= {f"predictor.{name}": np.array(weighed(part)) for name, part in proof.predictor(proof.read(X, y)[1]).items()}
    return {name: found.tolist() for name, found in sums.items() if found[1] and not name.startswith(OF_FORM)}


OF_FORM = (
    "Scope",
    "_Setting.X",
    "_Setting.scales",
    "_Setting.lengths",
    "Scales.entry",
    "Scales.unit",
    "Scales.reach",
    "Scales.lengths",
    "_Posterior.Q",
)
"""What is no number of a claim, bounds that are wider for sparse rows, and a basis where another one does as well."""


@pytest.mark.parametrize("case", [case for case in ALSO if "unproved" not in case and not case.startswith("HamLoss")])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_every_number_on_the_way_is_known(case, form):
    """All that is put together while a case is checked has the numbers recorded; sparse rows have those of dense ones."""
    recorded, found = json.loads(INSIDE.read_text(encoding="utf-8"))[case], inside(case, form)
    assert found.keys() == recorded.keys()
    for name, (value, size) in recorded.items():
        rough = form is sparse.csr_array and name.endswith(("error", "blur", "unsure"))  # a kernel's own rounding is another
        assert found[name] == pytest.approx([value, size], rel=0.0, abs=(1e-4 if rough else 1e-10) * size), name


def test_everything_recorded_is_measured():
    """The records are of these cases."""
    assert [*json.loads(RECORD.read_text(encoding="utf-8"))] == [*CASES]
    assert [*json.loads(COARSE.read_text(encoding="utf-8"))] == IN_COARSE
    assert [*json.loads(INSIDE.read_text(encoding="utf-8"))] == ALSO


# ---------------------------------------------------------------- units
PLANE = {"weights": "p-x", "clamp": "x", "bias": "p"}
SIDES = {"lower": "f", "upper": "f", "radius": "f"}
GAP = {"primal": "-2f", "dual": "-2f", "C": "-2f-s", "strengths": "-2f", "sample_weight": "s", "clamp": "f"}
UNITS = {
    "DualityGap": GAP | {"weights": "-f"},
    "KernelGap": GAP,
    "MarginBracket": SIDES | PLANE | {"strengths": "s"},
    "KeslerBracket": SIDES | PLANE | {"strengths": "s"},
    "KernelBracket": SIDES | {"coefficients": "p", "bias": "p+2f", "strengths": "s", "clamp": "f"},
    "PrototypeErrors": {"prototypes": "x", "radius": "x", "median_radius": "x", "omega": "p"}
    | dict.fromkeys(("cost", "costs", "sample_weight"), "s"),
    "Quantisation": dict.fromkeys(("error", "lower", "step_gain"), "2x+s")
    | {"prototypes": "x", "sizes": "s", "sample_weight": "s"},
    "LeastSquaresGap": {"loss": "s", "rounding": "s", "weights": "-x", "clamp": "x", "sample_weight": "s"},
    "RidgeGap": dict.fromkeys(("objective", "gap", "rounding"), "2t+s")
    | {"sigma2": "2t", "ridge": "2x+s", "weights": "t-x", "constant": "t", "clamp": "x", "sample_weight": "s"},
    "KernelRidgeGap": dict.fromkeys(("objective", "gap"), "2t+s")
    | {"distance": "t-f", "left_out_error": "2t", "ridge": "2f+s", "coefficients": "t-2f", "constants": "t", "clamp": "f"}
    | {"sample_weight": "s"},
    "TargetMean": {"mean": "t", "deviation": "t"},
    "NeighbourMeans": {"error": "t"},
    "OneClassGap": dict.fromkeys(("lower", "upper", "rho", "scores", "threshold"), "2f"),
    "BudgetedMistakes": {"clamp": "f", "scale": "2f"},
    "CommitteeVote": {"members": "p", "radius": "x", "clamp": "x"},
    "SupportBounds": {},
    "FilterBound": dict.fromkeys(("errors", "noise", "bound"), "2t-2f") | {"energy": "2t", "weights": "t-x", "delta": "2x"},
}
"""The unit of each number: x of inputs, f of examples in a kernel's space, t of targets, s of weights, p of planes."""
SCALES = {"plain": {}, "large": {"x": 30, "t": -3, "s": 20, "p": -40}, "small": {"x": -35, "t": 40, "s": -9, "p": 7}}
UNLIKE = ("log", "mixture", "kernel gap, unproved", "kernel bracket, unproved", "posterior", "mistakes", "filter, ", "cells")
UNLIKE += ("components", "ridge by output")
"""Logarithms add units, the parameters of a run have several, and parts are measured by themselves."""


def power(unit, of):
    """Return the exponent of a unit such as "2t-f", for the exponents of its letters."""
    terms = [term for term in unit.replace("-", "+-").split("+") if term]
    return sum((-1 if term[0] == "-" else 1) * int(term.strip("-")[:-1] or 1) * of[term[-1]] for term in terms)


def units_of(proof, of):
    """Return the exponents that a claim leaves free: no weights, no unit of them; a free constant has the unit of an input."""
    kernel = getattr(proof, "kernel", None)
    degree = 0 if isinstance(kernel, RBF) else 2 if isinstance(kernel, Polynomial) else 1
    x = 0 if type(proof).__name__ == "RidgeGap" and proof.free else of["x"]
    weighted = "strengths" in UNITS[type(proof).__name__] and UNITS[type(proof).__name__]["strengths"] == "s"
    return of | {"x": x, "f": degree * x, "s": of["s"] if weighted or getattr(proof, "sample_weight", None) is not None else 0}


def in_units(proof, of):
    """Return a certificate in other units."""
    of, known, fields = units_of(proof, of), UNITS[type(proof).__name__], {}
    for name in proof.__dataclass_fields__:
        value = getattr(proof, name)
        if isinstance(value, Certificate):
            fields[name] = in_units(value, of)
        elif isinstance(value, RBF):
            fields[name] = RBF(value.gamma * 2.0 ** (-2 * of["x"]))
        elif name in known and value is not None:
            fields[name] = value * 2.0 ** power(known[name], of)
        elif name == "log_likelihood":  # that of a density adds the logarithm of the unit
            total = proof.sample_weight.sum() if proof.sample_weight is not None else len(CASES["ridge"]()[1])
            fields[name] = float((value - total * of["t"] * np.log(2.0)) * 2.0 ** of["s"])
    return replace(proof, **fields)


PLAIN = [case for case in CASES if case.startswith(UNLIKE) or case in EXACT]
"""Of all others `coarse.json` knows the same, and more."""


@pytest.mark.parametrize(
    ("scale", "case"),
    [("plain", case) for case in PLAIN]
    + [(scale, case) for scale in ("large", "small") for case in CASES if not case.startswith(UNLIKE)],
)
def test_each_number_may_move_as_far_as_it_could_in_any_unit(scale, case):
    """Every number is what it was, and holds as far above and below, to a factor of 1.4, and no farther, in its own unit."""
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))[case]
    proof, X, y = CASES[case]()
    before = {name: value for name, value, _ in numbers(proof)}
    assert before == {name: pytest.approx(value, rel=1e-3, abs=1e-18) for name, (value, *_) in recorded.items()}
    if scale != "plain":
        of = units_of(proof, SCALES[scale])
        X, y = X * 2.0 ** of["x"], y * 2.0 ** of["t"] if y is not None and y.dtype.kind == "f" else y
        proof = in_units(proof, of)
    assert proof.verify(X, y)
    for name, value, put in numbers(proof):
        unit = 0.0 if scale == "plain" else np.log2(value / before[name]) if value * before[name] > 0.0 else np.nan
        uneven = scale != "plain" and "uneven" in case and "strengths" in name  # what is allowed for depends on them
        if uneven or unit != np.round(unit):
            continue
        for direction, reach in zip((-1.0, 1.0), recorded[name][1:], strict=True):
            inside, outside = (value + direction * 2.0 ** (unit + reach + off) for off in (-FACTOR, FACTOR + STEP))
            assert reach == NEVER or holds(put(inside), X, y), f"{name}: refused within 2^{reach}"
            assert reach >= ALWAYS - 1 or outside == value or not holds(put(outside), X, y), (
                f"{name}: accepted beyond 2^{reach}"
            )


def write(record, cases, measure):
    """Write a record, with --new only what is not there yet."""
    known = json.loads(record.read_text(encoding="utf-8")) if "--new" in sys.argv and record.exists() else {}
    lines = [f" {json.dumps(case)}: {json.dumps(known.get(case) or measure(case))}" for case in cases]
    record.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    write(RECORD, CASES, measured)
    with coarse():
        write(COARSE, IN_COARSE, lambda case: measured(case, FINE))
    write(INSIDE, ALSO, inside)
