"""Scenarios of elections, gossip, releases and circuit breakers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb
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
    percent,
    printed,
    tally,
)

if TYPE_CHECKING:
    import numpy as np

    from unpredictabench.tasks.scenarios.story import Moves


def election_timeout(rng: np.random.Generator) -> Story:
    """Tell of nodes of which the one with the unique shortest timeout leads."""
    names = labels(rng, 3)
    low = between(rng, 1, 15) * 10
    sizes = tuple(between(rng, 3, 8) for _ in names)
    cases = list(product(*(range(size) for size in sizes)))

    def leader(waits: tuple[int, ...]) -> str:
        shortest = min(waits)
        return "split" if waits.count(shortest) > 1 else names[waits.index(shortest)]

    counts = tally((leader(waits), Fraction(1, len(cases))) for waits in cases)
    ranges = listed(
        [f"{name} {low} to {low + n - 1} ms" for name, n in zip(names, sizes, strict=True)]
    )
    question = (
        f"The cluster {codename(rng)} has lost its leader. Each of its three nodes draws an "
        f"election timeout, a whole number of milliseconds, uniformly from its own range, ends "
        f"included, independently of the others: {ranges}. If one node's timeout is shorter than "
        f"both others, that node becomes the leader. If the shortest timeout is shared by two or "
        f"three nodes, the vote is split and nobody is elected. "
        + ask(rng, 'the outcome of this one round: the leader\'s name or the word "split"')
    )
    why = "All triples of timeouts are equally likely and are counted."
    facts = {"names": names, "sizes": sizes}
    return chosen(
        Telling("election-timeout", question, why, facts),
        {name: counts[name] for name in (*names, "split")},
    )


def coin_election(rng: np.random.Generator) -> Story:
    """Tell of candidates that flip coins until one is left."""
    n, p, most = between(rng, 3, 6), chance(rng, 30, 60), between(rng, 5, 8)

    def moves(state: tuple[int, int]) -> Moves[tuple[int, int]]:
        left, rounds = state
        if left == 1 or rounds == most:
            return []
        cases = [
            ((heads or left, rounds + 1), comb(left, heads) * p**heads * (1 - p) ** (left - heads))
            for heads in range(left + 1)
        ]
        return list(tally(cases).items())

    law = tally((rounds, weight) for (_, rounds), weight in ends((n, 0), moves).items())
    question = (
        f"{n} identical nodes of {codename(rng)} elect a leader in rounds. In each round every "
        f"node that is still a candidate flips its own coin, which shows heads with probability "
        f"{percent(p)}. Candidates with tails drop out, unless all of the round's candidates "
        f"have tails, in which case all of them stay. The election ends after the first round "
        f"that leaves exactly one candidate; if that has not happened in round {most}, it is "
        f"abandoned after that round. " + ask(rng, "the number of rounds played")
    )
    facts = {"n": n, "p": float(p), "most": most}
    why = (
        "The number of candidates is a Markov chain, followed exactly for at most that many rounds."
    )
    return counted(Telling("coin-election", question, why, facts), law, "the number of rounds")


def gossip_spread(rng: np.random.Generator) -> Story:
    """Tell of a rumour that informed nodes push to random others."""
    n, rounds = between(rng, 5, 9), between(rng, 3, 4)

    def moves(state: tuple[int, int, int]) -> Moves[tuple[int, int, int]]:
        informed, callers, left = state
        if callers == 0:
            return [((informed, informed, left - 1), Fraction(1))] if left > 1 else []
        fresh = Fraction(n - informed, n - 1)
        return [
            ((informed + 1, callers - 1, left), fresh),
            ((informed, callers - 1, left), 1 - fresh),
        ]

    last = ends((1, 1, rounds), moves)
    law = tally((state[0], weight) for state, weight in last.items())
    question = (
        f"The cluster {codename(rng)} has {n} nodes, and one of them learns of a new setting. The "
        f"news spreads in {rounds} rounds: in each round, every node that knew the setting when "
        f"the round began calls one of the {n - 1} other nodes, all equally likely and "
        f"independently, and the node called knows the setting from then on (a call to a node "
        f"that knows it already changes nothing). "
        + ask(rng, f"the number of nodes that know the setting after {rounds} rounds")
    )
    why = "Each call reaches an uninformed node with probability (n - informed) / (n - 1)."
    facts = {"n": n, "rounds": rounds}
    return counted(Telling("gossip-spread", question, why, facts), law, "the number of nodes")


def canary_release(rng: np.random.Generator) -> Story:
    """Tell of a request that may go to a new release and be retried on the old one."""
    share, new_fails, old_fails = chance(rng, 10, 50), chance(rng, 20, 60), chance(rng, 5, 30)
    law = {
        "canary": share * (1 - new_fails),
        "stable": (share * new_fails + 1 - share) * (1 - old_fails),
        "error": (share * new_fails + 1 - share) * old_fails,
    }
    question = (
        f"The service {codename(rng)} runs a new release beside the old one. A request goes to "
        f"the canary (the new release) with probability {percent(share)} and otherwise to stable "
        f"(the old release). The canary fails on a request with probability {percent(new_fails)}; "
        f"such a request is then passed on, once, to stable. Stable fails on any request it gets "
        f"with probability {percent(old_fails)}, and then the user sees an error. All failures "
        f"are independent. "
        + ask(rng, 'what answers one user\'s request: "canary", "stable" or "error"')
    )
    facts = {"share": float(share), "new": float(new_fails), "old": float(old_fails)}
    why = "Stable sees the requests sent to it and those the canary failed on."
    return chosen(Telling("canary-release", question, why, facts), law)


def feature_flags(rng: np.random.Generator) -> Story:
    """Tell of flags drawn for a session, one of which needs another."""
    base, free, needy = labels(rng, 3)
    on = {base: chance(rng, 30, 70), free: chance(rng, 20, 70), needy: chance(rng, 30, 80)}
    cases = []
    for has_base, has_free, has_needy in product((True, False), repeat=3):
        weight = on[base] if has_base else 1 - on[base]
        weight *= on[free] if has_free else 1 - on[free]
        needed = on[needy] if has_base else Fraction(0)
        weight *= needed if has_needy else 1 - needed
        drawn = ((base, has_base), (free, has_free), (needy, has_needy))
        cases.append((tuple(sorted(name for name, is_on in drawn if is_on)), weight))
    law = {lines: weight for lines, weight in tally(cases).items() if weight}
    question = (
        f"When a session of {codename(rng)} opens, its feature flags are drawn. The flag {base} is "
        f"on with probability {percent(on[base])}; the flag {free} is on with probability "
        f"{percent(on[free])}, independently of everything else; the flag {needy} can be on only "
        f"if {base} is on, and then it is on with probability {percent(on[needy])}. The session "
        f"then prints the names of the flags that are on, in alphabetical order, one per line, "
        f"and nothing else. " + ask(rng, "what the session prints")
    )
    facts = {"names": (base, free, needy), "on": tuple(float(p) for p in on.values())}
    why = "The probabilities multiply along the draws; with every flag off nothing is printed."
    return printed(Telling("feature-flags", question, why, facts), law, sorted(on))


def circuit_breaker(rng: np.random.Generator) -> Story:
    """Tell of a breaker that opens after failures in a row."""
    row, most, fail = between(rng, 2, 3), between(rng, 8, 14), chance(rng, 30, 60)

    def moves(state: tuple[int, int]) -> Moves[tuple[int, int]]:
        streak, calls = state
        if streak == row or calls == most:
            return []
        return [((streak + 1, calls + 1), fail), ((0, calls + 1), 1 - fail)]

    law = tally((calls, weight) for (_, calls), weight in ends((0, 0), moves).items())
    question = (
        f"A worker calls the backend {codename(rng)} again and again. Every call fails with "
        f"probability {percent(fail)}, independently. As soon as {row} calls in a row have "
        f"failed, the circuit breaker opens and the worker makes no further call. Otherwise it "
        f"stops after call number {most}, when its work is done. "
        + ask(rng, "the number of calls made, failed ones included")
    )
    facts = {"row": row, "most": most, "fail": float(fail)}
    why = "The length of the current run of failures is a Markov chain, followed exactly."
    return counted(Telling("circuit-breaker", question, why, facts), law, "the number of calls")


SCENARIOS = {
    "election-timeout": election_timeout,
    "coin-election": coin_election,
    "gossip-spread": gossip_spread,
    "canary-release": canary_release,
    "feature-flags": feature_flags,
    "circuit-breaker": circuit_breaker,
}
