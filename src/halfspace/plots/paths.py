"""Pictures over a parameter: AdaTrons over their caps C, quantisation errors over the number of prototypes."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.certificates import Certificate, DualityGap, PerClass
from halfspace.plots.axes import input_names, place, place_panels

__all__ = ["ElbowDisplay", "PathDisplay"]

NAMED = 8
"""Weights of a path that get a colour and a name of their own; the others are grey."""


def _gap(certificate: Certificate) -> float:
    """Return the relative gap that a certificate proves, the largest of several classes; NaN if it proves none."""
    if isinstance(certificate, PerClass):
        return max(_gap(part) for _, part in certificate)
    return certificate.relative_gap if isinstance(certificate, DualityGap) else np.nan


@dataclass
class PathDisplay:
    """AdaTrons over their caps: the weights, how many examples support them, and the gap each was certified to.

    Parameters
    ----------
    Cs : ndarray, shape (m,)
        Caps, rising; C = inf is drawn a decade beyond the largest finite one.
    weights : ndarray, shape (m, k)
        Weights, of all classes side by side.
    n_support, gaps : ndarray, shape (m,)
        Number of support vectors, and relative duality gap (NaN where inseparability was proved instead).
    names : list of str, length k
        Names of the weights.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.plots import PathDisplay
    >>> X, y, *_ = hs.data.two_clouds(60, distance=3.0)
    >>> display = PathDisplay.from_path(hs.adatron_path(X, y, [1.0, 0.01]))
    >>> display.Cs.tolist(), display.weights.shape, bool((display.gaps <= 1e-4).all())
    ([0.01, 1.0], (2, 2), True)
    """

    Cs: FloatArray
    weights: FloatArray
    n_support: FloatArray
    gaps: FloatArray
    names: list[str]

    @classmethod
    def from_path(cls, path: Any, *, axes: Any = None) -> Self:
        """Draw an `AdaTronPath`, as `adatron_path` returns it."""
        order, first = np.argsort(path.Cs), path.models[0]
        inputs = input_names(first, path.coefs.shape[2])
        classes = [f" ({label})" for label in first.classes_] if path.coefs.shape[1] > 1 else [""]
        names = [name + of for of in classes for name in inputs]
        weights, gaps = path.coefs.reshape(order.size, -1), np.array([_gap(certificate) for certificate in path.certificates])
        return cls(path.Cs[order], weights[order], path.n_support[order], gaps[order], names).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw on the three axes given, or on new ones; `axes_` and `figure_` hold them."""
        weights, support, gap = place_panels(self, axes, (3.0, 1.0, 1.0))
        finite = np.isfinite(self.Cs)
        at = np.where(finite, self.Cs, 10.0 * np.max(self.Cs[finite], initial=0.1))
        large = np.argsort(-np.abs(self.weights).max(axis=0), kind="stable")[:NAMED]
        for j, name in enumerate(self.names):
            style = {"label": name, "zorder": 3} if j in large else {"color": "#bbbbbb", "linewidth": 0.8}
            weights.semilogx(at, self.weights[:, j], marker=".", **style)
        weights.axhline(0.0, color="black", linewidth=0.8)
        weights.legend(fontsize=8)
        weights.set_ylabel("weights")
        support.semilogx(at, self.n_support, color="black", marker=".")
        support.set_ylabel("supports")
        gap.loglog(at, np.where(self.gaps > 0, self.gaps, np.nan), color="black", marker=".")
        gap.set(xlabel="cap C" if finite.all() else "cap C (rightmost: inf)", ylabel="relative gap")
        return self


@dataclass
class ElbowDisplay:
    """Quantisation errors over K, and certified lower bounds of the least possible ones.

    Parameters
    ----------
    Ks : ndarray of int, shape (m,)
        Numbers of prototypes, rising.
    errors, lowers : ndarray, shape (m,)
        Errors reached, and certified lower bounds of the least possible ones; 0 where none is known.

    Examples
    --------
    >>> import numpy as np
    >>> from halfspace import elbow
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0]])
    >>> ElbowDisplay.from_elbow(elbow(X, [1, 2])).errors.round(3).tolist()
    [82.0, 1.0]
    """

    Ks: IntArray
    errors: FloatArray
    lowers: FloatArray

    @classmethod
    def from_elbow(cls, elbow: Any, *, ax: Any = None) -> Self:
        """Draw an `Elbow`, as `elbow` returns it."""
        return cls(elbow.Ks, elbow.errors, elbow.lowers).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        ax = place(self, ax)
        ax.plot(self.Ks, self.errors, color="black", marker="o", label="error reached")
        ax.fill_between(
            self.Ks, self.lowers, self.errors, color="#2166ac", alpha=0.15, label="the least possible error is in here"
        )
        known = np.where(self.lowers > 0.0, self.lowers, np.nan)
        ax.plot(self.Ks, known, color="#2166ac", marker=".", linestyle="--", label="certified lower bound")
        ax.set(xlabel="prototypes K", ylabel="quantisation error", ylim=(0.0, None))
        ax.set_title("errors compare only at the same K", fontsize=9)
        ax.legend(fontsize=8)
        return self
