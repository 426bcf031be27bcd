# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
When no plane separates the classes
===================================

A perceptron on inseparable data never settles. It stops with a sentence that says so and what to try. Two remedies: keep
the best plane found (the pocket), or map the inputs to features in which a plane exists.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import halfspace as hs
from halfspace.errors import NotSeparatedWarning
from halfspace.plots import MarginDisplay

warnings.simplefilter("ignore", NotSeparatedWarning)  # the outcomes printed below say the same

# %%
# XOR: a proof that no plane exists
# ---------------------------------
# The weights come back to where they were after all four corners have been added. So the signed sum of the examples is
# zero, and by Gordan's theorem no plane has a positive margin. The sum was confirmed in rational arithmetic, which is why
# the upper side of the bracket is exactly 0.

corners = hs.data.xor()
plain = hs.Perceptron(random_state=0).fit(corners.X, corners.y)
print(plain.outcome_)
print(plain.certificate_)

assert plain.outcome_.reason == "proved inseparable"
assert plain.certificate_.bracket.separable is False
assert plain.certificate_.verify(corners.X, corners.y)

# %%
# Two overlapping clouds: the pocket
# ----------------------------------
# Real data seldom repeat so neatly. On two clouds that overlap the run ends when for `patience` epochs none had fewer mistakes
# than the best before, and the outcome claims neither separability nor the opposite. The last weights are whatever the last
# mistakes made of them; the pocket keeps the plane with the fewest errors found.

clouds = hs.data.two_clouds(200, distance=2.0)
last = hs.Perceptron(max_iter=100, random_state=0).fit(clouds.X, clouds.y)
pocket = hs.PocketPerceptron(max_iter=100, random_state=0).fit(clouds.X, clouds.y)
errors = int((last.predict(clouds.X) != clouds.y).sum())
print(last.outcome_)
print(pocket.outcome_)
print(f"errors on the training examples: last weights {errors}, pocket {pocket.errors_}")

assert last.outcome_.reason == "no progress"
assert pocket.errors_ < errors

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained", sharey=True)
for ax, model, name in zip(axes, (last, pocket), ("last weights", "pocket"), strict=True):
    MarginDisplay.from_estimator(model, clouds.X, clouds.y, ax=ax)
    ax.set_title(f"{name}: {int((model.predict(clouds.X) != clouds.y).sum())} errors")

# %%
# A feature map: XOR becomes separable
# ------------------------------------
# The product of the two inputs is the label. With scikit-learn's `PolynomialFeatures` in front, the same perceptron
# converges and proves it: the lower side of the bracket is positive.

remedy = make_pipeline(PolynomialFeatures(2, include_bias=False), hs.Perceptron(random_state=0)).fit(corners.X, corners.y)
features, proof = remedy[0].transform(corners.X), remedy[-1].certificate_
print(remedy[-1].outcome_)
print(proof)

assert (remedy.predict(corners.X) == corners.y).all()
assert proof.bracket.separable is True
assert proof.verify(features, corners.y)

grid = np.meshgrid(np.linspace(-1.6, 1.6, 200), np.linspace(-1.6, 1.6, 200))
output = remedy.decision_function(np.column_stack([axis.ravel() for axis in grid])).reshape(grid[0].shape)
figure, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
ax.contourf(*grid, output > 0, levels=[-0.5, 0.5, 1.5], colors=["#b2182b", "#2166ac"], alpha=0.25)
ax.scatter(*corners.X.T, c=np.where(corners.y > 0, "#2166ac", "#b2182b"), s=80, edgecolors="black")
ax.set_title("XOR by a plane in the space of products")
plt.show()
