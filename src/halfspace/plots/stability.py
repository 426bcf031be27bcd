"""The picture of the examples' stabilities."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.models.kernel.prediction import KernelPlaneMixin
from halfspace.models.planes.prediction import PlaneMixin
from halfspace.plots.axes import TWO, innermost, place, training_support

__all__ = ["StabilityDisplay"]

BINS = 40


@dataclass
class StabilityDisplay:
    """Histogram of the examples' stabilities, with the support vectors and the margin.

    Parameters
    ----------
    stabilities : ndarray, shape (n,)
        y f(x) / ‖w‖, the signed distance from the plane (in the kernel's space), or the potential y f(x) where ‖w‖ is not
        known; for more than two classes the output of the right class minus the largest other. Below 0: wrong.
    support : ndarray, shape (m,)
        Row numbers of the support vectors.
    margin : float
        Where the margin ends; NaN where there is none.
    quantity : str
        What the stabilities are.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.plots import StabilityDisplay
    >>> X, y, *_ = hs.data.two_clouds(40, distance=6.0)
    >>> display = StabilityDisplay.from_estimator(hs.AdaTron(C=100.0, tol=1e-9).fit(X, y), X, y)
    >>> bool((display.stabilities >= 0.999 * display.margin).all()), display.quantity
    (True, 'stability y f(x) / ‖w‖')
    """

    stabilities: FloatArray
    support: IntArray
    margin: float
    quantity: str = "stability y f(x) / ‖w‖"

    @classmethod
    def from_estimator(cls, estimator: Any, X: Matrix, y: Labels, *, ax: Any = None) -> Self:
        """Draw a fitted model on examples X, shape (n, d), with labels y, shape (n,).

        Support vectors are marked if these are the examples that the model was fitted to.
        """
        scores, y = np.asarray(estimator.decision_function(X)), np.asarray(y)
        number = np.searchsorted(estimator.classes_, y).clip(0, estimator.classes_.size - 1)
        if not np.array_equal(estimator.classes_[number], y):
            msg = f"StabilityDisplay: y must hold the classes the model knows, {estimator.classes_.tolist()}."
            raise InputError(msg)
        support = training_support(estimator, y.size)
        if scores.ndim == 2:
            own = scores[np.arange(y.size), number]
            scores[np.arange(y.size), number] = -np.inf
            return cls(own - scores.max(axis=1), support, np.nan, "output of the right class minus the largest other").plot(ax)
        potentials = np.where(number == 1, scores, -scores)
        length = _length(estimator)
        unit, quantity = (1.0, "potential y f(x)") if length is None else (length, "stability y f(x) / ‖w‖")
        soft = "C" in getattr(innermost(estimator), "get_params", dict)()
        margin = 1.0 / unit if soft else float(potentials.min()) / unit
        return cls(potentials / unit, support, margin if margin > 0 else np.nan, quantity).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        ax = place(self, ax)
        chosen = np.zeros(self.stabilities.size, dtype=bool)
        chosen[self.support] = True
        groups = [self.stabilities[chosen], self.stabilities[~chosen]]
        names = [f"{groups[0].size:,} support vectors", f"{groups[1].size:,} other examples"]
        heights = ax.hist(groups, bins=self._bins(), stacked=True, color=[TWO[0], "#bbbbbb"], label=names)[0]
        ax.set_ylim(0.0, 1.35 * np.max(heights))  # room for the legend
        wrong = int((self.stabilities < 0).sum())
        ax.axvline(0.0, color="black", linewidth=1.5, label=f"the boundary: {wrong:,} wrong, to its left")
        if np.isfinite(self.margin):
            ax.axvline(self.margin, color="black", linestyle="--", linewidth=1.0, label=f"the margin, {self.margin:.3g}")
        ax.set(xlabel=self.quantity, ylabel="examples")
        ax.legend(fontsize=8)
        return self

    def _bins(self) -> FloatArray:
        """Return the edges of the bins, one of them just beyond the margin so that those on it count as inside."""
        low, high = float(self.stabilities.min()), float(self.stabilities.max())
        width = (high - low) / BINS or 1.0
        edge = 0.0 if np.isnan(self.margin) else self.margin + 0.05 * width
        first = edge + width * np.floor((low - edge) / width)
        edges: FloatArray = first + width * np.arange(BINS + 3)
        return edges


def _length(model: Any) -> float | None:
    """Return ‖w‖ of a two-class model, clamped weight included; None where it has no single plane, or none is known."""
    inner = innermost(model)
    if isinstance(inner, PlaneMixin):
        length = float(np.linalg.norm(inner._answer()[0][0]))  # noqa: SLF001  (a picture of what a model knows)
    elif isinstance(inner, KernelPlaneMixin) and getattr(inner, "_cells", None) is None:
        length = float(getattr(inner, "_lengths", [0.0])[0])
    else:
        return None
    return length if length > 0 else None
