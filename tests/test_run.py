"""The run command asks what its words say, resumes, tells what it would cost, and fails plainly."""

from __future__ import annotations

import dataclasses
import json
import sys
import types

import pytest
from click.testing import CliRunner

from unpredictabench.cli import group
from unpredictabench.cli import progress as showing
from unpredictabench.cli.run import EMBEDDED, _about_the_default
from unpredictabench.cli.summary import summary
from unpredictabench.errors import StudyError, UnpredictabenchError
from unpredictabench.generate import Progress, Usage
from unpredictabench.generate.study import Job, read_study
from unpredictabench.records import Completion, Settings
from unpredictabench.store import open_run, open_writer


@pytest.fixture
def shown(monkeypatch, tmp_path):
    """Run in an empty folder, with a scoring command that only notes what it is given."""
    calls = []
    scoring = types.ModuleType("unpredictabench.cli.score")
    scoring.show = lambda paths, *, as_json, suite: calls.append(
        ([str(p) for p in paths], as_json, *([suite] if suite else []))
    )
    monkeypatch.setitem(sys.modules, "unpredictabench.cli.score", scoring)
    monkeypatch.chdir(tmp_path)
    return calls


def run(*words, stdin=None):
    """Run the command; return its exit code, standard output and standard error."""
    result = CliRunner().invoke(group, ["run", *words], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        if isinstance(result.exception, UnpredictabenchError):
            return 1, result.stdout, f"{result.stderr}{result.exception}"
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


SMALL = ("--limit-tasks", "1", "--samples", "3")


def test_a_simulated_run_is_stored_scored_and_resumed(shown):
    """A run of every category ends in its folder and its scores; a repeat asks nothing more."""
    code, out, err = run("sim:perfect", *SMALL)
    assert (code, out) == (0, "")
    assert "21 of 21 answers stored, complete" in err
    stored = open_run("runs/sim-perfect")
    assert (stored.n_stored, len(stored.plan), stored.settings.suite) == (21, 7, "v1")
    assert run("sim:perfect", *SMALL, "--json")[0] == 0
    assert shown == [(["runs/sim-perfect"], False), (["runs/sim-perfect"], True)]
    assert open_run("runs/sim-perfect").events[-1].data["n_new"] == 0


@pytest.mark.parametrize(
    ("model", "words", "ignored"),
    [
        ("sim:perfect", ("--temperature", "0.5", "--max-tokens", "9"), "temperature, max_tokens"),
        ("sim:perfect", ("--temperature", "1.0", "--seed", "3"), None),
        ("sim:perfect", ("--n-hint", "2"), "n_hint"),
    ],
)
def test_words_that_a_model_does_not_take_are_named(shown, model, words, ignored):
    """A temperature for a simulated model changes nothing, and the command says so."""
    code, _, err = run(model, *SMALL, *words)
    notes = [line for line in err.splitlines() if line.startswith("Note: ")]
    said = f"Note: {model} takes no {ignored}: it changes nothing."
    assert (code, notes) == (0, [said] if ignored else [])


def test_words_decide_what_is_asked_and_where_it_goes(shown):
    """Category, style, sampling and seed reach the settings and name the folder."""
    code, _, _ = run(
        "sim:kpoint:3", "--category", "shuffling", "--category", "multimodal", *SMALL,
        "--prompt-style", "cot", "--sampling", "batch", "--batch-size", "2", "--seed", "5",
    )  # fmt: skip
    stored = open_run("runs/sim-kpoint-3-cot-seed-5-sampling-batch")
    assert (code, len(stored.plan), stored.n_stored) == (0, 2, 4)
    assert {task.split("/")[0] for task in stored.plan} == {"shuffling", "multimodal"}
    assert (stored.settings.prompt_style, stored.settings.n_asked) == ("cot", 2)
    assert stored.settings.parameters == {"seed": 5}
    assert run("sim:perfect", *SMALL, "-o", "elsewhere")[0] == 0
    assert open_run("elsewhere").n_stored == 21


def test_without_a_model_the_embedded_one_is_asked_a_little(shown):
    """The default is four tasks of a category, twenty answers, few-shot; it can all be changed."""
    code, out, _ = run("--dry-run", "--json")
    (estimate,) = json.loads(out)
    assert (code, estimate["model"], estimate["n_requests"]) == (0, "local:smollm2", 7 * 4 * 20)
    (estimate,) = json.loads(run("--dry-run", "--json", "--samples", "2")[1])
    assert estimate["n_requests"] == 7 * 4 * 2
    assert Job().style == "few-shot"
    assert not shown


def test_the_first_line_of_the_default_tells_how_it_is_sampled():
    """What narrows the law of the embedded model is said before anything is asked."""
    job = Job(**EMBEDDED, out="runs/local-smollm2")
    assert "few-shot, temperature 1, min-p 0.05, stored in runs/" in _about_the_default(job)
    served = dataclasses.replace(job, temperature="none")
    assert "few-shot, min-p 0.05, stored in runs/" in _about_the_default(served)


def test_a_dry_run_tells_requests_tokens_and_cost_and_asks_nothing(shown, tmp_path):
    """The estimate counts what is left to ask; without a price the cost is unknown, and why."""
    words = ("gpt-x", "--base-url", "http://localhost:9/v1", "--dry-run", *SMALL)
    code, out, _ = run(*words)
    assert code == 0
    assert "gpt-x -> runs/gpt-x: 21 requests, about " in out
    assert "cost unknown (--price-input and --price-output tell)" in out
    (record,) = json.loads(run(*words, "--json")[1])
    assert (record["cost"], record["reason"]) == (None, "no price was given")
    prices = ("--price-input", "1000000", "--price-output", "0")
    (record,) = json.loads(run(*words, "--json", *prices)[1])
    assert record["cost"] == record["prompt_tokens"]
    assert list(tmp_path.iterdir()) == []
    run("sim:perfect", *SMALL)
    (record,) = json.loads(
        run("sim:perfect", *SMALL[:2], "--samples", "4", "--dry-run", "--json")[1]
    )
    assert (record["n_requests"], record["cost"]) == (7, 0.0)


def test_a_budget_ends_the_run_with_its_scores_and_exit_code_1(shown):
    """What was not done shows in the exit code; the scores of what is there are shown."""
    code, _, err = run("sim:perfect", *SMALL, "--max-requests", "5")
    assert (code, len(shown)) == (1, 1)
    assert "5 of 21 answers stored, budget: max_requests" in err
    assert "Repeat the command" in err


def test_a_wrong_url_is_one_sentence(shown):
    """Where nothing listens, the run ends with a sentence that names the URL, and no scores."""
    code, _, err = run("m", "--base-url", "http://127.0.0.1:9/v1", *SMALL, "-y")
    assert (code, shown) == (1, [])
    assert "no connection to http://127.0.0.1:9/v1" in err.splitlines()[-1]


def test_a_first_try_without_answers_binds_no_later_one(shown, tmp_path):
    """What an endpoint that never answered was asked is no part of the run that follows."""
    out = ("-o", str(tmp_path / "run"))
    assert run("m", "--base-url", "http://127.0.0.1:9/v1", *SMALL, *out, "-y")[0] == 1
    assert not (tmp_path / "run").exists()
    assert run("sim:perfect", *SMALL, *out)[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("sim:prefect",), "nearest: perfect"),
        (("sim:perfect", "--prompt-style", "cott"), "prompt_style must be one of direct, few-shot"),
        (("sim:perfect", "--suite", "v2"), "there is no suite and no file 'v2'"),
        (("sim:perfect", "--category", "shuffle"), "categories must be among text-explicit"),
        (("sim:perfect", "--samples", "0"), "0 is not in the range x>=1"),
        (("m", "--temperature", "warm"), "'warm' is neither a number nor 'none'"),
        (("m", "--temperature", "0"), "temperature must be above 0 to ask for more"),
        (("m", "--max-cost", "1"), "price must be given when max_cost is"),
        (("m", "--api-key-env", "NO_SUCH_KEY"), "api_key_env must name an environment variable"),
        (("m", "--api-key-env", "sk-not-a-name"), "is set, got '[no name]'"),
        (("m", "--timeout", "0"), "timeout_s must be at least 0.001"),
        (("m", "--temperature", "inf"), "temperature must be finite, got inf"),
        (("models.toml",), "models.toml cannot be read: No such file"),
    ],
)
def test_wrong_words_are_told_apart(shown, words, message, tmp_path):
    """Each mistake is named before anything is asked or stored."""
    code, _, err = run(*words)
    assert code != 0
    assert message in " ".join(err.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


STUDY = """
[defaults]
samples = 2
limit_tasks = 1

[[model]]
model = "sim:perfect"

[[model]]
model = "sim:median"
samples = 3
out = "own/folder"
"""


def test_a_file_of_models_is_one_command(shown, tmp_path):
    """Every model gets a run of its own; the command line wins over the file, the file over all."""
    (tmp_path / "models.toml").write_text(STUDY)
    assert run("models.toml", "-o", "study")[0] == 0
    assert open_run("study/sim-perfect").n_stored == 14
    assert open_run("own/folder").n_stored == 21
    assert shown == [(["study/sim-perfect", "own/folder"], False)]
    code, out, _ = run("models.toml", "--dry-run", "--samples", "10")
    assert code == 0
    assert [line.rpartition(": ")[2].split()[0] for line in out.splitlines()] == ["70", "49", "119"]


def test_one_failing_model_does_not_stop_a_study(shown, tmp_path):
    """The others are asked and scored; the failure is told with its table, and the exit code."""
    dead = '[[model]]\nmodel = "dead"\nbase_url = "http://127.0.0.1:9/v1"\n'
    (tmp_path / "models.toml").write_text(STUDY.replace("[[model]]", f"{dead}\n[[model]]", 1))
    code, _, err = run("models.toml", "-y")
    assert code == 1
    assert "models.toml: model 'dead': dead: no connection to http://127.0.0.1:9/v1" in err
    assert len(shown[0][0]) == 2


WRONG = {
    "[[model]\n": "is not TOML",
    "": "must hold a table [[model]] for each model",
    "[default]\n": "table 'default' is unknown; the nearest are defaults",
    '[[model]]\nmodel="sim:perfect"\ntemprature=1\n': (
        "model 'sim:perfect': field 'temprature' is unknown; the nearest are temperature"
    ),
    "[[model]]\nsamples=1\n": "model 1: model must be given",
    '[[model]]\nmodel="m"\nmax_tokens="9"\n': "model 'm': max_tokens must be int, got '9'",
    '[[model]]\nmodel="m"\nforce=1\n': "model 'm': force must be bool, got 1",
    '[[model]]\nmodel="m"\napi_key="x"\n': "'api_key' is unknown; the nearest are api_key_env",
    '[[model]]\nmodel="sim:prefect"\n': "model 'sim:prefect': name must be one of perfect",
    '[[model]]\nmodel="m"\nprompt_style="x"\n': "model 'm': prompt_style must be one of",
    '[[model]]\nmodel="m"\nmax_cost=1.0\n': "model 'm': price must be given",
    '[defaults]\nout="x"\n[[model]]\nmodel="m"\n': "[defaults]: out belongs to one model",
    '[defaults]\nsample=3\n[[model]]\nmodel="m"\n': "[defaults]: field 'sample' is unknown",
    '[[model]]\nmodel="m"\n[[model]]\nmodel="m"\n': "another table has the same folder runs/m",
    '[[model]]\nmodel="m"\nextra_body={a=inf}\n': "extra_body.a must be JSON data, got inf",
    '[[model]]\nmodel="m"\nextra_body={a=2026-01-01}\n': "extra_body.a must be JSON data",
    '[[model]]\nmodel="m"\nseed=true\n': "model 'm': seed must be int, got True",
}


@pytest.mark.parametrize("text", WRONG)
def test_mistakes_in_a_file_of_models_are_named(tmp_path, text):
    """The message holds the file, the model, the field and the nearest valid name."""
    (tmp_path / "models.toml").write_text(text)
    with pytest.raises(StudyError) as caught:
        read_study(tmp_path / "models.toml", {})
    assert f"{tmp_path / 'models.toml'}" in str(caught.value)
    assert WRONG[text] in str(caught.value)


def test_all_fields_of_a_job_can_be_written_in_a_file(tmp_path):
    """Lists, tables and the word none are read as the job needs them."""
    (tmp_path / "m.toml").write_text(
        '[[model]]\nmodel = "org/m"\nbase_url = "http://localhost:1/v1"\ntemperature = "none"\n'
        'category = ["shuffling"]\nprice_input = 2\nextra_body = { top_k = 5 }\nn_hint = 2\n'
    )
    (job,) = read_study(tmp_path / "m.toml", {})
    assert job.client().parameters == {"top_k": 5, "n": 2}
    assert job.design().categories == ("shuffling",)
    assert (job.budget().price.input, job.budget().price.output) == (2, 0)
    assert job.folder().name == "org-m-temperature-none"


def test_a_paid_run_is_confirmed_on_a_terminal(shown, monkeypatch, tmp_path):
    """Before requests go elsewhere a person is told their number and may say no."""
    monkeypatch.setattr("unpredictabench.cli.estimates.is_interactive", lambda: True)
    words = ("m", "--base-url", "http://127.0.0.1:9/v1", *SMALL)
    code, _, err = run(*words, stdin="n\n")
    assert code == 1
    assert "21 requests, about" in err
    assert "Go on? [y/N]" in err
    assert list(tmp_path.iterdir()) == []
    assert run("sim:perfect", *SMALL)[0] == 0


def state(n_done, *, n_before=0, n_failed=0, cost=None, n_total=1000):
    """Return progress with these counts."""
    return Progress(n_done, n_failed, n_total, n_before, Usage(1, 2, 3, 0, cost))


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (state(200), "200 of 1,000 answers (20%), 20/s, 40 s left"),
        (state(300, n_before=200), "300 of 1,000 answers (30%), 10/s, 1 min 10 s left"),
        (state(90, n_failed=10), "90 of 1,000 answers (9%), 10/s, 1 min 30 s left, 10 failed"),
        (state(200, cost=1.25), "200 of 1,000 answers (20%), 20/s, 40 s left, cost 1.25"),
        (state(0, n_total=0), "0 of 0 answers (100%)"),
        (state(9, n_total=100), "9 of 100 answers (9%)"),
        (state(15, n_total=1000), "15 of 1,000 answers (2%)"),
        (state(20_000, n_total=20_000), "20,000 of 20,000 answers (100%), 2,000/s"),
    ],
)
def test_progress_is_told_with_rate_and_time_left(progress, text):
    """Only this session's answers make the rate, and only once they are enough to tell."""
    assert showing.described(progress, 10.0) == text


@pytest.mark.parametrize("is_terminal", [False, True])
def test_progress_is_shown_sparingly_and_the_last_always(monkeypatch, capsys, is_terminal):
    """Of a thousand reports a few are shown, on standard error only, and the final one is."""
    monkeypatch.setattr(showing, "is_terminal", lambda: is_terminal)
    with showing.reporter("m") as show:
        for n in range(1, 1001):
            show(state(n))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "1,000 of 1,000" in captured.err
    assert captured.err.count("answers") < 100


def test_the_summary_tells_model_usage_failures_and_doubts(tmp_path):
    """The last session is put into words, and every doubt of any session, as last worded."""
    ending = {
        "reason": "incomplete",
        "failures": {"the server answered 503": 2},
        "marks": {"served": "the model changed"},
        "usage": {"n_requests": 5, "prompt_tokens": 1000, "completion_tokens": 20,
                  "n_estimated": 1, "cost": 0.5},
        "served": [{"model": "m-1", "fingerprint": "fp", "n_answers": 3,
                    "first_at": 86400.0, "last_at": 86460.0}],
    }  # fmt: skip
    with open_writer(tmp_path, Settings("m", "v1", "h"), {}) as writer:
        writer.append(Completion("t", 0, "7"))
        writer.log("started")
        writer.log("stopped", {"marks": {"served": "older wording", "copied": "a cache"}})
        writer.log("resumed")
        writer.log("stopped", ending)
    assert list(summary(open_run(tmp_path))) == [
        f"{tmp_path}: 1 of 1 answer stored, incomplete",
        "  Served as m-1 (fp): 3 answers, 1970-01-02 00:00 UTC to 1970-01-02 00:01 UTC",
        "  Used so far: 5 requests, 1,000 + 20 tokens (1 answer estimated), cost 0.5",
        "  2 slots got no answer: the server answered 503",
        "  Suspicious: the model changed",
        "  Suspicious: a cache",
        "  Repeat the command to ask what is missing; nothing stored is asked again.",
    ]


def test_nothing_done_is_no_progress(monkeypatch, capsys):
    """A command that fails before its first answer says so, and not that it is at 0 %."""
    monkeypatch.setattr(showing, "is_terminal", lambda: False)
    with showing.reporter("m") as show:
        show(state(0))
    assert capsys.readouterr().err == ""
