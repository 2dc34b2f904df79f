"""Rows a second through the asynchronous path, and the longest time the event loop was held."""

from __future__ import annotations

import asyncio
import itertools
import time

import pytest

from unpredictabench.records import Completion, Message, Settings
from unpredictabench.store import Planned, open_run, open_writer

N_ROWS = 45_000
SETTINGS = Settings("m", "v1", "hash", parameters={"temperature": 1.0})
PLAN = {f"task/{i}": Planned(100, (Message("user", "Draw a number."),)) for i in range(450)}


def rows():
    """Return completions as an endpoint gives them."""
    return [
        Completion(
            task, index, "The number is 17.25.", finish_reason="stop", model="m-1",
            fingerprint="fp", response_id=f"id-{task}-{index}", prompt_tokens=120,
            completion_tokens=9, created_at=1.7e9 + index, latency_s=0.3,
        )
        for index in range(100)
        for task in PLAN
    ]  # fmt: skip


async def _write(folder, completions):
    """Append all rows while a watcher measures how long the loop is held; return that time."""
    longest_s, is_done = 0.0, False

    async def watch():
        nonlocal longest_s
        before = time.perf_counter()
        while not is_done:
            await asyncio.sleep(0)
            now = time.perf_counter()
            longest_s, before = max(longest_s, now - before), now

    watcher = asyncio.create_task(watch())
    writer = await asyncio.to_thread(open_writer, folder, SETTINGS, PLAN)
    for completion in completions:
        writer.append(completion)
        await asyncio.sleep(0)
    await asyncio.to_thread(writer.close)
    is_done = True
    await watcher
    return longest_s


@pytest.mark.benchmark(group="store")
def test_writing(benchmark, tmp_path):
    """A full run's rows are appended from a loop that goes on turning, and all arrive."""
    completions, number = rows(), itertools.count()
    held = []

    def write():
        held.append(asyncio.run(_write(tmp_path / str(next(number)), completions)))

    benchmark.pedantic(write, rounds=3)
    assert open_run(tmp_path / "0").n_stored == N_ROWS
    benchmark.extra_info["rows_per_s"] = round(N_ROWS / benchmark.stats.stats.min)
    benchmark.extra_info["loop_held_ms"] = round(1000 * min(held), 1)
    print(benchmark.extra_info)


@pytest.mark.benchmark(group="store")
def test_reading(benchmark, tmp_path):
    """A full run is read back."""
    with open_writer(tmp_path, SETTINGS, PLAN) as writer:
        for completion in rows():
            writer.append(completion)
    run = open_run(tmp_path)
    read = benchmark.pedantic(lambda: sum(1 for _ in run.completions()), rounds=3)
    assert read == N_ROWS
