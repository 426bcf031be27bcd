"""Corners of single functions that no data of a fit reach: the last number on one side, and the first on the other."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace as Some

import numpy as np
import pytest
from scipy import sparse

from halfspace import BayesianRegression
from halfspace import certificates as proofs
from halfspace.certificates import arithmetic, calibration, components, expansion, log_odds, operating, predictor
from halfspace.certificates.margins import centre, separability
from halfspace.certificates.margins.ballot import Ballot
from halfspace.certificates.prototypes import quantisation
from halfspace.certificates.regression import ridge
from halfspace.kernels import RBF, Precomputed

PAIR, SIGNS = np.array([[1.0], [-1.0]]), np.array([1, 0])


# ---------------------------------------------------------------- numbers
@pytest.mark.parametrize("tenths", [1, 9, 10, 15, 19, 20, 35, 10**6 + 5])
def test_roots_of_fractions_are_rounded_down_to_the_smallest_float(tenths):
    """So many tenths of the smallest float have a root of as many whole ones as they contain."""
    tiny = Fraction(1, 2**1074)
    assert separability._root((Fraction(tenths, 10) * tiny) ** 2) == (tenths // 10) * 5e-324
    assert separability._root(Fraction(tenths, 10) ** 2) == pytest.approx(tenths / 10, rel=1e-14)
    assert Fraction(separability._root(Fraction(tenths, 10))) ** 2 <= Fraction(tenths, 10)


@pytest.mark.parametrize("size", [1.0, 2.0**-300, 2.0**300])
def test_a_certain_margin_gives_away_no_more_than_rounding(size):
    """Of rows whose margin is known it is right to 12 digits, and below it."""
    X, sign = size * np.array([[1.0, 0.0], [-1.0, 5.0], [3.0, -2.0]]), np.array([1.0, -1.0, 1.0])
    margin, wrong = separability.certain_margin(X, sign, np.array([0.5, 0.0]), 0.0)
    assert (1.0 - 1e-12) * size < margin < size
    assert wrong.size == 0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("clamp", [0.0, 2.0])
@pytest.mark.parametrize(("n", "d", "K"), [(1, 1, 1), (1, 1, 2), (3, 1, 2), (1, 3, 2), (2, 2, 1), (2, 2, 2), (1, 2, 3)])
def test_outputs_and_sums_of_any_shape_are_those_of_single_numbers(form, clamp, n, d, K):
    """One row, one column or one problem are no exception: every output and every sum is that of its definition."""
    rng = np.random.default_rng(n + 10 * d + 100 * K)
    X, W, c = (rng.integers(-4, 5, shape).astype(float) for shape in ((n, d), (K, d + bool(clamp)), (K, n)))
    rows = np.hstack([X, np.full((n, int(bool(clamp))), clamp)])
    outputs = [[sum(a * b for a, b in zip(row, w, strict=True)) for w in W.tolist()] for row in rows.tolist()]
    sums = [[sum(c[k, i] * rows[i, j] for i in range(n)) for j in range(rows.shape[1])] for k in range(K)]
    assert arithmetic.row_outputs(form(X), W, clamp).tolist() == outputs
    assert arithmetic.combination(form(X), c, clamp).tolist() == sums
    both = arithmetic.potentials_and_sums(form(X), W, c, clamp)
    assert [part.tolist() for part in both] == [outputs, sums]


@pytest.mark.parametrize(("slowest", "fastest", "margin", "start"), [(0.5, 3.0, 0.25, 7.0), (2.0, 5.0, 1.5, 0.125)])
def test_curves_of_the_convergence_proof_are_those_of_novikoff(slowest, fastest, margin, start):
    """w·w* >= slowest kappa t - start and ‖w‖² <= start² + t (fastest² R² + 2 fastest margin), number by number."""
    theorem, t, R, kappa = proofs.Novikoff(slowest, fastest, margin, start), np.array([0.0, 1.0, 11.0]), 1.75, 0.375
    assert theorem.least_overlap(t, kappa) == pytest.approx(slowest * kappa * t - start, rel=1e-14)
    squares = [start * start + k * (fastest * fastest * R * R + (fastest + fastest) * margin) for k in t.tolist()]
    assert theorem.most_square(t, R) == pytest.approx(squares, rel=1e-14)


def test_sums_of_squares_are_said_with_what_rounding_shows():
    """Both sides where rounding is more than a ten-millionth of the sum, which itself is not below 0."""
    assert [ridge._within(2.0, rounding) for rounding in (None, 0.0, 1e-7 * 2.0)] == ["2"] * 3
    assert ridge._within(2.0, np.nextafter(1e-7 * 2.0, 1.0)) == "between 2 and 2"
    assert ridge._within(2.0, 0.5) == "between 1.5 and 2.5"
    assert ridge._within(0.25, 0.5) == "between 0 and 0.75"


@pytest.mark.parametrize(
    ("claimed", "found", "rounding", "holds"),
    [
        (8.0, 8.0, 0.25, True),
        (8.5, 8.0, 0.75, True),
        (7.5, 8.0, 0.75, True),
        (8.5, 8.0, 0.625, False),
        (7.5, 8.0, 0.625, False),
        (8.0, 8.0, 0.125, False),
        (8.0, 8.0, 16.0, True),
        (8.0, 8.0, 16.5, False),
    ],
)
def test_a_sum_of_squares_may_be_off_by_its_rounding(claimed, found, rounding, holds):
    """By what is claimed to be rounding, that of the checker included; claimed may be up to 64 times the checker's own."""
    seen = ridge._Measured(*[0.0] * (len(ridge._Measured._fields) - 1), 0.25)
    assert seen._fields[-1] == "blur"
    assert seen.admits(claimed, found, rounding, 1.0) is holds


def test_earlier_sums_of_squares_are_right_to_nine_digits():
    """Of themselves, and where nothing is left of the targets, to so many of those of their squares."""
    exact = ridge._Measured(*[0.0] * len(ridge._Measured._fields))
    for size in (0.0, 1e9, 1e15):
        room = 1e-9 * 8.0 + 1e-18 * size
        assert exact.admits(8.0 + 0.999 * room, 8.0, None, size)
        assert not exact.admits(8.0 + 1.001 * room, 8.0, None, size)


@pytest.mark.parametrize(("times", "told"), [(0.99, True), (1.01, False), (1e6, False), (np.inf, False)])
def test_rounding_that_hides_whether_a_kernel_is_definite_is_said(times, told):
    """Up to a known share of the largest entry it does not; a matrix that is given has no other rounding than its own."""
    matrix, limit = np.diag([4.0, 2.0]), expansion.HIDDEN * 4.0
    error = (times * limit - 10 * 2.0**-52 * 6.0) / 2.0
    about = {"reason": lambda: None, "exact": lambda *_: matrix, "rounding": lambda *_: error}
    shift, objection = expansion.indefiniteness(Some(is_precomputed=False, **about), np.array([[1.0], [2.0]]))
    assert (objection is None) is told
    assert shift == (pytest.approx(2.0 * times * limit, rel=1e-9) if told else 0.0)
    assert told or "cannot be told" in objection
    assert expansion.indefiniteness(Precomputed(), matrix)[1] is None


# ---------------------------------------------------------------- rows and what is kept of them
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_kept_by_number_are_counted_from_zero(form):
    """Numbers below 0 and beyond the last row name nothing, wherever they stand; none at all are rows of anything."""
    X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for rows, fine in (([0, 2], True), ([2, 1], True), ([-1, 1], False), ([1, -1], False), ([-3, -1], False), ([], True)):
        numbers = np.array(rows, dtype=np.int64)
        assert predictor._are_rows(form(X), numbers, form(X)[numbers]) is fine
    for rows in ([1, 3], [3, 1]):
        assert not predictor._are_rows(form(X), np.array(rows), form(X)[:2])
    assert not predictor._are_rows(form(X), np.array([0]), form(X)[:1, :1])
    assert not predictor._are_rows(form(X), np.array([0]), form(X)[1:2])


def test_a_bound_of_one_is_one():
    """Where every example may be a support vector, compression says nothing: 1, and no other number."""
    gap = proofs.DualityGap.measure(PAIR, SIGNS, weights=np.ones(1), strengths=np.full(2, 0.5), C=1.0, positive=1)
    proof = proofs.SupportBounds.measure(PAIR, SIGNS, gap)
    assert (proof.support, proof.compression) == (2, 1.0)
    assert proof.verify(PAIR, SIGNS)
    for other in (1000.0, 0.001, 1.0 + 1e-9):
        assert not replace(proof, compression=other).verify(PAIR, SIGNS)


def test_what_cannot_be_compared_does_not_agree():
    """An error on the way to an answer is a no; so is any other answer that is not true."""
    for wrong in (lambda *_: 1 / 0, lambda said, *_: said["none"], lambda *_: None, lambda *_: np.zeros(2) + np.zeros(3)):
        assert predictor._agree(predictor._Kept(wrong), {}, PAIR, SIGNS) is False
    assert predictor._agree(predictor._Kept(lambda *_: 1), {}, PAIR, SIGNS) is True


def test_votes_are_those_of_the_rows_that_are_named():
    """Each problem's mistakes, as many as are named, on these rows in this order; of a kernel matrix by number."""
    log = {"k": np.array([0, 1, 0]), "row": np.array([0, 1, 1]), "change": np.ones(3), "time": np.arange(3)}
    support, X = np.array([[5.0], [6.0]]), np.array([[4.0], [5.0], [6.0]])
    kept = predictor._voters(log, support)
    for voters, fine in (([[1, 2], [2]], True), ([[2, 1], [2]], False), ([[1], [2]], False), ([[1, 2], [0]], False)):
        assert kept.agrees({"voters": [np.array(part) for part in voters]}, X, None) is fine
    page = Some(log=Some(**log, size=[3]), signed=np.zeros((2, 4)), rows=np.array([7, 9]), support=support)
    learner = Some(setting=Some(kernel=Precomputed(), shift=4.0), page=page, clock=11)
    found = predictor._kernel_votes(learner)
    assert [part.tolist() for part in found["voters"]] == [[7, 9], [9]]
    assert found["presented"] == 11
    assert found["clamp"].agrees({"clamp": 2.0}, X, None)
    assert not found["clamp"].agrees({"clamp": 4.0}, X, None)


# ---------------------------------------------------------------- version spaces, votes
def bracket(X, y, **more):
    return proofs.MarginBracket.measure(X, y, weights=np.ones(X.shape[1]), positive=1, **more)


def test_a_version_space_has_members_or_a_proof_or_neither():
    """Members say it is not empty, a proof that it is; with neither nothing is known."""
    own = bracket(PAIR, SIGNS)
    empty = proofs.Separability.by_multipliers({0: Fraction(1)}, 1, intercept=False, positive=1)
    assert proofs.VersionSpaceCentre(own, np.ones((1, 1))).separable is True
    assert proofs.VersionSpaceCentre(own, centre.NONE).separable is None
    assert proofs.VersionSpaceCentre(own, centre.NONE, empty).separable is False


@pytest.mark.parametrize(("rows", "holds"), [([0, 1], True), ([0, 2], False), ([0, 1, 2], False)])
def test_a_kernel_is_contradicted_by_one_example_with_both_labels_alone(rows, holds):
    """Multipliers of two equal rows mean something in any space, those of others only where the planes are."""
    X, y = np.array([[1.0, 2.0], [1.0, 2.0], [-1.0, 2.0]]), np.array([1, 0, 1])
    empty = proofs.Separability.by_multipliers(dict.fromkeys(rows, Fraction(1)), 2, intercept=False, positive=1)
    for kernel, square in ((RBF(1.0), False), (Precomputed(), True)):
        data = X @ X.T if square else X
        own = proofs.KernelBracket.measure(data, y, kernel=kernel, strengths=np.ones(3), coefficients=np.ones(3), positive=1)
        assert proofs.VersionSpaceCentre(own, centre.NONE, empty)._contradiction(data) is (holds and not square)
    assert proofs.VersionSpaceCentre(bracket(X, y), centre.NONE, empty)._contradiction(X) is True


def test_a_vote_is_about_two_classes():
    """With a bracket of many classes at once it is refuted; a vote of nobody gets every positive example wrong."""
    X, y = np.array([[3.0, 0.0], [0.0, 2.0], [-1.5, 0.0]]), np.array([0, 1, 2])
    many = proofs.KeslerBracket.measure(X, y, weights=np.zeros((3, 2)), strengths=np.zeros((3, 3)), classes=np.arange(3))
    none = Ballot(0, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64), 4)
    proof = proofs.MistakeBound.of(0, many, proofs.Novikoff(), none)
    assert "a vote on many classes at once" in str(proof.verify(X, y))
    assert replace(proof, ballot=None).verify(X, y)
    for labels, wrong in ((np.array([1, 1, 0]), 2), (np.array([1, 0, 0]), 1)):
        own = bracket(X, labels)
        vote = none.counted(X, np.where(labels, 1.0, -1.0), own)
        assert vote.errors == wrong
        proof = proofs.MistakeBound.of(0, own, proofs.Novikoff(), vote)
        assert proof.verify(X, labels)
        assert not replace(proof, ballot=vote._replace(errors=wrong + 1)).verify(X, labels)


def test_a_tie_of_sure_votes_is_no_doubt():
    """Two functions that outvote each other for certain leave a tally of 0, which is a vote for the negative label."""
    X, sign = np.array([[1.0], [-1.0], [2.0]]), np.array([1.0, -1.0, 1.0])
    vote = Ballot(0, np.array([0, 0]), np.array([1.0, -2.0]), np.array([0, 1]), 2)
    own = bracket(X, np.array([1, 0, 1]))
    assert vote._counted(X, sign, own) == (2, 0)
    for errors, holds in ((1, False), (2, True), (3, False)):
        assert bool(vote._replace(errors=errors).confirm(X, sign, own)) is holds


# ---------------------------------------------------------------- probabilities
@pytest.mark.parametrize("columns", [1, 3])
def test_curves_are_fitted_to_all_rows_until_there_are_enough(columns, monkeypatch):
    """With at most as many numbers as are enough every row counts, with twice as many every second."""
    monkeypatch.setattr(calibration, "ENOUGH", 20 * columns)
    rng, used = np.random.default_rng(0), []
    for name in ("_sigmoid_curve", "_softmax_curve"):
        monkeypatch.setattr(calibration, name, lambda seen, _: used.append(len(seen)) or calibration.Curve(1.0, 0.0))
    for n, most in ((10, 10), (20, 20), (39, 39), (40, 20), (60, 20), (65, 22)):
        outputs, target = rng.normal(size=(n, columns)), rng.integers(0, 2, n)
        calibration.Calibration.of(outputs[:, 0] if columns == 1 else outputs, target)
        assert sum(used) == most
        used.clear()


@pytest.mark.parametrize("columns", [1, 3])
def test_odds_are_fitted_to_all_rows_until_there_are_enough(columns, monkeypatch):
    """As curves are: every row counts, of twice as many numbers as are enough every second."""
    monkeypatch.setattr(log_odds, "ENOUGH", 20 * columns)
    rng, used = np.random.default_rng(0), []
    monkeypatch.setattr(log_odds, "_knots", lambda seen, _: used.append(len(seen)) or seen.ravel()[:0])
    for n, most in ((10, 10), (20, 20), (39, 39), (40, 20), (60, 20), (65, 22)):
        outputs, target = rng.normal(size=(n, columns)), rng.integers(0, 2, n)
        log_odds.LogOdds.of(outputs[:, 0] if columns == 1 else outputs, target)
        assert used.pop() == most


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("anchored", [False, True])
def test_rows_without_an_output_have_no_part_in_odds(wrong, anchored):
    """One that is not a number, or not finite, of any class: the rest decide, and agree with what they make."""
    rng = np.random.default_rng(5)
    outputs, target = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
    rest = log_odds.LogOdds.of(outputs, target, anchored=anchored)
    for k in range(3):
        row = np.zeros((1, 3))
        row[0, k] = wrong
        more, labels = np.vstack([outputs, row]), np.append(target, 0)
        found = log_odds.LogOdds.of(more, labels, anchored=anchored)
        assert all(np.array_equal(a, b) for a, b in zip(found, rest, strict=True))
        assert rest.agrees(more, labels, anchored=anchored)


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_without_a_probability_have_no_part_in_a_choice(classes):
    """One that is not a number, of any class, leaves the row out; so do all of them."""
    rng = np.random.default_rng(classes)
    P, labels = rng.dirichlet(np.ones(classes), 20), np.arange(classes)
    y, demand = rng.integers(0, classes, 20), operating.Demand.read("balanced_accuracy")
    own = operating.OperatingPoint.choose(demand, P, y, labels)
    for k in range(classes + 1):
        row = np.where(np.arange(classes) == k, np.nan, 1.0 / classes)[None] if k < classes else np.full((1, classes), np.nan)
        more = operating.OperatingPoint.choose(demand, np.vstack([P, row]), np.append(y, 0), labels)
        assert more.weights.tolist() == own.weights.tolist()
        assert more.out_of_fold == own.out_of_fold


@pytest.mark.parametrize("end", [0, -1])
def test_odds_agree_also_beyond_the_outputs(end):
    """A slope that is hardly off where outputs were seen, and far off as far again beyond either end, is another curve."""
    outputs, target = np.linspace(-1.0, 1.0, 41), (np.arange(41) * 7 % 5 < 2).astype(int)
    found = log_odds.LogOdds.of(outputs, target)
    assert found.agrees(outputs, target)
    reach, width = abs(outputs[end] - found.knots[1 if end == 0 else -2]), found.knots[1] - found.knots[0]
    for off, same in ((1e-5, True), (5e-4, False)):
        slopes, offsets = found.slopes.copy(), found.offsets.copy()
        slopes[end] += off / reach
        offsets[1] -= off / reach * width * (end == 0)
        moved = found._replace(slopes=slopes, offsets=offsets)
        P = found.probabilities(outputs)
        assert (np.abs(moved.probabilities(outputs) - P) <= 1e-3 * P * (1.0 - P)).all()
        assert moved.agrees(outputs, target) is same


@pytest.mark.parametrize("spread", [0.5, 4.0, 1e-3])
def test_curves_are_looked_for_within_known_ends(spread, monkeypatch):
    """From one start, so many times, slopes between e⁻¹² and e¹² of the spread and noise below 0.999."""
    seen, asked, at = [], [], [(0.0, 0.0), (12.0, 50.0), (13.0, 1.0), (-12.0, -50.0), (-13.0, -1.0), (2.0, 3.0)]

    def minimize(fun, x0, *, method, options):
        asked.append((x0.tolist(), method, options))
        for point in at:
            fun(np.array(point))
        return Some(x=np.array(at[-1]))

    monkeypatch.setattr(calibration, "minimize", minimize)
    last = calibration._least(lambda curve: seen.append(curve) or 0.0, spread)
    assert asked == [([0.7, -3.0], "Nelder-Mead", {"maxfev": 200})]
    for curve, (slope, noise) in zip([*seen, last], [*at, at[-1]], strict=True):
        assert curve.slope == pytest.approx(np.exp(min(max(slope, -12.0), 12.0)) / spread, rel=1e-12)
        assert curve.noise == pytest.approx(0.999 / (1.0 + np.exp(-noise)), rel=1e-12)
    assert calibration._least(pytest.fail, 0.9e-280) == calibration.Curve(1.0, 0.0)
    assert calibration._least(lambda _: 0.0, calibration.SMALLEST) != calibration.Curve(1.0, 0.0)


# ---------------------------------------------------------------- nearest prototypes
def test_a_prototype_far_away_leaves_the_others_clear(monkeypatch):
    """Distances are taken from the median: rows far from 0, and one prototype far from them, need no second look."""
    W = 1e7 + np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1e12, 1e12]])
    rows = 1e7 + np.array([[0.1, 0.2], [0.9, 0.2], [0.2, 0.9], [0.8, 0.9]])
    monkeypatch.setattr(quantisation, "own_squares", lambda _: pytest.fail("a second look"))
    assert quantisation.nearest(rows, W).tolist() == [0, 1, 2, 3]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_scatter_that_overflows_bounds_nothing():
    """The spectral bound is then 0, with no allowance."""
    assert quantisation.spectral_bound(1e200 * PAIR, None, 1) == (0.0, 0.0)


@pytest.mark.parametrize(("n", "d"), [(5, 2), (2, 5), (4, 4)])
def test_a_spectral_bound_is_computed_up_to_its_limits(n, d, monkeypatch):
    """Matrices of the largest size and just so much work are the last that are computed; without any weight none is."""
    X, small = np.sin(np.arange(1.0, n * d + 1.0)).reshape(n, d), min(n, d)
    work = n * d * small + 10 * small**3
    for most, limit, done in (
        (small, work, True),
        (small - 1, work, False),
        (small, work - 1, False),
        (small + 1, work + 1, True),
    ):
        monkeypatch.setattr(quantisation, "LARGEST", most)
        monkeypatch.setattr(quantisation, "WORK", limit)
        lower, noise = quantisation.spectral_bound(X, None, 1)
        assert ((lower > 0.0), (noise > 0.0)) == (done, done)
        assert quantisation.spectral_bound(X, np.zeros(n), 1) == (0.0, 0.0)
    assert lower == pytest.approx(((X - X.mean(axis=0)) ** 2).sum(), rel=1e-12)


# ---------------------------------------------------------------- components and filters
@pytest.mark.parametrize("far", [0.0, 3e5])
def test_components_of_examples_far_from_zero_are_those_of_their_differences(far):
    """A mean of many digits takes none from the directions: what its rounding adds to the sums is taken away again."""
    rng = np.random.default_rng(11)
    X = far + rng.integers(-8, 9, (37, 3)) * np.array([4.0, 2.0, 0.5])
    mean = X.mean(axis=0)
    C = X - mean
    _, s, V = np.linalg.svd(C - C.mean(axis=0), full_matrices=False)
    V, variances = V[:2], s[:2] ** 2 / 36
    total = float(C.var(axis=0, ddof=1).sum())
    part = proofs.RidgeGap.measure(arithmetic.projected(X, mean, V), C[:, 0], weights=np.ones(2), ridge=0.5)
    proof = proofs.PrincipalComponents(part, mean, V, variances, total)
    assert str(proof._principal(X)) == "holds"
    assert not replace(proof, variances=variances * (1.0 + 1e-6))._principal(X)


def test_weights_of_a_quiet_filter_are_judged_by_the_largest():
    """Where squares of the errors vanish, weights may be off by a billionth of the largest, small ones too."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20, 2)) * np.array([1.0, 1e-4])
    proof = proofs.FilterBound.measure(
        X, 1e-200 * X[:, 0], n_taps=1, normalised=False, rate=0.1, delta=0.0, threshold=np.inf, hangover=0
    )
    largest = np.abs(proof.weights).max()
    assert 0.0 < largest < 1e-190
    for times, holds in ((0.0, True), (0.9e-9, True), (-0.9e-9, True), (1.1e-9, False), (-1.1e-9, False)):
        for k in range(2):
            moved = proof.weights.copy()
            moved[k, 0] += times * largest
            assert bool(replace(proof, weights=moved).verify(X, 1e-200 * X[:, 0])) is holds


def test_what_components_leave_of_the_variance_is_handed_on(monkeypatch):
    """All of it but that of every direction kept, and not less than nothing."""
    X, V = np.array([[2.0, 0.0, 0.5], [-2.0, 1.0, 0.0], [0.0, -1.0, -0.5], [0.0, 0.0, 0.0]]), np.eye(3)[:2]
    part = proofs.RidgeGap.measure(X @ V.T, np.arange(4.0), weights=np.ones(2), ridge=0.5)
    handed, total = [], float(X.var(axis=0, ddof=1).sum())
    monkeypatch.setattr(components, "_largest_left_out", lambda _X, _mean, _V, *rest: handed.append(rest) or 0.0)
    for variances in ([1.5, 0.5], [9.0, 0.5]):
        proofs.PrincipalComponents(part, np.zeros(3), V, np.array(variances), total)._principal(X)
    assert handed[0] == pytest.approx((total - 2.0, total), rel=1e-12)
    assert handed[1] == pytest.approx((0.0, total), rel=1e-12)


def test_the_mean_of_a_column_of_zeros_is_zero():
    """Where there is no size to compare with, a mean is compared as it is: half a millionth is not 0."""
    X = np.column_stack([np.sin(np.arange(12.0)), np.zeros(12)])
    y = X[:, 0] + 0.1 * np.cos(np.arange(12.0))
    proof = BayesianRegression().fit(X, y).certificate_
    assert proof.verify(X, y)
    for off in (5e-7, -5e-7, 1e-3):
        assert not replace(proof, means=proof.means + np.array([0.0, off, 0.0, 0.0])).verify(X, y)


@pytest.mark.parametrize(("off", "reached"), [(0.0, True), (9e-13, True), (-1e-3, True), (1e-11, False), (5e-10, False)])
def test_a_share_is_reached_up_to_rounding_alone(off, reached):
    """Two thirds of the positive rows are two thirds, and more is more by a hundred-billionth."""
    p, own = np.array([0.9, 0.8, 0.3, 0.2]), np.array([True, True, False, True])
    asked = operating.Demand("recall>=0.67", share="recall", least=2.0 / 3.0 + off)
    assert operating._threshold(asked, p, own) == (pytest.approx(0.55 if reached else 0.1), True)
    asked = operating.Demand("precision>=1", share="precision", least=1.0 + off)
    assert operating._threshold(asked, p, own)[1] is reached
