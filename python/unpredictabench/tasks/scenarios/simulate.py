"""The processes the scenarios describe, run step by step: the check on their laws.

Nothing here knows a law. Every function takes the facts of a story, a number of runs and a
generator, and returns one outcome a run: a number, a label, printed lines or an order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from unpredictabench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

Facts: TypeAlias = "Mapping[str, Any]"
Outcomes: TypeAlias = "Sequence[float | str | tuple[int, ...]]"
Generator: TypeAlias = np.random.Generator


def simulate(slug: str, facts: Facts, size: int, rng: Generator) -> Outcomes:
    """Run a scenario's process.

    Parameters
    ----------
    slug : str
        The scenario.
    facts : mapping
        The facts of its story.
    size : int
        Number of independent runs.
    rng : numpy.random.Generator
        Where chance comes from.

    Returns
    -------
    sequence
        The outcome of each run.

    Raises
    ------
    InputError
        There is no such scenario.
    """
    if slug in AT_ONCE:
        return AT_ONCE[slug](facts, size, rng)
    if slug not in ONE_RUN:
        raise InputError("slug", "name a scenario", slug)
    run = ONE_RUN[slug]
    return [run(facts, rng) for _ in range(size)]


def lost_update(facts: Facts, rng: Generator) -> float:
    """Run two loops of unlocked increments."""
    todo = {0: ["read", "store"] * facts["n"], 1: ["read", "store"] * facts["n"]}
    visits, temporary = facts["start"], {}
    while todo[0] or todo[1]:
        if todo[0] and todo[1]:
            who = 0 if rng.random() < facts["first"] else 1
        else:
            who = 0 if todo[0] else 1
        if todo[who].pop(0) == "read":
            temporary[who] = visits
        else:
            visits = temporary[who] + 1
    return float(visits)


def interleaved_append(facts: Facts, rng: Generator) -> str:
    """Run two threads that append numbered lines."""
    queues = [
        [f"{name} {number}" for number in range(1, size + 1)]
        for name, size in zip(facts["names"], facts["sizes"], strict=True)
    ]
    file: list[str] = []
    while queues[0] and queues[1]:
        file.append(queues[0 if rng.random() < facts["first"] else 1].pop(0))
    return "\n".join([*file, *queues[0], *queues[1]])


def two_lock_deadlock(facts: Facts, rng: Generator) -> str:
    """Run two threads until one holds both locks or each holds one."""
    plans = [["work"] * n for n in facts["before"]]
    plans = [[*plans[0], "one", "two"], [*plans[1], "two", "one"]]
    owner: dict[str, int] = {}
    while True:
        who = 0 if rng.random() < facts["first"] else 1
        step = plans[who].pop(0)
        if step != "work":
            owner[step] = who
        if len(owner) == 2:
            is_won = owner["one"] == owner["two"]
            return str(facts["names"][owner["one"]]) if is_won else "deadlock"


def lottery(facts: Facts, rng: Generator) -> tuple[int, ...]:
    """Draw tickets from a box, removing those of jobs that have run."""
    box = [who for who, count in enumerate(facts["tickets"]) for _ in range(count)]
    order = []
    while box:
        winner = box[int(rng.integers(len(box)))]
        order.append(winner)
        box = [who for who in box if who != winner]
    return tuple(order)


def retry_queue(facts: Facts, rng: Generator) -> tuple[int, ...]:
    """Run a queue whose failed messages go to the back."""
    queue, tried, done = list(range(len(facts["fails"]))), set(), []
    while queue:
        message = queue.pop(0)
        if message not in tried and rng.random() < facts["fails"][message]:
            tried.add(message)
            queue.append(message)
        else:
            done.append(message)
    return tuple(done)


def two_choices(facts: Facts, rng: Generator) -> str:
    """Compare two different random servers."""
    one, two = sorted(rng.choice(len(facts["loads"]), size=2, replace=False))
    return str(facts["names"][two if facts["loads"][two] < facts["loads"][one] else one])


def packet_reordering(facts: Facts, rng: Generator) -> tuple[int, ...]:
    """Send packets on two paths and sort their arrivals."""
    is_slow = rng.random(facts["n"]) < facts["slow"]
    delays = np.where(is_slow, facts["fast"] + facts["extra"] + 0.5, facts["fast"])
    return tuple(np.argsort(np.arange(facts["n"]) + delays).tolist())


def lossy_log(facts: Facts, rng: Generator) -> str:
    """Lose datagrams one by one."""
    arrived = [
        name
        for name, loss in zip(facts["names"], facts["loss"], strict=True)
        if rng.random() >= loss
    ]
    return "\n".join(arrived)


def sleep_race(facts: Facts, rng: Generator) -> tuple[int, ...]:
    """Let threads sleep and report millisecond by millisecond."""
    sleeps = [int(rng.integers(1, high + 1)) for high in facts["longest"]]
    order: list[int] = []
    for now in range(1, max(sleeps) + 1):
        order += [who for who, sleep in enumerate(sleeps) if sleep == now]
    return tuple(order)


def election_timeout(facts: Facts, rng: Generator) -> str:
    """Let three nodes wait; the first alone leads."""
    waits = [int(rng.integers(size)) for size in facts["sizes"]]
    first = [name for name, wait in zip(facts["names"], waits, strict=True) if wait == min(waits)]
    return str(first[0]) if len(first) == 1 else "split"


def canary_release(facts: Facts, rng: Generator) -> str:
    """Route one request."""
    if rng.random() < facts["share"] and rng.random() >= facts["new"]:
        return "canary"
    return "error" if rng.random() < facts["old"] else "stable"


def feature_flags(facts: Facts, rng: Generator) -> str:
    """Draw the flags of one session."""
    base, free, needy = (bool(rng.random() < p) for p in facts["on"])
    flags = zip(facts["names"], (base, free, base and needy), strict=True)
    return "\n".join(sorted(name for name, is_on in flags if is_on))


def freed_objects(facts: Facts, rng: Generator) -> str:
    """Mark what the remaining roots reach and sweep the rest."""
    a, b, c, d = facts["names"]
    references = {a: b, b: c, c: d}
    marked: set[str] = set()
    for root, cleared in zip((a, c), facts["cleared"], strict=True):
        if rng.random() >= cleared:
            node: str | None = root
            while node is not None and node not in marked:
                marked.add(node)
                node = references.get(node)
    return "\n".join(sorted({a, b, c, d} - marked))


def bloom_filter(facts: Facts, rng: Generator) -> str:
    """Insert keys into a bit array and ask for another."""
    n_set = facts["keys"] * facts["hashes"]
    ones = set(rng.integers(facts["bits"], size=(n_set,)).tolist())
    asked = set(rng.integers(facts["bits"], size=(facts["hashes"],)).tolist())
    return "maybe" if asked <= ones else "absent"


def random_eviction(facts: Facts, rng: Generator) -> str:
    """Serve two misses of a full cache."""
    cache = list(facts["held"])
    for entry in facts["wanted"]:
        cache.pop(int(rng.integers(len(cache))))
        cache.append(entry)
    return "\n".join(sorted(cache))


def reservoir(facts: Facts, rng: Generator) -> str:
    """Keep two places while records arrive."""
    places: list[str] = []
    for number, record in enumerate(facts["names"], start=1):
        if number <= 2:
            places.append(record)
        elif (slot := int(rng.integers(1, number + 1))) <= 2:
            places[slot - 1] = record
    return "\n".join(places)


def coin_election(facts: Facts, rng: Generator) -> float:
    """Flip coins until one candidate is left or the rounds are used up."""
    left, rounds = facts["n"], 0
    while left > 1 and rounds < facts["most"]:
        heads = int(np.count_nonzero(rng.random(left) < facts["p"]))
        left = heads or left
        rounds += 1
    return float(rounds)


def gossip_spread(facts: Facts, rng: Generator) -> float:
    """Let every informed node call another, round by round."""
    informed = {0}
    for _ in range(facts["rounds"]):
        shifts = rng.integers(1, facts["n"], size=len(informed)).tolist()
        callers = sorted(informed)
        informed |= {(who + by) % facts["n"] for who, by in zip(callers, shifts, strict=True)}
    return float(len(informed))


def circuit_breaker(facts: Facts, rng: Generator) -> float:
    """Call until the breaker opens or the work is done."""
    results: list[bool] = []
    while len(results) < facts["most"]:
        results.append(bool(rng.random() < facts["fail"]))
        if len(results) >= facts["row"] and all(results[-facts["row"] :]):
            break
    return float(len(results))


def bounded_queue(facts: Facts, rng: Generator) -> float:
    """Watch a buffer tick by tick."""
    stored, (arrival, service) = facts["start"], facts["chances"]
    for _ in range(facts["ticks"]):
        if rng.random() < service and stored > 0:
            stored -= 1
        if rng.random() < arrival and stored < facts["room"]:
            stored += 1
    return float(stored)


def work_stealing(facts: Facts, rng: Generator) -> float:
    """Try random victims until one has a task."""
    attempts = 1
    while rng.integers(facts["n"] - 1) >= facts["busy"]:
        attempts += 1
    return float(attempts)


def retry_backoff(facts: Facts, rng: Generator) -> float:
    """Wait twice as long after every failure."""
    waited, wait = 0, facts["first"]
    for _ in range(facts["n"]):
        if rng.random() >= facts["fail"]:
            break
        waited += wait
        wait *= 2
    return float(waited)


def nursery_fill(facts: Facts, rng: Generator) -> float:
    """Allocate objects until the nursery is full."""
    used, objects = 0, 0
    while used < facts["room"]:
        used += int(rng.choice(facts["sizes"], p=facts["weights"]))
        objects += 1
    return float(objects)


def shared_channel(facts: Facts, rng: Generator) -> str:
    """Let stations send in one slot."""
    senders = int(np.count_nonzero(rng.random(facts["n"]) < facts["p"]))
    return "idle" if senders == 0 else "delivered" if senders == 1 else "collision"


def barrier_wait(facts: Facts, size: int, rng: Generator) -> Outcomes:
    """Wait for the slowest worker."""
    arrivals = rng.integers(1, facts["sides"] + 1, size=(size, facts["n"]))
    return listed(arrivals.max(axis=1) + float(facts["ready"]))


def full_jitter(facts: Facts, size: int, rng: Generator) -> Outcomes:
    """Sleep twice below a cap."""
    return listed((facts["cap"] * rng.random((size, 2))).sum(axis=1))


def hop_latency(facts: Facts, size: int, rng: Generator) -> Outcomes:
    """Wait at every router."""
    return listed(rng.exponential(facts["mean"], size=(size, facts["hops"])).sum(axis=1))


def hedged_request(facts: Facts, size: int, rng: Generator) -> Outcomes:
    """Take the first of several replies."""
    times = rng.standard_exponential((size, len(facts["means"]))) * np.array(facts["means"])
    return listed(times.min(axis=1))


def generation_survivors(facts: Facts, size: int, rng: Generator) -> Outcomes:
    """Collect every object several times."""
    stays = rng.random((size, facts["n"], facts["rounds"])) < facts["stay"]
    return listed(stays.all(axis=2).sum(axis=1))


def bucket_occupancy(facts: Facts, size: int, rng: Generator) -> Outcomes:
    """Hash keys into buckets and count those in use."""
    places = rng.integers(facts["buckets"], size=(size, facts["keys"]))
    return [float(len(set(row))) for row in places.tolist()]


def listed(numbers: NDArray[np.float64]) -> list[float]:
    """Return an array's numbers as plain floats."""
    return [float(number) for number in numbers]


AT_ONCE: dict[str, Callable[[Facts, int, Generator], Outcomes]] = {
    "barrier-wait": barrier_wait,
    "full-jitter": full_jitter,
    "hop-latency": hop_latency,
    "hedged-request": hedged_request,
    "generation-survivors": generation_survivors,
    "bucket-occupancy": bucket_occupancy,
}
ONE_RUN: dict[str, Callable[[Facts, Generator], float | str | tuple[int, ...]]] = {
    "lost-update": lost_update,
    "interleaved-append": interleaved_append,
    "two-lock-deadlock": two_lock_deadlock,
    "sleep-race": sleep_race,
    "lottery-scheduler": lottery,
    "work-stealing": work_stealing,
    "retry-queue": retry_queue,
    "two-choices": two_choices,
    "bounded-queue": bounded_queue,
    "retry-backoff": retry_backoff,
    "shared-channel": shared_channel,
    "packet-reordering": packet_reordering,
    "lossy-log": lossy_log,
    "election-timeout": election_timeout,
    "coin-election": coin_election,
    "gossip-spread": gossip_spread,
    "canary-release": canary_release,
    "feature-flags": feature_flags,
    "circuit-breaker": circuit_breaker,
    "freed-objects": freed_objects,
    "nursery-fill": nursery_fill,
    "bloom-filter": bloom_filter,
    "random-eviction": random_eviction,
    "reservoir": reservoir,
}
