"""Joint families, of which a task asks one coordinate or one weighted sum."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from unpredictabench.targets import discrete as tables
from unpredictabench.targets.continuous import ScipyLaw
from unpredictabench.targets.discrete import AtomLaw, LatticeLaw
from unpredictabench.targets.families import Family
from unpredictabench.targets.parameters import (
    Parameter,
    index,
    is_whole,
    masses,
    matrix,
    numbers,
    positive,
    positives,
    probabilities,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from unpredictabench.targets.law import NumericLaw

    Relation = Callable[[dict[str, Any]], tuple[str, str] | None]

WHOLE_WEIGHTS = Parameter(
    "weights",
    "be a list of whole numbers from -1000 to 1000",
    lambda value: isinstance(value, list) and all(is_whole(item, -1000, 1000) for item in value),
)
COORDINATE = index("coordinate")
COORDINATE_OR_TOTAL = Parameter(
    "coordinate",
    'be a coordinate counted from 0, or "total"',
    lambda value: value == "total" or is_whole(value, 0),
)


def _of_size(vector: str, *, square: str | None = None) -> Relation:
    """Return the relation that coordinate, weights and matrix fit the length of a vector."""

    def relation(params: dict[str, Any]) -> tuple[str, str] | None:
        n = len(params[vector])
        if square is not None and len(params[square]) != n:
            return square, f"have {n} rows, one a number of {vector}"
        if ("coordinate" in params) == ("weights" in params) and "weights" in params:
            return "weights", "be left out where coordinate is given"
        if "weights" in params:
            is_right = len(params["weights"]) == n
            return None if is_right else ("weights", f"have {n} numbers, one a coordinate")
        if "coordinate" not in params:
            return "coordinate", f"be given and lie in 0 to {n - 1}"
        is_right = params["coordinate"] == "total" or params["coordinate"] < n
        return None if is_right else ("coordinate", f"lie in 0 to {n - 1}")

    return relation


def _stopping(params: dict[str, Any]) -> tuple[str, str] | None:
    if math.fsum(params["probabilities"]) >= 1:
        return "probabilities", "sum to less than 1"
    return _of_size("probabilities")(params)


def _dirichlet(spec: dict[str, Any], params: dict[str, Any]) -> NumericLaw:
    chosen = params["coordinate"]
    others = [a for k, a in enumerate(params["concentration"]) if k != chosen]
    return ScipyLaw(spec, "beta", params["concentration"][chosen], math.fsum(others))


def _multinomial(spec: dict[str, Any], params: dict[str, Any]) -> NumericLaw:
    trials, chances = params["trials"], params["probabilities"]
    if "weights" in params:
        weights = params["weights"]
        return AtomLaw(spec, lambda: tables.weighted_multinomial(trials, chances, weights))
    return LatticeLaw(spec, "binom", trials, chances[params["coordinate"]])


def _normal(spec: dict[str, Any], params: dict[str, Any]) -> NumericLaw:
    mean = np.asarray(params["mean"], dtype=np.float64)
    weights = np.zeros(mean.size)
    if "weights" in params:
        weights[:] = params["weights"]
    else:
        weights[params["coordinate"]] = 1.0
    variance = weights @ np.asarray(params["covariance"], dtype=np.float64) @ weights
    return ScipyLaw(spec, "norm", loc=float(weights @ mean), scale=math.sqrt(variance))


def _student(spec: dict[str, Any], params: dict[str, Any]) -> NumericLaw:
    k, df = params["coordinate"], params["df"]
    scale = math.sqrt(params["shape"][k][k])
    return ScipyLaw(spec, "t", df, loc=params["location"][k], scale=scale, n_moments=df)


def _negative_multinomial(spec: dict[str, Any], params: dict[str, Any]) -> NumericLaw:
    chances = params["probabilities"]
    stop = 1.0 - math.fsum(chances)
    if params["coordinate"] != "total":
        # Trials that end in neither outcome do not matter to the count of one.
        stop /= stop + chances[params["coordinate"]]
    return LatticeLaw(spec, "nbinom", params["stops"], stop)


def _not_zero(params: dict[str, Any]) -> tuple[str, str] | None:
    broken = _of_size("mean", square="covariance")(params)
    if broken is None and not any(params.get("weights", [1])):
        return "weights", "not all be 0"
    return broken


JOINT = (
    Family(
        "dirichlet",
        "continuous",
        (positives("concentration"), COORDINATE),
        _dirichlet,
        _of_size("concentration"),
    ),
    Family(
        "multinomial",
        "discrete",
        (
            whole("trials", 1, 10_000),
            masses("probabilities"),
            COORDINATE.with_default(None),
            WHOLE_WEIGHTS.with_default(None),
        ),
        _multinomial,
        _of_size("probabilities"),
    ),
    Family(
        "multivariate-normal",
        "continuous",
        (
            numbers("mean"),
            matrix("covariance"),
            COORDINATE.with_default(None),
            numbers("weights").with_default(None),
        ),
        _normal,
        _not_zero,
    ),
    Family(
        "multivariate-t",
        "continuous",
        (positive("df"), numbers("location"), matrix("shape"), COORDINATE),
        _student,
        _of_size("location", square="shape"),
    ),
    Family(
        "negative-multinomial",
        "discrete",
        (
            whole("stops", 1),
            probabilities("probabilities"),
            COORDINATE_OR_TOTAL,
        ),
        _negative_multinomial,
        _stopping,
    ),
)
"""In the order of the documented table."""
