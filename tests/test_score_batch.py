"""Scores of Arrow batches: the same bits as single calls, and a named error for what is wrong."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unpredictabench import stats
from unpredictabench.errors import InputError
from unpredictabench.stats import PreparedTruth, score_batch
from unpredictabench.stats._batch_statistics import DEFAULT_STATISTICS, DTYPES, STATISTICS

RNG = np.random.default_rng(9)
DRAWS = {"a": RNG.normal(size=200), "b": RNG.integers(0, 5, 150).astype(float)}
TRUTHS = {key: PreparedTruth(draws) for key, draws in DRAWS.items()}
ROWS = [[0.5, 1.0, 1.0], [2.0], [0.0, -1.5], [3.0, 3.0, 4.0, 0.1]]
IDS = ["b", "a", "b", "a"]


def batch_of(rows, **columns):
    """Return a record batch of samples and other columns."""
    return pa.record_batch({"x": rows, **columns})


def single(name, x, y, n_invalid=0):
    """Return the statistic of one row by the function it is named after."""
    if name in DEFAULT_STATISTICS:
        return getattr(stats.ks_2samp(x, y, n_invalid=n_invalid), name)
    test, _, what = name.partition("_")
    if test in {"kuiper", "anderson", "cramervonmises"}:
        return getattr(getattr(stats, f"{test}_2samp")(x, y), what or "statistic")
    if what == "zscore":
        return getattr(stats, f"{test}_test")(x, y).zscore
    return getattr(stats, {"jensenshannon": test}.get(test, f"{test}_distance"))(x, y)


def test_every_statistic_has_the_bits_of_a_single_call():
    """Truths by id, a shared truth and a truth a row give what the functions give row by row."""
    batch = batch_of(ROWS, truth_id=IDS, y=[DRAWS[key] for key in IDS])
    ways = {
        "by id": (TRUTHS, [TRUTHS[key] for key in IDS]),
        "shared": (DRAWS["a"], [TRUTHS["a"]] * 4),
        "a row": ("y", [DRAWS[key] for key in IDS]),
    }
    for truths, each in ways.values():
        found = score_batch(batch, truths, statistics=STATISTICS)
        for name in STATISTICS:
            expected = np.array([single(name, x, y) for x, y in zip(ROWS, each, strict=True)])
            got = found[name].to_numpy(zero_copy_only=False)
            np.testing.assert_array_equal(got, expected.astype(got.dtype), err_msg=name)


@pytest.mark.parametrize("kind", ["Categorical", "Enum"])
def test_ids_of_polars_categories_count_as_their_words(kind):
    """Categorical ids, dictionaries of views, give the scores of plain text, sliced too."""
    import polars as pl

    frame = pl.DataFrame({"x": ROWS, "truth_id": IDS})
    words = pl.Enum(["b", "a"]) if kind == "Enum" else pl.Categorical()
    coded = frame.with_columns(pl.col("truth_id").cast(words))
    expected = score_batch(batch_of(ROWS, truth_id=IDS), TRUTHS)["pvalue"]
    assert score_batch(coded, TRUTHS)["pvalue"].equals(expected)
    assert score_batch(coded.slice(1), TRUTHS)["pvalue"].equals(expected.slice(1))


def test_other_columns_may_share_a_name():
    """Columns that go through are told by their places, so that none is lost or refused."""
    arrays = [pa.array(ROWS), pa.array([1, 2, 3, 4]), pa.array(IDS)]
    batch = pa.RecordBatch.from_arrays(arrays, names=["x", "k", "k"])
    found = score_batch(batch, DRAWS["a"], statistics="statistic")
    assert found.schema.names == ["k", "k", "statistic"]
    assert found.columns[1].to_pylist() == IDS


@pytest.mark.parametrize("ids", [[["a"]], [{"a": 1}]])
def test_ids_with_values_inside_are_refused(ids):
    """Lists and structs are no keys of a mapping."""
    with pytest.raises(InputError, match="truth_id must hold plain ids, .*, got 'Arrow type"):
        score_batch(batch_of([[1.0]], truth_id=ids), TRUTHS)


def test_an_unknown_id_is_shown_beside_known_ones():
    """The message tells the number 1 from the text "1"."""
    batch = batch_of([[1.0]], truth_id=[1])
    with pytest.raises(InputError, match=r"truths \('1', '2'\), got '1 at row 0, the first of 1 "):
        score_batch(batch, {"1": [1.0], "2": [2.0]})


def test_what_is_wrong_with_a_truth_names_its_id():
    """NaN, no draws and infinities under a mean are said with the truth they are in."""
    batch = batch_of([[1.0], [1.0]], truth_id=["a", "b"])
    with pytest.raises(InputError, match="y of truth 'b' must hold no NaN"):
        score_batch(batch, {"a": [1.0], "b": [np.nan]})
    with pytest.raises(InputError, match="y of truth 'b' must hold observations"):
        score_batch(batch, {"a": [1.0], "b": []})
    infinite = {"a": [1.0], "b": [np.inf]}
    with pytest.raises(InputError, match="y of truth 'b' must be finite: a mean is taken"):
        score_batch(batch, infinite, statistics="energy")
    assert score_batch(batch, infinite)["statistic"].to_pylist() == [0.0, 1.0]


def test_streams_that_cannot_be_read_are_refused():
    """Rows that are null as a whole, and a reader that fails, are named errors."""
    rows = pa.chunked_array([pa.array([{"x": [1.0]}, None])])
    with pytest.raises(InputError, match="batch must be a stream of batches"):
        score_batch(rows, [1.0])


rows_of_numbers = st.lists(
    st.lists(st.floats(-3, 3, width=16), min_size=1, max_size=6), min_size=1, max_size=12
)


@given(rows_of_numbers, st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_order_and_cutting_of_rows_change_nothing(rows, random):
    """A row's scores do not depend on its place, on the other rows, or on the threads."""
    names = ["pvalue", "statistic_location", "kuiper", "kuiper_pvalue", "wasserstein", "energy"]
    ids = [random.choice("ab") for _ in rows]
    batch = batch_of(rows, truth_id=ids)
    how = {"statistics": names, "n_resamples": 99, "rng": 5}
    whole = score_batch(batch, TRUTHS, **how)
    order = random.sample(range(len(rows)), len(rows))
    assert score_batch(batch.take(order), TRUTHS, workers=1, **how).equals(whole.take(order))
    cut = random.randint(0, len(rows))
    pieces = [batch.slice(0, cut), batch.slice(cut)]
    assert score_batch(pa.Table.from_batches(pieces), TRUTHS, **how).equals(whole)


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.float32()), pa.large_list(pa.int16()), pa.list_(pa.uint64(), 2),
        pa.list_view(pa.float64()), pa.large_list_view(pa.int8()), pa.list_(pa.float16()),
        pa.list_(pa.bool_()), pa.dictionary(pa.int8(), pa.list_(pa.float64())),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("cut", [slice(None), slice(1, 3), slice(3, None), slice(2, 2)])
def test_every_list_of_real_numbers_is_samples(kind, cut):
    """Width of numbers and offsets, layout, encoding and slicing do not matter."""
    rows = [[1, 0], [0, 0], [1, 1], [0, 1]]
    if pa.types.is_dictionary(kind):
        column = pa.DictionaryArray.from_arrays(pa.array([2, 1, 0, 3], pa.int8()), [
            [1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0],
        ])  # fmt: skip
    else:
        is_bool = pa.types.is_boolean(kind.value_type)
        column = pa.array([[bool(v) for v in row] if is_bool else row for row in rows], kind)
    batch = pa.record_batch({"x": column[cut]})
    expected = score_batch(batch_of([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), DRAWS["b"])
    assert score_batch(batch, DRAWS["b"]).equals(expected[cut])


@pytest.mark.parametrize("cut", [slice(None), slice(1, 3), slice(3, None)])
def test_slices_of_whole_batches_keep_their_place(cut):
    """A slice of a batch, or of a struct array with its children sliced, is scored where it is."""
    batch = batch_of(ROWS, truth_id=IDS, note=list("wxyz"), n_invalid=[0, 1, 2, 3])
    expected = score_batch(batch, TRUTHS, n_invalid="n_invalid")
    found = score_batch(batch[cut], TRUTHS, n_invalid="n_invalid")
    assert found.equals(expected[cut])
    sliced = batch.to_struct_array()[cut]
    assert score_batch(sliced, TRUTHS, n_invalid="n_invalid").equals(expected[cut])


def test_ids_of_any_type_name_truths():
    """Text, integers, dictionary and run-end encoded ids mean what they encode."""
    expected = score_batch(batch_of(ROWS, truth_id=IDS), TRUTHS)["pvalue"]
    texts = pa.array(IDS)
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3, 4], pa.int32()), texts)
    for ids in (texts.dictionary_encode(), texts.cast(pa.large_string()), runs):
        assert score_batch(batch_of(ROWS, truth_id=ids), TRUTHS)["pvalue"].equals(expected)
    numbered = {7: TRUTHS["a"], 8: TRUTHS["b"]}
    batch = batch_of(ROWS, task=pa.array([8, 7, 8, 7], pa.int8()))
    assert score_batch(batch, numbered, truth_id="task")["pvalue"].equals(expected)


class Capsule:
    """Exports one batch, and is nothing that pyarrow knows."""

    def __init__(self, batch):
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


def test_anything_with_the_interface_is_a_batch():
    """Capsules, tables, readers, data frames and relations give the scores of the batch."""
    import duckdb
    import polars as pl

    batch = batch_of(ROWS, truth_id=IDS)
    expected = score_batch(batch, TRUTHS)["pvalue"]
    table = pa.Table.from_batches([batch.slice(0, 1), batch.slice(1)])
    relation = duckdb.sql("select * from batch_table", connection=_registered(duckdb, table))
    for given_one in (
        Capsule(batch), Capsule(batch.to_struct_array()), table, table.to_reader(),
        pl.from_arrow(table), pl.from_arrow(table).to_struct(), relation,
    ):  # fmt: skip
        assert score_batch(given_one, TRUTHS)["pvalue"].equals(expected), type(given_one)


def _registered(duckdb, table):
    connection = duckdb.connect()
    connection.register("batch_table", table)
    return connection


def test_columns_pass_through_and_results_follow():
    """Samples and truths go, all else stays with its type and metadata, then come the results."""
    field = pa.field("note", pa.string(), metadata={"k": "v"})
    schema = pa.schema([("x", pa.list_(pa.float64())), field, ("y", pa.list_(pa.float64()))],
                       metadata={"who": "me"})  # fmt: skip
    batch = pa.record_batch([[[1.0]], ["n"], [[1.0, 2.0]]], schema=schema)
    found = score_batch(batch, prefix="ks_", statistics=["statistic", "statistic_sign", "method"])
    assert found.schema.names == ["note", "ks_statistic", "ks_statistic_sign", "ks_method"]
    assert found.schema.field("note").equals(field, check_metadata=True)
    assert found.schema.metadata == {b"who": b"me"}
    assert [str(kind) for kind in found.schema.types[1:]] == ["double", "int8", "string"]


def test_no_rows_give_no_rows_with_the_same_columns():
    """An empty batch, table or reader has the schema of a full one."""
    batch = batch_of(ROWS, truth_id=IDS)
    expected = score_batch(batch, TRUTHS, statistics=STATISTICS).schema
    nothing = pa.RecordBatchReader.from_batches(batch.schema, [])
    for given_one in (batch.slice(4), batch.schema.empty_table(), nothing):
        found = score_batch(given_one, TRUTHS, statistics=STATISTICS)
        assert found.num_rows == 0
        assert found.schema.equals(expected)


def test_empty_rows_are_an_error_or_nan():
    """A row without any answer has no statistic; one with invalid answers has a KS statistic."""
    batch = batch_of([[1.0], [], []], n_invalid=[0, 2, 0], y=[[1.0, 2.0]] * 3)
    with pytest.raises(InputError, match="x must hold observations .* got 'none in row 12'"):
        score_batch(batch, n_invalid="n_invalid", first_row=10)
    names = ["statistic", "statistic_sign", *DTYPES.keys() - {"statistic", "statistic_sign"}]
    found = score_batch(batch, n_invalid="n_invalid", empty="nan", statistics=names)
    assert found["statistic"].to_pylist()[:2] == [0.5, 1.0]
    assert np.isnan(found["statistic"][2].as_py())
    for name in ("kuiper", "anderson_pvalue", "wasserstein", "energy_zscore", "jensenshannon"):
        assert np.isnan(found[name].to_numpy()[1:]).all()
    no_type = pa.record_batch({"x": pa.array([[], []]), "y": [[1.0], [2.0]]})
    assert np.isnan(score_batch(no_type, empty="nan")["pvalue"].to_numpy()).all()
    with pytest.raises(InputError, match="y must hold observations .* 'none in row 0'"):
        score_batch(batch_of([[1.0]], y=pa.array([[]], pa.list_(pa.float64()))))


class Labelled(pa.ExtensionType):
    """A list with a meaning of its own."""

    def __init__(self):
        super().__init__(pa.list_(pa.float64()), "tests.labelled")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, _, serialized):
        return cls()


GOOD = pa.array([[1.0], [2.0]])
BAD_SAMPLES = [
    (pa.array([[1.0], None]), "x must hold no null, got 'null at row 5'"),
    (pa.array([[9.0], [1.0], [2.0, None]])[1:], "no null, got 'null at row 5, position 1'"),
    (pa.array([[1.0], [2.0, None]], pa.list_view(pa.float64())), "no null, .* row 5, position 1"),
    (pa.array([[1.0, 2.0], [2.0, None]], pa.list_(pa.float64(), 2)), "null at row 5, position 1"),
    (pa.array([[1.0], [2.0, np.nan]]), "x must hold no NaN, got 'nan at row 5, position 1'"),
    (pa.array([[1.0], ["a"]][1:] * 2), "x must hold real numbers, got 'Arrow type string'"),
    (pa.array([[1], [2]], pa.list_(pa.timestamp("s"))), "x must hold real numbers"),
    (pa.array([[1], [2]], pa.list_(pa.duration("s"))), "x must hold real numbers"),
    (pa.array([[1], [2]], pa.list_(pa.decimal128(9, 2))), "real numbers, got 'Arrow type decimal"),
    (pa.array([[[1.0]], [[2.0]]]), "x must hold real numbers, got 'Arrow type list"),
    (pa.array([[1], [2**60 + 1]]), "up to 2..53, .* at row 5, position 0"),
    (pa.array([1.0, 2.0]), "x must be a column of lists of real numbers, got 'Arrow type double'"),
    (pa.array([{"a": 1}, {"a": 2}]), "x must be a column of lists"),
    (pa.array([None, None]), "x must be a column of lists of real numbers, got 'Arrow type null'"),
    (pa.ExtensionArray.from_storage(Labelled(), GOOD), "x must be cast to its storage type first"),
    (pa.FixedShapeTensorArray.from_numpy_ndarray(np.ones((2, 2))), "x must be cast to its storage"),
]  # fmt: skip


@pytest.mark.parametrize(("column", "message"), BAD_SAMPLES, ids=range(len(BAD_SAMPLES)))
def test_wrong_samples_are_named_errors(column, message):
    """Nulls, NaN and other types are refused with the column, the row and the type."""
    with pytest.raises(InputError, match=message):
        score_batch(pa.record_batch({"x": column}), DRAWS["a"], first_row=4)
    renamed = pa.record_batch({"x": GOOD, "truth": column})
    with pytest.raises(InputError, match=message.replace("x must", "truth must")):
        score_batch(renamed, "truth", first_row=4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": "z"}, r"x must name one column of the batch \(x, truth_id, n\), got 'z'"),
        ({"y": "z"}, "y must name one column of the batch"),
        ({"truth_id": "z"}, "truth_id must name one column of the batch"),
        ({"n_invalid": "truth_id"}, "truth_id must hold integers, got 'Arrow type string'"),
        ({"n_invalid": "n"}, "n must hold integers from 0 to .*, got '-1 at row 1'"),
        ({"n_invalid": -1}, "n_invalid must be an integer from 0"),
        ({"n_invalid": [0, 1]}, "n_invalid must be an integer from 0"),
        ({"statistics": None}, "statistics must be a name or a sequence of names, got None"),
        ({"x": ["x"]}, "x must name one column of the batch"),
        ({"prefix": None}, "prefix must be text, got None"),
        ({"y": {"a": [1.0]}},
         r"of the truths \('a'\), got \"'b' at row 0, the first of 2 such rows\""),
        ({"y": {}}, "the first of 4 such rows"),
        ({"y": {"a": [], "b": [1.0]}}, "y of truth 'a' must hold observations"),
        ({"y": [[1.0, 2.0]]}, "y must be one 1-d sample"),
        ({"statistics": ["pvalue", "p"]}, "statistics must be 'statistic', .* got 'p'"),
        ({"statistics": []}, "statistics must name at least one, none twice"),
        ({"statistics": ["pvalue", "pvalue"]}, "statistics must name at least one, none twice"),
        ({"alternative": "both"}, "alternative must be"),
        ({"method": "approximate"}, "method must be"),
        ({"empty": "skip"}, "empty must be"),
        ({"workers": 0}, "workers must be"),
        ({"n_resamples": 0}, "n_resamples must be"),
        ({"rng": -1}, "rng must be an integer seed"),
        ({"first_row": -1}, "first_row must be"),
        ({"prefix": "truth_", "statistics": "statistic"}, None),
    ],
)  # fmt: skip
def test_wrong_options_are_named_errors(change, message):
    """Each option is checked, also where there is no row."""
    batch = batch_of(ROWS, truth_id=IDS, n=[0, -1, 0, 0])
    how = {"y": TRUTHS} | change
    if message is None:
        assert "truth_statistic" in score_batch(batch, **how).schema.names
        return
    with pytest.raises(InputError, match=message):
        score_batch(batch, **how)


def test_results_never_take_the_name_of_a_column():
    """A batch that has a column of a result's name needs a prefix."""
    batch = batch_of(ROWS, pvalue=[1, 2, 3, 4])
    with pytest.raises(InputError, match=r"prefix must tell results from the columns \(pvalue is"):
        score_batch(batch, DRAWS["a"])
    assert score_batch(batch, DRAWS["a"], prefix="ks_")["pvalue"].to_pylist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "given_one",
    [
        [[1.0]], {"x": [[1.0]]}, None, np.ones((2, 2)), pa.array([[1.0]]), pa.array([1.0]),
        pa.chunked_array([[1.0]]),
        pa.StructArray.from_arrays([GOOD], ["x"], mask=pa.array([True, False])),
    ],
    ids=lambda one: type(one).__name__,
)  # fmt: skip
def test_what_is_no_batch_is_refused(given_one):
    """Other containers, columns without names and structs with null rows are no batches."""
    with pytest.raises(InputError, match="batch must"):
        score_batch(given_one, DRAWS["a"])


def test_infinities_are_values_except_in_means():
    """The KS test takes infinities; distances name the row that holds one."""
    batch = batch_of([[1.0], [2.0, np.inf]])
    assert score_batch(batch, [1.0, 2.0])["statistic"].to_pylist() == [0.5, 0.5]
    with pytest.raises(InputError, match="x must be finite: .* got 'inf at row 1, position 1'"):
        score_batch(batch, [1.0, 2.0], statistics="wasserstein")
    with pytest.raises(InputError, match="y must be finite"):
        score_batch(batch.slice(0, 1), PreparedTruth([1.0, np.inf]), statistics="energy")


def test_a_duplicate_column_is_no_choice():
    """Of two columns of a name neither is taken."""
    batch = pa.RecordBatch.from_arrays([GOOD, GOOD], names=["x", "x"])
    with pytest.raises(InputError, match="x must name one column"):
        score_batch(batch, DRAWS["a"])


def test_without_pyarrow_the_extra_is_named():
    """One sentence with the pip line, and no traceback of an import within."""
    script = """
import sys
sys.modules["pyarrow"] = None
from unpredictabench.stats import score_batch
class Batch:
    def __arrow_c_array__(self): ...
try:
    score_batch(Batch())
except ImportError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        "reading Arrow data needs an extra: pip install 'unpredictabench[arrow]'\n"
    )
