"""The public names: listed once, found when they are first used."""

import importlib
import inspect
import subprocess
import sys

import pytest

import halfspace


@pytest.mark.parametrize("name", halfspace.__all__)
def test_every_public_name_is_found_where_the_list_says(name):
    """A name of the list is a module of the package, or a class or function of the module named there."""
    found = getattr(halfspace, name)
    assert inspect.ismodule(found) or getattr(importlib.import_module(found.__module__), name) is found
    assert name in dir(halfspace)


def test_an_unknown_name_is_an_attribute_error():
    """What is not in the list is not there."""
    with pytest.raises(AttributeError, match="has no attribute 'AdaTorn'"):
        _ = halfspace.AdaTorn


def test_importing_the_package_imports_nothing_heavy():
    """`import halfspace` alone loads neither NumPy nor Numba."""
    code = "import sys, halfspace; print(sorted({'numpy', 'numba', 'sklearn'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
