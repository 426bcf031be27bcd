"""The edges of what checkers accept: exact sums in fractions, ties, nothing at all, and the least that is refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import halfspace as hs
from halfspace import certificates as proofs
from halfspace.certificates.expansion import scales
from halfspace.certificates.margins.ballot import Ballot
from halfspace.certificates.margins.support import _compression
from halfspace.certificates.pipeline import _alike
from halfspace.certificates.rational import potentials
from halfspace.kernels import RBF, Linear, Polynomial

PAIR, SIGNS = np.array([[1.0], [-1.0]]), np.array([1, 0])


# ---------------------------------------------------------------- hard margins of two points
@pytest.mark.parametrize("scale", [2.0**-30, 0.01, 0.3, 1.0, 7.0, 2.0**30])
@pytest.mark.parametrize("strength", [2.0**-40, 0.7, 3.0])
def test_two_points_have_the_margin_of_half_their_distance(scale, strength):
    """The best plane between ±s has 1/(2 s²) for both values, however long points and strengths are."""
    about = {"strengths": np.full(2, strength), "C": np.inf, "positive": 1}
    for gap in (
        proofs.DualityGap.measure(scale * PAIR, SIGNS, weights=np.array([strength]), **about),
        proofs.KernelGap.measure(scale * PAIR, SIGNS, kernel=Linear(), **about),
    ):
        assert gap.primal == pytest.approx(0.5 / scale**2, rel=1e-10)
        assert gap.dual == pytest.approx(0.5 / scale**2, rel=1e-10)
        assert gap.margin == pytest.approx((scale, scale), rel=1e-10)
        assert gap.verify(scale * PAIR, SIGNS)


def test_a_gap_without_strengths_claims_nothing_from_below():
    """No example of positive strength proves 0; rows that are named must have some."""
    none = {"strengths": np.zeros(2), "C": 1.0, "positive": 1}
    for gap in (
        proofs.DualityGap.measure(PAIR, SIGNS, weights=np.ones(1), **none),
        proofs.KernelGap.measure(PAIR, SIGNS, kernel=Linear(), **none),
    ):
        assert gap.dual == 0.0
        assert gap.verify(PAIR, SIGNS)
        verdict = replace(gap, rows=np.array([0]), strengths=np.zeros(1)).verify(PAIR, SIGNS)
        assert "no strength is positive" in str(verdict)


def test_without_strengths_the_shortest_example_is_the_witness():
    """The upper side is then its length."""
    X, y = np.array([[3.0, 0.0], [0.0, 2.0], [-1.5, 0.0]]), np.array([0, 1, 2])
    bracket = proofs.MarginBracket.measure(X, y, weights=np.ones(2), positive=1)
    assert (bracket.rows.tolist(), bracket.strengths.tolist()) == ([2], [1.0])
    assert bracket.upper == pytest.approx(1.5, rel=1e-12)
    for last, rival in ((2, 0), (0, 1)):  # the first class that is not its own
        labels = np.array([1, 2, 0]) if last == 0 else y
        kesler = proofs.KeslerBracket.measure(
            X, labels, weights=np.zeros((3, 2)), strengths=np.zeros((3, 3)), classes=np.arange(3)
        )
        assert (kesler.rows.tolist(), kesler.rivals.tolist(), kesler.strengths.tolist()) == ([2], [rival], [1.0])
        assert kesler.upper == pytest.approx(np.sqrt(2.0) * 1.5, rel=1e-12)
        assert kesler.verify(X, labels)


# ---------------------------------------------------------------- competitors of a budget, in fractions
def exact_competitor(X, sign, c, kernel, clamp, scale, passes):
    """Return the squared length and the summed hinge loss of a competitor as fractions."""
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    dots = [[sum(a * b for a, b in zip(r, s, strict=True)) for s in rows] for r in rows]
    if isinstance(kernel, Polynomial):
        gamma, coef0 = Fraction(kernel.gamma), Fraction(kernel.coef0)
        dots = [[(gamma * k + coef0) ** kernel.degree for k in row] for row in dots]
    clamped, c = Fraction(clamp) ** 2, [Fraction(v) for v in c.tolist()]
    outputs = [sum(a * (k + clamped) for a, k in zip(c, row, strict=True)) / Fraction(scale) for row in dots]
    loss = sum(max(Fraction(0), 1 - int(s) * out) for s, out in zip(sign, outputs, strict=True))
    return sum(a * out for a, out in zip(c, outputs, strict=True)), passes * loss


@pytest.mark.parametrize("seed", range(6))
def test_length_and_loss_of_a_competitor_are_rounded_up_and_by_little(seed):
    """Both are at least the exact ones, also when moved down as far as the checker lets them, and hardly more."""
    rng = np.random.default_rng(seed)
    X, y = np.round(rng.normal(size=(9, 3)) * 1000.0) / 7.0, np.arange(9) % 2
    kernel, clamp = (Linear(), 100.0) if seed % 2 else (Polynomial(2, gamma=1.0, coef0=3.0), 0.0)
    scale = 1.001 * float(kernel.exact_diagonal(X).max() + clamp**2)
    c = rng.normal(size=9) * (rng.random(9) < 0.7) * 0.3
    about = {"kernel": kernel, "coefficients": c, "theorem": proofs.Projection(9, 0.5), "clamp": clamp, "scale": scale}
    proof = proofs.BudgetedMistakes.measure(0, X, y, positive=1, passes=2, **about)
    square, loss = exact_competitor(X, np.where(y, 1, -1), c, kernel, clamp, scale, 2)
    assert proof.verify(X, y)
    for name, truth, power in (("norm", square, 2), ("loss", loss, 1)):
        value = getattr(proof, name)
        low, high = 0.0, value
        for _ in range(60):
            middle = 0.5 * (low + high)
            moved = replace(proof, **{name: middle})
            moved = replace(moved, bound=moved.theorem.bound(moved.norm, moved.loss))
            low, high = (low, middle) if moved.verify(X, y) else (middle, high)
        assert Fraction(high) ** power >= truth
        assert Fraction(value) ** power >= truth
        assert float(Fraction(value) ** power / truth) == pytest.approx(1.0, abs=1e-10)


# ---------------------------------------------------------------- verdicts about planes
def test_an_inseparable_verdict_has_no_plane():
    """Neither weights nor a bias belong to it."""
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 0])
    proof = hs.separability(X, y)
    assert proof.verdict == "inseparable"
    assert proof.verify(X, y)
    for plane in ({"w": np.ones(1)}, {"b": 1.0}, {"w": np.ones(1), "b": 1.0}):
        assert "a plane belongs to no verdict" in str(replace(proof, **plane).verify(X, y))


# ---------------------------------------------------------------- what stands around a model
@pytest.mark.parametrize(
    ("value", "other", "alike"),
    [
        (1.0, 1.0 + 5e-10, True),
        (1.0, 1.0 + 2e-9, False),
        (np.array([1e3, 1.0]), np.array([1e3, 1.0 + 5e-7]), True),
        (np.array([1e3, 1.0]), np.array([1e3, 1.0 + 2e-6]), False),
        ({"mean": 1e-9, "scale": 1e3}, {"mean": 5e-7, "scale": 1e3}, True),
        ({"mean": 1e-9, "scale": 1e3}, {"mean": 2e-6, "scale": 1e3}, False),
        ([1.0, "a"], (1.0, "a"), True),
        ([1.0, "a"], [1.0, "b"], False),
        ([1.0], [1.0, 2.0], False),
        (np.array([np.nan]), np.array([np.nan]), True),
        (np.array([np.nan]), np.array([0.0]), False),
        (np.array([1, 2]), np.array([1, 3]), False),
        (np.zeros(0), np.zeros(0), True),
        (np.zeros(2), np.zeros((2, 1)), False),
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1, "b": {"c": [1.5]}}, {"a": 1, "b": {"c": [2.5]}}, False),
        (["mae", (9.5, 0.5)], -7.5, False),
        (-7.5, {"mae": 9.5}, False),
    ],
)
def test_encoders_are_the_same_to_nine_digits(value, other, alike):
    """Numbers may differ by 1e-9 of the largest beside them; words, shapes and whole numbers not at all."""
    assert _alike(value, other) is alike


# ---------------------------------------------------------------- examples in a kernel's space
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.5), Polynomial(3, gamma=0.5, coef0=1.0)])
@pytest.mark.parametrize("clamp", [0.0, 3.0])
def test_lengths_in_the_space_of_a_kernel_are_rounded_up_and_by_little(kernel, clamp):
    """They are sqrt(k(x, x) + clamp²); no shift is paid for unless one is asked for, and then it is."""
    X = np.random.default_rng(0).normal(size=(7, 3))
    exact = np.sqrt(kernel.exact_diagonal(X) + clamp**2)
    found = scales(kernel, X, clamp)
    assert (found.lengths >= exact).all()
    assert found.lengths == pytest.approx(exact, rel=1e-12)
    assert scales(kernel, X, clamp, shift=0.25).lengths == pytest.approx(np.sqrt(exact**2 + 0.25), rel=1e-12)
    rows, c = np.array([1, 4]), np.array([[1.0], [-2.0]])
    plain, square = found.errors(rows, c)
    shifted, shifted_square = found._replace(shift=0.25).errors(rows, c)
    assert (shifted - plain)[:, 0] == pytest.approx([0.0, 0.25, 0.0, 0.0, 0.5, 0.0, 0.0])
    assert shifted_square - square == pytest.approx([0.25 * 1.0 + 0.25 * 4.0])


# ---------------------------------------------------------------- cells
def test_a_cell_of_one_label_needs_no_support_vectors():
    """What predicts in it is a bias alone: 1 for its label, -1 for the others."""
    X = np.array([[0.0], [1.0], [8.0], [9.0], [20.0], [21.0]])
    for y, K in ((np.array(["a", "b", "b", "b", "a", "a"]), 1), (np.array(["a", "b", "c", "c", "a", "a"]), 3)):
        proof = hs.KernelAdaTron(n_cells=3).fit(X, y).certificate_
        assert proof.verify(X, y)
        found, classes = proof.predictor(y), np.unique(y).tolist()
        for k, part in enumerate(proof.parts):
            if isinstance(part, proofs.OneLabel):
                assert [(rows.size, c.size) for rows, c in found["functions"][k]] == [(0, 0)] * K
                one = [1.0 if part.label == "b" else -1.0] if K == 1 else [1.0 if part.label == c else -1.0 for c in classes]
                assert found["bias"][k].tolist() == one


# ---------------------------------------------------------------- potentials and their rounding
@pytest.mark.parametrize("D", [3, 100])
@pytest.mark.parametrize("clamp", [0.0, 0.5])
def test_the_rounding_of_potentials_is_that_of_the_theorem(D, clamp):
    """The bound of every row is at least (D + 2) u Σ|w_j x_ij| (Higham), also where w and x are parallel, and not much more."""
    w = np.ones(D + bool(clamp))
    X = np.outer([1.0, -3.0, 0.25, 1.0], np.ones(D))
    X[3, 0] = 1.0 - D - clamp  # all but cancels
    found = potentials(X, np.ones(4), w, clamp)
    scale = 2.0 ** np.round(np.log2(found.length / np.sqrt(D)))  # the weights are divided by a power of 2
    sizes = scale * (np.abs(X).sum(axis=1) + abs(clamp))
    theorem = (w.size + 2) * 2.0**-53 * sizes
    assert (found.error >= theorem).all()
    assert found.error[1] <= 16 * theorem[1]  # the longest row
    assert found.error[3] <= 16 * theorem[3]  # a row too near for the bound of the longest
    exact = [sum(map(Fraction, row)) + Fraction(clamp) for row in X.tolist()]
    assert all(
        abs(Fraction(E) - Fraction(scale) * e) <= Fraction(b) for E, e, b in zip(found.E, exact, found.error, strict=True)
    )
    assert np.sqrt(D) <= found.length / scale <= np.sqrt(D) * (1 + 1e-12)


# ---------------------------------------------------------------- counts
def test_the_number_of_possible_support_vectors_is_counted_again():
    """One more or one less is refused, also with bounds that follow from it."""
    X, y = np.linspace(-1.0, 1.0, 30)[:, None], np.repeat([0, 1], 15)
    true = proofs.SupportBounds.measure(X, y, hs.AdaTron(C=np.inf, tol=1e-9).fit(X, y).certificate_)
    assert true.verify(X, y)
    assert true.support == 2
    for k in (1, 3):
        lie = replace(true, support=k, leave_one_out=k / 30, compression=_compression(30, k, true.delta))
        assert "may be support vectors" in str(lie.verify(X, y))


def test_an_output_that_cancels_leaves_its_votes_open():
    """A row whose terms cancel may count as right or wrong, however short it is; no other row may."""
    X, sign = np.array([[1e3, 1.0], [1e3, -1.0], [1e-3, 0.0], [0.0, 5.0]]), np.array([1.0, -1.0, 1.0, 1.0])
    bracket = proofs.MarginBracket.measure(X, sign, weights=np.array([0.0, 1.0]), positive=1.0)
    vote = Ballot(0, np.array([0, 1]), np.array([1.0, -1.0]), np.array([1, 2]), 10)
    counted = vote.counted(X, sign, bracket)
    assert counted.errors == 1  # the output 0 of the third row is on the negative side
    accepted = [e for e in range(5) if counted._replace(errors=e).confirm(X, sign, bracket)]
    assert accepted == [0, 1, 2]  # one row is open: off by one
