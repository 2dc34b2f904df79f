"""Every promise of the README is held by tests that exist."""

from __future__ import annotations

import re
import socket

import pytest

from answering import simulated
from tables import TESTS, named_tests, source_of
from unpredictabench import SimulatedClient, generate, load_suite, score
from unpredictabench.score import score_records

ROW = re.compile(r"\| (?P<number>\d+) \| (?P<words>[^|]+) \| (?P<tests>`[^|]+`) \|")


def promises():
    """Return the numbered lines under "What is promised"."""
    text = (TESTS.parent / "README.md").read_text(encoding="utf-8")
    part = text.split("## What is promised\n", 1)[1].split("\n## ", 1)[0]
    return dict(re.findall(r"^(\d+)\. (.+)$", part, re.MULTILINE))


def rows():
    """Return number, words and tests of each row of the table."""
    lines = (TESTS / "README.md").read_text(encoding="utf-8").splitlines()
    found = [ROW.fullmatch(line) for line in lines if re.match(r"\| \d", line)]
    assert all(found)
    return [(row["number"], row["words"], named_tests(row["tests"])) for row in found]


def test_there_are_ten_lines_and_every_clause_of_them_is_in_the_table():
    """Each part of a line between its semicolons has words of the table in it."""
    assert list(promises()) == [str(number) for number in range(1, 11)]
    held = rows()
    for number, line in promises().items():
        for clause in re.split(r"; |, and (?=nothing)", line):
            assert any(n == number and words in clause for n, words, _ in held), clause


@pytest.mark.parametrize(("number", "words", "tests"), rows())
def test_the_tests_of_a_promise_exist(number, words, tests):
    """Each row quotes its promise, and names functions that are in the files named."""
    assert words in promises()[number]
    assert tests
    for test in tests:
        assert source_of(test) is not None, test


def test_scoring_asks_nobody(tmp_path, monkeypatch):
    """With no client and no network a stored run is scored, and scored alike again."""
    suite = load_suite("v1")
    generate(suite, SimulatedClient("perfect"), tmp_path, n_samples=5, limit_tasks=1)
    monkeypatch.setattr(socket, "socket", lambda *_, **__: pytest.fail("a call was made"))
    monkeypatch.setattr(SimulatedClient, "ask", lambda *_: pytest.fail("a model was asked"))
    first, second = score(tmp_path), score(tmp_path)
    assert first.ks_at_n[5] == second.ks_at_n[5]
    assert first.n_slots == 35


def test_effects_and_bounds_stand_beside_a_verdict():
    """Each scored task has distances, effect sizes and a bound of the distance from its law."""
    task = load_suite("v1")["text-explicit/normal/spread_out"]
    found = score_records([task], simulated("shifted:0.5", [task], 100), n=(100,))
    shown = found.tasks[0]
    assert {"w1", "w1_over_iqr", "pit_mean", "pit_sd", "jsd"} <= set(shown.measures)
    low, high = shown.measures["distance_low"], shown.measures["distance_high"]
    assert 0 < low < shown.statistic < high < 1
