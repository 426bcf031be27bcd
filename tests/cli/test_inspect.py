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
