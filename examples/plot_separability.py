# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
Is there a plane between two classes?
=====================================

`hs.separability` answers yes or no, and proves it in exact arithmetic. A yes comes with a plane, a no with the few examples
that stand in the way: the triangles, segments or points that they span in the two classes intersect, and no plane separates
sets that intersect.
"""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

import halfspace as hs

# %%
# No: the obstacle
# ----------------
# Two clouds that overlap a little. At most d + 2 = 4 of the 60 examples are enough to forbid every line. Their multipliers are
# fractions that sum to one; those of either class average it to one and the same point, which therefore lies in both hulls.

clouds = hs.data.two_clouds(60, distance=3.0, random_state=5)
proof = hs.separability(clouds.X, clouds.y)
print(proof)
for row, share in proof.multipliers.items():
    print(f"row {row:2d}, class {clouds.y[row]:2d}, weight {float(share):.4f}, {len(str(share)) - 1} digits as a fraction")

assert proof.verdict == "inseparable"
assert proof.verify(clouds.X, clouds.y)


def mean(label):
    """Return the weighted mean of the obstacle's examples of one class, as fractions."""
    mine = {row: share for row, share in proof.multipliers.items() if clouds.y[row] == label}
    total = sum(mine.values())
    return [sum(share * Fraction(clouds.X[row, j]) for row, share in mine.items()) / total for j in (0, 1)]


assert mean(-1) == mean(1)  # equal fractions: no rounding, no tolerance

# %%
# Why not with floats? The same sum in floating point leaves a residual of the size of rounding, and so would hulls that miss
# each other by that much. The fractions tell the two cases apart.

shares = np.array([float(share) for share in proof.multipliers.values()])
signed = (shares * clouds.y[proof.obstacle]) @ clouds.X[proof.obstacle]
print(f"in floats the signed sum is {signed}: rounding, or a gap?")

# %%
# Yes: the plane, and how good it can get
# ---------------------------------------
# Without its obstacle, and without the obstacle of what remains, and so on, the set becomes separable. The plane that proves it
# is any plane; `hs.margin_bracket` says how wide the best one's margin is, between two numbers.

left = np.arange(clouds.y.size)
while (verdict := hs.separability(clouds.X[left], clouds.y[left])).verdict == "inseparable":
    left = np.delete(left, verdict.obstacle)
X, y = clouds.X[left], clouds.y[left]
bracket = hs.margin_bracket(X, y)
print(f"{clouds.y.size - left.size} examples removed. {verdict}")
print(f"the best plane: {bracket}")

assert verdict.verdict == "separable"
assert verdict.verify(X, y)
assert bracket.verify(X, y)
assert 0.0 < bracket.lower <= bracket.upper
assert verdict.margin <= bracket.upper


def scatter(ax, X, y):
    """Draw both classes."""
    for sign, colour, marker in ((-1, "#b2182b", "o"), (1, "#2166ac", "s")):
        ax.scatter(*X[y == sign].T, c=colour, marker=marker, s=18, alpha=0.75)
    ax.set_aspect("equal")


def line(ax, w, b, span, **style):
    """Draw w·x + b = 0 around the origin of the data."""
    middle, along = -b * w / (w @ w), np.array([-w[1], w[0]]) / np.linalg.norm(w)
    ax.plot(*np.array([middle - span * along, middle + span * along]).T, **style)


figure, (no, yes) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", sharex=True, sharey=True)
scatter(no, clouds.X, clouds.y)
for sign, colour in ((-1, "#b2182b"), (1, "#2166ac")):
    corners = clouds.X[[row for row in proof.obstacle if clouds.y[row] == sign]]
    no.fill(*corners.T, edgecolor=colour, facecolor=colour, alpha=0.35, linewidth=2)
    no.scatter(*corners.T, s=90, facecolors="none", edgecolors="black", linewidths=1.5)
no.scatter(*map(float, mean(1)), marker="x", s=70, c="black", zorder=3)
no.set_title("inseparable: the hulls of the outlined examples share ×")

scatter(yes, X, y)
yes.scatter(*np.delete(clouds.X, left, axis=0).T, s=18, facecolors="none", edgecolors="#999999")
w, b = bracket.weights / np.linalg.norm(bracket.weights), bracket.bias / np.linalg.norm(bracket.weights)
for shift, style in ((-bracket.lower, "--"), (0.0, "-"), (bracket.lower, "--")):
    line(yes, w, b + shift, 3.5, color="black", linestyle=style)
line(yes, verdict.w, verdict.b, 3.5, color="#777777", linestyle=":")
yes.set_title(f"separable without {clouds.y.size - left.size} of them: {bracket}")
plt.show()
