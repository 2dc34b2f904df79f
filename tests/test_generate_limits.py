"""Stopping rules and budgets end a run where they should, and progress tells how far it is."""

from __future__ import annotations

import asyncio

import pytest

from dice import Thrower, content, suite
from unpredictabench.errors import InputError, SlotError, StoreError
from unpredictabench.generate import Budget, Price, generate
from unpredictabench.streams import stream


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


def test_a_stopping_rule_is_no_word(tmp_path):
    """The name of a rule in place of a rule is refused, with what makes one."""
    with pytest.raises(InputError, match="stop must be a rule, such as stop_rule"):
        generate(suite(), Thrower(), tmp_path, n_samples=1, stop="curtail")
