"""From replies to slots: the order they come in does not matter, and none of them is kept."""

from __future__ import annotations

import dataclasses
import weakref

from laws import number_task
from unpredictabench.extract.observations import observe
from unpredictabench.records import Completion
from unpredictabench.streams import stream


class Watched(Completion):
    """A reply that can be weakly referred to."""


def columns(tasks, replies):
    """Return the slots of each task as plain lists."""
    observed, _ = observe(tasks, replies, mode="lenient")
    return [
        (one.values[one.is_valid].tolist(), one.numbers.tolist(), one.replies.tolist(),
         list(one.statuses.items()), one.n_asked, one.n_off_support)
        for one in observed
    ]  # fmt: skip


def test_replies_are_read_as_they_come_in_any_order():
    """Shuffled replies give the same slots, and no reply outlives the next but one."""
    tasks = [number_task("a"), number_task("b"), number_task("unanswered")]
    replies = [
        Completion(task, i, str(i % 7) if i % 3 else "no") for task in "ab" for i in range(30)
    ]
    alive = weakref.WeakValueDictionary()

    def passing(order):
        for place in order.tolist():
            alive[place] = reply = Watched(**dataclasses.asdict(replies[place]))
            yield reply
            del reply
            assert len(alive) <= 1

    order = stream("any order").permutation(len(replies))
    assert columns(tasks, passing(order)) == columns(tasks, replies)
