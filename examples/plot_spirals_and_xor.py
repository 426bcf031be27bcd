# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
Two spirals and XOR, solved
===========================

Two problems that no plane separates. A kernel maps the inputs to a space where a plane exists, and the perceptron and MinOver
run there unchanged: all they ever ask of the examples is inner products. The certificates are of that space: mistakes made
and the most there can be, and the margin between two bounds.
"""

import matplotlib.pyplot as plt
import numpy as np

import halfspace as hs

COLOURS = ["#b2182b", "#2166ac"]


def picture(ax, model, X, y, reach, title):
    """Colour the plane by the model's decision and ring its support vectors."""
    grid = np.meshgrid(np.linspace(-reach, reach, 250), np.linspace(-reach, reach, 250))
    output = model.decision_function(np.column_stack([axis.ravel() for axis in grid])).reshape(grid[0].shape)
    ax.contourf(*grid, output > 0, levels=[-0.5, 0.5, 1.5], colors=COLOURS, alpha=0.2)
    ax.contour(*grid, output, levels=[0.0], colors="black", linewidths=1.0)
    ax.scatter(*X.T, c=np.where(y > 0, COLOURS[1], COLOURS[0]), s=18)
    ax.scatter(*X[model.support_].T, s=55, facecolors="none", edgecolors="black", linewidths=0.8)
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")


# %%
# XOR
# ---
# The kernel (x·x')² is the inner product of all products of two inputs. One of them, x₁x₂, is the label. In its space the
# perceptron makes two mistakes, and Novikoff's theorem, with the margin that the certificate proves, allows just two.

corners = hs.data.xor()
square = hs.kernels.Polynomial(2, gamma=1.0)
print(square)

perceptron = hs.KernelPerceptron(square, intercept="none", shuffle=False).fit(corners.X, corners.y)
print(perceptron.outcome_)
print(perceptron.certificate_)

assert (perceptron.predict(corners.X) == corners.y).all()
assert perceptron.mistakes_ == 2
assert perceptron.certificate_.verify(corners.X, corners.y)

# %%
# Two spirals
# -----------
# With a Gaussian kernel every set of different points can be separated; the width decides how. The perceptron stops at the
# first function without a mistake. MinOver goes on to the most stable one, and knows how far from it it can still be.

spirals = hs.data.spirals()
gaussian = hs.kernels.RBF(gamma=20.0)
first = hs.KernelPerceptron(gaussian, random_state=0).fit(spirals.X, spirals.y)
stable = hs.KernelMinOver(gaussian, tol=0.05).fit(spirals.X, spirals.y)
for model in (first, stable):
    print(f"{type(model).__name__}: {model.outcome_}")
    print(f"    {model.certificate_}")

assert first.score(spirals.X, spirals.y) == stable.score(spirals.X, spirals.y) == 1.0
assert stable.certificate_.lower > first.certificate_.bracket.lower
assert first.certificate_.verify(spirals.X, spirals.y)
assert stable.certificate_.verify(spirals.X, spirals.y)

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
picture(axes[0], perceptron, corners.X, corners.y, 1.6, f"XOR: {perceptron.mistakes_} mistakes")
picture(axes[1], first, spirals.X, spirals.y, 1.15, f"perceptron: margin {first.certificate_.bracket.lower:.3f}")
picture(axes[2], stable, spirals.X, spirals.y, 1.15, f"MinOver: margin {stable.certificate_.lower:.3f}")

# %%
# On a budget
# -----------
# The same spirals as an endless stream, with room for forty support vectors: the Projectron projects a new example on those it
# has. Memory stays the same for ever; here is what it costs.

rng = np.random.default_rng(0)
figure, ax = plt.subplots(figsize=(4.2, 4.2), layout="constrained")
model = hs.KernelPerceptron(gaussian, budget=40)
for _ in range(30):
    order = rng.permutation(spirals.y.size)
    model.partial_fit(spirals.X[order], spirals.y[order], classes=[-1, 1])
wrong = int((model.predict(spirals.X) != spirals.y).sum())
print(f"{model.support_vectors_.shape[0]} support vectors, {wrong} of {spirals.y.size} wrong; {model.outcome_}")
assert model.support_vectors_.shape[0] <= 40
grid = np.meshgrid(np.linspace(-1.15, 1.15, 250), np.linspace(-1.15, 1.15, 250))
output = model.decision_function(np.column_stack([axis.ravel() for axis in grid])).reshape(grid[0].shape)
ax.contourf(*grid, output > 0, levels=[-0.5, 0.5, 1.5], colors=COLOURS, alpha=0.2)
ax.scatter(*spirals.X.T, c=np.where(spirals.y > 0, COLOURS[1], COLOURS[0]), s=18)
ax.scatter(*model.support_vectors_.T, s=55, facecolors="none", edgecolors="black", linewidths=0.8)
ax.set(title=f"Projectron: {wrong} wrong", xticks=[], yticks=[], aspect="equal")
plt.show()
