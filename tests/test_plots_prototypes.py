"""Pictures of prototypes and of learnt metrics."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest

from halfspace.errors import InputError
from halfspace.plots import PrototypesDisplay, RelevanceDisplay

mpl.use("agg")

W = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
CLASSES = np.array(["a", "b", "c"])
RNG = np.random.default_rng(0)
X, Y = np.repeat(W, 10, axis=0) + RNG.standard_normal((30, 3)), np.repeat(CLASSES, 10)


@pytest.fixture
def plt():
    """Matplotlib, with all figures closed afterwards."""
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def nearest(width=3, **more):
    """Return what a display reads of a fitted prototype classifier."""
    prototypes = W[:, :width]

    def predict(rows):
        return CLASSES[((np.asarray(rows)[:, None] - prototypes) ** 2).sum(axis=2).argmin(axis=1)]

    return SimpleNamespace(
        prototypes_=prototypes, prototype_labels_=CLASSES, classes_=CLASSES, n_features_in_=width, predict=predict, **more
    )


def learnt(omega, **more):
    """Return the same with a metric."""
    gram = np.swapaxes(omega, -1, -2) @ omega
    relevances = np.diagonal(gram, axis1=-2, axis2=-1)
    return nearest(relevances_=relevances, omega_=omega, transform=lambda rows: rows @ np.atleast_3d(omega.T).T[0].T, **more)


def test_bars_come_largest_first_with_their_names(plt):
    """Every input has a bar, sorted by relevance, named as the columns of the data or as asked."""
    figure, axes = plt.subplots()
    model = nearest(relevances_=np.array([0.2, 0.5, 0.3]), feature_names_in_=np.array(["u", "v", "w"]))
    display = RelevanceDisplay.from_estimator(model, ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is figure
    assert [label.get_text() for label in axes.get_yticklabels()] == ["v", "w", "u"]
    assert [bar.get_width() for bar in axes.patches] == [0.5, 0.3, 0.2]
    assert RelevanceDisplay.from_estimator(model, ["x", "y", "z"]).names == ["x", "y", "z"]


def test_of_many_inputs_the_largest_are_shown(plt):
    """Beyond twenty inputs the axis says how many are left out."""
    many = SimpleNamespace(relevances_=np.full(50, 0.02), n_features_in_=50)
    display = RelevanceDisplay.from_estimator(many)
    assert len(display.ax_.patches) == 20
    assert "20 of 50" in display.ax_.get_xlabel()
    assert plt.get_fignums()


@pytest.mark.usefixtures("plt")
def test_the_matrix_is_omega_transposed_times_omega():
    """The heat map shows ΩᵀΩ, symmetric about white, with the inputs named."""
    omega = np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 0.25]])
    display = RelevanceDisplay.from_estimator(learnt(omega), kind="matrix")
    image = display.ax_.images[0]
    assert np.array_equal(image.get_array(), omega.T @ omega)
    assert image.norm.vmin == -image.norm.vmax
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["input 0", "input 1", "input 2"]


@pytest.mark.usefixtures("plt")
def test_a_metric_per_class_has_bars_and_a_matrix_for_each():
    """Bars come in groups with a legend; of the matrices one is chosen by its label."""
    omega = RNG.standard_normal((3, 2, 3))
    display = RelevanceDisplay.from_estimator(learnt(omega))
    assert len(display.ax_.patches) == 9
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["a", "b", "c"]
    shown = display.plot(kind="matrix", label="b").ax_.images[0].get_array()
    assert np.allclose(shown, omega[1].T @ omega[1])
    with pytest.raises(InputError, match="label must be one of"):
        display.plot(kind="matrix")


@pytest.mark.usefixtures("plt")
def test_relevances_that_are_not_there_are_refused():
    """Models without a metric, names that do not fit and kinds that do not exist are refused in words."""
    with pytest.raises(InputError, match="got SimpleNamespace"):
        RelevanceDisplay.from_estimator(nearest())
    bare = nearest(relevances_=np.ones(3) / 3)
    with pytest.raises(InputError, match="3 inputs"):
        RelevanceDisplay.from_estimator(bare, ["one"])
    for kind in ("matrix", "pie"):
        with pytest.raises(InputError, match="kind must be"):
            RelevanceDisplay.from_estimator(bare, kind=kind)


def test_two_inputs_are_shown_with_their_regions(plt):
    """Rows, prototypes and the regions of the labels are drawn on the axes given."""
    figure, axes = plt.subplots()
    display = PrototypesDisplay.from_estimator(nearest(2), X[:, :2], Y, ax=axes)
    assert display.figure_ is figure
    assert display.regions is not None
    assert (display.points == X[:, :2]).all()
    assert (display.prototypes == W[:, :2]).all()
    assert len(axes.get_legend().get_texts()) == 3


@pytest.mark.usefixtures("plt")
def test_a_learnt_metric_is_shown_along_its_directions():
    """More than two inputs are shown in the first two coordinates of transform; one direction lies on a line."""
    omega = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    display = PrototypesDisplay.from_estimator(learnt(omega), X, Y)
    assert np.allclose(display.points, X @ omega.T)
    assert np.allclose(display.prototypes, W @ omega.T)
    line = PrototypesDisplay.from_estimator(learnt(omega[:1]), X, Y)
    assert (line.points[:, 1] == 0.0).all()


@pytest.mark.usefixtures("plt")
def test_two_of_many_inputs_can_be_chosen():
    """Chosen inputs are shown as they are; without labels rows get the predicted ones, without classes numbers."""
    display = PrototypesDisplay.from_estimator(nearest(), X, axes=(2, 0))
    assert (display.points == X[:, [2, 0]]).all()
    assert display.names == ("input 2", "input 0")
    assert (display.labels == nearest().predict(X)).all()
    bare = SimpleNamespace(prototypes_=W, n_features_in_=3, predict=lambda rows: np.arange(len(rows)) % 3)
    assert PrototypesDisplay.from_estimator(bare, X, axes=(0, 1)).prototype_labels.tolist() == [0, 1, 2]


def test_what_cannot_be_shown_is_refused():
    """Models without prototypes, many inputs without a metric and impossible axes are refused in words."""
    with pytest.raises(InputError, match="got SimpleNamespace"):
        PrototypesDisplay.from_estimator(SimpleNamespace(), X, Y)
    with pytest.raises(InputError, match=r"axes=\(0, 1\)"):
        PrototypesDisplay.from_estimator(nearest(), X, Y)
    with pytest.raises(InputError, match="from 0 to 2"):
        PrototypesDisplay.from_estimator(nearest(), X, Y, axes=(0, 3))


def test_a_ladder_shows_the_metric_of_its_winner():
    """The bars of a ladder are those of the model it chose, by the names of the encoded columns; another winner is refused."""
    ladder = SimpleNamespace(estimator_=learnt(np.eye(3)), encoder_=SimpleNamespace(get_feature_names_out=lambda: list("abc")))
    ladder.relevances_ = (("a", 0.9), ("b", 0.1))  # by column of the table, as words
    display = RelevanceDisplay.from_estimator(ladder)
    assert display.names == ["a", "b", "c"]
    assert display.relevances.dtype.kind == "f"
    ladder.estimator_ = nearest()
    with pytest.raises(InputError, match="which has none"):
        RelevanceDisplay.from_estimator(ladder)
