"""Programs that build a law without naming it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.tasks.programs.implicit import (
    bounded,
    joint,
    mixture,
    positive,
    real,
    whole,
)

if TYPE_CHECKING:
    from unpredictabench.tasks.programs.recipes import Recipes

RECIPES: Recipes = (
    bounded.RECIPES
    | real.RECIPES
    | positive.RECIPES
    | whole.RECIPES
    | mixture.RECIPES
    | joint.RECIPES
)
