# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
How many prototypes, and how wide are they?
===========================================

K-means puts K prototypes where the rows are; a mixture of Gaussians also learns how wide each stands and how much of every row
belongs to it. Neither says what K should be. The elbow shows what each K costs, with a proof of how much less any K prototypes
could cost.
"""

import matplotlib.pyplot as plt
import numpy as np

import halfspace as hs
from halfspace.plots import ElbowDisplay

rng = np.random.default_rng(0)
centres = np.array([[0.0, 0.0, 0.0, 0.0], [4.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0]])
source = rng.integers(4, size=600)
X = centres[source] + np.array([0.5, 1.0, 1.0, 1.5])[source, None] * rng.standard_normal((600, 4))

# %%
# Errors over K
# -------------
# Every error is proved, and so is a number below which no K prototypes can come (from the eigenvalues of the scatter matrix).
# Errors compare only at the same K: more prototypes always fit the rows they were learnt from better.

table = hs.elbow(X, range(1, 9))
print(table)
ElbowDisplay.from_elbow(table)
assert all(row.certificate.verify(X) for row in table)

# %%
# Four Gaussians
# --------------
# With a width of its own each Gaussian finds how spread out its rows are; the likelihood never falls on the way there.

model = hs.IsotropicMixture(4, sigma="each", n_starts=5, random_state=0).fit(X)
print(model.outcome_)
print(model.certificate_)
print("sigma:", np.sort(model.sigma_).round(2), " weights:", model.weights_.round(2))
assert np.diff(model.history_["log_likelihood"]).min() > -1e-8
assert np.abs(np.sort(model.sigma_) - [0.5, 1.0, 1.0, 1.5]).max() < 0.2

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(model.history_["log_likelihood"] / 600, color="black", marker=".")
left.set(xlabel="EM step", ylabel="log-likelihood a row")
certain = model.responsibilities(X).max(axis=1)
points = right.scatter(X[:, 0], X[:, 1], c=certain, s=8, cmap="viridis", vmin=0.5, vmax=1.0)
for w, sigma in zip(model.prototypes_, model.sigma_, strict=True):
    right.add_patch(plt.Circle(w[:2], 2.0 * sigma, fill=False, color="#b2182b"))
right.set(aspect="equal", title="largest responsibility; circles of two sigma")
figure.colorbar(points, ax=right)

# %%
# Narrow Gaussians are K-means
# ----------------------------
# As sigma goes to 0 each row belongs to its nearest prototype alone, and a step of EM is a step of K-means.

start = X[:4]
narrow = hs.IsotropicMixture(4, sigma=1e-4, init=start, tol=0.0).fit(X)
k_means = hs.KMeans(4, init=start, tol=0.0).fit(X)
print("largest difference of a prototype:", np.abs(narrow.prototypes_ - k_means.prototypes_).max())
assert np.allclose(narrow.prototypes_, k_means.prototypes_)
