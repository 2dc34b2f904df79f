"""A small results tree in the published layout, made of every kind of row."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from unpredictabench.integrations.published import REAL_WORLD, SHUFFLES, facts, uid_of

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = "textual_explicit_spread_out_gpt-5.4"
MODEL = "openrouter_maker_model-1_5"
NAME = "maker/model-1.5"
SHUFFLE, CHOICE, LINES = uid_of(SHUFFLES, 0), uid_of(REAL_WORLD, 14), uid_of(REAL_WORLD, 13)
NUMBER = next(uid for uid, fact in facts().items() if fact.id == "text-explicit/poisson/spread_out")
NORMAL = next(uid for uid, fact in facts().items() if fact.id == "text-explicit/normal/spread_out")
PROMPTS = {
    NUMBER: "Draw one Poisson number.\n\nWrite it in braces.",
    NORMAL: "Draw one normal number.",
    SHUFFLE: "Shuffle [1, 2, 3].",
    CHOICE: "Which thread is first?",
    LINES: "Print A to E in a random order.",
}


def row(uid: str, output: object, **more: Any) -> dict[str, Any]:
    """Return a results row with the fields that all kinds share."""
    shared = {
        "uid": uid,
        "id": "Discrete_distributions/Some Distribution",
        "category": "text",
        "prompt_title": "a title",
        "prompt_text": PROMPTS.get(uid, "An unknown question?"),
        "model_output": output,
        "model_used": NAME,
        "api_provider": "openrouter",
        "temperature": 1.0,
        "max_tokens": 64,
        "finish_reason": "stop",
        "generation_attempts_used": 1,
        "extract_number_enabled": True,
        "extract_value_enabled": True,
        "reinforced_prompt_used": False,
        "extraction_profile": "number",
        "expected_number_outputs": 1,
        "extracted_value": None,
        "extracted_number": None,
    }
    return shared | more


def number(output: str, value: object, *, uid: str = NUMBER, **more: Any) -> dict[str, Any]:
    """Return a row of a number task."""
    return row(uid, output, extracted_number=value, extracted_value=value, **more)


def shuffle(order: list[object], **more: Any) -> dict[str, Any]:
    """Return a row of a shuffle."""
    return row(
        SHUFFLE, json.dumps(order), extraction_profile="shuffling_list", extracted_value=order
    ) | more  # fmt: skip


def choice(output: str, label: str | None, code: int | None, **more: Any) -> dict[str, Any]:
    """Return a row of a real-world task with its mapping."""
    return row(
        CHOICE,
        output,
        extraction_profile="realworld_human",
        mapping_available=True,
        mapping_valid=label is not None,
        mapping_category="single_item_selection",
        mapping_label=label,
        mapped_value=code,
    ) | more  # fmt: skip


def older(output: str, value: float) -> dict[str, Any]:
    """Return a row as the first version of the published code wrote it."""
    full = number(output, value)
    gone = ("extract_value_enabled", "extraction_profile", "expected_number_outputs", "model_used")
    return {name: content for name, content in full.items() if name not in gone}


def run_folder(
    root: Path, run: int, *, group: str = "number_extracted", folder: str = NUMBERS,
    model: str = MODEL, temperature: str = "temp_1.0",
) -> Path:  # fmt: skip
    """Make the folder of a run and return it."""
    path = root / group / folder / model / temperature / f"run_{run}"
    path.mkdir(parents=True, exist_ok=True)
    return path


def write(folder: Path, rows: list[dict[str, Any]], *, singles: bool = True) -> None:
    """Write the rows of a run, all together and (as the published code does) one by one."""
    (folder / "all_results.json").write_text(json.dumps(rows))
    for place, each in enumerate(rows if singles else []):
        (folder / f"{place}.json").write_text(json.dumps(each))


def truths(root: Path) -> None:
    """Write ground-truth values of the two real-world tasks and of one number task."""
    orders = ["A\nB\nC\nD\nE", "E\nD\nC\nB\nA"]
    for folder, rows in {
        REAL_WORLD: [
            {"uid": CHOICE, "ground_truth_values": ["A", "B"] * 50},
            {"uid": LINES, "ground_truth_values": orders * 50},
        ],
        NUMBERS: [{"uid": NUMBER, "ground_truth_values": [*range(7, 27)] * 5}],
        SHUFFLES: [{"uid": SHUFFLE, "ground_truth_values": [[3, 1, 2], [1, 2, 3]] * 50}],
    }.items():
        path = root / "ground_truth_values" / folder
        path.mkdir(parents=True, exist_ok=True)
        (path / "ground_truth_values.json").write_text(json.dumps(rows))


def questions(root: Path, uids: tuple[str, ...] = tuple(PROMPTS)) -> None:
    """Write the questions in the layout of the published data folder."""
    path = root / "data" / "mixed"
    path.mkdir(parents=True, exist_ok=True)
    rows = [{"uid": uid, "id": "some/id", "prompt_text": PROMPTS[uid]} for uid in uids]
    (path / "questions.json").write_text(json.dumps(rows))


def mapping(root: Path) -> None:
    """Write the table of codes of real-world answers."""
    entry = {"value": CHOICE, "metadata": {"mapping": {"A": 0, "B": 1}}}
    content = {"single_item_selection": {"uids:": [entry]}}
    (root / "realworld_mapping.json").write_text(json.dumps(content))
