"""Just this side of an end, and just beyond it: comparisons of checkers, with numbers chosen to meet them."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from halfspace import certificates as proofs
from halfspace.certificates import (
    arithmetic,
    baselines,
    calibration,
    components,
    expansion,
    fields,
    log_odds,
    novelty,
    rational,
)
from halfspace.certificates.margins import bracket as brackets
from halfspace.certificates.margins import gap as gaps
from halfspace.certificates.margins import mistakes
from halfspace.certificates.margins import vote as votes_of
from halfspace.certificates.prototypes import errors, mixture, quantisation
from halfspace.certificates.regression import filtering, kernel_ridge, posterior
from halfspace.certificates.regression import ridge as regression
from halfspace.errors import InputError
from halfspace.kernels import Linear


@pytest.mark.parametrize(("off", "first"), [(0.0, 0), (1.9, 0), (2.0, 0), (2.1, 1)])
def test_the_nearest_prototype_is_the_first_within_two_errors(off, first):
    """Each of two distances may be off by one error, so those within two of the least are equal."""
    slack = np.array([2.0**-10])
    found, least = errors._nearest(np.array([[1.0 + off * slack[0]], [1.0], [5.0]]), slack)
    assert (found.tolist(), least.tolist()) == ([first], [1.0])


@pytest.mark.parametrize("vote", ["majority", "stability"])
def test_choices_are_open_within_the_largest_stability_of_any_class(vote):
    """A lead below the rounding of the class with the largest terms may be none, though others have small ones."""
    members = np.array([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
    X = np.array([[3.0, 0.25], [0.5, 4.0]])
    proof = proofs.CommitteeVote.measure(X, np.array([0, 1]), members=members, vote=vote, clamp=0.0, classes=(0, 1, 2))
    outputs, lengths = votes_of._outputs(X, members, 0.0)
    count = votes_of.count_votes(outputs, lengths, vote, 2.0)
    terms = np.array([3.0, 4.0])
    bound = 2.0 * 2.0 * (2 + 1 + 8) * 2.0**-52 * terms / (2.0 if vote == "majority" else 1.0)
    for factor, open_ in ((0.9, True), (1.1, False)):
        scores = np.zeros((2, 3))
        scores[:, 1] = factor * bound
        assert proof._undecided(X, outputs, lengths, count._replace(scores=scores), 2.0)[1].tolist() == [open_] * 2


@pytest.mark.parametrize(("times", "symmetric"), [(1.99, True), (2.01, False)])
def test_a_kernel_is_symmetric_within_two_errors_of_its_values(times, symmetric):
    """Each of k(x, x') and k(x', x) may be off by one; the shift allows for one in every entry, and for the factors."""
    error = 2.0**-30
    matrix = np.array([[4.0, 1.0 + times * error], [1.0, 4.0]])
    about = {"is_precomputed": False, "reason": lambda: None, "exact": lambda *_: matrix, "rounding": lambda *_: error}
    shift, objection = expansion.indefiniteness(SimpleNamespace(**about), np.array([[1.0], [2.0]]))
    assert (objection is None) is symmetric
    assert shift == pytest.approx(2.0 * (10 * 2.0**-52 * 8.0 + 2 * error) if symmetric else 0.0, rel=1e-12)


@pytest.mark.parametrize(
    ("digits", "change"),
    [
        (2.0**-19 + 2.0**-40, {"components": np.array([[1.0 + 2.0**-20, 0.0]])}),
        (2.0**-19, {"mean": np.array([2.0**-18, 0.0])}),
        (2.0**-19, {"mean": np.array([0.0, 2.0**-19])}),
        (2.0**-19, {"total": 2.5 + 2.5 * 2.0**-19}),
        (1.0, {"variances": np.array([1.0])}),
    ],
)
def test_components_may_be_off_by_just_so_many_digits(digits, change, monkeypatch):
    """Means by digits of the largest entry, directions of 1, variances of their sum and of the first; no float more."""
    X, targets, V = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.0, 0.0]]), np.arange(5.0), np.eye(2)[:1]
    mean, directions = change.get("mean", np.zeros(2)), change.get("components", V)
    part = proofs.RidgeGap.measure(arithmetic.projected(X, mean, directions), targets, weights=np.ones(1), ridge=0.5)
    proof = replace(proofs.PrincipalComponents(part, np.zeros(2), V, np.array([2.0]), 2.5), **change)
    for room, holds in ((digits, True), (np.nextafter(digits, 0.0), False)):
        monkeypatch.setattr(components, "DIGITS", room)
        assert bool(proof.verify(X, targets)) is holds, str(proof.verify(X, targets))


def test_neighbours_within_two_errors_of_the_last_may_be_any():
    """Those nearer vote, those farther do not, both ends are open: their votes go to the strongest rival, if there is one."""
    rng, spare, found = np.random.default_rng(0), 0.25, set()
    for k in (1, 2, 3):
        distances, target = rng.integers(2, 14, (60, 6)) / 4.0, np.array([0, 1, 0, 2, 1, 0])
        own = rng.integers(0, 3, 60)
        right = baselines._wins(distances, target, own, k, np.full(60, spare))
        for row, mine, wins in zip(distances, own, right, strict=True):
            last = np.sort(row)[k - 1]
            votes = [sum(d < last - 2 * spare for d in row[target == c]) for c in range(3)]
            tied = {c for c in range(3) if any(last - 2 * spare <= d <= last + 2 * spare for d in row[target == c])}
            left = k - sum(votes)
            rival = max(votes[c] for c in range(3) if c != mine)
            assert wins == (votes[mine] + left > rival if tied == {mine} else votes[mine] > rival + left)
            found.add((bool(wins), tied == {mine}))
    assert len(found) == 4


@pytest.mark.parametrize("k", [1, 2, 4])
def test_means_of_neighbours_are_the_worst_of_all_ties(k, monkeypatch):
    """Without rounding: of all sets of k nearest others, the mean that is farthest from the own target."""
    monkeypatch.setattr(baselines, "EPS", 0.0)
    X = np.array([[0.0], [1.0], [2.0], [2.0], [3.0], [5.0], [6.0]])
    y, squares = np.array([1.0, -2.0, 0.5, 4.0, 0.25, 3.0, -1.0]), []
    for i in range(7):
        d = {j: abs(X[i, 0] - X[j, 0]) for j in range(7) if j != i}
        last = sorted(d.values())[k - 1]
        sets = [s for s in combinations(d, k) if max(d[j] for j in s) == last and all(j in s for j in d if d[j] < last)]
        squares.append(max((y[i] - np.mean(y[list(s)])) ** 2 for s in sets))
    assert baselines._left_out(X, y, k, slack=1.0) == pytest.approx(np.sqrt(np.mean(squares)), rel=1e-12)


def test_the_last_neighbour_is_the_kth_of_many():
    """Of hundreds of distances, whatever their order."""
    distances = np.random.default_rng(1).random((20, 300))
    for k in (1, 2, 50, 299, 300):
        assert baselines._last(distances, k).tolist() == np.sort(distances, axis=1)[:, k - 1].tolist()


def test_means_of_targets_of_any_size_are_found():
    """Neither sum nor squares overflow where some targets are as large, and others as small, as floats can be."""
    y = np.array([1.5e308, 1.5e308, 1e-300, -1.5e308])
    assert baselines._mean(y) == pytest.approx(3.75e307, rel=1e-15)
    assert baselines._deviation(y / 4.0, 0.0) == pytest.approx(0.375e308 * np.sqrt(0.75), rel=1e-14)
    assert baselines._deviation(np.array([3e-200, 0.0, -4e-200, 0.0]), 0.0) == pytest.approx(2.5e-200, rel=1e-14)


@pytest.mark.parametrize(("small", "exact"), [(2, True), (1, False)])
def test_variances_left_out_are_those_of_a_small_matrix_where_there_is_one(small, exact, monkeypatch):
    """Up to so many rows or columns the matrix itself is decomposed, beyond that it is only applied; to the same number."""
    asked, plain = [], components.eigsh
    monkeypatch.setattr(components, "SMALL", small)
    monkeypatch.setattr(components, "eigsh", lambda *args, **more: asked.append(1) or plain(*args, **more))
    X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.0, 0.0]])
    assert components._largest_left_out(X, np.zeros(2), np.eye(2)[:1], 0.5, 2.5) == pytest.approx(0.5, rel=1e-6)
    assert bool(asked) is not exact


STORED = Path(__file__).parent / "stored"


def stored(name):
    kept = json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))
    return proofs.from_json(json.dumps(kept["certificate"]))


AT_ENDS = {
    "OneClassGap": [(lambda p: {"lower": p.upper}, lambda p: {"lower": np.nextafter(p.upper, np.inf)})],
    "Quantisation": [(lambda p: {"lower": p.error}, lambda p: {"lower": np.nextafter(p.error, np.inf)})],
    "MarginBracket": [(lambda p: {"lower": p.upper}, lambda p: {"lower": np.nextafter(p.upper, np.inf)})],
    "KernelBracket": [(lambda p: {"lower": p.upper}, lambda p: {"lower": np.nextafter(p.upper, np.inf)})],
    "DualityGap": [(lambda p: {"dual": p.primal}, lambda p: {"dual": np.nextafter(p.primal, np.inf)})],
    "KernelGap": [(lambda p: {"dual": p.primal}, lambda p: {"dual": np.nextafter(p.primal, np.inf)})],
    "SupportBounds": [
        (lambda p: {"support": p.examples}, lambda p: {"support": p.examples + 1}),
        (lambda _: {"delta": np.nextafter(1.0, 0.0)}, lambda _: {"delta": 1.0}),
    ],
    "LogSmearing": [(lambda p: {"low": p.high}, lambda p: {"low": np.nextafter(p.high, np.inf)})],
    "GaussianPosterior": [(lambda _: {"precision": 0.1}, lambda _: {"precision": np.nextafter(0.1, 1.0)})],
    "FilterBound": [(lambda _: {"rate": np.nextafter(2.0, 0.0)}, lambda _: {"rate": 2.0})],
    "NeighbourErrors": [
        (lambda p: {"k": p.n - 1}, lambda p: {"k": p.n}),
        (lambda p: {"errors": p.n}, lambda p: {"errors": p.n + 1}),
    ],
    "NeighbourMeans": [(lambda p: {"k": p.n - 1}, lambda p: {"k": p.n})],
}


@pytest.mark.parametrize("name", AT_ENDS)
def test_claims_may_be_at_the_ends_of_what_is_possible(name):
    """A bound may be met exactly, and not passed by a float, or by one."""
    proof = stored(name)
    for inside, beyond in AT_ENDS[name]:
        assert replace(proof, **inside(proof)).well_formed(), str(replace(proof, **inside(proof)).well_formed())
        assert not replace(proof, **beyond(proof)).well_formed()


def test_variances_and_scores_may_be_equal():
    """In falling, or rising, order, which equal ones are; rows learnt from are different."""
    proof = stored("PrincipalComponents")
    two = replace(proof, components=np.eye(2), variances=np.array([2.0, 2.0]), total=9.0)
    two = replace(two, part=replace(two.part, weights=np.zeros(2)))
    rising = replace(two, variances=np.array([2.0, np.nextafter(2.0, 3.0)]))
    assert [bool(one.well_formed()) for one in (two, rising)] == [True, False]
    novel = stored("OneClassGap")
    equal = replace(novel, scores=np.full(novel.scores.size, novel.threshold))
    assert equal.well_formed()
    assert not replace(novel, scores=0.5 - np.arange(novel.scores.size)).well_formed()
    twice = novel.learnt.copy()
    twice[1] = twice[0]
    assert not replace(novel, learnt=twice).well_formed()


@pytest.mark.parametrize("slack", [1.0, 2.0])
def test_values_of_a_function_are_moved_apart_by_every_error(slack):
    """Both values and all that is given away, by the formulas, with errors too large to hide behind one another."""
    E, error = np.array([0.5, 1.25, 1.5, 3.0, 0.25]), np.array([0.03125, 0.125, 0.125, 0.25, 0.0625])
    caps = np.array([1.0, 2.0, 4.0, 8.0, 0.0])
    sums = gaps.KernelSums(E, error, caps, 2.0, 0.25, 5.0, 0.125, 3.0, 0.01)
    loss, near = 1.0 * 0.5, 1.0 * 0.03125 + 2.0 * 0.125
    primal = 0.5 * 2.0 + loss + slack * (0.5 * 0.25 + 0.01 * (2.0 + loss) + near)
    moved = 0.125 * (1.0 + np.sqrt(2.0) * 3.0 + 0.125 * 9.0)
    dual = 5.0 - 0.5 * 2.0 - slack * (0.5 * 0.25 + 0.01 * (5.0 + 2.0) + moved)
    assert sums.values(slack, hard=False) == pytest.approx((primal, dual), rel=1e-13)
    least, longest = 0.5 - slack * 0.03125, 2.0 + slack * 0.25
    total, size = 5.0 * (1.0 - slack * 0.01) - slack * 0.125, np.sqrt(longest) + slack * 0.125 * 3.0
    hard = 0.5 * longest / least**2 * (1.0 + slack * 0.01), 0.5 * (total / size) ** 2
    assert sums.values(slack, hard=True) == pytest.approx(hard, rel=1e-13)
    assert sums._replace(E=E - 0.5).values(slack, hard=True)[0] == np.inf
    assert sums._replace(E=E - (0.5 - slack * 0.03125)).values(slack, hard=True)[0] == np.inf
    assert sums._replace(total=slack * 0.125 / (1.0 - slack * 0.01)).values(slack, hard=True)[1] == pytest.approx(
        0.0, abs=1e-30
    )
    assert sums._replace(total=1e151, rest=0.0).values(slack, hard=True)[1] == 1e300


@pytest.mark.parametrize("slack", [1.0, 2.0])
def test_values_of_a_plane_are_moved_apart_by_every_error(slack):
    """As of functions; without a positive potential the weights cost without bound, without strengths there is no value."""
    sums = gaps.PlaneSums(2.0, 0.75, 0.5, 5.0, 3.0, 0.125, 0.0625, 0.25, 0.5, 0.01)
    expected = 1.0 + 0.75 + slack * 0.125, 5.0 - 4.5 - slack * 0.25
    assert sums.values(slack, hard=False) == pytest.approx(expected, rel=1e-13)
    least, total = 0.5 - slack * 0.0625, 5.0 * (1.0 - slack * 0.01)
    hard = 0.5 * 2.0 / least**2 * (1.0 + slack * 0.01), 0.5 * (total / (3.0 + slack * 0.5)) ** 2
    assert sums.values(slack, hard=True) == pytest.approx(hard, rel=1e-13)
    assert sums._replace(least=slack * 0.0625).values(slack, hard=True)[0] == np.inf
    assert sums._replace(total=0.0).values(slack, hard=True)[1] == 0.0


def test_strengths_that_do_not_balance_are_given_away():
    """With a free bias the rest of the strengths counts by itself, by the length it moves, and by its square."""
    X, y, alpha = np.array([[3.0], [-1.0], [2.0]]), np.array([1, 0, 1]), np.array([0.5, 0.25, 0.125])
    about = {"weights": np.array([0.5]), "strengths": alpha, "C": 1.0, "positive": 1}
    loose, tight = (
        proofs.DualityGap.measure(X, y, **about, bias=bias)._sums(X, np.array([1.0, -1.0, 1.0])) for bias in (0.0, None)
    )
    rest, R, size = 0.375, 3.0, 2.0
    assert loose.size == pytest.approx(size)
    assert loose.dual_error - tight.dual_error == pytest.approx(rest * (1 + size * R + rest * R * R), rel=1e-9)
    assert loose.size_error - tight.size_error == pytest.approx(rest * R, rel=1e-9)
    assert loose.spare - tight.spare == pytest.approx(rest / 0.875, rel=1e-9)


def test_bounds_on_mistakes_are_whole_but_for_a_billionth():
    """A bound is the theorem's, and met, within a billionth; as a number of mistakes it is rounded down, as far."""
    assert [mistakes._at_most(4.0 * (1.0 - off)) for off in (0.0, 0.9e-9, 1.1e-9)] == ["at most 4 mistakes"] * 2 + [
        "at most 3 mistakes"
    ]
    assert mistakes._at_most(1.5) == "at most 1 mistake"
    for off, same in ((0.9e-9, True), (1.1e-9, False), (-0.9e-9, True), (-1.1e-9, False)):
        assert mistakes.bound_holds(3, 8.0 * (1.0 + off), 8.0)[0][0] is same
    assert mistakes.bound_holds(3, np.inf, np.inf)[0][0]
    assert not mistakes.bound_holds(3, 8.0, np.inf)[0][0]
    assert mistakes.bound_holds(0, 0.0, 0.0) == [
        (True, "the theorem allows 0 mistakes, not 0"),
        (True, "0 mistakes contradict a bound of 0"),
    ]
    for claimed, met in ((8.0, True), (8.0 * (1 - 0.9e-9), True), (8.0 * (1 - 1.1e-9), False)):
        assert bool(mistakes.bound_holds(8, claimed, 8.0)[1][0]) is met


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_ends_of_columns_are_taken_about_the_centre(form, monkeypatch):
    """The largest and the smallest number of each; of very many columns all numbers as they are."""
    X = form(np.array([[1.0, -5.0], [3.0, 2.0], [0.0, 7.0]]))
    assert [end.tolist() for end in errors._reaches(X, np.array([1.0, 2.0]))] == [[2.0, 5.0], [-1.0, -7.0]]
    for wide, whole in ((2, False), (1, True)):
        monkeypatch.setattr(errors, "WIDE", wide)
        assert (errors._reaches(X, np.zeros(2))[0] is X) is whole


@pytest.mark.parametrize("floor", [0.0, 0.75])
def test_a_step_of_a_mixture_is_that_of_em(floor):
    """Means move by M/N and deviations are the scatter's, none below the floor; a centre without rows stays as it is."""
    parts = mixture._Parts(np.full(3, 1 / 3), np.array([[0.0, 1.0], [5.0, 5.0], [2.0, 2.0]]), np.array([1.0, 9.0, 2.0]))
    N, M, Q = np.array([0.5, 0.0, 3.0]), np.array([[0.25, -0.5], [0.0, 0.0], [0.0, 1.5]]), np.array([1.0, 0.0, 12.0])
    scatter = [1.0 - 0.5 * (0.25 + 1.0), 0.0, 12.0 - 3.0 * 0.25]
    each = [max(np.sqrt(scatter[0] / (2 * 0.5)), floor), 9.0, max(np.sqrt(scatter[2] / (2 * 3.0)), floor)]
    common = max(np.sqrt(sum(scatter) / (2 * 3.5)), floor)
    for rule, sigmas in (("each", each), ("common", [common] * 3), ("fixed", [1.0, 9.0, 2.0])):
        found = mixture._step(mixture._Found(0.0, N, M, Q), parts, rule, floor)
        assert found.weights == pytest.approx(N / 3.5)
        np.testing.assert_allclose(found.prototypes, [[0.5, 0.0], [5.0, 5.0], [2.0, 2.5]])
        assert found.sigmas == pytest.approx(np.array(sigmas))


def test_deviations_that_are_lost_are_refused():
    """Where all rows are at the centres, the smallest deviation decides whether squares are lost."""
    X, about = np.zeros((3, 2)), {"weights": np.full(2, 0.5), "prototypes": np.zeros((2, 2))}
    proof = proofs.MixtureLikelihood.measure(X, sigmas=np.array([1.0, 1.0]), **about, floor=1.0)
    assert "so small" in str(replace(proof, sigmas=np.array([1.0, 1e-200]), floor=0.0).verify(X))
    assert "so small" not in str(replace(proof, sigmas=np.array([1.0, 1e-100]), floor=0.0).verify(X))


@pytest.mark.parametrize("noisy", [True, False])
def test_sums_of_distances_give_away_every_error(noisy, monkeypatch):
    """By the formulas, with units of rounding and of underflow that can be seen; what is exact gives nothing for underflow."""
    monkeypatch.setattr(quantisation, "EPS", 2.0**-10)
    monkeypatch.setattr(quantisation, "TINY", 2.0**-6)
    own, labels, s = np.array([1.0, 4.0, 0.25]), np.array([0, 2, 2]), np.array([1.0, 0.5, 2.0])
    noise, sums = np.array([0.125, 0.0, 0.5]) * noisy, np.array([[0.5, -1.0], [0.0, 0.0], [2.0, 1.0]])
    found = quantisation._summed(own, noise, sums, 7, labels, s)
    error, some = 1.0 + 2.0 + 0.5, 2.0**-6 * noisy
    total = (0.125 + 1.0) * noisy + 3 * 2.0**-10 * error + some
    gain = 1.0 * 1.25 + 2.5 * (0.64 + 0.16)
    slip = 2.0 * 11 * 2.0**-10 * np.sqrt(error + total)
    gain_noise = slip * (2.0 * np.sqrt(gain) + slip) + 5 * 2.0**-10 * gain + some * (1.0 + 2 * 3.5)
    assert found[:4] == pytest.approx((error, total, gain, gain_noise), rel=1e-12)
    assert (found.sizes.tolist(), found.labels.tolist(), found.strays) == ([1.0, 0.0, 2.5], [0, 2, 2], 7)


GIVEN = errors.Prototypes(np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([0, 1]), None)


def measured(d_plus, d_minus, slack, plus=None):
    """Return what is found of rows with these distances to the nearest prototypes of the own and of the other label."""
    d_plus, d_minus = np.array(d_plus), np.array(d_minus)
    first = np.zeros(d_plus.size, dtype=int) if plus is None else np.array(plus)
    others = np.full((2, d_plus.size), np.inf)
    others[1 - first, np.arange(d_plus.size)] = d_minus
    return errors._Found([np.zeros((d_plus.size, 2))], others, first, 1 - first, d_plus, d_minus, np.array(slack))


def test_rows_within_two_errors_of_a_tie_are_either(monkeypatch):
    """They go by the order of the prototypes, may be right or wrong, and both ends belong to them."""
    leads = np.array([-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75])
    for plus, right in (
        (0, [False, True, True, True, True, True, True]),
        (1, [False, False, False, False, False, False, True]),
    ):
        found = measured(np.ones(7), 1.0 + leads, np.full(7, 0.25), np.full(7, plus))
        monkeypatch.setattr(errors, "_measure", lambda *_, found=found: found)
        monkeypatch.setattr(errors, "_radii", lambda *_: np.full(7, 0.5))
        survey = errors.survey(np.zeros((7, 2)), np.full(7, plus), GIVEN, None, np.ones(7), give=1.0)
        assert survey.right.tolist() == right
        assert (survey.errors, survey.certain, survey.possible) == (7 - sum(right), 1, 6)
        assert survey.radii.tolist() == [0.5 * one for one in right]


@pytest.mark.parametrize("beta", [0.0, 2.0])
def test_costs_and_pulls_are_those_of_their_formulas(beta, monkeypatch):
    """Row by row: μ = (d+ - d-)/(d+ + d-), its sigmoid, the derivatives, and what rounding may do to each."""
    monkeypatch.setattr(errors, "EPS", 2.0**-8)
    found = measured([1.0, 4.0, 0.0, 0.25], [3.0, 1.0, 0.0, 0.25], [0.125, 0.25, 0.0, 0.5], [0, 1, 0, 1])
    s, block = np.array([1.0, 2.0, 1.0, 0.5]), np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5], [1.0, 0.0]])
    pulls, expected = errors._Pulls(GIVEN, 1.0), dict.fromkeys(("cost", "cost_slack", "pull", "stretch", "noise"), 0.0)
    M, N = np.zeros((2, 2)), np.zeros(2)
    for x, weight, a, b, e, k in zip(block, s, found.d_plus, found.d_minus, found.slack, found.plus, strict=True):
        S = a + b or 1.0
        value = 1.0 / (1.0 + np.exp(-beta * (a - b) / S)) if beta else (a - b) / S
        slope = weight * (beta * value * (1.0 - value) if beta else 1.0)
        blur = 4.0 * e / max(a + b - 2.0 * e, 2.0 * e + 1e-300)
        near, far = slope * 2.0 * b / S**2, slope * 2.0 * a / S**2
        expected["cost"] += weight * value
        expected["cost_slack"] += weight * blur * (beta / 4.0 if beta else 1.0)
        pull = near * np.sqrt(a) + far * np.sqrt(b)
        expected["pull"] += pull
        expected["stretch"] += near * a + far * b
        expected["noise"] += (near + far) * np.sqrt(e * 4 * 2.0**-8) + 4.0 * blur * pull
        M[k], M[1 - k], N[k], N[1 - k] = M[k] + near * x, M[1 - k] - far * x, N[k] + near, N[1 - k] - far
    pulls.add(block, found, beta, s)
    assert {name: getattr(pulls, name) for name in expected} == {
        name: pytest.approx(v, rel=1e-12) for name, v in expected.items()
    }
    np.testing.assert_allclose(pulls.M, M, atol=1e-12)
    np.testing.assert_allclose(pulls.N, N, atol=1e-12)
    gradient, noise = pulls.relative()
    assert gradient == pytest.approx(np.linalg.norm(M - N[:, None] * GIVEN.W) / expected["pull"], rel=1e-12)
    assert noise == pytest.approx(1e-9 + 4.0 * expected["noise"] / expected["pull"], rel=1e-12)
    assert errors._Pulls(GIVEN, 1.0).relative() == (0.0, 0.0)


def test_brackets_of_planes_are_claimed_and_judged_by_their_sides():
    """Outward by four errors, but not beyond the radius; confirmed from one error on, and not by what is no number."""
    R, terms = 4.0, 8
    error = arithmetic.rounding(terms, R)
    sides = brackets.Sides(1.0, 2.0, R, terms)
    assert sides.outward() == pytest.approx((1.0 - 4.0 * error, 2.0 + 4.0 * error), rel=1e-15)
    assert sides._replace(lower=-9.0, upper=9.0).outward() == (-R - error, R + error)
    assert sides._replace(lower=-9.0, upper=-9.0).outward()[1] == 0.0
    proof = replace(stored("MarginBracket"), lower=1.0 - error, upper=2.0 + error, radius=R)
    assert proof._confirmed(sides)
    for change in ({"lower": 1.0}, {"upper": 2.0}, {"radius": R * (1 + 1.1e-9)}, {"radius": R * (1 - 1.1e-9)}):
        assert not replace(proof, **change)._confirmed(sides)
    assert replace(proof, upper=2.0)._confirmed(sides, exactly_zero=True)
    assert replace(proof, radius=R * (1 + 0.9e-9))._confirmed(sides)
    assert replace(proof, lower=-R, upper=R)._confirmed(sides._replace(lower=-np.inf, upper=9.0))
    for change in ({"upper": np.nan}, {"lower": np.nan}, {"radius": np.inf}, {"upper": np.inf}, {"lower": np.inf}):
        assert not proof._confirmed(sides._replace(**change))
    for lower, upper, said in ((0.0, 1.0, None), (1e-300, 1.0, True), (-1.0, 0.0, False), (-1.0, 1e-300, None)):
        assert replace(proof, lower=lower, upper=upper).separable is said


@pytest.mark.parametrize(("wide", "moved"), [(2, True), (1, False)])
def test_rows_are_taken_about_the_prototypes_unless_there_are_very_many_columns(wide, moved, monkeypatch):
    """Up to so many columns, which belong to them, the centre of the prototypes is the origin."""
    blocks, plain = [], errors._measure
    monkeypatch.setattr(errors, "WIDE", wide)
    monkeypatch.setattr(errors, "_measure", lambda block, *rest: blocks.append(block) or plain(block, *rest))
    errors.survey(np.array([[3.0, 4.0]]), np.array([0]), GIVEN, None, np.ones(1), give=1.0)
    assert blocks[0].tolist() == ([[2.0, 3.5]] if moved else [[3.0, 4.0]])


def test_relative_gaps_of_nothing_are_nothing():
    """Where an objective is 0 its gap is no share of it; of a function of no length there is no distance."""
    ridge = stored("KernelRidgeGap")
    assert replace(ridge, objective=np.array([0.0]), gap=np.array([0.0])).relative_gap == 0.0
    assert replace(ridge, objective=np.array([4.0]), gap=np.array([1.0])).relative_gap == 0.25
    assert replace(ridge, objective=np.array([0.5]), gap=np.array([0.125])).relative_gap == 0.25
    novel = stored("OneClassGap")
    assert replace(novel, lower=0.0, upper=0.0).relative_gap == 0.0
    assert replace(novel, lower=1.0, upper=4.0).relative_gap == 0.75
    assert replace(novel, nu=1.0).well_formed()
    assert not replace(novel, nu=np.nextafter(1.0, 2.0)).well_formed()


@pytest.mark.parametrize("name", ["KernelRidgeGap", "KernelRidgeGap-clamped"])
def test_kernel_ridge_may_claim_just_what_its_checker_finds(name):
    """Gap, distance and objective at the ends of what is allowed, and the next float beyond them."""
    kept = json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))
    proof, X, y = stored(name), np.array(kept["X"]), np.array(kept["y"])
    part, rows, Y = proof._with_weight(X, y[:, None])
    found = part._measured(rows, Y, slack=1.0)
    errors_of, room = part._left_out(found, *part._own_share(rows))
    for field, end, beyond in (("gap", found.gap, 0.0), ("distance", found.distance, 0.0)):
        assert replace(proof, **{field: end}).verify(X, y)
        assert not replace(proof, **{field: np.nextafter(end, beyond)}).verify(X, y)
    reach = 1e-9 * found.objective + 2.0 * found.blur
    for field, middle, width in (("objective", found.objective, reach), ("left_out_error", errors_of, room)):
        for side in (-1.0, 1.0):
            assert replace(proof, **{field: middle + 0.999 * side * width}).verify(X, y)
            assert not replace(proof, **{field: middle + 1.001 * side * width}).verify(X, y)


@pytest.mark.parametrize("columns", [1, 3])
def test_examples_left_out_may_be_wrong_within_what_is_unsure(columns, monkeypatch):
    """A margin of just as much as is unsure may be wrong, beyond it on the wrong side it is; without weight none counts."""
    monkeypatch.setattr(kernel_ridge, "EPS", 0.0)
    leads = np.array([-0.75, -0.5, 0.0, 0.5, 0.75, -0.75])
    s = np.array([1.0, 1.0, 2.0, 1.0, 1.0, 0.0])
    if columns == 1:
        T = np.array([[1.0], [-1.0], [1.0], [-1.0], [1.0], [1.0]])
        F, unsure = T * leads[:, None], np.full((6, 1), 0.5)
    else:
        T = np.where(np.arange(3) == np.arange(6)[:, None] % 3, 1.0, -0.5)
        F = np.where(T > 0.0, leads[:, None], 0.0) - (np.arange(3) == (np.arange(6)[:, None] + 1) % 3)
        unsure = np.where(np.arange(3) == 1, 0.25, 0.125) * np.ones((6, 1))
    assert kernel_ridge._mistakes(T, T - F, unsure, s) == (1, 4)
    assert kernel_ridge._mistakes(T, T - F, unsure, None) == (2, 5)
    monkeypatch.setattr(kernel_ridge, "EPS", 2.0**-6)
    assert kernel_ridge._mistakes(T, T - F, 0.0 * unsure, None)[1] >= 3


def test_sums_of_squares_are_admitted_within_their_rounding():
    """The difference and the checker's own rounding are at most what is claimed, and that is at most 64 of the latter."""
    found = regression._Measured(*[0.0] * (len(regression._Measured._fields) - 1), blur=0.125)
    for claimed, rounding, fine in (
        (2.0, 0.125, True),
        (2.5, 0.625, True),
        (2.5, 0.5, False),
        (2.0, 8.0, True),
        (2.0, 8.125, False),
    ):
        assert found.admits(claimed, 2.0, rounding, 1.0) is fine
    exact = found._replace(blur=0.0)
    for off, fine in ((0.0, True), (1.999e-9, True), (2.1e-9, False)):
        assert exact.admits(2.0 + off, 2.0, None, 0.0) is fine
    assert exact.admits(1e-18, 0.0, None, 1.0)
    assert not exact.admits(1.1e-18, 0.0, None, 1.0)


def test_curves_of_probabilities_are_sound_up_to_their_ends():
    """Slopes, shares and noise may be 0, noise is below 1, knots ascend strictly, shares sum to 1 within a millionth."""
    fair = log_odds.LogOdds.of(np.array([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0]), np.array([0, 0, 0, 1, 0, 1]))
    assert fair.sound(2)
    zeros = np.zeros_like(fair.slopes)
    for change, sound in (
        ({"slopes": zeros}, True),
        ({"slopes": zeros - 1e-300}, False),
        ({"noise": 0.0}, True),
        ({"noise": -1e-300}, False),
        ({"noise": np.nextafter(1.0, 0.0)}, True),
        ({"noise": 1.0}, False),
        ({"shares": np.array([0.0, 1.0])}, True),
        ({"shares": np.array([-1e-9, 1.0])}, False),
        ({"shares": np.array([0.5, 0.5 + 0.9e-6])}, True),
        ({"shares": np.array([0.5, 0.5 + 1.1e-6])}, False),
        ({"shares": np.array([0.5, 0.5 - 1.1e-6])}, False),
        ({"knots": np.append(fair.knots[:-1], fair.knots[-2])}, False),
        ({"knots": fair.knots[:1], "slopes": zeros[:0]}, False),
        ({"knots": fair.knots[:2], "slopes": zeros[:1]}, True),
        ({"offsets": np.zeros(3)}, False),
        ({"offsets": np.array([0.0, np.nan])}, False),
        ({"knots": np.append(fair.knots[:-1], np.inf)}, False),
    ):
        assert fair._replace(**change).sound(2) is sound, change
    assert not fair.sound(3)


@pytest.mark.parametrize(("k", "D", "wide"), [(2, 4, True), (3, 5, False), (2, 3, False), (1, 4, True), (3, 4, False)])
def test_examples_span_little_of_very_many_weights(k, D, wide, monkeypatch):
    """More weights than so many, and at least twice as many as examples."""
    monkeypatch.setattr(posterior, "WIDE", 3)
    assert posterior.Sums(np.zeros((k, D + 1)), 1.0, np.zeros(D), 0.0).wide is wide


def test_what_a_field_expects_is_said_in_words():
    """Kinds by their own words, those without any as they are written; bounds and shapes beside them."""
    for kind, words in fields.WORDS.items():
        assert fields._in_words(kind, fields.Scope({}, {})) == words
    assert fields._in_words("no such kind", fields.Scope({}, {})) == "no such kind"
    for spec, words in (
        ("finite >= 0", f"{fields.WORDS['finite']} >= 0"),
        ("int in 1..9", f"{fields.WORDS['int']} in 1..9"),
        ("finite(n)", "an array of finite numbers, shape (4,)"),
        ("tuple(n) of finite", f"4 of: {fields.WORDS['finite']}"),
        ("tuple(k) of finite", f"a list of: {fields.WORDS['finite']}"),
    ):
        assert fields._in_words(spec, fields.Scope({"n": 4}, {})) == words


def test_rows_so_small_that_squares_are_lost_are_refused_zeros_or_not():
    """A zero among them does not make them larger; nothing but zeros loses nothing."""
    y, about = np.array([1.0, 2.0]), {"weights": np.ones(1), "ridge": 1e-290}
    with pytest.raises(InputError, match="so small"):
        proofs.RidgeGap.measure(np.array([[1e-145], [0.0]]), y, **about)
    assert proofs.RidgeGap.measure(np.zeros((2, 1)), y, **about).objective == pytest.approx(5.0)


def test_steps_of_a_filter_end_below_two():
    """A step of just 2 proves nothing; without a threshold nobody talks; nothing is close to nothing."""
    proof = replace(stored("FilterBound"), weights=np.zeros((1, 1)), normalised=False, samples=2, threshold=np.inf, hangover=0)
    X, y = np.ones((2, 1)), np.array([1.0, 0.5])
    assert "needs less than 2" in str(replace(proof, rate=2.0).confirm(X, y))
    assert "needs less than 2" not in str(replace(proof, rate=np.nextafter(2.0, 0.0)).confirm(X, y))
    assert replace(proof, rate=0.5)._steps(y, np.zeros(2), np.zeros(2)).tolist() == [0.5, 0.5]
    loud = replace(proof, rate=0.5, threshold=0.5, hangover=1)
    talk = np.array([1.0, 0.5, 0.25, 0.6, 0.0, 0.0, 0.0])
    assert loud._steps(talk, np.ones(7), np.ones(7)).tolist() == [0.0, 0.0, 0.5, 0.0, 0.0, 0.5, 0.5]
    even = replace(loud, normalised=True, delta=0.0, hangover=0, threshold=np.inf)
    assert even._steps(y, np.array([1e-290, 2e-290]), np.ones(2)).tolist() == [0.0, 0.5 / 2e-290]
    assert filtering._close(0.0, 0.0)
    for claimed, tiny, close in ((4.0 + 3.9e-9, 0.0, True), (4.0 + 4.1e-9, 0.0, False), (4.3, 0.01, True), (4.5, 0.01, False)):
        assert filtering._close(claimed, 4.0, tiny) is close
    assert filtering.most_errors(4.0, 9.0, 1.0) == pytest.approx((3.0 + np.sqrt(13.0)) ** 2 * (1 + 0.5e-9), rel=1e-14)
    assert filtering.most_errors(4.0, 9.0, 1.5) == pytest.approx(((3.0 + np.sqrt(11.0)) / 0.5) ** 2 * (1 + 0.5e-9), rel=1e-14)


def test_outputs_of_any_size_have_a_spread():
    """Their standard deviation, without overflow or underflow of squares; none below the smallest size that counts."""
    for size in (1e-280, 1e-200, 0.25, 1e200):
        assert log_odds._spread(np.array([0.5, 1.0, 0.0, 0.5]) * size) == pytest.approx(np.sqrt(0.125) * size, rel=1e-12)
    assert log_odds._spread(np.array([0.0, np.nextafter(1e-280, 0.0)])) == log_odds._spread(np.zeros(0)) == 0.0
    assert log_odds._knots(np.array([1.0, 1.0]), np.array([True, False])).size == 0


def test_gaps_are_as_loose_as_their_kind():
    """By how much a claim may be wider than rounding explains, of which number, and what is shown as a gap."""
    for kind, known in (("DualityGap", (1e-9, True, 1e-12)), ("KernelGap", (1e-7, False, 1e-10))):
        proof = stored(kind)
        assert proof.well_formed()
        assert (proof.loosest, proof.loose_of_lowest, proof.least_shown) == known


def test_no_row_that_is_right_leaves_no_radius():
    """The radius is the least of the rows that are right, 0 where none is; half of all rows have the median's at least."""
    seen = errors.survey(np.zeros((1, 2)), np.array([0]), GIVEN, None, np.ones(1), give=1.0)
    none = seen._replace(right=np.array([False, False]), radii=np.array([2.0, 3.0]))
    assert none.radius == 0.0
    some = seen._replace(right=np.array([True, False, True, True]), radii=np.array([2.0, 0.5, 3.0, 7.0]))
    assert (some.radius, some.median_radius) == (2.0, 2.0)


def test_distances_give_away_rounding_and_underflow(monkeypatch):
    """By the formulas, with units of both that can be seen; differences of exactly 0 lose nothing, larger ones no underflow."""
    monkeypatch.setattr(quantisation, "EPS", 2.0**-10)
    monkeypatch.setattr(quantisation, "TINY", 2.0**-6)
    Y, V = np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 0.0], [6.0, 8.0]])
    low, high = quantisation._expanded(Y, V)
    for i, y in enumerate(Y):
        for k, v in enumerate(V):
            spare = (np.linalg.norm(y) + np.linalg.norm(v)) ** 2 * 10 * 2.0**-10 + 8 * 2.0**-6
            assert (low[i, k], high[i, k]) == pytest.approx((((y - v) ** 2).sum() - spare, ((y - v) ** 2).sum() + spare))
    squares, noise = quantisation.own_squares(np.array([[3.0, 4.0], [0.0, 0.0], [1e-150, 0.0], [1e-140, 0.0]]))
    assert squares.tolist() == pytest.approx([25.0, 0.0, 1e-300, 1e-280])
    assert noise.tolist() == pytest.approx([25.0 * 6 * 2.0**-10, 0.0, 2 * 2.0**-6, 1e-280 * 6 * 2.0**-10], rel=1e-9)


def test_caps_are_those_of_the_weights():
    """C times each, 0 without weight also where C is infinite, and without a warning."""
    proof = replace(stored("DualityGap"), sample_weight=np.array([0.0, 0.5, 2.0]))
    assert replace(proof, C=3.0)._caps(3).tolist() == [0.0, 1.5, 6.0]
    assert replace(proof, C=np.inf)._caps(3).tolist() == [0.0, np.inf, np.inf]
    assert replace(proof, C=3.0, sample_weight=None)._caps(2).tolist() == [3.0, 3.0]


def test_only_kinds_that_claim_something_are_kinds():
    """What several kinds have in common is none of them."""
    for kind in ("TargetMean", "MarginBracket", "DualityGap"):
        assert stored(kind).well_formed()
    assert not {"Unlabelled", "Bracket", "Enclosure", "Certificate"} & {*proofs.Certificate.kinds}


def test_each_side_of_zero_has_its_own_curve():
    """Outputs above 0 go by the upper curve however small they are, 0 and those below by the lower one."""
    both = calibration.Calibration(calibration.Curve(1.0, 0.0), calibration.Curve(3.0, 0.0))
    outputs = np.array([-2.0, -0.5, 0.0, 0.25, 1.0, 2.0])
    slopes = np.array([1.0, 1.0, 1.0, 3.0, 3.0, 3.0])
    assert both.probabilities(outputs)[:, 1] == pytest.approx(1.0 / (1.0 + np.exp(-slopes * outputs)))


def test_calibrations_are_fitted_as_far_as_known(monkeypatch):
    """Whoever changes when the fit of a curve ends changes it here too."""
    asked, plain = [], log_odds.minimize
    monkeypatch.setattr(log_odds, "minimize", lambda *args, **how: asked.append(how["options"]) or plain(*args, **how))
    log_odds.LogOdds.of(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 1, 0, 1]))
    assert asked == [{"maxiter": 1000, "maxfun": 2000, "ftol": 1e-11, "gtol": 1e-6}]


def test_squares_that_vanish_are_given_away(monkeypatch):
    """What underflow takes from a tiny objective, unless nothing is left of the residuals; data are judged by their squares."""
    X = np.array([[1.0], [0.0]])
    proof = proofs.RidgeGap.measure(X, np.array([1.0, 2.0]), weights=np.zeros(1), ridge=1.0)
    monkeypatch.setattr(regression, "TINY", 2.0)
    for size, blur in ((1e-150, 2.0), (0.0, 0.0), (1.0, 0.0)):
        with np.errstate(all="ignore"):  # as checkers do
            found = proof.measured(X, size * np.array([1.0, 2.0]), slack=1.0)
        assert found.blur == pytest.approx(blur, abs=1e-9)
    square = float(np.sqrt(2.0)) ** 2
    for smallest, lost in ((square, False), (np.nextafter(square, 9.0), True)):
        monkeypatch.setattr(regression, "SMALLEST", smallest)
        with np.errstate(all="ignore"):
            assert (proof.measured(X, np.array([1.0, 2.0]), slack=1.0) is None) is lost


def test_potentials_give_away_what_underflows():
    """So many subnormal floats for each weight, times 1 and the radius, also of weights that are 0."""
    least = 5e-324
    short = rational.potentials(np.array([[1e-310]]), np.ones(1), np.ones(1), 0.0)
    assert short.error.tolist() == [8 * least]
    nothing = rational.potentials(np.array([[3.0, 0.0]]), np.ones(1), np.zeros(2), 0.0)
    assert nothing.error.tolist() == [16 * least * 4]


def test_examples_longer_than_the_scale_are_said_to_be():
    """The largest square of a length is what the scale should have been."""
    X, y, about = np.array([[3.0], [-1.0]]), np.array([1, 0]), {"kernel": Linear(), "coefficients": np.ones(2), "positive": 1}
    with pytest.raises(InputError, match="it is up to 9; give that as scale"):
        proofs.BudgetedMistakes.measure(0, X, y, theorem=proofs.Projection(5), scale=2.0, **about)
    assert proofs.BudgetedMistakes.measure(0, X, y, theorem=proofs.Projection(5), scale=9.0, **about).verify(X, y)


def test_ranks_of_scores_are_the_largest_and_the_smallest_that_a_level_allows():
    """Of m rows at most so many may be called novel; for k of them at least so many rows are needed."""
    for level in (0.01, 0.05, 0.1, 0.29, 1 / 3, 0.5, 0.9):
        for m in range(40):
            assert novelty.allowed(level, m) == max(k for k in range(m + 2) if k / (m + 1) <= level)
        for k in (1, 2, 3, 7):
            assert novelty.needed(level, k) == next(m for m in range(10_000) if k / (m + 1) <= level)
