"""The learner: the theorem at every step, replays to the bit, exact forgetting, and scores in plain Python."""

import numpy as np
import pytest

from halfspace import mail
from halfspace.errors import InputError
from halfspace.mail import scoring
from halfspace.mail.learner import RULES, SETTINGS, Learner, Settings


def stream(n=120, seed=0):
    """Return rows of slots and labels: two vocabularies that overlap, a tenth of the labels wrong."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n)
    rows = [np.unique(rng.integers(0, 60, 12) + (30 if label > 0 else 0)).astype(np.uint32) for label in y]
    return rows, np.where(rng.random(n) < 0.1, -y, y)


def taught(rows, y, settings=SETTINGS):
    learner = Learner(settings)
    for slots, label in zip(rows, y, strict=True):
        learner.learn(slots, int(label))
    return learner


def equal(one, other):
    a, b = one.to_arrays(), other.to_arrays()
    return all(np.array_equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize(("replays", "window"), [(5, 2_000), (0, 2_000), (5, 7)])
def test_the_theorem_holds_at_every_step(replays, window):
    """The plane is that of the strengths, 0 <= alpha <= C, the dual value never falls, and a mistake raises it by the gain."""
    learner, before = Learner(SETTINGS._replace(replays=replays, window=window)), 0.0
    vectors = []
    for slots, label in zip(*stream(), strict=True):
        f, _ = learner.vector(slots)
        learner.learn(slots, int(label))
        w, alpha = np.zeros(2**20), learner.kept.strengths[: learner.n_kept]
        for k in range(len(vectors), learner.n_kept):
            own = slice(learner.kept.starts[k], learner.kept.starts[k + 1])
            vectors.append((learner.kept.slots[own].copy(), learner.kept.labels[k] * learner.kept.entries[own]))
        for strength, (places, entries) in zip(alpha, vectors, strict=True):
            np.add.at(w, places, strength * entries)
        np.testing.assert_allclose(learner.plane.weights[:100], w[:100], atol=1e-5)
        dual = alpha.sum() - w @ w / 2.0
        assert alpha.min(initial=0.0) >= 0.0
        assert (alpha <= learner.kept.caps[: learner.n_kept]).all()
        assert learner.kept.caps[: learner.n_kept].max(initial=0.0) <= SETTINGS.C
        assert dual >= before - 1e-5 + (SETTINGS.gain if label * f <= 0.0 else 0.0)
        before = dual
    assert learner.kept.caps[: learner.n_kept].min() < SETTINGS.C
    assert learner.kept.starts[learner.held_from(learner.n_kept)] == 0


@pytest.mark.parametrize("window", [2_000, 7])
def test_a_replay_gives_the_same_bits(window):
    """The same messages in the same order give the same state, also by way of stored arrays; another seed another."""
    (rows, y), settings = stream(), Settings(window=window)
    whole = taught(rows, y, settings)
    assert equal(whole, taught(rows, y, settings))
    half = {name: a.copy() for name, a in taught(rows[:70], y[:70], settings).to_arrays().items()}
    resumed = Learner.from_arrays(half, settings)
    for slots, label in zip(rows[70:], y[70:], strict=True):
        resumed.learn(slots, int(label))
    assert equal(whole, resumed)
    assert not equal(whole, taught(rows, y, settings._replace(seed=1)))


def test_the_simple_rules_are_rosenblatts_and_crammers():
    """The perceptron adds a mistake with strength 1 and nothing else; passive-aggressive steps make a thin margin 1."""
    rows, y = stream()
    for rule in ("perceptron", "passive-aggressive"):
        learner, w = Learner(RULES[rule]), np.zeros(2**20)
        for slots, label in zip(rows, y, strict=True):
            f, x = learner.vector(slots)
            assert f == pytest.approx(w[slots] @ x, abs=1e-5)
            E, x = label * f, x.astype(np.float32)
            step = float(E <= 0.0) if rule == "perceptron" else min(1.0, max(0.0, 1.0 - E))
            w[slots] += step * label * x
            learner.learn(slots, int(label))
        assert not learner.plane.advice.any()


def test_plain_python_gives_the_same_score():
    """A process without NumPy computes the same bits from the same arrays."""
    rows, y = stream()
    learner = taught(rows, y)
    weights, advice, _, counts = learner.plane
    for slots in (*rows[:20], np.zeros(0, np.uint32), np.array([5, 70, 1000], np.uint32)):
        plain = scoring.score(slots.tolist(), learner.n, memoryview(weights), memoryview(advice), memoryview(counts))
        assert plain == learner.score(slots)


LETTERS = [(b"Subject: offer %d\n\ncheap pills number %d" % (k % 7, k), "spam") for k in range(12)]
LETTERS += [(b"Subject: lunch %d\n\nmeet at noon in room %d" % (k % 5, k), "ham") for k in range(12)]
LETTERS = [LETTERS[k % 2 * 12 + k // 2] for k in range(24)]


@pytest.mark.parametrize("place", [0, 7, 23])
def test_forgetting_is_exact(place):
    """After unlearning, the filter is to the bit the one that never saw the message, with its scores."""
    seen, never = mail.MailFilter(salt=b"s"), mail.MailFilter(salt=b"s")
    for k, letter in enumerate(LETTERS):
        seen.learn(*letter)
        if k != place:
            never.learn(*letter)
    seen.unlearn(LETTERS[place][0])
    assert equal(seen.learner, never.learner)
    assert [score for *_, score in seen.log] == [score for *_, score in never.log]


def test_what_was_never_learnt_cannot_be_forgotten():
    """Unlearning a message that was not learnt is refused, and so is a label that is none."""
    with pytest.raises(InputError, match="expects a message that was learnt"):
        mail.MailFilter(salt=b"s").unlearn(b"hello")
    with pytest.raises(InputError, match="not 'junk'"):
        mail.MailFilter(salt=b"s").learn(b"hello", "junk")


def test_the_filter_works_from_the_first_mistake_and_explains_itself():
    """After one message of each kind similar ones are told apart; words that push are named with their shares."""
    filter_ = mail.MailFilter(salt=b"s")
    for letter in LETTERS[:2]:
        filter_.learn(*letter)
    assert [filter_.answer(text) for text, _ in LETTERS[2:8]] == [label for _, label in LETTERS[2:8]]
    told = filter_.explain(LETTERS[2][0])
    assert 'word "pills"' in [name for name, _ in told.spam]
    assert all(share > 0 for _, share in told.spam)
    assert all(share < 0 for _, share in told.ham)
    assert filter_.probability(LETTERS[2][0]) > 0.5 > filter_.probability(LETTERS[3][0])
    status = filter_.status()
    assert (status.ham, status.spam, status.kept) == (1, 1, 2)


def test_a_promise_is_refused_with_the_ham_still_needed():
    """With 2 of 299 ham, a loss of 1 % is not promised, and the message says that 297 are missing."""
    filter_ = mail.MailFilter(salt=b"s", ham_loss=0.01)
    for k in range(5):
        filter_.learn(b"pills %d" % k, "spam")
    filter_.learn(b"one", "ham")
    filter_.learn(b"two", "ham")
    with pytest.raises(InputError, match="teach 297 more"):
        filter_.threshold()
    assert filter_.status().ham_missing == 297


def test_a_history_proves_what_it_claims():
    """The mistake bound, the large-margin gap and the ham loss of a filter verify on its data, and not on other labels."""
    filter_ = mail.MailFilter(salt=b"s")
    for letter in LETTERS:
        filter_.learn(*letter)
    proofs = filter_.prove()
    assert proofs.mistakes.verify(proofs.X, proofs.y)
    assert proofs.mistakes.mistakes <= proofs.mistakes.bound < len(LETTERS)
    assert proofs.gap.verify(proofs.X, proofs.y)
    assert 0.0 < proofs.gap.dual <= proofs.gap.primal
    known = len(proofs.ham)
    assert known == 12
    assert proofs.ham_loss.verify(proofs.ham, -np.ones(known))
    assert not any(reasons for _, reasons in proofs.claims())
    for proof in (proofs.mistakes, proofs.gap):
        assert not proof.verify(proofs.X, np.where(np.arange(24) < 12, proofs.y, -1))
    assert not proofs.ham_loss.verify(proofs.ham + 2.0, -np.ones(known))
    alone = mail.MailFilter(salt=b"s")
    alone.learn(b"lunch", "ham")
    assert [type(proof).__name__ for proof, _ in alone.prove().claims()] == ["HamLoss"]
    with pytest.raises(InputError, match="has learnt something"):
        mail.MailFilter(salt=b"s").prove()
