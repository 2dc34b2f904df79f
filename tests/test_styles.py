"""Prompt styles: the same words for every slot, and examples that nobody chose."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
from unittest import mock

import pytest

from laws import choice_task, lines_task, number_task, order_task
from unpredictabench.errors import InputError
from unpredictabench.records import Message
from unpredictabench.streams import stream
from unpredictabench.tasks import load_suite
from unpredictabench.tasks.examples import BLOCKS, LABELS, ORDERS, REAL, WHOLE
from unpredictabench.tasks.styles import FRAME_STOP, STYLES, framed, messages

EXAMPLES = (*REAL, *WHOLE, *ORDERS, *LABELS, *BLOCKS)
TASKS = (
    number_task(),
    number_task(is_integer=True),
    order_task(),
    order_task(instruction="Answer with all 4 names in that order, separated by commas."),
    choice_task({"x": 0.5, "y": 0.5}),
    lines_task({"a\nb": 0.5, "": 0.5}),
)


def looked_up(table, q):
    """Return the outcome whose cumulated weight first exceeds q."""
    total = sum(weight for _, weight in table)
    ends = itertools.accumulate(weight / total for _, weight in table)
    return next(outcome for (outcome, _), end in zip(table, ends, strict=True) if q < end)


def order_of_draws(weights):
    """Return all orders with their chances when the next comes in proportion to its weight."""
    table = []
    for order in itertools.permutations(weights):
        left, chance = sum(weights.values()), 1.0
        for name in order:
            chance *= weights[name] / left
            left -= weights[name]
        table.append((order, chance))
    return table


INVERSES = {
    "gompertz": lambda q: round(10 * math.log(1 - math.log(1 - q) / 0.0005), 4),
    "kumaraswamy": lambda q: round(float((1 - (1 - q) ** 0.2) ** 0.5), 4),
    "hyperbolic-secant": lambda q: round(80 / math.pi * math.log(math.tan(math.pi * q / 2)), 3),
    "benford": lambda q: int(10**q),
    "zipf": lambda q: looked_up([(k, 1 / k) for k in range(1, 51)], q),
    "discrete-rayleigh": lambda q: math.ceil(math.sqrt(math.log(1 - q) / math.log(0.9997))) - 1,
}
TABLES = {
    "race": order_of_draws({"Ada": 3, "Ben": 2, "Cleo": 1}),
    "queue": order_of_draws({"oak": 1, "fir": 2, "elm": 3, "ash": 4}),
    "gates": order_of_draws({"north": 4, "south": 3, "east": 2, "west": 1}),
    "weather": [("sun", 5), ("rain", 3), ("fog", 2)],
    "lamp": [("on", 2), ("off", 3)],
    "door": [("left", 1), ("middle", 1), ("right", 3)],
    "clap": [("clap\nclap", 3), ("clap", 2)],
    "tides": [("tide in\ntide out", 1), ("tide out\ntide in", 2)],
    "bell": [("ding\ndong", 1), ("ding", 1), ("dong", 2)],
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_answers_of_the_examples_are_draws(example):
    """Each example's answers are the first three draws of its named stream by inversion."""
    inverse = INVERSES.get(example.slug) or (lambda q: looked_up(TABLES[example.slug], q))
    uniforms = stream("few-shot", example.slug).random(3)
    assert tuple(inverse(float(q)) for q in uniforms) == example.answers


@pytest.mark.parametrize("example", [*REAL, *WHOLE], ids=lambda example: example.slug)
def test_programs_of_the_examples_draw_from_their_law(example):
    """A program whose generator gives a known uniform prints the inverse at that uniform."""
    for q in (0.1, 0.37, 0.9):
        expected = INVERSES[example.slug](q)
        shown = io.StringIO()
        with (
            mock.patch("random.random", return_value=q),
            mock.patch("random.choices", return_value=[expected]),  # Zipf's
            contextlib.redirect_stdout(shown),
        ):
            exec(example.program, {})
        assert float(shown.getvalue()) == pytest.approx(expected, abs=1e-3)


def test_examples_belong_to_no_task_of_the_suite():
    """No law of an example is the family of a task."""
    families = {task.family for task in load_suite("v1")}
    assert not families & {example.slug for example in EXAMPLES}


def test_direct_is_the_prompt_alone():
    """The direct style adds nothing to the prompt."""
    for task in TASKS:
        assert messages(task, "direct") == (Message("user", task.prompt),)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.answer.instruction)
def test_few_shot_is_three_solved_questions_and_the_prompt(task):
    """Six messages alternate, and the last is the prompt itself."""
    said = messages(task, "few-shot")
    assert [m.role for m in said] == ["user", "assistant"] * 3 + ["user"]
    assert said[-1].content == task.prompt


def test_few_shot_answers_have_the_form_asked_for():
    """Numbers are plain, whole where the task's are; orders are JSON or comma lists."""
    real, whole, array, commas, label, block = (
        [m.content for m in messages(task, "few-shot") if m.role == "assistant"] for task in TASKS
    )
    assert [float(text) for text in real] == [85.0413, 0.399, 28.389]
    assert [int(text) for text in whole] == [1, 4, 13]
    assert all(isinstance(json.loads(text), list) for text in array)
    assert commas[0] == "Ada, Cleo, Ben"
    assert label == ["sun", "off", "right"]
    assert block[1] == "tide out\ntide in"


def test_few_shot_shows_programs_to_tasks_with_programs():
    """Code tasks get the same examples as programs."""
    task = next(task for task in load_suite("v1") if task.program is not None)
    questions = [m.content for m in messages(task, "few-shot") if m.role == "user"]
    assert all("```python\n" in question for question in questions)
    assert all(question.endswith(task.answer.instruction) for question in questions)


def test_cot_asks_for_a_last_line():
    """The reasoning style keeps question and form, and names the last line."""
    [message] = messages(TASKS[0], "cot")
    assert message.content.startswith(TASKS[0].question)
    assert "\nAnswer: ..." in message.content
    assert message.content.endswith(TASKS[0].answer.instruction)


@pytest.mark.parametrize("style", ["direct", "few-shot", "cot"])
def test_batch_wording_asks_for_one_array(style):
    """Several answers are asked for as one JSON array of that many entries."""
    for task in TASKS:
        said = messages(task, style, n_asked=7)
        assert "Do this 7 times, independently" in said[-1].content
        assert "one JSON array of 7" in said[-1].content
        assert task.answer.instruction not in said[-1].content
        for example in said[1:-1:2]:
            assert len(json.loads(example.content)) == 3
    assert '"x", "y"' in messages(TASKS[4], n_asked=2)[0].content


def test_style_names_are_checked():
    """An unknown style is refused with the nearest name, a count below 1 too."""
    with pytest.raises(InputError, match=r"style must be one of .* \(nearest: few-shot\)"):
        messages(TASKS[0], "fewshot")
    with pytest.raises(InputError, match="n_asked must"):
        messages(TASKS[0], n_asked=0)


def test_further_styles_are_entries(monkeypatch):
    """A style added to the table is found by its name."""
    monkeypatch.setitem(STYLES, "terse", lambda task, n: (Message("user", task.id * n),))
    assert messages(TASKS[0], "terse")[0].content == TASKS[0].id


def test_frame_ends_open_and_stops_before_the_next_question():
    """The frame repeats one pattern; its stop word is how the next block would begin."""
    text = framed((Message("system", "Be brief."), *messages(TASKS[0], "few-shot")))
    assert text.startswith("Be brief.\n\nQuestion: ")
    assert text.count("Question: ") == 4
    assert text.count(FRAME_STOP) == 4
    assert text.endswith("\nAnswer:")
