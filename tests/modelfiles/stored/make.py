"""Makes the stored files: run once per format, by hand, and never again for a format that was released.

python tests/modelfiles/stored/make.py
"""

import json
import warnings
from pathlib import Path

import numpy as np

import halfspace as hs
from halfspace.kernels import RBF, Linear

HERE = Path(__file__).parent / "format2"
X = np.array([[np.cos(k) + k % 3, np.sin(2 * k), 0.1 * k] for k in range(30)])
WORDS = np.array(["ant", "bee", "cat"])[np.arange(30) % 3]
TWO = (np.arange(30) % 3 == 0).astype(int)
MODELS = {
    "adatron": (hs.AdaTron(), WORDS),
    "averaged": (hs.AveragedPerceptron(max_iter=3, shuffle=False), TWO),
    "voted": (hs.VotedPerceptron(max_iter=2, shuffle=False), TWO),
    "committee": (hs.PerceptronCommittee(n_members=3, max_iter=3, random_state=0), WORDS),
    "kernel_adatron": (hs.KernelAdaTron(gamma=0.5), TWO),
    "kernel_pairs": (hs.KernelAdaTron(RBF(0.5) + Linear(), multi_class="ovo"), WORDS),
    "kernel_budget": (hs.KernelPerceptron(gamma=0.5, budget=8, max_iter=2, shuffle=False), TWO),
    "minover": (hs.MinOver(max_iter=50), WORDS),
    "gmlvq": (hs.GMLVQ(max_iter=3, random_state=0), WORDS),
    "kernel_voted": (hs.KernelPerceptron(gamma=0.5, variant="voted", max_iter=2, shuffle=False), TWO),
    "ladder": (hs.Ladder(rungs=["majority", "adatron"], n_splits=2, n_repeats=1), WORDS),
}


def make() -> None:
    """Write the files and what they predict."""
    HERE.mkdir(exist_ok=True)
    expected = {}
    for name, (model, y) in MODELS.items():
        model.fit(X, y)
        hs.save(model, HERE / f"{name}.halfspace")
        outputs = model.decision_function(X)
        expected[name] = {"labels": model.predict(X).tolist(), "outputs": outputs.tolist(), "target": y.tolist()}
    body = {"halfspace": hs.__version__, "X": X.tolist(), "models": expected}
    (HERE / "expected.json").write_text(json.dumps(body) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that some of them do not separate the classes is no matter
        make()
