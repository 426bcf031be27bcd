"""Models to save, and files to damage."""

import functools

import pytest
from fuzz import models
from fuzz.parts import File, seal

import halfspace as hs


@pytest.fixture(scope="session")
def fitted():
    """Return a function that fits a model by name, once."""
    return functools.cache(models.fitted)


@pytest.fixture(scope="session")
def parts_of():
    """Return the class that takes files apart."""
    return File


@pytest.fixture(scope="session")
def sealed():
    """Return the function that seals a file."""
    return seal


@pytest.fixture(scope="session")
def saved(fitted, tmp_path_factory):
    """Return a function that gives the bytes of a saved model by name."""
    folder, known = tmp_path_factory.mktemp("saved"), {}

    def save(name):
        if name not in known:
            hs.save(fitted(name)[0], folder / "model.halfspace")
            known[name] = (folder / "model.halfspace").read_bytes()
        return known[name]

    return save
