"""Make a suite from laws and writers: the frozen v1, and fresh variants of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from unpredictabench.errors import SuiteError
from unpredictabench.records import CATEGORIES, Answer
from unpredictabench.streams import stream
from unpredictabench.targets import target_from_spec
from unpredictabench.tasks.draft import Brief
from unpredictabench.tasks.entry import Entry
from unpredictabench.tasks.laws import published_laws
from unpredictabench.tasks.suite import Suite
from unpredictabench.tasks.variants import redrawn

if TYPE_CHECKING:
    from unpredictabench.tasks.draft import TaskDraft
    from unpredictabench.tasks.laws import PublishedLaw

NAME, VERSION = "v1", "1.0.0"


def assemble(*, variant: int | None = None) -> Suite:
    """Write every task of the suite.

    Parameters
    ----------
    variant : int, optional
        Seed that redraws parameters, items and wording; none gives the published parameters.

    Returns
    -------
    Suite
        448 tasks, named ``"v1"`` or ``"v1+SEED"``.
    """
    from unpredictabench.tasks.scenarios import scenarios  # noqa: PLC0415 - writers are big
    from unpredictabench.tasks.wording import write_shuffles  # noqa: PLC0415 - as above

    name = NAME if variant is None else f"{NAME}+{variant}"
    entries = [_distribution_task(law, name, variant) for law in published_laws()]
    entries += [_whole_task(draft) for draft in write_shuffles(stream("suite", name, "shuffling"))]
    entries += [_whole_task(draft) for draft in scenarios(stream("suite", name, "real-world"))]
    _check_distinct(entries)
    return Suite(name, VERSION, sorted(entries, key=lambda e: CATEGORIES.index(e.category)))


def _distribution_task(law: PublishedLaw, name: str, variant: int | None) -> Entry:
    spec = law.law if variant is None else redrawn(law, stream("suite", name, law.id, "law"))
    brief = Brief(category=law.category, family=law.family, spread=law.spread, law=spec)
    if law.category.startswith("code"):
        from unpredictabench.tasks.programs import write  # noqa: PLC0415 - writers are big
    else:
        from unpredictabench.tasks.wording import write  # noqa: PLC0415 - as above
    draft = write(brief, stream("suite", name, law.id, "wording"))
    target = target_from_spec(spec)
    return Entry(
        id=law.id,
        category=law.category,
        family=law.family,
        spread=law.spread,
        support=target.support,
        question=draft.question,
        answer=Answer("number", draft.instruction, is_integer=draft.is_integer),
        law=target.spec,
        rationale=draft.rationale,
        program=draft.program,
    )


def _whole_task(draft: TaskDraft) -> Entry:
    target = target_from_spec(draft.law)
    return Entry(
        id=f"{draft.category}/{draft.slug}",
        category=draft.category,
        family=draft.slug,
        spread=None,
        support=target.support,
        question=draft.question,
        answer=draft.answer,
        law=target.spec,
        rationale=draft.rationale,
    )


def _check_distinct(entries: list[Entry]) -> None:
    """Refuse a suite in which two tasks share an id or a question."""
    for key in ("id", "question"):
        seen: dict[str, str] = {}
        for entry in entries:
            value = getattr(entry, key)
            if value in seen:
                raise SuiteError(f"tasks {seen[value]} and {entry.id} have the same {key}")
            seen[value] = entry.id


def to_text(suite: Suite) -> str:
    """Return the file of a suite: one JSON document, one task a line."""
    head = json.dumps({"name": suite.name, "version": suite.version}, ensure_ascii=False)[:-1]
    rows = (json.dumps(entry.to_json(), ensure_ascii=False) for entry in suite.entries)
    return head + ', "tasks": [\n' + ",\n".join(rows) + "\n]}\n"
