"""Scenarios of packets, latencies, retries and backoff."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
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
    listed,
    measured,
    ordered,
    percent,
    printed,
    tally,
)

if TYPE_CHECKING:
    import numpy as np


def retry_backoff(rng: np.random.Generator) -> Story:
    """Tell of a client that waits twice as long before every retry."""
    fail, first = chance(rng, 30, 75), between(rng, 1, 20) * 50
    n = between(rng, 3, 6)
    law = {first * (2**k - 1): fail**k * (1 - fail) for k in range(n)}
    law[first * (2**n - 1)] = fail**n
    waits = ", ".join(str(first * 2**k) for k in range(n))
    question = (
        f"A client calls the service {codename(rng)}. Every attempt fails with probability "
        f"{percent(fail)}, independently. After a failed attempt the client waits and tries "
        f"again; the waits before retry number 1 to {n} are {waits} milliseconds. It stops at the "
        f"first attempt that succeeds, and after retry number {n} it stops in any case. The "
        f"attempts themselves take no time. "
        + ask(rng, "the total time spent waiting, in milliseconds")
    )
    facts = {"fail": float(fail), "first": first, "n": n}
    why = "The total wait is fixed by the number of failed attempts, a geometric cut off at n."
    return counted(
        Telling("retry-backoff", question, why, facts), law, "the number of milliseconds"
    )


def full_jitter(rng: np.random.Generator) -> Story:
    """Tell of two waits drawn uniformly below one cap."""
    cap = between(rng, 4, 160) / 4
    law = {"family": "triangular", "params": {"low": 0.0, "mode": cap, "high": 2 * cap}}
    question = (
        f"A client of {codename(rng)} retries with full jitter: before every retry it sleeps for "
        f"a time drawn uniformly from the interval between 0 and {cap:g} seconds (real numbers, "
        f"not only whole ones), independently each time, and the cap does not grow. Its first "
        f"attempt and its first retry fail, and its second retry succeeds. The attempts "
        f"themselves take no time. " + ask(rng, "the total time slept, in seconds")
    )
    why = "The sum of two independent uniforms on [0, c] is triangular on [0, 2c] with mode c."
    return measured(
        Telling("full-jitter", question, why, {"cap": cap}), law, "the number of seconds"
    )


def shared_channel(rng: np.random.Generator) -> Story:
    """Tell of stations that send in the same slot or not."""
    n, p = between(rng, 2, 7), chance(rng, 10, 40)
    idle, alone = (1 - p) ** n, n * p * (1 - p) ** (n - 1)
    law = {"idle": idle, "delivered": alone, "collision": 1 - idle - alone}
    question = (
        f"On the radio channel {codename(rng)}, {n} stations each have a frame to send. In the "
        f"coming slot every station sends with probability {percent(p)}, independently of the "
        f"others. The slot is idle when no station sends, the frame is delivered when exactly one "
        f"sends, and there is a collision when two or more send. "
        + ask(rng, 'what happens in the slot: "idle", "delivered" or "collision"')
    )
    why = "The number of senders is binomial; the outcome is 0, 1 or more of them."
    return chosen(Telling("shared-channel", question, why, {"n": n, "p": float(p)}), law)


def packet_reordering(rng: np.random.Generator) -> Story:
    """Tell of packets that overtake each other on two paths."""
    names = labels(rng, between(rng, 3, 4))
    fast, extra, slow = between(rng, 3, 30), between(rng, 1, len(names) - 1), chance(rng, 20, 70)

    def arrivals(paths: tuple[bool, ...]) -> tuple[int, ...]:
        times = [2 * sent + (2 * extra + 1) * is_slow for sent, is_slow in enumerate(paths)]
        return tuple(sorted(range(len(names)), key=times.__getitem__))

    def weight(paths: tuple[bool, ...]) -> Fraction:
        return slow ** sum(paths) * (1 - slow) ** (len(paths) - sum(paths))

    law = tally(
        (arrivals(paths), weight(paths)) for paths in product((False, True), repeat=len(names))
    )
    question = (
        f"A sender puts {len(names)} packets on the link {codename(rng)}, one every millisecond, "
        f"in the order {', '.join(names)}. Each packet takes the slow path with probability "
        f"{percent(slow)} and otherwise the fast path, independently of the others. The fast path "
        f"takes exactly {fast} ms and the slow one exactly {fast + extra}.5 ms, so no two packets "
        f"arrive at the same moment. " + ask(rng, "the order in which the packets arrive")
    )
    facts = {"n": len(names), "fast": fast, "extra": extra, "slow": float(slow)}
    why = "Every assignment of paths fixes the arrival times; assignments with one order add up."
    return ordered(Telling("packet-reordering", question, why, facts), law, names)


def lossy_log(rng: np.random.Generator) -> Story:
    """Tell of log lines sent as datagrams that may be lost."""
    names = labels(rng, between(rng, 2, 3))
    loss = tuple(chance(rng, 20, 60) for _ in names)
    law = {}
    for kept in product((True, False), repeat=len(names)):
        weight = Fraction(1)
        for is_kept, p in zip(kept, loss, strict=True):
            weight *= 1 - p if is_kept else p
        law[tuple(name for name, is_kept in zip(names, kept, strict=True) if is_kept)] = weight
    risks = listed([f'"{name}" {percent(p)}' for name, p in zip(names, loss, strict=True)])
    question = (
        f"The host {codename(rng)} sends {len(names)} log lines over UDP, each in a datagram of "
        f"its own, in the order {', '.join(names)}. Datagrams are never reordered or duplicated, "
        f"but each is lost independently, with these probabilities: {risks}. The receiver "
        f"prints every line that reaches it, one per line, in order of arrival, and nothing else. "
        + ask(rng, "what the receiver prints")
    )
    facts = {"names": names, "loss": tuple(float(p) for p in loss)}
    why = "Each subset of lines has the product of the losses and deliveries; it may be empty."
    return printed(Telling("lossy-log", question, why, facts), law, names)


def hop_latency(rng: np.random.Generator) -> Story:
    """Tell of a packet that queues at several routers."""
    hops, mean = between(rng, 2, 9), between(rng, 2, 40) / 2
    law = {"family": "erlang", "params": {"shape": hops, "rate": 1 / mean}}
    question = (
        f"A packet on its way to {codename(rng)} passes {hops} routers, one after the other. At "
        f"each router it waits for a random time that is exponentially distributed with a mean of "
        f"{mean:g} milliseconds, independently of the other routers; all other delays are "
        f"negligible. " + ask(rng, "the total time the packet waits, in milliseconds")
    )
    why = f"The sum of {hops} independent exponentials of mean {mean:g}."
    facts = {"hops": hops, "mean": mean}
    return measured(Telling("hop-latency", question, why, facts), law, "the number of milliseconds")


def hedged_request(rng: np.random.Generator) -> Story:
    """Tell of a request sent to several replicas, of which the first answer counts."""
    names = labels(rng, between(rng, 2, 4))
    means = tuple(between(rng, 2, 30) * 5 for _ in names)
    rate = sum((Fraction(1, mean) for mean in means), Fraction(0))
    law = {"family": "exponential", "params": {"rate": float(rate)}}
    speeds = listed([f"{name} {mean} ms" for name, mean in zip(names, means, strict=True)])
    question = (
        f"The client {codename(rng)} sends the same request to {len(names)} replicas at the same "
        f"moment and uses the first reply. The response times are independent and exponentially "
        f"distributed, with these means: {speeds}. "
        + ask(rng, "the time until the first reply, in milliseconds")
    )
    why = f"The minimum of exponentials is exponential with the sum of the rates, {rate} per ms."
    return measured(
        Telling("hedged-request", question, why, {"means": means}),
        law,
        "the number of milliseconds",
    )


SCENARIOS = {
    "retry-backoff": retry_backoff,
    "full-jitter": full_jitter,
    "shared-channel": shared_channel,
    "packet-reordering": packet_reordering,
    "lossy-log": lossy_log,
    "hop-latency": hop_latency,
    "hedged-request": hedged_request,
}
