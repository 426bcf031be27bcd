# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
Bias, variance, and the U between them
======================================

A polynomial of low degree cannot follow a curve; one of high degree follows the noise. Here the truth is known, so the expected
error on new rows can be split: noise, which no model avoids; bias², what the mean model misses; variance, how much models from
different training sets differ.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import halfspace as hs

# %%
# A problem whose truth is known
# ------------------------------
# A function that draws a training set: rows, targets, and what the targets are expected to be.


def wave(rng, n=15):
    x = (np.arange(n)[:, None] + rng.random((n, 1))) / n
    truth = np.sin(2.0 * np.pi * x[:, 0])
    return x, truth + 0.3 * rng.standard_normal(n), truth


def polynomial(degree, ridge=0.0):
    return make_pipeline(PolynomialFeatures(degree, include_bias=False), hs.LinearRegression(ridge=ridge))


# %%
# Sixty training sets for each degree
# -----------------------------------
# A line errs by its bias, degree 9 by its variance; in between lies the least error.

degrees = range(1, 10)
found = [hs.bias_variance(polynomial(degree), wave, n_sets=60, n_points=500) for degree in degrees]
for degree in (1, 3, 9):
    print(f"degree {degree}: {found[degree - 1]}")
best = degrees[int(np.argmin([part.error for part in found]))]
assert 3 <= best <= 5

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for name, colour in (("error", "black"), ("noise", "0.6"), ("bias", "#2166ac"), ("variance", "#b2182b")):
    values = np.array([getattr(part, name) for part in found])
    errors = np.array([part.standard_errors[name] for part in found])
    label = "bias²" if name == "bias" else name
    left.errorbar(degrees, values, yerr=errors, color=colour, marker=".", label=label)
left.set(xlabel="degree", ylabel="squared error", ylim=(-0.02, 0.45), title=f"the least error: degree {best}")
left.legend()

# %%
# What the parts look like
# ------------------------
# Twenty fits each: lines agree with each other and not with the curve; polynomials of degree 9 the other way round.

grid = np.linspace(0.02, 0.98, 200)[:, None]
for degree, colour in ((1, "#2166ac"), (9, "#b2182b")):
    for seed in range(20):
        x, y, _ = wave(np.random.default_rng(seed))
        right.plot(grid, polynomial(degree).fit(x, y).predict(grid), color=colour, linewidth=0.4)
right.plot(grid, np.sin(2.0 * np.pi * grid), color="black")
right.set(xlabel="x", ylim=(-2.0, 2.0), title="degree 1 (blue), degree 9 (red), truth (black)")

# %%
# Two ways out of variance
# ------------------------
# More rows, or a penalty on the weights: both leave degree 9 its freedom and take its variance away.

more = hs.bias_variance(polynomial(9), lambda rng: wave(rng, 150), n_sets=50, n_points=500)
ridged = hs.bias_variance(polynomial(9, ridge="cv"), wave, n_sets=60, n_points=500)
print(f"ten times the rows: {more}")
print(f"ridge by leave-one-out: {ridged}")
assert more.variance < 0.2 * found[-1].variance
assert ridged.variance < 0.5 * found[-1].variance
