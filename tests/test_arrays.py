"""The array door: what comes in, what is refused and why, and what it costs."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from unpredictabench import _native
from unpredictabench.errors import InputError
from unpredictabench.stats import PreparedTruth, RaggedArray, ks_2samp
from unpredictabench.stats._arrays import pairs, samples

Y = np.array([0.5, 1.5, 2.5, 2.5, 7.0])
DTYPES = ["?", "i1", "u1", "i2", "<i4", ">i4", "i8", "u8", "f2", "<f4", ">f4", "<f8", ">f8", "g"]


def pvalue(x, y=Y, **options):
    """Return the p-value, which depends on every observation."""
    return ks_2samp(x, y, **options).pvalue


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_real_dtype_is_a_sample(dtype):
    """Byte order and width do not matter; booleans are 0 and 1."""
    x = np.array([0, 1, 1, 0], dtype=dtype)
    assert pvalue(x) == pvalue([0.0, 1.0, 1.0, 0.0])
    assert pvalue(np.array([[0, 1], [1, 1]], dtype=dtype))[1] == pvalue([1.0, 1.0])


@given(
    hnp.arrays(
        st.sampled_from([np.dtype(d) for d in ("f4", ">f8", "i4", "u2", "f8")]),
        st.tuples(st.integers(2, 6), st.integers(2, 6)),
        elements=st.integers(0, 30),
    ),
    st.integers(1, 2),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_strides_and_order_change_nothing(x, step, backward):
    """Strided, reversed, transposed and Fortran-ordered views equal their copies."""
    views = [x[::step, ::step], x.T, np.asfortranarray(x), x[::-1] if backward else x[:, ::-1]]
    for view in views:
        copied = np.array(view, dtype=float, order="C")
        np.testing.assert_array_equal(pvalue(view), pvalue(copied))
        np.testing.assert_array_equal(pvalue(view[0]), pvalue(copied[0]))


def test_memory_mapped_arrays_are_samples(tmp_path):
    """A file on disk is read without being loaded or written first."""
    np.save(tmp_path / "x.npy", np.arange(12.0).reshape(3, 4))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.testing.assert_array_equal(pvalue(mapped), pvalue(np.array(mapped)))


def test_ragged_rows():
    """Offsets cut the values, also where they start late or end early."""
    ragged = RaggedArray([9.0, 1.0, 2.0, 3.0, 9.0], [1, 2, 4])
    assert pvalue(ragged).tolist() == [pvalue([1.0]), pvalue([2.0, 3.0])]
    assert len(RaggedArray.from_rows([])) == 0
    assert pvalue(RaggedArray.from_rows([])).shape == (0,)


@pytest.mark.parametrize("offsets", [[], [0, 2, 1], [-1, 2], [0, 9], [0.0, 1.0], [[0, 1]]], ids=str)
def test_bad_offsets_are_refused(offsets):
    """Offsets rise and stay within the values."""
    with pytest.raises(InputError, match="offsets must"):
        RaggedArray([1.0, 2.0], offsets)


ROWS = [[1.0, 2.0], [3.0], [0.0, 5.0, 6.0]]
OVERLAP = [9.0, 9.0, 3.0, 1.0, 2.0, 0.0, 5.0, 6.0]


def arrow_batch(layout):
    """Return the three rows in one of Arrow's layouts."""
    import polars as pl
    import pyarrow as pa

    return {
        "list": lambda: pa.array(ROWS),
        "sliced": lambda: pa.array([[8.0], *ROWS, [9.0]])[1:4],
        "large": lambda: pa.array(ROWS, type=pa.large_list(pa.float64())),
        "chunked": lambda: pa.chunked_array([ROWS[:1], ROWS[1:]]),
        "float32": lambda: pa.array(ROWS, type=pa.list_(pa.float32())),
        "int64": lambda: pa.array([[1, 2], [3], [0, 5, 6]]),
        "view": lambda: pa.array(ROWS, type=pa.list_view(pa.float64())),
        "view sliced": lambda: pa.array([[8.0], *ROWS], type=pa.list_view(pa.float64()))[1:],
        "view overlapping": lambda: pa.ListViewArray.from_arrays([3, 2, 5], [2, 1, 3], OVERLAP),
        "encoded": lambda: pa.DictionaryArray.from_arrays([2, 0, 1], pa.array(ROWS[1:] + ROWS[:1])),
        "encoded values": lambda: pa.ListArray.from_arrays(
            [0, 2, 3, 6], pa.array([1.0, 2.0, 3.0, 0.0, 5.0, 6.0]).dictionary_encode()
        ),
        "polars": lambda: pl.Series(ROWS),
        "polars sliced": lambda: pl.Series([[8.0], *ROWS])[1:],
    }[layout]()


@pytest.mark.parametrize(
    "layout",
    [
        "list",
        "sliced",
        "large",
        "chunked",
        "float32",
        "int64",
        "polars",
        "polars sliced",
        "view",
        "view sliced",
        "view overlapping",
        "encoded",
        "encoded values",
    ],
)
def test_arrow_lists_are_rows(layout):
    """Lists of pyarrow and polars equal the ragged array, sliced or in chunks, on either side."""
    batch, ragged = arrow_batch(layout), RaggedArray.from_rows(ROWS)
    np.testing.assert_array_equal(pvalue(batch), pvalue(ragged))
    truths = RaggedArray.from_rows([[1.0], [2.0, 3.0], [0.0, 0.0, 9.0]])
    np.testing.assert_array_equal(pvalue(truths, batch), pvalue(truths, ragged))
    np.testing.assert_array_equal(pvalue(batch, truths), pvalue(ragged, truths))


def test_arrow_columns_without_lists():
    """A flat column is one sample, a list of fixed size a 2-d array."""
    import polars as pl
    import pyarrow as pa

    assert pvalue(pa.array([1.0, 2.0])) == pvalue([1.0, 2.0])
    assert pvalue(pl.Series([1.0, 2.0])) == pvalue([1.0, 2.0])
    fixed = pa.array([[1.0, 2.0], [3.0, 4.0]], type=pa.list_(pa.float64(), 2))
    np.testing.assert_array_equal(pvalue(fixed), pvalue([[1.0, 2.0], [3.0, 4.0]]))


def test_arrow_float64_is_not_copied():
    """The values of an Arrow list reach the kernels in the buffer they came in."""
    import pyarrow as pa

    array = pa.array([[1.0, 2.0], [3.0]])
    (_, (values, _)), *_ = samples(array, name="x").chunks()
    assert np.shares_memory(values, array.values.to_numpy())


def test_arrow_nulls_and_text_are_refused():
    """A null is neither a number nor nothing, in a row or as a row."""
    import pyarrow as pa

    for column, place in (
        (pa.array([[1.0], [], [1.0, None]]), "row 2, position 1"),
        (pa.array([[1.0], None]), "row 1"),
        (pa.chunked_array([[[1.0]], [[1.0], None]]), "row 2"),
        (pa.array([1.0, None]), "position 1"),
    ):
        with pytest.raises(InputError, match=f"x must hold no null, got 'null at {place}'"):
            pvalue(column)
    with pytest.raises(InputError, match="x must hold real numbers, got 'Arrow type string'"):
        pvalue(pa.array([["a"]]))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([1 + 2j], "x must hold real numbers, got 'dtype complex128'"),
        (["1.0"], "x must hold real numbers, got 'dtype <U3'"),
        ([b"1"], "x must hold real numbers, got 'dtype |S1'"),
        (np.array(["2020-01-01"], "M8[D]"), "x must hold real numbers, got 'dtype datetime64"),
        (3.0, "x must be 1-d (one sample) or 2-d (rows are samples), got '0-d'"),
        (np.zeros((1, 1, 1)), "x must be 1-d (one sample) or 2-d (rows are samples), got '3-d'"),
        ([[1.0], [2.0, 3.0]], "x must be 1-d, 2-d, or RaggedArray.from_rows(rows), got"),
        ([2**53 + 1], "x must hold integers up to 2**53, which float64 keeps apart, got"),
        ([2**70, 1], "x must hold integers up to 2**53, which float64 keeps apart, got"),
        (np.array([1, 2**63], "u8"), "which float64 keeps apart, got '9223372036854775808 at pos"),
        (np.array([[1, -(2**60)]]), "got '-1152921504606846976 at row 0, position 1'"),
        ([np.longdouble(1) + np.finfo("g").eps], "x must hold numbers that float64 can hold, got"),
        (np.array([1.0, "a"], object), "x must hold real numbers, got \"'a' at index 1\""),
        ([1.0, np.nan], "x must hold no NaN, got 'nan at position 1'"),
        ([[1.0, 2.0], [3.0, np.nan]], "x must hold no NaN, got 'nan at row 1, position 1'"),
        ([[], []], "x must hold observations (or pass empty=\"nan\"), got 'none in row 0'"),
        (RaggedArray([1.0], [0, 1, 1]), "got 'none in row 1'"),
    ],
    ids=lambda v: v if type(v) is str else "",
)
def test_what_is_refused_and_why(x, message):
    """The message names argument, rule, value and place."""
    with pytest.raises(InputError) as caught:
        pvalue(x)
    assert message in str(caught.value)


def test_integers_up_to_the_limit_are_exact():
    """2^53 itself is a value, and object arrays of numbers are numbers."""
    assert pvalue([2**53, -(2**53)]) == pvalue([2.0**53, -(2.0**53)])
    assert pvalue(np.array([1, 2.5, np.float32(3)], object)) == pvalue([1.0, 2.5, 3.0])


def test_infinities_are_refused_where_a_mean_is_taken():
    """The door has one policy a function: a value for ranks, an error for means."""
    assert samples([np.inf], name="x").flat()[0] == np.inf
    with pytest.raises(
        InputError, match="x must be finite: a mean is taken, got 'inf at position 1"
    ):
        samples([1.0, np.inf], name="x", allow_infinite=False).flat()


def test_batches_and_truths_must_fit():
    """As many truths as samples, or one; and no batch of truths for one sample."""
    with pytest.raises(InputError, match=r"y must have as many rows as x \(2\) or be 1-d, got 3"):
        pvalue(np.ones((2, 2)), np.ones((3, 2)))
    with pytest.raises(InputError, match="y must be one 1-d truth where x is one 1-d sample"):
        pvalue([1.0], np.ones((3, 2)))
    with pytest.raises(InputError, match="y must be one 1-d sample, got '2 rows'"):
        PreparedTruth(np.ones((2, 3)))


def test_empty_rows_give_nan_when_asked():
    """Empty rows of samples and of truths are NaN among the others."""
    x = RaggedArray([1.0, 2.0], [0, 1, 1, 2])
    y = RaggedArray([0.0, 1.0, 5.0], [0, 2, 3, 3])
    assert np.isnan(pvalue(x, Y, empty="nan")).tolist() == [False, True, False]
    assert np.isnan(pvalue(x, y, empty="nan")).tolist() == [False, True, True]
    with pytest.raises(InputError, match="y must hold observations"):
        pvalue([[1.0]], RaggedArray([], [0, 0]))


def test_a_prepared_truth_is_shared_by_threads():
    """Many threads with one truth get what one thread gets."""
    rng = np.random.default_rng(1)
    truth, x = PreparedTruth(rng.normal(size=1000)), rng.normal(size=(8, 50, 20))
    found = [None] * 8

    def work(i):
        found[i] = pvalue(x[i], truth)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for part, rows in zip(found, x, strict=True):
        np.testing.assert_array_equal(part, pvalue(rows, truth, workers=1))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_peak_memory_is_bounded(dtype):
    """A batch of 80 MB costs less than twice its output and 64 MB beyond itself."""
    x = np.zeros((1_000_000, 10), dtype=dtype)
    x += np.arange(10, dtype=dtype)
    y = np.arange(100.0)
    tracemalloc.start()
    try:
        found = ks_2samp(x, y, method="asymp")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    fields = ("statistic", "pvalue", "log_pvalue", "statistic_location", "statistic_sign", "method")
    assert peak < 2 * sum(getattr(found, field).nbytes for field in fields) + 64e6


def test_chunks_cut_where_conversion_or_pieces_end():
    """Rows come in order and whole, whatever the chunks are."""
    opened = pairs(np.ones((300_000, 8), "f4"), np.ones((300_000, 1)))
    rows = [rows for rows, _, _ in opened.chunks()]
    assert rows[0].start == 0
    assert rows[-1].stop == 300_000
    assert all(a.stop == b.start for a, b in itertools.pairwise(rows))
    assert max(part.stop - part.start for part in rows) * 8 <= 2**21


def run_python(code, **environment):
    """Run code in a child and return what it printed, read as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, **environment},
    )
    return json.loads(done.stdout)


# Cases from public reports, by their names.


def test_case_nat_readonly_and_broadcast():
    """Read-only and broadcast arrays are samples, and stay as they were."""
    x = np.array([1.0, 2.0])
    x.flags.writeable = False
    assert ks_2samp(x, [1, 3]).statistic == 0.5
    wide = np.broadcast_to([2.0], (5,))
    before = str(wide.flags)
    assert ks_2samp(wide, [2, 2, 3]).statistic == pytest.approx(1 / 3)
    assert (str(wide.flags), x.flags.writeable) == (before, False)


def test_case_nat_nan_sort_panic():
    """NaN in any place and order is a Python error, never a panic or a number."""
    x = np.array([3, np.nan, 1, 2] * 50)
    for seed in range(5):
        np.random.default_rng(seed).shuffle(x)
        with pytest.raises(InputError, match="x must hold no NaN"):
            pvalue(x, np.arange(200))
        with pytest.raises(InputError, match="y must hold no NaN"):
            PreparedTruth(x)
        with pytest.raises(InputError, match="y must hold no NaN"):
            pvalue(np.ones((2, 2)), np.tile(x, (2, 1)))


def test_case_nat_cpu_quota():
    """The pool is as large as the cores allowed, and RAYON_NUM_THREADS is obeyed."""
    code = """
        import json, os
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        import numpy as np
        from unpredictabench.stats import ks_2samp
        before = len(os.listdir("/proc/self/task"))
        ks_2samp(np.ones((5000, 2)), np.ones(5))
        print(json.dumps(len(os.listdir("/proc/self/task")) - before))
    """
    assert run_python(code) == 1
    assert run_python(code, RAYON_NUM_THREADS="3") == 3


def test_case_nat_masked():
    """A masked array is refused with the way out."""
    x = np.ma.array([1, 2, 3, 1000], mask=[0, 0, 0, 1])
    with pytest.raises(InputError, match="x must not be masked: drop entries with .compressed"):
        pvalue(x)
    assert ks_2samp(x.compressed(), [1, 2, 3]).statistic == 0


def test_case_nat_object_none():
    """None in an object array is an error that names its index."""
    with pytest.raises(InputError, match="x must hold real numbers, got 'None at index 1'"):
        pvalue(np.array([1, None, 3], dtype=object))


def test_case_nat_misaligned():
    """A buffer at an odd address is copied, not read in place."""
    raw = b"\0" + np.array([1.0, 2.0, 3.0]).tobytes()
    x = np.frombuffer(raw, np.float64, offset=1)
    assert not x.flags.aligned
    assert ks_2samp(x, [1, 2, 4]).statistic == pytest.approx(1 / 3)
    assert pvalue(x.reshape(1, 3))[0] == pvalue([1.0, 2.0, 3.0])


def test_case_nat_fork_after_use():
    """A child forked after the pool was used computes the same, and does not hang."""
    code = """
        import json, os, warnings
        import numpy as np
        from unpredictabench.stats import ks_2samp
        warnings.simplefilter("ignore", DeprecationWarning)
        x, y = np.random.default_rng(0).normal(size=(2000, 20)), np.arange(50.0)
        parent = ks_2samp(x, y, workers=2).pvalue
        child = os.fork()
        if child == 0:
            same = np.array_equal(ks_2samp(x, y, workers=2).pvalue, parent)
            os._exit(0 if same else 1)
        print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
    """
    assert run_python(code) == 0


def test_ctrl_c_interrupts():
    """SIGINT ends a long call with KeyboardInterrupt, though no Python code runs meanwhile."""
    code = """
        import sys
        import numpy as np
        from unpredictabench.stats import ks_2samp
        x = np.round(np.random.default_rng(0).normal(size=(100_000, 1000)), 2)
        y = np.round(np.random.default_rng(1).normal(size=50_000), 2)
        print("ready", flush=True)
        try:
            ks_2samp(x, y)
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout.readline() == "ready\n"
        # The signal must meet the kernel at work, not the interpreter before it.
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(timeout=1)
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=20)[0] == "stopped\n"


def test_what_a_signal_handler_raises_is_raised():
    """A handler's own exception ends a long call, not KeyboardInterrupt in its place."""
    code = """
        import json, signal, threading
        import numpy as np
        from unpredictabench.stats import ks_2samp
        x = np.round(np.random.default_rng(0).normal(size=(100_000, 1000)), 2)
        y = np.round(np.random.default_rng(1).normal(size=50_000), 2)
        def raise_own(number, frame):
            raise LookupError(f"signal {number}")
        signal.signal(signal.SIGUSR1, raise_own)
        main = threading.main_thread().ident
        threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGUSR1)).start()
        try:
            ks_2samp(x, y)
        except LookupError as error:
            print(json.dumps(str(error) == f"signal {int(signal.SIGUSR1)}"))
    """
    assert run_python(code) is True


def test_the_module_was_built_for_release():
    """Tests and benches run what users get."""
    assert not _native.is_debug_build


@pytest.mark.parametrize("cut", [slice(1, None), slice(1, 2), slice(2, 2)])
def test_nulls_outside_of_a_slice(cut):
    """A null in a row that was sliced away is not part of the batch."""
    import pyarrow as pa

    rows = pa.array([[1.0, None], [2.0, 3.0], [4.0]])[cut]
    expected = [[1.0, 1.0], [2.0, 3.0], [4.0]][cut]
    found = ks_2samp(rows, [1.0, 2.0]).statistic
    assert found.tolist() == [ks_2samp(row, [1.0, 2.0]).statistic for row in expected]
