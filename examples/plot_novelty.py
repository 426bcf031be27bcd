# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
Novel or typical
================

`hs.Novelty` learns where rows are dense: the plane furthest from the origin, in a kernel's space. Rows that were set apart
turn its output into p-values. Of rows like the past at most 1 % is called novel, whatever they look like; `drift` says when a
batch holds more novel rows than that.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import halfspace as hs

# %%
# The region of typical rows
# --------------------------
# Two moons, 1,000 rows. Half of them are learnt from, half set the threshold.

past, _ = make_moons(1_000, noise=0.08, random_state=0)
model = hs.Novelty(level=0.01).fit(past)
print(model.outcome_)
print(model.certificate_)
assert model.verify(past)

# %%
# The promise
# -----------
# The p-values of new rows like the past are spread evenly between 0 and 1, so at most 1 % of them is at most 0.01. Rows from
# elsewhere have small ones.

new, _ = make_moons(5_000, noise=0.08, random_state=1)
elsewhere = np.random.default_rng(2).uniform([-1.5, -1.0], [2.5, 1.5], size=(1_000, 2))
p, strange = model.p_values(new), model.p_values(elsewhere)
print(f"called novel: {np.mean(p <= 0.01):.2%} of rows like the past, {np.mean(strange <= 0.01):.0%} of rows from elsewhere")
assert np.mean(p <= 0.01) < 0.02

# %%
# Drift
# -----
# Batches of 200 rows; from the tenth on the moons move to the right, a little more in each. Nothing is called drift before.

batches = [make_moons(200, noise=0.08, random_state=10 + t)[0] + [0.03 * max(t - 9, 0), 0.0] for t in range(20)]
found = [model.drift(batch) for batch in batches]
print(found[3])
print(found[-1])
assert not any(drift.found for drift in found[:10])
assert found[-1].found

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
at = np.meshgrid(np.linspace(-1.6, 2.6, 160), np.linspace(-1.1, 1.6, 120))
level = model.p_values(np.stack([part.ravel() for part in at], axis=1)).reshape(at[0].shape)
left.contourf(*at, level, levels=[0.0, 0.01, 0.1, 0.3, 1.0], colors=["#ffffff", "#d1e5f0", "#92c5de", "#4393c3"])
left.scatter(*past[::4].T, s=4, c="black")
left.set_title("p-values: white is novel (at most 1 %)")
middle.hist([p, strange], bins=20, density=True, label=["like the past", "elsewhere"], color=["#4393c3", "#b2182b"])
middle.axhline(1.0, color="black", linewidth=0.8)
middle.set(title="p-values of new rows", xlabel="p-value")
middle.legend()
right.plot([100.0 * drift.novel / drift.rows for drift in found], "o-", color="#2166ac")
right.axhline(1.0, color="black", linewidth=0.8)
right.scatter(
    [t for t, d in enumerate(found) if d.found], [100.0 * d.novel / d.rows for d in found if d.found], s=90, c="#b2182b"
)
right.set(title="novel rows of each batch, red: drift", xlabel="batch", ylabel="%")
plt.show()
