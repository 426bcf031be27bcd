"""The kernel perceptron: the perceptron's mistakes in any feature space, votes and means, streams, proofs."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.callback import ScoringMonitor
from sklearn.model_selection import GridSearchCV

import halfspace as hs
from halfspace.certificates import KernelBracket, MistakeBound, PerClass, from_json
from halfspace.data import spirals, teacher_student, xor
from halfspace.errors import InputError, NotSeparatedWarning
from halfspace.kernels import RBF, FromFunction, Laplacian, Linear, Polynomial
from halfspace.kernels.gram import LazyGram

quiet = pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")
Model = hs.KernelPerceptron


def whole_numbers(n=40, d=3, seed=0):
    """Return examples and labels whose kernel sums are whole numbers, hence exact."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float)
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, 1, -1)


def products(X):
    return (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)


MAPS = {
    "x·x'": (Linear(), lambda X: X),
    "(x·x')²": (Polynomial(2, gamma=1.0), products),
    "(x·x' + 4)²": (Polynomial(2, gamma=1.0, coef0=4.0), lambda X: products(np.c_[X, np.full(len(X), 2.0)])),
    "(x·x')³": (Polynomial(3, gamma=1.0), lambda X: (products(X)[:, :, None] * X[:, None, :]).reshape(len(X), -1)),
}


@quiet
@pytest.mark.parametrize("clamp", [0.0, 2.0])
@pytest.mark.parametrize("name", MAPS)
def test_the_mistakes_are_those_of_the_perceptron_on_the_feature_map(name, clamp):
    """Kernel and feature map make the same mistakes, at the same presentations, and the same function."""
    X, y = whole_numbers()
    kernel, feature_map = MAPS[name]
    bias = {"intercept": "clamped", "intercept_scaling": clamp} if clamp else {"intercept": "none"}
    options = {"max_iter": 6, "shuffle": False, **bias}
    primal = hs.VotedPerceptron(**options).fit(feature_map(X), y)
    model = Model(kernel, variant="voted", **options).fit(X, y)
    assert_array_equal(model._learner.page.log.time, primal._pages[0][1].time)
    assert_array_equal(model.alpha_, primal.alpha_)
    assert_array_equal(model.mistakes_, primal.mistakes_)
    assert_allclose(model.decision_function(X), primal.decision_function(feature_map(X)), rtol=1e-12)
    assert_array_equal(model.votes_[0], primal.votes_[0])


@quiet
@pytest.mark.parametrize("kernel", [RBF(0.5), Laplacian(1.0), Polynomial(3, 0.5, 1.0)], ids=str)
def test_the_mistakes_are_those_of_the_rule_written_out(kernel):
    """Strengths, mistakes and squared length are those of the rule in NumPy on the kernel matrix."""
    X, y = np.random.default_rng(1).standard_normal((50, 2)), np.tile([1, -1], 25)
    K, c, mistakes = kernel.exact(X) + 1.0, np.zeros(50), 0
    for i in np.tile(np.arange(50), 7):
        if y[i] * (K[i] @ c) <= 0:
            c[i] += y[i]
            mistakes += 1
    model = Model(kernel, max_iter=7, shuffle=False).fit(X, y)
    assert_array_equal(model.alpha_, c * y)
    assert model.mistakes_ == mistakes
    assert_allclose(model.history_["squared_norm"][-1], c @ K @ c, rtol=1e-9)


@quiet
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("variant", ["plain", "averaged", "voted"])
def test_a_matrix_that_does_not_fit_is_never_built_and_changes_nothing(variant, classes, monkeypatch):
    """In blocks the mistakes are the same; the largest piece of the kernel matrix asked for is far from all of it."""
    X, y, *_ = spirals(150, turns=1.0)
    y = y if classes == 2 else np.arange(150) % classes
    options = {"gamma": 10.0, "variant": variant, "max_iter": 3, "random_state": 0}
    reference = Model(**options).fit(X, y)
    asked, block = [], LazyGram.block
    monkeypatch.setattr(LazyGram, "block", lambda *args, **kw: asked.append(args[1].size) or block(*args, **kw))
    monkeypatch.setattr("halfspace.solvers.kernel.perceptron.BLOCK_VALUES", 150 * 20)
    model = Model(cache_size=0.01, **options).fit(X, y)
    assert max(asked) <= 20
    assert "in blocks" in model.outcome_.sentence
    assert_allclose(model.alpha_, reference.alpha_)
    assert_array_equal(model.mistakes_, reference.mistakes_)
    assert_allclose(model.decision_function(X), reference.decision_function(X), rtol=1e-9, atol=1e-9)


@quiet
@pytest.mark.parametrize(
    "options", [{}, {"variant": "averaged"}, {"variant": "voted"}, {"budget": 9}, {"cache_size": 0.01}], ids=str
)
def test_resuming_watching_and_running_in_one_go_give_the_same_bits(options):
    """Shuffled epochs: one fit of five, five warm starts of one, and a fit that is watched give equal strengths."""
    X, y = np.random.default_rng(0).standard_normal((120, 2)), np.random.default_rng(1).integers(0, 2, 120)
    common = {"gamma": 0.1, "random_state": 3, **options}
    whole = Model(max_iter=5, **common).fit(X, y)
    parts = Model(max_iter=1, warm_start=True, **common)
    for _ in range(5):
        parts.fit(X, y)
    watched = Model(max_iter=5, **common).set_callbacks(ScoringMonitor(scoring="accuracy")).fit(X, y)
    for other in (parts, watched):
        assert_array_equal(other.alpha_, whole.alpha_)
        assert_array_equal(other.decision_function(X), whole.decision_function(X))
        assert other.mistakes_ == whole.mistakes_


@quiet
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("variant", ["plain", "averaged"])
def test_a_changed_model_no_longer_verifies(variant, classes):
    """The certificate has no coefficients of its own: it shares those that predict."""
    X, y, *_ = spirals(60, turns=1.0)
    y = y if classes == 2 else np.arange(60) % classes
    model = Model(gamma=10.0, variant=variant, max_iter=4).fit(X, y)
    proof = model.certificate_
    parts = proof.parts if classes > 2 else [proof]
    assert all(np.shares_memory(part.bracket.coefficients, model._expansion.coefficients) for part in parts)
    assert proof.verify(X, y)
    model._expansion.coefficients[:] *= -1.0
    assert not proof.verify(X, y)


def literal(K, y, epochs):
    """Return every function a kernel perceptron had, as strengths times labels, and for how many presentations each."""
    c, functions, votes = np.zeros(len(y)), [], []
    for i in np.tile(np.arange(len(y)), epochs):
        if y[i] * (K[i] @ c) <= 0:
            c = c.copy()
            c[i] += y[i]
            functions.append(c)
            votes.append(0)
        votes[-1] += 1
    return np.array(functions), np.array(votes)


@quiet
def test_votes_and_means_are_what_they_are_defined_to_be():
    """Voted: signs of all functions, each as often as it survived; averaged: their mean; plain: the last of them."""
    X, y = whole_numbers(seed=3)
    Z, kernel = np.random.default_rng(0).standard_normal((20, 3)), Polynomial(2, 1.0, 1.0)
    functions, votes = literal(kernel.exact(X), y, 2)
    outputs = kernel.exact(Z, X) @ functions.T
    common = {"intercept": "none", "shuffle": False, "max_iter": 2}
    plain, averaged, voted = (Model(kernel, variant=v, **common).fit(X, y) for v in ("plain", "averaged", "voted"))
    assert_allclose(plain.decision_function(Z), outputs[:, -1])
    assert_allclose(averaged.decision_function(Z), outputs @ votes / (2 * len(y)))
    assert_allclose(voted.decision_function(Z), np.where(outputs > 0, 1, -1) @ votes / (2 * len(y)))
    assert_array_equal(voted.votes_[0], votes)
    assert_allclose(averaged.alpha_, y * (votes @ functions) / (2 * len(y)))
    assert not hasattr(plain, "votes_")


@quiet
@pytest.mark.parametrize("variant", ["plain", "averaged", "voted"])
def test_a_stream_in_any_chunks_is_one_epoch_in_order(variant):
    """partial_fit in chunks makes the mistakes and the function of fit with one epoch in order."""
    X, y = whole_numbers(45, seed=4)
    labels = np.array(["no", "yes"])[(y > 0).astype(int)]
    whole = Model(Polynomial(2, 1.0, 1.0), variant=variant, shuffle=False, max_iter=1).fit(X, labels)
    for cuts in ([45], [1, 20, 45], [7, 8, 9, 30, 45]):
        model = Model(Polynomial(2, 1.0, 1.0), variant=variant)
        for first, last in zip([0, *cuts], cuts, strict=False):
            model.partial_fit(X[first:last], labels[first:last], classes=["no", "yes"])
        assert model.mistakes_ == whole.mistakes_
        assert_allclose(model.decision_function(X), whole.decision_function(X))
        assert_allclose(model.support_vectors_, whole.support_vectors_)
        assert not hasattr(model, "certificate_")
        assert not hasattr(model, "certify")
    with pytest.raises(AttributeError, match="stream"):
        model.support_table()


@quiet
def test_a_stream_goes_on_after_a_fit():
    """After fit, partial_fit starts from the fitted function, for every variant's memory."""
    X, y = whole_numbers(60, seed=5)
    for variant in ("plain", "averaged", "voted"):
        model = Model(Polynomial(2, 1.0, 1.0), variant=variant, shuffle=False, max_iter=1).fit(X[:30], y[:30])
        model.partial_fit(X[30:], y[30:])
        whole = Model(Polynomial(2, 1.0, 1.0), variant=variant, shuffle=False, max_iter=1).fit(X, y)
        assert_allclose(model.decision_function(X), whole.decision_function(X))


@quiet
@pytest.mark.parametrize("variant", ["plain", "averaged", "voted"])
def test_classes_are_learnt_one_against_the_rest(variant):
    """Each class's row is the two-class model of that class; the largest output wins; every part of the proof holds."""
    rng = np.random.default_rng(6)
    y = np.arange(45) % 3
    X = rng.standard_normal((45, 2)) + 2.0 * np.array([[0, 1], [1, -1], [-1, -1]])[y]
    options = {"gamma": 0.5, "variant": variant, "shuffle": False, "max_iter": 3}
    model = Model(**options).fit(X, y)
    assert isinstance(model.certificate_, PerClass)
    assert model.certificate_.verify(X, y)
    assert model.dual_coef_.shape == (3, model.support_vectors_.shape[0])
    assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))
    for k in range(3):
        alone = Model(**options).fit(X, y == k)
        assert_allclose(alone.alpha_, model.alpha_[k])
        assert alone.mistakes_ == model.mistakes_[k]


@quiet
@pytest.mark.parametrize("variant", ["plain", "averaged", "voted"])
def test_storage_does_not_matter(variant):
    """Dense, CSR and float32 rows of the same whole numbers give the same strengths and predictions."""
    X, y = whole_numbers(seed=7)
    model = Model(Polynomial(2, 1.0, 1.0), variant=variant, max_iter=3, random_state=0).fit(X, y)
    for other in (sparse.csr_array(X), sparse.csc_matrix(X), np.asfortranarray(X), X.astype(np.float32)):
        same = Model(Polynomial(2, 1.0, 1.0), variant=variant, max_iter=3, random_state=0).fit(other, y)
        assert_array_equal(same.alpha_, model.alpha_)
        assert_allclose(same.decision_function(other), model.decision_function(X), rtol=1e-5)
        assert same.certificate_.verify(other, y)


def test_a_precomputed_matrix_is_the_kernel_itself():
    """With kernel="precomputed" fit takes K, predict its rows against the training examples, and the proof holds on K."""
    X, y, *_ = spirals(80, turns=1.0)
    K = RBF(5.0).exact(X)
    model, given = Model(RBF(5.0), random_state=0).fit(X, y), Model("precomputed", random_state=0).fit(K, y)
    assert_array_equal(given.alpha_, model.alpha_)
    assert_allclose(given.decision_function(K), model.decision_function(X), rtol=1e-9)
    assert given.certificate_.verify(K, y)
    with pytest.raises(InputError, match="precomputed"):
        Model("precomputed").partial_fit(K, y, classes=[-1, 1])


def test_the_certificate_proves_separation_and_bounds_the_mistakes():
    """On the spirals the fit converges; mistakes stay below Novikoff's bound; the proof survives JSON, not other data."""
    X, y, *_ = spirals(100)
    model = Model(gamma=20.0, random_state=0).fit(X, y)
    proof = model.certificate_
    assert isinstance(proof, MistakeBound)
    assert isinstance(proof.bracket, KernelBracket)
    assert model.outcome_.converged
    assert proof.bracket.separable
    assert model.mistakes_ <= proof.bound
    assert from_json(proof.to_json()).verify(X, y)
    assert not proof.verify(X, -y)
    E = y * model.decision_function(X)
    assert_allclose(model.support_table(everyone=True)["stability"], E / np.sqrt(E @ model.alpha_), rtol=1e-9)
    assert_array_equal(model.support_table()["row"], model.support_)


@quiet
def test_the_overlap_rises_and_the_length_stays_below_a_line():
    """After t mistakes f·f* >= t·kappa and ‖f‖² <= t·R²: the two curves that prove the theorem."""
    X, y, *_ = teacher_student(60, 3, margin=0.1, random_state=0)
    model = Model("linear", intercept="none", random_state=0).fit(X, y)
    course, bracket = model.history_, model.certificate_.bracket
    assert model.outcome_.converged
    assert (course["overlap"] >= bracket.lower * course["mistakes"] - 1e-9).all()
    assert (course["squared_norm"] <= bracket.radius**2 * course["mistakes"] + 1e-9).all()


@quiet
def test_class_weights_multiply_the_rate():
    """A weight of 3 adds 3 of an example; equal weights only scale the function; sample weights do so in a stream."""
    X, y = whole_numbers(seed=8)
    options = {"kernel": Polynomial(2, 1.0, 1.0), "shuffle": False, "max_iter": 2}
    plain = Model(**options).fit(X, y)
    scaled = Model(**options, class_weight={-1: 4.0, 1: 4.0}).fit(X, y)
    assert_array_equal(scaled.alpha_, 4.0 * plain.alpha_)
    uneven = Model(**options, class_weight={1: 3.0}).fit(X, y)
    assert set(np.unique(uneven.alpha_[y == 1])) <= {0.0, 3.0, 6.0}
    assert uneven.certificate_.verify(X, y)
    weights = np.where(y == 1, 3.0, 1.0)
    streamed = Model(Polynomial(2, 1.0, 1.0)).partial_fit(X, y, classes=[-1, 1], sample_weight=weights)
    once = Model(Polynomial(2, 1.0, 1.0), class_weight={1: 3.0}, shuffle=False, max_iter=1).fit(X, y)
    assert_allclose(streamed.decision_function(X), once.decision_function(X))


@quiet
@pytest.mark.parametrize("variant", ["plain", "averaged", "voted"])
def test_a_warm_start_goes_on_with_the_same_data_only(variant):
    """Three fits of one epoch are one of three; other data start afresh; the earlier model is not changed by a failure."""
    X, y = whole_numbers(seed=9)
    options = {"kernel": Polynomial(2, 1.0, 1.0), "variant": variant, "shuffle": False}
    whole = Model(**options, max_iter=3).fit(X, y)
    parts = Model(**options, max_iter=1, warm_start=True).fit(X, y).fit(X, y).fit(X, y)
    assert_array_equal(parts.alpha_, whole.alpha_)
    assert parts.mistakes_ == whole.mistakes_
    assert_allclose(parts.decision_function(X), whole.decision_function(X))
    before = parts.decision_function(X)
    with pytest.raises(ValueError, match="NaN"):
        parts.fit(np.where(X > 2, np.nan, X), y)
    assert_array_equal(parts.decision_function(X), before)
    afresh = parts.fit(X[::-1], y[::-1])
    assert_array_equal(afresh.alpha_, Model(**options, max_iter=1).fit(X[::-1], y[::-1]).alpha_)


def test_inseparable_classes_end_with_a_warning_and_remedies():
    """Where the kernel does not separate, the plain rule says so; means and votes are done after their epochs."""
    X, y, *_ = xor()
    with pytest.warns(NotSeparatedWarning, match="variant='averaged'"):
        model = Model("linear", max_iter=4).fit(X, y)
    assert model.outcome_.reason == "iteration budget spent"
    assert model.certificate_.bound == np.inf
    assert model.certificate_.verify(X, y)
    assert Model("linear", variant="voted", max_iter=4).fit(X, y).outcome_.reason == "passes done"


@quiet
@pytest.mark.compiled
@pytest.mark.parametrize("options", [{}, {"cache_size": 1.0}, {"budget": 200}], ids=str)
def test_max_time_holds(options):
    """A budget of time is kept to within a few pieces of work, and reported."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 10)), rng.integers(0, 2, 3000)
    Model(max_iter=1, **options).fit(X, y)
    model = Model(max_iter=10**6, max_time=0.5, **options)
    begin = time.perf_counter()
    model.fit(X, y)
    assert model.outcome_.reason == "time budget spent"
    assert time.perf_counter() - begin < 5.0
    assert model.certificate_.verify(X, y)


@quiet
def test_progress_and_callbacks(capsys):
    """verbose tells epochs on standard error; scikit-learn's callbacks see the model grow, budgeted or voted."""
    X, y, *_ = spirals(60, turns=1.0)
    Model(verbose=2, max_iter=3).fit(X, y)
    assert "[KernelPerceptron] epoch 1" in capsys.readouterr().err
    for options in ({}, {"variant": "voted"}, {"budget": 10}):
        monitor = ScoringMonitor(scoring="accuracy")
        Model(max_iter=3, **options).set_callbacks(monitor).fit(X, y)
        assert monitor.get_logs()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kernel", "gauss"),
        ("gamma", -1.0),
        ("variant", "median"),
        ("budget", 0),
        ("budget", 2.5),
        ("intercept", "free"),
        ("cache_size", 0.0),
        ("max_iter", 0),
        ("max_time", -1.0),
        ("shuffle", "yes"),
        ("warm_start", 1),
    ],
)
def test_bad_parameters_are_refused(name, value):
    """A parameter out of range is named with what was expected, and nothing is changed."""
    X, y, *_ = xor()
    model = Model(Polynomial(2, 1.0)).fit(X, y)
    before = model.certificate_
    with pytest.raises(InputError, match=f"{name}.*KernelPerceptron|KernelPerceptron.*{name}"):
        model.set_params(**{"kernel": "rbf", name: value}).fit(X, y)
    assert model.certificate_ is before


def test_what_cannot_be_done_is_refused():
    """A budget for a vote, a budget beyond the memory, a kernel that is none: each is refused with a reason."""
    X, y, *_ = spirals(40)
    with pytest.raises(InputError, match="None unless variant='plain'"):
        Model(variant="voted", budget=5).fit(X, y)
    with pytest.raises(InputError, match="Lower the budget or raise cache_size"):
        Model(budget=1000, cache_size=1.0).fit(X, y)
    with pytest.raises(InputError, match="not positive semi-definite"):
        Model(FromFunction(lambda a, b: float(abs(a - b).sum() <= 0.3))).fit(X, y)


def test_a_kernels_parameters_are_parameters_of_the_model():
    """kernel__gamma replaces the kernel by another value, also in a grid search; a kernel given by name has none."""
    X, y, *_ = spirals(60, turns=1.0)
    model = Model(RBF(0.01) + Linear(), random_state=0)
    assert model.get_params()["kernel__left__gamma"] == 0.01
    assert model.set_params(kernel__left__gamma=3.0).kernel == RBF(3.0) + Linear()
    search = GridSearchCV(
        Model(RBF(1.0), variant="averaged", max_iter=3, random_state=0), {"kernel__gamma": [0.01, 20.0]}, cv=3
    )
    assert search.fit(X, y).best_params_ == {"kernel__gamma": 20.0}
    with pytest.raises(InputError, match=r"kernel__gamma.*'gamma'"):
        Model("rbf").set_params(kernel__gamma=2.0)


def test_any_function_of_two_rows_can_be_the_kernel():
    """A Python function that is positive semi-definite on the data fits, with a proof that says so."""
    X, y, *_ = xor()
    model = Model(lambda a, b: float((a @ b) ** 2), intercept="none", shuffle=False).fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert model.certificate_.verify(X, y)


@quiet
@pytest.mark.parametrize("scale", [2.0**-80, 2.0**70], ids=["squares vanish", "squares overflow"])
@pytest.mark.parametrize("variant", ["plain", "averaged", "voted"])
def test_squares_beyond_single_precision_are_computed_in_double(scale, variant):
    """Rows of float32 whose squares float32 cannot hold make the same mistakes as the same rows scaled by a power of 2."""
    X, y = whole_numbers()
    settings = {"kernel": "linear", "intercept": "none", "variant": variant, "max_iter": 5, "random_state": 0}
    plain = Model(**settings).fit(X, y)
    model = Model(**settings).fit((scale * X).astype(np.float32), y)
    assert_array_equal(model.alpha_, plain.alpha_)
    assert_array_equal(model.predict((scale * X).astype(np.float32)), plain.predict(X))
    assert model.certificate_.verify((scale * X).astype(np.float32), y)
