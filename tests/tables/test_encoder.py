"""The encoder as a whole: what it keeps, what it leaves out, what it does with rows that differ from those it was fitted on."""

import datetime as dt
import io
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv
from scipy import sparse
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler

from halfspace.data.catalogue import write_csv
from halfspace.errors import InputError
from halfspace.notes import Note, sentences
from halfspace.tables import TableEncoder


def mixed(n=60, seed=0):
    """A table with a column of each kind."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(5.0, 3.0, n)
    numbers[::7] = np.nan
    colours = np.array(["red", "green", "blue", None], dtype=object)[rng.integers(0, 4, n)]
    days = [None if i % 9 == 0 else dt.date(2020, 1, 1) + dt.timedelta(days=int(17 * i)) for i in range(n)]
    return pa.table(
        {
            "row": np.arange(n),
            "size": pa.array(numbers, from_pandas=True),
            "count": rng.poisson(3.0, n),
            "colour": pa.array(colours.tolist()),
            "member": rng.random(n) < 0.3,
            "town": pa.array([f"t{int(k)}" for k in rng.zipf(1.5, n) % 15]),
            "day": days,
            "price": [f"{value:.2f}" for value in rng.random(n)],
            "id": [f"A{i:05d}" for i in range(n)],
            "always": ["same"] * n,
            "never": pa.nulls(n),
        }
    )


@pytest.fixture(scope="module")
def customers():
    """The table of customers as the command would read it."""
    text = io.StringIO()
    write_csv("customers", text, n=400)
    return csv.read_csv(io.BytesIO(text.getvalue().encode())).drop(["left"])


def test_same_as_a_column_transformer():
    """Numbers and categories come out as from scikit-learn's imputer, scaler and one-hot encoder."""
    table = mixed().select(["size", "count", "colour", "member"])
    frame = table.to_pandas().fillna({"colour": "zz missing"})
    peer = ColumnTransformer(
        [
            ("size", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["size"]),
            ("gaps", MissingIndicator(), ["size"]),
            ("count", StandardScaler(), ["count"]),
            ("words", OneHotEncoder(drop="if_binary", sparse_output=False), ["colour", "member"]),
        ]
    )
    np.testing.assert_allclose(TableEncoder().fit_transform(table), peer.fit_transform(frame), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [50, 1500], ids=["few", "more-than-quantiles"])
def test_ranks_same_as_a_quantile_transformer(n):
    """Ranks are scikit-learn's uniform quantiles, moved and stretched to mean 0 and variance 1; unseen values are clipped."""
    X = np.random.default_rng(1).lognormal(size=(n, 3))
    peer = QuantileTransformer(n_quantiles=min(1000, n), subsample=None).fit(X)
    new = np.vstack([X, 2 * X, -X])
    expected = np.sqrt(12) * (peer.transform(new) - 0.5)
    np.testing.assert_allclose(TableEncoder(scale="rank").fit(X).transform(new), expected, atol=1e-12)


def test_equal_values_have_the_middle_rank():
    """A value that repeats has the mean of the ranks it takes, the smallest and largest too (unlike in scikit-learn)."""
    X = np.random.default_rng(1).integers(0, 5, 80).astype(float)[:, None]
    expected = np.sqrt(12) * ((rankdata(X[:, 0]) - 1) / 79 - 0.5)
    np.testing.assert_allclose(TableEncoder(scale="rank").fit_transform(X)[:, 0], expected, atol=1e-12)


def test_ranks_have_mean_0_and_variance_1():
    """A rank of a continuous column has mean 0 and nearly variance 1."""
    Z = TableEncoder(scale="rank").fit_transform(np.random.default_rng(2).standard_cauchy((500, 1)))
    assert abs(Z.mean()) < 1e-3
    assert abs(Z.std() - 1.0) < 1e-2


def test_outputs_and_their_names():
    """Each kind of column has the outputs the documentation promises, in the order of the columns."""
    encoder = TableEncoder(max_categories=5).fit(mixed())
    groups = {name: encoder.get_feature_names_out()[first:end].tolist() for name, first, end in encoder.groups_}
    parts = ["year", "month", "day", "weekday", "day number", "missing"]
    assert groups.pop("town")[-1] == "town=(other)"
    assert groups == {
        "size": ["size", "size missing"],
        "count": ["count"],
        "colour": ["colour=blue", "colour=green", "colour=red", "colour missing"],
        "member": ["member=true"],
        "day": [f"day {part}" for part in parts],
        "price": ["price"],
    }
    assert encoder.transform(mixed()).shape == (60, encoder.groups_[-1][2])


def test_what_is_left_out_is_said():
    """Ids, row counters, constants and empty columns are left out, each with its reason in a note."""
    encoder = TableEncoder().fit(mixed())
    assert [name for name, _ in encoder.dropped_] == ["row", "id", "always", "never"]
    notes = " ".join(sentences(encoder.notes_))
    for words in ("'row' was left out: it only counts", "'id' was left out: text that hardly", "'always' was", "'never' was"):
        assert words in notes
    assert "'size' 9 of 60" in notes


def test_plain_state():
    """All that is learnt is plain data: a model file can hold it without naming any code."""

    def plain(value):
        if isinstance(value, Note):
            return plain(vars(value))
        if isinstance(value, dict):
            return all(isinstance(key, str) and plain(item) for key, item in value.items())
        if isinstance(value, list | tuple):
            return all(map(plain, value))
        if isinstance(value, np.ndarray):
            return value.dtype.kind in "biufU"
        return value is None or type(value) in (bool, int, float, str)

    for scale in ("standard", "rank", "none"):
        assert plain(vars(TableEncoder(scale=scale).fit(mixed())))
    assert plain(vars(TableEncoder().fit(np.eye(3))))
    assert plain(vars(TableEncoder().fit(sparse.eye(3, format="csr"))))


def test_customers(customers):
    """The made-up table of customers loses its id and its constant, and all its outputs are finite."""
    encoder = TableEncoder().fit(customers)
    assert [name for name, _ in encoder.dropped_] == ["customer", "currency"]
    Z = encoder.transform(customers)
    assert Z.dtype == np.float64
    assert Z.flags.c_contiguous
    assert np.isfinite(Z).all()


@pytest.mark.parametrize("scale", ["standard", "rank", "none"])
def test_batches_give_the_same_bits(customers, scale):
    """Rows encoded in batches of any size, or alone, are bit for bit those encoded all at once."""
    encoder = TableEncoder(scale=scale).fit(customers)
    whole = encoder.transform(customers)
    for step in (1, 7, 64):
        rows = range(0, 70, step)
        batches = np.vstack([encoder.transform(customers.slice(i, step)) for i in rows])
        assert np.array_equal(batches[:70], whole[:70])
    assert encoder.transform(customers.slice(0, 0)).shape == (0, whole.shape[1])


def test_columns_go_by_name():
    """Columns in another order give the same outputs; further ones are ignored, and said."""
    table = mixed()
    encoder = TableEncoder().fit(table)
    turned = table.select(table.column_names[::-1]).append_column("more", pa.array(np.ones(60)))
    Z, notes = encoder.transform_with_notes(turned)
    assert np.array_equal(Z, encoder.transform(table))
    assert notes == (Note("ignored", "more"),)


def test_absent_columns_count_as_missing():
    """A column that is not there is filled as missing, and said; one that was left out in fit is not missed."""
    table = mixed()
    encoder = TableEncoder().fit(table)
    Z, notes = encoder.transform_with_notes(table.drop(["size", "id"]))
    _, first, end = encoder.groups_[0]
    assert (Z[:, end - 1] == 1.0).all()
    assert np.ptp(Z[:, first]) == 0.0
    assert notes == (Note("absent", "size"),)


def test_another_table_is_refused():
    """A table without any known column is an error, not a table of missing values."""
    encoder = TableEncoder().fit(mixed())
    with pytest.raises(InputError, match="none of the columns seen in fit is present: expected 'size'"):
        encoder.transform(pa.table({"a": [1, 2]}))


def test_other_types_are_read_where_possible():
    """Text where numbers were is read or counts as missing; numbers where words were are their text; all is counted."""
    table = pa.table({"n": [1.0, 2.0, 4.0], "c": ["3", "x", "7"], "b": [True, False, True], "d": [dt.date(2020, 1, 1)] * 3})
    table = table.set_column(3, "d", pa.array([dt.date(2020, 1, day) for day in (1, 2, 3)]))
    encoder = TableEncoder(scale="none").fit(table)
    names = encoder.get_feature_names_out().tolist()
    new = pa.table(
        {"n": ["2.5", "many"], "c": [3.0, 8.0], "b": ["True", "0"], "d": ["2020-01-09", "2020-02-31"]}  # no such day
    )
    Z, notes = encoder.transform_with_notes(new)
    assert Z[:, names.index("n")].tolist() == [2.5, 2.0]
    assert Z[:, names.index("c=3")].tolist() == [1.0, 0.0]
    assert Z[:, names.index("b=true")].tolist() == [1.0, 0.0]
    assert Z[:, names.index("d day")].tolist() == [9.0, 2.0]
    assert tuple(map(str, notes)) == (
        "Column 'n': 1 value cannot be read and counts as missing.",
        "Column 'c': 1 value was never seen in training.",
        "Column 'd': 1 value cannot be read and counts as missing.",
    )


@pytest.mark.parametrize("wrong", [[dt.date(2020, 1, 1)], [[1, 2]], [{"a": 1}], [b"\xff"], [None]], ids=str)
def test_senseless_types_count_as_missing(wrong):
    """Dates, lists, structs, bytes or nothing where numbers, words or dates were: missing, never an exception."""
    table = mixed().select(["size", "colour", "member", "day"])
    encoder = TableEncoder().fit(table)
    new = pa.table({name: pa.array(wrong) for name in table.column_names})
    assert np.isfinite(encoder.transform(new)).all()


def test_frames_and_arrow_speakers_are_tables():
    """pandas, record batches and anything with an Arrow stream encode as the pyarrow table does, whatever the index."""

    class Speaker:
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    table = mixed()
    encoder = TableEncoder().fit(table)
    frame = table.to_pandas().sample(frac=1.0, random_state=0)
    again = TableEncoder().fit(frame)
    assert np.array_equal(encoder.transform(table), encoder.transform(Speaker(table)))
    assert np.array_equal(encoder.transform(table), encoder.transform(table.to_batches()[0]))
    np.testing.assert_allclose(encoder.transform(frame.sort_index()), encoder.transform(table))
    assert again.feature_names_in_.tolist() == table.column_names
    named = TableEncoder().set_output(transform="pandas").fit_transform(frame)
    assert named.columns[0] == "row"  # shuffled, it no longer counts the rows


def test_mixed_pandas_column_is_text():
    """A pandas column of numbers and words is read as text."""
    frame = pd.DataFrame({"a": pd.Series([1, "b", 1, None, "b", 2.5], dtype=object)})
    assert TableEncoder().fit(frame).get_feature_names_out().tolist() == ["a=1", "a=2.5", "a=b", "a missing"]


def test_refits_and_copies():
    """A fit on an array forgets the names of a fit on a table; clones are empty; pickled copies agree."""
    table = mixed()
    encoder = TableEncoder().fit(table)
    assert np.array_equal(pickle.loads(pickle.dumps(encoder)).transform(table), encoder.transform(table))  # noqa: S301
    assert not hasattr(clone(encoder), "feature_names_in_")
    encoder.fit(np.arange(6.0).reshape(3, 2))
    assert not hasattr(encoder, "feature_names_in_")
    assert encoder.get_feature_names_out(["a", "b"]).tolist() == ["a", "b"]
    with pytest.raises(InputError, match="input_features"):
        encoder.get_feature_names_out(["a"])


def test_a_failed_fit_changes_nothing():
    """A fit that is refused leaves the encoder as it was."""
    table = mixed()
    encoder = TableEncoder().fit(table)
    before = encoder.transform(table)
    with pytest.raises(InputError, match="no usable column in 5 sample"):
        encoder.fit(np.ones((5, 2)))
    assert np.array_equal(encoder.transform(table), before)


def test_an_absent_column_is_warned_of():
    """In Python as in the command, a column that is not there is said to count as missing; complete tables are silent."""
    table = pa.table({"size": [1.0, 5.0, 2.0], "age": [3.0, 9.0, 4.5]})
    encoder = TableEncoder().fit(table)
    with pytest.warns(UserWarning, match="Column 'age' is absent: all its values count as missing"):
        encoder.transform(table.drop_columns(["age"]))
    encoder.transform(table)
