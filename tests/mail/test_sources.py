"""Claims about where messages are read from."""

import mailbox
from email.message import EmailMessage

import pytest

from halfspace.errors import InputError
from halfspace.mail.sources import indexed, messages


def written(number, text="From the start\n"):
    message = EmailMessage()
    message["Subject"] = str(number)
    message.set_content(text)
    return message


def test_a_box_of_the_standard_library_is_read_as_it_was_written(tmp_path):
    """What `mailbox` writes as mbox or maildir comes back message by message, quoted lines unquoted."""
    box, folder = mailbox.mbox(tmp_path / "box"), mailbox.Maildir(tmp_path / "folder")
    for number in range(3):
        box.add(written(number))
        folder.add(written(number))
    box.close()
    folder.close()
    expected = sorted(bytes(written(number)) for number in range(3))
    assert [message for _, message in messages(tmp_path / "box")] == expected
    assert sorted(message for _, message in messages(tmp_path / "folder")) == expected
    assert [name[-6:] for name, _ in messages(tmp_path / "box")] == ["/box#1", "/box#2", "/box#3"]


def test_a_folder_is_read_by_name_and_a_file_alone(tmp_path):
    """All files below a folder are messages, in the order of their paths; so is a file that is no mbox; hidden ones are not."""
    for name in ("b", "a/2", "a/10", ".hidden"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    assert [message for _, message in messages(tmp_path)] == [b"a/10", b"a/2", b"b"]
    assert [message for _, message in messages(tmp_path / "b")] == [b"b"]
    with pytest.raises(InputError, match="there is no file or folder"):
        next(messages(tmp_path / "absent"))


def test_boxes_in_a_folder_are_read_message_by_message(tmp_path):
    """A folder of mbox files gives every message; `From ` in a text parts none if no date follows."""
    dated = b"From a@b Mon Jan  1 00:00:00 2001\n"
    (tmp_path / "box").write_bytes(dated + b"Subject: 1\n\nhello\n\nFrom the desk of me\n\n" + dated + b"Subject: 2\n\n")
    (tmp_path / "file").write_bytes(b"Subject: 3\n\n")
    found = [message for _, message in messages(tmp_path)]
    assert found == [b"Subject: 1\n\nhello\n\nFrom the desk of me\n", b"Subject: 2\n\n", b"Subject: 3\n\n"]


def test_an_index_is_read_in_both_forms(tmp_path):
    """TREC's lines and a CSV file with path and label give the same; odd ones are refused with the line's number."""
    (tmp_path / "one mail").write_bytes(b"x")
    (tmp_path / "two").write_bytes(b"x")
    (tmp_path / "trec").write_text("spam one mail\n\nHam two\n")
    (tmp_path / "csv").write_text("label,path\nspam,one mail\nham,two\n")
    assert indexed(tmp_path / "trec") == indexed(tmp_path / "csv")
    assert [line.spam for line in indexed(tmp_path / "trec")] == [True, False]
    (tmp_path / "odd").write_text("\ufeffspam\tone mail\nham two\n", encoding="utf-8")
    (tmp_path / "spaced").write_text("label , path\nspam, one mail\nham, two\n")
    assert indexed(tmp_path / "trec") == indexed(tmp_path / "odd") == indexed(tmp_path / "spaced")
    for text, reason in (
        ("spam two\nsmap two\n", "line 2: expected spam or ham before the path, got 'smap'"),
        ("spam three\n", "1 of its 1 paths are no files"),
        ("", "has no messages"),
    ):
        (tmp_path / "bad").write_text(text)
        with pytest.raises(InputError, match=reason):
            indexed(tmp_path / "bad")
    with pytest.raises(InputError, match="No such file"):
        indexed(tmp_path / "absent")
