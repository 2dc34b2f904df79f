"""Write a distribution task in words: the law named, the law told as a story, a mixture named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unpredictabench.errors import InputError
from unpredictabench.tasks.draft import Draft
from unpredictabench.tasks.wording.fill import Number, fields
from unpredictabench.tasks.wording.phrasebook import entry, fitting, page, pick

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from unpredictabench.tasks.draft import Brief

DEFAULTS: dict[str, dict[str, object]] = {
    "geometric": {"start": 1},
    "student-t": {"location": 0, "scale": 1},
}
COUNTING = frozenset(
    {
        "bernoulli",
        "poisson-binomial",
        "beta-binomial",
        "binomial",
        "discrete-uniform",
        "hypergeometric",
        "poisson",
        "skellam",
        "geometric",
        "negative-binomial",
        "negative-multinomial",
    }
)
N_PHRASINGS = 3  # ways in which the explicit texts name each law
NAMED = "The text names the law and all its parameters."


def write(brief: Brief, rng: np.random.Generator) -> Draft:
    """Write one text task.

    Parameters
    ----------
    brief : Brief
        What the task must be about; its category is text-explicit, text-implicit or multimodal.
    rng : numpy.random.Generator
        Chooses among the wordings; the same state gives the same words.

    Returns
    -------
    Draft
        Question, instruction and rationale; no program.

    Raises
    ------
    InputError
        The category is another one, or there are no words for the family.
    """
    if brief.category == "multimodal":
        return _mixture(brief.law, rng)
    family, params = _parts(brief.law)
    if brief.category == "text-explicit":
        frame = pick(page("frames")["explicit"], rng)
        story = frame.format(law=_named(brief.law, pick(range(N_PHRASINGS), rng)))
        return _draft(story, NAMED, [brief.law], rng)
    if brief.category == "text-implicit":
        chosen = pick(fitting(entry(family, params)["implicit"], params), rng)
        values = fields(params)
        return _draft(
            chosen["text"].format(**values), chosen["why"].format(**values), [brief.law], rng
        )
    raise InputError("category", "be text-explicit, text-implicit or multimodal", brief.category)


def _mixture(law: Mapping[str, Any], rng: np.random.Generator) -> Draft:
    frame = pick(page("frames")["mixture"], rng)
    phrasing = pick(range(N_PHRASINGS), rng)
    lines = [
        frame["component"].format(
            label="ABCDEFGHIJ"[i], weight=Number(part["weight"]), law=_named(part["law"], phrasing)
        )
        for i, part in enumerate(law["mixture"])
    ]
    story = "\n".join([frame["opening"], *lines, frame["closing"]])
    return _draft(story, f"{NAMED[:-1]}, component by component.", _laws(law), rng)


def _draft(
    story: str, why: str, laws: Sequence[Mapping[str, Any]], rng: np.random.Generator
) -> Draft:
    frames = page("frames")
    form = _form(laws)
    return Draft(
        question=f"{story} {pick(frames['reminder'], rng)}",
        instruction=pick(frames["instruction"][form], rng),
        rationale=why,
        is_integer=form == "whole",
    )


def _named(law: Mapping[str, Any], phrasing: int) -> str:
    family, params = _parts(law)
    options = fitting(entry(family, params)["explicit"], params)
    return options[phrasing % len(options)]["text"].format(**fields(params))


def _parts(law: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    return law["family"], {**DEFAULTS.get(law["family"], {}), **law["params"]}


def _laws(law: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [part["law"] for part in law["mixture"]]


def _form(laws: Sequence[Mapping[str, Any]]) -> str:
    """Return the form of the answer: whole, real, real with an atom at zero, or one of a list."""
    families = {law["family"] for law in laws}
    if all(_counts(*_parts(law)) for law in laws):
        return "whole"
    if families == {"categorical"}:
        return "listed"
    return "real-or-zero" if families & {"compound-poisson", "rectified-gaussian"} else "real"


def _counts(family: str, params: Mapping[str, Any]) -> bool:
    match family, params:
        case "categorical", {"values": [*numbers]}:
            pass
        case "multinomial", _:
            numbers = params.get("weights", [])
        case "compound-poisson", {"jump": {"finite": {"values": [*numbers]}}}:
            pass
        case _:
            return family in COUNTING
    return all(number % 1 == 0 for number in numbers)
