"""Program texts with blanks, and the filling of the blanks with numbers and names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template
from textwrap import dedent
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

Params: TypeAlias = Mapping[str, Any]
Recipes: TypeAlias = "dict[str, tuple[Recipe, ...]]"

NAMES = {
    "rng": ("rng", "gen", "source"),
    "out": ("value", "result", "answer", "outcome"),
    "total": ("total", "acc", "running"),
    "count": ("count", "tally", "found"),
    "u": ("u", "draw", "roll"),
    "v": ("v", "other", "second"),
    "vec": ("vector", "parts", "entries"),
}
"""What the blank names in a program may become; the lists are disjoint."""


WHOLE_UP_TO = 1e15  # beyond, a float no longer means one whole number


def always(_: Params) -> bool:
    """Suit any parameters."""
    return True


@dataclass(frozen=True, slots=True)
class Recipe:
    """One way to write a program for a family.

    Parameters
    ----------
    text : str
        The program with ``$blanks``: parameters of the law, derived values, names.
    why : str
        Why its output follows the law; may use the same blanks.
    suits : callable
        Whether the recipe works for the parameters.
    """

    text: str
    why: str
    suits: Callable[[Params], bool] = always


def fill(recipe: Recipe, params: Params, rng: np.random.Generator) -> tuple[str, str]:
    """Return the program and its reason, with numbers and names in place."""
    names = {role: str(rng.choice(pool)) for role, pool in NAMES.items()}
    blanks = names | {key: literal(value) for key, value in params.items()}
    blanks |= derived(params, names["vec"])
    program = Template(dedent(recipe.text).strip()).substitute(blanks)
    return program, Template(recipe.why).substitute(blanks)


def literal(value: object) -> str:
    """Write a parameter as Python source; whole numbers as integers."""
    if isinstance(value, float) and value.is_integer() and abs(value) < WHOLE_UP_TO:
        return repr(int(value))
    if isinstance(value, float) and 0 < value < 1 and len(repr(value)) > 12:
        inverse = round(1 / value)
        if 1 / inverse == value:
            return f"1 / {inverse}"
    if not isinstance(value, list):
        return repr(value)
    parts = [literal(part) for part in value]
    if value and isinstance(value[0], list):
        return "[\n" + "".join(f"    {part},\n" for part in parts) + "]"
    return f"[{', '.join(parts)}]"


def derived(params: Params, vector: str) -> dict[str, str]:
    """Return the blanks that are worked out from the parameters."""
    blanks = {"reading": reading(params, vector)}
    if "jump" in params:
        blanks["numpy_jump"], blanks["plain_jump"] = jump_calls(params["jump"])
    if params.get("component") == "normal-location":
        blanks["center"] = line(params["offset"], params["slope"])
    if "df" in params and "shape" not in params:
        blanks["placed"] = placed(params.get("location", 0), params.get("scale", 1))
    if "population" in params:
        blanks["others"] = str(params["population"] - params["successes"])
    return blanks


def placed(location: float, scale: float) -> str:
    """Write the shift and stretch that stand before a standard draw."""
    if (location, scale) == (0, 1):
        return ""
    return f"{literal(location)} + {literal(scale)} * "


def line(offset: float, slope: float) -> str:
    """Write offset + slope * r without idle terms."""
    term = "r" if slope == 1 else f"{slope!r} * r"
    return term if offset == 0 else f"{offset!r} + {term}"


def reading(params: Params, vector: str) -> str:
    """Write the expression that reads one number off a vector."""
    if "weights" in params:
        return f"sum(w * x for w, x in zip({list(params['weights'])!r}, {vector}))"
    if params.get("coordinate") == "total":
        return f"sum({vector})"
    return f"{vector}[{params.get('coordinate', 0)}]"


def jump_calls(jump: Mapping[str, Any]) -> tuple[str, str]:
    """Write the draw of one jump with NumPy and with the standard library."""
    if "finite" in jump:
        values, chances = jump["finite"]["values"], jump["finite"]["probabilities"]
        return (
            f"rng.choice({values!r}, p={chances!r})",
            f"random.choices({values!r}, {chances!r})[0]",
        )
    params = jump["params"]
    if jump["family"] == "uniform":
        ends = f"({params['low']!r}, {params['high']!r})"
        return f"rng.uniform{ends}", f"random.uniform{ends}"
    if jump["family"] == "gamma":
        pair = f"({params['shape']!r}, {params['scale']!r})"
        return f"rng.gamma{pair}", f"random.gammavariate{pair}"
    rate = params["rate"]
    return f"rng.exponential(1 / {rate!r})", f"random.expovariate({rate!r})"


def whole(*names: str) -> Callable[[Params], bool]:
    """Return the rule that all these parameters are whole numbers."""
    return lambda params: all(float(params[name]).is_integer() for name in names)


def component(kind: str) -> Callable[[Params], bool]:
    """Return the rule that a Rayleigh mixture has this component."""
    return lambda params: bool(params["component"] == kind)
