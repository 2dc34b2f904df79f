"""Real answers, mutated: every text is read, twice alike, and in time that grows linearly."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws import choice_task, lines_task, number_task, order_task
from unpredictabench.extract import extract
from unpredictabench.records import Completion

TASKS = {
    "number": number_task(),
    "permutation": order_task(4),
    "choice": choice_task({"heads": 0.5, "tails": 0.5}),
    "lines": lines_task({"heads\nheads": 0.5, "tails": 0.5}),
}
RECORDED = [
    answer["text"] or ""
    for file in sorted((Path(__file__).parent / "data" / "answers").glob("*.json"))
    for answer in json.loads(file.read_text())["answers"]
]
UNITS = [
    *("1", "1,", "1 ", "1.", "[", "[[", "(", "{", "\\boxed{", "```\n", "\n", " \n", "'", '["'),
    *("['", "1,000", "10^", "1 x 10^", "-", "- 5\n", "<a", "I can't ", "def f(", "a=b", "1. "),
    *("is 5, ", "heads ", '{"a":', "[1]", "mean 5 ", "thousand ", "\u202f111", " 000", "answer "),
    *("Answer: 7\n", "seven ", "\u0663", "\u0660", "$5$", "**", "\\text{", "<think>", "</think>"),
    *("\u2028", "\x1b[31m", "\x00", "\ud800", "lambda = 18", "1e999", "->", "|", "\\", "\\,", "``"),
]
MUTATIONS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "delete", "repeat", "move", "join"]),
        st.integers(0, 400),
        st.integers(0, 400),
        st.sampled_from(UNITS),
        st.sampled_from([1, 2, 40]),
        st.integers(0, len(RECORDED) - 1),
    ),
    max_size=5,
)


def mutated(text, mutations):
    """Return a real answer after some mutations."""
    for kind, one, two, unit, times, other in mutations:
        a, b = sorted((one % (len(text) + 1), two % (len(text) + 1)))
        changed = {
            "insert": text[:a] + unit * times + text[a:],
            "delete": text[:a] + text[b:],
            "repeat": text[:b] + text[a:b] * times + text[b:],
            "move": text[a:] + text[:a],
            "join": text[:a] + RECORDED[other],
        }
        text = changed[kind]
    return text


def readings(text, *, n_asked=1, finish_reason=None):
    """Return the readings of a text by every task, in both modes."""
    completion = Completion("t", 0, text, finish_reason=finish_reason, n_asked=n_asked)
    return [
        extract(completion, task, mode=mode)
        for task in TASKS.values()
        for mode in ("lenient", "strict")
    ]


def check(text, n_asked, finish_reason):
    """Read a text, and check what holds of every reading."""
    how = {"n_asked": n_asked, "finish_reason": finish_reason}
    found = readings(text, **how)
    assert found == readings(text, **how)
    for one in itertools.chain(*found):
        assert one.is_valid == (one.value is not None)
        assert one.span is None or 0 <= one.span[0] <= one.span[1] <= len(text)
        if one.is_valid and n_asked == 1:
            assert one.span is not None
    assert all(len(positions) == n_asked for positions in found)


ANSWERS = st.builds(mutated, st.sampled_from(RECORDED), MUTATIONS)
REASONS = st.sampled_from([None, "stop", "length"])


@settings(max_examples=100, deadline=None)
@given(text=ANSWERS, n_asked=st.sampled_from([1, 3]), reason=REASONS)
def test_mutated_answers_are_read(text, n_asked, reason):
    """No mutation raises, a second reading is the same, and spans lie in the text."""
    check(text, n_asked, reason)


@pytest.mark.slow
@settings(max_examples=10_000, deadline=None)
@given(text=ANSWERS, n_asked=st.sampled_from([1, 3]), reason=REASONS)
def test_mutated_answers_are_read_for_long(text, n_asked, reason):
    """The same over thousands of mutations."""
    check(text, n_asked, reason)


def seconds(text, n_asked):
    """Return the processor seconds of the slowest reading."""
    slowest = 0.0
    for task in TASKS.values():
        completion = Completion("t", 0, text, n_asked=n_asked)
        start = time.process_time()
        extract(completion, task)
        slowest = max(slowest, time.process_time() - start)
    return slowest


def grows(unit, n_asked):
    """Tell whether eight times the text takes far more than eight times as long."""
    for _ in range(3):  # another process may be in the way of one measurement
        short = seconds((unit * 2_000)[:2_000], n_asked)
        if seconds((unit * 16_000)[:16_000], n_asked) < 24 * max(short, 1e-3):
            return False
    return True


@pytest.mark.parametrize("unit", ["1,'", '"is 5, ', "'\"a,", '1,"', "\\,'", "['a\\',"])
def test_quotes_that_nothing_closes_are_read_once(unit):
    """A quote that never ends does not make every later one look for its end again.

    Found by fuzzing pairs of units: 32 kB of ``1,'`` took 4 s.
    """
    assert not grows(unit, 1)


@pytest.mark.slow
def test_no_pair_of_units_takes_quadratic_work():
    """Over all pairs of hostile units the work grows with the length, alone and in batches."""
    pairs = [a + b for a, b in itertools.permutations(UNITS, 2)]
    assert not [(unit, n) for unit in pairs[::3] for n in (1, 20) if grows(unit, n)]
