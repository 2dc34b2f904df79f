"""Formulas inside the texts, evaluated exactly as written, give the law of the task."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy import stats

from unpredictabench.tasks.wording.fill import fields
from unpredictabench.tasks.wording.phrasebook import entry

# The right values: each law as SciPy has it, and points inside its support.
LAWS = {
    "beta": ({"alpha": 0.6, "beta": 0.7}, stats.beta(0.6, 0.7), (0.1, 0.4, 0.9)),
    "truncated-normal": (
        {"mean": -1.5, "sd": 2.5, "low": -4, "high": 3},
        stats.truncnorm(-1, 1.8, -1.5, 2.5),
        (-3.5, 0.2, 2.9),
    ),
    "uniform": ({"low": -2, "high": 6}, stats.uniform(-2, 8), (-1, 0.5, 5)),
    "reciprocal": ({"low": 0.5, "high": 9}, stats.loguniform(0.5, 9), (0.6, 2, 8)),
    "arcsine": ({"low": -3, "high": 5}, stats.arcsine(-3, 8), (-2.5, 0.5, 4.5)),
    "erlang": ({"shape": 3, "rate": 0.4}, stats.gamma(3, scale=2.5), (0.5, 4, 20)),
    "f": ({"df1": 1.3, "df2": 2.1}, stats.f(1.3, 2.1), (0.2, 1, 7)),
    "gamma": ({"shape": 2.4, "scale": 9.5}, stats.gamma(2.4, scale=9.5), (0.2, 2, 20)),
    "pareto": ({"minimum": 2.5, "shape": 0.65}, stats.pareto(0.65, scale=2.5), (2.6, 9, 100)),
    "weibull": ({"shape": 0.62, "scale": 18.7}, stats.weibull_min(0.62, scale=18.7), (0.5, 9, 60)),
    "chi-squared": ({"df": 5}, stats.chi2(5), (0.4, 3, 12)),
    "exponential": ({"rate": 0.12}, stats.expon(scale=1 / 0.12), (0.5, 8, 30)),
    "inverse-gaussian": (
        {"mean": 9.5, "shape": 0.8},
        stats.invgauss(9.5 / 0.8, scale=0.8),
        (0.3, 3, 40),
    ),
    "log-normal": (
        {"log_mean": -0.8, "log_sd": 1.6},
        stats.lognorm(1.6, scale=math.exp(-0.8)),
        (0.1, 0.7, 6),
    ),
    "rayleigh": ({"scale": 2.5}, stats.rayleigh(scale=2.5), (0.3, 2, 7)),
    "frechet": (
        {"shape": 0.85, "scale": 9.5, "location": -12},
        stats.invweibull(0.85, -12, 9.5),
        (-10, 3, 90),
    ),
    "gumbel": ({"location": -4, "scale": 6.8}, stats.gumbel_r(-4, 6.8), (-12, 0, 30)),
    "laplace": ({"location": -2.5, "scale": 9}, stats.laplace(-2.5, 9), (-20, 0, 13)),
    "student-t": ({"df": 2.5, "location": -1, "scale": 3}, stats.t(2.5, -1, 3), (-9, 0, 5)),
    "student-t.standard": ({"df": 1.3, "location": 0, "scale": 1}, stats.t(1.3), (-9, 0.5, 5)),
    "logistic": ({"location": 12.5, "scale": 9.7}, stats.logistic(12.5, 9.7), (-9, 12, 40)),
    "normal": ({"mean": 18.4, "sd": 9.7}, stats.norm(18.4, 9.7), (3, 19, 30)),
    "poisson": ({"rate": 2.3}, stats.poisson(2.3), (0, 1, 5)),
    "compound-poisson": (
        {"rate": 2.3, "jump": {"family": "exponential", "params": {"rate": 2}}},
        stats.poisson(2.3),
        (0, 1, 5),
    ),
    "geometric.trials": ({"probability": 0.3, "start": 1}, stats.geom(0.3), (1, 2, 7)),
    "geometric.failures": ({"probability": 0.3, "start": 0}, stats.geom(0.3, -1), (0, 1, 6)),
    "negative-binomial": ({"successes": 3, "probability": 0.4}, stats.nbinom(3, 0.4), (0, 2, 7)),
}
DENSITIES = {
    "beta": (r"proportional to (?=x)", 2),
    "truncated-normal": (r"density is proportional to", 1),
    "reciprocal": (r"proportional to (?=1/x)", 2),
    "arcsine": (r"(?:proportional to|with density)", 2),
    "erlang": (r"proportional to", 1),
    "f": (r"is proportional to", 1),
    "gamma": (r"proportional to", 2),
    "pareto": (r"proportional to", 1),
    "chi-squared": (r"proportional to", 1),
    "inverse-gaussian": (r"density (?=sqrt)", 2),
    "log-normal": (r"proportional to", 1),
    "rayleigh": (r"proportional to", 1),
    "laplace": (r"proportional to", 2),
    "student-t": (r"proportional to", 1),
    "student-t.standard": (r"proportional to", 2),
    "normal": (r"proportional to", 1),
}


def transform(law: object, s: float) -> float:
    """Return the Laplace transform of a positive law at s."""
    return law.expect(lambda x: np.exp(-s * x))


# law, words before the formula, its variable, what it must equal, how many texts hold one
CLAIMS = [
    ("pareto", r"P\(X > x\) =|claim exceeds x is", "x", lambda law, x: law.sf(x), 2),
    ("weibull", r"P\(X > x\) =|after x years is", "x", lambda law, x: law.sf(x), 2),
    ("exponential", r"P\(X > x\) =", "x", lambda law, x: law.sf(x), 1),
    ("exponential", r"t hours with probability", "t", lambda law, t: law.sf(t), 1),
    ("rayleigh", r"P\(X > x\) =|x metres with probability", "x", lambda law, x: law.sf(x), 2),
    (
        "frechet",
        r"P\(X <= x\) =|below x with probability|function is",
        "x",
        lambda law, x: law.cdf(x),
        3,
    ),
    ("gumbel", r"P\(X <= x\) =|at most x is", "x", lambda law, x: law.cdf(x), 2),
    ("logistic", r"P\(X <= x\) =|a fraction (?=\d)", "x", lambda law, x: law.cdf(x), 2),
    ("frechet", r"distribution with mean", "x", lambda law, x: -law.logcdf(x), 1),
    ("gumbel", r"distribution with mean", "x", lambda law, x: -law.logcdf(x), 1),
    ("logistic", r"against above x are", "x", lambda law, x: law.cdf(x) / law.sf(x), 1),
    ("weibull", r"h\(t\) =", "t", lambda law, t: law.pdf(t) / law.sf(t), 1),
    ("poisson", r"P\(X = k\) =", "k", lambda law, k: law.pmf(k), 1),
    ("compound-poisson", r"P\(N = k\) =", "k", lambda law, k: law.pmf(k), 1),
    ("geometric.trials", r"P\(X = k\) =", "k", lambda law, k: law.pmf(k), 1),
    ("geometric.failures", r"P\(X = k\) =", "k", lambda law, k: law.pmf(k), 1),
    ("negative-binomial", r"P\(X = k\) =", "k", lambda law, k: law.pmf(k), 1),
]
# the same, at points of an auxiliary variable: a uniform or exponential seed, or a transform's
CONSTRUCTIONS = [
    ("frechet", r"reading X =|the law of", "E", lambda law, e: law.ppf(math.exp(-e)), 2),
    ("gumbel", r"reading X =", "E", lambda law, e: law.ppf(math.exp(-e)), 1),
    ("logistic", r"logistic law of|scale is", "U", lambda law, u: law.ppf(u), 2),
    ("pareto", r"its mass is", "t", lambda law, t: law.isf(math.exp(-0.65 * t)), 1),
    ("gamma", r"\* D\) equals", "s", transform, 1),
    ("chi-squared", r"\* X\) is", "s", transform, 1),
    ("negative-binomial", r"E\[z\^X\] =", "z", lambda law, z: law.expect(lambda k: z**k), 1),
]


def formulas(name: str, start: str) -> list[str]:
    """Return the formula that follows these words in each text of a law that holds them."""
    params = LAWS[name][0]
    phrases = entry(name.partition(".")[0], params)
    options = [*phrases["explicit"], *phrases["implicit"]]
    raw = [each if isinstance(each, str) else each["text"] for each in options]
    texts = [each.format(**fields(params)) for each in raw]
    return [formula(text[found.end() :]) for text in texts if (found := re.search(start, text))]


def formula(text: str) -> str:
    """Return the formula that a text starts with, as Python.

    It ends where a word follows that is no function or parameter, where the sentence ends, or
    where a bracket closes that it did not open.
    """
    text = re.split(
        r"[.,;] |\.$| (?!(?:exp|sqrt|ln|location|scale|pi|Gamma)\b)(?=[A-Za-z]{2})", text.strip()
    )[0]
    text = re.sub(r"\|([^|]*)\|", r"abs(\1)", text).replace("k!", "factorial(k)").replace("^", "**")
    while text.count(")") > text.count("("):
        text = text[: text.rindex(")")]
    return text


def evaluate(expression: str, name: str, variable: str, points: tuple) -> np.ndarray:
    """Evaluate a formula at each point, its letters standing for the law's parameters."""
    params = LAWS[name][0]
    letters = {
        "m": params.get("location"),
        "s": params.get("scale"),
        "alpha": params.get("shape"),
        "p": params.get("probability"),
        "r": params.get("successes"),
        "ln": math.log,
        "Gamma": math.gamma,
        "abs": abs,
    }
    known = {**vars(math), **letters, **params}
    code = compile(expression, "text", "eval")
    return np.array([eval(code, {}, {**known, variable: point}) for point in points])


@pytest.mark.parametrize("name", DENSITIES)
def test_densities_are_those_of_the_law(name: str) -> None:
    """Every density written in a text is a constant multiple of the law's own."""
    start, n_texts = DENSITIES[name]
    found = formulas(name, start)
    _, law, points = LAWS[name]
    assert len(found) == n_texts
    for expression in found:
        ratio = evaluate(expression, name, "x", points) / law.pdf(points)
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


@pytest.mark.parametrize(("name", "start", "variable", "right", "n_texts"), CLAIMS)
def test_probabilities_are_those_of_the_law(name, start, variable, right, n_texts) -> None:
    """Every distribution, survival, mass or hazard function written in a text is the law's own."""
    found = formulas(name, start)
    _, law, points = LAWS[name]
    assert len(found) == n_texts
    for expression in found:
        written = evaluate(expression, name, variable, points)
        np.testing.assert_allclose(written, [right(law, x) for x in points], rtol=1e-9)


@pytest.mark.parametrize(("name", "start", "variable", "right", "n_texts"), CONSTRUCTIONS)
def test_constructions_give_the_law(name, start, variable, right, n_texts) -> None:
    """Readings built from a random seed are its quantiles, and transforms are the law's own."""
    found = formulas(name, start)
    law = LAWS[name][1]
    points = (0.05, 0.4, 0.85)
    assert len(found) == n_texts
    for expression in found:
        written = evaluate(expression, name, variable, points)
        np.testing.assert_allclose(written, [right(law, x) for x in points], rtol=1e-7)


def test_first_passage_of_the_stated_motion_is_inverse_gaussian() -> None:
    """A walk with the drift and variance of the stories passes level 1 as the law says.

    The distribution function of a first passage over level 1 with drift d and variance rate v is
    Phi((d t - 1)/sqrt(v t)) + exp(2 d / v) Phi((-d t - 1)/sqrt(v t)) (Schrödinger 1915).
    """
    params, law, points = LAWS["inverse-gaussian"]
    drift, variance, t = 1 / params["mean"], 1 / params["shape"], np.array(points)
    spread = np.sqrt(variance * t)
    passed = stats.norm.cdf((drift * t - 1) / spread) + np.exp(
        2 * drift / variance
    ) * stats.norm.cdf((-drift * t - 1) / spread)
    np.testing.assert_allclose(passed, law.cdf(t), rtol=1e-9)


def test_urns_and_mixed_counts_are_the_named_laws() -> None:
    """A reinforced urn is beta-binomial, and a gamma-mixed Poisson count is negative binomial."""
    alpha, beta, trials = 1.2, 1.1, 6
    chances = {(0, 0): 1.0}
    for _ in range(trials):
        step: dict[tuple[int, int], float] = {}
        for (red, blue), chance in chances.items():
            share = (alpha + red) / (alpha + beta + red + blue)
            step[red + 1, blue] = step.get((red + 1, blue), 0) + chance * share
            step[red, blue + 1] = step.get((red, blue + 1), 0) + chance * (1 - share)
        chances = step
    written = [chances[red, trials - red] for red in range(trials + 1)]
    right = stats.betabinom(trials, alpha, beta).pmf(range(trials + 1))
    np.testing.assert_allclose(written, right, rtol=1e-12)
    mean = stats.gamma(2.5, scale=0.6 / 0.4)
    mixed = [mean.expect(lambda m, k=k: stats.poisson.pmf(k, m)) for k in range(4)]
    np.testing.assert_allclose(mixed, stats.nbinom(2.5, 0.4).pmf(range(4)), rtol=1e-7)


def test_a_normal_with_rayleigh_spread_is_laplace() -> None:
    """R * Z with R Rayleigh(s) has the density of Laplace(0, s), as the rationale says."""
    spread = stats.rayleigh(scale=3.8)
    for x in (0.5, 2.0, 9.0):
        mixed = spread.expect(lambda r, x=x: stats.norm.pdf(x, 0, r))
        assert mixed == pytest.approx(stats.laplace.pdf(x, 0, 3.8), rel=1e-6)
