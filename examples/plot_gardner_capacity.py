# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
Margins of random labels against Gardner's theory
=================================================

Label P random points in N dimensions by tossing coins. How wide a gap does the best plane through the origin leave between
the two classes? Gardner (1988) found that for large P and N with α = P/N fixed it hardly depends on the toss, and that the
margin κ it leaves satisfies 1/α = ∫ Dt (t + κ)², the integral over t from -κ to ∞ and Dt the normal distribution. At α = 2 the
margin is 0: with more than two examples per weight, random labels are no longer separable (Cover 1965).
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

import halfspace as hs
from halfspace.errors import NotSeparatedWarning

N = 200
rng = np.random.default_rng(0)

# %%
# Theory and measurement
# ----------------------
# Inputs are ±1, so every example has length √N, and a unit vector has an inner product of order 1 with each: margins are
# numbers of order 1, as in the theory. `AdaTron(C=inf)` finds the plane of largest margin, and its certificate encloses that
# margin between two numbers: what is averaged below is not an estimate of the optimum, but its value to three digits, for
# every single set.


def capacity(kappa):
    """Return α at which the best margin is κ."""
    return 1.0 / quad(lambda t: np.exp(-t * t / 2) / np.sqrt(2 * np.pi) * (t + kappa) ** 2, -kappa, np.inf)[0]


def theory(alpha):
    """Return Gardner's margin at α."""
    return brentq(lambda kappa: capacity(kappa) - alpha, 0.0, 20.0)


def coin_tosses(alpha):
    """Return random examples and labels."""
    P = round(alpha * N)
    return rng.choice([-1.0, 1.0], (P, N)), rng.choice([-1, 1], P)


def best_margin(alpha):
    """Return the margin of the best plane for one toss."""
    X, y = coin_tosses(alpha)
    lower, upper = hs.AdaTron(C=np.inf, intercept="none", tol=1e-3).fit(X, y).certificate_.margin
    assert lower <= upper <= 1.001 * lower
    return lower


samples = {0.25: 60, 0.5: 60, 0.75: 80, 1.0: 120, 1.25: 150, 1.5: 60}
margins = {alpha: [best_margin(alpha) for _ in range(size)] for alpha, size in samples.items()}
for alpha, found in margins.items():
    mean, error = np.mean(found), np.std(found, ddof=1) / np.sqrt(len(found))
    print(f"alpha = {alpha:4.2f}: margin {mean:.3f} ± {error:.3f}, theory {theory(alpha):.3f}")
    if alpha <= 1.25:  # nearer to 2 the margin is small, and three percent of it would take many more tosses
        assert abs(mean / theory(alpha) - 1.0) < 0.03

# %%
# The bars are the spread from toss to toss. It shrinks as N grows; the mean is on the curve already at N = 200.

curve = np.linspace(0.0, 2.0, 50)
figure, ax = plt.subplots(layout="constrained")
ax.plot([capacity(kappa) for kappa in curve], curve, color="#b2182b", label="Gardner 1988, N → ∞")
means, spread = [np.mean(found) for found in margins.values()], [np.std(found) for found in margins.values()]
ax.errorbar(list(margins), means, spread, fmt="s", color="#2166ac", capsize=3, label=f"AdaTron, N = {N}")
ax.axvline(2.0, color="black", linestyle=":", label="capacity of a plane, α = 2")
ax.set_xlabel("examples per weight α = P/N")
ax.set_ylabel("best margin κ")
ax.set_ylim(bottom=0.0)
ax.legend()
plt.show()

# %%
# Beyond capacity
# ---------------
# At α = 3 the same fit ends with the proof that no plane exists: at most N + 1 of the examples, with weights under which their
# signed sum is exactly zero.

X, y = coin_tosses(3.0)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", NotSeparatedWarning)  # the outcome says the same
    model = hs.AdaTron(C=np.inf, intercept="none").fit(X, y)
print(model.outcome_)
print(model.certificate_)

assert model.outcome_.reason == "proved inseparable"
assert model.certificate_.obstacle.size <= N + 1
assert model.certificate_.verify(X, y)
