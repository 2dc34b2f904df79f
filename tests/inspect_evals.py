"""Evaluations of the Inspect task for tests: a mock model, a server on loopback, the figures."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from unpredictabench import score
from unpredictabench.integrations import import_path
from unpredictabench.store import open_run

FEW = {"categories": "text-explicit,shuffling", "limit_tasks": 2}


def quiet(tmp_path, monkeypatch):
    """Keep Inspect's traces and caches inside the test's folder, and its display off."""
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.chdir(tmp_path)


class Mock:
    """Answers of a mock model, and what it was asked; usage is set, which spares a tokenizer."""

    def __init__(self, answer=lambda n: str(n % 9)):
        self.answer, self.asked = answer, []

    def __call__(self, messages, _tools, _choice, config):
        """Answer once."""
        from inspect_ai.model import ModelOutput, ModelUsage

        self.asked.append((messages, config))
        text = self.answer(len(self.asked) - 1)
        if isinstance(text, Exception):
            raise text
        output = ModelOutput.from_content("mockllm/model", text)
        output.usage = ModelUsage(input_tokens=10, output_tokens=2, total_tokens=12)
        return output


def evaluated(mock, tmp_path, *, how=None, **args):
    """Evaluate the task with a mock model; return the log."""
    from inspect_ai import eval as evaluate
    from inspect_ai.model import get_model

    from unpredictabench.integrations.inspect.task import ks_at_n

    model = get_model("mockllm/model", custom_outputs=mock, memoize=False)
    task = ks_at_n(**{**FEW, "samples": 6, **args})
    [log] = evaluate(task, model=model, log_dir=str(tmp_path / "logs"), **(how or {}))
    return log


def run_of(log, tmp_path):
    """Import a log; return the import and its run."""
    done = import_path(Path(log.location.removeprefix("file://")), tmp_path / "runs")
    [filed] = done.runs
    return done, open_run(filed.path)


def figures(log):
    """Return the figures of a log by name."""
    [found] = log.results.scores
    return {name: metric.value for name, metric in found.metrics.items()}


def expected(run):
    """Return the figures of a run, as the task names them."""
    scored = score(run)
    [*_, n] = [n for n in scored.n if scored.has_score(n)]
    rates = {f"KS@{size}": scored.ks_at_n[size] for size in scored.n if 1 < size <= n}
    rates |= {f"{name} KS@{n}": g.ks_at_n[n] for name, g in scored.categories.items()}
    found = {name: rate.estimate for name, rate in rates.items()}
    found |= {f"{name} low": rate.low for name, rate in rates.items()}
    found |= {f"{name} high": rate.high for name, rate in rates.items()}
    found |= {f"{name} validity": g.validity for name, g in scored.categories.items()}
    star = scored.n_star
    found |= {"N*": star.median, "N* low": star.low, "N* high": star.high}
    found |= {"tasks": scored.n_tasks, "draws": scored.n_slots, "validity": scored.validity}
    return {name: value for name, value in found.items() if value is not None}


class _Handler(BaseHTTPRequestHandler):
    """Answers chat requests as the standard says."""

    def do_POST(self):
        """Answer with a number and usage, or refuse."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server = self.server
        with server.lock:
            server.bodies.append(body)
            number = len(server.bodies)
            server.under_way += 1
            server.most = max(server.most, server.under_way)
        time.sleep(0.02)
        with server.lock:
            server.under_way -= 1
        if body["messages"][-1]["content"] in server.refused:
            self.reply(400, {"error": {"message": "not this one", "type": "invalid_request_error"}})
            return
        message = {"role": "assistant", "content": f" {number % 10}"}
        self.reply(
            200,
            {
                "id": f"r{number}",
                "object": "chat.completion",
                "created": 1,
                "model": "served-name",
                "choices": [{"index": 0, "message": message, "finish_reason": "length"}],
                "usage": {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6},
            },
        )

    def reply(self, status, content):
        """Send a JSON body."""
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Say nothing."""


@contextlib.contextmanager
def served(refused=()):
    """Serve on loopback; the server knows what it was asked and how much at once."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.lock, server.bodies, server.refused = threading.Lock(), [], set(refused)
    server.under_way = server.most = 0
    server.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def commanded(tmp_path, url, model, *more):
    """Run ``inspect eval`` with the name the entry point gives; return the log's file."""
    command = [sys.executable, "-m", "inspect_ai", "eval", "unpredictabench/ks_at_n"]
    command += ["--model", f"openai-api/local/{model}", "--model-base-url", url]
    command += ["--log-dir", str(tmp_path / "logs"), "--display", "none", *more]
    env = os.environ | {"LOCAL_API_KEY": "none"}
    done = subprocess.run(
        command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [file] = (tmp_path / "logs").glob("*.eval")
    return file
