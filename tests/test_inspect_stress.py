"""The Inspect task under odd models, options and interruptions, and with less of Inspect."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from inspect_evals import Mock, evaluated, expected, figures, quiet, run_of, served
from unpredictabench.integrations import import_path
from unpredictabench.store import open_run

# Inspect AI and what it brings warn of each other's changes.
pytestmark = [pytest.mark.eco, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def _quiet(tmp_path, monkeypatch):
    """Keep what Inspect writes inside the test's folder."""
    quiet(tmp_path, monkeypatch)


class Outputs(Mock):
    """A mock model whose whole output is given, not only its text."""

    def __call__(self, messages, tools, choice, config):
        """Answer once."""
        made = self.answer(len(self.asked))
        self.answer, output = (lambda _: ""), self.answer
        usage = super().__call__(messages, tools, choice, config).usage
        self.answer = output
        made.usage = usage
        return made


def odd(number):
    """Return outputs of every kind that has no plain answer, in turn."""
    from inspect_ai.model import (
        ChatCompletionChoice,
        ChatMessageAssistant,
        ContentReasoning,
        ContentText,
        ModelOutput,
    )

    def chosen(content, reason):
        message = ChatMessageAssistant(content=content)
        return ModelOutput(choices=[ChatCompletionChoice(message=message, stop_reason=reason)])

    parts = [ContentReasoning(reasoning="hm"), ContentText(text="4")]
    return [
        ModelOutput(choices=[]),
        chosen("", "stop"),
        chosen("5", "max_tokens"),
        chosen("", "content_filter"),
        chosen(parts, "unknown"),
        chosen([], "tool_calls"),
    ][number % 6]


def test_outputs_without_an_answer_are_draws_with_a_status(tmp_path):
    """No choice, no text, a filter and reasoning keep their place, and count as they should."""
    log = evaluated(Outputs(odd), tmp_path, how={"max_connections": 1, "max_samples": 1})
    _, run = run_of(log, tmp_path)
    assert run.is_complete
    found = {(c.text, c.status, c.finish_reason, c.reasoning) for c in run.completions()}
    assert found == {
        (None, "no_choice", None, None),
        (None, "empty_content", "stop", None),
        ("5", "ok", "length", None),
        (None, "empty_content", "content_filter", None),
        ("4", "ok", None, "hm"),
        (None, "empty_content", "tool_calls", None),
    }
    assert figures(log) == expected(run)


@pytest.mark.parametrize("how", [{"log_format": "json"}, {"score": False}, {"turn_limit": 2}])
def test_options_of_inspect_leave_the_draws_importable(tmp_path, how):
    """A JSON log, a log without scores and one of a limited number of turns give their draws."""
    log = evaluated(Mock(), tmp_path, how=how)
    done, run = run_of(log, tmp_path)
    assert done.is_complete
    assert run.n_stored == (8 if "turn_limit" in how else 24)
    if "score" not in how:
        assert figures(log) == expected(run)


@pytest.mark.parametrize(("tolerated", "status"), [(True, "error"), (False, "success")])
def test_fail_on_error_decides_the_status_and_no_draw(tmp_path, tolerated, status):
    """Samples whose draws all failed end in an error; with the others they are all counted."""
    mock = Mock(lambda n: RuntimeError("no luck") if n < 12 else "3")
    how = {"fail_on_error": tolerated, "max_connections": 1, "max_samples": 1}
    log = evaluated(mock, tmp_path, how=how)
    assert log.status == status
    done, run = run_of(log, tmp_path)
    assert done.is_complete
    assert run.n_stored == sum(len(s.store.get("unpredictabench:slots", [])) for s in log.samples)
    assert run.failures == {"RuntimeError: no luck": done.tally["notes"]["draw that failed"]}
    assert run.n_stored + run.n_missing == 24


def test_limit_on_time_keeps_the_draws_that_had_come(tmp_path):
    """Draws that came before the time was over are in the run, in their own slots."""
    import anyio
    from inspect_ai.model import ModelOutput

    class Slow(Mock):
        async def __call__(self, messages, tools, choice, config):
            output = super().__call__(messages, tools, choice, config)
            if len(self.asked) > 4:
                await anyio.sleep(60)
            assert isinstance(output, ModelOutput)
            return output

    how = {"time_limit": 3, "max_connections": 30, "limit": 1}
    log = evaluated(Slow(), tmp_path, how=how)
    done, run = run_of(log, tmp_path)
    assert done.tally["notes"] == {"sample that a limit ended: time": 1}
    assert (run.n_stored, run.n_missing) == (4, 2)
    assert figures(log) == expected(run)


@pytest.mark.parametrize(
    ("how", "rule"),
    [({"num_choices": 3}, "num_choices must be 1"), ({"num_choices": 1}, None)],
)
def test_choices_beside_the_first_are_refused_before_they_are_paid(tmp_path, how, rule):
    """Several choices a reply end the evaluation before a call; one is no matter."""
    mock = Mock()
    log = evaluated(mock, tmp_path, how=how)
    assert log.status == ("success" if rule is None else "error")
    assert bool(mock.asked) is (rule is None)
    if rule is not None:
        assert rule in log.error.message


@pytest.mark.parametrize("name", ["init_transcript", "active_generate_config"])
def test_task_works_without_a_private_name_of_inspect(tmp_path, monkeypatch, name):
    """Where Inspect lacks a private name the draws and figures are the same, with more events."""
    from unpredictabench.integrations.inspect import asking

    lookup = asking._private
    monkeypatch.setattr(asking, "_private", lambda m, n: None if n == name else lookup(m, n))
    log = evaluated(Mock(lambda n: str(n % 13)), tmp_path)
    _, run = run_of(log, tmp_path)
    assert run.is_complete
    assert figures(log) == expected(run)
    events = [e for sample in log.samples for e in sample.events if e.event == "model"]
    assert len(events) == (24 if name == "init_transcript" else 0)


def test_rules_hold_for_models_by_name_without_the_private_name(tmp_path, monkeypatch):
    """A model given by name, as on the command line, knows its own temperature."""
    from inspect_ai import eval as evaluate

    from unpredictabench.integrations.inspect import asking
    from unpredictabench.integrations.inspect.task import ks_at_n

    monkeypatch.setattr(asking, "_private", lambda *_: None)
    task = ks_at_n(samples=2, limit_tasks=1, categories="shuffling")
    [log] = evaluate(task, model="mockllm/model", temperature=0.0, log_dir=str(tmp_path))
    assert "temperature must be above 0" in log.error.message


def test_missing_private_names_are_looked_up_without_an_error():
    """A module or a name that Inspect does not have is None."""
    from unpredictabench.integrations.inspect import asking

    assert asking._private("inspect_ai.no_such_module", "anything") is None
    assert asking._private("inspect_ai.model", "no_such_name") is None


def test_interrupt_keeps_finished_samples_and_retry_asks_the_rest(tmp_path):
    """Ctrl-C leaves a log of what was finished; its retry and it are one whole run."""
    inspect = [sys.executable, "-m", "inspect_ai"]
    env = os.environ | {"LOCAL_API_KEY": "none"}
    logs = tmp_path / "logs"
    with served() as server:
        command = [*inspect, "eval", "unpredictabench/ks_at_n", "--model", "openai-api/local/x"]
        command += ["--model-base-url", server.url, "--log-dir", str(logs), "--display", "none"]
        command += ["-T", "samples=5", "-T", "limit_tasks=4", "-T", "categories=text-explicit"]
        command += ["--max-connections", "1", "--max-samples", "1"]
        first = subprocess.Popen(
            command, env=env, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            while len(server.bodies) < 8 and first.poll() is None:
                time.sleep(0.01)
            first.send_signal(signal.SIGINT)
            first.wait(120)
        finally:
            first.kill()
            first.wait()
        asked = len(server.bodies)
        assert 8 <= asked < 20
        [log] = logs.glob("*.eval")
        early = import_path(log, tmp_path / "early")
        assert early.is_complete
        assert any("status" in note for note in early.tally["notes"])
        again = [*inspect, "eval-retry", str(log), "--log-dir", str(logs), "--display", "none"]
        done = subprocess.run(
            again, env=env, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(server.bodies) - asked <= 15
    both = import_path(logs, tmp_path / "both")
    [filed] = both.runs
    assert (filed.n_stored, filed.n_missing) == (20, 0)
    assert open_run(filed.path).is_complete
    # The same retry, brought into the run of the first log alone: what is new is added.
    later = import_path(logs, tmp_path / "early")
    assert later.runs[0].n_stored == 20
    assert set(later.tally["refused"]) <= {
        "another answer than an earlier import put in the slot: import all into a new folder"
    }
