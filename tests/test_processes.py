"""Processes and threads of the caller: forks, pools within pools, and many callers at once."""

import json
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from unpredictabench.stats import (
    PreparedTruth,
    bootstrap_2samp,
    ks_1samp,
    ks_2samp,
    wasserstein_test,
)
from unpredictabench.streams import stream

PATIENCE_S = 120
"""A script that has not ended by then hangs: each takes a few seconds."""
SHARE = """
import json
import numpy as np
from unpredictabench.stats import ks_2samp

def share(seed):
    x = np.random.default_rng(seed).normal(size=(500, 20))
    return ks_2samp(x, np.arange(50.0), workers=2).pvalue

def show(mine, theirs):
    print(json.dumps(all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))))
"""
"""Work for a script: a share that workers compute too, and whether theirs has the same bits."""


def run_script(folder, code):
    """Run a script of its own file, as start methods need it, and read what it printed as JSON."""
    script = folder / "script.py"
    script.write_text(textwrap.dedent(code), "utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", str(script)],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_every_start_method_agree_with_their_parent(tmp_path, method):
    """Processes started in any way after the pool was used compute the parent's bits."""
    code = f"""
if __name__ == "__main__":
    import multiprocessing

    mine = [share(seed) for seed in range(6)]
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        show(mine, pool.map(share, range(6)))
"""
    assert run_script(tmp_path, SHARE + code) is True


def test_forks_amid_work_of_other_threads_do_not_hang(tmp_path):
    """Children forked while other threads hold every lock of the crate in turn compute and end."""
    code = """
        import itertools, json, os, signal, threading
        import numpy as np
        from unpredictabench.stats import PreparedTruth, ks_2samp, wasserstein_distance

        x, stop = np.random.default_rng(0).normal(size=(40, 7)), threading.Event()
        shared = PreparedTruth(x[0])

        def work(first):
            # New sizes each time: new tails and tables are made and remembered all the time.
            for m in itertools.count(first, 2):
                truth = PreparedTruth(np.arange(10.0 + m % 3000))
                ks_2samp(x, truth, workers=1 + m % 3)
                wasserstein_distance(x, truth, workers=2)
                if stop.is_set():
                    return

        threads = [threading.Thread(target=work, args=(first,)) for first in (1, 2)]
        for thread in threads:
            thread.start()
        ends = []
        for turn in range(200):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                truth = PreparedTruth(np.arange(4000.0 + turn))
                ks_2samp(x, truth, workers=2)
                ks_2samp(x, shared, workers=1)
                os._exit(0)
            ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        stop.set()
        for thread in threads:
            thread.join()
        print(json.dumps(ends))
    """
    assert run_script(tmp_path, code) == [0] * 200


def test_a_grandchild_computes_too(tmp_path):
    """A fork of a fork, each after it has used its own pool, computes the same."""
    code = """
        import json, os
        import numpy as np
        from unpredictabench.stats import ks_2samp

        x = np.random.default_rng(0).normal(size=(500, 20))
        right = ks_2samp(x, np.arange(50.0), workers=2).pvalue

        def generation(depth):
            if not np.array_equal(ks_2samp(x, np.arange(50.0), workers=2).pvalue, right):
                return 1
            if depth == 0:
                return 0
            child = os.fork()
            if child == 0:
                os._exit(generation(depth - 1))
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

        print(json.dumps(generation(3)))
    """
    assert run_script(tmp_path, code) == 0


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_calls_within_joblib_pools_agree(tmp_path, backend):
    """Calls with two threads each, from two workers of joblib, have the bits of plain calls."""
    code = f"""
if __name__ == "__main__":
    from joblib import Parallel, delayed

    mine = [share(seed) for seed in range(6)]
    show(mine, Parallel(n_jobs=2, backend="{backend}")(delayed(share)(i) for i in range(6)))
"""
    assert run_script(tmp_path, SHARE + code) is True


def test_many_python_threads_call_at_once():
    """Eight threads that share truths and ask for different pools get the bits of plain calls."""
    rng = stream("test", "threads at once")
    x, truth = rng.normal(size=(300, 20)), PreparedTruth(rng.normal(size=500))

    def call(i):
        workers = 1 + i % 3
        return [
            ks_2samp(x, truth, workers=workers).pvalue,
            ks_1samp(x % 1, lambda u: u, workers=workers).pvalue,
            wasserstein_test(x[:20], truth, workers=workers).zscore,
            bootstrap_2samp(
                x[:20], truth, "ks_2samp", n_resamples=50, workers=workers
            ).standard_error,
        ]

    right = call(0)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(call, range(40)):
            for one, other in zip(found, right, strict=True):
                np.testing.assert_array_equal(one, other)
