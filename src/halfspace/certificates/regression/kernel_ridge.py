"""The certificate of kernel ridge regression: how far a function is from the best one, and its leave-one-out errors.

Problem    P(f, c) = Σ s_i (y_i - f(x_i) - c)² + λ‖f‖²  over the functions f of the kernel's space, and over c if it is free.
Lower side For any b with sum 0 (for any at all, if c is not free)  2 b·y - Σ b_i²/s_i - ‖Σ b_i k(x_i, ·)‖²/λ <= min P,  the
           dual value. For f = Σ a_i k(x_i, ·) with residuals r and b = λ a, P(f, c) is above it by  Σ (s_i r_i - b_i)²/s_i:
           no large numbers cancel. What rounding leaves of t = Σ a_i is spread over b and paid for by  λ t² max k(x, x).
Distance   P curves by at least 2λ, so  ‖f - f*‖² <= (P - min P)/λ,  and no prediction f(x) is further from that of f* than
           ‖f - f*‖ sqrt(k(x, x)).
Left out   Without example i, its whole weight included, its residual is  r_i / (λ M_ii).  M is the inverse of √S K √S + λ, less
           its part along √s if c is free (Allen 1974): the checker factors that matrix anew.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from scipy import linalg

from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, known_labels, one_weight_each, some_weight
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.expansion import outputs, proved_scales, squares_of
from halfspace.certificates.groups import PerCell
from halfspace.certificates.predictor import functions_of, same
from halfspace.certificates.regression.ridge import read_targets
from halfspace.errors import InputError
from halfspace.kernels import Kernel

__all__ = ["KernelRidgeCells", "KernelRidgeClasses", "KernelRidgeGap", "class_targets"]

CLOSE = 1e-9
"""Relative difference that two sums of the same numbers may have."""
MANY = 5
"""Targets of which only the least and the largest error are told."""
CLOSE_LEFT_OUT = 1e-6
"""Relative difference that leave-one-out errors, which go through an inverse, may have; more on badly conditioned matrices."""


class _Measured(NamedTuple):
    """What the data say of each target, shape (m,), and how far rounding may have moved the objective."""

    objective: FloatArray
    gap: FloatArray
    distance: FloatArray
    blur: FloatArray
    residuals: FloatArray  # (n, m)
    unsure: FloatArray  # (n, m) how far rounding may have moved them


@dataclass(frozen=True, eq=False)
class KernelRidgeGap(Certificate):
    """Objective of kernel ridge functions, how far they can be from the best ones, and their leave-one-out errors.

    Parameters
    ----------
    objective : ndarray, shape (m,)
        Σ s_i (y_i - f(x_i) - c)² + λ‖f‖² for each target.
    gap : ndarray, shape (m,)
        At most so much is the objective above its least value.
    distance : ndarray, shape (m,)
        At most so far is f from the best function: no prediction differs by more than this times sqrt(k(x, x)).
    left_out_error : ndarray, shape (m,)
        Mean squared residual of examples that were left out, one at a time.
    ridge : float
        λ.
    kernel : Kernel
        The kernel, every parameter a number.
    coefficients : ndarray, shape (m, n)
        f = Σ_j coefficients_j (k(x_j, ·) + clamp²), over all examples; 0 for those without weight.
    constants : ndarray, shape (m,)
        The unpenalised constants c; 0 if there are none.
    free : bool
        Whether the constants were fitted.
    clamp : float
        Value of the clamped input, whose square is added to the kernel; 0 for none.
    sample_weight : ndarray, shape (n,), or None
        Weights s_i of the examples, if not all 1.

    Examples
    --------
    >>> from halfspace.kernels import Linear
    >>> X, y = np.array([[1.0], [2.0]]), np.array([3.0, 6.0])
    >>> proof = KernelRidgeGap.measure(X, y, coefficients=np.array([[0.3, 0.6]]), kernel=Linear(), ridge=5.0)
    >>> print(proof, bool(proof.verify(X, y)))
    objective 22.5, at most 4.9e-26 above the least; left out, root mean square 3.727 True
    """

    objective: Annotated[FloatArray, "finite(m) >= 0"]
    gap: Annotated[FloatArray, "finite(m) >= 0"]
    distance: Annotated[FloatArray, "finite(m) >= 0"]
    left_out_error: Annotated[FloatArray, "finite(m) >= 0"]
    ridge: Annotated[float, "finite > 0", "asked"]
    kernel: Annotated[Kernel, "kernel", "asked"]
    coefficients: Annotated[FloatArray, "finite(m,n)"]
    constants: Annotated[FloatArray, "finite(m)"]
    free: Annotated[bool, "bool", "asked"]
    clamp: Annotated[float, "finite", "asked"]
    sample_weight: Annotated[FloatArray | None, "finite(n) >= 0 | none", "asked"]

    def __str__(self) -> str:
        lines = [
            f"objective {value:.6g}, at most {gap:.2g} above the least; left out, root mean square {np.sqrt(error):.4g}"
            for value, gap, error in zip(self.objective, self.gap, self.left_out_error, strict=True)
        ]
        if len(lines) > MANY:
            about = f"relative gap of all together {self.relative_gap:.2g}; {_left_out(self.left_out_error)}"
            return f"{len(lines)} targets; {about}"
        return lines[0] if len(lines) == 1 else "\n".join(f"target {k}: {line}" for k, line in enumerate(lines))

    @property
    def relative_gap(self) -> float:
        """The gap of all targets together, relative to their objective; 0 if that is 0."""
        return _relative(self.gap.sum(), self.objective.sum())

    @classmethod
    def measure(
        cls,
        X: Matrix,
        y: Labels,
        *,
        kernel: Kernel,
        coefficients: FloatArray,
        ridge: float,
        constants: FloatArray | None = None,
        clamp: float = 0.0,
        sample_weight: FloatArray | None = None,
        left_out_error: FloatArray | None = None,
    ) -> Self:
        """Measure functions with coefficients (m, n), and unpenalised constants (m,) if any, on X (n, d) and y (n,) or (n, m).

        `left_out_error`, shape (m,), is what a solver has at hand; it is computed if it is not given.
        """
        X, Y = read_targets(X, y, "KernelRidgeGap")
        m, free = Y.shape[1], constants is not None
        c, nothing = np.zeros(m) if constants is None else np.asarray(constants, dtype=np.float64), np.zeros(m)
        kernel = kernel.resolved(X)
        sums = nothing, nothing, nothing, nothing
        draft = cls(*sums, float(ridge), kernel, coefficients, c, free, clamp, sample_weight)
        with np.errstate(all="ignore"):
            part, X, Y = draft._with_weight(X, Y)
            found = part._measured(X, Y, slack=4.0)  # noqa: SLF001  (its own part)
            errors = left_out_error if left_out_error is not None else part._left_out(found, *part._own_share(X))[0]  # noqa: SLF001
        if not all(np.isfinite(number).all() for number in (*found[:3], errors)):
            msg = "KernelRidgeGap: examples, targets or weights are so large that squares overflow. Scale them."
            raise InputError(msg)
        return replace(draft, objective=found.objective, gap=found.gap, distance=found.distance, left_out_error=errors)

    def read(self, X: Matrix, y: Labels | None) -> tuple[Any, Labels]:
        """Check what is handed in: finite examples, and real targets."""
        return read_targets(X, y, type(self).__name__)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that constants were fitted if there are any, and that only examples with weight have coefficients."""
        s, free = self.sample_weight, self.free or not self.constants.any()
        return [
            (free, "a constant is not 0 though it was not fitted"),
            (not (self.free and self.clamp), "a constant cannot be both free and clamped"),
            some_weight(s),
            (s is None or not self.coefficients[:, s == 0.0].any(), "an example without weight has a coefficient"),
        ]

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return the functions."""
        functions = functions_of(np.arange(self.coefficients.shape[1]), self.coefficients)
        return {"kernel": self.kernel, "functions": functions, "bias": self.constants, "clamp": self.clamp, "voting": False}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute every number."""
        return self.confirm_left_out(X, y)[0]

    def confirm_left_out(self, X: Matrix, y: Labels) -> tuple[Verdict, FloatArray]:
        """Recompute every number; return also the residuals of examples left out, and how far off each may be, (2, n, m)."""
        (m, n), nothing = self.coefficients.shape, np.zeros((2, *y.shape))
        shaped = Verdict.of(
            (X.shape[0] == n, f"coefficients for {n} examples, but there are {X.shape[0]}"),
            (y.shape[1] == m, f"the certificate is about {m} targets, but y has {y.shape[1]}"),
            one_weight_each(self.sample_weight, y.shape[0]),
        )
        if not shaped:
            return shaped, nothing
        try:
            part, X, Y = self._with_weight(X, y)
            found = part._measured(X, Y, slack=1.0)  # noqa: SLF001  (its own part)
            share = part._own_share(X)  # noqa: SLF001
        except InputError as error:  # the kernel is indefinite, or was made for other data
            return Verdict.of((False, str(error))), nothing
        errors, room = part._left_out(found, *share)  # noqa: SLF001
        if not all(np.isfinite(number).all() for number in (*found, errors)):
            return Verdict.of((False, "examples, targets or weights are so large that squares overflow")), nothing
        close = np.abs(found.objective - self.objective) <= CLOSE * found.objective + 2.0 * found.blur
        same = np.abs(errors - self.left_out_error) <= room
        verdict = Verdict.of(
            (bool(close.all()), f"the objective is {found.objective}, not {self.objective}"),
            (bool((self.gap >= found.gap).all()), f"the gap can be {found.gap}, not only {self.gap}"),
            (bool((self.distance >= found.distance).all()), f"the distance can be {found.distance}, not only {self.distance}"),
            (bool(same.all()), f"the leave-one-out error is {errors}, not {self.left_out_error}"),
        )
        nothing[:, self._weights() > 0.0] = _grown(found, *share)
        return verdict, nothing

    def _weights(self) -> FloatArray:
        return np.ones(self.coefficients.shape[1]) if self.sample_weight is None else self.sample_weight

    def _with_weight(self, X: Matrix, Y: FloatArray) -> tuple[Self, Matrix, FloatArray]:
        """Return what is claimed of the examples that have weight, and these: of the others nothing is."""
        used = np.flatnonzero(self._weights())
        if used.size == X.shape[0]:
            return self, X, Y
        X = X[used][:, used] if self.kernel.is_precomputed else X[used]
        return replace(self, coefficients=self.coefficients[:, used], sample_weight=self._weights()[used]), X, Y[used]

    def _measured(self, X: Matrix, Y: FloatArray, slack: float) -> _Measured:
        """Measure on the data; bounds give away `slack` times what rounding can have changed."""
        a, rows, s = self.coefficients.T, np.arange(X.shape[0]), self._weights()[:, None]
        size, total = proved_scales(self.kernel, X, self.clamp), float(s.sum())
        F = outputs(self.kernel, X, rows, a, self.clamp)
        error, square_error = size.errors(rows, a)
        r, error = Y - F - self.constants, error + 4.0 * EPS * (np.abs(Y) + np.abs(F) + np.abs(self.constants))
        objective = (s * r * r).sum(axis=0) + self.ridge * squares_of(F, rows, a)
        blur = (s * (2.0 * np.abs(r) + error) * error).sum(axis=0) + self.ridge * square_error
        blur += 2.0 * EPS * (X.shape[0] + 8) * objective

        rest, unsure = np.zeros(Y.shape[1]), s * error + 8.0 * EPS * (self.ridge * np.abs(a) + s * np.abs(r))
        if self.free:
            rest = np.abs(a.sum(axis=0)) + slack * EPS * X.shape[0] * np.abs(a).sum(axis=0)
        share = np.where(s > 0.0, s, np.inf)
        misfit = np.abs(self.ridge * (a - s / total * a.sum(axis=0) * self.free) - s * r) + slack * unsure
        gap = (misfit**2 / share).sum(axis=0) + self.ridge * (rest * size.radius) ** 2
        gap *= 1.0 + 4.0 * EPS * (X.shape[0] + 8)
        return _Measured(objective, gap, np.sqrt(gap / self.ridge) * (1.0 + 8.0 * EPS), blur, r, error)

    def residuals(self, X: Matrix, y: Labels) -> tuple[FloatArray, FloatArray]:
        """Return the residuals of examples left out, for targets y (n, 1), and how far rounding may have moved each, (n,)."""
        left_out, unsure = _grown(self._measured(X, y, slack=1.0), *self._own_share(X))
        return left_out[:, 0], unsure[:, 0]

    def _left_out(self, found: _Measured, scale: FloatArray, tolerance: float) -> tuple[FloatArray, FloatArray]:
        """Return the mean squared error of examples left out, and how far off a claim may be, both of shape (m,)."""
        shares = (self._weights() / self._weights().sum())[:, None]
        errors = (shares * np.square(scale[:, None] * found.residuals)).sum(axis=0)
        unsure = 4.0 * np.sqrt((shares * np.square(scale[:, None] * found.unsure)).sum(axis=0))
        return errors, tolerance * errors + unsure * (2.0 * np.sqrt(errors) + unsure)

    def _own_share(self, X: Matrix) -> tuple[FloatArray, float]:
        """Return what residuals grow by when left out, shape (n,), 0 without weight, and the relative difference allowed."""
        s = self._weights()
        used = np.flatnonzero(s)
        root = np.sqrt(s[used])
        A = X[np.ix_(used, used)] if self.kernel.is_precomputed else self.kernel.exact(X[used])
        A = (A + self.clamp**2) * root * root[:, None]
        spread = float(A.diagonal().sum()) / self.ridge
        A[np.diag_indices(used.size)] += self.ridge
        try:
            factor = linalg.cholesky(A, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError as error:
            msg = "the kernel matrix with this ridge is too badly conditioned to be factored"
            raise InputError(msg) from error
        along = linalg.cho_solve((factor, True), root, check_finite=False)
        inverse = np.square(linalg.lapack.dtrtri(factor, lower=1)[0]).sum(axis=0)
        M = inverse - along**2 / (root @ along) if self.free else inverse
        scale = np.zeros(s.size)
        scale[used] = 1.0 / (self.ridge * M)
        return scale, max(CLOSE_LEFT_OUT, 64.0 * EPS * spread)


def _relative(gap: float, objective: float) -> float:
    """Return a gap relative to an objective, 0 if that is 0."""
    return float(gap / objective) if objective > 0.0 else 0.0


def _left_out(squares: FloatArray) -> str:
    """Return mean squared residuals of examples left out, shape (m,), in words: of many targets the least and the largest."""
    errors = [f"{error:.4g}" for error in np.sqrt(np.sort(squares) if squares.size > MANY else squares)]
    return f"left out, root mean square {f'{errors[0]} to {errors[-1]}' if len(errors) > MANY else ', '.join(errors)}"


def _grown(found: _Measured, scale: FloatArray, tolerance: float) -> tuple[FloatArray, FloatArray]:
    """Return the residuals of examples left out, shape (n, m), and how far rounding may have moved each."""
    left_out = scale[:, None] * found.residuals
    return left_out, tolerance * np.abs(left_out) + scale[:, None] * found.unsure


@dataclass(frozen=True, eq=False)
class KernelRidgeCells(PerCell):
    """The certificates of kernel ridge functions that know one cell each; it holds if all do, each on the examples it knows.

    Those are the examples of its cell, and maybe some of other cells that are borrowed: near a border, functions that know both
    of its sides predict better. Every example has its cell, whose function predicts there, and of which it is left out.

    Parameters
    ----------
    centres : ndarray, shape (K, d)
        Centres of the cells.
    cells : ndarray, shape (n,)
        The cell of every example: that of its nearest centre, in the coordinates of the kernel if it has any (`OnScales`). -1
        for an example without weight, which no part is about.
    parts : tuple of KernelRidgeGap
        One for each cell.
    sample_weight : ndarray, shape (n,), or None
        Weights of the examples, if not all 1; only one of weight 0 may have no cell.
    borrowed, borrowers : ndarray, shape (b,), or None
        Examples that the function of another cell than their own knows too, and the numbers of these cells.
    own_error : ndarray, shape (m,), or None
        Mean squared residual of examples when left out of the functions of their own cells, if any are borrowed.

    Examples
    --------
    >>> import halfspace as hs
    >>> X = np.linspace(0.0, 6.0, 40)[:, None]
    >>> proof = hs.KernelRegression(kernel_rows=20).fit(X, np.sin(X[:, 0])).certificate_
    >>> len(proof.parts), bool(proof.verify(X, np.sin(X[:, 0]))), bool(proof.verify(X, np.cos(X[:, 0])))
    (2, True, False)
    """

    borrowed: Annotated[IntArray | None, "int(b) in 0..n | none"] = None
    borrowers: Annotated[IntArray | None, "int(b) in 0..K | none"] = None
    own_error: Annotated[FloatArray | None, "finite(m) >= 0 | none"] = None

    def __str__(self) -> str:
        about = f"relative gap of all together {self.relative_gap:.2g}; {_left_out(self.left_out_error)}"
        return f"{len(self.parts)} cells, each with its proof; {about}"

    @property
    def relative_gap(self) -> float:
        """The gap of all cells together, relative to their objective: in a cell of one class alone both are rounding."""
        parts: Any = self.parts
        return _relative(sum(part.gap.sum() for part in parts), sum(part.objective.sum() for part in parts))

    @property
    def left_out_error(self) -> FloatArray:
        """Mean squared residual of examples that were left out of the function of their cell, shape (m,)."""
        if self.own_error is not None:
            return self.own_error
        parts: Any = self.parts
        shares = np.array([part._weights().sum() for part in parts])  # noqa: SLF001  (its own parts)
        return np.asarray(shares @ np.stack([part.left_out_error for part in parts]) / shares.sum())

    def places(self, X: Matrix) -> Matrix:
        """Return the rows in the coordinates of the kernel."""
        part: Any = self.parts[0]
        places: Matrix = part.kernel.coordinates(X)
        return places

    def read(self, X: Matrix, y: Labels | None) -> tuple[Any, Labels]:
        """Check what is handed in: finite examples, and real targets."""
        return read_targets(X, y, type(self).__name__)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that there are cells, each with the function of a kernel for the same targets."""
        ours = len(self.parts) > 0 and all(isinstance(part, KernelRidgeGap) for part in self.parts)
        sizes = {part.constants.size for part in self.parts if isinstance(part, KernelRidgeGap)}
        return [
            (ours and len(sizes) == 1, "there is not one KernelRidgeGap of the same targets for each cell"),
            self.everyone_in_a_cell(),
            self._fairly_borrowed(),
        ]

    def _fairly_borrowed(self) -> tuple[bool, str]:
        """Return the claim that no function knows an example twice, and that errors are told of all examples alike.

        A function that knew an example twice would still know it when it is left out.
        """
        given = [field is not None for field in (self.borrowed, self.borrowers, self.own_error)]
        if self.borrowed is None or self.borrowers is None or not all(given):
            return not any(given), "what is borrowed, by which cells, and the errors of all in their own: all three or none"
        pairs = np.unique(np.stack([self.borrowed, self.borrowers]), axis=1)
        home = self.cells[self.borrowed]
        apart = bool(((home >= 0) & (home != self.borrowers)).all()) and pairs.shape[1] == self.borrowed.size
        return apart, "a function knows an example twice, or one without a cell"

    def known(self, k: int, own: IntArray) -> IntArray:
        """Return the examples that part k is about, in their order: those of its cell, and what it has borrowed."""
        if self.borrowed is None or self.borrowers is None:
            return own
        return np.sort(np.concatenate([own, self.borrowed[self.borrowers == k]]))

    def residuals(self, X: Matrix, y: Labels) -> tuple[FloatArray, FloatArray]:
        """Return the residuals of examples left out of their cells, for targets y (n, 1), and the rounding of each, (n,)."""
        left_out, unsure = self.confirm_left_out(X, y)[1]
        return left_out[:, 0], unsure[:, 0]

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Check the cells, every part on the examples it is about, and the error of all examples in their own cells."""
        return self.confirm_left_out(X, y)[0]

    def confirm_left_out(self, X: Matrix, y: Labels) -> tuple[Verdict, FloatArray]:
        """Check every part; return also the residuals of examples left out of their cells, and their rounding, (2, n, m)."""
        found, parts = np.zeros((2, *y.shape)), self.parts

        def check(k: int, mine: IntArray) -> Verdict:
            part: Any = parts[k]
            verdict: Verdict
            verdict, told = part.confirm_left_out(X[mine], y[mine])
            own = self.cells[mine] == k
            found[:, mine[own]] = told[:, own]
            return verdict

        verdict = self.confirm_by(check, X, y)
        if not verdict or self.own_error is None:
            return verdict, found
        s = np.ones(y.shape[0]) if self.sample_weight is None else self.sample_weight
        shares, (residuals, unsure) = (s / s.sum())[:, None], found
        errors = (shares * np.square(residuals)).sum(axis=0)
        room = (shares * (2.0 * np.abs(residuals) + unsure) * unsure).sum(axis=0) + CLOSE * errors
        close = self.own_error.shape == errors.shape and bool((np.abs(errors - self.own_error) <= room).all())
        return Verdict.of(
            (close, f"the error of examples left out of their own cells is {errors}, not {self.own_error}")
        ), found

    def predictor(self, y: Labels) -> dict[str, Any]:
        """Return the centres and the functions of each cell; rows count among all examples."""
        found, kernels, biases = [], [], []
        for k, part in enumerate(self.parts):
            mine, answer = self.known(k, np.flatnonzero(self.cells == k)), part.predictor(y)
            found.append([(mine[rows], c) for rows, c in answer["functions"]])
            kernels.append(answer["kernel"])
            biases.append(answer["bias"] + answer["clamp"] ** 2 * part.coefficients.sum(axis=1))  # type: ignore[attr-defined]
        return {
            "kernel": kernels[0] if all(same(kernel, kernels[0]) for kernel in kernels) else None,
            "centres": self.centres,
            "functions": found,
            "bias": np.stack(biases),
            "classes of cells": np.ones((len(found), biases[0].size), dtype=bool),
        }


def class_targets(target: IntArray, classes: int) -> FloatArray:
    """Return ±1 for class numbers (n,): shape (n, 1) for two classes, +1 for the second; (n, K) for more, +1 for its own.

    Examples
    --------
    >>> class_targets(np.array([0, 2, 1]), 3).tolist()
    [[1.0, -1.0, -1.0], [-1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]]
    """
    positive = np.arange(1, 2) if classes == 2 else np.arange(classes)
    return np.where(target[:, None] == positive, 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class KernelRidgeClasses(Certificate):
    """Kernel ridge functions whose targets are ±1 for classes: their proof, and the mistakes they make on examples left out.

    Parameters
    ----------
    classes : tuple
        The labels. Of two the second counts as +1, of more each does in a function of its own.
    part : KernelRidgeGap or KernelRidgeCells
        The claim about the functions.
    mistakes : int
        Examples of positive weight that are misclassified when left out, one at a time.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y = np.array([[1.0], [2.0], [-1.0], [-2.0]]), np.array(["b", "b", "a", "a"])
    >>> part = hs.KernelRegression("linear", ridge=0.1).fit(X, np.where(y == "b", 1.0, -1.0)).certificate_
    >>> proof = KernelRidgeClasses(("a", "b"), part, 0)
    >>> bool(proof.verify(X, y)), bool(proof.verify(X, y[::-1]))
    (True, False)
    """

    classes: Annotated[tuple[Label, ...], "classes(K)"]
    part: Annotated[Certificate, "certificate"]
    mistakes: Annotated[int, "int >= 0"]

    def __str__(self) -> str:
        lines = str(self.part).splitlines()
        return f"{self.mistakes} mistakes on examples left out, one at a time; of targets ±1: {'; '.join(lines)}"

    @property
    def relative_gap(self) -> float:
        """The gap of all functions together, relative to their objective."""
        part: Any = self.part
        return float(part.relative_gap)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that the part is about as many functions as the classes need."""
        if not isinstance(self.part, KernelRidgeGap | KernelRidgeCells):
            return [(False, "the part is not about functions of a kernel")]
        one = self.part if isinstance(self.part, KernelRidgeGap) else self.part.parts[0] if self.part.parts else None
        m = 1 if len(self.classes) == 2 else len(self.classes)
        fits = isinstance(one, KernelRidgeGap) and one.constants.size == m
        return [(fits, f"{m} functions expected for {len(self.classes)} classes")]

    def predictor(self, y: Labels) -> dict[str, Any]:
        """Return the functions, and the labels that count as +1."""
        labels = list(self.classes)
        return {**self.part.predictor(y), "positive": labels[1:] if len(labels) == 2 else labels}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Check the part about targets ±1, and count the mistakes again."""
        known = Verdict.of(known_labels(y, self.classes))
        if not known:
            return known
        number = {label: k for k, label in enumerate(self.classes)}
        target = np.array([number[label] for label in y.tolist()])
        T = class_targets(target, len(self.classes))
        part: Any = self.part
        proved, (residuals, unsure) = part.confirm_left_out(X, T)
        if not proved:
            return proved  # type: ignore[no-any-return]
        least, most = _mistakes(T, residuals, unsure, part.sample_weight)
        text = f"{least} to {most} examples are misclassified when left out, not {self.mistakes}"
        return Verdict.of((least <= self.mistakes <= most, text))


def _mistakes(T: FloatArray, residuals: FloatArray, unsure: FloatArray, s: FloatArray | None) -> tuple[int, int]:
    """Return how many examples of weight are surely misclassified, and how many may be, if outputs T - residuals are unsure."""
    F, used = T - residuals, np.ones(T.shape[0], dtype=bool) if s is None else s > 0.0
    unsure = unsure + 8.0 * EPS * (1.0 + np.abs(F))
    if T.shape[1] == 1:
        margin, blur = T[:, 0] * F[:, 0], unsure[:, 0]
    else:
        own = T.argmax(axis=1)[:, None]
        others = np.where(T > 0.0, -np.inf, F)
        margin = np.take_along_axis(F, own, axis=1)[:, 0] - others.max(axis=1)
        blur = 2.0 * unsure.max(axis=1)
    return int(np.count_nonzero(used & (margin < -blur))), int(np.count_nonzero(used & (margin <= blur)))
