"""What a fit says of how it ended is what its proof says, and the remedy is that of what was found."""

import numpy as np
import pytest

import halfspace as hs

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
Y = (X @ [1.0, -2.0, 0.5] + 0.3 * RNG.standard_normal(40) > 0).astype(int)
T = np.sin(2.0 * X[:, 0]) + 0.1 * RNG.standard_normal(40)


@pytest.mark.filterwarnings("ignore")  # that it did not converge
def test_adaline_has_converged_if_its_backward_error_is_within_tol():
    """The certified backward error decides, and without it there is a remedy."""
    for tol, converged in ((0.5, True), (1e-30, False)):
        model = hs.Adaline(solver="online", tol=tol, max_iter=20).fit(X, Y)
        assert ("<= tol" in model.outcome_.sentence) is converged
        assert bool(model.certificate_.backward_error <= tol) is converged
        assert bool(model.outcome_.remedy) is not converged


@pytest.mark.parametrize(
    ("gammas", "ridges", "says"),
    [
        ([0.5], [1e3, 1e4], "best ridge is the smallest"),
        ([0.5], [1e-9, 1e-8], "best ridge is the largest"),
        ([0.5], [0.1], ""),
        ([10.0, 20.0], [0.1], "best gamma is the smallest"),
        ([1e-4, 1e-3], [0.1], "best gamma is the largest"),
    ],
)
def test_kernel_regression_says_which_grid_should_reach_further(gammas, ridges, says):
    """Where the best is at an end of the ridges, or else of the gammas, that were tried."""
    model = hs.KernelRegression(gammas=gammas, ridges=ridges, full_grid=True).fit(X, T)
    assert (says in model.outcome_.remedy) if says else model.outcome_.remedy == ""
