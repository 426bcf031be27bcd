"""The averaged perceptron on MNIST, ten classes, five epochs, against scikit-learn's averaged SGD perceptron."""

import numpy as np
from sklearn.linear_model import SGDClassifier

import halfspace as hs
from benchmarks.problems import mnist
from benchmarks.race import Case


def cases():
    data = mnist()
    if data is None:
        print("MNIST: left out, ../shared/data is not there")
        return
    X, y, X_test, y_test = data

    def check(outputs):
        ours, peer = (np.mean(model.predict(X_test) != y_test) for model in outputs.values())
        if ours > peer:
            msg = f"ours errs more: {ours:.4f} against {peer:.4f}"
            raise AssertionError(msg)
        return f"test error {100 * ours:.2f} %, peer {100 * peer:.2f} %"

    yield Case(
        "MNIST, 10 classes one-vs-rest, 5 epochs, averaged",
        {
            "halfspace": lambda: hs.AveragedPerceptron(max_iter=5, random_state=0).fit(X, y),
            "scikit-learn": lambda: SGDClassifier(
                loss="perceptron",
                learning_rate="constant",
                eta0=1.0,
                penalty=None,
                average=True,
                max_iter=5,
                tol=None,
                random_state=0,
            ).fit(X, y),
        },
        5.0,
        check=check,
        repeats=2,
    )
