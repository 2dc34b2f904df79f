"""The stored phrases: which wordings there are for a law, and the choice among them."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

from unpredictabench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

LAWS = ("bounded", "positive", "real", "counts", "joint")
T = TypeVar("T")


@cache
def page(name: str) -> dict[str, Any]:
    """Return one file of phrases as plain data."""
    text = resources.files(__package__).joinpath("phrases", f"{name}.yaml").read_text("utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loaded: dict[str, Any] = yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader either way
    return loaded


def entry(family: str, params: Mapping[str, object]) -> dict[str, Any]:
    """Return the phrases for a law.

    Parameters
    ----------
    family : str
        Slug of the family.
    params : mapping
        Its parameters; they decide between variants of one family.

    Returns
    -------
    dict
        ``explicit`` (texts) and ``implicit`` (mappings with ``text`` and ``why``).

    Raises
    ------
    InputError
        No phrases exist for the family.
    """
    name = variant(family, params)
    for kind in LAWS:
        if name in page(kind):
            found: dict[str, Any] = page(kind)[name]
            return found
    raise InputError("family", "be one that there are words for", name)


def variant(family: str, params: Mapping[str, object]) -> str:
    """Name the entry for a law: the family, and a suffix where its parameters change the story."""
    match family, params:
        case "geometric", {"start": 0}:
            return "geometric.failures"
        case "geometric", _:
            return "geometric.trials"
        case "student-t", {"location": 0, "scale": 1}:
            return "student-t.standard"
        case "rayleigh-mixture", {"component": "gamma", "shape": 1}:
            return "rayleigh-mixture.exponential"
        case "rayleigh-mixture", {"component": str(component)}:
            return f"rayleigh-mixture.{component}"
        case _:
            return family


def pick(options: Sequence[T], rng: np.random.Generator) -> T:
    """Choose one option, all being equally likely."""
    return options[int(rng.integers(len(options)))]


def fitting(options: Sequence[Any], params: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the wordings that make sense for these parameters.

    Parameters
    ----------
    options : sequence of (str or mapping)
        Texts, or mappings with ``text`` and perhaps ``whole``, the parameter that the wording needs
        to be a whole number.
    params : mapping
        The law's parameters.

    Returns
    -------
    list of dict
        Those that fit, each as a mapping with ``text``.
    """
    uniform = [{"text": each} if isinstance(each, str) else each for each in options]
    return [each for each in uniform if "whole" not in each or params[each["whole"]] % 1 == 0]
