"""What stands around a model: probabilities and labels are those that the outputs for rows left out make, and no others."""

from dataclasses import replace

import numpy as np
import pytest

from halfspace.certificates import pipeline as around
from halfspace.certificates.calibration import Calibration
from halfspace.certificates.fields import Record
from halfspace.certificates.log_odds import LogOdds
from halfspace.certificates.operating import Demand, OperatingPoint
from halfspace.certificates.pipeline import Pipeline

RNG = np.random.default_rng(1)
CLASSES = np.array(["no", "yes"])
TARGET = RNG.choice(2, 80, p=[0.7, 0.3])
OUTPUTS = RNG.normal(size=80) + 1.5 * TARGET
Y = CLASSES[TARGET]
FAIR, EARLIER = LogOdds.of(OUTPUTS, TARGET), Calibration.of(OUTPUTS, TARGET)
POINT = OperatingPoint.choose(Demand.read("balanced_accuracy"), FAIR.probabilities(OUTPUTS), Y, CLASSES, "yes")


def pipeline(calibration=FAIR, outputs=OUTPUTS, point=POINT):
    return Pipeline(None, CLASSES, calibration, outputs, {}, None, point)


@pytest.mark.parametrize("fair", [FAIR, EARLIER], ids=["log-odds", "earlier"])
def test_probabilities_are_those_of_the_outputs_left_out(fair):
    """One output for each row, of the rows as they are, and the curve that these make."""
    assert pipeline(fair)._calibrated(Y)
    for outputs in (OUTPUTS[:-1], np.append(OUTPUTS, 0.0), -OUTPUTS, OUTPUTS[:, None, None]):
        assert not pipeline(fair, outputs)._calibrated(Y)
    assert not pipeline(fair)._calibrated(Y[::-1])


@pytest.mark.parametrize("side", ["below", "above"])
@pytest.mark.parametrize(
    ("slope", "noise", "holds"), [(1.04, 0.0, True), (1.06, 0.0, False), (1.0, 0.04, True), (1.0, 0.06, False)]
)
def test_curves_of_earlier_versions_may_end_near_by(side, slope, noise, holds):
    """Their slopes may be off by a twentieth of themselves, their noise by a twentieth."""
    curve = getattr(EARLIER, side)
    changed = EARLIER._replace(**{side: curve._replace(slope=curve.slope * slope, noise=curve.noise + noise)})
    assert bool(pipeline(changed)._calibrated(Y)) is holds
    record = Record("Calibration", {name: Record("Curve", getattr(changed, name)._asdict()) for name in ("below", "above")})
    assert bool(pipeline(record)._calibrated(Y)) is holds
    assert pipeline(Record("LogOdds", FAIR._asdict()))._calibrated(Y)


def test_labels_follow_as_was_asked_for():
    """Another weight of a class, another demand, another positive class or another size is not what the outputs ask for."""
    assert pipeline()._decided(Y)
    assert pipeline(point=None)._decided(Y)
    assert pipeline(point=Record("OperatingPoint", vars(POINT)))._decided(Y)
    assert pipeline(point=replace(POINT, weights=POINT.weights * [1.04, 1.0]))._decided(Y)
    for change in (
        {"weights": POINT.weights * [1.1, 1.0]},
        {"weights": POINT.weights[::-1]},
        {"weights": np.append(POINT.weights, 0.5)},
        {"demand": "accuracy"},
        {"demand": "recall>=0.5"},
        {"demand": "zz=5"},
    ):
        assert not pipeline(point=replace(POINT, **change))._decided(Y), change


def test_curves_that_are_the_same_are_near_without_any_room(monkeypatch):
    """Both ends of what is near belong to it."""
    monkeypatch.setattr(around, "NEAR", 0.0)
    assert pipeline(EARLIER)._calibrated(Y)


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_any_class_may_be_the_positive_one(positive):
    """What is asked of the first class is looked for of the first class."""
    point = OperatingPoint.choose(Demand.read(threshold="recall>=0.9"), FAIR.probabilities(OUTPUTS), Y, CLASSES, positive)
    assert pipeline(point=point)._decided(Y)


def test_small_numbers_are_compared_by_their_own_digits():
    """Nine of the largest beside them, however small that is."""
    assert not around._alike(np.array([1e-12, 1e-12]), np.array([1e-12, 2e-12]))
    assert around._alike(np.array([1e-12, 1e-22]), np.array([1e-12, 2e-22]))
    assert not around._alike([1.0], 1.0)
    assert not around._alike(1.0, [1.0])
    assert around._alike([1.0, "a"], (1.0, "a"))


def test_labels_and_encoder_are_those_of_the_model(monkeypatch):
    """Other labels than the model learnt, or another encoder, are refused before anything else."""
    for encoder, classes, said in (
        (True, ["no", "yes", "so"], "the labels are not those of the model"),
        (True, ["no", "so"], "the labels are not those of the model"),
        (False, ["no", "yes"], "the encoder is not the one"),
    ):
        monkeypatch.setattr(Pipeline, "_refitted", lambda *_, encoder=encoder: encoder)
        whole = pipeline()._replace(learnt={"classes_": np.array(classes)})
        assert said in str(whole.verify(lambda rows: rows, Y, np.arange(80), np.arange(80)))


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_the_class_that_a_threshold_is_about_is_named(positive):
    """Also where it is the first of the classes."""
    point = OperatingPoint.choose(Demand.read(threshold="recall>=0.9"), FAIR.probabilities(OUTPUTS), Y, CLASSES, positive)
    said = replace(point, weights=np.array([0.25, 0.75])).sentence(CLASSES)
    assert f"“{positive}” is predicted where its probability is above" in said
