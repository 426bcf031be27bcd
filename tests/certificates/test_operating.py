"""Operating points: what is asked for, the threshold that gives it, and the labels that follow."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from halfspace.certificates.operating import Demand, OperatingPoint
from halfspace.errors import InputError

CLASSES = np.array(["no", "yes"])


def drawn(n=400, share=0.3, seed=0):
    """Return calibrated probabilities of two classes and labels drawn with them."""
    rng = np.random.default_rng(seed)
    p = rng.beta(2 * share, 2 * (1 - share), n)
    return np.stack([1 - p, p], axis=1), CLASSES[(rng.random(n) < p).astype(int)]


def test_accuracy_takes_the_most_probable_class():
    """For accuracy labels are those of argmax, to the last bit, and the threshold is one half."""
    P, y = drawn()
    P[:3] = [[0.5, 0.5], [np.nextafter(0.5, 0), 0.5], [0.5, np.nextafter(0.5, 0)]]
    point = OperatingPoint.choose(Demand.read("roc_auc"), P, y, CLASSES)
    assert point.most_probable
    assert point.threshold == 0.5
    assert np.array_equal(point.labels(P, CLASSES), CLASSES[P.argmax(axis=1)])
    P3 = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    point = OperatingPoint.choose(Demand.read(), P3, np.arange(50) % 3, np.arange(3))
    assert np.array_equal(point.decide(P3), P3.argmax(axis=1))
    assert "most probable" in point.sentence(np.arange(3))


def test_balanced_accuracy_asks_for_more_than_the_share():
    """The threshold is the share of the positive class; of more classes weights are inverse shares."""
    P, y = drawn()
    point = OperatingPoint.choose(Demand.read("balanced_accuracy"), P, y, CLASSES)
    assert point.threshold == pytest.approx(np.mean(y == "yes"))
    assert np.array_equal(point.decide(P) == 1, P[:, 1] > point.threshold)
    assert "share of the training rows" in point.sentence(CLASSES)
    point = OperatingPoint.choose(
        Demand.read("balanced_accuracy"), np.ones((6, 3)) / 3, np.array([0, 0, 0, 1, 1, 2]), np.arange(3)
    )
    assert point.weights * 6 == pytest.approx(6 * np.array([1 / 3, 1 / 2, 1]) / (1 / 3 + 1 / 2 + 1))
    assert "balanced accuracy" in point.sentence(np.arange(3))
    assert np.isnan(point.threshold)


@pytest.mark.parametrize(("positive", "threshold"), [(None, 1 / 6), ("yes", 1 / 6), ("no", 1 / 6)])
def test_costs_give_the_label_of_least_expected_cost(positive, threshold):
    """A false negative that costs five times as much moves the threshold to 1/6, of whichever class is positive."""
    P, y = drawn()
    point = OperatingPoint.choose(Demand.read(cost="FN=5, FP=1"), P, y, CLASSES, positive)
    k = 0 if positive == "no" else 1
    assert point.threshold == pytest.approx(threshold)
    expected = np.stack([5.0 * P[:, k], 1.0 - P[:, k]], axis=1).argmin(axis=1)
    assert np.array_equal(point.decide(P) == k, expected == 1)


def test_costs_of_many_classes_are_by_name():
    """What it costs to miss a class is given by its name, 1 if nothing is said; FN and FP are refused."""
    classes, P = np.array(["a", "b", "c"]), np.array([[0.6, 0.3, 0.1]])
    point = OperatingPoint.choose(Demand.read(cost="b=3"), P, np.array(["a"]), classes)
    assert point.labels(P, classes).tolist() == ["b"]
    assert "b=3" in point.sentence(classes)
    with pytest.raises(InputError, match="needs two classes, but there are 3"):
        OperatingPoint.choose(Demand.read(cost="FN=3"), P, np.array(["a"]), classes)
    with pytest.raises(InputError, match=r"recall>=0\.9 needs two classes"):
        OperatingPoint.choose(Demand.read(threshold="recall>=0.9"), P, np.array(["a"]), classes)
    with pytest.raises(InputError, match=r"no class 'd' .*c\.$"):
        OperatingPoint.choose(Demand.read(cost="d=3"), P, np.array(["a"]), classes)
    with pytest.raises(InputError, match=r"no class 'd' .*; of two classes also FN and FP"):
        OperatingPoint.choose(Demand.read(cost="d=3"), P[:, :2], np.array(["a"]), classes[:2])


def recall_precision_f1(own, called):
    """Return the three of two sets of truth values."""
    both = np.count_nonzero(own & called)
    return both / own.sum(), both / max(called.sum(), 1), 2 * both / (own.sum() + called.sum())


@pytest.mark.parametrize(("text", "asked", "other", "least"), [("recall>=0.9", 0, 1, 0.9), ("precision >= 80%", 1, 0, 0.8)])
def test_a_share_is_reached_at_the_least_loss(text, asked, other, least):
    """No other threshold that reaches the recall out of fold has a higher precision; the same for precision and recall."""
    P, y = drawn()
    own = y == "yes"
    point = OperatingPoint.choose(Demand.read(threshold=text), P, y, CLASSES)
    found = recall_precision_f1(own, point.decide(P) == 1)
    every = np.array([recall_precision_f1(own, P[:, 1] >= t) for t in P[:, 1]])
    assert point.reached
    assert found[asked] >= least
    assert found[other] == every[every[:, asked] >= least, other].max()


def test_specificity_and_f1():
    """Specificity is the share of negatives left alone; for F1 no threshold is better out of fold."""
    P, y = drawn()
    point = OperatingPoint.choose(Demand.read(threshold="specificity>=0.99"), P, y, CLASSES)
    assert np.mean(point.decide(P)[y == "no"] == 0) >= 0.99
    point, own = OperatingPoint.choose(Demand.read("f1"), P, y, CLASSES), y == "yes"
    best = max(recall_precision_f1(own, P[:, 1] >= t)[2] for t in P[:, 1])
    assert recall_precision_f1(own, point.decide(P) == 1)[2] == best
    assert "F1" in point.sentence(CLASSES)


def test_what_cannot_be_reached_is_said():
    """If no threshold reaches the precision, the nearest one is taken, and the sentence says so."""
    P = np.array([[0.2, 0.8], [0.3, 0.7], [0.5, 0.5], [0.8, 0.2]])
    point = OperatingPoint.choose(Demand.read(threshold="precision>=0.9"), P, np.array(["no", "yes", "yes", "no"]), CLASSES)
    assert not point.reached
    assert "no threshold reaches that" in point.sentence(CLASSES)


def test_held_out_rows_have_the_exact_interval():
    """Recall on held-out rows comes with the interval of Clopper and Pearson, and is what the sentence tells."""
    P, y = drawn()
    point = OperatingPoint.choose(Demand.read(threshold="recall>=0.9"), P, y, CLASSES).tested(*drawn(seed=1), CLASSES)
    recall = point.held_out[0]
    assert recall.name == "recall"
    assert recall.low == pytest.approx(stats.beta.ppf(0.025, recall.count, recall.of - recall.count + 1))
    assert f"On held-out rows: recall {100 * recall.value:.1f} % ({recall.count} of {recall.of}" in point.sentence(CLASSES)
    empty = dataclasses.replace(point).tested(P[:1], np.array(["no"]), CLASSES).held_out[0]
    assert (empty.of, empty.low, empty.high) == (0, 0.0, 1.0)
    assert "unknown" in str(empty)


@pytest.mark.parametrize("rows", [np.array(["no", "no"]), np.array(["yes", "yes"])])
def test_one_class_alone_gives_one_half(rows):
    """Where the out-of-fold rows have one class only, no threshold can be chosen, and none is claimed to be."""
    point = OperatingPoint.choose(Demand.read(threshold="recall>=0.9"), np.full((2, 2), 0.5), rows, CLASSES)
    assert (point.threshold, point.reached) == (0.5, False)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"cost": "FN"}, "FN=5,FP=1"),
        ({"cost": "FN=0"}, "from 1e-9"),
        ({"cost": "FN=x"}, "Got 'FN=x'"),
        ({"cost": "FN=1,FN=2"}, "once"),
        ({"threshold": "recall>0.9"}, "reads like"),
        ({"threshold": "recall>=1.5"}, "up to 1"),
        ({"threshold": "accuracy>=0.9"}, "recall, precision, specificity"),
        ({"threshold": "recall>=0.9", "cost": "FN=2"}, "not both"),
    ],
)
def test_demands_that_make_no_sense_are_refused(asked, message):
    """Messages say what can be asked for."""
    with pytest.raises(InputError, match=message):
        Demand.read(**asked)


def by_hand(p, own, share, least):
    """Return threshold and whether it is reached, trying the middle below every probability, from the highest down."""
    tried = []
    for v in sorted(set(p.tolist()), reverse=True):
        called = p >= v
        hits, lower = np.count_nonzero(own & called), max(p[p < v], default=0.0)
        shares = {"recall": hits / own.sum(), "precision": hits / called.sum(), "f1": 2 * hits / (own.sum() + called.sum())}
        shares["specificity"] = 1.0 - np.count_nonzero(called & ~own) / np.count_nonzero(~own)
        tried.append((0.5 * (v + lower), shares))
    other = {"recall": "precision", "precision": "recall", "specificity": "recall", "f1": "f1"}[share]
    good = [one for one in tried if one[1][share] >= least - 1e-12]
    best = max(good or tried, key=lambda one: one[1][other if good else share])
    return best[0], bool(good)


@pytest.mark.parametrize("share", ["recall", "precision", "specificity", "f1"])
@pytest.mark.parametrize("positive", ["no", "yes"])
def test_thresholds_are_those_found_by_trying_all(share, positive):
    """With ties of probability, of either class, reached or not: the first of the best middles."""
    rng, reached = np.random.default_rng(5), set()
    for case in range(40):
        p, own = rng.integers(1, 9, 12) / 8.0, rng.random(12) < 0.5
        own[:2] = [True, False]
        least = 0.0 if share == "f1" else rng.integers(1, 5) / 4.0
        demand = Demand.read("f1") if share == "f1" else Demand.read(threshold=f"{share} >= {100 * least:g}%")
        k = int(positive == "yes")
        P = np.stack([1.0 - p, p] if k else [p, 1.0 - p], axis=1)
        point = OperatingPoint.choose(demand, P, CLASSES[np.where(own, k, 1 - k)], CLASSES, positive)
        threshold, found = by_hand(p, own, share, least)
        assert (point.threshold, point.reached) == (pytest.approx(threshold), found), case
        assert point.positive == k
        called = p > point.threshold
        counts = {
            "recall": (np.count_nonzero(own & called), own.sum()),
            "precision": (np.count_nonzero(own & called), called.sum()),
            "specificity": (np.count_nonzero(~own & ~called), np.count_nonzero(~own)),
        }
        assert {one.name: (one.count, one.of) for one in point.out_of_fold} == counts
        reached.add(found)
    assert reached == ({True, False} if share in ("precision", "specificity") else {True})


def test_what_is_said_of_an_operating_point():
    """The share asked for on held-out rows, or else out of fold; recall and precision where no share was asked for."""
    P, y = drawn()
    for asked, words, left_out in (
        ({"threshold": "precision>=0.8"}, "chosen for precision>=0.8 out of fold", "recall"),
        ({"cost": "FN=5"}, "chosen for FN=5. On out-of-fold rows: recall", "specificity"),
    ):
        said = OperatingPoint.choose(Demand.read(**asked), P, y, CLASSES).sentence(CLASSES)
        assert words in said
        assert f"{left_out} " not in said
        assert "“yes” is predicted where its probability is above" in said
    assert Demand.of_text("recall>=0.5") == Demand.read(threshold="recall>=0.5")
    assert Demand.of_text("FN=2") == Demand.read(cost="FN=2")
    assert Demand.of_text("f1") == Demand.read("f1")
    assert Demand.read("roc_auc").text == "accuracy"
    assert Demand.read(threshold="recall>=1").least == 1.0
    assert Demand.read(cost="a=1e-9,b=1e9").costs == (("a", 1e-9), ("b", 1e9))
    for cost in ("a=0.9e-9", "a=1.1e9", "=1"):
        with pytest.raises(InputError, match="Costs read like"):
            Demand.read(cost=cost)
    with pytest.raises(InputError, match="reads like"):
        Demand.read(threshold="recall>=0")
    gaps = np.vstack([P, [[np.nan, np.nan]]])
    point = OperatingPoint.choose(Demand.read("balanced_accuracy"), gaps, np.append(y, "yes"), CLASSES)
    assert point.threshold == pytest.approx(np.mean(y == "yes"))
    names = np.array(["FN", "other"])
    point = OperatingPoint.choose(Demand.read(cost="FN=3"), P, names[(y == "yes").astype(int)], names)
    assert point.weights.tolist() == [0.75, 0.25]
    empty = OperatingPoint.choose(Demand.read("balanced_accuracy"), np.ones((2, 3)) / 3, np.array([0, 1]), np.arange(3))
    assert empty.weights == pytest.approx(np.ones(3) / 3)
