"""Turn numbers into words: exact decimals, lists and matrices as a template asks for them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from unpredictabench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMULA_OF_SHIFT = {"shift": ("x", "(x - {})", "(x + {})"), "minus": ("", " - {}", " + {}")}


def plain(value: Decimal | float) -> str:
    """Write a number exactly, without an exponent and without idle zeros.

    Parameters
    ----------
    value : int, float or decimal.Decimal
        The number; a float stands for its shortest decimal.

    Returns
    -------
    str
        Digits with at most one sign and one point.

    Examples
    --------
    >>> plain(50.0), plain(0.1 + 0.2), plain(1e-5), plain(-0.0)
    ('50', '0.30000000000000004', '0.00001', '0')
    """
    exact = exactly(value)
    return format(exact.normalize(), "f") if exact else "0"


def exactly(value: Decimal | float) -> Decimal:
    """Return the decimal number that the shortest spelling of `value` stands for."""
    return value if isinstance(value, Decimal) else Decimal(repr(value))


class Number:
    """A number inside a template.

    Its format says how it is written: nothing for the plain number, ``rest`` for one minus it,
    ``inverse`` for the quotient 1/number, ``shift`` for (x - number), ``minus`` for the same
    without x, ``lead`` for "number + " (nothing if it is 0), ``one|many`` for the number with a
    noun.
    """

    def __init__(self, value: float) -> None:
        self.value = exactly(value)

    def __format__(self, spec: str) -> str:
        value, text = self.value, plain(self.value)
        if "|" in spec:
            one, many = spec.split("|")
            return f"{text} {one if value == 1 else many}"
        if spec in FORMULA_OF_SHIFT:
            zero, above, below = FORMULA_OF_SHIFT[spec]
            return (above if value > 0 else below if value else zero).format(plain(abs(value)))
        forms = {
            "": text,
            "rest": plain(1 - value),
            "inverse": "1" if value == 1 else f"1/{text}",
            "lead": f"{text} + " if value else "",
        }
        return forms[spec]


class Vector:
    """A list of numbers inside a template.

    Formats: nothing for "a, b, c", ``and`` for "a, b and c", ``n`` for how many there are,
    ``rest`` for one minus their sum.
    """

    def __init__(self, values: Sequence[float]) -> None:
        self.values = [exactly(value) for value in values]

    def __format__(self, spec: str) -> str:
        texts = [plain(value) for value in self.values]
        if spec == "and" and len(texts) > 1:
            return f"{', '.join(texts[:-1])} and {texts[-1]}"
        if spec == "n":
            return str(len(texts))
        if spec == "rest":
            return plain(1 - sum(self.values, Decimal(0)))
        return ", ".join(texts)


def matrix(rows: Sequence[Sequence[float]]) -> str:
    """Write a matrix row by row in square brackets.

    Examples
    --------
    >>> matrix([[1.0, -0.5], [-0.5, 2.0]])
    '[[1, -0.5], [-0.5, 2]]'
    """
    return f"[{', '.join(f'[{Vector(row)}]' for row in rows)}]"


def fields(params: Mapping[str, Any]) -> dict[str, object]:
    """Wrap a law's parameters so that a template can write them.

    Parameters
    ----------
    params : mapping
        Parameters of the law's spec.

    Returns
    -------
    dict
        A `Number`, `Vector` or text for each parameter; for joint laws also ``coordinates``
        (X1, X2, ...), and ``coordinate`` as a formula in them.
    """
    wrapped = {name: _wrap(name, value) for name, value in params.items()}
    if "coordinate" in params or "weights" in params:
        n = next(len(value.values) for value in wrapped.values() if isinstance(value, Vector))
        names = [f"X{i}" for i in range(1, n + 1)]
        wrapped["coordinates"] = ", ".join(names)
        wrapped["coordinate"] = _formula(params, names)
    return wrapped


def _wrap(name: str, value: Any) -> object:
    match value:
        case int() | float():
            return Number(value)
        case [[*_], *_]:
            return matrix(value)
        case [*numbers]:
            return Vector(numbers)
        case {"family": _} | {"finite": _} if name == "jump":
            return jump(value)
        case _:
            return value


def _formula(params: Mapping[str, Any], names: list[str]) -> str:
    match params:
        case {"weights": [*weights]}:
            terms = (f"{plain(w)} * {x}" for w, x in zip(weights, names, strict=True))
            return " + ".join(terms).replace("+ -", "- ")
        case {"coordinate": int(index)}:
            return names[index]
        case _:
            return " + ".join(names)


def jump(law: Mapping[str, Any]) -> str:
    """Describe the law of one jump so that it can follow "each has".

    Parameters
    ----------
    law : mapping
        Spec of the jump: ``uniform``, ``gamma`` or ``exponential``, or a ``finite`` law.

    Returns
    -------
    str
        The law in words, with a rate or a scale, whichever is the shorter exact number.

    Raises
    ------
    InputError
        There are no words for jumps of this law.
    """
    match law:
        case {"finite": {"values": [*values], "probabilities": [*probabilities]}}:
            pairs = zip(values, probabilities, strict=True)
            return " or ".join(
                f"the value {plain(v)} with probability {plain(p)}" for v, p in pairs
            )
        case {"family": "uniform", "params": {"low": low, "high": high}}:
            return f"a continuous uniform distribution between {plain(low)} and {plain(high)}"
        case {"family": "exponential", "params": {"rate": rate}}:
            word, value = shorter(rate, "rate", "mean")
            return f"an exponential distribution with {word} {plain(value)}"
        case {"family": "gamma", "params": {"shape": shape, "scale": scale}}:
            word, value = shorter(scale, "scale", "rate")
            return f"a gamma distribution with shape {plain(shape)} and {word} {plain(value)}"
        case _:
            raise InputError("jump", "be a uniform, gamma, exponential or finite law", law)


def shorter(value: float, name: str, inverse_name: str) -> tuple[str, float]:
    """Return the number or its inverse, whichever is shorter and exact, with its name.

    Examples
    --------
    >>> shorter(0.8333333333333334, "rate", "mean"), shorter(12, "rate", "mean")
    (('mean', 1.2), ('rate', 12))
    """
    inverse = round(1 / value, 12)
    is_exact = bool(inverse) and 1 / inverse == value
    if is_exact and len(plain(inverse)) < len(plain(value)):
        return inverse_name, inverse
    return name, value
