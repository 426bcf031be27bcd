# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
Hubble's line through the origin
================================

In 1929 Edwin Hubble had the distances and velocities of 24 nebulae. The farther away one is, the faster it recedes: velocity is
distance times a constant. A line through the origin, without a constant, has one weight, and least squares gives it an error
bar. (Hubble's distances were too short by a factor of about seven, so that today's constant is near 70, not 424.)
"""

import matplotlib.pyplot as plt
import numpy as np

import halfspace as hs
from halfspace.data.catalogue import make

# %%
# The table, and the line
# -----------------------
# The proof recomputes the residuals: no other line through the origin has a smaller sum of squares.

table, target = make("hubble")
distance, velocity = table["distance"][:, None], table[target]
line = hs.LinearRegression(intercept="none").fit(distance, velocity)
print(line.summary())
print(f"Hubble's constant: {line.coef_[0]:.0f} ± {line.standard_errors_[0]:.0f} km/s per megaparsec")
print(line.certificate_, "-", line.verify(distance, velocity))
assert abs(line.coef_[0] - 423.9) < 0.1
assert line.verify(distance, velocity)

# %%
# What the noise leaves open
# --------------------------
# The noise is not known, and 24 nebulae are few: `noise="unknown"` integrates over it, and predictions are Student's t. The
# prior is nearly flat. Of the 24 nebulae about a tenth may lie outside 90 % intervals.

belief = hs.BayesianRegression(noise="unknown", prior_precision=1e-9, intercept="none").fit(distance, velocity)
grid = np.linspace(0.0, 2.2, 100)[:, None]
low, high = belief.interval(grid, 0.9)
ends = belief.interval(distance, 0.9)
inside = int(((ends[0] <= velocity) & (velocity <= ends[1])).sum())
print(f"{inside} of 24 nebulae are inside their 90 % intervals; {belief.certificate_}")
assert belief.verify(distance, velocity)
assert inside >= 20

figure, ax = plt.subplots(layout="constrained")
ax.fill_between(grid[:, 0], low, high, color="#92c5de", alpha=0.6, label="90 % of new nebulae")
ax.plot(grid, line.predict(grid), color="#2166ac", label=f"{line.coef_[0]:.0f} km/s per megaparsec")
ax.plot(distance, velocity, "k.", label="nebulae")
ax.set_xlabel("distance in megaparsec")
ax.set_ylabel("velocity in km/s")
ax.legend()

# %%
# With a constant
# ---------------
# A line that need not pass through the origin is steeper, and its constant is within one error bar of 0: nothing speaks
# against the origin.

free = hs.LinearRegression().fit(distance, velocity)
print(free.summary())
assert abs(free.coef_[0] - 454.2) < 0.1
assert abs(free.intercept_) < free.intercept_standard_error_
plt.show()
