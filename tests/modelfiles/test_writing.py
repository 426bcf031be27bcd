"""Whatever happens while a model is saved, the file that was there is whole."""

import os
import resource
import signal
import subprocess
import sys

import pytest

import halfspace as hs
from halfspace.errors import ModelFileError
from halfspace.modelfiles import writing
from halfspace.modelfiles.writing import write_whole

KILLED = """
import os, random, signal, sys, time
import numpy as np
from halfspace.modelfiles.container import read, write

def save(k):
    write(sys.argv[1], "{}", [np.full((100_000, 300_000)[k % 2], float(k))])

save(0)
chance, seen = random.Random(0), set()
for kills in range(500):
    if kills >= 25 and len(seen) > 5:  # on a busy machine few saves end in time
        break
    child = os.fork()
    if child == 0:
        k = int(time.time() * 1e6)
        while True:
            k += 1
            save(k)
    time.sleep(chance.uniform(0.0, 0.06))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    array = read(sys.argv[1]).arrays["0"]
    assert (array == array[0]).all()
    seen.add(float(array[0]))
assert len(seen) > 5, seen
"""


@pytest.mark.compiled
def test_killing_a_save_leaves_a_whole_file(tmp_path):
    """kill -9 at any moment of a save leaves the last file or the one before, complete and with a correct checksum."""
    run = [sys.executable, "-c", KILLED, str(tmp_path / "model.halfspace")]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_full_disk_leaves_the_old_file_and_no_rest(fitted, tmp_path):
    """When there is no room, the error is one sentence, the old file is whole and the temporary one is gone."""
    (model, X, _), larger = fitted("adatron"), fitted("committee")[0]
    path = tmp_path / "model.halfspace"
    hs.save(model, path)
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        with pytest.raises(ModelFileError, match=r"could not be written: .*unchanged") as caught:
            hs.save(larger, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    assert hs.load(path).predict(X).shape == (X.shape[0],)


@pytest.mark.parametrize("step", ["fsync", "fchmod"])
def test_any_failing_step_leaves_the_old_file(step, monkeypatch, tmp_path):
    """An error of the operating system at any step is told, and changes nothing."""
    path = tmp_path / "model.halfspace"
    path.write_bytes(b"old")

    def fails(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.os, step, fails)
    with pytest.raises(ModelFileError, match="No space left on device"):
        write_whole(path, [b"new"])
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_leaves_the_old_file(tmp_path):
    """Ctrl-C in the middle of a save is passed on, and leaves no temporary file."""
    path = tmp_path / "model.halfspace"
    path.write_bytes(b"old")

    def pieces():
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, pieces())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(fitted, tmp_path):
    """Saving into a missing folder says which."""
    with pytest.raises(ModelFileError, match="nowhere"):
        hs.save(fitted("adatron")[0], tmp_path / "nowhere" / "model.halfspace")


def test_permissions_and_links_are_kept(tmp_path):
    """The new file has the permissions of the old one, and a link still points at it."""
    target, link = tmp_path / "model", tmp_path / "latest"
    write_whole(target, [b"1"])
    assert target.stat().st_mode & 0o777 == 0o666 & ~_mask()
    target.chmod(0o640)
    link.symlink_to(target)
    write_whole(link, [b"2"])
    assert link.is_symlink()
    assert target.read_bytes() == b"2"
    assert target.stat().st_mode & 0o777 == 0o640


def _mask():
    """Return the permissions that new files do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_folders_and_devices_are_not_replaced(tmp_path):
    """What is no file stays what it is."""
    for place in (tmp_path, "/dev/full"):
        with pytest.raises(ModelFileError, match="folder or a device"):
            write_whole(place, [b"x"])
