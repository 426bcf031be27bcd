"""What is true, in rational arithmetic: the best margin, the optimum, the least squares and the errors of small data.

Every float is a fraction, and so is every number below (`flint.fmpq`). Nothing is iterated towards: a solution is guessed by
its active set, solved for exactly, and taken only if it satisfies the Kuhn-Tucker conditions exactly, which are sufficient for
convex problems. The oracle uses neither the solvers nor the arithmetic of the checkers, only the meaning of the fields.
"""

from functools import singledispatch
from itertools import combinations, product

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from scipy import sparse

from halfspace.certificates import (
    ClassCounts,
    DualityGap,
    KernelBracket,
    KernelGap,
    KeslerBracket,
    LeastSquaresGap,
    MarginBracket,
    MistakeBound,
    NeighbourErrors,
    NeighbourMeans,
    Novikoff,
    OneLabel,
    PerClass,
    PerPair,
    PrototypeErrors,
    Quantisation,
    RidgeGap,
    Separability,
    TargetMean,
)

EPS = fmpq(1, 2**52)
CLOSE = fmpq(1, 10**8)
"""How far a number may be off that is claimed as measured, not as a bound."""


def exact(value):
    """Return a float as the fraction it is."""
    return value if isinstance(value, fmpq) else fmpq(*float(value).as_integer_ratio())


def matrix(array):
    """Return an array, shape (n, d) or (n,), as an exact matrix."""
    array = np.asarray(array.toarray() if sparse.issparse(array) else array, dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    return fmpq_mat(*array.shape, [exact(v) for v in array.ravel()])


def clamped(X, clamp, n):
    """Return the rows with the clamped input as their last entry, if there is one."""
    rows = [[exact(v) for v in row] + ([exact(clamp)] if clamp else []) for row in dense(X).tolist()]
    return fmpq_mat(n, len(rows[0]), [v for row in rows for v in row])


def dense(X):
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), fmpq(0))


def gram(X, kernel, clamp):
    """Return k(x_i, x_j) + clamp² for a linear or polynomial kernel, or for None the inner products."""
    n, c = X.shape[0], exact(clamp) * exact(clamp)
    A = matrix(X)
    K = A * A.transpose()
    if kernel is not None and hasattr(kernel, "degree"):
        gamma, coef0 = exact(kernel.gamma), exact(kernel.coef0)
        K = fmpq_mat(n, n, [(gamma * k + coef0) ** kernel.degree for k in K.entries()])
    return [[K[i, j] + c for j in range(n)] for i in range(n)]


def solved(rows, right):
    """Return the solution of a square system, or None if there is not exactly one."""
    m = len(rows)
    try:
        return fmpq_mat(m, m, [v for row in rows for v in row]).solve(fmpq_mat(m, 1, right)).entries()
    except ZeroDivisionError:
        return None


def best_margin(K, y, *, free):
    """Return the square of the largest margin, 0 if no plane separates, for labels ±1.

    That is the least λᵀQλ over λ >= 0 with Σλ = 1, and Σλy = 0 if the bias is free; the first λ with exact Kuhn-Tucker
    conditions is the answer, and one is found among the independent subsets of the examples.
    """
    n = len(y)
    Q = [[y[i] * y[j] * K[i][j] for j in range(n)] for i in range(n)]
    for size in range(1, n + 1):
        for used in combinations(range(n), size):
            borders = [[fmpq(1)] * size] + ([[fmpq(int(y[i])) for i in used]] if free else [])
            system = [[Q[i][j] for j in used] + [border[k] for border in borders] for k, i in enumerate(used)]
            system += [border + [fmpq(0)] * len(borders) for border in borders]
            found = solved(system, [fmpq(0)] * size + [fmpq(1)] + [fmpq(0)] * (len(borders) - 1))
            if found is None or min(found[:size]) < 0:
                continue
            slope = [dot([Q[i][j] for j in used], found[:size]) for i in range(n)]
            pulled = [found[size] + (found[size + 1] * int(y[i]) if free else 0) for i in range(n)]
            if all(a + b >= 0 for a, b in zip(slope, pulled, strict=True)):
                return dot([slope[i] for i in used], found[:size])
    raise AssertionError  # cannot be: the problem is convex, feasible and bounded


def optimum(K, y, caps, *, free):
    """Return the largest Σα - ½αᵀQα over 0 <= α <= caps, and Σαy = 0 if the bias is free: also the least primal value."""
    n = len(y)
    Q = [[y[i] * y[j] * K[i][j] for j in range(n)] for i in range(n)]
    for where in sorted(product((0, 1, 2), repeat=n), key=lambda sides: sides.count(1)):
        inner = [i for i in range(n) if where[i] == 1]
        alpha = [caps[i] if where[i] == 2 else fmpq(0) for i in range(n)]
        fixed = [1 - dot(Q[i], alpha) for i in range(n)]
        if free and not inner:
            if dot(alpha, y) != 0:
                continue
            low = [fixed[i] * int(y[i]) for i in range(n) if (where[i] == 0) == (y[i] > 0)]
            high = [fixed[i] * int(y[i]) for i in range(n) if (where[i] == 0) != (y[i] > 0)]
            if low and high and max(low) > min(high):
                continue
            return dot(alpha, [fmpq(1)] * n) - dot(alpha, [dot(Q[i], alpha) for i in range(n)]) / 2
        sides = [fmpq(int(y[i])) for i in inner]
        system = [[Q[i][j] for j in inner] + ([sides[k]] if free else []) for k, i in enumerate(inner)]
        right = [fixed[i] for i in inner] + ([-dot(alpha, y)] if free else [])
        found = solved(system + ([[*sides, fmpq(0)]] if free else []), right) if inner else []
        if found is None or any(not 0 <= found[k] <= caps[i] for k, i in enumerate(inner)):
            continue
        for k, i in enumerate(inner):
            alpha[i] = found[k]
        bias = found[-1] if free else fmpq(0)
        slope = [1 - dot(Q[i], alpha) - bias * int(y[i]) for i in range(n)]
        if all((where[i] != 0 or slope[i] <= 0) and (where[i] != 2 or slope[i] >= 0) for i in range(n)):
            return dot(alpha, [fmpq(1)] * n) - dot(alpha, [dot(Q[i], alpha) for i in range(n)]) / 2
    raise AssertionError  # cannot be, as above


@singledispatch
def falsehoods(proof, X, y):
    """Yield every claim of a certificate that is not true of the examples X, shape (n, d), and labels or targets y."""
    raise NotImplementedError(type(proof))


def sides(y, positive):
    return [1 if label == positive else -1 for label in np.asarray(y).tolist()]


def bounds(proof, squared):
    """Yield what is wrong with `lower <= kappa* <= upper`, given the square of kappa*, or 0 if that is not positive."""
    if proof.lower > 0 and exact(proof.lower) ** 2 > squared:
        yield f"a margin of {proof.lower} is above the best"
    if np.isfinite(proof.upper) and exact(proof.upper) ** 2 < squared:
        yield f"an upper side of {proof.upper} is below the best margin"


def long_as(radius, square, room=CLOSE):
    return exact(radius) ** 2 * (1 + room) >= square and exact(radius) ** 2 <= square * (1 + room)


class Witnesses:
    """What the plane or function of a certificate and its strengths prove, exactly."""

    def __init__(self, proof, X, y):
        n, self.sign = X.shape[0], sides(y, proof.positive)
        self.K = gram(X, getattr(proof, "kernel", None), proof.clamp)
        self.longest = max(self.K[i][i] for i in range(n))
        alpha = [fmpq(0)] * n
        for i, strength in zip(proof.rows.tolist(), proof.strengths.tolist(), strict=True):
            alpha[i] = exact(strength)
        signed = [a * s for a, s in zip(alpha, self.sign, strict=True)]
        self.alpha, self.total, self.rest = alpha, sum(alpha, fmpq(0)), sum(signed, fmpq(0))
        self.held = dot(signed, [dot(row, signed) for row in self.K])  # ‖Σ α y x‖²
        if hasattr(proof, "weights"):
            w = matrix(proof.weights)
            outputs, self.square = (clamped(X, proof.clamp, n) * w).entries(), dot(w.entries(), w.entries())
        else:
            c = signed
            if hasattr(proof, "support"):
                c = [fmpq(0)] * n
                for i, value in zip(proof.support.tolist(), proof.coefficients.tolist(), strict=True):
                    c[i] = exact(value)
            outputs = [dot(row, c) for row in self.K]
            self.square = dot(c, outputs)
        self.E = [s * (out + exact(proof.bias)) for s, out in zip(self.sign, outputs, strict=True)]


def at_least(root, square, value):
    """Tell whether value >= root·sqrt(square), for fractions of any sign."""
    if root <= 0:
        return value >= 0 or value**2 <= root**2 * square
    return value >= 0 and value**2 >= root**2 * square


@falsehoods.register(MarginBracket)
@falsehoods.register(KernelBracket)
def _(proof, X, y):
    seen = Witnesses(proof, X, y)
    yield from bounds(proof, best_margin(seen.K, seen.sign, free=proof.free))
    low, least = exact(max(proof.lower, -1e308)), min(seen.E)
    if not (low <= 0 and low**2 >= seen.longest) and not (seen.square and at_least(low, seen.square, least)):
        yield f"the function has no margin of {proof.lower}"
    high = exact(min(proof.upper, 1e308))
    if not proof.free and high**2 < seen.longest and high**2 * seen.total**2 < seen.held:
        yield f"the strengths allow more than {proof.upper}"
    if not long_as(proof.radius, seen.longest, fmpq(1, 10**6) if isinstance(proof, KernelBracket) else CLOSE):
        yield f"the radius is not {proof.radius}"


@falsehoods.register(DualityGap)
@falsehoods.register(KernelGap)
def _(proof, X, y):
    s = np.ones(len(y)) if proof.sample_weight is None else proof.sample_weight
    kept = np.flatnonzero(s > 0)
    seen, hard = Witnesses(proof, X, y), np.isinf(proof.C)
    E, caps = [seen.E[i] for i in kept], None if hard else [exact(proof.C) * exact(v) for v in s[kept]]
    sign, K = [seen.sign[i] for i in kept], [[seen.K[i][j] for j in kept] for i in kept]
    squared = best_margin(K, sign, free=proof.free) if hard else None
    best = (1 / (2 * squared) if squared else None) if hard else optimum(K, sign, caps, free=proof.free)
    if np.isfinite(proof.primal):
        if hard:
            cost = seen.square / (2 * min(E) ** 2) if min(E) > 0 else None
        else:
            cost = seen.square / 2 + sum((c * max(1 - e, fmpq(0)) for c, e in zip(caps, E, strict=True)), fmpq(0))
        if best is None or cost is None or exact(proof.primal) < max(best, cost):
            yield f"a primal value of {proof.primal} is below that of the plane or function"
    worth = best
    if seen.rest == 0 or not proof.free:
        worth = (seen.total**2 / (2 * seen.held) if seen.held else None) if hard else seen.total - seen.held / 2
    if any(value is not None and exact(proof.dual) > max(value, fmpq(0)) for value in (best, worth)):
        yield f"a dual value of {proof.dual} is above that of the strengths"


@falsehoods.register
def _(proof: KeslerBracket, X, y):
    """The lower side by its own planes, the upper one by its own strengths."""
    A, W = clamped(X, proof.clamp, X.shape[0]), matrix(proof.weights)
    scores, number = A * W.transpose(), {label: k for k, label in enumerate(proof.classes)}
    truth, K = [number[label] for label in np.asarray(y).tolist()], len(proof.classes)
    least = min(scores[i, truth[i]] - scores[i, v] for i in range(len(truth)) for v in range(K) if v != truth[i])
    if proof.lower > 0 and (least <= 0 or exact(proof.lower) ** 2 * dot(W.entries(), W.entries()) > least**2):
        yield f"the planes have no margin of {proof.lower}"
    c = [[fmpq(0)] * len(truth) for _ in range(K)]
    for i, v, strength in zip(proof.rows.tolist(), proof.rivals.tolist(), proof.strengths.tolist(), strict=True):
        c[v][i] -= exact(strength)
        c[truth[i]][i] += exact(strength)
    sums = fmpq_mat(K, len(truth), [v for row in c for v in row]) * A
    total = sum((exact(v) for v in proof.strengths), fmpq(0))
    if exact(proof.upper) ** 2 * total**2 < dot(sums.entries(), sums.entries()):
        yield f"the strengths allow more than {proof.upper}"


@falsehoods.register
def _(proof: MistakeBound, X, y):
    yield from falsehoods(proof.bracket, X, y)
    if isinstance(proof.theorem, Novikoff) and isinstance(proof.bracket, MarginBracket) and np.isfinite(proof.bound):
        K = gram(X, None, proof.bracket.clamp)
        squared = best_margin(K, sides(y, proof.bracket.positive), free=proof.bracket.free)
        ratio = (exact(proof.theorem.fastest) / exact(proof.theorem.slowest)) ** 2
        if exact(proof.bound) * (1 + CLOSE) * squared < ratio * max(K[i][i] for i in range(len(K))):
            yield f"a bound of {proof.bound} mistakes is below Novikoff's"


@falsehoods.register
def _(proof: Separability, X, y):
    squared = best_margin(gram(X, None, float(proof.intercept)), sides(y, proof.positive), free=False)
    if proof.verdict == "separable" and not squared:
        yield "the classes are inseparable"
    if proof.verdict == "inseparable" and squared:
        yield "the classes are separable"
    if proof.verdict == "separable":
        w, b = [exact(v) for v in proof.w], exact(proof.b)
        E = [s * (dot(w, [exact(v) for v in x]) + b) for s, x in zip(sides(y, proof.positive), dense(X), strict=True)]
        if min(E) <= 0 or exact(proof.margin) ** 2 * dot(w, w) > min(E) ** 2:
            yield f"the plane has no margin of {proof.margin}"


def least_squares(A, targets, s, ridge, free):
    """Return the least Σ s (t - w·a - c)² + ridge ‖w‖², c = 0 unless free."""
    n, D = A.nrows(), A.ncols()
    full = [[A[i, j] for j in range(D)] + ([fmpq(1)] if free else []) for i in range(n)]
    m = D + free
    M = [[sum((s[i] * full[i][a] * full[i][b] for i in range(n)), fmpq(0)) for b in range(m)] for a in range(m)]
    for a in range(D):
        M[a][a] += ridge
    right = [sum((s[i] * full[i][a] * targets[i] for i in range(n)), fmpq(0)) for a in range(m)]
    reduced, rank = fmpq_mat(m, m, [v for row in M for v in row]).rref()
    pivots = [next(j for j in range(m) if reduced[i, j] != 0) for i in range(rank)]
    w = solved([[M[a][b] for b in pivots] for a in pivots], [right[a] for a in pivots]) if pivots else []
    return sum((s[i] * targets[i] ** 2 for i in range(n)), fmpq(0)) - dot(w, [right[a] for a in pivots])


class Residuals:
    """What weights w, and a constant c, leave of the targets, exactly."""

    def __init__(self, proof, X, targets, constant=0.0, ridge=0.0, free=False):
        self.A, self.n, self.free = clamped(X, proof.clamp, X.shape[0]), X.shape[0], free
        self.s = [exact(v) for v in (np.ones(self.n) if proof.sample_weight is None else proof.sample_weight)]
        self.t, self.ridge = [exact(v) for v in targets], exact(ridge)
        w, c = matrix(proof.weights), exact(constant)
        out = self.A * w
        self.w, self.c = w.entries(), c
        self.r = [self.t[i] - out[i, 0] - c for i in range(self.n)]
        self.loss = sum((s * r * r for s, r in zip(self.s, self.r, strict=True)), fmpq(0))
        self.objective = self.loss + self.ridge * dot(self.w, self.w)

    def least(self):
        return least_squares(self.A, self.t, self.s, self.ridge, self.free)

    def backward(self):
        """Return the squares of the two moves of Stewart's theorem, relative to the data; None for one that there is not."""
        A, D = self.A, self.A.ncols()
        sr = [s * r for s, r in zip(self.s, self.r, strict=True)]
        g = [dot([A[i, j] for i in range(self.n)], sr) - self.ridge * self.w[j] for j in range(D)]
        steepest = dot(g, g) + (sum(sr, fmpq(0)) ** 2 if self.free else 0)
        data = sum((self.s[i] * (dot(row, row) + self.free) for i, row in enumerate(A.tolist())), fmpq(0)) + self.ridge * D
        length = dot(self.w, self.w) + self.c**2
        moves = [(steepest, self.objective * data), (self.objective, length * data)]
        return [a / b if b else None for a, b in moves]


def near(claimed, truth, rounding):
    """Tell whether a number is as claimed, up to the rounding that is claimed with it."""
    return abs(exact(claimed) - truth) <= (CLOSE * truth if rounding is None else exact(rounding))


@falsehoods.register
def _(proof: RidgeGap, X, y):
    found = Residuals(proof, X, np.asarray(y, dtype=np.float64), proof.constant, proof.ridge, proof.free)
    above = found.objective - found.least()
    if np.isfinite(proof.gap) and exact(proof.gap) < above:
        yield f"the objective is {float(above)} above the least, not {proof.gap}"
    moves = [move for move in found.backward() if move is not None]
    if np.isfinite(proof.backward_error) and moves and exact(proof.backward_error) ** 2 < min(moves):
        yield f"the backward error is not {proof.backward_error}"
    if not near(proof.objective, found.objective, proof.rounding):
        yield f"the objective is {float(found.objective)}, not {proof.objective}"
    total = sum(found.s, fmpq(0))
    if not near(proof.sigma2, found.loss / total, None if proof.rounding is None else exact(proof.rounding) / total):
        yield f"the variance is {float(found.loss / total)}, not {proof.sigma2}"


@falsehoods.register
def _(proof: LeastSquaresGap, X, y):
    found = Residuals(proof, X, sides(y, proof.positive))
    if not near(proof.loss, found.loss / 2, proof.rounding):
        yield f"the loss is {float(found.loss / 2)}, not {proof.loss}"
    moves = [move for move in found.backward() if move is not None]
    if np.isfinite(proof.backward_error) and moves and exact(proof.backward_error) ** 2 < min(moves):
        yield f"the backward error is not {proof.backward_error}"


def squared_distances(X, W):
    rows, centres = matrix(X).tolist(), matrix(W).tolist()
    return [[sum(((a - b) ** 2 for a, b in zip(x, w, strict=True)), fmpq(0)) for w in centres] for x in rows]


@falsehoods.register
def _(proof: PrototypeErrors, X, y):
    """Distances that differ by a rounding of what they are computed from may count either way."""
    if proof.omega is not None:
        raise NotImplementedError
    D, W = squared_distances(X, proof.prototypes), matrix(proof.prototypes).tolist()
    middle = matrix(proof.prototypes.mean(axis=0)[None])
    far = [
        max(row) for row in squared_distances(np.vstack([dense(X), proof.prototypes]), [[float(v) for v in middle.entries()]])
    ]
    certain = possible = 0
    for i, label in enumerate(np.asarray(y).tolist()):
        own = [k for k, other in enumerate(proof.prototype_labels) if other == label]
        wrong = [k for k in range(len(W)) if k not in own]
        tie = 64 * (X.shape[1] + 16) * EPS * (far[i] + max(far[len(y) :]))
        ahead = min((D[i][k] for k in wrong), default=None)
        if ahead is None:
            continue
        ahead -= min(D[i][k] for k in own)
        certain, possible = certain + (ahead < -tie), possible + (ahead <= tie)
        if ahead > tie and not any(_safe(proof.radius, D[i], W, j, wrong) for j in own):
            yield f"row {i} is not safe within {proof.radius}"
    if not certain <= proof.errors <= possible:
        yield f"{certain} to {possible} rows are wrong, not {proof.errors}"


def _safe(radius, D, W, j, wrong):
    """Tell whether prototype j stays nearer than all wrong ones under any move by `radius`."""
    for k in wrong:
        between = sum(((a - b) ** 2 for a, b in zip(W[j], W[k], strict=True)), fmpq(0))
        if D[k] < D[j] or (D[k] - D[j]) ** 2 < 4 * between * exact(radius) ** 2:
            return False
    return True


@falsehoods.register
def _(proof: Quantisation, X, y):  # noqa: ARG001  (there are no labels)
    D, n = squared_distances(X, proof.prototypes), X.shape[0]
    s = [exact(v) for v in (np.ones(n) if proof.sample_weight is None else proof.sample_weight)]
    error = sum((s[i] * min(D[i]) for i in range(n)), fmpq(0))
    if exact(proof.error) < error or exact(proof.error) > sum((s[i] * D[i][proof.labels[i]] for i in range(n)), fmpq(0)) * (
        1 + CLOSE
    ):
        yield f"the error is {float(error)}, not {proof.error}"
    best = min(_scatter(X, s, cells) for cells in product(range(len(proof.prototypes)), repeat=n))
    if exact(proof.lower) > best:
        yield f"{len(proof.prototypes)} prototypes have an error of {float(best)}, below {proof.lower}"


def _scatter(X, s, cells):
    """Return Σ s ‖x - mean of its cell‖²."""
    rows, total = matrix(X).tolist(), fmpq(0)
    for cell in set(cells):
        mine = [i for i in range(len(cells)) if cells[i] == cell and s[i] > 0]
        weight = sum((s[i] for i in mine), fmpq(0))
        for j in range(len(rows[0])):
            first, second = (sum((s[i] * rows[i][j] ** p for i in mine), fmpq(0)) for p in (1, 2))
            total += second - (first * first / weight if mine else 0)
    return total


@falsehoods.register
def _(proof: NeighbourErrors, X, y):
    D, labels, misled = squared_distances(X, dense(X)), np.asarray(y).tolist(), 0
    for i, own in enumerate(labels):
        others = sorted((D[i][j], labels[j]) for j in range(len(labels)) if j != i)
        last = others[proof.k - 1][0]
        sure, tied = [b for a, b in others if a < last], [b for a, b in others if a == last]
        choices = combinations(tied, proof.k - len(sure))
        misled += not all(_wins(own, [*sure, *choice]) for choice in choices)
    if misled > proof.errors:
        yield f"{misled} examples are misled, not {proof.errors}"


def _wins(own, votes):
    return all(votes.count(own) > votes.count(other) for other in set(votes) - {own}) and own in votes


@falsehoods.register
def _(proof: NeighbourMeans, X, y):
    D, targets, total = squared_distances(X, dense(X)), [exact(v) for v in np.ravel(y)], fmpq(0)
    for i, own in enumerate(targets):
        others = sorted((D[i][j], targets[j]) for j in range(len(targets)) if j != i)
        last = others[proof.k - 1][0]
        sure, tied = [b for a, b in others if a < last], [b for a, b in others if a == last]
        choices = combinations(tied, proof.k - len(sure))
        total += max((own - sum([*sure, *choice], fmpq(0)) / proof.k) ** 2 for choice in choices)
    if exact(proof.error) ** 2 * len(targets) < total:
        yield f"the squared errors are {float(total)}, more than {proof.error}² each"


@falsehoods.register
def _(proof: TargetMean, X, y):  # noqa: ARG001  (the examples do not matter)
    targets = [exact(v) for v in np.ravel(y)]
    mean, claimed = sum(targets, fmpq(0)) / len(targets), exact(proof.mean)
    squares = sum(((v - claimed) ** 2 for v in targets), fmpq(0)) / len(targets)
    if abs(claimed - mean) > 6 * EPS * abs(mean) or abs(exact(proof.deviation) ** 2 - squares) > 24 * EPS * squares:
        yield "the mean or the deviation is wrong"


@falsehoods.register
def _(proof: ClassCounts, X, y):  # noqa: ARG001  (the examples do not matter)
    labels = np.asarray(y).tolist()
    if [labels.count(label) for label in proof.classes] != list(proof.counts):
        yield "the counts are wrong"


@falsehoods.register
def _(proof: OneLabel, X, y):  # noqa: ARG001  (the examples do not matter)
    if set(np.asarray(y).tolist()) != {proof.label}:
        yield "there are other labels"


@falsehoods.register
def _(proof: PerClass, X, y):
    for _, part in proof:
        yield from falsehoods(part, X, y)


@falsehoods.register
def _(proof: PerPair, X, y):
    labels = np.asarray(y)
    for (a, b), part in proof:
        mine = np.flatnonzero((labels == a) | (labels == b))
        yield from falsehoods(part, X[mine], labels[mine])


@pytest.fixture(scope="session")
def margin_of():
    """The function that returns the exact square of the best margin of a kernel matrix, without a bias."""
    return lambda K, y: best_margin([[exact(v) for v in row] for row in K], y, free=False)


@pytest.fixture(scope="session")
def oracle():
    """The function that lists what is false of a certificate."""
    return lambda proof, X, y: list(falsehoods(proof, X, y))
