"""Pictures: matplotlib displays in scikit-learn's style. Needs the extra `[plots]`."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates import Certificate, DualityGap, Novikoff, PerClass
from halfspace.errors import InputError

__all__ = ["GapDisplay", "MarginDisplay", "MistakeBoundDisplay", "PathDisplay"]

NAMED = 8
"""Weights of a path that get a colour and a name of their own; the others are grey."""


def _axes(ax: Any) -> Any:
    """Return the axes given, or new ones."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # noqa: PLC0415  (an extra: imported only when a picture is asked for)

    return plt.subplots()[1]


def _panels(axes: Any, heights: tuple[float, ...]) -> Any:
    """Return the axes given, one per panel, or new ones above each other."""
    if axes is not None:
        return axes
    import matplotlib.pyplot as plt  # noqa: PLC0415  (as above)

    return plt.subplots(len(heights), 1, sharex=True, layout="constrained", height_ratios=heights)[1]


@dataclass
class MarginDisplay:
    """A plane in two dimensions: the line, its margin, and the examples that made it, larger the stronger.

    Parameters
    ----------
    X : ndarray, shape (n, 2)
        Examples.
    y : ndarray, shape (n,)
        Signs, -1 or +1.
    strengths : ndarray, shape (n,)
        Strength of each example.
    plane : ndarray, shape (3,)
        Weights and bias.
    margin : float
        Distance from the plane to the nearest example; negative if an example is on the wrong side.
    title : str
        What to write above.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.plots import MarginDisplay
    >>> X, y, *_ = hs.data.two_clouds(40, distance=6.0)
    >>> display = MarginDisplay.from_estimator(hs.Perceptron(random_state=0).fit(X, y), X, y)
    >>> bool(display.margin > 0)
    True
    """

    X: FloatArray
    y: FloatArray
    strengths: FloatArray
    plane: FloatArray
    margin: float
    title: str = ""

    @classmethod
    def from_estimator(cls, estimator: Any, X: Matrix, y: Labels) -> Self:
        """Read a fitted two-class model with `coef_` and `alpha_` on its training examples X, shape (n, 2)."""
        X = np.asarray(X, dtype=float)
        if X.shape[1] != 2 or len(estimator.classes_) != 2:
            msg = f"MarginDisplay shows two features and two classes; got {X.shape[1]} and {len(estimator.classes_)}."
            raise InputError(msg)
        plane = np.append(estimator.coef_[0], estimator.intercept_[0])
        if not plane[:2].any():
            msg = f"this {type(estimator).__name__} has no plane to show: its weights are zero."
            raise InputError(msg)
        signs = np.where(np.asarray(y) == estimator.classes_[1], 1.0, -1.0)
        distances = signs * (X @ plane[:2] + plane[2]) / np.linalg.norm(plane[:2])
        return cls(X, signs, estimator.alpha_, plane, float(distances.min()), str(estimator.certificate_))

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` holds them."""
        self.ax_ = ax = _axes(ax)
        for sign, colour, marker in ((-1, "#b2182b", "o"), (1, "#2166ac", "s")):
            mine = self.y == sign
            sizes = 14 + 30 * np.sqrt(np.abs(self.strengths[mine]))
            edges = np.where(self.strengths[mine] != 0, 1.2, 0.0)
            ax.scatter(*self.X[mine].T, s=sizes, c=colour, marker=marker, alpha=0.75, edgecolors="black", linewidths=edges)
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        pad = 0.08 * (high - low)
        ax.set_xlim(low[0] - pad[0], high[0] + pad[0])
        ax.set_ylim(low[1] - pad[1], high[1] + pad[1])
        gx, gy = np.meshgrid(*(np.linspace(limits[0], limits[1], 200) for limits in (ax.get_xlim(), ax.get_ylim())))
        distance = (self.plane[0] * gx + self.plane[1] * gy + self.plane[2]) / np.linalg.norm(self.plane[:2])
        ax.contour(gx, gy, distance, levels=[0.0], colors="black", linewidths=2)
        if self.margin > 0:
            ax.contour(gx, gy, distance, levels=[-self.margin, self.margin], colors="black", linewidths=1, linestyles="--")
        ax.set_title(self.title, fontsize=10)
        ax.set_xlabel("first input")
        ax.set_ylabel("second input")
        return self


@dataclass
class MistakeBoundDisplay:
    """The convergence proof as two curves: w·w* rises at least linearly with the mistakes, ‖w‖ at most as their root.

    Parameters
    ----------
    mistakes, overlap, length : ndarray, shape (1 + epochs,)
        Mistakes so far, w·w*/‖w*‖ and ‖w‖, at the start and after each epoch.
    kappa, radius : float
        Certified margin and radius.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.plots import MistakeBoundDisplay
    >>> toy = hs.data.teacher_student(100, 5, margin=0.1)
    >>> display = MistakeBoundDisplay.from_estimator(hs.Perceptron(random_state=0).fit(toy.X, toy.y))
    >>> bool((display.overlap >= display.kappa * display.mistakes - 1e-9).all())
    True
    """

    mistakes: FloatArray
    overlap: FloatArray
    length: FloatArray
    kappa: float
    radius: float

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Read a fitted two-class `Perceptron` that converged."""
        bracket = getattr(estimator.certificate_, "bracket", None)
        plain = getattr(estimator.certificate_, "theorem", None) == Novikoff()
        if bracket is None or bracket.lower <= 0 or not plain or not hasattr(estimator, "coef_"):
            msg = "MistakeBoundDisplay needs a two-class Perceptron (rate 1, margin 0, from zero) that separated its examples."
            raise InputError(msg)
        course = estimator.history_
        from_zero = [
            np.append(0.0, column) for column in (course["mistakes"], course["overlap"], np.sqrt(course["squared_norm"]))
        ]
        return cls(from_zero[0], from_zero[1], from_zero[2], bracket.lower, bracket.radius)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` holds them."""
        self.ax_ = ax = _axes(ax)
        t = np.linspace(0, max(self.mistakes.max(), 1.0), 200)
        ax.plot(t, self.radius * np.sqrt(t), color="#b2182b", linestyle="--", label=r"$R\sqrt{t}$: the most $\|w\|$ can be")
        ax.plot(t, self.kappa * t, color="#2166ac", linestyle="--", label=r"$\kappa t$: the least $w\cdot w^*$ can be")
        ax.plot(self.mistakes, self.length, color="#b2182b", marker=".", label=r"$\|w\|$")
        ax.plot(self.mistakes, self.overlap, color="#2166ac", marker=".", label=r"$w\cdot w^*$")
        ax.set_xlabel("mistakes t")
        ax.set_title(f"They must cross before t = (R/κ)² = {(self.radius / self.kappa) ** 2:,.0f}", fontsize=10)
        ax.legend(fontsize=8)
        return self


@dataclass
class GapDisplay:
    """How a fit closed in on the best answer: what was proved from both sides, and below it their relative distance.

    Parameters
    ----------
    position : ndarray, shape (m,)
        Iterations, pushes or seconds.
    lower, upper : ndarray, shape (m,)
        What was proved by then: dual and primal value of an AdaTron, both sides of the margin bracket of a MinOver.
    unit, value : str
        What the positions count, and what lies between the sides.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.plots import GapDisplay
    >>> toy = hs.data.teacher_student(100, 5, margin=0.1)
    >>> display = GapDisplay.from_estimator(hs.MinOver(tol=0.1).fit(toy.X, toy.y))
    >>> bool((display.lower <= display.upper).all()), bool(display.gap[-1] <= 0.1)
    (True, True)
    """

    position: FloatArray
    lower: FloatArray
    upper: FloatArray
    unit: str = "iterations"
    value: str = "value"

    @property
    def gap(self) -> FloatArray:
        """(upper - lower) / upper, shape (m,)."""
        return (self.upper - self.lower) / self.upper

    @classmethod
    def from_estimator(cls, estimator: Any, *, seconds: bool = False) -> Self:
        """Read the course of a fitted `AdaTron` or `MinOver` over its iterations (pushes), or over seconds."""
        course, name = getattr(estimator, "history_", {}), type(estimator).__name__
        if "primal" in course:
            unit, value, columns = "iterations", "objective", (course["iteration"], course["dual"], course["primal"])
        elif "push" in course:
            unit, value, columns = "pushes", "margin", (course["push"], course["lower"], course["upper"])
        else:
            msg = f"GapDisplay needs a fitted AdaTron or MinOver with a `history_` of both sides; got {name}."
            raise InputError(msg)
        position, lower, upper = (np.asarray(column, dtype=float) for column in columns)
        if lower.ndim == 2:  # of several classes the one known least
            k = int(np.argmax(1.0 - lower[-1] / upper[-1]))
            position, lower, upper = position[:, k], lower[:, k], upper[:, k]
        known = np.isfinite(lower) & np.isfinite(upper)
        if not known.any():
            msg = f"this {name} found no plane, so there is no gap to show; its `outcome_` says why: {estimator.outcome_}"
            raise InputError(msg)
        position, unit = (np.asarray(course["seconds"], dtype=float), "seconds") if seconds else (position, unit)
        return cls(position[known], lower[known], upper[known], unit, value)

    def plot(self, axes: Any = None) -> Self:
        """Draw on the two axes given, or on new ones; `axes_` holds them."""
        self.axes_ = sides, gap = _panels(axes, (2.0, 1.0))
        sides.plot(self.position, self.upper, color="#b2182b", marker=".", label=f"{self.value}: no more than this")
        sides.plot(self.position, self.lower, color="#2166ac", marker=".", label=f"{self.value}: no less than this")
        sides.fill_between(self.position, self.lower, self.upper, color="black", alpha=0.08, linewidth=0)
        sides.set_ylabel(f"best {self.value}")
        sides.legend(fontsize=8)
        gap.semilogy(self.position, np.where(self.gap > 0, self.gap, np.nan), color="black", marker=".")
        gap.set(xlabel=self.unit, ylabel="relative gap")
        sides.set_title(f"{self.lower[-1]:.6g} <= best {self.value} <= {self.upper[-1]:.6g}", fontsize=10)
        return self


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
    def from_path(cls, path: Any) -> Self:
        """Read an `AdaTronPath`, as `adatron_path` returns it."""
        order, first = np.argsort(path.Cs), path.models[0]
        inputs = [str(name) for name in getattr(first, "feature_names_in_", [f"input {j}" for j in range(path.coefs.shape[2])])]
        classes = [f" ({label})" for label in first.classes_] if path.coefs.shape[1] > 1 else [""]
        names = [name + of for of in classes for name in inputs]
        weights, gaps = path.coefs.reshape(order.size, -1), np.array([_gap(certificate) for certificate in path.certificates])
        return cls(path.Cs[order], weights[order], path.n_support[order], gaps[order], names)

    def plot(self, axes: Any = None) -> Self:
        """Draw on the three axes given, or on new ones; `axes_` holds them."""
        self.axes_ = weights, support, gap = _panels(axes, (3.0, 1.0, 1.0))
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
