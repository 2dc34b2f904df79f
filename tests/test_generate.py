"""Generation asks each slot once, stores what comes, counts what does not, and can go on later."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from unpredictabench.errors import FatalClientError, InputError, SlotError, StoreError
from unpredictabench.generate import Budget, Design, Price, generate, generate_async
from unpredictabench.records import Answer, Completion, Task
from unpredictabench.store import last_readings, open_run
from unpredictabench.streams import stream


@dataclasses.dataclass(frozen=True)
class Die:
    """A fair die as a target."""

    support = "discrete"
    spec = {"family": "die"}  # noqa: RUF012 - a constant

    def sample(self, size, rng):
        """Throw the die."""
        return rng.integers(1, 7, size).astype(np.float64)


@dataclasses.dataclass(frozen=True)
class Suite:
    """The least a suite can be."""

    tasks: tuple[Task, ...]
    name: str = "dice"
    hash: str = "abc"

    def __iter__(self):
        return iter(self.tasks)


def suite(n_tasks=6, categories=("text-explicit", "shuffling")):
    """Make a suite whose tasks go round the categories."""
    form = Answer("number", "Answer with a number.")
    return Suite(
        tuple(
            Task(f"t/{i}", categories[i % len(categories)], "die", None, f"Die {i}?", form, Die())
            for i in range(n_tasks)
        )
    )


class Thrower:
    """A model that answers a slot with a number of its own, and remembers what it was asked."""

    def __init__(self, *, behave=None, parameters=None, delay_s=0.0):
        self.model, self.base_url = "sim:thrower", None
        self.parameters = parameters if parameters is not None else {"temperature": 1.0}
        self.asked, self.is_closed, self.n_busy, self.most_busy = [], False, 0, 0
        self.behave, self.delay_s = behave, delay_s

    async def ask(self, request):
        """Answer from the slot's own stream, after what `behave` does."""
        self.asked.append((request.task.id, request.index))
        self.n_busy += 1
        self.most_busy = max(self.most_busy, self.n_busy)
        try:
            await asyncio.sleep(self.delay_s)
            if self.behave is not None:
                changed = self.behave(request)
                if changed is not None:
                    return changed
            return self.completion(request)
        finally:
            self.n_busy -= 1

    @staticmethod
    def completion(request, **changes):
        """Return the slot's answer."""
        text = str(stream("thrower", request.task.id, request.index).integers(1, 7))
        base = Completion(request.task.id, request.index, text, n_asked=request.n_asked)
        return dataclasses.replace(base, **changes)

    async def aclose(self):
        """Remember that it was closed."""
        self.is_closed = True


def content(run):
    """Return all completions of a run, in order."""
    return list(run.completions())


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


def test_a_repeated_run_asks_nothing_and_a_longer_one_only_the_rest(tmp_path):
    """Resuming asks the slots without an answer, whichever they are."""
    generate(suite(), Thrower(), tmp_path, n_samples=3, limit_tasks=2)
    again = Thrower()
    assert generate(suite(), again, tmp_path, n_samples=3, limit_tasks=2).stop_reason == "complete"
    assert again.asked == []
    longer = Thrower()
    run = generate(suite(), longer, tmp_path, n_samples=4)
    assert len(longer.asked) == 6 * 4 - 4 * 3
    assert (run.n_stored, run.n_missing) == (24, 0)
    assert content(run) == content(generate(suite(), Thrower(), tmp_path / "b", n_samples=4))
    shorter = generate(suite(), again, tmp_path, n_samples=2)
    assert (again.asked, shorter.stop_reason) == ([], "complete")


def test_other_settings_are_refused_before_anything_is_asked(tmp_path):
    """A run is not continued at another temperature, in another style or way of sampling."""
    generate(suite(), Thrower(), tmp_path, n_samples=4)
    client = Thrower(parameters={"temperature": 0.5})
    with pytest.raises(StoreError, match=r"parameters.temperature \(1.0 -> 0.5\)"):
        generate(suite(), client, tmp_path, n_samples=4)
    for change in ({"prompt_style": "cot"}, {"sampling": "batch", "batch_size": 2}):
        with pytest.raises(StoreError, match=f"{next(iter(change))} .*->"):
            generate(suite(), client, tmp_path, n_samples=4, **change)
    assert client.asked == []


def test_failed_slots_are_counted_by_kind_and_asked_again_later(tmp_path):
    """A slot without an answer stays open; the run is incomplete until it has one."""

    def behave(request):
        if request.index == 1:
            raise SlotError(f"{request.task.id} #1 got no answer: the server answered 503")

    run = generate(suite(), Thrower(behave=behave), tmp_path, n_samples=3)
    assert (run.stop_reason, run.n_stored, run.n_missing) == ("incomplete", 12, 6)
    assert run.failures == {"the server answered 503": 6}
    client = Thrower()
    run = generate(suite(), client, tmp_path, n_samples=3)
    assert sorted(client.asked) == [(f"t/{i}", 1) for i in range(6)]
    assert (run.stop_reason, run.failures, run.is_complete) == ("complete", {}, True)


def test_a_fatal_error_ends_the_run_and_keeps_what_arrived(tmp_path):
    """The first fatal error stops the asking; answers under way are still taken in."""

    def behave(request):
        if request.index == 2:
            raise FatalClientError("the quota is used up: raise it, then run again to resume")

    client = Thrower(behave=behave)
    with pytest.raises(FatalClientError, match="quota"):
        generate(suite(), client, tmp_path, n_samples=50, concurrency=4)
    run = open_run(tmp_path)
    assert run.stop_reason.startswith("failed: the quota is used up")
    assert run.n_stored == 12
    assert len(client.asked) < 12 + 5
    assert client.is_closed


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


class EnoughSixes:
    """Close a task once its answers, in order, hold two sixes."""

    name = "two sixes"

    def __init__(self):
        self.seen = {}

    def done(self, task_id, completions):
        """Check that answers only ever come in order, without gaps, and count sixes."""
        assert [c.index for c in completions] == list(range(len(completions)))
        assert len(completions) > self.seen.get(task_id, 0)
        self.seen[task_id] = len(completions)
        return sum(c.text == "6" for c in completions) >= 2


def sixes(task_id):
    """Return the number of answers after which a task has two sixes."""
    texts = [str(stream("thrower", task_id, index).integers(1, 7)) for index in range(200)]
    return [i for i, text in enumerate(texts, 1) if text == "6"][1]


def test_a_stopping_rule_closes_tasks_one_by_one(tmp_path):
    """Each task ends at the answer that satisfies the rule; nothing counts as missing."""
    progress = []
    run = generate(
        suite(), Thrower(), tmp_path, n_samples=60, concurrency=1, stop=EnoughSixes(),
        progress=progress.append,
    )  # fmt: skip
    n_answers = {f"t/{i}": sum(c.task == f"t/{i}" for c in content(run)) for i in range(6)}
    assert n_answers == {task: sixes(task) for task in n_answers}
    assert (run.stop_reason, run.n_missing) == ("complete", 0)
    assert run.stopped_tasks == set(n_answers)
    assert run.settings.stop == "two sixes"
    assert progress[-1].n_done == progress[-1].n_total == run.n_stored
    again = Thrower()
    generate(suite(), again, tmp_path, n_samples=60, stop=EnoughSixes())
    assert again.asked == []
    with pytest.raises(StoreError, match=r'stop \("two sixes" -> "never"\)'):
        generate(suite(), again, tmp_path, n_samples=60)


def test_a_stopping_rule_sees_the_same_answers_in_any_order_of_arrival(tmp_path):
    """With many requests under way and uneven delays the rule still decides at the same answer."""
    client = Thrower()
    whole = client.ask

    async def uneven(request):
        await asyncio.sleep(stream("delay", request.task.id, request.index).random() / 500)
        return await whole(request)

    client.ask = uneven
    rule = EnoughSixes()
    run = generate(suite(3), client, tmp_path, n_samples=40, concurrency=16, stop=rule)
    closing = {e.data["task"]: e.data["n_answers"] for e in run.events if e.kind == "task-stopped"}
    assert all(closing[f"t/{i}"] >= sixes(f"t/{i}") for i in range(3))
    assert run.n_stored < 120


def priced(request):
    """Answer with usage as a server would count it."""
    return Thrower.completion(request, prompt_tokens=100, completion_tokens=10)


@pytest.mark.parametrize(
    ("budget", "n_stored"),
    [
        (Budget(max_requests=7), 7),
        (Budget(max_tokens_total=1100), 10),
        (Budget(max_cost=0.0022, price=Price(1.0, 100.0)), 2),
        (Budget(max_cost=0.0, price=Price(0.0, 0.0)), 18),
        (Budget(max_requests=0), 0),
    ],
)
def test_a_budget_stops_cleanly_and_holds_over_sessions(tmp_path, budget, n_stored):
    """A run ends before it goes over; repeating the command spends nothing more."""
    for _ in range(2):
        run = generate(
            suite(), Thrower(behave=priced), tmp_path, n_samples=3, concurrency=1, budget=budget
        )
        assert run.n_stored == n_stored
    assert run.stop_reason == "complete" if n_stored == 18 else run.stop_reason.startswith("budget")


def test_a_budget_counts_what_is_under_way(tmp_path):
    """With everything asked at once no more requests are made than allowed."""
    client = Thrower(behave=priced, delay_s=0.005)
    budget = Budget(max_requests=7)
    run = generate(suite(), client, tmp_path, n_samples=3, concurrency=64, budget=budget)
    assert (run.n_stored, len(client.asked), run.stop_reason) == (7, 7, "budget: max_requests")


def test_progress_tells_how_far_a_run_is(tmp_path):
    """Every slot is reported, with what earlier sessions stored and what failed."""

    def behave(request):
        if request.index == 4:
            raise SlotError("t: no answer")
        return priced(request)

    generate(suite(), Thrower(), tmp_path, n_samples=2)
    seen = []
    budget = Budget(price=Price(1.0, 1.0))
    generate(
        suite(), Thrower(behave=behave), tmp_path, n_samples=5, budget=budget, progress=seen.append
    )
    assert [p.n_done + p.n_failed for p in seen] == [*range(12, 31), 30]
    assert (seen[-1].n_before, seen[-1].n_total, seen[-1].n_failed) == (12, 30, 6)
    usage = seen[-1].usage
    assert (usage.n_requests, usage.n_estimated) == (30, 12)
    assert usage.cost == pytest.approx((usage.prompt_tokens + usage.completion_tokens) / 1e6)


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


def test_a_stopping_rule_is_no_word(tmp_path):
    """The name of a rule in place of a rule is refused, with what makes one."""
    with pytest.raises(InputError, match="stop must be a rule, such as stop_rule"):
        generate(suite(), Thrower(), tmp_path, n_samples=1, stop="curtail")


def test_a_run_in_another_thread_needs_no_signals(tmp_path):
    """Off the main thread, where no handler can be set, a run works all the same."""
    runs = []
    thread = threading.Thread(
        target=lambda: runs.append(generate(suite(), Thrower(), tmp_path, n_samples=1))
    )
    thread.start()
    thread.join()
    assert runs[0].is_complete


NURSERY = """
import os, signal, sys
if {is_deaf!r}:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.path.insert(0, {tests!r})
from test_generate import Thrower, generate, suite
for _ in sys.stdin:
    child = os.fork()
    if child:
        print(child, flush=True)
        os.waitpid(child, 0)
        print("ended", flush=True)
        continue
    try:
        generate(suite(20), Thrower(delay_s=0.003), {out!r}, n_samples=500, concurrency=8)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    os._exit(0)
"""


class Nursery:
    """A process that has imported everything and starts runs of 10,000 slots by forking."""

    def __init__(self, out, *, is_deaf=False):
        script = NURSERY.format(tests=str(Path(__file__).parent), out=str(out), is_deaf=is_deaf)
        self.process = subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate()

    def start(self):
        """Start a run; return the id of its process."""
        self.process.stdin.write("go\n")
        return int(self.process.stdout.readline())

    def line(self):
        """Return the next thing a run or its end says."""
        return self.process.stdout.readline().strip()


@pytest.mark.parametrize(
    ("number", "is_deaf"),
    [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGTERM, True)],
    ids=["Ctrl-C", "SIGTERM", "SIGTERM under nohup"],
)
def test_an_interrupted_run_flushes_and_resumes(tmp_path, number, is_deaf):
    """Ctrl-C and SIGTERM leave everything that arrived in a run that says so and resumes."""
    with Nursery(tmp_path, is_deaf=is_deaf) as nursery:
        run_id = nursery.start()
        while not _n_stored(tmp_path):
            time.sleep(0.005)
        os.kill(run_id, number)
        assert (nursery.line(), nursery.line()) == ("interrupted", "ended")
    run = open_run(tmp_path)
    assert run.stop_reason == "interrupted"
    assert 0 < run.n_stored < 10_000
    assert run.events[-1].data["n_new"] == run.n_stored
    client = Thrower()
    assert generate(suite(20), client, tmp_path, n_samples=500).is_complete
    assert len(client.asked) == 10_000 - run.n_stored


def _n_stored(path):
    try:
        return open_run(path).n_stored
    except StoreError:
        return 0


def test_sto_kill_then_resume(tmp_path):
    """Killed at 50 random instants and resumed, a run equals an undisturbed one."""
    undisturbed = content(generate(suite(20), Thrower(), tmp_path / "whole", n_samples=500))
    out, rng, before, counts = tmp_path / "killed", stream("kills"), {}, set()
    with Nursery(out) as nursery:
        for _ in range(50):
            run_id = nursery.start()
            time.sleep(rng.uniform(0.0, 0.2))
            os.kill(run_id, signal.SIGKILL)
            assert nursery.line() == "ended"
            after = {(c.task, c.index): c for c in content(open_run(out))} if _n_stored(out) else {}
            assert before.items() <= after.items()
            before = after
            counts.add(len(after))
    assert len(counts) > 10
    client = Thrower()
    run = generate(suite(20), client, out, n_samples=500)
    assert (len(client.asked), run.is_complete) == (10_000 - len(before), True)
    assert content(run) == undisturbed


def test_no_environment_key_enters_the_store(tmp_path, monkeypatch):
    """Nothing of the environment is written: a key set there is not in any file of the run."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-stored")
    generate(suite(), Thrower(), tmp_path, n_samples=1)
    assert not any(b"sk-not-to-be-stored" in file.read_bytes() for file in tmp_path.iterdir())
    assert os.environ["OPENAI_API_KEY"] == "sk-not-to-be-stored"


WHOLE = """
import sys
from unpredictabench import SimulatedClient, generate, load_suite
generate(load_suite("v1"), SimulatedClient("perfect"), sys.argv[1], n_samples=100)
"""


def whole_run(out):
    """Start a process that asks a simulated model the whole suite."""
    return subprocess.Popen([sys.executable, "-c", WHOLE, str(out)])


@pytest.mark.slow
def test_a_whole_simulated_run_killed_and_resumed_equals_an_undisturbed_one(tmp_path):
    """All 448 x 100 answers are there once and alike, after six kills at random moments."""
    began_at = time.monotonic()
    assert whole_run(tmp_path / "whole").wait() == 0
    lasted_s, rng, n_before = time.monotonic() - began_at, stream("whole-kills"), []
    for _ in range(6):
        process = whole_run(tmp_path / "killed")
        time.sleep(rng.uniform(0.2, 0.9) * lasted_s)
        process.kill()
        process.wait()
        n_before.append(_n_stored(tmp_path / "killed"))
    assert n_before == sorted(n_before)
    assert whole_run(tmp_path / "killed").wait() == 0
    whole, killed = open_run(tmp_path / "whole"), open_run(tmp_path / "killed")
    assert (whole.n_stored, killed.n_stored, killed.stop_reason) == (44_800, 44_800, "complete")
    assert content(killed) == content(whole)
    assert last_readings(killed.path) == last_readings(whole.path)
    assert (killed.settings, killed.plan) == (whole.settings, whole.plan)
