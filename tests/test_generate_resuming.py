"""A run that ended in any way is gone on with: nothing is lost, nothing asked again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dice import Thrower, content, suite
from unpredictabench.errors import FatalClientError, SlotError, StoreError
from unpredictabench.generate import generate
from unpredictabench.store import last_readings, open_run
from unpredictabench.streams import stream


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


NURSERY = """
import os, signal, sys
if {is_deaf!r}:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.path.insert(0, {tests!r})
from dice import Thrower, suite
from unpredictabench import generate
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
