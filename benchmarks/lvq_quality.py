"""Test errors of the LVQ family beside sklvq's and K-NN's: letter, optdigits, vowel, and rows shaped as satimage's. No bar.

One and five prototypes per class. K-means + 1-NN takes as many prototypes as LVQ, found in each class apart, and looks for the
nearest; K-NN keeps all rows (K from 1, 3, 5, 7 by cross-validation). All at their own settings, columns standardised; sklvq by
its waypoint descent (its L-BFGS where that diverges, if two minutes are enough: it starts all prototypes of a class on the same
mean), with its own slope of the sigmoid, 1, and with ours, 20. satimage is not at hand: `satimage_like` in lvq_setup draws rows
of its shape. `python -m benchmarks.lvq_quality` prints the table alone.
"""

import time
from functools import cache

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import halfspace as hs
from benchmarks.lvq_setup import SOLVERS, peer, standardised
from benchmarks.race import Case

SETS = ("letter", "optdigits", "vowel", "satimage-like")
PATIENCE = 120.0
OURS = {
    "LVQ1": lambda P: hs.LVQ(variant="1", n_prototypes=P, random_state=0),
    "LVQ2.1": lambda P: hs.LVQ(variant="2.1", n_prototypes=P, random_state=0),
    "LVQ3": lambda P: hs.LVQ(variant="3", n_prototypes=P, random_state=0),
    "GLVQ": lambda P: hs.GLVQ(n_prototypes=P, random_state=0),
    "GRLVQ": lambda P: hs.GRLVQ(n_prototypes=P, random_state=0),
    "GMLVQ": lambda P: hs.GMLVQ(n_prototypes=P, random_state=0),
}


def nearest_mean(data, P):
    """Return the test accuracy of the nearest of P means per class, found by K-means in each class apart."""
    labels = np.unique(data.y)
    means = [KMeans(P, n_init=3, random_state=0).fit(data.X[data.y == label]).cluster_centers_ for label in labels]
    nearest = pairwise_distances_argmin(data.X_test, np.vstack(means))
    return float(np.mean(np.repeat(labels, P)[nearest] == data.y_test))


@cache
def all_rows(name):
    """Return the test accuracy of K-NN with all rows."""
    data = standardised(name)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7]}, cv=5)
    return search.fit(data.X, data.y).score(data.X_test, data.y_test)


def sklvq(model, name, P, beta):
    """Return what sklvq does by the first of two optimisers that stays finite, or None."""
    settings = {"prototypes": P, "beta": beta, "limit": PATIENCE}
    return peer(model, name, SOLVERS["waypoint"], **settings) or peer(model, name, SOLVERS["lbfgs"], **settings)


@cache
def errors(name, P):
    """Return the test errors in per cent by method (NaN: none in time), and the seconds of our and of sklvq's fits."""
    data = standardised(name)
    found, seconds = {}, {}
    for method, make in OURS.items():
        begin = time.perf_counter()
        model = make(P).fit(data.X, data.y)
        seconds[method] = time.perf_counter() - begin
        if not model.certificate_.verify(data.X, data.y):
            msg = f"the certificate of {method} on {name} does not hold: {model.certificate_.verify(data.X, data.y)}"
            raise AssertionError(msg)
        found[method] = model.score(data.X_test, data.y_test)
    for model, beta in (("GLVQ", 1.0), ("GLVQ", 20.0), ("GMLVQ", 1.0), ("GMLVQ", 20.0)):
        answer = sklvq(model, name, P, beta)
        peers = f"sklvq {model} β={beta:.0f}"
        found[peers], seconds[peers] = (np.nan, np.inf) if answer is None else (answer["accuracy"], answer["seconds"])
    found["K-means + 1-NN"], found["K-NN, all rows"] = nearest_mean(data, P), all_rows(name)
    return {method: 100.0 * (1.0 - share) for method, share in found.items()}, seconds


def cases():
    for name in SETS:
        if standardised(name) is None:
            continue
        for P in (1, 5):
            yield Case(
                f"test errors, {standardised(name)}, {P} per class (times: a fit of GMLVQ)",
                {
                    "halfspace": lambda name=name, P=P: errors(name, P)[1]["GMLVQ"],
                    "sklvq": lambda name=name, P=P: errors(name, P)[1]["sklvq GMLVQ β=20"],
                },
                0.0,
                check=lambda _, name=name, P=P: ", ".join(f"{who} {e:.1f} %" for who, e in errors(name, P)[0].items()),
                repeats=1,
                cold=True,
            )


def main():
    pairs = [(name, P) for name in SETS if standardised(name) is not None for P in (1, 5)]
    print("test errors in per cent | " + " | ".join(f"{name}, {P}" for name, P in pairs))
    for method in errors(*pairs[0])[0]:
        print(f"{method} | " + " | ".join(f"{errors(name, P)[0][method]:.1f}" for name, P in pairs))


if __name__ == "__main__":
    main()
