"""The adaptive filter, and how much of an echo it takes away."""

import time
import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from halfspace._matrices import admitted
from halfspace._typing import FloatArray, Matrix
from halfspace.certificates.regression.filtering import FilterBound, FilterRun
from halfspace.errors import InputError
from halfspace.models.certified import Certified
from halfspace.models.parameters import (
    UNLABELLED,
    budget_of,
    check_common,
    read_matrix,
    require,
    require_choice,
    require_number,
    restored_on_error,
    usable_rows,
)
from halfspace.models.progress import Reporter
from halfspace.solvers.linear.adaptive_filter import (
    LONGEST,
    STEEPEST,
    Filtered,
    Filtering,
    Rule,
    Stream,
    begin,
    block_of,
    impulse_response,
    respond,
    run_through,
)
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.run import Budget, Progress

__all__ = ["AdaptiveFilter", "erle"]

LOUDEST = 1e70
"""Largest target: beyond, sums of squares could overflow."""
SILENCE = 1e-8
"""Power, relative to the mean, below which a stretch of a signal counts as silent."""


class AdaptiveFilter(Certified, RegressorMixin, CallbackSupportMixin, BaseEstimator):
    """Adaline's delta rule on a stream: predict each sample from the last inputs, then learn from the error (LMS, NLMS).

    Every column of X is a channel, every row a sample in time; the prediction is made of the last `n_taps` rows. With one tap
    the rows need not be a signal: the model is then linear regression by the delta rule, one pass in the order given.
    Nothing is added for the constant: append a column of ones where one is needed.

    Parameters
    ----------
    n_taps : int, default 1
        How many rows, the present one included, the output depends on: for an echo, its length in samples.
    variant : {"nlms", "lms"}, default "nlms"
        Steps divided by the squared length of the window, which makes them safe at any loudness, or plain ones.
    eta0 : float, default 0.5
        Step. NLMS: 0 < eta0 < 2, fastest at 1, more precise below. LMS: safe up to 1/max ‖window‖².
    epsilon : float, default 0.01
        NLMS: added to the squared length of the window, in units of its mean, lest steps are huge near silence.
    power : float, optional
        The mean squared length of a row of X, for that mean. None: a fit measures it on X, and a stream after a fit keeps it;
        a stream without a fit takes the mean so far, which knows little at first.
    double_talk : float, optional
        Do not learn where `|y| > double_talk · max |window|`: no echo is that loud, so somebody speaks (Geigel). A bound on
        the gain of the echo path, 0.5 where the echo is at least 6 dB weaker than the reference. None: always learn.
    hangover : int, default 240
        Samples for which learning stays off after double talk.
    max_time : float, optional
        Time limit in seconds of a fit.
    verbose : int, default 0
        1: a line every half second; 2: a line every block.

    Attributes
    ----------
    coef_ : ndarray, shape (d, n_taps)
        The impulse response from each channel: `coef_[c, k]` weighs X[t - k, c].
    residual_ : ndarray, shape (n,)
        What was left of y in the last call, each error made before its sample was learnt from.
    certificate_ : FilterBound or None
        Of a fit: the errors made while learning and the most the theorem allows; None where steps were too long for it.
    outcome_ : Outcome
        How much of y is left, or that the filter blew up and which step is safe.
    history_ : dict
        Of a fit, up to 100 pieces: their last `sample`, the mean squares `observed` and `residual`, and the share `frozen`.
    power_ : float or None
        The mean squared length of a row that `epsilon` is relative to; None: the mean so far.
    n_iter_ : int
        Passes over the data: 1.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from halfspace import AdaptiveFilter
    >>> x = np.random.default_rng(0).normal(size=2000)
    >>> echo = np.convolve(x, [0.5, 0.0, -0.25])[:2000]
    >>> canceller = AdaptiveFilter(n_taps=3).fit(x[:, None], echo)
    >>> canceller.coef_.round(6).tolist() == [[0.5, 0.0, -0.25]], bool(canceller.certificate_.verify(x[:, None], echo))
    (True, True)
    """

    learnt: ClassVar[dict[str, Any]] = {
        **UNLABELLED,
        "?certificate_": "none | certificate",
        "power_": "none | number",
        "residual_": "f8(n)",
        "_stream": Stream,
    }

    def __init__(
        self,
        *,
        n_taps: int = 1,
        variant: str = "nlms",
        eta0: float = 0.5,
        epsilon: float = 0.01,
        power: float | None = None,
        double_talk: float | None = None,
        hangover: int = 240,
        max_time: float | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_taps = n_taps
        self.variant = variant
        self.eta0 = eta0
        self.epsilon = epsilon
        self.power = power
        self.double_talk = double_talk
        self.hangover = hangover
        self.max_time = max_time
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Say that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @with_callbacks
    def fit(self, X: Matrix, y: FloatArray) -> Self:
        """Begin with a filter of zeros, silence before the first sample, and go through the signals once.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Inputs: the reference signal as one column, several channels, or rows of any kind if n_taps is 1.
        y : array, shape (n,)
            What is observed.

        Returns
        -------
        self
            If stopped by max_time, a callback or Ctrl-C, with what was learnt by then; `outcome_` says how far it came.
        """
        with restored_on_error(self):
            began = time.perf_counter()
            self._check_parameters()
            X, y, power = self._read(X, y, reset=True)
            self.power_: float | None = power if self.power is None else float(self.power)
            return self._fit(X, y, budget_of(self, began, X.size * int(self.n_taps)))

    def partial_fit(self, X: Matrix, y: FloatArray) -> Self:
        """Go on with the next samples; any cut of a signal into blocks gives the same bits as one go.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            The next inputs.
        y : array, shape (n,)
            The next observations. A certificate and a history of an earlier fit are removed: they are about that fit.
        """
        with restored_on_error(self):
            self._check_parameters()
            known = hasattr(self, "_stream")
            X, y, _ = self._read(X, y, reset=not known)
            stream = self._stream if known else begin(int(self.n_taps), X.shape[1])
            self.power_ = self.power_ if known else self.power
            run = run_through(Filtering(self._rule(), X, y), stream)
            if run.reason == "interrupted":
                raise KeyboardInterrupt
            for name in {"certificate_", "history_"} & vars(self).keys():
                delattr(self, name)
            self._conclude(run, y)
            return self

    def filter(self, X: Matrix, y: FloatArray) -> FloatArray:
        """Go on with the next samples and return what is left of y: an echo canceller at work.

        Parameters
        ----------
        X : array, shape (n,) or (n, d)
            The next samples of the reference, or of several.
        y : array, shape (n,)
            The next samples observed, such as a microphone's.

        Returns
        -------
        ndarray, shape (n,)
            y minus the prediction, each made before its sample was learnt from.
        """
        X = np.asarray(X)[:, None] if np.ndim(X) == 1 else X
        return self.partial_fit(X, y).residual_

    def predict(self, X: Matrix) -> FloatArray:
        """Return the output of the filter as it is, for inputs with silence before them.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Inputs; the predictions returned have shape (n,).
        """
        check_is_fitted(self)
        X = read_matrix(self, X, reset=False)
        usable_rows(X, 0.0, type(self).__name__)
        return respond(self._stream.weights, self._stream.past.shape[0] + 1, X)

    @property
    def coef_(self) -> FloatArray:
        """The impulse response from each channel, shape (d, n_taps)."""
        return impulse_response(self._stream.weights, self.n_features_in_)

    def _check_parameters(self) -> None:
        check_common(self)
        for name, least in (("n_taps", 1), ("hangover", 0)):
            value = getattr(self, name)
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            require(self, name, f"a whole number >= {least}", holds=whole and least <= int(value) < 2**31)
        require_choice(self, "variant", "nlms", "lms")
        require_number(self, "eta0")
        if self.variant == "nlms":
            require(self, "eta0", "a number between 0 and 2 for NLMS: longer steps blow up", holds=float(self.eta0) < 2.0)
        require_number(self, "epsilon", least=0.0)
        for name in ("double_talk", "power"):
            if getattr(self, name) is not None:
                require_number(self, name)

    def _read(self, X: Matrix, y: FloatArray, *, reset: bool) -> tuple[Matrix, FloatArray, float]:
        """Check the signals, and that a stream goes on with the taps it began with; return them and the power of X."""
        owner = type(self).__name__
        X, y = read_matrix(self, X, None if y is None else admitted(y, owner, "y"), reset=reset)
        _, q = usable_rows(X, 0.0, owner)
        try:
            y = np.ascontiguousarray(y, dtype=np.float64)
        except (TypeError, ValueError) as error:
            msg = f"{owner}: y must hold numbers, one per row of X: {error}."
            raise InputError(msg) from error
        if not np.abs(y).max() < LOUDEST:
            msg = f"{owner}: y holds values of {LOUDEST:g} and more, whose squares overflow in sums. Scale it down."
            raise InputError(msg)
        if not reset and self._stream.weights.size != int(self.n_taps) * X.shape[1]:
            msg = f"{owner}: the stream began with another n_taps than {self.n_taps}. Call fit to begin anew."
            raise InputError(msg)
        return X, y, float(q.mean())

    def _rule(self) -> Rule:
        """Return the rule in numbers."""
        threshold = np.inf if self.double_talk is None else float(self.double_talk)
        rule = Rule(float(self.eta0), self.variant == "nlms", 0.0, threshold, int(self.hangover))
        if self.power_ is None:
            return rule._replace(running=float(self.epsilon))
        return rule._replace(delta=float(self.epsilon) * int(self.n_taps) * self.power_)

    def _fit(self, X: Matrix, y: FloatArray, budget: Budget) -> Self:
        """Go through checked signals, watched by the clock and the callbacks."""
        self._stream = begin(int(self.n_taps), X.shape[1])
        method = Filtering(self._rule(), X, y, lambda filtered: self._certified(X, y, filtered))
        blocks = -(-y.size // block_of(self._stream))

        def text(at: Progress) -> str:
            self._stream = at.state.stream
            return f"{at.state.done:,} of {y.size:,} samples, {at.seconds:.1f} s"

        so_far = lambda: {"_stream": self._stream, "n_features_in_": X.shape[1]}  # noqa: E731
        reporter = Reporter(self, X, y, so_far, blocks, text)
        filtered = run_through(method, self._stream, budget, reporter.watch)
        if not filtered.done:
            raise KeyboardInterrupt
        self._conclude(filtered, y)
        self.history_ = filtered.course(y, 100)
        self.certificate_ = method.certify(filtered)
        reporter.line(str(self.outcome_))
        reporter.close()
        return self

    def _conclude(self, run: Filtered, y: FloatArray) -> None:
        """Store what was learnt and how it went; say aloud if the filter blew up."""
        self._stream, self.residual_, self.n_iter_ = run.stream, run.errors, 1
        self.outcome_ = _explained(run, y, self._rule())
        if self.outcome_.reason == "diverged":
            warnings.warn(f"{type(self).__name__}: {self.outcome_}", ConvergenceWarning, stacklevel=5)

    def _certified(self, X: Matrix, y: FloatArray, run: Filtered) -> FilterBound | None:
        """Return the proof of a fit; None if a step was too long for the theorem."""
        done, steepest = run.errors.size, float(run.stream.tally[STEEPEST])
        if run.blown or steepest >= 2.0:
            return None
        y, e, mu = y[:done], run.errors, run.steps
        v = y - respond(run.stream.weights, int(self.n_taps), X[:done])
        rule = self._rule()._asdict()
        del rule["running"]  # of streams, which have no certificate
        return FilterBound.of(FilterRun.of(e, v, y, mu, steepest), self.coef_, done, **rule)

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse a filter of another length than its memory."""
        stream = fitted["_stream"]
        if stream.weights.size != sizes["d"] * (stream.past.shape[0] + 1):
            raise ValueError("AdaptiveFilter: its weights are not one for each input and delay")


def _explained(run: Filtered, y: FloatArray, rule: Rule) -> Outcome:
    """Say how much a run of a filter left of y (n,), and what to do if it made it worse."""
    done, longest = run.errors.size, float(run.stream.tally[LONGEST])
    left, whole = float(np.square(run.errors).sum()), float(np.square(y[:done]).sum())
    unsafe = not rule.normalised and rule.rate * longest > 2.0
    if run.blown or (unsafe and left > whole):
        fate = ", and the filter was set back to zeros" if run.blown else ""
        safe = (
            f"Use eta0={1.0 / longest:.3g}, which is safe for these signals, or variant='nlms'."
            if unsafe and longest < 1e50
            else ""
        )
        sentence = f"Diverged: eta0={rule.rate:g} is too long a step where ‖window‖² reaches {longest:.3g}{fate}."
        return Outcome("diverged", sentence, safe or "Scale the signals to numbers around 1.")
    sentence = f"{done:,} samples, each seen once; {_compared(whole, left)}."
    if run.reason == "passes done":
        return Outcome("passes done", sentence)
    remedy = f"Go on with partial_fit(X[{done}:], y[{done}:])."
    return Outcome(run.reason, f"Stopped after {done:,} of {y.size:,} samples ({run.reason}): {sentence}", remedy)


def _compared(whole: float, left: float) -> str:
    """Say how the energy that is left of a signal compares with the whole."""
    if whole == 0.0 or left == 0.0:
        return "y is silent" if whole == 0.0 else "nothing of y is left"
    level = 10.0 * np.log10(whole / left)
    return f"what is left of y is {abs(level):.1f} dB {'weaker' if level >= 0 else 'louder'} than y"


def erle(observed: FloatArray, residual: FloatArray, window: int) -> FloatArray:
    """Echo return loss enhancement in decibels, 10 log10(mean y² / mean e²), window by window.

    Parameters
    ----------
    observed : ndarray, shape (n,)
        The signal with the echo.
    residual : ndarray, shape (n,)
        What the canceller left of it.
    window : int
        Samples per window; the last one takes what remains.

    Returns
    -------
    ndarray, shape (ceil(n / window),)
        NaN where the observed signal is silent (80 dB below its mean power), infinite where nothing is left of it.

    Examples
    --------
    >>> erle(np.array([1.0, -1.0, 0.0, 0.0]), np.array([0.1, 0.1, 0.0, 0.0]), 2).round(6).tolist()
    [20.0, nan]
    """
    observed, residual = np.asarray(observed, dtype=np.float64), np.asarray(residual, dtype=np.float64)
    if observed.ndim != 1 or observed.shape != residual.shape or observed.size == 0:
        shapes = f"{observed.shape} and {residual.shape}"
        msg = f"erle compares two signals of the same length; got shapes {shapes}. Pass 1-d arrays, sample for sample."
        raise InputError(msg)
    if not isinstance(window, int | np.integer) or window < 1:
        msg = f"erle: window must be a whole number of samples >= 1. Got {window!r} instead."
        raise InputError(msg)
    starts = np.arange(0, observed.size, int(window))
    count = np.diff(np.append(starts, observed.size))
    before, after = (np.add.reduceat(np.square(part), starts) / count for part in (observed, residual))
    silent = before <= SILENCE * np.square(observed).mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        level: FloatArray = 10.0 * np.log10(before / after)
    level[silent] = np.nan
    return level
