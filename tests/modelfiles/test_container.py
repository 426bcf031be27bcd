"""The container is the safetensors layout, with a checksum."""

import random

import numpy as np
import pytest

from halfspace.errors import ModelFileError
from halfspace.modelfiles.container import DTYPES, pack, unpack


def written(path, text, arrays):
    """Write a container and return its bytes."""
    path.write_bytes(b"".join(map(bytes, pack(text, arrays))))
    return path.read_bytes()


def test_every_type_of_number_survives(tmp_path):
    """Arrays of every type, of any shape, empty ones too, come back bit for bit."""
    rng = np.random.default_rng(0)
    arrays = [rng.integers(0, 2, size=(3, 5)).astype(dtype) for dtype in DTYPES.values()]
    arrays += [np.zeros((0, 7)), np.array(3.5), np.array([np.nan, -0.0, np.inf])]
    written(tmp_path / "file", '{"a": "é\\ud800"}', arrays)
    contents = unpack(tmp_path / "file")
    assert contents.text == '{"a": "é\\ud800"}'
    for k, array in enumerate(arrays):
        found = contents.arrays[str(k)]
        assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())


def test_safetensors_opens_our_files(tmp_path):
    """The maintained library reads the same arrays from our files."""
    safetensors = pytest.importorskip("safetensors.numpy")
    arrays = [np.arange(6.0).reshape(2, 3), np.arange(5, dtype=np.int32), np.array([True, False, True])]
    written(tmp_path / "file", "{}", arrays)
    for name, found in safetensors.load_file(tmp_path / "file").items():
        assert found.dtype == arrays[int(name)].dtype
        assert np.array_equal(found, arrays[int(name)])


def test_we_accept_nothing_that_safetensors_refuses(tmp_path, sealed):
    """Of headers edited at random and sealed again, those we accept the maintained library accepts too."""
    safetensors = pytest.importorskip("safetensors")
    raw = written(tmp_path / "file", "{}", [np.arange(6.0).reshape(2, 3), np.arange(5, dtype=np.int32)])
    length, chance, accepted = int.from_bytes(raw[:8], "little"), random.Random(0), 0  # noqa: S311  (no secrets)
    header, data = raw[8 : 8 + length].rstrip(), raw[8 + length :]
    at = header.index(b'"sha256":"') + 10
    header = header[:at] + b"0" * 64 + header[at + 64 :]
    for _ in range(2000):
        mutant = bytearray(header)
        mutant[chance.randrange(len(mutant))] = chance.choice(b'0123456789,:"[]{} FI')
        (tmp_path / "mutant").write_bytes(sealed(bytes(mutant), data))
        try:
            unpack(tmp_path / "mutant")
        except ModelFileError:
            continue
        accepted += 1
        safetensors.deserialize((tmp_path / "mutant").read_bytes())
    assert accepted


def test_a_file_that_shrinks_while_it_is_read_is_refused(tmp_path, monkeypatch):
    """A size that does not hold while reading is told, not filled with whatever was in memory."""
    from halfspace.modelfiles import container

    raw = written(tmp_path / "file", "{}", [np.arange(6.0)])
    real = container.os.fstat

    class Longer:
        def __init__(self, handle):
            self.st_mode, self.st_size = real(handle).st_mode, len(raw) + 8

    monkeypatch.setattr(container.os, "fstat", Longer)
    with pytest.raises(ModelFileError, match="changed while it was read"):
        unpack(tmp_path / "file")
