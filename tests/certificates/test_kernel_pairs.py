"""Certificates of one-vs-one problems: each is checked on the examples of its two classes only."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from halfspace.certificates import KernelBracket, KernelGap, MistakeBound, Novikoff, PerPair, check, from_json
from halfspace.errors import CertificateError
from halfspace.kernels import RBF, Precomputed

RNG = np.random.default_rng(5)
X = RNG.standard_normal((18, 2)) + np.repeat([[3.0, 0.0], [0.0, 3.0], [-3.0, -3.0]], 6, axis=0)
Y = np.repeat(["a", "b", "c"], 6)
ORDER = RNG.permutation(18)
X, Y = X[ORDER], Y[ORDER]
KERNEL = RBF(0.5)
PAIRS = tuple(combinations(range(3), 2))


def part(kind, labels, kernel=KERNEL, data=X):
    mine = np.isin(Y, labels)
    rows = data[mine][:, mine] if kernel.is_precomputed else data[mine]
    options = {"kernel": kernel, "strengths": np.full(mine.sum(), 0.25), "positive": labels[1]}
    if kind == "gap":
        return KernelGap.measure(rows, Y[mine], C=0.5, sample_weight=np.linspace(1.0, 2.0, mine.sum()), **options)
    return MistakeBound.of(1, KernelBracket.measure(rows, Y[mine], **options), Novikoff())


def proof(kind="gap", **options):
    return PerPair(("a", "b", "c"), PAIRS, tuple(part(kind, ["abc"[i], "abc"[j]], **options) for i, j in PAIRS))


@pytest.mark.parametrize("kind", ["gap", "mistakes"])
def test_pairs_hold_on_all_the_data(kind, tmp_path):
    """Parts measured on two classes each hold on the examples of all, dense or sparse, and after a trip through a file."""
    whole = proof(kind)
    path = tmp_path / "pairs.json"
    again = from_json(whole.to_json(path))
    assert again.to_json() == whole.to_json()
    assert check(path, X, Y)
    assert again.verify(sparse.csr_array(X), Y.tolist())
    assert whole["a", "c"] is whole["c", "a"] is whole.parts[1]
    assert str(whole).startswith("a or b: ")
    assert not whole.verify(X, np.roll(Y, 1))


@pytest.mark.parametrize("kind", ["gap", "mistakes"])
def test_pairs_hold_on_a_precomputed_matrix(kind):
    """Of a kernel matrix each part sees rows and columns of its two classes."""
    K = KERNEL.exact(X, X)
    whole = proof(kind, kernel=Precomputed(), data=K)
    assert whole.verify(K, Y)
    verdict = whole.verify(K[:, :5], Y)
    assert not verdict
    assert "square" in str(verdict)


def test_either_class_of_a_pair_may_be_positive():
    """What matters is that the positive label is one of the two."""
    whole = proof()
    flipped = replace(whole.parts[0], positive="a")
    assert replace(whole, parts=(flipped, *whole.parts[1:])).verify(X, Y)


FALSE = {
    "parts swapped": lambda p: replace(p, parts=(p.parts[1], p.parts[0], p.parts[2])),
    "a part about another class": lambda p: replace(p, parts=(replace(p.parts[0], positive="c"), *p.parts[1:])),
    "a false part": lambda p: replace(p, parts=(replace(p.parts[0], dual=p.parts[0].primal), *p.parts[1:])),
    "a part missing": lambda p: replace(p, parts=p.parts[1:]),
    "a pair missing": lambda p: replace(p, parts=p.parts[1:], pairs=p.pairs[1:]),
    "a pair twice": lambda p: replace(p, pairs=(p.pairs[1], *p.pairs[1:])),
    "a pair turned": lambda p: replace(p, pairs=((1, 0), *p.pairs[1:])),
    "a pair of three": lambda p: replace(p, pairs=((0, 1, 2), *p.pairs[1:])),
    "a pair of words": lambda p: replace(p, pairs=(("a", "b"), *p.pairs[1:])),
    "a class beyond the last": lambda p: replace(p, pairs=((0, 3), *p.pairs[1:])),
    "a class twice": lambda p: replace(p, classes=("a", "a", "c")),
    "classes in another order": lambda p: replace(p, classes=("b", "c", "a")),
    "a class that is not there": lambda p: replace(p, classes=("a", "b", "d")),
    "a part that is none": lambda p: replace(p, parts=("words", *p.parts[1:])),
}


@pytest.mark.parametrize("lie", FALSE)
def test_false_pairs_are_refused(lie):
    """Any change of classes, pairs or parts is refused with a reason, in memory and in a file."""
    wrong = FALSE[lie](proof())
    verdict = wrong.verify(X, Y)
    assert not verdict
    assert all(verdict.reasons)
    if lie != "a part that is none":
        try:
            again = from_json(wrong.to_json())
        except CertificateError as error:
            assert "PerPair" in str(error) or "damaged" in str(error)  # noqa: PT017
        else:
            assert not again.verify(X, Y)


def test_labels_must_be_those_of_the_certificate():
    """A stranger in y, or a pair of classes without examples, is refused and named."""
    whole = proof()
    strange = np.where(np.arange(18) == 0, "d", Y)
    assert "['d']" in str(whole.verify(X, strange))
    assert "neither" in str(whole.verify(X[Y == "a"], Y[Y == "a"]))


@pytest.mark.parametrize("field", ["classes", "pairs", "parts"])
@pytest.mark.parametrize("value", [None, 1, "words", [], {"a": 1}, [[0.5, 1]], [None]])
def test_nonsense_in_a_file_is_no_certificate(field, value):
    """A file with anything else than what belongs in a field is no certificate."""
    body = json.loads(proof().to_json())
    body[field] = value
    with pytest.raises(CertificateError):
        from_json(json.dumps(body))
