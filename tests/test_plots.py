"""Pictures."""

import matplotlib as mpl
import pytest

import halfspace as hs
from halfspace.errors import InputError
from halfspace.plots import MarginDisplay, MistakeBoundDisplay

mpl.use("agg")


def test_the_margin_display_shows_the_plane_and_its_makers():
    """The line, two dashed margins and both classes are drawn, on the axes given."""
    import matplotlib.pyplot as plt

    X, y, *_ = hs.data.two_clouds(40, distance=6.0)
    model = hs.Perceptron(random_state=0).fit(X, y)
    figure, axes = plt.subplots()
    display = MarginDisplay.from_estimator(model, X, y).plot(axes)
    assert display.ax_ is axes
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
    display = MistakeBoundDisplay.from_estimator(hs.Perceptron(random_state=0).fit(toy.X, toy.y)).plot()
    assert len(display.ax_.lines) == 4
    plt.close(display.ax_.figure)
    X, y, *_ = hs.data.xor()
    with pytest.raises(InputError, match="separated"):
        MistakeBoundDisplay.from_estimator(hs.Perceptron().fit(X, y))
