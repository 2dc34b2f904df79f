"""Recorded answers come back as they were."""

from __future__ import annotations

import asyncio
import dataclasses
import json

import pytest

from unpredictabench.clients import Client, ReplayClient
from unpredictabench.errors import ClientError, SlotError
from unpredictabench.records import Completion
from unruly import a_request

TASK = "text-explicit/poisson/spread_out"
HEADER = {"format": "unpredictabench-run", "version": 1}


def recorded(path, *completions, header=True):
    """Write an exported run."""
    rows = [HEADER] if header else []
    rows += [dataclasses.asdict(completion) for completion in completions]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="ascii")
    return path


@pytest.mark.parametrize("header", [True, False])
def test_answers_come_back_unchanged(tmp_path, header):
    """Every field survives, odd characters included."""
    first = Completion(TASK, 0, "7\u2028\ud800", reasoning="r", finish_reason="stop", seed=3)
    second = Completion(TASK, 1, None, status="no_choice", attempts=4)
    client = ReplayClient(recorded(tmp_path / "run.jsonl", first, second, header=header))
    assert isinstance(client, Client)
    assert asyncio.run(client.ask(a_request(0))) == first
    assert asyncio.run(client.ask(a_request(1))) == second
    asyncio.run(client.aclose())


def test_missing_slot_fails_alone(tmp_path):
    """A slot that was not recorded, or in another sampling, is a slot error."""
    client = ReplayClient(recorded(tmp_path / "r.jsonl", Completion(TASK, 0, "7", n_asked=5)))
    with pytest.raises(SlotError, match="holds no answer"):
        asyncio.run(client.ask(a_request(1)))
    with pytest.raises(SlotError, match="5 answers a reply"):
        asyncio.run(client.ask(a_request(0)))


def test_first_answer_of_a_slot_counts(tmp_path):
    """A slot written twice keeps its first answer."""
    rows = Completion(TASK, 0, "5"), Completion(TASK, 0, "8")
    client = ReplayClient(recorded(tmp_path / "r.jsonl", *rows))
    assert asyncio.run(client.ask(a_request(0))).text == "5"


@pytest.mark.parametrize(
    "content",
    ["", "{}\n", "no json\n", '{"format": "x"}\n[1]\n', '{"task": 1, "index": 0, "text": ""}\n'],
)
def test_other_files_are_refused(tmp_path, content):
    """A file that is no exported run is refused in one sentence that names it."""
    file = tmp_path / "other.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ClientError, match=r"other\.jsonl"):
        ReplayClient(file)
    with pytest.raises(ClientError, match="cannot be read"):
        ReplayClient(tmp_path / "absent.jsonl")


def test_another_file_has_other_parameters(tmp_path):
    """The digest in the settings keeps runs of two recordings apart."""
    one = ReplayClient(recorded(tmp_path / "a.jsonl", Completion(TASK, 0, "5")))
    two = ReplayClient(recorded(tmp_path / "b.jsonl", Completion(TASK, 0, "6")))
    assert one.parameters != two.parameters


@pytest.mark.parametrize("value", ['"zero"', "-1", "[1]", "1e3", "[" * 100_000])
def test_impossible_slots_are_no_completions(tmp_path, value):
    """A recorded line whose index is no slot is named, however odd it is."""
    good = json.dumps({"task": TASK, "index": 0, "text": "7"})
    (tmp_path / "x.jsonl").write_text(f'{good}\n{{"task": "t", "text": "7", "index": {value}}}\n')
    with pytest.raises(ClientError, match=r"x.jsonl line 2 is no completion"):
        ReplayClient(tmp_path / "x.jsonl")
