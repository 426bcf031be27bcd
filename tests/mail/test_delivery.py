"""Claims about real mail servers: the configuration files of docs/mail.md, run on loopback by an unprivileged user."""

import contextlib
import grp
import imaplib
import json
import os
import pwd
import re
import shutil
import smtplib
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from halfspace.mail.client import address_of, ask

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "mail.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`/srv/mail/([^`]+)`[^`]*?:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))
PATIENCE = 100.0


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
        self.folder, self.processes = folder, []
        self.user = pwd.getpwuid(os.getuid()).pw_name if os.getuid() else "nobody"
        group = grp.getgrgid(pwd.getpwnam(self.user).pw_gid).gr_name
        named = ("1143", "2424", "2525", "7830", "8891")
        self.ports = dict(zip(named, free_ports(len(named)), strict=True))
        exchanged = {
            "/srv/mail": str(folder),
            "group = vmail": f"group = {group}",
            "gid=vmail": f"gid={group}",
            "vmail": self.user,
            "exec halfspace": f"PYTHONPATH={ROOT / 'src'} exec {interpreter(self.user)} -m halfspace",
            **{number: str(port) for number, port in self.ports.items()},
        }
        pattern = re.compile("|".join(map(re.escape, exchanged)))
        for name, text in FILES.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(pattern.sub(lambda found: exchanged[found[0]], text))
            if name.startswith("bin/"):
                path.chmod(0o755)
        if os.getuid() == 0:
            for path in [folder, *folder.rglob("*")]:
                shutil.chown(path, self.user, group)

    def start(self, *command, port):
        """Start `halfspace mail ...` as whoever runs the tests; wait until it listens."""
        state = self.folder.with_name(self.folder.name + "-state")
        command = [sys.executable, "-m", "halfspace", "mail", *command, "--listen", f"127.0.0.1:{self.ports[port]}"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "HALFSPACE_MAIL": str(state)}
        self.processes.append(subprocess.Popen(command, env=environment))
        listening(self.ports[port])

    def stop(self):
        """End what was started."""
        for process in self.processes:
            process.terminate()
            process.wait(PATIENCE)

    def ask(self, request, message=b""):
        """Ask the service."""
        return ask(address_of(f"127.0.0.1:{self.ports['7830']}"), request, message, patience=60.0)

    @contextlib.contextmanager
    def mailbox(self):
        """Log in by IMAP."""
        with imaplib.IMAP4("127.0.0.1", self.ports["1143"]) as box:
            box.login("me", "secret")
            yield box

    def found(self, folder, subject):
        """Return the messages in a folder that have a subject."""
        with self.mailbox() as box:
            box.select(folder)
            numbers = box.search(None, "SUBJECT", f'"{subject}"')[1][0].split()
            return [box.fetch(number, "(BODY.PEEK[])")[1][0][1] for number in numbers]

    def move(self, subject, source, target):
        """Move a message, as a mail program does."""
        with self.mailbox() as box:
            box.select(source)
            number = box.search(None, "SUBJECT", f'"{subject}"')[1][0]
            assert box._simple_command("MOVE", number.decode(), target)[0] == "OK"
            box.state = "SELECTED"


def mail(subject, text, extra=b""):
    """Return a message."""
    return b"%bFrom: a@example.org\r\nTo: me@localhost\r\nSubject: %b\r\n\r\n%b\r\n" % (extra, subject.encode(), text.encode())


SPAM = "cheap pills, order today and win a prize: http://203.0.113.5/win"
HAM = "the minutes of our meeting on Monday are attached, see you at lunch"
FORGED = b"X-Halfspace: ham score=-9.0000 id=000000000000000000000000\r\n"


@pytest.fixture(scope="module")
def place():
    """A directory that other users may enter, with a trained service on loopback, and dovecot."""
    dovecot = program("dovecot")
    folder = Path(tempfile.mkdtemp(prefix="halfspace-mail-"))
    folder.chmod(0o755)
    here = Place(folder)
    try:
        here.start("serve", port="7830")
        for label, subject, text in (("ham", "minutes", HAM), ("spam", "offer", SPAM)):
            for number in range(20):
                here.ask(f"learn {label}", mail(f"{subject} {number}", f"{text} {number}"))
        here.processes.append(subprocess.Popen([dovecot, "-F", "-c", folder / "dovecot.conf"], **as_user(here.user)))
        listening(here.ports["2424"])
        listening(here.ports["1143"])
        yield here
    finally:
        here.stop()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(folder.with_name(folder.name + "-state"), ignore_errors=True)


def delivered(place, message):
    """Deliver a message by LMTP."""
    with smtplib.LMTP("127.0.0.1", place.ports["2424"]) as server:
        server.sendmail("a@example.org", ["me@localhost"], message)


def learnt(place):
    """Return how many messages the filter has learnt."""
    status = json.loads(place.ask("status"))
    return status["n_ham"], status["n_spam"]


def test_dovecot_puts_mail_into_the_right_folder_and_moving_it_teaches(place):
    """Spam lands in Junk and ham in the inbox, each with one field of ours; moving teaches, moving back changes the mind."""
    delivered(place, mail("an offer", SPAM, FORGED))
    delivered(place, mail("the minutes", HAM))
    (spam,) = place.found("Junk", "an offer")
    (ham,) = place.found("INBOX", "the minutes")
    assert spam.startswith(b"X-Halfspace: spam ")
    assert ham.startswith(b"X-Halfspace: ham ")
    assert spam.count(b"X-Halfspace") == 1
    n_ham, n_spam = learnt(place)
    place.move("the minutes", "INBOX", "Junk")
    until(lambda: learnt(place) == (n_ham, n_spam + 1), "a message that was moved into Junk to be learnt")
    place.move("the minutes", "Junk", "INBOX")
    until(lambda: learnt(place) == (n_ham + 1, n_spam), "the change of mind to be learnt")
    assert "not known" not in place.ask("undo", place.found("INBOX", "the minutes")[0])
    assert learnt(place) == (n_ham, n_spam)


def test_postfix_asks_the_milter(place):
    """A message by SMTP is stamped by the milter before dovecot has it, a forged field is gone, and its id is known later."""
    postfix = program("postfix")
    if os.getuid() != 0:
        pytest.skip("postfix starts as root only")
    place.start("milter", port="8891")
    for name in ("queue", "data"):
        (place.folder / name).mkdir()
    shutil.chown(place.folder / "data", "postfix")
    for path in [place.folder / "queue", *(place.folder / "postfix").rglob("*"), place.folder / "postfix"]:
        shutil.chown(path, "root", "root")
    sieve = place.folder / "sieve" / "deliver.sieve"
    sieve.write_text(sieve.read_text().replace('filter "halfspace-score";\n', ""))  # as the page says
    subprocess.run([postfix, "-c", place.folder / "postfix", "start"], check=True)
    try:
        listening(place.ports["2525"])
        with smtplib.SMTP("127.0.0.1", place.ports["2525"]) as server:
            server.sendmail("a@example.org", ["me@localhost"], mail("second offer", SPAM, 2 * FORGED))
        (spam,) = until(lambda: place.found("Junk", "second offer"), "the delivery")
        assert spam.count(b"X-Halfspace") == 1
        assert b"\nX-Halfspace: spam score=" in spam
        n_ham, n_spam = learnt(place)
        place.move("second offer", "Junk", "INBOX")
        until(lambda: learnt(place) == (n_ham + 1, n_spam), "the correction to be learnt")
    finally:
        subprocess.run([postfix, "-c", place.folder / "postfix", "stop"], check=True)
