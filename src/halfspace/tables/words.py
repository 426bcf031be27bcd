"""Free text: words and pairs of words, hashed into slots, weighted by how rare they are, each row of the same length.

Hashing     HashingVectorizer, 2¹⁸ slots: words of two or more letters or digits, in lower case, and pairs of neighbours.
Slots kept  those in at least two training rows, of more than 20,000 the most frequent: memory is bounded whatever the text.
Weights     (1 + ln tf) (1 + ln((1 + n) / (1 + df))), from the training rows alone; then each row is divided by its length
            (Salton and Buckley 1988, scikit-learn's TfidfTransformer with sublinear_tf), and multiplied by √10: text weighs as
            much as ten columns of variance 1, and large margins want their cap C where they want it for numbers.
Names       the commonest word of a slot among the first 10,000 training rows.
"""

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize

from halfspace._typing import Matrix
from halfspace.tables.columns import texts_of
from halfspace.tables.sparse_columns import narrowed

__all__ = ["is_free_text", "is_recipe", "learn", "suffixes", "write"]

SLOTS, MOST_SLOTS, FEWEST_ROWS = 2**18, 20_000, 2
NAMED_ROWS = 10_000
LENGTH = float(np.sqrt(10.0))
BLOCK_ROWS = 2**13
FREE_WORDS, OFTEN_NEW = 4.0, 0.5
"""Text is free if its values have so many words on average, and more than this share of them are different."""
LONGEST_NAME = 40

Recipe = dict[str, Any]


def is_free_text(counts: dict[str, int], most: int) -> bool:
    """Tell whether the values of a column, with how often each came, are free text rather than up to `most` categories."""
    rows = sum(counts.values())
    if len(counts) <= most or len(counts) <= OFTEN_NEW * rows:
        return False
    return sum(n * len(text.split()) for text, n in counts.items()) >= FREE_WORDS * rows


def learn(column: Any) -> Recipe | None:
    """Learn the slots and weights of a column of text, shape (n,); None if hardly a row has a word of another.

    Returns
    -------
    dict
        `slots`: int64, shape (m,), ascending; `idf`: float64, shape (m,); `names`: m words or pairs; `filled`: slots that a row
        fills on average; `indicator`: whether one more output marks missing text.
    """
    text = texts_of(column)
    rows, frequency = len(text), np.zeros(SLOTS, dtype=np.int64)
    for first in range(0, rows, BLOCK_ROWS):
        frequency += np.bincount(_hashed(text.slice(first, BLOCK_ROWS)).indices, minlength=SLOTS)
    slots = np.flatnonzero(frequency >= FEWEST_ROWS)
    if frequency[slots].sum() < rows:  # two words may share a slot by chance
        return None
    if slots.size > MOST_SLOTS:
        slots = np.sort(slots[np.argsort(-frequency[slots], kind="stable")[:MOST_SLOTS]])
    return {
        "slots": slots,
        "idf": 1.0 + np.log((1.0 + rows) / (1.0 + frequency[slots])),
        "names": _names(text.slice(0, NAMED_ROWS), slots),
        "filled": float(frequency[slots].sum()) / rows,
        "indicator": text.null_count > 0,
    }


def suffixes(recipe: Recipe) -> list[str]:
    """Return what each output's name adds to the column's name."""
    return [f": {name}" for name in recipe["names"]] + [" missing"] * recipe["indicator"]


def write(recipe: Recipe, column: Any) -> Matrix:
    """Return the outputs of a column of text, a CSR matrix of shape (n, width)."""
    text = texts_of(column)
    counts = narrowed(_hashed(text), recipe["slots"])
    counts.data = (1.0 + np.log(counts.data)) * recipe["idf"][counts.indices]
    words = LENGTH * normalize(counts, copy=False)
    if not recipe["indicator"]:
        return words
    gaps = np.asarray(text.is_null()).astype(np.float64)
    return sparse.hstack([words, sparse.csr_matrix(gaps[:, None])], format="csr")


def is_recipe(recipe: Recipe) -> bool:
    """Tell whether rows can be written by a recipe that was read from a file."""
    slots, idf, names = recipe.get("slots"), recipe.get("idf"), recipe.get("names")
    if not (isinstance(slots, np.ndarray) and slots.dtype == np.int64 and slots.ndim == 1 and 0 < slots.size <= MOST_SLOTS):
        return False
    if not (isinstance(idf, np.ndarray) and idf.dtype == np.float64 and idf.shape == slots.shape):
        return False
    placed = slots[0] >= 0 and slots[-1] < SLOTS and bool((np.diff(slots) > 0).all())
    named = isinstance(names, list) and len(names) == slots.size and all(isinstance(name, str) for name in names)
    weighted = bool(np.isfinite(idf).all()) and bool((idf > 0.0).all())
    return placed and named and weighted and isinstance(recipe.get("indicator"), bool)


@cache
def _vectorizer() -> Any:
    return HashingVectorizer(n_features=SLOTS, ngram_range=(1, 2), alternate_sign=False, norm=None)


def _hashed(text: Any) -> Matrix:
    """Return how often each slot is met in each row, a CSR matrix of shape (n, SLOTS)."""
    return _vectorizer().transform(value or "" for value in text.to_pylist())


def _names(text: Any, slots: Any) -> list[str]:
    """Return the commonest word or pair of each slot, and its number where there is none."""
    analyse = _vectorizer().build_analyzer()
    words = list(Counter(word for value in text.to_pylist() if value for word in set(analyse(value))).items())
    words.sort(key=lambda pair: (pair[1], pair[0]))  # the commonest last, so that it stays
    found = dict.fromkeys(slots.tolist(), "")
    hasher = FeatureHasher(SLOTS, input_type="string", alternate_sign=False)
    for (word, _), slot in zip(words, hasher.transform([word] for word, _ in words).indices.tolist(), strict=True):
        if slot in found:
            found[slot] = word
    return [name[:LONGEST_NAME] or f"#{slot}" for slot, name in found.items()]
