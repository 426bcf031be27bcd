"""What a report says: nothing here is fitted, drawn or formatted.

Rungs, held-out test and separability proofs are the ladder's own values. Labels are text, shortened; rows are those of the
file, counted from 0 without the header; scores and frequencies are shares of 1. A part that is absent is None or empty, and
`missing` says why.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

from halfspace._text import plain
from halfspace.certificates import Separability
from halfspace.ladder import Rung, TestResult
from halfspace.ladder.importance import Importance


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
    """What the outputs rest on: weights of a plane, shares of a metric, or the score lost by shuffling; largest first."""

    label: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    spread: tuple[float, ...]
    n_others: int


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
    scoring : str
        "accuracy" or "balanced_accuracy".
    n_splits, n_repeats : int
        Folds and how often they were drawn.
    seconds : float
        Time of the whole climb.
    outcome : str
        Why the climb stopped.
    classes : tuple of str
        Labels of the classes.
    rungs, test, learning_curve
        As the ladder has them.
    separability : tuple of (str, Separability)
        Label, and whether a plane separates it from the rest; the rows of a proof are numbered as in the file.
    hardest, reliability : tuple
        Parts of the report, see their classes.
    weighed : {"weights", "relevances", "permutation", ""}
        What `influence` shows.
    influence : tuple of Influence
        One entry, or one per class.
    importance : tuple of Importance
        What shuffling each column costs on rows not seen, the largest first.
    stability, claim : optional
        Parts that may be missing.
    balance, contradictions
        About the data.
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
    scoring: str
    n_splits: int
    n_repeats: int
    seconds: float
    outcome: str
    classes: tuple[str, ...]
    rungs: tuple[Rung, ...]
    balance: Balance
    contradictions: Contradictions
    test: TestResult | None = None
    separability: tuple[tuple[str, Separability], ...] = ()
    stability: Histogram | None = None
    weighed: str = ""
    influence: tuple[Influence, ...] = ()
    importance: tuple[Importance, ...] = ()
    hardest: tuple[Example, ...] = ()
    reliability: tuple[ReliabilityBin, ...] = ()
    learning_curve: tuple[tuple[int, float, float, float], ...] = ()
    claim: Claim | None = None
    notes: tuple[str, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)
    version: str = ""
    seed: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, strings and numbers; what is not a finite number is None."""
        found: dict[str, Any] = plain(asdict(self))
        return found
