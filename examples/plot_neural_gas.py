# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
A neural gas unfolds
====================

Prototypes stand for the rows around them. How well they do is the quantisation error, the sum of squared distances of rows from
their nearest prototypes. Vector quantisation and K-means end in the local minimum that their start leads to; a neural gas
lets every row pull all prototypes, the nearer ones more, and narrows that range slowly, which leads past most local minima.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from halfspace import NeuralGas, VectorQuantizer
from halfspace.rows.orders import Geometric
from halfspace.solvers.prototypes.neural_gas import Gas
from halfspace.solvers.prototypes.quantising import State

# %%
# A shape
# -------
# Points on a ring, on a disc beside it, and on a bridge between them.

rng = np.random.default_rng(0)
angle = rng.uniform(0.0, 2.0 * np.pi, 1200)
ring = np.c_[np.cos(angle), np.sin(angle)] * rng.uniform(0.8, 1.0, 1200)[:, None]
angle, reach = rng.uniform(0.0, 2.0 * np.pi, 600), np.sqrt(rng.random(600))
disc = np.c_[3.0 + 0.5 * reach * np.cos(angle), 0.5 * reach * np.sin(angle)]
bridge = np.c_[rng.uniform(1.0, 2.5, 200), rng.uniform(-0.05, 0.05, 200)]
X = np.vstack([ring, disc, bridge])

# %%
# How it unfolds
# --------------
# All prototypes start in one corner. The solver can be driven by hand: four epochs of points, looked at after 200, 1000, 4000
# and 8000 presentations, while the range falls from half the number of prototypes to nearly nothing.

K, presentations = 40, 4 * len(X)
corner = X[np.argsort(X @ [1.0, 1.0])[:K]]
state, gas = State.of(corner), Gas(rate=Geometric(0.5, 0.005), width=Geometric(K / 2, 0.01))
order = np.concatenate([rng.permutation(len(X)) for _ in range(4)])
fig, axes = plt.subplots(1, 4, figsize=(12, 2.6), sharex=True, sharey=True)
for axis, stop in zip(axes, (200, 1000, 4000, presentations), strict=True):
    gas.present(X[order[state.counts[0] : stop]], state, presentations)
    axis.scatter(*X.T, s=1, color="lightgrey")
    axis.scatter(*state.W.T, s=14, color="black")
    axis.set(title=f"{stop} presentations", aspect="equal")
fig.tight_layout()

# %%
# Three ways, the same number of prototypes
# -----------------------------------------
# Errors compare only at the same K. Twenty random starts each:

seeds = range(20)
errors = {
    "neural gas": [NeuralGas(K, random_state=s).fit(X).inertia_ for s in seeds],
    "K-means": [KMeans(K, init="random", n_init=1, random_state=s).fit(X).inertia_ for s in seeds],
    "vector quantisation": [VectorQuantizer(K, init="sample", random_state=s).fit(X).inertia_ for s in seeds],
}
fig, axis = plt.subplots(figsize=(6, 3))
for number, (name, values) in enumerate(errors.items()):
    axis.plot(values, np.full(len(values), number), "k|", markersize=12)
    print(f"{name:20} median error {np.median(values):.2f}, from {min(values):.2f} to {max(values):.2f}")
axis.set(yticks=range(3), yticklabels=list(errors), xlabel=f"quantisation error, K = {K}", ylim=(-0.5, 2.5))
fig.tight_layout()
assert np.median(errors["neural gas"]) < min(np.median(errors["K-means"]), np.median(errors["vector quantisation"]))

# %%
# What is proved
# --------------
# The certificate says that every point belongs to its nearest prototype and what the error is; a checker recomputes both, and a
# bound below which no 40 prototypes can come (nothing better than 0 in two dimensions).

model = NeuralGas(K, random_state=0).fit(X)
print(model.outcome_)
print(model.certificate_)
assert model.certificate_.verify(X)
