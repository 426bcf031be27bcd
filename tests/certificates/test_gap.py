"""Duality gaps of planes and of kernels: every true one is accepted, every false one refused, and nothing else ever happens."""

import json
import math
import warnings
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import SVC

import halfspace as hs
from halfspace.certificates import DualityGap, KernelBracket, KernelGap, PerClass, check, from_json
from halfspace.certificates.expansion import BLOCK_ENTRIES, LARGEST, indefiniteness, scales
from halfspace.errors import CertificateError, InputError
from halfspace.kernels import RBF, FromFunction, Laplacian, Linear, Polynomial, Precomputed, Sigmoid

X = np.array(
    [
        [1.5, 2.0, 0.25],
        [2.0, 1.0, -0.5],
        [0.75, 1.25, 1.0],
        [3.0, 0.5, 0.0],
        [-1.0, -1.25, 0.5],
        [-2.0, -1.5, -1.0],
        [0.5, -2.0, 0.75],
    ]
)
Y = np.array([1, 1, 1, 1, 0, 0, 0])
SIGN = np.where(Y == 1, 1.0, -1.0)
SHARES = np.array([0.125, 0.25, 0.5, 0.0, 0.375, 0.0, 0.4375])
PLANE_STRENGTHS, STRENGTHS = 0.125 * SHARES, 0.5 * SHARES
BALANCED = np.array([0.125, 0.25, 0.25, 0.0, 0.375, 0.0, 0.25])
WEIGHTS = np.array([0.3125, 0.4375, 0.0625])
S = np.array([1.0, 2.0, 0.75, 1.5, 1.0, 0.5, 1.25])
BOX = RBF(0.25)
CURVED = Polynomial(degree=2, gamma=0.5, coef0=1.0)
GRAM = BOX.exact(X, X)


class Case(NamedTuple):
    """A true certificate and its data."""

    certificate: Any
    X: Any
    y: Any


def plane(C=0.5, s=None, bias=None, clamp=0.0, weights=WEIGHTS, strengths=PLANE_STRENGTHS):
    weights = np.append(weights, 0.1875) if clamp else weights
    return DualityGap.measure(
        X, Y, weights=weights, strengths=strengths, C=C, sample_weight=s, bias=bias, clamp=clamp, positive=1
    )


def curved(kernel=BOX, C=0.5, s=None, bias=None, clamp=0.0, strengths=STRENGTHS, data=X):
    return KernelGap.measure(
        data, Y, kernel=kernel, strengths=strengths, C=C, sample_weight=s, bias=bias, clamp=clamp, positive=1
    )


SOFT_PLANES = {
    "plane": lambda: Case(plane(), X, Y),
    "plane clamped": lambda: Case(plane(clamp=2.0), X, Y),
    "plane weighted": lambda: Case(plane(s=S), X, Y),
    "plane free": lambda: Case(plane(bias=-0.25, strengths=BALANCED / 8), X, Y),
}
HARD_PLANES = {
    "hard plane": lambda: Case(plane(C=np.inf), X, Y),
    "hard plane clamped": lambda: Case(plane(C=np.inf, clamp=1.0), X, Y),
    "hard plane free": lambda: Case(plane(C=np.inf, bias=0.125, strengths=BALANCED / 8), X, Y),
    "hard plane weighted": lambda: Case(plane(C=np.inf, s=S), X, Y),
}
SOFT_KERNELS = {
    "plain": lambda: Case(curved(), X, Y),
    "clamped": lambda: Case(curved(clamp=2.0), X, Y),
    "weighted": lambda: Case(curved(s=S), X, Y),
    "free": lambda: Case(curved(bias=-0.25, strengths=BALANCED / 2), X, Y),
    "polynomial": lambda: Case(curved(kernel=CURVED, strengths=STRENGTHS / 4), X, Y),
    "sum": lambda: Case(curved(kernel=BOX + 0.5 * Linear(), strengths=STRENGTHS / 2), X, Y),
    "precomputed": lambda: Case(curved(kernel=Precomputed(), data=GRAM), GRAM, Y),
}
HARD_KERNELS = {
    "hard": lambda: Case(curved(C=np.inf), X, Y),
    "hard clamped": lambda: Case(curved(C=np.inf, clamp=1.0), X, Y),
    "hard free": lambda: Case(curved(C=np.inf, bias=0.0625, strengths=BALANCED / 2), X, Y),
    "hard weighted": lambda: Case(curved(C=np.inf, s=S), X, Y),
}
PLANES, KERNELS = SOFT_PLANES | HARD_PLANES, SOFT_KERNELS | HARD_KERNELS
BUILD = PLANES | KERNELS
every_case = pytest.mark.parametrize("case", BUILD)
every_plane = pytest.mark.parametrize("case", PLANES)
every_kernel = pytest.mark.parametrize("case", KERNELS)


@lru_cache
def true(case):
    return BUILD[case]()


def judge(make, data, labels):
    """Return the verdict, or False for a certificate that is malformed; let any other error pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return make().verify(data, labels)
        except (CertificateError, InputError) as error:
            assert str(error)  # noqa: PT017
            return False


def refused(make, data, labels, name=""):
    verdict = judge(make, data, labels)
    assert not verdict, f"a false claim was accepted: {name}"
    assert verdict is False or all(isinstance(reason, str) and reason for reason in verdict.reasons)


def accepted(certificate, data, labels):
    verdict = certificate.verify(data, labels)
    assert verdict, str(verdict)


def edit(array, place, value):
    changed = np.array(array)
    changed[place] = value
    return changed


def exact_plane(certificate, data, labels):
    """Return the primal value of the weights and the dual value of the strengths as fractions, infinity or None if none."""
    c = certificate
    rows = [[Fraction(float(v)) for v in row] + [Fraction(c.clamp)] * bool(c.clamp) for row in np.asarray(data)]
    sign = [1 if label == c.positive else -1 for label in labels]
    s = [Fraction(1)] * len(rows) if c.sample_weight is None else [Fraction(float(v)) for v in c.sample_weight]
    w = [Fraction(float(v)) for v in c.weights]
    E = [y * (sum(a * b for a, b in zip(row, w, strict=True)) + Fraction(c.bias)) for row, y in zip(rows, sign, strict=True)]
    square = sum(v * v for v in w) / 2
    alpha = dict(zip(c.rows.tolist(), [Fraction(float(v)) for v in c.strengths], strict=True))
    v = [sum(a * sign[i] * rows[i][j] for i, a in alpha.items()) for j in range(len(w))]
    total, size = sum(alpha.values()), sum(x * x for x in v)
    if np.isfinite(c.C):
        loss = sum(Fraction(c.C) * weight * max(Fraction(0), 1 - e) for weight, e in zip(s, E, strict=True))
        return square + loss, total - size / 2
    least = min(e for e, weight in zip(E, s, strict=True) if weight > 0)
    return (square / least**2 if least > 0 else math.inf), (total**2 / size / 2 if size else math.inf)


def exact_curved(c, data, labels):
    """Return both values as fractions, of a kernel matrix that is exact in floats: polynomials of small binary fractions."""
    K = [
        [(Fraction(1, 2) * sum(Fraction(u) * Fraction(v) for u, v in zip(a, b, strict=True)) + 1) ** 2 for b in data]
        for a in data
    ]
    sign = [1 if label == c.positive else -1 for label in labels]
    alpha = dict(zip(c.rows.tolist(), map(Fraction, c.strengths.tolist()), strict=True))
    f = [sum(a * sign[j] * (K[i][j] + Fraction(c.clamp) ** 2) for j, a in alpha.items()) for i in range(len(sign))]
    E = [y * (v + Fraction(c.bias)) for y, v in zip(sign, f, strict=True)]
    square, total = sum(a * sign[j] * f[j] for j, a in alpha.items()), sum(alpha.values())
    if np.isfinite(c.C):
        return square / 2 + sum(Fraction(c.C) * max(Fraction(0), 1 - e) for e in E), total - square / 2
    return (square / 2 / min(E) ** 2 if min(E) > 0 else math.inf), total**2 / square / 2


# ---------------------------------------------------------------- true claims
@every_case
def test_true_gaps_hold(case, tmp_path):
    """A gap measured on the data holds on them, in every form of the data, and after a trip through a file with every bit."""
    certificate, data, labels = true(case)
    path = tmp_path / "gap.json"
    again = from_json(certificate.to_json(path))
    assert again.to_json() == certificate.to_json()
    assert case in PLANES or again.kernel == certificate.kernel
    assert check(path, data, labels)
    forms = [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array, np.ndarray.tolist]
    for form in forms if case == "precomputed" else [*forms, np.float32]:
        accepted(certificate, form(data), labels.tolist())
        accepted(again, form(data), labels)


@every_plane
def test_sides_of_planes_bracket_the_exact_values(case):
    """The claimed primal value is not below the exact one, nor the dual value above it, and both are close."""
    certificate, data, labels = true(case)
    primal, dual = exact_plane(certificate, data, labels)
    assert certificate.primal >= primal
    assert certificate.dual <= dual
    assert certificate.primal == pytest.approx(float(primal), rel=1e-9)
    assert certificate.dual == pytest.approx(float(dual), rel=1e-9)


@pytest.mark.parametrize("change", [{}, {"clamp": 2.0}, {"C": np.inf}, {"C": np.inf, "clamp": 0.5}, {"C": 16.0}])
def test_sides_of_kernels_bracket_the_exact_values(change):
    """The claimed primal value is not below the exact one, nor the dual value above it, and both are close."""
    certificate = curved(kernel=CURVED, strengths=STRENGTHS / 8, **change)
    primal, dual = exact_curved(certificate, X, Y)
    assert certificate.primal >= primal
    assert certificate.dual <= max(dual, 0)
    assert certificate.primal == pytest.approx(float(primal), rel=1e-9)
    assert certificate.dual == pytest.approx(float(dual), rel=1e-9)


@pytest.mark.parametrize("C", [0.5, np.inf])
def test_the_linear_kernel_gives_the_gap_of_planes(C):
    """With k(x, x') = x·x' both values are those of the plane Σ alpha_i y_i x_i."""
    strengths = STRENGTHS / 8
    mine = curved(kernel=Linear(), C=C, strengths=strengths)
    weights = (strengths * SIGN) @ X
    flat = DualityGap.measure(X, Y, weights=weights, strengths=strengths, C=C, positive=1)
    assert (mine.primal, mine.dual) == pytest.approx((flat.primal, flat.dual), rel=1e-9)


def test_a_precomputed_matrix_gives_the_gap_of_its_kernel():
    """The matrix of a kernel says the same as the kernel, up to what the smallest eigenvalue leaves open."""
    one, other = true("plain").certificate, true("precomputed").certificate
    assert (one.primal, one.dual) == pytest.approx((other.primal, other.dual), rel=1e-9)


@pytest.mark.parametrize("C", [0.25, 8.0, 1000.0])
@pytest.mark.parametrize("kernel", [RBF(0.5), Laplacian(0.5), Polynomial(degree=3, gamma=0.2, coef0=1.0)], ids=str)
def test_an_svm_solution_has_a_tiny_gap(kernel, C):
    """LIBSVM's strengths and bias prove themselves optimal, as far as its kernel in single precision goes."""
    rng = np.random.default_rng(3)
    data = rng.standard_normal((60, 3))
    labels = np.where(data[:, 0] * data[:, 1] + 0.3 * rng.standard_normal(60) > 0, "in", "out")
    svm = SVC(kernel="precomputed", C=C, tol=1e-8).fit(kernel.exact(data, data), labels)
    strengths = np.zeros(60)
    strengths[svm.support_] = np.minimum(np.abs(svm.dual_coef_[0]), C)
    gap = KernelGap.measure(data, labels, kernel=kernel, strengths=strengths, C=C, bias=svm.intercept_[0], positive="out")
    assert gap.relative_gap < 1e-6 * max(10.0, C)
    accepted(gap, data, labels)
    accepted(from_json(gap.to_json()), sparse.csr_array(data), labels.tolist())
    refused(lambda: gap, data, np.roll(labels, 1))


SAME = {
    "terms in another order": lambda c: replace(c, rows=c.rows[::-1], strengths=c.strengths[::-1]),
    "rows as int32": lambda c: replace(c, rows=c.rows.astype(np.int32)),
    "a term of strength zero": lambda c: replace(c, rows=np.append(c.rows, 3), strengths=np.append(c.strengths, 0.0)),
    "label as float": lambda c: replace(c, positive=1.0),
}
SAME_HARD_PLANES = {
    "weights doubled": lambda c: replace(c, weights=2.0 * c.weights, bias=2.0 * c.bias),
    "weights times 2^-30": lambda c: replace(c, weights=2.0**-30 * c.weights, bias=2.0**-30 * c.bias),
    "strengths doubled": lambda c: replace(c, strengths=2.0 * c.strengths),
    "strengths times 2^40": lambda c: replace(c, strengths=2.0**40 * c.strengths),
    "strengths times 2^-40": lambda c: replace(c, strengths=2.0**-40 * c.strengths),
}
SAME_HARD_KERNELS = {
    "strengths doubled": lambda c: replace(c, strengths=2.0 * c.strengths, bias=2.0 * c.bias),
    "strengths times 2^40": lambda c: replace(c, strengths=2.0**40 * c.strengths, bias=2.0**40 * c.bias),
    "strengths times 2^-600": lambda c: replace(c, strengths=2.0**-600 * c.strengths, bias=2.0**-600 * c.bias),
}


@every_case
def test_the_same_claim_in_other_words_holds(case):
    """The order and type of the witnesses do not matter, nor, without errors, their scale."""
    certificate, data, labels = true(case)
    scaled = SAME_HARD_PLANES if case in HARD_PLANES else SAME_HARD_KERNELS if case in HARD_KERNELS else {}
    for change in (SAME | scaled).values():
        accepted(change(certificate), data, labels)


def test_weights_of_one_are_no_weights():
    """Sample weights of 1 say the same as none."""
    certificate, data, labels = true("plane")
    accepted(replace(certificate, sample_weight=np.ones(7)), data, labels)


@pytest.mark.parametrize("measured", [plane, curved])
def test_no_strengths_prove_zero(measured):
    """Without strengths the dual value is 0, which is always true, and more is refused."""
    certificate = measured(strengths=np.zeros(7))
    assert certificate.dual == 0.0
    assert certificate.rows.size == 0
    assert measured is plane or certificate.primal == pytest.approx(3.5)
    accepted(from_json(certificate.to_json()), X, Y)
    refused(lambda: replace(certificate, dual=1e-9), X, Y)


@pytest.mark.parametrize(
    "wrong", [{"weights": np.array([-1.0, 0.25, 0.0])}, {"strengths": np.eye(7)[0]}], ids=["plane", "kernel"]
)
def test_errors_have_an_infinite_value_without_caps(wrong):
    """For C = inf what errs costs infinity; the gap is infinite, the lower side still holds, and JSON keeps it."""
    certificate = from_json((plane if "weights" in wrong else curved)(C=np.inf, **wrong).to_json())
    assert certificate.primal == certificate.relative_gap == np.inf
    assert certificate.dual > 0.0
    assert certificate.margin[0] == 0.0
    accepted(certificate, X, Y)
    refused(lambda: replace(certificate, primal=1e6), X, Y)


def test_only_without_caps_is_there_a_margin():
    """The bracket of the margin is 1/sqrt(2 primal), 1/sqrt(2 dual), for C = inf only: for kernels that of KernelBracket."""
    lower, upper = true("hard plane").certificate.margin
    E = SIGN * (X @ WEIGHTS)
    assert lower == pytest.approx(E.min() / np.linalg.norm(WEIGHTS), rel=1e-9)
    assert upper == pytest.approx(np.linalg.norm((SHARES * SIGN) @ X) / SHARES.sum(), rel=1e-9)
    bracket = KernelBracket.measure(X, Y, kernel=BOX, strengths=STRENGTHS, positive=1)
    assert true("hard").certificate.margin == pytest.approx((bracket.lower, bracket.upper), rel=1e-9)
    for soft in ("plane", "plain"):
        with pytest.raises(AttributeError, match="C = inf"):
            true(soft).certificate.margin  # noqa: B018


def random_plane(seed):
    """Return a certificate of made-up weights and strengths on data of made-up shape and scale."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2, 30), rng.integers(1, 9)
    scale, C = 10.0 ** rng.uniform(-6, 6), np.inf if seed % 4 == 0 else 10.0 ** rng.uniform(-6, 6)
    data = rng.standard_normal((n, d)) * scale * 10.0 ** rng.uniform(-2, 2, d) + rng.choice([0.0, 100.0]) * scale
    w = rng.standard_normal(d) / scale
    labels = np.where(data @ w > 0, 1, 0) if seed % 4 == 0 else rng.integers(0, 2, n)
    labels[0], labels[1] = (labels[0], labels[1]) if labels.min() < labels.max() else (0, 1)
    s = rng.choice([0.0, 0.5, 1.0, 3.0], n) if seed % 3 == 0 else None
    s = None if s is None or not s.any() else s
    caps = np.minimum(1.0, C) * (np.ones(n) if s is None else np.minimum(s, 1.0))
    strengths = caps * rng.random(n) * (rng.random(n) < 0.6)
    sign, bias, clamp = np.where(labels == 1, 1.0, -1.0), None, 0.0
    if seed % 5 == 0:
        bias, strong = rng.standard_normal(), strengths[sign > 0].sum() > strengths[sign < 0].sum()
        sums = sorted([strengths[sign > 0].sum(), strengths[sign < 0].sum()])
        strengths = np.where((sign > 0) == strong, strengths * (sums[0] / sums[1] if sums[1] else 0.0), strengths)
    elif seed % 5 == 1:
        clamp = 10.0 ** rng.uniform(-3, 3)
        w = np.append(w, rng.standard_normal() / clamp)
    certificate = DualityGap.measure(
        data, labels, weights=w, strengths=strengths, C=C, sample_weight=s, bias=bias, clamp=clamp, positive=1
    )
    return Case(certificate, data, labels)


def test_no_true_gap_of_a_plane_is_refused():
    """Whatever the shape, the scale (1e-8 to 1e8) and C (1e-6 to 1e6 and infinity): what was measured holds, and is exact."""
    for seed in range(250):
        certificate, data, labels = random_plane(seed)
        accepted(certificate, data, labels)
        accepted(from_json(certificate.to_json()), sparse.csr_array(data), labels)
        primal, dual = exact_plane(certificate, data, labels)
        assert certificate.primal >= primal
        assert certificate.free or certificate.dual <= max(dual, 0)


def random_curved(seed):
    """Return a certificate of made-up strengths on data of made-up shape and scale."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2, 30), rng.integers(1, 6)
    scale, C = 10.0 ** rng.uniform(-4, 4), np.inf if seed % 4 == 0 else 10.0 ** rng.uniform(-4, 4)
    data = scale * (rng.standard_normal((n, d)) + (100.0 if seed % 2 else 0.0))
    kernel = [RBF("scale"), Polynomial(degree=3, gamma=1 / scale**2, coef0=1.0), Laplacian("scale"), Linear()][seed % 7 % 4]
    labels = np.where(rng.random(n) < 0.5, "a", "b")
    labels[:2] = "a", "b"
    s = rng.choice([0.0, 0.5, 1.0, 3.0], n) if seed % 3 == 0 else None
    s = None if s is None or not s.any() else s
    caps = min(1.0, C) * (np.ones(n) if s is None else np.minimum(s, 1.0))
    strengths = caps * rng.random(n) * (rng.random(n) < 0.6)
    bias, clamp, mine = None, 0.0, labels == "b"
    if seed % 5 == 0:
        sums = np.array([strengths[~mine].sum(), strengths[mine].sum()])
        strengths = np.minimum(strengths * (sums.min() / np.maximum(sums, 1e-300))[mine.astype(int)], caps)
        bias = rng.standard_normal()
    elif seed % 5 == 1:
        clamp = scale * 10.0 ** rng.uniform(-3, 3)
    certificate = KernelGap.measure(
        data, labels, kernel=kernel, strengths=strengths, C=C, sample_weight=s, bias=bias, clamp=clamp, positive="b"
    )
    return Case(certificate, data, labels)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_true_gap_of_a_kernel_is_refused(seed):
    """Whatever shape, scale, kernel and C: what was measured holds, dense or sparse, and `dual <= primal`."""
    certificate, data, labels = random_curved(seed)
    accepted(certificate, data, labels)
    assert 0.0 <= certificate.dual <= certificate.primal
    if seed % 2 == 0:  # sparse rows far from 0 have larger rounding errors: distances between them lose digits
        accepted(from_json(certificate.to_json()), sparse.csr_array(data), labels)


FITS = [{"C": 1.0}, {"C": 0.01, "intercept": "free"}, {"C": np.inf, "intercept": "none"}, {"C": 1e6, "intercept_scaling": 10.0}]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("settings", FITS, ids=str)
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_gaps_of_fits_hold(settings, scale):
    """The certificate of a fit holds, at any scale, weighted or not, and is refused for the labels of others."""
    rng = np.random.default_rng(7)
    data = scale * rng.standard_normal((25, 3))
    labels = np.where(data @ np.array([1.0, -0.5, 0.25]) + 0.4 * scale * rng.standard_normal(25) > 0, "yes", "no")
    if settings["C"] == np.inf:
        labels = np.where(data @ np.array([1.0, -0.5, 0.25]) > 0, "yes", "no")
    for s in (None, rng.choice([0.0, 0.5, 2.0], 25)):
        certificate = hs.AdaTron(max_iter=60, **settings).fit(data, labels, sample_weight=s).certificate_
        accepted(certificate, data, labels)
        accepted(from_json(certificate.to_json()), sparse.csr_array(data), labels.tolist())
        refused(lambda c=certificate: c, data, np.roll(labels, 1))


def test_gaps_of_many_classes_hold(tmp_path):
    """One gap per class, together in a file, holds; with two parts swapped it does not."""
    rng = np.random.default_rng(3)
    labels = np.repeat(["a", "b", "c"], 8)
    data = rng.standard_normal((24, 2)) + np.repeat([[3.0, 0.0], [0.0, 3.0], [-3.0, -3.0]], 8, axis=0)
    certificate = hs.AdaTron(C=0.5).fit(data, labels).certificate_
    assert isinstance(certificate, PerClass)
    certificate.to_json(tmp_path / "gaps.json")
    assert check(tmp_path / "gaps.json", data, labels)
    swapped = PerClass(certificate.classes, (certificate.parts[1], certificate.parts[0], certificate.parts[2]))
    refused(lambda: swapped, data, labels)
    refused(lambda: replace(certificate, parts=(replace(certificate.parts[0], dual=1e6), *certificate.parts[1:])), data, labels)


def test_blocks_do_not_change_the_gap(monkeypatch):
    """The kernel matrix is computed in blocks of rows, and the block size does not matter."""
    certificate, data, labels = true("clamped")
    monkeypatch.setattr("halfspace.certificates.expansion.BLOCK_ENTRIES", 6)
    assert BLOCK_ENTRIES == 1 << 22
    accepted(certificate, data, labels)


# ---------------------------------------------------------------- claims from a solver's numbers
def claimed(case, noise=0.0, error=0.0, square=None):
    """Return the certificate claimed from potentials with made-up errors of at most `noise`, said to be at most `error`."""
    c, data, labels = true(case)
    sign, alpha = np.where(labels == 1, 1.0, -1.0), np.zeros(7)
    alpha[c.rows] = c.strengths
    K = data if c.kernel.is_precomputed else c.kernel.exact(data, data)
    E = sign * ((K + c.clamp**2) @ (alpha * sign) + c.bias)
    E = E + noise * np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0])
    shift, objection = indefiniteness(c.kernel, data)
    assert objection is None
    draft = KernelGap.draft(c.kernel, alpha, c.C, c.sample_weight, c.bias if c.free else None, c.clamp, 1)
    return draft.claim(scales(c.kernel, data, c.clamp, shift), sign, E, square=square, error=error)


@every_kernel
def test_claims_of_honest_numbers_hold(case):
    """Potentials of a solver, a little off and said to be, make a claim that holds and is close to what is measured."""
    certificate, data, labels = true(case)
    for noise in (0.0, 1e-12, 1e-10):
        claim = claimed(case, noise=noise, error=noise)
        accepted(claim, data, labels)
        assert (claim.primal, claim.dual) == pytest.approx((certificate.primal, certificate.dual), rel=1e-7)


@every_kernel
def test_claims_of_wrong_numbers_are_refused(case):
    """Potentials that are off by more than is said make a claim that is refused."""
    _, data, labels = true(case)
    refused(lambda: claimed(case, noise=1e-5), data, labels)


def test_errors_far_outside_the_margin_cost_nothing():
    """Potentials in single precision are good enough where the loss is surely zero."""
    strengths = 0.5 * STRENGTHS
    exact = curved(kernel=CURVED, strengths=strengths, C=2.0)
    E = SIGN * (CURVED.exact(X, X) @ (strengths * SIGN))
    far = E > 2.0
    assert far.any()
    assert not far.all()
    draft = KernelGap.draft(CURVED, strengths, 2.0, None, None, 0.0, 1)
    square = float((strengths * SIGN) @ CURVED.exact(X, X) @ (strengths * SIGN))
    rough = np.where(far, E.astype(np.float32) + 1e-3, E)
    claim = draft.claim(scales(CURVED, X, 0.0), SIGN, rough, square=square, error=np.where(far, 0.01, 0.0))
    accepted(claim, X, Y)
    assert claim.primal == pytest.approx(exact.primal, rel=1e-9)


# ---------------------------------------------------------------- kernels that are none
def test_indefinite_kernels_are_refused_with_the_reason():
    """The lecture's counterexample (1 if |x - x'| <= 1) has the eigenvalue 1 - √2 on 1, 2, 3; no dual value proves anything."""
    near = FromFunction(lambda a, b: float(abs(a[0] - b[0]) <= 1.0))
    data, labels = np.array([[1.0], [2.0], [3.0]]), np.array([1, 0, 1])
    options = {"strengths": np.ones(3), "C": 1.0, "positive": 1}
    with pytest.raises(InputError, match=r"not positive semi-definite.*-0\.414.*repair"):
        KernelGap.measure(data, labels, kernel=near, **options)
    K = near.exact(data, data)
    with pytest.raises(InputError, match="not positive semi-definite"):
        KernelGap.measure(K, labels, kernel=Precomputed(), **options)
    good = KernelGap.measure(K + np.eye(3), labels, kernel=Precomputed(), **options)
    accepted(good, K + np.eye(3), labels)
    verdict = good.verify(K, labels)
    assert not verdict
    assert "-0.414" in str(verdict)


def test_a_kernel_without_a_proof_is_proved_on_the_data():
    """A function that happens to be a kernel on these examples is accepted; the certificate cannot be written to a file."""
    product = FromFunction(lambda a, b: float(a @ b))
    certificate = curved(kernel=product, strengths=STRENGTHS / 8)
    flat = curved(kernel=Linear(), strengths=STRENGTHS / 8)
    assert (certificate.primal, certificate.dual) == pytest.approx((flat.primal, flat.dual), rel=1e-6)
    accepted(certificate, X, Y)
    with pytest.raises(ValueError, match=r"[Ff]unction"):
        certificate.to_json()


def test_a_sigmoid_that_is_no_kernel_is_refused():
    """tanh(x·x' - 1) has a negative diagonal for short rows, which no kernel has."""
    with pytest.raises(InputError, match="not positive semi-definite"):
        curved(kernel=Sigmoid(1.0, -1.0), data=0.1 * X)


@pytest.mark.parametrize("change", ["skew", "wide"])
def test_a_precomputed_matrix_must_be_symmetric_and_square(change):
    """A kernel matrix is square and its own transpose; the verdict says which it is not."""
    certificate = true("precomputed").certificate
    data = edit(GRAM, (0, 3), GRAM[0, 3] + 0.01) if change == "skew" else np.c_[GRAM, GRAM[:, 0]]
    verdict = certificate.verify(data, Y)
    assert not verdict
    assert ("symmetric" if change == "skew" else "square") in str(verdict)


def test_too_many_examples_to_prove_a_kernel_are_refused():
    """Above the limit a kernel without a proof is refused, with what to do."""
    n = LARGEST + 1
    data = sparse.csr_array(([1.0], ([0], [0])), shape=(n, 1))
    shift, objection = indefiniteness(Sigmoid(1.0, 0.0), data)
    assert shift == 0.0
    assert "4,001 examples" in objection
    assert "reason()" in objection
    assert indefiniteness(RBF(1.0), data) == (0.0, None)


# ---------------------------------------------------------------- false claims
def nudge(certificate):
    """Return a change of strengths that is surely seen: a claim about a kernel may be looser than one about a plane."""
    return 1e-6 if isinstance(certificate, DualityGap) else 1e-4


def nudged(certificate, name, place, factor):
    values = getattr(certificate, name)
    return replace(certificate, **{name: edit(values, place, values[place] * factor)})


FALSE = {
    "primal a little lower": lambda c: replace(c, primal=c.primal * (1 - 1e-6)),
    "primal a little higher": lambda c: replace(c, primal=c.primal * (1 + 1e-6)),
    "primal halved": lambda c: replace(c, primal=max(0.5 * c.primal, c.dual)),
    "primal at the dual": lambda c: replace(c, primal=c.dual),
    "primal infinite": lambda c: replace(c, primal=np.inf),
    "primal negative": lambda c: replace(c, primal=-c.primal, dual=0.0),
    "dual a little higher": lambda c: replace(c, dual=c.dual * (1 + 1e-6)),
    "dual a little lower": lambda c: replace(c, dual=c.dual * (1 - 1e-6)),
    "dual at the primal": lambda c: replace(c, dual=c.primal),
    "dual above the primal": lambda c: replace(c, dual=2.0 * c.primal),
    "dual negative": lambda c: replace(c, dual=-c.dual),
    "dual infinite": lambda c: replace(c, dual=np.inf),
    "both sides at the middle": lambda c: replace(c, primal=0.5 * (c.primal + c.dual), dual=0.5 * (c.primal + c.dual)),
    "sides swapped": lambda c: replace(c, primal=c.dual, dual=c.primal),
    "cap zero": lambda c: replace(c, C=0.0),
    "cap negative": lambda c: replace(c, C=-c.C),
    "cap in words": lambda c: replace(c, C="inf"),
    "cap changed": lambda c: replace(c, C=0.40625 if np.isfinite(c.C) else 1.0),
    "cap large": lambda c: replace(c, C=2.0 if np.isfinite(c.C) else 1e6),
    "other kind of cap": lambda c: replace(c, C=np.inf if np.isfinite(c.C) else 0.5),
    "a strength above its cap": lambda c: replace(c, strengths=edit(c.strengths, 0, 3.0)),
    "a strength of 1e200": lambda c: replace(c, strengths=edit(c.strengths, 0, 1e200)),
    "a strength of 1e308": lambda c: replace(c, strengths=edit(c.strengths, slice(None), 1e308)),
    "a strength negative": lambda c: nudged(c, "strengths", 1, -1.0),
    "a strength infinite": lambda c: replace(c, strengths=edit(c.strengths, 0, np.inf)),
    "a strength dropped": lambda c: replace(c, strengths=c.strengths[1:], rows=c.rows[1:]),
    "a strength without a row": lambda c: replace(c, rows=c.rows[1:]),
    "a row without a strength": lambda c: replace(c, strengths=c.strengths[1:]),
    "no strengths": lambda c: replace(c, strengths=c.strengths[:0], rows=c.rows[:0]),
    "all strengths zero": lambda c: replace(c, strengths=0.0 * c.strengths),
    "rows of another class": lambda c: replace(c, rows=(c.rows + 3) % 7),
    "two rows swapped": lambda c: replace(c, rows=c.rows[np.r_[1, 0, 2 : c.rows.size]]),
    "a row twice": lambda c: replace(c, rows=edit(c.rows, 1, c.rows[0])),
    "a row twice, halved": lambda c: replace(
        c,
        rows=np.append(c.rows, c.rows[0]),
        strengths=np.append(edit(c.strengths, 0, 0.5 * c.strengths[0]), c.strengths[0] / 2),
    ),
    "a row beyond the last": lambda c: replace(c, rows=edit(c.rows, -1, 7)),
    "a row far beyond the last": lambda c: replace(c, rows=edit(c.rows, -1, 2**40)),
    "a row from the end": lambda c: replace(c, rows=edit(c.rows, -1, -1)),
    "rows in fractions": lambda c: replace(c, rows=c.rows + 0.25),
    "bias changed": lambda c: replace(c, bias=c.bias + 0.125),
    "bias a little more": lambda c: replace(c, bias=c.bias + 1e-6),
    "bias infinite": lambda c: replace(c, bias=np.inf, free=True, clamp=0.0),
    "bias enormous": lambda c: replace(c, bias=1e308, free=True, clamp=0.0),
    "clamp changed": lambda c: replace(c, clamp=c.clamp + 0.5),
    "clamp left out": lambda c: replace(c, clamp=0.0 if c.clamp else 1.0),
    "clamp infinite": lambda c: replace(c, clamp=np.inf),
    "unknown positive label": lambda c: replace(c, positive=2),
    "positive label in words": lambda c: replace(c, positive="1"),
    "positive label not a number": lambda c: replace(c, positive=np.nan),
    "all sample weights zero": lambda c: replace(c, sample_weight=np.zeros(7)),
    "a sample weight negative": lambda c: replace(c, sample_weight=edit(np.ones(7), 2, -1.0)),
    "a sample weight infinite": lambda c: replace(c, sample_weight=edit(np.ones(7), 2, np.inf)),
    "a sample weight zero under a strength": lambda c: replace(c, sample_weight=edit(np.ones(7), 2, 0.0)),
    "a sample weight too few": lambda c: replace(c, sample_weight=np.ones(6)),
    "sample weights in a table": lambda c: replace(c, sample_weight=np.ones((7, 1))),
    "one sample weight for all": lambda c: replace(c, sample_weight=np.array(1.0)),
    "first strength up": lambda c: nudged(c, "strengths", 0, 1 + nudge(c)),
    "last strength down": lambda c: nudged(c, "strengths", -1, 1 - nudge(c)),
    "free flipped": lambda c: replace(c, free=not c.free) if c.bias or not c.free else replace(c, bias=1.0, free=False),
}
FALSE_PLANES = {
    "weights negated": lambda c: replace(c, weights=-c.weights),
    "weights zero": lambda c: replace(c, weights=0.0 * c.weights),
    "first weight up": lambda c: nudged(c, "weights", 0, 1 + 1e-6),
    "second weight down": lambda c: nudged(c, "weights", 1, 1 - 1e-6),
    "last weight negated": lambda c: nudged(c, "weights", -1, -1.0),
    "a weight infinite": lambda c: replace(c, weights=edit(c.weights, 0, np.inf)),
    "a weight of 1e200": lambda c: replace(c, weights=edit(c.weights, 0, 1e200)),
    "weights of 1e-200": lambda c: replace(c, weights=1e-200 * c.weights[::-1]),
    "a weight too many": lambda c: replace(c, weights=np.append(c.weights, 0.0)),
    "a weight too few": lambda c: replace(c, weights=c.weights[:-1]),
    "weights in a table": lambda c: replace(c, weights=c.weights[None]),
    "two weights swapped": lambda c: replace(c, weights=c.weights[np.r_[1, 0, 2 : c.weights.size]]),
    "clamp a little more": lambda c: replace(c, clamp=c.clamp * (1 + 1e-6) or 1e-6),
    "clamp negated": lambda c: replace(c, clamp=-c.clamp or -1.0),
    "other positive label": lambda c: replace(c, positive=0),
}
FALSE_KERNELS = {
    "another kernel": lambda c: replace(c, kernel=Laplacian(0.5)),
    "a kernel that is not resolved": lambda c: replace(c, kernel=RBF("scale")),
    "a row changed": lambda c: replace(c, rows=edit(c.rows, 0, 3)),
}
FALSE_SOFT_PLANES = {
    "strengths scaled up": lambda c: replace(c, strengths=c.strengths * (1 + 1e-6)),
    "strengths scaled down": lambda c: replace(c, strengths=c.strengths * (1 - 1e-6)),
    "weights scaled up": lambda c: replace(c, weights=c.weights * (1 + 1e-6)),
    "weights scaled down": lambda c: replace(c, weights=c.weights * (1 - 1e-6)),
    "cap a little larger": lambda c: replace(c, C=c.C * (1 + 1e-6)),
    "sample weights doubled": lambda c: replace(c, sample_weight=2.0 * (np.ones(7) if c.sample_weight is None else S)),
    "a sample weight changed": lambda c: replace(
        c, sample_weight=edit(np.ones(7) if c.sample_weight is None else S, 6, 1.0 + 1e-5)
    ),
    "sample weights in another order": lambda c: replace(c, sample_weight=S[::-1].copy()),
    "strengths of 1e-200": lambda c: replace(c, strengths=1e-200 * c.strengths),
}


@every_case
def test_false_gaps_are_refused(case):
    """A gap with any field changed is refused with a reason, or is no certificate, in memory and in a file.

    With errors allowed the scale of weights and strengths matters, and so does every weight of an example that errs. Values of
    another type are refused by their annotation: see test_fields.
    """
    certificate, data, labels = true(case)
    lies = FALSE | (FALSE_PLANES if case in PLANES else FALSE_KERNELS) | (FALSE_SOFT_PLANES if case in SOFT_PLANES else {})
    for name, lie in lies.items():
        refused(partial(lie, certificate), data, labels, name)
        try:
            text = lie(certificate).to_json()
        except (CertificateError, InputError, TypeError):
            continue
        if name != "cap in words":  # which a file writes so
            refused(partial(from_json, text), data, labels, name)


@pytest.mark.parametrize("case", ["plain", "clamped", "weighted", "free", "hard", "hard free"])
@pytest.mark.parametrize("gamma", [0.25 * (1 + 1e-5), 0.2, 25.0])
def test_another_width_of_the_kernel_is_refused(case, gamma):
    """The numbers are those of this gamma and of no other."""
    certificate, data, labels = true(case)
    refused(lambda: replace(certificate, kernel=RBF(gamma)), data, labels)


@pytest.mark.parametrize("case", ["plain", "clamped", "hard"])
def test_either_label_may_be_positive_without_a_bias(case):
    """Without a free bias the problem is the same when the classes change names, and so is the gap; with one it is not."""
    certificate, data, labels = true(case)
    accepted(replace(certificate, positive=0), data, labels)
    free = true("free").certificate
    refused(lambda: replace(free, positive=0), X, Y)


OTHER_DATA = {
    "a row nudged": lambda data, labels, tiny: (edit(data, (2, 0), data[2, 0] * (1 + tiny)), labels),
    "a row negated": lambda data, labels, _: (edit(data, 0, -data[0]), labels),
    "two rows swapped": lambda data, labels, _: (data[[4, 1, 2, 3, 0, 5, 6]], labels),
    "a row more": lambda data, labels, _: (np.vstack([data, -data[:1]]), np.append(labels, 1)),
    "a row less": lambda data, labels, _: (data[:-1], labels[:-1]),
    "a column more": lambda data, labels, _: (np.c_[data, data[:, 0]], labels),
    "a column less": lambda data, labels, _: (data[:, :-1], labels),
    "scaled up": lambda data, labels, tiny: (data * (1 + tiny), labels),
    "all zero": lambda data, labels, _: (0.0 * data, labels),
    "tiny": lambda data, labels, _: (1e-200 * data, labels),
    "denormal": lambda data, labels, _: (1e-310 * data, labels),
    "huge": lambda data, labels, _: (1e150 * data, labels),
    "beyond squares": lambda data, labels, _: (1e200 * data, labels),
    "at the end of floats": lambda data, labels, _: (5e307 * data, labels),
    "a label flipped": lambda data, labels, _: (data, edit(labels, 2, 0)),
    "one class": lambda data, labels, _: (data, np.ones_like(labels)),
    "other labels": lambda data, labels, _: (data, labels + 5),
    "labels in words": lambda data, labels, _: (data, labels.astype(str)),
}
OTHER_TO_PLANES = {
    "columns swapped": lambda data, labels, _: (data[:, ::-1], labels),
    "labels flipped": lambda data, labels, _: (data, 1 - labels),
}


@every_case
def test_gaps_are_refused_on_other_data(case):
    """A gap says nothing about data changed by a row, a column, a label or a scale, and the checker says so."""
    certificate, data, labels = true(case)
    for name, change in (OTHER_DATA | (OTHER_TO_PLANES if case in PLANES else {})).items():
        refused(partial(replace, certificate), *change(data, labels, 0.1 * nudge(certificate) + 9e-7), name)


@every_case
def test_data_that_are_not_numbers_are_an_error(case):
    """NaN and infinity in the data are scikit-learn's ValueError, not a verdict."""
    certificate, data, labels = true(case)
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            certificate.verify(edit(data, (0, 0), value), labels)


@pytest.mark.parametrize("case", ["plane", "plain"])
def test_a_file_without_a_field_is_no_certificate(case):
    """A missing or an additional field makes a file no certificate."""
    body = json.loads(true(case).certificate.to_json())
    for field in body:
        for other in ({name: value for name, value in body.items() if name != field}, body | {field + "_": 1}):
            with pytest.raises(CertificateError):
                pytest.fail(f"{field}: {from_json(json.dumps(other))}")


def test_one_gap_per_class_holds():
    """Gaps of the problems "this class against the rest" make one certificate, bound to their classes."""
    labels = np.array(["a", "a", "b", "b", "c", "c", "c"])
    parts = tuple(
        KernelGap.measure(X, labels, kernel=BOX, strengths=STRENGTHS, C=0.5, positive=label) for label in ("a", "b", "c")
    )
    accepted(from_json(PerClass(("a", "b", "c"), parts).to_json()), X, labels)
    refused(lambda: PerClass(("a", "b", "c"), (parts[1], parts[0], parts[2])), X, labels)


# ---------------------------------------------------------------- forgery
@pytest.mark.parametrize("strength", [1e-170, 1e-200, 1e-250, 1e-300, 5e-324, 1e200])
def test_strengths_whose_squares_vanish_prove_nothing_false(strength):
    """Strengths so small or large that their squares are lost do not prove a margin smaller than the true one."""
    data, labels = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1, 0])
    make = DualityGap.measure
    certificate = make(data, labels, weights=np.array([1e-13, 1.0]), strengths=np.full(2, strength), C=np.inf, positive=1)
    assert not certificate.verify(data, labels) or certificate.margin[1] >= 1.0 - 1e-9


@pytest.mark.parametrize("block", range(2))
def test_whatever_is_accepted_is_true(block):
    """Of certificates with weights, strengths and data of any magnitude, those accepted hold in exact arithmetic."""
    rng = np.random.default_rng(100 + block)
    for _ in range(160):
        n, d = rng.integers(2, 5), rng.integers(1, 4)
        data = rng.integers(-3, 4, (n, d)) * 10.0 ** rng.choice([-160, -100, -8, 0, 0, 0, 8, 100, 140])
        labels = np.r_[0, 1, rng.integers(0, 2, n - 2)]
        w = rng.standard_normal(d) * 10.0 ** rng.choice([-250, -160, -13, 0, 0, 13, 160], d)
        strengths = rng.random(n) * 10.0 ** rng.choice([-300, -200, -160, -8, 0, 0, 8, 160])
        C = rng.choice([np.inf, np.inf, 1.0, 1e-40, 1e40])
        certificate = DualityGap.measure(data, labels, weights=w, strengths=strengths, C=float(C), positive=1)
        if certificate.verify(data, labels):
            primal, dual = exact_plane(certificate, data, labels)
            assert certificate.primal >= primal
            assert certificate.dual <= max(dual, 0)


def test_unbalanced_strengths_are_paid_for():
    """With a free bias strengths that do not balance prove less than they would without one, and never more than is true."""
    data, labels = np.array([[2.0], [1.0], [-1.0]]), np.array([1, 1, 0])
    lopsided = np.array([0.0, 1.0, 0.25])
    certificate = DualityGap.measure(data, labels, weights=np.ones(1), strengths=lopsided, C=1.0, bias=0.0, positive=1)
    assert certificate.dual <= 0.5  # the best plane is w = 1, b = 0
    assert certificate.verify(data, labels)
    unpaid = DualityGap.measure(data, labels, weights=np.ones(1), strengths=lopsided, C=1.0, positive=1)
    refused(lambda: replace(certificate, dual=unpaid.dual), data, labels)
