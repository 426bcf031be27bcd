"""The laws of the delta rule on a stream: how fast it converges, to what, and what it does not depend on."""

import numpy as np
import pytest

from halfspace.models.regression.adaptive_filter import AdaptiveFilter


def white(n, taps, noise=0.0, seed=0, dtype=np.float64):
    """Return a white input, a random filter, and what it makes of the input, with noise."""
    rng = np.random.default_rng(seed)
    x, h = rng.standard_normal(n), rng.standard_normal(taps) / np.sqrt(taps)
    y = np.convolve(x, h)[:n] + noise * rng.standard_normal(n)
    return x[:, None].astype(dtype), y, h


@pytest.mark.compiled
@pytest.mark.parametrize("eta", [0.3, 1.0, 1.6])
def test_nlms_converges_at_the_predicted_rate(eta):
    """With isotropic rows the mean squared distance to the truth falls by 1 - eta (2 - eta)/d per row."""
    d, n, distances = 32, 64, []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X, h = rng.standard_normal((n, d)), rng.standard_normal(d)
        model = AdaptiveFilter(eta0=eta, epsilon=0.0).partial_fit(X, X @ h)
        distances.append(np.square(model.coef_[:, 0] - h).sum() / np.square(h).sum())
    assert np.log(np.mean(distances)) == pytest.approx(n * np.log1p(-eta * (2.0 - eta) / d), rel=0.04)


@pytest.mark.compiled
def test_a_short_step_down_a_delay_line_is_as_good_as_on_independent_rows():
    """For white signals and steps well below 1, the windows' overlap hardly matters to the rate of NLMS."""
    taps, n, eta = 32, 1600, 0.2
    x, y, h = white(n, taps, seed=1)
    distance = np.square(AdaptiveFilter(n_taps=taps, eta0=eta, epsilon=0.0).fit(x, y).coef_[0] - h).sum() / np.square(h).sum()
    assert np.log(distance) == pytest.approx(n * np.log1p(-eta * (2.0 - eta) / taps), rel=0.15)


@pytest.mark.compiled
def test_lms_has_the_predicted_excess_error():
    """With white input and noise v the mean squared error settles at σ² (1 + eta·taps/(2 - eta·taps))."""
    taps, n, noise = 8, 40_000, 0.5
    x, y, _ = white(n, taps, noise=noise, seed=1)
    for eta in (0.01, 0.05):
        residual = AdaptiveFilter(n_taps=taps, variant="lms", eta0=eta).fit(x, y).residual_
        settled = np.square(residual[n // 4 :]).mean()
        # Independent windows and Gaussian inputs: the step acts as eta (taps + 2)/2 on the second moments.
        predicted = noise**2 * (1.0 + eta * taps / (2.0 - eta * (taps + 2)))
        assert settled == pytest.approx(predicted, rel=0.03)


@pytest.mark.compiled
def test_small_steps_lead_to_the_least_squares_filter():
    """LMS with a small step comes near the least-squares solution on the same windows."""
    taps, n = 4, 60_000
    x, y, _ = white(n, taps, noise=0.3, seed=2)
    windows = np.lib.stride_tricks.sliding_window_view(np.concatenate([np.zeros(taps - 1), x[:, 0]]), taps)[:, ::-1]
    best = np.linalg.lstsq(windows, y)[0]
    for eta, distance in ((0.01, 0.06), (0.0005, 0.012)):
        learnt = AdaptiveFilter(n_taps=taps, variant="lms", eta0=eta).fit(x, y).coef_[0]
        assert np.linalg.norm(learnt - best) < distance


def test_without_noise_the_filter_is_found():
    """A noiseless linear echo is learnt to rounding, by both variants, over several channels."""
    rng = np.random.default_rng(3)
    X, H = rng.standard_normal((600, 2)), rng.standard_normal((2, 3))
    y = sum(np.convolve(X[:, c], H[c])[:600] for c in range(2))
    for model in (AdaptiveFilter(n_taps=3, eta0=1.0), AdaptiveFilter(n_taps=3, variant="lms", eta0=0.1)):
        np.testing.assert_allclose(model.fit(X, y).coef_, H, atol=1e-8)


@pytest.mark.parametrize("scale", [2.0**-60, 2.0**40])
def test_nlms_does_not_depend_on_the_scale_of_the_input(scale):
    """A reference times a power of 2 gives the same residual to the bit, in a fit and in a stream."""
    x, y, _ = white(300, 4, noise=0.1)
    one, other = AdaptiveFilter(n_taps=4).fit(x, y), AdaptiveFilter(n_taps=4).fit(scale * x, y)
    assert np.array_equal(one.residual_, other.residual_)
    assert np.array_equal(one.coef_, scale * other.coef_)
    assert np.array_equal(AdaptiveFilter(n_taps=4).filter(x, y), AdaptiveFilter(n_taps=4).filter(scale * x, y))


@pytest.mark.parametrize("variant", ["nlms", "lms"])
@pytest.mark.parametrize("taps", [1, 5])
def test_the_rule_is_the_textbook_s(variant, taps):
    """The residual is that of the rule written down sample by sample."""
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((80, 2)), rng.standard_normal(80)
    model = AdaptiveFilter(n_taps=taps, variant=variant, eta0=0.05, epsilon=0.1).fit(X, y)
    W, padded, delta = np.zeros((2, taps)), np.vstack([np.zeros((taps - 1, 2)), X]), 0.1 * taps * np.square(X).sum() / 80
    for t in range(80):
        U = padded[t : t + taps][::-1].T
        e = y[t] - (W * U).sum()
        assert model.residual_[t] == pytest.approx(e, abs=1e-12)
        W = W + (0.05 if variant == "lms" else 0.05 / ((U * U).sum() + delta)) * e * U
    np.testing.assert_allclose(model.coef_, W, atol=1e-12)


def test_single_precision_input_gives_the_answer_of_its_values():
    """float32 samples are used as the numbers they are."""
    x, y, _ = white(200, 3, noise=0.1, dtype=np.float32)
    narrow, wide = (AdaptiveFilter(n_taps=3).fit(form, y) for form in (x, x.astype(np.float64)))
    np.testing.assert_allclose(narrow.residual_, wide.residual_, rtol=1e-12, atol=1e-14)
