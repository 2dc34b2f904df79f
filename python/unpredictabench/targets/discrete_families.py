"""The discrete families, the rectified normal, and compound Poisson laws of any jumps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from unpredictabench.errors import InputError
from unpredictabench.targets import discrete as tables
from unpredictabench.targets.compound import GammaJumps, UniformJumps, finite_jumps
from unpredictabench.targets.continuous import RectifiedLaw
from unpredictabench.targets.continuous_families import CONTINUOUS
from unpredictabench.targets.discrete import AtomLaw, LatticeLaw
from unpredictabench.targets.families import Family
from unpredictabench.targets.parameters import (
    Parameter,
    chance,
    checked,
    is_whole,
    masses,
    numbers,
    positive,
    probabilities,
    probability,
    real,
    whole,
)

if TYPE_CHECKING:
    from unpredictabench.targets.law import NumericLaw

MOST_ATOMS = 1_000_000
"""Largest table of a law; it bounds memory and time, not a mathematical limit."""
MOST_JUMPS = 500
"""Largest expected number of jumps, for which exp(-rate) is still a normal float."""
JUMP_FAMILIES = {
    family.name: family
    for family in CONTINUOUS
    if family.name in {"uniform", "gamma", "exponential"}
}
WHOLE_JUMPS = Parameter(
    "values",
    "be a list of whole numbers in [0, 1000]",
    lambda value: (
        isinstance(value, list)
        and len(value) > 0
        and all(is_whole(item, 0, 1000) for item in value)
    ),
)


def same_length(params: dict[str, Any]) -> tuple[str, str] | None:
    """Check that there are as many probabilities as values."""
    n = len(params["values"])
    is_right = len(params["probabilities"]) == n
    return None if is_right else ("probabilities", f"have {n} numbers, one a value")


def _ordered(params: dict[str, Any]) -> tuple[str, str] | None:
    low, high = params["low"], params["high"]
    return None if low <= high else ("low", f"be at most high ({high})")


def _urn(params: dict[str, Any]) -> tuple[str, str] | None:
    population = params["population"]
    for name in ("successes", "draws"):
        if params[name] > population:
            return name, f"be at most population ({population})"
    return None


def _jump(given: object, where: str) -> tuple[str, dict[str, Any]]:
    """Return the kind of a jump and its checked parameters."""
    if isinstance(given, Mapping) and set(given) == {"finite"}:
        params = checked(f"{where}finite", given["finite"], (WHOLE_JUMPS, masses("probabilities")))
        broken = same_length(params)
        if broken is not None:
            raise InputError(f"{where}finite.{broken[0]}", broken[1], params[broken[0]])
        return "finite", params
    name = given.get("family") if isinstance(given, Mapping) else None
    if not isinstance(given, Mapping) or name not in JUMP_FAMILIES:
        raise InputError(
            where.removesuffix("."), f"be finite or one of {', '.join(JUMP_FAMILIES)}", given
        )
    return str(name), JUMP_FAMILIES[name].check(given.get("params"), where)


def _compound(spec: dict[str, Any], params: dict[str, Any]) -> NumericLaw:
    rate = params["rate"]
    kind, jump = _jump(params["jump"], "compound-poisson.jump.")
    form = {"finite": jump} if kind == "finite" else {"family": kind, "params": jump}
    spec = {"family": spec["family"], "params": {"rate": rate, "jump": form}}
    if kind == "finite":
        ends = (0.0, math.inf)
        values, weights = jump["values"], jump["probabilities"]
        return AtomLaw(spec, lambda: finite_jumps(rate, values, weights), ends=ends)
    if kind == "uniform":
        if jump["low"] < 0:
            raise InputError("compound-poisson.jump.uniform.low", "be at least 0", jump["low"])
        return UniformJumps(spec, rate, low=jump["low"], high=jump["high"])
    if kind == "exponential":
        return GammaJumps(spec, rate, shape=1, scale=1.0 / jump["rate"])
    return GammaJumps(spec, rate, shape=jump["shape"], scale=jump["scale"])


DISCRETE = (
    Family(
        "bernoulli",
        "discrete",
        (probability("probability"),),
        lambda s, p: AtomLaw(
            s, lambda: tables.finite([0, 1], [1.0 - p["probability"], p["probability"]])
        ),
    ),
    Family(
        "poisson-binomial",
        "discrete",
        (probabilities("probabilities"),),
        lambda s, p: AtomLaw(s, lambda: tables.poisson_binomial(p["probabilities"])),
    ),
    Family(
        "beta-binomial",
        "discrete",
        (whole("trials", 1, MOST_ATOMS), positive("alpha"), positive("beta")),
        lambda s, p: AtomLaw(
            s, lambda: tables.scipy_pmf("betabinom", p["trials"], p["alpha"], p["beta"])
        ),
    ),
    Family(
        "binomial",
        "discrete",
        (whole("trials", 1), probability("probability")),
        lambda s, p: LatticeLaw(s, "binom", p["trials"], p["probability"]),
    ),
    Family(
        "discrete-uniform",
        "discrete",
        (whole("low"), whole("high")),
        lambda s, p: LatticeLaw(s, "randint", p["low"], p["high"] + 1),
        _ordered,
    ),
    Family(
        "hypergeometric",
        "discrete",
        (whole("population", 1, MOST_ATOMS), whole("successes", 0), whole("draws", 0)),
        lambda s, p: AtomLaw(
            s,
            lambda: tables.scipy_pmf("hypergeom", p["population"], p["successes"], p["draws"]),
        ),
        _urn,
    ),
    Family(
        "poisson",
        "discrete",
        (positive("rate", at_most=1e12),),
        lambda s, p: LatticeLaw(s, "poisson", p["rate"]),
    ),
    Family(
        "skellam",
        "discrete",
        (positive("rate1", at_most=1e6), positive("rate2", at_most=1e6)),
        lambda s, p: AtomLaw(
            s,
            lambda: tables.skellam(p["rate1"], p["rate2"]),
            ends=(-math.inf, math.inf),
        ),
    ),
    Family(
        "geometric",
        "discrete",
        (chance("probability"), whole("start", 0, 1).with_default(1)),
        lambda s, p: LatticeLaw(s, "geom", p["probability"], loc=p["start"] - 1),
    ),
    Family(
        "negative-binomial",
        "discrete",
        (positive("successes"), chance("probability")),
        lambda s, p: LatticeLaw(s, "nbinom", p["successes"], p["probability"]),
    ),
    Family(
        "compound-poisson",
        "mixed",
        (
            positive("rate", at_most=MOST_JUMPS),
            Parameter("jump", "be the spec of a law", lambda value: isinstance(value, dict)),
        ),
        _compound,
    ),
    Family(
        "categorical",
        "discrete",
        (numbers("values"), masses("probabilities")),
        lambda s, p: AtomLaw(s, lambda: tables.finite(p["values"], p["probabilities"])),
        same_length,
    ),
    Family(
        "rectified-gaussian",
        "mixed",
        (real("mean"), positive("sd")),
        lambda s, p: RectifiedLaw(s, p["mean"], p["sd"]),
    ),
)
"""In the order of the documented table."""
