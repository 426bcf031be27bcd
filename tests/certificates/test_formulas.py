"""Bounds and sums that all checkers are made of, each computed again by its formula, entry by entry, in coarse precision."""

import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace as Some

import numpy as np
import pytest
from scipy import sparse

from halfspace import certificates as proofs
from halfspace.certificates import arithmetic, baselines, components, expansion, groups
from halfspace.certificates.base import Verdict
from halfspace.certificates.calibration import Calibration
from halfspace.certificates.expansion import Scales
from halfspace.certificates.log_odds import LogOdds
from halfspace.certificates.margins import ballot as ballots
from halfspace.certificates.margins import support
from halfspace.certificates.margins import vote as votes_of
from halfspace.certificates.margins.separability import certain_margin
from halfspace.certificates.predictor import functions_of, joined, same
from halfspace.certificates.prototypes import mixture as mixtures
from halfspace.certificates.prototypes import quantisation
from halfspace.certificates.regression import posterior as posteriors
from halfspace.errors import InputError
from halfspace.kernels import RBF, Linear, Polynomial, Precomputed

X = np.array([[3.0, 4.0], [-1.0, 0.5], [0.25, -2.0]])
EPS = 2.0**-20


@pytest.fixture
def coarse(monkeypatch):
    """Have the sums below reckon with 20 bits."""
    for module in (arithmetic, expansion):
        monkeypatch.setattr(module, "EPS", EPS)


# ---------------------------------------------------------------- lengths and ranges
@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("size", [1.0, 2.0**-340, 2.0**330, 1e-99, 1e99])
def test_the_radius_is_that_of_the_longest_row(size):
    """With the clamped input, rounded up by the number of products, whatever its size."""
    room = 1 + (2 + 8) * EPS
    for data in (X, sparse.csr_array(X), X.astype(np.float32) if size == 1.0 else X):
        assert arithmetic.radius(data * size, 0.0) == pytest.approx(5.0 * size * room, rel=1e-14)
        assert arithmetic.radius(data * size, 12.0 * size) == pytest.approx(13.0 * size * room, rel=1e-14)
    assert arithmetic.radius(0.0 * X, 0.0) == 0.0
    assert arithmetic.radius(-X[:1] * size, 0.0) == arithmetic.radius(X[:1] * size, 0.0)


def test_numbers_are_scaled_only_where_squares_are_lost():
    """The ends of each range: exponents, squares, lengths and weights."""
    assert [arithmetic.exponent(np.array([v])) for v in (0.0, 1.1e-60, 0.9e60, -1.0)] == [0, 0, 0, 0]
    assert [arithmetic.exponent(np.array([v, 0.0])) for v in (2.0**-200, -(2.0**200))] == [-199, 201]
    assert arithmetic.exponent(X, sparse.csr_array(1e80 * X)) == np.frexp(4e80)[1]
    assert [arithmetic.exponent(np.array([v])) != 0 for v in (1e-60, 1e60)] == [True, True]
    for value, sound, words in ((0.0, True, ""), (1e-146, False, "so small"), (1.1e-146, True, ""), (1e150, False, "so large")):
        found = arithmetic.in_range(X * 0.0, np.array([value]))
        assert found[0] is sound
        assert words in found[1]
    assert arithmetic.in_range(np.array([0.9e150, -2.0]), X)[0]
    for length, sound in ((0.0, True), (arithmetic.NORMAL, True), (arithmetic.NORMAL / 2, False)):
        assert bool(arithmetic.visible(length)[0]) is sound
    assert 4.0 * np.finfo(float).smallest_normal == arithmetic.NORMAL
    assert arithmetic.norm(np.array([3e200, -4e200])) == pytest.approx(5e200)
    assert [arithmetic.norm(np.array(w)) for w in ([], [0.0], [np.inf, 1.0])] == [0.0, 0.0, np.inf]
    assert arithmetic.unit_scale(np.array([3.0, -5.0])).tolist() == [0.375, -0.625]
    assert arithmetic.shares(np.array([1e308, 1e308])).tolist() == [0.5, 0.5]
    assert arithmetic.scaled(X, 3).tolist() == (X / 8).tolist()
    assert arithmetic.scaled(sparse.csr_array(X), -1).toarray().tolist() == (2 * X).tolist()
    assert arithmetic.largest_entry(np.array([[-7.0, 2.0]])) == 7.0
    assert arithmetic.largest_entry(sparse.csr_array((2, 2))) == 0.0


@pytest.mark.usefixtures("coarse")
def test_rounding_of_a_sum_is_so_many_units():
    """2 (terms + 8) units of the radius, and of the smallest float; of nothing it is nothing."""
    assert arithmetic.rounding(5, 3.0) == pytest.approx(26.0 * 3.0 * EPS, rel=1e-14)
    assert arithmetic.rounding(5, 0.0) == 0.0
    assert arithmetic.rounding(5, 5e-324) == pytest.approx(26.0 * 5e-324)


def test_what_labels_and_weights_must_be():
    """Both labels, none unknown, one weight each and some of them positive, as many weights as columns."""
    y = np.array(["a", "b", "b"])
    assert arithmetic.both_signs(y, "a")[0]
    assert [arithmetic.both_signs(y, label)[0] for label in ("c", 3)] == [False, False]
    assert not arithmetic.both_signs(y[1:], "b")[0]
    assert arithmetic.known_labels(y, ("a", "b", "c"))[0]
    assert not arithmetic.known_labels(y, ("a",))[0]
    assert arithmetic.signs(y, "b").tolist() == [-1.0, 1.0, 1.0]
    assert [arithmetic.matching(np.ones(D), clamp, X)[0] for D, clamp in ((2, 0.0), (3, 2.0), (3, 0.0), (2, 2.0))] == [
        True,
        True,
        False,
        False,
    ]
    assert [arithmetic.some_weight(s)[0] for s in (None, np.array([0.0, 1.0]), np.zeros(2))] == [True, True, False]
    assert [arithmetic.one_weight_each(s, 2)[0] for s in (None, np.ones(2), np.ones(3), np.ones((2, 1)))] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("block", [1, 3, 1 << 20])
def test_outputs_and_sums_are_those_of_single_rows(form, block, monkeypatch):
    """In blocks of any size, dense or sparse, with a clamped input or not, one problem or several."""
    monkeypatch.setattr(arithmetic, "BLOCK_ENTRIES", block)
    W, c = np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]]), np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 4.0]])
    for K in (1, 2):
        for clamp in (0.0, 3.0):
            A = np.hstack([X, np.full((3, 1), clamp)])[:, : 3 if clamp else 2]
            out, sums = arithmetic.potentials_and_sums(form(X), W[:K, : A.shape[1]], c[:K], clamp)
            assert out == pytest.approx(np.array([[row @ w for w in W[:K, : A.shape[1]]] for row in A]))
            assert sums == pytest.approx(sum(np.outer(c[:K, i], A[i]) for i in range(3)))
            assert arithmetic.combination(form(X), c[:K], clamp) == pytest.approx(sums)
    with pytest.raises(InputError, match="is for 3 features, but X has 2"):
        arithmetic.potentials_and_sums(form(X), np.ones((1, 4)), c, 1.0)
    assert arithmetic.squares(form(X)).tolist() == [25.0, 1.25, 4.0625]
    V, mean = np.array([[1.0, 0.5], [2.0, -1.0]]), np.array([0.5, 1.0])
    monkeypatch.setattr(arithmetic, "CACHED", block)
    assert arithmetic.projected(form(X), mean, V) == pytest.approx((X - mean) @ V.T)
    found = arithmetic.columns_scaled(form(X), np.array([2.0, -1.0]))
    assert np.asarray(found.toarray() if sparse.issparse(found) else found).tolist() == (X * [2.0, -1.0]).tolist()
    assert arithmetic.columns_scaled(X, None) is X


def test_a_sum_vanishes_exactly_or_not(monkeypatch):
    """In fractions, the clamped input included; sums too large are not tried, and no sum is not zero."""
    rows = np.array([[0.1, 0.0], [0.2, 0.0], [-0.1, 0.0]])
    assert arithmetic.vanishes_exactly(rows, np.array([1.0, 0.0, 1.0]), 0.0)
    assert not arithmetic.vanishes_exactly(rows, np.array([1.0, 0.0, 1.0]), 2.0)
    assert arithmetic.vanishes_exactly(rows, np.array([2.0, -1.0, 0.0]), 0.0)
    assert not arithmetic.vanishes_exactly(np.array([[0.1], [0.2], [-0.3]]), np.ones(3), 0.0)  # 0.1 + 0.2 is not 0.3
    assert not arithmetic.vanishes_exactly(rows, np.zeros(3), 0.0)
    monkeypatch.setattr(arithmetic, "EXACT_ENTRIES", 4)
    assert arithmetic.vanishes_exactly(rows, np.array([1.0, 0.0, 1.0]), 0.0)
    monkeypatch.setattr(arithmetic, "EXACT_ENTRIES", 3)
    assert not arithmetic.vanishes_exactly(rows, np.array([1.0, 0.0, 1.0]), 0.0)
    assert arithmetic.vanishes_exactly(sparse.csr_array(rows), np.array([1.0, 0.0, 1.0]), 0.0)
    frozen = np.ones(2)
    frozen.flags.writeable = False
    assert arithmetic.held(frozen) is frozen
    assert arithmetic.held(X) is not X


# ---------------------------------------------------------------- functions of a kernel
@pytest.mark.usefixtures("coarse")
def test_errors_of_functions_are_sums_over_their_terms():
    """Entry by entry: rounding of each value of the kernel, of the sum by the lengths, and what was added to the diagonal."""
    lengths, rows, c = np.array([1.0, 2.0, 3.0, 0.5]), np.array([1, 3]), np.array([[1.0, -2.0], [0.5, 4.0]])
    share = 2 * (2 + 8) * EPS
    for reach, unit in ((None, 0.0), (np.array([1.0, 2.0, 4.0, 8.0]), 1e-3), (np.array([1.0, 2.0, 4.0, 8.0]), 1e3)):
        size = Scales(lengths, 0.25, 0.125, unit, reach)
        error, square = size.errors(rows, c)
        expected = np.zeros((4, 2))
        for k in range(2):
            total, longest = np.abs(c[:, k]).sum(), sum(lengths[j] * abs(c[n, k]) for n, j in enumerate(rows))
            for i in range(4):
                own = 0.25 * total
                if reach is not None:
                    each = unit * (reach + (reach[1] + reach[3]) / 2) ** 2
                    terms = each[i] * total + sum(each[j] * abs(c[n, k]) for n, j in enumerate(rows))
                    own = min(own, terms + 16 * EPS * total)
                expected[i, k] = own + share * lengths[i] * longest
            for n, j in enumerate(rows):
                expected[j, k] += 0.125 * abs(c[n, k])
            squared = sum(abs(c[n, k]) * expected[j, k] for n, j in enumerate(rows)) + share * longest**2
            assert square[k] == pytest.approx(squared, rel=1e-12)
        assert error == pytest.approx(expected, rel=1e-12)
        assert size.radius == 3.0
        part = size.of(np.array([3, 0]))
        assert part.lengths.tolist() == [0.5, 1.0]
        assert part.reach is None if reach is None else part.reach.tolist() == [8.0, 1.0]


@pytest.mark.usefixtures("coarse")
def test_lengths_in_the_space_of_a_kernel():
    """Square roots of the diagonal, of the clamped input, of rounding and of what was added; zeros lose nothing."""
    K = X @ X.T + np.array([[0.0, 2e-9, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    found = expansion.scales(Precomputed(), K, 2.0, 0.5)
    entry = 0.5 * 2e-9 + expansion.FLOOR
    assert found.entry == pytest.approx(entry)
    assert found.lengths == pytest.approx(np.sqrt(np.diag(K) + 4.0 + entry + 0.5) * (1 + 8 * EPS), rel=1e-13)
    zeros = expansion.scales(Linear(), 0.0 * X, 0.0)
    assert zeros.lengths.tolist() == [0.0, 0.0, 0.0]
    assert zeros.entry == 0.0
    assert expansion.scales(Linear(), 0.01 * X, 0.0).entry >= expansion.FLOOR
    for size in (1e-149, 1e-150):
        with pytest.raises(InputError, match="underflows"):
            expansion.scales(Linear(), size * X, 0.0)
    assert expansion.scales(Linear(), 1e-150 * X, 1.0).radius == pytest.approx(1.0, rel=1e-4)
    assert expansion.scales(Linear(), 1e-130 * X, 0.0).radius > 0.0


def test_a_matrix_is_a_kernel_or_what_is_in_the_way():
    """Symmetric but for a millionth, positive semi-definite but for rounding; too many examples, or not square: no."""
    K = X @ X.T
    n, error = 3, expansion.FLOOR
    shift = (n + 8) * arithmetic.EPS * np.trace(K) + n * error
    assert expansion.indefiniteness(Precomputed(), K) == (pytest.approx(2.0 * shift), None)
    assert expansion.indefiniteness(Polynomial(2), X) == (0.0, None)
    assert "square matrix" in expansion.indefiniteness(Precomputed(), K[:2])[1]
    skew = K.copy()
    skew[0, 1] += 0.9e-6 * np.abs(K).max()
    found, objection = expansion.indefiniteness(Precomputed(), skew)
    assert objection is None
    assert found == pytest.approx(2.0 * (shift + n * 0.5 * 0.9e-6 * np.abs(K).max()))
    skew[0, 1] += 0.2e-6 * np.abs(K).max()
    assert "not symmetric" in expansion.indefiniteness(Precomputed(), skew)[1]
    assert "smallest eigenvalue -1" in expansion.indefiniteness(Precomputed(), np.diag([1.0, 1.0, -1.0]))[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expansion, "LARGEST", 3)
        assert expansion.indefiniteness(Precomputed(), K)[1] is None
        patch.setattr(expansion, "LARGEST", 2)
        assert "too many" in expansion.indefiniteness(Precomputed(), K)[1]
        assert expansion.indefiniteness(Linear(), X)[1] is None


@pytest.mark.parametrize("block", [1, 2, 1 << 22])
def test_outputs_of_functions_in_blocks(block, monkeypatch):
    """Σ c (k(x_r, x) + clamp²) of a kernel and of its matrix, by any number of rows at a time; none without rows."""
    monkeypatch.setattr(expansion, "BLOCK_ENTRIES", block)
    kernel, rows, c = RBF(0.25), np.array([2, 0]), np.array([[1.0, -2.0], [0.5, 4.0]])
    K = np.array([[np.exp(-0.25 * np.sum((a - b) ** 2)) for b in X] for a in X])
    expected = np.array([[sum(c[n, k] * (K[i, j] + 9.0) for n, j in enumerate(rows)) for k in range(2)] for i in range(3)])
    for what, data in ((kernel, X), (Precomputed(), K), (Precomputed(), sparse.csr_array(K)), (kernel, sparse.csr_array(X))):
        F = expansion.outputs(what, data, rows, c, 3.0)
        assert pytest.approx(expected) == F
    squares = expansion.squares_of(F, rows, c)
    assert squares == pytest.approx([sum(c[n, k] * expected[j, k] for n, j in enumerate(rows)) for k in range(2)])
    assert expansion.squares_of(-F, rows, c).tolist() == [0.0, 0.0]
    assert expansion.outputs(kernel, X, rows[:0], c[:0], 3.0).tolist() == np.zeros((3, 2)).tolist()


# ---------------------------------------------------------------- what predicts
def values_of(answer, k, rows, n):
    """Return outputs of the functions of cell k of what predicts, at some rows, from the definition of a Gaussian."""
    found = []
    for (used, c), bias in zip(answer["functions"][k], answer["bias"][k], strict=True):
        D = ((rows[:, None] - n[used]) ** 2).sum(axis=2)
        found.append(np.exp(-answer["kernel"].gamma * D) @ c + bias)
    return np.stack(found, axis=1)


@pytest.mark.parametrize("clamp", [0.0, 3.0])
@pytest.mark.parametrize("targets", [1, 2])
def test_the_functions_of_cells_are_those_of_their_parts(clamp, targets):
    """In each cell the functions, with the clamped input in the bias, give what its part says: rows count among all."""
    data, cells = np.array([[0.0], [9.0], [1.0], [8.0], [8.5]]), np.array([0, 1, 0, 1, 1])
    Y = np.arange(5.0)[:, None] + np.arange(targets)
    parts, kernel = [], RBF(0.5)
    for k in (0, 1):
        own = cells == k
        a = np.cos(np.arange(own.sum()) + np.arange(targets)[:, None])
        parts.append(proofs.KernelRidgeGap.measure(data[own], Y[own], kernel=kernel, coefficients=a, ridge=1.0, clamp=clamp))
    proof = proofs.KernelRidgeCells(np.array([[0.5], [8.5]]), cells, tuple(parts))
    answer = proof.predictor(Y)
    for k, part in enumerate(parts):
        own = data[cells == k]
        K = np.exp(-0.5 * (own - own.T) ** 2) + clamp**2
        assert values_of(answer, k, own, data) == pytest.approx(K @ part.coefficients.T)
    assert answer["classes of cells"].shape == (2, targets)
    assert answer["classes of cells"].all()
    assert answer["bias"].shape == (2, targets)
    other = proofs.KernelRidgeGap.measure(data[:2], Y[:2], kernel=RBF(0.25), coefficients=np.ones((targets, 2)), ridge=1.0)
    assert proofs.KernelRidgeCells(proof.centres, cells, (parts[0], other)).predictor(Y)["kernel"] is None
    weighted = proofs.KernelRidgeCells(proof.centres, cells, tuple(parts))
    shares = np.array([2.0, 3.0])
    expected = shares @ np.stack([part.left_out_error for part in parts]) / 5.0
    assert weighted.left_out_error == pytest.approx(expected)
    left_out, unsure = weighted.confirm_left_out(data, Y)[1]
    for k, part in enumerate(parts):
        for found, own in zip(part.confirm_left_out(data[cells == k], Y[cells == k])[1], (left_out, unsure), strict=True):
            assert own[cells == k] == pytest.approx(found)


@pytest.mark.parametrize("labels", ["ab", "abc"])
@pytest.mark.parametrize("clamp", [0.0, 2.0])
def test_the_machines_of_cells_are_those_of_their_parts(labels, clamp):
    """Of two classes one function, of more one for each class in the cell; a cell of one label has a bias and no function."""
    data = np.array([[0.0], [1.0], [8.0], [9.0], [20.0], [21.0]])
    y, cells = np.array(["a", "b", "b", labels[-1], "b", "b"]), np.array([0, 0, 1, 1, 2, 2])
    y = np.where(np.arange(6) == 2, "a", y) if labels == "ab" else y
    about = {"kernel": RBF(0.5), "C": 1.0, "clamp": clamp, "strengths": np.array([0.25, 0.5])}
    parts = [proofs.KernelGap.measure(data[cells == k], y[cells == k], positive=y[cells == k][1], **about) for k in (0, 1)]
    proof = proofs.PerCell(np.array([[0.5], [8.5], [20.5]]), cells, (*parts, proofs.OneLabel("b")))
    assert proof.verify(data, y)
    answer = proof.predictor(y)
    K = 1 if labels == "ab" else 3
    assert answer["bias"].shape == (3, K)
    for k, part in enumerate(parts):
        own = data[cells == k]
        signs = np.where(y[cells == k] == part.positive, 1.0, -1.0)
        f = (np.exp(-0.5 * (own - own.T) ** 2) + clamp**2) @ (part.strengths * signs)
        values = values_of(answer, k, own, data)
        here = [sorted(labels).index(label) for label in sorted(set(y[cells == k]))]
        if K == 1:
            assert values[:, 0] == pytest.approx(f)
        else:
            assert values[:, here] == pytest.approx(np.stack([-f, f], axis=1))
            assert answer["classes of cells"][k].tolist() == [n in here for n in range(3)]
            assert [answer["bias"][k][n] for n in range(3) if n not in here] == [-1.0]
    alone = answer["bias"][2].tolist()
    assert alone == ([1.0] if K == 1 else [-1.0, 1.0, -1.0])
    assert all(rows.size == 0 for rows, _ in answer["functions"][2])
    one = proofs.PerCell(proof.centres, cells, (*parts, proofs.OneLabel("a")))
    assert one.predictor(y)["bias"][2].tolist() == ([-1.0] if K == 1 else [1.0, -1.0, -1.0])
    turned = proofs.KernelGap.measure(data[:2], y[:2], positive="a", **about)
    assert proofs.PerCell(proof.centres, cells, (turned, parts[1], proofs.OneLabel("b"))).predictor(y)["functions"][0] is None
    narrow = proofs.KernelGap.measure(data[2:4], y[2:4], positive=parts[1].positive, **about | {"kernel": RBF(2.0)})
    other = proofs.PerCell(proof.centres, cells, (parts[0], narrow, proofs.OneLabel("b")))
    assert other.predictor(y)["kernel"] is None
    assert answer["kernel"] == RBF(0.5)


def test_parts_are_joined_one_after_the_other():
    """Arrays and lists of all parts, the rest once if all agree, else all of them; one part is what it is."""
    one = {"w": np.ones(2), "rows": [1], "clamp": 2.0, "kernel": RBF(1.0)}
    other = {"w": np.zeros(1), "rows": [2, 3], "clamp": 2.0, "kernel": RBF(2.0)}
    assert {name: type(value) for name, value in joined([one]).items()} == {
        "w": np.ndarray,
        "rows": list,
        "clamp": float,
        "kernel": RBF,
    }
    found = joined([one, other, one])
    assert found["w"].tolist() == [1.0, 1.0, 0.0, 1.0, 1.0]
    assert found["rows"] == [1, 2, 3, 1]
    assert found["clamp"] == 2.0
    assert found["kernel"] == [RBF(1.0), RBF(2.0), RBF(1.0)]
    assert joined([one, other, other])["kernel"] == [RBF(1.0), RBF(2.0), RBF(2.0)]
    assert joined([{"w": np.ones(1)}, {"w": None}])["w"][1] is None
    assert joined([{"rows": [1]}, {}])["rows"] == [[1], None]


def test_the_same_is_equal_in_every_number():
    """Arrays, lists and tuples of any depth, numbers, texts and kernels; nothing is only nothing."""
    for value in ([np.ones(2), (1, "a")], None, 2.0, RBF(1.0), np.ones((2, 0))):
        assert same(value, value)
    for value, other in (
        ([np.ones(2)], [np.ones(2), np.ones(2)]),
        ([np.ones(2)], [np.zeros(2)]),
        (np.ones(2), np.ones(3)),
        (np.ones(2), None),
        (None, 0.0),
        (RBF(1.0), RBF(2.0)),
        ("a", "b"),
    ):
        assert not same(value, other)
        assert not same(other, value)
    assert functions_of(np.array([4, 2]), np.array([[0.0, 1.0], [2.0, 0.0]]))[0][0].tolist() == [2]
    assert functions_of(np.array([4, 2]), np.array([[1.0, 3.0]]))[0][1].tolist() == [3.0, 1.0]


def test_cells_are_those_of_the_nearest_centre_but_for_rounding():
    """An example as far from two centres may be in either; one nearer to another by more than rounding is misplaced."""
    centres = np.array([[0.0, 0.0], [2.0, 0.0]])
    for size in (1.0, 2.0**-300, 2.0**300):
        for off, wrong in ((0.0, 0), (1e-13, 0), (1e-10, 1), (-1e-10, 0)):
            rows = np.array([[1.0 + off, 5.0]]) * size
            assert groups._misplaced(rows, np.array([0]), centres * size) == wrong
        assert groups._misplaced(np.array([[9.0, 0.0]]) * size, np.array([-1]), centres * size) == 0


# ---------------------------------------------------------------- neighbours
@pytest.mark.parametrize("k", [1, 2, 7])
def test_votes_and_means_of_many_neighbours(k):
    """Of 150 rows without ties: as many are right, and the mean is as far off, as sorting all distances says."""
    rng = np.random.default_rng(k)
    rows, y, t = rng.standard_normal((150, 3)), rng.integers(0, 2, 150), rng.standard_normal(150)
    D = ((rows[:, None] - rows) ** 2).sum(axis=2)
    D[np.diag_indices(150)] = np.inf
    near = np.argsort(D, axis=1)[:, :k]
    mine = (y[near] == y[:, None]).sum(axis=1)
    for data in (rows, sparse.csr_array(rows)):
        assert proofs.NeighbourErrors.measure(data, y, k=k).errors == np.count_nonzero(mine <= k - mine)
        error = proofs.NeighbourMeans.measure(data, t, k=k).error
        assert error == pytest.approx(np.sqrt(np.mean((t - t[near].mean(axis=1)) ** 2)), rel=1e-9)


# ---------------------------------------------------------------- curves
def test_outputs_of_zero_belong_below_and_infinite_ones_to_no_curve():
    """An output of 0 predicts the first class; rows with an infinite output of any class are left out."""
    f, t = np.array([-2.0, -1.0, 0.0, 0.0, 1.0, 2.0, 0.5]), np.array([0, 1, 0, 1, 1, 1, 0])
    assert Calibration.of(f, t).below != Calibration.of(np.where(f == 0.0, 1e-9, f), t).below
    assert Calibration.of(f, t).below == Calibration.of(np.where(f == 0.0, -0.0, f), t).below
    assert Calibration.of(f, t).above == Calibration.of(f[f > 0], t[f > 0]).above
    many = np.cos(np.arange(30.0)).reshape(10, 3)
    endless = np.vstack([many, [[-np.inf, 1.0, 0.0]], [[np.inf, 1.0, 0.0]]])
    assert Calibration.of(endless, np.arange(12) % 3) == Calibration.of(many, np.arange(10) % 3)
    for part, other in zip(LogOdds.of(endless, np.arange(12) % 3), LogOdds.of(many, np.arange(10) % 3), strict=True):
        assert np.array_equal(part, other)


# ---------------------------------------------------------------- smallest shapes
ONE, TWO, BOTH, HALF, SINGLE = (
    np.array([[1.0], [-1.0]]),
    np.array([1, 0]),
    np.ones(2, int),
    np.array([0.5, -0.25]),
    np.array([[2.0]]),
)
OF_KERNEL = {"kernel": Linear(), "positive": 1, "strengths": np.array([0.5, 0.0])}
QUIET = {"n_taps": 1, "normalised": True, "rate": 0.5, "delta": 0.0, "threshold": np.inf, "hangover": 0}
SMALLEST = [
    lambda: (proofs.PrototypeErrors.measure(ONE, BOTH, prototypes=SINGLE, labels=[1]), BOTH),
    lambda: (proofs.PrototypeErrors.measure(ONE, BOTH, prototypes=SINGLE, labels=[1], omega=np.ones(1)), BOTH),
    lambda: (proofs.Quantisation.measure(ONE, prototypes=SINGLE), None),
    lambda: (proofs.MixtureLikelihood.measure(ONE, weights=np.ones(1), prototypes=SINGLE, sigmas=np.ones(1)), None),
    lambda: (proofs.MarginBracket.measure(ONE, TWO, weights=np.ones(1), strengths=np.array([1.0, 0.0]), positive=1), TWO),
    lambda: (proofs.DualityGap.measure(ONE, TWO, weights=np.ones(1), strengths=np.array([0.5, 0.0]), C=1.0, positive=1), TWO),
    lambda: (proofs.KernelGap.measure(ONE, TWO, C=1.0, **OF_KERNEL), TWO),
    lambda: (proofs.KernelBracket.measure(ONE, TWO, **OF_KERNEL), TWO),
    lambda: (proofs.LeastSquaresGap.measure(ONE, TWO, weights=np.ones(1), positive=1), TWO),
    lambda: (proofs.RidgeGap.measure(ONE[:1], HALF[:1], weights=np.ones(1)), HALF[:1]),
    lambda: (
        proofs.KernelRidgeGap.measure(ONE[:1], HALF[:1], kernel=Linear(), coefficients=np.ones((1, 1)), ridge=1.0),
        HALF[:1],
    ),
    lambda: (proofs.TargetMean.measure(ONE[:1], HALF[:1]), HALF[:1]),
    lambda: (proofs.NeighbourErrors.measure(ONE, TWO, k=1), TWO),
    lambda: (proofs.NeighbourMeans.measure(ONE, HALF, k=1), HALF),
    lambda: (proofs.ClassCounts((0, 1), (1, 1)), TWO),
    lambda: (proofs.PerCell(SINGLE, np.zeros(2, dtype=int), (proofs.OneLabel(1),)), np.array([1, 1])),
    lambda: (proofs.FilterBound.measure(ONE[:1], HALF[:1], **QUIET), HALF[:1]),
    lambda: (proofs.OneClassGap.measure(ONE[:1], kernel=RBF(1.0), strengths=np.ones(1), nu=1.0, rho=1.0, level=0.5), None),
]


@pytest.mark.parametrize("make", SMALLEST)
def test_one_number_is_enough(make):
    """One column and as few rows, prototypes and weights as there can be: each kind that allows it measures and holds."""
    proof, labels = make()
    rows = ONE if labels is None or len(labels) == 2 else ONE[:1]
    rows = ONE[:1] if isinstance(proof, proofs.OneClassGap) else rows
    assert proof.well_formed(), type(proof).__name__
    verdict = proof.verify(rows, labels)
    assert verdict, (type(proof).__name__, str(verdict))


# ---------------------------------------------------------------- ends of ranges
def test_multipliers_are_positive_fractions_of_rows():
    """A share of 0, a float, a row below 0 or beyond 2^53: no proof."""
    halves = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    proof = proofs.Separability.by_multipliers(halves, 1, intercept=True, positive=1)
    assert proof.well_formed()
    assert replace(proof, multipliers={2**53 - 1: Fraction(1, 2), 1: Fraction(1, 2)}).well_formed()
    half = halves[0]
    for wrong in ({2: Fraction(0)}, {2: 0.5}, {-1: half}, {2**53: half}, {"2": half}, {np.int64(2): half}):
        assert not replace(proof, multipliers={0: Fraction(1, 2), **wrong}).well_formed(), wrong


def test_a_matrix_may_be_off_by_a_millionth_and_no_more():
    """The end of the range belongs to it."""
    for off, symmetric in ((1e-6, True), (1.0001e-6, False)):
        _, objection = expansion.indefiniteness(Precomputed(), np.array([[1.0, off], [0.0, 1.0]]))
        assert (objection is None) is symmetric


def test_components_need_a_variance():
    """No components at all claim nothing."""
    part = proofs.RidgeGap.measure(X[:, :1], np.arange(3.0), weights=np.ones(1))
    none = proofs.PrincipalComponents(part, np.zeros(2), np.zeros((0, 2)), np.zeros(0), 1.0)
    assert "there are no variances" in str(none.well_formed())
    for variances, falling in (([2.0, 1.0], True), ([1.0, 1.0], True), ([1.0, 2.0], False)):
        two = proofs.PrincipalComponents(part, np.zeros(2), np.eye(2), np.array(variances), 3.0)
        assert bool(two.well_formed()) is falling
    assert two.share == 1.0
    assert replace(two, total=6.0).share == 0.5
    assert replace(two, total=0.0).share == 1.0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_largest_variance_left_out_is_found_in_either_way(form, monkeypatch):
    """Of few rows or columns by all eigenvalues, of more by iterations: the same number, 0 where nothing is left."""
    data = np.cos(np.arange(40.0) ** 1.5).reshape(8, 5) * [5.0, 3.0, 2.0, 1.0, 0.5]
    mean, total = data.mean(axis=0), float(data.var(axis=0, ddof=1).sum())
    values, vectors = np.linalg.eigh(np.cov(data.T))
    for k in (1, 2):
        V = vectors[:, ::-1][:, :k].T
        for small in (500, 0):
            monkeypatch.setattr(components, "SMALL", small)
            rest = total - values[::-1][:k].sum()
            found = components._largest_left_out(form(data), mean, V, rest, total)
            assert found == pytest.approx(values[-1 - k], rel=1e-5)
            assert components._largest_left_out(form(data), mean, V, 0.9e-9 * total, total) == 0.0
        monkeypatch.setattr(components, "SMALL", 500)
        C = data[:4] - data[:4].mean(axis=0)
        C -= C @ V.T @ V
        wide = components._largest_left_out(form(data[:4]), data[:4].mean(axis=0), V, total, total)
        assert wide == pytest.approx(np.linalg.eigvalsh(C.T @ C)[-1] / 3.0)
    everything = vectors[:, ::-1].T
    assert components._largest_left_out(form(data), mean, everything, total, total) == 0.0
    assert components._largest_left_out(form(data[:3]), mean, everything[:2], total, total) == 0.0


def test_examples_on_a_budget_have_a_length_of_at_most_the_scale():
    """But for rounding of a few in 1e9: both when it is measured and when it is checked."""
    y, about = np.array([1, 0]), {"kernel": Linear(), "theorem": proofs.Projection(2), "positive": 1}
    for off, fits in ((5e-10, True), (2e-9, False)):
        data = np.array([[1.0], [-1.0]]) * (1.0 + off)
        claim = proofs.BudgetedMistakes.measure(0, data[:, :1] / (1.0 + off), y, coefficients=np.array([0.5, 0.0]), **about)
        if fits:
            assert proofs.BudgetedMistakes.measure(0, data, y, coefficients=np.array([0.5, 0.0]), **about).verify(data, y)
        else:
            with pytest.raises(InputError, match="give that as scale"):
                proofs.BudgetedMistakes.measure(0, data, y, coefficients=np.array([0.5, 0.0]), **about)
            assert "times the scale" in str(claim.verify(data, y))


@pytest.mark.parametrize("classes", [("a", "b"), ("a", "b", "c")])
def test_classes_need_a_function_each_in_a_single_cell_too(classes):
    """One for two classes, else one for each, of all examples or of cells; without cells there is none."""
    m = 1 if len(classes) == 2 else 3
    y = np.array(classes)[np.arange(3) % len(classes)]
    T = np.where(np.array(classes) == y[:, None], 1.0, -1.0)[:, 1 if m == 1 else 0 :][:, :m]
    part = proofs.KernelRidgeGap.measure(X, T, kernel=RBF(0.5), coefficients=0.5 * T.T, ridge=1.0)
    cells = proofs.KernelRidgeCells(np.zeros((1, 2)), np.zeros(3, dtype=int), (part,))
    for inner in (part, cells):
        residuals = inner.confirm_left_out(X, T)[1][0]
        F = T - residuals
        right = T[:, 0] * F[:, 0] > 0.0 if m == 1 else F.argmax(axis=1) == T.argmax(axis=1)
        proof = proofs.KernelRidgeClasses(classes, inner, int(np.count_nonzero(~right)))
        assert proof.well_formed()
        assert proof.verify(X, y), str(proof.verify(X, y))
        assert not replace(proof, mistakes=proof.mistakes + 1).verify(X, y)
        assert not replace(proof, classes=(*classes, "d")).well_formed()
    assert not proofs.KernelRidgeClasses(classes, replace(cells, parts=()), 0).well_formed()


# ---------------------------------------------------------------- claims that are the checker's own numbers
ROWS = np.cos(np.arange(24.0) ** 1.3).reshape(12, 2) + np.outer(np.arange(12) % 2, [1.0, 0.5])
LABELS = np.arange(12) % 2


def kernel_ridge_at_its_ends():
    T = ROWS @ [0.5, -0.25] + 0.1
    ridge = proofs.KernelRidgeGap.measure(ROWS, T, kernel=RBF(0.5), coefficients=0.1 * T[None], ridge=0.5)
    found = ridge._measured(ROWS, T[:, None], slack=1.0)
    yield ridge, T, {"gap": found.gap, "distance": found.distance}, {"gap": found.gap * (1 - 1e-12)}
    yield ridge, T, {"gap": found.gap}, {"distance": found.distance * (1 - 1e-12)}


def prototypes_at_their_ends():
    errors = proofs.PrototypeErrors.measure(ROWS, LABELS, prototypes=ROWS[:4], labels=LABELS[:4], beta=2.0)
    seen = errors.survey(ROWS, LABELS, give=1.0)
    fields = {"radius": seen.radius, "median_radius": seen.median_radius, "gradient": seen.gradient + seen.gradient_slack}
    for times in (1.0, 8.0):
        yield errors, LABELS, {**fields, "cost": seen.cost + times * seen.cost_slack}, {"radius": seen.radius * (1 + 1e-12)}


def cells_at_their_ends():
    cells = proofs.Quantisation.measure(ROWS, prototypes=ROWS[:2] + 0.1)
    assert proofs.Quantisation.measure(ROWS, prototypes=ROWS[:2] + 0.1, spectral=False).lower == 0.0 < cells.lower
    found = quantisation._measured(ROWS, cells.prototypes, None)
    lower, noise = quantisation.spectral_bound(ROWS, None, 2)
    for times in (1.0, 8.0):
        fields = {"error": found.error + times * found.noise, "step_gain": found.gain + times * found.gain_noise}
        fields |= {"lower": lower - times * noise}
        yield cells, None, fields, {"error": found.error + (9.0 if times > 1.0 else 0.5) * found.noise}


def novelty_at_its_ends():
    plane = proofs.OneClassGap.measure(ROWS, kernel=RBF(0.5), strengths=np.full(8, 0.125), nu=0.75, rho=0.35, level=0.25)
    F, size = plane._outputs(ROWS, np.arange(12))
    lower, upper = plane._collected(F[:8], np.zeros(8), size).sides(plane.rho, plane._cap, 1.0)
    yield plane, None, {"lower": max(lower, 0.0), "upper": upper}, {"upper": upper * (1 - 1e-14)}
    yield plane, None, {"lower": max(lower, 0.0)}, {"lower": max(lower, 0.0) + 1e-14}


@pytest.mark.parametrize("ends", [kernel_ridge_at_its_ends, prototypes_at_their_ends, cells_at_their_ends, novelty_at_its_ends])
def test_what_the_checker_finds_itself_may_be_claimed(ends):
    """Each end of what a checker allows belongs to it; a little beyond does not."""
    for proof, y, inside, outside in ends():
        verdict = replace(proof, **inside).verify(ROWS, y)
        assert verdict, (type(proof).__name__, inside, str(verdict))
        assert not replace(proof, **inside | outside).verify(ROWS, y), (type(proof).__name__, outside)


def test_a_row_on_the_plane_is_on_the_wrong_side():
    """A potential of exactly 0 has no margin, and its row is named; without one the margin is the least distance."""
    rows, signs = np.array([[1.0], [3.0], [0.0]]), np.array([1.0, 1.0, -1.0])
    margin, wrong = certain_margin(rows, signs, np.array([1.0, -1.0]), 1.0)
    assert (margin, wrong.tolist()) == (0.0, [0])
    margin, wrong = certain_margin(rows, signs, np.array([1.0, -0.5]), 1.0)
    assert wrong.size == 0
    assert margin == pytest.approx(0.5, rel=1e-12)
    assert margin <= 0.5
    margin, wrong = certain_margin(rows, signs, np.array([1.0, -2.0]), 1.0)
    assert (margin, wrong.tolist()) == (0.0, [0])


def test_prototypes_at_the_rows_leave_an_error_of_exactly_0():
    """Where nothing is rounded nothing is given away: error, gain and bound are 0."""
    exact = proofs.Quantisation.measure(ROWS, prototypes=ROWS)
    assert (exact.error, exact.step_gain, exact.lower) == (0.0, 0.0, 0.0)
    assert exact.verify(ROWS)
    assert not replace(exact, error=1e-300).verify(ROWS)


def test_a_metric_without_rows_measures_nothing():
    """It is refused before anything is computed, and so are no prototypes."""
    proof = proofs.PrototypeErrors.measure(ROWS, LABELS, prototypes=ROWS[:4], labels=LABELS[:4], omega=np.ones(2))
    assert "the metric is empty" in str(replace(proof, omega=np.zeros((0, 2))).well_formed())
    assert replace(proof, omega=np.ones((1, 2))).well_formed()
    none = replace(proof, prototypes=np.zeros((0, 2)), prototype_labels=())
    assert "there are no prototypes" in str(none.well_formed())


def test_rows_that_are_all_equal_have_components_without_variance():
    """Any direction is principal where nothing varies, and all numbers are exactly 0."""
    data, y = np.ones((4, 2)), np.zeros(4)
    V = np.array([[1.0, 0.0]])
    part = proofs.RidgeGap.measure(arithmetic.projected(data, data[0], V), y, weights=np.ones(1), ridge=1.0)
    proof = proofs.PrincipalComponents(part, data[0], V, np.zeros(1), 0.0)
    assert proof.verify(data, y), str(proof.verify(data, y))
    assert not replace(proof, components=np.array([[1.0, 1e-4]])).verify(data, y)


def test_examples_that_may_be_support_vectors_are_counted_within_rounding(monkeypatch):
    """Those at most so many rounding errors beyond the margin: between one and 64 of them may be claimed, four are."""
    for module in (arithmetic, support):
        monkeypatch.setattr(module, "EPS", EPS)
    unit = arithmetic.rounding(1, 3.0 * (1 + 9 * EPS))
    rows = np.array([[3.0], *([1.0 + times * unit] for times in (0.5, 2.0, 32.0, 100.0, 1e4))])
    y = np.ones(6, dtype=int)
    about = {"C": 1.0, "weights": np.ones(1), "primal": 2.0, "dual": 2.0, "clamp": 0.0, "positive": 1}
    gap = Some(**about, confirm=lambda *_: Verdict.of())
    assert [support._possible_support(rows, y, gap, slack) for slack in (1.0, 4.0, 64.0)] == [1, 2, 3]
    for count in range(6):
        bound = support._compression(6, count, 0.05)
        claim = proofs.SupportBounds(gap, count, 6, count / 6, bound, 0.05)
        assert bool(claim.confirm(rows, y)) is (1 <= count <= 3)
    wide = Some(**about | {"primal": 2.0 + 0.5 * 4e-10})  # planes may differ by 2e-5, times the length of a row
    beyond = 1.0 + 2e-5 * np.linalg.norm(rows, axis=1) * (1 + 9 * EPS)
    assert support._possible_support(rows, y, wide, 1.0) == np.count_nonzero(rows[:, 0] - unit <= beyond)
    hard = Some(**about | {"C": np.inf})
    least = rows[:, 0].min() - unit
    assert support._possible_support(rows, y, hard, 1.0) == np.count_nonzero(rows[:, 0] / least - unit / least <= 1.0)
    assert support._possible_support(rows, y, Some(**about | {"C": np.inf, "primal": np.inf}), 1.0) == 6
    double = Some(**about | {"weights": np.full(1, 2.0)})
    assert [support._possible_support(rows / 2.0, y, double, slack) for slack in (1.0, 4.0, 64.0)] == [1, 2, 3]
    bound = support._compression(60, 2, 0.05)
    claim = proofs.SupportBounds(gap, 2, 60, 2 / 60, bound, 0.05)
    data, labels = np.vstack([rows, np.full((54, 1), 3.0)]), np.ones(60, dtype=int)
    for off, close in ((0.0, True), (0.5e-12 * bound, True), (1e-12, False)):
        assert bool(replace(claim, compression=bound + off).confirm(data, labels)) is close


@pytest.mark.parametrize(("n", "k"), [(10, 0), (10, 3), (10, 9), (10, 10), (1000, 3), (1001, 3)])
def test_the_compression_bound_is_that_of_littlestone_and_warmuth(n, k):
    """1 - exp(-x), where x is (log of the ways to choose k of n, and of n/δ) over n - k."""
    expected = 1.0 if k >= n else 1.0 - (0.05 / n / math.comb(n, k)) ** (1.0 / (n - k))
    assert support._compression(n, k, 0.05) == pytest.approx(expected, rel=1e-12)


def margins_at_their_ends(kind, C):
    """Yield a bracket or a gap with claims at each end of what its checker allows, and others just beyond it."""
    data, sign = ROWS + 3.0 * np.where(LABELS, 1.0, -1.0)[:, None], np.where(LABELS, 1.0, -1.0)
    alpha, w = np.full(12, 0.005), np.array([0.4, 0.2])
    if kind == "MarginBracket":
        proof = proofs.MarginBracket.measure(data, LABELS, weights=w, strengths=alpha, positive=1)
        sides = proof._sides(data, LABELS)
        error = arithmetic.rounding(sides.terms, sides.radius)
        lower, upper = sides.lower - error, sides.upper + error
        yield proof, {"lower": lower, "upper": upper}, {"lower": np.nextafter(lower, 9.0)}
        yield proof, {"lower": lower, "upper": upper}, {"upper": np.nextafter(upper, 0.0)}
        return
    if kind == "KernelBracket":
        proof = proofs.KernelBracket.measure(data, LABELS, kernel=Polynomial(2), strengths=alpha, positive=1)
        sides = proof._sides(data, sign)
        (lower, upper), (lowest, highest) = sides.outward(1.0), sides.outward(64.0)
        yield proof, {"lower": lower, "upper": upper}, {"lower": np.nextafter(lower, 1e9)}
        yield proof, {"lower": lower, "upper": upper}, {"upper": np.nextafter(upper, 0.0)}
        spare = 1e-7 * sides.radius
        yield proof, {"lower": lowest - spare, "upper": highest + spare}, {"lower": np.nextafter(lowest - spare, -1e9)}
        yield proof, {"lower": lowest - spare, "upper": highest + spare}, {"upper": np.nextafter(highest + spare, 1e9)}
        return
    about, plane = {"strengths": alpha, "C": C, "positive": 1}, kind == "DualityGap"
    more, loose = ({"weights": w}, 1e-9) if plane else ({"kernel": Linear()}, 1e-7)
    gap = getattr(proofs, kind).measure(data, LABELS, **more, **about)
    sums = gap._sums(data, sign)
    (primal, dual), (highest, lowest) = (sums.values(slack, hard=np.isinf(C)) for slack in (1.0, 64.0))
    least = lowest * (1 - loose) if plane else lowest - loose * abs(dual)
    tight, wide = {"primal": primal, "dual": dual}, {"primal": highest * (1 + loose), "dual": least}
    yield gap, tight, {"primal": np.nextafter(primal, 0.0)}
    yield gap, tight, {"dual": np.nextafter(dual, 1e9)}
    yield gap, wide, {"primal": np.nextafter(wide["primal"], 1e9)}
    yield gap, wide, {"dual": np.nextafter(least, 0.0)}
    yield gap, {"strengths": alpha}, {"strengths": -alpha}


@pytest.mark.parametrize(
    ("kind", "C"),
    [
        ("MarginBracket", 1.0),
        ("KernelBracket", 1.0),
        *((kind, C) for kind in ("DualityGap", "KernelGap") for C in (1.0, np.inf)),
    ],
)
def test_margins_may_be_claimed_up_to_the_ends_of_what_is_allowed(kind, C):
    """Each end belongs to the claim, the next float beyond it does not."""
    data = ROWS + 3.0 * np.where(LABELS, 1.0, -1.0)[:, None]
    for proof, inside, outside in margins_at_their_ends(kind, C):
        verdict = replace(proof, **inside).verify(data, LABELS)
        assert verdict, (type(proof).__name__, inside, str(verdict))
        assert not replace(proof, **inside | outside).verify(data, LABELS), (type(proof).__name__, outside)


def test_regressions_and_mixtures_may_claim_up_to_the_ends_of_what_is_allowed():
    """Gaps, backward errors, rounding, gains, precisions and errors of neighbours; the next float does not belong to them."""
    T = ROWS @ [0.5, -0.25] + 0.1 * np.sin(np.arange(12.0))
    ridge = proofs.RidgeGap.measure(ROWS, T, weights=np.array([0.4, -0.2]), ridge=0.5)
    found = ridge.measured(ROWS, T, slack=1.0)
    ends = {"gap": found.gap, "backward_error": found.backward_error, "rounding": 64.0 * found.blur}
    cases = [
        (ridge, T, ends, {name: np.nextafter(ends[name], up)})
        for name, up in (("gap", 0.0), ("backward_error", 0.0), ("rounding", 9.0))
    ]
    mixture = proofs.MixtureLikelihood.measure(ROWS, weights=np.full(2, 0.5), prototypes=ROWS[:2], sigmas=np.ones(2))
    parts = mixtures._Parts(mixture.weights, mixture.prototypes, mixture.sigmas)
    passed = mixtures._passed(ROWS, np.ones(12), parts)
    gain = (
        mixtures._passed(ROWS, np.ones(12), mixtures._step(passed, parts, "each", 0.0)).log_likelihood - passed.log_likelihood
    )
    noise = mixtures._noise(12, parts, passed)
    for end, beyond in ((gain + noise, 0.0), (gain + 8.0 * noise, 9.0)):
        cases.append((mixture, None, {"gain": end}, {"gain": np.nextafter(end, beyond)}))
    near = proofs.NeighbourMeans.measure(ROWS, T, k=3)
    error = baselines._left_out(ROWS, T, 3, slack=1.0)
    cases.append((near, T, {"error": error}, {"error": np.nextafter(error, 0.0)}))
    precision = 2.0 * ROWS.T @ ROWS + 0.5 * np.eye(2)
    about = {"weights": np.linalg.solve(precision, 2.0 * ROWS.T @ T), "covariance": np.linalg.inv(precision)}
    sums = posteriors.Sums(np.linalg.qr(np.column_stack([ROWS, T]), mode="r"), 12.0, np.zeros(2), 0.0)
    belief = proofs.GaussianPosterior.of(sums, alpha=0.5, beta=2.0, **about)
    again = posteriors._sums(ROWS, T, np.ones(12), belief)
    truth = posteriors._Posterior.of(again, 0.5, 2.0)
    lost, errors = posteriors._lost(again, 2.0, truth), belief._errors(again, truth)
    least = max(value + lost for value, _ in errors)
    cases.append((belief, T, {"precision": least}, {"precision": np.nextafter(least, 0.0)}))
    cases.append((belief, T, {"precision": 1e-9}, {"precision": np.nextafter(1e-9, 1.0)}))
    for proof, y, inside, outside in cases:
        verdict = replace(proof, **inside).verify(ROWS, y)
        assert verdict, (type(proof).__name__, inside, str(verdict))
        assert not replace(proof, **inside | outside).verify(ROWS, y), (type(proof).__name__, outside)


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("vote", ["majority", "stability"])
@pytest.mark.parametrize("classes", [2, 3])
def test_votes_that_rounding_could_change_are_those_nearer_than_its_bound(vote, classes):
    """Member by member and row by row: of outputs by their own terms, of choices by the mean stability, or by open votes."""
    rng, K = np.random.default_rng(classes), 1 if classes == 2 else 3
    base = np.zeros(3) if K == 1 else np.array([1.0, -0.5, 0.25])
    members = base + 2e-4 * rng.standard_normal((3, K, 3)) * (1000.0 if K == 1 else 1.0)
    rows = rng.standard_normal((60, 3)) * [1.0, 3.0, 0.5]
    if K == 1:  # rows near the first member's plane
        w = members[0, 0]
        rows -= np.outer(rows @ w / (w @ w) + 1e-4 * rng.standard_normal(60), w)
    proof = proofs.CommitteeVote.measure(
        rows, np.arange(60) % classes, members=members, vote=vote, clamp=0.0, classes=tuple(range(classes))
    )
    outputs, lengths = votes_of._outputs(rows, members, 0.0)
    R = arithmetic.radius(rows, 0.0)
    count = votes_of.count_votes(outputs, lengths, vote, R)
    unsure, choices = proof._undecided(rows, outputs, lengths, count, R)
    error = 2.0 * 2.0 * (3 + 3 + 8) * EPS
    scale = np.array([arithmetic.unit_scale(member) for member in members])
    found = set()
    for i, x in enumerate(rows):
        open_votes = 0
        for m in range(3):
            out = np.sort(scale[m] @ x)
            ahead = abs(out[0]) if K == 1 else out[-1] - out[-2]
            doubtful = ahead < error * max(np.abs(scale[m]) @ np.abs(x))
            assert unsure[i, m] == doubtful
            open_votes += doubtful
        mean = np.mean([np.abs(scale[m]) @ np.abs(x) / np.linalg.norm(scale[m], axis=1) for m in range(3)], axis=0)
        top = np.sort(count.scores[i])
        ahead = abs(top[0]) if K == 1 else top[-1] - top[-2]
        near = ahead < error * max(mean) / (R if vote == "majority" else 1.0)
        sure = np.sort([sum(count.votes[i, m] == c and not unsure[i, m] for m in range(3)) for c in range(classes)])
        close = vote == "majority" and open_votes > 0 and sure[-1] - sure[-2] <= open_votes + 0.5
        assert choices[i] == (near or close)
        found.add((bool(choices[i]), open_votes > 0))
    assert len(found) > 1


@pytest.mark.parametrize("n", [1, 2])
def test_a_single_row_counts_a_little_for_every_class(n):
    """With n rows each other class has a share of 1/n: of one row all classes have the same."""
    f, target = np.array([[2.0, 1.0, 0.0], [0.5, 1.5, 0.0]])[:n], np.array([0, 0])[:n]

    def entropy(slope, noise):
        e = np.exp(slope * (f - f.max(axis=1, keepdims=True)))
        logs = np.log((1 - noise) * e / e.sum(axis=1, keepdims=True) + noise / 3)
        own = logs[np.arange(n), target]
        return -(own.sum() + (logs.sum() - own.sum()) / n)

    least = min(entropy(a, e) for a in np.geomspace(1e-4, 50, 60) for e in np.linspace(0.0, 0.99, 25))
    assert entropy(*Calibration.of(f, target).above) <= least + 1e-2


@pytest.mark.parametrize("clamp", [0.0, 0.5])
@pytest.mark.parametrize("size", [2.0**-8, 2.0**-18])
def test_votes_of_a_perceptron_are_counted_one_by_one(clamp, size, monkeypatch):
    """Each function votes as often as it survived; where those that rounding could turn decide, either count will do."""
    for module in (ballots, arithmetic, expansion):
        monkeypatch.setattr(module, "EPS", size)
    rng = np.random.default_rng(3)
    data, sign = rng.standard_normal((40, 2)), np.where(np.arange(40) % 3, 1.0, -1.0)
    cast = ballots.Ballot(0, np.array([0, 3, 5, 3]), np.array([1.0, -1.0, 0.5, 1.5]), np.array([0, 2, 3, 7]), 20)
    bracket, steps, votes = Some(clamp=clamp), cast.steps, np.array([2.0, 1.0, 4.0, 13.0])
    scales = expansion.scales(Linear(), data, clamp)
    spare, wrong, unsure = 2.0 * (4 + 2 + 8) * size, 0, 0
    for i in range(40):
        products = data[cast.rows] @ data[i] + clamp**2
        f = [sum(steps[: j + 1] * products[: j + 1]) for j in range(4)]
        reach = [sum(np.abs(steps[: j + 1]) * scales.lengths[cast.rows[: j + 1]]) for j in range(4)]
        error = [spare * scales.lengths[i] * reach[j] + scales.entry * sum(np.abs(steps[: j + 1])) for j in range(4)]
        tally = sum(votes[j] * (1.0 if f[j] > 0.0 else -1.0) for j in range(4))
        doubt = sum(votes[j] for j in range(4) if abs(f[j]) <= error[j])
        wrong += (tally > 0.0) != (sign[i] > 0.0)
        unsure += doubt > 0.0 and abs(tally) <= 2.0 * doubt
    wrong, unsure = int(wrong), int(unsure)
    assert cast._counted(data, sign, bracket) == (wrong, unsure)
    assert cast.counted(data, sign, bracket).errors == wrong
    assert bool(unsure > 5) is (size == 2.0**-8)
    for off in (0, unsure, unsure + 1):
        assert bool(cast._replace(errors=wrong - off).confirm(data, sign, bracket)) is (off <= unsure)
    assert "a row outside" in str(cast._replace(rows=np.array([0, 3, 40, 3])).confirm(data, sign, bracket))
    with monkeypatch.context() as patch:
        patch.setattr(ballots, "JUDGED", 20)
        assert [own.tolist() for own, *_ in cast._tallies(data, bracket)] == [list(range(0, 40, 2))]
    assert cast.well_formed()
    assert cast._replace(presented=7).well_formed()
    assert "not in order" in str(cast._replace(presented=6).well_formed())


@pytest.mark.parametrize("theorem", [proofs.Novikoff(), proofs.PassiveAggressiveBound()])
def test_without_a_margin_there_is_no_bound_on_mistakes(theorem):
    """A margin of 0 or below separates nothing; the smallest above it does."""
    assert [theorem.bound(1.0, kappa) for kappa in (0.0, -0.0, -1.0)] == [np.inf] * 3
    assert np.isfinite(theorem.bound(1.0, 1e-3))
