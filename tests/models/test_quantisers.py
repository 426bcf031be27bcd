"""VectorQuantizer and NeuralGas as estimators: what is stored, said and refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from halfspace import NeuralGas, VectorQuantizer
from halfspace.errors import InputError
from halfspace.solvers.prototypes import quantising

RNG = np.random.default_rng(1)
X = RNG.standard_normal((40, 2)) + 6.0 * RNG.integers(0, 2, (40, 2))
MODELS = {"gas": NeuralGas(4, max_iter=3, random_state=0), "winner": VectorQuantizer(4, max_iter=3, random_state=0)}
every_model = pytest.mark.parametrize("model", list(MODELS.values()), ids=list(MODELS))


@every_model
def test_fitted_model(model):
    """Labels, distances, error and score belong to the prototypes, and the certificate proves it."""
    model = clone(model).fit(X)
    distances = np.linalg.norm(X[:, None] - model.prototypes_, axis=2)
    assert_array_equal(model.labels_, distances.argmin(axis=1))
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(clone(model).fit_predict(X), model.labels_)
    np.testing.assert_allclose(model.transform(X), distances, rtol=1e-13)
    np.testing.assert_allclose([model.inertia_, -model.score(X)], (distances.min(axis=1) ** 2).sum(), rtol=1e-12)
    assert model.cluster_centers_ is model.prototypes_
    assert model.get_feature_names_out().size == 4
    assert model.certificate_.verify(X)
    assert not model.certificate_.verify(X + 1e-3)
    assert model.history_["error"].shape == model.history_["seconds"].shape == (3,)
    assert model.outcome_.reason == "passes done"
    assert "quantisation error" in str(model.outcome_)
    assert model.n_iter_ == 3
    model.prototypes_[:] += 0.1
    assert not model.certificate_.verify(X)  # model and certificate share one memory


@every_model
def test_same_seed_same_answer(model):
    """The same seed gives the same prototypes, another seed others; without shuffling, given prototypes decide all."""
    fits = [clone(model).set_params(random_state=seed).fit(X).prototypes_ for seed in (0, 0, 1)]
    assert_array_equal(fits[0], fits[1])
    assert (fits[0] != fits[2]).any()
    fixed = clone(model).set_params(shuffle=False, init=X[:4])
    fits = [clone(fixed).set_params(random_state=seed).fit(X).prototypes_ for seed in (0, 1)]
    assert_array_equal(fits[0], fits[1])


@every_model
def test_stopped_and_resumed_is_one_go(model, monkeypatch):
    """A fit that runs out of time in the middle of an epoch says so, and goes on with warm_start as if it had not stopped."""
    monkeypatch.setattr("halfspace.solvers.prototypes.quantising.PIECE_ENTRIES", 60)
    whole = clone(model).fit(X)
    parts = clone(model).set_params(max_time=1e-9, warm_start=True).fit(X)
    assert parts.outcome_.reason == "time budget spent"
    assert "0.75 of 3 epochs" in str(parts.outcome_)
    assert "warm_start" in parts.outcome_.remedy
    assert parts.certificate_.verify(X)
    stops = 1
    while parts.outcome_.reason == "time budget spent":
        parts.fit(X)
        stops += 1
    assert stops == 6
    assert_array_equal(parts.prototypes_, whole.prototypes_)
    assert_array_equal(parts.history_["error"], whole.history_["error"])


@every_model
def test_interrupt_keeps_what_was_learnt(model, monkeypatch):
    """Ctrl-C leaves a usable model that says it was interrupted and can be continued."""
    whole = clone(model).fit(X)
    real, calls = quantising.gathered, []

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(quantising, "gathered", interrupted)
    stopped = clone(model).set_params(warm_start=True).fit(X)
    assert stopped.outcome_.reason == "interrupted"
    assert stopped.n_iter_ == 1
    assert stopped.certificate_.verify(X)
    assert_array_equal(stopped.fit(X).prototypes_, whole.prototypes_)


@every_model
def test_stream(model):
    """Any cut of a stream gives the same prototypes; the certificate of a fit goes, and `certify` makes one."""
    whole, parts = clone(model).fit(X), clone(model)
    for chunk in np.split(X, [10, 11, 30]):
        parts.partial_fit(chunk)
    assert_array_equal(parts.prototypes_, clone(model).partial_fit(X).prototypes_)
    assert "40 rows" in str(parts.outcome_)
    assert parts.certify(X).verify(X)
    whole.partial_fit(X)
    assert not hasattr(whole, "certificate_")
    assert not hasattr(whole, "labels_")
    assert clone(model).set_params(init=X[:4] + 1.0).partial_fit(X[:1]).prototypes_.shape == (4, 2)


def test_warm_start_begins_with_the_last_prototypes():
    """A completed fit is the start of the next: in a constant short range prototypes barely move."""
    model = VectorQuantizer(4, eta0=1e-6, eta_end=1e-6, max_iter=1, random_state=0, warm_start=True).fit(X)
    before = model.prototypes_
    np.testing.assert_allclose(model.set_params(random_state=5).fit(X).prototypes_, before, atol=1e-3)


def test_dead_prototypes_are_revived_and_named():
    """A prototype far away wins nothing: it is revived and the outcome says so; without revival the outcome names it."""
    init = np.vstack([X[:3], [[1e3, 1e3]]])
    common = {"init": init, "max_iter": 3, "random_state": 0}
    revived = VectorQuantizer(4, **common).fit(X)
    assert "revived 1 times" in str(revived.outcome_)
    assert revived.certificate_.dead.size == 0
    left = VectorQuantizer(4, revive=False, **common).fit(X)
    assert "1 of 4 prototypes are nearest to no row" in str(left.outcome_)
    assert left.outcome_.remedy
    assert left.certificate_.dead.tolist() == [3]
    assert revived.inertia_ < left.inertia_
    same = VectorQuantizer(3, init=np.zeros((3, 2)), max_iter=2).fit(np.zeros((5, 2)))
    assert same.inertia_ == 0.0


def test_progress_is_told(capsys):
    """verbose=2 prints a line per epoch and the outcome."""
    NeuralGas(2, max_iter=2, verbose=2, random_state=0).fit(X)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["[NeuralGas] epoch 1", "[NeuralGas] epoch 2"]
    assert "quantisation error" in lines[-1]


class Stop:
    """A callback that ends the fit after the first epoch, having looked at the model as it is then."""

    seen = None

    def setup(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        del estimator, context
        self.seen = self.seen if fitted_estimator is None else fitted_estimator.predict(X)
        return True

    def teardown(self, estimator, context): ...


@every_model
def test_callbacks_see_the_model_and_can_stop_it(model):
    """scikit-learn's callbacks get a model that predicts, and may end the fit; warm_start goes on from there."""
    listener = Stop()
    stopped = clone(model).set_params(warm_start=True).set_callbacks(listener).fit(X)
    assert stopped.outcome_.reason == "stopped by callback"
    assert stopped.n_iter_ == 1
    assert listener.seen.shape == (40,)
    assert_array_equal(stopped.set_callbacks().fit(X).prototypes_, clone(model).fit(X).prototypes_)


REFUSED = {
    "no prototypes": (NeuralGas(0), "n_prototypes"),
    "rate": (NeuralGas(2, eta0=1.5), "at most 1"),
    "last rate": (VectorQuantizer(2, eta_end=0.0), "eta_end"),
    "range": (NeuralGas(2, lambda_end=0.0), "lambda_end"),
    "solver": (NeuralGas(2, solver="slow"), "solver"),
    "first range": (NeuralGas(2, lambda0=-1.0), "lambda0"),
    "start": (VectorQuantizer(2, init="best"), "'sample', 'k-means\\+\\+' or an array"),
    "shape of start": (VectorQuantizer(2, init=np.zeros((3, 2))), "one row per prototype"),
    "switch": (VectorQuantizer(2, revive=1), "revive"),
    "few rows": (VectorQuantizer(41), "n_samples=40 should be >= n_prototypes=41"),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_refusals_say_what_was_expected(name):
    """A parameter that cannot be used is refused by name before anything is learnt."""
    model, words = REFUSED[name]
    with pytest.raises(InputError, match=words):
        model.fit(X)
    assert not hasattr(model, "n_features_in_")
