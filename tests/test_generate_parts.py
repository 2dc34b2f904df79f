"""Meters, alarms and selections: the parts of generation that are pure."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unpredictabench.errors import InputError
from unpredictabench.generate import NEVER, Budget, Price, StopRule, Usage, estimated
from unpredictabench.generate.alarms import (
    copied_answers,
    drift,
    marks,
    noting,
    repeated_replies,
    shifted,
    undercounted,
)
from unpredictabench.generate.budget import Meter
from unpredictabench.generate.planning import selected
from unpredictabench.generate.stopping import Prefix
from unpredictabench.records import CATEGORIES, Completion, Extraction, Message, Request
from unpredictabench.streams import stream
from unpredictabench.tasks import load_suite

WORDS = (Message("user", "x" * 80),)  # 20 tokens and 4 of the frame
LONG = "The number that I have drawn for you is 17.25."


def answers(texts, *, task="t", **fields):
    """Make completions of one task with these texts."""
    return [Completion(task, i, text, **fields) for i, text in enumerate(texts)]


def test_usage_is_counted_as_the_server_counted_it_or_estimated():
    """Reported tokens count as they are, missing ones by length, attempts as requests."""
    meter = Meter(Budget(price=Price(1e6, 1e6)))
    meter.count(WORDS, Completion("t", 0, "7", prompt_tokens=10, completion_tokens=1, attempts=3))
    meter.count(WORDS, Completion("t", 1, "12345", reasoning="abc"))
    assert meter.usage == Usage(4, 34, 3, 1, 37.0)
    assert Meter(Budget()).usage.cost is None


@given(st.integers(0, 60), st.integers(1, 8))
def test_admitted_requests_never_exceed_the_limit(limit, n_at_once):
    """However many are under way, requests, and tokens where answers are alike, stay within."""
    meter = Meter(Budget(max_requests=limit, max_tokens_total=10**9))
    n_busy = n_admitted = 0
    for turn in range(100):
        if n_busy == n_at_once or (turn % 3 == 0 and n_busy):
            meter.finish(WORDS, Completion("t", turn, "7") if turn % 2 else None)
            n_busy -= 1
        elif meter.start(WORDS) is None:
            n_busy += 1
            n_admitted += 1
    assert n_admitted <= limit
    assert meter.usage.n_requests + n_busy == n_admitted


def test_tokens_under_way_are_reckoned_with():
    """A second request is refused while the first, unanswered, may use up the rest."""
    meter = Meter(Budget(max_tokens_total=70))
    assert meter.start(WORDS) is None
    assert meter.start(WORDS) == "max_tokens_total"
    meter.finish(WORDS, Completion("t", 0, "7", prompt_tokens=24, completion_tokens=1))
    assert meter.start(WORDS) is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Budget(max_cost=1.0), "price must be given when max_cost is"),
        (lambda: Budget(max_requests=-1), "max_requests must be a number from 0, got -1"),
        (lambda: Price(float("nan"), 1.0), "input must be a number from 0, got nan"),
        (lambda: Price(1.0, float("inf")), "output must be a number from 0, got inf"),
    ],
)
def test_impossible_budgets_are_refused(make, message):
    """The argument, the rule and the value are named."""
    with pytest.raises(InputError, match=message):
        make()


def test_an_estimate_adds_up_prompts_and_answers():
    """Three requests of 24 tokens with answers of 5 tokens cost what the price says."""
    requests = [Request(None, index, WORDS) for index in range(3)]
    usage = estimated(requests, price=Price(1e6, 2e6), answer_tokens=5)
    assert usage == Usage(3, 72, 15, 3, 102.0)
    assert estimated([], price=None, answer_tokens=5) == Usage(0, 0, 0, 0, None)


def test_a_run_without_peculiarities_is_not_marked():
    """Short equal answers, the same id on no two, and one model throughout raise no alarm."""
    fair = [
        Completion("t", i, str(i % 2), response_id=f"id{i}", model="m", created_at=float(i))
        for i in range(100)
    ]
    assert marks(fair) == {}
    assert marks([]) == {}


def test_replies_served_twice_are_counted():
    """Equal text with an equal id is a cached reply; equal text alone or id alone is not."""
    cached = answers("777", response_id="id")
    assert repeated_replies(cached).startswith("2 copies of text and response id")
    assert repeated_replies(answers("12", response_id="id")) is None
    assert repeated_replies(answers("77")) is None


@pytest.mark.parametrize(
    ("texts", "is_marked"),
    [
        ([LONG] * 20, True),
        ([LONG] * 17 + list("123"), True),
        ([LONG] * 10 + list("1234567890"), False),
        ([LONG] * 9, False),
        (["7"] * 100, False),
        ([None] * 100, False),
    ],
)
def test_tasks_of_one_long_answer_are_marked(texts, is_marked):
    """Ten or more copies of one long text that fill most of a task raise the alarm."""
    said = copied_answers(answers(texts))
    assert (said is not None) == is_marked
    assert said is None or "1 task got one long answer again and again, first 't'" in said


def test_a_model_that_changed_between_the_halves_is_named():
    """Order of time decides the halves, not the order of the rows."""
    early = answers("ab", model="m-1", fingerprint="f", created_at=1.0)
    late = answers("cd", model="m-2", created_at=2.0)
    said = drift(late + early)
    assert said == (
        "the model changed during the run: first half m-1 (f); second half m-2 (no fingerprint)"
    )
    mixed = [early[0], late[0], early[1], late[1]]
    assert drift([Completion("t", i, "x", model=c.model) for i, c in enumerate(mixed)]) is None
    assert drift(answers("abcd")) is None


def read(values, task="t", **fields):
    """Make readings of one task with these values, one a second."""
    return [
        (Completion(task, i, "x", created_at=float(i), **fields), Extraction(value, "valid"))
        for i, value in enumerate(values)
    ]


def moved_by(found):
    """Note the numbers of readings that pass by, all of them unchanged, and compare them."""
    values = {}
    assert list(noting(iter(found), values)) == found
    return shifted(values)


def test_numbers_that_changed_between_the_halves_are_marked():
    """A task whose numbers move with time is named; one that does not, or has no times, is not."""
    moved = read([*range(50), *range(100, 150)], "moved")
    steady = [float(i % 10) for i in range(100)]
    values = [pair for task in "abc" for pair in read(steady, task)]
    floats = [(c, dataclasses.replace(one, value=float(one.value))) for c, one in moved]
    said = moved_by([*values, *floats])
    assert said.startswith("the numbers of 1 task changed between the first and the second half")
    assert "first 'moved'" in said
    assert moved_by(values) is None
    assert moved_by([]) is None
    at_once = [(dataclasses.replace(c, created_at=1.0), one) for c, one in floats]
    assert moved_by(at_once) is None
    strict = [(c, dataclasses.replace(one, reading="strict")) for c, one in floats]
    assert moved_by(strict) is None


def test_an_unchanging_model_is_rarely_marked():
    """Of 200 runs drawn under one law fewer than the level allows are marked."""
    n_marked = 0
    for run in range(200):
        draws = stream("unchanging", run).normal(size=(12, 40))
        found = [pair for i, row in enumerate(draws) for pair in read(row.tolist(), f"t{i}")]
        n_marked += moved_by(found) is not None
    assert n_marked <= 7  # 2 expected at most; more than 7 has probability 0.001


def test_usage_that_leaves_choices_out_is_marked():
    """Four long choices counted as one cannot be; the full count, and no count, can."""
    one, rest = {"completion_tokens": 11}, {"completion_tokens": 0}
    choices = [*answers([LONG], **one), *answers([LONG] * 3, **rest)]
    assert undercounted(choices).startswith("the server counted 11 tokens for 184 characters")
    assert undercounted(answers([LONG] * 4, **one)) is None
    assert undercounted(answers([LONG] * 4)) is None


@given(st.permutations(range(8)), st.sets(st.integers(0, 7)))
def test_a_prefix_holds_answers_in_order_without_gaps(arrival, failed):
    """After any order of arrival the prefix is what an orderly arrival would have given."""
    prefix = Prefix()
    for n, index in enumerate(arrival, start=1):
        n_before = len(prefix.answers)
        grew = prefix.settle(index, None if index in failed else Completion("t", index, "x"))
        settled = set(arrival[:n])
        first_open = next(i for i in range(9) if i not in settled)
        assert [c.index for c in prefix.answers] == [
            i for i in range(first_open) if i not in failed
        ]
        assert grew == (len(prefix.answers) > n_before)


def test_the_default_rule_never_stops():
    """It is a rule like any other, and its name says what it does."""
    assert isinstance(NEVER, StopRule)
    assert (NEVER.name, NEVER.done("t", answers("1" * 1000))) == ("never", False)


def test_a_smaller_choice_of_tasks_lies_within_a_larger_one():
    """Fewer tasks of every category are among the more, so that a smaller repeat asks no others."""
    v1 = load_suite("v1")
    before = set()
    for limit in (1, 2, 3, 5, 20, 79, 200):
        chosen = {task.id for task in selected(v1, limit_tasks=limit)}
        assert before <= chosen
        assert len(chosen) == sum(
            min(limit, len(v1.select(category=category))) for category in CATEGORIES
        )
        before = chosen
    assert before == set(v1.ids)
