# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
What the displays show
======================

Pictures in scikit-learn's style: ``from_estimator`` reads the numbers off a fitted model, ``plot`` draws them on the axes given
or on new ones. Here are those of the large-margin machines; the perceptron's own are in the example on convergence.
"""

import matplotlib.pyplot as plt
import numpy as np

import halfspace as hs
from halfspace.plots import DecisionSurfaceDisplay, GapDisplay, MarginDisplay, PathDisplay, StabilityDisplay

# %%
# A plane and its stabilities
# ---------------------------
# Two clouds that overlap. The AdaTron tolerates errors at a price C: the examples that pay, or that hold the plane, are its
# support vectors. In the histogram they are all on or left of the margin; the rest could be left out without a change.

X, y, *_ = hs.data.two_clouds(300, distance=3.0, random_state=1)
plane = hs.AdaTron(C=1.0, tol=1e-6).fit(X, y)
print(plane.outcome_)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
MarginDisplay.from_estimator(plane, X, y, ax=left)
stabilities = StabilityDisplay.from_estimator(plane, X, y, ax=right)

others = np.setdiff1d(np.arange(y.size), stabilities.support)
assert stabilities.stabilities[stabilities.support].max() <= 1.001 * stabilities.margin
assert stabilities.stabilities[others].min() >= 0.999 * stabilities.margin

# %%
# A curved boundary, and more than two classes
# --------------------------------------------
# With a kernel the plane is in another space; here is what it looks like in this one. The full line is the boundary, the dashed
# ones are where the output is -1 and 1. With three classes the regions are those of the largest output.

rings = hs.data.rings(160)
kernel = hs.KernelAdaTron("rbf", C=10.0).fit(rings.X, rings.y)

rng = np.random.default_rng(0)
three = np.repeat(["east", "north", "west"], 50)
places = {"east": (2.0, 0.0), "north": (0.0, 2.0), "west": (-2.0, 0.0)}
points = rng.standard_normal((150, 2)) * 0.8 + np.array([places[name] for name in three])
compass = hs.KernelAdaTron("rbf", C=1.0).fit(points, three)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
DecisionSurfaceDisplay.from_estimator(kernel, rings.X, rings.y, ax=left)
DecisionSurfaceDisplay.from_estimator(compass, points, three, ax=right)

# %%
# The stabilities of a kernel machine are distances in the kernel's space; of several classes, leads over the next best one.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
StabilityDisplay.from_estimator(kernel, rings.X, rings.y, ax=left)
StabilityDisplay.from_estimator(compass, points, three, ax=right)

# %%
# How the gap closed, and what the cap does
# -----------------------------------------
# Dual and primal value close in on the best one, which makes the claim "no better plane exists, but for this much". Over a path
# of caps the weights settle and the supports get fewer.

gap = GapDisplay.from_estimator(plane)
assert gap.gap[-1] <= 1e-6

path = PathDisplay.from_path(hs.adatron_path(X, y, np.logspace(-4, 2, 13)))
assert path.n_support[0] > path.n_support[-1]
plt.show()
