"""Single columns: which kind each is taken for, and numbers at the ends of floating point."""

import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfspace.errors import InputError
from halfspace.notes import Note
from halfspace.tables import TableEncoder


def names(values, **options):
    """Names of the outputs of one column, beside one that is always kept."""
    values = values if isinstance(values, pa.Array) else pa.array(values)
    spare = pa.array((np.arange(len(values)) % 2).astype(float))
    return TableEncoder(**options).fit(pa.table({"spare": spare, "c": values})).get_feature_names_out().tolist()[1:]


def encoded(values, new=None, **options):
    """Outputs of one column, fitted on `values`, for `new`."""
    table = pa.table({"c": values})
    return TableEncoder(**options).fit(table).transform(table if new is None else pa.table({"c": new}))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([5, 3, 9], ["c"]),
        ([0, 1, 2], []),
        ([1, 2, 3, 4], []),
        ([2, 3, 4], ["c"]),
        ([1.5, None, 2.5], ["c", "c missing"]),
        ([1.5, float("nan"), 2.5], ["c", "c missing"]),
        ([7, None, 7], ["c missing"]),
        ([7, 7, 7], []),
        ([decimal.Decimal("1.5"), decimal.Decimal("2.5"), None], ["c", "c missing"]),
        ([dt.time(8), dt.time(9, 30), dt.time(8)], ["c"]),
        ([dt.timedelta(hours=3), dt.timedelta(hours=1)], ["c"]),
        (pa.array([1.5, 2.5], type=pa.float16()), ["c"]),
        (pa.array([2**63, 5, 7], type=pa.uint64()), ["c"]),
        ([True, False, True], ["c=true"]),
        ([True, None, True], ["c missing"]),
        ([True, None, False], ["c=false", "c=true", "c missing"]),
        (["a", "b", "a"], ["c=b"]),
        (["a", None, "a"], ["c missing"]),
        (["a", "", "b"], ["c=a", "c=b", "c missing"]),
        (["a", "a", "a"], []),
        (["b", "c", "a"], ["c=a", "c=b", "c=c"]),
        (pa.array(["a", "b", "a"], type=pa.string_view()), ["c=b"]),
        (pa.array(["1", "2", "7", "7"]).dictionary_encode(), ["c=1", "c=2", "c=7"]),
        (pa.array([4, 2, 7]).dictionary_encode(), ["c=2", "c=4", "c=7"]),
        (["1.5", " 2e3 ", "-.5", "+7."], ["c"]),
        (["1,5", "2,5", "1,5"], ["c=2,5"]),
        (["1.5"] * 19 + ["2"] * 20 + ["?"], ["c", "c missing"]),
        (["1.5"] * 9 + ["2"] * 9 + ["?"], ["c=1.5", "c=2", "c=?"]),
        ([f"name {i}" for i in range(21)], []),
        ([f"name {i}" for i in range(4)], [f"c=name {i}" for i in range(4)]),
        ([None, None], []),
        ([[1], [2]], []),
        ([b"a", b"b"], []),
        ([{"a": 1}, {"a": 2}], []),
        ([dt.date(2020, 1, 1), dt.date(2021, 1, 1)], ["c year", "c weekday", "c day number"]),
        ([dt.datetime(2020, 1, 1, 5), dt.datetime(2020, 1, 1, 7)], ["c hour"]),  # noqa: DTZ001 - a column without zone
        ([dt.date(2020, 1, 1), None], ["c missing"]),
        ([dt.date(2020, 1, 1), dt.date(2020, 1, 1)], []),
        (["2020-01-01", "2020-01-03T10:00:00Z"], ["c day", "c weekday", "c hour", "c day number"]),
    ],
    ids=lambda value: str(value)[:40].replace("\n", "") if not isinstance(value, list) or len(value) < 9 else f"{value[0]}...",
)
def test_kinds(values, expected):
    """A column is taken for what it is, and has the outputs of its kind."""
    assert names(values) == expected


def test_times_and_durations_are_seconds():
    """Times of day and durations are numbers of seconds."""
    assert encoded([dt.time(1), dt.time(0, 1)], scale="none").ravel().tolist() == [3600.0, 60.0]
    assert encoded([dt.timedelta(days=1), dt.timedelta(seconds=2)], scale="none").ravel().tolist() == [86400.0, 2.0]


def test_parts_of_a_date():
    """1 March 2021 was a Monday, the 18,687th day after 1 January 1970; moments with a zone are read in UTC."""
    zone = dt.timezone(dt.timedelta(hours=2))
    values = pa.array([dt.datetime(2021, 3, 1, 1, 30, tzinfo=zone), dt.datetime(1969, 6, 3, 12, tzinfo=dt.UTC)])
    assert encoded(values, scale="none").tolist() == [
        [2021, 2, 28, 6, 23, 18686],
        [1969, 6, 3, 1, 12, -212],
    ]
    assert encoded([dt.date(2021, 3, 1), dt.date(1969, 6, 3)], scale="none").tolist()[0] == [2021, 3, 1, 0, 18687]


def test_rare_values_are_pooled():
    """Of more values than allowed the most frequent are kept; the rest and the unseen share one output."""
    values = ["a"] * 5 + ["b"] * 4 + ["c"] * 3 + ["d"] * 2
    table = pa.table({"c": values})
    encoder = TableEncoder(max_categories=2).fit(table)
    assert encoder.get_feature_names_out().tolist() == ["c=a", "c=b", "c=(other)"]
    new = pa.table({"c": ["a", "d", "zzz", None]})
    Z, notes = encoder.transform_with_notes(new)
    assert Z.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]]
    assert notes == (Note("unseen", "c", 2),)


def test_unseen_values_without_a_pool_have_no_output():
    """A value never seen, where nothing was pooled, is a row of zeros."""
    assert encoded(["a", "b", "c"], ["b", "z", None]).tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinity_is_refused_by_name(bad):
    """Infinity is an error that names the column, in fit and in transform, in tables and arrays."""
    table = pa.table({"a": [1.0, 2.0, 4.0], "heat": [1.0, 2.0, bad]})
    with pytest.raises(InputError, match="'heat' contains infinity"):
        TableEncoder().fit(table)
    encoder = TableEncoder().fit(np.array([[1.0, 2.0], [3.0, 5.0]]))
    with pytest.raises(InputError, match="'x1' contains infinity"):
        encoder.transform([[1.0, bad]])
    with pytest.raises(InputError, match="'c' contains infinity"):
        encoded(["1e999", "1"])


@pytest.mark.parametrize("scale", ["standard", "rank"])
@pytest.mark.parametrize("size", [1.7e308, 1e200, 1e-200, 5e-324], ids=str)
def test_extreme_sizes(scale, size):
    """Columns at either end of floating point are scaled without overflow, and new values without infinity."""
    values = np.array([-size, 0.0, size, size, 0.0, -size])
    Z = encoded(values, scale=scale)
    assert abs(Z.mean()) < 1e-12
    assert 0.5 < Z.std() < 1.5
    assert np.isfinite(encoded(values, [1.7e308, -1.7e308, 0.0, None], scale=scale)).all()


def test_extreme_columns_are_named():
    """A column beyond 1e100 gets a note that names it."""
    encoder = TableEncoder().fit(pa.table({"far": [1e200, 2e200, 4e200]}))
    assert encoder.notes_ == (Note("extreme", "far"),)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.floats(allow_infinity=False)), min_size=2, max_size=30),
    st.sampled_from(["standard", "rank"]),
)
def test_any_numbers(values, scale):
    """Whatever the finite numbers: outputs are finite, in the order of the values, and the same for each row alone."""
    table = pa.table({"c": pa.array(values, type=pa.float64()), "spare": (np.arange(len(values)) % 2).astype(float)})
    encoder = TableEncoder(scale=scale).fit(table)
    Z = encoder.transform(table)
    assert np.isfinite(Z).all()
    assert np.array_equal(Z, np.vstack([encoder.transform(table.slice(i, 1)) for i in range(len(values))]))
    if "c" in encoder.get_feature_names_out():
        filled = np.array([np.nan if value is None else value for value in values])
        order = np.argsort(filled[~np.isnan(filled)], kind="stable")
        assert (np.diff(Z[~np.isnan(filled), 0][order]) >= -1e-9).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(max_size=4)), min_size=2, max_size=25), st.lists(st.text(max_size=3), max_size=5))
def test_any_text(values, new):
    """Whatever the text: the fit takes it or leaves it out, each row has at most one category, and new text is borne."""
    table = pa.table({"spare": (np.arange(len(values)) % 2).astype(float), "c": pa.array(values, type=pa.string())})
    encoder = TableEncoder(max_categories=3).fit(table)
    kinds = {recipe["kind"] for recipe in encoder.recipes_[1:]}
    Z = encoder.transform(table)[:, 1:]
    if kinds <= {"category"}:
        assert (Z.sum(axis=1) <= 1).all()
    assert np.isfinite(encoder.transform(pa.table({"spare": np.zeros(len(new)), "c": pa.array(new, type=pa.string())}))).all()


@pytest.mark.parametrize(
    ("values", "days"),
    [
        (["31.12.2023", "1.2.2023"], [31, 1]),
        (["12/31/2023", "2/1/2023"], [31, 1]),
        (["31/12/2023", "1/2/2023"], [31, 1]),
        (["3/4/2023", "6/5/2023"], [4, 5]),
    ],
    ids=["points", "month first", "day first", "either"],
)
def test_dates_in_text_keep_the_order_of_training(values, days):
    """Text with dates is read as in a file, and new rows in the order learnt, even where both orders fit them."""
    table = pa.table({"spare": [0.0, 1.0], "c": values})
    encoder = TableEncoder(scale="none").fit(table)
    place = encoder.get_feature_names_out().tolist().index("c day")
    assert encoder.transform(table)[:, place].tolist() == days
    new = encoder.transform(pa.table({"spare": [0.0], "c": ["7.8.2023" if "." in values[0] else "7/8/2023"]}))
    assert new[0, place] == (8.0 if values[0].startswith(("12/", "3/")) else 7.0)


def test_codes_are_categories():
    """Text with leading zeros is a code, in the encoder as in a file, unless hardly any value is one."""
    assert names(["007", "010", "007", "020"]) == ["c=007", "c=010", "c=020"]
    assert names([*map(str, range(10, 110)), "007"]) == ["c"]


LONG = 2**53 + 1


@pytest.mark.parametrize(
    "column",
    [
        pa.array([LONG, LONG + 1, LONG, 5]),
        pa.array([2**63 + 1, 2**63, 2**63 + 1, 5], type=pa.uint64()),
        pa.array([decimal.Decimal(LONG), decimal.Decimal(LONG + 1), decimal.Decimal(LONG), None], type=pa.decimal128(38, 0)),
    ],
    ids=["int64", "uint64", "decimal"],
)
def test_whole_numbers_that_floats_would_round_are_read_as_text_with_a_note(column):
    """Two ids that differ in the last digit stay two; the note says what was done."""
    encoder = TableEncoder().fit(pa.table({"id": column}))
    rows = encoder.transform(pa.table({"id": column}))
    assert not np.array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(rows[0], rows[2])
    assert "Column 'id' has whole numbers that floating point would round; they were read as text." in map(str, encoder.notes_)


def test_decimal_numbers_round_as_always():
    """Prices are numbers, however they are stored."""
    prices = pa.array([decimal.Decimal("0.1"), decimal.Decimal("19.99"), decimal.Decimal("123456789012345.99")])
    encoder = TableEncoder(scale="none").fit(pa.table({"price": prices, "text": ["0.1", "19.99", "0.123456789012345678"]}))
    assert encoder.get_feature_names_out().tolist() == ["price", "text"]
    assert encoder.notes_ == ()


def test_numbers_in_text_may_be_written_as_people_do():
    """Amounts, percentages and debts in text are numbers, row by row; two currencies, or some percentages, are categories."""
    X = pa.table({"a": ["$5", "$1,000.50", "($3)"], "b": ["5%", "7.5%", "1%"], "c": ["$5", "€6", "$5"], "d": ["5%", "6", "6"]})
    encoder = TableEncoder(scale="none").fit(X)
    assert [recipe["kind"] for recipe in encoder.recipes_] == ["number", "number", "category", "category"]
    assert encoder.transform(X)[:, :2].tolist() == [[5.0, 5.0], [1000.5, 7.5], [-3.0, 1.0]]
    new = pa.table({"a": ["7", "€8"], "b": ["2", "3 %"], "c": ["$5"] * 2, "d": ["6"] * 2})
    assert encoder.transform(new)[:, :2].tolist() == [[7.0, 2.0], [8.0, 3.0]]
