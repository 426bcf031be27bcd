"""The private helpers of `halfspace._text` and `halfspace.notes`, each on a small case."""

import numpy as np

from halfspace import _text as text
from halfspace import notes


def test_text():
    """Values, labels and numbers are written for people, and any value as plain JSON."""
    assert (text.listed(range(1000), most=3), text.listed(["a", "b"], show=repr)) == ("0, 1, 2 and 997 more", "'a', 'b'")
    assert (text.shown("a\tb\x00"), text.shown(""), text.shown("x" * 99, longest=5)) == ("a b�", "(empty)", "xxxx…")
    assert (text.plural(1, "row"), text.plural(1200, "row"), text.plural(2, "class", "classes")) == (
        "1 row",
        "1,200 rows",
        "2 classes",
    )
    assert (text.number(1234567.8), text.number(-0.25), text.number(0.0)) == ("1,234,568", "−0.25", "0")
    assert text.plain({"scores": np.array([0.5, np.nan]), 1: (True, "a")}) == {"scores": [0.5, None], "1": [True, "a"]}


def test_notes():
    """Notes on batches add up, and columns with the same fate share a sentence."""
    assert (
        notes.total(
            [
                notes.Note("unseen", "a", 1),
                notes.Note("absent", "b"),
                notes.Note("unseen", "a", 2000),
                notes.Note("absent", "b"),
            ]
        )[0].count
        == 2001
    )
    assert (
        notes.sentences(
            [
                notes.Note("left out", "a", detail="constant"),
                notes.Note("pooled", "b"),
                notes.Note("left out", "c", detail="constant"),
            ]
        )[0]
        == "2 columns were left out: constant ('a', 'c')."
    )
