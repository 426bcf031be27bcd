"""Claims about the files that the command writes."""

from pathlib import Path

import click
import pytest

from halfspace.cli.outputs import check_outputs, complete_file


def test_a_failed_write_leaves_the_old_file(tmp_path):
    """If writing fails, what was there is there, and nothing else."""
    path = tmp_path / "out.csv"
    path.write_text("old")

    def fail():
        with complete_file(str(path)) as file:
            file.write(b"new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_are_the_usual_ones(tmp_path):
    """A new file has the permissions of the umask, a replaced one keeps its own."""
    plain, secret = tmp_path / "plain", tmp_path / "secret"
    plain.write_text("")
    secret.write_text("")
    secret.chmod(0o600)
    for path in (tmp_path / "new", secret):
        with complete_file(str(path)) as file:
            file.write(b"x")
    assert (tmp_path / "new").stat().st_mode == plain.stat().st_mode
    assert secret.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_devices_are_written_not_replaced():
    """A device stays a device."""

    def fill():
        with complete_file("/dev/full") as file:
            file.write(b"x")

    with pytest.raises(OSError, match="No space left"):
        fill()
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize(
    ("name", "word"),
    [("in.csv", "overwrite"), ("link.csv", "overwrite"), ("none/out.csv", "no folder"), (".", "folder")],
    ids=["input", "link to the input", "no folder", "a folder"],
)
def test_outputs_are_checked_before_the_work(tmp_path, name, word):
    """Inputs are never overwritten, also through links, and what cannot be written is refused at once."""
    (tmp_path / "in.csv").write_text("a")
    (tmp_path / "link.csv").symlink_to(tmp_path / "in.csv")
    with pytest.raises(click.UsageError, match=word):
        check_outputs([str(tmp_path / "in.csv")], {"--out": str(tmp_path / name)})


def test_two_outputs_cannot_share_a_name():
    """Model and report need two files."""
    with pytest.raises(click.UsageError, match="overwrite"):
        check_outputs([None, "-"], {"--save": "m", "--report": "./m"})
