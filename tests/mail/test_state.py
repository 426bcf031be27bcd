"""Claims about the state of a filter on the disk: what was acknowledged is there, and the weights are those of a replay."""

import os

import numpy as np
import pytest

from halfspace.mail.journal import Entry, packed, unpacked
from halfspace.mail.learner import SETTINGS, Learner
from halfspace.mail.reader import score_plainly
from halfspace.mail.state import State
from halfspace.mail.weights import SIZE

WORDS = [f"word{k}" for k in range(300)]


def message(number, *, spam):
    """Return a small message, one of a kind."""
    rng = np.random.default_rng(number)
    words = rng.choice(WORDS[:200] if spam else WORDS[100:], 30)
    return f"From: a@example.org\nSubject: message {number}\n\n{' '.join(words)}\n".encode()


def taught(state, numbers):
    """Teach messages, every third of them spam."""
    for number in numbers:
        state.learn(message(number, spam=number % 3 == 0), spam=number % 3 == 0)


def replayed(state):
    """Return a learner in memory that has learnt the journal."""
    learner = Learner(state.learner.settings)
    scores = [learner.learn(entry.features, 1 if entry.spam else -1) for _, entry in state.journal.rows()]
    assert scores == [entry.score for _, entry in state.journal.rows()]
    return learner


def same(one, other):
    """Tell whether two learners agree bit for bit."""
    mine, others = one.to_arrays(), other.to_arrays()
    return mine.keys() == others.keys() and all(np.array_equal(mine[name], others[name]) for name in mine)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "state"


@pytest.mark.parametrize("n", [0, 1, 2, 250, 2_000, 60_000])
def test_features_are_packed_without_loss(n):
    """Sets of slots of any size, to the first and the last slot, come back from bytes as they were, in under 1.4 bytes each."""
    rng = np.random.default_rng(n)
    slots = np.sort(rng.choice(1 << 20, n, replace=False)).astype(np.uint32)
    ends = np.array([0, 1, 2, (1 << 20) - 1], np.uint32)
    for one in (slots, slots[:1], ends, ends[3:], np.arange(n, dtype=np.uint32)):
        assert np.array_equal(unpacked(packed(one)), one)
        assert unpacked(packed(one)).dtype == np.uint32
    if n == 2_000:
        assert len(packed(slots)) < 1.4 * n


def test_what_was_learnt_is_there_for_the_next_process(folder):
    """A state opened again has the same learner, bit for bit, without a replay, and goes on like one that was never closed."""
    with State(folder) as state:
        taught(state, range(30))
        before = state.learner.copy()
    with State(folder) as state:
        assert same(state.learner, before)
        taught(state, range(30, 40))
        assert same(state.learner, replayed(state))


@pytest.fixture(params=[2_000, 3])
def window(request, monkeypatch):
    """Let replays come from so many kept messages."""
    for place in ("cache", "learner", "state"):
        monkeypatch.setattr(f"halfspace.mail.{place}.SETTINGS", SETTINGS._replace(window=request.param))


@pytest.mark.usefixtures("window")
def test_two_writers_see_each_other(folder):
    """Two open states that learn in turn are one filter, also when kept messages are too old to be shown again."""
    with State(folder) as one, State(folder, stays=True) as two:
        for number in range(0, 40, 4):
            taught(one, range(number, number + 2))
            taught(two, range(number + 2, number + 4))
        assert one.score(message(1, spam=False)) == two.score(message(1, spam=False))
        assert same(one.learner, replayed(one))
        assert same(two.learner, replayed(one))


@pytest.mark.usefixtures("window")
@pytest.mark.parametrize("stays", [False, True])
def test_a_message_that_is_taken_back_was_never_there(folder, tmp_path, stays, monkeypatch):
    """After --undo the filter is bit for bit the one that never saw the message, thresholds too; other processes see it."""
    monkeypatch.setattr("halfspace.mail.state.CHECKPOINT", 8)
    with State(folder, stays=stays) as state, State(folder) as other:
        taught(state, range(40))
        other.score(message(0, spam=True))
        for number in (39, 25, 0):
            assert "taken back" in state.undo(message(number, spam=number % 3 == 0))
        (tmp_path / "never").mkdir()
        (tmp_path / "never" / "salt").write_bytes(state.salt)
        with State(tmp_path / "never") as never:
            taught(never, [number for number in range(40) if number not in {0, 25, 39}])
            assert same(state.learner, never.learner)
            assert same(replayed(state), never.learner)
            assert (
                state.score(message(7, spam=False))
                == never.score(message(7, spam=False))
                == other.score(message(7, spam=False))
            )
            assert state._numbers() == never._numbers()
        with pytest.raises(ValueError, match="never learnt"):
            state.undo(message(0, spam=True))


def test_a_change_of_mind(folder):
    """The same label twice is learnt once; the other label takes the first back."""
    mail = message(1, spam=False)
    with State(folder) as state:
        taught(state, range(10))
        assert state.learn(mail, spam=False) == "already learnt as ham"
        assert state.learn(mail, spam=True) == "learnt as spam; it was learnt as ham before"
        assert state.status()["n_ham"] + state.status()["n_spam"] == 10
        assert same(state.learner, replayed(state))


def test_bulk_training_is_learning_one_by_one(folder, tmp_path):
    """Batches give the filter of single learns, bit for bit; what is known is skipped, with the other label relearnt."""
    mails = [message(number, spam=True) for number in range(60)]
    (tmp_path / "single").mkdir()
    with State(folder) as state:
        assert list(state.train(mails, spam=True)) == [(60, 60)]
        assert list(state.train([*mails[:50], message(99, spam=True)], spam=True)) == [(51, 1)]
        (tmp_path / "single" / "salt").write_bytes(state.salt)
        with State(tmp_path / "single") as single:
            for mail in [*mails, message(99, spam=True)]:
                single.learn(mail, spam=True)
            assert same(state.learner, single.learner)
        assert list(state.train(mails[:1], spam=False)) == [(1, 1)]
        assert same(state.learner, replayed(state))


@pytest.mark.parametrize("fault", ["zeros", "end", "records"])
def test_damaged_weights_are_rebuilt(folder, fault):
    """Weights that are all zeros, or whose kept messages cannot be read, are those of a replay for whoever looks next."""
    with State(folder) as state:
        taught(state, range(12))
        whole, file = state.learner.copy(), state._cache.file
        if fault == "end":
            file["kept"], file["end"] = 1 << 40, 1 << 50
        elif fault == "records":
            os.pwrite(file.number, b"\xff" * 60, SIZE)
    if fault == "zeros":
        (folder / "weights").write_bytes(bytes((folder / "weights").stat().st_size))
        assert score_plainly(str(folder), message(1, spam=False)).startswith("ham")
    with State(folder) as state:
        assert same(state.learner, whole)


@pytest.mark.parametrize("fault", ["torn", "behind", "absent", "reboot", "short", "removed"])
def test_weights_are_mended(folder, fault):
    """Weights that a killed writer left torn, that are behind, gone, cut, or that a crash of the machine left, are rebuilt."""
    with State(folder) as state:
        taught(state, range(12))
        whole = state.learner.copy()
        file = state._cache.file
        if fault == "behind":  # killed between the journal and the weights
            slots = state.features(message(99, spam=True))
            state.journal.append([Entry("99", True, whole.learn(slots, 1), slots)])
        elif fault == "reboot":
            file["boot"] = 1
        elif fault == "removed":  # killed after the journal let a message go, before the replay
            state.journal.remove(state._cache._kept[0].number)
        elif fault == "torn":
            file["begun"] += 1
            state.learner.plane.weights[:] = 7.0
    if fault == "absent":
        (folder / "weights").unlink()
    if fault == "short":
        (folder / "weights").write_bytes(b"halfmail")
    if fault in {"torn", "absent", "short"}:
        assert score_plainly(str(folder), message(1, spam=False)).startswith("ham")
    with State(folder) as state:
        assert same(state.learner, whole) == (fault != "removed")
        assert same(state.learner, replayed(state))


def test_the_short_way_gives_the_same_answer(folder):
    """Scoring by the standard library gives the score, the id and the reasons of the long way."""
    with State(folder) as state:
        with pytest.raises(ValueError, match="nothing was learnt yet"):
            state.score(message(1, spam=False))
        taught(state, range(20))
        for number in (100, 101):
            mail = message(number, spam=number == 100)
            assert score_plainly(str(folder), mail, header=True) == state.score(mail, header=True)
    with pytest.raises(ValueError, match="there is no state"):
        score_plainly(str(folder / "absent"), b"")


def test_the_features_that_were_scored_are_those_that_are_learnt(folder):
    """A message that comes back with our field and other headers is known, and learnt with the features it was scored by."""
    mail = message(3, spam=True)
    with State(folder) as state:
        taught(state, range(3))
        value = state.score(mail, header=True)
        changed = f"X-Halfspace: {value}\nReceived: from elsewhere\n".encode() + mail + b"footer\n"
        state.learn(changed, spam=True)
        *_, (_, last) = state.journal.rows()
        assert np.array_equal(last.features, state.features(mail))
        assert not list((folder / "seen").iterdir())
        assert state.learn(mail, spam=True) == "already learnt as spam"


def test_a_promise_is_refused_until_there_is_enough_ham(folder):
    """A ham loss of 1 % needs 299 ham; before that the refusal says how many are missing."""
    with State(folder) as state:
        for number in (3, 6, 9, 12, 15, 1, 2):
            taught(state, [number])
        with pytest.raises(ValueError, match="teach 297 more"):
            state.score(message(1, spam=False), ham_loss=0.01)
        with pytest.raises(ValueError, match="one of"):
            state.score(message(1, spam=False), ham_loss=0.02)
        for _ in range(299):
            state.past.add(0.0, spam=False)
        taught(state, [18])
        assert state.score(message(1, spam=False), ham_loss=0.01).startswith("ham")
        assert state.status()["promises"][0]["threshold"] == 0.0


def test_training_in_blocks_mixes_the_classes(folder):
    """All ham first and then all spam gives the filter that saw them mixed, and new ham is no spam; single learns stay put."""
    ham, spam = ([message(k, spam=label) for k in range(60)] for label in (False, True))
    with State(folder) as state:
        list(state.train(ham, spam=False))
        list(state.train(spam[:30], spam=True))
        labels = [entry.spam for _, entry in state.journal.rows()]
        assert labels == [False, True, False] * 30
        assert same(state.learner, replayed(state))
        new = [message(100 + k, spam=False) for k in range(30)]
        assert sum(state.score(one).startswith("spam") for one in new) <= 1
        state.learn(message(99, spam=False), spam=False)
        list(state.train(spam[30:], spam=True))
        assert [entry.spam for _, entry in state.journal.rows()] == [*labels, False, *[True] * 30]
        assert same(state.learner, replayed(state))


@pytest.mark.parametrize("data", [b"", b"12345", bytes(8), b"\xff" * 8])
def test_features_that_were_held_and_are_damaged_are_found_anew(folder, data):
    """A held file that is empty, cut, not rising or beyond the slots is not learnt."""
    mail = message(3, spam=True)
    with State(folder) as state:
        taught(state, range(3))
        value = state.score(mail, header=True)
        (held,) = (folder / "seen").iterdir()
        held.write_bytes(data)
        state.learn(f"X-Halfspace: {value}\n".encode() + mail, spam=True)
        *_, (_, last) = state.journal.rows()
        assert np.array_equal(last.features, state.features(mail))


def test_a_damaged_journal_is_named(folder):
    """Features that are none, and a file that is no database, end in a sentence that says what to do."""
    with State(folder) as state:
        taught(state, range(3))
        state.journal._data.execute("UPDATE content SET features = x'0300000025ffffffffffffffff' WHERE number = 2")
        with pytest.raises(ValueError, match="the journal is damaged"):
            state.replayed()
    (folder / "journal").write_bytes(bytes(range(256)) * 16)
    with pytest.raises(ValueError, match="put a copy of the state"):
        State(folder)


def test_the_salt_is_not_drawn_anew(folder):
    """A state whose salt is gone or cut is refused: what was learnt means nothing without it."""
    with State(folder) as state:
        taught(state, range(3))
        assert {path.name: path.stat().st_mode & 0o077 for path in folder.iterdir() if path.is_file()}.keys() >= {"journal"}
        assert not any(path.stat().st_mode & 0o077 for path in folder.iterdir())
    (folder / "salt").write_bytes(b"short")
    with pytest.raises(ValueError, match="5 bytes"):
        State(folder)
    (folder / "salt").unlink()
    with pytest.raises(ValueError, match="is gone"):
        State(folder)
    with pytest.raises(ValueError, match="there is no state"):
        score_plainly(str(folder), b"x")


def test_new_features_are_found_in_kept_messages(folder, monkeypatch):
    """When the extractor changes, kept messages are read again and the weights rebuilt; without them the features stay."""
    with State(folder, keep=True) as state:
        taught(state, range(6))
    monkeypatch.setattr("halfspace.mail.state.VERSION", 99)
    monkeypatch.setattr("halfspace.mail.cache.VERSION", 99)
    monkeypatch.setattr("halfspace.mail.state.compiled_features", lambda mail, **_: np.array([len(mail) % 100, 200], np.uint32))
    with State(folder) as state:
        assert all(entry.features.size == 2 for _, entry in state.journal.rows())
        assert same(state.learner, replayed(state))
