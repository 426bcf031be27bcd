"""`Calibrated`: probabilities for any classifier."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

import halfspace as hs
from halfspace.errors import InputError

X, Y = make_classification(600, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=0)
RARE = make_classification(2000, 6, weights=[0.985], flip_y=0.0, class_sep=0.7, random_state=1)


@pytest.mark.parametrize(
    "model", [hs.AdaTron(), hs.AveragedPerceptron(random_state=0), hs.GLVQ()], ids=lambda m: type(m).__name__
)
def test_any_classifier_gets_probabilities(model):
    """Probabilities add up to one, the most probable class is predicted, and on new rows they beat the base rate."""
    fitted = hs.Calibrated(model, cv=3).fit(X[:400], Y[:400])
    P = fitted.predict_proba(X[400:])
    assert np.allclose(P.sum(axis=1), 1.0)
    assert np.array_equal(fitted.predict(X[400:]), P.argmax(axis=1))
    assert log_loss(Y[400:], P) < 0.95 * log_loss(Y[400:], np.tile(np.bincount(Y[:400]) / 400, (200, 1)))
    assert fitted.verify(X[:400], Y[:400])


def test_class_weights_do_not_distort_probabilities():
    """With 1.5 % positives and balanced weights the mean probability is their share, and log loss is below the base rate's."""
    rows, y = RARE
    P = hs.Calibrated(hs.AdaTron(class_weight="balanced")).fit(rows[:1000], y[:1000]).predict_proba(rows[1000:])
    share = y[:1000].mean()
    assert abs(P[:, 1].mean() - y[1000:].mean()) < 0.01
    assert log_loss(y[1000:], P) < log_loss(y[1000:], np.tile([1 - share, share], (1000, 1)))


def test_it_can_be_saved_and_checked(tmp_path):
    """A loaded model has the same probabilities and its proof; changed ones are found out, broken ones refused."""
    fitted = hs.Calibrated(hs.HebbClassifier(), cv=2).fit(X, np.array(["a", "b", "c"])[Y])
    hs.save(fitted, tmp_path / "model")
    loaded = hs.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    assert loaded.verify(X, np.array(["a", "b", "c"])[Y])
    loaded.calibration_ = loaded.calibration_._replace(slopes=2.0 * loaded.calibration_.slopes)
    assert "probabilities" in " ".join(loaded.verify(X, np.array(["a", "b", "c"])[Y]).reasons)
    loaded.calibration_ = loaded.calibration_._replace(slopes=-loaded.calibration_.slopes)
    hs.save(loaded, tmp_path / "model")
    with pytest.raises(hs.errors.ModelFileError):
        hs.load(tmp_path / "model")


@pytest.mark.parametrize("classes", [2, 3])
def test_it_is_exported(classes):
    """ONNX gives its probabilities and the most probable label."""
    pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    fitted = hs.Calibrated(hs.HebbClassifier(), cv=2).fit(X, Y % classes)
    label, P, _ = ReferenceEvaluator(hs.to_onnx(fitted)).run(["label", "probabilities", "scores"], {"X": X})
    assert pytest.approx(fitted.predict_proba(X), abs=1e-12) == P
    assert label.tolist() == fitted.predict(X).tolist()


def test_what_it_cannot_calibrate_is_refused():
    """A foreign classifier, one fold, and a class with one example are named in the message."""
    with pytest.raises(InputError, match="'estimator' parameter of Calibrated must be"):
        hs.Calibrated(hs.LinearRegression()).fit(X, Y)
    with pytest.raises(InputError, match="'cv' parameter of Calibrated"):
        hs.Calibrated(cv=1).fit(X, Y)
    with pytest.raises(InputError, match="every class needs at least 2, but 9 has 1"):
        hs.Calibrated().fit(X, np.where(np.arange(600) == 3, 9, Y))


def test_scikit_learns_own_way_works_too():
    """CalibratedClassifierCV takes our classifiers as they are."""
    P = CalibratedClassifierCV(hs.AdaTron(), method="sigmoid", cv=2).fit(X, Y).predict_proba(X)
    assert np.allclose(P.sum(axis=1), 1.0)
