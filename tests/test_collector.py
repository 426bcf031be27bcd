"""Pauses of the collector of cycles."""

import gc

import pytest

from halfspace._collector import pause, resume


@pytest.fixture(autouse=True)
def _running():
    gc.enable()
    yield
    gc.enable()


def test_a_pause_ends_as_often_as_it_began():
    """Within two pauses the collector rests until both have ended."""
    pause()
    pause()
    resume()
    assert not gc.isenabled()
    resume()
    assert gc.isenabled()


def test_who_had_it_switched_off_finds_it_so():
    """A collector that was off stays off."""
    gc.disable()
    pause()
    resume()
    assert not gc.isenabled()


def test_what_is_new_counts_as_old_and_can_still_be_collected():
    """What a pause leaves is in the oldest generation, and a cycle in it is freed; what the user has frozen stays frozen."""
    pause()
    cycle = [[]]
    cycle[0].append(cycle)
    resume()
    assert any(held is cycle for held in gc.get_objects(generation=2))
    del cycle
    assert gc.collect() >= 2
    gc.freeze()
    try:
        pause()
        resume()
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_the_library_is_imported_in_one():
    """The collector runs as before once a public name has been imported."""
    import halfspace as hs

    assert hs.LinearRegression is not None
    assert gc.isenabled()
