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
