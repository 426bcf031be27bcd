# ruff: noqa: D205, D400  (a gallery example begins with a title)
"""
Over-fitting made visible
=========================

Scores of rows that a model has learnt from, and of rows that it has not, over a parameter and over the number of rows. The
first curve costs nothing: the search has scored every point anyway.
"""

# %%
# A kernel machine whose width is chosen by cross-validation
# ----------------------------------------------------------
# Narrow kernels (large gamma) remember the examples; wide ones draw a plane. Shown is the best score over all C for each gamma.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import validation_curve
from sklearn.neighbors import KNeighborsClassifier

import halfspace as hs
from halfspace.plots import LearningCurveDisplay, ValidationDisplay

X, y = make_moons(300, noise=0.3, random_state=0)
search = hs.KernelAdaTronCV(Cs=[0.1, 1.0, 10.0], gammas=np.geomspace(0.01, 100.0, 9).tolist(), full_grid=True).fit(X, y)
ValidationDisplay.from_search(search, "gamma").ax_.set_title("kernel AdaTron")
plt.show()

# %%
# Both sides over the number of neighbours
# ----------------------------------------
# One neighbour is right on everything it has seen. scikit-learn's `validation_curve` gives both sides for any model.

ks = [1, 3, 7, 15, 31, 63, 127]
sides = validation_curve(KNeighborsClassifier(), X, y, param_name="n_neighbors", param_range=ks)
ValidationDisplay.from_scores(ks, *sides, parameter="neighbours", score="accuracy").ax_.set_title("nearest neighbours")
plt.show()

# %%
# Over the number of rows
# -----------------------
# Far apart, the model memorises and more rows help; close and low, it is too simple: more rows do not help a plane here.

_, (left, right) = plt.subplots(1, 2, sharey=True, figsize=(9, 4))
LearningCurveDisplay.from_estimator(KNeighborsClassifier(1), X, y, ax=left).ax_.set_title("one neighbour")
LearningCurveDisplay.from_estimator(hs.AveragedPerceptron(random_state=0), X, y, ax=right).ax_.set_title("a plane")
plt.show()
