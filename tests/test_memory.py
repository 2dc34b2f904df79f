"""Peak memory of the largest jobs, and none kept by repeated calls (docs/limits.md)."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.slow

MEASURE = """
import gc, json, os

def peak():
    # Not getrusage: its peak survives the exec and is that of the process that runs the tests.
    with open("/proc/self/status") as status:
        return int(status.read().split("VmHWM:")[1].split()[0]) / 1024

def resident():
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

"""
"""What every script begins with: megabytes of this process, at most so far and now."""


def measured(code, folder):
    """Run a script of its own process and return what it printed as JSON."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "UNPREDICTABENCH_CACHE": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", MEASURE + textwrap.dedent(code)],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_million_pairs_take_little_more_than_themselves(tmp_path):
    """A batch of a million samples of 100 needs less than 150 MB beside the samples."""
    code = """
        import numpy as np
        from unpredictabench.stats import PreparedTruth, ks_2samp, wasserstein_distance

        rng = np.random.default_rng(0)
        truth, x = PreparedTruth(rng.normal(size=10_000)), rng.normal(size=(1_000_000, 100))
        before, above = resident(), []
        for test in (ks_2samp, wasserstein_distance):
            result = test(x, truth)
            above.append(peak() - before)
            del result
        print(json.dumps(above))
    """
    assert max(measured(code, tmp_path)) < 150


def test_repeated_calls_keep_nothing(tmp_path):
    """Forty rounds of every function, each on new data, leave memory where five had put it."""
    code = """
        import every_result

        every_result.ROWS = 20
        for turn in range(45):
            every_result.every_result(turn)
            if turn == 4:
                before = resident()
        print(json.dumps(resident() - before))
    """
    assert measured(code, tmp_path) < 10


def test_the_same_large_batch_again_keeps_nothing(tmp_path):
    """Two hundred batches of 20,000 pairs, of new samples, leave memory where ten had put it."""
    code = """
        import numpy as np
        from unpredictabench.stats import PreparedTruth, ks_1samp, ks_2samp

        rng = np.random.default_rng(0)
        truth = PreparedTruth(rng.random(1000))
        for turn in range(200):
            x = rng.random((20_000, 20))
            ks_2samp(x, truth)
            ks_1samp(x[:200], lambda u: u)
            if turn == 9:
                before = resident()
        print(json.dumps(resident() - before))
    """
    assert measured(code, tmp_path) < 10


def test_a_suite_of_ten_thousand_tasks(tmp_path):
    """Ten thousand tasks of all laws of v1 are loaded and asked twice each in 0.75 GB."""
    code = """
        from unpredictabench import SimulatedClient, generate, load_suite

        v1 = [task for task in load_suite("v1") if task.support != "nominal"]
        tasks = [
            {"id": f"large/{i}", "question": f"{v1[i % len(v1)].question} ({i})",
             "law": v1[i % len(v1)].target.spec}
            for i in range(10_000)
        ]
        with open("large.json", "w") as file:
            json.dump({"name": "large", "version": "1", "tasks": tasks}, file)
        suite = load_suite("large.json")
        run = generate(suite, SimulatedClient("perfect"), "run", n_samples=2)
        print(json.dumps([len(list(suite)), run.n_stored, peak()]))
    """
    n_tasks, n_stored, megabytes = measured(code, tmp_path)
    assert (n_tasks, n_stored) == (10_000, 20_000)
    assert megabytes < 750


def test_a_run_of_a_million_answers(tmp_path):
    """A million answers are asked, stored and read in 0.75 GB, and read for scores in 0.25 GB."""
    code = """
        from unpredictabench import SimulatedClient, generate, load_suite

        run = generate(load_suite("v1"), SimulatedClient("perfect"), "run", n_samples=2233)
        print(json.dumps([run.n_stored, peak()]))
    """
    n_stored, megabytes = measured(code, tmp_path)
    assert n_stored == 1_000_384
    assert megabytes < 750
    code = """
        from unpredictabench import load_suite
        from unpredictabench.extract.observations import observe
        from unpredictabench.store import open_run

        replies = open_run("run").completions()
        observed, n_foreign = observe(load_suite("v1"), replies, mode="lenient")
        print(json.dumps([sum(one.n_slots for one in observed), n_foreign, peak()]))
    """
    n_slots, n_foreign, megabytes = measured(code, tmp_path)
    assert (n_slots, n_foreign) == (1_000_384, 0)
    assert megabytes < 250
