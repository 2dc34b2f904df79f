"""Programs that print one value whose law is known: code-explicit and code-implicit tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from unpredictabench.errors import InputError
from unpredictabench.tasks.draft import Draft
from unpredictabench.tasks.programs import explicit, implicit
from unpredictabench.tasks.programs.codenames import codename, words
from unpredictabench.tasks.programs.recipes import fill

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from unpredictabench.tasks.draft import Brief
    from unpredictabench.tasks.programs.recipes import Recipe

__all__ = ["CATEGORIES", "choices", "write"]

CATEGORIES = {"code-explicit": explicit.RECIPES, "code-implicit": implicit.RECIPES}
OPENINGS = (
    "The file `{file}` holds this Python program:",
    "Here is the Python program `{file}`:",
    "Consider the Python program `{file}`:",
    "This is the whole of `{file}`, a Python program:",
)
ASKS = (
    (
        "It sets no random seed and is run once. Predict one value that this run could print: "
        "draw it at random so that every possible value is as likely in your answer as in a real "
        "run."
    ),
    (
        "It is started once, without a fixed random seed. Give one possible output of that run, "
        "chosen at random with the same probabilities as the program itself."
    ),
    (
        "Suppose it runs once, with fresh randomness. Answer with one output it might print, "
        "drawn at random from exactly the distribution of its output rather than its most typical "
        "value."
    ),
    (
        "Act as the interpreter for a single unseeded run and produce one random output; over "
        "many such answers the outputs should be spread as they would be over many runs."
    ),
)
WHOLE_FAMILIES = words(
    "bernoulli poisson-binomial beta-binomial binomial discrete-uniform hypergeometric poisson "
    "skellam geometric negative-binomial negative-multinomial categorical multinomial"
)


def write(brief: Brief, rng: np.random.Generator) -> Draft:
    """Write a code task: a program that prints one value with the brief's law.

    Parameters
    ----------
    brief : Brief
        Category ``code-explicit`` or ``code-implicit``, family and law.
    rng : numpy.random.Generator
        Chooses the construction, the identifiers and the wording.

    Returns
    -------
    Draft
        The question with the program in a fenced block, and the program.

    Raises
    ------
    InputError
        The category has no programs, or no program suits the family and its parameters.
    """
    params = cast("Mapping[str, Any]", brief.law["params"])
    fitting = choices(brief)
    program, why = fill(fitting[int(rng.integers(len(fitting)))], params, rng)
    opening = str(rng.choice(OPENINGS)).format(file=f"{codename(rng, joint='_')}.py")
    is_integer = prints_whole(brief.family, params)
    form = "that one whole number" if is_integer else "that one number, in full precision,"
    return Draft(
        question=f"{opening}\n\n```python\n{program}\n```\n\n{rng.choice(ASKS)}",
        instruction=f"Answer with {form} and nothing else.",
        rationale=why,
        program=program + "\n",
        is_integer=is_integer,
    )


def choices(brief: Brief) -> tuple[Recipe, ...]:
    """Return the recipes that suit a brief, at least one."""
    if brief.category not in CATEGORIES:
        raise InputError("category", "be code-explicit or code-implicit", brief.category)
    recipes = CATEGORIES[brief.category].get(brief.family, ())
    params = cast("Mapping[str, Any]", brief.law["params"])
    fitting = tuple(recipe for recipe in recipes if recipe.suits(params))
    if not fitting:
        raise InputError("law", f"suit a program of family {brief.family!r}", brief.law)
    return fitting


def prints_whole(family: str, params: Mapping[str, Any]) -> bool:
    """Tell whether every value printed is a whole number."""
    if family == "compound-poisson":
        jump = params["jump"]
        return "finite" in jump and all(float(x).is_integer() for x in jump["finite"]["values"])
    numbers = [*params.get("values", ()), *(params.get("weights") or ())]
    return family in WHOLE_FAMILIES and all(float(x).is_integer() for x in numbers)
