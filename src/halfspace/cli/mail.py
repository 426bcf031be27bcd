"""`halfspace mail`: the filter on the command line. `score` and `learn` have a shorter way in `halfspace.mail.one_shot`."""

import sys
from pathlib import Path
from typing import Any

import click

from halfspace._text import plural
from halfspace.cli.frame import Answer, clean, refuse
from halfspace.cli.text import table
from halfspace.mail import one_shot
from halfspace.mail.client import address_of
from halfspace.mail.milter import milter as milter_of
from halfspace.mail.place import directory
from halfspace.mail.serving import conversation, run_server
from halfspace.mail.sources import messages
from halfspace.mail.state import State
from halfspace.mail.words import in_words

__all__ = ["certify", "explain", "learn", "milter", "score", "serve", "status", "train"]


def train(source: str, label: str, state: str | None, *, keep: bool, light: bool) -> Answer:
    """Learn every message of a source."""
    folder, n_read, n_new = directory(state), 0, 0
    with State(folder, keep=keep, light=light) as filter_:
        for n, new in filter_.train((message for _, message in messages(source)), spam=label == "spam"):
            n_read, n_new = n_read + n, n_new + new
            if sys.stderr.isatty():
                click.echo(f"\r{n_read:,} messages", err=True, nl=False)
        known = filter_.status()
    if sys.stderr.isatty():
        click.echo(err=True)
    if not n_read:
        refuse(f"{source} has no messages; give a folder of messages, a maildir or an mbox file")
    body = {"command": "mail train", "state": folder, "source": source, "label": label, "n_read": n_read, "n_new": n_new}
    body |= {name: known[name] for name in ("n_ham", "n_spam")}
    seen = "" if n_new == n_read else f" ({n_read - n_new:,} were known)"
    total = f"the filter knows {known['n_ham']:,} ham and {known['n_spam']:,} spam"
    return Answer(body, f"Learnt {plural(n_new, 'message')} as {label}{seen}; {total}.")


def score(**options: Any) -> int:
    """Answer about the message on standard input, the short way; return the exit code."""
    return one_shot.run("score", _typed(options))


def learn(**options: Any) -> int:
    """Learn the message on standard input, the short way; return the exit code."""
    return one_shot.run("learn", _typed(options))


def _typed(options: dict[str, Any]) -> list[str]:
    """Return options as they are typed."""
    found = {"--" + name.replace("wants_", "").replace("_", "-"): value for name, value in options.items() if value}
    return [word for option, value in found.items() for word in ([option] if value is True else [option, str(value)])]


def explain(top: int, state: str | None) -> Answer:
    """Say why the message on standard input is ham or spam."""
    message = sys.stdin.buffer.read()
    with State(_existing(state)) as filter_:
        answer = filter_.score(message)
        ham, spam = filter_.explain(message, top)
    kind, score_ = answer.split(" ")[:2]
    told = {
        name: [{"feature": clean(in_words(group, token)), "share": share} for group, token, share in found]
        for name, found in (("spam", spam), ("ham", ham))
    }
    body = {"command": "mail explain", "answer": kind, "score": float(score_.removeprefix("score=")), **told}
    parts = [f"{kind}, score {body['score']:+.4f}"]
    for name, found in told.items():
        rows = [(one["feature"], f"{one['share']:+.4f}") for one in found]
        parts += ["", table((f"towards {name}", "share of the score"), rows, right="lr") if rows else f"nothing towards {name}"]
    return Answer(body, "\n".join(parts))


def status(state: str | None) -> Answer:
    """Show what the filter has seen and promises."""
    with State(_existing(state)) as filter_:
        body = {"command": "mail status", **filter_.status()}
    wrong = f"{body['ham_lost']:,} ham above 0 and {body['spam_missed']:,} spam below"
    lines = [
        f"{body['state']}: {body['n_ham']:,} ham and {body['n_spam']:,} spam learnt, {body['n_bytes']:,} bytes",
        f"Of the last {plural(body['n_recent'], 'message')} {wrong}, as scored before they were learnt.",
        f"Spam is what scores above {body['threshold']:.4f}; unsure is what else scores above 0.",
    ]
    for promise in body["promises"]:
        missing = promise["ham_missing"]
        told = f"not yet: {missing:,} more ham needed" if missing else f"spam is what scores above {promise['threshold']:.4f}"
        lines.append(f"Promise (--ham-loss {promise['ham_loss']}): {told}.")
    return Answer(body, "\n".join(lines))


def certify(state: str | None) -> Answer:
    """Replay the journal and compare."""
    with State(_existing(state)) as filter_:
        checked = filter_.replayed()
    body = {"command": "mail certify", "state": _existing(state), **checked}
    n = plural(checked["n_messages"], "message")
    if body["holds"]:
        return Answer(
            body, f"It holds: {n} learnt again from the journal give the same scores and the same weights, bit for bit."
        )
    return Answer(body, "\n".join([f"Refuted by a replay of {n}:", *(f"  {reason}" for reason in checked["reasons"])]), code=1)


def serve(listen: str | None, ham_loss: str | None, state: str | None) -> Answer:
    """Answer on a socket until a signal comes."""
    folder = directory(state)
    return _served("serve", folder, listen or str(Path(folder) / "socket"), ham_loss)


def milter(listen: str | None, ham_loss: str | None, state: str | None) -> Answer:
    """Answer a mail server until a signal comes."""
    return _served("milter", directory(state), listen or refuse("say where to listen: --listen 127.0.0.1:8891"), ham_loss)


def _served(command: str, folder: str, listen: str, ham_loss: str | None) -> Answer:
    """Serve a filter at an address."""
    try:
        address = address_of(listen)
    except ValueError as error:
        refuse(str(error))
    with State(folder, stays=True, ham_loss=float(ham_loss) if ham_loss else None) as filter_:
        handler = conversation(filter_) if command == "serve" else milter_of(filter_)
        run_server({address: handler}, lambda: click.echo(f"listening on {address}", err=True))
    return Answer({"command": f"mail {command}", "state": folder, "listen": str(address)})


def _existing(state: str | None) -> str:
    """Return the state directory, or refuse one that has no filter."""
    folder = directory(state)
    if not (Path(folder) / "journal").exists():
        refuse(f"there is no state in {folder!r}; make one with: halfspace mail train, or name another by --state")
    return folder
