"""The table of reported faults names, for every one, tests that exist and mean it."""

from __future__ import annotations

import json
import re

import pytest

from tables import TESTS, named_tests, source_of

CASES = [
    json.loads(line)["id"]
    for line in (TESTS / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
]
ROW = re.compile(r"\| `(?P<case>[^`]+)` \| (?P<tests>`[^|]+`) \|.*\|")


def rows():
    """Return the tests of each case as the table lists them."""
    lines = (TESTS / "cases" / "README.md").read_text(encoding="utf-8").splitlines()
    found = [ROW.fullmatch(line) for line in lines if line.startswith("| `")]
    assert all(found)
    return [(row["case"], named_tests(row["tests"])) for row in found]


def test_every_case_stands_in_the_table_once():
    """All 85 cases are there, in their order, and nothing else."""
    assert [case for case, _ in rows()] == CASES
    assert len(set(CASES)) == 85


@pytest.mark.parametrize(("case", "tests"), rows())
def test_the_tests_of_a_case_exist_and_name_it(case, tests):
    """Each named test is a function of that file which has the id in its name or text."""
    as_name = re.sub(r"[-.]", "_", case).lower()
    for test in tests:
        source = source_of(test)
        assert source is not None, test
        assert case in source or as_name in source.lower(), test
