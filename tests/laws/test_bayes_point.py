"""The Bayes point: the centre of the version space, and how far the labels leave its answers open."""

from dataclasses import replace

import numpy as np
import pytest

import halfspace as hs
from halfspace.certificates import from_json
from halfspace.errors import InputError, MemoryLimitError, NotSeparatedWarning


def problem(P, N, seed):
    """Return random examples and the labels of a teacher."""
    rng = np.random.default_rng(seed)
    teacher, X = rng.standard_normal(N), rng.standard_normal((P, N))
    return X, (X @ teacher > 0).astype(int)


@pytest.mark.parametrize("seed", range(3))
def test_the_answer_is_the_exact_centre_of_mass(seed):
    """With three weights it is within four standard errors of the centre of the exact polygon."""
    X, y = problem(10, 3, seed)
    model = hs.BayesPoint(intercept="none", random_state=seed).fit(X, y)
    exact = hs.VersionSpace(X, y, intercept="none").polygon().centre
    assert np.arccos(min(1.0, float(model.coef_[0] @ exact))) < 4 * model.centre_error_[0]


def test_disagreement_is_the_share_of_the_arc():
    """On a quarter circle the share of members against the answer is the share of the angle, half of them at the middle."""
    model = hs.BayesPoint(intercept="none", n_members=4000, random_state=0).fit(np.eye(2), [1, 0])
    at = np.array([[1.0, 1.0], [np.cos(np.pi / 8), np.sin(np.pi / 8)], [1.0, -1.0]])
    assert model.disagreement(at)[1:] == pytest.approx([0.25, 0.0], abs=0.03)
    assert model.disagreement(at)[0] == pytest.approx(0.5, abs=0.03)


def test_it_errs_less_than_a_random_member():
    """Against the teacher the centre errs less than members do on average, as theory has it."""
    rng = np.random.default_rng(0)
    teacher, X, new = rng.standard_normal(20), rng.standard_normal((60, 20)), rng.standard_normal((2000, 20))
    model = hs.BayesPoint(intercept="none", random_state=0).fit(X, X @ teacher > 0)
    truth = new @ teacher > 0
    members = ((new @ model.members_[0].T > 0) != truth[:, None]).mean()
    assert (model.predict(new) != truth).mean() < members


@pytest.mark.parametrize("kernel", [None, "rbf", "linear"])
def test_a_proof_of_anything_else_is_refuted(kernel):
    """A member that is negated, another plane, or other labels do not pass; the proof survives JSON."""
    X, y = problem(20, 3, 1)
    proof = hs.BayesPoint(kernel, n_members=30, random_state=0).fit(X, y).certificate_
    assert proof.separable
    assert from_json(proof.to_json()).verify(X, y)
    wrong = proof.members.copy()
    wrong[3] *= -1.0
    assert "1 of the members do not agree" in str(replace(proof, members=wrong).verify(X, y))
    assert "not the mean" in str(replace(proof, members=proof.members[:5]).verify(X, y))
    assert not proof.verify(X, 1 - y)
    assert not replace(proof, members=proof.members[:, 1:]).verify(X, y)


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_inseparable_data_are_said_to_be_with_a_proof(kernel):
    """An example with both labels: the outcome names the proof and a remedy, and there is no share of nothing."""
    X, y = np.array([[0.0], [1.0], [2.0], [2.0]]), np.array(["a", "b", "a", "b"])
    with pytest.warns(NotSeparatedWarning, match="no plane agrees with all labels"):
        model = hs.BayesPoint(kernel).fit(X, y)
    assert model.outcome_.reason == "proved inseparable"
    assert "AdaTron" in model.outcome_.remedy
    assert model.certificate_.separable is False
    assert set(model.certificate_.empty.multipliers) == {2, 3}
    assert model.verify(X, y)
    with pytest.raises(InputError, match="no version space"):
        model.disagreement(X)


def test_multipliers_of_the_input_space_prove_nothing_in_a_kernels():
    """XOR is inseparable by planes, and a quadratic kernel separates it: that proof is refuted for a function."""
    X, y, *_ = hs.data.xor()
    linear = hs.separability(X, y)
    model = hs.BayesPoint("poly", degree=2, gamma=1.0, coef0=1.0, n_members=20, random_state=0).fit(X, y)
    assert model.verify(X, y)
    false = replace(model.certificate_, members=model.certificate_.members[:0], empty=linear)
    assert "the proof does not hold in the kernel's space" in str(false.verify(X, y))


def test_without_a_proof_none_is_claimed():
    """A linear kernel on XOR: neither separated nor proved inseparable, and the certificate claims neither."""
    X, y, *_ = hs.data.xor()
    with pytest.warns(NotSeparatedWarning, match="neither separated nor proved"):
        model = hs.BayesPoint("linear").fit(X, y)
    assert model.certificate_.separable is None
    assert model.verify(X, y)


def test_with_several_classes_a_member_is_a_plane_for_each():
    """On the examples all members say the right class; between the classes they disagree."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 5.0], [5.0, -3.0], [-5.0, -3.0]])
    X, y = np.repeat(centres, 15, axis=0) + rng.standard_normal((45, 2)), np.repeat(["a", "b", "c"], 15)
    model = hs.BayesPoint(n_members=200, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert not model.disagreement(X).any()
    assert model.disagreement([[0.0, 0.0]])[0] > 0.1


def test_a_precomputed_kernel_gives_the_same_function():
    """From the matrix of a kernel the outputs are those of the kernel."""
    X, y = problem(25, 4, 2)
    kernel = hs.kernels.RBF(0.3)
    K, new = kernel.exact(X), np.random.default_rng(1).standard_normal((5, 4))
    one = hs.BayesPoint(kernel, n_members=50, random_state=0).fit(X, y)
    other = hs.BayesPoint("precomputed", n_members=50, random_state=0).fit(K, y)
    assert other.decision_function(kernel.exact(new, X)) == pytest.approx(one.decision_function(new), abs=1e-6)
    assert other.verify(K, y)


def test_a_loaded_model_answers_the_same(tmp_path):
    """Plane, members and proof are in the file, with a kernel and without; the same seed gives the same bits."""
    X, y = problem(20, 3, 3)
    for kernel in (None, "rbf"):
        model = hs.BayesPoint(kernel, n_members=40, random_state=5).fit(X, y)
        hs.save(model, tmp_path / "model.halfspace")
        loaded = hs.load(tmp_path / "model.halfspace")
        again = hs.BayesPoint(kernel, n_members=40, random_state=5).fit(X, y)
        for other in (loaded, again):
            assert np.array_equal(other.decision_function(X), model.decision_function(X))
            assert np.array_equal(other.disagreement(X + 0.3), model.disagreement(X + 0.3))
            assert other.verify(X, y)


@pytest.mark.compiled
def test_a_time_limit_leaves_fewer_members():
    """What was drawn in time is the answer, with its proof."""
    X, y = problem(200, 60, 4)
    hs.BayesPoint(n_members=2, random_state=0).fit(X, y)  # what is compiled first takes longer than that
    model = hs.BayesPoint(n_members=10**6, max_time=0.2, random_state=0).fit(X, y)
    assert model.outcome_.reason == "time budget spent"
    assert 0 < len(model.members_[0]) < 10**6
    assert model.verify(X, y)


def test_shapes_beyond_the_memory_limit_are_refused():
    """Walls are dense, and their products n x n: the bytes are predicted before anything is made."""
    X, y = np.zeros((20_000, 3)), np.arange(20_000) % 2
    for ask in (lambda: hs.BayesPoint().fit(X, y), lambda: hs.VersionSpace(X, y)):
        with hs.memory_limit("1GB"), pytest.raises(MemoryLimitError, match="fewer rows or columns"):
            ask()
