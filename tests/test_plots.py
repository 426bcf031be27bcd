"""Pictures."""

import sys

import matplotlib as mpl
import matplotlib.figure
import numpy as np
import pytest

import halfspace as hs
from halfspace.errors import InputError
from halfspace.plots import (
    DecisionSurfaceDisplay,
    GapDisplay,
    MarginDisplay,
    MistakeBoundDisplay,
    PathDisplay,
    StabilityDisplay,
)

mpl.use("agg")


def test_the_margin_display_shows_the_plane_and_its_makers():
    """The line, two dashed margins and both classes are drawn, on the axes given."""
    import matplotlib.pyplot as plt

    X, y, *_ = hs.data.two_clouds(40, distance=6.0)
    model = hs.Perceptron(random_state=0).fit(X, y)
    figure, axes = plt.subplots()
    display = MarginDisplay.from_estimator(model, X, y, ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is figure
    assert len(axes.collections) == 4
    assert display.margin > 0
    plt.close(figure)
    with pytest.raises(InputError, match="two features"):
        MarginDisplay.from_estimator(hs.HebbClassifier().fit(X[:, :1], y), X[:, :1], y)


@pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")
def test_the_bound_display_shows_the_proof_or_refuses():
    """Two curves and their two bounds are drawn; without a separating plane there is nothing to show."""
    import matplotlib.pyplot as plt

    toy = hs.data.teacher_student(60, 4, margin=0.1)
    display = MistakeBoundDisplay.from_estimator(hs.Perceptron(random_state=0).fit(toy.X, toy.y))
    assert len(display.ax_.lines) == 4
    plt.close(display.ax_.figure)
    X, y, *_ = hs.data.xor()
    with pytest.raises(InputError, match="separated"):
        MistakeBoundDisplay.from_estimator(hs.Perceptron().fit(X, y))


def test_the_gap_display_shows_both_values_and_the_gap_of_an_adatron():
    """Dual and primal value close in on each other over iterations or seconds, and the last gap is within tol."""
    import matplotlib.pyplot as plt

    X, y, *_ = hs.data.two_clouds(80, distance=2.0)
    model = hs.AdaTron(tol=1e-3).fit(X, y)
    display = GapDisplay.from_estimator(model)
    assert len(display.axes_) == 2
    assert display.axes_[1].get_yscale() == "log"
    assert len(display.axes_[0].lines) == 2
    assert display.gap[-1] <= 1e-3
    assert (display.lower <= display.upper).all()
    assert (GapDisplay.from_estimator(model, seconds=True).position == model.history_["seconds"]).all()
    plt.close(display.axes_[0].figure)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gap_display_shows_the_bracket_of_minover(n_classes):
    """The margin's bracket narrows over the pushes; of several classes the widest is shown, on the axes given."""
    import matplotlib.pyplot as plt

    X = np.vstack([np.eye(3)[:n_classes] * size for size in (1.0, 2.0, 3.0)])
    model = hs.MinOver(tol=0.2).fit(X, np.tile(np.arange(n_classes), 3))
    figure, axes = plt.subplots(2)
    display = GapDisplay.from_estimator(model, axes=axes)
    assert display.axes_[0] is axes[0]
    assert display.unit == "pushes"
    assert display.lower.ndim == 1
    assert (np.diff(display.upper) <= 0).all()
    assert display.gap[-1] <= 0.2
    plt.close(figure)


@pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")
def test_the_gap_display_refuses_what_has_no_gap():
    """A model without a course of both sides, and one that found no plane, are refused in words."""
    X, y, *_ = hs.data.xor()
    with pytest.raises(InputError, match="got HebbClassifier"):
        GapDisplay.from_estimator(hs.HebbClassifier().fit(X, y))
    with pytest.raises(InputError, match="Proved inseparable"):
        GapDisplay.from_estimator(hs.AdaTron(C=np.inf).fit(X, y))


@pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")
def test_the_path_display_shows_weights_supports_and_gaps():
    """Caps are shown in rising order, C = inf beyond the others, and where no plane exists there is no gap."""
    import matplotlib.pyplot as plt

    X, y, *_ = hs.data.two_clouds(60, n_features=9, distance=1.0)
    path = hs.adatron_path(X, y, [np.inf, 0.001, 1.0])
    display = PathDisplay.from_path(path)
    assert display.Cs.tolist() == [0.001, 1.0, np.inf]
    assert display.n_support.tolist() == path.n_support[[1, 2, 0]].tolist()
    assert np.isnan(display.gaps).tolist() == [False, False, True]
    assert len(display.axes_) == 3
    assert len(display.axes_[0].lines) == 10
    assert len(display.axes_[0].get_legend().get_texts()) == 8
    assert display.axes_[0].get_xscale() == "log"
    plt.close(display.axes_[0].figure)


def test_the_path_display_names_inputs_and_classes():
    """The weights carry the names of a data frame's columns, and of the class where there are several."""
    pd = pytest.importorskip("pandas")
    X, y = pd.DataFrame({"length": [0.0, 1.0, 5.0, 6.0, 9.0, 9.5], "width": [1.0, 2.0, 8.0, 7.0, 1.0, 0.0]}), list("aabbcc")
    display = PathDisplay.from_path(hs.adatron_path(X, y, [0.1, 1.0]))
    assert display.weights.shape == (2, 6)
    assert display.names[:3] == ["length (a)", "width (a)", "length (b)"]
    assert (display.gaps <= 1e-4).all()


def test_the_stability_display_marks_the_support_vectors_up_to_the_margin():
    """Of an AdaTron no other example is inside the margin, and every example is in the histogram."""
    import matplotlib.pyplot as plt

    X, y, *_ = hs.data.two_clouds(60, distance=2.0)
    model = hs.AdaTron(tol=1e-8).fit(X, y)
    display = StabilityDisplay.from_estimator(model, X, y)
    length = np.hypot(np.linalg.norm(model.coef_), model.intercept_[0])  # the clamped input is 1
    assert display.margin == pytest.approx(1.0 / length)
    assert display.stabilities == pytest.approx((2 * (y == model.classes_[1]) - 1) * model.decision_function(X) / length)
    assert display.support.tolist() == model.support_.tolist()
    assert np.delete(display.stabilities, display.support).min() >= 0.999 * display.margin
    assert max(patch.get_y() + patch.get_height() for patch in display.ax_.patches) <= display.ax_.get_ylim()[1]
    assert sum(patch.get_height() for patch in display.ax_.patches) == pytest.approx(60)
    plt.close(display.figure_)


@pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")
def test_the_stability_display_says_what_it_shows():
    """Distances where the length of the weights is known, potentials of a vote, leads over the next class for several."""
    X, y, *_ = hs.data.two_clouds(30, distance=8.0)
    separated = StabilityDisplay.from_estimator(hs.Perceptron(random_state=0).fit(X, y), X, y)
    assert separated.margin == pytest.approx(separated.stabilities.min())
    vote = StabilityDisplay.from_estimator(hs.PerceptronCommittee(random_state=0).fit(X, y), X, y)
    assert vote.quantity == "potential y f(x)"
    assert vote.support.size == 0
    model = hs.KernelAdaTron("linear", tol=1e-6).fit(X, y)
    kernel = StabilityDisplay.from_estimator(model, X, y)
    assert kernel.quantity == separated.quantity == "stability y f(x) / ‖w‖"
    assert kernel.stabilities == pytest.approx(
        StabilityDisplay.from_estimator(hs.AdaTron(tol=1e-6).fit(X, y), X, y).stabilities, rel=1e-2
    )
    assert StabilityDisplay.from_estimator(model, X[:10], y[:10]).support.size == 0
    labels = np.arange(30) % 3
    several = StabilityDisplay.from_estimator(hs.AdaTron().fit(X, labels), X, labels)
    assert (several.stabilities > 0).mean() == hs.AdaTron().fit(X, labels).score(X, labels)
    assert np.isnan(several.margin)
    with pytest.raises(InputError, match="classes the model knows"):
        StabilityDisplay.from_estimator(model, X, labels)


def test_the_surface_display_draws_lines_regions_and_rings():
    """Two classes: an image, three lines, two clouds and rings; three classes: regions and their borders."""
    import matplotlib.pyplot as plt

    toy = hs.data.rings(40)
    model = hs.KernelAdaTron("rbf", C=10.0).fit(toy.X, toy.y)
    figure, axes = plt.subplots()
    display = DecisionSurfaceDisplay.from_estimator(model, toy.X, toy.y, grid_resolution=30, ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is figure
    assert display.response.shape == (30, 30)
    assert len(axes.images) == 1
    assert len(axes.collections) == 6
    assert display.support.tolist() == model.support_.tolist()
    y = np.arange(40) % 3
    several = DecisionSurfaceDisplay.from_estimator(hs.KernelAdaTron().fit(toy.X, y), toy.X, y, grid_resolution=30)
    assert several.response.shape == (30, 30, 3)
    plt.close("all")
    with pytest.raises(InputError, match="40 x 1"):
        DecisionSurfaceDisplay.from_estimator(model, toy.X[:, :1], toy.y)


@pytest.mark.compiled
def test_displays_of_a_ladder_know_which_rows_it_learnt_from():
    """The support vectors of a ladder's winner are marked among the rows that were given to the ladder."""
    X, y, *_ = hs.data.two_clouds(80, distance=5.0)
    ladder = hs.Ladder(rungs=["adatron"], n_splits=2, n_repeats=1, curve=False).fit(X, y)
    display = StabilityDisplay.from_estimator(ladder, X, y)
    assert display.support.tolist() == ladder.learnt_[ladder.estimator_.support_].tolist()
    others = np.setdiff1d(ladder.learnt_, display.support)
    assert display.stabilities[others].min() >= 0.9 * display.margin


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    """Where matplotlib is not installed the error says what to install."""
    X, y, *_ = hs.data.two_clouds(20, distance=6.0)
    display = StabilityDisplay.from_estimator(hs.HebbClassifier().fit(X, y), X, y)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"halfspace\[plots\]"):
        display.plot()


def test_a_kernel_machine_has_a_gap_to_show():
    """The course of a KernelAdaTron is counted in rounds, bare and inside a search over its grid."""
    toy = hs.data.xor()
    model = hs.KernelAdaTron("rbf").fit(toy.X, toy.y)
    display = GapDisplay.from_estimator(model)
    assert display.unit == "rounds"
    assert (display.position == model.history_["round"]).all()
    assert (display.lower <= display.upper).all()
    assert display.axes_[1].get_xlabel() == "rounds"


def test_displays_draw_at_once():
    """As in scikit-learn, the picture is there when `from_estimator` returns, on the axes given."""
    X, y, *_ = hs.data.two_clouds(40, distance=6.0)
    ax = mpl.figure.Figure().subplots()
    display = MarginDisplay.from_estimator(hs.Perceptron(random_state=0).fit(X, y), X, y, ax=ax)
    assert display.ax_ is ax
    assert ax.collections
    assert StabilityDisplay.from_estimator(hs.AdaTron().fit(X, y), X, y).figure_.axes
