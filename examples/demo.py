"""The perceptron family on real data: mistakes beside the theorem's bound, margins, accuracy, and one picture.

Run by `make demo`; needs the extras [cli] and [plots].
"""

import time
import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import halfspace as hs
from halfspace.errors import NotSeparatedWarning
from halfspace.plots import MarginDisplay, MistakeBoundDisplay

mpl.use("agg")
PICTURE = Path("demo.png")
FAMILY = {
    "Hebb": hs.HebbClassifier(),
    "Adaline": hs.Adaline(),
    "Perceptron": hs.Perceptron(max_iter=3000, random_state=0),
    "averaged": hs.AveragedPerceptron(random_state=0),
    "voted": hs.VotedPerceptron(max_iter=10, random_state=0),
    "pocket": hs.PocketPerceptron(random_state=0),
    "passive-aggressive": hs.PassiveAggressive(random_state=0),
    "MinOver": hs.MinOver(max_iter=20_000),
    "AdaTron, C=0.1": hs.AdaTron(C=0.1),
    "committee of 11": hs.PerceptronCommittee(random_state=0),
}


def two_class_part(certificate):
    """Return the certificate itself, or of several classes the one with the smallest margin."""
    parts = [part for _, part in certificate] if isinstance(certificate, hs.certificates.PerClass) else [certificate]
    return min(parts, key=lambda part: getattr(getattr(part, "bracket", part), "lower", np.inf))


def short(proof):
    """Say what a certificate that is no bracket proves, in a few words."""
    return f"gap {proof.relative_gap:.1e}" if hasattr(proof, "relative_gap") else str(proof)


def row(name, model, X, y, X_test, y_test):
    """Train one model and describe it in the columns of the table."""
    model.fit(X[:50], y[:50])  # compiled, or loaded from the cache, before the clock starts
    begin = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - begin
    proof = two_class_part(model.certificate_)
    bracket = getattr(proof, "bracket", proof)
    bound = getattr(proof, "bound", None)
    return [
        name,
        f"{int(np.sum(model.mistakes_)):,}" if hasattr(model, "mistakes_") and name != "Adaline" else "-",
        "-" if bound is None else "no plane known" if np.isinf(bound) else f"{bound:,.0f}",
        f"[{bracket.lower:.4f}, {bracket.upper:.4f}]" if hasattr(bracket, "lower") else short(proof),
        f"{100 * model.score(X_test, y_test):.1f} %",
        f"{1000 * seconds:.0f} ms",
        "[green]holds" if model.certificate_.verify(X, y) else "[red]REFUTED",
        model.outcome_.reason,
    ]


def race(console, title, X, y):
    """Train the family on one data set and print the table."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    table = Table(title=f"{title}: {X.shape[0]} examples, {X.shape[1]} features, {np.unique(y).size} classes")
    for column in (
        "model",
        "mistakes",
        "bound",
        "margin bracket, or other proof",
        "held-out",
        "time",
        "certificate",
        "stopped",
    ):
        table.add_column(column, justify="left" if column in {"model", "stopped"} else "right", no_wrap=column != "stopped")
    for name, model in FAMILY.items():
        table.add_row(*row(name, model, X, y, X_test, y_test))
    console.print(table)
    first = y == np.unique(y)[0]
    console.print(f"Is class {np.unique(y)[0]} separable from the rest? {hs.separability(X, first)}\n")


def picture():
    """Draw a plane with its margin and the mistakes that made it, and the two curves of the convergence proof."""
    X, y, *_ = hs.data.two_clouds(120, distance=5.0, random_state=3)
    X += 3.0  # away from the origin, the clamped weight has to catch up
    model = hs.Perceptron(random_state=17).fit(X, y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.2), layout="constrained")
    MarginDisplay.from_estimator(model, X, y).plot(left)
    left.set_title("Plane, margin, and (outlined, larger the stronger) the mistakes that made it", fontsize=10)
    MistakeBoundDisplay.from_estimator(model).plot(right)
    figure.suptitle(str(model.certificate_))
    figure.savefig(PICTURE, dpi=110)


def main():
    console = Console(width=140)
    warnings.simplefilter("ignore", NotSeparatedWarning)  # the tables say it too
    race(console, "Breast cancer", *load_breast_cancer(return_X_y=True))
    race(console, "Digits", *load_digits(return_X_y=True))
    console.print("For more than two classes, bound and bracket are those of the class with the smallest margin.")
    console.print("A bracket holds at every moment: no plane has a larger margin than its upper side.")
    picture()
    console.print(f"Picture: [bold]{PICTURE.resolve()}")


if __name__ == "__main__":
    main()
