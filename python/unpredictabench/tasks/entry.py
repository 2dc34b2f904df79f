"""A task as plain data: what a suite's file holds, before its law is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unpredictabench.records import Answer, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unpredictabench.records import Category, Spread, Support


@dataclass(frozen=True, slots=True)
class Entry:
    """One task of a suite, its law still a spec.

    Parameters
    ----------
    id, category, family, spread, question, answer, rationale, program
        As in `Task`.
    support : {"continuous", "discrete", "mixed", "nominal"}
        Kind of support of the law.
    law : mapping
        The spec of the law, as it is hashed and exported.
    resolved : mapping or None
        The spec to build where it differs: what a program printed, where the law is its output.
    """

    id: str
    category: Category
    family: str
    spread: Spread | None
    support: Support
    question: str
    answer: Answer
    law: Mapping[str, Any]
    rationale: str = ""
    program: str | None = None
    resolved: Mapping[str, Any] | None = None

    @property
    def prompt(self) -> str:
        """The whole prompt, as of the task."""
        instruction = self.answer.instruction
        return f"{self.question}\n\n{instruction}" if instruction else self.question

    def task(self) -> Task:
        """Return the task with its law built."""
        from unpredictabench.targets import target_from_spec  # noqa: PLC0415 - loads NumPy

        return Task(
            id=self.id,
            category=self.category,
            family=self.family,
            spread=self.spread,
            question=self.question,
            answer=self.answer,
            target=target_from_spec(self.resolved or self.law),
            rationale=self.rationale,
            program=self.program,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the entry as JSON data, in the order of the fields."""
        answer = self.answer
        return {
            "id": self.id,
            "category": self.category,
            "family": self.family,
            "spread": self.spread,
            "support": self.support,
            "question": self.question,
            "answer": {
                "kind": answer.kind,
                "instruction": answer.instruction,
                "items": list(answer.items),
                "is_integer": answer.is_integer,
            },
            "law": dict(self.law),
            "rationale": self.rationale,
            "program": self.program,
        }


def entry_from_json(data: Mapping[str, Any]) -> Entry:
    """Return the entry of data that `Entry.to_json` made."""
    answer = data["answer"]
    form = Answer(
        kind=answer["kind"],
        instruction=answer["instruction"],
        items=tuple(answer["items"]),
        is_integer=answer["is_integer"],
    )
    return Entry(**{**data, "answer": form})
