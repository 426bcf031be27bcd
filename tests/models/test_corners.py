"""Corners of what models claim: the numbers handed to a certificate, and those without any example of strength."""

from types import SimpleNamespace as Some

import numpy as np
import pytest
from sklearn.base import clone

import halfspace as hs
from halfspace import certificates as proofs
from halfspace.kernels import Linear
from halfspace.models.kernel.prediction import measured

RNG = np.random.default_rng(3)
THREE = np.arange(18) % 3
X = RNG.standard_normal((18, 2)) + np.array([[2.0, 1.0], [-2.0, 0.5], [0.0, -2.5]])[THREE]


@pytest.mark.parametrize("y", [THREE, THREE % 2])
def test_a_plane_allows_for_as_many_additions_as_there_were(y, monkeypatch):
    """Of all rows and columns once, and of all updates of all problems: a claim is off by no more terms."""
    seen, plain = [], proofs.MarginBracket.claim.__func__

    def claim(cls, sides, **about):
        seen.append(sides.terms)
        return plain(cls, sides, **about)

    monkeypatch.setattr(proofs.MarginBracket, "claim", classmethod(claim))
    model = hs.Perceptron(max_iter=7, patience=None, random_state=0)
    with pytest.warns(hs.errors.NotSeparatedWarning):
        model.fit(X, y)
    assert set(seen) == {18 + 2 + int(model._state.updates.sum())}


@pytest.mark.parametrize("K", [1, 3])
def test_without_strengths_the_shortest_example_is_a_kernels_witness(K):
    """With strength 1; negative strengths count as none, and those of other problems stay."""
    target = THREE[:6]
    data = Some(
        X=X[:6], classes=np.arange(max(K, 2)), positive=np.arange(K) + (K == 1), target=target % (K + (K == 1)), clamp=0.0
    )
    expansion = Some(kernel=Linear(), rows=np.array([1, 4]), coefficients=np.full((K, 2), 0.5))
    shortest = int(np.argmin((X[:6] ** 2).sum(axis=1)))
    alpha = np.zeros((K, 6))
    alpha[-1, 2], alpha[0, 3] = 0.25, -4.0
    if K == 1:
        alpha[0, 2] = 0.0
    found = measured(data, 0.0, alpha, expansion)
    for k, part in enumerate(found.parts):
        last = K > 1 and k == K - 1
        assert (part.rows.tolist(), part.strengths.tolist()) == (([2], [0.25]) if last else ([shortest], [1.0]))
        assert part.verify(X[:6], data.target)
        outputs = X[:6] @ (0.5 * X[1] + 0.5 * X[4])
        assert found.E[k] == pytest.approx(np.where(data.target == data.positive[k], 1.0, -1.0) * outputs)


def weights_of(proof):
    """Return the example weights of a certificate, and of its parts."""
    return [weights_of(part) for part in proof.parts] if hasattr(proof, "parts") else proof.sample_weight


@pytest.mark.parametrize("y", [THREE % 2, THREE])
@pytest.mark.parametrize("model", [hs.AdaTron(C=1.0), hs.KernelAdaTron("rbf", gamma=0.5, C=1.0), hs.Adaline(solver="exact")])
def test_weights_are_kept_unless_all_are_one(model, y):
    """A certificate names the weight of every example; weights of 1 are none, and one that is not 1 is enough."""
    for weight in ({}, {0: 1.0, 1: 1.0}, {0: 2.0, 1: 0.5, 2: 4.0}, {0: 1.0, 1: 0.5}, {0: 0.5, 1: 1.0}):
        known = {label: value for label, value in weight.items() if label <= y.max()}
        proof = clone(model).set_params(class_weight=known or None).fit(X, y).certificate_
        each = np.array([known.get(label, 1.0) for label in y.tolist()])
        for found in np.atleast_1d(np.array(weights_of(proof), dtype=object)) if y.max() < 2 else weights_of(proof):
            assert (found is None) is bool((each == 1.0).all())
        if y.max() < 2 and not (each == 1.0).all():
            assert proof.sample_weight.tolist() == each.tolist()
        assert proof.verify(X, y)


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_leaving_out_keeps_the_weights_of_the_model(kernel):
    """All other than 1, some other than 1, or none."""
    for known in (None, {0: 2.0, 1: 0.5}, {0: 1.0, 1: 0.5}):
        model = hs.KernelAdaTron(kernel, C=1.0, class_weight=known) if kernel else hs.AdaTron(C=1.0, class_weight=known)
        gap = hs.leave_one_out(model, X, THREE % 2).gap
        assert (gap.sample_weight is None) is (known is None)
        if known:
            assert gap.sample_weight.tolist() == [known[label] for label in (THREE % 2).tolist()]
