"""Patience: when a perceptron gives up, and when it must not."""

import warnings

import numpy as np
import pytest

import halfspace as hs
from halfspace.data import teacher_student, two_clouds
from halfspace.errors import InputError


def fewest_since(made):
    """Return how many epochs ago the fewest mistakes were made first, given those of each epoch."""
    return len(made) - 1 - int(np.argmin(made))


@pytest.mark.parametrize("patience", [1, 5, 20])
def test_it_stops_when_the_fewest_mistakes_have_not_fallen(patience):
    """On inseparable data the run ends after exactly `patience` epochs without fewer mistakes, and not before."""
    X, y, *_ = two_clouds(300, 3, distance=1.0, random_state=0)
    with pytest.warns(hs.errors.NotSeparatedWarning):
        model = hs.Perceptron(patience=patience, max_iter=1000, margin=0.0, random_state=0).fit(X, y)
    made = np.diff(model.history_["mistakes"], prepend=0)
    assert model.outcome_.reason == "no progress"
    assert "patience=None" in model.outcome_.remedy
    assert fewest_since(made) >= patience
    earlier = [fewest_since(made[: k + 1]) for k in range(made.size - 1)]
    bound = (model.certificate_.bracket.radius * np.cumsum(made)) ** 2 / np.maximum(model.history_["squared_norm"], 1e-300)
    assert all(wait < patience or bound[k] <= 1000 or wait % patience for k, wait in enumerate(earlier))
    assert model.certificate_.verify(X, y)


def test_without_patience_all_epochs_are_made():
    """`patience=None` goes on up to `max_iter`."""
    X, y, *_ = two_clouds(100, 3, distance=1.0, random_state=0)
    with pytest.warns(hs.errors.NotSeparatedWarning):
        model = hs.Perceptron(patience=None, max_iter=300, random_state=0).fit(X, y)
    assert (model.outcome_.reason, model.n_iter_) == ("iteration budget spent", 300)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("native", [False, True])
def test_a_run_that_the_theorem_promises_to_end_is_never_stopped(seed, native):
    """With a margin so thin that (R/kappa)² is just below `max_iter`, even a patience of one epoch changes nothing."""
    toy = teacher_student(200, 8, margin=0.03, random_state=seed)
    bound = 1.0 / toy.margin**2
    how = {"intercept": "none", "max_iter": int(np.ceil(bound)), "random_state": seed}
    if native:
        how["multi_class"] = "native"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        impatient = hs.Perceptron(patience=1, **how).fit(toy.X, toy.y)
        patient = hs.Perceptron(patience=None, **how).fit(toy.X, toy.y)
    assert impatient.outcome_.converged
    np.testing.assert_array_equal(impatient.coef_, patient.coef_)


def test_classes_learnt_together_are_promised_an_end_too():
    """Three classes learnt together, of a margin that promises an end: patience does not stop them."""
    rng = np.random.default_rng(0)
    centres = np.array([[1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]])
    y = np.arange(90) % 3
    X = centres[y] + 0.2 * rng.uniform(-1.0, 1.0, (90, 2))
    how = {"multi_class": "native", "max_iter": 100_000, "random_state": 0}
    impatient = hs.Perceptron(patience=1, **how).fit(X, y)
    assert impatient.outcome_.converged
    np.testing.assert_array_equal(impatient.coef_, hs.Perceptron(patience=None, **how).fit(X, y).coef_)


def test_a_class_that_is_left_keeps_its_plane_while_others_go_on():
    """Each class against the rest is left, or ends, as it would alone."""
    rng = np.random.default_rng(1)
    y = np.arange(150) % 3
    X = rng.standard_normal((150, 3)) + 1.5 * np.eye(3)[y]
    with pytest.warns(hs.errors.NotSeparatedWarning):
        model = hs.Perceptron(patience=5, shuffle=False).fit(X, y)
    for k in range(3):
        with pytest.warns(hs.errors.NotSeparatedWarning):
            alone = hs.Perceptron(patience=5, shuffle=False).fit(X, y == k)
        np.testing.assert_array_equal(alone.coef_[0], model.coef_[k])


def test_steps_stop_where_fit_does():
    """Pausing after every epoch changes neither the answer nor when patience is over."""
    X, y, *_ = two_clouds(200, 4, distance=1.5, random_state=3)
    with pytest.warns(hs.errors.NotSeparatedWarning):
        whole = hs.Perceptron(random_state=0).fit(X, y)
    paused = hs.Perceptron(random_state=0)
    with pytest.warns(hs.errors.NotSeparatedWarning):
        epochs = sum(1 for _ in paused.steps(X, y))
    assert (epochs, paused.outcome_.reason) == (whole.n_iter_, "no progress")
    np.testing.assert_array_equal(paused.coef_, whole.coef_)


def test_a_warm_start_is_given_patience_anew():
    """A model that was left goes on for at least `patience` epochs when it is asked to."""
    X, y, *_ = two_clouds(200, 4, distance=1.0, random_state=0)
    model = hs.Perceptron(patience=10, warm_start=True, random_state=0)
    with pytest.warns(hs.errors.NotSeparatedWarning):
        model.fit(X, y)
    before = int(model.mistakes_)
    with pytest.warns(hs.errors.NotSeparatedWarning):
        model.fit(X, y)
    assert model.n_iter_ >= 10
    assert model.mistakes_ > before


@pytest.mark.parametrize("patience", [0, -1, 2.5, True, "long"])
def test_other_values_are_refused(patience):
    """Patience is a positive whole number, or None."""
    with pytest.raises(InputError, match="'patience' parameter of Perceptron must be a positive integer or None"):
        hs.Perceptron(patience=patience).fit([[1.0], [-1.0]], [1, 0])
