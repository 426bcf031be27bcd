"""Separable or not: every verdict is proved, every false proof is refused."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from halfspace.certificates.base import check, from_json
from halfspace.certificates.margins.separability import Separability
from halfspace.errors import CertificateError, InputError
from halfspace.questions.separability import separability
from halfspace.solvers.exact.gordan import rounded_planes, simplex, vertex

XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
XOR_LABELS = np.array([0, 0, 1, 1])
LINE = np.array([[0.0], [1.0], [2.0], [3.0]])


def proved(X, y, **options):
    """Return a certificate that holds, before and after a trip through JSON."""
    if "intercept" in options:
        options["intercept"] = "free" if options["intercept"] else "none"
    proof = separability(X, y, **options)
    assert proof.verify(X, y)
    again = from_json(proof.to_json())
    assert again.to_dict() == proof.to_dict()
    assert again.multipliers == proof.multipliers
    assert again.verify(X, y)
    return proof


def signed(X, y, intercept):
    """Return the rows y_i (x_i, 1), or y_i x_i."""
    A = np.hstack([X, np.ones((len(y), int(intercept)))])
    return A * np.where(y == np.max(y), 1.0, -1.0)[:, None]


def crossing(A):
    """Tell by enumeration whether some D + 1 or fewer rows (whole numbers, D <= 3) have 0 in their hull: Carathéodory."""
    rows = sorted({tuple(int(v) for v in row) for row in A.tolist()})
    D = A.shape[1]
    return any(positive_relation(some) for m in range(1, D + 2) for some in itertools.combinations(rows, m))


def positive_relation(rows):
    """Tell by Gaussian elimination over fractions whether rows have one relation, and it is positive."""
    table = [[Fraction(row[j]) for row in rows] for j in range(len(rows[0]))]
    m, leading = len(rows), []
    for j in range(m):
        r = next((r for r in range(len(leading), len(table)) if table[r][j] != 0), None)
        if r is None:
            continue
        k = len(leading)
        table[k], table[r] = table[r], table[k]
        table[k] = [v / table[k][j] for v in table[k]]
        for other in range(len(table)):
            if other != k:
                table[other] = [a - table[other][j] * b for a, b in zip(table[other], table[k], strict=True)]
        leading.append(j)
    if len(leading) != m - 1:
        return False
    free = next(j for j in range(m) if j not in leading)
    return all(table[k][free] < 0 for k in range(m - 1))


def teacher(n, d, seed=0, flips=()):
    """Return Gaussian rows labelled by a teacher, some labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) > 0, 1, 0)
    y[list(flips)] ^= 1
    return X, y


# ---------------------------------------------------------------- verdicts
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(25))
def test_grids_agree_with_enumeration(seed, intercept):
    """On small grids, where ties and touching hulls abound, the verdict is that of trying all subsets of D + 1 rows."""
    rng = np.random.default_rng(seed)
    d = 1 + seed % 2
    X = rng.integers(-2, 3, (rng.integers(2, 9), d)).astype(float)
    y = (X @ rng.integers(-2, 3, d) + rng.integers(-1, 2) > 0).astype(int) ^ (rng.random(len(X)) < 0.1)
    y[:2] = [0, 1]
    proof = proved(X, y, intercept=intercept)
    assert proof.verdict == ("inseparable" if crossing(signed(X, y, intercept)) else "separable")


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(15))
def test_random_problems_agree_with_a_linear_program(seed, intercept):
    """On random examples the verdict is that of HiGHS on all rows."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(5, 60), rng.integers(1, 8)
    X = rng.standard_normal((n, d))
    y = (X @ rng.standard_normal(d) > 0).astype(int) ^ (rng.random(n) < rng.choice([0.0, 0.03, 0.2]))
    y[:2] = [0, 1]
    A = signed(X, y, intercept)
    feasible = linprog(np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(n), bounds=(None, None)).status == 0
    assert proved(X, y, intercept=intercept).verdict == ("separable" if feasible else "inseparable")


def test_xor_is_the_classical_obstacle():
    """XOR is inseparable, and all four corners with equal shares prove it."""
    proof = proved(XOR, XOR_LABELS)
    assert proof.multipliers == dict.fromkeys(range(4), Fraction(1, 4))
    assert proof.obstacle.tolist() == [0, 1, 2, 3]


def test_touching_hulls_are_inseparable():
    """Hulls that share a single point leave no strictly positive margin, though no example is repeated."""
    X = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    proof = proved(X, np.array([0, 0, 1, 1]))
    assert proof.multipliers == {0: Fraction(1, 4), 1: Fraction(1, 4), 2: Fraction(1, 2)}


@pytest.mark.parametrize("exponent", [-40, -52])
def test_a_gap_of_one_bit_is_a_gap(exponent):
    """The point of touching hulls moved off by 2^-40, or by the last bit, makes the classes separable; moved in, not."""
    X = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 2.0**exponent], [1.0, 1.0]])
    y = np.array([0, 0, 1, 1])
    assert proved(X, y).verdict == "separable"
    X[2, 1] *= -1.0
    assert proved(X, y).verdict == "inseparable"


def test_neighbouring_floats_are_separable():
    """Between 1 and the next float a plane fits, if its numbers are chosen well."""
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert proved(X, np.array([0, 1])).verdict == "separable"


def test_thirds_of_tenths():
    """0.1 + 0.2 is not 0.3 in floats: the middle of rows 0.1 and 0.2 is judged by the fractions the floats are."""
    X = np.array([[0.1], [0.2], [(0.1 + 0.2) / 2]])
    middle = (Fraction(0.1) + Fraction(0.2)) / 2 - Fraction(X[2, 0])
    A = np.hstack([X, np.ones((3, 1))]) * np.array([[1.0], [1.0], [-1.0]])
    shares = vertex(A)
    assert sum(shares) == 1
    assert (shares[0] == shares[1]) == (middle == 0)
    assert proved(X, np.array([1, 1, 0])).verdict == "inseparable"


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_contradicting_duplicates_are_the_obstacle(kind):
    """An example with both labels is found, and the two rows alone prove the verdict."""
    X, y = teacher(3000, 30)
    X = X.astype(kind)
    X[1234], y[1234] = X[77], 1 - y[77]
    proof = proved(X, y)
    assert proof.multipliers == {77: Fraction(1, 2), 1234: Fraction(1, 2)}


def test_a_zero_example_has_no_side_without_intercept():
    """Through the origin no plane has a zero row on its side; with a bias one may."""
    X, y = np.array([[0.0], [1.0], [-1.0]]), np.array([1, 1, 0])
    assert proved(X, y, intercept=False).multipliers == {0: Fraction(1)}
    assert "an example is zero" in str(separability(X, y, intercept="none"))
    assert proved(X, y).verdict == "separable"


def test_truth_values_of_earlier_versions_are_understood():
    """True is a free bias and False none, with a warning that says how to write it now."""
    with pytest.warns(FutureWarning, match="intercept='none'"):
        assert not separability(LINE, [0, 0, 1, 1], intercept=False).intercept
    with pytest.warns(FutureWarning, match="intercept='free'"):
        assert separability(LINE, [0, 0, 1, 1], intercept=True).intercept


def test_opposite_examples_need_opposite_labels_without_intercept():
    """x and -x of the same class forbid a plane through the origin."""
    X, y = np.array([[1.0, 2.0], [-1.0, -2.0], [5.0, -3.0]]), np.array([1, 1, 0])
    assert proved(X, y, intercept=False).multipliers == {0: Fraction(1, 2), 1: Fraction(1, 2)}


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("d", [1, 3, 10])
def test_one_flipped_label_is_found(d, intercept):
    """A flipped label deep in its class makes the classes inseparable; at most D + 1 rows, that one among them, prove it."""
    X, y = teacher(400 * d, d, seed=d)
    middle = int(np.argsort(np.abs(X).sum(axis=1))[10])
    assert proved(X, y, intercept=intercept).verdict == "separable"
    y[middle] ^= 1
    proof = proved(X, y, intercept=intercept)
    assert proof.verdict == "inseparable"
    assert middle in proof.multipliers
    assert len(proof.obstacle) <= d + intercept + 1


@pytest.mark.parametrize(
    "scale", [10.0 ** np.arange(-12, 12, 4), np.full(6, 1e-310), np.full(6, 1e60), 2.0 ** np.array([-900, 0, 0, 0, 0, 200])]
)
@pytest.mark.parametrize("flips", [(), (3, 4, 5, 6)])
def test_units_do_not_matter(scale, flips):
    """Columns in very different units, and denormal numbers, are decided as their unscaled likes."""
    X, y = teacher(60, 6, seed=1, flips=flips)
    same = proved(X, y).verdict
    assert proved(X * scale, y).verdict == same


@pytest.mark.parametrize("size", [1e6, 1e20, 1e70])
def test_a_huge_outlier_is_borne(size):
    """One example far out changes neither verdict."""
    X, y = teacher(300, 5, seed=2)
    X[0] *= size
    assert proved(X, y).verdict == "separable"
    y[np.argsort(np.abs(X).sum(axis=1))[:4]] ^= 1
    assert proved(X, y).verdict == "inseparable"


def test_offsets_constants_and_repeats_are_borne():
    """Columns far from zero, constant columns and repeated examples are decided."""
    X, y = teacher(200, 4, seed=3)
    X = np.hstack([X + 1e7, np.full((200, 1), 0.1), X[:, :1]])
    X, y = np.vstack([X, X[:50]]), np.concatenate([y, y[:50]])
    assert proved(X, y).verdict == "separable"
    y[:2] ^= 1
    assert proved(X, y).verdict == "inseparable"


@pytest.mark.parametrize("gap", [1e-6, 1e-9, 1e-12])
def test_thin_gaps_are_seen(gap):
    """Classes a relative 1e-12 apart are separable still."""
    rng = np.random.default_rng(4)
    direction = np.array([0.6, 0.8, 0.0])
    X = rng.standard_normal((80, 3))
    y = rng.integers(0, 2, 80)
    X += np.outer((2 * y - 1) * gap - X @ direction, direction)
    assert proved(X, y).verdict == "separable"


def test_more_features_than_examples_are_separable():
    """Examples in general position with d > n are separable whatever their labels."""
    rng = np.random.default_rng(5)
    assert proved(rng.standard_normal((20, 50)), np.arange(20) % 2, intercept=False).verdict == "separable"
    assert proved(np.array([[1.0], [2.0]]), np.array([0, 1])).verdict == "separable"


@pytest.mark.parametrize("flips", [(), (0, 1, 2)])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_sparse_is_dense(kind, flips):
    """The same examples stored in CSR have the same verdict, and each certificate holds for the other form."""
    X, y = teacher(500, 8, seed=6)
    X = np.where(np.random.default_rng(6).random(X.shape) < 0.5, X, 0.0).astype(kind)
    y = np.where(X.sum(axis=1) > 0.01, "yes", "no")
    y[list(flips)] = "yes"
    y[10 + np.arange(len(flips))] = "no"
    dense, stored = proved(X, y), proved(sparse.csr_array(X), y)
    assert dense.verdict == stored.verdict
    assert dense.verify(sparse.csr_array(X), y)
    assert stored.verify(X, y)


@pytest.mark.parametrize("labels", [("ham", "spam"), (False, True), (-3, 7), (0.0, 2.0)])
def test_labels_of_any_kind(labels):
    """Labels may be strings, truth values or numbers."""
    y = np.array([labels[0], labels[0], labels[1], labels[1]])
    proof = proved(LINE, y)
    assert (proof.verdict, proof.positive) == ("separable", labels[1])


@pytest.mark.compiled
@pytest.mark.parametrize(("flips", "verdict"), [((), "separable"), ((17,), "inseparable")])
def test_large_problems_are_decided(flips, verdict):
    """100,000 examples in 20 dimensions are decided for both verdicts."""
    X, y = teacher(100_000, 20, seed=1, flips=flips)
    assert proved(X, y).verdict == verdict


@pytest.mark.compiled
def test_wide_sparse_problems_are_tried_by_the_perceptron():
    """With more features than a square matrix can hold a plane is found all the same, and so are contradictions."""
    rng = np.random.default_rng(9)
    X = sparse.random_array((6000, 5000), density=0.01, rng=rng, format="csr")
    y = (X @ rng.standard_normal(5000) > 0).astype(int)
    assert proved(X, y, max_time=20.0).verdict == "separable"
    again = sparse.vstack([X, X[:1]]).tocsr()
    proof = proved(again, np.append(y, 1 - y[0]), max_time=20.0)
    assert proof.multipliers == {0: Fraction(1, 2), 6000: Fraction(1, 2)}
    assert proved(X, rng.integers(0, 2, 6000), max_time=1e-9).verdict == "undecided"


# ---------------------------------------------------------------- time and bad input
def test_without_time_the_bracket_is_honest():
    """A time limit that is over at once leaves a valid bracket around zero, or a proof."""
    X, y = teacher(4000, 40, seed=7)
    proof = proved(X, y, max_time=1e-9)
    assert proof.verdict == "undecided"
    assert proof.bracket.lower <= 0.0 < proof.bracket.upper
    assert proof.bracket.verify(X, y)
    assert str(proof).startswith("undecided")


@pytest.mark.parametrize(
    ("X", "y", "options", "words"),
    [
        (LINE, [0, 1, 2, 1], {}, "two classes.*against the rest"),
        (LINE, [1, 1, 1, 1], {}, "only one class"),
        (LINE, [0, 1, 1], {}, "inconsistent"),
        (LINE, None, {}, "needs labels"),
        (LINE, [0, 1, 0, 1], {"max_time": 0}, "max_time.*positive"),
        (LINE, [0, 1, 0, 1], {"max_time": "1"}, "max_time.*positive"),
        (LINE, [0, 1, 0, 1], {"intercept": "both"}, "intercept.*'clamped', 'free' or 'none'"),
        (LINE * np.nan, [0, 1, 0, 1], {}, "NaN"),
        (LINE * 1e100, [0, 1, 0, 1], {}, "Scale the features"),
        (LINE[:, 0], [0, 1, 0, 1], {}, "2D array"),
    ],
)
def test_bad_input_is_refused(X, y, options, words):
    """What cannot be decided is refused in words."""
    with pytest.raises(ValueError, match=words):
        separability(X, y, **options)


def test_more_classes_are_our_error():
    """More than two classes raise InputError."""
    with pytest.raises(InputError):
        separability(np.eye(3), np.arange(3))


# ---------------------------------------------------------------- corruption
def cases():
    X, y = teacher(40, 3, seed=8)
    flipped = y.copy()
    flipped[np.argsort(np.abs(X).sum(axis=1))[:2]] ^= 1
    return {"separable": (X, y), "inseparable": (X, flipped)}


def corrupted():
    """Yield the name of a corruption, the data, and a certificate with a false claim."""
    for name, (X, y) in cases().items():
        proof = separability(X, y)
        assert proof.verdict == name
        other = "inseparable" if name == "separable" else "separable"
        yield f"{name}: verdict swapped", X, y, replace(proof, verdict=other)
        yield f"{name}: verdict undecided", X, y, replace(proof, verdict="undecided")
        yield f"{name}: another example", X + np.eye(40, 3, -min(proof.obstacle, default=0)), y, proof
        yield f"{name}: another label", X, np.where(np.arange(40) == max(proof.obstacle, default=0), 1 - y, y), proof
        yield f"{name}: no such label", X, y, replace(proof, positive=7)
        yield f"{name}: width", X[:, :2], y, proof
    X, y = cases()["separable"]
    proof = separability(X, y)
    yield "w negated", X, y, replace(proof, w=-proof.w)
    yield "w nudged", X, y, replace(proof, w=proof.w + np.array([0.0, 0.5, 0.0]) * np.abs(proof.w).max())
    yield "b moved", X, y, replace(proof, b=proof.b + np.linalg.norm(proof.w))
    yield "margin larger", X, y, replace(proof, margin=proof.margin * 1.001)
    yield "a bias without intercept", X, y, replace(proof, intercept=False)
    X, y = cases()["inseparable"]
    proof = separability(X, y)
    first, *_ = proof.multipliers
    outside = next(i for i in range(40) if i not in proof.multipliers)
    share = proof.multipliers[first]
    unit = Fraction(share.numerator + 1, share.denominator)
    for name, change in {
        "one unit in a numerator": {first: unit},
        "sign": {first: -share},
        "zero": {first: Fraction(0)},
        "float": {first: float(share)},
        "row swapped": {first: None, outside: share},
        "row outside": {first: None, 40: share},
        "row missing": {first: None},
        "row added": {outside: Fraction(1, 10**30)},
    }.items():
        table = {row: value for row, value in {**proof.multipliers, **change}.items() if value is not None}
        yield name, X, y, replace(proof, multipliers=table)
    yield "no multipliers", X, y, replace(proof, multipliers={})
    yield "another intercept", X, y, replace(proof, intercept=False)
    many = dict.fromkeys(range(40), Fraction(1))
    yield "too many rows", X, y, replace(proof, multipliers=many)


@pytest.mark.parametrize(("X", "y", "proof"), [pytest.param(*rest, id=name) for name, *rest in corrupted()])
def test_false_claims_are_refused(X, y, proof):
    """A certificate with any false claim is refuted with a reason."""
    verdict = proof.verify(X, y)
    assert not verdict
    assert verdict.reasons


def test_a_residual_of_one_rounding_is_refused():
    """Multipliers whose float sum is exactly zero, but whose rational sum is not, prove nothing."""
    X, y = np.array([[0.1], [0.2], [0.3]]), np.array([0, 1, 0])
    proof = separability(X, y)
    rounded = {row: Fraction(float(share)) for row, share in proof.multipliers.items()}
    false = {0: Fraction(1, 4), 1: Fraction(1, 2), 2: Fraction(1, 4)}
    assert abs(0.25 * 0.1 - 0.5 * 0.2 + 0.25 * 0.3) < 1e-16
    assert not replace(proof, multipliers=false).verify(X, y)
    assert replace(proof, multipliers=rounded).verify(X, y).holds == (rounded == proof.multipliers)


DAMAGE = {
    "verdict": ["maybe", 3, None],
    "w": ["1", [1.0, None], [[1.0]], {}],
    "b": [None, "x", "nan", 10**400],
    "margin": ["inf", -1.0, None],
    "intercept": [1, "yes", None],
    "bracket": [3, {"kind": "PerClass"}, {"kind": "Separability"}],
    "positive": [[1], {}],
    "multipliers": [
        None,
        [],
        {"0": "1/0"},
        {"0": "-1/2"},
        {"0": "0/3"},
        {"0": 0.5},
        {"0": "1e5/2"},
        {"0": "1/2/3"},
        {"0": "١/٢"},
        {"0": "9" * 140_000 + "/1"},
        {"-1": "1/2"},
        {"01": "1/2"},
        {"1.5": "1/2"},
        {"9" * 30: "1/2"},
    ],
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in DAMAGE.items() for value in values])
def test_damaged_files_are_refused(field, value):
    """A file with a damaged field is no certificate, and the error says so."""
    body = json.loads(separability(XOR, XOR_LABELS).to_json())
    body[field] = value
    with pytest.raises(CertificateError):
        from_json(json.dumps(body))


def test_a_made_up_common_denominator_is_refused_quickly():
    """Fractions whose common denominator would fill the memory are refused."""
    proof = separability(XOR, XOR_LABELS)
    huge = {row: Fraction(1, 10**100_000 + 2 * row + 1) for row in range(4)}
    assert not replace(proof, multipliers=huge).verify(XOR, XOR_LABELS)


def test_a_file_is_checked(tmp_path):
    """A certificate file is confirmed on its data and refuted on others."""
    separability(XOR, XOR_LABELS).to_json(tmp_path / "proof.json")
    assert check(tmp_path / "proof.json", XOR, XOR_LABELS)
    assert not check(tmp_path / "proof.json", XOR, np.array([0, 1, 1, 1]))


# ---------------------------------------------------------------- the exact solver
@pytest.mark.parametrize("seed", range(20))
def test_the_simplex_method_is_exact(seed):
    """The rational simplex method returns an exact relation, or a rational plane right on every row, on degenerate rows too."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (rng.integers(2, 12), rng.integers(1, 4))).astype(float) * rng.choice([1.0, 0.1])
    relation, plane = simplex(A, lambda: False)
    rows = [[Fraction(v) for v in row] for row in A.tolist()]
    if relation:
        assert sum(relation.values()) == 1
        assert min(relation.values()) > 0
        assert len(relation) <= A.shape[1] + 1
        assert all(sum(share * rows[i][j] for i, share in relation.items()) == 0 for j in range(A.shape[1]))
    else:
        assert all(sum(a * w for a, w in zip(row, plane, strict=True)) > 0 for row in rows)
        assert all(np.isfinite(w).all() for w in rounded_planes(plane))


def test_the_simplex_method_can_be_late():
    """Out of time, it decides nothing."""
    assert simplex(np.eye(2), lambda: True) is None


def test_planes_are_claims_like_others():
    """A plane found elsewhere can be certified if its margin is certain, and not with a larger one."""
    y = np.array([0, 0, 1, 1])
    claim = Separability.by_plane(np.array([2.0, -3.0]), 0.5, intercept=True, positive=1)
    assert claim.verify(LINE, y)
    assert not replace(claim, margin=np.nextafter(0.5, 1.0)).verify(LINE, y)
