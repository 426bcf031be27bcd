"""The adaptive filter: Adaline's delta rule on a signal and its delayed copies.

Problem    Predict y_t from the window u_t of the last inputs x_t, x_(t-1), ..., sample by sample, with weights that follow.
Rule       e_t = y_t - w·u_t,   w += mu_t e_t u_t,   where   mu_t = eta  (LMS)   or   mu_t = eta / (‖u_t‖² + delta)  (NLMS).
           delta keeps steps short near silence. It is a number or, where the loudness of the input is not known beforehand,
           running times the mean of ‖u_s‖² over all s <= t; either way it scales with the input, and so does all of NLMS.
           Where the observed signal is louder than any echo could be, |y_t| > threshold max |u_t|, somebody else speaks:
           mu_t = 0 there and for `hangover` samples more (Geigel's detector).
Guarantee  If mu_t ‖u_t‖² <= rho < 2, then for every w*, with A = ‖w* - w_0‖² and B = Σ mu (y - w*·u)², the errors obey
           Σ mu e² <= [(√B + √(B + (2 - rho) A)) / (2 - rho)]²: no signal makes the rule much worse than the best fixed filter
           (proof in `certificates/regression/filtering.py`). For independent isotropic windows without noise, NLMS comes nearer
           to the true filter of D weights by the factor 1 - eta (2 - eta) / D per sample, in the mean square.
Reference  Widrow and Hoff 1960 (LMS); Nagumo and Noda 1967 (NLMS); Cesa-Bianchi, Long and Warmuth 1996 (the bound); Duttweiler
           1978 (Geigel's detector).

A window lies in memory as it lies in the signal, oldest sample first, all channels of a sample together: it is a slice, nothing
is shifted. Invariant: a sample is treated alike wherever the signal is cut into blocks, so blocks give the bits of one go.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy import sparse

from halfspace._dispatch import compiled, compiled_inside
from halfspace._typing import FloatArray, Matrix
from halfspace.solvers.outcome import Reason
from halfspace.solvers.run import Budget, Progress, run

__all__ = [
    "LONGEST",
    "STEEPEST",
    "Filtered",
    "Filtering",
    "Rule",
    "Stream",
    "begin",
    "impulse_response",
    "respond",
    "run_through",
    "take_in",
    "windows_of",
]

SQUARES, SAMPLES, FROZEN, LONGEST, LOUDEST, STEEPEST = range(6)
"""Places in the tally of a stream: Σ ‖u‖², samples so far, samples yet to skip, largest ‖u‖², largest |y|, largest mu ‖u‖²."""
BLOCK = 1 << 22
"""Products of a block of samples: a few milliseconds, after which time, callbacks and Ctrl-C are looked at."""
VANISHING = 1e-290
"""A window whose squared length is below this holds nothing to learn from."""
HOPELESS = 1e6
"""Errors this many times the loudest observation, after a step that overshoots, are those of a filter that blows up."""
OVERFLOWING = 1e100
"""Errors whose squares are about to overflow."""


class Rule(NamedTuple):
    """How far a sample moves the weights: rate, whether divided by ‖u‖², what is added to that, and when not at all."""

    rate: float = 0.5
    normalised: bool = True
    delta: float = 0.0
    threshold: float = np.inf
    hangover: int = 0
    running: float = 0.0


class Stream(NamedTuple):
    """A filter between two samples: its weights (D,), the inputs (n_taps - 1, d) it still needs, and its tally (6,)."""

    weights: Annotated[FloatArray, "f8(_w)"]
    past: Annotated[FloatArray, "f8(_p,d)"]
    tally: Annotated[FloatArray, "f8(6)"]


@compiled_inside
def _somebody_else(threshold: float, y: float, u: FloatArray) -> bool:
    """Tell whether |y| > threshold max |u|; as a rule one of the first samples looked at says no."""
    for j in range(u.size):  # noqa: SIM110  (compiled code knows no generators)
        if threshold * abs(u[j]) >= abs(y):
            return False
    return True


@compiled_inside
def _step(rule: Rule, y: float, u: FloatArray, q: float, tally: FloatArray) -> float:
    """Return mu_t, and bring the tally up to date."""
    tally[SQUARES] += q
    tally[SAMPLES] += 1.0
    tally[LONGEST] = max(tally[LONGEST], q)
    tally[LOUDEST] = max(tally[LOUDEST], abs(y))
    if rule.threshold < np.inf and _somebody_else(rule.threshold, y, u):
        tally[FROZEN] = rule.hangover + 1
    if tally[FROZEN] > 0.0:
        tally[FROZEN] -= 1.0
        return 0.0
    if not rule.normalised:
        return rule.rate
    length = q + rule.delta + rule.running * tally[SQUARES] / tally[SAMPLES]
    return rule.rate / length if length > VANISHING else 0.0


@compiled
def _adapt(rule: Rule, line: FloatArray, d: int, y: FloatArray, stream: Stream, errors: FloatArray, steps: FloatArray) -> bool:
    """Filter a block and learn from it; return whether the filter blew up: its weights are then 0 and it learns no more."""
    w = stream.weights
    blown = False
    for t in range(y.size):
        u = line[t * d : t * d + w.size]
        output, q = 0.0, 0.0
        for j in range(w.size):
            output += w[j] * u[j]
            q += u[j] * u[j]
        e = y[t] - output
        mu = _step(rule, y[t], u, q, stream.tally)
        if blown or not abs(e) <= OVERFLOWING or (mu * q > 2.0 and abs(e) > HOPELESS * stream.tally[LOUDEST]):
            blown, e, mu = True, y[t], 0.0
            w[:] = 0.0
        errors[t], steps[t] = e, mu
        if mu > 0.0:
            stream.tally[STEEPEST] = max(stream.tally[STEEPEST], mu * q)
            for j in range(w.size):
                w[j] += mu * e * u[j]
    return blown


@compiled
def _respond(line: FloatArray, d: int, w: FloatArray, out: FloatArray) -> None:
    """Write w·u_t for every window of a block."""
    for t in range(out.size):
        u = line[t * d : t * d + w.size]
        output = 0.0
        for j in range(w.size):
            output += w[j] * u[j]
        out[t] = output


def begin(n_taps: int, d: int) -> Stream:
    """Return a filter of zeros before the first sample of d channels, silence behind it."""
    return Stream(np.zeros(n_taps * d), np.zeros((n_taps - 1, d)), np.zeros(6))


def impulse_response(weights: FloatArray, d: int) -> FloatArray:
    """Return weights in the order of a window as the answers (d, n_taps) to a click in each channel."""
    return np.ascontiguousarray(weights.reshape(-1, d)[::-1].T)


def windows_of(past: FloatArray, block: Matrix) -> tuple[FloatArray, FloatArray]:
    """Return a block of inputs (m, d) behind those before it as one line of floats, and the past of the next block."""
    rows: Any = block.toarray() if sparse.issparse(block) else block
    joined = np.concatenate([past, rows.astype(np.float64, copy=False)])
    return joined.ravel(), joined[joined.shape[0] - past.shape[0] :].copy()


def take_in(rule: Rule, stream: Stream, X: Matrix, y: FloatArray) -> tuple[Stream, FloatArray, FloatArray, bool]:
    """Filter the next samples X (m, d), y (m,); return stream, errors (m,), steps (m,), and whether the filter blew up."""
    line, past = windows_of(stream.past, X)
    after = Stream(stream.weights.copy(), past, stream.tally.copy())
    errors, steps = np.empty(y.size), np.empty(y.size)
    blown = _adapt(rule, line, X.shape[1], y, after, errors, steps)
    return after, errors, steps, bool(blown)


def block_of(stream: Stream) -> int:
    """Return how many samples make a block."""
    return max(1, BLOCK // stream.weights.size)


@dataclass
class Filtered:
    """What came of signals: the stream after them, errors and steps (n,) of the samples done, and why it stopped."""

    stream: Stream
    all_errors: FloatArray
    all_steps: FloatArray
    done: int = 0
    blown: bool = False
    reason: Reason = "passes done"

    @property
    def errors(self) -> FloatArray:
        """Errors of the samples done."""
        return self.all_errors[: self.done]

    @property
    def steps(self) -> FloatArray:
        """Steps of the samples done."""
        return self.all_steps[: self.done]

    def course(self, y: FloatArray, pieces: int) -> dict[str, Any]:
        """Return the mean squares of y (m,) and of the errors, and the share of samples not learnt from, piece by piece."""
        n = self.done
        cuts = np.unique(np.linspace(0, n, min(n, pieces) + 1).astype(np.int64))
        parts = {"observed": np.square(y[:n]), "residual": np.square(self.errors), "frozen": (self.steps == 0.0).astype(float)}
        return {"sample": cuts[1:], **{k: np.add.reduceat(part, cuts[:-1]) / np.diff(cuts) for k, part in parts.items()}}


@dataclass(frozen=True)
class Filtering:
    """The filter as a method of the driver: a round is a block of samples, and every sample is seen once."""

    rule: Rule
    X: Matrix
    y: FloatArray
    claim: Callable[[Filtered], Any] = lambda _: None
    """Makes the certificate."""
    unit: str = "block"
    columns: tuple[str, ...] = ("sample",)

    def start(self, before: Stream | None = None) -> Filtered:
        """Go on with a stream, which stays as it is, or begin with a filter of one tap."""
        return Filtered(begin(1, self.X.shape[1]) if before is None else before, np.empty(self.y.size), np.empty(self.y.size))

    def step(self, state: Filtered, most: int) -> tuple[Any, ...]:
        """Filter a block of samples and learn from it."""
        del most
        part = slice(state.done, state.done + block_of(state.stream))
        after, errors, steps, blown = take_in(self.rule, state.stream, self.X[part], self.y[part])
        state.all_errors[part], state.all_steps[part] = errors, steps
        state.stream, state.blown, state.done = after, state.blown or blown, state.done + errors.size
        return (np.array([state.done]),)

    def status(self, state: Filtered) -> Reason | None:
        """Tell whether all samples were seen."""
        return "passes done" if state.done == self.y.size else None

    def certify(self, state: Filtered) -> Any:
        """Return the proof."""
        return self.claim(state)


def run_through(
    method: Filtering, stream: Stream, budget: Budget | None = None, watch: Callable[[Progress], bool] | None = None
) -> Filtered:
    """Filter and learn from signals until they end, a limit is reached, or the user interrupts."""
    end = run(method, (budget or Budget(1))._replace(max_iter=method.y.size + 1), method.start(stream), watch)
    filtered: Filtered = end.state
    filtered.reason = end.outcome.reason
    return filtered


def respond(weights: FloatArray, n_taps: int, X: Matrix) -> FloatArray:
    """Return the outputs (n,) of fixed weights for inputs X (n, d) with silence before them."""
    n, d = X.shape
    out, past, step = np.empty(n), np.zeros((n_taps - 1, d)), max(1, BLOCK // weights.size)
    for first in range(0, n, step):
        line, past = windows_of(past, X[first : first + step])
        _respond(line, d, weights, out[first : first + step])
    return out
