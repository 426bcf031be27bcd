"""What a report says: nothing here is fitted, drawn or formatted.

Rungs, held-out test and separability proofs are the ladder's own values. Labels are text, shortened; rows are those of the
file, counted from 0 without the header; scores and frequencies are shares of 1. A part that is absent is None or empty, and
`missing` says why.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

from halfspace._text import plain
from halfspace.certificates import Separability
from halfspace.certificates.operating import OperatingPoint
from halfspace.ladder import Rung, TestResult
from halfspace.ladder.values import NumberTest


@dataclass(frozen=True)
class Histogram:
    """How the potentials of the training rows are spread: counts between edges, of all rows and of support vectors."""

    quantity: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    support: tuple[int, ...]
    n_wrong: int
    n: int


@dataclass(frozen=True)
class Influence:
    """What the outputs rest on: weights of a plane, shares of a metric, or what shuffling costs; largest first.

    `spread` are standard errors, and `evident` tells which costs of shuffling are told from 0.
    """

    label: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    spread: tuple[float, ...]
    n_others: int
    evident: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Example:
    """A training row that is hard: its label, what the folds that did not see it said, and how strongly."""

    row: int
    label: str
    predicted: str
    potential: float
    suspect: bool


@dataclass(frozen=True)
class ReliabilityBin:
    """One bin of the reliability curve: mean probability, how often it came true, over how many rows."""

    probability: float
    frequency: float
    count: int


@dataclass(frozen=True)
class Claim:
    """What the certificate says in words, its numbers by name, and the command that checks it anew."""

    kind: str
    sentence: str
    numbers: tuple[tuple[str, str], ...]
    n_others: int
    command: str


@dataclass(frozen=True)
class Contradictions:
    """Rows that agree in every input but not in their label; `groups` are the first few, rows of the file."""

    n_groups: int
    n_rows: int
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Balance:
    """How many rows each of the largest classes has."""

    labels: tuple[str, ...]
    counts: tuple[int, ...]
    n_others: int


@dataclass(frozen=True)
class Guarantee:
    """How often intervals or sets at a level held the truth of held-out rows, and how large they were.

    `low` and `high` are the exact 95 % interval of the share `covered`; `size` is the mean width of an interval or the mean
    number of classes of a set, `median` the median; `proved` is the share that the theorem gives for any data.
    """

    level: float
    proved: float
    n: int
    covered: float
    low: float
    high: float
    size: float
    median: float


@dataclass(frozen=True)
class Picture:
    """Rows on their first two principal components: places, group of each row, names of the groups, and which were errors.

    For numbers the groups are fifths of the target, the lowest first. `shares` are the shares of the variance;
    `moved` tells that places were changed a little, because many rows are in the same.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    group: tuple[int, ...]
    names: tuple[str, ...]
    wrong: tuple[bool, ...]
    shares: tuple[float, float]
    n_rows: int
    moved: bool


@dataclass(frozen=True)
class Pairs:
    """True and predicted numbers of a sample of rows that the model had not seen; `held_out` tells which rows they are."""

    true: tuple[float, ...]
    predicted: tuple[float, ...]
    held_out: bool
    n: int


@dataclass(frozen=True)
class Residuals:
    """Residuals (true less predicted) of a sample of rows against a column or the prediction, and their means in groups.

    A group is (place, mean, standard error, rows): about equally many rows each, or one for each value of a column of text,
    whose names are `labels`, at places 1, 2, ...
    """

    name: str
    x: tuple[float, ...]
    residuals: tuple[float, ...]
    groups: tuple[tuple[float, float, float, int], ...]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class FarRow:
    """A row that is far from its prediction."""

    row: int
    true: float
    predicted: float


@dataclass(frozen=True)
class Numbers:
    """What a report says about predicted numbers.

    Parameters
    ----------
    mean, deviation, low, high : float
        Of the target, all rows.
    pairs : Pairs or None
        Predicted against true.
    residuals : tuple of Residuals
        Against the prediction, then against columns.
    coefficients : Influence or None
        Weights of a linear winner with their standard errors.
    logarithm : bool
        Whether the winner is a model of the target's logarithm.
    far : tuple of FarRow
        Rows furthest from their predictions.
    """

    mean: float
    deviation: float
    low: float
    high: float
    pairs: Pairs | None = None
    residuals: tuple[Residuals, ...] = ()
    coefficients: Influence | None = None
    logarithm: bool = False
    far: tuple[FarRow, ...] = ()


@dataclass(frozen=True)
class Ranking:
    """Outputs (n,) for a class, and whether rows are of it (n,); rows are those held out, or out of fold."""

    label: str
    outputs: tuple[float, ...]
    own: tuple[bool, ...]
    held_out: bool


@dataclass(frozen=True)
class Findings:
    """Everything a report says about a fitted ladder.

    Parameters
    ----------
    verdict : str
        One sentence.
    source : str
        Name of the file, or what stands for it.
    n_rows, n_train, n_test, n_columns, n_inputs : int
        Rows in all, for training and held out; columns of the table, numbers per row after encoding.
    winner, best : str
        Names of the rung chosen and of the rung that scored highest.
    task : {"classify", "regress"}
        What was learnt.
    scoring : str
        Name of the measure.
    n_splits, n_repeats : int
        Folds and how often they were drawn.
    seconds : float
        Time of the whole climb.
    outcome : str
        Why the climb stopped.
    evidence : str
        Whether anything is better than a constant prediction.
    baseline : float
        Score of the best constant prediction on the rows of `test`, or on the training rows.
    yardstick, operating : str
        Sentences on boosted trees and on how labels follow from probabilities; empty if there is nothing to say.
    classes : tuple of str
        Labels of the classes; empty for numbers.
    rungs, test, learning_curve
        As the ladder has them.
    separability : tuple of (str, Separability)
        Label, and whether a plane separates it from the rest; the rows of a proof are numbered as in the file.
    theory : tuple of str
        What theory says about the training rows, a sentence each.
    hardest, reliability : tuple
        Parts of the report, see their classes.
    importance : Influence or None
        What shuffling each column costs on rows that were not learnt from; None of a constant prediction.
    weighed : {"weights", "relevances", ""}
        What `influence` shows.
    influence : tuple of Influence
        One entry, or one per class.
    stability, claim : optional
        Parts that may be missing.
    balance, contradictions : optional
        About the classes of the data.
    guarantee : Guarantee or None
        Intervals or sets at 90 %, tried on the held-out rows.
    picture : Picture or None
        Rows on two principal components.
    ranking : Ranking or None
        Of two classes, what ROC and precision-recall curves are drawn from; `point` is the operating point marked on them.
    numbers : Numbers or None
        What there is to say about numbers.
    notes : tuple of str
        What was done to the data, a sentence each.
    missing : dict of str to str
        Why a part is missing.
    version, seed : str
        Of the package, and of the random numbers.
    """

    verdict: str
    source: str
    n_rows: int
    n_train: int
    n_test: int
    n_columns: int
    n_inputs: int
    winner: str
    best: str
    task: str
    scoring: str
    n_splits: int
    n_repeats: int
    seconds: float
    outcome: str
    rungs: tuple[Rung, ...]
    evidence: str = ""
    baseline: float = float("nan")
    yardstick: str = ""
    operating: str = ""
    classes: tuple[str, ...] = ()
    balance: Balance | None = None
    contradictions: Contradictions | None = None
    test: TestResult | NumberTest | None = None
    separability: tuple[tuple[str, Separability], ...] = ()
    theory: tuple[str, ...] = ()
    stability: Histogram | None = None
    importance: Influence | None = None
    weighed: str = ""
    influence: tuple[Influence, ...] = ()
    hardest: tuple[Example, ...] = ()
    reliability: tuple[ReliabilityBin, ...] = ()
    learning_curve: tuple[tuple[int, float, float, float], ...] = ()
    claim: Claim | None = None
    guarantee: Guarantee | None = None
    picture: Picture | None = None
    ranking: Ranking | None = None
    point: OperatingPoint | None = None
    numbers: Numbers | None = None
    notes: tuple[str, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)
    version: str = ""
    seed: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, strings and numbers; what is not a finite number is None."""
        found: dict[str, Any] = plain(asdict(self))
        return found
