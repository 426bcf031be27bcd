"""The relevance kernel machine: kernel ridge whose metric is learnt from its own gradients.

Problem    A kernel of the distance in a metric that weighs column j by its relevance m_j >= 0:
           k(x, x') = exp(-sqrt(Σ m_j (x_j - x'_j)²)/L),  or  exp(-Σ m_j^p |x_j - x'_j|/L),  a product of kernels of one column.
Rule       Solve kernel ridge with the metric at hand; m_j becomes the mean square of ∂f/∂x_j at the examples, over all outputs,
           divided by the largest; set the width L back to its multiple of the median distance; solve again, while examples
           that taught nothing gain by it, at most four times. Of more than 128 columns each round keeps the 60 % of most
           relevance, with λ tuned anew, until 8 are left or two rounds bring no gain: beside hundreds of columns of noise the
           first gradients show little.
Theorem    None: it is not known that the rounds converge, or to what. What is proved (`KernelRidgeGap`) is the optimality of
           the machine, and its leave-one-out errors, *given* the metric, which is a choice, as a width is.
Choice     Scale of the columns and width by exact leave-one-out before any metric is learnt, and so is λ. Leave-one-out
           flatters a learnt metric (each example has shaped it), so kernel, number of rounds, power and then λ are chosen by
           the outputs for examples that taught no metric: of 3 folds, 2 from 1,260 examples on, one part of 2,000 or more.
Many       From 3,500 examples on, 1,000 to 2,000 are set apart. The best kernels are judged again by these, taught by up to
           12,000 others in cells (cut at the median along the leading direction), and the best of them goes on with rounds
           there, λ with it.
Loss       Squared error; of classes, whose targets are ±1, mistakes + 0.3 times that.
Tried      Without a gain beyond the noise of one split: dropping columns of less relevance than shuffled copies first, members
           stacked by least squares with weights >= 0, the sum of three members' kernels, a full matrix in place of weights,
           RBF with a metric; near the border of two cells the average of both machines, where cells borrow examples; the line
           unless another member is better by one standard error (18 small tables); a large margin with the metric found.
Precision  Single in the search, double for λ < 1e-4 and where Cholesky's factor fails; the machine that is kept is solved in
           double precision elsewhere.
Reference  Radhakrishnan, Beaglehole, Pandit and Belkin 2024 ("recursive feature machines"); for prototypes Hammer and
           Villmann 2002 (GRLVQ), where relevances descend the cost.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.kernels import RBF, Kernel, Laplacian, Linear, Manhattan, OnScales
from halfspace.kernels.fast.manhattan import manhattan, pulls
from halfspace.kernels.scales import SCALES, learn_curves
from halfspace.rows.threads import alone, n_workers, side_by_side
from halfspace.solvers.regression.cholesky import factor, inverse_diagonal, solve
from halfspace.solvers.run import in_pieces

__all__ = ["TEACHERS", "Ends", "Found", "Shape", "Task", "find_metric"]

FEW, FOLDED, HALVED, TAUGHT, JUDGED = 400, 1_260, 2_000, 1_000, 1_500
"""Rows that scale and width are chosen on; up to which there are 3 folds, and 2; beyond, rows that teach, and that judge."""
MOST = 2_000
"""Rows that the metric chosen is learnt from."""
GRADIENTS, OUTPUTS = 300, 8
"""Rows whose gradients are taken; of more outputs than this, so many random combinations."""
RIDGES = np.geomspace(1e-5, 30.0, 12)
STEP, LEAST, LARGEST = 4.0, 1e-4, 256.0
"""Ratio of neighbouring ridges when one is tuned, and the ends."""
SINGLE = 1e-4
"""Ridges from which single precision, that of the kernel values, is tried."""
SQUARED = 0.3
"""Weight of the squared error beside mistakes."""
NOTHING = 1e-5
"""Relevances below this, relative to the largest, are 0."""
ROUNDS = 4
"""Rounds at most: they end where rows that taught nothing do not gain."""
WIDE, KEPT, FEWEST = 128, 0.6, 8
"""Columns beyond which each round keeps this share of them, the most relevant, and λ is tuned anew; until so few are left."""
FACTORS = (0.125, 1.0, 8.0, 64.0)
"""Of the ridge that leave-one-out has chosen before a metric was learnt: with one, rows that taught nothing choose."""
APART, TEACHERS, ENTRIES = (1_000, 2_000), 12_000, 50_000_000
"""Fewest and most rows that judge rounds in cells; rows that teach there, at most, and their entries."""
CURVE = 2e-4
"""Seconds that a bent curve of one column takes; where there is no time for all, columns have straight ones."""
TIED = 1e-4
"""Relative difference of losses in single precision that decides nothing."""
NEAR = 1.05
"""Members of a loss up to so many times the least are judged by many rows, where there are."""
CELL, LEADING, SLOPES, LAST = 1_000, 500, 1_500, 4
"""Rows of a cell, those that say where to cut it; rows of all cells whose gradients are taken; rounds in cells, at most."""


class Shape(NamedTuple):
    """A kernel of scaled columns, its widths as multiples of the median distance, and what it makes of relevances."""

    name: str
    kernel: Any
    multiples: tuple[float, ...]
    root: float = 0.0  # columns are multiplied by relevance^(root · power); 0: no metric is learnt
    powers: tuple[float, ...] = (1.0,)  # that are tried

    def factors(self, relevances: FloatArray, power: float) -> FloatArray:
        """Return what columns are multiplied by, shape (d,)."""
        return relevances ** (self.root * power) if self.root else np.ones_like(relevances)

    def apart(self, A: Any, B: Any) -> Any:
        """Return what the kernel is a function of, shape (n, m): distances, their squares, or inner products over d."""
        if self.kernel is Manhattan:
            out = np.empty((A.shape[0], B.shape[0]), A.dtype)
            manhattan(A, B, out)
            return out
        if self.kernel is Linear:
            return A @ B.T / A.dtype.type(A.shape[1])
        D = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1) - 2 * (A @ B.T)
        np.maximum(D, 0, out=D)
        if A is B:
            np.fill_diagonal(D, 0)
        return np.sqrt(D, out=D) if self.kernel is Laplacian else D

    def typical(self, D: Any) -> float:
        """Return the median of separations D (n, n) of different rows; of inner products the mean of the diagonal."""
        n = D.shape[0]
        some = np.diagonal(D) if self.kernel is Linear else D[: n // 2, n // 2 :]
        middle = float(some.mean() if self.kernel is Linear else np.median(some))
        middle = middle if middle > 0.0 else float(some.mean())
        return middle if middle > 0.0 else 1.0

    def bent(self, D: Any, width: float) -> Any:
        """Return kernel values from separations."""
        return D / D.dtype.type(width) if self.kernel is Linear else np.exp(D * D.dtype.type(-1.0 / width))

    def value(self, width: float, columns: int) -> Kernel:
        """Return the kernel of scaled columns, so many of them."""
        if self.kernel is Linear:
            return (1.0 / (width * columns)) * Linear()
        found: Kernel = self.kernel(1.0 / width)
        return found


SHAPES = (
    Shape("linear", Linear, (1.0,)),
    Shape("rbf", RBF, (1.0, 4.0, 18.0)),
    Shape("laplacian", Laplacian, (1.0, 4.0, 16.0), 0.5),
    Shape("manhattan", Manhattan, (1.0, 4.0, 16.0), 1.0, (1.0, 0.5)),
)


class Task(NamedTuple):
    """What is to be learnt: examples, targets, their weights, and whether the targets are ±1 for classes."""

    X: Matrix
    Y: FloatArray  # (n, m) float32, of mean 0 and variance 1 if they are numbers
    s: FloatArray  # (n,) float32, > 0
    classes: bool

    def of(self, rows: IntArray) -> "Task":
        """Return the task of some rows; X is left as it is."""
        return self._replace(Y=self.Y[rows], s=self.s[rows])

    def losses(self, F: FloatArray) -> FloatArray:
        """Return the loss of outputs F (n, m) for every example, times its weight, shape (n,)."""
        found = np.square(self.Y - F).mean(axis=1)
        if self.classes:
            alone = self.Y.shape[1] == 1
            wrong = (F[:, 0] > 0) != (self.Y[:, 0] > 0) if alone else F.argmax(axis=1) != self.Y.argmax(axis=1)
            found = wrong + SQUARED * found
        return np.asarray(self.s * found)

    def loss(self, F: FloatArray) -> float:
        """Return the mean loss; infinite if an output is not a number."""
        found = float(self.losses(F).sum() / self.s.sum())
        return found if np.isfinite(found) else np.inf


class Machine(NamedTuple):
    """A machine of the search: its metric, and what was solved."""

    rounds: int
    power: float
    relevances: FloatArray  # (d,)
    width: float
    ridge: float
    b: FloatArray  # (n, m)
    constants: FloatArray  # (m,)
    K: Any  # (n, n)
    D: Any  # (n, n)


class Choice(NamedTuple):
    """What was chosen for a shape before a metric was learnt."""

    scale: str
    multiple: float
    ridge: float


class Member(NamedTuple):
    """What rows that taught no metric have judged."""

    shape: Shape
    rounds: int
    power: float
    ridge: float
    outputs: Any  # (n, m)
    before: tuple[float, ...]  # ridges of the rounds before


class Step(NamedTuple):
    """A member with a metric of so many rounds, and what follows from it."""

    member: Member
    choice: Choice
    rounds: int
    ridge: float
    metric: FloatArray  # (d,) the relevances that it has
    width: float
    relevances: FloatArray  # (d,) those of its own gradients
    loss: float = np.inf


class Found(NamedTuple):
    """The metric found, and how it was judged."""

    kernel: Kernel
    ridge: float
    relevances: FloatArray  # (d,) mean squares of the gradient on the scales of the columns, the largest 1
    metric: FloatArray  # (d,) of the kernel, the largest 1
    unseen: FloatArray  # (n, m) outputs for rows that taught no metric, NaN for the others
    read: IntArray  # the rows that were looked at, but for those set apart
    history: dict[str, Any]
    ended: str  # "complete", or why machines were left out
    name: str  # of the kernel's shape
    rounds: int


class Ends(NamedTuple):
    """When to end (`time.perf_counter`), who hears of every machine, and the threads that work side by side."""

    deadline: float | None = None
    tell: Callable[[str], Any] = len
    n_jobs: int | None = 1


def find_metric(task: Task, rng: Any, ends: Ends = Ends()) -> Found:  # noqa: B008  (it cannot be changed)
    """Find scale, kernel, metric and ridge for a task; what is not begun by the deadline, or at Ctrl-C, is left out.

    Machines that are solved side by side draw from generators of their own: the result does not depend on `n_jobs`.
    """
    late = _Late(ends.deadline)
    n = task.Y.shape[0]
    order = rng.permutation(n)
    curves = {SCALES[0]: learn_curves(task.X, SCALES[0])}
    curves |= {scale: learn_curves(task.X, scale) for scale in SCALES[1:] if late.leaves(CURVE * task.X.shape[1])}
    read = order[: max(MOST, TAUGHT + JUDGED)]
    columns = np.arange(task.X.shape[1])
    scaled = {scale: curve(task.X[read], columns).astype(np.float32) for scale, curve in curves.items()}
    few = min(FEW, n)
    different = [scale for scale in curves if scale == SCALES[0] or np.abs(scaled[scale] - scaled[SCALES[0]]).max() > 1e-3]
    seen, some_rows = {k: scaled[k][:few] for k in different}, task.of(order[:few])
    wanted = [shape for shape in SHAPES if shape is SHAPES[0] or not late()]
    choices = _side_by_side(lambda shape: _choose(shape, seen, some_rows), wanted, ends.n_jobs)
    chosen = {shape.name: choice for shape, choice in zip(wanted, choices, strict=True)}
    judged = _judge(task.of(read), chosen, scaled, rng, (late, ends))
    members, unseen = judged.members(), np.full(task.Y.shape, np.nan)
    unseen[read] = members[0].outputs
    some, many = slice(0, min(MOST, n)), n - read.size >= APART[0] and not late()

    def teach(pair: tuple[Member, Any]) -> Step:
        choice = chosen[pair[0].shape.name]
        return _taught(pair[0], scaled[choice.scale][some], task.of(read[some]), choice, pair[1])

    steps = _side_by_side(teach, [(member, _own(rng)) for member in (members if many else members[:1])], ends.n_jobs)
    step: Step = steps[0]
    if many:
        step, teachers = _in_cells(task, steps, curves, order, (rng, late, ends))
        read = np.union1d(read, teachers)
    metric = step.member.shape.factors(step.metric, step.member.power)
    kernel = step.member.shape.value(step.width, int((metric > 0.0).sum()))
    kernel = OnScales(kernel, step.choice.scale, metric, tuple(curves[step.choice.scale]))
    shape, history = step.member.shape, judged.history()
    return Found(kernel, step.ridge, step.relevances, metric, unseen, read, history, late.why, shape.name, step.rounds)


class _Late:
    """Tells whether it is time to end, and remembers why."""

    def __init__(self, deadline: float | None) -> None:
        self.deadline, self.why = deadline, "complete"

    def __call__(self) -> bool:
        if self.why == "complete" and self.deadline is not None and time.perf_counter() > self.deadline:
            self.why = "time budget spent"
        return self.why != "complete"

    def leaves(self, seconds: float) -> bool:
        """Tell whether there is time for work of so many seconds, which may be left out."""
        return self.deadline is None or time.perf_counter() + seconds < self.deadline


def _side_by_side(work: Callable[..., Any], items: list[Any], n_jobs: int | None) -> list[Any]:
    """Call `work(item)` for each item in threads, each of which does all of its work itself."""

    def own(item: Any) -> Any:
        with alone():
            return work(item)

    return side_by_side(own, items, n_jobs)


def _own(rng: Any) -> Any:
    """Return a generator for work that is done beside other work."""
    return np.random.RandomState(rng.randint(1 << 30))


# ------------------------------------------------------------ scale and width, before any metric
def _choose(shape: Shape, scaled: dict[str, Any], task: Task) -> Choice:
    """Return scale, width and ridge of the least leave-one-out loss."""
    found: list[tuple[float, Choice]] = []
    for scale, Z in scaled.items():
        D = shape.apart(Z, Z)
        middle = shape.typical(D)
        for multiple in shape.multiples:
            for ridge, residuals in zip(RIDGES, _residuals(shape.bent(D, multiple * middle), task), strict=True):
                found.append((task.loss(task.Y - residuals), Choice(scale, multiple, float(ridge))))
    return min(found, key=lambda pair: pair[0])[1]


def _residuals(K: Any, task: Task) -> Iterator[Any]:
    """Yield the residuals of examples left out, shape (n, m), for every ridge of RIDGES, from one eigendecomposition."""
    root = np.sqrt(task.s)
    values, U = linalg.eigh(root[:, None] * K * root, driver="evd", check_finite=False, overwrite_a=True)
    values, z, p, squares = np.maximum(values, 0), U.T @ (root[:, None] * task.Y), U.T @ root, np.square(U)
    for ridge in RIDGES:
        damped = (1 / (values + ridge)).astype(K.dtype)
        yield _left_out(U @ (damped[:, None] * z), U @ (damped * p), squares @ damped, root)[2]


def _left_out(b: Any, along: Any, squares: Any, root: Any) -> tuple[Any, Any, Any]:
    """Return b (n, m), constants (m,) and residuals left out (n, m), from G√S Y as b, Gu and G_ii (see `kernel_ridge`)."""
    total = root @ along
    constants = root @ b / total
    b, own = b - along[:, None] * constants, squares - along * along / total
    return b, constants, b / (root * np.maximum(own, 1e-12))[:, None]


# ------------------------------------------------------------ one machine
def _solved(K: Any, task: Task, ridge: float, *, left_out: bool) -> tuple[Any, Any, Any] | None:
    """Solve by Cholesky: b (n, m), constants (m,), residuals left out if asked for; None if singular to rounding."""
    for kind in (np.float32, np.float64) if ridge >= SINGLE else (np.float64,):
        root: Any = np.sqrt(task.s).astype(kind)
        A: Any = np.array(K, dtype=kind, order="C")
        if (root != 1).any():
            A *= root
            A *= root[:, None]
        A[np.diag_indices(root.size)] += kind(ridge)
        if factor(A):
            solved = solve(A, np.column_stack([root[:, None] * task.Y, root]))
            squares = inverse_diagonal(A) if left_out else np.ones(root.size)
            b, constants, residuals = _left_out(solved[:, :-1], solved[:, -1], squares, root)
            return b * root[:, None], constants, residuals
    return None


def _tuned(K: Any, task: Task, ridge: float) -> tuple[float, Any, Any]:
    """Descend from a ridge to one whose neighbours have larger leave-one-out losses; return it, b and the constants."""
    found: dict[int, tuple[float, Any]] = {}
    low, high = (round(np.log(end / ridge) / np.log(STEP)) for end in (LEAST, LARGEST))

    def at(k: int) -> float:
        if k < low or k > high:
            return np.inf
        if k not in found:
            answer = _solved(K, task, ridge * STEP**k, left_out=True)
            found[k] = (np.inf, None) if answer is None else (task.loss(task.Y - answer[2]), answer[:2])
        return found[k][0]

    k = min(max(0, low), high)
    while True:
        aside = min((k - 1, k + 1), key=at)
        if at(aside) >= at(k):
            break
        k = aside
    while found[k][1] is None and k < high:  # singular to rounding: only a larger ridge helps
        k += 1
        at(k)
    return ridge * STEP**k, *found[k][1]


def gradients(shape: Shape, Z: Any, machine: Machine, rng: Any) -> FloatArray:
    """Return mean squares of ∂f/∂z_j at some rows, over all outputs, the largest 1, shape (d,); what is nothing is 0."""
    rows = np.sort(rng.choice(Z.shape[0], min(Z.shape[0], GRADIENTS), replace=False))
    factors = shape.factors(machine.relevances, machine.power)
    found = _relative(_slopes(shape, Z, (rows, machine.K[rows], machine.D[rows]), machine.b, factors / machine.width, rng))
    if Z.shape[1] > WIDE:
        kept = max(int(KEPT * np.count_nonzero(machine.relevances)), FEWEST)
        found[np.argsort(-found, kind="stable")[kept:]] = 0.0
    return found


def _rounds(shape: Shape, d: int) -> int:
    """Return how many rounds there are at most: none without a metric, and more where each leaves columns out."""
    if not shape.root:
        return 0
    return ROUNDS if d <= WIDE else int(np.ceil(np.log(FEWEST / d) / np.log(KEPT)))


def _relative(squares: FloatArray) -> FloatArray:
    """Return squares over the largest of them; what is nothing beside it is 0, and all are 1 if there is none."""
    largest = float(squares.max())
    relevances = squares / largest if largest > 0.0 and np.isfinite(largest) else np.ones(squares.size)
    return np.where(relevances >= NOTHING, relevances, 0.0)


def _slopes(shape: Shape, Z: Any, at: tuple[IntArray, Any, Any], b: Any, factors: FloatArray, rng: Any) -> FloatArray:
    """Return mean squares of ∂f/∂z_j at some rows, over all outputs, times a number, shape (d,).

    `at` are these rows, their kernel values and their separations from all rows Z; factors are those of the columns over the
    width.
    """
    (rows, K, D), factors = at, factors.astype(np.float32)
    b = b.astype(np.float32)
    if b.shape[1] > OUTPUTS:  # random signs: the mean of the squares is the same
        b = b @ (rng.choice([-1.0, 1.0], (b.shape[1], OUTPUTS)) / np.sqrt(OUTPUTS)).astype(np.float32)
    total, U = np.zeros(Z.shape[1]), np.ascontiguousarray(Z * factors)
    W_all = K / np.where(D > 0, D, np.inf) if shape.kernel is Laplacian else K
    for column in b.T:
        if shape.kernel is Linear:
            total += np.square((column @ Z).astype(np.float64))
            continue
        W = W_all * column
        if shape.kernel is Manhattan:
            slopes = pulls(U[rows], U, W) * factors
        else:
            slopes = (U[rows] * W.sum(axis=1)[:, None] - W @ U) * factors
        total += np.square(slopes.astype(np.float64)).mean(axis=0)
    return total


def _machine(shape: Shape, Z: Any, task: Task, choice: Choice, metric: tuple[int, float, FloatArray], *, tune: bool) -> Machine:
    """Solve with relevances at hand, metric = (round, power, relevances); the ridge is tuned or taken as it is."""
    rounds, power, relevances = metric
    U = _weighed(shape, Z, relevances, power)
    D = shape.apart(U, U)
    width = choice.multiple * shape.typical(D)
    K = shape.bent(D, width)
    ridge, b, constants = choice.ridge, None, None
    answer = None if tune else _solved(K, task, ridge, left_out=False)
    if answer is None:
        ridge, b, constants = _tuned(K, task, ridge)
    else:
        b, constants = answer[:2]
    return Machine(rounds, power, relevances, width, ridge, b, constants, K, D)


def _weighed(shape: Shape, Z: Any, relevances: FloatArray, power: float) -> Any:
    """Return the columns that count, each times its factor, in single precision."""
    if not shape.root:
        return Z
    used = np.flatnonzero(relevances)
    return np.ascontiguousarray(Z[:, used] * shape.factors(relevances, power)[used].astype(np.float32))


def _taught(member: Member, Z: Any, task: Task, choice: Choice, rng: Any) -> Step:
    """Return a member taught by some rows, rounds with the ridge that was chosen, or with those that were tuned."""
    shape, choice, relevances = member.shape, choice._replace(ridge=member.ridge), np.ones(Z.shape[1])
    for k, ridge in enumerate(member.before):
        own = choice._replace(ridge=ridge) if Z.shape[1] > WIDE else choice
        relevances = gradients(shape, Z, _machine(shape, Z, task, own, (k, 1.0, relevances), tune=False), rng)
    machine = _machine(shape, Z, task, choice, (member.rounds, member.power, relevances), tune=False)
    return Step(member, choice, member.rounds, member.ridge, relevances, machine.width, gradients(shape, Z, machine, rng))


# ------------------------------------------------------------ judged by rows that taught no metric
Key = tuple[str, int, float, float]
"""A member: the name of its shape, rounds, power, and the factor of its ridge."""
Kept = tuple[Key, IntArray, Any, float]
"""A member, the rows that judge it, its outputs for these, and its ridge."""


class _Judged:
    """Outputs of members for rows that taught them nothing."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.outputs: dict[Key, Any] = {}
        self.ridges: dict[Key, list[float]] = {}

    def keep(self, key: Key, rows: IntArray, F: Any, ridge: float) -> None:
        """Keep outputs F (r, m) for some rows."""
        self.outputs.setdefault(key, np.full(self.task.Y.shape, np.nan))[rows] = F
        self.ridges.setdefault(key, []).append(ridge)

    def losses(self) -> dict[Key, float]:
        """Return the mean loss of every member that was judged by all parts, or by as many as any."""
        most = max(map(len, self.ridges.values()))
        found = {}
        for key, F in self.outputs.items():
            seen = np.flatnonzero(~np.isnan(F[:, 0]))
            if len(self.ridges[key]) == most:
                found[key] = self.task.of(seen).loss(F[seen])
        return found

    def members(self) -> list[Member]:
        """Return the member of the least loss, and those of other shapes that come near; their ridges are geometric means.

        Losses that differ by rounding are equal, and the first shape is taken: of one column two shapes are the same kernel.
        """
        losses = self.losses()
        by_shape = {key[0]: key for key in sorted(losses, key=lambda one: -losses[one])}  # the best of each comes last
        keys = sorted(by_shape.values(), key=lambda one: losses[one])
        order = [shape.name for shape in SHAPES]
        tied = [key for key in keys if losses[key] <= (1.0 + TIED) * losses[keys[0]]]
        keys.sort(key=lambda one: one is not min(tied, key=lambda key: order.index(key[0])))
        return [
            Member(
                next(shape for shape in SHAPES if shape.name == key[0]),
                key[1],
                key[2],
                _middle(self.ridges[key]),
                self.outputs[key],
                tuple(_middle(self.ridges[key[0], k, 1.0, 1.0]) for k in range(key[1])),
            )
            for key in keys
            if losses[key] <= NEAR * losses[keys[0]]
        ]

    def history(self) -> dict[str, Any]:
        """Return the table of members: names, rounds, powers, factors of the ridge, losses."""
        losses = self.losses()
        names, rounds, powers, factors = (list(column) for column in zip(*losses, strict=True))
        return {"kernel": names, "rounds": rounds, "power": powers, "factor": factors, "loss": list(losses.values())}


def _middle(ridges: list[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(ridges))))


def _judge(task: Task, chosen: dict[str, Choice], scaled: dict[str, Any], rng: Any, ends: tuple[_Late, Ends]) -> _Judged:
    """Teach every member on some rows and judge it by the others; Ctrl-C ends it once there is one to choose."""
    n, (late, (_, tell, n_jobs)) = task.Y.shape[0], ends
    everyone = np.arange(n)
    folds = 3 if n < FOLDED else 2 if n < HALVED else 1
    judged = _Judged(task)

    def pieces() -> Iterator[str]:
        for held in np.array_split(everyone, folds) if folds > 1 else [everyone[TAUGHT:]]:
            shapes = [(shape, _own(rng)) for shape in SHAPES if shape.name in chosen]
            found: dict[str, list[Kept]] = {}

            def judge(one: tuple[Shape, Any], held: IntArray = held, found: dict[str, list[Kept]] = found) -> None:
                shape, own = one
                if not late() or not (judged.outputs or shape is not SHAPES[0]):  # one there must be
                    found[shape.name] = list(
                        _judge_shape(shape, chosen[shape.name], scaled, task, held, (own, late, folds > 1))
                    )

            beside = n_workers(n_jobs, len(shapes)) > 1  # the dear ones, which come last, are begun first
            for batch in [shapes[::-1]] if beside else [[one] for one in shapes]:
                try:
                    _side_by_side(judge, batch, n_jobs)
                finally:  # at Ctrl-C, what was done by then
                    for shape, _ in batch[::-1]:
                        for one in found.get(shape.name, ()):
                            judged.keep(*one)
                yield f"{held.size:,} rows held out: loss {min(judged.losses().values()):.4g} so far"

    if not in_pieces(pieces(), tell, lambda: bool(judged.outputs)):
        late.why = "interrupted"
    return judged


def _judge_shape(
    shape: Shape, choice: Choice, scaled: dict[str, Any], judging: Task, held: IntArray, ends: tuple[Any, _Late, bool]
) -> Iterator[Kept]:
    """Teach machines of a shape on all rows but those held out, and yield their outputs for these, while rounds gain by it."""
    taught = np.setdiff1d(np.arange(judging.Y.shape[0]), held)
    Z, H, task, judge = scaled[choice.scale][taught], scaled[choice.scale][held], judging.of(taught), judging.of(held)
    choice, relevances, least = choice._replace(ridge=max(choice.ridge, LEAST)), np.ones(Z.shape[1]), np.inf
    rounds, wide, idle = _rounds(shape, Z.shape[1]), Z.shape[1] > WIDE, 0
    for k in range(1 + rounds):
        best = np.inf
        for power in shape.powers if k else (1.0,):
            machine = _machine(shape, Z, task, choice, (k, power, relevances), tune=k == 0 or wide)
            V = _weighed(shape, H, relevances, power)
            K = shape.bent(shape.apart(V, _weighed(shape, Z, relevances, power)), machine.width)
            losses: list[float] = []
            for times in FACTORS if k and not wide else (1.0,):
                if len(losses) == 3 and losses[2] > losses[1] and not ends[2]:
                    continue  # the loss rises already
                ridge = times * machine.ridge
                answer = (machine.b, machine.constants) if times == 1.0 else _solved(machine.K, task, ridge, left_out=False)
                F = None if answer is None else K @ answer[0].astype(np.float32) + answer[1]
                losses.append(np.inf if F is None else judge.loss(F))
                if F is not None:
                    yield (shape.name, k, power, times), held, F, ridge
            best = min(best, *losses)
            if power == 1.0:
                first = machine
        idle = 0 if best < least else idle + 1
        if k == rounds or idle > wide or ends[1]():
            return
        least, choice = min(best, least), choice._replace(ridge=first.ridge)
        relevances = gradients(shape, Z, first, ends[0])


# ------------------------------------------------------------ more rounds, of many examples in cells
class _Rows(NamedTuple):
    """Scaled rows that teach, and others that judge."""

    Z: Any  # (n, d)
    task: Task
    H: Any  # (h, d)
    judge: Task


def _in_cells(
    task: Task, steps: list[Step], curves: dict[str, Any], order: IntArray, ends: tuple[Any, _Late, Ends]
) -> tuple[Step, IntArray]:
    """Let many rows decide among members, then go on with rounds while rows that teach nothing gain; return who taught, too."""
    (rng, late, (_, tell, n_jobs)), n, columns = ends, order.size, np.arange(task.X.shape[1])
    end = (rng, late, n_jobs)
    held = min(max(APART[0], n // 5), APART[1])
    teachers, judges = order[: min(n - held, TEACHERS, ENTRIES // columns.size)], order[n - held :]
    rows, best = {}, steps[0]

    def pieces() -> Iterator[str]:
        nonlocal best
        for step in steps:
            scale, name = step.choice.scale, step.member.shape.name
            if scale not in rows:
                Z, H = (curves[scale](task.X[some], columns).astype(np.float32) for some in (teachers, judges))
                rows[scale] = _Rows(Z, task.of(teachers), H, task.of(judges))
            best = min(best, _passed(step, rows[scale], (1.0, 1.0 / STEP, STEP), end), key=lambda one: one.loss)
            yield f"{name}, in cells: loss {best.loss:.4g} so far"
        while best.member.shape.root and best.rounds < best.member.rounds + LAST:
            part, shape = rows[best.choice.scale], best.member.shape
            U = _weighed(shape, part.Z[:CELL], best.relevances, best.member.power)
            width = best.choice.multiple * shape.typical(shape.apart(U, U))
            further = best._replace(metric=best.relevances, width=width, rounds=best.rounds + 1)
            further = _passed(further, part, (1.0, 1.0 / STEP), end)
            if not further.loss < best.loss:
                return
            best = further
            yield f"{shape.name}, in cells, round {best.rounds}: loss {best.loss:.4g}"

    if not in_pieces(pieces(), tell):
        late.why = "interrupted"
    return best, teachers


def _passed(step: Step, rows: _Rows, factors: tuple[float, ...], ends: tuple[Any, _Late, int | None]) -> Step:
    """Solve in all cells with a metric; return it with the ridge, times a factor, that is best for the rows that judge.

    The loss is infinite if there was no time for all cells, or none of the ridges could be solved for.
    """
    shape, power, (rng, late, n_jobs) = step.member.shape, step.member.power, ends
    U, V = (_weighed(shape, A, step.metric, power) for A in (rows.Z, rows.H))
    cells, outputs, ridges = list(_cut(U, V)), np.zeros((len(factors), *rows.judge.Y.shape)), step.ridge * np.array(factors)

    def solve_in(cell: tuple[IntArray, IntArray, Any]) -> Any:
        mine, asked, own = cell
        if late():
            return None
        D, part = shape.apart(U[mine], U[mine]), rows.task.of(mine)
        K, asking = shape.bent(D, step.width), shape.bent(shape.apart(V[asked], U[mine]), step.width)
        found: list[Any] = [_solved(K, part, ridge, left_out=False) for ridge in ridges.tolist()]
        for F, answer in zip(outputs, found, strict=True):
            F[asked] = np.nan if answer is None else asking @ answer[0].astype(np.float32) + answer[1]
        some = own.choice(mine.size, min(mine.size, 1 + SLOPES // len(cells)), replace=False)
        return mine, (some, K[some], D[some]), found, own

    kept = _side_by_side(solve_in, [(*cell, _own(rng)) for cell in cells], n_jobs)
    losses = [rows.judge.loss(F) for F in outputs]
    least, weights = int(np.argmin(losses)), shape.factors(step.metric, power) / step.width
    if any(one is None for one in kept) or not losses[least] < np.inf:
        return step._replace(loss=np.inf)

    def slopes_in(one: Any) -> FloatArray:
        mine, at, found, own = one
        return mine.size * _slopes(shape, rows.Z[mine], at, found[least][0], weights, own)

    slopes = np.sum(_side_by_side(slopes_in, kept, n_jobs), axis=0)
    return step._replace(ridge=float(ridges[least]), relevances=_relative(slopes), loss=losses[least])


def _cut(U: Any, V: Any) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the rows of U, and of V, in each cell: cut at the median along the leading direction down to CELL rows of U."""
    cells = [(np.arange(U.shape[0]), np.arange(V.shape[0]))]
    while cells:
        mine, other = cells.pop()
        if mine.size > CELL:
            some = U[mine[:LEADING]]
            some = some - some.mean(axis=0)
            along = some[np.square(some).sum(axis=1).argmax()]
            for _ in range(8):  # power iterations
                along = some.T @ (some @ along)
                along /= max(np.abs(along).max(), np.float32(1e-30))
            p, q = U[mine] @ along, V[other] @ along
            below, asked = p <= np.median(p), q <= np.median(p)
            if not below.all():
                cells += [(mine[below], other[asked]), (mine[~below], other[~asked])]
                continue
        yield mine[:CELL], other
