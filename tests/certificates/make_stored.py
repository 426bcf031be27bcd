"""Write a small certificate of every kind, with its data, to `stored/`: files that every later version must read and confirm.

    python tests/certificates/make_stored.py

The files there were made by the code before issue 13 and are not made anew: a new kind, or a new variant, is added to `CASES`
and only files that do not exist yet are written.
"""

import json
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np

import halfspace as hs
from halfspace import certificates as proofs
from halfspace.errors import NotSeparatedWarning
from halfspace.kernels import RBF, Manhattan, OnScales, Polynomial
from halfspace.ladder.components import Components

FOLDER = Path(__file__).parent / "stored"
X = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -1.0], [-2.0, -1.5]])
Y = np.array([1, 1, 0, 0])
XOR = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
ON_A_LINE = np.array([[0.5, 0.25], [3.0, 1.5], [1.0, 0.5], [2.0, 1.0]])
X3 = np.array([[2.0, 0.0], [1.5, 0.25], [-1.0, 2.0], [-1.0, 1.5], [-1.0, -2.0], [-1.25, -2.0]])
Y3 = np.array(["a", "a", "b", "b", "c", "c"])
T = np.array([0.5, 2.0, -1.0, 0.25])
SQUARE = Polynomial(degree=2, coef0=1.0)
S = np.array([1.0, 2.0, 0.5, 1.0])
CURVES = (np.array([0, 2, 5]), np.array([-2.0, 2.0, -1.5, 0.0, 2.0]), np.array([-1.0, 1.0, -2.0, 0.5, 1.0]))
ON_SCALES = OnScales(Manhattan(0.5), "normal", np.array([1.0, 0.25]), CURVES)


on_budget = hs.KernelPerceptron(RBF(0.5), budget=2, shuffle=False)


def margin(label=1, data=X, labels=Y, **options):
    """Return a bracket of the clamped problem, or of another one."""
    options = {"weights": np.array([1.0, 1.0, 0.25]), "clamp": 1.0, **options}
    return proofs.MarginBracket.measure(data, labels, strengths=np.ones(len(labels)), positive=label, **options)


def of_class(label):
    """Return the bracket of one class against the rest."""
    towards = {"a": [2.0, 0.0, -0.5], "b": [-1.0, 3.0, -2.0], "c": [-1.0, -3.0, -2.0]}[label]
    return margin(label, X3, Y3, weights=np.array(towards))


def duality(strengths=0.05, **options):
    """Return a gap of the problem of two classes."""
    options = {"weights": np.array([0.3, 0.2]), "C": 1.0, "positive": 1, **options}
    return proofs.DualityGap.measure(X, Y, strengths=np.full(4, strengths), **options)


def kernel_gap(data=XOR, labels=Y, positive=1, **options):
    """Return a gap in the space of a polynomial kernel."""
    options = {"kernel": SQUARE, "C": 1.0, **options}
    return proofs.KernelGap.measure(data, labels, strengths=np.full(len(labels), 0.125), positive=positive, **options)


def centre(kernel=None, data=X):
    """Return some members of a version space and their mean, or that there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotSeparatedWarning)
        return hs.BayesPoint(kernel, n_members=4, random_state=0).fit(data, Y).certificate_


def pairs():
    """Return the certificate of the three pairs of classes."""
    parts, numbers = [], ((0, 1), (0, 2), (1, 2))
    for i, j in numbers:
        mine = np.flatnonzero((np.array(["abc"[i]]) == Y3) | (np.array(["abc"[j]]) == Y3))
        parts.append(kernel_gap(X3[mine], Y3[mine], "abc"[i]))
    return proofs.PerPair(("a", "b", "c"), numbers, tuple(parts))


def cells():
    """Return a certificate of two cells, one of one label."""
    data, labels = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array(["a", "b", "b", "b"])
    part = kernel_gap(data[:2], labels[:2], "b")
    centres, cell = np.array([[0.5], [8.5]]), np.array([0, 0, 1, 1])
    return proofs.PerCell(centres, cell, (part, proofs.OneLabel("b"))), data, labels


def kernel_ridge(data=X, targets=T, **options):
    """Return kernel ridge functions, not quite the best."""
    a = np.linspace(-0.5, 0.75, len(targets))[None]
    options = {"coefficients": a - a.mean() if "constants" in options else a, "kernel": SQUARE, "ridge": 0.5, **options}
    return proofs.KernelRidgeGap.measure(data, targets, **options)


def ridge_cells():
    """Return kernel ridge functions of two cells."""
    parts = tuple(kernel_ridge(X[own], T[own], constants=np.array([0.25])) for own in (slice(0, 2), slice(2, 4)))
    return proofs.KernelRidgeCells(np.array([[1.5, 1.5], [-1.5, -1.25]]), np.array([0, 0, 1, 1]), parts), X, T


def borrowing_cells():
    """Return kernel ridge functions of two cells, each of which knows an example of the other."""
    own = np.array([0, 1, 2]), np.array([1, 2, 3])
    parts = tuple(kernel_ridge(X[rows], T[rows], constants=np.array([0.25])) for rows in own)
    cells = np.array([[1.5, 1.5], [-1.5, -1.25]]), np.array([0, 0, 1, 1]), parts
    lent = {"borrowed": np.array([2, 1]), "borrowers": np.array([0, 1]), "own_error": np.zeros(1)}
    residuals = proofs.KernelRidgeCells(*cells, **lent).confirm_left_out(X, T[:, None])[1][0]
    return proofs.KernelRidgeCells(*cells, **lent | {"own_error": np.square(residuals).mean(axis=0)}), X, T


def one_class(level=0.4, **options):
    """Return a plane furthest from the origin, learnt from four rows, two set apart."""
    options = {"kernel": RBF(0.5), "strengths": np.array([0.4, 0.3, 0.3, 0.0]), "nu": 0.6, "rho": 0.35, **options}
    return proofs.OneClassGap.measure(X3, level=level, **options), X3, None


def prototypes(**options):
    """Return the errors of three prototypes."""
    W = np.array([[1.5, 0.0], [-1.0, 1.5], [-1.0, -1.5]])
    return proofs.PrototypeErrors.measure(X3, Y3, prototypes=W, labels=["a", "b", "c"], **options)


def mixture():
    """Return the likelihood of a mixture of two."""
    return proofs.MixtureLikelihood.measure(
        X, weights=np.array([0.5, 0.5]), prototypes=np.array([[1.5, 1.5], [-1.5, -1.0]]), sigmas=np.ones(2), sample_weight=S
    )


def ridge(target=T, **options):
    """Return a ridge certificate of rough weights."""
    return proofs.RidgeGap.measure(X, target, weights=np.array([0.25, 0.5]), **options)


def budgeted():
    """Return a mistake bound of a kernel perceptron on a budget."""
    data, labels = np.array([[2.0], [-2.0], [2.5], [-2.5]]), np.array([1, 0, 1, 0])
    g = np.array([1.0, -1.0, 0.0, 0.0])
    proof = proofs.BudgetedMistakes.measure(
        2, data, labels, kernel=RBF(0.5), coefficients=g, theorem=proofs.Projection(4), positive=1
    )
    return proof, data, labels


def filtered():
    """Return the bound of an adaptive filter that freezes."""
    signal = np.sin(np.arange(12.0))[:, None]
    echo = 0.5 * signal[:, 0] + 0.25 * np.append(0.0, signal[:-1, 0])
    rule = {"normalised": True, "rate": 0.5, "delta": 0.01, "threshold": np.inf, "hangover": 2}
    return proofs.FilterBound.measure(signal, echo, n_taps=2, **rule), signal, echo


def posterior():
    """Return a posterior whose evidence was maximised."""
    data = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    target = np.array([0.1, 0.9, 2.2, 2.8, 4.1])
    return hs.BayesianRegression().fit(data, target).certificate_, data, target


def support():
    """Return the bounds of two support vectors among ten."""
    data, labels = np.linspace(-1.0, 1.0, 10)[:, None], np.repeat([0, 1], 5)
    return (
        proofs.SupportBounds.measure(data, labels, hs.AdaTron(C=np.inf, tol=1e-9).fit(data, labels).certificate_),
        data,
        labels,
    )


def left_out(**options):
    """Return the leave-one-out errors of a line, one example of which needs learning again."""
    data, labels = np.array([[-3.0], [-2.0], [-1.25], [1.0], [2.25], [3.0], [-2.5]]), np.array([0, 0, 0, 1, 1, 1, 1])
    return hs.leave_one_out(options.pop("kind", hs.AdaTron)(**options), data, labels), data, labels


def separable(kind):
    """Return each of the three answers."""
    if kind == "inseparable":
        quarters = dict.fromkeys(range(4), Fraction(1, 4))
        return proofs.Separability.by_multipliers(quarters, 2, intercept=True, positive=1)
    if kind == "separable":
        return proofs.Separability.by_plane(np.array([1.0, 1.0, 0.0]), 1.0, intercept=True, positive=1)
    return proofs.Separability.by_bracket(margin(data=X, weights=np.array([-1.0, 1.0, 0.0])), intercept=True)


def members():
    """Return the vote of three planes."""
    planes = np.array([[[1.0, 0.5, 0.1]], [[3.0, -1.0, 0.0]], [[-1.0, 2.0, 0.5]]])
    return proofs.CommitteeVote.measure(X, Y, members=planes, vote="majority", clamp=1.0, classes=(0, 1))


def on_components():
    """Return the claim of a line about the first of two principal components."""
    rows = np.array([[3.0, 0.5], [1.0, 2.0], [-4.0, -4.0], [5.0, 2.0]])
    found = Components.of(rows, 1)
    part = proofs.RidgeGap.measure(found(rows), T, weights=np.array([0.25]), ridge=0.5)
    return proofs.PrincipalComponents(part, *found), rows, T


KESLER = np.array([[2.0, 0.0, 0.5], [-1.0, 2.0, 0.0], [-1.0, -2.0, 0.0]])
CASES = {
    "BudgetedMistakes": budgeted,
    "BudgetedMistakes-answer": lambda: (on_budget.fit(X3, Y3 == "b").certificate_, X3, Y3 == "b"),
    "ClassCounts": lambda: (proofs.ClassCounts(("a", "b", "c"), (2, 2, 2)), X3, Y3),
    "CommitteeVote": lambda: (members(), X, Y),
    "DualityGap": lambda: (duality(), X, Y),
    "DualityGap-free": lambda: (duality(bias=0.125, sample_weight=S), X, Y),
    "DualityGap-hard": lambda: (duality(C=np.inf, weights=np.array([0.3, 0.2, 0.0]), clamp=1.0), X, Y),
    "FilterBound": filtered,
    "GaussianPosterior": posterior,
    "GaussianPosterior-means": lambda: (hs.BayesianRegression(intercept="free").fit(X, T).certificate_, X, T),
    "GaussianPosterior-noise": lambda: (hs.BayesianRegression(noise="unknown").fit(X, T).certificate_, X, T),
    "HamLoss": lambda: (
        proofs.HamLoss.measure(np.array([[-1.0], [0.5], [-0.25], [2.0]]), Y, threshold=0.0, positive=0),
        np.array([[-1.0], [0.5], [-0.25], [2.0]]),
        Y,
    ),
    "KernelBracket": lambda: (
        proofs.KernelBracket.measure(XOR, Y, kernel=SQUARE, strengths=np.ones(4), positive=1, bias=0.0),
        XOR,
        Y,
    ),
    "KernelGap": lambda: (kernel_gap(), XOR, Y),
    "KernelGap-free": lambda: (kernel_gap(bias=0.125, sample_weight=S), XOR, Y),
    "KernelGap-hard": lambda: (kernel_gap(C=np.inf, clamp=1.0), XOR, Y),
    "KernelRidgeCells": ridge_cells,
    "KernelRidgeCells-borrowed": borrowing_cells,
    "KernelRidgeClasses": lambda: (
        proofs.KernelRidgeClasses((0, 1), kernel_ridge(targets=2.0 * Y - 1.0, constants=np.array([0.25])), 4),
        X,
        Y,
    ),
    "KernelRidgeGap-scales": lambda: (kernel_ridge(kernel=ON_SCALES, constants=np.array([0.25])), X, T),
    "KernelRidgeGap": lambda: (kernel_ridge(constants=np.array([0.25]), sample_weight=S), X, T),
    "KernelRidgeGap-clamped": lambda: (kernel_ridge(clamp=0.5), X, T),
    "KeslerBracket": lambda: (
        proofs.KeslerBracket.measure(X3, Y3, weights=KESLER, strengths=np.ones((3, 6)), clamp=1.0, classes=np.unique(Y3)),
        X3,
        Y3,
    ),
    "LabelCount": lambda: (proofs.LabelCount.measure(np.hstack([X3, X3[:, :1]])), np.hstack([X3, X3[:, :1]]), None),
    "LeastSquaresGap": lambda: (
        proofs.LeastSquaresGap.measure(X, Y, weights=np.array([0.5, 0.25, 0.125]), sample_weight=S, clamp=1.0, positive=1),
        X,
        Y,
    ),
    "LeaveOneOut": left_out,
    "LeaveOneOut-kernel": lambda: left_out(kind=hs.KernelAdaTron, kernel=SQUARE, class_weight={0: 1.0, 1: 2.0}),
    "LogSmearing": lambda: (proofs.LogSmearing.measure(X, np.exp(T), ridge(ridge=0.5, sample_weight=S)), X, np.exp(T)),
    "LogSmearing-kernel": lambda: (proofs.LogSmearing.measure(X, np.exp(T), kernel_ridge()), X, np.exp(T)),
    "MarginBracket": lambda: (margin(), X, Y),
    "MarginBracket-free": lambda: (margin(weights=np.array([1.0, 1.0]), clamp=0.0, bias=0.25), X, Y),
    "MarginBracket-zero": lambda: (margin(data=XOR), XOR, Y),
    "MistakeBound": lambda: (proofs.MistakeBound.of(3, margin(), proofs.Novikoff(0.5, 2.0, 1.0, 1.0)), X, Y),
    "MistakeBound-Crammer": lambda: (proofs.MistakeBound.of(3, margin(), proofs.PassiveAggressiveBound()), X, Y),
    "MistakeBound-vote": lambda: (hs.VotedPerceptron(shuffle=False).fit(X3, Y3 == "b").certificate_, X3, Y3 == "b"),
    "MistakeBound-none": lambda: (proofs.MistakeBound.of(40, margin(data=XOR), proofs.Novikoff()), XOR, Y),
    "MixtureLikelihood": lambda: (mixture(), X, None),
    "NeighbourErrors": lambda: (proofs.NeighbourErrors.measure(X3, Y3, k=1), X3, Y3),
    "NeighbourMeans": lambda: (proofs.NeighbourMeans.measure(X, T, k=2), X, T),
    "OneClassGap": lambda: one_class(scale=np.array([0.5, 2.0])),
    "OneClassGap-few": lambda: one_class(level=0.25, rho=0.4),
    "OneLabel": lambda: (proofs.OneLabel("a"), X3[:2], Y3[:2]),
    "PerCell": cells,
    "PerClass": lambda: (proofs.PerClass(("a", "b", "c"), tuple(map(of_class, "abc"))), X3, Y3),
    "PerOutput": lambda: (proofs.PerOutput((ridge(), ridge(2.0 * T))), X, np.stack([T, 2.0 * T], axis=1)),
    "PerPair": lambda: (pairs(), X3, Y3),
    "PrincipalComponents": on_components,
    "PrototypeErrors": lambda: (prototypes(), X3, Y3),
    "PrototypeErrors-cost": lambda: (prototypes(beta=2.0, omega=np.array([1.0, 0.5]), sample_weight=np.ones(6)), X3, Y3),
    "Quantisation": lambda: (proofs.Quantisation.measure(X3, prototypes=KESLER[:, :2]), X3, None),
    "RidgeGap": lambda: (ridge(ridge=0.5, constant=0.125, sample_weight=S), X, T),
    "RidgeGap-exact": lambda: (proofs.RidgeGap.measure(X, np.zeros(4), weights=np.zeros(2)), X, np.zeros(4)),
    "Separability-answer": lambda: (hs.AdaTron(C=np.inf).fit(XOR, Y).certificate_, XOR, Y),
    "Separability-inseparable": lambda: (separable("inseparable"), XOR, Y),
    "Separability-separable": lambda: (separable("separable"), X, Y),
    "Separability-undecided": lambda: (separable("undecided"), X, Y),
    "StreamMistakes": lambda: (
        proofs.StreamMistakes.measure(1, X / 4.0, Y, rows=np.array([0, 3]), strengths=np.array([1.0, 0.5]), positive=1),
        X / 4.0,
        Y,
    ),
    "SupportBounds": support,
    "TargetMean": lambda: (proofs.TargetMean.measure(X, T), X, T),
    "VersionSpaceCentre": lambda: (centre(), X, Y),
    "VersionSpaceCentre-empty": lambda: (centre(data=ON_A_LINE), ON_A_LINE, Y),
    "VersionSpaceCentre-kernel": lambda: (centre(SQUARE), X, Y),
}


def main():
    """Write what is not there yet."""
    FOLDER.mkdir(exist_ok=True)
    for name, make in CASES.items():
        path = FOLDER / f"{name}.json"
        if path.exists():
            continue
        certificate, data, labels = make()
        assert certificate.verify(data, labels), name
        body = json.loads(certificate.to_json())
        body = {"certificate": body, "X": data.tolist(), "y": None if labels is None else labels.tolist()}
        path.write_text(json.dumps(body) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
