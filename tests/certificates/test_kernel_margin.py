"""The margin bracket in a kernel's space and the mistake bound made of it: true ones hold, false ones are refused."""

import json
import warnings
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import SVC

from halfspace.certificates import KernelBracket, MarginBracket, MistakeBound, Novikoff, check, from_json
from halfspace.certificates.expansion import indefiniteness, scales
from halfspace.errors import CertificateError, InputError
from halfspace.kernels import RBF, Laplacian, Linear, Polynomial, Precomputed, Sigmoid

X = np.array([[1.5, 2.0], [2.0, 1.0], [0.75, 1.25], [-1.0, 1.25], [-2.0, 1.5], [0.5, -2.0], [-1.5, -1.0]])
Y = np.array(["in", "in", "in", "out", "out", "out", "in"])  # the products of coordinates, roughly
SIGN = np.where(Y == "in", 1.0, -1.0)
STRENGTHS = np.array([0.5, 0.25, 1.0, 0.75, 0.0, 1.0, 1.0])
BALANCED = np.array([0.25, 0.25, 0.5, 0.75, 0.0, 1.0, 0.75])
BOX = RBF(1.0)
GRAM = BOX.exact(X, X)


def measured(kernel=BOX, strengths=STRENGTHS, data=X, **options):
    return KernelBracket.measure(data, Y, kernel=kernel, strengths=strengths, positive="in", **options)


BUILD = {
    "plain": lambda: (measured(), X),
    "clamped": lambda: (measured(clamp=0.5), X),
    "free": lambda: (measured(strengths=BALANCED, bias=0.0625), X),
    "signed": lambda: (measured(coefficients=np.array([1.0, 0.5, 1.0, -1.0, 0.25, -1.0, 1.0])), X),
    "polynomial": lambda: (measured(kernel=Polynomial(degree=2, coef0=1.0)), X),
    "precomputed": lambda: (measured(kernel=Precomputed(), data=GRAM), GRAM),
}
CASES = list(BUILD)
every_case = pytest.mark.parametrize("case", CASES)


@lru_cache
def true(case):
    return BUILD[case]()


def edit(array, place, value):
    changed = np.array(array)
    changed[place] = value
    return changed


def accepted(certificate, data, labels=Y):
    verdict = certificate.verify(data, labels)
    assert verdict, str(verdict)


def refused(make, data, labels=Y, name=""):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            verdict = make().verify(data, labels)
        except (CertificateError, InputError) as error:
            assert str(error)  # noqa: PT017
            return
    assert not verdict, f"a false claim was accepted: {name}"
    assert all(verdict.reasons)


@every_case
def test_true_brackets_hold(case, tmp_path):
    """A bracket measured on the data holds on them, in every form, and after a trip through a file with every bit."""
    bracket, data = true(case)
    path = tmp_path / "bracket.json"
    again = from_json(bracket.to_json(path))
    assert again.to_json() == bracket.to_json()
    assert check(path, data, Y)
    assert 0.0 < bracket.lower <= bracket.upper < bracket.radius
    assert bracket.separable
    forms = [np.asarray, np.asfortranarray, sparse.csr_array, np.ndarray.tolist]
    for form in forms if case == "precomputed" else [*forms, np.float32]:
        accepted(again, form(data), Y.tolist())


@pytest.mark.parametrize("bias", [None, 0.125])
@pytest.mark.parametrize("clamp", [0.0, 2.0])
def test_the_linear_kernel_gives_the_bracket_of_planes(clamp, bias):
    """With k(x, x') = x·x' both sides and the radius are those of the plane Σ alpha_i y_i x_i."""
    if clamp and bias:
        clamp = 0.0
    mine = measured(kernel=Linear(), strengths=BALANCED, clamp=clamp, bias=bias)
    rows = np.c_[X, np.full(7, clamp)] if clamp else X
    weights = (BALANCED * SIGN) @ rows
    plane = MarginBracket.measure(X, Y, weights=weights, strengths=BALANCED, clamp=clamp, positive="in", bias=bias)
    assert (mine.lower, mine.upper, mine.radius) == pytest.approx((plane.lower, plane.upper, plane.radius), rel=1e-9)


def test_the_bracket_closes_at_the_largest_margin():
    """The strengths of a hard-margin SVM without bias bracket the best margin within its tolerance."""
    K = np.outer(SIGN, SIGN) * GRAM
    alpha = np.linalg.solve(K, np.ones(7))
    assert (alpha > 0).all()  # all are support vectors, so this is the optimum
    bracket = measured(strengths=alpha)
    assert bracket.upper - bracket.lower < 1e-9
    assert bracket.lower == pytest.approx(1 / np.sqrt(alpha.sum()), rel=1e-9)


def test_a_free_bias_bracket_holds_for_an_svm():
    """LIBSVM's solution with a large C brackets the margin with a free bias."""
    svm = SVC(kernel="precomputed", C=1e6, tol=1e-6).fit(GRAM, Y == "in")
    strengths = np.zeros(7)
    strengths[svm.support_] = np.abs(svm.dual_coef_[0])
    bracket = measured(strengths=strengths, bias=svm.intercept_[0])
    assert 0.0 < bracket.lower <= bracket.upper < bracket.lower * (1 + 1e-4)
    accepted(bracket, X)


SAME = {
    "coefficients doubled": lambda b: replace(b, coefficients=2.0 * b.coefficients, bias=2.0 * b.bias),
    "coefficients times 2^-600": lambda b: replace(b, coefficients=2.0**-600 * b.coefficients, bias=2.0**-600 * b.bias),
    "strengths times 2^600": lambda b: replace(b, strengths=2.0**600 * b.strengths),
    "terms in another order": lambda b: replace(b, support=b.support[::-1], coefficients=b.coefficients[::-1]),
}


@every_case
def test_the_same_claim_in_other_words_holds(case):
    """Order and scale of the witnesses do not matter."""
    bracket, data = true(case)
    for change in SAME.values():
        accepted(change(bracket), data)


FALSE = {
    "lower raised": lambda b: replace(b, lower=b.lower * (1 + 1e-6)),
    "lower at the upper": lambda b: replace(b, lower=b.upper),
    "lower far lower": lambda b: replace(b, lower=-b.radius),
    "upper lowered": lambda b: replace(b, upper=b.upper * (1 - 1e-6)),
    "upper zero": lambda b: replace(b, upper=0.0, lower=-b.radius),
    "upper infinite": lambda b: replace(b, upper=np.inf),
    "sides swapped": lambda b: replace(b, lower=b.upper, upper=b.lower),
    "radius smaller": lambda b: replace(b, radius=b.radius * (1 - 1e-6)),
    "radius larger": lambda b: replace(b, radius=b.radius * (1 + 1e-6)),
    "another kernel": lambda b: replace(b, kernel=Laplacian(0.5)),
    "gamma not known": lambda b: replace(b, kernel=RBF("scale")),
    "a coefficient negated": lambda b: replace(b, coefficients=edit(b.coefficients, 0, -b.coefficients[0])),
    "a coefficient nudged": lambda b: replace(b, coefficients=edit(b.coefficients, 2, 1.001 * b.coefficients[2])),
    "a coefficient without a row": lambda b: replace(b, support=b.support[1:]),
    "no function": lambda b: replace(b, support=b.support[:0], coefficients=b.coefficients[:0]),
    "a strength nudged": lambda b: replace(b, strengths=edit(b.strengths, 0, 1.001 * b.strengths[0])),
    "a strength negative": lambda b: replace(b, strengths=edit(b.strengths, 0, -1.0)),
    "no strengths": lambda b: replace(b, strengths=b.strengths[:0], rows=b.rows[:0]),
    "a row changed": lambda b: replace(b, rows=edit(b.rows, 0, 4)),
    "a row twice": lambda b: replace(b, rows=edit(b.rows, 1, b.rows[0])),
    "a row beyond the last": lambda b: replace(b, rows=edit(b.rows, -1, 7)),
    "a support row beyond the last": lambda b: replace(b, support=edit(b.support, -1, 7)),
    "a support row twice": lambda b: replace(b, support=edit(b.support, 1, b.support[0])),
    "clamp changed": lambda b: replace(b, clamp=b.clamp + 0.5),
    "bias changed": lambda b: replace(b, bias=b.bias + 0.125),
    "unknown label": lambda b: replace(b, positive="elsewhere"),
    "other label": lambda b: replace(b, positive="out"),
}


@every_case
def test_false_brackets_are_refused(case):
    """A bracket with any field changed is refused with a reason, in memory and in a file."""
    bracket, data = true(case)
    for name, lie in FALSE.items():
        refused(partial(lie, bracket), data, name=name)
        try:
            text = lie(bracket).to_json()
        except (CertificateError, InputError):
            continue
        refused(partial(from_json, text), data, name=name)


@pytest.mark.parametrize("case", ["plain", "clamped", "free", "signed"])
def test_another_width_of_the_kernel_is_refused(case):
    """The numbers are those of this gamma and of no other."""
    bracket, data = true(case)
    refused(lambda: replace(bracket, kernel=RBF(1.0005)), data)


@every_case
def test_brackets_are_refused_on_other_data(case):
    """A flipped label, a changed row or a missing class refutes the bracket."""
    bracket, data = true(case)
    refused(lambda: bracket, data, edit(Y, 0, "out"))
    refused(lambda: bracket, edit(data, 2, data[3]))
    refused(lambda: bracket, data[:-1], Y[:-1])
    refused(lambda: bracket, 1e-200 * data)
    refused(lambda: bracket, data, np.full(7, "in"))


def test_tiny_examples_prove_no_zero():
    """Kernel values that underflow prove neither a margin of 0 nor a radius: nothing is claimed, and a claim is refuted."""
    data, labels = np.array([[1e-200], [-1e-200]]), np.array([1, 0])
    with pytest.raises(InputError, match="so small"):
        KernelBracket.measure(data, labels, kernel=Linear(), strengths=np.ones(2), positive=1)
    zero = KernelBracket.measure(0.0 * data, labels, kernel=Linear(), strengths=np.ones(2), positive=1)
    accepted(zero, 0.0 * data, labels)
    for upper, radius in ((0.0, 0.0), (2e-145, 1e-145)):
        refused(lambda: replace(zero, upper=upper, radius=radius), data, labels)  # noqa: B023  (called at once)


def test_indefinite_kernels_are_refused():
    """Without an inner product there are no lengths, so no margin."""
    with pytest.raises(InputError, match="not positive semi-definite"):
        measured(kernel=Sigmoid(1.0, -1.0), data=0.1 * X)


@every_case
def test_claims_of_a_solver_hold(case):
    """Potentials and lengths that a solver has at hand make a bracket that holds; wrong ones do not."""
    b, data = true(case)
    K = (data if case == "precomputed" else b.kernel.exact(data, data)) + b.clamp**2
    c, alpha = np.zeros(7), np.zeros(7)
    c[b.support], alpha[b.rows] = b.coefficients, b.strengths
    E, square, other = SIGN * (K @ c + b.bias), c @ K @ c, (alpha * SIGN) @ K @ (alpha * SIGN)
    size = scales(b.kernel, data, b.clamp, indefiniteness(b.kernel, data)[0])
    draft = KernelBracket.draft(
        b.kernel, SIGN, alpha, coefficients=c, clamp=b.clamp, positive="in", bias=b.bias if b.free else None
    )
    for noise in (0.0, 1e-10):
        claim = draft.claim(size, SIGN, E + noise, square, witness_square=other, error=noise)
        accepted(claim, data)
        assert (claim.lower, claim.upper) == pytest.approx((b.lower, b.upper), rel=1e-6)
    refused(lambda: draft.claim(size, SIGN, E + 1e-5, square, witness_square=other), data)
    refused(lambda: draft.claim(size, SIGN, E, 0.99 * square, witness_square=other), data)
    refused(lambda: draft.claim(size, SIGN, E, square, witness_square=0.99 * other), data)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_true_bracket_is_refused(seed):
    """Whatever shape, scale and kernel: what was measured holds, and the sides are in order."""
    rng = np.random.default_rng(seed)
    n, d, scale = rng.integers(2, 25), rng.integers(1, 6), 10.0 ** rng.uniform(-4, 4)
    data, labels = scale * rng.standard_normal((n, d)), np.where(rng.random(n) < 0.5, 1, 0)
    labels[:2] = 0, 1
    kernel = [RBF("scale"), Polynomial(degree=2, gamma=1 / scale**2, coef0=1.0), Laplacian("scale"), Linear()][seed % 4]
    strengths, bias = edit(rng.random(n) * (rng.random(n) < 0.6), 0, 1.0), None if seed % 3 else rng.standard_normal()
    coefficients = None if seed % 2 else rng.standard_normal(n)
    bracket = KernelBracket.measure(
        data, labels, kernel=kernel, strengths=strengths, coefficients=coefficients, positive=1, bias=bias
    )
    assert bracket.lower <= bracket.upper
    accepted(from_json(bracket.to_json()), data, labels)
    accepted(bracket, sparse.csr_array(data), labels)


# ---------------------------------------------------------------- the mistake bound in the kernel's space
def kernel_perceptron(K, sign):
    """Return strengths and mistakes of Rosenblatt's rule on kernel rows, until an epoch without a mistake."""
    alpha, mistakes = np.zeros(sign.size), -1
    while alpha.sum() > mistakes:
        mistakes = alpha.sum()
        for i in range(sign.size):
            alpha[i] += sign[i] * (K[i] @ (alpha * sign)) <= 0.0
    return alpha, int(mistakes)


def test_novikoff_holds_in_the_kernels_space(tmp_path):
    """The kernel perceptron makes no more than (R/kappa)² mistakes; fewer than it made cannot be claimed as the bound."""
    alpha, mistakes = kernel_perceptron(GRAM, SIGN)
    bracket = measured(strengths=alpha)
    proof = MistakeBound.of(mistakes, bracket, Novikoff())
    assert proof.bound == pytest.approx((bracket.radius / bracket.lower) ** 2)
    assert 0 < mistakes <= proof.bound
    proof.to_json(tmp_path / "proof.json")
    assert check(tmp_path / "proof.json", X, Y)
    assert from_json(proof.to_json()).to_json() == proof.to_json()
    refused(lambda: replace(proof, bound=0.9 * proof.bound), X)
    refused(lambda: MistakeBound.of(mistakes, replace(bracket, lower=bracket.upper), Novikoff()), X)
    refused(lambda: replace(proof, mistakes=int(proof.bound) + 1), X)
    body = json.loads(proof.to_json())
    body["bracket"]["kernel"]["gamma"] = 0.5
    refused(lambda: from_json(json.dumps(body)), X)
