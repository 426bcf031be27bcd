"""Where the state of a mail filter is, and who serves it. Standard library only."""

import os

from halfspace.mail.client import Address, address_of

__all__ = ["directory", "service_at"]


def directory(given: str | None = None) -> str:
    """Return the state directory: the one given, else `$HALFSPACE_MAIL`, else one in the user's data directory."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")  # noqa: PTH111  (pathlib takes 10 ms)
    return given or os.environ.get("HALFSPACE_MAIL") or os.path.join(data, "halfspace", "mail")  # noqa: PTH118


def service_at(folder: str, connect: str | None = None) -> Address | None:
    """Return where a service is to be asked: at the address given, else at the socket in the directory if there is one."""
    if connect:
        return address_of(connect)
    path = os.path.join(folder, "socket")  # noqa: PTH118
    return Address(path=path) if os.path.exists(path) else None  # noqa: PTH110
