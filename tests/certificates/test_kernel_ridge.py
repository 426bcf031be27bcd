"""The certificate of kernel ridge regression against refits by hand: objective, gap, distance, examples left out."""

from dataclasses import replace

import numpy as np
import pytest

from halfspace.certificates import KernelRidgeGap
from halfspace.kernels import RBF

RNG = np.random.default_rng(2)
N, RIDGE = 9, 0.6
X = RNG.normal(size=(N, 2))
Y = np.column_stack([np.sin(X[:, 0]) + 2.0, X[:, 1] ** 2])
S = 0.5 + np.arange(N) % 3
S[4] = 0.0
K = RBF(0.5).exact(X)


def best(K, Y, s, free):
    """Return coefficients (n, m) and constants (m,) of the least Σ s (y - f - c)² + λ‖f‖², by one linear system."""
    used = np.flatnonzero(s)
    n = used.size
    A = np.zeros((n + free, n + free))
    A[:n, :n] = K[np.ix_(used, used)] + RIDGE * np.diag(1.0 / s[used])
    if free:
        A[n, :n] = A[:n, n] = 1.0
    found = np.linalg.solve(A, np.vstack([Y[used], np.zeros((int(free), Y.shape[1]))]))
    a = np.zeros((len(s), Y.shape[1]))
    a[used] = found[:n]
    return a, found[n] if free else np.zeros(Y.shape[1])


def objective(K, Y, s, a, c):
    return s @ (Y - K @ a - c) ** 2 + RIDGE * np.einsum("im,ij,jm->m", a, K, a)


@pytest.fixture(
    params=[(0.0, False, None), (0.0, True, S), (1.5, False, S)], ids=["none", "free, weighted", "clamped, weighted"]
)
def case(request):
    clamp, free, s = request.param
    gram, weights = K + clamp**2, np.ones(N) if s is None else s
    return {"clamp": clamp, "sample_weight": s}, gram, weights, free, best(gram, Y, weights, free)


def claim_of(about, a, c, free):
    return KernelRidgeGap.measure(X, Y, kernel=RBF(0.5), coefficients=a.T, constants=c if free else None, ridge=RIDGE, **about)


def test_at_the_best_function_nothing_is_left(case):
    """Objective and leave-one-out error are those of refits by hand, gap and distance are rounding."""
    about, gram, s, free, (a, c) = case
    claim = claim_of(about, a, c, free)
    assert claim.verify(X, Y)
    assert claim.objective == pytest.approx(objective(gram, Y, s, a, c), rel=1e-10)
    assert (claim.gap <= 1e-18).all()
    assert (claim.distance <= 1e-9).all()
    assert claim.relative_gap == pytest.approx((claim.gap / claim.objective).max())
    errors = np.zeros((N, 2))
    for i in np.flatnonzero(s):
        others = np.where(np.arange(N) == i, 0.0, s)
        b, d = best(gram, Y, others, free)
        errors[i] = Y[i] - gram[i] @ b - d
    assert claim.left_out_error == pytest.approx(s @ errors**2 / s.sum(), rel=1e-8)
    residuals, rounding = claim.residuals(X, Y)  # of the first target
    assert residuals == pytest.approx(errors[:, 0], rel=1e-7, abs=1e-9)
    assert (rounding <= 1e-6 * np.abs(errors[:, 0]) + 1e-12).all()


@pytest.mark.parametrize("size", [1e-3, 0.3])
def test_away_from_it_gap_and_distance_are_never_too_small(case, size):
    """A function off by some coefficients is no farther above the least, and from the best, than claimed; less is refused."""
    about, gram, s, free, (a, c) = case
    for seed in range(5):
        off = size * np.random.default_rng(seed).normal(size=a.shape) * (s > 0.0)[:, None]
        off -= off.sum(axis=0) * (s > 0.0)[:, None] / np.count_nonzero(s) if free else 0.0
        claim = claim_of(about, a + off, c + free * size, free)
        above = objective(gram, Y, s, a + off, c + free * size) - objective(gram, Y, s, a, c)
        far = np.sqrt(np.einsum("im,ij,jm->m", off, gram, off))
        assert (claim.gap >= above * (1 - 1e-9)).all()
        assert (claim.distance >= far * (1 - 1e-9)).all()
        u = RIDGE * (a + off) - s[:, None] * (Y - gram @ (a + off) - c - free * size)
        most = (np.divide(u**2, s[:, None], out=np.zeros_like(u), where=s[:, None] > 0)).sum(axis=0)
        assert claim.gap == pytest.approx(most, rel=1e-6)
        assert claim.distance == pytest.approx(np.sqrt(most / RIDGE), rel=1e-6)
        assert claim.verify(X, Y)
        for name in ("gap", "distance"):
            assert not replace(claim, **{name: getattr(claim, name) * [1.0, 1 - 1e-8]}).verify(X, Y)
        for name, share in (("objective", 1e-8), ("left_out_error", 1e-5)):
            for sign in (-1.0, 1.0):
                assert not replace(claim, **{name: getattr(claim, name) * (1 + sign * share)}).verify(X, Y)


def test_what_does_not_belong_together_is_refused(case):
    """Weight 0 has no coefficient, a constant is fitted or 0, and not beside a clamped input."""
    about, _, s, free, (a, c) = case
    claim = claim_of(about, a, c, free)
    if s.min() == 0.0:
        other = claim.coefficients.copy()
        other[0, 4] = 1e-3
        assert "without weight has a coefficient" in str(replace(claim, coefficients=other).verify(X, Y))
    if not free:
        assert "though it was not fitted" in str(replace(claim, constants=np.array([0.0, 1.0])).verify(X, Y))
    assert "both free and clamped" in str(replace(claim, free=True, clamp=1.0).verify(X, Y))
    assert "about 2 targets" in str(claim.verify(X, Y[:, 0]))
    assert "but there are 8" in str(replace(claim, sample_weight=None).verify(X[:8], Y[:8]))
