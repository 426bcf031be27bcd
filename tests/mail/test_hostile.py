"""Hostile messages: no exception, bounded time and memory."""

import base64
import gzip
import os
import random
import time
import tracemalloc

import pytest
from mail.example import message

from halfspace import mail
from halfspace.mail.extraction import buffers_of

MUTANTS = int(os.environ.get("HALFSPACE_MAIL_MUTANTS", "4000"))
"""In the normal run; `make fuzz` asks for 50,000."""


def nested(depth):
    heads = b"".join(b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (k, k) for k in range(depth))
    return b"Subject: deep\n" + heads + b"\n\nend"


def html(page):
    return b"Subject: page\nContent-Type: text/html\n\n" + page


def encoded(body, kind=b"application/zip"):
    return b"Subject: x\nContent-Type: " + kind + b"\nContent-Transfer-Encoding: base64\n\n" + base64.encodebytes(body)


BOMBS = {
    "3,000 nested multiparts": nested(3_000),
    "30,000 nested multiparts": nested(30_000),
    "one boundary, 50,000 parts": b'Content-Type: multipart/mixed; boundary="b"\nSubject: x\n\n' + b"--b\n\nx\n" * 50_000,
    "a boundary that is everywhere": b'Subject: x\nContent-Type: multipart/mixed; boundary="-"\n\n' + b"\n---" * 60_000,
    "messages in messages": b"Subject: x\n" + b"Content-Type: message/rfc822\n\n" * 9_000,
    "a header line of 1 MB": b"Subject: " + b"a" * 1_000_000 + b"\n\nbody",
    "a folded header of 1 MB": b"Subject: x\n" + b" y\n" * 350_000,
    "100,000 header lines": b"Subject: x\n" + b"A: b\n" * 100_000,
    "20,000 Received lines": b"Received: from a (b [1.2.3.4]) by c with d; x\n" * 20_000,
    "addresses without end": b"From: " + b"a@" * 120_000 + b"\n\n",
    "a date without end": b"Date: " + b"1 " * 120_000 + b"\n\n",
    "encoded words without end": b"Subject: " + b"=?utf-8?b?" * 24_000 + b"\n\n",
    "parameters without end": b"Content-Type: text/plain; " + b"charset=" * 30_000 + b"\nSubject: x\n\n",
    "comments that never end": html(b"<!--" * 50_000),
    "tags that never end": html(b"<a href=" * 30_000),
    "anchors without text": html(b"<a href=x>" * 25_000),
    "20,000 nested elements": html(b"<div>" * 20_000),
    "scripts that never end": html(b"<script>" * 30_000),
    "entities": html(b"&#x41;&amp" * 25_000),
    "links": html(b"http://a.b/" * 22_000),
    "gzip": encoded(gzip.compress(bytes(20_000_000))),
    "base64 with rubbish": b"Subject: x\nContent-Transfer-Encoding: base64\n\n" + b"=A" * 130_000,
    "NULs": bytes(1_000_000),
    "10 MB of one word": b"Subject: x\n\n" + b"w" * 10_000_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_read_in_a_second_and_200_megabytes(name):
    """Features in at most 1 s of CPU, and without the memory that the bomb asks for."""
    start = time.process_time()
    mail.features(BOMBS[name])
    assert time.process_time() - start < 1.0


def test_memory_is_bounded():
    """The worst of the bombs takes a few megabytes besides the message itself."""
    tracemalloc.start()
    for name in ("10 MB of one word", "links", "100,000 header lines", "one boundary, 50,000 parts"):
        mail.features(BOMBS[name])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6


PIECES = (
    *(
        b"\n",
        b"\n\n",
        b"\r",
        b"\0",
        b"--=_b1",
        b"--=_b1--",
        b"=_b1",
        b'"',
        b";",
        b":",
        b" ",
        b"\t",
        b"=",
        b"=?",
        b"?=",
        b"<",
        b">",
        b"<!--",
        b"&#",
    ),
    *(
        b"Content-Type: multipart/mixed; boundary==_b1\n",
        b"Content-Type: message/rfc822\n\n",
        b"Content-Transfer-Encoding: base64\n",
    ),
    *(
        b"charset=utf-16",
        b"charset=punycode",
        b"Received: from\n",
        b"Date: 99 Foo 0000 99:99 +9999\n",
        b"From: @\n",
        b"\xff\xfe",
        b"[999.1.1.1]",
    ),
    *(
        b"Received: by\n",
        b"Received-SPF:\n",
        b"href=//:@:/",
        b"http://@:",
        b"From ",
        b"Date: 1 Jan 1 1:11 +0\n",
        b"\xed\xa0\x80",
    ),
)


def mutant(seed):
    """Cut, repeat, insert and exchange lines and pieces of the example."""
    rng, lines = random.Random(seed), message().split(b"\n")  # noqa: S311  (no secrets)
    for _ in range(rng.randrange(1, 6)):
        k = rng.randrange(len(lines))
        how = rng.randrange(5)
        if how == 0:
            del lines[k : k + rng.randrange(1, 4)]
            lines = lines or [b""]
        elif how == 1:
            lines[k:k] = lines[rng.randrange(len(lines)) :][: rng.randrange(1, 9)]
        elif how == 2:
            place = rng.randrange(len(lines[k]) + 1)
            lines[k] = lines[k][:place] + rng.choice(PIECES) + lines[k][place + rng.randrange(3) :]
        elif how == 3:
            lines[k] = lines[k][: rng.randrange(len(lines[k]) + 1)]
        else:
            j = rng.randrange(len(lines))
            lines[k], lines[j] = lines[j], lines[k]
    return b"\n".join(lines)


def test_mutants_of_the_example_give_features():
    """Structure-aware mutants never raise, and all have features."""
    for seed in range(MUTANTS):
        buffers, _, start = buffers_of(mutant(seed))
        assert any(buffers) or not start
