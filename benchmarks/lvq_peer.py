"""One fit of sklvq, in a Python of its own: called by lvq_setup as `python lvq_peer.py data.npz '{"model": "GLVQ", ...}'`.

The clock runs around `fit` alone, after a small fit that loads everything. The last line printed is JSON: seconds, accuracy
on the test rows, and accuracy on the training rows; null if the fit diverged.
"""

import json
import sys
import time

import numpy as np
from sklvq import GLVQ, GMLVQ

vars(np)["int"] = int  # its prediction of two classes asks for whole numbers by a name that is gone from NumPy 1.24


def model(task):
    """Return an unfitted model for a task: model, solver, solver_params, beta, prototypes (per class), seed."""
    settings = {name: np.asarray(value) if isinstance(value, list) else value for name, value in task["solver_params"].items()}
    return {"GLVQ": GLVQ, "GMLVQ": GMLVQ}[task["model"]](
        solver_type=task["solver"],
        solver_params=settings,
        activation_params={"beta": task["beta"]},
        prototype_n_per_class=task["prototypes"],
        random_state=task["seed"],
    )


def main():
    task = json.loads(sys.argv[2])
    with np.load(sys.argv[1]) as data:
        X, y, X_test, y_test = (data[name] for name in ("X", "y", "X_test", "y_test"))
    small = np.concatenate([np.flatnonzero(y == label)[:20] for label in np.unique(y)])
    model(task | {"model": "GLVQ", "prototypes": 1}).fit(X[small], y[small])
    begin = time.perf_counter()
    try:
        fitted = model(task).fit(X, y)
    except np.linalg.LinAlgError:  # raised where the metric is not finite
        fitted = None
    seconds = time.perf_counter() - begin
    if fitted is None or not np.isfinite(fitted.prototypes_).all():
        print("null")
        return
    right = [float(np.mean(fitted.predict(rows) == labels)) for rows, labels in ((X_test, y_test), (X, y))]
    print(json.dumps({"seconds": seconds, "accuracy": right[0], "train": right[1]}))


if __name__ == "__main__":
    main()
