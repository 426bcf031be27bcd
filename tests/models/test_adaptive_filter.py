"""The adaptive filter: streams in blocks, double talk, divergence, budgets, and what it says."""

import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.callback import ProgressBar
from sklearn.exceptions import ConvergenceWarning

from halfspace.errors import InputError
from halfspace.models.regression.adaptive_filter import AdaptiveFilter, erle
from halfspace.plots import EchoDisplay
from halfspace.solvers.linear import adaptive_filter as solver

OPTIONS = {
    "nlms": {},
    "lms": {"variant": "lms", "eta0": 0.02},
    "double talk": {"double_talk": 1.0, "hangover": 7},
    "known power": {"power": 2.0},
}


def call(n=400, taps=6, seed=0):
    """Return a far signal, and an echo of it with a little noise."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    return x, np.convolve(x, 0.5 * rng.standard_normal(taps))[:n] + 0.01 * rng.standard_normal(n)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_blocks_give_the_bits_of_one_go(options, monkeypatch):
    """A stream cut anywhere, even sample by sample, and a fit in inner blocks of any size give the same bits."""
    x, y = call()
    whole = AdaptiveFilter(n_taps=6, **options)
    residual = whole.filter(x, y)
    for cuts in ([1, 2, 3, 200], [5, 37], range(1, 90)):
        part = AdaptiveFilter(n_taps=6, **options)
        pieces = [part.filter(a, b) for a, b in zip(np.split(x, cuts), np.split(y, cuts), strict=True)]
        assert np.array_equal(np.concatenate(pieces), residual)
        assert np.array_equal(part.coef_, whole.coef_)
    fitted = AdaptiveFilter(n_taps=6, **options).fit(x[:, None], y)
    monkeypatch.setattr(solver, "BLOCK", 60)
    again = AdaptiveFilter(n_taps=6, **options).fit(x[:, None], y)
    assert np.array_equal(fitted.residual_, again.residual_)
    assert np.array_equal(fitted.predict(x[:, None]), again.predict(x[:, None]))


def test_a_stream_after_a_fit_goes_on_with_it():
    """A fit on the first half and a stream on the second equal one fit with the power of the first half."""
    x, y = call()
    halves = AdaptiveFilter(n_taps=6).fit(x[:200, None], y[:200])
    second = halves.filter(x[200:], y[200:])
    one = AdaptiveFilter(n_taps=6, power=halves.power_).fit(x[:, None], y)
    assert np.array_equal(second, one.residual_[200:])
    assert not hasattr(halves, "certificate_")


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_certificate_of_a_fit_holds(options):
    """What the compiled run claims, the replay in NumPy confirms, and not for another signal."""
    x, y = call()
    proof = AdaptiveFilter(n_taps=6, **options).fit(x[:, None], y).certificate_
    assert proof.verify(x[:, None], y), str(proof.verify(x[:, None], y))
    assert not proof.verify(x[:, None], np.roll(y, 1))


def test_sparse_rows_give_the_answer_of_dense_ones():
    """With one tap the rows may be sparse; so may the channels of a signal."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 5)) * (rng.random((200, 5)) < 0.3)
    y = X @ np.arange(5.0)
    for taps in (1, 3):
        dense, other = (AdaptiveFilter(n_taps=taps).fit(form, y) for form in (X, sparse.csr_array(X)))
        assert np.array_equal(dense.residual_, other.residual_)
        assert np.array_equal(dense.predict(X), other.predict(sparse.csr_array(X)))
        assert other.certificate_.verify(sparse.csr_array(X), y)


def test_predict_is_a_convolution_with_the_coefficients():
    """The output is the impulse response applied to the inputs, with silence before them."""
    x, y = call()
    model = AdaptiveFilter(n_taps=6).fit(x[:, None], y)
    np.testing.assert_allclose(model.predict(x[:, None]), np.convolve(x, model.coef_[0])[:400], atol=1e-12)


def test_near_speech_freezes_the_filter():
    """With double-talk control a voice at the near end does not change a weight, and for the hangover after it neither."""
    x, y = call(600)
    y[300:400] += 50.0
    careful = AdaptiveFilter(n_taps=6, double_talk=5.0, hangover=20)
    careful.filter(x[:300], y[:300])
    before = careful.coef_
    careful.filter(x[300:420], y[300:420])
    assert np.array_equal(careful.coef_, before)
    careful.filter(x[420:], y[420:])
    assert not np.array_equal(careful.coef_, before)
    fitted = careful.fit(x[:, None], y)
    assert fitted.history_["frozen"].sum() * 6 == pytest.approx(120)
    assert fitted.certificate_.verify(x[:, None], y)


@pytest.mark.parametrize("eta", [2.0, 50.0], ids=["slowly", "at once"])
def test_a_step_too_long_is_said_with_a_safe_one(eta):
    """LMS that blows up warns, is set back to zeros, claims nothing, and names a step that works."""
    x, y = call()
    with pytest.warns(ConvergenceWarning, match="Diverged"):
        model = AdaptiveFilter(n_taps=6, variant="lms", eta0=eta).fit(x[:, None], y)
    assert model.outcome_.reason == "diverged"
    assert model.certificate_ is None
    assert np.isfinite(model.residual_).all()
    assert not model.coef_.any()
    safe = float(model.outcome_.remedy.split("eta0=")[1].split(",")[0])
    again = AdaptiveFilter(n_taps=6, variant="lms", eta0=safe).fit(x[:, None], y)
    assert again.outcome_.reason == "passes done"
    assert np.square(again.residual_).sum() < 0.5 * np.square(y).sum()


def test_silence_and_nothing_to_learn():
    """Silent signals are no trouble: nothing is learnt, and the outcome says what there was."""
    x, y = call()
    silent = AdaptiveFilter(n_taps=4).fit(np.zeros((400, 1)), y)
    assert not silent.coef_.any()
    assert np.array_equal(silent.residual_, y)
    assert silent.certificate_.verify(np.zeros((400, 1)), y)
    assert "silent" in str(AdaptiveFilter(n_taps=4).fit(x[:, None], np.zeros(400)).outcome_)


def test_a_fade_in_under_noise_does_no_harm():
    """A fit knows how loud the reference will be, so noise over its first whisper does not spoil the weights."""
    x, y = call(2000)
    x = x * np.clip(np.arange(2000) / 400 - 0.5, 1e-6, 1.0)
    y = np.convolve(x, [0.5, 0.2])[:2000] + 0.001 * np.random.default_rng(0).standard_normal(2000)
    assert np.abs(AdaptiveFilter(n_taps=6).fit(x[:, None], y).coef_).max() < 1.0


class Clock:
    """A clock that advances an hour at every look."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 3600.0
        return self.now


def test_a_fit_out_of_time_says_how_far_it_came(monkeypatch):
    """The part done is kept, certified, and can be gone on with."""
    x, y = call()
    monkeypatch.setattr(solver, "BLOCK", 600)
    monkeypatch.setattr(time, "perf_counter", Clock())
    model = AdaptiveFilter(n_taps=6, max_time=1.0).fit(x[:, None], y)
    assert model.outcome_.reason == "time budget spent"
    assert model.residual_.size == 100
    assert "partial_fit(X[100:], y[100:])" in model.outcome_.remedy
    assert model.certificate_.verify(x[:, None], y)


def test_interrupted_it_keeps_whole_blocks(monkeypatch):
    """Ctrl-C in a fit keeps the blocks done; in a stream it leaves the model as it was."""
    x, y = call()
    monkeypatch.setattr(solver, "BLOCK", 600)
    plain, calls = solver.take_in, []

    def third_fails(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return plain(*arguments)

    monkeypatch.setattr(solver, "take_in", third_fails)
    model = AdaptiveFilter(n_taps=6).fit(x[:, None], y)
    assert model.outcome_.reason == "interrupted"
    assert model.residual_.size == 200
    assert model.certificate_.verify(x[:, None], y)
    calls.clear()
    before = model.coef_
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(x[:, None], y)
    assert np.array_equal(model.coef_, before)


def test_progress_is_told(monkeypatch, capsys):
    """`verbose=2` writes a line per block and the outcome; scikit-learn's progress bar works."""
    x, y = call()
    monkeypatch.setattr(solver, "BLOCK", 1200)
    AdaptiveFilter(n_taps=6, verbose=2).fit(x[:, None], y)
    told = capsys.readouterr().err
    assert "200 of 400 samples" in told
    assert "weaker than y" in told
    pytest.importorskip("rich")
    AdaptiveFilter(n_taps=6).set_callbacks(ProgressBar()).fit(x[:, None], y)


BAD = [
    ({"n_taps": 0}, "n_taps"),
    ({"n_taps": 2.0}, "n_taps"),
    ({"variant": "rls"}, "variant"),
    ({"eta0": 2.0}, "between 0 and 2"),
    ({"eta0": -1.0, "variant": "lms"}, "eta0"),
    ({"epsilon": -0.1}, "epsilon"),
    ({"power": 0.0}, "power"),
    ({"double_talk": 0.0}, "double_talk"),
    ({"hangover": -1}, "hangover"),
    ({"max_time": 0}, "max_time"),
]


@pytest.mark.parametrize(("options", "word"), BAD, ids=[str(options) for options, _ in BAD])
def test_bad_parameters_are_refused(options, word):
    """A parameter out of range is refused by name, with what is expected."""
    with pytest.raises(InputError, match=word):
        AdaptiveFilter(**options).fit([[1.0], [2.0]], [1.0, 2.0])


def test_bad_signals_are_refused_and_change_nothing():
    """Text, overflowing targets, a changed number of taps: refused, and the model stays as it was."""
    x, y = call()
    model = AdaptiveFilter(n_taps=6).fit(x[:, None], y)
    before = model.coef_
    with pytest.raises(InputError, match="must hold numbers"):
        model.fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(InputError, match="overflow"):
        model.partial_fit([[1.0]], [1e80])
    with pytest.raises(ValueError, match="NaN"):
        model.filter(np.array([np.nan]), np.array([1.0]))
    with pytest.raises(InputError, match="another n_taps"):
        model.set_params(n_taps=7).partial_fit(x[:, None], y)
    assert np.array_equal(model.coef_, before)


def test_erle_measures_decibels_and_refuses_nonsense():
    """A tenth of the amplitude is 20 dB; silence has no level; an empty residual is infinitely good."""
    y = np.concatenate([np.ones(10), np.zeros(10), np.ones(5)])
    e = np.concatenate([np.full(10, 0.1), np.full(10, 0.1), np.zeros(5)])
    np.testing.assert_allclose(erle(y, e, 10), [20.0, np.nan, np.inf])
    for arguments in ((y, e[:5], 10), (y[:, None], e[:, None], 10), (y, e, 0), (y, e, 2.5), (y[:0], e[:0], 1)):
        with pytest.raises(InputError, match="erle"):
            erle(*arguments)


def test_the_display_draws_a_curve_per_canceller():
    """The picture has one named curve for each residual, in seconds if the rate is known."""
    plt = pytest.importorskip("matplotlib.pyplot")
    x, y = call()
    left = {name: AdaptiveFilter(n_taps=6, **options).filter(x, y) for name, options in OPTIONS.items()}
    display = EchoDisplay.from_signals(y, left, window=50, rate=100.0, ax=plt.figure().subplots())
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == list(OPTIONS)
    assert display.ax_.get_xlabel() == "seconds"
    assert display.time.max() == pytest.approx(3.75)
    plt.close(display.figure_)
    with pytest.raises(InputError, match="dictionary"):
        EchoDisplay.from_signals(y, y, window=50)
