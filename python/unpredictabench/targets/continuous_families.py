"""The continuous families."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from unpredictabench.targets.continuous import ScipyLaw
from unpredictabench.targets.families import Family, increasing, unrelated
from unpredictabench.targets.parameters import Parameter, choice, positive, real, whole
from unpredictabench.targets.rayleigh import RayleighGammaLaw, RayleighNormalLaw

if TYPE_CHECKING:
    from collections.abc import Callable

    from unpredictabench.targets.law import NumericLaw

LOG_SIZE = 500.0  # exp(500) = 1.4e217, which leaves room for a spread
LOW_HIGH = (real("low"), real("high"))
PLACE = (real("location"), positive("scale"))
COMPONENTS = {
    "normal-location": ("offset", "slope", "sd"),
    "normal-scale": (),
    "gamma": ("shape", "divisor"),
}
"""What each kind of Rayleigh mixture needs beside the scale."""


def _from_scipy(
    names: tuple[str, str],
    parameters: tuple[Parameter, ...],
    arguments: Callable[[dict[str, Any]], tuple[tuple[float, ...], float, float]],
    *,
    relation: Callable[[dict[str, Any]], tuple[str, str] | None] = unrelated,
    n_moments: Callable[[dict[str, Any]], float] = lambda _: math.inf,
) -> Family:
    """Return a family whose laws are SciPy's.

    `names` are ours and SciPy's; `arguments` gives shapes, location and scale.
    """
    name, scipy_name = names

    def build(spec: dict[str, Any], params: dict[str, Any]) -> NumericLaw:
        shapes, loc, scale = arguments(params)
        return ScipyLaw(
            spec, scipy_name, *shapes, loc=loc, scale=scale, n_moments=n_moments(params)
        )

    return Family(name, "continuous", parameters, build, relation)


def _triangle(params: dict[str, Any]) -> tuple[str, str] | None:
    low, mode, high = params["low"], params["mode"], params["high"]
    if not low < high:
        return "low", f"be less than high ({high})"
    return None if low <= mode <= high else ("mode", f"lie in [{low}, {high}]")


def _mixture_parameters(params: dict[str, Any]) -> tuple[str, str] | None:
    wanted = COMPONENTS[params["component"]]
    for name in ("offset", "slope", "sd", "shape", "divisor"):
        if (name in wanted) != (name in params):
            rule = "be given" if name in wanted else "be left out"
            return name, f'{rule} where component is "{params["component"]}"'
    return ("slope", "not be 0") if params.get("slope") == 0 else None


def _rayleigh_mixture(spec: dict[str, Any], params: dict[str, Any]) -> NumericLaw:
    scale = params["scale"]
    if params["component"] == "normal-location":
        offset, slope, sd = params["offset"], params["slope"], params["sd"]
        return RayleighNormalLaw(spec, scale, offset=offset, slope=slope, sd=sd)
    if params["component"] == "gamma":
        shape, divisor = params["shape"], params["divisor"]
        return RayleighGammaLaw(spec, scale, shape=shape, divisor=divisor)
    # The variance R^2 is exponential with mean 2 scale^2, which makes the normal a Laplace.
    return ScipyLaw(spec, "laplace", scale=scale)


_FARTHEST = 1e8
"""Standard deviations from the mean beyond which SciPy cannot cut a normal off."""


def _normal_window(params: dict[str, Any]) -> tuple[tuple[float, ...], float, float]:
    mean, sd = params["mean"], params["sd"]
    return ((params["low"] - mean) / sd, (params["high"] - mean) / sd), mean, sd


def _has_window(params: dict[str, Any]) -> tuple[str, str] | None:
    if broken := increasing("low", "high")(params):
        return broken
    (low, high), *_ = _normal_window(params)
    if not (low < high and low <= _FARTHEST and high >= -_FARTHEST):
        far = f"{_FARTHEST:g} of them from the mean"
        return "sd", f"leave low and high apart in standard deviations, and less than {far}"
    return None


CONTINUOUS = (
    _from_scipy(
        ("beta", "beta"),
        (positive("alpha"), positive("beta")),
        lambda p: ((p["alpha"], p["beta"]), 0.0, 1.0),
    ),
    _from_scipy(
        ("triangular", "triang"),
        (real("low"), real("mode"), real("high")),
        lambda p: (
            ((p["mode"] - p["low"]) / (p["high"] - p["low"]),),
            p["low"],
            p["high"] - p["low"],
        ),
        relation=_triangle,
    ),
    _from_scipy(
        ("truncated-normal", "truncnorm"),
        (real("mean"), positive("sd"), *LOW_HIGH),
        _normal_window,
        relation=_has_window,
    ),
    _from_scipy(
        ("uniform", "uniform"),
        LOW_HIGH,
        lambda p: ((), p["low"], p["high"] - p["low"]),
        relation=increasing("low", "high"),
    ),
    _from_scipy(
        ("reciprocal", "loguniform"),
        (positive("low"), positive("high")),
        lambda p: ((p["low"], p["high"]), 0.0, 1.0),
        relation=increasing("low", "high"),
    ),
    _from_scipy(
        ("arcsine", "arcsine"),
        LOW_HIGH,
        lambda p: ((), p["low"], p["high"] - p["low"]),
        relation=increasing("low", "high"),
    ),
    _from_scipy(
        ("erlang", "gamma"),
        (whole("shape", 1), positive("rate")),
        lambda p: ((p["shape"],), 0.0, 1.0 / p["rate"]),
    ),
    _from_scipy(
        ("f", "f"),
        (positive("df1"), positive("df2")),
        lambda p: ((p["df1"], p["df2"]), 0.0, 1.0),
        n_moments=lambda p: p["df2"] / 2.0,
    ),
    _from_scipy(
        ("gamma", "gamma"),
        (positive("shape"), positive("scale")),
        lambda p: ((p["shape"],), 0.0, p["scale"]),
    ),
    _from_scipy(
        ("pareto", "pareto"),
        (positive("minimum"), positive("shape")),
        lambda p: ((p["shape"],), 0.0, p["minimum"]),
        n_moments=lambda p: p["shape"],
    ),
    _from_scipy(
        ("weibull", "weibull_min"),
        (positive("shape"), positive("scale")),
        lambda p: ((p["shape"],), 0.0, p["scale"]),
    ),
    _from_scipy(("chi-squared", "chi2"), (positive("df"),), lambda p: ((p["df"],), 0.0, 1.0)),
    _from_scipy(
        ("exponential", "expon"), (positive("rate"),), lambda p: ((), 0.0, 1.0 / p["rate"])
    ),
    _from_scipy(
        ("inverse-gaussian", "invgauss"),
        (positive("mean"), positive("shape")),
        lambda p: ((p["mean"] / p["shape"],), 0.0, p["shape"]),
    ),
    _from_scipy(
        ("log-normal", "lognorm"),
        (real("log_mean", LOG_SIZE), positive("log_sd")),
        lambda p: ((p["log_sd"],), 0.0, math.exp(p["log_mean"])),
    ),
    _from_scipy(("rayleigh", "rayleigh"), (positive("scale"),), lambda p: ((), 0.0, p["scale"])),
    Family(
        "rayleigh-mixture",
        "continuous",
        (
            positive("scale"),
            choice("component", tuple(COMPONENTS)),
            real("offset").with_default(None),
            real("slope").with_default(None),
            positive("sd").with_default(None),
            positive("shape").with_default(None),
            positive("divisor").with_default(None),
        ),
        _rayleigh_mixture,
        _mixture_parameters,
    ),
    _from_scipy(
        ("frechet", "invweibull"),
        (positive("shape"), positive("scale"), real("location")),
        lambda p: ((p["shape"],), p["location"], p["scale"]),
        n_moments=lambda p: p["shape"],
    ),
    _from_scipy(("gumbel", "gumbel_r"), PLACE, lambda p: ((), p["location"], p["scale"])),
    _from_scipy(("laplace", "laplace"), PLACE, lambda p: ((), p["location"], p["scale"])),
    _from_scipy(
        ("student-t", "t"),
        (
            positive("df"),
            real("location").with_default(0),
            positive("scale").with_default(1),
        ),
        lambda p: ((p["df"],), p["location"], p["scale"]),
        n_moments=lambda p: p["df"],
    ),
    _from_scipy(("logistic", "logistic"), PLACE, lambda p: ((), p["location"], p["scale"])),
    _from_scipy(
        ("normal", "norm"), (real("mean"), positive("sd")), lambda p: ((), p["mean"], p["sd"])
    ),
)
"""In the order of the documented table."""
