"""A stream of sparse rows: partial_fit in chunks of 100 against River's learn_one."""

import warnings

import halfspace as hs
from benchmarks.problems import sparse_rows
from benchmarks.race import Case

ROWS = 20_000


def cases():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from river import linear_model

    X, y = sparse_rows()
    chunks = [(X[i : i + 100], y[i : i + 100]) for i in range(0, ROWS, 100)]
    few = ROWS // 10
    rows = [X[i] for i in range(few)]
    dicts = [dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in rows]
    answers = [bool(label) for label in y[:few]]

    def ours():
        model = hs.Perceptron()
        for rows, labels in chunks:
            model.partial_fit(rows, labels, classes=None if hasattr(model, "classes_") else [0, 1])
        return model

    def river():
        for _ in range(10):
            model = linear_model.Perceptron()
            for row, label in zip(dicts, answers, strict=True):
                model.learn_one(row, label)
        return model

    yield Case(
        f"partial_fit, {ROWS:,} sparse rows in chunks of 100 (River: learn_one on 10 x {few:,} of them)",
        {"halfspace": ours, "River": river},
        30.0,
        repeats=4,
    )
