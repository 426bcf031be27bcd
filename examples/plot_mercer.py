# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
Is this kernel a kernel?
========================

A similarity of two rows can replace the inner product in every algorithm of this package if it *is* an inner product in some
space. `hs.kernels.mercer` says whether it is, and proves it: by the way the kernel is built, by its Fourier transform, or on
data. A function that is not one is refused with points that anybody can check.
"""

import matplotlib.pyplot as plt
import numpy as np

import halfspace as hs
from halfspace.kernels import RBF, BSpline, FromFunction, Linear, Sigmoid, mercer

# %%
# Kernels have an algebra, and it keeps the proof
# -----------------------------------------------
# Sums, products and powers of kernels are kernels, so nothing needs to be computed.

kernel = RBF(0.5) * (Linear() + 1) ** 2
report = mercer(kernel)
print(report)
assert report.holds

# %%
# A similarity that looks innocent
# --------------------------------
# 1 if two numbers are at most 1 apart, 0 if not. On the points 1, 2, 3 the matrix has the eigenvalues 1 - √2, 1 and 1 + √2:
# with the coefficients of the first, the "squared length" of a combination of the three points is negative.

box = FromFunction(lambda a, b: float(abs(a[0] - b[0]) <= 1), shift_invariant=True, name="box")
points = np.array([[1.0], [2.0], [3.0]])
refused = mercer(box, points)
print(refused)
c = refused.witness_coefficients
print(f"coefficients {c.round(3)}, sum {c @ box.exact(points) @ c:.4f}")
assert refused.holds is False
assert refused.verify()

# %%
# The Fourier transform tells why
# -------------------------------
# A function of the difference is a kernel if and only if its Fourier transform is nowhere negative (Bochner). That of the box,
# 2 sin(ω)/ω, is; convolve the box with itself and the transform is squared: the hat function is a kernel, and so are all
# B-splines of odd degree.

omega = np.linspace(0.01, 20.0, 400)
t = np.linspace(-2.5, 2.5, 501)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2))
shapes = {"box": box.exact(t[:, None], [[0.0]])[:, 0], "hat": BSpline(0).exact(t[:, None], [[0.0]])[:, 0]}
shapes["cubic spline"] = BSpline(1).exact(t[:, None], [[0.0]])[:, 0]
for name, values in shapes.items():
    left.plot(t, values, label=name)
    right.plot(omega, np.trapezoid(values * np.cos(omega[:, None] * t), t, axis=1), label=name)
left.set(xlabel="x - x'", title="k(x, x')")
right.axhline(0.0, color="black", linewidth=0.8)
right.set(xlabel="ω", title="Fourier transform")
left.legend()
fig.tight_layout()

print(mercer(box))
assert mercer(box).holds is False
assert mercer(BSpline(1)).holds is True

# %%
# The sigmoid, and how to repair a matrix
# ---------------------------------------
# tanh(γ x·x' + c) is used as a kernel and is not one. If all you have is an indefinite matrix, its negative eigenvalues can be
# clipped or flipped, or the whole spectrum shifted; the report says how much that changed the matrix.

toy = hs.data.two_clouds(60, random_state=0)
sigmoid = Sigmoid(0.5, -1.0)
print(mercer(sigmoid))
K = sigmoid.exact(toy.X)
fig, axis = plt.subplots(figsize=(6, 3.2))
axis.plot(np.linalg.eigvalsh(K), "k.", label="as it is")
for repair in ("clip", "shift", "flip"):
    mended = mercer(sigmoid, toy.X, repair=repair)
    print(f"{repair}: changed by {100 * mended.changed:.1f} %")
    axis.plot(np.linalg.eigvalsh(mended.matrix), "-", label=repair)
    assert mercer(hs.kernels.Precomputed(), mended.matrix).holds
axis.set(xlabel="number", ylabel="eigenvalue", yscale="symlog")
axis.legend()
fig.tight_layout()
