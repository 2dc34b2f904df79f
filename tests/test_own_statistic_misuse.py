"""What statistics compiled by numba may do and may not: NaN, exceptions, misuse, interrupts."""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import subprocess
import sys
import threading

import numba
import numpy as np
import pytest

from compiled import OF_ONE, OF_TWO, first_of_one, gap_of_means
from unpredictabench.errors import InputError
from unpredictabench.stats import (
    RaggedArray,
    bootstrap,
    bootstrap_2samp,
    from_cfunc,
    permutation_test_2samp,
)


@pytest.fixture(scope="module")
def gap():
    """Make the difference of means."""
    return from_cfunc(gap_of_means)


@numba.cfunc(OF_TWO)
def _undefined(x, n, y, m):
    """NaN for samples that start below 0."""
    return np.nan if x[0] < 0 else x[0]


@numba.cfunc(OF_ONE)
def _undefined_one(x, n):
    """NaN for samples that start below 0."""
    return np.nan if x[0] < 0 else x[0]


def test_nan_is_a_value():
    """A NaN is kept, makes the numbers of its row NaN, and leaves other rows alone."""
    statistic = from_cfunc(_undefined)
    x, y = [[1.0, 2.0], [-1.0, 2.0]], [0.5, 1.0]
    np.testing.assert_array_equal(statistic(x, y), [1.0, np.nan])
    spread = bootstrap_2samp(x, y, statistic, n_resamples=200)
    assert np.isnan(spread.bootstrap_distribution[1]).any()
    assert np.isnan(spread.standard_error).tolist() == [False, True]
    assert np.isnan(spread.confidence_interval.low).tolist() == [False, True]
    test = permutation_test_2samp(x, y, statistic, n_resamples=200)
    assert np.isnan(test.pvalue).tolist() == [False, True]
    one = bootstrap([-1.0, *range(1, 12)], from_cfunc(_undefined_one), n_resamples=500)
    assert np.isnan([one.statistic, one.standard_error, one.confidence_interval.low]).all()
    assert 0.3 < np.isnan(one.bootstrap_distribution).mean() < 0.9


def test_infinities_are_values(gap):
    """Infinite observations reach the function."""
    assert from_cfunc(_undefined)([np.inf], [1.0]) == np.inf
    assert gap([np.inf, 1.0], [1.0]) == np.inf
    with pytest.raises(InputError, match="x must hold no NaN, got 'nan at position 0'"):
        gap([np.nan], [1.0])


@numba.cfunc(OF_TWO)
def _failing(x, n, y, m):
    """Divide by the first observation."""
    return 1.0 / x[0]


def test_exceptions_are_heard():
    """An exception inside becomes an error that names it; the hook of the process is restored."""
    statistic, before = from_cfunc(_failing), sys.unraisablehook
    x = np.zeros((30, 2))
    message = "_failing must not raise, got ZeroDivisionError"
    with pytest.raises(InputError, match=message) as caught:
        statistic(x, [1.0])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    for call in (bootstrap_2samp, permutation_test_2samp):
        with pytest.raises(InputError, match=message):
            call(x, [1.0, 0.0], statistic, n_resamples=20)
    assert statistic([2.0], [1.0]) == 0.5
    assert sys.unraisablehook is before


def test_other_unraisable_exceptions_pass(gap, monkeypatch):
    """What other objects cannot raise meanwhile goes to the hook that was there."""
    from unpredictabench.stats import _unraisable

    seen = []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)

    class Noisy:
        def __del__(self):
            raise OSError

    with _unraisable.refused_exceptions("x"):
        Noisy()
        gc.collect()
        with _unraisable.refused_exceptions("y"):
            gap([1.0], [1.0])
    assert [type(one.exc_value) for one in seen] == [OSError]


def test_calls_from_several_threads(gap):
    """Calls from several Python threads at once give the results of single ones."""
    rng = np.random.default_rng(31)
    x, y = rng.normal(size=(200, 20)), rng.normal(size=50)
    want, found = gap(x, y), {}
    threads = [threading.Thread(target=lambda i=i: found.update({i: gap(x, y)})) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(np.array_equal(one, want) for one in found.values())


@numba.njit("float64(float64[:], float64[:])")
def _njit(x, y):
    """Give the first observation."""
    return x[0]


@pytest.mark.parametrize(
    ("wrong", "got"),
    [
        (np.subtract, "<ufunc"),
        (test_nan_is_a_value, "<function"),
        (_njit, "CPUDispatcher"),
        (gap_of_means.ctypes, "CFunctionType"),
        pytest.param(gap_of_means.address, r"\d+", id="address"),
        (ctypes.CFUNCTYPE(ctypes.c_double)(lambda: 0.0), "CFunctionType"),
        ("float64()", "'float64"),
        (None, "None"),
    ],
)
def test_what_is_no_cfunc_is_refused(wrong, got):
    """Python and njit functions, pointers and addresses are refused, with the decorator to use."""
    with pytest.raises(InputError, match=rf"^cfunc must be compiled by @numba.cfunc.*got .*{got}"):
        from_cfunc(wrong)


@pytest.mark.parametrize(
    ("signature", "shown"),
    [
        ("float64(float64)", r"\(float64,\) -> float64"),
        ("float32(CPointer(float64), intp, CPointer(float64), intp)", "-> float32"),
        ("float64(CPointer(float32), intp, CPointer(float64), intp)", r"\(float32\*, int64"),
        ("float64(CPointer(float64), int32, CPointer(float64), int32)", r"\(float64\*, int32"),
        ("float64(CPointer(float64), uintp)", r"\(float64\*, uint64\)"),
        ("float64(CPointer(float64), intp, CPointer(float64))", r"float64\*\) -> float64"),
    ],
)
def test_wrong_signatures_are_refused(signature, shown):
    """A cfunc of other types is refused with the signature asked for and the one found."""
    bodies = {
        1: lambda _x: 0.0,
        2: lambda _x, _n: 0.0,
        3: lambda _x, _n, _y: 0.0,
        4: lambda _x, _n, _y, _m: 0.0,
    }
    wrong = numba.cfunc(signature)(bodies[signature.count(",") + 1])
    with pytest.raises(InputError, match=r"^cfunc must have the signature float64\(CP.*" + shown):
        from_cfunc(wrong)


def test_misuse_is_refused(gap):
    """Names, numbers of samples, bare cfuncs and pairs are checked wherever they are given."""
    first = from_cfunc(first_of_one)
    for wrong in ("", 3):
        with pytest.raises(InputError, match="^name must be a name"):
            from_cfunc(gap_of_means, wrong)
    with pytest.raises(InputError, match="^y must be given, got None"):
        gap([1.0])
    with pytest.raises(InputError, match="^y must be None: the statistic takes one sample"):
        first([1.0], [2.0])
    with pytest.raises(InputError, match="^workers must be an integer"):
        gap([1.0], [2.0], workers=0)
    for call in (bootstrap_2samp, permutation_test_2samp):
        with pytest.raises(InputError, match="^statistic must have the signature .* here"):
            call([1.0], [2.0], first)
        with pytest.raises(InputError, match=r"^statistic must be wrapped: from_cfunc\(cfunc\)"):
            call([1.0], [2.0], gap_of_means)
    with pytest.raises(InputError, match="^statistic must have the signature .* here"):
        bootstrap([1.0], gap)
    with pytest.raises(InputError, match="^statistic must be wrapped"):
        bootstrap([1.0], first_of_one)
    with pytest.raises(InputError, match="^statistic must be a plain callable when paired"):
        bootstrap([[1.0], [2.0]], gap, paired=True)
    with pytest.raises(InputError, match="^statistic must be a callable of two arrays"):
        permutation_test_2samp([1.0], [2.0], "ks_2samp")
    with pytest.raises(InputError, match="^alternative must be"):
        permutation_test_2samp([1.0], [2.0], gap, alternative="larger")


def test_empty_rows_are_nan_on_request(gap):
    """With empty="nan" rows without values are NaN, and the function never sees them."""
    x, y = RaggedArray([1.0, 2.0], [0, 1, 1, 2]), RaggedArray([3.0, 4.0], [0, 1, 2, 2])
    nothing = [False, True, True]
    assert np.isnan(gap(x, y, empty="nan")).tolist() == nothing
    for call in (bootstrap_2samp, permutation_test_2samp):
        assert np.isnan(call(x, y, gap, empty="nan", n_resamples=5).statistic).tolist() == nothing
    with pytest.raises(InputError, match="must hold observations"):
        gap(x, y)


def test_code_lives_as_long_as_the_statistic():
    """The statistic keeps its machine code when every other reference is gone."""

    def made(shift):
        @numba.cfunc(OF_TWO)
        def local(x, n, y, m):
            return x[0] + shift

        return from_cfunc(local, f"shift {shift}")

    statistics = [made(float(shift)) for shift in range(5)]
    gc.collect()
    assert [one([1.0], [0.0]) for one in statistics] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert repr(statistics[2]) == "CompiledStatistic(name='shift 2.0', n_samples=2)"


def test_pickles_are_refused(gap):
    """Machine code cannot be sent to another process, and the message says what to do."""
    for send in (pickle.dumps, copy.deepcopy):
        with pytest.raises(
            TypeError, match="cannot pickle gap_of_means.*call from_cfunc where it is used"
        ):
            send(gap)


def test_ctrl_c_ends_a_long_loop():
    """Ctrl-C ends the native loop between two calls of the function."""
    program = f"""
import numba, numpy as np, os, signal, threading
from unpredictabench.stats import bootstrap_2samp, from_cfunc
@numba.cfunc({OF_TWO!r})
def slow(x, n, y, m):
    total = 0.0
    for i in range(100_000):
        total += np.sin(x[0] + i)
    return total
statistic = from_cfunc(slow)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    bootstrap_2samp([1.0], [2.0], statistic, n_resamples=1_000_000)
except KeyboardInterrupt:
    print("stopped")
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert done.stdout == b"stopped\n"


def test_numba_is_not_loaded_before_it_is_needed():
    """Importing the statistics, and testing with a Python function, loads no numba."""
    program = (
        "import sys; from unpredictabench.stats import permutation_test_2samp as test;"
        "test([1.0], [2.0], lambda x, y: x[0] - y[0], n_resamples=3);"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
