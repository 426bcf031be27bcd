# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
Taking an echo out of a telephone call
======================================

The far speaker's voice comes out of a loudspeaker, travels through the room and returns through the microphone: an echo. A
filter that knows the far signal can learn the room, predict the echo and subtract it. It is Adaline, with the last 256
samples of the far signal as inputs: the *adaptive filter* of Widrow and Hoff (1960), which still sits in every telephone.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import signal

import halfspace as hs
from halfspace.plots import EchoDisplay

rng = np.random.default_rng(0)
RATE, SECONDS, TAPS = 8000, 24, 256
n = RATE * SECONDS

# %%
# Speech, of a kind
# -----------------
# A voice is a train of pulses at the pitch, sent through the resonances of mouth and throat, in syllables with pauses between.
# Each syllable here has a pitch and two resonances of its own; no words, but the ups and downs, and the strong correlation from
# sample to sample, that make real speech hard for a filter.


def voice(n, pitch):
    """Return n samples of synthetic syllables."""
    out, at = np.zeros(n), 0
    while at < n:
        length = int(RATE * rng.uniform(0.12, 0.35))
        pulses = rng.normal(scale=0.1, size=length)
        pulses[:: int(RATE / (pitch * rng.uniform(0.8, 1.2)))] += 1.0
        for centre in (rng.uniform(300, 800), rng.uniform(900, 2400)):
            radius, angle = 0.95, 2 * np.pi * centre / RATE
            pulses = signal.lfilter([1.0], [1.0, -2 * radius * np.cos(angle), radius**2], pulses)
        end = min(at + length, n)
        out[at:end] = (pulses / np.abs(pulses).max() * np.hanning(length))[: end - at]
        at = end + int(RATE * rng.uniform(0.0, 0.12))
    return out


def room(decay):
    """Return the echo path: 32 ms of random reflections that die away."""
    path = rng.normal(size=TAPS) * np.exp(-np.arange(TAPS) / decay)
    path[:12] = 0.0  # the way to the nearest wall
    return 0.5 * path / np.abs(path).sum()


far = voice(n, 120)
first, second = room(40.0), room(60.0)
moved = 16 * RATE
echo = np.concatenate([np.convolve(far, path)[:n][part] for path, part in ((first, slice(moved)), (second, slice(moved, n)))])
near = np.zeros(n)
talk = slice(8 * RATE, 11 * RATE)
near[talk] = 0.7 * voice(talk.stop - talk.start, 210)
microphone = echo + near + 3e-5 * rng.normal(size=n)

fig, axes = plt.subplots(3, 1, sharex=True, figsize=(8, 4.5), layout="constrained")
for axis, (name, sound) in zip(axes, {"far": far, "near": near, "microphone": microphone}.items(), strict=True):
    axis.plot(np.arange(n) / RATE, sound, linewidth=0.3, color="black")
    axis.set_ylabel(name)
axes[-1].set_xlabel("seconds")

# %%
# Three cancellers
# ----------------
# LMS takes steps of one size: safe where the voice is loudest means slow everywhere else. The normalised rule divides by the
# energy in its window and learns at any loudness. Both are thrown off when somebody at the near end speaks (from 8 s to 11 s):
# they take that voice for an error of their own. The third one stops learning then: the echo in this room is hardly ever louder
# than a tenth of the loudest far sample in the window, so what is louder is a person (Geigel's detector). Learning is off for a
# quarter of the time: too often, at the ends of syllables, but that costs little.

loudest = np.convolve(far**2, np.ones(TAPS))[:n].max()
cancellers = {
    "LMS": hs.AdaptiveFilter(n_taps=TAPS, variant="lms", eta0=1.0 / loudest),
    "NLMS": hs.AdaptiveFilter(n_taps=TAPS),
    "NLMS with double-talk control": hs.AdaptiveFilter(n_taps=TAPS, double_talk=0.1),
}
left, stretches = {}, {"before": (4, 8), "during": (8.5, 11), "just after": (11, 12), "room changed": (16, 17), "end": (22, 24)}
print(f"{'echo return loss enhancement / dB':32s}" + "".join(f"{name:>14s}" for name in stretches))
gain = {}
for name, canceller in cancellers.items():
    residual = canceller.fit(far[:, None], microphone).residual_
    left[name] = residual - near  # what remains of the echo; in a real call only the far end could tell
    for stretch, (begin, end) in stretches.items():
        part = slice(int(begin * RATE), int(end * RATE))
        gain[name, stretch] = hs.erle(echo[part], left[name][part], part.stop - part.start)[0]
    print(f"{name:32s}" + "".join(f"{gain[name, stretch]:14.1f}" for stretch in stretches))

display = EchoDisplay.from_signals(
    echo, left, window=RATE // 4, rate=RATE, ax=plt.subplots(figsize=(8, 3.6), layout="constrained")[1]
)
display.ax_.axvspan(8, 11, color="black", alpha=0.08, linewidth=0)
display.ax_.axvline(16, color="black", linestyle=":")
display.ax_.text(9.5, display.ax_.get_ylim()[0], "double talk", ha="center", va="bottom", fontsize=8)
display.ax_.text(16.1, display.ax_.get_ylim()[0], "the room changes", va="bottom", fontsize=8)

controlled = "NLMS with double-talk control"
assert gain["NLMS", "before"] > gain["LMS", "before"]
assert gain[controlled, "during"] > gain["NLMS", "during"] + 15.0
assert gain[controlled, "just after"] > 20.0
assert gain[controlled, "end"] > 25.0

# %%
# What it has learnt, and what is proved
# --------------------------------------
# The weights are the impulse response of the room. The theorem behind the certificate holds for every signal there could be:
# the errors made while learning, weighted by the steps, are at most so large, given what the final filter leaves unexplained.
# The checker runs the filter again, in NumPy, and compares.

canceller = cancellers[controlled]
fig, axis = plt.subplots(figsize=(8, 2.8), layout="constrained")
axis.plot(second, color="black", linewidth=0.8, label="the room")
axis.plot(canceller.coef_[0], color="#b2182b", linewidth=0.8, label="learnt")
axis.set(xlabel="delay / samples")
axis.legend()
print(canceller.outcome_)
print(canceller.certificate_)
assert canceller.certificate_.verify(far[:, None], microphone)

# %%
# A step that is too long
# -----------------------
# LMS with a step beyond 2 / ‖window‖² may blow up. It says so, goes back to zeros and names a step that is safe.

import warnings  # noqa: E402

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it also warns
    careless = hs.AdaptiveFilter(n_taps=TAPS, variant="lms", eta0=0.5).fit(far[:, None], microphone)
print(careless.outcome_)
assert careless.outcome_.reason == "diverged"

# %%
# As a stream
# -----------
# In a call the samples come in packets. `filter` takes the next ones and returns what is left of them; the cuts do not change
# a bit. What a fit measures beforehand, how loud the far signal is on average, a call has to be told: `power`.

live = hs.AdaptiveFilter(n_taps=TAPS, double_talk=0.1, power=canceller.power_)
packets = [live.filter(far[at : at + 160], microphone[at : at + 160]) for at in range(0, n, 160)]
assert np.array_equal(np.concatenate(packets), canceller.residual_)
