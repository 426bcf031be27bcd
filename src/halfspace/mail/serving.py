"""`halfspace mail serve`: one process that keeps the filter in memory and answers on a Unix socket or on loopback.

A request is a line and a message; so is the answer:

    score 1234                 learn 1234 spam            undo 1234            status 0
    ... 1,234 bytes ...        score 1234 header 0.01: with reasons and with the promise of a ham loss

    ok 61                      error 40
    spam score=1.2500 id=...   why there is no answer, in one sentence

Requests of one connection are answered in turn; a connection may stay open. All run in one thread: scoring takes less than a
millisecond, learning some, and the state has one writer anyway.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from halfspace.errors import InputError
from halfspace.mail.client import Address

__all__ = ["LARGEST", "Handler", "Service", "conversation", "run_server"]

LARGEST = 50_000_000
"""Bytes of a message that a request may have."""
PATIENCE = 30.0
"""Seconds that a connection may be silent."""
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Service(Protocol):
    """What is served."""

    def score(self, message: bytes, *, header: bool = False, ham_loss: float | None = None) -> str:
        """Return the answer about a message, as our header field has it."""

    def learn(self, message: bytes, *, spam: bool) -> str:
        """Learn a message; return a sentence."""

    def undo(self, message: bytes) -> str:
        """Unlearn a message; return a sentence."""

    def status(self) -> dict[str, Any]:
        """Return what the filter has seen."""


def _answered(service: Service, line: str, message: bytes) -> str:
    """Return the answer to a request, or raise ValueError with the reason why there is none."""
    command, *rest = line.split()
    if command in {"score", "learn", "undo"} and not message.strip():
        raise ValueError("there is no message")
    if command == "score":
        loss = [word for word in rest[1:] if word != "header"]
        return service.score(message, header="header" in rest, ham_loss=float(loss[0]) if loss else None)
    if command == "learn" and rest[1:] in (["spam"], ["ham"]):
        return service.learn(message, spam=rest[1] == "spam")
    if command == "undo":
        return service.undo(message)
    if command == "status":
        return json.dumps(service.status())
    msg = f"expected score, learn, undo or status, got {line[:40]!r}"
    raise ValueError(msg)


def conversation(service: Service) -> Handler:
    """Return the handler of our own protocol: it answers the requests of one connection until it ends."""

    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _converse(service, reader, writer)

    return run


async def _converse(service: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer requests until there are no more."""
    while line := (await asyncio.wait_for(reader.readline(), PATIENCE)).decode("ascii", "replace").strip():
        size = next((int(word) for word in line.split()[1:2] if word.isdecimal()), -1)
        if not 0 <= size <= LARGEST:
            why = b"expected a word and the number of bytes that follow, such as: score 1234"
            writer.write(b"error %d\n%s" % (len(why), why))
            break
        message = await asyncio.wait_for(reader.readexactly(size), PATIENCE)
        try:
            head, body = "ok", _answered(service, line, message)
        except (ValueError, OSError) as error:
            head, body = "error", str(error)
        except Exception as error:  # noqa: BLE001  (one message that cannot be answered must not end the service)
            head, body = "error", f"unexpected {type(error).__name__}: {error}"
        data = body.encode("utf-8", "replace")
        writer.write(f"{head} {len(data)}\n".encode() + data)
        await writer.drain()


async def _listen(handlers: dict[Address, Handler], ready: Callable[[], None]) -> None:
    """Listen on the addresses until a signal ends it."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with contextlib.AsyncExitStack() as stack:
        for address, handler in handlers.items():
            guarded = _guarded(handler)
            if address.path:
                server = await asyncio.start_unix_server(guarded, sock=stack.enter_context(_bound(Path(address.path))))
            else:
                server = await asyncio.start_server(guarded, address.host, address.port)
            await stack.enter_async_context(server)
        ready()
        await stop.wait()


@contextlib.contextmanager
def _bound(path: Path) -> Iterator[socket.socket]:
    """Open a Unix socket that only its owner may use; take away what an earlier one left, unless somebody listens there."""
    with socket.socket(socket.AF_UNIX) as link:
        if path.is_socket() and link.connect_ex(str(path)) == 0:
            msg = f"{path}: another process listens there; stop it first"
            raise InputError(msg)
    if path.exists() and not path.is_socket():
        msg = f"{path}: is there already, and is no socket; choose another path"
        raise InputError(msg)
    path.unlink(missing_ok=True)
    link, mask = socket.socket(socket.AF_UNIX), os.umask(0o177)
    try:
        link.bind(str(path))
    finally:
        os.umask(mask)
    yield link
    path.unlink(missing_ok=True)


def _guarded(handler: Handler) -> Handler:
    """Return a handler that closes its connection, and whose failures end that connection only."""

    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError, ValueError):  # TimeoutError is an OSError
            await handler(reader, writer)
        with contextlib.suppress(OSError):
            writer.close()
            await writer.wait_closed()

    return run


def run_server(handlers: dict[Address, Handler], ready: Callable[[], None] = lambda: None) -> None:
    """Serve each address by its handler until SIGTERM or SIGINT; `ready` is called when all listen."""
    asyncio.run(_listen(handlers, ready))
