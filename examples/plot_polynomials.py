# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
Polynomials that fit too well
=============================

Twelve points of a sine with noise, and polynomials of degree 1 to 11. The more freedom, the nearer the curve is to the points
it has seen, down to no error at all; away from them it is worse than a straight line. The error on points left out, one at a
time, tells so without further data. A ridge keeps the freedom and tames it.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.polynomial import Chebyshev

import halfspace as hs

# %%
# Errors seen and not seen
# ------------------------
# Powers of x are nearly equal columns; Chebyshev's polynomials span the same curves and are well conditioned.


def powers(x, degree):
    """Return Chebyshev polynomials of degree 1 to `degree` at x in [0, 1], shape (n, degree)."""
    return np.column_stack([Chebyshev.basis(k, domain=[0, 1])(x) for k in range(1, degree + 1)])


rng = np.random.default_rng(3)
x, fresh = np.linspace(0.0, 1.0, 12), rng.uniform(0.0, 1.0, 2000)
y = np.sin(2 * np.pi * x) + 0.3 * rng.standard_normal(12)
truth = np.sin(2 * np.pi * fresh) + 0.3 * rng.standard_normal(2000)

degrees, seen, new, left_out = np.arange(1, 12), [], [], []
for degree in degrees:
    model = hs.LinearRegression().fit(powers(x, degree), y)
    seen.append(np.sqrt(np.mean((y - model.predict(powers(x, degree))) ** 2)))
    new.append(np.sqrt(np.mean((truth - model.predict(powers(fresh, degree))) ** 2)))
    path = hs.ridge_path(powers(x, degree), y, [1e-10])
    left_out.append(np.sqrt(path.loo_errors[0]))
    print(f"degree {degree:2d}: seen {seen[-1]:.2f}, left out {left_out[-1]:.2f}, new {new[-1]:.2f}")
assert seen[-1] < 1e-6
assert new[-1] > 3.0 * min(new)
assert new[int(np.argmin(left_out))] < 1.3 * min(new)

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].plot(degrees, seen, "o-", color="#2166ac", label="points seen")
axes[0].plot(degrees, new, "o-", color="#b2182b", label="new points")
axes[0].plot(degrees, left_out, "k.--", label="points left out")
axes[0].set_yscale("log")
axes[0].set_ylim(0.02, 30)
axes[0].set_xlabel("degree")
axes[0].set_ylabel("root mean squared error")
axes[0].legend()

# %%
# A ridge tames degree 11
# -----------------------
# All eleven powers, with λ by leave-one-out: as good as the best degree.

grid = np.linspace(0.0, 1.0, 400)
tamed = hs.LinearRegression(ridge="cv").fit(powers(x, 11), y)
error = np.sqrt(np.mean((truth - tamed.predict(powers(fresh, 11))) ** 2))
print(f"degree 11 with ridge {tamed.ridge_:.3g}: new {error:.2f}; {tamed.certificate_}")
assert error < 1.5 * min(new)
assert tamed.verify(powers(x, 11), y)

for degree, color in ((1, "#92c5de"), (3, "#2166ac"), (11, "#b2182b")):
    curve = hs.LinearRegression().fit(powers(x, degree), y).predict(powers(grid, degree))
    axes[1].plot(grid, curve, color=color, label=f"degree {degree}")
axes[1].plot(grid, tamed.predict(powers(grid, 11)), "k--", label="degree 11, ridge by leave-one-out")
axes[1].plot(x, y, "k.")
axes[1].set_ylim(-2.5, 2.5)
axes[1].legend()
plt.show()
