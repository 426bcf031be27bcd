"""The certificate of a committee's vote: what it counts, and which lies it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from halfspace.certificates import from_json
from halfspace.certificates.margins.vote import CommitteeVote, count_votes
from halfspace.errors import CertificateError

X = np.array([[2.0, 0.5], [1.0, -1.0], [-1.0, 1.0], [-2.0, 0.25]])
Y = np.array([1, 1, 0, 0])
MEMBERS = np.array([[[1.0, 0.0, 0.0]], [[1.0, 1.0, 0.5]], [[0.0, -1.0, -0.5]]])
X3, Y3 = 3.0 * np.eye(3), np.array(["a", "b", "c"])
MEMBERS3 = np.array([np.eye(3), 2.0 * np.eye(3), np.eye(3)[[1, 0, 2]]])


def proof(vote="majority"):
    return CommitteeVote.measure(X, Y, members=MEMBERS, vote=vote, clamp=1.0, classes=(0, 1))


def proof3(vote="majority"):
    return CommitteeVote.measure(X3, Y3, members=MEMBERS3, vote=vote, clamp=0.0, classes=("a", "b", "c"))


@pytest.mark.parametrize("vote", ["majority", "stability"])
def test_the_count_is_that_of_a_plain_loop(vote):
    """Errors and disagreement are those found by asking each member about each example."""
    rng = np.random.default_rng(0)
    data, labels, members = rng.standard_normal((30, 2)), rng.integers(0, 2, 30), rng.standard_normal((5, 1, 3))
    found = CommitteeVote.measure(data, labels, members=members, vote=vote, clamp=1.0, classes=(0, 1))
    errors, against = 0, 0
    for x, label in zip(data, labels, strict=True):
        stability = [w[0] @ [*x, 1.0] / np.linalg.norm(w) for w in members]
        votes = [int(kappa > 0) for kappa in stability]
        choice = int(sum(votes) > 2.5) if vote == "majority" else int(sum(stability) > 0)
        errors += choice != label
        against += sum(v != choice for v in votes)
    assert found.errors == errors
    assert found.disagreement == pytest.approx(against / (30 * 5))
    assert found.verify(data, labels)


def test_ties_go_to_stability_and_then_to_the_lowest_class():
    """One vote each: the more stable side wins; no vote is overturned by stability; and equal stability is class 0."""
    ones = np.ones((2, 1))
    assert count_votes(np.array([[[2.0], [-1.0]]]), ones, "majority", 1.0).choice.tolist() == [1]
    assert count_votes(np.array([[[1.0], [-2.0]]]), ones, "majority", 1.0).choice.tolist() == [0]
    assert count_votes(np.array([[[1.0], [-1.0]]]), ones, "majority", 1.0).choice.tolist() == [0]
    two_to_one = np.array([[[0.1], [0.1], [-99.0]]])
    assert count_votes(two_to_one, np.ones((3, 1)), "majority", 1.0).choice.tolist() == [1]
    assert count_votes(two_to_one, np.ones((3, 1)), "stability", 1.0).choice.tolist() == [0]
    split = np.array([[[1.0, 0.0, 0.0], [0.0, 3.0, 0.0]]])
    assert count_votes(split, np.ones((2, 3)), "majority", 1.0).choice.tolist() == [1]


@pytest.mark.parametrize("make", [proof, proof3])
@pytest.mark.parametrize("vote", ["majority", "stability"])
def test_true_votes_hold_and_survive_json(make, vote):
    """A measured certificate holds on its data and labels, also after a trip through JSON, and not on others."""
    data, labels = (X, Y) if make is proof else (X3, Y3)
    true = make(vote)
    assert true.verify(data, labels)
    again = from_json(true.to_json())
    assert again.to_json() == true.to_json()
    assert again.verify(data, labels)
    assert not true.verify(2 * data, labels)
    assert not true.verify(data[:, :1], labels)
    assert not true.verify(data, np.roll(labels, 1))


FALSE = {
    "another number of errors": lambda c: replace(c, errors=c.errors + 1),
    "less disagreement": lambda c: replace(c, disagreement=c.disagreement - 0.01),
    "another vote": lambda c: replace(c, vote="lottery"),
    "member negated": lambda c: replace(c, members=c.members * np.array([1.0, -1.0, 1.0])[:, None, None]),
    "no members": lambda c: replace(c, members=c.members[:0]),
    "members in a row": lambda c: replace(c, members=c.members[0]),
    "planes of three classes": lambda c: replace(c, members=np.tile(c.members, (1, 3, 1))),
    "radius doubled": lambda c: replace(c, radius=2 * c.radius),
    "clamp zero": lambda c: replace(c, clamp=0.0),
    "classes exchanged": lambda c: replace(c, classes=(1, 0)),
    "one class": lambda c: replace(c, classes=(1,)),
    "unknown class": lambda c: replace(c, classes=(0, 7)),
}


def test_false_votes_are_refused():
    """A certificate with one corrupted field is refused."""
    true = proof()
    for name, lie in FALSE.items():
        assert not lie(true).verify(X, Y), name


def test_an_unknown_vote_in_a_file_is_an_error():
    """A vote that is none, and other nonsense by type (see test_fields), is an error when read."""
    with pytest.raises(CertificateError, match=r"damaged.*unknown vote 'abc'"):
        from_json(proof().to_json().replace('"majority"', '"abc"'))


def test_votes_within_rounding_may_fall_either_way():
    """An example on a member's plane is allowed for, once; zero weights vote for the negative class and allow nothing."""
    data, labels = np.array([[1.0, 1.0], [3.0, 1.0], [-3.0, 1.0]]), np.array([1, 1, 0])
    members = np.array([[[0.1, -0.1]]])
    true = CommitteeVote.measure(data, labels, members=members, vote="majority", clamp=0.0, classes=(0, 1))
    assert true.errors == 1
    assert replace(true, errors=0).verify(data, labels)
    assert not replace(true, errors=3).verify(data, labels)
    silent = CommitteeVote.measure(data, labels, members=0 * members, vote="majority", clamp=0.0, classes=(0, 1))
    assert silent.errors == 2
    assert silent.verify(data, labels)
    assert not replace(silent, errors=0).verify(data, labels)


def test_votes_do_not_depend_on_the_scale_of_the_weights():
    """Members scaled by any factor, also near the ends of the floating range, vote the same."""
    for power in (-600, -30, 30, 600):
        scaled = replace(proof(), members=MEMBERS * 2.0**power)
        assert scaled.verify(X, Y)


def possible(x, members, vote):
    """Return a row's certain choice (None if open), how many members surely vote against it, and how many votes are open.

    By a plain loop: a vote is open where the two largest outputs tie though they have terms, and may then go to any class.
    """
    K, counts, open_, sure = max(2, members.shape[1]), np.zeros(max(2, members.shape[1])), 0, []
    stability, size = np.zeros(members.shape[1]), 0.0
    for member in members:
        outputs = member @ x
        top = np.sort(np.append(outputs, 0.0) if len(outputs) == 1 else outputs)[::-1]
        tied = abs(outputs[0]) < 1e-9 if len(outputs) == 1 else top[0] - top[1] < 1e-9
        if tied and (np.abs(member) @ np.abs(x)).max() > 0.0:
            open_ += 1
        else:
            voted = int(outputs[0] > 0) if len(outputs) == 1 else int(outputs.argmax())
            counts[voted] += 1
            sure.append(voted)
        lengths = np.where(np.linalg.norm(member, axis=1) > 0, np.linalg.norm(member, axis=1), 1.0)
        stability, size = stability + outputs / lengths, size + (np.abs(member) @ np.abs(x)).max()
    by_stability = [int(stability[0] > 0)] if len(stability) == 1 else [int(stability.argmax())]
    gap = abs(stability[0]) if len(stability) == 1 else np.diff(np.sort(stability))[-1]
    if gap < 1e-9 and size > 0.0:
        by_stability = list(range(K))
    if vote == "stability":
        can = by_stability
    elif open_:
        can = [k for k in range(K) if counts[k] + open_ >= np.delete(counts, k).max()]
    else:
        best = np.flatnonzero(counts == counts.max())
        tie = stability[best] if len(stability) > 1 else None
        can = best.tolist()
        if best.size > 1:
            can = by_stability if tie is None else best[tie > tie.max() - 1e-9].tolist()
            can = can if len(can) == 1 or size > 0.0 else can[:1]
    choice = can[0] if len(can) == 1 else None
    return choice, sum(v != choice for v in sure), open_


@pytest.mark.parametrize("vote", ["majority", "stability"])
@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("seed", range(6))
def test_claims_may_be_off_by_what_open_votes_can_change_and_by_no_more(vote, K, seed):
    """With whole numbers ties are exact: those errors and disagreements are accepted that some fall of ties makes."""
    rng = np.random.default_rng([seed, K])
    n, M = 7, int(rng.integers(2, 5))
    data, members = rng.integers(-2, 3, (n, 2)).astype(float), rng.integers(-2, 3, (M, K, 2)).astype(float)
    members[0, 0] = 0.0 if seed == 0 else members[0, 0]
    labels = rng.permutation(np.arange(n) % max(2, K))
    true = CommitteeVote.measure(data, labels, members=members, vote=vote, clamp=0.0, classes=tuple(range(max(2, K))))
    rows = [possible(x, members, vote) for x in data]
    least = sum(choice is not None and choice != label for (choice, _, _), label in zip(rows, labels, strict=True))
    most = sum(choice is None or choice != label for (choice, _, _), label in zip(rows, labels, strict=True))
    assert [e for e in range(n + 1) if replace(true, errors=e).verify(data, labels)] == list(range(least, most + 1))
    low = sum(0.0 if choice is None else against / M for choice, against, _ in rows) / n
    high = sum(1.0 if choice is None else (against + open_) / M for choice, against, open_ in rows) / n
    for share, holds in ((low, True), (high, True), (low - 1e-9, False), (high + 1e-9, False)):
        assert bool(share >= 0.0 and replace(true, disagreement=share).verify(data, labels)) == (holds and share >= 0.0), share
    assert not replace(true, radius=true.radius * (1 + 1e-6)).verify(data, labels)
    assert replace(true, radius=true.radius * (1 + 1e-10)).verify(data, labels)


@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("scale", [2.0**-40, 1.0, 2.0**40])
def test_scores_are_those_of_the_definition_in_any_unit(K, scale):
    """By majority the mean vote plus a quarter of x/(1 + |x|), x the mean stability over the radius; else that stability."""
    rng = np.random.default_rng(K)
    outputs, lengths, R = scale * rng.standard_normal((9, 5, K)), rng.uniform(0.2, 5.0, (5, K)), 3.0 * scale
    lengths[0], outputs[:, 0] = 0.0, 0.0  # a member without weights
    stability = np.array(
        [
            [[o / q if q else 0.0 for o, q in zip(x, w, strict=True)] for x, w in zip(row, lengths, strict=True)]
            for row in outputs
        ]
    )
    mean = stability.mean(axis=1)
    assert count_votes(outputs, lengths, "stability", R).scores == pytest.approx(mean, rel=1e-12)
    shares = np.where(outputs > 0, 1.0, -1.0) if K == 1 else outputs.argmax(axis=2)[:, :, None] == np.arange(K)
    expected = (shares.sum(axis=1) + 0.25 * (mean / R) / (1.0 + abs(mean / R))) / 5
    assert count_votes(outputs, lengths, "majority", R).scores == pytest.approx(expected, rel=1e-12)
    assert np.isfinite(count_votes(0.0 * outputs, lengths, "majority", 0.0).scores).all()


@pytest.mark.parametrize("vote", ["majority", "stability"])
@pytest.mark.parametrize("size", [2.0**-30, 1.0, 2.0**30])
@pytest.mark.parametrize("M", [1, 31])
def test_only_votes_within_the_rounding_of_their_own_terms_are_open(vote, size, M):
    """An output w·x is open below 4 (D + M + 8) eps Σ|w_j x_j|, of D inputs and M members, whatever the size of x and w."""
    limit = 4 * (2 + M + 8) * np.finfo(float).eps
    for share, open_ in ((0.7, True), (1.4, False)):
        x = np.array([[1.0, 1.0 - share * 2.0 * limit], [8.0, -8.0], [-8.0, 8.0]])  # of which the first all but cancels
        members = np.tile(np.array([[0.3, -0.3]]), (M, 1, 1)) * np.arange(1.0, M + 1)[:, None, None]
        data, labels = x * size, np.array([0, 1, 0])
        true = CommitteeVote.measure(data, labels, members=members, vote=vote, clamp=0.0, classes=(0, 1))
        assert true.errors == 1
        assert bool(replace(true, errors=0).verify(data, labels)) is open_
        assert not replace(true, errors=2).verify(data, labels)
        assert not replace(true, radius=true.radius * (1 + 4e-9)).verify(data, labels)
        assert replace(true, radius=true.radius * (1 + 4e-10)).verify(data, labels)


def test_what_predicts_is_named_by_the_label_of_each_plane():
    """Of two classes the one plane is that of the second; of more each class has its own."""
    assert proof().predictor(Y)["positive"] == [1]
    assert proof3().predictor(Y3)["positive"] == ["a", "b", "c"]


def test_outputs_that_overflow_prove_nothing_though_the_radius_is_right():
    """A vote counted on sums that are infinite is refuted, also where no flag of the processor is looked at."""
    data, labels, members = np.full((2, 2), 1.2e308) * [[1.0], [-1.0]], np.array([1, 0]), np.full((1, 1, 2), 0.99)
    with np.errstate(all="ignore"):
        made = CommitteeVote.measure(data, labels, members=members, vote="majority", clamp=0.0, classes=(0, 1))
        assert "the outputs overflow" in str(made.confirm(data, labels))
