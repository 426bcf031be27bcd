"""A certificate in words: what it claims, for a reader who has never seen one."""

import shlex
from functools import singledispatch
from os import PathLike
from typing import Any

from halfspace._text import number, plural, shown
from halfspace.certificates import (
    Certificate,
    ClassCounts,
    DualityGap,
    GaussianPosterior,
    KernelGap,
    KernelRidgeCells,
    KernelRidgeClasses,
    KernelRidgeGap,
    LeastSquaresGap,
    LogSmearing,
    MarginBracket,
    MistakeBound,
    NeighbourErrors,
    NeighbourMeans,
    PerCell,
    PerClass,
    PerPair,
    PrincipalComponents,
    RidgeGap,
    Separability,
    TargetMean,
)
from halfspace.certificates.fields import roles
from halfspace.certificates.margins.gap import Enclosure
from halfspace.report.findings import Claim

__all__ = ["claim", "command", "words"]

MOST_PARTS = 10
REPORTED = "reported by the run, not proved"
NAMES = {
    "primal": "objective of the model (primal)",
    "dual": "lower bound for any model (dual)",
    "C": "cap of the strengths, C",
    "relative_gap": "relative gap",
    "lower": "best margin, at least",
    "upper": "best margin, at most",
    "radius": "length of the longest row",
    "bound": "mistakes, at most",
    "backward_error": "backward error",
    "bias": "free bias",
    "k": "neighbours, k",
    "errors": "rows misclassified, at most",
    "n": "rows",
    "clamp": "clamped input",
}
"""What to call a field; others are called as they are."""


def command(model_path: str | PathLike[str] | None, file_path: str | PathLike[str] | None, *, built_in: bool = False) -> str:
    """Return what to type to check the certificate of a model file against a data file; built-in data need no file."""
    model = "MODEL" if model_path is None else str(model_path)
    file = [] if built_in else ["FILE" if file_path is None else str(file_path)]
    return shlex.join(["halfspace", "certify", model, *file])


def claim(certificate: Certificate, check: str) -> Claim:
    """Describe a certificate, with the command `check` that checks it."""
    numbers = _numbers(certificate)
    return Claim(
        kind=type(certificate).__name__,
        sentence=words(certificate),
        numbers=numbers[:MOST_PARTS],
        n_others=max(len(numbers) - MOST_PARTS, 0),
        command=check,
    )


@singledispatch
def words(certificate: Any) -> str:
    """Return the claim of a certificate in a sentence or two; by default its own text."""
    return f"The claim: {certificate}."


@words.register(DualityGap)
@words.register(KernelGap)
def _(certificate: Enclosure) -> str:
    plane = "plane" if isinstance(certificate, DualityGap) else "function of this kernel"
    return (
        f"The model trades training errors against the width of its margin. No {plane} has an objective below "
        f"{number(certificate.dual, 6)}, and this model's is {number(certificate.primal, 6)}: at most "
        f"{number(certificate.relative_gap, 2)} of it could still be gained."
    )


@words.register
def _(certificate: LeastSquaresGap) -> str:
    return (
        f"The model minimises the sum of squared errors. It is the exact solution for data that differ from the given ones by "
        f"{number(certificate.backward_error, 2)} of their size, so no better weights can be distinguished at that precision."
    )


@words.register
def _(certificate: RidgeGap) -> str:
    penalty = f" plus {number(certificate.ridge)} times that of squared weights" if certificate.ridge else ""
    return (
        f"The model minimises the sum of squared errors{penalty}: {number(certificate.objective, 6)}. It is the exact solution "
        f"for data that differ from the given ones by at most {number(certificate.backward_error, 2)} of their size."
    )


@words.register
def _(certificate: GaussianPosterior) -> str:
    return (
        f"The weights and their error bars are the posterior of a linear model with Gaussian noise, to "
        f"{number(certificate.precision, 1)}: every equation was recomputed from the data."
    )


@words.register(KernelRidgeGap)
@words.register(KernelRidgeCells)
def _(certificate: Any) -> str:
    where = "In each of its cells the" if isinstance(certificate, KernelRidgeCells) else "The"
    return (
        f"{where} model minimises squared errors plus a price on wiggly functions of this kernel: at most "
        f"{number(certificate.relative_gap, 2)} of the objective could still be gained."
    )


@words.register
def _(certificate: KernelRidgeClasses) -> str:
    return (
        f"Left out of the training, one at a time, {plural(certificate.mistakes, 'row')} would be misclassified. "
        f"{words(certificate.part)} The metric of the kernel was learnt, and is a choice, as its width is."
    )


@words.register
def _(certificate: LogSmearing) -> str:
    return (
        f"The model is one of the target’s logarithm. {words(certificate.part)} Predictions are exp of it times "
        f"{number(certificate.factor, 4)}, the mean of exp(residual), so that they are means and not medians."
    )


@words.register
def _(certificate: PrincipalComponents) -> str:
    k, d = certificate.components.shape
    return (
        f"The model sees {plural(k, 'principal component')} of {plural(d, 'input')}, with {100 * certificate.share:.1f} % of "
        f"their variance; directions and variances were recomputed from the data. {words(certificate.part)}"
    )


@words.register
def _(certificate: TargetMean) -> str:
    return f"The mean of {plural(certificate.n, 'target')} is {number(certificate.mean, 4)}."


@words.register
def _(certificate: NeighbourMeans) -> str:
    return (
        f"Leave a training row out and average its {plural(certificate.k, 'nearest neighbour')}: the root mean squared error "
        f"is at most {number(certificate.error, 4)}."
    )


@words.register
def _(certificate: MistakeBound) -> str:
    reported = f"{REPORTED.capitalize()}: {', '.join(certificate.reports())}."
    margin = (
        f"The margin of the best plane is between {number(certificate.bracket.lower)} and {number(certificate.bracket.upper)}"
    )
    if certificate.bound == float("inf"):
        return f"These weights do not separate the rows, so no theorem bounds the mistakes of the rule. {margin}. {reported}"
    most = f"{number(certificate.bound)} mistakes on these rows"
    return f"By theorem the rule cannot make more than {most}. {margin}. {reported}"


@words.register
def _(certificate: MarginBracket) -> str:
    return f"The margin of the best plane is between {number(certificate.lower)} and {number(certificate.upper)}."


@words.register
def _(certificate: Separability) -> str:
    if certificate.verdict == "separable":
        return f"A plane has every training row at least {number(certificate.margin)} on its side, in exact arithmetic."
    if certificate.verdict == "inseparable":
        rows = plural(certificate.obstacle.size, "witness row proves", "witness rows prove")
        if not certificate.intercept:
            return f"No plane through the origin separates the classes, which {rows} in exact arithmetic."
        return f"No plane separates the classes: their convex hulls intersect, which {rows} in exact arithmetic."
    most = (
        ""
        if certificate.bracket is None
        else f"; a separating plane has a margin of at most {number(certificate.bracket.upper)}"
    )
    return f"Whether a plane separates the classes could not be decided in the time given{most}."


@words.register
def _(certificate: PerClass) -> str:
    (label, part), *_ = certificate
    many = plural(len(certificate.parts), "class", "classes")
    return f"One claim for each of {many} against the rest; all must hold. The first, for “{shown(label)}”: {words(part)}"


@words.register
def _(certificate: PerPair) -> str:
    (labels, part), *_ = certificate
    a, b = map(shown, labels)
    many = plural(len(certificate.parts), "pair")
    return f"One claim for each of {many} of classes; all must hold. The first, for “{a}” and “{b}”: {words(part)}"


@words.register
def _(certificate: PerCell) -> str:
    return f"The rows are divided into {plural(len(certificate.parts), 'cell')}, and each has its own claim; all must hold."


@words.register
def _(certificate: ClassCounts) -> str:
    return (
        f"The largest of {plural(len(certificate.classes), 'class', 'classes')} has {plural(max(certificate.counts), 'row')}."
    )


@words.register
def _(certificate: NeighbourErrors) -> str:
    return (
        f"Leave a training row out and let its {plural(certificate.k, 'nearest neighbour')} vote: at most "
        f"{certificate.errors:,} of {plural(certificate.n, 'row')} are misclassified, however ties are broken."
    )


def _numbers(certificate: Certificate) -> tuple[tuple[str, str], ...]:
    """Return the numbers of a certificate by name; of one with parts, what each part says."""
    if isinstance(certificate, PerClass):
        return tuple((shown(label), shown(part, 200)) for label, part in certificate)
    if isinstance(certificate, ClassCounts):
        return tuple(
            (shown(label), number(count)) for label, count in zip(certificate.classes, certificate.counts, strict=True)
        )
    if isinstance(certificate, PerPair):
        return tuple((f"{shown(a, 30)} or {shown(b, 30)}", shown(part, 200)) for (a, b), part in certificate)
    if isinstance(certificate, MistakeBound):
        return (*_scalars(certificate), *_scalars(certificate.bracket), *_reported(certificate))
    if isinstance(certificate, PrincipalComponents):
        return (("principal components", number(len(certificate.components))), *_numbers(certificate.part))
    if isinstance(certificate, LogSmearing):
        return (*_scalars(certificate), *_numbers(certificate.part))
    gap = [(NAMES["relative_gap"], number(certificate.relative_gap))] if isinstance(certificate, Enclosure | PerCell) else []
    return (*_scalars(certificate), *gap, *_reported(certificate))


def _reported(certificate: Certificate) -> list[tuple[str, str]]:
    """Return what the run says of itself, apart from what is proved."""
    said = certificate.reports()
    return [(REPORTED, ", ".join(said))] if said else []


def _scalars(certificate: Certificate) -> list[tuple[str, str]]:
    """Return the fields that are single numbers or words and not only reported; the bias only if it is free."""
    values = {name: getattr(certificate, name) for name, role in roles(type(certificate)).items() if role != "reported"}
    if not values.pop("free", True):
        values.pop("bias", None)
    label = values.pop("positive", None)
    plain = {name: value for name, value in values.items() if isinstance(value, int | float | str)}
    texts = [(NAMES.get(name, name.replace("_", " ")), _value(value)) for name, value in plain.items()]
    return texts if label is None else [*texts, ("class that counts as +1", shown(label))]


def _value(value: float | str) -> str:
    """Write one field."""
    return shown(value) if isinstance(value, str | bool) else number(value, 6)
