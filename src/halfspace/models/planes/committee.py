"""A committee of perceptrons."""

import sys
import time
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates.margins.vote import TIE_BREAK, CommitteeVote, Count, count_votes
from halfspace.models.parameters import (
    PROVED,
    Examples,
    budget_of,
    check_common,
    is_ready,
    read_examples,
    read_matrix,
    require,
    require_choice,
    require_number,
    restored_on_error,
    usable_rows,
)
from halfspace.models.planes.prediction import PredictingMixin
from halfspace.rows.labels import example_weights
from halfspace.rows.operations import outputs
from halfspace.rows.orders import Orders
from halfspace.rows.threads import n_workers, side_by_side
from halfspace.rows.views import entries_per_row, view_of
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.presenting import Presenting
from halfspace.solvers.rules.rosenblatt import Rosenblatt
from halfspace.solvers.rules.sweep import Task
from halfspace.solvers.run import Shares, run

__all__ = ["PerceptronCommittee"]

COUNTED = 25
"""Entries that are read in the time that counting one vote takes."""


class _Member(NamedTuple):
    """What a member's training left."""

    W: FloatArray  # (K, D)
    epochs: int
    outcome: Outcome


class PerceptronCommittee(PredictingMixin, ClassifierMixin, BaseEstimator):
    """Several perceptrons that saw the examples differently, and vote; their disagreement says where to be careful.

    An ensemble, or committee machine with a fixed vote: its members learn independently of each other.

    Parameters
    ----------
    n_members : int, default 11
        Number of perceptrons; an odd one avoids most ties.
    diversity : {"order", "bootstrap", "features"}, default "order"
        What differs: the order of the examples, the examples themselves (drawn with replacement), or the features used.
    max_features : float, default 0.5
        Share of the features each member uses, for `diversity="features"`; at least one feature.
    vote : {"majority", "stability"}, default "majority"
        Add up votes (a tie goes to the larger summed stability, then to the lowest class), or stabilities f(x)/‖w‖.
    eta0 : float, default 1.0
        Rate.
    margin : float, default 0.0
        An example counts as a mistake until its potential y f(x) exceeds this.
    intercept : {"clamped", "none"}, default "clamped"
        Bias as the weight of a clamped input, or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    max_iter : int, default 10
        Maximum number of epochs of each member.
    max_time : float, optional
        Time limit in seconds for the whole committee, in equal parts.
    class_weight : dict or "balanced", optional
        Rate multiplier per class.
    n_jobs : int, optional
        Threads to train members in. The answer is the same for any number, unless `max_time` ends the training.
    verbose : int, default 0
        1 or more: a line per member.
    random_state : int, RandomState or None
        Seed of what differs.

    Attributes
    ----------
    members_ : ndarray, shape (M, K, D)
        Weights of each member, one plane per class (one in all for two classes), clamped weight last.
    disagreement_ : ndarray, shape (n,)
        Share of members voting against the committee, per training example.
    certificate_ : CommitteeVote
        Training errors and mean disagreement, with the planes; `certificate_.verify(X, y)` checks it.
    outcome_ : Outcome
        Why the training stopped.
    classes_, n_features_in_, n_iter_
        As in scikit-learn; `n_iter_` is the most epochs of any member.

    Examples
    --------
    >>> from halfspace.data import two_clouds
    >>> import halfspace as hs
    >>> X, y, *_ = two_clouds(100, 2, distance=12.0)
    >>> model = hs.PerceptronCommittee(random_state=0).fit(X, y)
    >>> print(model.certificate_, bool(model.certificate_.verify(X, y)))
    11 members, 0 training errors, disagreement 0 True
    """

    learnt: ClassVar[dict[str, Any]] = {
        "members_": "finite8(M,K,D)",
        "_radius": "number",
        "_fitted_vote": "str",
        "disagreement_": "f8(n)",
    }

    classes_: Labels

    def __init__(
        self,
        *,
        n_members: int = 11,
        diversity: str = "order",
        max_features: float = 0.5,
        vote: str = "majority",
        eta0: float = 1.0,
        margin: float = 0.0,
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        max_iter: int = 10,
        max_time: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_members = n_members
        self.diversity = diversity
        self.max_features = max_features
        self.vote = vote
        self.eta0 = eta0
        self.margin = margin
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.max_time = max_time
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Matrix, y: Labels) -> Self:
        """Train every member.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples; float32 and float64 are used as they are.
        y : array, shape (n,)
            Labels of any kind: numbers, strings, bools.

        Returns
        -------
        self
            With `members_`, `disagreement_`, `certificate_`, `outcome_`, `n_iter_`, `classes_`.
        """
        with restored_on_error(self):
            return self._fit(X, y)

    def _fit(self, X: Matrix, y: Labels) -> Self:
        began = time.perf_counter()
        self._check_parameters()
        data = read_examples(self, X, y, self._asked_clamp())
        data.inspection()
        s = example_weights(self.class_weight, None, data.classes, data.target, type(self).__name__)
        members = self._train(data, s, began)
        self._fitted_clamp, self._fitted_vote, self.classes_ = data.clamp, self.vote, data.classes
        self.members_ = np.array([member.W for member in members])
        self.n_iter_ = max(member.epochs for member in members)
        classes = tuple(data.classes.tolist())
        common: dict[str, Any] = {"members": self.members_, "vote": self.vote, "clamp": data.clamp}
        self.certificate_ = CommitteeVote.measure(data.X, data.y, classes=classes, **common)
        self._radius = self.certificate_.radius
        self.disagreement_ = self._count(data.X).disagreement()
        self.outcome_ = self._explained(members)
        return self

    def _check_parameters(self) -> None:
        require_choice(self, "diversity", "order", "bootstrap", "features")
        share = isinstance(self.max_features, Real) and not isinstance(self.max_features, bool)
        require(self, "max_features", "a share above 0 and at most 1", holds=share and 0 < self.max_features <= 1)
        require_choice(self, "vote", "majority", "stability")
        require_number(self, "eta0")
        require_number(self, "margin", least=0.0)
        require_choice(self, "intercept", "clamped", "none")
        check_common(self)

    def _train(self, data: Examples, s: FloatArray, began: float) -> list[_Member]:
        """Train the members, each with a seed of its own; Ctrl-C and the time limit keep those that were trained."""
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        seeds = np.random.SeedSequence(seed).spawn(int(self.n_members))
        budget, planes = budget_of(self, began), data.positive.size
        one = planes * (2 * data.entries + COUNTED * data.y.size) / PROVED  # seconds of a member's share of the proof
        left = budget.left()
        seeds = seeds if left is None else seeds[: max(1, int(0.5 * left / one))]
        workers = n_workers(self.n_jobs or 1, len(seeds))
        shares = Shares.of(budget._replace(reserve=len(seeds) * one), workers, len(seeds))
        if workers > 1:
            return side_by_side(lambda chance: self._train_one(data, s, chance, shares), seeds, workers)
        members: list[_Member] = []
        for chance in seeds:
            if members and shares.deadline is not None and shares.over():
                break
            members.append(self._train_one(data, s, chance, shares))
            if members[-1].outcome.reason == "interrupted":
                break
        return members

    def _train_one(self, data: Examples, s: FloatArray, chance: np.random.SeedSequence, shares: Shares) -> _Member:
        """Train one member on its order, its draw or its features."""
        budget = shares.next()
        begin, rng, n = time.perf_counter(), np.random.default_rng(chance), data.y.size
        view, d = data.view, data.X.shape[1]
        used = np.arange(d)
        if self.diversity == "features":
            used = np.sort(rng.choice(d, max(1, round(float(self.max_features) * d)), replace=False))
            view = view_of(data.X[:, used], data.clamp)
        task = Task(view, data.target, data.positive, data.q, s)
        orders = Orders.shuffled(n, entries_per_row(view), data.target, int(rng.integers(2**62)))
        if self.diversity == "bootstrap":
            orders = Orders(rng.integers(n, size=n), 1, orders.seed)
        end = run(Presenting(Rosenblatt(float(self.eta0), float(self.margin)), task, orders), budget)
        W, found = np.zeros((data.positive.size, d + bool(data.clamp))), end.state.state.W
        W[:, used] = found[:, : used.size]
        W[:, d:] = found[:, used.size :]
        if self.verbose:
            seconds = time.perf_counter() - begin
            sys.stderr.write(f"[{type(self).__name__}] a member in {end.rounds} epochs, {seconds:.1f} s: {end.outcome}\n")
        return _Member(W, end.rounds, end.outcome)

    def _explained(self, members: list[_Member]) -> Outcome:
        """Say how far the members came."""
        reasons = [member.outcome.reason for member in members]
        done = sum(member.outcome.converged for member in members)
        sentence = f"{done} of {len(members)} members separate the examples they were shown."
        if len(members) < self.n_members:
            sentence += f" There was no time for {self.n_members - len(members)} more." * ("interrupted" not in reasons)
        if done == len(members):
            return Outcome("converged", sentence)
        if "interrupted" in reasons:
            text = f"Interrupted with {len(members)} of {self.n_members} members, the last one unfinished. {sentence}"
            return Outcome("interrupted", text, "Fit again for a full committee.")
        for reason in ("diverged", "time budget spent"):
            if reason in reasons:
                member = members[reasons.index(reason)]
                remedy = member.outcome.remedy or "Raise max_time, or use fewer members."
                return Outcome(member.outcome.reason, f"{member.outcome.sentence} {sentence}", remedy)
        return Outcome("passes done", f"{self.n_iter_} epochs, as asked. {sentence}")

    # ------------------------------------------------------------ voting
    def _answer(self) -> tuple[FloatArray, FloatArray]:
        msg = "a committee has no strengths of its own: see members_"
        raise AttributeError(msg)

    def _count(self, X: Matrix) -> Count:
        """Count the members' votes on checked X."""
        view, _ = usable_rows(X, self._clamp, type(self).__name__)
        M, K, D = self.members_.shape
        planes = outputs(view, self.members_.reshape(M * K, D)).reshape(-1, M, K)
        return count_votes(planes, np.linalg.norm(self.members_, axis=2), self._fitted_vote, self._radius)

    def _scores(self, X: Matrix) -> FloatArray:
        return self._count(X).scores

    def to_graph(self, graph: Any, X: str) -> str:
        """Add the nodes of `count_votes` to an ONNX graph (`halfspace.exports`); return the name of the scores of rows X."""
        (M, K, _), clamp, R = self.members_.shape, self._clamp, self._radius or 1.0
        lengths = np.linalg.norm(self.members_, axis=2)
        W = self.members_[:, :, :-1] if clamp else self.members_
        bias = self.members_[:, :, -1] * clamp if clamp else np.zeros((M, K))
        outputs = graph("Add", graph("MatMul", X, W.reshape(M * K, -1).T), bias.ravel())
        planes = graph("Reshape", outputs, np.array([-1, M, K]))
        stability = graph("ReduceMean", graph("Div", planes, np.where(lengths > 0, lengths, 1.0)), np.array([1]), keepdims=0)
        if self._fitted_vote == "stability":
            return str(stability)
        if K == 1:
            shares = graph("Where", graph("Greater", planes, 0.0), 1.0, -1.0)
        else:
            shares = graph("Gather", np.eye(K), graph("ArgMax", planes, axis=2, keepdims=0), axis=0)
        units = graph("Div", stability, R)
        broken = graph("Mul", graph("Div", units, graph("Add", graph("Abs", units), 1.0)), TIE_BREAK)
        votes = graph("Add", graph("ReduceSum", shares, np.array([1]), keepdims=0), broken)
        return str(graph("Div", votes, float(M)))

    def disagreement(self, X: Matrix) -> FloatArray:
        """Return the share of members voting against the committee, shape (n,): 0 where all agree.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        check_is_fitted(self)
        return self._count(X if is_ready(self, X) else read_matrix(self, X, reset=False)).disagreement()

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse a committee without members, and a vote of another kind."""
        if not sizes["M"]:
            raise ValueError("PerceptronCommittee: it has no members")
        if fitted["_fitted_vote"] not in ("majority", "stability"):
            raise ValueError("PerceptronCommittee: there is no such vote")
