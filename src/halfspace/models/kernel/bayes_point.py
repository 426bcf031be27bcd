"""The Bayes point: the centre of the version space as a classifier."""

import sys
import time
import warnings
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from halfspace._memory import admit
from halfspace._text import listed
from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates import KernelBracket, MarginBracket, PerClass, Separability, VersionSpaceCentre
from halfspace.certificates.expansion import Scales, scales
from halfspace.certificates.margins.bracket import SLACK
from halfspace.certificates.margins.centre import NONE
from halfspace.certificates.rational import dense_rows
from halfspace.certificates.version_space import outside, unsure
from halfspace.errors import InputError, NotSeparatedWarning
from halfspace.kernels import Kernel
from halfspace.models.kernel.prediction import Expansion, KernelPlaneMixin
from halfspace.models.parameters import (
    Examples,
    budget_of,
    check_common,
    is_ready,
    read_examples,
    read_matrix,
    require_choice,
    restored_on_error,
    usable_rows,
)
from halfspace.models.planes.prediction import shared
from halfspace.rows.operations import outputs
from halfspace.solvers.exact.separating import Signed, contradiction
from halfspace.solvers.outcome import Outcome, Reason
from halfspace.solvers.run import Budget, run
from halfspace.solvers.sampling.cone import Cone, Drawing, bytes_of_cone, spanned

__all__ = ["BayesPoint"]

BATCHES = 20
"""Batches of members, for the standard error of their mean."""
ENTERED, DRAWN, DECOMPOSED = 2e-8, 2e-10, 4e-10
"""Seconds of an entry of the rows to begin with a problem; of products of walls, over the square of the rows times the columns;
and of a decomposition, over the cube of the rows."""


class _Answer(NamedTuple):
    """What was found about one problem."""

    centre: FloatArray  # (D,) weights, or coefficients of the examples, of length 1
    members: FloatArray  # (S, D)
    error: float  # standard error of the centre's direction, an angle
    reason: Reason
    empty: Separability | None = None


class BayesPoint(KernelPlaneMixin, ClassifierMixin, BaseEstimator):
    """The plane at the centre of the version space, and how many of the other planes there disagree with it.

    All planes that agree with the labels are equally good guesses: the version space. Its centre of mass is the plane that
    disagrees least with a random one of them, and the share that disagrees on an example says how sure the labels make the
    answer. Members are drawn by a billiard (`halfspace.solvers.sampling.billiard`), each is proved to agree with all labels,
    and the answer is the direction of their mean. It tolerates no errors: where no plane agrees with all labels there is no
    version space, and `outcome_` says so, with the proof where one exists.

    In the words of lectures: the centre of mass of the version space, of which the plane of maximal stability is the centre of
    the largest ball.

    Parameters
    ----------
    kernel : str, Kernel, callable or None, default None
        None for planes in the input space; or as for `KernelAdaTron`: then planes in the kernel's space.
    gamma, degree, coef0
        Parameters of a kernel given by name, as in scikit-learn.
    n_members : int, default 1000
        Members of the version space to draw, for each class where there are more than two.
    intercept : {"clamped", "none"}, default "clamped"
        Bias as the weight of a clamped input, which counts in the length of weights, or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    max_time : float, optional
        Time limit in seconds; fewer members are drawn if it is reached.
    verbose : int, default 0
        1: a line for each class.
    random_state : int, RandomState or None
        Seed of the members.

    Attributes
    ----------
    certificate_ : VersionSpaceCentre or PerClass
        The members, each proved to agree with all labels, and that the answer is their mean; or that no plane agrees.
    outcome_ : Outcome
        Why the fit stopped, and a remedy.
    coef_, intercept_ : ndarray, shape (K, d), (K,)
        The plane, of length 1 with the clamped weight; of a kernel `dual_coef_` and `support_vectors_` instead of `coef_`.
    members_ : list of ndarray, shape (S, D)
        Members of each problem: weights with the clamped one last, or coefficients of the examples.
    centre_error_ : ndarray, shape (K,)
        Standard error of the answer's direction, an angle in radians; NaN without members.
    classes_, n_features_in_, n_iter_
        As in scikit-learn; `n_iter_` is the number of members drawn, the most of any class.

    See Also
    --------
    VersionSpace : The same space as an object to ask: volume, outline, forced labels.

    Notes
    -----
    On most data sets a soft margin with a chosen C errs less (`AdaTronCV`, `KernelAdaTronCV`): this is for data without wrong
    labels, and for knowing which answers the labels leave open. On inseparable data the answer is the plane of least squared
    hinge loss that the search for a separating plane ended with.

    Examples
    --------
    >>> import halfspace as hs
    >>> toy = hs.data.teacher_student(60, 5, random_state=0)
    >>> model = hs.BayesPoint(intercept="none", random_state=0).fit(toy.X, toy.y)
    >>> model.outcome_.reason, bool(model.verify(toy.X, toy.y))
    ('solved', True)
    >>> bool((model.disagreement(toy.X) == 0).all())  # on the labels given all members agree
    True
    >>> new = hs.data.teacher_student(1000, 5, random_state=1).X
    >>> open_ones = model.disagreement(new) > 0.2
    >>> right = model.predict(new) == (new @ toy.teacher > 0) * 2 - 1
    >>> bool(right[open_ones].mean() < right[~open_ones].mean())
    True
    """

    learnt: ClassVar[dict[str, Any]] = {
        "?_expansion": Expansion,
        "?_W": "finite8(K,D)",
        "members_": ["finite8(_s,_w)"],
        "centre_error_": "f8(K)",
    }

    members_: list[FloatArray]
    _W: FloatArray

    def __init__(
        self,
        kernel: Any = None,
        *,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        n_members: int = 1000,
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        max_time: float | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_members = n_members
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.max_time = max_time
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Matrix, y: Labels) -> Self:
        """Draw members of the version space, and take their mean.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples; of a precomputed kernel its matrix, shape (n, n).
        y : array, shape (n,)
            Labels of any kind: numbers, strings, bools.

        Returns
        -------
        self
            With `certificate_`, `outcome_`, `members_`, `centre_error_`, `n_iter_`, `classes_`.
        """
        with restored_on_error(self):
            return self._fit(X, y, time.perf_counter())

    def _fit(self, X: Matrix, y: Labels, began: float) -> Self:
        self._check_parameters()
        data = read_examples(self, X, y, self._asked_clamp())
        data.inspection()
        (n, d), K = data.X.shape, data.positive.size
        width = d + bool(data.clamp) if self.kernel is None else n
        needed = bytes_of_cone(n, width, K * int(self.n_members), kernel=self.kernel is not None)
        admit(type(self).__name__, needed, f"the walls of {n:,} x {d:,}", "give fewer rows or columns", data.X)
        kernel, shift = (None, 0.0) if self.kernel is None else self._proved_kernel(data.X)
        problem = _Planes(data) if kernel is None else _Functions(data, kernel, shift)
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=K)
        budget = budget_of(self, began, 2.0 * (int(self.n_members) + K) * n * width)
        answers = []
        for k, seed in enumerate(seeds.tolist()):
            answers.append(self._solve(problem, k, budget, np.random.default_rng(seed)))
            if self.verbose:
                sys.stderr.write(f"[{type(self).__name__}] {len(answers[-1].members):,} members drawn\n")
        self._store(problem, answers)
        self.outcome_ = self._explained(answers)
        return self

    def _check_parameters(self) -> None:
        require_choice(self, "intercept", "clamped", "none")
        if self.kernel is not None:
            self._asked_kernel()
        check_common(self)

    def _solve(self, problem: "_Planes", k: int, budget: Budget, rng: np.random.Generator) -> _Answer:
        """Draw members of one problem, or find out that there are none."""
        left = budget.left()
        if left is not None and problem.seconds() >= left:  # no time to begin with it
            return _Answer(problem.mean(k), NONE, np.nan, "time budget spent")
        cone, signs = problem.cone(k), problem.signs[k]
        found = cone.enter(signs, lambda: budget.left() == 0.0)
        if not found.margin > 0.0:
            plane, empty = cone.shown(cone.at[None])[0], problem.contradiction(k, found.multipliers)
            reason: Reason = "proved inseparable" if empty is not None else "rounding limit reached"
            reason = "time budget spent" if empty is None and budget.left() == 0.0 else reason
            return _Answer(plane, NONE, np.nan, reason, empty)
        left = budget.left()
        if left is not None and DRAWN * signs.size**2 * cone.walls.shape[1] >= left:
            return _Answer(cone.shown(cone.at[None])[0], NONE, np.nan, "time budget spent")
        drawing = Drawing(cone, int(self.n_members), rng, partial(problem.outside, k))
        done = run(drawing, budget._replace(max_iter=1 << 62))
        members = done.state.members(int(self.n_members))
        if not len(members):
            plane = cone.shown(cone.at[None])[0]
            return _Answer(plane, NONE, np.nan, done.outcome.reason)
        mean = members.mean(axis=0)
        parts = np.array_split(members, min(BATCHES, len(members)))
        spread = np.stack([part.mean(axis=0) for part in parts]) - mean
        length = np.sqrt(problem.square(mean))
        error = np.sqrt(sum(map(problem.square, spread)) / max(len(parts) * (len(parts) - 1), 1)) / length
        return _Answer(mean / length, members, float(error) if len(parts) > 1 else np.nan, done.outcome.reason)

    def _store(self, problem: "_Planes", answers: list[_Answer]) -> None:
        """Keep the answers and prove them."""
        data, W = problem.data, np.array([answer.centre for answer in answers])
        self._fitted_clamp, self.classes_ = data.clamp, data.classes
        self.n_iter_ = max(len(answer.members) for answer in answers)
        self.members_ = [answer.members for answer in answers]
        self.centre_error_ = np.array([answer.error for answer in answers])
        for name in {"_W", "_expansion"} & vars(self).keys():
            delattr(self, name)
        if isinstance(problem, _Functions):
            rows = np.arange(data.y.size)
            self._expansion = Expansion(problem.kernel, data.X[rows], rows, W, data.clamp**2 * W.sum(axis=1))
        else:
            self._W = W
        proofs = tuple(
            VersionSpaceCentre(problem.bracket(k, shared(W[k])), answer.members, answer.empty)
            for k, answer in enumerate(answers)
        )
        self.certificate_ = proofs[0] if len(proofs) == 1 else PerClass(tuple(data.classes.tolist()), proofs)

    def _explained(self, answers: list[_Answer]) -> Outcome:
        """Say whether there is a version space, and how well its centre is known."""
        drawn = min(len(answer.members) for answer in answers)
        reasons = [answer.reason for answer in answers]
        if drawn and drawn == int(self.n_members):
            angle = np.degrees(float(np.max(self.centre_error_)))
            known = f", which gives its direction to within {angle:.2g}°" if np.isfinite(angle) else ""
            return Outcome("solved", f"The answer is the mean of {drawn:,} planes that agree with all labels{known}.")
        if drawn:
            reason = next(reason for reason in reasons if reason != "solved")
            sentence = f"Only {drawn:,} of {self.n_members:,} members of the version space were drawn: {reason}."
            return Outcome(reason, sentence, "Raise max_time, or ask for fewer members.")
        without = [k for k, answer in enumerate(answers) if not len(answer.members)]
        proved = all(answers[k].empty is not None for k in without)
        labels = self.classes_.tolist()
        who = "" if len(answers) == 1 else f" for {listed([repr(labels[k]) for k in without])} against the rest"
        ways = "AdaTron(C=1) tolerates errors" + ("." if self.kernel else ", and a kernel may separate what a plane cannot.")
        if proved:
            sentence = f"Proved inseparable{who}: no plane agrees with all labels, so there is no version space."
            outcome = Outcome("proved inseparable", sentence, f"{ways} Or correct labels: `certificate_` names the rows.")
        else:
            why = reasons[next(k for k in without if answers[k].empty is None)]
            sentence = f"No member of the version space is known{who}: neither separated nor proved inseparable."
            remedy = "Raise max_time." if why == "time budget spent" else "Scale the columns, or use a narrower kernel."
            outcome = Outcome(why, sentence, f"{remedy} If no plane exists: {ways}")
        if outcome.reason != "interrupted":
            warnings.warn(f"{type(self).__name__}: {outcome}", NotSeparatedWarning, stacklevel=4)
        return outcome

    # ------------------------------------------------------------ answering
    def _answer(self) -> tuple[FloatArray, FloatArray]:
        return (self._W if hasattr(self, "_W") else self._expansion.coefficients), np.zeros((0, 0))

    @property
    def alpha_(self) -> FloatArray:
        """There are no strengths: the answer is a mean."""
        msg = "a BayesPoint has no strengths of examples: its answer is the mean of members_"
        raise AttributeError(msg)

    @property
    def support_(self) -> IntArray:
        """There are no support vectors in the usual sense."""
        msg = "a BayesPoint has no strengths of examples: its answer is the mean of members_"
        raise AttributeError(msg)

    @property
    def coef_(self) -> FloatArray:
        """Weights of the features, shape (K, d); K = 1 for two classes."""
        W = self._known()[0]
        if not hasattr(self, "_W"):
            msg = "this BayesPoint has a kernel: dual_coef_ and support_vectors_ are what it has learnt"
            raise AttributeError(msg)
        return W[:, :-1].copy() if self._clamp else W.copy()

    @property
    def intercept_(self) -> FloatArray:
        """Bias, shape (K,)."""
        W = self._known()[0]
        if not hasattr(self, "_W"):
            return self._expansion.bias.copy()
        return W[:, -1] * self._clamp if self._clamp else np.zeros(W.shape[0])

    def _scores(self, X: Matrix) -> FloatArray:
        view, _ = usable_rows(X, self._clamp if hasattr(self, "_W") else 0.0, type(self).__name__)
        return outputs(view, self._W) if hasattr(self, "_W") else self._expansion.outputs(X)

    def disagreement(self, X: Matrix) -> FloatArray:
        """Return the share of the version space that says another class than the answer, shape (n,): 0 where all agree.

        With more than two classes a member is a plane for each class, and says the class of largest output.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        check_is_fitted(self)
        sizes = {len(members) for members in self.members_}
        if 0 in sizes:
            msg = f"{type(self).__name__}.disagreement: there is no version space to disagree. {self.outcome_}"
            raise InputError(msg)
        X = X if is_ready(self, X) else read_matrix(self, X, reset=False)
        said = self._choices(self._scores(X))
        against, S = np.zeros(said.size), min(sizes)
        for s in range(S):
            planes = np.array([members[s] for members in self.members_])
            against += self._choices(self._outputs(X, planes)) != said
        share: FloatArray = against / S
        return share

    def _outputs(self, X: Matrix, planes: FloatArray) -> FloatArray:
        """Return the outputs of other planes than the answer, shape (n, K)."""
        if hasattr(self, "_W"):
            return outputs(usable_rows(X, self._clamp, type(self).__name__)[0], planes)
        bias = self._clamp**2 * planes.sum(axis=1)
        return self._expansion._replace(coefficients=planes, bias=bias).outputs(X)

    @staticmethod
    def _choices(scores: FloatArray) -> IntArray:
        """Return the class numbers that scores (n, K) say."""
        said: IntArray = (scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return said

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse a model with both or neither of a plane and a function, and members of another width."""
        if ("_W" in fitted) == ("_expansion" in fitted):
            raise ValueError("BayesPoint: it should have either weights or a function of a kernel")
        if "_expansion" in fitted:
            super().check_learnt(fitted, sizes)
        width = sizes["D"] if "_W" in fitted else fitted["_expansion"].rows.size
        members = fitted["members_"]
        if len(members) != sizes["K"] or any(part.shape[1] != width for part in members if len(part)):
            raise ValueError("BayesPoint: there are not members of every problem")


class _Planes:
    """The problems of planes in the input space."""

    def __init__(self, data: Examples) -> None:
        self.data = data
        self.signs = np.where(data.target == data.positive[:, None], 1.0, -1.0)
        self.rows = dense_rows(data.X, np.arange(data.y.size), data.clamp)

    def cone(self, k: int) -> Cone:
        return Cone(self.signs[k][:, None] * self.rows)

    def seconds(self) -> float:
        """Return about how many seconds a cone takes before anything is known of it."""
        return ENTERED * self.rows.size

    def mean(self, k: int) -> FloatArray:
        """Return the mean of the signed examples, of length 1: the plane of Hebb's rule, where there is no time for another."""
        w = self.signs[k] @ self.rows
        length = np.linalg.norm(w)
        return np.asarray(w / length if length > 0.0 else w)

    def outside(self, k: int, members: FloatArray) -> Labels:
        return outside(self.signs[k][:, None] * self.rows, members)

    def square(self, w: FloatArray) -> float:
        return float(w @ w)

    def label(self, k: int) -> Any:
        return self.data.classes[self.data.positive].tolist()[k]

    def contradiction(self, k: int, multipliers: Any) -> Separability | None:
        """Return the proof that no plane agrees with all labels."""
        if not multipliers:
            return None
        biased = bool(self.data.clamp)
        return Separability.by_multipliers(multipliers, self.data.X.shape[1], intercept=biased, positive=self.label(k))

    def bracket(self, k: int, w: FloatArray) -> MarginBracket:
        data = self.data
        strengths = np.ones(data.y.size)
        return MarginBracket.measure(data.X, data.y, weights=w, strengths=strengths, clamp=data.clamp, positive=self.label(k))


class _Functions(_Planes):
    """The problems of functions in a kernel's space."""

    def __init__(self, data: Examples, kernel: Kernel, shift: float) -> None:
        self.data, self.kernel = data, kernel
        self.signs = np.where(data.target == data.positive[:, None], 1.0, -1.0)
        self.rows = dense_rows(data.X, np.arange(data.y.size), 0.0) if kernel.is_precomputed else kernel.exact(data.X)
        self.rows = self.rows + data.clamp**2
        self.size: Scales = scales(kernel, data.X, data.clamp, shift)

    @cached_property
    def span(self) -> tuple[FloatArray, FloatArray]:
        """Directions and lengths of the examples in the kernel's space, the same for all classes."""
        return spanned(self.rows)

    def cone(self, k: int) -> Cone:
        return Cone.in_span(*self.span, self.signs[k])

    def seconds(self) -> float:
        n = self.rows.shape[0]
        return ENTERED * n * n + (0.0 if "span" in vars(self) else DECOMPOSED * n**3)

    def mean(self, k: int) -> FloatArray:
        length = np.sqrt(max(self.square(self.signs[k]), 0.0))
        return np.asarray(self.signs[k] / length if length > 0.0 else self.signs[k])

    def outside(self, k: int, members: FloatArray) -> Labels:
        data = self.data
        return unsure(self.kernel, data.X, self.signs[k], members, data.clamp, self.size, SLACK)

    def square(self, w: FloatArray) -> float:
        return float(w @ self.rows @ w)

    def contradiction(self, k: int, multipliers: Any) -> Separability | None:
        """Return the proof that an example has both labels."""
        data, signs = self.data, self.signs[k]
        if self.kernel.is_precomputed:
            return None
        nothing = np.zeros(data.X.shape[1] + bool(data.clamp))
        pair = contradiction(Signed(data.X, data.view, signs, data.clamp), signs * outputs(data.view, nothing[None])[:, 0])
        return super().contradiction(k, pair if len(pair) == 2 else None)

    def bracket(self, k: int, w: FloatArray) -> KernelBracket:  # type: ignore[override]
        data = self.data
        strengths = np.ones(data.y.size)
        common: dict[str, Any] = {"kernel": self.kernel, "clamp": data.clamp, "positive": self.label(k)}
        return KernelBracket.measure(data.X, data.y, strengths=strengths, coefficients=w, **common)
