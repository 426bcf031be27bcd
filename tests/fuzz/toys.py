"""Targets that fail on purpose, to test the engine."""

import os
import signal
import sys

from fuzz.engine import Target, fuzz

__all__ = ["Toy"]


def _harmful(subject):
    """Do what a mutant must not do, as its bytes say."""
    if b"raise" in subject:
        raise KeyError(subject)
    if b"loop" in subject:
        while True:
            pass
    if b"grow" in subject:
        return len(b"x" * (3 << 30))
    if b"die" in subject:
        os.kill(os.getpid(), signal.SIGSEGV)
    return True


class Toy(Target):
    """Bytes to which a word is added; one word is poison."""

    name, suffix, seconds, poison = "toy", ".txt", 0.1, b""

    def corpus(self):
        return 1

    def original(self, number):  # noqa: ARG002  (there is one)
        return b"good"

    def change(self, subject, chance):
        return subject + b" " + chance.choice([*(b"w%d" % k for k in range(9)), self.poison])

    def content(self, subject):
        return subject

    def tried(self, subject):
        return bool(_harmful(subject))


if __name__ == "__main__":
    Toy.poison = sys.argv[1].encode()
    sys.stdout.write(str(fuzz(Toy, folder=sys.argv[2], cases=25)))
