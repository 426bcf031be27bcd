"""Claims about the service and the milter, asked over real sockets in this process."""

import asyncio
import struct

import pytest

from halfspace.errors import InputError
from halfspace.mail.client import address_of, ask
from halfspace.mail.header import value_of
from halfspace.mail.milter import milter
from halfspace.mail.serving import _bound, _guarded, conversation


class Fake:
    """A filter that knows one word."""

    def __init__(self):
        self.seen = []

    def score(self, message, *, header=False, ham_loss=None):
        assert (ham_loss, header) in {(0.01, True), (None, True), (None, False)}
        self.seen.append(message)
        if b"crash" in message:
            raise ZeroDivisionError
        return value_of("spam" if b"offer" in message else "ham", 1.0, "0" * 24)

    def learn(self, message, *, spam):
        return f"learnt {len(message)} bytes as {'spam' if spam else 'ham'}"

    def undo(self, message):
        msg = f"{len(message)} bytes: it was never learnt"
        raise ValueError(msg)

    def status(self):
        return {"n_ham": 3}


def served(handler, path, *calls):
    """Serve on a Unix socket and make blocking calls from a thread, one after another."""

    async def run():
        async with await asyncio.start_unix_server(_guarded(handler), path):
            return [await asyncio.to_thread(call) for call in calls]

    return asyncio.run(run())


def test_requests_are_answered(tmp_path):
    """Score, learn and status answer; a refusal and a crash come back as errors, and the next request is answered."""
    address = address_of(str(tmp_path / "s"))

    def refused(message):
        with pytest.raises(ValueError, match=r"never learnt|ZeroDivisionError|no answer|expected score") as error:
            ask(address, *message)
        return str(error.value)

    answers = served(
        conversation(Fake()),
        address.path,
        lambda: ask(address, "score header 0.01", b"an offer"),
        lambda: ask(address, "learn ham", b"x" * 100_000),
        lambda: refused(("undo", b"x")),
        lambda: refused(("score", b"crash")),
        lambda: refused(("dance", b"")),
        lambda: ask(address, "status"),
    )
    assert answers[0] == f"spam score=1.0000 id={'0' * 24}"
    assert answers[1] == "learnt 100000 bytes as ham"
    assert answers[2] == "1 bytes: it was never learnt"
    assert answers[5] == '{"n_ham": 3}'


def test_nobody_else_is_served():
    """Addresses that other machines can reach are refused."""
    for text in ("0.0.0.0:1", "example.org:25", "127.0.0.1:x", ":99999"):
        with pytest.raises(ValueError, match="loopback"):
            address_of(text)


def packet(letter, data=b""):
    return struct.pack("!I", len(data) + 1) + letter + data


def told(*packets, steps=0x1FFFFF):
    """Tell a milter a session; return its answers as pairs of letter and data, and what it scored."""
    service = Fake()

    async def run():
        async with await asyncio.start_server(_guarded(milter(service)), "127.0.0.1", 0) as server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(packet(b"O", struct.pack("!III", 6, 0x1FF, steps)) + b"".join(packets))
            writer.write_eof()
            data = await reader.read()
            writer.close()
            await writer.wait_closed()
            return data

    data, answers = asyncio.run(run()), []
    while data:
        (size,) = struct.unpack("!I", data[:4])
        answers.append((data[4:5], data[5 : 4 + size]))
        data = data[4 + size :]
    return answers, service.seen


SESSION = (
    packet(b"C", b"mail.example.org\x004\x00\x19198.51.100.7\0"),
    packet(b"H", b"helo.example.org\0"),
    packet(b"D", b"Mi\0a\0"),
    packet(b"M", b"<a@example.org>\0"),
    packet(b"L", b"Subject\0 an offer\0"),
    packet(b"L", b"X-Halfspace\0 ham\0"),
    packet(b"L", b"x-halfspace\0 ham\0"),
    packet(b"N"),
    packet(b"B", b"text"),
)


@pytest.mark.parametrize(("steps", "silent"), [(0x1FFFFF, True), (0, False)])
def test_the_milter_takes_forged_fields_out_and_puts_ours_first(steps, silent):
    """At the end of a message both forged fields go, the last first, and ours comes first of all, for old servers and new."""
    answers, seen = told(*SESSION, packet(b"E"), packet(b"Q"), steps=steps)
    assert answers[0][0] == b"O"
    assert struct.unpack("!III", answers[0][1])[2] & ~steps == 0
    rest = answers[1:] if silent else answers[9:]
    assert [letter for letter, _ in answers[1 : -len(rest)]] == ([] if silent else [b"c"] * 8)
    space = b" " if silent else b""
    assert rest == [
        (b"m", b"\0\0\0\2X-Halfspace\0\0"),
        (b"m", b"\0\0\0\1X-Halfspace\0\0"),
        (b"i", b"\0\0\0\0X-Halfspace\0" + space + b"spam score=1.0000 id=" + b"0" * 24 + b"\0"),
        (b"c", b""),
    ]
    assert seen[0].startswith(
        b"Return-Path: <a@example.org>\nReceived: from helo.example.org (mail.example.org [198.51.100.7]) "
    )
    assert seen[0].endswith(b"Subject: an offer\n\ntext")


def test_the_milter_lets_mail_through_when_scoring_fails():
    """A message that cannot be scored goes on with forged fields removed and without ours; so does the next one with ours."""
    second = (packet(b"M", b"<>\0"), packet(b"L", b"Subject\0 hello\0"), packet(b"E", b"late"), packet(b"Q"))
    answers, seen = told(*SESSION, packet(b"B", b"crash"), packet(b"E"), *second)
    assert [letter for letter, _ in answers[1:]] == [b"m", b"m", b"c", b"i", b"c"]
    assert seen[1].endswith(b"Subject: hello\n\nlate")


def test_the_milter_ends_on_nonsense():
    """A packet of a size that no server sends ends the connection."""
    assert told(struct.pack("!I", 1 << 31))[0][1:] == []


def test_a_file_is_not_taken_for_an_old_socket(tmp_path):
    """A service does not listen where a file is, and does not remove it."""
    path = tmp_path / "precious"
    path.write_text("x")
    with pytest.raises(InputError, match="is no socket"), _bound(path):
        pass
    assert path.read_text() == "x"
