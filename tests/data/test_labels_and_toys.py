"""Labels, weights and toy problems."""

import numpy as np
import pytest

from halfspace.data import checkerboard, rings, spirals, teacher_student, two_clouds
from halfspace.errors import InputError
from halfspace.rows.labels import class_numbers, example_weights, read_classes


@pytest.mark.parametrize(
    "y",
    [[3, -5, 3, 0], [True, False, True], ["b", "a", "b"], [2.0, 1.0, 2.0], [10**15, 0, 5], np.array([200, 3], dtype=np.uint8)],
    ids=str,
)
def test_labels_of_any_kind_go_there_and_back(y):
    """Classes come sorted, with numbers that lead back to the labels, as numpy's unique does."""
    classes, target = read_classes(np.array(y), "test")
    np.testing.assert_array_equal(classes[target], y)
    np.testing.assert_array_equal(classes, np.unique(y))
    assert classes.dtype == np.asarray(y).dtype
    np.testing.assert_array_equal(class_numbers(np.array(y), classes, "test"), target)


def test_one_class_is_refused():
    """One class is refused by name."""
    with pytest.raises(InputError, match="only one class: 7"):
        read_classes(np.array([7, 7]), "Perceptron")


def test_weights_multiply():
    """The weight of an example is its class's times its own; balanced weights make the classes equal."""
    classes, target = np.array(["a", "b"]), np.array([0, 0, 0, 1])
    both = example_weights({"a": 2.0}, [1.0, 2.0, 3.0, 4.0], classes, target, "test")
    assert both.tolist() == [2.0, 4.0, 6.0, 4.0]
    balanced = example_weights("balanced", None, classes, target, "test")
    assert balanced[:3].sum() == pytest.approx(balanced[3:].sum())


@pytest.mark.parametrize("margin", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("n_features", [2, 30])
def test_teacher_student_has_the_margin_it_says(margin, n_features):
    """Examples lie on the unit sphere, on the teacher's side, and none closer to its plane than the margin."""
    toy = teacher_student(300, n_features, margin, random_state=2)
    np.testing.assert_allclose(np.linalg.norm(toy.X, axis=1), 1.0)
    assert np.linalg.norm(toy.teacher) == pytest.approx(1.0)
    assert toy.margin == (toy.y * (toy.X @ toy.teacher)).min() >= margin
    with pytest.raises(InputError, match="margin"):
        teacher_student(margin=1.0)


def test_toys_are_what_they_say():
    """Clouds are apart, rings have their radii, the board alternates, spirals are each other turned by half a circle."""
    clouds = two_clouds(2000, distance=3.0)
    gap = clouds.X[clouds.y > 0].mean(axis=0) - clouds.X[clouds.y < 0].mean(axis=0)
    np.testing.assert_allclose(gap, [3.0, 0.0], atol=0.15)
    ring = rings(50, noise=0.0)
    np.testing.assert_allclose(np.linalg.norm(ring.X, axis=1), np.where(ring.y < 0, 0.5, 1.0))
    board = checkerboard(100)
    np.testing.assert_array_equal(board.y, np.where((board.X * 4).astype(int).sum(axis=1) % 2 == 0, 1, -1))
    np.testing.assert_allclose(spirals().X[0::2], -spirals().X[1::2])
