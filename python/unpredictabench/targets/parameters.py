"""Parameters of the families: what each must be, checked before any law is made."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unpredictabench.errors import InputError, nearest
from unpredictabench.targets.canonical import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

TOLERANCE = 1e-9
"""How far a sum of probabilities may be from 1, as decimals like 0.333333333 are."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One named parameter of a family.

    Parameters
    ----------
    name : str
        As in the spec.
    rule : str
        What it must be, as a phrase that follows "must".
    accepts : callable
        Tells whether a value in canonical form obeys the rule.
    default : object
        Taken when the parameter is left out; `REQUIRED` when it may not be.
    """

    name: str
    rule: str
    accepts: Callable[[Any], bool]
    default: object = None
    is_optional: bool = False

    def with_default(self, default: object) -> Parameter:
        """Return the same parameter, optional."""
        return Parameter(self.name, self.rule, self.accepts, default, is_optional=True)


LARGEST = 1e100
"""Size up to which a parameter may go, and below whose inverse it may not: its square is a float
still, and no formula overflows on the way."""


def is_number(value: object) -> bool:
    """Tell whether a value is a finite number and not a truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def is_whole(value: object, low: float = -math.inf, high: float = math.inf) -> bool:
    """Tell whether a canonical value is a whole number within bounds."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def real(name: str, size: float = LARGEST) -> Parameter:
    """Return a parameter that is any number up to a size, of either sign."""
    rule = f"be a finite number in [-{size:g}, {size:g}]"
    return Parameter(name, rule, lambda value: is_number(value) and abs(value) <= size)


def positive(name: str, at_most: float = LARGEST) -> Parameter:
    """Return a parameter that is a number above 0."""
    bounds = (
        f"at most {at_most:,.0f}" if at_most < LARGEST else f"in [{1 / LARGEST:g}, {LARGEST:g}]"
    )
    return Parameter(
        name,
        f"be a finite number above 0 and {bounds}",
        lambda value: is_number(value) and 1 / LARGEST <= value <= at_most,
    )


def probability(name: str) -> Parameter:
    """Return a parameter that is a number in [0, 1]."""
    return Parameter(name, "lie in [0, 1]", lambda value: is_number(value) and 0 <= value <= 1)


def chance(name: str) -> Parameter:
    """Return a parameter that is a number in (0, 1]."""
    return Parameter(name, "lie in (0, 1]", lambda value: is_number(value) and 0 < value <= 1)


def whole(name: str, low: int | None = None, high: int | None = None) -> Parameter:
    """Return a parameter that is a whole number, within bounds where they are given."""
    bounds = "" if low is None else f" of at least {low}"
    bounds += "" if high is None else f" and at most {high:,}"
    least = -(2**53) if low is None else low
    most = 2**53 if high is None else high
    return Parameter(name, f"be a whole number{bounds}", lambda value: is_whole(value, least, most))


def numbers(name: str, *, least: int = 1) -> Parameter:
    """Return a parameter that is a list of finite numbers."""
    return Parameter(
        name,
        f"be a list of at least {least} finite numbers",
        lambda value: (
            isinstance(value, list) and len(value) >= least and all(map(is_number, value))
        ),
    )


def positives(name: str) -> Parameter:
    """Return a parameter that is a list of at least two numbers above 0."""
    return Parameter(
        name,
        "be a list of at least 2 finite numbers above 0",
        lambda value: (
            isinstance(value, list)
            and len(value) > 1
            and all(is_number(item) and item > 0 for item in value)
        ),
    )


def probabilities(name: str, *, rule: str = "", least: int = 1) -> Parameter:
    """Return a parameter that is a list of numbers in [0, 1], which need not sum to anything."""
    return Parameter(
        name,
        rule or f"be a list of at least {least} numbers in [0, 1]",
        lambda value: (
            isinstance(value, list)
            and len(value) >= least
            and all(is_number(item) and 0 <= item <= 1 for item in value)
        ),
    )


def masses(name: str) -> Parameter:
    """Return a parameter that is a list of probabilities with sum 1."""
    within = probabilities(name)
    return Parameter(
        name,
        "be a list of numbers in [0, 1] with sum 1",
        lambda value: within.accepts(value) and abs(math.fsum(value) - 1.0) <= TOLERANCE,
    )


def matrix(name: str) -> Parameter:
    """Return a parameter that is a symmetric positive definite matrix, as a list of rows."""
    return Parameter(name, "be a symmetric positive definite matrix", _is_positive_definite)


def _is_positive_definite(value: object) -> bool:
    if not isinstance(value, list) or not value:
        return False
    size = len(value)
    if not all(isinstance(row, list) and len(row) == size for row in value):
        return False
    if not all(is_number(item) for row in value for item in row):
        return False
    import numpy as np  # noqa: PLC0415 - needed only for this rule

    square = np.asarray(value, dtype=np.float64)
    return bool((square == square.T).all() and np.linalg.eigvalsh(square)[0] > 0)


def choice(name: str, values: Sequence[str]) -> Parameter:
    """Return a parameter that is one of a few words."""
    listed = ", ".join(f'"{value}"' for value in values)
    return Parameter(name, f"be one of {listed}", lambda value: value in values)


def index(name: str) -> Parameter:
    """Return a parameter that counts coordinates from 0; its family checks the upper bound."""
    return whole(name, 0)


def checked(where: str, given: object, parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Return the parameters in canonical form, defaults filled in.

    Parameters
    ----------
    where : str
        What the parameters belong to; stands before the parameter's name in messages.
    given : object
        What the spec holds.
    parameters : iterable of Parameter
        What is allowed.

    Raises
    ------
    InputError
        When a parameter is missing, unknown, or breaks its rule.
    """
    known = {parameter.name: parameter for parameter in parameters}
    if not isinstance(given, Mapping):
        raise InputError(where, f"be a mapping of {', '.join(known) or 'nothing'}", given)
    for name in given:
        if name not in known:
            raise InputError(f"{where}.{name}", f"be one of {nearest(name, known)}", given[name])
    out: dict[str, Any] = {}
    for name, parameter in known.items():
        if name not in given and not parameter.is_optional:
            raise InputError(f"{where}.{name}", f"be given and {parameter.rule}", None)
        value = canonical(given.get(name, parameter.default))
        if name in given and not parameter.accepts(value):
            raise InputError(f"{where}.{name}", parameter.rule, given[name])
        if value is not None:
            out[name] = value
    return out
