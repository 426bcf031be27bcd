"""What numbers of certificates mean, by definitions written out: weights as copies, claims of solvers, properties, edges."""

from dataclasses import replace

import numpy as np
import pytest

from halfspace import certificates as proofs
from halfspace.certificates.baselines import surely_right
from halfspace.certificates.expansion import proved_scales
from halfspace.certificates.margins.bracket import Sides
from halfspace.certificates.novelty import allowed, needed
from halfspace.certificates.operating import Share
from halfspace.certificates.prototypes.errors import WIDE, _norms
from halfspace.kernels import RBF, Linear, Polynomial

RNG = np.random.default_rng(3)
N = 10
Y = np.arange(N) % 2
SIGN = np.where(Y, 1.0, -1.0)
X = RNG.standard_normal((N, 2)) + 3.0 * SIGN[:, None] * np.array([1.0, 0.5])
T = X @ [0.5, -1.0] + 0.3 * RNG.standard_normal(N)
COPIES = np.array([0, 1, 2, 0, 3, 1, 1, 2, 0, 1])
EACH = np.repeat(np.arange(N), COPIES)
W, ALPHA = np.array([0.6, 0.3]), 0.02 + 0.01 * np.arange(N)
KERNEL = Polynomial(2, gamma=0.5, coef0=1.0)


# ---------------------------------------------------------------- weights
def weighted(data, y, t, s, alpha):
    """Yield certificates of all kinds that weigh examples, and the numbers of them that copies must reproduce."""
    about = {"positive": 1, "sample_weight": s}
    caps = alpha * (1.0 if s is None else s)
    for C in (0.5, np.inf):
        yield proofs.DualityGap.measure(data, y, weights=W, strengths=caps, C=C, **about), ("primal", "dual")
        yield proofs.KernelGap.measure(data, y, kernel=KERNEL, strengths=caps, C=C, **about), ("primal", "dual")
    yield proofs.LeastSquaresGap.measure(data, y, weights=W, **about), ("loss", "backward_error")
    near = {"weights": W * [1.0, -3.0], "sample_weight": s}
    for more in ({"ridge": 0.5}, {"ridge": 0.5, "constant": 0.25}, {}, {"constant": 0.25}):
        yield (
            proofs.RidgeGap.measure(data, t, **near, **more),
            ("objective", "gap", "backward_error", "sigma2", "log_likelihood"),
        )
    yield proofs.Quantisation.measure(data, prototypes=X[:3] + 0.1, sample_weight=s), ("error", "lower", "step_gain", "sizes")
    parts = {"weights": np.array([0.25, 0.75]), "prototypes": X[:2] + 0.1, "sigmas": np.array([1.5, 1.5])}
    for rule in ("each", "common", "fixed"):
        yield proofs.MixtureLikelihood.measure(data, rule=rule, sample_weight=s, **parts), ("log_likelihood", "gain", "rows")
    planes = {"prototypes": X[:4], "labels": Y[:4], "beta": 2.0, "sample_weight": s}
    yield proofs.PrototypeErrors.measure(data, y, **planes), ("cost", "gradient")


def test_a_whole_weight_is_so_many_copies_and_none_is_no_example():
    """Every number that weighs examples is that of the examples copied; an example of weight 0 is not there."""
    s, alpha = COPIES.astype(float), np.where(COPIES, ALPHA, 0.0)
    heavy = list(weighted(X, Y, T, s, alpha))
    copied = list(weighted(X[EACH], Y[EACH], T[EACH], None, alpha[EACH]))
    for (one, names), (other, _) in zip(heavy, copied, strict=True):
        y = T if isinstance(one, proofs.RidgeGap) else Y
        assert one.verify(X, y), type(one)
        assert other.verify(X[EACH], y[EACH]), type(other)
        for name in names:
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-7, abs=1e-10), (type(one).__name__, name)


def test_an_example_of_no_weight_may_be_anything():
    """It neither bounds a hard margin nor holds strength, nor is it learnt from by a kernel's ridge."""
    data, y, s = np.vstack([X, -50.0 * X[:1]]), np.append(Y, Y[0]), np.append(np.ones(N), 0.0)
    about, alpha = {"C": np.inf, "positive": 1}, np.append(ALPHA, 0.0)
    for kind, what in ((proofs.DualityGap, {"weights": W}), (proofs.KernelGap, {"kernel": Linear()})):
        found = kind.measure(data, y, strengths=alpha, sample_weight=s, **what, **about)
        plain = kind.measure(X, Y, strengths=ALPHA, **what, **about)
        assert np.isfinite(found.primal)
        assert (found.primal, found.dual) == pytest.approx((plain.primal, plain.dual), rel=1e-9)
        assert found.verify(data, y)
        assert not np.isfinite(kind.measure(data, y, strengths=alpha, **what, **about).primal)
        held = replace(found, rows=np.append(found.rows, N), strengths=np.append(found.strengths, 1e-30))
        assert "above its cap" in str(held.verify(data, y))
    about = {"kernel": RBF(0.5), "ridge": 0.5}
    found = proofs.KernelRidgeGap.measure(
        data, np.append(T, 9.0), coefficients=np.append(T, 0.0)[None], sample_weight=s, **about
    )
    plain = proofs.KernelRidgeGap.measure(X, T, coefficients=T[None], **about)
    for name in ("objective", "gap", "distance", "left_out_error"):
        assert getattr(found, name) == pytest.approx(getattr(plain, name), rel=1e-9), name


# ---------------------------------------------------------------- what a solver has at hand
@pytest.mark.parametrize("C", [0.5, np.inf])
@pytest.mark.parametrize("bias", [None, 0.75])
@pytest.mark.parametrize("size", [2.0**-60, 1.0, 2.0**40])
def test_claims_from_the_numbers_of_a_solver_are_those_measured(C, bias, size):
    """Handed the exact potentials and lengths, with any strengths, a claim says what the checker measures."""
    size = size if np.isinf(C) else 1.0
    bias = None if bias is None else bias * size
    about, alpha, b = {"C": C, "positive": 1, "bias": bias}, ALPHA * size, bias or 0.0
    c = alpha * SIGN
    K = KERNEL.exact(X)
    E, square = SIGN * (K @ c + b), float(c @ K @ c)
    measured = proofs.KernelGap.measure(X, Y, kernel=KERNEL, strengths=alpha, **about)
    sizes = proved_scales(KERNEL, X, 0.0)
    for more in ({"square": square}, {}, {"square": square, "error": 0.0}):
        claim = replace(measured, primal=np.inf, dual=0.0).claim(sizes, SIGN, E, **more)
        assert (claim.primal, claim.dual) == pytest.approx((measured.primal, measured.dual), rel=1e-12)
        assert claim.verify(X, Y)
    vague = replace(measured, primal=np.inf, dual=0.0).claim(sizes, SIGN, E, square=square, error=1e-9 * size)
    room = 4.0 * 1e-9 * C * np.count_nonzero(E < 1.0) if np.isfinite(C) else vague.primal - measured.primal
    assert vague.primal - measured.primal == pytest.approx(room, rel=1e-3, abs=1e-15 * measured.primal)
    assert vague.dual == pytest.approx(measured.dual, rel=1e-12)
    bracket = proofs.KernelBracket.measure(X, Y, kernel=KERNEL, strengths=alpha, positive=1, bias=bias)
    draft = proofs.KernelBracket.draft(KERNEL, SIGN, alpha, positive=1, bias=bias)
    for more in ({}, {"witness_square": square}, {"error": 0.0}):
        claim = draft.claim(sizes, SIGN, E, square, **more)
        assert (claim.lower, claim.upper, claim.radius) == pytest.approx(
            (bracket.lower, bracket.upper, bracket.radius), rel=1e-9
        )
    w = W * size
    plane = proofs.DualityGap.measure(X, Y, weights=w, strengths=alpha, **about)
    claim = replace(plane, primal=np.inf, dual=0.0).claim(
        SIGN * (X @ w + b), c @ X, float(np.linalg.norm(X, axis=1).max()), SIGN
    )
    assert (claim.primal, claim.dual) == pytest.approx((plane.primal, plane.dual), rel=1e-12)


# ---------------------------------------------------------------- properties
def test_relative_gaps_and_margins_are_those_of_both_values():
    """(primal - dual)/primal, infinite where the primal value is and 0 where it is 0; margins are 1/sqrt(2 value)."""
    soft = proofs.DualityGap.measure(X, Y, weights=W, strengths=ALPHA, C=1.0, positive=1)
    for primal, dual, share in ((4.0, 1.0, 0.75), (np.inf, 1.0, np.inf), (0.0, 0.0, 0.0), (2.0, 2.0, 0.0)):
        assert replace(soft, primal=primal, dual=dual).relative_gap == share
    with pytest.raises(AttributeError):
        _ = soft.margin
    for primal, dual, margin in ((2.0, 0.5, (0.5, 1.0)), (0.0, 0.0, (np.inf, np.inf)), (np.inf, 0.0, (0.0, np.inf))):
        assert replace(soft, C=np.inf, primal=primal, dual=dual).margin == margin
    kernel = proofs.KernelGap.measure(X, Y, kernel=KERNEL, strengths=ALPHA, C=1.0, positive=1)
    for gap, least in ((soft, 1e-12), (kernel, 1e-10)):
        for share, shown in ((0.5, "relative gap 0"), (2.0, f"relative gap {2.0 * least:.2g}")):
            assert str(replace(gap, primal=1.0, dual=1.0 - share * least)).endswith(shown)


def test_a_bracket_tells_separable_by_its_sides():
    """A positive lower side: yes; an upper side of 0: no, but not in a kernel's space; else it cannot be told."""
    bracket = proofs.MarginBracket.measure(X, Y, weights=W, positive=1)
    kernel = proofs.KernelBracket.measure(X, Y, kernel=KERNEL, strengths=ALPHA, positive=1)
    for lower, upper, plane, space in ((1e-300, 1.0, True, True), (0.0, 1.0, None, None), (-1.0, 0.0, False, None)):
        assert replace(bracket, lower=lower, upper=upper).separable is plane
        assert replace(kernel, lower=lower, upper=upper).separable is space
    gap = proofs.Quantisation.measure(X, prototypes=X[:2])
    for error, lower, share in ((4.0, 1.0, 0.75), (0.0, 0.0, 0.0)):
        assert replace(gap, error=error, lower=lower).relative_gap == share
    novel = proofs.OneClassGap.measure(X, kernel=RBF(1.0), strengths=np.full(6, 1 / 6), nu=0.5, rho=0.5, level=0.5)
    for lower, upper, share, stability in ((1.0, 4.5, 7 / 9, 0.5 / 3.0), (0.0, 0.0, 0.0, 0.0)):
        changed = replace(novel, lower=lower, upper=upper)
        assert (changed.relative_gap, changed.stability) == pytest.approx((share, stability))


@pytest.mark.parametrize(
    ("bound", "words"), [(61.93, "61 mistakes"), (4.0 - 1e-12, "4 mistakes"), (1.0, "1 mistake"), (0.9, "0 mistakes")]
)
def test_a_bound_on_mistakes_is_said_as_a_whole_number(bound, words):
    """The largest that the bound allows, but for rounding; an infinite one is said to be none."""
    bracket = proofs.MarginBracket.measure(X, Y, weights=W, positive=1)
    proof = proofs.MistakeBound.of(0, bracket, proofs.Novikoff())
    assert str(replace(proof, bound=bound)).startswith(f"at most {words} by Novikoff's theorem")
    assert str(replace(proof, bound=np.inf)).startswith("no bound on the mistakes")


# ---------------------------------------------------------------- edges of brackets
def test_the_worst_plane_and_the_longest_example_prove_the_radius():
    """Weights against the longest example have margin -R, and that example alone allows R: both claims hold, and no less."""
    data, y = np.array([[3.0, 4.0], [-1.0, 0.0], [0.5, 1.0]]), np.array([1, 0, 1])
    strengths = np.array([1.0, 0.0, 0.0])
    worst = proofs.MarginBracket.measure(data, y, weights=np.array([-3.0, -4.0]), strengths=strengths, positive=1)
    assert (worst.lower, worst.upper, worst.radius) == pytest.approx((-5.0, 5.0, 5.0), rel=1e-12)
    assert worst.lower < -5.0 < 5.0 < worst.upper
    assert worst.verify(data, y)
    assert not replace(worst, upper=5.0 * (1 - 1e-12)).verify(data, y)
    assert not replace(worst, lower=-5.0 * (1 - 1e-12)).verify(data, y)
    far = Sides(-20.0, 20.0, 5.0, 5).outward()
    assert far == pytest.approx((-5.0, 5.0), rel=1e-12)
    assert far[0] < -5.0 < 5.0 < far[1]
    with pytest.raises(proofs.base.InputError):
        Sides(-1.0, 1.0, 1e-310, 5).outward()


def test_no_weights_prove_nothing_and_a_strength_of_0_changes_nothing():
    """The lower side of zero weights is that of the radius; rows of strength 0 may be named."""
    alpha = np.full((2, N), 0.1) * (np.arange(2)[:, None] != Y)
    for bracket in (
        proofs.MarginBracket.measure(X, Y, weights=np.zeros(2), strengths=ALPHA, positive=1),
        proofs.KeslerBracket.measure(X, Y, weights=np.zeros((2, 2)), strengths=alpha, classes=np.arange(2)),
    ):
        assert bracket.lower == pytest.approx(-bracket.radius, rel=1e-12)
        assert bracket.verify(X, Y)
        assert replace(bracket, lower=-np.inf).verify(X, Y)
        silent = np.where(np.arange(bracket.strengths.size) == 3, 0.0, bracket.strengths)
        assert "no strength" not in str(replace(bracket, strengths=silent).verify(X, Y))
        assert "no strength" in str(replace(bracket, strengths=0.0 * silent).verify(X, Y))
        assert "a row outside" in str(replace(bracket, rows=bracket.rows + N).verify(X, Y))
        assert not replace(bracket, upper=0.0, lower=-np.inf).verify(X, Y)


# ---------------------------------------------------------------- metrics
def test_the_norm_of_a_large_metric_is_enclosed():
    """Of a matrix too large for singular values both bounds hold, and are tight for one direction and for a rotation."""
    size = WIDE + 6
    u, v = np.cos(np.arange(size)), np.sin(1.0 + np.arange(size))
    length = np.linalg.norm(u) * np.linalg.norm(v)
    for omega, norm in ((np.outer(u, v), length), (np.eye(size)[::-1] * 3.0, 3.0)):
        least, most = _norms(omega)
        assert least < norm < most
        assert (least, most) == pytest.approx((norm, norm), rel=1e-8)
    assert _norms(-3.0 * np.cos(np.arange(size))) == (3.0, 3.0)
    assert _norms(None) == (1.0, 1.0)
    assert _norms(np.eye(3, size) * 3.0) == pytest.approx((3.0, 3.0))


# ---------------------------------------------------------------- neighbours
def test_neighbours_far_away_tie_by_the_rounding_of_their_own_lengths():
    """Of two rows equally far from a short one, up to the order of a sum, either may be the nearest: it is not surely right."""
    for seed in range(40):
        v = np.random.default_rng(seed).standard_normal(3) * 1e6
        data = np.stack([np.zeros(3), v, v[[2, 0, 1]], -9.0 * v])
        assert not surely_right(data, np.array([0, 0, 1, 1]), 1)[0], seed
        assert surely_right(data, np.array([0, 0, 0, 1]), 1)[0], seed


# ---------------------------------------------------------------- places in an order
def test_places_called_novel_are_the_most_that_a_level_allows():
    """k of m + 1 places is at most the level, one more is not; and so many rows are needed for k of them, and no fewer."""
    for level in (0.01, 0.05, 0.1, 0.29, 0.5, 0.9):
        for m in range(130):
            assert allowed(level, m) == max(k for k in range(m + 2) if k / (m + 1) <= level)
        for k in (1, 2, 29):
            assert needed(level, k) == next(m for m in range(5000) if k / (m + 1) <= level)
        assert needed(level) == needed(level, 1)


def test_a_share_is_its_count_over_all():
    """Of no rows it is unknown."""
    assert Share.of_counts("recall", 3, 4).value == 0.75
    assert np.isnan(Share.of_counts("recall", 0, 0).value)
