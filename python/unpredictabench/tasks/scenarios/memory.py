"""Scenarios of garbage collection, hashing, caches and samples kept in memory."""

from __future__ import annotations

from fractions import Fraction
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
    percent,
    printed,
    tally,
    whole,
)

if TYPE_CHECKING:
    import numpy as np

    from unpredictabench.tasks.scenarios.story import Moves


def generation_survivors(rng: np.random.Generator) -> Story:
    """Tell of objects that must survive several collections."""
    n, rounds, stay = between(rng, 12, 80), between(rng, 2, 4), chance(rng, 60, 90)
    law = {"family": "binomial", "params": {"trials": n, "probability": float(stay**rounds)}}
    question = (
        f"A generational garbage collector in the process {codename(rng)} starts with {n} young "
        f"objects. At each collection every object that is left survives with probability "
        f"{percent(stay)}, independently of the others and of the past; the rest are freed. An "
        f"object is promoted when it has survived {rounds} collections. No new objects are made. "
        + ask(rng, f"how many of the {n} objects are promoted")
    )
    facts = {"n": n, "rounds": rounds, "stay": float(stay)}
    why = f"Each object is promoted with probability {float(stay):g}^{rounds}, independently."
    return whole(
        Telling("generation-survivors", question, why, facts), law, "the number of objects promoted"
    )


def freed_objects(rng: np.random.Generator) -> Story:
    """Tell of a collector that frees what no root reaches."""
    a, b, c, d = sorted(labels(rng, 4))
    first, second = chance(rng, 25, 75), chance(rng, 25, 75)
    law = {
        (): 1 - first,
        (a, b): first * (1 - second),
        (a, b, c, d): first * second,
    }
    question = (
        f"The heap of {codename(rng)} holds four objects. Object {a} refers to {b}, {b} refers "
        f"to {c}, and {c} refers to {d}; there are no other references between objects. "
        f"Two root pointers exist: one refers to {a}, the other to {c}. Before the collection the "
        f"root pointer to {a} is cleared with probability {percent(first)}, and the one to {c} is "
        f"cleared with probability {percent(second)}, independently. The collector then frees "
        f"every object that no remaining root pointer reaches, directly or through other "
        f"objects, and prints the names of the freed objects in alphabetical order, one per line, "
        f"and nothing else. " + ask(rng, "what the collector prints")
    )
    facts = {"names": (a, b, c, d), "cleared": (float(first), float(second))}
    why = "While the first root stands all is reachable; the second keeps the last two alive."
    return printed(Telling("freed-objects", question, why, facts), law, (a, b, c, d))


def nursery_fill(rng: np.random.Generator) -> Story:
    """Tell of a nursery that is collected when the allocations reach its size."""
    room = between(rng, 8, 16)
    small, medium = chance(rng, 30, 60), chance(rng, 10, 30)
    sizes = {1: small, 2: medium, 4: 1 - small - medium}

    def moves(state: tuple[int, int]) -> Moves[tuple[int, int]]:
        used, objects = state
        if used >= room:
            return []
        return [((used + size, objects + 1), weight) for size, weight in sizes.items()]

    law = tally((objects, weight) for (_, objects), weight in ends((0, 0), moves).items())
    question = (
        f"The runtime of {codename(rng)} allocates objects in an empty nursery. Each object takes "
        f"1 KB with probability {percent(small)}, 2 KB with probability {percent(medium)} and 4 KB "
        f"with probability {percent(sizes[4])}, independently. After each allocation the runtime "
        f"adds up the sizes of all objects allocated so far, and as soon as that sum is {room} KB "
        f"or more it starts a collection. "
        + ask(rng, "the number of objects allocated when the collection starts")
    )
    facts = {"room": room, "sizes": (1, 2, 4), "weights": tuple(map(float, sizes.values()))}
    why = "The sums of sizes are followed exactly until they reach the limit."
    return counted(Telling("nursery-fill", question, why, facts), law, "the number of objects")


def bucket_occupancy(rng: np.random.Generator) -> Story:
    """Tell of keys hashed into buckets, of which some stay empty."""
    keys, buckets = between(rng, 5, 14), between(rng, 6, 16)

    def moves(state: tuple[int, int]) -> Moves[tuple[int, int]]:
        used, placed = state
        if placed == keys:
            return []
        return [
            ((used + 1, placed + 1), Fraction(buckets - used, buckets)),
            ((used, placed + 1), Fraction(used, buckets)),
        ]

    last = ends((0, 0), moves)
    law = tally((used, weight) for (used, _), weight in last.items())
    question = (
        f"The hash table {codename(rng)} has {buckets} buckets, each of which can chain any number "
        f"of keys. {keys} different keys are inserted into the empty table; the hash function "
        f"sends every key to one of the {buckets} buckets, all equally likely and independently "
        f"of the other keys. The table is not resized. "
        + ask(rng, "the number of buckets that hold at least one key")
    )
    why = "Key by key, a new bucket is hit with probability (buckets - used) / buckets."
    facts = {"keys": keys, "buckets": buckets}
    return counted(Telling("bucket-occupancy", question, why, facts), law, "the number of buckets")


def bloom_filter(rng: np.random.Generator) -> Story:
    """Tell of a Bloom filter asked for a key it never saw."""
    bits, keys, hashes = between(rng, 6, 14), between(rng, 3, 6), between(rng, 2, 3)

    def moves(state: tuple[int, int]) -> Moves[tuple[int, int]]:
        ones, left = state
        if left == 0:
            return []
        fresh = Fraction(bits - ones, bits)
        return [((ones + 1, left - 1), fresh), ((ones, left - 1), 1 - fresh)]

    last = ends((0, keys * hashes), moves)
    maybe = sum(
        (weight * Fraction(ones, bits) ** hashes for (ones, _), weight in last.items()), Fraction(0)
    )
    question = (
        f"The Bloom filter {codename(rng)} has {bits} bits, all 0 at first, and {hashes} hash "
        f"functions. For every key each hash function gives one of the {bits} bit positions, all "
        f"equally likely, independently of the other hash functions and of other keys (two "
        f"functions may give the same position). {keys} different keys are inserted: each sets "
        f"the bits at its {hashes} positions to 1. Then the filter is asked about a key that was "
        f'never inserted. It says "maybe" if all {hashes} positions of that key hold a 1, and '
        f'"absent" otherwise. ' + ask(rng, "what the filter says")
    )
    facts = {"bits": bits, "keys": keys, "hashes": hashes}
    why = "P(maybe) is the mean of (set bits / bits)^hashes over the number of bits set."
    return chosen(
        Telling("bloom-filter", question, why, facts), {"maybe": maybe, "absent": 1 - maybe}
    )


def random_eviction(rng: np.random.Generator) -> Story:
    """Tell of a full cache that evicts a random entry at every miss."""
    names = labels(rng, 5)
    room = between(rng, 2, 3)
    held, wanted = names[:room], names[room : room + 2]

    def moves(state: tuple[tuple[str, ...], int]) -> Moves[tuple[tuple[str, ...], int]]:
        cache, served = state
        if served == len(wanted):
            return []
        return [
            ((tuple(sorted({*cache, wanted[served]} - {gone})), served + 1), Fraction(1, room))
            for gone in cache
        ]

    law = {cache: weight for (cache, _), weight in ends((held, 0), moves).items()}
    question = (
        f"The cache {codename(rng)} has room for {room} entries and is full: it holds "
        f"{' and '.join(held) if room == 2 else ', '.join(held)}. Two requests come, first for "
        f"{wanted[0]}, then for {wanted[1]}. Each is a miss: the cache evicts one of the {room} "
        f"entries it holds at that moment, all equally likely, and then stores the requested "
        f"entry. After both requests it prints the names of the entries it holds, in "
        f"alphabetical order, one per line. " + ask(rng, "what the cache prints")
    )
    why = "Both evictions are enumerated; the first new entry may be evicted by the second."
    facts = {"held": held, "wanted": wanted}
    items = sorted((*held, *wanted))
    return printed(Telling("random-eviction", question, why, facts), law, items)


def reservoir(rng: np.random.Generator) -> Story:
    """Tell of a reservoir sample with two places."""
    names = labels(rng, between(rng, 4, 5))

    def moves(state: tuple[str, str, int]) -> Moves[tuple[str, str, int]]:
        one, two, seen = state
        if seen == len(names):
            return []
        new, each = names[seen], Fraction(1, seen + 1)
        return [
            ((new, two, seen + 1), each),
            ((one, new, seen + 1), each),
            ((one, two, seen + 1), 1 - 2 * each),
        ]

    last = ends((names[0], names[1], 2), moves)
    law: dict[tuple[str, ...], Fraction] = {last_state[:2]: p for last_state, p in last.items()}
    question = (
        f"The log collector {codename(rng)} keeps a random sample in two places, numbered 1 and 2. "
        f"{len(names)} records arrive in the order {', '.join(names)}. The first record goes to "
        f"place 1 and the second to place 2. When record number k arrives, for k = 3 and later, "
        f"the collector draws a whole number from 1 to k, all equally likely and independently: "
        f"if it is 1 or 2, the record replaces the one in that place; if it is larger, the record "
        f"is discarded. At the end the collector prints the record in place 1 and then the one in "
        f"place 2, each on a line of its own. " + ask(rng, "what the collector prints")
    )
    why = "The draws are followed exactly; the order of places matters."
    return printed(Telling("reservoir", question, why, {"names": names}), law, names)


SCENARIOS = {
    "generation-survivors": generation_survivors,
    "freed-objects": freed_objects,
    "nursery-fill": nursery_fill,
    "bucket-occupancy": bucket_occupancy,
    "bloom-filter": bloom_filter,
    "random-eviction": random_eviction,
    "reservoir": reservoir,
}
