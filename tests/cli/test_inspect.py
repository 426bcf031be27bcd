"""Claims about `halfspace inspect`."""

import numpy as np

import halfspace as hs


def test_a_ladder(halfspace, answer, model):
    """What it was trained on, ladder, weights by name, hardest rows and certificate are shown; no value of the data is."""
    body = answer("inspect", model)
    origin = body["trained_on"]
    assert (origin["target"], origin["columns"], origin["n_rows"]) == ("kept", ["size", "age", "colour"], 120)
    assert origin["versions"]["halfspace"] == hs.__version__
    names = {one["name"] for one in body["weights"][0]["weights"]}
    assert {"size", "age", "colour=red"} <= names
    ladder = hs.load(model)
    assert set(body["hardest"]["rows"]) <= set(ladder.train_.tolist())
    assert body["hardest"]["values"] == sorted(body["hardest"]["values"])
    out = halfspace("inspect", model, "--top", 2).out
    assert all(part in out for part in ("Fitted to table.csv (csv)", "winner", "2 largest of", "Hardest", "Proof: "))


def test_a_bare_model(halfspace, answer, tmp_path):
    """A model saved from Python is shown with its weights, its largest strengths and its proof, what is reported apart."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    model = hs.Perceptron().fit(X, y)
    hs.save(model, tmp_path / "m")
    body = answer("inspect", tmp_path / "m")
    assert (body["kind"], body["classes"], body["weights"][0]["weights"][0]["name"]) == ("Perceptron", [0, 1], "x0")
    assert sorted(body["hardest"]["rows"]) == model.support_.tolist()
    assert (body["proof"]["kind"], body["proof"]["reported"]) == ("MistakeBound", model.certificate_.reports())
    assert f"reported by the run, not proved: {model.mistakes_} mistakes" in halfspace("inspect", tmp_path / "m").out


def test_models_without_classes_are_shown_too(answer, halfspace, tmp_path):
    """Ladders of numbers, regressions and quantisers are fitted, with a proof and any weights they have; and they predict."""
    X = np.random.default_rng(0).standard_normal((40, 2))
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b", comments="")
    for k, model in enumerate((hs.LinearRegression(), hs.LogTarget(), hs.KMeans(2), hs.IsotropicMixture(2))):
        hs.save(model.fit(X, np.exp(X @ [1.0, 2.0])), tmp_path / "m")
        body = answer("inspect", tmp_path / "m")
        assert (body["fitted"], body["n_inputs"], body["proof"] is None) == (True, 2, False)
        assert len(body["weights"]) == (k < 2)
        assert "Trained on 2 inputs." in halfspace("inspect", tmp_path / "m").out
        assert answer("predict", tmp_path / "m", tmp_path / "x.csv")["n_rows"] == 40
    hs.save(hs.RegressionLadder(rungs=["mean", "least_squares"]).fit(X, X @ [1.0, 2.0]), tmp_path / "m")
    found = answer("inspect", tmp_path / "m")
    assert [one["name"] for one in found["weights"][0]["weights"]] == ["x1", "x0"]
    assert "Weights (2 largest of 2; bias" in halfspace("inspect", tmp_path / "m").out


def test_what_is_not_fitted(halfspace, answer, tmp_path):
    """Unfitted models and encoders have no weights and no proof."""
    for name, held in (("m", hs.AdaTron()), ("e", hs.TableEncoder().fit(np.eye(3)))):
        hs.save(held, tmp_path / name)
        body = answer("inspect", tmp_path / name)
        assert body["weights"] == []
        assert body["proof"] is None
    assert "not fitted" in halfspace("inspect", tmp_path / "m").out


def test_a_kernel_machine(answer, tmp_path):
    """A kernel machine has no weights by name, but support vectors and a proof."""
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array(["a", "a", "b", "b"])
    hs.save(hs.KernelAdaTron(gamma=1.0).fit(X, y), tmp_path / "m")
    body = answer("inspect", tmp_path / "m")
    assert (body["weights"], body["n_support"]) == ([], 4)
