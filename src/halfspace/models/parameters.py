"""Checks of parameters and data, before anything is learnt or changed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from halfspace._matrices import admitted, canonical
from halfspace._memory import admit
from halfspace._typing import FloatArray, IntArray, Labels, Matrix, View
from halfspace.errors import InputError
from halfspace.rows.labels import read_classes
from halfspace.rows.operations import fill_squared_norms, squared_norms
from halfspace.rows.threads import CHUNK_ENTRIES, beside
from halfspace.rows.views import entries_per_row, view_of
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.run import Budget

__all__ = [
    "LABELLED",
    "PROVED",
    "UNLABELLED",
    "Examples",
    "admit_problems",
    "as_float",
    "budget_of",
    "check_common",
    "is_count",
    "is_ready",
    "lent_generator",
    "own_parameters",
    "read_caps",
    "read_examples",
    "read_matrix",
    "refuse_vanishing",
    "require",
    "require_cap_and_tolerance",
    "require_choice",
    "require_number",
    "require_switch",
    "restored_on_error",
    "seeds_of",
    "usable_rows",
]

UNLABELLED = {
    "n_features_in_": "=d",
    "?feature_names_in_": "names(d)",
    "?certificate_": "certificate",
    "outcome_": Outcome,
    "n_iter_": "int",
    "?history_": "plain",
}
"""What every model learns, as model files declare it (`Learnt`)."""
LABELLED = {**UNLABELLED, "classes_": "distinct(c)"}
FLOATS = (np.float64, np.float32)
COPIES = (8, 4)
"""Numbers that a model holds at a time, per example and per feature of a two-class problem; measured with 3,000 classes."""
PROVED = 2.5e8
"""Entries that are read in a second when a proof is made, where the machine is slow."""
SMALLEST, LARGEST = 1e-290, 1e150
"""The largest squared length of all examples is between these: beyond, squares or products with weights would be lost."""


@cache
def _parameter_names(kind: type) -> tuple[str, ...]:
    """Return the names of the parameters of a class of estimators; to ask takes a while, so it is done once."""
    return tuple(kind._get_param_names())  # type: ignore[attr-defined]  # noqa: SLF001  (what `get_params` asks)


def own_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator by name, as `get_params(deep=False)` does."""
    kind: Any = type(estimator)
    return {name: getattr(estimator, name) for name in _parameter_names(kind)}


def seeds_of(random_state: Any, count: int) -> list[int]:
    """Draw seeds for so many problems; a generator from a number takes long to make, so what it draws is kept."""
    if type(random_state) is int:
        return list(_drawn(random_state, count))
    drawn: list[int] = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=count).tolist()
    return drawn


@lru_cache(64)
def _drawn(seed: int, count: int) -> tuple[int, ...]:
    return tuple(check_random_state(seed).randint(np.iinfo(np.int32).max, size=count).tolist())


_idle: list[np.random.RandomState] = []


@contextmanager
def lent_generator(random_state: Any) -> Iterator[np.random.RandomState]:
    """Lend the generator of a seed, or what `check_random_state` says: to seed one anew takes a sixtieth of making one."""
    if type(random_state) is not int or not 0 <= random_state < 1 << 32:
        yield check_random_state(random_state)
        return
    try:
        rng = _idle.pop()
    except IndexError:
        rng = np.random.RandomState()
    rng.seed(random_state)
    try:
        yield rng
    finally:
        _idle.append(rng)


def require(estimator: Any, name: str, expected: str, *, holds: bool) -> None:
    """Refuse a parameter value with the words scikit-learn's users know."""
    if not holds:
        value = getattr(estimator, name)
        msg = f"The {name!r} parameter of {type(estimator).__name__} must be {expected}. Got {value!r} instead."
        raise InputError(msg)


def require_number(estimator: Any, name: str, *, least: float | None = None) -> None:
    """Refuse a parameter that is not a number arithmetic can bear: positive, or at least `least`."""
    value = getattr(estimator, name)
    number = isinstance(value, Real) and not isinstance(value, bool)
    expected = "a positive number from 1e-50 to 1e50" if least is None else f"a number from {least:g} to 1e50"
    smallest = 1e-50 if least is None else least
    require(estimator, name, expected, holds=number and smallest <= as_float(value) <= 1e50)


def require_cap_and_tolerance(estimator: Any) -> None:
    """Refuse a C that is neither a positive number nor infinity, and a tol that is not between 0 and 1."""
    C = estimator.C
    number = isinstance(C, Real) and not isinstance(C, bool)
    sensible = number and (1e-50 <= as_float(C) <= 1e50 or (isinstance(C, float) and np.isposinf(C)))
    require(estimator, "C", "a positive number from 1e-50 to 1e50, or inf for no errors", holds=bool(sensible))
    require_number(estimator, "tol")
    require(estimator, "tol", "below 1", holds=estimator.tol < 1)


def is_count(value: Any) -> bool:
    """Tell whether this is a positive whole number."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) > 0


def as_float(value: Any) -> float:
    """Return a number as a Python float, infinity if it is too large: a float32 cannot be compared with 1e50."""
    try:
        return float(value)
    except OverflowError:
        return np.inf


def require_choice(estimator: Any, name: str, *choices: str) -> None:
    """Refuse a word that is not one of the choices."""
    value = getattr(estimator, name)
    words = ", ".join(map(repr, choices[:-1])) + f" or {choices[-1]!r}"
    require(estimator, name, words, holds=isinstance(value, str) and value in choices)


def require_switch(estimator: Any, name: str) -> None:
    """Refuse a switch that is neither True nor False."""
    require(estimator, name, "True or False", holds=isinstance(getattr(estimator, name), bool | np.bool_))


def check_common(estimator: Any) -> None:
    """Refuse what cannot be used among the parameters that many estimators share: bias, budget, switches, threads, chance."""
    has = own_parameters(estimator)
    if "intercept_scaling" in has:
        require_number(estimator, "intercept_scaling")
    for name in has.keys() & {"shuffle", "warm_start", "ratchet"}:
        require_switch(estimator, name)
    for name in has.keys() & {"max_iter", "n_members", "n_prototypes", "n_starts"}:
        require(estimator, name, "a positive integer", holds=_is_whole(has[name]) and int(has[name]) > 0)
    if has.get("max_time") is not None:
        require_number(estimator, "max_time")
    if has.get("n_jobs") is not None:
        require(
            estimator, "n_jobs", "a whole number other than 0, or None", holds=_is_whole(has["n_jobs"]) and has["n_jobs"] != 0
        )
    verbose = estimator.verbose
    require(estimator, "verbose", "a whole number >= 0", holds=isinstance(verbose, int | np.integer) and int(verbose) >= 0)
    seed = has.get("random_state")
    if seed is None or (type(seed) is int and 0 <= seed < 1 << 32):
        return
    try:
        check_random_state(seed)
    except ValueError as error:
        msg = f"The 'random_state' parameter of {type(estimator).__name__} must be None, a seed or a RandomState: {error}."
        raise InputError(msg) from error


def _is_whole(value: Any) -> bool:
    """Tell whether a parameter is a whole number, which True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def budget_of(estimator: Any, began: float, proof: float = 0.0) -> Budget:
    """Return the budget of a fit that was called at `began`, and whose proof has to read `proof` entries, again and again."""
    has = own_parameters(estimator)
    limit = has.get("max_time")
    return Budget(int(has.get("max_iter", 1)), None if limit is None else float(limit), began=began, reserve=proof / PROVED)


@contextmanager
def restored_on_error(estimator: Any) -> Iterator[None]:
    """Give an estimator back as it was if anything goes wrong inside, but for what scikit-learn needs to end callbacks."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        open_callbacks = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")
        before.update({name: vars(estimator)[name] for name in open_callbacks if name in vars(estimator)})
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


@dataclass(frozen=True)
class Examples:
    """Checked examples and labels, and the view the solvers read."""

    X: Matrix
    y: Labels
    view: View
    classes: Labels
    target: IntArray
    q: FloatArray
    clamp: float
    inspection: Callable[[], None] = lambda: None
    """Waits for `q` to be filled and refuses rows that cannot be used; to be called before `q` is read."""

    @cached_property
    def radius(self) -> float:
        """Length of the longest example, rounded up."""
        return float(np.sqrt(self.q.max())) * (1.0 + 1e-12)

    @property
    def entries(self) -> float:
        """How many numbers a pass over the examples reads."""
        return self.y.size * entries_per_row(self.view)

    @property
    def positive(self) -> IntArray:
        """Class numbers that count as +1, one per two-class problem."""
        return np.array([1]) if self.classes.size == 2 else np.arange(self.classes.size)


def read_matrix(estimator: Any, X: Matrix, y: Any = "no_validation", *, reset: bool, **rules: Any) -> Any:
    """Run scikit-learn's checks, except for the search for NaN, which `usable_rows` does faster.

    Numbers that would be rounded are refused, and sparse rows are put into canonical form: see `admitted`. `rules` are
    further ones for `validate_data`.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        msg = f"{type(estimator).__name__}: X holds {X.dtype}, not numbers. Turn dates into numbers first."
        raise InputError(msg)
    if not reset and not rules and isinstance(y, str) and is_ready(estimator, X):
        return X
    if reset and rules.keys() <= {"multi_output", "y_numeric"} and _plain(X, y):
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)
        return X if isinstance(y, str) else (X, y)
    try:
        X = admitted(X, type(estimator).__name__)
        return validate_data(
            estimator, X, y, reset=reset, accept_sparse="csr", dtype=list(FLOATS), order="C", ensure_all_finite=False, **rules
        )
    except OverflowError as error:
        msg = f"{type(estimator).__name__}: X holds numbers too large for floating point. Scale the features."
        raise InputError(msg) from error


def _plain(X: Any, y: Any) -> bool:
    """Tell whether scikit-learn's checks would return examples and labels as they are: arrays without names, X of floats.

    Labels or targets are numbers here, none missing.
    """
    rows = type(X) is np.ndarray and X.ndim == 2 and X.dtype in FLOATS and bool(X.flags.c_contiguous) and X.size > 0
    if not rows or (isinstance(y, str) and y == "no_validation"):
        return rows
    if type(y) is not np.ndarray or y.shape != X.shape[:1]:
        return False
    return y.dtype.kind in "iu" or (y.dtype in FLOATS and bool(np.isfinite(y).all()))


def is_ready(estimator: Any, X: Matrix) -> bool:
    """Tell whether X needs no conversion: a float array in C order or a CSR matrix of the known width, without column names."""
    known = getattr(estimator, "n_features_in_", None)
    stored = canonical(X, type(estimator).__name__) is X if sparse.issparse(X) else _in_c_order(X)
    return bool(stored and X.ndim == 2 and X.shape[0] > 0 and X.shape[1] == known and X.dtype in FLOATS) and not hasattr(
        estimator, "feature_names_in_"
    )


def _in_c_order(X: Matrix) -> bool:
    """Tell whether X is an array in C order."""
    return isinstance(X, np.ndarray) and bool(X.flags.c_contiguous)


def usable_rows(X: Matrix, clamp: float | None, owner: str) -> tuple[View, FloatArray]:
    """Return the view of X, clamped unless that is None, and its squared norms, shape (n,); refuse what cannot be used.

    That is NaN, infinity, and values too large.
    """
    view = view_of(X, clamp or 0.0)
    q = squared_norms(view)
    _refuse_unusable(X, q, owner)
    return view.rows if clamp is None else view, q


def _refuse_unusable(X: Matrix, q: FloatArray, owner: str) -> None:
    """Refuse NaN, infinity and values too large, by the squared norms."""
    longest = q.max()  # NaN and infinity make their way to the maximum
    if not longest < LARGEST:
        check_array(X, accept_sparse="csr", input_name="X", estimator=owner)
        msg = f"{owner}: X holds values so large that products overflow. Scale the features, e.g. with StandardScaler."
        raise InputError(msg)


def refuse_vanishing(X: Matrix, q: FloatArray, clamp: float, owner: str, least: float = SMALLEST) -> None:
    """Refuse examples whose squares, q with the clamped input's, are all below `least`: no claim could be checked."""
    if q.max() - clamp * clamp < least:
        values = X.data if sparse.issparse(X) else X
        if values.any() and np.abs(values).max() < np.sqrt(least):
            msg = f"{owner}: all of X is so small that its squares underflow. Scale the features, e.g. with StandardScaler."
            raise InputError(msg)


def admit_problems(estimator: Any, X: Matrix, K: int) -> None:
    """Refuse more two-class problems than fit the memory limit, with a number per example and per feature for each.

    `copies` of an estimator says how many such numbers it holds at a time, per example and per feature of a problem.
    """
    (n, d), (per_example, per_feature) = X.shape, getattr(estimator, "copies", COPIES)
    problems = "one problem" if K == 1 else f"{K:,} problems"
    remedy = "merge rare classes, or give fewer rows" if K > 1 else "give fewer rows or columns"
    admit(type(estimator).__name__, 8.0 * K * (per_example * n + per_feature * d), f"{problems} of {n:,} x {d:,}", remedy, X)


def read_examples(estimator: Any, X: Matrix, y: Labels, clamp: float | None) -> Examples:
    """Check examples and labels for a fit from scratch, and set the scikit-learn attributes that describe them.

    The view is clamped unless that is None, as in `usable_rows`.

    The pass over many rows that measures them and looks for NaN runs beside the first epoch, in a thread of its own; a rule
    that reads the norms calls `inspection` first, the others after the first epoch.
    """
    owner = type(estimator).__name__
    X, y = read_matrix(estimator, X, y, reset=True)
    view = view_of(X, clamp or 0.0)
    classes, target = read_classes(y, owner)
    admit_problems(estimator, X, 1 if classes.size == 2 else classes.size)
    q = np.empty(target.size)
    filled = beside(fill_squared_norms, view, q, small=entries_per_row(view) * target.size < CHUNK_ENTRIES)

    @cache
    def inspection() -> None:
        filled.result()
        _refuse_unusable(X, q, owner)
        refuse_vanishing(X, q, clamp or 0.0, owner)

    return Examples(X, y, view.rows if clamp is None else view, classes, target, q, clamp or 0.0, inspection)


def read_caps(Cs: Any, owner: str) -> list[float]:
    """Return the caps as a list of numbers, or refuse them."""
    try:
        caps = np.asarray(Cs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"The 'Cs' parameter of {owner} must be a list of positive numbers. Got {Cs!r} instead."
        raise InputError(msg) from error
    if caps.ndim != 1 or caps.size == 0 or not ((caps >= 1e-50) & ((caps <= 1e50) | np.isposinf(caps))).all():
        msg = f"The 'Cs' parameter of {owner} must be a list of positive numbers. Got {Cs!r} instead."
        raise InputError(msg)
    return [float(C) for C in caps]
