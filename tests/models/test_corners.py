"""Corners of what models claim: the numbers handed to a certificate, and those without any example of strength."""

from types import SimpleNamespace as Some

import numpy as np
import pytest

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
