"""A score from the weights as they lie in a state directory, by the standard library: for a process of one message."""

import os
import time

from halfspace.mail.answering import READABLE, shares_of, threshold_in, top_of
from halfspace.mail.extraction import features, named_features
from halfspace.mail.header import unstamped, value_of
from halfspace.mail.identity import identity
from halfspace.mail.promise import answer
from halfspace.mail.scoring import score
from halfspace.mail.weights import WeightsFile

__all__ = ["hold", "score_plainly"]

TRIES, PAUSE = 200, 0.002
"""How often, and after how many seconds, weights are read again that a writer was changing."""
SEEN = 5_000
"""Messages whose features are held between scoring and learning."""


def score_plainly(folder: str, message: bytes, *, header: bool = False, ham_loss: float | None = None) -> str:
    """Return the answer about a message as our header field has it.

    Parameters
    ----------
    folder : str
        The state directory.
    message : bytes
        As it came in.
    header : bool, default False
        Whether the answer goes into a header: with reasons, and the features are held until the message is learnt.
    ham_loss : float, optional
        The share of ham that may be lost.
    """
    if not all(os.path.exists(os.path.join(folder, name)) for name in ("salt", "journal")):  # noqa: PTH110, PTH118  (10 ms)
        msg = f"there is no state in {folder!r}; make one with: halfspace mail train, or name another by --state"
        raise ValueError(msg)
    with open(os.path.join(folder, "salt"), "rb") as file:  # noqa: PTH118, PTH123
        salt = file.read()
    message = unstamped(message)
    try:
        weights = WeightsFile(os.path.join(folder, "weights"))  # noqa: PTH118
    except (OSError, ValueError):  # gone, or cut: rebuilt from the journal
        return _at_length(folder, message, header=header, ham_loss=ham_loss)
    light = bool(weights.number_of("light"))
    slots, key = features(message, salt=salt, light=light), identity(message, salt)
    plane, advice, _, counts = weights.arrays()
    for _ in range(TRIES):
        done, whole = weights["done"], weights.whole()
        if whole:
            n = int(weights.number_of("n"))
            found, threshold = score(slots, n, plane, advice, counts), threshold_in(weights, ham_loss)
            if weights["begun"] == done:
                break
        time.sleep(PAUSE)
    else:  # nobody writes, or somebody writes for long
        return _at_length(folder, message, header=header, ham_loss=ham_loss)
    top = []
    if header:
        hold(folder, key, slots.tobytes())
        named = named_features(message, salt=salt, groups=READABLE, light=light)
        top = top_of(named, slots, shares_of(slots, n, plane, advice, counts), spam=found > 0.0)
    return value_of(answer(found, threshold), found, key, top)


def _at_length(folder: str, message: bytes, *, header: bool, ham_loss: float | None) -> str:
    """Return the answer the long way, which mends the weights or waits for them."""
    from halfspace.mail.state import State  # noqa: PLC0415

    with State(folder) as state:
        return state.score(message, header=header, ham_loss=ham_loss)


def hold(folder: str, key: str, slots: bytes) -> None:
    """Keep the features of a message that was scored until it is learnt; forget the oldest when there are many."""
    seen = os.path.join(folder, "seen")  # noqa: PTH118
    try:
        os.makedirs(seen, exist_ok=True, mode=0o700)  # noqa: PTH103
        part = os.path.join(seen, f".{key}.{os.getpid()}")  # noqa: PTH118
        with open(part, "wb") as file:  # noqa: PTH123
            file.write(slots)
        os.replace(part, os.path.join(seen, key))  # noqa: PTH105, PTH118
        if time.time_ns() % 64 == 0:  # rarely: it looks at all of them
            held = sorted((entry.stat().st_mtime, entry.path) for entry in os.scandir(seen))
            for _, path in held[: max(0, len(held) - SEEN)]:
                os.unlink(path)  # noqa: PTH108
    except OSError:  # a reader that may not write here scores all the same
        return
