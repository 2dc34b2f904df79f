"""What a family is: its parameters, how they must stand to each other, and the law they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unpredictabench.errors import InputError
from unpredictabench.targets.parameters import checked

if TYPE_CHECKING:
    from collections.abc import Callable

    from unpredictabench.records import Support
    from unpredictabench.targets.law import NumericLaw
    from unpredictabench.targets.parameters import Parameter


def unrelated(params: dict[str, Any]) -> None:
    """Accept any parameters that are right one by one."""


def increasing(low: str, high: str) -> Callable[[dict[str, Any]], tuple[str, str] | None]:
    """Return the relation that one parameter must be less than another."""

    def relation(params: dict[str, Any]) -> tuple[str, str] | None:
        is_right = params[low] < params[high]
        return None if is_right else (low, f"be less than {high} ({params[high]})")

    return relation


@dataclass(frozen=True, slots=True)
class Family:
    """A family of laws on the real line.

    Parameters
    ----------
    name : str
        The slug, e.g. ``"log-normal"``.
    support : {"continuous", "discrete", "mixed"}
        Kind of support; "mixed" families may give a discrete law.
    parameters : tuple of Parameter
        Every parameter, in the order it is documented.
    build : callable
        Makes the law of a spec and its checked parameters.
    relation : callable
        Returns None, or the name of the parameter that does not fit the others and the rule.
    """

    name: str
    support: Support
    parameters: tuple[Parameter, ...]
    build: Callable[[dict[str, Any], dict[str, Any]], NumericLaw]
    relation: Callable[[dict[str, Any]], tuple[str, str] | None] = unrelated

    def check(self, given: object, where: str = "") -> dict[str, Any]:
        """Return the parameters in canonical form, or raise `InputError` naming the wrong one."""
        place = f"{where}{self.name}"
        params = checked(place, given, self.parameters)
        broken = self.relation(params)
        if broken is not None:
            raise InputError(f"{place}.{broken[0]}", broken[1], params.get(broken[0]))
        return params

    def law(self, given: object, where: str = "") -> NumericLaw:
        """Return the law of some parameters, or raise `InputError` naming the wrong one."""
        params = self.check(given, where)
        return self.build({"family": self.name, "params": params}, params)
