"""Fresh parameters for the published laws: other numbers, the same intent."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from unpredictabench.targets import canonical, target_from_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from unpredictabench.tasks.laws import PublishedLaw

STRETCH = 0.3
"""Largest change of the logarithm of a scale or an odds, so that the intent stays the same."""
DIGITS = 4
"""Significant digits of a redrawn number, so that two seeds hardly ever draw the same one."""
SCALES = {
    "alpha", "beta", "df", "df1", "df2", "divisor", "log_sd", "minimum", "rate", "rate1", "rate2",
    "scale", "sd", "shape",
}  # fmt: skip
LOCATIONS = {"mean", "location", "log_mean", "offset"}
COUNTS = {"trials", "successes", "stops"}
KEPT = {"coordinate", "component", "start", "values", "weights"}
"""What decides the form of a question and not its numbers."""

Params = dict[str, Any]


def redrawn(law: PublishedLaw, rng: np.random.Generator) -> Mapping[str, Any]:
    """Return a law of the same form and intent with other numbers.

    Parameters
    ----------
    law : PublishedLaw
        The law of a task of v1.
    rng : numpy.random.Generator
        Where the numbers come from.

    Returns
    -------
    mapping
        A spec that `target_from_spec` accepts.
    """
    return target_from_spec(_redrawn(law.law, _Draw(rng))).spec


class _Draw:
    """Numbers near given ones.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where they come from.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def between(self, low: float, high: float) -> float:
        """Return a uniform number."""
        return float(self.rng.uniform(low, high))

    def whole(self, low: int, high: int) -> int:
        """Return a uniform whole number, both ends included."""
        return int(self.rng.integers(low, high + 1))

    def factor(self, stretch: float = STRETCH) -> float:
        """Return a factor near 1."""
        return math.exp(self.between(-stretch, stretch))

    def scale(self, value: float) -> float:
        """Return a number of the same sign and magnitude."""
        return significant(value * self.factor())

    def count(self, value: int, least: int = 1) -> int:
        """Return a whole number of the same magnitude."""
        reach = max(1, round(value * STRETCH))
        return self.whole(max(least, value - reach), value + reach)

    def probability(self, value: float) -> float:
        """Return a probability of similar odds; 0 and 1 stay."""
        odds = value / (1.0 - value) * self.factor() if value < 1 else math.inf
        return significant(odds / (1.0 + odds)) if value < 1 else 1.0

    def simplex(self, values: Sequence[float]) -> list[float]:
        """Return probabilities near the given ones, in thousandths where those are not too rare."""
        raw = [value * self.factor() for value in values]
        digits = 3 if min(values) >= 0.005 else 5
        rounded = [round(value / math.fsum(raw), digits) for value in raw]
        largest = rounded.index(max(rounded))
        rounded[largest] = round(rounded[largest] + 1.0 - math.fsum(rounded), digits)
        return rounded


def significant(value: float, digits: int = DIGITS) -> float:
    """Round to a number of significant digits."""
    return float(f"{value:.{digits}g}")


def _redrawn(spec: Mapping[str, Any], draw: _Draw) -> dict[str, Any]:
    if "mixture" in spec:
        return {"mixture": _mixture(spec["mixture"], draw)}
    if "finite" in spec:
        law = spec["finite"]
        return {"finite": {**law, "probabilities": draw.simplex(law["probabilities"])}}
    family, params = spec["family"], dict(spec["params"])
    change = SPECIAL.get(family)
    fresh = change(params, draw) if change else _one_by_one(params, draw)
    return {"family": family, "params": canonical(fresh)}


def _mixture(parts: Sequence[Mapping[str, Any]], draw: _Draw) -> list[dict[str, Any]]:
    """Redraw the components and the weights; components that lie apart move together."""
    first = round(parts[0]["weight"] + draw.between(-0.1, 0.1), 2)
    weights = [first, round(1.0 - first, 2)]
    laws = [_redrawn(part["law"], draw) for part in parts]
    if parts[0]["law"]["family"] == "discrete-uniform":
        shift = draw.whole(0, 60)
        for law, part in zip(laws, parts, strict=True):
            ends = part["law"]["params"]
            law["params"] = {"low": ends["low"] + shift, "high": ends["high"] + shift}
    return [{"weight": w, "law": law} for w, law in zip(weights, laws, strict=True)]


def _one_by_one(params: Params, draw: _Draw) -> Params:
    return {name: _fresh(name, params, draw) for name in params}


def _fresh(name: str, params: Params, draw: _Draw) -> Any:
    """Redraw one parameter by what its name means."""
    if name in LOCATIONS:
        units = (params[unit] for unit in ("scale", "sd", "log_sd") if unit in params)
        unit = float(next(units, 1.0))
        return _at_step(params[name] + draw.between(-0.4, 0.4) * unit, unit)
    return BY_NAME[name](params[name], draw)


def _at_step(value: float, unit: float) -> float:
    """Round a location to a thousandth of its scale, in decimals."""
    return round(value, 3 - math.floor(math.log10(unit)))


def _interval(params: Params, draw: _Draw) -> Params:
    """Move and stretch an interval; a mode inside it keeps its relative place roughly."""
    low, high = params["low"], params["high"]
    width = high - low
    start, stretched = low + draw.between(-0.25, 0.25) * width, width * draw.factor()
    fresh = {"low": _at_step(start, width), "high": _at_step(start + stretched, width)}
    if "mode" in params:
        place = (params["mode"] - low) / width * draw.factor(0.1)
        fresh["mode"] = _at_step(start + min(place, 0.95) * stretched, width)
    return fresh


def _decades(params: Params, draw: _Draw) -> Params:
    low = draw.scale(params["low"])
    ratio = (params["high"] / params["low"]) ** draw.factor(0.2)
    return {"low": low, "high": significant(low * ratio)}


def _window(params: Params, draw: _Draw) -> Params:
    """Move and stretch a normal together with the window that cuts it."""
    mean, sd = params["mean"], params["sd"]
    fresh_sd = draw.scale(sd)
    centre = _at_step(mean + draw.between(-0.4, 0.4) * sd, sd)
    low, high = (
        _at_step(centre + (params[end] - mean) / sd * fresh_sd * draw.factor(0.1), sd)
        for end in ("low", "high")
    )
    return {"mean": centre, "sd": fresh_sd, "low": low, "high": high}


def _same_sign(params: Params, draw: _Draw) -> Params:
    """Keep the share of a rectified normal that is cut off roughly as it was."""
    return {name: draw.scale(value) for name, value in params.items()}


def _die(params: Params, draw: _Draw) -> Params:
    width = params["high"] - params["low"]
    fresh = draw.count(width, least=2)
    low = params["low"] + draw.whole(0, 60) if width < 10 else draw.count(abs(params["low"]))
    low = math.copysign(low, params["low"])
    return {"low": low, "high": low + fresh}


def _urn(params: Params, draw: _Draw) -> Params:
    population = draw.count(params["population"])
    shares = {name: params[name] / params["population"] for name in ("successes", "draws")}
    sizes = {name: draw.count(max(2, round(s * population))) for name, s in shares.items()}
    return {
        "population": population,
        **{name: min(max(size, 1), population - 1) for name, size in sizes.items()},
    }


def _categories(params: Params, draw: _Draw) -> Params:
    return {**params, "probabilities": draw.simplex(params["probabilities"])}


def _multinomial(params: Params, draw: _Draw) -> Params:
    return {**_categories(params, draw), "trials": draw.count(params["trials"])}


def _stopping(params: Params, draw: _Draw) -> Params:
    chances = params["probabilities"]
    fresh = draw.simplex([*chances, 1.0 - math.fsum(chances)])
    return {**params, "probabilities": fresh[:-1], "stops": draw.count(params["stops"])}


def _student(params: Params, draw: _Draw) -> Params:
    if params["location"] == 0 and params["scale"] == 1:
        return {**params, "df": draw.scale(params["df"])}
    return _one_by_one(params, draw)


def _rayleigh(params: Params, draw: _Draw) -> Params:
    """Redraw what is not part of the form: slope 1 and offset 0, a shape, a divisor equal to it."""
    fixed = {"component", "shape"}
    fixed |= {"offset", "slope"} if params.get("offset", 0) == 0 else set()
    fixed |= {"divisor"} if params.get("divisor") == params.get("shape") else set()
    return {name: value if name in fixed else draw.scale(value) for name, value in params.items()}


def _spherical(centre: str, spread: str) -> Callable[[Params, _Draw], Params]:
    """Return the change of a joint normal or t: every coordinate moved and stretched."""

    def change(params: Params, draw: _Draw) -> Params:
        matrix = np.asarray(params[spread], dtype=np.float64)
        units = np.sqrt(np.diag(matrix))
        factors = np.exp(draw.rng.uniform(-STRETCH, STRETCH, units.size))
        stretched = matrix * np.outer(factors, factors)
        fresh = [[significant(value) for value in row] for row in stretched.tolist()]
        middle = [
            _at_step(value + draw.between(-0.4, 0.4) * unit, unit)
            for value, unit in zip(params[centre], units.tolist(), strict=True)
        ]
        changed = {**params, centre: middle, spread: fresh}
        return {**changed, "df": draw.scale(params["df"])} if "df" in params else changed

    return change


BY_NAME: dict[str, Callable[[Any, _Draw], Any]] = {
    **dict.fromkeys(KEPT, lambda value, _: value),
    **dict.fromkeys(SCALES, lambda value, draw: draw.scale(value)),
    **dict.fromkeys(COUNTS, lambda value, draw: draw.count(value)),
    "probability": lambda value, draw: draw.probability(value),
    "probabilities": lambda value, draw: [draw.probability(p) for p in value],
    "concentration": lambda value, draw: [draw.scale(a) for a in value],
    "jump": _redrawn,
}
"""How a parameter changes, by its name, in families that have no change of their own."""

SPECIAL: dict[str, Callable[[Params, _Draw], Params]] = {
    "triangular": _interval,
    "uniform": _interval,
    "arcsine": _interval,
    "reciprocal": _decades,
    "truncated-normal": _window,
    "rectified-gaussian": _same_sign,
    "erlang": lambda p, draw: {"shape": draw.count(p["shape"]), "rate": draw.scale(p["rate"])},
    "inverse-gaussian": _same_sign,
    "rayleigh-mixture": _rayleigh,
    "student-t": _student,
    "discrete-uniform": _die,
    "hypergeometric": _urn,
    "categorical": _categories,
    "multinomial": _multinomial,
    "negative-multinomial": _stopping,
    "multivariate-normal": _spherical("mean", "covariance"),
    "multivariate-t": _spherical("location", "shape"),
}
"""Families whose parameters depend on each other or mean something else than their names."""
