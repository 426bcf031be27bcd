"""Examples that vanish: what is too small to be proved is refused in one sentence, and nothing false of it verifies."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import halfspace as hs
from halfspace.certificates import KernelBracket, KernelGap, MarginBracket, PrototypeErrors
from halfspace.errors import InputError
from halfspace.kernels import Linear, Polynomial

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning"),
    pytest.mark.filterwarnings("ignore::halfspace.errors.GapWarning"),
]

ROWS = np.array([[1.0, 3.0], [2.0, -1.0], [-1.0, -2.0], [-3.0, 1.0], [1.0, 2.0], [-2.0, -3.0]])
LABELS = np.array([1, 1, 0, 0, 1, 0])
WAYS = {
    "separability": lambda X, y: hs.separability(X, y, "none"),
    "margin_bracket": lambda X, y: hs.margin_bracket(X, y, intercept="none", max_time=0.05),
    "Perceptron": lambda X, y: hs.Perceptron(intercept="none", max_iter=5).fit(X, y).certificate_,
    "VotedPerceptron": lambda X, y: hs.VotedPerceptron(intercept="none", max_iter=2).fit(X, y).certificate_,
    "MinOver": lambda X, y: hs.MinOver(intercept="none", max_iter=5).fit(X, y).certificate_,
    "AdaTron": lambda X, y: hs.AdaTron(C=np.inf, intercept="free", max_iter=5).fit(X, y).certificate_,
    "HebbClassifier": lambda X, y: hs.HebbClassifier(intercept="none").fit(X, y).certificate_,
    "Adaline": lambda X, y: hs.Adaline(intercept="none").fit(X, y).certificate_,
    "KernelPerceptron": lambda X, y: hs.KernelPerceptron("linear", intercept="none", max_iter=5).fit(X, y).certificate_,
    "KernelMinOver": lambda X, y: hs.KernelMinOver("linear", intercept="none", max_iter=5).fit(X, y).certificate_,
    "KernelAdaTron": lambda X, y: hs.KernelAdaTron("linear", intercept="none", max_iter=5).fit(X, y).certificate_,
    "LinearRegression": lambda X, y: hs.LinearRegression().fit(X, y).certificate_,
    "KernelRegression": lambda X, y: hs.KernelRegression("linear").fit(X, y).certificate_,
    "LVQ": lambda X, y: hs.LVQ(max_iter=5, random_state=0).fit(X, y).certificate_,
    "GMLVQ": lambda X, y: hs.GMLVQ(max_iter=5, random_state=0).fit(X, y).certificate_,
    "KMeans": lambda X, y: hs.KMeans(2, random_state=0).fit(X).certificate_,  # noqa: ARG005  (one signature for all)
    "IsotropicMixture": lambda X, y: hs.IsotropicMixture(2, random_state=0).fit(X).certificate_,  # noqa: ARG005
}


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-220, 1e-160, 0.0], ids="{:.0e}".format)
@pytest.mark.parametrize("way", WAYS)
def test_examples_that_vanish_are_refused_in_a_sentence_or_proved(way, scale):
    """Of denormals, of squares that underflow and of zeros alone: the proof holds, or X is said to be too small."""
    X = scale * ROWS
    try:
        proof = WAYS[way](X, LABELS)
    except InputError as error:
        refusal = str(error)
    else:
        for rows in (X, sparse.csr_matrix(X)):
            assert proof.verify(rows, LABELS), proof.verify(rows, LABELS)
        return
    assert scale > 0.0
    assert re.search("so small .*[Ss]cale the features", refusal)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, gamma=1.0, coef0=0.0)], ids=["linear", "square"])
def test_zeros_have_length_zero_in_the_space_of_a_kernel(kernel):
    """What underflow could take is not added to nothing: the radius and the upper side are 0; any other is refuted."""
    zeros = np.zeros((6, 2))
    proof = KernelBracket.measure(zeros, LABELS, kernel=kernel, strengths=np.ones(6), positive=1)
    assert (proof.radius, proof.upper) == (0.0, 0.0)
    assert proof.verify(zeros, LABELS), proof.verify(zeros, LABELS)
    assert not replace(proof, radius=1e-145).verify(zeros, LABELS)
    assert not replace(proof, upper=1e-145).verify(zeros, LABELS)


@pytest.mark.parametrize("scale", [5e-324, 1e-160])
def test_a_kernel_whose_values_underflow_proves_nothing(scale):
    """Claims are refused, and claims made elsewhere refuted; with a clamped input, or a constant in the kernel, they hold."""
    X, about = scale * ROWS, {"strengths": np.ones(6), "positive": 1}
    for kind, more in ((KernelBracket, {}), (KernelGap, {"C": 1.0})):
        with pytest.raises(InputError, match="so small"):
            kind.measure(X, LABELS, kernel=Linear(), **about, **more)
        verdict = kind.measure(ROWS, LABELS, kernel=Linear(), **about, **more).verify(X, LABELS)
        assert not verdict
        assert "so small" in str(verdict)
        for kernel, clamp in ((Linear(), 1.0), (Polynomial(2, gamma=1.0, coef0=1.0), 0.0)):
            proof = kind.measure(X, LABELS, kernel=kernel, clamp=clamp, **about, **more)
            assert proof.verify(X, LABELS), proof.verify(X, LABELS)


def test_lengths_below_the_normal_floats_are_not_bracketed():
    """A length of one or two units of the last place cannot be told within nine digits; just above it can, as with a clamp."""
    about = {"strengths": np.ones(6), "positive": 1}
    with pytest.raises(InputError, match="so small"):
        MarginBracket.measure(5e-324 * ROWS, LABELS, weights=np.ones(2), **about)
    proof = MarginBracket.measure(1e-300 * ROWS, LABELS, weights=np.ones(2), **about)
    assert proof.verify(1e-300 * ROWS, LABELS)
    assert not replace(proof, radius=1.5e-323, lower=-1e-322, upper=1e-322).verify(5e-324 * ROWS, LABELS)
    clamped = MarginBracket.measure(5e-324 * ROWS, LABELS, weights=np.ones(3), clamp=1.0, **about)
    assert clamped.verify(5e-324 * ROWS, LABELS)


@pytest.mark.parametrize("offset", [1.0, 1e150, 1e-100])
@pytest.mark.parametrize("scale", [1e-220, 1e-310, 1e-30])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_a_constant_column_does_not_hide_how_near_the_prototypes_are(offset, scale, storage):
    """Distances are those about the prototypes' mean: they do not underflow into ties beside a column that is all the same."""
    W, labels = np.array([[1.0, 2.0], [-2.0, -1.0]]), [1, 0]
    X, prototypes = (np.column_stack([np.full(len(part), offset), scale * part]) for part in (ROWS, W))
    X = storage(X)
    one = PrototypeErrors.measure(ROWS, LABELS, prototypes=W, labels=labels)
    proof = PrototypeErrors.measure(X, LABELS, prototypes=prototypes, labels=labels)
    assert proof.errors == one.errors
    assert proof.verify(X, LABELS), proof.verify(X, LABELS)
    for errors in {0, 1, 2, 3} - {one.errors}:
        assert not replace(proof, errors=errors).verify(X, LABELS)
