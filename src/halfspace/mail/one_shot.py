"""`halfspace mail score` and `halfspace mail learn`, the short way: a process for each message, by the standard library alone.

A service is asked if one listens; else the weights are read as they lie in the state directory. Learning without a service
imports NumPy and Numba. What is imported at the top here, and by that in turn, every delivery pays for.
"""

import sys

__all__ = ["FAILED", "give_up", "learnt", "parse", "run", "scored"]

CODES = {"ham": 0, "spam": 10, "unsure": 11}
FAILED = 75
"""Exit code: no answer. A mail server takes it for "try again later", never for spam."""
PATIENCE = 5.0
"""Seconds after which a message goes through without an answer; dovecot kills a filter after ten."""
FLAGS = {"score": {"--header", "--json"}, "learn": {"--spam", "--ham", "--undo", "--keep", "--json"}}
VALUES = {"score": {"--state", "--connect", "--ham-loss"}, "learn": {"--state", "--connect"}}


class Options(dict):  # type: ignore[type-arg]
    """What was typed, by name."""


def run(command: str, arguments: list[str]) -> int:
    """Run `mail score` or `mail learn` with what was typed after it; return the exit code."""
    try:
        options = parse(command, arguments)
    except ValueError as error:
        if command == "score" and "--header" in arguments:  # a delivery must not fail because of a slip in a script
            from halfspace.mail.header import unstamped  # noqa: PLC0415

            _failed(str(error))
            sys.stdout.buffer.write(unstamped(sys.stdin.buffer.read()))
            return 0
        return _failed(str(error), wants_json="--json" in arguments)
    if command == "score" and options["header"]:
        return _passed_through(options)
    try:
        message = sys.stdin.buffer.read()
        if not message.strip():
            return _failed("there is no message on standard input", wants_json=options["json"])
        if command == "score":
            answer = scored(message, options)
            code = CODES[answer.split(" ", 1)[0]]
        else:
            answer, code = learnt(message, options), 0
        if options["json"]:
            answer = _object(command, answer)
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001  (whatever went wrong, the user gets a sentence, and no answer)
        return _failed(_sentence(error), wants_json=options["json"])
    return code


def parse(command: str, arguments: list[str]) -> Options:
    """Return the options of what was typed, or raise ValueError with a sentence."""
    options = Options({flag[2:]: False for flag in FLAGS[command]} | {"state": None, "connect": None, "ham-loss": None})
    rest = iter(arguments)
    for word in rest:
        name, equals, value = word.partition("=")
        if word in FLAGS[command]:
            options[name[2:]] = True
        elif name in VALUES[command]:
            value = value if equals else next(rest, "")
            if not value:
                msg = f"{name} needs a value"
                raise ValueError(msg)
            options[name[2:]] = value
        else:
            found = "no such option" if word.startswith("-") else "the message is read from standard input (< FILE), not"
            msg = f"mail {command}: {found}: {word[:40]!r} (try: halfspace mail {command} --help)"
            raise ValueError(msg)
    if command == "learn" and sum(options[name] for name in ("spam", "ham", "undo")) != 1:
        raise ValueError("mail learn: say what the message on standard input is: --spam, --ham, or --undo to take it back")
    loss = options["ham-loss"]
    if loss and not loss.replace(".", "", 1).isdecimal():
        msg = f"mail score: --ham-loss takes a number such as 0.01, not {loss[:40]!r}"
        raise ValueError(msg)
    if command == "score" and options["header"] and options["json"]:
        raise ValueError("mail score: --header prints the message and --json an object; give one of them")
    return options


def scored(message: bytes, options: Options) -> str:
    """Return the answer about a message as our header field has it, from a service or from the weights."""
    from halfspace.mail.place import directory, service_at  # noqa: PLC0415

    folder, connect, loss = directory(options["state"]), options["connect"], options["ham-loss"]
    if service := service_at(folder, connect):
        from halfspace.mail.client import ask  # noqa: PLC0415

        try:
            request = " ".join(["score", *(["header"] if options["header"] else []), *([loss] if loss else [])])
            return ask(service, request, message, patience=PATIENCE)
        except OSError:
            if connect:  # the state may not be ours to read
                raise
    from halfspace.mail.reader import score_plainly  # noqa: PLC0415

    return score_plainly(folder, message, header=options["header"], ham_loss=float(loss) if loss else None)


def learnt(message: bytes, options: Options) -> str:
    """Learn a message as spam or ham, or take it back; return a sentence."""
    from halfspace.mail.place import directory, service_at  # noqa: PLC0415

    folder, connect = directory(options["state"]), options["connect"]
    label = "undo" if options["undo"] else "spam" if options["spam"] else "ham"
    request = "undo" if label == "undo" else f"learn {label}"
    if service := service_at(folder, connect):
        from halfspace.mail.client import ask  # noqa: PLC0415

        try:
            return ask(service, request, message, patience=60.0)
        except OSError:
            if connect:
                raise
    if label == "undo":
        import os  # noqa: PLC0415

        if not os.path.exists(os.path.join(folder, "journal")):  # noqa: PTH110, PTH118  (pathlib takes 10 ms)
            msg = f"there is no state in {folder!r}, so there is nothing to take back; name another by --state"
            raise ValueError(msg)
    from halfspace.mail.state import State  # noqa: PLC0415

    with State(folder, keep=options["keep"]) as filter_:
        return filter_.undo(message) if label == "undo" else filter_.learn(message, spam=label == "spam")


def _passed_through(options: Options) -> int:
    """Print the message on standard input with our field, or, whatever happens, without one; always return 0."""
    from halfspace.mail.header import stamped, unstamped  # noqa: PLC0415

    message = sys.stdin.buffer.read()
    try:
        with give_up(PATIENCE):
            out = stamped(message, scored(message, options)) if message.strip() else message
    except (Late, Exception) as error:  # noqa: BLE001  (mail goes through)
        _failed(_sentence(error))
        out = unstamped(message)
    try:
        sys.stdout.buffer.write(out)
        sys.stdout.buffer.flush()
    except OSError as error:
        _failed(_sentence(error))
    return 0


class Late(BaseException):
    """Time is up. It is no Exception: what mends these, a reader of attachments for one, must not swallow it."""


class give_up:  # noqa: N801  (reads as a phrase)
    """Raise Late in what is done here after some seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        import signal  # noqa: PLC0415

        def late(*_: object) -> None:
            msg = f"gave up after {self._seconds:g} s"
            raise Late(msg)

        self._signal, self._before = signal, signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *_: object) -> None:
        self._signal.setitimer(self._signal.ITIMER_REAL, 0)
        self._signal.signal(self._signal.SIGALRM, self._before)


def _object(command: str, answer: str) -> str:
    """Return an answer as a JSON object."""
    import json  # noqa: PLC0415

    if command == "learn":
        return json.dumps({"command": "mail learn", "sentence": answer})
    kind, *rest = answer.split(" ")
    said = dict(word.split("=", 1) for word in rest)
    top = said["top"].split(",") if said.get("top") else []
    return json.dumps({"command": "mail score", "answer": kind, "score": float(said["score"]), "id": said["id"], "top": top})


def _sentence(error: BaseException) -> str:
    """Say what went wrong."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the service'}: {error.strerror}"
    return str(error) or type(error).__name__


def _failed(sentence: str, *, wants_json: bool = False) -> int:
    """Tell a failure on standard error, with `--json` on standard output as well; return its exit code."""
    sentence = "".join(letter if letter.isprintable() else "?" for letter in sentence)
    sys.stderr.write(f"halfspace: {sentence}\n")
    if wants_json:
        import json  # noqa: PLC0415

        sys.stdout.write(json.dumps({"error": sentence, "code": FAILED}) + "\n")
    return FAILED
