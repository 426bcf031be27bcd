"""Expectation and maximisation (EM) for a mixture of isotropic Gaussians.

Problem.    Maximise  L = Σ_i s_i log Σ_k π_k N(x_i; w_k, σ_k² I)  over weights π, centres w and deviations σ.
Update.     With responsibilities r_ik = π_k N(x_i; w_k, σ_k² I) / Σ_l π_l N(x_i; w_l, σ_l² I) and N_k = Σ_i s_i r_ik:
                π_k = N_k / Σ_l N_l,    w_k = Σ_i s_i r_ik x_i / N_k,    σ_k² = Σ_i s_i r_ik ‖x_i - w_k‖² / (d N_k);
            a common σ² is the mean of the σ_k² weighted by π_k; a σ below its floor is raised to it.
Guarantee.  L never falls (Dempster, Laird and Rubin 1977, theorem 1). The floor keeps that: as a function of σ_k alone, what a
            step maximises rises up to the σ_k above and falls beyond it. Without a floor L has no maximum: a centre on a single
            row with σ -> 0 makes it infinite.
Limit.      As σ -> 0 each row belongs to its nearest centre alone, and a step is a step of K-means (Lloyd 1982).

A centre that no row belongs to stays where it is, with weight 0.

Pass.       For weights π, centres w and deviations σ, with  q_ik = ‖x_i - w_k‖²  and row weights s:
                a_ik = log π_k - d log σ_k - q_ik / 2σ_k²,      r_ik = exp(a_ik) / Σ_l exp(a_il)          (responsibilities)
                L    = Σ_i s_i (log Σ_k exp(a_ik) - (d/2) log 2π)
                N_k  = Σ_i s_i r_ik,      M_k = Σ_i s_i r_ik (x_i - w_k),      Q_k = Σ_i s_i r_ik q_ik
            Differences from the centres are summed, never products minus products: nothing cancels, wherever the origin is.
            Logarithms are to base 2 inside, and what is below 2^-119 of the largest term counts as nothing. Rows are read in
            blocks, turned on their side, so that every loop runs over the rows of a block and becomes vector instructions for
            any K and d. From 32 columns on a fit takes the accelerator `mixture_wide.sums`, tested to give the same.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from halfspace._dispatch import compiled, compiled_as_written, compiled_inside_as_written
from halfspace._typing import FloatArray, View
from halfspace.kernels.fast.activations import exp2
from halfspace.rows.threads import in_chunks
from halfspace.rows.views import axpy, n_columns, n_rows

__all__ = [
    "BLOCK", "Common", "Each", "Fixed", "Mixture", "Part", "Sigma", "Sums", "carried", "coefficients", "maximised",
    "responsibilities", "summing", "sums", "terms", "total",
]  # fmt: skip

BLOCK = 128
"""Rows of a block."""
PANEL_ENTRIES = 1 << 15
"""Entries of the blocks that are read at a time: they stay in the cache until they are summed."""
LEAST = -119.0
"""Exponent of 2 below which a term counts as nothing."""
NEVER = -1e300
"""Logarithm of a weight of 0."""


class Mixture(NamedTuple):
    """Weights π (K,), centres w (K, d) and deviations σ (K,) of a mixture of isotropic Gaussians."""

    weights: FloatArray
    centres: FloatArray
    sigmas: FloatArray


Part = tuple[float, FloatArray]
"""Of a range of rows: Σ s_i log2 Σ_k 2^a_ik, and M, N and Q side by side, shape (K, d + 2)."""


class Sums(NamedTuple):
    """What one pass finds: log-likelihood L, and N (K,), M (K, d), Q (K,) as in the module's docstring."""

    log_likelihood: float
    N: FloatArray
    M: FloatArray
    Q: FloatArray


@compiled
def _read(X: View, start: int, stop: int, row: FloatArray, panel: FloatArray) -> None:
    """Write rows start..stop into the columns of the blocks of a panel, shape (m, d, BLOCK)."""
    for i in range(start, stop):
        row[:] = 0.0
        axpy(1.0, X, i, row)
        block, column = panel[(i - start) // BLOCK], (i - start) % BLOCK
        for j in range(row.size):
            block[j, column] = row[j]


@compiled_as_written
def terms(h: FloatArray, b: FloatArray, q: FloatArray, r: FloatArray, level: FloatArray) -> None:
    """Fill the terms 2^(a_ik - top_i) of squared distances q_ik, both (K, m), and level (2, m): top_i and the terms' sum."""
    top, total = level[0], level[1]
    top[:] = 2.0 * NEVER
    for k in range(q.shape[0]):
        distance, term = q[k], r[k]
        for i in range(top.size):
            term[i] = b[k] - h[k] * distance[i]
            top[i] = max(top[i], term[i])
    total[:] = 0.0
    for k in range(q.shape[0]):
        term = r[k]
        for i in range(top.size):
            z = term[i] - top[i]
            term[i] = exp2(z) if z > LEAST else 0.0
            total[i] += term[i]


@compiled_inside_as_written
def _compare(
    block: FloatArray, W: FloatArray, h: FloatArray, b: FloatArray, q: FloatArray, r: FloatArray, level: FloatArray
) -> None:
    """Fill q_ik and the terms of a block, both (K, BLOCK), and level (2, BLOCK)."""
    for k in range(W.shape[0]):
        distance = q[k]
        distance[:] = 0.0
        for j in range(W.shape[1]):
            x, w = block[j], W[k, j]
            for i in range(BLOCK):
                difference = x[i] - w
                distance[i] += difference * difference
    terms(h, b, q, r, level)


@compiled
def _add(block: FloatArray, W: FloatArray, q: FloatArray, r: FloatArray, share: FloatArray, out: FloatArray) -> None:
    """Add a block's part of M, N and Q to `out`, shape (K, d + 2)."""
    d = W.shape[1]
    for k in range(W.shape[0]):
        term, distance = r[k], q[k]
        mass, spread = 0.0, 0.0
        for i in range(BLOCK):
            term[i] *= share[i]
            mass += term[i]
            spread += term[i] * distance[i]
        out[k, d] += mass
        out[k, d + 1] += spread
        for j in range(d):
            x, w, moved = block[j], W[k, j], 0.0
            for i in range(BLOCK):
                moved += term[i] * (x[i] - w)
            out[k, j] += moved


@compiled
def _sum_panel(panel: FloatArray, s: FloatArray, W: FloatArray, h: FloatArray, b: FloatArray, out: FloatArray) -> float:
    """Add the rows of a panel, weighted by s (m,), to `out`, shape (K, d + 2); return their Σ s_i log2 Σ_k 2^a_ik."""
    K = W.shape[0]
    q, r, level, share = np.empty((K, BLOCK)), np.empty((K, BLOCK)), np.empty((2, BLOCK)), np.empty(BLOCK)
    L = 0.0
    for first in range(0, s.size, BLOCK):
        block = panel[first // BLOCK]
        _compare(block, W, h, b, q, r, level)
        share[:] = 0.0
        for i in range(min(BLOCK, s.size - first)):
            share[i] = s[first + i] / level[1, i]
            L += s[first + i] * (level[0, i] + np.log2(level[1, i]))
        _add(block, W, q, r, share, out)
    return L


@compiled
def _fill_panel(panel: FloatArray, W: FloatArray, h: FloatArray, b: FloatArray, out: FloatArray, log2: FloatArray) -> None:
    """Write the responsibilities of the rows of a panel into `out`, shape (m, K), and log2 Σ_k 2^a_ik into `log2`, (m,)."""
    K = W.shape[0]
    q, r, level = np.empty((K, BLOCK)), np.empty((K, BLOCK)), np.empty((2, BLOCK))
    for first in range(0, log2.size, BLOCK):
        _compare(panel[first // BLOCK], W, h, b, q, r, level)
        for i in range(min(BLOCK, log2.size - first)):
            log2[first + i] = level[0, i] + np.log2(level[1, i])
            for k in range(K):
                out[first + i, k] = r[k, i] / level[1, i]


def _by_panels(work: Callable[[int, int, FloatArray], Any], X: View) -> Callable[[int, int], list[Any]]:
    """Return a function that calls `work(start, stop, panel)` on one panel after the other of a range of rows."""
    d = n_columns(X)
    blocks = max(1, PANEL_ENTRIES // (d * BLOCK))

    def over(start: int, stop: int) -> list[Any]:
        panel, row = np.zeros((min(blocks, -(-(stop - start) // BLOCK)), d, BLOCK)), np.empty(d)
        results = []
        for first in range(start, stop, blocks * BLOCK):
            last = min(first + blocks * BLOCK, stop)
            _read(X, first, last, row, panel)
            results.append(work(first, last, panel))
        return results

    return over


def coefficients(mixture: Mixture) -> tuple[FloatArray, FloatArray]:
    """Return h and b with a_ik = b_k - h_k q_ik to base 2, each of shape (K,)."""
    with np.errstate(divide="ignore"):
        b = np.log2(mixture.weights) - mixture.centres.shape[1] * np.log2(mixture.sigmas)
    return 0.5 / np.log(2.0) / mixture.sigmas**2, np.maximum(b, NEVER)


def summing(X: View, s: FloatArray, mixture: Mixture) -> Callable[[int, int], list[Part]]:
    """Return a function that sums a range of the rows of a view, weighted by s, shape (n,), panel by panel."""
    W, (h, b) = mixture.centres, coefficients(mixture)

    def work(first: int, last: int, panel: FloatArray) -> Part:
        out = np.zeros((W.shape[0], W.shape[1] + 2))
        return _sum_panel(panel, s[first:last], W, h, b, out), out

    return _by_panels(work, X)


def total(parts: list[list[Part]], s: FloatArray, d: int) -> Sums:
    """Add up what was found on ranges of the rows, in their order."""
    L, out = sum(part for chunk in parts for part, _ in chunk), np.asarray(sum(part for chunk in parts for _, part in chunk))
    constant = 0.5 * d * np.log(2.0 * np.pi) * float(s.sum())
    return Sums(float(np.log(2.0) * L - constant), out[:, d], out[:, :d], out[:, d + 1])


def sums(X: View, s: FloatArray, mixture: Mixture) -> Sums:
    """Pass over the rows of a view, weighted by s, shape (n,): the log-likelihood of a mixture, and N, M, Q.

    The order of the sums depends on the data alone, so the answer is the same for any number of threads.
    """
    return total(in_chunks(summing(X, s, mixture), s.size, mixture.centres.size), s, n_columns(X))


def responsibilities(X: View, mixture: Mixture) -> tuple[FloatArray, FloatArray]:
    """Return the responsibilities of the rows of a view, shape (n, K), and their log densities, shape (n,)."""
    W, (h, b) = mixture.centres, coefficients(mixture)
    (K, d), n = W.shape, n_rows(X)
    out, level = np.empty((n, K)), np.empty(n)

    def work(first: int, last: int, panel: FloatArray) -> None:
        _fill_panel(panel, W, h, b, out[first:last], level[first:last])

    in_chunks(_by_panels(work, X), n, K * d)
    return out, np.log(2.0) * level - 0.5 * d * np.log(2.0 * np.pi)


class Common(NamedTuple):
    """One σ for all centres, at least `floor`."""

    floor: float


class Each(NamedTuple):
    """A σ for each centre, at least `floor`."""

    floor: float


class Fixed(NamedTuple):
    """A σ that is given."""

    sigma: float


Sigma = Common | Each | Fixed


def maximised(found: Sums, before: Mixture, rule: Sigma) -> Mixture:
    """Make the next mixture of the sums of a pass with the one before.

    The scatter about the new centres is that about the old ones less what the move explains (Huygens).
    """
    N = np.where(found.N > 0.0, found.N, 1.0)  # an empty centre has M = 0 and Q = 0: it stays
    move = found.M / N[:, None]
    scatter = np.maximum(found.Q - found.N * (move**2).sum(axis=1), 0.0)
    return Mixture(found.N / found.N.sum(), before.centres + move, _sigmas(rule, scatter, found.N, before))


def _sigmas(rule: Sigma, scatter: FloatArray, N: FloatArray, before: Mixture) -> FloatArray:
    """Return the deviations, shape (K,), by their rule."""
    K, d = before.centres.shape
    if isinstance(rule, Fixed):
        return np.full(K, rule.sigma)
    if isinstance(rule, Common):
        return np.full(K, max(np.sqrt(scatter.sum() / (d * N.sum())), rule.floor))
    alive = N > 0.0
    found = np.sqrt(scatter / (d * np.where(alive, N, 1.0)))
    return np.maximum(np.where(alive, found, before.sigmas), rule.floor)


def carried(old: Mixture, rule: Sigma) -> FloatArray:
    """Return the deviations of an earlier mixture, shape (K,), as a rule allows them."""
    if isinstance(rule, Fixed):
        return np.full_like(old.sigmas, rule.sigma)
    if isinstance(rule, Common) and np.ptp(old.sigmas) > 0.0:
        return np.full_like(old.sigmas, max(np.sqrt(old.weights @ old.sigmas**2), rule.floor))
    return np.maximum(old.sigmas, rule.floor)
