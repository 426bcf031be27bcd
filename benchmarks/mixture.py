"""EM for isotropic Gaussians: the time of a step, against scikit-learn's GaussianMixture(covariance_type="spherical").

Both take the same number of steps from the same mixture and must arrive at the same likelihood. scikit-learn adds 1e-6 to every
variance (`reg_covar`), which is set to 0 here. The start is given as a mixture, so that neither side runs K-means. A peer on a
busy machine is at its best with one BLAS thread, on a quiet one perhaps with two: both are run, and the faster counts.
"""

import warnings
from contextlib import nullcontext

import numpy as np
from sklearn.mixture import GaussianMixture

from benchmarks.race import Case
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.prototypes.em import Climbing
from halfspace.solvers.prototypes.mixture import Each, Mixture
from halfspace.solvers.run import Budget, run

SIZES = [(100_000, 10, 10, 4.0), (100_000, 2, 5, 4.0), (20_000, 100, 20, 1.0)]
"""Rows, features, Gaussians, bar."""
STEPS = 10


def cases():
    """Yield one case per size; a run is STEPS steps of EM, so times are of STEPS steps on both sides."""
    for n, d, K, bar in SIZES:
        rng = np.random.default_rng(0)
        centres = 1.5 * rng.standard_normal((K, d))
        X = centres[rng.integers(K, size=n)] + rng.standard_normal((n, d))
        start = Mixture(np.full(K, 1.0 / K), 0.5 * centres, np.full(K, 1.5))
        yield Case(
            f"IsotropicMixture, {n:,} x {d}, K = {K}, {STEPS} EM steps",
            {
                "halfspace": _ours(X, start),
                "scikit-learn": _theirs(X, start, nullcontext),
                "scikit-learn, one BLAS thread": _theirs(X, start, one_blas_thread),
            },
            bar=bar,
            check=_same,
        )


def _ours(X, start):
    method = Climbing(X, np.ones(X.shape[0]), Each(1e-9), -np.inf, STEPS, lambda: start)
    return lambda: run(method, Budget(STEPS)).state.best


def _theirs(X, start, threads):
    given = {"weights_init": start.weights, "means_init": start.centres, "precisions_init": start.sigmas**-2}
    K = start.weights.size
    model = GaussianMixture(K, covariance_type="spherical", reg_covar=0.0, tol=0.0, max_iter=STEPS, **given)

    def fit():
        with warnings.catch_warnings(), threads():
            warnings.simplefilter("ignore")
            return model.fit(X), X

    return fit


def _same(outputs):
    """Check that both reached the same likelihood."""
    ours, (model, X), _ = outputs.values()
    L = ours.course[-1] / X.shape[0]
    theirs = model.score(X)
    if abs(L - theirs) > 1e-6 * abs(theirs):
        message = f"log-likelihood a row {L:.9g}, scikit-learn's {theirs:.9g}"
        raise AssertionError(message)
    return f"log-likelihood a row {L:.9g}, relative difference {abs(L / theirs - 1.0):.1e}"
