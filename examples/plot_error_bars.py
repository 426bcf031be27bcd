# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
Error bars that widen where there are no data
=============================================

A straight line through noisy points is known best where the points are. A Bayesian fit says so: its predictive standard
deviation combines the noise, which is the same everywhere, and the uncertainty of the weights, which grows away from the data.
The prior's width and the noise are not set by the user: they maximise the evidence, the probability of the targets with all
weights integrated out.
"""

import matplotlib.pyplot as plt
import numpy as np

import halfspace as hs

# %%
# A curve through few points
# --------------------------
# The inputs are nine bumps along the axis, the weights say how much of each. Data lie on the left and the right, not between.


def bumps(x):
    """Return nine Gaussian bumps at each x, shape (n, 9)."""
    return np.exp(-0.5 * ((x[:, None] - np.linspace(-4, 4, 9)) / 0.9) ** 2)


rng = np.random.default_rng(0)
x = np.concatenate([rng.uniform(-3.5, -1.0, 25), rng.uniform(1.5, 3.5, 15)])
y = np.sin(1.5 * x) + 0.15 * rng.standard_normal(x.size)
model = hs.BayesianRegression(intercept="none").fit(bumps(x), y)
print(model.outcome_)
assert model.certificate_.verify(bumps(x), y)

grid = np.linspace(-4.5, 4.5, 300)
mean, std = model.predict(bumps(grid), return_std=True)
draws, _ = model.sample_posterior(6, random_state=0)

figure, ax = plt.subplots(layout="constrained")
ax.fill_between(grid, mean - 1.96 * std, mean + 1.96 * std, color="#92c5de", alpha=0.6, label="95 % of new targets")
ax.plot(grid, (bumps(grid) @ draws.T), color="#2166ac", lw=0.6)
ax.plot(grid, mean, color="#2166ac", lw=2, label="mean; thin: draws from the posterior")
ax.plot(grid, np.sin(1.5 * grid), "k--", lw=1, label="truth")
ax.plot(x, y, "k.", label="examples")
ax.set_ylim(-3, 3)
ax.legend(loc="upper center", ncols=2)

gap = std[np.abs(grid) < 0.3].min()
assert gap > 2 * std[np.abs(grid - 2.5) < 0.3].max()

# %%
# One batch after another
# -----------------------
# The posterior of a batch is the prior of the next. The error bars close in as batches arrive, and end where a fit on all of
# the data at once would have put them.

stream = hs.BayesianRegression(prior_precision=model.prior_precision_, noise_precision=model.noise_precision_, intercept="none")
figure, axes = plt.subplots(1, 4, sharey=True, figsize=(10, 3), layout="constrained")
order = rng.permutation(x.size)
for ax, rows in zip(axes, np.split(order, 4), strict=True):
    stream.partial_fit(bumps(x[rows]), y[rows])
    mean, std = stream.predict(bumps(grid), return_std=True)
    ax.fill_between(grid, mean - 1.96 * std, mean + 1.96 * std, color="#92c5de", alpha=0.6)
    ax.plot(grid, mean, color="#2166ac")
    ax.plot(x[rows], y[rows], "k.")
    ax.set_ylim(-3, 3)
assert np.allclose(stream.coef_, model.coef_)

# %%
# Are the error bars calibrated?
# ------------------------------
# On data drawn from the model itself, intervals of every level cover their share of new targets.

levels = np.array([0.5, 0.8, 0.9, 0.95, 0.99])
widths = np.array([0.6745, 1.2816, 1.6449, 1.96, 2.5758])
held = np.zeros((200, levels.size))
for trial in range(200):
    X = rng.standard_normal((60, 5))
    target = X @ rng.standard_normal(5) + 0.5 * rng.standard_normal(60)
    mean, std = hs.BayesianRegression().fit(X[:30], target[:30]).predict(X[30:], return_std=True)
    held[trial] = (np.abs(target[30:] - mean)[:, None] <= widths * std[:, None]).mean(axis=0)

figure, ax = plt.subplots(figsize=(4, 4), layout="constrained")
ax.plot([0.45, 1], [0.45, 1], "k--", lw=1)
ax.plot(levels, held.mean(axis=0), "o-", color="#b2182b")
ax.set_xlabel("nominal level")
ax.set_ylabel("share of new targets covered")
assert np.abs(held.mean(axis=0) - levels).max() < 0.03
plt.show()
