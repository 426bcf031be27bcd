"""`halfspace mail milter`: the filter as a milter (protocol version 6), as postfix and sendmail ask it over a socket.

A packet is a length of four bytes, a letter, and data. The server tells a message in pieces (L: a header field, B: a piece of
the body) and asks at its end (E); we answer with changes: m takes out forged fields, i puts ours in first, c goes on. Whatever
goes wrong, the message is let through unchanged: a filter that fails must not lose mail.

The server has not written its own fields yet, so they are written here as it will, for the features: Return-Path, Received.
"""

import asyncio
import struct
from typing import Any

from halfspace.mail.header import NAME
from halfspace.mail.serving import LARGEST, Handler, Service

__all__ = ["milter"]

VERSION = 6
ADD_FIELDS, CHANGE_FIELDS = 0x01, 0x10
NO_RECIPIENT, NO_UNKNOWN, NO_DATA, LEADING_SPACE = 0x08, 0x100, 0x200, 0x100000
SILENT = {"H": 0x2000, "M": 0x4000, "C": 0x1000, "L": 0x80, "N": 0x40000, "B": 0x80000}
"""Which packets need no answer, if the server agrees."""


class _Mail:
    """One message as it is told."""

    def __init__(self) -> None:
        self.host = self.address = self.greeting = b""
        self.clear()

    def clear(self) -> None:
        """Forget the message, not the connection."""
        self.sender, self.fields, self.body, self.forged, self.size = b"", [], [], 0, 0  # type: ignore[var-annotated]

    def told(self, letter: str, data: bytes) -> None:
        """Take in one packet."""
        words = data.split(b"\0")
        if letter == "C":
            self.host, _, rest = data.partition(b"\0")
            self.address = rest[3:].rstrip(b"\0") if rest[:1] in (b"4", b"6") else b""  # family, port, address
        elif letter == "H":
            self.greeting = words[0]
        elif letter == "M":
            self.clear()
            self.sender = words[0]
        elif letter == "L" and len(words) > 1:
            if words[0].strip().lower() == NAME.lower().encode():
                self.forged += 1
            else:
                value = words[1] if words[1][:1] in b" \t" else b" " + words[1]
                self.fields.append(words[0] + b":" + value.replace(b"\r\n", b"\n") + b"\n")
        elif letter == "B" and self.size < LARGEST:
            self.body.append(data)
            self.size += len(data)

    def message(self) -> bytes:
        """Return the message as it will be delivered, without our field."""
        came = b"from %b (%b [%b]) by localhost" % (self.greeting, self.host, self.address)
        own = [b"Return-Path: %b\n" % self.sender, b"Received: %b\n" % came]
        return b"".join([*own, *self.fields, b"\n", *self.body])


def milter(service: Service) -> Handler:
    """Return the handler that answers a mail server about the messages it is about to take."""

    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        mail, silent, space = _Mail(), set[str](), b""
        while (packet := await _packet(reader)) and packet[0] != "Q":
            letter, data = packet
            if letter == "O":
                answer, silent, space = _agreed(data)
                _send(writer, "O", answer)
            elif letter == "E":
                mail.told("B", data)
                _change(writer, service, mail, space)
                mail.clear()
                _send(writer, "c")
            elif letter == "A":
                mail.clear()
            elif letter == "K":
                mail = _Mail()
            elif letter != "D":
                mail.told(letter, data)
                if letter not in silent:
                    _send(writer, "c")
            await writer.drain()

    return run


async def _packet(reader: asyncio.StreamReader) -> tuple[str, bytes] | None:
    """Return the letter and the data of the next packet; None if its size is one that no server sends."""
    (size,) = struct.unpack("!I", await reader.readexactly(4))
    if not 0 < size <= LARGEST:
        return None
    packet = await reader.readexactly(size)
    return chr(packet[0]), packet[1:]


def _agreed(data: bytes) -> tuple[bytes, set[str], bytes]:
    """Return our side of the negotiation, the packets that we will not answer, and what stands between name and value."""
    version, actions, steps = struct.unpack("!III", data[:12])
    wanted = NO_RECIPIENT | NO_UNKNOWN | NO_DATA | LEADING_SPACE
    for bit in SILENT.values():
        wanted |= bit
    answer = struct.pack("!III", min(version, VERSION), actions & (ADD_FIELDS | CHANGE_FIELDS), steps & wanted)
    return answer, {letter for letter, bit in SILENT.items() if steps & bit}, b" " if steps & LEADING_SPACE else b""


def _send(writer: Any, letter: str, data: bytes = b"") -> None:
    """Write one packet."""
    writer.write(struct.pack("!I", len(data) + 1) + letter.encode() + data)


def _change(writer: Any, service: Service, mail: _Mail, space: bytes) -> None:
    """Ask for the changes to a message; for none but the removal of forged fields if it cannot be scored."""
    name = NAME.encode() + b"\0"
    for place in range(mail.forged, 0, -1):
        _send(writer, "m", struct.pack("!I", place) + name + b"\0")
    try:
        value = service.score(mail.message(), header=True)
    except Exception:  # noqa: BLE001  (mail goes through, whatever happens here)
        return
    _send(writer, "i", struct.pack("!I", 0) + name + space + value.encode() + b"\0")
