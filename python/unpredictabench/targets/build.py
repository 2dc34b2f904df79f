"""From a spec to its law."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from unpredictabench.errors import InputError, nearest
from unpredictabench.targets.continuous_families import CONTINUOUS
from unpredictabench.targets.discrete import AtomLaw, finite
from unpredictabench.targets.discrete_families import DISCRETE, same_length
from unpredictabench.targets.empirical import EmpiricalLaw
from unpredictabench.targets.joint_families import JOINT
from unpredictabench.targets.law import NumericLaw
from unpredictabench.targets.mixture import MixtureLaw
from unpredictabench.targets.nominal import NominalLaw, uniform_orders
from unpredictabench.targets.parameters import (
    Parameter,
    chance,
    checked,
    is_whole,
    masses,
    numbers,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from unpredictabench.records import Outcome
    from unpredictabench.targets.families import Family

FAMILIES: dict[str, Family] = {family.name: family for family in (*CONTINUOUS, *DISCRETE, *JOINT)}
"""Every family by its slug."""
MOST_ITEMS = 8
"""Largest number of items to permute; 8! = 40,320 outcomes."""

VALUES = numbers("values")
MASSES = masses("probabilities")


def target_from_spec(spec: Mapping[str, object], *, where: str = "") -> NumericLaw | NominalLaw:
    """Return the law of a spec.

    Parameters
    ----------
    spec : mapping
        One of ``{"family": name, "params": {...}}``, ``{"mixture": [{"weight": w, "law": spec},
        ...]}``, ``{"finite": {"values": [...], "probabilities": [...]}}``, ``{"nominal":
        {"outcomes": [...], "probabilities": [...]}}``, ``{"permutation": {"items": [...]}}``,
        ``{"samples": {"values": [...]}}`` or ``{"drawn": {"law": spec, "values": [...]}}``, a law
        with the draws that stand for it as a sample; the parameters of the families are listed in
        docs/tasks.md.
    where : str
        Stands before the name of a parameter in messages.

    Returns
    -------
    NumericLaw or NominalLaw
        The law; nothing is computed before a number is asked for.

    Raises
    ------
    InputError
        When the spec has no such form, or a parameter breaks its rule.

    Examples
    --------
    >>> law = target_from_spec({"family": "poisson", "params": {"rate": 2}})
    >>> law.support, float(law.cdf(0)).__round__(4), float(law.ppf(0.5))
    ('discrete', 0.1353, 2.0)
    """
    if isinstance(spec, Mapping):
        if "family" in spec:
            return _of_family(spec, where)
        if len(spec) == 1:
            ((form, content),) = spec.items()
            if form in FORMS:
                return FORMS[form](content, f"{where}{form}")
    raise InputError(
        where.removesuffix(".") or "spec",
        f"hold family and params, or exactly one of {', '.join(FORMS)}",
        spec,
    )


def _of_family(spec: Mapping[str, object], where: str) -> NumericLaw:
    name = spec["family"]
    for key in spec:
        if key not in {"family", "params"}:
            raise InputError(f"{where}{key}", "be family or params", spec[key])
    if not isinstance(name, str) or name not in FAMILIES:
        raise InputError(
            f"{where}family", f"be the name of one, such as {nearest(name, FAMILIES)}", name
        )
    return FAMILIES[name].law(spec.get("params", {}), where)


def _mixture(content: object, where: str) -> NumericLaw:
    if not isinstance(content, list | tuple) or not content:
        raise InputError(where, "be a list of weights and laws", content)
    weights: list[float] = []
    parts: list[NumericLaw] = []
    for position, entry in enumerate(content):
        place = f"{where}[{position}]"
        given = checked(place, entry, (chance("weight"), _LAW))
        part = target_from_spec(given["law"], where=f"{place}.law.")
        if not isinstance(part, NumericLaw) or not part.is_exact or "drawn" in part.spec:
            raise InputError(f"{place}.law", "be a law of numbers, not of draws", given["law"])
        weights.append(given["weight"])
        parts.append(part)
    if not MASSES.accepts(weights):
        raise InputError(f"{where} weights", "sum to 1", weights)
    spec = {
        "mixture": [{"weight": w, "law": part.spec} for w, part in zip(weights, parts, strict=True)]
    }
    total = sum(weights)
    return MixtureLaw(spec, [weight / total for weight in weights], parts)


def _finite(content: object, where: str) -> NumericLaw:
    params = checked(where, content, (VALUES, MASSES))
    broken = same_length(params)
    if broken is not None:
        raise InputError(f"{where}.{broken[0]}", broken[1], params[broken[0]])
    return AtomLaw({"finite": params}, lambda: finite(params["values"], params["probabilities"]))


def _nominal(content: object, where: str) -> NominalLaw:
    params = checked(where, content, (_OUTCOMES, MASSES))
    if len(params["probabilities"]) != len(params["outcomes"]):
        raise InputError(
            f"{where}.probabilities",
            f"have {len(params['outcomes'])} numbers, one an outcome",
            params["probabilities"],
        )
    return NominalLaw({"nominal": params}, lambda: _nominal_table(params))


def _nominal_table(params: dict[str, Any]) -> tuple[tuple[Outcome, ...], Any]:
    outcomes: tuple[Outcome, ...] = tuple(map(_outcome, params["outcomes"]))
    return outcomes, np.asarray(params["probabilities"], dtype=np.float64)


def _outcome(value: object) -> Outcome:
    return tuple(value) if isinstance(value, list) else str(value)


def _permutation(content: object, where: str) -> NominalLaw:
    params = checked(where, content, (_ITEMS,))
    n = len(params["items"])
    return NominalLaw({"permutation": params}, lambda: uniform_orders(n))


def _samples(content: object, where: str) -> NumericLaw | NominalLaw:
    params = checked(where, content, (_SAMPLE,))
    values = params["values"]
    if not isinstance(values[0], str):
        return EmpiricalLaw({"samples": params}, values)
    return NominalLaw({"samples": params}, lambda: _shares(values), is_exact=False)


def _shares(values: list[str]) -> tuple[tuple[Outcome, ...], Any]:
    outcomes, counts = np.unique(values, return_counts=True)
    return tuple(map(str, outcomes)), counts.astype(np.float64)


def _drawn(content: object, where: str) -> NumericLaw | NominalLaw:
    """Return a law with given draws: numbers, or indices into the outcomes of a nominal law."""
    params = checked(where, content, (_LAW, _DRAWS))
    law = target_from_spec(params["law"], where=f"{where}.law.")
    spec = {"drawn": {"law": law.spec, "values": params["values"]}}
    if isinstance(law, NumericLaw):
        return law.with_draws(np.asarray(params["values"], dtype=np.float64), spec)
    indices = np.asarray(params["values"], dtype=np.int64)
    n = len(law.outcomes)
    if not np.array_equal(indices, params["values"]) or not ((indices >= 0) & (indices < n)).all():
        raise InputError(f"{where}.values", f"be indices below {n}", params["values"])
    return law.with_draws(indices, spec)


def _are_outcomes(value: object) -> bool:
    """Tell whether outcomes are distinct, and all texts or all orders of the same indices."""
    if not isinstance(value, list) or not value:
        return False
    if all(isinstance(item, str) for item in value):
        return len(set(value)) == len(value)
    if not all(isinstance(item, list) for item in value):
        return False
    indices = list(range(len(value[0])))
    is_order = all(all(map(is_whole, item)) and sorted(item) == indices for item in value)
    return is_order and len({tuple(item) for item in value}) == len(value)


_SAMPLE = Parameter(
    "values",
    "be a list of at least 2 finite numbers, or of at least 2 texts",
    lambda value: (
        numbers("values", least=2).accepts(value)
        or (isinstance(value, list) and len(value) > 1 and all(isinstance(v, str) for v in value))
    ),
)
_DRAWS = numbers("values", least=2)
_LAW = Parameter("law", "be the spec of a law", lambda value: isinstance(value, dict))
_OUTCOMES = Parameter(
    "outcomes", "be a list of different texts, or of different orders of indices", _are_outcomes
)
_ITEMS = Parameter(
    "items",
    f"be a list of 2 to {MOST_ITEMS} different texts",
    lambda value: (
        isinstance(value, list)
        and 2 <= len(value) <= MOST_ITEMS
        and all(isinstance(item, str) for item in value)
        and len(set(value)) == len(value)
    ),
)
FORMS: dict[str, Callable[[object, str], NumericLaw | NominalLaw]] = {
    "mixture": _mixture,
    "finite": _finite,
    "nominal": _nominal,
    "permutation": _permutation,
    "samples": _samples,
    "drawn": _drawn,
}
"""Forms of a spec other than a family, each with what reads its content."""
