"""Kolmogorov-Smirnov against a law: laws of the statistic, exact tails, right values."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_onesample import AtomAtZero, StepLaw, ks_tail, statistic
from unpredictabench import stats
from unpredictabench.errors import InputError
from unpredictabench.stats import RaggedArray, ks_1samp, ks_confidence_band
from unpredictabench.stats._bands import inside
from unpredictabench.targets import target_from_spec
from unpredictabench.tasks import load_suite

SIDES = ("two-sided", "greater", "less")


def uniform(u):
    """Return the cdf of the uniform law on [0, 1]."""
    return np.clip(u, 0.0, 1.0)


laws = st.lists(st.integers(1, 6), min_size=1, max_size=4).map(lambda steps: StepLaw(*steps))


@given(laws, st.lists(st.integers(-1, 4), min_size=1, max_size=6), st.sampled_from(SIDES))
@settings(max_examples=60, deadline=None)
def test_discrete_tails_equal_the_enumeration(law, x, side):
    """The tail of a discrete law is the sum over all outcomes, whatever the lattice."""
    result = ks_1samp(np.array(x, dtype=float), law, alternative=side)
    want = ks_tail(law.probabilities, len(x), side, result.statistic)
    assert result.pvalue == pytest.approx(float(want), rel=1e-12, abs=0)
    assert result.method == "exact"


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=8),
    st.integers(0, 4),
    st.sampled_from(SIDES),
    st.sampled_from([StepLaw(1, 2, 3), AtomAtZero()]),
)
@settings(max_examples=100, deadline=None)
def test_the_statistic_equals_its_definition(x, n_invalid, side, law):
    """Both sides of every jump count, and invalid answers stand at the worse end."""
    x = np.round(np.array(x), 1)
    above, below = statistic(x, law.cdf, law.cdf_left, n_invalid)
    want = {"two-sided": max(above, below), "greater": above, "less": below}[side]
    result = ks_1samp(x, law, alternative=side, n_invalid=n_invalid)
    assert result.statistic == pytest.approx(max(want, 0.0), abs=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 50, 100, 140])
def test_continuous_tails_equal_scipy(n):
    """Where SciPy is accurate (n <= 140) the two-sided tail agrees to 1e-12, also far out."""
    from scipy.stats import kstwo

    for z in (0.2, 0.5, 1.0, 1.7, 2.5, 4.0):
        x = np.full(n, min(z / math.sqrt(n), 0.99))  # all at d: D- is d, D+ is 1 - d
        result = ks_1samp(x, uniform)
        d = max(x[0], 1 - x[0])
        assert result.pvalue == pytest.approx(kstwo.sf(d, n), rel=1e-12)
    spread = (np.arange(n) + 0.5) / n
    shifted = np.clip(spread + 0.3, 0, 1)
    result = ks_1samp(shifted, uniform)
    assert result.pvalue == pytest.approx(kstwo.sf(result.statistic, n), rel=1e-12)


def test_tiny_tails_keep_their_relative_accuracy():
    """Tails of 1e-100 and of 1e-246 agree with SciPy's to 1e-12, beyond there is a logarithm."""
    from scipy.stats import kstwo

    for d in (0.9, 0.995):
        result = ks_1samp(np.full(100, d), uniform)
        assert result.pvalue == pytest.approx(kstwo.sf(d, 100), rel=1e-12)
    far = ks_1samp(np.full(1000, 0.999), uniform)
    assert far.pvalue == 0.0
    assert far.log_pvalue == pytest.approx(math.log(2) + 1000 * math.log(0.001), rel=1e-3)


def test_one_sided_tails_equal_scipy():
    """Both one-sided tails are Birnbaum and Tingey's."""
    from scipy.stats import ksone

    x = np.array([0.05, 0.1, 0.3, 0.35, 0.6, 0.61])
    for side in ("greater", "less"):
        result = ks_1samp(x, uniform, alternative=side)
        assert result.pvalue == pytest.approx(ksone.sf(result.statistic, 6), rel=1e-12)


def test_facts_of_the_method():
    """A constant at the median passes at 18 and fails at 19; three even values at 174, not 177."""
    assert ks_1samp(np.full(18, 0.5), uniform).pvalue > 1e-4
    assert ks_1samp(np.full(19, 0.5), uniform).pvalue <= 1e-4
    sextiles = [1 / 6, 1 / 2, 5 / 6]
    assert ks_1samp(np.repeat(sextiles, 58), uniform).pvalue > 1e-4
    assert ks_1samp(np.repeat(sextiles, 59), uniform).pvalue <= 1e-4


@pytest.mark.parametrize("law", [StepLaw(1, 4, 2), AtomAtZero()])
def test_a_law_and_its_two_cdfs_agree(law):
    """A target, and its cdf with its left limit, give the same test."""
    x = np.array([0.0, 0.0, 1.0, 0.25, 2.0, 0.75])
    by_target = ks_1samp(x, law)
    by_cdf = ks_1samp(x, law.cdf, cdf_left=law.cdf_left)
    assert by_target.pvalue == pytest.approx(by_cdf.pvalue, rel=1e-12)
    assert by_target.statistic == by_cdf.statistic


def test_mixed_tails_follow_the_law():
    """Among samples drawn from a mixed law a share p has a statistic as large."""
    law = AtomAtZero()
    x = np.array([0.0] * 6 + [0.2, 0.3])
    observed = ks_1samp(x, law)
    drawn = ks_1samp(law.ppf(np.random.default_rng(5).random((20_000, 8))), law)
    share = np.mean(drawn.statistic >= observed.statistic - 1e-12)
    error = math.sqrt(observed.pvalue * (1 - observed.pvalue) / 20_000)
    assert abs(share - observed.pvalue) < 4 * error
    # An atom hides levels: the distance is a supremum over fewer of them.
    from scipy.stats import kstwo

    assert observed.pvalue < kstwo.sf(observed.statistic, 8)


def test_p_is_uniform_under_the_null():
    """Under a continuous null a share of about alpha of all samples has p below alpha."""
    rows = ks_1samp(np.random.default_rng(2).random((20_000, 12)), uniform)
    for alpha in (0.01, 0.1, 0.5):
        error = math.sqrt(alpha * (1 - alpha) / 20_000)
        assert abs(np.mean(rows.pvalue <= alpha) - alpha) < 4 * error


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=9), min_size=1, max_size=6))
@settings(max_examples=30, deadline=None)
def test_rows_equal_single_calls(rows):
    """A row of a batch has the result of its single call, for one law and for one a row."""
    law = AtomAtZero()
    for target in (law, [law] * len(rows), uniform):
        batch = ks_1samp(RaggedArray.from_rows(rows), target, workers=2)
        for i, row in enumerate(rows):
            single = ks_1samp(np.array(row), law if target != uniform else uniform)
            assert (batch.statistic[i], batch.pvalue[i], batch.statistic_location[i]) == (
                single.statistic,
                single.pvalue,
                single.statistic_location,
            )


def test_increasing_maps_change_nothing():
    """The test of exp(x) against the mapped law is the test of x."""
    x = np.array([-1.0, 0.3, 0.4, 2.0])
    from scipy.special import ndtr

    mapped = ks_1samp(np.exp(x), lambda v: ndtr(np.log(v)))
    assert mapped.pvalue == pytest.approx(ks_1samp(x, ndtr).pvalue, rel=1e-9)


def test_location_and_sign_say_where():
    """The first place at which the distance is attained, and the side of the sample's cdf."""
    low = ks_1samp([0.1, 0.1, 0.1], uniform)
    high = ks_1samp([0.8, 0.9], uniform)
    assert (low.statistic_location, low.statistic_sign) == (0.1, 1)
    assert (high.statistic_location, high.statistic_sign) == (0.8, -1)
    lost = ks_1samp([0.5], uniform, n_invalid=9)
    assert (lost.statistic, lost.statistic_location) == (0.9, -math.inf)


def test_many_observations_fall_back_and_say_so():
    """Beyond 10,000 observations the limit law is used and named; it is close to the exact one."""
    x = (np.arange(10_001) + 0.5) / 10_001 * 0.98
    result = ks_1samp(x, uniform)
    exact = ks_1samp(x[1:], uniform)
    assert (result.method, exact.method) == ("asymp", "exact")
    assert result.pvalue == pytest.approx(exact.pvalue, rel=0.01)


def test_an_observation_off_the_support_is_certain_evidence():
    """An observation beyond a bounded support is counted like any other."""
    assert ks_1samp([2.0], uniform).statistic == 1.0
    assert ks_1samp([2.0], uniform).pvalue == 0.0
    assert ks_1samp([7.0], StepLaw(1, 1)).pvalue == 0.0


def test_a_point_mass_is_right_or_wrong():
    """Against a point mass the right constant has p = 1 and anything else p = 0."""
    assert ks_1samp([0.0, 0.0], StepLaw(1)).pvalue == 1.0
    assert ks_1samp([0.0, 1.0], StepLaw(1)).pvalue == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": [np.nan], "target": uniform}, "x must hold no NaN"),
        ({"x": [], "target": uniform}, "x must hold observations"),
        ({"x": [0.5], "target": 3.0}, "target must be a law on the line"),
        ({"x": [0.5], "target": lambda x: x + 1}, "target must have a cdf within"),
        ({"x": [0.5], "target": [uniform]}, "target must be one law"),
        ({"x": [[0.5], [0.5]], "target": [uniform]}, "target must be one law, or one a row"),
        ({"x": [0.5], "target": uniform, "n_invalid": -1}, "n_invalid must be integers from 0"),
        ({"x": [0.5], "target": uniform, "alternative": "above"}, "alternative must be"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    """The message names the argument, the rule and the value."""
    x, target = arguments.pop("x"), arguments.pop("target")
    with pytest.raises(ValueError, match=message):
        ks_1samp(x, target, **arguments)


def test_a_row_without_answers_is_undefined_on_request():
    """With empty="nan" a row without any answer is NaN, and the others stand."""
    rows = ks_1samp(RaggedArray([0.5], [0, 0, 1]), uniform, empty="nan")
    assert np.isnan(rows.pvalue[0])
    assert rows.pvalue[1] == 1.0


def test_the_confidence_band_covers_and_never_leaves_the_unit_interval():
    """The DKW interval holds the true distance at least as often as it says."""
    rng = np.random.default_rng(8)
    x = np.sqrt(rng.random((2_000, 30)))  # sup |u^2 - u| = 1/4
    band = ks_confidence_band(x, uniform, confidence_level=0.9)
    assert np.mean((band.low <= 0.25) & (band.high >= 0.25)) >= 0.9
    assert band.low.min() >= 0
    assert band.high.max() <= 1
    assert band.distance_bound[0] == pytest.approx(math.sqrt(math.log(20) / 60))
    with pytest.raises(InputError, match="confidence_level must"):
        ks_confidence_band([0.5], uniform, confidence_level=1.0)


def test_the_fair_coin_by_hand():
    """Ten flips with nine heads: D = 2/5, p = 22/1024."""
    result = ks_1samp([0.0] * 9 + [1.0], StepLaw(1, 1))
    assert result.statistic == pytest.approx(0.4)
    assert result.pvalue == pytest.approx(float(Fraction(22, 1024)), rel=1e-13)


def test_the_band_of_an_empty_row_is_undefined_on_request():
    """With empty="nan" an empty row has no band, and the others stand."""
    rows = RaggedArray([0.5], [0, 0, 1])
    band = ks_confidence_band(rows, uniform, empty="nan")
    assert np.isnan([band.low[0], band.high[0], band.distance_bound[0]]).all()
    assert band.high[1] == ks_confidence_band([0.5], uniform).high
    with pytest.raises(InputError, match="x must hold observations .* 'none in row 0"):
        ks_confidence_band(rows, uniform)


@pytest.mark.parametrize("test", [ks_1samp, ks_confidence_band])
def test_cdfs_that_fall_are_refused(test):
    """A decreasing cdf, or one below its left limit, is no law; rounding is forgiven."""
    x = np.array([0.9, 0.1, 0.5])
    with pytest.raises(InputError, match="target must have a cdf that never decreases"):
        test(x, lambda u: 1.0 - u)
    with pytest.raises(InputError, match="cdf_left must have a cdf that never decreases"):
        test(x, uniform, cdf_left=lambda u: 0.1 * (1.0 - u))
    with pytest.raises(InputError, match=r"cdf_left must be at most the cdf, got .* above 0.9 at"):
        test(x, uniform, cdf_left=lambda u: np.minimum(u + 0.05, 1.0))
    test(x, lambda u: 0.5 - 1e-9 * u)


@pytest.mark.parametrize(
    ("frozen", "spec"),
    [
        (scipy.stats.norm(2, 3), {"family": "normal", "params": {"mean": 2, "sd": 3}}),
        (scipy.stats.poisson(18), {"family": "poisson", "params": {"rate": 18}}),
        (
            scipy.stats.binom(10, 0.3),
            {"family": "binomial", "params": {"trials": 10, "probability": 0.3}},
        ),
    ],
)
def test_frozen_distributions_are_laws(frozen, spec):
    """A frozen distribution of SciPy gives what our law of the same name gives, atoms included."""
    x = np.arange(0.0, 30.0, 0.5)
    law = target_from_spec(spec)
    for test in (stats.ks_1samp, stats.kuiper_1samp):
        ours, theirs = test(x, law), test(x, frozen)
        assert (theirs.statistic, theirs.pvalue) == pytest.approx(
            (ours.statistic, ours.pvalue), rel=1e-9
        )
    ours, theirs = (stats.ks_at_n(x, each, [5, 20]).pass_rate for each in (law, frozen))
    assert theirs == pytest.approx(ours, rel=1e-9)
    assert stats.power(frozen, 30).effect == pytest.approx(stats.power(law, 30).effect, rel=1e-6)


def test_families_without_parameters_are_refused():
    """A family is no law before its parameters are given."""
    with pytest.raises(InputError, match="target must be a law"):
        stats.ks_1samp([0.5], scipy.stats.norm)
    with pytest.raises(InputError, match="target must be a law with quantiles"):
        stats.power(lambda x: x, 10)


@pytest.mark.parametrize("alpha", [0.05, 1e-4])
def test_the_band_decides_as_the_p_value_does(alpha):
    """A sample is inside the band of its law exactly where p is above alpha, atoms or none."""
    suite, rng = load_suite("v1"), np.random.default_rng(6)
    names = ("normal", "poisson", "rectified-gaussian", "bernoulli")
    laws = [suite[f"text-explicit/{name}/concentrated"].target for name in names] * 30
    n, n_invalid = rng.integers(1, 60, len(laws)), rng.integers(0, 4, len(laws))
    rows = [law.ppf(rng.random(k) ** 2) for law, k in zip(laws, n, strict=True)]
    x = RaggedArray.from_rows(rows)
    p = ks_1samp(x, laws, n_invalid=n_invalid).pvalue
    verdicts = inside(x, laws, n_invalid, alpha)
    assert verdicts.tolist() == (p > alpha).tolist()
    assert 0 < verdicts.mean() < 1


def test_a_left_limit_without_jumps_changes_nothing():
    """A continuous cdf given as its own left limit is tested as what it is."""
    x, cdf = np.linspace(-1.0, 2.0, 40), scipy.stats.norm().cdf
    assert ks_1samp(x, cdf, cdf_left=cdf) == ks_1samp(x, cdf)


def test_a_left_limit_must_be_a_function():
    """A number is no left limit of a cdf."""
    with pytest.raises(InputError, match="cdf_left must be a function"):
        ks_1samp([0.0], scipy.stats.norm().cdf, cdf_left=0.5)


def test_tails_that_scipy_cannot_handle_are_refused():
    """A heavy tail that SciPy would add up value by value, or gives up on, is a named error."""
    with pytest.raises(InputError, match="target must have a cdf of its own, or no tail beyond"):
        ks_1samp([1.0, 2.0], scipy.stats.zipf(1.5))
    with pytest.raises(InputError, match="target must have a quantile for every level"):
        ks_1samp([1.0, 2.0], scipy.stats.yulesimon(1.1))
