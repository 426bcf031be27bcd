"""Free text: words and pairs of words as inputs, weighted by the training rows alone."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer

import halfspace as hs
from halfspace.certificates.pipeline import Pipeline
from halfspace.errors import InputError
from halfspace.exports.graph import Graph
from halfspace.exports.preprocessing import encoded
from halfspace.tables import TableEncoder, words

SUBJECTS = ["the old ship", "a red engine", "my new phone", "this small garden", "our first teacher"]
VERBS = ["never stops", "runs quickly", "was sold", "makes noise", "sleeps late", "costs money"]


def remarks(n, seed=0):
    random = np.random.default_rng(seed)
    return [f"{random.choice(SUBJECTS)} {random.choice(VERBS)} on day {i // 2}" for i in range(n)]


def table(n=300):
    return pa.table({"size": np.arange(n) % 7 + 0.5, "remark": remarks(n), "id": [f"A-{i:05}" for i in range(n)]})


def test_free_text_is_scikit_learns_tf_idf():
    """Where no two words share a slot, the outputs are √10 times those of TfidfVectorizer (words of two or more rows)."""
    X = table()
    Z = TableEncoder().fit(X.select(["remark"])).transform(X)
    peer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    expected = words.LENGTH * peer.fit_transform(X["remark"].to_pylist())
    names = TableEncoder().fit(X.select(["remark"])).get_feature_names_out()
    order = [peer.vocabulary_[name.removeprefix("remark: ")] for name in names]
    np.testing.assert_allclose(np.asarray(Z.todense() if sparse.issparse(Z) else Z), expected.toarray()[:, order], atol=1e-12)


def test_text_stands_beside_other_columns():
    """Numbers keep their outputs, ids are left out, groups and names cover all outputs, and a note says what was done."""
    X = table()
    encoder = TableEncoder().fit(X)
    (size, a, b), (remark, c, d) = encoder.groups_
    assert (size, a, b, remark, c, d) == ("size", 0, 1, "remark", 1, len(encoder.get_feature_names_out()))
    assert encoder.dropped_[0][0] == "id"
    assert "Column 'remark' is free text" in " ".join(map(str, encoder.notes_))
    Z = np.asarray(encoder.transform(X).todense()) if encoder.sparse_ else encoder.transform(X)
    np.testing.assert_array_equal(Z[:, :1], TableEncoder().fit(X.select(["size"])).transform(X))
    np.testing.assert_allclose(np.linalg.norm(Z[:, 1:], axis=1), np.sqrt(10.0))


@pytest.mark.parametrize("gaps", [False, True], ids=["all there", "some missing"])
def test_batches_new_words_and_gaps(gaps):
    """Rows in batches are rows at once; words never seen have no output, and missing text is marked if it was in training."""
    X = remarks(400)
    if gaps:
        X[::9] = [None] * len(X[::9])
    X = pa.table({"remark": X, "many": [f"c{i % 50}" for i in range(400)]})
    encoder = TableEncoder().fit(X)
    assert encoder.sparse_
    whole = encoder.transform(X)
    parts = sparse.vstack([encoder.transform(X.slice(first, 150)) for first in (0, 150, 300)])
    assert (whole != parts).nnz == 0
    new = encoder.transform(pa.table({"remark": ["zzz qqq", None, "the old ship"], "many": ["c1"] * 3}))
    filled = np.diff(new[:, : encoder.groups_[0][2]].indptr).tolist()
    assert filled == [0, int(gaps), 5]


def test_what_is_free_text():
    """Many different values of several words are; ids, names, short categories and few long ones are not, unless asked for."""
    n = 200
    random = np.random.default_rng(0)
    X = {
        "remark": remarks(n),
        "id": [f"{i:08x}-{i % 13:04x}" for i in range(n)],
        "name": [f"Model {i % 19} number{i}" for i in range(n)],
        "town": [f"town {i % 90}" for i in random.permutation(n)],
        "answer": [f"I do rather agree with {i % 5}" for i in range(n)],
    }
    X = pa.table(X)
    kinds = {}
    for keep in ("auto", True, False):
        encoder = TableEncoder(keep_text=keep).fit(X)
        kinds[keep] = {encoder.columns_[recipe["column"]]: recipe["kind"] for recipe in encoder.recipes_}
    common = {"town": "category", "answer": "category"}
    assert kinds["auto"] == {"remark": "words", **common}
    assert kinds[True] == {"remark": "words", "name": "words", **common, "id": "words"}
    assert kinds[False] == common
    with pytest.raises(InputError, match="'keep_text' parameter of TableEncoder must be 'auto', True or False"):
        TableEncoder(keep_text="yes").fit(X)


def test_words_that_never_come_again_are_no_inputs():
    """Text whose rows share no words is left out even if text is asked for."""
    X = pa.table({"code": [f"a{i} b{i} c{i} d{i} e{i}" for i in range(60)], "size": np.arange(60) % 7})
    assert [name for name, _ in TableEncoder(keep_text=True).fit(X).dropped_] == ["code"]


def test_memory_is_bounded(monkeypatch):
    """Of very many words the most frequent are kept."""
    monkeypatch.setattr(words, "MOST_SLOTS", 10)
    encoder = TableEncoder().fit(table())
    assert len(encoder.recipes_[1]["slots"]) == 10
    assert {"remark: on", "remark: day", "remark: on day"} <= set(encoder.get_feature_names_out())


def test_an_encoder_with_text_is_kept_and_checked(tmp_path):
    """It is the same after loading, is what its training rows make, and older files, which lack the parameter, keep no text."""
    X = table()
    encoder = TableEncoder().fit(X)
    hs.save(encoder, tmp_path / "encoder.halfspace")
    loaded = hs.load(tmp_path / "encoder.halfspace")
    assert (loaded.transform(X) != encoder.transform(X)).sum() == 0
    check = Pipeline(loaded, None, None, None, {}, None)
    assert check._refitted(X)
    assert not check._refitted(X.slice(0, 200))
    assert TableEncoder.earlier == {"keep_text": False}
    loaded.recipes_[1]["idf"] = loaded.recipes_[1]["idf"] * 1.001
    assert not check._refitted(X)
    assert clone(encoder).keep_text == "auto"


@pytest.mark.parametrize(
    "change",
    [
        {"slots": np.array([3, 2])},
        {"slots": np.array([0, words.SLOTS])},
        {"slots": np.array([1.0, 2.0])},
        {"idf": np.array([1.0])},
        {"idf": np.array([1.0, np.inf])},
        {"names": ["one"]},
        {"names": ["one", 2]},
        {"indicator": 1},
    ],
    ids=["descending", "beyond", "reals", "short", "infinite", "nameless", "no name", "no switch"],
)
def test_recipes_that_cannot_be_followed(change):
    """What a file says of the words is checked before it is used."""
    sound = {"slots": np.array([2, 3]), "idf": np.array([1.0, 2.0]), "names": ["one", "two"], "indicator": False}
    assert words.is_recipe(sound)
    assert not words.is_recipe({**sound, **change})


def test_text_is_not_exported():
    """ONNX gets numbers only: the error names the column."""
    with pytest.raises(InputError, match="these columns hold categories, dates or text: 'remark'"):
        encoded(TableEncoder().fit(table()), Graph(), "X")
