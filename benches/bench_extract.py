"""Speed of extraction: recorded answers a second, and time a kilobyte of hostile text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unpredictabench.extract import extract_number, extract_permutation

ANSWERS = Path(__file__).parents[1] / "tests" / "data" / "answers"
HOSTILE = ["1 ", "[", "1,", "is 5, ", "=5 ", "[1]", "answer ", "```\n", "{", "I can't "]
ITEMS = ("apple", "banana", "cherry")
READERS = {"number": extract_number, "order": lambda text: extract_permutation(text, ITEMS)}


def _recorded():
    return [
        ("shuffle3" in file.stem, answer["text"], answer.get("finish"))
        for file in sorted(ANSWERS.glob("*.json"))
        for answer in json.loads(file.read_text())["answers"]
    ]


@pytest.mark.benchmark(group="extract")
def test_recorded_answers(benchmark):
    """Read every recorded answer once; the goal is 50,000 answers a second on one core."""
    answers = _recorded()

    def read_all():
        for is_order, text, finish in answers:
            if is_order:
                extract_permutation(text, ITEMS, finish_reason=finish)
            else:
                extract_number(text, finish_reason=finish)

    benchmark(read_all)
    benchmark.extra_info["answers_per_s"] = len(answers) / benchmark.stats["min"]


@pytest.mark.benchmark(group="extract-hostile")
@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("unit", HOSTILE)
def test_a_kilobyte_of_hostile_text(benchmark, unit, form):
    """Read 16 kB made to defeat regular expressions; the goal is 1 ms a kB."""
    text = (unit * 16_384)[:16_384]
    benchmark(READERS[form], text)
    benchmark.extra_info["ms_per_kB"] = 1e3 * benchmark.stats["min"] / 16
