"""KS@N: subset averages against all subsets, verdicts on whole pools, bands, N*."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_onesample import AtomAtZero, StepLaw, jackknife, pass_share
from unpredictabench.errors import InputError
from unpredictabench.stats import (
    PreparedTruth,
    RaggedArray,
    half_life,
    ks_1samp,
    ks_2samp,
    ks_at_n,
)


def uniform(u):
    """Return the cdf of the uniform law on [0, 1]."""
    return np.clip(u, 0.0, 1.0)


LAWS = {"continuous": uniform, "discrete": StepLaw(3, 2, 1), "mixed": AtomAtZero()}


def law_passes(law, alpha):
    """Return the verdict of the test on a list of slots, None for an invalid one."""

    @functools.cache
    def verdict(valid, lost):
        return ks_1samp(np.array(valid), law, n_invalid=lost).pvalue > alpha

    def passes(slots):
        valid = tuple(sorted(slot for slot in slots if slot is not None))
        return verdict(valid, len(slots) - len(valid))

    return passes


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@given(st.data())
@settings(max_examples=12, deadline=None)
def test_against_a_law_the_share_is_that_of_all_subsets(law, data):
    """Each subset is tested by `ks_1samp`; rate and jackknife error agree with the programme's."""
    values = st.sampled_from([0.0, 0.0, 0.25, 0.5, 0.9, 1.0, 2.0])
    slots = data.draw(st.lists(st.none() | values, min_size=2, max_size=7))
    pool = np.array([slot for slot in slots if slot is not None])
    lost = len(slots) - pool.size
    sizes = np.arange(1, len(slots) + 1)
    got = ks_at_n(pool, law, sizes, alpha=0.23, n_invalid=lost)
    passes = law_passes(law, 0.23)
    for n, rate, error in zip(sizes, got.pass_rate, got.standard_error, strict=True):
        assert rate == pytest.approx(pass_share(slots, n, passes), abs=1e-12)
        if n < len(slots):
            assert error == pytest.approx(jackknife(slots, n, passes), abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9, unique=True), st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_against_an_untied_truth_the_share_is_that_of_all_subsets(pool, seed):
    """Each subset is tested by `ks_2samp`, whose null has a fixed band as nothing is tied."""
    truth = np.random.default_rng(seed).random(60) + 1e-9
    got = ks_at_n(pool, truth, np.arange(1, len(pool) + 1), alpha=0.1)
    assert got.method == "two-sample"
    for n, rate in zip(got.n, got.pass_rate, strict=True):
        want = pass_share(pool, n, lambda subset: ks_2samp(subset, truth).pvalue > 0.1)
        assert rate == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("truth", [uniform, "sample", "tied"])
def test_the_whole_pool_has_the_verdict_of_the_test(truth):
    """At N = M the rate is 1 or 0, as the test says, with every band and invalid answers."""
    rng = np.random.default_rng(4)
    if truth == "sample":
        truth = rng.random(500)
    elif truth == "tied":
        truth = np.round(rng.random(500), 1)
    test = ks_1samp if callable(truth) else ks_2samp
    verdicts = set()
    for m in (5, 20, 40):
        for scale in (1.0, 0.8, 0.5):
            for lost in (0, 3):
                pool = np.round(rng.random(m) * scale, 2)
                whole = ks_at_n(pool, truth, m + lost, alpha=0.05, n_invalid=lost)
                p = test(pool, truth, n_invalid=lost).pvalue
                assert whole.pass_rate == float(p > 0.05)
                assert whole.standard_error is None
                assert whole.reason == "needs n < the number of answers"
                verdicts.add(whole.pass_rate)
    assert verdicts == {0.0, 1.0}


def test_a_band_around_a_law_is_its_exact_step():
    """Just below the band the tail exceeds alpha; the next attained distance does not."""
    for law in LAWS.values():
        for n in (3, 10, 37):
            critical = ks_at_n(np.zeros(n), law, n, alpha=0.01).critical_value
            rng = np.random.default_rng(n)
            x = np.array([0.0, 0.3, 1.0, 2.0])[rng.integers(0, 4, (300, n))]
            x[:100] = x[:100].clip(0, 1)
            rows = ks_1samp(x, law)
            assert np.array_equal(rows.pvalue > 0.01, rows.statistic < critical)


def test_critical_distances_are_the_published_ones():
    """The critical D at alpha = 1e-4 against 10,000 draws, and the facts about trivial samplers."""
    truth = (np.arange(10_000) + 0.5) / 10_000
    sizes = [2, 5, 10, 20, 50, 100, 200, 500, 1000]
    found = ks_at_n(np.zeros(1000), truth, sizes).critical_value
    want = [0.993, 0.862, 0.655, 0.479, 0.310, 0.221, 0.158, 0.102, 0.074]
    assert found == pytest.approx(want, abs=7e-4)
    law = ks_at_n(np.zeros(1), uniform, [18, 19, 175, 176]).critical_value
    assert law[0] > 1 / 2 >= law[1]
    assert law[2] > 1 / 6 >= law[3]
    pair = ks_at_n(np.zeros(1), truth, [76, 78]).critical_value
    assert pair[0] > 1 / 4 >= pair[1]


def test_a_k_point_sampler_passes_as_often_as_published():
    """Three points pass a continuous task at N = 100 with probability .54, two never."""
    rng = np.random.default_rng(11)
    for k, want in ((2, 0.0), (3, 0.54), (4, 0.91)):
        x = (2 * rng.integers(0, k, (4_000, 100)) + 1) / (2 * k)
        rate = np.mean(ks_1samp(x, uniform).pvalue > 1e-4)
        assert abs(rate - want) < 0.005 + 4 * math.sqrt(0.25 / 4_000)


def test_invalid_answers_never_help():
    """Replacing answers of a perfect pool by invalid ones lowers every rate."""
    pool = (np.arange(100) + 0.5) / 100
    rates = [
        ks_at_n(pool[lost:] if lost else pool, uniform, [20, 50], n_invalid=lost).pass_rate
        for lost in (0, 10, 25, 50)
    ]
    assert all((a >= b).all() for a, b in itertools.pairwise(rates))
    assert rates[-1][-1] < 0.01


def test_the_estimate_is_unbiased():
    """Averaged over pools of 12 the rate at N = 6 is the rate of fresh samples of six."""
    rng = np.random.default_rng(3)
    pools, fresh = rng.random((3_000, 12)) ** 1.6, rng.random((40_000, 6)) ** 1.6
    got = ks_at_n(pools, uniform, 6, alpha=0.1)
    want = np.mean(ks_1samp(fresh, uniform).pvalue > 0.1)
    spread = np.std(got.pass_rate) / math.sqrt(3_000) + 0.5 / math.sqrt(40_000)
    assert abs(np.mean(got.pass_rate) - want) < 4 * spread


def test_the_standard_error_is_about_right():
    """The mean squared standard error is near the variance of the rate over pools."""
    pools = np.random.default_rng(9).random((2_000, 40)) ** 1.5
    got = ks_at_n(pools, uniform, 10, alpha=0.1)
    ratio = np.mean(got.standard_error**2) / np.var(got.pass_rate)
    assert 0.8 < ratio < 1.4


def test_order_and_threads_change_nothing():
    """Shuffled pools, batches and any number of threads give the same bits."""
    rng = np.random.default_rng(6)
    pools, truth = rng.random((40, 30)), PreparedTruth(rng.random(400))
    for target in (uniform, truth):
        one = ks_at_n(pools, target, [5, 15], workers=1)
        two = ks_at_n(rng.permuted(pools, axis=1), target, [5, 15], workers=2)
        assert np.array_equal(one.pass_rate, two.pass_rate)
        alone = ks_at_n(pools[7], target, 5)
        assert alone.pass_rate == one.pass_rate[7, 0]


def test_rows_may_have_their_own_lengths_laws_and_truths():
    """Ragged pools with one law or truth a row equal their single calls; too short ones say so."""
    rows = [np.array([0.1, 0.5, 0.9]), np.array([0.2] * 8)]
    pools = RaggedArray.from_rows(rows)
    by_law = ks_at_n(pools, [uniform, AtomAtZero()], [2, 5], alpha=0.1)
    assert by_law.pass_rate[1, 0] == ks_at_n(rows[1], AtomAtZero(), 2, alpha=0.1).pass_rate
    assert np.isnan(by_law.pass_rate[0, 1])
    assert by_law.reason[0].tolist() == [
        "unreliable: n is more than half of the answers",
        "needs at least n answers",
    ]
    truths = RaggedArray.from_rows([np.arange(50) / 50, np.arange(20) // 10])
    by_truth = ks_at_n(pools, truths, [2], alpha=0.1)
    assert by_truth.method == "fixed_band"
    assert by_truth.pass_rate[0, 0] == ks_at_n(rows[0], np.arange(50) / 50, 2, alpha=0.1).pass_rate


def test_the_first_answers_are_one_subset():
    """The first-N estimator is the verdict on the first N slots, 0 or 1, without an error."""
    x = np.concatenate([np.full(30, 0.5), np.linspace(0, 1, 70)])
    got = ks_at_n(x, uniform, [10, 30, 100, 101], estimator="first")
    assert got.pass_rate[:3].tolist() == [1.0, 0.0, 1.0]
    assert np.isnan(got.standard_error).all()
    assert np.isnan(got.pass_rate[3])
    lost = ks_at_n(x, uniform, [10, 30], estimator="first", n_invalid=[0, 10])
    want = ks_1samp(x[:20], uniform, n_invalid=10).pvalue > 1e-4
    assert lost.pass_rate.tolist() == [1.0, float(want)]


def test_a_constant_at_the_median_lives_for_eighteen_answers():
    """N* of a constant is where its distance of 1/2 becomes critical, and known without error."""
    found = half_life(np.full(60, 0.5), uniform)
    assert (found.n_star, found.is_censored) == (18, False)
    assert (found.confidence_interval.low, found.confidence_interval.high) == (18, 18)


def test_a_perfect_pool_is_censored():
    """A pool that always passes says only that N* is at least its size."""
    found = half_life((np.arange(50) + 0.5) / 50, uniform)
    assert (found.n_star, found.is_censored) == (50, True)
    assert math.isinf(found.confidence_interval.high)


def test_half_lives_of_a_batch():
    """A batch has the half-lives of its rows; a pool of invalid answers has none."""
    rows = RaggedArray.from_rows([np.full(40, 0.5), np.array([]), np.linspace(0, 1, 90) ** 3])
    found = half_life(rows, uniform, n_invalid=[0, 12, 0])
    assert found.n_star.tolist()[:2] == [18, 0]
    assert found.n_star[2] == half_life(np.linspace(0, 1, 90) ** 3, uniform).n_star
    interval = found.confidence_interval
    assert (interval.low <= found.n_star).all()
    assert (interval.high >= found.n_star).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n must be integers from 1 to 10000"),
        ({"n": 2.5}, "n must be integers"),
        ({"n": 2, "alpha": 0.0}, "alpha must lie"),
        ({"n": 2, "estimator": "all"}, "estimator must be"),
        ({"n": 2, "n_invalid": -1}, "n_invalid must be integers from 0"),
    ],
)
def test_bad_input_is_refused(options, message):
    """The message names the argument, the rule and the value."""
    with pytest.raises(InputError, match=message):
        ks_at_n([0.5, 0.6], uniform, options.pop("n"), **options)


def test_pools_without_answers_are_nan_on_request():
    """Without any answer, valid or not, a pool is an error, or NaN on request."""
    rows = RaggedArray([0.2, 0.5], [0, 0, 2])
    for estimator in ("subsets", "first"):
        found = ks_at_n(rows, uniform, [1], estimator=estimator, empty="nan")
        assert np.isnan(found.pass_rate[:, 0]).tolist() == [True, False]
        with pytest.raises(InputError, match="x must hold observations .* 'none in row 0"):
            ks_at_n(rows, uniform, [1], estimator=estimator)
    assert ks_at_n([], uniform, 2, n_invalid=2).pass_rate == 0.0
    unseen = half_life(rows, uniform, empty="nan")
    assert (unseen.n_star[0], unseen.is_censored[0]) == (0, True)
    with pytest.raises(InputError, match="x must hold observations"):
        half_life([], uniform)


def test_empty_truths_are_nan_on_request():
    """A pool beside no draws has no pass rate, even where the whole pool is tested."""
    truths = RaggedArray(np.arange(50) / 50, [0, 50, 50])
    pools = np.full((2, 2), 0.5)
    for estimator in ("subsets", "first"):
        found = ks_at_n(pools, truths, [1, 2], estimator=estimator, empty="nan")
        assert np.isnan(found.pass_rate).tolist() == [[False, False], [True, True]]
        assert found.reason[1].tolist() == ["no draws to compare with"] * 2
        with pytest.raises(InputError, match="y must hold observations .* 'none in row 1"):
            ks_at_n(pools, truths, [1], estimator=estimator)
    unknown = half_life(pools, truths, empty="nan")
    assert (unknown.n_star[1], unknown.is_censored[1]) == (0, True)
    assert (unknown.confidence_interval.low[1], unknown.confidence_interval.high[1]) == (0, np.inf)
