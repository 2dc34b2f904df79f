"""Servers that restart, clocks that go back, caches that are damaged change no result."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands import ASKING, assert_like, done, read_only, scores, small_disk, start
from unpredictabench.store import open_run

SERVER = """
import http.server, json, sys, threading
n, lock = 0, threading.Lock()
class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        global n
        with lock:
            n += 1
            sys.stdout.write(f"{n}\\n")
            sys.stdout.flush()
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "4"}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        body = json.dumps({"id": str(n), "model": "m", "choices": choices}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
class Reusing(http.server.ThreadingHTTPServer):
    allow_reuse_address = True
server = Reusing(("127.0.0.1", int(sys.argv[1])), Answers)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


def serving(port=0):
    """Start a server; return its process and its port."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(port)], stdout=subprocess.PIPE, text=True
    )
    return process, int(process.stdout.readline())


def test_a_server_that_restarts_in_the_middle_costs_no_answer(tmp_path):
    """Requests that meet the gap are made again; the run completes with one answer a slot."""
    server, port = serving()
    url = f"http://127.0.0.1:{port}/v1"
    words = ("run", "m", "--base-url", url, "--limit-tasks", "1", "--samples", "30", "-o")
    asking = start(*words, tmp_path / "run", "--concurrency", "2", "-y")
    for line in server.stdout:
        if int(line) >= 60:
            break
    server.kill()
    server.communicate()
    time.sleep(0.2)
    server, _ = serving(port)
    try:
        _, err = asking.communicate(timeout=120)
    finally:
        server.kill()
        server.communicate()
    assert asking.returncode == 0, err
    stored = open_run(tmp_path / "run")
    assert (stored.stop_reason, stored.n_stored, stored.failures) == ("complete", 210, {})


BACKWARDS = """
import time
began_at, now = time.time(), time.time
time.time = lambda: 2 * began_at - now() - 3600
"""
"""A wall clock that is an hour slow and runs backwards; the monotonic clock goes on."""


def test_a_clock_that_goes_back_changes_nothing(tmp_path, undisturbed):
    """Asking, progress and stopping go by the monotonic clock: the same run, the same scores."""
    again = start(*ASKING, tmp_path / "run", patch=BACKWARDS)
    out, err = again.communicate()
    assert again.returncode == 0, err
    assert_like(tmp_path / "run", undisturbed)
    assert scores(out) == scores((undisturbed / "scores.json").read_text())
    first, last = open_run(tmp_path / "run").events
    assert last.at < first.at


def damage(file, number):
    """Leave a cached file half-written, empty, with a bit turned over, or as noise."""
    whole = file.read_bytes()
    turned = whole[:40] + bytes([whole[40] ^ 1]) + whole[41:]
    file.write_bytes((whole[: len(whole) // 2], b"", turned, b"noise" * 100)[number % 4])


def test_a_damaged_cache_is_computed_anew(tmp_path, undisturbed):
    """Whatever happened to its files, and to those of a killed writer, scores are the same."""
    env = os.environ | {"UNPREDICTABENCH_CACHE": str(tmp_path)}
    first = done("score", undisturbed / "run", "--json", env=env)
    files = [file for file in sorted(tmp_path.rglob("*")) if file.is_file()]
    assert len(files) > 10
    for number, file in enumerate(files):
        damage(file, number)
        file.with_name(f".{file.name}.1-1.part").write_bytes(b"half")
    again = done("score", undisturbed / "run", "--json", env=env)
    mended = {file: file.read_bytes() for file in files}
    assert scores(again) == scores(first) == scores((undisturbed / "scores.json").read_text())
    done("score", undisturbed / "run", "--json", env=env)
    assert {file: file.read_bytes() for file in files} == mended


@pytest.mark.parametrize("kind", ["read-only", "full", "a file", "no folder"])
def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path, undisturbed, kind):
    """Scoring goes on without a word where nothing can be kept."""
    with small_disk("16k") as (place, is_mounted):
        (tmp_path / "file").touch()
        caches = {"a file": tmp_path / "file", "no folder": Path("/proc/none/cache")}
        env = os.environ | {"UNPREDICTABENCH_CACHE": str(caches.get(kind, place / "cache"))}
        if kind == "read-only":
            with read_only(place, is_mounted=is_mounted) as limits:
                told = done("score", undisturbed / "run", "--json", env=env, **limits)
        else:
            told = done("score", undisturbed / "run", "--json", env=env)
    assert scores(told) == scores((undisturbed / "scores.json").read_text())
