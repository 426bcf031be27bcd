"""The container is a safetensors file, with a checksum over what it holds."""

import random

import numpy as np
import pytest
from fuzz.mutations import change_bytes

from halfspace.errors import ModelFileError
from halfspace.modelfiles.container import TYPES, parse, read, write


def test_every_type_of_number_survives(tmp_path):
    """Arrays of every type, of any shape, empty ones too, come back bit for bit."""
    rng = np.random.default_rng(0)
    arrays = [rng.integers(0, 2, size=(3, 5)).astype(dtype) for dtype in sorted(TYPES, key=str)]
    arrays += [np.zeros((0, 7)), np.array(3.5), np.array([np.nan, -0.0, np.inf])]
    write(tmp_path / "file", '{"a":"é\\ud800"}', arrays)
    contents = read(tmp_path / "file")
    assert contents.tree == '{"a":"é\\ud800"}'
    for k, array in enumerate(arrays):
        found = contents.arrays[str(k)]
        assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())


def test_the_same_contents_give_the_same_bytes(tmp_path):
    """Files can be compared byte by byte."""
    arrays = [np.arange(6.0).reshape(2, 3), np.arange(5, dtype=np.int32), np.array([True, False, True])]
    for name in ("one", "two"):
        write(tmp_path / name, "{}", arrays)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_truth_values_are_true_or_false(tmp_path, parts_of):
    """A byte that is neither 0 nor 1 is refused where truth values belong, whatever the checksum says."""
    write(tmp_path / "file", "{}", [np.array([True, False])])
    file = parts_of((tmp_path / "file").read_bytes())
    file.data[0] = 2
    (tmp_path / "file").write_bytes(file.sealed())
    with pytest.raises(ModelFileError, match="true and false"):
        read(tmp_path / "file")


def test_no_flipped_or_missing_byte_goes_unnoticed(tmp_path):
    """A file with bytes changed, cut, inserted or doubled is refused, unless it holds the same as before."""
    arrays = [np.arange(6.0).reshape(2, 3), np.arange(5, dtype=np.int32), np.array([True, False, True])]
    write(tmp_path / "file", '{"a":[1,2.5,"é"]}', arrays)
    raw, before, chance = (tmp_path / "file").read_bytes(), contents_of(tmp_path / "file"), random.Random(0)  # noqa: S311
    for _ in range(3000):
        (tmp_path / "file").write_bytes(change_bytes(raw, chance))
        assert contents_of(tmp_path / "file") in (None, before)


def contents_of(path):
    """Return what a file holds, in a form that can be compared; None if it is refused."""
    try:
        contents = read(path)
    except ModelFileError:
        return None
    return contents.tree, [(name, a.dtype, a.shape, a.tobytes()) for name, a in sorted(contents.arrays.items())]


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', "[NaN]", "[" * 100_000 + "]" * 100_000, "{", '{"a":' + "9" * 5000 + "}"])
def test_json_that_means_different_things_to_readers_is_refused(text):
    """Names that come twice, NaN, endless nesting and endless numbers are refused."""
    with pytest.raises(ModelFileError, match="JSON"):
        parse(text)
