"""The other end of `halfspace mail serve`, by the standard library: a delivery starts one of these for each message."""

import socket
from collections import namedtuple

__all__ = ["Address", "address_of", "ask"]


Address = namedtuple("Address", ("path", "host", "port"), defaults=("", "", 0))  # noqa: PYI024  (typing takes 5 ms to import)
"""A Unix socket by its path, or a host and a port."""


def address_of(text: str) -> Address:
    """Return the address that a text means: `HOST:PORT` on this machine, or the path of a Unix socket.

    Examples
    --------
    >>> address_of("127.0.0.1:7830"), address_of("/run/halfspace.socket").path
    (Address(path='', host='127.0.0.1', port=7830), '/run/halfspace.socket')
    >>> address_of("example.org:25")
    Traceback (most recent call last):
        ...
    ValueError: expected a loopback address such as 127.0.0.1:7830 or a path, got 'example.org:25'; others could read mail there
    """
    host, colon, port = text.rpartition(":")
    if not colon or "/" in text:
        return Address(path=text)
    if not (host in {"localhost", "::1", "[::1]"} or host.startswith("127.")) or not (port.isdecimal() and int(port) < 65536):
        msg = f"expected a loopback address such as 127.0.0.1:7830 or a path, got {text!r}; others could read mail there"
        raise ValueError(msg)
    return Address(host="127.0.0.1" if host == "localhost" else host.strip("[]"), port=int(port))


def ask(address: Address, request: str, message: bytes = b"", *, patience: float = 5.0) -> str:
    """Send a request (such as `score` or `learn spam`) with a message; return the answer.

    Raises
    ------
    OSError
        Nobody listens there, or the answer did not come in time.
    ValueError
        The service refused; the text says why.
    """
    command, _, rest = request.partition(" ")
    head = f"{command} {len(message)} {rest}".rstrip().encode() + b"\n"
    family = socket.AF_UNIX if address.path else socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family) as link:
        link.settimeout(patience)
        link.connect(address.path or (address.host, address.port))
        link.sendall(head + message)
        with link.makefile("rb") as answer:
            status, _, size = answer.readline(100).decode().partition(" ")
            text = answer.read(int(size or 0)).decode()
    if status != "ok":
        raise ValueError(text or "the service gave no answer; is the message larger than 50 MB?")
    return text
