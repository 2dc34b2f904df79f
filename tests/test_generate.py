"""Generation asks each slot once, as told, and stores what comes."""

from __future__ import annotations

import asyncio
import json
import os
import threading

import pytest

from dice import Thrower, content, suite
from unpredictabench.errors import InputError, StoreError
from unpredictabench.generate import Design, generate, generate_async
from unpredictabench.records import Completion
from unpredictabench.store import last_readings


def test_every_slot_is_asked_once_and_stored(tmp_path):
    """A run holds one answer for each slot, its settings, and says that it is complete."""
    client = Thrower()
    run = generate(suite(), client, tmp_path, n_samples=5)
    slots = [(f"t/{i}", index) for i in range(6) for index in range(5)]
    assert sorted(client.asked) == slots
    assert [(c.task, c.index) for c in content(run)] == slots
    assert (run.n_stored, run.n_missing, run.stop_reason) == (30, 0, "complete")
    assert (run.marks, run.failures, client.is_closed) == ((), {}, True)
    assert run.settings.suite_hash == "abc"
    assert run.settings.parameters == {"temperature": 1.0}
    assert [event.kind for event in run.events] == ["started", "stopped"]


def test_what_was_read_is_kept_beside_the_answers(tmp_path):
    """A finished run holds both readings of every answer, with class, value and span."""
    run = generate(suite(), Thrower(), tmp_path, n_samples=5)
    rows = [json.loads(line) for line in last_readings(tmp_path)]
    assert [(row["task"], row["index"], row["reading"]) for row in rows] == [
        (c.task, c.index, reading) for c in content(run) for reading in ("strict", "lenient")
    ]
    assert all(row["status"] == "valid" and row["span"] == [0, 1] for row in rows)
    assert [str(int(row["value"])) for row in rows[::2]] == [c.text for c in content(run)]
    generate(suite(), Thrower(), tmp_path, n_samples=6)
    assert len(last_readings(tmp_path)) == 2 * 36


def test_a_model_whose_numbers_change_is_marked(tmp_path):
    """The two halves of a session by time are compared, and the mark is kept with the run."""

    def behave(request):
        text = str(request.index if request.index < 30 else 1000 + request.index)
        return Thrower.completion(request, text=text, created_at=float(request.index))

    run = generate(suite(2), Thrower(behave=behave), tmp_path, n_samples=60)
    (mark,) = run.marks
    assert mark.startswith("the numbers of 2 tasks changed")


def test_time_is_spread_over_the_tasks(tmp_path):
    """At no moment is a task more than one slot ahead of another in what was asked."""
    client = Thrower()
    generate(suite(), client, tmp_path, n_samples=5, concurrency=4)
    counts = dict.fromkeys((f"t/{i}" for i in range(6)), 0)
    for task, _ in client.asked:
        counts[task] += 1
        assert max(counts.values()) - min(counts.values()) <= 1


def test_choices_of_one_request_are_asked_together(tmp_path):
    """A client that takes n choices a request gets n slots of a task in a row."""
    client = Thrower(parameters={"n": 4})
    generate(suite(2), client, tmp_path, n_samples=6, concurrency=1)
    tasks = [task for task, _ in client.asked]
    assert tasks == ["t/0"] * 4 + ["t/1"] * 4 + ["t/0"] * 2 + ["t/1"] * 2


def test_no_more_than_the_concurrency_is_under_way(tmp_path):
    """The bound is reached and never passed."""
    client = Thrower(delay_s=0.001)
    generate(suite(), client, tmp_path, n_samples=5, concurrency=7)
    assert client.most_busy == 7


def test_batch_sampling_asks_whole_replies_until_the_number_is_reached(tmp_path):
    """Replies of equal size are asked, enough to hold the samples; the size is a setting."""
    client = Thrower()
    run = generate(suite(1), client, tmp_path, n_samples=50, sampling="batch", batch_size=20)
    assert [(c.index, c.n_asked) for c in content(run)] == [(0, 20), (1, 20), (2, 20)]
    assert (run.settings.sampling, run.settings.n_asked) == ("batch", 20)
    with pytest.raises(StoreError, match=r"n_asked \(20 -> 25\)"):
        generate(suite(1), client, tmp_path, n_samples=50, sampling="batch", batch_size=25)


def test_several_answers_at_temperature_0_need_force(tmp_path):
    """Copies of one answer are not a sample: refused unless forced, or one answer is asked."""
    cold = {"temperature": 0}
    with pytest.raises(InputError, match=r"temperature must be above 0 .* got 0"):
        generate(suite(), Thrower(parameters=cold), tmp_path, n_samples=2)
    generate(suite(), Thrower(parameters=cold), tmp_path / "one", n_samples=1)
    run = generate(suite(), Thrower(parameters=cold), tmp_path / "two", n_samples=2, force=True)
    assert run.n_stored == 12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 0}, "n_samples must be at least 1, got 0"),
        ({"concurrency": 0}, "concurrency must be at least 1, got 0"),
        ({"limit_tasks": 0}, "limit_tasks must be at least 1, got 0"),
        ({"sampling": "both"}, "sampling must be one of .*, got 'both'"),
        ({"sampling": "batch", "batch_size": 1}, "batch_size must be at least 2, got 1"),
        ({"categories": ("text",)}, "categories must be among text-explicit, .*, got 'text'"),
        ({"categories": ("multimodal",)}, "categories must name a category of suite dice"),
        ({"prompt_style": "cott"}, "prompt_style must be one of direct, few-shot, cot, got 'cott'"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, arguments, message):
    """Each broken rule is told with argument and value, and no run appears."""
    with pytest.raises(InputError, match=message):
        generate(suite(), Thrower(), tmp_path / "run", **arguments)
    assert not (tmp_path / "run").exists()


def test_few_tasks_are_spread_over_their_category(tmp_path):
    """A limit takes tasks evenly from every category asked for; the suite's order stays."""
    run = generate(suite(20), Thrower(), tmp_path, n_samples=1, limit_tasks=2)
    assert list(run.plan) == ["t/6", "t/7", "t/18", "t/19"]
    run = generate(
        suite(20),
        Thrower(),
        tmp_path / "one",
        n_samples=1,
        limit_tasks=99,
        categories=["shuffling"],
    )
    assert list(run.plan) == [f"t/{i}" for i in range(1, 20, 2)]


def test_a_client_that_answers_at_once_does_not_hold_the_loop(tmp_path):
    """Other work in the same loop goes on while 20,000 answers are stored."""

    async def both():
        n_turns = 0
        asking = asyncio.create_task(
            generate_async(suite(100), Immediate(), tmp_path, Design(n_samples=200))
        )
        while not asking.done():
            await asyncio.sleep(0)
            n_turns += 1
        return await asking, n_turns

    run, n_turns = asyncio.run(both())
    assert run.n_stored == 20_000
    assert n_turns > 100


class Immediate(Thrower):
    """A model that never waits."""

    async def ask(self, request):
        """Answer without giving the loop a turn."""
        return Completion(request.task.id, request.index, "4")


def test_a_running_loop_is_told_to_await(tmp_path):
    """Called inside an event loop, the plain function names the other one."""

    async def inside():
        generate(suite(), Thrower(), tmp_path)

    with pytest.raises(InputError, match="generate must be awaited as generate_async"):
        asyncio.run(inside())


def test_a_run_in_another_thread_needs_no_signals(tmp_path):
    """Off the main thread, where no handler can be set, a run works all the same."""
    runs = []
    thread = threading.Thread(
        target=lambda: runs.append(generate(suite(), Thrower(), tmp_path, n_samples=1))
    )
    thread.start()
    thread.join()
    assert runs[0].is_complete


def test_no_environment_key_enters_the_store(tmp_path, monkeypatch):
    """Nothing of the environment is written: a key set there is not in any file of the run."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-stored")
    generate(suite(), Thrower(), tmp_path, n_samples=1)
    assert not any(b"sk-not-to-be-stored" in file.read_bytes() for file in tmp_path.iterdir())
    assert os.environ["OPENAI_API_KEY"] == "sk-not-to-be-stored"
