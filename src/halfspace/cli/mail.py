"""`halfspace mail`: the filter on the command line. `score` and `learn` have a shorter way in `halfspace.mail.one_shot`."""

import csv
import io
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np

from halfspace._text import plural
from halfspace.cli.frame import Answer, clean, refuse
from halfspace.cli.outputs import check_outputs, complete_file
from halfspace.cli.text import proof_of, table
from halfspace.mail import one_shot
from halfspace.mail.client import address_of
from halfspace.mail.compiled import features
from halfspace.mail.evaluation import Measures
from halfspace.mail.evaluation import evaluate as measured
from halfspace.mail.learner import RULES, Learner, Settings
from halfspace.mail.milter import milter as milter_of
from halfspace.mail.place import directory
from halfspace.mail.promise import HamScores, unsure_above
from halfspace.mail.serving import conversation, run_server
from halfspace.mail.sources import indexed, messages
from halfspace.mail.state import LABELS, State
from halfspace.mail.words import in_words

__all__ = ["certify", "evaluate", "explain", "learn", "milter", "score", "serve", "status", "train"]


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
    folder, message = _existing(state), sys.stdin.buffer.read()
    if not message.strip():
        refuse("there is no message on standard input")
    with State(folder) as filter_:
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
        parts += ["", table((f"towards {name}", "adds to the score"), rows, right="lr") if rows else f"nothing towards {name}"]
    return Answer(body, "\n".join(parts))


def status(state: str | None) -> Answer:
    """Show what the filter has seen and promises."""
    with State(_existing(state)) as filter_:
        body = {"command": "mail status", **filter_.status()}
    wrong = f"{body['ham_lost']:,} ham scored above 0 and {body['spam_missed']:,} spam below"
    lines = [
        f"{body['state']}: {body['n_ham']:,} ham and {body['n_spam']:,} spam learnt, {body['n_bytes']:,} bytes",
        f"Of the last {plural(body['n_recent'], 'message')} {wrong}, as scored before they were learnt.",
        f"Spam is what scores above {body['threshold']:.4f}; ham is what scores at most {unsure_above(body['threshold']):.4f}.",
    ]
    for promise in body["promises"]:
        missing = promise["ham_missing"]
        told = f"not yet: {missing:,} more ham needed" if missing else f"spam is what scores above {promise['threshold']:.4f}"
        lines.append(f"Promise (--ham-loss {promise['ham_loss']}): {told}.")
    return Answer(body, "\n".join(lines))


def evaluate(
    index: str, scores: str | None, plot: str | None, state: str | None, rule: str | None, seed: int, *, light: bool
) -> Answer:
    """Score and learn a stream in order, and measure the scores."""
    check_outputs([index], {"--scores": scores, "--plot": plot})
    if state and rule not in {None, "adatron"}:
        refuse("a state has its own rule, adatron; give --state or --rule, not both")
    rule = rule or "adatron"
    lines = indexed(index)
    learner, past, salt, light = _start(state, RULES[rule]._replace(seed=seed), light=light)
    found, called = np.zeros(len(lines)), np.zeros(len(lines), bool)
    for k, line in enumerate(lines):
        found[k] = learner.learn(features(line.path.read_bytes(), salt=salt, light=light), 1 if line.spam else -1)
        called[k] = found[k] > past.default()
        past.add(float(found[k]), spam=line.spam)
        if sys.stderr.isatty() and k % 100 == 0:
            click.echo(f"\r{k:,} of {len(lines):,} messages", err=True, nl=False)
    labels = np.array([1 if line.spam else -1 for line in lines])
    measures = measured(found, labels, called, seed=seed)
    if scores:
        with complete_file(scores) as file:
            out = io.StringIO(newline="")
            rows = [(line.name, LABELS[line.spam], repr(float(s))) for line, s in zip(lines, found, strict=True)]
            csv.writer(out).writerows([("path", "label", "score"), *rows])
            file.write(out.getvalue().encode("utf-8", "surrogateescape"))
    if plot:
        _draw(plot, found[labels < 0], found[labels > 0])
    body = {"command": "mail evaluate", "index": index, "state": state, "rule": rule, "seed": seed, **measures._asdict()}
    return Answer({**body, "scores": scores, "plot": plot}, _measures_text(measures))


def _start(state: str | None, settings: Settings, *, light: bool) -> tuple[Learner, HamScores, bytes, bool]:
    """Return what an evaluation starts from, that of a state or nothing learnt: learner, scores of ham, salt, light mode."""
    if state is None:
        return Learner(settings), HamScores(), b"evaluation %d" % settings.seed, light
    with State(_existing(state)) as filter_:
        return filter_.learner.copy(), filter_.past, filter_.salt, filter_.light


def _measures_text(found: Measures) -> str:
    """Return the measures for people."""
    rows = [
        ("1-ROCA", f"{found.roca:.4f}", "{:.4f} to {:.4f}".format(*found.roca_interval)),
        ("spam missed at 0.1 % ham loss", f"{found.missed_1:.2f}", "{:.2f} to {:.2f}".format(*found.missed_1_interval)),
        ("spam missed at 0.5 % ham loss", f"{found.missed_5:.2f}", "{:.2f} to {:.2f}".format(*found.missed_5_interval)),
        ("ham lost, as answered", f"{found.ham_lost:.2f}", ""),
        ("spam missed, as answered", f"{found.spam_missed:.2f}", ""),
        ("lam, as answered", f"{found.lam:.2f}", ""),
    ]
    head = f"{found.ham:,} ham and {found.spam:,} spam, each scored before it was learnt"
    return f"{head}\n\n{table(('measure', '%', '95 % interval'), rows, right='lrl')}"


def _draw(path: str, ham: Any, spam: Any) -> None:
    """Draw how much spam is missed at each ham loss, both in % on logarithmic axes as TREC's figures have them."""
    from matplotlib.figure import Figure  # noqa: PLC0415  (an extra)

    thresholds = np.unique(np.concatenate([ham, spam]))
    lost = 100.0 * (1.0 - np.searchsorted(np.sort(ham), thresholds, side="right") / ham.size)
    missed = 100.0 * np.searchsorted(np.sort(spam), thresholds, side="right") / spam.size
    axes = (figure := Figure(figsize=(5.0, 4.0), layout="constrained")).subplots()
    axes.step(np.maximum(lost, 50.0 / ham.size), np.maximum(missed, 50.0 / spam.size), where="post")
    axes.set(xscale="log", yscale="log", xlabel="ham lost (%)", ylabel="spam missed (%)")
    axes.grid(which="both", alpha=0.3)
    with complete_file(path) as file:
        figure.savefig(file, format=Path(path).suffix.lstrip(".") or "png", dpi=150)


def certify(state: str | None) -> Answer:
    """Replay the journal, compare, and check what it proves."""
    with State(_existing(state)) as filter_:
        found, faults = filter_.replayed()
    claims = found.claims()
    proofs = [{**proof_of(proof), "holds": not reasons} for proof, reasons in claims]
    faults += [reason for _, reasons in claims for reason in reasons]
    body = {"command": "mail certify", "state": directory(state), "holds": not faults, "n_messages": found.learner.n}
    n = plural(found.learner.n, "message")
    head = (
        [f"Refuted by a replay of {n}:", *(f"  {fault}" for fault in faults)]
        if faults
        else [f"It holds: {n} learnt again from the journal give the same scores and the same weights, bit for bit."]
    )
    lines = [f"Proof: {proof['sentence']}" for proof in proofs if proof["holds"]]
    return Answer({**body, "reasons": faults, "proofs": proofs}, "\n".join(head + lines), code=1 if faults else 0)


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
        run_server({address: handler}, lambda: click.echo(f"listening on {listen}", err=True))
    return Answer({"command": f"mail {command}", "state": folder, "listen": listen})


def _existing(state: str | None) -> str:
    """Return the state directory, or refuse one that has no filter."""
    folder = directory(state)
    if not (Path(folder) / "journal").exists():
        refuse(f"there is no state in {folder!r}; make one with: halfspace mail train, or name another by --state")
    return folder
