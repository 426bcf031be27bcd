"""The posterior's certificate: every number is that of the normal equations, and may be off by the claimed precision only."""

from dataclasses import replace

import numpy as np
import pytest

from halfspace.certificates import GaussianPosterior
from halfspace.certificates.regression.posterior import Sums

RNG = np.random.default_rng(5)
N, MEANS = 15, np.array([1000.0, 0.01])
X = MEANS + RNG.normal(size=(N, 2)) * [3.0, 0.5]
Y = X @ [0.2, -0.7] + 40.0 + 0.3 * RNG.normal(size=N)
S = 0.5 + np.arange(N) % 3
ALPHA, BETA = 0.7, 5.0


class Truth:
    """The posterior by the normal equations, with the constant at the means, or of a clamped input."""

    def __init__(self, free, weighted):
        s = S if weighted else np.ones(N)
        self.total, self.s = s.sum(), s
        self.x_mean = s @ X / self.total if free else np.zeros(2)
        self.y_mean = s @ Y / self.total if free else 0.0
        A = X - self.x_mean if free else np.column_stack([X, np.full(N, 2.0)])
        t = Y - self.y_mean
        P = BETA * (A.T * s) @ A + ALPHA * np.eye(A.shape[1])
        self.D, self.P, self.covariance = A.shape[1], P, np.linalg.inv(P)
        self.mean = self.covariance @ (BETA * (A.T * s) @ t)
        self.columns = np.sqrt(s @ np.column_stack([A[:, :2], t]) ** 2 / self.total)  # root mean squares, no clamped input
        self.least = BETA * s @ (t - A @ self.mean) ** 2 + ALPHA * self.mean @ self.mean
        self.evidence = 0.5 * (
            self.total * np.log(BETA / (2 * np.pi)) - self.least - np.linalg.slogdet(P)[1] + self.D * np.log(ALPHA)
        )
        triangle = np.linalg.qr(np.sqrt(s)[:, None] * np.column_stack([A, t]), mode="r")
        about = {"clamp": 0.0 if free else 2.0, "free": free, "sample_weight": s if weighted else None}
        sums = Sums(triangle, self.total, self.x_mean, self.y_mean)
        self.claim = GaussianPosterior.of(sums, alpha=ALPHA, beta=BETA, weights=self.mean, covariance=self.covariance, **about)


@pytest.fixture(params=[(True, False), (True, True), (False, True)], ids=["free", "free, weighted", "clamped, weighted"])
def truth(request):
    return Truth(*request.param)


def test_the_claim_is_the_posterior(truth):
    """Mean, covariance, constant, effective number, evidence and means are those of the normal equations."""
    claim = truth.claim
    assert claim.verify(X, Y)
    assert claim.constant == pytest.approx(truth.y_mean - truth.x_mean @ truth.mean[:2], abs=1e-9)
    assert claim.gamma == pytest.approx(truth.D - ALPHA * np.trace(truth.covariance), rel=1e-9)
    assert claim.log_evidence == pytest.approx(truth.evidence, rel=1e-9)
    assert claim.means == pytest.approx([*truth.x_mean, truth.y_mean, truth.total], rel=1e-12)
    assert 1e-9 <= claim.precision <= 1e-6


@pytest.mark.parametrize("share", [0.5, 2.0])
def test_each_number_may_be_off_by_the_claimed_precision(truth, share):
    """Half the precision of a number's own size is allowed, twice of it is not."""
    claim = replace(truth.claim, precision=1e-5)
    off = share * 1e-5
    sd = np.sqrt(np.diag(truth.covariance))
    parts = truth.total * (1.0 + abs(np.log(BETA))) + truth.least + truth.D * (1.0 + abs(np.log(ALPHA)))
    moved = [{"gamma": claim.gamma + off * truth.D}, {"log_evidence": claim.log_evidence - off * parts}]
    for i, j in ((0, 0), (1, 0), (truth.D - 1, truth.D - 1)):
        covariance = claim.covariance.copy()
        covariance[i, j] += off * sd[i] * sd[j]
        moved.append({"covariance": covariance})
    sizes = [*(np.abs([*truth.x_mean, truth.y_mean]) + truth.columns), truth.total]
    for k, size in enumerate(sizes):
        means = claim.means.copy()
        means[k] += off * size
        moved.append({"means": means})
    if claim.free:
        scale = abs(truth.y_mean) + np.abs(truth.x_mean * truth.mean).sum()
        moved.append({"constant": claim.constant - off * scale})
    for change in moved:
        # A precision far coarser than every error is refused: a number must be off for this one to be claimed.
        coarse = replace(claim, gamma=claim.gamma + 0.45e-5 * truth.D) if "gamma" not in change else claim
        assert bool(replace(coarse, **change).verify(X, Y)) == (share < 1.0), change


def test_a_precision_coarser_than_the_numbers_is_refused(truth):
    """What is right to 1e-9 is not claimed to 1e-5, nor a posterior that is right to a tenth only."""
    assert "not only to" in str(replace(truth.claim, precision=1e-4).verify(X, Y))
    assert "are not claimed to hold" in str(replace(truth.claim, precision=0.11).verify(X, Y))


def test_what_maximises_the_evidence_has_a_slope_of_zero(truth):
    """alpha is best where it is gamma over the squared weights, beta where it is (Σ s - gamma) over the squared residuals."""
    claim = truth.claim
    gamma, m = claim.gamma, truth.mean
    left = (truth.least - ALPHA * m @ m) / BETA
    for name, best in (("alpha", gamma / (m @ m)), ("beta", (truth.total - gamma) / left)):
        verdict = replace(claim, maximised=(name,)).verify(X, Y)
        assert bool(verdict) == (abs(best / getattr(claim, name) - 1.0) < 1e-9)
        assert f"largest evidence by {name}" in str(verdict)
    assert "neither alpha nor beta" in str(replace(claim, maximised=("gamma",)).verify(X, Y))
