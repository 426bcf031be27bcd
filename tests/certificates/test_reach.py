"""How far each number of a certificate may move before it is refuted is known, to a factor: no more and no less than rounding.

The reach of a number is the largest power of 2 that can be added to it, or taken away, so that the certificate still holds.
`reach.json` records them as they were when the checkers were last compared with the exact oracle (tests/oracle). A checker
that gives away more or less than then fails here, and whoever means it writes the record anew (run this file) and explains
the differences.
"""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from halfspace import certificates as proofs
from halfspace.certificates import Certificate
from halfspace.certificates.fields import roles
from halfspace.errors import CertificateError, InputError
from halfspace.kernels import RBF, Linear, Polynomial

RECORD = Path(__file__).with_name("reach.json")
NEVER, ALWAYS = -200, 60
"""Exponents of the least and the largest change that is tried."""
FACTOR = 1
"""By so many powers of 2 a reach may be off: compilers and libraries sum in other orders."""

N = 12
X = np.sin(1.0 + 1.7 * np.arange(2.0 * N)).reshape(N, 2) + np.outer(np.where(np.arange(N) % 2, 0.75, -0.75), [1.0, 0.5])
Y = np.arange(N) % 2
S = 0.5 + np.arange(N) % 3
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
    weights = np.array([0.5, -0.25, 0.1] if more.get("clamp") else [0.5, -0.25])
    return proofs.RidgeGap.measure(X, T, weights=weights, **more), X, T


def kernel_ridge(**more):
    s = more.get("sample_weight", np.ones(N))
    data_gap = proofs.KernelRidgeGap.measure(X, T, kernel=RBF(0.5), coefficients=0.1 * (s * T)[None], ridge=0.5, **more)
    return data_gap, X, T


def mixture():
    about = {"weights": np.array([0.25, 0.75]), "prototypes": X[:2].copy(), "sigmas": np.array([0.75, 1.5])}
    return proofs.MixtureLikelihood.measure(X, **about), X, None


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


def one_class(**more):
    about = {"kernel": RBF(0.5), "strengths": np.full(8, 0.125), "nu": 0.75, "rho": 0.35, "level": 0.25, **more}
    return proofs.OneClassGap.measure(X, **about), X, None


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
    "bracket": bracket,
    "bracket, clamped": lambda: bracket(clamp=2.0),
    "bracket, free bias": lambda: bracket(bias=0.25),
    "bracket, uneven": lambda: bracket(bias=0.25, strengths=UNEVEN),
    "kernel bracket": kernel_bracket,
    "kernel bracket, clamped": lambda: kernel_bracket(clamp=2.0),
    "kernel bracket, free bias": lambda: kernel_bracket(bias=0.25),
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
    "kernel ridge": kernel_ridge,
    "kernel ridge, clamped": lambda: kernel_ridge(clamp=2.0),
    "kernel ridge, constant": lambda: kernel_ridge(constants=np.array([0.25]), sample_weight=S),
    "log": lambda: (proofs.LogSmearing.measure(X, np.exp(T), ridge(ridge=0.5)[0]), X, np.exp(T)),
    "log, kernel": lambda: (proofs.LogSmearing.measure(X, np.exp(T), kernel_ridge()[0]), X, np.exp(T)),
    "mean": lambda: (proofs.TargetMean.measure(X, T), X, T),
    "means of neighbours": lambda: (proofs.NeighbourMeans.measure(X, T, k=3), X, T),
    "mixture": mixture,
    "one class": one_class,
    "one class, scaled": lambda: one_class(scale=np.array([0.5, 2.0]), nu=0.5, rho=0.2),
    "budget": budget,
    "budget, passes": lambda: budget(passes=3, scale=5.0, clamp=2.0, rescale=True),
    "majority": lambda: committee("majority"),
    "stability": lambda: committee("stability"),
    "support": lambda: (proofs.SupportBounds.measure(X, Y, gap()[0]), X, Y),
}


def numbers(part, whole=lambda part: part, path=""):
    """Yield name, value and a way to put another, of the first and last real number of each field of a certificate."""
    for name in roles(type(part)):
        value = getattr(part, name)

        def put(new, part=part, name=name):
            return whole(part._replace(**{name: new}) if hasattr(part, "_fields") else replace(part, **{name: new}))

        if isinstance(value, Certificate) or hasattr(value, "_fields"):
            yield from numbers(value, put, f"{path}{name}.")
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


def reach(value, put, direction, X, y):
    """Return the exponent of the largest power of 2 by which a number may move; NEVER if by none."""
    low, high = NEVER, ALWAYS
    while high - low > 1:
        middle = (low + high) // 2
        moved = value + direction * 2.0**middle
        low, high = (middle, high) if moved == value or holds(put(moved), X, y) else (low, middle)
    return low


def measured(case):
    certificate, data, labels = CASES[case]()
    assert holds(certificate, data, labels)
    return {
        name: [value, *(reach(value, put, direction, data, labels) for direction in (-1.0, 1.0))]
        for name, value, put in numbers(certificate)
    }


@pytest.mark.parametrize("case", CASES)
def test_each_number_may_move_as_far_as_it_could(case):
    """Every number is what it was, and holds as far above and below what was measured, to a factor of 2, and no farther."""
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))[case]
    found = measured(case)
    assert found.keys() == recorded.keys()
    for name, (value, *sides) in found.items():
        was, *reached = recorded[name]
        assert value == pytest.approx(was, rel=1e-3, abs=1e-18), name
        for side, before in zip(sides, reached, strict=True):
            assert abs(side - before) <= FACTOR, f"{name}: 2^{side}, was 2^{before}"


def test_everything_recorded_is_measured():
    """The record is of these cases."""
    assert json.loads(RECORD.read_text(encoding="utf-8")).keys() == CASES.keys()


if __name__ == "__main__":
    lines = (f" {json.dumps(case)}: {json.dumps(measured(case))}" for case in CASES)
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
