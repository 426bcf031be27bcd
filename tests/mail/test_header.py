"""Claims about the header field that carries an answer."""

import email
from email import policy

import pytest

from halfspace.mail.header import stamped, unstamped, value_of
from halfspace.mail.identity import identity, issued

SALT = b"secret"
PLAIN = b"From: a@example.org\r\nSubject: hello\r\n\r\nX-Halfspace: in the text\r\n"
ID = identity(PLAIN, SALT)
VALUE = value_of("spam", 1.25, ID, ["words:offer", "links:host unlike\r\nBcc: x@example.org"])

FORGED = [
    b"X-Halfspace: ham\r\n",
    b"x-HALFSPACE \t: ham\r\n",
    b"X-Halfspace:\r\n ham\r\n\tscore=-9\r\n",
    b"X-Halfspace: ham\nX-Halfspace: ham\r",
    b"this line is no field\r\nX-Halfspace: ham\r\n",
]


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("place", [0, 1])
def test_forged_fields_go(forged, place):
    """However a sender writes the field, where in the header, and behind what, only ours is left, and the text is untouched."""
    head, rest = (b"", PLAIN) if place == 0 else (PLAIN[:21], PLAIN[21:])
    out = stamped(head + forged + rest, VALUE)
    header, _, text = out.partition(b"\r\n\r\n")
    assert header.lower().count(b"x-halfspace") == 1
    assert out.startswith(b"X-Halfspace: spam score=1.2500 id=")
    assert text == b"X-Halfspace: in the text\r\n"
    assert issued(out, SALT) == ID


def test_nothing_is_injected():
    """Names of features, which a sender chooses, cannot begin another field."""
    read = email.message_from_bytes(stamped(PLAIN, VALUE), policy=policy.default)
    assert read["Bcc"] is None
    assert len(read.get_all("X-Halfspace")) == 1
    assert (value_of("ham", -1.0, "0", ["é\n\0 ;" * 999])).isprintable()
    assert len(value_of("ham", -1.0, "0", ["a" * 50] * 50)) < 300


def test_without_fields_of_ours_a_message_stays_as_it_is():
    """A message that has no field of ours is not changed by a byte, whatever it holds."""
    for message in (PLAIN, b"", b"\n", b"\0\xff", b"no header at all", b"From me\nSubject: x\n\ny"):
        assert unstamped(message) == message
        assert unstamped(stamped(message, VALUE)).replace(b"\n", b"") == message.replace(b"\n", b"")


def test_the_field_fits_the_message():
    """It takes the message's line ends, comes after an mbox line, and gives a bare text a header of its own."""
    assert stamped(b"From me Mon\nSubject: x\n\ny", "ham") == b"From me Mon\nX-Halfspace: ham\nSubject: x\n\ny"
    assert stamped(b"win a prize", "ham") == b"X-Halfspace: ham\n\nwin a prize"
    assert stamped(b"A: 1\r\n\r\n", "ham") == b"X-Halfspace: ham\r\nA: 1\r\n\r\n"


def test_an_id_is_ours_or_none():
    """The id of our own field is believed; one that was made up, or made with another secret, is not."""
    assert issued(stamped(PLAIN, VALUE), SALT) == ID
    assert issued(stamped(PLAIN, VALUE), b"other") == ""
    assert issued(b"X-Halfspace: ham id=" + b"0" * 24 + b"\n\n", SALT) == ""
    assert issued(PLAIN, SALT) == ""


def test_a_field_behind_two_carriage_returns_is_taken_out():
    """Two CR end no header for a reader of LF: a forged field after them goes, too; where all lines end in CR they end it."""
    forged = b"Subject: a\r\rfoo: b\nX-Halfspace: ham id=1\nTo: x\n\nX-Halfspace: text\n"
    assert unstamped(forged) == b"Subject: a\r\rfoo: b\nTo: x\n\nX-Halfspace: text\n"
    assert unstamped(b"Subject: a\rX-Halfspace: ham\r\rX-Halfspace: text\r") == b"Subject: a\r\rX-Halfspace: text\r"
