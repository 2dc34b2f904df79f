"""The published data set as a suite: its questions, the laws by uid, its ground truth."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unpredictabench._whole import whole
from unpredictabench.errors import InputError
from unpredictabench.integrations.published import Fact, facts
from unpredictabench.integrations.truths import Truth, TruthError, keep
from unpredictabench.tasks import Suite, load_suite
from unpredictabench.tasks.kept import FILE_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from unpredictabench.integrations.rows import Row
    from unpredictabench.integrations.tally import Tally

OWN = "own/"
"""Stands before the uid of a task that the published benchmark does not hold."""


@dataclass(slots=True)
class Questions:
    """Questions and truths as they are found, in any order.

    Parameters
    ----------
    folder : pathlib.Path
        Where truths are kept; the suite is written there too.
    """

    folder: Path
    prompts: dict[str, str] = field(default_factory=dict)
    truths: dict[str, Truth] = field(default_factory=dict)

    def add_question(self, row: Row, where: str, tally: Tally) -> None:
        """Take a question; the first wording of a uid stays."""
        uid, prompt = uid_in(row), row.get("prompt_text")
        if uid is None:
            tally.refuse("question without a uid", where)
        elif not isinstance(prompt, str) or not prompt.strip():
            tally.refuse("question without a prompt", where)
        elif uid not in self.prompts:
            self.prompts[uid] = prompt
            tally.take("questions")
        elif self.prompts[uid] == prompt:
            tally.skip("the same question again", where)
        else:
            tally.refuse("another wording of a question", where)

    def add_truth(self, row: Row, where: str, tally: Tally) -> None:
        """Take the ground-truth values of a task."""
        uid = uid_in(row)
        if uid is None:
            tally.refuse("truth without a uid", where)
            return
        values = row.get("ground_truth_values")
        fact = facts().get(uid) or _own(uid, values)
        try:
            truth = keep(fact, values, self.folder)
        except TruthError as error:
            tally.refuse(f"truth that cannot be used: {error}", where)
            return
        if self.truths.setdefault(uid, truth) == truth:
            tally.take("truths")
        else:
            tally.refuse("another truth of a task", where)

    def suite(self, tally: Tally) -> Suite:
        """Write the suite of what was found and load it.

        Raises
        ------
        InputError
            When there is no usable question, or the folder holds another suite.
        """
        known = facts()
        order = [uid for uid in known if uid in self.prompts]
        order += sorted(self.prompts.keys() - known.keys())
        tasks = [task for uid in order if (task := self._task(uid, tally)) is not None]
        if not tasks:
            raise InputError("path", "hold a question whose law or truth is known", len(order))
        text = json.dumps({"name": "published", "version": "1", "tasks": tasks}, indent=1) + "\n"
        file = self.folder / FILE_NAME
        if file.exists() and file.read_text(encoding="utf-8") != text:
            raise InputError("out", f"be a folder without another {FILE_NAME}", str(file))
        with whole(file) as draft:
            draft.write_text(text, encoding="utf-8")
        return load_suite(file)

    def _task(self, uid: str, tally: Tally) -> dict[str, Any] | None:
        truth = self.truths.get(uid)
        fact = facts().get(uid) or _own(uid, [""] if truth and truth.items else None)
        law = truth.law if truth else fact.law
        if law is None:
            tally.refuse("question whose law is unknown and whose truth was not found", uid)
            return None
        if "is wrong" in fact.rationale:
            tally.note("task whose published truth is wrong (marked in its rationale)", fact.id)
        return {
            "id": fact.id,
            "category": fact.category,
            "family": fact.family,
            "spread": fact.spread,
            "question": self.prompts[uid],
            "answer": _answer(fact, truth),
            "law": law,
            "rationale": fact.rationale,
        }


def uid_in(row: Row) -> str | None:
    """Return the uid of a row in its one spelling; None where there is none."""
    try:
        return str(uuid.UUID(row["uid"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def task_id(uid: str) -> str:
    """Return the id that a task has in a suite made here."""
    fact = facts().get(uid)
    return fact.id if fact else f"{OWN}{uid}"


def _answer(fact: Fact, truth: Truth | None) -> Mapping[str, Any]:
    items = fact.items or (truth.items if truth else ())
    return {
        "kind": fact.kind,
        "instruction": "",
        "items": list(items),
        "is_integer": fact.is_integer,
    }


def _own(uid: str, values: object) -> Fact:
    """Describe a task that the published benchmark does not hold, by the form of its truth."""
    is_text = isinstance(values, list) and bool(values) and isinstance(values[0], str)
    return Fact(
        uid=uid,
        id=f"{OWN}{uid}",
        category="real-world" if is_text else "text-explicit",
        family=uid,
        kind="choice" if is_text else "number",
        rationale="Not a published task: the law is that of the given values.",
    )
