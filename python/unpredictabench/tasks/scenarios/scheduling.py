"""Scenarios of schedulers, queues and load balancers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product
from typing import TYPE_CHECKING

from unpredictabench.tasks.programs.codenames import codename, labels
from unpredictabench.tasks.scenarios.story import (
    Story,
    Telling,
    ask,
    between,
    chance,
    chosen,
    counted,
    ends,
    listed,
    ordered,
    percent,
    tally,
    whole,
)

if TYPE_CHECKING:
    import numpy as np

    from unpredictabench.tasks.scenarios.story import Moves


def lottery_scheduler(rng: np.random.Generator) -> Story:
    """Tell of jobs that are drawn in proportion to their tickets and run to the end."""
    names = labels(rng, between(rng, 3, 4))
    tickets = tuple(between(rng, 1, 9) for _ in names)

    def weight(order: tuple[int, ...]) -> Fraction:
        chance, left = Fraction(1), sum(tickets)
        for who in order:
            chance *= Fraction(tickets[who], left)
            left -= tickets[who]
        return chance

    law = {order: weight(order) for order in permutations(range(len(names)))}
    holding = listed([f"{name} {count}" for name, count in zip(names, tickets, strict=True)])
    question = (
        f"The single-core machine {codename(rng)} uses a lottery scheduler. {len(names)} jobs are "
        f"waiting and hold these numbers of tickets: {holding}. Whenever the core is free, one "
        f"ticket is drawn, all tickets of the waiting jobs being equally likely; the job that "
        f"holds it runs to completion without interruption and leaves with all its tickets. No "
        f"new jobs arrive. " + ask(rng, "the order in which the jobs complete")
    )
    why = "The order has the product of each winner's share of the tickets still waiting."
    return ordered(Telling("lottery-scheduler", question, why, {"tickets": tickets}), law, names)


def work_stealing(rng: np.random.Generator) -> Story:
    """Tell of an idle worker that tries random victims until one has work."""
    n = between(rng, 6, 24)
    busy = between(rng, 1, n // 3)
    law = {"family": "geometric", "params": {"probability": busy / (n - 1), "start": 1}}
    owners = "exactly 1 has a task" if busy == 1 else f"exactly {busy} have a task"
    question = (
        f"The thread pool {codename(rng)} has {n} workers with a queue each. One worker runs out "
        f"of tasks and tries to steal: of the {n - 1} other queues {owners}, and this does not "
        f"change meanwhile. In every attempt the thief picks one of the {n - 1} other "
        f"queues, all equally likely and independently of its earlier attempts (it does not "
        f"remember which ones were empty). It stops at the first attempt that hits a queue with a "
        f"task. " + ask(rng, "the number of attempts made, the successful one included")
    )
    why = f"Attempts are independent with success probability {busy}/{n - 1}; the success counts."
    return whole(
        Telling("work-stealing", question, why, {"n": n, "busy": busy}),
        law,
        "the number of attempts",
    )


def retry_queue(rng: np.random.Generator) -> Story:
    """Tell of jobs that go to the back of the queue when their first attempt fails."""
    names = labels(rng, between(rng, 3, 4))
    fails = tuple(chance(rng, 10, 70) for _ in names)

    def finish(failed: tuple[bool, ...]) -> tuple[int, ...]:
        return tuple(sorted(range(len(names)), key=lambda who: (failed[who], who)))

    def weight(failed: tuple[bool, ...]) -> Fraction:
        total = Fraction(1)
        for does_fail, p in zip(failed, fails, strict=True):
            total *= p if does_fail else 1 - p
        return total

    law = tally(
        (finish(failed), weight(failed)) for failed in product((False, True), repeat=len(names))
    )
    risks = listed([f"{name} {percent(p)}" for name, p in zip(names, fails, strict=True)])
    question = (
        f"The queue {codename(rng)} has one consumer and holds {len(names)} messages, from front "
        f"to back {', '.join(names)}. The consumer always takes the front message. The first "
        f"attempt at a message fails with a probability of its own, independently of the others "
        f"({risks}); a message that fails goes to the back of the queue, and its second attempt "
        f"always succeeds. No other messages arrive. "
        + ask(rng, "the order in which the messages are completed")
    )
    facts = {"fails": tuple(float(p) for p in fails)}
    why = "First the messages that succeed at once, in order, then the failed ones, in order."
    return ordered(Telling("retry-queue", question, why, facts), law, names)


def two_choices(rng: np.random.Generator) -> Story:
    """Tell of a balancer that compares two random servers."""
    names = labels(rng, between(rng, 4, 6))
    loads = tuple(between(rng, 0, 5) for _ in names)
    pairs = list(combinations(range(len(names)), 2))
    picked = tally(
        (names[min(pair, key=lambda who: (loads[who], who))], Fraction(1, len(pairs)))
        for pair in pairs
    )
    law = {name: picked.get(name, Fraction(0)) for name in names}
    queues = listed([f"{name} {load}" for name, load in zip(names, loads, strict=True)])
    question = (
        f"The load balancer {codename(rng)} stands before {len(names)} servers whose queues have "
        f"these lengths: {queues}. For the next request it draws two different servers, every "
        f"pair equally likely, and sends the request to the one with the shorter queue; if both "
        f"are equally long, to the one that comes first in the list above. "
        + ask(rng, "the server that receives the request")
    )
    why = "Each server wins the pairs in which its queue is shorter or equal and listed first."
    facts = {"names": names, "loads": loads}
    return chosen(Telling("two-choices", question, why, facts), law)


def bounded_queue(rng: np.random.Generator) -> Story:
    """Tell of a queue of limited length watched for a few ticks."""
    room, ticks = between(rng, 3, 6), between(rng, 3, 6)
    start = between(rng, 0, room)
    arrival, service = chance(rng, 20, 80), chance(rng, 20, 80)

    def moves(state: tuple[int, int]) -> Moves[tuple[int, int]]:
        length, done = state
        if done == ticks:
            return []
        cases = []
        for leaves, arrives in product((0, 1), repeat=2):
            weight = service if leaves else 1 - service
            weight *= arrival if arrives else 1 - arrival
            after = min(room, max(0, length - leaves) + arrives)
            cases.append(((after, done + 1), weight))
        return cases

    law = tally((length, weight) for (length, _), weight in ends((start, 0), moves).items())
    question = (
        f"The buffer {codename(rng)} holds at most {room} messages and starts with {start}. It "
        f"is watched for {ticks} ticks. In each tick, first the consumer is ready with "
        f"probability {percent(service)}, and if it is ready and the buffer is not empty it "
        f"removes one message; after that, a new message arrives with probability "
        f"{percent(arrival)} and is stored if there is room, otherwise it is dropped. All these "
        f"events are independent. " + ask(rng, f"the number of messages stored after {ticks} ticks")
    )
    facts = {
        "room": room,
        "ticks": ticks,
        "start": start,
        "chances": (float(arrival), float(service)),
    }
    why = "The chain of buffer lengths is followed exactly through all ticks."
    return counted(Telling("bounded-queue", question, why, facts), law, "the number of messages")


SCENARIOS = {
    "lottery-scheduler": lottery_scheduler,
    "work-stealing": work_stealing,
    "retry-queue": retry_queue,
    "two-choices": two_choices,
    "bounded-queue": bounded_queue,
}
