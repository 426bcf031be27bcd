"""The other end of `halfspace mail serve`, by the standard library: a delivery starts one of these for each message."""

import _socket as socket  # what is in `socket` beyond it takes 10 ms to import

__all__ = ["Address", "address_of", "ask"]


class Address(tuple[str, str, int]):
    """A Unix socket by its path, or a host and a port; no NamedTuple, for `typing` takes 5 ms to import."""

    __slots__ = ()

    def __new__(cls, path: str = "", host: str = "", port: int = 0) -> "Address":  # noqa: PYI034  (typing again)
        """Put the three together."""
        return tuple.__new__(cls, (path, host, port))

    @property
    def path(self) -> str:
        """The path, empty if it is a host and a port."""
        return self[0]

    @property
    def host(self) -> str:
        """The host."""
        return self[1]

    @property
    def port(self) -> int:
        """The port."""
        return self[2]


def address_of(text: str) -> Address:
    """Return the address that a text means: `HOST:PORT` on this machine, or the path of a Unix socket.

    Examples
    --------
    >>> address_of("127.0.0.1:7830"), address_of("/run/halfspace.socket").path
    (('', '127.0.0.1', 7830), '/run/halfspace.socket')
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
    link = socket.socket(family, socket.SOCK_STREAM)
    try:
        link.settimeout(patience)
        link.connect(address.path or (address.host, address.port))
        link.sendall(head + message)
        answer = b""
        while b"\n" not in answer or len(answer.partition(b"\n")[2]) < _size(answer):
            more = link.recv(65536)
            if not more:
                break
            answer += more
    finally:
        link.close()
    line, _, text = answer.partition(b"\n")
    if not line.startswith(b"ok "):
        raise ValueError(text.decode() or "the service gave no answer; is the message larger than 50 MB?")
    return text.decode()


def _size(answer: bytes) -> int:
    """Return how many bytes follow the line of an answer."""
    return int(answer.partition(b"\n")[0].split()[1])
