"""Scenarios of threads whose steps interleave at random."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

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
    ordered,
    percent,
    printed,
    tally,
)

if TYPE_CHECKING:
    import numpy as np

    from unpredictabench.tasks.scenarios.story import Moves

Steps: TypeAlias = tuple[int, ...]


def turns(options: dict[str, Steps], *, first: Fraction) -> Moves[Steps]:
    """Return the next states of two threads: `first` is a's chance when both can run."""
    if len(options) < 2:
        return [(state, Fraction(1)) for state in options.values()]
    return [(options["a"], first), (options["b"], 1 - first)]


def lost_update(rng: np.random.Generator) -> Story:
    """Tell of two threads that increment a shared counter without a lock."""
    a, b = labels(rng, 2)
    n, start, first = between(rng, 2, 4), between(rng, 0, 60), chance(rng, 30, 70)

    def moves(state: Steps) -> Moves[Steps]:
        steps_a, steps_b, kept_a, kept_b, value = state
        options: dict[str, Steps] = {}
        if steps_a < 2 * n:
            after = (value, kept_b, value) if steps_a % 2 == 0 else (kept_a, kept_b, kept_a + 1)
            options["a"] = (steps_a + 1, steps_b, *after)
        if steps_b < 2 * n:
            after = (kept_a, value, value) if steps_b % 2 == 0 else (kept_a, kept_b, kept_b + 1)
            options["b"] = (steps_a, steps_b + 1, *after)
        return turns(options, first=first)

    begin: Steps = (0, 0, 0, 0, start)
    law = tally((state[4], weight) for state, weight in ends(begin, moves).items())
    question = (
        f"In the service {codename(rng)} the threads {a} and {b} share the counter `visits`, which "
        f"starts at {start}. Each thread performs {n} increments, one after the other, and no lock "
        f"is used: an increment is two atomic steps, first reading `visits` into the thread's own "
        f"temporary variable, then storing that variable plus 1 back into `visits`. The scheduler "
        f"runs one step at a time. While both threads have steps left, the next step belongs to "
        f"{a} with probability {percent(first)} and to {b} with probability {percent(1 - first)}, "
        f"independently each time; once one thread has finished, the other runs alone. "
        + ask(rng, "the final value of `visits`")
    )
    facts = {"n": n, "start": start, "first": float(first)}
    why = "All interleavings are followed exactly; an increment is lost when its read is stale."
    return counted(Telling("lost-update", question, why, facts), law, "the final value")


def interleaved_append(rng: np.random.Generator) -> Story:
    """Tell of two threads that append their lines to one file."""
    a, b = labels(rng, 2)
    n_a, n_b, first = between(rng, 2, 3), between(rng, 2, 3), chance(rng, 20, 80)

    def moves(order: str) -> Moves[str]:
        left_a, left_b = order.count("a") < n_a, order.count("b") < n_b
        if left_a and left_b:
            return [(order + "a", first), (order + "b", 1 - first)]
        if left_a or left_b:
            return [(order + ("a" if left_a else "b"), Fraction(1))]
        return []

    def lines(order: str) -> tuple[str, ...]:
        names = {"a": a, "b": b}
        return tuple(
            f"{names[who]} {order[: place + 1].count(who)}" for place, who in enumerate(order)
        )

    law = {lines(order): weight for order, weight in ends("", moves).items()}
    question = (
        f"Two threads of {codename(rng)}, {a} and {b}, append to the same empty file. Thread {a} "
        f'appends {n_a} lines, numbered from 1 ("{a} 1", "{a} 2", ...), and thread '
        f'{b} appends {n_b} lines, numbered likewise ("{b} 1", "{b} 2", ...); each thread keeps '
        f"its own order and every append is atomic. While both still have lines to append, the "
        f"next append is made by {a} with probability {percent(first)} and otherwise by {b}, "
        f"independently each time; when one is done, the other appends the rest. Then the file is "
        f"printed. " + ask(rng, "what is printed")
    )
    facts = {"names": (a, b), "sizes": (n_a, n_b), "first": float(first)}
    why = "Each interleaving has the product of the probabilities of its contested appends."
    items = [*lines("a" * n_a), *lines("b" * n_b)]
    return printed(Telling("interleaved-append", question, why, facts), law, items)


def two_lock_deadlock(rng: np.random.Generator) -> Story:
    """Tell of two threads that take two locks in opposite order."""
    a, b, one, two = labels(rng, 4)
    before_a, before_b, first = between(rng, 0, 2), between(rng, 0, 2), chance(rng, 25, 75)

    def moves(state: Steps) -> Moves[Steps]:
        at_a, at_b = state
        holds_a, holds_b = at_a - before_a, at_b - before_b
        if max(holds_a, holds_b) == 2 or holds_a == holds_b == 1:
            return []
        return turns({"a": (at_a + 1, at_b), "b": (at_a, at_b + 1)}, first=first)

    def outcome(state: Steps) -> str:
        if state[0] - before_a == 2:
            return a
        return b if state[1] - before_b == 2 else "deadlock"

    begin: Steps = (0, 0)
    law = tally((outcome(state), weight) for state, weight in ends(begin, moves).items())
    work = {0: "no private steps", 1: "1 private step", 2: "2 private steps"}
    question = (
        f"Two threads of {codename(rng)}, {a} and {b}, need both of the locks {one} and {two}. "
        f"Thread {a} first does {work[before_a]}, then locks {one}, then locks {two}; thread {b} "
        f"first does {work[before_b]}, then locks {two}, then locks {one}. Each private step and "
        f"each successful locking is one step of the scheduler. At every step the scheduler picks "
        f"{a} with probability {percent(first)} and {b} with probability {percent(1 - first)}, "
        f"independently of the past. The thread that first holds both locks finishes its work, "
        f"releases them and is the winner; if instead each thread holds one lock, both wait for "
        f"ever, which is a deadlock. "
        + ask(rng, f'the outcome: the winner\'s name ({a} or {b}) or the word "deadlock"')
    )
    facts = {"names": (a, b), "before": (before_a, before_b), "first": float(first)}
    why = "The steps up to the first double holding or the deadlock are followed exactly."
    return chosen(
        Telling("two-lock-deadlock", question, why, facts),
        {name: law[name] for name in (a, b, "deadlock")},
    )


def sleep_race(rng: np.random.Generator) -> Story:
    """Tell of threads that sleep for random whole milliseconds before they print."""
    names = labels(rng, between(rng, 3, 4))
    longest = tuple(between(rng, 2, 6) for _ in names)
    each = Fraction(1)
    for high in longest:
        each /= high
    law = tally(
        (tuple(sorted(range(len(names)), key=lambda who: (sleeps[who], who))), each)
        for sleeps in product(*(range(1, high + 1) for high in longest))
    )
    sleeping = "; ".join(
        f"{name} 1 to {high} ms" for name, high in zip(names, longest, strict=True)
    )
    question = (
        f"A program called {codename(rng)} starts {len(names)} threads at the same moment, in the "
        f"order {', '.join(names)}. Each sleeps for a whole number of milliseconds, drawn "
        f"uniformly and independently from its own range, ends included ({sleeping}), then "
        f"reports that it is awake. Threads that wake in the same millisecond report in the order "
        f"in which they were started. " + ask(rng, "the order in which the threads report")
    )
    facts = {"longest": longest}
    why = "All combinations of sleeps are equally likely; ties go to the earlier thread."
    return ordered(Telling("sleep-race", question, why, facts), law, names)


def barrier_wait(rng: np.random.Generator) -> Story:
    """Tell of a barrier that opens when the slowest worker arrives."""
    n, sides, ready = between(rng, 2, 6), between(rng, 4, 12), between(rng, 2, 9)
    law = {
        ready + ticks: Fraction(ticks**n - (ticks - 1) ** n, sides**n)
        for ticks in range(1, sides + 1)
    }
    question = (
        f"In the batch job {codename(rng)}, {n} workers meet at a barrier. Each worker needs a "
        f"whole number of ticks from 1 to {sides} before it arrives, every number equally likely, "
        f"independently of the others; all start at tick 0. The barrier opens exactly {ready} "
        f"ticks after the last worker has arrived. "
        + ask(rng, "the number of ticks after which the barrier opens")
    )
    facts = {"n": n, "sides": sides, "ready": ready}
    why = "P(max <= t) = (t / sides)^n, shifted by the fixed delay."
    return counted(Telling("barrier-wait", question, why, facts), law, "the number of ticks")


SCENARIOS = {
    "lost-update": lost_update,
    "interleaved-append": interleaved_append,
    "two-lock-deadlock": two_lock_deadlock,
    "sleep-race": sleep_race,
    "barrier-wait": barrier_wait,
}
