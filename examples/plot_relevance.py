# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
Which inputs matter?
====================

Generalised matrix LVQ learns prototypes and, with them, the metric in which rows are compared: d(x, w) = ‖Ω(x - w)‖². Here ten
inputs carry a picture that lies in a plane, hidden under noise; the learnt metric finds the plane, and the relevances say
which inputs it is made of.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import subspace_angles
from sklearn.neighbors import KNeighborsClassifier

import halfspace as hs
from halfspace.plots import PrototypesDisplay, RelevanceDisplay

# %%
# Six clouds in a hidden plane
# ----------------------------
# Each of three classes is two clouds, at opposite corners of a hexagon. It lies in a plane of two directions: the sum of
# inputs 0 and 1, and input 2. All inputs are noisy, most of all the seven that carry no information.

rng = np.random.default_rng(0)
plane = np.zeros((2, 10))
plane[0, [0, 1]] = np.sqrt(0.5)
plane[1, 2] = 1.0
angles = np.arange(6) * np.pi / 3.0
corners = 4.0 * np.column_stack([np.cos(angles), np.sin(angles)])


def draw(n):
    """Return n rows and their labels."""
    corner = rng.integers(0, 6, n)
    X = rng.standard_normal((n, 10)) * np.where(np.arange(10) < 3, 1.0, 4.0)
    X[:, 0] *= 3.0
    X[:, 1] -= X[:, 0]  # loud noise that cancels in the sum: neither of the two tells much alone
    return X + corners[corner] @ plane, corner % 3  # opposite corners share a class


X, y = draw(600)
X_test, y_test = draw(2000)

# %%
# Noise misleads neighbours, not prototypes
# -----------------------------------------
# Which rows are nearest is decided by noise. Prototypes average it away: six of them do better than 600 rows, in any metric.
# What a learnt metric adds is the reason: a weight per input (GRLVQ), or a matrix that can also weigh sums of inputs (GMLVQ).

models = {
    "K-NN, all rows": KNeighborsClassifier(5),
    "GLVQ": hs.GLVQ(n_prototypes=2, random_state=0),
    "GRLVQ": hs.GRLVQ(n_prototypes=2, random_state=0),
    "GMLVQ": hs.GMLVQ(n_prototypes=2, random_state=0),
}
errors = {name: 1.0 - model.fit(X, y).score(X_test, y_test) for name, model in models.items()}
for name, share in errors.items():
    print(f"{name:15} {100 * share:5.1f} % test errors")
assert errors["GMLVQ"] < 0.5 * errors["K-NN, all rows"]

# %%
# What the metric looks at
# ------------------------
# The diagonal of Λ = ΩᵀΩ is the relevance of each input; the other entries show that inputs 0 and 1 count as a sum.

gmlvq = models["GMLVQ"]
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
display = RelevanceDisplay.from_estimator(gmlvq, ax=left)
display.plot(right, kind="matrix")
assert gmlvq.relevances_[:3].sum() > 0.8

# %%
# The plane it found
# ------------------
# `transform` shows rows along the leading directions of Λ. The angle to the plane the data were made with is small.

directions = np.linalg.eigh(gmlvq.lambda_)[1][:, -2:]
angle = np.degrees(subspace_angles(directions, plane.T).max())
print(f"largest angle to the plane {angle:.1f} degrees")
assert angle < 20.0
shown = PrototypesDisplay.from_estimator(gmlvq, X_test, y_test)
shown.figure_.tight_layout()

# %%
# What is proved
# --------------
# The certificate recounts errors and cost from the data, and says how far rows may move before their label changes.

print(gmlvq.certificate_)
assert gmlvq.certificate_.verify(X, y)
