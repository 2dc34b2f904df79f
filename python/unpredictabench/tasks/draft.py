"""What a writer of tasks is given and what it hands back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unpredictabench.records import Answer, Category, Spread


@dataclass(frozen=True, slots=True)
class Brief:
    """What a distribution task must be about.

    Parameters
    ----------
    category : str
        One of the five categories of distribution tasks.
    family : str
        Slug of the family, e.g. ``"log-normal"``.
    spread : {"concentrated", "spread_out"}
        The intent of the parameters.
    law : mapping
        The law's spec, e.g. ``{"family": "poisson", "params": {"rate": 18}}``.
    """

    category: Category
    family: str
    spread: Spread
    law: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Draft:
    """The wording of a distribution task; its answer is one number.

    Parameters
    ----------
    question : str
        What is asked, without the instruction; for code tasks it holds the program.
    instruction : str
        The sentence that asks for the form of the answer.
    rationale : str
        Why a careful reader arrives at exactly this law; never shown.
    program : str or None
        The program inside the question, for code tasks.
    is_integer : bool
        Whether every legal answer is a whole number.
    """

    question: str
    instruction: str
    rationale: str
    program: str | None = None
    is_integer: bool = False


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """A shuffle or a real-world task whole: wording, form of the answer and law.

    Parameters
    ----------
    category : {"shuffling", "real-world"}
        Where the task belongs.
    slug : str
        Last part of the task's id, e.g. ``"two-lock-deadlock"``.
    question : str
        What is asked, without the instruction.
    answer : Answer
        The form of the answer, with its instruction.
    law : mapping
        The law's spec: a family, ``{"finite": ...}``, ``{"nominal": ...}`` or
        ``{"permutation": {"items": [...]}}``. Outcomes of a nominal law are the label chosen;
        lines joined by newlines (``""`` for no line); or lists of indices into the answer's items
        where the answer is a permutation that is not uniform.
    rationale : str
        Why a careful reader arrives at exactly this law; never shown.
    """

    category: Literal["shuffling", "real-world"]
    slug: str
    question: str
    answer: Answer
    law: Mapping[str, object]
    rationale: str
