"""The Inspect task: a mock model, a server on loopback and the real local model, end to end."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspect_evals import FEW, Mock, commanded, evaluated, expected, figures, quiet, run_of, served
from inspect_logs import OTHER, TASK
from unpredictabench import score
from unpredictabench.integrations import import_path
from unpredictabench.store import open_run
from unpredictabench.tasks import load_suite
from unpredictabench.tasks.styles import messages

# Inspect AI and what it brings warn of each other's changes.
pytestmark = [pytest.mark.eco, pytest.mark.filterwarnings("ignore")]
LONG = "I thought about this for a long while, and then once more, before I drew the number. 7"


@pytest.fixture(autouse=True)
def _quiet(tmp_path, monkeypatch):
    """Keep what Inspect writes inside the test's folder."""
    quiet(tmp_path, monkeypatch)


@pytest.mark.parametrize("style", ["direct", "few-shot"])
def test_figures_are_those_of_the_imported_run(tmp_path, style):
    """Every figure of the log is bit for bit what the imported run scores."""
    mock = Mock(lambda n: LONG if n % 7 == 0 else "none" if n % 5 == 0 else str(n % 11 / 2))
    log = evaluated(mock, tmp_path, samples=12, prompt_style=style, how={"temperature": 0.9})
    assert log.status == "success"
    done, run = run_of(log, tmp_path)
    assert done.is_complete
    assert run.is_complete
    assert (run.n_stored, run.settings.prompt_style) == (48, style)
    assert run.settings.parameters == {"temperature": 0.9}
    assert figures(log) == expected(run)
    assert {each.text for each in run.completions()} >= {LONG, "none"}


def test_prompts_are_those_of_our_own_runs(tmp_path):
    """The model sees exactly the words that `generate` would send, and the log's plan has them."""
    mock = Mock()
    log = evaluated(mock, tmp_path, prompt_style="few-shot", how={"system_message": "Be brief."})
    _, run = run_of(log, tmp_path)
    seen = {tuple((m.role, m.content) for m in asked) for asked, _ in mock.asked}
    suite = load_suite("v1")
    assert seen == {
        (("system", "Be brief."), *((m.role, m.content) for m in messages(suite[n], "few-shot")))
        for n in run.plan
    }
    assert {tuple((m.role, m.content) for m in p.messages) for p in run.plan.values()} == seen


def test_each_draw_keeps_what_came_with_it(tmp_path):
    """A stored draw has its finish reason, model, usage and time, and no event."""
    log = evaluated(Mock(), tmp_path)
    _, run = run_of(log, tmp_path)
    [first, *_] = run.completions()
    assert (first.finish_reason, first.model) == ("stop", "mockllm/model")
    assert (first.prompt_tokens, first.completion_tokens) == (10, 2)
    assert first.created_at > 0
    assert not [e for sample in log.samples for e in sample.events if e.event == "model"]
    [kept] = evaluated(Mock(), tmp_path, events=True, categories="shuffling", limit_tasks=1).samples
    assert len([event for event in kept.events if event.event == "model"]) == 6


def test_failed_draws_are_counted_and_cost_no_sample(tmp_path):
    """Draws that fail leave holes with a reason; the other draws of the sample count."""
    mock = Mock(lambda n: RuntimeError("no luck, sk-abcdef0123") if n % 6 == 0 else "3")
    log = evaluated(mock, tmp_path)
    done, run = run_of(log, tmp_path)
    assert log.status == "success"
    assert (run.n_stored, run.n_missing) == (20, 4)
    assert run.failures == {"RuntimeError: no luck, [key]": 4}
    assert done.tally["notes"] == {"draw that failed": 4}
    assert figures(log) == expected(run)


def test_retry_asks_only_samples_that_failed(tmp_path, monkeypatch):
    """A failed evaluation keeps what was paid for, and its retry asks only what failed."""
    from inspect_ai import eval as evaluate
    from inspect_ai import eval_retry

    from unpredictabench.integrations.inspect.task import ks_at_n

    monkeypatch.setenv("LOCAL_API_KEY", "none")
    suite, logs = load_suite("v1"), str(tmp_path / "logs")
    shuffles = {task.prompt for task in suite if task.category == "shuffling"}
    with served(refused=shuffles) as server:
        [log] = evaluate(
            ks_at_n(**FEW, samples=6),
            model="openai-api/local/gpt-x",
            model_base_url=server.url,
            log_dir=logs,
            continue_on_fail=True,
        )
        assert log.status == "error"
        _, run = run_of(log, tmp_path)
        assert (run.n_stored, run.n_missing) == (12, 12)
        server.refused, server.bodies = set(), []
        [late] = eval_retry(log, log_dir=logs)
        again = [body["messages"][-1]["content"] for body in server.bodies]
    assert late.status == "success"
    assert len(again) == 12
    assert set(again) <= shuffles
    done = import_path(tmp_path / "logs", tmp_path / "both")
    [filed] = done.runs
    assert (filed.n_stored, filed.n_missing) == (24, 0)
    assert figures(late) == expected(open_run(filed.path))


@pytest.mark.parametrize("limit", [{"token_limit": 40}, {"cost_limit": 0.004}])
def test_limit_ends_a_sample_and_keeps_its_draws(tmp_path, limit):
    """Draws that came before a limit are scored and imported; the rest are missing."""
    from inspect_ai.model import ModelCost, ModelInfo, set_model_cost, set_model_info

    price = dict.fromkeys(("input_cache_write", "input_cache_read"), 0.0)
    set_model_info("mockllm/model", ModelInfo())
    set_model_cost("mockllm/model", ModelCost(input=100.0, output=0.0, **price))
    log = evaluated(Mock(), tmp_path, how={"max_connections": 1, **limit})
    assert {sample.limit.type for sample in log.samples} == {next(iter(limit)).split("_")[0]}
    done, run = run_of(log, tmp_path)
    assert 0 < run.n_stored < 24
    assert run.n_stored + run.n_missing == 24
    assert sum(n for what, n in done.tally["notes"].items() if "limit ended" in what) == 4
    assert figures(log) == expected(run)


def test_inspect_limit_chooses_samples_and_plan(tmp_path):
    """Inspect's own --limit decides what the run set out to ask."""
    _, run = run_of(evaluated(Mock(), tmp_path, how={"limit": 1}), tmp_path)
    assert len(run.plan) == 1
    assert run.is_complete


def test_cache_never_serves_a_draw_twice(tmp_path):
    """With Inspect's cache on, every draw is asked."""
    mock = Mock()
    evaluated(mock, tmp_path, how={"cache": True})
    assert len(mock.asked) == 24


def test_seed_gives_each_draw_its_own(tmp_path):
    """A base seed becomes a different seed for every draw, as in runs of our own."""
    mock = Mock()
    _, run = run_of(evaluated(mock, tmp_path, how={"seed": 5}), tmp_path)
    sent = [config.seed for _, config in mock.asked]
    assert len(set(sent)) == 24
    assert {each.seed for each in run.completions()} == set(sent)


@pytest.mark.parametrize(
    ("how", "sentence"),
    [({"temperature": 0.0}, "temperature must be above 0"), ({"epochs": 2}, "epochs must be 1")],
)
def test_what_makes_draws_dependent_is_refused(tmp_path, how, sentence):
    """Temperature 0 and epochs end the evaluation with a sentence."""
    log = evaluated(Mock(), tmp_path, how=how)
    assert log.status == "error"
    assert sentence in log.error.message


def test_scoring_again_and_json_give_the_same_figures(tmp_path):
    """`inspect score` on a log, and the same log as JSON, change no figure."""
    from inspect_ai import score as score_again
    from inspect_ai.log import read_eval_log, write_eval_log

    from unpredictabench.integrations.inspect.figures import figures as metric
    from unpredictabench.integrations.inspect.figures import ks

    log = evaluated(Mock(lambda n: str(n % 13)), tmp_path, samples=10)
    read = read_eval_log(log.location)
    again = score_again(read, ks(), metrics=[metric()], action="overwrite")
    assert figures(again) == figures(log)
    write_eval_log(read, str(tmp_path / "a.json"))
    done = import_path(tmp_path / "a.json", tmp_path / "json")
    assert done.is_complete
    assert expected(open_run(done.runs[0].path)) == figures(log)


def test_log_of_another_inspect_task_is_refused(tmp_path):
    """A log that Inspect wrote for some other task is named in the refusal."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.model import get_model

    model = get_model("mockllm/model", custom_outputs=Mock(), memoize=False)
    task = Task(dataset=[Sample(input="1 + 1?")], name="sums")
    [log] = evaluate(task, model=model, log_dir=str(tmp_path / "logs"))
    done = import_path(Path(log.location.removeprefix("file://")), tmp_path / "runs")
    assert not done.runs
    [why] = done.tally["refused"]
    assert "of another Inspect task, sums" in why


def test_command_asks_a_server_within_its_connections(tmp_path):
    """`inspect eval` finds the task by entry point and keeps to the connections it was given."""
    with served() as server:
        file = commanded(
            tmp_path, server.url, "gpt-x",
            "-T", "samples=8", "-T", "limit_tasks=1", "-T", "categories=text-explicit,shuffling",
            "--temperature", "0.8", "--max-tokens", "9", "--max-connections", "3",
        )  # fmt: skip
    assert len(server.bodies) == 16
    assert 1 < server.most <= 3
    assert {(body["temperature"], body["model"]) for body in server.bodies} == {(0.8, "gpt-x")}
    done = import_path(file, tmp_path / "runs")
    run = open_run(done.runs[0].path)
    assert run.settings.parameters == {"temperature": 0.8, "max_tokens": 9}
    found = list(run.completions())
    assert {(c.finish_reason, c.model, c.prompt_tokens) for c in found} == {
        ("length", "served-name", 5)
    }
    ids = {c.response_id for c in found}
    assert ids in ({None}, {f"r{i}" for i in range(1, 17)})  # older versions do not tell it
    suite = load_suite("v1")
    asked = {body["messages"][-1]["content"] for body in server.bodies}
    assert asked == {suite[name].prompt for name in run.plan}


@pytest.mark.model
def test_real_local_model_answers_through_inspect(tmp_path):
    """The embedded model, asked through its own endpoint, gives draws that import and score."""
    from unpredictabench.clients.child import ModelServer
    from unpredictabench.clients.weights import model_file

    server = ModelServer(model_file("smollm2"), alias="smollm2", n_slots=4, n_context=2048)
    try:
        file = commanded(
            tmp_path, server.url, "smollm2",
            "-T", "samples=6", "-T", "limit_tasks=1", "-T", "categories=text-explicit",
            "-T", "prompt_style=few-shot", "--max-tokens", "12", "--max-connections", "4",
        )  # fmt: skip
    finally:
        server.close()
    done = import_path(file, tmp_path / "runs")
    [filed] = done.runs
    assert (filed.n_stored, filed.n_missing) == (6, 0)
    assert all(each.text for each in open_run(filed.path).completions())
    assert score(filed.path).n_slots == 6


def test_constants_of_the_fabricated_logs_are_tasks():
    """The ids that logs written by hand use are tasks of the suite."""
    assert {TASK, OTHER} <= set(load_suite("v1").ids)
