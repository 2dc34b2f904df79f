"""The two-sample Kolmogorov-Smirnov test: exact values, laws, and right values from elsewhere."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from unpredictabench import _native
from unpredictabench.errors import InputError
from unpredictabench.stats import PreparedTruth, RaggedArray, ks_2samp

GOLDEN = Path(__file__).parent / "golden"
VECTORS = json.loads((GOLDEN / "vectors.json").read_text())
ORACLE = json.loads((GOLDEN / "ks_oracle.json").read_text())

nasty = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 2.0, 5e-324, -5e-324, 1e16, 1e16 + 2, math.inf, -math.inf]),
    st.integers(-3, 3).map(float),
    st.floats(allow_nan=False),
)
samples = st.lists(nasty, min_size=1, max_size=9)
alternatives = st.sampled_from(["two-sided", "less", "greater"])
invalid = st.integers(0, 3)


def assert_equal_results(a, b):
    """Assert that two results agree bit for bit."""
    for field in ("statistic", "pvalue", "log_pvalue", "statistic_location", "statistic_sign"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field))


@given(samples, samples, alternatives, invalid)
@settings(max_examples=300, deadline=None)
def test_result_equals_the_definition(x, y, alternative, n_invalid):
    """Statistic, place, sign and p-value equal the definition in rational numbers."""
    h, location, sign, blocks = reference.ks_integer(x, y, alternative, n_invalid)
    right = reference.ks_pvalue(blocks, h, alternative)
    for truth in (y, PreparedTruth(y)):
        found = ks_2samp(x, truth, alternative=alternative, n_invalid=n_invalid)
        assert found.statistic == h / ((len(x) + n_invalid) * len(y))
        assert (found.statistic_location, found.statistic_sign) == (location, sign)
        assert found.pvalue == pytest.approx(float(right), rel=1e-12)
        assert found.method == "exact"


@given(samples, samples, alternatives)
@settings(deadline=None)
def test_swapping_the_samples_swaps_the_sides(x, y, alternative):
    """The test of y against x with the other alternative has the same statistic and p-value."""
    other = {"two-sided": "two-sided", "less": "greater", "greater": "less"}[alternative]
    a, b = ks_2samp(x, y, alternative=alternative), ks_2samp(y, x, alternative=other)
    assert a.statistic == b.statistic
    assert a.pvalue == pytest.approx(b.pvalue, rel=1e-12)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=20), st.integers(0, 2**31))
@settings(deadline=None)
def test_increasing_maps_change_nothing(x, seed):
    """Only the order of the values counts."""
    y = np.random.default_rng(seed).integers(-9, 9, size=30)
    a = ks_2samp(x, y)
    b = ks_2samp(np.exp(np.array(x) / 3.0), np.exp(y / 3.0))
    assert (a.statistic, a.pvalue) == (b.statistic, b.pvalue)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_batch_is_its_rows(data):
    """Each row of a batch equals the single call, whatever its place and the number of threads."""
    rows = data.draw(st.lists(samples, min_size=1, max_size=40))
    y = data.draw(st.lists(nasty, min_size=1, max_size=60))
    batch = RaggedArray.from_rows(rows)
    found = ks_2samp(batch, y, workers=2)
    for i, row in enumerate(rows):
        one = ks_2samp(row, y)
        assert one.statistic == found.statistic[i]
        assert (one.pvalue, one.log_pvalue) == (found.pvalue[i], found.log_pvalue[i])
        assert one.statistic_location == found.statistic_location[i]
    backward = ks_2samp(RaggedArray.from_rows(rows[::-1]), y, workers=1)
    np.testing.assert_array_equal(backward.pvalue[::-1], found.pvalue)


@pytest.mark.parametrize("y", ["shared", "one a row"])
def test_results_do_not_depend_on_threads(y):
    """One, two and seven threads give the same bits."""
    rng = np.random.default_rng(5)
    x = np.round(rng.normal(size=(700, 20)), 1)
    truth = rng.normal(size=500) if y == "shared" else rng.normal(size=(700, 60))
    one, two, seven = (ks_2samp(x, truth, workers=k) for k in (1, 2, 7))
    assert_equal_results(one, two)
    assert_equal_results(one, seven)


@pytest.mark.parametrize("i", range(len(VECTORS["ks_pairs"])))
def test_exact_rational_pvalues(i):
    """Statistic and p-value equal exact path counts to 1e-12 (golden vectors)."""
    case = VECTORS["ks_pairs"][i]
    found = ks_2samp(case["x"], case["y"])
    assert found.statistic == case["h"] / (len(case["x"]) * len(case["y"]))
    assert found.pvalue == pytest.approx(float(case["p"]), rel=1e-12)


@pytest.mark.parametrize("case", ORACLE, ids=lambda case: case["id"])
def test_published_pairs(case):
    """Statistic and exact tied p-value equal those stored for the published pairs."""
    x, y = expand(case["x"]), expand(case["y"])
    found = ks_2samp(x, y)
    assert found.statistic == pytest.approx(case["statistic"], rel=1e-14)
    # The stored values come from logarithms of factorials and are good to about 1e-11.
    assert found.pvalue == pytest.approx(case["pvalue"], rel=1e-10)


def expand(stored):
    """Undo the run lengths of a stored sample: values, and how often each occurs."""
    return np.repeat(np.array(stored["values"], dtype=float), stored["counts"])


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 7), (20, 20), (37, 100), (50, 64), (100, 1000)])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_scipy_without_ties(n, m, alternative):
    """Without ties statistic and p-value equal SciPy's exact test."""
    from scipy import stats

    rng = np.random.default_rng([n, m])
    for shift in (0.0, 0.5):
        x, y = rng.normal(shift, size=n), rng.normal(size=m)
        ours = ks_2samp(x, y, alternative=alternative)
        theirs = stats.ks_2samp(x, y, alternative=alternative, method="exact")
        assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-14, abs=1e-15)
        assert ours.pvalue == pytest.approx(theirs.pvalue, rel=1e-11)


def test_statistic_is_a_multiple_of_one_over_nm():
    """Times n m the statistic is an integer, exactly."""
    rng = np.random.default_rng(3)
    found = ks_2samp(rng.normal(size=(200, 7)), rng.normal(size=11)).statistic * 77
    np.testing.assert_allclose(found, np.round(found), rtol=0, atol=1e-13)


@pytest.mark.parametrize(("n", "m"), [(2, 5), (150, 9000), (400, 700), (900, 1000)])
def test_log_pvalue_of_separated_samples(n, m):
    """Two labelings separate the samples: ln 2 - ln C(n + m, n), far beyond the range of floats."""
    import mpmath

    found = ks_2samp(np.arange(n), np.arange(m) + n)
    right = mpmath.log(2) - mpmath.log(mpmath.binomial(n + m, n))
    assert found.log_pvalue == pytest.approx(float(right), rel=1e-13)
    assert found.pvalue == pytest.approx(math.exp(right), rel=1e-10, abs=1e-300)


def test_log_pvalue_beyond_floats_is_exact():
    """A p-value of 1e-431 has the logarithm of its rational value."""
    import mpmath

    x, y = np.arange(800) * 1.0, np.arange(790) + 700.5
    h, _, _, blocks = reference.ks_integer(list(x[::4]), list(y[::5]))
    right = reference.ks_pvalue(blocks, h)
    found = ks_2samp(x[::4], y[::5])
    with mpmath.workdps(40):
        log = mpmath.log(mpmath.mpf(right.numerator)) - mpmath.log(mpmath.mpf(right.denominator))
    assert found.log_pvalue == pytest.approx(float(log), rel=1e-13)


def test_invalid_answers_can_only_hurt():
    """The statistic grows with every valid answer that becomes invalid."""
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=50), rng.normal(size=1000)
    found = [ks_2samp(x[: 50 - w], y, n_invalid=w) for w in range(0, 51, 10)]
    assert found[-1].statistic == 1.0
    assert found[-1].pvalue < 1e-60
    assert [r.statistic for r in found[1:]] == sorted(r.statistic for r in found[1:])
    assert all(r.statistic >= w / 50 for r, w in zip(found, range(0, 51, 10), strict=True))


def test_invalid_counts_one_a_row():
    """A batch takes one count of invalid answers a row, and rows without a valid one."""
    x = RaggedArray([0.1, 0.5, 0.9], [0, 3, 3])
    y = np.linspace(0, 1, 20)
    found = ks_2samp(x, y, n_invalid=[1, 4])
    assert found.statistic[1] == 1.0
    assert found.pvalue[0] == ks_2samp([0.1, 0.5, 0.9], y, n_invalid=1).pvalue
    with pytest.raises(InputError, match="n_invalid must be one number or one a row"):
        ks_2samp(x, y, n_invalid=[1, 2, 3])
    with pytest.raises(InputError, match="n_invalid must be an integer from 0"):
        ks_2samp(x, y, n_invalid=-1)


def test_methods_say_what_they_did():
    """The limit law is used on request or beyond the documented size, and the result says so."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=200), rng.normal(size=300)
    exact, limit = ks_2samp(x, y), ks_2samp(x, y, method="asymp")
    assert (exact.method, limit.method) == ("exact", "asymp")
    assert limit.pvalue == pytest.approx(exact.pvalue, rel=0.1)
    large = ks_2samp(rng.normal(size=300_000), rng.normal(size=310_000) + 0.1)
    assert large.method == "asymp"
    assert ks_2samp(np.tile(x, (2, 1)), y).method.tolist() == ["exact", "exact"]


@pytest.mark.parametrize(
    ("option", "value"), [("alternative", "both"), ("method", "exakt"), ("empty", "skip")]
)
def test_unknown_options_are_refused(option, value):
    """An option that does not exist is an error that lists those that do."""
    with pytest.raises(ValueError, match=f"{option} must be"):
        ks_2samp([1.0], [2.0], **{option: value})


def test_critical_value_is_the_smallest_that_rejects():
    """The critical integer has a tail at most alpha, its predecessor has not."""
    h = _native.ks_critical_h(20, 300, 0.01, "two-sided")
    x = np.arange(20.0)
    assert 0 < h < 20 * 300
    assert _native.ks_critical_h(1, 10_000, 1e-4, "two-sided") == 10_001
    assert x.size == 20


# Cases from public reports, by their names.


def test_case_ks_millions_one_sided():
    """Sizes whose product passes 2^43 keep their exact one-sided p-value."""
    x = np.arange(3_000_000.0)
    sides = {s: ks_2samp(x, x + 1499.5, alternative=s) for s in ("greater", "less")}
    found = max(sides.values(), key=lambda r: r.statistic)
    assert found.statistic == 0.0005
    assert found.pvalue == pytest.approx(0.47236659702538, rel=1e-8)


def test_case_ks_empty():
    """An empty sample is an error, or NaN when that is asked for; never a pass."""
    with pytest.raises(InputError, match="x must hold observations"):
        ks_2samp([], [1.0])
    with pytest.raises(InputError, match="y must hold observations"):
        ks_2samp([1.0], [])
    for found in (ks_2samp([], [1.0], empty="nan"), ks_2samp([1.0], [], empty="nan")):
        assert math.isnan(found.statistic)
        assert math.isnan(found.pvalue)


def test_case_ks_5971_vs_6000_d0_86():
    """Two plainly different samples get a p-value of 0 with a finite logarithm."""
    found = ks_2samp(np.arange(5971) / 5971, np.arange(6000) / 6000 + 0.8564)
    assert found.statistic == pytest.approx(0.8565671021046167, rel=1e-15)
    assert found.pvalue < 1e-300
    assert math.isfinite(found.log_pvalue)
    assert found.log_pvalue < 1.7 - 2 * found.statistic**2 * 5971 * 6000 / 11971


def test_case_ks_statistic_vs_p_mixup():
    """Statistic and p-value are named fields that cannot be unpacked in the wrong order."""
    found = ks_2samp([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(TypeError):
        tuple(found)
    assert (found.statistic, found.pvalue) == (0.0, 1.0)


def test_case_ks_infinity_is_a_value():
    """Infinity ranks above all numbers."""
    y = [3, 6, 7, 8, 9, 3, 2, 1, 4, 4, 5, math.inf]
    found = ks_2samp([1, 2, 3, 4], y)
    assert found.statistic == 0.5
    assert found.pvalue == pytest.approx(0.3252747252747253, rel=1e-12)


def test_case_ks_lcm_overflow():
    """Sizes whose least common multiple passes 2^31 stay exact."""
    found = ks_2samp(np.arange(50_000) / 50_000, np.arange(50_001) / 50_001 + 0.0067)
    assert found.statistic == pytest.approx(0.006719865602687947, rel=1e-15)
    assert found.pvalue == pytest.approx(0.20750792477059, abs=1e-12)
    assert found.method == "exact"


@pytest.mark.parametrize(("n", "right"), [(5, 0.007936507936507936), (3, 0.1)])
def test_case_ks_separated_small(n, right):
    """Tiny separated samples have p = 2 / C(2n, n)."""
    found = ks_2samp(np.arange(n), np.arange(n) + n)
    assert found.statistic == 1.0
    assert found.pvalue == pytest.approx(right, rel=1e-14)


def test_case_ks_one_sided_881_369():
    """A one-sided exact p-value of 1e-17 does not turn into the limit law's."""
    found = ks_2samp(np.arange(881) / 881, np.arange(369) / 369 + 0.27, alternative="greater")
    assert found.statistic == pytest.approx(0.2711349814973746, rel=1e-14)
    assert found.pvalue == pytest.approx(1.22948911594029e-17, rel=1e-12)


def test_case_ks_nan_not_infinity():
    """A NaN is an error that names sample and position, never an infinity."""
    y = [3, 6, 7, 8, 9, 3, 2, 1, 4, 4, 5, math.nan]
    with pytest.raises(InputError, match=r"y must hold no NaN, got .*nan at position 11"):
        ks_2samp([1, 2, 3, 4], y)
    assert ks_2samp([1, 2, 3, 4], y[:-1]).statistic == pytest.approx(5 / 11, rel=1e-15)


def test_case_ks_lattice_rounding():
    """Statistics are compared as integers: float equality would lose ties with the observed one."""
    x = np.repeat([0, 1, 2, 3], [1, 1, 3, 1])
    y = np.repeat([0, 1, 2, 3], [2, 5, 3, 2])
    assert ks_2samp(x, y).pvalue == pytest.approx(0.890917905623788, rel=1e-12)


def test_case_ks_ten_vs_ten_ties():
    """Ties between and within samples are part of the p-value, and the method is named."""
    found = ks_2samp([1, 2, 2, 3, 3, 3, 3, 4, 5, 6], [2, 3, 4, 5, 5, 6, 6, 6, 6, 7])
    assert (found.statistic, found.method) == (0.5, "exact")
    assert found.pvalue == pytest.approx(0.1056961614237156, rel=1e-12)


def test_case_ks_product_over_32_bit():
    """Sizes whose product passes 2^32 keep their exact p-value."""
    found = ks_2samp(np.arange(70_000), np.arange(70_000) + 699.5)
    assert found.statistic == 0.01
    assert found.pvalue == pytest.approx(0.00182364234513348, rel=1e-9)


def test_case_ks_poisson_10000_vs_100():
    """A truth of 10,000 counts against 100: the p-value with ties, on whichever side it stands."""
    rng = np.random.default_rng(1)
    x, y = rng.poisson(3, 10_000), rng.poisson(3, 100)
    for found in (ks_2samp(x, y), ks_2samp(y, x)):
        assert found.statistic == 0.0369
        assert found.pvalue == pytest.approx(0.8414138543289467, rel=1e-12)


@pytest.mark.parametrize(("x", "right"), [([0.9, 1.0, 1.1], 0.2), ([1, 1, 1], 0.1)])
def test_case_ks_within_vs_between_ties(x, right):
    """Ties within one sample count as well as ties between the two."""
    found = ks_2samp(x, [0, 0])
    assert found.statistic == 1.0
    assert found.pvalue == pytest.approx(right, rel=1e-14)
