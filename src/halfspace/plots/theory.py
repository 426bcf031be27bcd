"""Pictures of learning theory: learning curves with experiments beside them, and version spaces on the sphere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace import theory
from halfspace._typing import FloatArray
from halfspace.errors import InputError
from halfspace.models.planes.adatron import AdaTron
from halfspace.plots.axes import class_colours, place

__all__ = ["TheoryDisplay", "VersionSpaceDisplay"]


@dataclass
class TheoryDisplay:
    """Learning curves of several rules: the theory as lines, experiments as points with bars of two standard errors.

    Parameters
    ----------
    alphas : ndarray, shape (m,)
        Examples per input at which the lines are drawn.
    curves : dict of str to ndarray, shape (m,)
        Error on new examples by rule.
    experiments : list of Experiment
        What was measured.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.plots import TheoryDisplay
    >>> display = TheoryDisplay.from_experiments([hs.experiment("hebb", 20, [1.0, 3.0], seeds=5)])
    >>> sorted(display.curves), display.alphas.size
    (['hebb'], 200)
    """

    alphas: FloatArray
    curves: dict[str, FloatArray]
    experiments: list[Any]

    @classmethod
    def from_experiments(cls, experiments: Sequence[Any], *, ax: Any = None) -> Self:
        """Draw the results of `experiment`, with the theory of each rule over their whole range of alpha."""
        found = list(experiments)
        if not found:
            msg = "TheoryDisplay.from_experiments needs at least one result of `experiment`. Got none."
            raise InputError(msg)
        last = max(one.alphas.max() for one in found)
        alphas = np.linspace(0.0, 1.05 * float(last), 200)
        curves = {one.rule: theory.learning_curve(one.rule, alphas, one.flipped, one.members) for one in found}
        return cls(alphas, curves, found).plot(ax)

    @classmethod
    def from_rules(cls, rules: Sequence[str], alphas: Any, *, flipped: float = 0.0, ax: Any = None) -> Self:
        """Draw the theory alone, for rules as in `theory.learning_curve`, at alphas, shape (m,)."""
        alphas = np.asarray(alphas, dtype=np.float64)
        return cls(alphas, {rule: theory.learning_curve(rule, alphas, flipped) for rule in rules}, []).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        ax = place(self, ax)
        colours = dict(zip(self.curves, class_colours(max(len(self.curves), 3)), strict=False))
        for rule, curve in self.curves.items():
            ax.plot(self.alphas, curve, color=colours[rule], label=rule)
        for one in self.experiments:
            ax.errorbar(one.alphas, one.means, 2.0 * one.standard_errors, fmt=".", color=colours[one.rule], capsize=2)
        ax.set(xlabel="examples per input α = P/N", ylabel="error on new examples", ylim=(0.0, 0.55))
        ax.legend(fontsize=8)
        return self


@dataclass
class VersionSpaceDisplay:
    """A version space of three weights, seen from above its centre, with members and the plane of largest margin.

    Parameters
    ----------
    outline : ndarray, shape (m, 2)
        Points on the edges, in order.
    members : ndarray, shape (s, 2)
        Random members.
    centre, largest_margin : ndarray, shape (2,)
        The exact centre of mass (the origin of the picture), and the plane of maximal stability.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> from halfspace.plots import VersionSpaceDisplay
    >>> X, y = np.array([[1.0, 0.2], [0.1, 1.0], [-1.0, -0.5]]), np.array([1, 1, 0])
    >>> display = VersionSpaceDisplay.from_space(hs.VersionSpace(X, y), n=50)
    >>> display.members.shape, bool(np.allclose(display.centre, 0.0))
    ((50, 2), True)
    """

    outline: FloatArray
    members: FloatArray
    centre: FloatArray
    largest_margin: FloatArray

    @classmethod
    def from_space(cls, space: Any, *, n: int = 300, ax: Any = None) -> Self:
        """Draw a `VersionSpace` of three weights (two inputs and a bias, or three inputs), with n of its members."""
        polygon = space.polygon()
        if polygon.vertices.shape[1] != 3:
            msg = f"VersionSpaceDisplay needs three weights. Got {polygon.vertices.shape[1]} instead."
            raise InputError(msg)
        V, steps = polygon.vertices, np.linspace(0.0, 1.0, 30, endpoint=False)[:, None]
        edges = [(1.0 - steps) * a + steps * b for a, b in zip(V, np.roll(V, -1, axis=0), strict=True)]
        best = AdaTron(C=np.inf, intercept="none", tol=1e-6).fit(*_two_signs(space.A)).coef_
        across = np.linalg.svd(polygon.centre[None])[2][1:]

        def seen(W: FloatArray) -> FloatArray:
            flat: FloatArray = W @ across.T / np.linalg.norm(W, axis=1, keepdims=True)
            return flat

        outline = seen(np.vstack(edges))
        return cls(outline, seen(space.sample(n)), seen(polygon.centre[None])[0], seen(best)[0]).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        ax = place(self, ax)
        ax.fill(*self.outline.T, color="#2166ac", alpha=0.15)
        ax.plot(*np.vstack([self.outline, self.outline[:1]]).T, color="#2166ac")
        ax.plot(*self.members.T, ".", color="#777777", markersize=2, label="members")
        ax.plot(*self.centre, "o", color="#b2182b", label="centre of mass")
        ax.plot(*self.largest_margin, "s", color="black", label="largest margin")
        ax.set(aspect="equal", xticks=[], yticks=[], title="version space on the sphere")
        ax.legend(fontsize=8)
        return self


def _two_signs(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return signed rows as examples with both labels: every second one is turned around."""
    signs = np.where(np.arange(A.shape[0]) % 2, -1.0, 1.0)
    return A * signs[:, None], signs
