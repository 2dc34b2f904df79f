"""Pairs scored on a real local Ray cluster of two workers: the bits of the local engine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from unpredictabench.errors import InputError, StoreError
from unpredictabench.integrations import score_pairs

pytestmark = [
    pytest.mark.eco,
    # Ray Data sets its own deprecated defaults when its context is made.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data.context"),
]

QUIET = {"RAY_USAGE_STATS_ENABLED": "0"}
LOOPBACK = QUIET | {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
N_PAIRS = 4000
NAMES = ["statistic", "pvalue", "method", "kuiper", "kuiper_pvalue", "wasserstein"]
HOW = {"statistics": NAMES, "n_resamples": 99, "rng": 3}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write pairs in forty row groups of two files, truths beside them; return the folder."""
    folder = tmp_path_factory.mktemp("ray")
    rng = np.random.default_rng(6)
    ids = [f"t{i % 5}" for i in range(N_PAIRS)]
    rows = [rng.normal(size=1 + i % 40) for i in range(N_PAIRS)]
    table = pa.table({"truth_id": ids, "x": rows, "number": range(N_PAIRS)})
    (folder / "pairs").mkdir()
    for i, part in enumerate((table.slice(0, 2500), table.slice(2500))):
        parquet.write_table(part, folder / "pairs" / f"{i}.parquet", row_group_size=100)
    laws = {f"t{i}": rng.normal(size=500) for i in range(5)}
    truths = pa.table({"truth_id": list(laws), "y": list(laws.values())})
    parquet.write_table(truths, folder / "truths.parquet")
    score_pairs(folder / "pairs", folder / "local.parquet", **HOW)
    return folder


@pytest.fixture(scope="module")
def cluster():
    """Start a cluster of two CPUs on the loopback interface, and stop it afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in LOOPBACK.items():
            patch.setenv(name, value)
        import ray

        ray.init(
            "local", num_cpus=2, include_dashboard=False, log_to_driver=False,
            _node_ip_address="127.0.0.1", logging_level="ERROR",
        )  # fmt: skip
        yield ray
        ray.shutdown()


def same(left, right):
    """Whether files hold the same rows and metadata, bit for bit."""
    return parquet.read_table(left).equals(parquet.read_table(right), check_metadata=True)


def descendants():
    """Return the processes below this one: id -> command line."""
    parents, lines = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                lines[int(entry.name)] = (entry / "cmdline").read_text()
                parents[int(entry.name)] = int(fields[1])
            except OSError:
                continue
    below, found = {os.getpid()}, {}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
        found |= {pid: lines[pid] for pid in more}
    return found


def test_ray_gives_the_bits_of_the_local_engine(files, cluster):
    """Rows of all files come in order, with the same bits and metadata."""
    seen = []
    done = score_pairs(
        files / "pairs", files / "ray.parquet", engine="ray", progress=seen.append, **HOW
    )
    assert done.n_pairs == N_PAIRS
    assert same(files / "ray.parquet", files / "local.parquet")
    assert seen[-1].n_done == N_PAIRS
    assert cluster.is_initialized()


def kill_one(killed, done):
    """Kill the first worker process that is seen scoring."""
    while not killed and not done.wait(0.02):
        scoring = [pid for pid, line in descendants().items() if "MapBatches" in line]
        if scoring:
            done.wait(0.2)
            os.kill(scoring[0], signal.SIGKILL)
            killed.append(scoring[0])


def test_a_killed_worker_costs_nothing_but_time(files, cluster):
    """One worker process is killed while it scores; the job completes with the same bits."""
    killed, done = [], threading.Event()
    killer = threading.Thread(target=kill_one, args=(killed, done))
    how = {"statistics": ["kuiper_pvalue", "pvalue"], "n_resamples": 400}
    score_pairs(files / "pairs", files / "slow.parquet", **how)
    killer.start()
    try:
        score_pairs(files / "pairs", files / "killed.parquet", engine="ray", **how)
    finally:
        done.set()
        killer.join()
    assert killed
    assert not Path(f"/proc/{killed[0]}/exe").exists()
    assert same(files / "killed.parquet", files / "slow.parquet")


def test_wrong_samples_are_the_same_error(files, cluster, tmp_path):
    """What a worker refuses is refused in one sentence, and nothing is written."""
    table = pa.table({"truth_id": ["t0", "t1"], "x": [[1.0], [2.0, np.nan]]})
    parquet.write_table(table, tmp_path / "pairs.parquet")
    with pytest.raises(InputError, match="x must hold no NaN, got .*nan at row 1, position 1, "):
        score_pairs(
            tmp_path / "pairs.parquet", tmp_path / "out.parquet", engine="ray",
            truths=files / "truths.parquet",
        )  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.parquet"]


def test_the_cluster_listens_on_the_loopback_interface_only(cluster):
    """No socket of the cluster can be reached from another machine."""
    ours = {
        str(link.readlink())
        for pid in descendants()
        for link in Path(f"/proc/{pid}/fd").glob("*")
        if link.is_symlink() and link.exists()
    }
    listening = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in ours:
                listening.append(fields[1].partition(":")[0])
    assert listening
    assert set(listening) <= {"0100007F", "0" * 16 + "FFFF00000100007F"}


def plain_environment():
    """Return the environment as it was before this process had a cluster."""
    return {name: value for name, value in os.environ.items() if name not in LOOPBACK} | QUIET


def run_command(*words):
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "unpredictabench", "score-pairs", *map(str, words)],
        capture_output=True, text=True, env=plain_environment(), check=False,
    )  # fmt: skip


def test_the_command_starts_and_stops_a_cluster_of_its_own(files):
    """Without an address two workers are started here, and no process of theirs is left."""
    before = set(descendants())
    words = ["--statistics", ",".join(NAMES), "--resamples", 99, "--seed", 3]
    out = files / "own.parquet"
    done = run_command(
        files / "pairs", "-o", out, "--engine", "ray", "--workers", 2, "--json", *words
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n_pairs"] == N_PAIRS
    assert same(files / "own.parquet", files / "local.parquet")
    assert set(descendants()) <= before


@pytest.mark.parametrize("is_listening", [False, True])
def test_an_address_that_does_not_answer_is_a_clear_error(files, tmp_path, is_listening):
    """A closed port and a silent one are told within 30 seconds."""
    with socket.socket() as port:
        port.bind(("127.0.0.1", 0))
        if is_listening:
            port.listen()
        address = f"127.0.0.1:{port.getsockname()[1]}"
        start = time.monotonic()
        with pytest.raises(StoreError, match=f"no Ray cluster answers at {address}: start one"):
            score_pairs(files / "pairs", tmp_path / "out.parquet", engine="ray", address=address)
        assert time.monotonic() - start < 30
    assert not list(tmp_path.iterdir())


def wait_for(port):
    """Wait until a process listens at a port."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)


def test_a_cluster_is_found_by_its_address(files):
    """The head of a cluster that somebody else started scores, and goes on afterwards."""
    with socket.socket() as port:
        port.bind(("127.0.0.1", 0))
        number = port.getsockname()[1]
    ray = Path(sys.executable).with_name("ray")
    start = [ray, "start", "--head", "--block", f"--port={number}", "--num-cpus=2"]
    head = subprocess.Popen(
        [*start, "--node-ip-address=127.0.0.1", "--include-dashboard=false"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=plain_environment(),
    )  # fmt: skip
    try:
        wait_for(number)
        words = ["--statistics", ",".join(NAMES), "--resamples", 99, "--seed", 3]
        done = run_command(
            files / "pairs", "-o", files / "address.parquet", "--engine", "ray",
            "--address", f"127.0.0.1:{number}", *words,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert head.poll() is None
        assert same(files / "address.parquet", files / "local.parquet")
    finally:
        head.terminate()
        head.wait(60)
