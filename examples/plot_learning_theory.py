# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
What learning theory promises
=============================

How many labels can a plane hold, how fast do rules learn, what is an error, and how does a space of hypotheses shrink?
"""

import matplotlib.pyplot as plt
import numpy as np

import halfspace as hs
from halfspace.plots import TheoryDisplay, VersionSpaceDisplay

# %%
# Learning curves
# ---------------
# Students of random teachers with 40 inputs, and the theory for many inputs. Adaline has its peak where there are as many
# examples as inputs; the centre of the version space ("bayes") is the best there is.

rules = ("hebb", "adaline", "ridge", "perceptron", "stability", "gibbs", "bayes", "committee")
found = [hs.experiment(rule, 40, [0.5, 2.0, 4.0], seeds=8) for rule in rules]
TheoryDisplay.from_experiments(found)
plt.show()

# %%
# Cover's step
# ------------
# The share of labelings that a plane separates falls from 1 to 0 around P = 2N, the more sharply the larger N. With labels
# tossed by coins some have one class only; those count too. Without a bias only the products y x matter, so one example may be
# turned around, with its label, where a question needs two classes.


def held(P, N, rng):
    """Tell whether random labels of random points can be held by a plane through the origin."""
    X, y = rng.standard_normal((P, N)), rng.choice([-1, 1], P)
    if np.unique(y).size == 1:
        X[0], y[0] = -X[0], -y[0]
    return hs.separability(X, y, intercept="none").verdict == "separable"


figure, ax = plt.subplots(layout="constrained")
for N in (5, 20, 100):
    alphas = np.arange(1, 4 * N + 1) / N
    ax.plot(alphas, [float(hs.theory.separable_share(P, N)) for P in range(1, 4 * N + 1)], label=f"N = {N}")
rng = np.random.default_rng(0)
points = {P: np.mean([held(P, 5, rng) for _ in range(60)]) for P in (4, 8, 10, 12, 16)}
ax.plot(np.array(list(points)) / 5, list(points.values()), "ks", label="tried, N = 5")
ax.set(xlabel="examples per input P/N", ylabel="share of labelings that are separable")
ax.legend()
plt.show()
assert all(abs(share - float(hs.theory.separable_share(P, 5))) < 0.25 for P, share in points.items())

# %%
# The error is a wedge
# --------------------
# Student and teacher disagree between their planes, on a share of all directions that is the angle over π.

teacher, student = np.array([0.0, 1.0]), np.array([0.6, 0.8])
X = rng.standard_normal((2000, 2))
wrong = (X @ teacher > 0) != (X @ student > 0)
figure, ax = plt.subplots(layout="constrained")
ax.plot(*X[~wrong].T, ".", color="#bbbbbb", markersize=2)
ax.plot(*X[wrong].T, ".", color="#b2182b", markersize=3, label=f"{wrong.mean():.3f} of the examples")
for w, name in ((teacher, "teacher"), (student, "student")):
    ax.axline((0.0, 0.0), (w[1], -w[0]), color="black", linestyle="--" if name == "student" else "-", label=name)
error = hs.theory.generalisation_error(student, teacher)
ax.set(title=f"angle/π = {error:.3f}", aspect="equal")
ax.legend()
plt.show()
assert abs(wrong.mean() - error) < 0.04

# %%
# A version space shrinks
# -----------------------
# Planes in two dimensions with a bias have three weights: those that agree with all labels are a polygon on the sphere.

X = rng.standard_normal((14, 2))
y = X @ [1.0, 2.0] + 0.3 > 0
figure, axes = plt.subplots(1, 2, layout="constrained")
areas = []
for n, ax in zip((6, 14), axes, strict=True):
    space = hs.VersionSpace(X[:n], y[:n])
    areas.append(space.polygon().area)
    VersionSpaceDisplay.from_space(space, ax=ax)
    ax.set_title(f"{n} examples, area {areas[-1]:.3f}")
plt.show()
assert areas[1] < areas[0]

# %%
# The numbers game
# ----------------
# The same with few hypotheses about numbers up to 20: each number shown and labelled leaves those that are consistent.

numbers = range(1, 21)
hypotheses = {
    "even": {n for n in numbers if n % 2 == 0},
    "odd": {n for n in numbers if n % 2},
    "at most 10": {n for n in numbers if n <= 10},
    "prime": {2, 3, 5, 7, 11, 13, 17, 19},
    "power of 2": {1, 2, 4, 8, 16},
    "even, at most 10": {2, 4, 6, 8, 10},
    "square": {1, 4, 9, 16},
    "multiple of 3": {3, 6, 9, 12, 15, 18},
}
rule = hypotheses["even, at most 10"]  # the teacher's
left = dict(hypotheses)
for n in (4, 13, 6, 11, 8, 2):
    left = {name: members for name, members in left.items() if (n in members) == (n in rule)}
    print(f"{n:2d} {'yes' if n in rule else 'no ':3s} {len(left)} left: {'; '.join(left)}")
assert "even, at most 10" in left
