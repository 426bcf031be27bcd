"""Training: warm starts, class weights, progress, callbacks, streams."""

import inspect
import types

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import halfspace as hs
from halfspace.data import teacher_student, two_clouds
from halfspace.errors import InputError

quiet = pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")


@quiet
@pytest.mark.parametrize(
    "model", [hs.Perceptron, hs.AveragedPerceptron, hs.VotedPerceptron, hs.PocketPerceptron], ids=lambda m: m.__name__
)
def test_a_warm_start_on_the_same_data_goes_on(model):
    """Twice three epochs in order with a warm start are six epochs: same weights, mistakes and bound."""
    X, y, *_ = two_clouds(50, 3, distance=2.0, random_state=0)
    whole = model(max_iter=6, shuffle=False).fit(X, y)
    halves = model(max_iter=3, shuffle=False, warm_start=True).fit(X, y).fit(X, y)
    assert halves.mistakes_ == whole.mistakes_
    np.testing.assert_allclose(halves.decision_function(X), whole.decision_function(X), rtol=1e-12)
    assert halves.certificate_.bound == whole.certificate_.bound
    assert halves.certificate_.verify(X, y)


@quiet
@pytest.mark.parametrize(
    "model", [hs.Perceptron, hs.AveragedPerceptron, hs.VotedPerceptron, hs.PassiveAggressive], ids=lambda m: m.__name__
)
def test_a_warm_start_on_other_data_starts_from_the_old_weights(model):
    """On new data the old weights are the start; the certificate is of the new run and knows its start."""
    X, y, *_ = teacher_student(60, 4, margin=0.1, random_state=0)
    fitted = model(max_iter=50, warm_start=True, random_state=0).fit(X[:30], y[:30])
    fitted.fit(X[30:55], y[30:55])
    assert fitted.certificate_.theorem.start > 0
    assert fitted.certificate_.verify(X[30:55], y[30:55])
    assert fitted.score(X[30:55], y[30:55]) > 0.8


def test_class_weights_move_the_plane():
    """A class that counts more is missed less often."""
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.1).astype(int)
    X = rng.standard_normal((600, 2)) + 1.2 * y[:, None]
    for model in (hs.AveragedPerceptron(random_state=0), hs.Adaline(), hs.PassiveAggressive(C=0.01, random_state=0)):
        plain = model.set_params(class_weight=None).fit(X, y).predict(X)[y == 1].mean()
        balanced = model.set_params(class_weight="balanced").fit(X, y).predict(X)[y == 1].mean()
        assert balanced > plain


@quiet
def test_progress_is_told_on_request(capsys):
    """verbose=2 prints a line per epoch and the outcome, to standard error; silence is the default."""
    X, y, *_ = two_clouds(40, 2, distance=1.0, random_state=0)
    hs.Perceptron(max_iter=3).fit(X, y)
    assert capsys.readouterr().err == ""
    hs.Perceptron(max_iter=3, verbose=2).fit(X, y)
    told = capsys.readouterr().err
    assert told.count("epoch") >= 3
    assert "[Perceptron]" in told
    assert "max_iter=3" in told


@quiet
def test_scikit_learn_callbacks_see_every_epoch():
    """ScoringMonitor gets the model as it stands after every epoch, averaged models included; ProgressBar runs."""
    X, y, *_ = two_clouds(60, 2, distance=1.0, random_state=0)
    monitor = ScoringMonitor(scoring="accuracy")
    model = hs.AveragedPerceptron(max_iter=4, shuffle=False).set_callbacks(monitor, ProgressBar())
    model.fit(X, y)
    log = monitor.get_logs()
    log = log[0] if isinstance(log, list) else log
    seen = [row["accuracy"] for row in _rows(log) if row.get("task_name") == "epoch" and row.get("accuracy") is not None]
    expected = [hs.AveragedPerceptron(max_iter=k, shuffle=False).fit(X, y).score(X, y) for k in (1, 2, 3, 4)]
    np.testing.assert_allclose(seen[:4], expected)


def _rows(log):
    data = log.data_as_pandas
    return data.to_dict("records")


def test_a_stream_is_certified_on_demand():
    """After partial_fit there is no stale certificate; certify measures one on any examples."""
    X, y, *_ = teacher_student(200, 5, margin=0.2, random_state=0)
    model = hs.Perceptron(random_state=0).fit(X, y)
    assert hasattr(model, "certificate_")
    model.partial_fit(X, y)
    assert not hasattr(model, "certificate_")
    bracket = model.certify(X, y)
    assert bracket.verify(X, y)
    assert bracket.lower > 0
    assert "stream" in str(model.outcome_)


def test_it_is_at_home_in_scikit_learn():
    """Pipelines and grid searches work, in several processes, and models can be pickled by those who must."""
    X, y, *_ = two_clouds(80, 3, distance=4.0, random_state=0)
    pipeline = make_pipeline(StandardScaler(), hs.AveragedPerceptron(random_state=0))
    search = GridSearchCV(pipeline, {"averagedperceptron__max_iter": [1, 5]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9


def test_feature_names_are_kept_and_checked():
    """Data frames bring their column names, and other names are refused at prediction."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"length": [1.0, 2.0, -1.0], "width": [0.0, 1.0, -2.0]})
    model = hs.Perceptron().fit(frame, ["in", "in", "out"])
    assert model.feature_names_in_.tolist() == ["length", "width"]
    assert model.predict(frame).tolist() == ["in", "in", "out"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"width": "depth"}))


@quiet
@pytest.mark.compiled
@pytest.mark.parametrize("model", [hs.Perceptron, hs.AveragedPerceptron, hs.PassiveAggressive], ids=lambda m: m.__name__)
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_bad_rows_of_large_data_are_found_beside_the_first_epoch(model, bad):
    """In data large enough to be inspected beside the first epoch a bad value is refused all the same, and nothing changes."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20_000, 60)), rng.integers(0, 2, 20_000)
    fitted = model(max_iter=2, random_state=0, warm_start=True).fit(X, y)
    before, outputs = dict(vars(fitted)), fitted.decision_function(X[:50])
    X[12_345, 6] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity|Scale"):
        fitted.fit(X, y)
    assert vars(fitted) == before
    np.testing.assert_array_equal(fitted.decision_function(X[:50]), outputs)


def test_class_weights_of_no_class_are_refused_by_name():
    """A dict whose keys are not the classes is an error of ours that names the estimator."""
    X, y = np.arange(8.0).reshape(4, 2), np.array(["a", "b", "a", "b"])
    with pytest.raises(InputError, match=r"class_weight.*AveragedPerceptron.*not in class_weight"):
        hs.AveragedPerceptron(class_weight={"c": 2.0}).fit(X, y)


@quiet
def test_balanced_weights_are_not_silently_dropped_by_a_stream():
    """class_weight='balanced' needs all labels at once: partial_fit says so, before and after a fit."""
    X, y, *_ = two_clouds(40, 2, random_state=0)
    model = hs.AveragedPerceptron(class_weight="balanced", random_state=0)
    with pytest.raises(ValueError, match="balanced"):
        model.partial_fit(X, y, classes=[-1, 1])
    model.fit(X, y)
    with pytest.raises(ValueError, match="balanced"):
        model.partial_fit(X, y)


def test_errors_about_arguments_name_the_class_of_the_user():
    """Python's TypeErrors say Perceptron.fit(), not an internal base class, for every plain method of every estimator."""
    with pytest.raises(TypeError, match=r"^Perceptron\.fit\(\) missing 1 required positional argument: 'y'"):
        hs.Perceptron().fit(np.ones((2, 2)))
    for name in hs.__all__:
        kind = getattr(hs, name)
        if isinstance(kind, type) and issubclass(kind, BaseEstimator):
            methods = [inspect.getattr_static(kind, method) for method in dir(kind) if not method.startswith("_")]
            ours = [m for m in methods if isinstance(m, types.FunctionType) and m.__module__.startswith("halfspace.")]
            assert {method.__qualname__.split(".")[0] for method in ours} <= {name}
