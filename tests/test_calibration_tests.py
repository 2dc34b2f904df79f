"""Simulated nulls: p-values of faithful samples are small no more often than they say."""

import numpy as np
import pytest

from calibration import (
    LAWS,
    LEVELS,
    SIZES,
    assert_uniform,
    assert_valid,
    drawn,
    most,
    most_of_a_drawn_null,
    uniform,
)
from unpredictabench.stats import (
    anderson_1samp,
    anderson_2samp,
    benjamini_hochberg,
    cramervonmises_1samp,
    cramervonmises_2samp,
    energy_test,
    holm,
    independence_test,
    ks_1samp,
    ks_2samp,
    kuiper_1samp,
    kuiper_2samp,
    multinomial_test,
    permutation_test_uniform,
    wasserstein_test,
)
from unpredictabench.stats._independence import N_DRAWS, STATISTICS
from unpredictabench.stats._sign_flip import N_FLIPS, sign_flip
from unpredictabench.streams import stream

pytestmark = pytest.mark.slow

MANY, FEW = 100_000, 2_000
"""Samples looked at where a p-value costs less than 50 microseconds, and elsewhere."""
FEW_LABELINGS = 199
"""Random labelings a pair: .05 and .01 are attained levels of p = (b + 1) / 200."""
SIDES = ("two-sided", "greater", "less")


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", SIZES)
def test_ks_2samp_is_valid(law, n):
    """Samples and truths of one law differ no more often than stated, on either side too."""
    rng = stream("calibration", "ks_2samp", law, n)
    x, y = drawn(law, (MANY, n), rng), drawn(law, (MANY, 50), rng)
    for side in SIDES:
        assert_valid(ks_2samp(x, y, alternative=side).pvalue)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", SIZES)
def test_ks_1samp_is_valid(law, n):
    """Samples differ from their law no more often than stated, and as often where it has no atoms.

    Exact p-values of new distances cost more than 50 microseconds from 50 observations on.
    """
    rng = stream("calibration", "ks_1samp", law, n)
    x = drawn(law, (FEW if n >= 50 and law in {"continuous", "mixed"} else MANY, n), rng)
    for side in SIDES:
        p = ks_1samp(x, LAWS[law], alternative=side).pvalue
        (assert_uniform if law == "continuous" else assert_valid)(p)


@pytest.mark.parametrize("n", SIZES)
def test_kuiper_1samp_is_uniform(n):
    """Without atoms the exact p-value of Kuiper's V is uniform; one observation has p = 1."""
    x = stream("calibration", "kuiper_1samp", n).random((MANY if n < 50 else FEW, n))
    found = kuiper_1samp(x, uniform)
    assert set(found.method) == {"exact"}
    if n == 1:
        assert (found.pvalue == 1).all()
    else:
        assert_uniform(found.pvalue)


@pytest.mark.parametrize("test", [anderson_1samp, cramervonmises_1samp])
@pytest.mark.parametrize("n", SIZES)
def test_quadratic_tests_of_a_continuous_law_are_calibrated(test, n):
    """Exact for one observation, drawn for a few, and from ten on the limit law: all calibrated."""
    x = stream("calibration", test.__name__, n).random((MANY, n))
    found = test(x, uniform, rng=n)
    is_drawn = 1 < n < 10
    assert set(found.method) == {"montecarlo" if is_drawn else "exact" if n == 1 else "asymp"}
    if is_drawn:
        assert_valid(found.pvalue, n_draws=9999)
    else:
        assert_uniform(found.pvalue)


@pytest.mark.parametrize("test", [kuiper_1samp, anderson_1samp, cramervonmises_1samp])
@pytest.mark.parametrize("law", [law for law in LAWS if law != "continuous"])
@pytest.mark.parametrize("n", SIZES)
def test_drawn_nulls_of_laws_with_atoms_are_valid(test, law, n):
    """Samples of a law with atoms differ from it no more often than the drawn null lets them."""
    x = drawn(law, (MANY // 5, n), stream("calibration", test.__name__, law, n))
    found = test(x, LAWS[law], rng=n)
    assert set(found.method) == {"montecarlo"}
    assert_valid(found.pvalue, n_draws=9999)


@pytest.mark.parametrize(
    "test", [kuiper_2samp, anderson_2samp, cramervonmises_2samp, wasserstein_test, energy_test]
)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", SIZES)
def test_random_labelings_are_valid(test, law, n):
    """Samples and truths of one law differ no more often than stated, by random labelings."""
    rng = stream("calibration", test.__name__, law, n)
    x, y = drawn(law, (FEW, n), rng), drawn(law, (FEW, 50), rng)
    found = test(x, y, method="permutation", n_resamples=FEW_LABELINGS, rng=rng)
    assert_valid(found.pvalue)


@pytest.mark.parametrize("test", [wasserstein_test, energy_test])
@pytest.mark.parametrize("law", LAWS)
def test_exact_moments_of_distances_are_calibrated(test, law):
    """Over faithful samples the z-score has mean 0 and mean square 1, within five errors."""
    rng = stream("calibration", "moments", test.__name__, law)
    z = test(drawn(law, (FEW * 2, 20), rng), drawn(law, (FEW * 2, 50), rng)).zscore
    z = z[~np.isnan(z)]
    assert abs(z.mean()) <= 5 / z.size**0.5
    assert abs((z**2).mean() - 1) <= 5 * (z**2).std() / z.size**0.5


@pytest.mark.parametrize("n_labels", [2, 10, 50])
@pytest.mark.parametrize("n", SIZES)
def test_multinomial_test_is_valid(n_labels, n):
    """Labels drawn by their probabilities differ from them no more often than stated."""
    # Fifty equal labels: with unequal ones each new distance of a hundred answers takes .4 s.
    weights = 1.0 + np.arange(n_labels) % (7 if n_labels < 50 else 1)
    p = weights / weights.sum()
    counts = stream("calibration", "multinomial", n_labels, n).multinomial(n, p, size=MANY)
    found = multinomial_test(counts, p)
    assert set(found.method) == {"exact"}
    assert_valid(found.pvalue)


@pytest.mark.parametrize("n", SIZES)
def test_drawn_multinomial_null_is_valid(n):
    """Probabilities without a small denominator have a drawn null, and are calibrated too."""
    rng = stream("calibration", "irrational", n)
    p = rng.dirichlet(np.full(4, 2.0))
    counts = rng.multinomial(n, p, size=FEW)
    found = multinomial_test(counts, p, n_resamples=9999, alpha=0.01, rng=n)
    assert set(found.method) == {"montecarlo"}
    assert_valid(found.pvalue, n_draws=9999)


@pytest.mark.parametrize(("n_items", "n"), [(3, 100), (5, 20), (5, 100), (8, 20)])
def test_permutation_test_is_valid(n_items, n):
    """Orders drawn uniformly differ from that no more often than stated, corrected and single."""
    rng = stream("calibration", "orders", n_items, n)
    rows = np.tile(np.arange(n_items), (n, 1))
    found = [permutation_test_uniform(rng.permuted(rows, axis=1)) for _ in range(FEW)]
    assert_valid([each.pvalue for each in found])
    for single in zip(*(each.pvalues for each in found), strict=True):
        assert_valid(single)


@pytest.mark.parametrize("law", ["continuous", "2 values", "10 values"])
@pytest.mark.parametrize("n", [10, 20, 50, 100])
def test_independence_test_is_valid(law, n):
    """Independent answers show an order no more often than stated, by each test and by all."""
    rng = stream("calibration", "independence", law, n)
    samples = drawn(law, (FEW, n), rng)
    pits = samples if law == "continuous" else rng.random((FEW, n))
    found = [independence_test(x, pit=u) for x, u in zip(samples, pits, strict=True)]
    for name in STATISTICS:
        assert_valid([each.pvalues[name] for each in found], n_draws=N_DRAWS)
    for name in ("cycle", "too-uniform"):
        assert_valid([each.pvalues[name] for each in found])
    # Six tests share the level; four of them share the draws of one null.
    for level in LEVELS:
        wrong = sum(each.pvalue <= level for each in found)
        bound = 4 * most_of_a_drawn_null(FEW, level / 6, N_DRAWS) + 2 * most(FEW, level / 6)
        assert wrong <= bound


@pytest.mark.parametrize("n", [20, 50])
def test_random_sign_flips_are_valid(n):
    """Differences symmetric about 0 are found unsymmetric no more often than stated."""
    rng = stream("calibration", "signs", n)
    found = [sign_flip(rng.normal(size=n) * rng.exponential(size=n)) for _ in range(FEW)]
    assert_valid(found, n_draws=N_FLIPS)


def test_corrections_keep_their_error_rates():
    """Over 20 tests, 5 of them false nulls, Holm's error and Benjamini and Hochberg's are kept."""
    rng, n_runs = stream("calibration", "holm"), 20_000
    p = rng.random((n_runs, 20))
    p[:, :5] /= 100
    for level in LEVELS:
        any_wrong = sum(bool((holm(row)[5:] <= level).any()) for row in p)
        assert any_wrong <= most(n_runs, level)
        found = [benjamini_hochberg(row) <= level for row in p]
        wrong = np.array([row[5:].sum() / max(row.sum(), 1) for row in found])
        # Benjamini & Hochberg (1995): the expected share is at most the level times 15 / 20.
        assert wrong.mean() <= level * 15 / 20 + 5 * wrong.std() / n_runs**0.5
