"""What every law promises: inverse functions, monotone cdf, moments, draws, specs, messages."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from unpredictabench.errors import InputError
from unpredictabench.records import NominalTarget, NumericTarget
from unpredictabench.streams import stream
from unpredictabench.targets import FAMILIES, canonical_json, content_hash, target_from_spec
from unpredictabench.targets.compound import irwin_hall
from unpredictabench.tasks import load_suite
from unpredictabench.tasks.laws import published_laws

GOLDEN = Path(__file__).with_name("golden")
FURTHER = json.loads((GOLDEN / "further_laws.json").read_text("utf-8"))
"""Laws beside the published ones: atoms among continuous parts, large and small parameters."""
CHOSEN = [
    law.law
    for law in published_laws()
    if law.category == "code-implicit"
    or (law.category == "multimodal" and law.spread == "spread_out")
]
"""Every family twice and every mixture once; the audit of the suite looks at all."""
SPECS = [*CHOSEN, *FURTHER]
LAWS = [target_from_spec(spec) for spec in SPECS]
Q = np.concatenate(([1e-9, 1e-4], np.linspace(0.005, 0.995, 67), [1 - 1e-4, 1 - 1e-9]))
CONTINUOUS_ROUNDING = 1e-12
"""Relative to 1: how far SciPy's quantiles may miss their level."""
MONOTONE_ROUNDING = 1e-14
"""How far SciPy's cdfs may fall between neighbouring floats."""
IDS = [canonical_json(spec)[:70] for spec in SPECS]
each_law = pytest.mark.parametrize("law", LAWS, ids=IDS)


def some_values(law):
    """Return quantiles, the points just beside them, and points outside the support."""
    x = law.ppf(Q)
    beside = (np.nextafter(x, -np.inf), np.nextafter(x, np.inf), x + 0.5, x - 1.0)
    return np.unique(np.concatenate((x, *beside, [-1e300, 0.0, 1e300, -np.inf, np.inf])))


@each_law
def test_quantiles_invert_the_cdf(law):
    """cdf_left(ppf(q)) <= q <= cdf(ppf(q)): exactly at atoms, to rounding elsewhere."""
    x = law.ppf(Q)
    if law.support == "discrete":
        before, after, rounding = x, x, 0.0
    else:
        before, after = x - 4 * np.spacing(np.abs(x)), x + 4 * np.spacing(np.abs(x))
        rounding = CONTINUOUS_ROUNDING
    assert (law.cdf_left(before) <= Q + rounding).all()
    assert (law.cdf(after) + rounding >= Q).all()
    jump = law.cdf_left(x) < law.cdf(x)
    assert (law.cdf_left(x)[jump] <= Q[jump]).all()
    assert (Q[jump] <= law.cdf(x)[jump]).all()


@each_law
def test_quantile_of_a_value_of_the_cdf_is_an_atom_at_or_below(law):
    """ppf(cdf(a)) = a at an atom a, though cdf(a) lies on the edge between two atoms."""
    x = np.unique(law.ppf(Q))
    atoms = x[law.pmf(x) > 1e-12]
    assert (law.ppf(law.cdf(atoms)) <= atoms).all() or (law.cdf(atoms) == 1).any()
    inside = law.cdf(atoms) < 1
    assert np.array_equal(law.ppf(law.cdf(atoms[inside])), atoms[inside])


@each_law
def test_cdf_is_a_cdf(law):
    """The cdf increases from 0 to 1, its left limit never exceeds it, and jumps are the pmf."""
    x = some_values(law)
    right, left = law.cdf(x), law.cdf_left(x)
    assert right[0] == 0
    assert right[-1] == pytest.approx(1, abs=1e-15)
    assert ((right >= 0) & (right <= 1) & (left <= right)).all()
    assert (np.diff(right) > -MONOTONE_ROUNDING).all()
    assert (left[1:] >= right[:-1] - MONOTONE_ROUNDING).all()
    assert np.abs((right - left) - law.pmf(x)).max() < 2e-12


@each_law
def test_levels_enclose(law):
    """Levels at or below and above u are values of the cdf or its left limits, and enclose u."""
    u = np.concatenate((Q, [0.0, 1.0]))
    below, above = law.levels(u)
    assert ((below <= u) & (u <= above)).all()
    strict = below < above
    x = law.ppf(u[strict])
    assert np.array_equal(law.cdf_left(x), below[strict])
    assert np.array_equal(law.cdf(x), above[strict])
    if law.support == "continuous":
        assert not strict.any()


@each_law
def test_draws_lie_in_the_support_and_follow_the_cdf(law):
    """2,000 draws are contained, and their distance from the cdf is no rarer than 1e-9."""
    draws = np.sort(law.sample(2000, stream("test", law.hash)))
    assert draws.dtype == np.float64
    assert law.contains(draws).all()
    values, counts = np.unique(draws, return_counts=True)
    sums = np.cumsum(counts) / draws.size
    left = np.concatenate(([0.0], sums[:-1]))
    distance = max(np.abs(law.cdf(values) - sums).max(), np.abs(law.cdf_left(values) - left).max())
    assert stats.kstwo.sf(distance, draws.size) > 1e-9


@each_law
def test_density_integrates_to_the_cdf(law):
    """Between two quantiles the pmf sums or the pdf integrates to what the cdf gains."""
    low, high = law.ppf([0.2, 0.8])
    gained = float(law.cdf(high) - law.cdf(low))
    if law.support == "discrete":
        assert law.pdf([low]) is None
        return
    density, _ = integrate.quad(
        lambda x: float(law.pdf(x)),
        low,
        high,
        points=list(law.ppf([0.35, 0.5, 0.65])),
        limit=200,
        epsabs=1e-7,
    )
    inner = np.unique(law.ppf(np.linspace(0.2, 0.8, 500)))
    masses = law.pmf(inner[inner > low]).sum()
    assert density + masses == pytest.approx(gained, abs=1e-6)


@each_law
def test_moments_follow_from_the_quantiles(law):
    """Mean and std equal integrals of the quantile function, where tails are light enough."""
    if law.mean is None:
        assert law.std is None
        return
    # Midpoints in a variable that crowds both ends of (0, 1).
    t = (np.arange(500) + 0.5) / 500
    q = t**4 / (t**4 + (1 - t) ** 4)
    weight = 4 * t**3 * (1 - t) ** 3 / (t**4 + (1 - t) ** 4) ** 2
    x = law.ppf(q)
    if law.std is None or law.std > 5 * (law.ppf(0.999) - law.ppf(0.001)) / 6:
        return
    assert law.mean == pytest.approx((x * weight).mean(), abs=0.02 * law.std + 1e-9)
    second = (((x - law.mean) ** 2) * weight).mean()
    assert law.std == pytest.approx(math.sqrt(second), rel=0.05, abs=1e-6)


@each_law
def test_spec_rebuilds_the_law(law):
    """A law is what its spec says, through JSON and pickle, with the same hash and draws."""
    again = target_from_spec(json.loads(canonical_json(law.spec)))
    assert again.hash == law.hash == content_hash(law.spec)
    assert isinstance(again, NumericTarget)
    x = law.ppf(Q)
    assert np.array_equal(again.cdf(x), law.cdf(x))
    one, two = again.sample(20, stream("a")), law.sample(20, stream("a"))
    assert np.array_equal(one, two)


def test_shapes_and_nan():
    """Scalars give 0-d arrays, shapes are kept, NaN stays NaN, levels outside [0, 1] are NaN."""
    law = target_from_spec({"family": "poisson", "params": {"rate": 3}})
    assert law.cdf(2).shape == ()
    assert law.cdf([[1, 2], [3, np.nan]]).shape == (2, 2)
    assert np.isnan(law.cdf(np.nan))
    assert np.isnan(law.cdf_left([np.nan])).all()
    assert np.isnan(law.ppf([-0.1, 1.1, np.nan])).all()
    assert law.ppf([0, 1]).tolist() == [0.0, math.inf]
    assert law.contains([0, 0.5, -1, np.inf, np.nan]).tolist() == [True, False, False, False, False]
    assert law.cdf([]).shape == (0,)


def test_finite_laws_merge_equal_values():
    """Equal values are one atom, and an atom of probability 0 is none."""
    law = target_from_spec(
        {"finite": {"values": [1, 2, 1, 9], "probabilities": [0.25, 0.5, 0.25, 0]}}
    )
    assert law.cdf([0.9, 1, 2]).tolist() == [0.0, 0.5, 1.0]
    assert law.contains([1, 2, 9]).tolist() == [True, True, False]
    assert law.ends == (1.0, 2.0)
    assert (law.mean, law.std) == (1.5, 0.5)


@pytest.mark.parametrize(
    ("spec", "mean", "std"),
    [
        ({"family": "pareto", "params": {"minimum": 1, "shape": 0.9}}, None, None),
        ({"family": "pareto", "params": {"minimum": 1, "shape": 1.5}}, 3.0, None),
        ({"family": "frechet", "params": {"shape": 0.65, "scale": 1, "location": 0}}, None, None),
        ({"family": "student-t", "params": {"df": 1}}, None, None),
        ({"family": "student-t", "params": {"df": 1.3}}, 0.0, None),
        ({"family": "f", "params": {"df1": 3, "df2": 2}}, None, None),
        ({"family": "f", "params": {"df1": 3, "df2": 4}}, 2.0, None),
        ({"family": "geometric", "params": {"probability": 0.25, "start": 0}}, 3.0, 12**0.5),
        ({"family": "negative-multinomial", "params": {
            "stops": 3, "probabilities": [0.3, 0.2], "coordinate": "total"}}, 3.0, 6**0.5),
    ],
)  # fmt: skip
def test_moments_that_do_not_exist_are_none(spec, mean, std):
    """An infinite or undefined moment is None; the others are right."""
    law = target_from_spec(spec)
    assert law.mean == (None if mean is None else pytest.approx(mean))
    assert law.std == (None if std is None else pytest.approx(std))


def test_mean_of_a_mixture_without_mean_is_none():
    """One component without a mean leaves the mixture without one."""
    heavy = {"family": "student-t", "params": {"df": 1}}
    light = {"family": "normal", "params": {"mean": 0, "sd": 1}}
    parts = [{"weight": 0.5, "law": heavy}, {"weight": 0.5, "law": light}]
    law = target_from_spec({"mixture": parts})
    assert law.mean is law.std is None


@pytest.mark.parametrize("shape", [1, 5, 0.3])
def test_rayleigh_gamma_mixture_to_many_digits(shape):
    """The quadrature agrees with mpmath's to 1e-13."""
    mpmath.mp.dps = 30
    law = target_from_spec(
        {"family": "rayleigh-mixture",
         "params": {"scale": 6, "component": "gamma", "shape": shape, "divisor": 2.8}}
    )  # fmt: skip
    for x in (1e-3, 0.1, 1.0, 5.0, 40.0):
        right = mpmath.quad(
            lambda e, x=x: (
                mpmath.exp(-e)
                * mpmath.gammainc(shape, 0, x * 2.8 / (6 * mpmath.sqrt(2 * e)), regularized=True)
            ),
            [0, 1e-8, 1e-4, 1e-2, 0.1, 1, 4, 20, 80],
        )
        assert float(law.cdf(x)) == pytest.approx(float(right), abs=1e-13)


@given(n=st.integers(1, 60), y=st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_irwin_hall_is_symmetric_and_exact(n, y):
    """F(y) + F(n - y) = 1, and the exact rational sum agrees."""
    from fractions import Fraction

    value = y * n
    exact = Fraction(value)
    right = sum(
        (-1) ** k * math.comb(n, k) * (exact - k) ** n for k in range(math.floor(exact) + 1)
    )
    found = irwin_hall(n, np.array([value, n - value]))
    assert found[0] == pytest.approx(float(right / math.factorial(n)), abs=1e-14)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)


def test_skellam_tails_keep_their_digits():
    """A probability of 1e-20 agrees with mpmath's Bessel function to nine digits."""
    law = target_from_spec({"family": "skellam", "params": {"rate1": 28, "rate2": 19}})
    mpmath.mp.dps = 40
    for k in (-60, -20, 9, 90):
        right = mpmath.exp(-47) * (mpmath.mpf(28) / 19) ** (mpmath.mpf(k) / 2)
        right *= mpmath.besseli(abs(k), 2 * mpmath.sqrt(28 * 19))
        assert float(law.pmf(k)) == pytest.approx(float(right), rel=1e-9, abs=1e-28)


def test_permutations_are_all_orders():
    """A permutation law has n! equally likely tuples of indices in lexicographic order."""
    law = target_from_spec({"permutation": {"items": ["a", "b", "c"]}})
    assert isinstance(law, NominalTarget)
    assert law.outcomes[:2] == ((0, 1, 2), (0, 2, 1))
    assert law.probabilities.tolist() == [1 / 6] * 6
    draws = law.sample(6000, stream("orders"))
    assert draws.dtype == np.int64
    assert stats.chisquare(np.bincount(draws, minlength=6)).pvalue > 1e-9


def test_nominal_outcomes_are_texts_or_orders():
    """Labels, the empty text and lists of indices are outcomes; probabilities cannot be changed."""
    labels = target_from_spec(
        {"nominal": {"outcomes": ["", "x\ny"], "probabilities": [0.25, 0.75]}}
    )
    assert labels.outcomes == ("", "x\ny")
    assert labels.support == "nominal"
    with pytest.raises(ValueError, match="read-only"):
        labels.probabilities[0] = 1
    orders = target_from_spec(
        {"nominal": {"outcomes": [[1, 0], [0, 1]], "probabilities": [0.1, 0.9]}}
    )
    assert orders.outcomes == ((1, 0), (0, 1))


def test_samples_stand_for_themselves():
    """A law known by draws says so, and its draws are those draws."""
    law = target_from_spec({"samples": {"values": [3.5, 1.25, 2.0]}})
    assert not law.is_exact
    assert law.support == "continuous"
    assert law.draws(10, "any").tolist() == [3.5, 1.25, 2.0]
    assert law.draws(2, "any").tolist() == [3.5, 1.25]
    words = target_from_spec({"samples": {"values": ["b", "a", "b", "b"]}})
    assert words.outcomes == ("a", "b")
    assert words.probabilities.tolist() == [0.25, 0.75]


WRONG = json.loads((GOLDEN / "wrong_laws.json").read_text("utf-8"))


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case["message"])
def test_impossible_specs_are_named(case):
    """The message names the parameter, its rule and the value."""
    with pytest.raises(InputError) as caught:
        target_from_spec(case["spec"])
    assert case["message"] in str(caught.value)


@pytest.mark.parametrize("value", [math.nan, math.inf, "3", None, True])
def test_parameters_must_be_finite_numbers(value):
    """NaN, infinity, texts, nothing and truth values are no numbers."""
    with pytest.raises(InputError, match="poisson.rate must be"):
        target_from_spec({"family": "poisson", "params": {"rate": value}})


def test_all_families_are_documented():
    """The documented table names every family with every parameter, in order."""
    text = (Path(__file__).parents[1] / "docs" / "tasks.md").read_text(encoding="utf-8")
    rows = dict(
        (cell.strip() for cell in line.split("|")[1:3])
        for line in text.splitlines()
        if line.startswith("| `")
    )
    assert set(rows) == {f"`{name}`" for name in FAMILIES}
    for name, family in FAMILIES.items():
        words = rows[f"`{name}`"].replace("*", "").replace(",", " ").split()
        shown = [parameter.name for parameter in family.parameters if parameter.name in words]
        assert shown == [word for word in words if word in shown]
        if name != "rayleigh-mixture":
            assert len(shown) == len(family.parameters)


def test_importing_targets_loads_no_heavy_module():
    """Building every law imports neither scipy.stats nor numba."""
    import subprocess
    import sys

    program = (
        "import sys; from unpredictabench.tasks import load_suite; list(load_suite());"
        "print(sorted({'scipy', 'numba', 'openai', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("size", [-1, 1.5, True])
def test_sizes_are_checked(size):
    """A size must be a whole number."""
    law = target_from_spec(SPECS[0])
    with pytest.raises(InputError, match="size must be a whole number of at least 0"):
        law.sample(size, stream("x"))
    with pytest.raises(InputError, match="m must be a whole number of at least 1"):
        law.draws(size, "x")


def test_laws_can_be_pickled_or_rebuilt():
    """What travels between processes is the spec, which pickles."""
    law = LAWS[0]
    assert target_from_spec(pickle.loads(pickle.dumps(dict(law.spec)))).hash == law.hash


ENDS = [1e308, -1e308, 5e-324, -5e-324, 0.0, -0.0, 1e17, -1e17]


@pytest.mark.parametrize(
    "task", load_suite("v1").select(category=("text-explicit", "multimodal")).ids
)
def test_every_function_is_settled_at_the_ends_of_the_floats(task):
    """No answer of a model, however extreme, has an undefined cdf, probability or density."""
    law = load_suite("v1")[task].target
    values = law.cdf(ENDS)
    assert ((values >= 0) & (values <= 1)).all()
    assert values[0] >= values[4] >= values[1]
    assert values[4] == values[5]
    assert (law.cdf_left(ENDS) <= values + 1e-14).all()
    assert (law.pmf(ENDS) >= 0).all()
    density = law.pdf(ENDS)
    assert density is None or (density >= 0).all()


def test_a_mixture_takes_no_law_with_draws():
    """Draws that stand for a law would be lost in a mixture."""
    drawn = {"drawn": {"law": {"family": "poisson", "params": {"rate": 2}}, "values": [1, 2]}}
    with pytest.raises(InputError, match="be a law of numbers, not of draws"):
        target_from_spec({"mixture": [{"weight": 1, "law": drawn}]})


@pytest.mark.parametrize("value", [10**400, 1e308, -1e308, 5e-324])
def test_parameters_beyond_every_formula_are_refused(value):
    """A parameter whose square is no float is refused by name, and makes no undefined law."""
    with pytest.raises(InputError, match=r"log-normal\.log_sd must be a finite number above 0"):
        target_from_spec({"family": "log-normal", "params": {"log_mean": 0, "log_sd": value}})
    with pytest.raises(InputError, match=r"gamma\.shape must be a finite number above 0"):
        target_from_spec({"family": "gamma", "params": {"shape": value, "scale": 1}})


def test_cdfs_are_probabilities_at_the_ends_of_floats():
    """No law of the suite gives NaN for the largest or smallest floats, or for infinities."""
    far = [1e17, 1e154, 1e300, 1e308, 1.7e308, np.finfo(float).max, np.inf]
    near = [5e-324, 1e-310, 1e-308, 1e-290]
    x = np.array([-v for v in far] + [-v for v in near[::-1]] + [0.0, *near, *far])
    x.sort()
    for task in load_suite("v1"):
        if task.support != "nominal":
            upper, lower = task.target.cdf(x), task.target.cdf_left(x)
            assert ((lower >= 0) & (lower <= upper) & (upper <= 1)).all(), task.id
            assert (np.diff(upper) >= 0).all(), task.id
            assert (upper[0], upper[-1]) == (0.0, 1.0), task.id


@pytest.mark.parametrize(
    ("mean", "shape", "q", "x"),
    [
        # mpmath, 60 digits: the quantiles to which the textbook's formula gives the level.
        (1, 1e6, 0.1, 0.9987187701593465),
        (1, 1e6, 0.999, 1.003094508828916),
        (1, 1e-3, 0.5, 0.00219299405632451),
        (1, 1e-3, 0.999, 190.6096962510897),
        (1, 1e-6, 0.9, 6.332697177138677e-05),
        (5, 2e5, 1e-6, 4.882507528933801),
    ],
)
def test_narrow_and_wide_inverse_gaussians(mean, shape, q, x):
    """Where SciPy warns, or is wrong without a warning, cdf and quantile are right all the same."""
    law = target_from_spec({"family": "inverse-gaussian", "params": {"mean": mean, "shape": shape}})
    assert law.ppf(q) == pytest.approx(x, rel=1e-12)
    assert law.cdf(x) == pytest.approx(q, rel=1e-9)
    levels = np.array([0.0, 1e-300, 1e-15, 0.1, 0.5, 0.9, 1 - 1e-15])
    values = law.ppf(levels)
    assert np.isfinite(values).all()
    assert (np.diff(values) >= 0).all()


@pytest.mark.parametrize("width", [1e-15, 1e-12, 1e-6])
@pytest.mark.parametrize("low", [0.001, 1.0, 40.0])
def test_quantiles_stay_in_a_narrow_window(low, width):
    """No quantile of a truncated normal lies outside of its window, however narrow that is."""
    window = {"low": low, "high": low * (1 + width)}
    law = target_from_spec({"family": "truncated-normal", "params": {"mean": 0, "sd": 1, **window}})
    values = law.ppf(np.linspace(0, 1, 101))
    assert (values >= window["low"]).all()
    assert (values <= window["high"]).all()


@pytest.mark.parametrize(
    "window",
    [
        {"mean": 1e30, "sd": 1, "low": 0, "high": 1},
        {"mean": 0, "sd": 1, "low": 1e15, "high": 2e15},
        {"mean": 0, "sd": 1, "low": -2e15, "high": -1e15},
    ],
)
def test_a_window_that_no_normal_reaches_is_refused(window):
    """A window without width, or out of reach of SciPy, in standard deviations is named."""
    with pytest.raises(InputError, match=r"truncated-normal.sd must leave low and high apart"):
        target_from_spec({"family": "truncated-normal", "params": window})
