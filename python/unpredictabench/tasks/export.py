"""Write a suite for other tools: JSON, Parquet, and the field layout of the published benchmark."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

from unpredictabench._whole import whole
from unpredictabench.errors import MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path

    from unpredictabench.tasks.entry import Entry
    from unpredictabench.tasks.suite import Suite

FOLDERS = {
    "code-explicit": "code_explicit",
    "code-implicit": "code_implicit",
    "text-explicit": "textual_explicit",
    "text-implicit": "textual_implicit",
    "multimodal": "textual_multimodal_explicit",
    "shuffling": "shuffling_human",
    "real-world": "realworld_human",
}
"""Folder of each category in the published layout; distribution tasks add their spread."""


def rows(suite: Suite) -> list[dict[str, Any]]:
    """Return one flat row a task, for a table: nested fields are JSON text.

    Parameters
    ----------
    suite : Suite
        What to export; a selection exports its tasks only.
    """
    return [_row(entry) for entry in suite.entries]


def _row(entry: Entry) -> dict[str, Any]:
    answer = entry.answer
    return {
        "id": entry.id,
        "category": entry.category,
        "family": entry.family,
        "spread": entry.spread,
        "support": entry.support,
        "prompt": entry.prompt,
        "question": entry.question,
        "instruction": answer.instruction,
        "answer_kind": answer.kind,
        "items": list(answer.items),
        "is_integer": answer.is_integer,
        "law": json.dumps(dict(entry.law), ensure_ascii=False),
        "rationale": entry.rationale,
        "program": entry.program,
    }


def published_rows(suite: Suite) -> list[dict[str, str]]:
    """Return the tasks as rows of the published ``questions.json``, with a column ``task``.

    Parameters
    ----------
    suite : Suite
        What to export.

    Returns
    -------
    list of dict
        ``task`` (the folder), ``uid``, ``id``, ``category``, ``subcategory``, ``prompt_title``,
        ``prompt_text``. The uid is the UUIDv5 of ``"<folder>/questions.json:<row>"``, the
        published rule on our own folders, so that it never collides with a published one.
    """
    counts: dict[str, int] = {}
    out = []
    for entry in suite.entries:
        folder = FOLDERS[entry.category]
        folder = f"{folder}_{entry.spread}" if entry.spread else folder
        index = counts.get(folder, 0)
        counts[folder] = index + 1
        name = f"{suite.name}/{folder}/questions.json:{index}"
        out.append(
            {
                "task": folder,
                "uid": str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
                "id": f"{_branch(entry)}/{_title(entry)}",
                "category": entry.category.split("-")[0],
                "subcategory": _branch(entry),
                "prompt_title": folder,
                "prompt_text": entry.prompt,
            }
        )
    return out


def _branch(entry: Entry) -> str:
    """Return the branch of the published tree that a task hangs on."""
    if entry.spread is None:
        return entry.category
    kind = "Discrete" if entry.support == "discrete" else "Continuous"
    return f"{kind}_distributions"


def _title(entry: Entry) -> str:
    words = entry.family.replace("-", " ").title()
    return words if entry.spread is None else f"{words} Distribution"


def write_parquet(suite: Suite, path: Path) -> None:
    """Write the rows of a suite as a Parquet file.

    Parameters
    ----------
    suite : Suite
        What to export.
    path : pathlib.Path
        The file to write.

    Raises
    ------
    MissingExtraError
        When pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("writing Parquet", "arrow") from None
    with whole(path) as draft:
        pq.write_table(pa.Table.from_pylist(rows(suite)), draft)
