"""Claims about real mail servers: the configuration files of docs/mail.md, run on loopback by an unprivileged user."""

import contextlib
import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "mail.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`/srv/mail/([^`]+)`[^`]*?:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))
PATIENCE = 20.0


def program(name):
    """Return the path of a mail server's program, which is often not on the path of users."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def interpreter(user):
    """Return a Python that the user of the mail may run: deliveries need the standard library only."""
    for python in (sys.executable, "/usr/bin/python3"):
        code = "import sys; sys.path.insert(0, sys.argv[1]); import halfspace.mail.one_shot"
        with contextlib.suppress(OSError):
            ran = subprocess.run([python, "-c", code, ROOT / "src"], check=False, capture_output=True, **as_user(user))
            if ran.returncode == 0:
                return python
    return pytest.skip(f"no Python 3.11 that the user {user} may run")


def as_user(user):
    """Return what makes a new process one of the user; nothing if that is who runs the tests."""
    if os.getuid() != 0:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def until(condition, what):
    """Return the first true value of a condition; fail after some seconds."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        with contextlib.suppress(OSError):
            if value := condition():
                return value
        time.sleep(0.02)
    return pytest.fail(f"waited {PATIENCE:.0f} s for {what}")


def listening(port):
    """Wait until somebody listens."""
    until(lambda: not socket.create_connection(("127.0.0.1", port), 1).close() or True, f"port {port}")


def free_ports(count):
    """Return ports that nobody uses."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Place:
    """A directory with the page's files, their paths, ports and user replaced, and the processes started there."""

    def __init__(self, folder):
        self.folder = folder
        self.user = pwd.getpwuid(os.getuid()).pw_name if os.getuid() else "nobody"
        group = pwd.getpwnam(self.user).pw_gid
        named = ("1143", "2424", "2525", "7830", "8891")
        self.ports = dict(zip(named, free_ports(len(named)), strict=True))
        run = f"{interpreter(self.user)} -m halfspace"
        for name, text in FILES.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = text.replace("/srv/mail", str(folder)).replace("gid=vmail", f"gid={group}")
            text = text.replace("group = vmail", f"group = {(os.getgid() and group) or 'nogroup'}").replace("vmail", self.user)
            text = re.sub(r"\b(1143|2424|2525|7830|8891)\b", lambda found: str(self.ports[found[0]]), text)
            path.write_text(text.replace("exec halfspace", f"PYTHONPATH={ROOT / 'src'} exec {run}"))
            if name.startswith("bin/"):
                path.chmod(0o755)
        for path in [folder, *folder.rglob("*")]:
            if os.getuid() == 0:
                shutil.chown(path, self.user, group)

    def port(self, number):
        return self.ports[str(number)]

    def log(self, name):
        with contextlib.suppress(FileNotFoundError):
            return (self.folder / name).read_text()
        return ""
