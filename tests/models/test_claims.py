"""What a fit claims of its own numbers is what these measure on the data: nothing else, and nothing looser than rounding."""

import warnings
from dataclasses import replace
from importlib import import_module
from inspect import signature
from types import SimpleNamespace as Some

import numpy as np
import pytest

import halfspace as hs
from halfspace import certificates as proofs

RNG = np.random.default_rng(7)
CENTRES = np.array([[1.5, 1.0, 0.0], [-1.5, 0.5, 1.0], [0.0, -2.0, -1.0]])
THREE = np.arange(30) % 3
X = RNG.standard_normal((30, 3)) + CENTRES[THREE]
TWO = THREE % 2
T = X @ [1.0, -0.5, 0.25] + 0.2 * RNG.standard_normal(30)
S = 0.5 + RNG.integers(0, 3, 30)
IDLE = np.where(np.arange(30) % 7 == 3, 0.0, S)


def again(c, rows, y):
    """Measure what a certificate is about once more."""
    n = len(rows)

    def full(numbers, values):
        return np.bincount(numbers, values, n)

    bias = getattr(c, "bias", 0.0) if getattr(c, "free", False) else None
    if isinstance(c, proofs.MistakeBound):
        return proofs.MistakeBound.of(c.mistakes, again(c.bracket, rows, y), c.theorem, c.ballot)
    if isinstance(c, proofs.MarginBracket):
        strengths = full(c.rows, c.strengths)
        about = {"clamp": c.clamp, "positive": c.positive, "bias": bias}
        return proofs.MarginBracket.measure(rows, y, weights=c.weights, strengths=strengths, **about)
    if isinstance(c, proofs.KernelBracket):
        about = {"kernel": c.kernel, "clamp": c.clamp, "positive": c.positive, "bias": bias}
        strengths, coefficients = full(c.rows, c.strengths), full(c.support, c.coefficients)
        return proofs.KernelBracket.measure(rows, y, strengths=strengths, coefficients=coefficients, **about)
    if isinstance(c, proofs.KeslerBracket):
        alpha = np.zeros((len(c.classes), n))
        alpha[c.rivals, c.rows] = c.strengths
        about = {"clamp": c.clamp, "classes": np.array(c.classes)}
        return proofs.KeslerBracket.measure(rows, y, weights=c.weights, strengths=alpha, **about)
    if isinstance(c, proofs.DualityGap | proofs.KernelGap):
        about = {"C": c.C, "sample_weight": c.sample_weight, "bias": bias, "clamp": c.clamp, "positive": c.positive}
        about |= {"kernel": c.kernel} if isinstance(c, proofs.KernelGap) else {"weights": c.weights}
        return type(c).measure(rows, y, strengths=full(c.rows, c.strengths), **about)
    if isinstance(c, proofs.RidgeGap):
        constant = c.constant if c.free else None
        about = {"ridge": c.ridge, "constant": constant, "clamp": c.clamp, "sample_weight": c.sample_weight}
        return proofs.RidgeGap.measure(rows, y, weights=c.weights, **about)
    if isinstance(c, proofs.KernelRidgeGap):
        constants = c.constants if c.free else None
        about = {"ridge": c.ridge, "constants": constants, "clamp": c.clamp, "sample_weight": c.sample_weight}
        return proofs.KernelRidgeGap.measure(rows, y, kernel=c.kernel, coefficients=c.coefficients, **about)
    rule = {name: getattr(c, name) for name in ("normalised", "rate", "delta", "threshold", "hangover")}
    return proofs.FilterBound.measure(rows, y, n_taps=c.weights.shape[1], **rule)


def values(c):
    """Return what a certificate claims, by name."""
    if isinstance(c, proofs.MistakeBound):
        return {"bound": c.bound, **values(c.bracket)}
    names = ("lower", "upper", "radius", "primal", "dual", "objective", "gap", "sigma2", "left_out_error", "distance")
    return {name: getattr(c, name) for name in (*names, "energy", "errors", "noise", "bound") if hasattr(c, name)}


def parts_of(c, rows, y):
    """Yield the parts of a certificate, and theirs, with their data."""
    for k, part in enumerate(getattr(c, "parts", ())):
        if isinstance(c, proofs.PerOutput):
            yield part, rows, y[:, k]
        else:
            mine = np.isin(y, [c.classes[i] for i in c.pairs[k]]) if isinstance(c, proofs.PerPair) else np.ones(len(y), bool)
            mine = c.known(k, np.flatnonzero(c.cells == k)) if isinstance(c, proofs.PerCell) else mine
            yield from parts_of(part, rows[mine], y[mine])
    if not hasattr(c, "parts"):
        yield c, rows, y


def fitted(model, y, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if weight is None or "sample_weight" in signature(model.fit).parameters:
            return model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)
        return model.set_params(class_weight={0: float(weight[0]), 1: 0.5, 2: 2.5}).fit(X, y)


PLANES = [
    lambda: hs.Perceptron(max_iter=5),
    lambda: hs.Perceptron(max_iter=5, multi_class="native"),
    lambda: hs.AveragedPerceptron(max_iter=3),
    lambda: hs.VotedPerceptron(max_iter=3),
    lambda: hs.PocketPerceptron(max_iter=3),
    lambda: hs.PassiveAggressive(max_iter=3),
    lambda: hs.MinOver(max_iter=50),
    lambda: hs.AdaTron(tol=1e-4),
    lambda: hs.AdaTron(tol=1e-4, intercept="free"),
    lambda: hs.AdaTron(C=np.inf, max_iter=20),
]
KERNELS = [
    lambda: hs.KernelPerceptron(max_iter=3),
    lambda: hs.KernelPerceptron(max_iter=3, variant="averaged"),
    lambda: hs.KernelMinOver(max_iter=20),
    lambda: hs.KernelAdaTron(tol=1e-4),
    lambda: hs.KernelAdaTron(tol=1e-4, intercept="free", multi_class="ovo"),
    lambda: hs.KernelAdaTron(tol=1e-4, n_cells=2),
]
OF_NUMBERS = [
    hs.LinearRegression,
    lambda: hs.LinearRegression(ridge=0.5, intercept="free"),
    lambda: hs.LinearRegression(ridge=0.5, intercept="clamped"),
    lambda: hs.KernelRegression(gamma=0.2, ridge=0.5),
    lambda: hs.KernelRegression(gamma=0.2, ridge=0.5, kernel_rows=20),
    lambda: hs.AdaptiveFilter(n_taps=2),
]


def compare(proof, y):
    """Check that a proof holds, and that what it claims is what its numbers measure."""
    verdict = proof.verify(X, y)
    assert verdict, str(verdict)
    for part, rows, labels in parts_of(proof, X, y):
        if isinstance(part, proofs.OneLabel | proofs.Separability):
            continue
        found, expected = values(part), values(again(part, rows, labels))
        assert found
        for name, value in found.items():
            assert value == pytest.approx(expected[name], rel=1e-6, abs=1e-9), name


@pytest.mark.compiled
@pytest.mark.parametrize("make", [*PLANES, *KERNELS])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_machines_claim_what_their_numbers_measure(make, y):
    """With weights or without, both sides of each bracket and gap; mistakes are those that were counted."""
    for weight in (None, S):
        if weight is not None and isinstance(make(), hs.MinOver | hs.KernelMinOver):
            continue  # of which none are learnt with
        model = fitted(make(), y, weight)
        proof = model.certificate_
        compare(proof, y)
        parts = [part for part, *_ in parts_of(proof, X, y)]
        one = len(set(y)) == 2 or getattr(model, "multi_class", "") == "native"
        assert len(parts) == (1 if one else 3) or isinstance(proof, proofs.PerCell)
        if isinstance(parts[0], proofs.MistakeBound):
            assert sum(part.mistakes for part in parts) == np.sum(model.mistakes_)
            if isinstance(parts[0].theorem, proofs.Novikoff):
                rates = {0.5: None, float(S[0]): None} if len(set(y)) == 2 else {0.5: None, 2.5: None, float(S[0]): None}
                expected = (1.0, 1.0) if weight is None else (min(rates), max(rates))
                assert {(part.theorem.slowest, part.theorem.fastest) for part in parts} == {expected}
        if isinstance(proof, proofs.PerClass):
            assert proof.classes == (0, 1, 2)


@pytest.mark.compiled
@pytest.mark.parametrize("make", OF_NUMBERS)
@pytest.mark.parametrize("weight", [None, S, IDLE], ids=["plain", "weighted", "idle"])
def test_regressions_claim_what_their_numbers_measure(make, weight):
    """For one target and, where there may be several, for two; with weights, some of them 0."""
    model = make()
    for y in (T, np.stack([T, T[::-1]], axis=1)):
        if isinstance(model, hs.AdaptiveFilter) and (weight is not None or y.ndim == 2):
            continue
        model = fitted(make(), y, weight)
        compare(model.certificate_, y)
        parts = [part for part, *_ in parts_of(model.certificate_, X, y)]
        if isinstance(parts[0], proofs.RidgeGap):
            assert len(parts) == (1 if y.ndim == 1 else 2)
            assert {part.free for part in parts} == {model.intercept == "free"}


@pytest.mark.compiled
@pytest.mark.parametrize("make", PLANES[:3])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_a_plane_is_measured_on_any_examples(make, y):
    """`certify` gives the bracket of the current plane on other rows, as measured there."""
    model, rows, labels = fitted(make(), y), X[3:24] + 0.1, y[3:24]
    proof = model.certify(rows, labels)
    assert proof.verify(rows, labels)
    for part in getattr(proof, "parts", [proof]):
        bracket = getattr(part, "bracket", part)
        W = np.atleast_2d(bracket.weights)
        A = np.hstack([rows, np.full((21, 1), bracket.clamp)])[:, : W.shape[1]]
        if isinstance(bracket, proofs.KeslerBracket):
            F = A @ W.T
            own = np.take_along_axis(F, labels[:, None], axis=1)[:, 0]
            F[np.arange(21), labels] = -np.inf
            assert bracket.lower == pytest.approx((own - F.max(axis=1)).min() / np.linalg.norm(W), rel=1e-9)
        else:
            E = np.where(labels == bracket.positive, 1.0, -1.0) * (A @ W[0])
            assert bracket.lower == pytest.approx(E.min() / np.linalg.norm(W), rel=1e-9)
        longest = np.linalg.norm(A, axis=1).max() * (np.sqrt(2.0) if len(W) > 1 else 1.0)
        assert bracket.radius == pytest.approx(longest, rel=1e-9)


@pytest.mark.compiled
def test_a_bound_on_a_budget_needs_equal_weights():
    """The theorem of the Projectron knows one rate: with unequal weights there is the bracket alone."""
    bounded, alone = proofs.BudgetedMistakes, proofs.KernelBracket
    for weight, kind in ((None, bounded), ({0: 2.0, 1: 2.0}, bounded), ({0: 2.0, 1: 1.0}, alone)):
        proof = fitted(hs.KernelPerceptron(budget=10, max_iter=2, class_weight=weight), TWO).certificate_
        assert type(proof) is kind
        assert proof.verify(X, TWO)


@pytest.mark.compiled
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_votes_are_those_of_all_mistakes(y):
    """Every mistake is in the ballot, by the row it was made on; a warm start on other data has none."""
    model = fitted(hs.VotedPerceptron(max_iter=2, warm_start=True, random_state=0), y)
    parts = getattr(model.certificate_, "parts", [model.certificate_])
    assert [part.ballot.rows.size for part in parts] == [part.mistakes for part in parts]
    assert sum(part.mistakes for part in parts) == np.sum(model.mistakes_)
    changed = replace(parts[0], ballot=parts[0].ballot._replace(rows=parts[0].ballot.rows[::-1].copy()))
    assert not changed.verify(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[::-1] + 1.0, y[::-1])
    assert all(part.ballot is None for part in getattr(model.certificate_, "parts", [model.certificate_]))


def test_the_proof_of_an_elbow_is_that_of_its_last_row():
    """Whose number of prototypes was fitted last."""
    rows = [Some(certificate="first"), Some(certificate="last")]
    assert import_module("halfspace.models.prototypes.elbow")._Counts.certify(None, rows) == "last"


@pytest.mark.compiled
@pytest.mark.parametrize(
    "make", [lambda: hs.Perceptron(max_iter=3), lambda: hs.LVQ(max_iter=2), lambda: hs.GLVQ(max_iter=2), lambda: hs.KMeans(2)]
)
def test_a_model_is_certified_on_rows_like_those_it_learnt_from(make):
    """Rows of another width are refused, and the model goes on with its own."""
    model = fitted(make(), TWO)
    data = (X[:20] + 0.1, TWO[:20])[: 1 if isinstance(model, hs.KMeans) else 2]
    assert model.certify(*data).verify(*data)
    wide = (np.hstack([data[0], data[0]]), *data[1:])
    with pytest.raises(ValueError, match="features"):
        model.certify(*wide)
    assert model.n_features_in_ == 3


@pytest.mark.compiled
@pytest.mark.parametrize("make", [lambda: hs.VotedPerceptron(max_iter=2, warm_start=True, random_state=0)])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_votes_of_several_fits_on_the_same_rows_are_all_tied(make, y):
    """Rows of the second fit's mistakes count among all, and the proof is that of the model that predicts."""
    model = fitted(make(), y)
    for _ in range(2):
        model = fitted(model, y)
        assert len(model._pages) > 1
        assert model.verify(X, y)
    log = model._pages[-1][1]
    log.change[: int(log.size[0])] *= 2.0
    assert not model.verify(X, y)


@pytest.mark.compiled
@pytest.mark.parametrize("variant", ["plain", "voted"])
def test_the_clamped_input_of_a_kernel_is_that_of_the_proof(variant):
    """Its square is added to the kernel, whatever its size: the proof of the model that predicts holds."""
    model = fitted(hs.KernelPerceptron(variant=variant, intercept_scaling=1.5, max_iter=3), TWO)
    assert model.verify(X, TWO), str(model.verify(X, TWO))
