"""From raw messages to features: what is found, in which forms, and that both codes agree to the bit."""

import base64
import subprocess
import sys

import numpy as np
import pytest
from mail.example import message

from halfspace import mail
from halfspace.mail import compiled
from halfspace.mail.extraction import ALL, LIGHT, buffers_of
from halfspace.mail.message import as_text, read

EXAMPLE = message()


def tokens(group, raw=EXAMPLE):
    return buffers_of(raw, [group])[0][ALL.index(group)].split()


def test_both_sending_hops_and_both_verdicts_are_found():
    """The example's first hop has no name, its second hands over to the college, and SPF says softfail and pass."""
    path = tokens("path")
    assert {b"hops:9", b"0-nameless", b"over:dsl-17>bulk.example.com".replace(b"bulk.", b"")} <= set(path)
    assert b"over:example.com>example.edu" in path
    assert b"2-nameless" not in path
    assert {b"spf=softfail", b"spf=pass", b"dkim=none"} <= set(tokens("authentication"))


def test_every_group_sees_its_part_of_the_example():
    """Sender, encoding, links, date, IP numbers, subject and words of the example are tokens of their groups."""
    assert {b"sender-unlike-from", b"reply-to-unlike-from", b"name:pr\xc3\xbcfungsamt"} <= set(tokens("sender"))
    assert {b"shape:0:multipart/alternative,1:text/plain,1:text/html", b"transfer:quoted-printable"} <= set(tokens("encoding"))
    assert {b"shortener", b"number-as-host", b"text-unlike-target", b"host-unlike-sender"} <= set(tokens("links"))
    assert {b"weekday:tue", b"hour:14", b"zone:+0200", b"after-first:1"} <= set(tokens("date"))
    assert {b"0-public", b"203.0", b"1-private", b"198.51.100.77"} <= set(tokens("ip"))
    assert tokens("subject") == [b"wichtige", b"dates"]
    assert {"grüße".encode(), b"before", b"register"} <= set(tokens("words"))


def test_the_two_forms_agree_bit_for_bit():
    """Plain Python and compiled code give the same slots, for random bytes, long tokens, and any choice of groups."""
    rng = np.random.default_rng(0)
    texts = [EXAMPLE, b"", b"abc", b"a b", b"x" * 100, b"Subject: " + b"word " * 6000, b"Subject: y\n\n" + b"w%d " * 9]
    texts += [rng.integers(0, 256, size).astype(np.uint8).tobytes() for size in (3, 4, 70, 5000)]
    for text in texts:
        for groups in (ALL, ("words",), ("words", "pairs"), ("grams",), ("shape", "subject")):
            for light in (False, True):
                plain = mail.features(text, salt=b"s", groups=groups, light=light)
                assert plain.tolist() == compiled.features(text, salt=b"s", groups=groups, light=light).tolist()
                assert plain.tolist() == sorted(set(plain))
                assert len(plain) <= (LIGHT if light else 2**20)


def test_the_standard_library_is_enough_for_features_and_score():
    """Features, scoring, thresholds and words for people import neither NumPy nor Numba."""
    code = (
        "import sys, halfspace.mail as m; from halfspace.mail import scoring, promise, words, calibration; m.features(b'x');"
        " print(sorted({'numpy', 'numba', 'sklearn', 'email'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_salt_moves_every_feature():
    """With another salt the slots are others."""
    one, other = (set(mail.features(EXAMPLE, salt=salt)) for salt in (b"one", b"other"))
    assert len(one & other) < 0.02 * len(one)


def test_every_feature_has_a_name():
    """The names of a message's features are those of its slots, and no others."""
    assert sorted(mail.named_features(EXAMPLE, salt=b"s")) == mail.features(EXAMPLE, salt=b"s").tolist()


@pytest.mark.parametrize(
    "text", [b"Subject: hello there\nno empty line here\nat all", b"Subject: hello there\n\nno empty line here\nat all"]
)
def test_a_header_needs_no_empty_line(text):
    """Enron's files, whose body follows the subject at once, are read like others."""
    found = read(text)
    assert found.first(b"subject") == b"hello there"
    assert found.parts[0].body == b"no empty line here\nat all"


def test_a_text_without_header_is_all_body():
    """A bare text is its own body, also if its first line looks like a header."""
    assert read(b"note: come at ten").parts[0].body == b"note: come at ten"


def test_form_does_not_matter():
    """Line ends, an mbox's first line and our own header, forged or not, change no feature."""
    plain = mail.features(EXAMPLE.replace(b"\r\n", b"\n"))
    assert mail.features(EXAMPLE) == plain
    assert mail.features(b"From somebody Tue Jun  3 14:11:30 2014\n" + EXAMPLE) == plain
    assert mail.features(b"X-Halfspace: ham score=-9\r\n\tid=0\r\n" + EXAMPLE) == plain


def test_unknown_character_sets_are_read_as_something():
    """A character set that does not exist, or decodes in quadratic time, is not used."""
    for charset in ("x-unknown", "punycode", "hex", "utf-8", "idna", ""):
        assert as_text(b"\xe4BC", charset) == "äbc".encode()


def test_bytes_of_a_picture_do_not_drown_the_rest():
    """Two messages with different random pictures share most features, and text in base64 gives those of its bytes."""
    rng = np.random.default_rng(3)
    head = b"Subject: look\nContent-Type: image/gif\nContent-Transfer-Encoding: base64\n\n"
    one, other = (
        set(mail.features(head + base64.encodebytes(b"GIF89a" + rng.integers(0, 256, 5000).astype(np.uint8).tobytes())))
        for _ in range(2)
    )
    assert len(one & other) > 0.75 * len(one)
    plain, coded = b"meet me at noon in the usual room", base64.encodebytes(b"meet me at noon in the usual room")
    sent = head.replace(b"image/gif", b"text/plain")
    grams = set(mail.features(b"Subject: look\n\n" + plain, groups=["grams"]))
    assert len(grams & set(mail.features(sent + coded, groups=["grams"]))) > 0.8 * len(grams)
