"""Laws that hold for the whole family: storage, chunks, symmetries, seeds, inseparable data."""

import numpy as np
import pytest
from scipy import sparse

import halfspace as hs
from halfspace.data import teacher_student, two_clouds, xor
from halfspace.errors import NotSeparatedWarning
from halfspace.rows.operations import squared_norms
from halfspace.rows.orders import Orders
from halfspace.rows.views import Clamped, Gram, view_of
from halfspace.solvers import Budget, PassiveAggressive, Presenting, Rosenblatt, Task
from halfspace.solvers.run import run

FAMILY = [
    hs.Perceptron(max_iter=20),
    hs.AveragedPerceptron(max_iter=3),
    hs.VotedPerceptron(max_iter=3),
    hs.PocketPerceptron(max_iter=5),
    hs.HebbClassifier(),
    hs.Adaline(),
    hs.Adaline(solver="online", max_iter=5),
    hs.PassiveAggressive(max_iter=3),
    hs.PassiveAggressive(max_iter=3, variant="PA"),
    hs.PassiveAggressive(max_iter=3, variant="PA-II"),
]
NATIVE = [
    hs.Perceptron(max_iter=20, multi_class="native"),
    hs.AveragedPerceptron(max_iter=3, multi_class="native"),
    hs.PassiveAggressive(max_iter=3, multi_class="native"),
]
quiet = pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")
every = pytest.mark.parametrize("model", FAMILY, ids=str)
everyone = pytest.mark.parametrize("model", [*FAMILY, *NATIVE], ids=str)


def clone(model, **options):
    from sklearn.base import clone as copy

    copied = copy(model)
    return copied.set_params(**{k: v for k, v in options.items() if k in copied.get_params()})


def three_classes(seed=0, n=60, d=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.standard_normal((n, d)) + 2.0 * np.eye(3, d)[y], np.array(["a", "b", "c"])[y]


@quiet
@everyone
@pytest.mark.parametrize("classes", [2, 3])
def test_dense_equals_sparse(model, classes):
    """The same rows stored densely, in CSR with 32- or 64-bit indices, or in Fortran order give the same answer."""
    X, y = three_classes()
    X, y = (X, y) if classes == 3 else (X[y != "c"], y[y != "c"])
    X[np.abs(X) < 0.3] = 0.0
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    reference = clone(model, random_state=0).fit(X, y).decision_function(X)
    for other in (sparse.csr_matrix(X), wide, sparse.csc_array(X), np.asfortranarray(X)):
        fitted = clone(model, random_state=0).fit(other, y)
        np.testing.assert_allclose(fitted.decision_function(other), reference, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rule", [Rosenblatt(), Rosenblatt(0.5, 0.2), PassiveAggressive(cap=0.7)])
def test_dense_equals_gram(rule):
    """Learning on the kernel matrix makes the same mistakes and gives the same function as on the rows themselves."""
    toy = teacher_student(40, 5, margin=0.05, random_state=3)
    target, ones = (toy.y > 0).astype(np.int64), np.ones(40)
    outputs = []
    for view in (toy.X, Gram(toy.X @ toy.X.T), Clamped(toy.X, 1.0), Gram(toy.X @ toy.X.T + 1.0)):
        task = Task(view, target, np.array([1]), squared_norms(view), ones)
        state = run(Presenting(rule, task, Orders.in_order(40)), Budget(5)).state.state
        rows = toy.X if not isinstance(view, Clamped) else np.column_stack([toy.X, ones])
        weights = state.W[0]
        outputs.append((weights if isinstance(view, Gram) else rows @ weights, state.mistakes[0]))
    for rows, kernel in ((outputs[0], outputs[1]), (outputs[2], outputs[3])):
        assert rows[1] == kernel[1]
        np.testing.assert_allclose(rows[0], kernel[0], rtol=1e-9, atol=1e-9)


@quiet
@everyone
def test_float32_data_are_used_as_they_are(model):
    """float32 rows are not copied, and the answer is that of the same numbers in float64."""
    X, y = three_classes()
    X = X.astype(np.float32)
    assert np.shares_memory(view_of(X), X)
    narrow, wide = (clone(model, random_state=0).fit(A, y).decision_function(X) for A in (X, X.astype(float)))
    np.testing.assert_allclose(narrow, wide, rtol=1e-6, atol=1e-6)


@quiet
@everyone
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_chunks_do_not_matter(model, storage):
    """partial_fit over any split into chunks equals one pass, bit for bit, and predicts after every single example."""
    X, y = three_classes(n=37)
    X, classes = storage(X), np.unique(y)
    once = clone(model).partial_fit(X, y, classes=classes)
    for cuts in ([1, 2, 3, 4, 20], [10, 36], list(range(1, 37))):
        pieces = clone(model)
        for begin, end in zip([0, *cuts], [*cuts, 37], strict=True):
            pieces.partial_fit(X[begin:end], y[begin:end], classes=classes)
            assert pieces.predict(X[:2]).shape == (2,)
        np.testing.assert_array_equal(pieces.decision_function(X), once.decision_function(X))
        np.testing.assert_array_equal(pieces.mistakes_, once.mistakes_)


@quiet
@pytest.mark.parametrize(
    "model",
    [hs.Perceptron(), hs.AveragedPerceptron(), hs.VotedPerceptron(), hs.HebbClassifier(), hs.PassiveAggressive(), *NATIVE],
    ids=str,
)
def test_one_epoch_of_fit_is_one_pass_of_partial_fit(model):
    """fit with one epoch in order gives the weights of partial_fit, bit for bit."""
    X, y = three_classes(n=50)
    batch = clone(model, max_iter=1, shuffle=False).fit(X, y)
    stream = clone(model).partial_fit(X, y, classes=np.unique(y))
    np.testing.assert_array_equal(batch.decision_function(X), stream.decision_function(X))


@quiet
@everyone
def test_same_seed_same_answer(model):
    """The same seed gives the same answer, and the answer of one-vs-rest is that of separate two-class fits."""
    X, y = three_classes()
    first, second = (clone(model, random_state=7).fit(X, y).decision_function(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@quiet
@pytest.mark.parametrize("model", FAMILY, ids=str)
def test_one_vs_rest_is_separate_fits(model):
    """Reading each row once for all classes gives exactly what one fit per class gives."""
    X, y = three_classes()
    together = clone(model, shuffle=False).fit(X, y).decision_function(X)
    for k, label in enumerate("abc"):
        alone = clone(model, shuffle=False).fit(X, np.where(y == label, 1, 0)).decision_function(X)
        np.testing.assert_allclose(together[:, k], alone, rtol=1e-9, atol=1e-9)


@quiet
@every
def test_flipping_the_labels_flips_the_plane(model):
    """Exchanging the classes changes the sign of every output that was not zero."""
    X, y, *_ = two_clouds(40, 3, distance=3.0, random_state=1)
    forth = clone(model, random_state=0).fit(X, y).decision_function(X)
    back = clone(model, random_state=0).fit(X, -y).decision_function(X)
    np.testing.assert_allclose(forth, -back, rtol=1e-9, atol=1e-9)


@quiet
@every
def test_permuting_rows_permutes_strengths(model):
    """Rows shown in the same order give the same plane wherever they are stored, and their strengths move with them."""
    X, y, *_ = two_clouds(30, 3, distance=3.0, random_state=2)
    shuffle = np.random.default_rng(0).permutation(30)
    stored = clone(model, shuffle=False).fit(X[shuffle], y[shuffle])
    rows = np.argsort(shuffle)
    again = clone(model, shuffle=False).fit(X[shuffle][rows][shuffle], y[shuffle])
    np.testing.assert_allclose(stored.decision_function(X), again.decision_function(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(stored.alpha_, again.alpha_, rtol=1e-9, atol=1e-9)


@quiet
@pytest.mark.parametrize("model", FAMILY[:4], ids=str)
def test_scaling_the_data_scales_the_margin(model):
    """Multiplying all inputs, the clamped one too, makes the same mistakes and multiplies the bracket."""
    X, y, *_ = teacher_student(40, 4, margin=0.1, random_state=4)
    one = clone(model, random_state=0).fit(X, y)
    ten = clone(model, random_state=0, intercept_scaling=10.0).fit(10 * X, y)
    assert one.mistakes_ == ten.mistakes_
    assert ten.certificate_.bracket.upper == pytest.approx(10 * one.certificate_.bracket.upper)
    assert ten.certificate_.bracket.lower == pytest.approx(10 * one.certificate_.bracket.lower)


def no_line_through_the_origin():
    """Return the lecture's example: a line separates the two points, but none through the origin."""
    return np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([1, -1])


@pytest.mark.parametrize(("X", "y"), [xor()[:2], no_line_through_the_origin()], ids=["XOR", "no line through the origin"])
@pytest.mark.parametrize("shuffle", [True, False])
def test_inseparable_data_never_report_convergence(X, y, shuffle):
    """The outcome says so, names the pocket and the kernel as remedies, and the bracket is still valid."""
    with pytest.warns(NotSeparatedWarning, match="PocketPerceptron"):
        model = hs.Perceptron(intercept="none", shuffle=shuffle, random_state=0).fit(X, y)
    assert not model.outcome_.converged
    assert "PocketPerceptron" in model.outcome_.remedy
    assert "kernel" in model.outcome_.remedy
    assert model.certificate_.bracket.lower <= 0 <= model.certificate_.bracket.upper
    assert model.certificate_.bound == np.inf
    assert model.certificate_.verify(X, y)


def test_returning_weights_prove_inseparability():
    """On XOR the weights come back exactly, which is Gordan's certificate: the upper side is exactly 0, and verifies."""
    X, y, *_ = xor()
    with pytest.warns(NotSeparatedWarning, match="No plane separates"):
        model = hs.Perceptron(shuffle=False).fit(X, y)
    assert model.outcome_.reason == "proved inseparable"
    assert model.certificate_.bracket.upper == 0.0
    assert model.certificate_.bracket.separable is False
    assert model.certificate_.verify(X, y)


@quiet
@everyone
@pytest.mark.parametrize("classes", [2, 3])
def test_every_fit_carries_a_certificate_that_verifies(model, classes):
    """Every fit carries a certificate that holds on its data, survives JSON bit for bit, and fails on other labels."""
    X, y = three_classes()
    X, y = (X, y) if classes == 3 else (X[y != "c"], y[y != "c"])
    proof = clone(model, random_state=0).fit(X, y).certificate_
    assert proof.verify(X, y)
    again = hs.certificates.from_json(proof.to_json())
    assert again.to_json() == proof.to_json()
    assert again.verify(X, y)
    assert not proof.verify(X, np.roll(y, 1))
