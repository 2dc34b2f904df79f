"""Statistics compiled by numba: the same numbers as slow ones, in every loop, without surprises."""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import re
import runpy
import subprocess
import sys
import threading
from pathlib import Path

import numba
import numpy as np
import pytest
import scipy.stats

from unpredictabench.errors import InputError
from unpredictabench.stats import (
    PreparedTruth,
    RaggedArray,
    bootstrap,
    bootstrap_2samp,
    cramervonmises_2samp,
    from_cfunc,
    permutation_test_2samp,
    wasserstein_distance,
    wasserstein_test,
)

EXAMPLE = Path(__file__).parents[1] / "examples" / "own_statistic.py"
PAGE = EXAMPLE.parents[1] / "docs" / "own_statistic.md"
OF_TWO = "float64(CPointer(float64), intp, CPointer(float64), intp)"
OF_ONE = "float64(CPointer(float64), intp)"
RNG = np.random.default_rng(31)


@numba.cfunc(OF_TWO)
def _gap(x, n, y, m):
    """Difference of the means."""
    return numba.carray(x, n).mean() - numba.carray(y, m).mean()


@numba.cfunc(OF_TWO)
def _disorder(x, n, y, m):
    """Count what the contract excludes: steps down, and zeros with a sign."""
    a, b = numba.carray(x, n), numba.carray(y, m)
    bad = (a[1:] < a[:-1]).sum() + (b[1:] < b[:-1]).sum()
    return float(bad + np.signbit(a[a == 0]).sum() + np.signbit(b[b == 0]).sum())


@numba.cfunc(OF_ONE)
def _first(x, n):
    """Give the smallest observation."""
    return x[0]


@numba.cfunc(OF_ONE)
def _mean(x, n):
    """Give the mean."""
    return numba.carray(x, n).mean()


@pytest.fixture(scope="module")
def example():
    """Run the example as a module."""
    return runpy.run_path(str(EXAMPLE))


@pytest.fixture(scope="module")
def gap():
    """Make the difference of means."""
    return from_cfunc(_gap)


def tied(size):
    """Draw values with ties and zeros of both signs."""
    return RNG.integers(-3, 4, size) * RNG.choice([-1.0, 1.0], size)


@pytest.mark.parametrize("draw", [RNG.normal, tied])
def test_example_is_scipys_cramer_von_mises(example, draw):
    """The example's Cramer-von Mises statistic is SciPy's, with and without ties."""
    statistic = from_cfunc(example["cramervonmises"])
    for n, m in [(2, 2), (3, 8), (40, 40), (100, 17)]:
        x, y = draw(size=n), draw(size=m)
        want = scipy.stats.cramervonmises_2samp(x, y, method="asymptotic").statistic
        assert statistic(x, y) == pytest.approx(want, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("trim", [0.0, 0.1, 0.25])
def test_example_trims_wasserstein(example, trim):
    """The trimmed distance is the mean of |Qx - Qy| between its levels; untrimmed it is W1."""
    statistic = from_cfunc(example["trimmed_wasserstein"](trim))
    for n, m in [(1, 1), (4, 10), (37, 40), (100, 250)]:
        x, y = RNG.normal(size=n), tied(m)
        levels = np.concatenate([np.arange(n + 1) / n, np.arange(m + 1) / m, [trim, 1 - trim]])
        levels = np.unique(levels[(levels >= trim) & (levels <= 1 - trim)])
        middles = (levels[1:] + levels[:-1]) / 2
        quantiles = [np.quantile(v, middles, method="inverted_cdf") for v in (x, y)]
        want = np.diff(levels) @ np.abs(quantiles[0] - quantiles[1]) / (1 - 2 * trim)
        assert statistic(x, y) == pytest.approx(want, rel=1e-12)
        if trim == 0.0:
            assert statistic(x, y) == pytest.approx(wasserstein_distance(x, y), rel=1e-12)


def test_example_runs(example, capsys):
    """The example finds the shifted sample and not the others."""
    example["main"]()
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["cramervonmises", "trimmed W1"]
    assert all(float(lines[i].split()[2]) < 0.01 for i in (3, 7))
    assert all(float(lines[i].split()[2]) > 0.01 for i in (1, 2, 5, 6))


def test_batches_are_single_calls(gap):
    """A row of a batch, ragged or not, with one truth or its own, is a single call."""
    x, y = RNG.normal(size=(50, 7)), RNG.normal(size=90)
    want = [gap(row, y) for row in x]
    assert want[0] == pytest.approx(x[0].mean() - y.mean(), rel=1e-12)
    for truth in (y, PreparedTruth(y)):
        for workers in (1, 2, None):
            np.testing.assert_array_equal(gap(x, truth, workers=workers), want)
    ragged = RaggedArray.from_rows([x[0, :2], x[1], x[2, :5]])
    own = RaggedArray.from_rows([y[:3], y, y[4:9]])
    singles = [gap(x[0, :2], y[:3]), gap(x[1], y), gap(x[2, :5], y[4:9])]
    np.testing.assert_array_equal(gap(ragged, own), singles)
    assert gap(np.empty((0, 3)), y).shape == (0,)


def test_statistics_of_one_sample():
    """A statistic of one sample is called without a truth, on one sample or many."""
    first = from_cfunc(_first, "smallest")
    assert first([3.0, 1.0, 2.0]) == 1.0
    np.testing.assert_array_equal(first([[3, 1], [5, 9]]), [1.0, 5.0])
    found = first(RaggedArray([1.0], [0, 0, 1]), empty="nan")
    assert np.isnan(found[0])
    assert found[1] == 1.0


def test_samples_come_in_order_everywhere():
    """In every loop the function gets ascending values, and zeros without a sign."""
    disorder = from_cfunc(_disorder)
    x, y = np.stack([tied(9), tied(9)]), tied(30)
    own = np.stack([y, y[::-1]])
    assert not np.any(disorder(x, y))
    assert not np.any(disorder(x, own))
    for truth in (y, own, y[:5]):
        for resample in ("x", "both"):
            found = bootstrap_2samp(x, truth, disorder, resample=resample, n_resamples=50)
            assert not found.bootstrap_distribution.any()
        assert not permutation_test_2samp(
            x, truth, disorder, n_resamples=50
        ).null_distribution.any()


@pytest.mark.parametrize("resample", ["x", "both"])
def test_native_and_python_bootstraps_agree(gap, resample):
    """The compiled loop and a Python function in the slow loop have one distribution."""
    x, y = RNG.normal(size=20), RNG.normal(size=60)
    fast = bootstrap_2samp(x, y, gap, resample=resample, n_resamples=4000)
    slow = bootstrap_2samp(x, y, lambda x, y: x.mean() - y.mean(), resample=resample,
                           n_resamples=4000)  # fmt: skip
    assert fast.statistic == pytest.approx(slow.statistic, rel=1e-12)
    both = (fast.bootstrap_distribution, slow.bootstrap_distribution)
    assert scipy.stats.ks_2samp(*both).pvalue > 1e-4


def test_compiled_wasserstein_has_the_replicates_of_the_named_one(example):
    """The same streams are drawn: replicates of a compiled W1 are those of the named distance."""
    x, y = RNG.normal(size=(2, 30)), RNG.normal(size=200)
    own = from_cfunc(example["trimmed_wasserstein"](0.0))
    for resample in ("x", "both"):
        mine, named = (
            bootstrap_2samp(x, y, statistic, resample=resample, n_resamples=40)
            for statistic in (own, "wasserstein_distance")
        )
        np.testing.assert_allclose(
            mine.bootstrap_distribution, named.bootstrap_distribution, rtol=1e-10
        )


def test_permutations_have_exact_moments(example):
    """Permuted values of a compiled W1 have the exact null mean and deviation."""
    x, y = RNG.normal(size=15), RNG.normal(size=40)
    own = from_cfunc(example["trimmed_wasserstein"](0.0))
    exact = wasserstein_test(x, y)
    for pair in ((x, y), (y, x)):
        null = permutation_test_2samp(*pair, own, n_resamples=4000).null_distribution
        assert abs(null.mean() - exact.null_mean) < 5 * exact.null_std / 4000**0.5
        assert null.std() == pytest.approx(exact.null_std, rel=0.1)


def test_permutation_pvalues_are_those_of_all_labelings(example):
    """The p-value estimates the share of all labelings, which the exact test counts."""
    x, y = tied(4), tied(7)
    exact = cramervonmises_2samp(x, y).pvalue
    own = from_cfunc(example["cramervonmises"])
    found = permutation_test_2samp(x, y, own, n_resamples=20_000)
    assert found.pvalue == pytest.approx(exact, abs=5 * (exact * (1 - exact) / 20_000) ** 0.5)
    slow = permutation_test_2samp(x, y, own.__call__, n_resamples=2_000)
    assert slow.pvalue == pytest.approx(exact, abs=5 * (exact * (1 - exact) / 2_000) ** 0.5)


def test_alternatives_of_the_permutation_test(gap):
    """Greater and less mirror each other, two-sided is twice the smaller, and no p is 0."""
    x, y = np.arange(10.0) + 50, np.arange(12.0)
    p = {
        alternative: permutation_test_2samp(
            x, y, gap, alternative=alternative, n_resamples=99
        ).pvalue
        for alternative in ("greater", "less", "two-sided")
    }
    assert p == {"greater": 0.01, "less": 1.0, "two-sided": 0.02}
    assert permutation_test_2samp(x[:1], x[:1], gap, n_resamples=9).pvalue == 1.0


def test_permutation_pvalues_are_calibrated(gap):
    """Under the null p is uniform on its steps."""
    x, y = RNG.normal(size=(2000, 6)), RNG.normal(size=(2000, 9))
    p = permutation_test_2samp(x, y, gap, n_resamples=19).pvalue
    counts = np.bincount(np.rint(20 * p).astype(int) - 1, minlength=20)
    assert scipy.stats.chisquare(counts).pvalue > 1e-4


def test_results_do_not_depend_on_threads_or_rows(gap):
    """A row has the same replicates and permutations alone, in a batch, on any threads."""
    x, y = RNG.normal(size=(3, 8)), RNG.normal(size=(3, 20))
    for call in (bootstrap_2samp, permutation_test_2samp):
        name = "bootstrap_distribution" if call is bootstrap_2samp else "null_distribution"
        all_ = [getattr(call(x, y, gap, n_resamples=70, workers=w), name) for w in (1, 2, 5)]
        np.testing.assert_array_equal(all_[0], all_[1])
        np.testing.assert_array_equal(all_[0], all_[2])
        alone = getattr(call(x[0], y[0], gap, n_resamples=70), name)
        np.testing.assert_array_equal(all_[0][0], alone)


def test_bootstrap_of_one_sample():
    """The compiled mean has the interval of the built-in mean, also in clusters."""
    data, clusters = RNG.normal(size=60), np.arange(60) % 20
    mean = from_cfunc(_mean)
    for labels in (None, clusters, ["a"] * 60):
        mine, named = (
            bootstrap(data, statistic, clusters=labels, n_resamples=20_000)
            for statistic in (mean, "mean")
        )
        assert mine.statistic == pytest.approx(named.statistic)
        assert mine.method == named.method
        assert mine.standard_error == pytest.approx(named.standard_error, rel=0.05, abs=1e-12)
        ends = [(r.confidence_interval.low, r.confidence_interval.high) for r in (mine, named)]
        assert ends[0] == pytest.approx(ends[1], abs=0.03)
    again = bootstrap(data, mean, n_resamples=20_000, rng=3).bootstrap_distribution
    same = bootstrap(data, mean, n_resamples=20_000, rng=3).bootstrap_distribution
    np.testing.assert_array_equal(again, same)


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
    x, y = RNG.normal(size=(200, 20)), RNG.normal(size=50)
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
        (_gap.ctypes, "CFunctionType"),
        (_gap.address, r"\d+"),
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
    first = from_cfunc(_first)
    for wrong in ("", 3):
        with pytest.raises(InputError, match="^name must be a name"):
            from_cfunc(_gap, wrong)
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
            call([1.0], [2.0], _gap)
    with pytest.raises(InputError, match="^statistic must have the signature .* here"):
        bootstrap([1.0], gap)
    with pytest.raises(InputError, match="^statistic must be wrapped"):
        bootstrap([1.0], _first)
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
        with pytest.raises(TypeError, match="cannot pickle _gap.*call from_cfunc where it is used"):
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


def test_the_page_is_true(capsys):
    """The examples of the docs run and tell a narrow sample from its truth."""
    text, names = PAGE.read_text(encoding="utf-8"), {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, names)
    assert names["test"].pvalue == 0.002
    assert names["spread"].confidence_interval.high < 0
    assert capsys.readouterr().out.startswith("0.002 Interval(")
