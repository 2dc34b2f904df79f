"""Our laws against the published ones, computed another way."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

from unpredictabench.targets import target_from_spec
from unpredictabench.tasks.laws import published_laws

GOLDEN = Path(__file__).with_name("golden") / "published_laws.json"
PUBLISHED = {
    row["id"]: row["law"]
    for row in json.loads(GOLDEN.read_text(encoding="utf-8"))
    if not row["is_wrong"]
}
N_WRONG = 8
TOLERANCE = 2e-12
GRID = np.concatenate(([1e-6, 1e-3], np.linspace(0.01, 0.99, 25), [0.999, 1 - 1e-6]))


def jumps_cdf(x, n, kind, arguments):
    """Return the cdf of the sum of n jumps."""
    if kind == "uniform":
        low, high = arguments
        return irwin_hall(n, (x - n * low) / (high - low))
    if kind == "gamma":
        return stats.gamma.cdf(x, n * arguments[0], scale=arguments[1])
    if kind == "exponential_scale":
        return stats.gamma.cdf(x, n, scale=arguments[0])
    return stats.binom.cdf(np.floor(x) - n, n, 0.2)


def irwin_hall(n, y):
    """Return the textbook's alternating sum in exact rational arithmetic."""
    from fractions import Fraction

    out = []
    for value in np.clip(y, 0, n):
        exact = Fraction(float(value))
        terms = (
            (-1) ** k * math.comb(n, k) * (exact - k) ** n for k in range(math.floor(exact) + 1)
        )
        out.append(float(sum(terms) / math.factorial(n)))
    return np.array(out)


def compound_cdf(x, rate, kind, arguments):
    """Sum over the number of jumps, weighted by SciPy's Poisson probabilities."""
    total = np.where(x >= 0, math.exp(-rate), 0.0)
    for n in range(1, int(rate + 12 * math.sqrt(rate) + 25)):
        part = jumps_cdf(x, n, kind, arguments)
        total = total + stats.poisson.pmf(n, rate) * np.where(x > 0, part, 0.0)
    return total


def given_rayleigh(given, scale):
    """Integrate a conditional cdf over a Rayleigh law."""

    def cdf(x):
        # In the logarithm of R, where the conditional cdf is smooth down to R = 0.
        t = np.linspace(math.log(1e-7), math.log(9), 4001)
        r = scale * np.exp(t)
        density = (r / scale) ** 2 * np.exp(-0.5 * (r / scale) ** 2)
        return np.array([integrate.simpson(given(value, r) * density, x=t) for value in x])

    return cdf


RAYLEIGH = {
    "rayleigh_mixture: normal(loc=R, sd=1/12), R~Rayleigh(.35)": given_rayleigh(
        lambda x, r: stats.norm.cdf(x, r, 1 / 12), 0.35
    ),
    "rayleigh_mixture: normal(loc=R, sd=3), R~Rayleigh(4.5)": given_rayleigh(
        lambda x, r: stats.norm.cdf(x, r, 3), 4.5
    ),
    "rayleigh_mixture: normal(loc=.8+.5R, sd=.12), R~Rayleigh(.35)": given_rayleigh(
        lambda x, r: stats.norm.cdf(x, 0.8 + 0.5 * r, 0.12), 0.35
    ),
    "rayleigh_mixture: gamma(shape 5, scale R/5), R~Rayleigh(6)": given_rayleigh(
        lambda x, r: stats.gamma.cdf(x, 5, scale=r / 5), 6
    ),
    "rayleigh_mixture: Rayleigh(6.5) mixed exponential scale r/2.8": given_rayleigh(
        lambda x, r: stats.expon.cdf(x, scale=r / 2.8), 6.5
    ),
    "rayleigh_mixture: normal(0, sd=R), R~Rayleigh(3.8) = Laplace(0,3.8)": given_rayleigh(
        lambda x, r: stats.norm.cdf(x, 0, r), 3.8
    ),
}
FROZEN = {
    "beta": stats.beta,
    "triang": lambda a, c, b: stats.triang((c - a) / (b - a), a, b - a),
    "truncnorm": lambda m, s, a, b: stats.truncnorm((a - m) / s, (b - m) / s, m, s),
    "uniform": lambda a, b: stats.uniform(a, b - a),
    "loguniform": stats.loguniform,
    "arcsine": lambda a, b: stats.arcsine(a, b - a),
    "erlang": lambda k, rate: stats.gamma(k, scale=1 / rate),
    "f": stats.f,
    "gamma": lambda a, s: stats.gamma(a, scale=s),
    "pareto": lambda x, a: stats.pareto(a, scale=x),
    "weibull": lambda k, s: stats.weibull_min(k, scale=s),
    "chi2": stats.chi2,
    "expon": lambda rate: stats.expon(scale=1 / rate),
    "invgauss": lambda m, s: stats.invgauss(m / s, scale=s),
    "lognorm": lambda m, s: stats.lognorm(s, scale=math.exp(m)),
    "frechet": lambda a, s, m: stats.invweibull(a, m, s),
    "gumbel": stats.gumbel_r,
    "laplace": stats.laplace,
    "t": stats.t,
    "logistic": stats.logistic,
    "norm": stats.norm,
    "rayleigh": lambda s: stats.rayleigh(scale=s),
    "bernoulli": stats.bernoulli,
    "betabinom": stats.betabinom,
    "binom": stats.binom,
    "randint": lambda a, b: stats.randint(a, b + 1),
    "hypergeom": stats.hypergeom,
    "poisson": stats.poisson,
    "skellam": stats.skellam,
    "geom": stats.geom,
    "nbinom": stats.nbinom,
}


def poisson_binomial_cdf(x, chances):
    """Return the cdf by the discrete Fourier transform of the generating function."""
    n = len(chances)
    roots = np.exp(2j * np.pi * np.arange(n + 1) / (n + 1))
    values = np.prod([1 - p + p * roots for p in chances], axis=0)
    weights = np.fft.fft(values).real / (n + 1)
    return np.array([weights[: int(min(max(k, -1), n)) + 1].sum() for k in np.floor(x)])


def published_cdf(x, name, arguments):
    """Return the cdf of one published component."""
    if name in RAYLEIGH:
        return RAYLEIGH[name](x)
    if name == "compound_poisson":
        rate, kind, *rest = arguments
        return compound_cdf(x, rate, kind, rest)
    if name == "poisson_binom":
        return poisson_binomial_cdf(x, arguments[0])
    if name == "categorical":
        weights, first = arguments[0], (arguments[1:] or [1])[0]
        sums = np.concatenate(([0.0], np.cumsum(weights)))
        return sums[np.clip(np.floor(x) - first + 1, 0, len(weights)).astype(int)]
    if name == "rectnorm":
        return np.where(x < 0, 0.0, stats.norm.cdf(x, *arguments))
    return FROZEN[name](*arguments).cdf(x)


def test_every_published_law_is_there():
    """398 tasks have a law, and eight of them differ from the published ground truth."""
    ids = [law.id for law in published_laws()]
    assert len(ids) == len(set(ids)) == 398
    assert len(PUBLISHED) == 398 - N_WRONG
    assert len({law.uid for law in published_laws()}) == 398
    assert len({law.family for law in published_laws()}) == 40


COMPARABLE = [law for law in published_laws() if law.id in PUBLISHED]


@pytest.mark.parametrize("law", COMPARABLE, ids=lambda law: law.id)
def test_cdf_equals_the_published_law(law):
    """The cdf agrees with the published law at quantiles, and one step beside atoms."""
    target = target_from_spec(law.law)
    x = np.unique(target.ppf(GRID))
    x = np.concatenate((x, x - 1, x + 1))
    parts = [w * published_cdf(x, name, args) for w, name, args in PUBLISHED[law.id]]
    assert np.abs(target.cdf(x) - np.sum(parts, axis=0)).max() < TOLERANCE


def test_wrong_ground_truths_are_replaced_by_the_family():
    """Where the published truth strays from its family, our law is of the family."""
    wrong = [law for law in published_laws() if law.id not in PUBLISHED]
    assert {law.family for law in wrong} == {
        "chi-squared",
        "multinomial",
        "negative-binomial",
        "negative-multinomial",
    }
    assert all(law.law["family"] == law.family for law in wrong)
