"""A pause of Python's collector of cycles, for moments that make very many objects which all stay.

Imports and compilation make hundreds of thousands of objects. Each time they have grown by a quarter the collector looks at all
of them and finds nothing to free, which is a sixth of the time of both. When it goes on, what is new counts as old at once: to
find that out it would look at everything three times.
"""

import gc
import threading

__all__ = ["pause", "resume"]

_lock = threading.RLock()
_paused = {"depth": 0, "running": False}


def pause() -> None:
    """Let the collector rest until `resume` has been called as often as this."""
    with _lock:
        if _paused["depth"] == 0:
            _paused["running"] = gc.isenabled()
            gc.disable()
        _paused["depth"] += 1


def resume() -> None:
    """Let the collector go on, if it did before."""
    with _lock:
        _paused["depth"] -= 1
        if _paused["depth"] == 0 and _paused["running"]:
            if gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
            gc.enable()
