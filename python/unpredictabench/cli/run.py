"""Ask one model, or each model of a file, then score the answers."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unpredictabench.cli import INTERRUPTED, estimates
from unpredictabench.cli.progress import reporter
from unpredictabench.cli.summary import summary
from unpredictabench.cli.terminal import say
from unpredictabench.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unpredictabench.generate.study import Job
    from unpredictabench.store import Run

RUNS = Path("runs")
EMBEDDED = {"limit_tasks": 4, "samples": 20}
"""What a run without any word asks for: minutes on a small machine instead of hours."""

HELP = """Ask a model every question of a suite, store its answers and score them.

MODEL is a name at an endpoint (with --base-url), local:smollm2, local:FILE.gguf, sim:NAME or
replay:FILE.jsonl; or a file models.toml with many of them. Without MODEL the small model that
comes with the package answers a few questions on this machine.

Repeating a command resumes it: only what has no answer yet is asked.
"""


def _temperature(ctx: click.Context, option: click.Parameter, value: str | None) -> Any:  # noqa: ARG001 - click's signature
    """Read a number, or the word that leaves the temperature to the server."""
    if value is None or value == "none":
        return value
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a number nor 'none'") from None


def _run(model: str | None, out: Path | None, **words: Any) -> None:
    said = {name: value for name, value in words.items() if value not in (None, ())}
    dry_run, as_json, is_sure = (said.pop(name, False) for name in ("dry_run", "json", "yes"))
    jobs = _jobs(model, out, said)
    if dry_run:
        estimates.show(jobs, as_json=as_json)
        return
    if model is None:
        say(_about_the_default(jobs[0]), err=True)
    for job in jobs:
        if job.ignored:
            unused = ", ".join(job.ignored)
            say(f"Note: {job.model} takes no {unused}: it changes nothing.", err=True)
    if not is_sure:
        estimates.confirm(jobs)
    _finish(jobs, [_perform(job) for job in jobs], as_json=as_json)


def _jobs(model: str | None, out: Path | None, said: Mapping[str, Any]) -> Sequence[Job]:
    """Make the jobs of a command line; each knows its folder."""
    from unpredictabench.generate.study import Job, read_study  # noqa: PLC0415 - --help needs none

    parent, jobs = RUNS, []
    if model is not None and model.endswith(".toml"):
        parent = out or RUNS
        jobs = list(read_study(model, said, parent=parent))
    else:
        chosen = EMBEDDED | dict(said) if model is None else {"model": model, **said}
        jobs = [Job(**chosen, out=None if out is None else str(out))]
    return [dataclasses.replace(job, out=str(job.folder(parent))) for job in jobs]


def _perform(job: Job) -> Run | None:
    """Ask one model and say how it went; None when it failed and others of a study go on."""
    from unpredictabench.errors import UnpredictabenchError  # noqa: PLC0415 - --help needs none
    from unpredictabench.generate.study import perform  # noqa: PLC0415 - as above

    try:
        with reporter(job.model) as progress:
            run = perform(job, progress=progress)
    except KeyboardInterrupt:
        kept = f"{job.out} keeps every answer that arrived: repeat the command to go on"
        say(f"Interrupted; {kept}.", err=True)
        raise SystemExit(INTERRUPTED) from None
    except UnpredictabenchError as error:
        if not job.origin:
            raise
        say(f"{job.origin}: {error}", err=True)
        return None
    say("\n".join(summary(run)), err=True)
    return run


def _finish(jobs: Sequence[Job], runs: Sequence[Run | None], *, as_json: bool) -> None:
    """Show the scores; exit code 0 only when everything asked for was done."""
    from unpredictabench.tasks.load import SUITES  # noqa: PLC0415 - --help needs none

    stored = [run for run in runs if run is not None and run.n_stored]
    if stored:
        scoring = import_module("unpredictabench.cli.score")
        # A run knows the suites of the package; a user's own is named as it was.
        named = {job.suite for job in jobs}
        own = next(iter(named - set(SUITES)), None) if len(named) == 1 else None
        scoring.show([run.path for run in stored], as_json=as_json, suite=own)
    if any(run is None or run.stop_reason != "complete" for run in runs):
        raise SystemExit(1)


def _about_the_default(job: Job) -> str:
    sent = job.client().parameters
    shown = {"temperature": "temperature", "min_p": "min-p"}
    sampled = ", ".join(f"{word} {sent[name]:g}" for name, word in shown.items() if name in sent)
    return (
        f"Asking the model that comes with the package, {job.model}, on this machine: "
        f"{counted(job.limit_tasks or 0, 'task')} of every category, "
        f"{counted(job.samples, 'answer')} each, prompt style "
        f"{job.style}, {sampled}, stored in {job.out}.\n"
        f"All tasks, 100 answers each (hours): unpredictabench run {job.model}\n"
        "Another model: unpredictabench run MODEL --base-url URL"
    )


def _option(*names: str, **how: Any) -> click.Option:
    return click.Option(names, **how)


_AT_LEAST_0, _AT_LEAST_1 = click.IntRange(min=0), click.IntRange(min=1)
_FROM_0 = click.FloatRange(min=0.0)

command = click.Command(
    "run",
    callback=_run,
    help=HELP,
    params=[
        click.Argument(["model"], required=False),
        _option(
            "-o", "--out", type=click.Path(path_type=Path),
            help="Run folder; for a file of models the folder of the run folders.  [runs/MODEL]",
        ),
        _option("--base-url", help="Endpoint up to /v1; any OpenAI-compatible server."),
        _option("--api-key-env", help="Environment variable that holds the key.  [OPENAI_API_KEY]"),
        _option("--endpoint", type=click.Choice(["chat", "completions"]),
                help="Kind of endpoint; completions is for base models.  [chat]"),
        _option("--suite", help="Name or file of the suite.  [v1]"),
        _option("--variant", type=_AT_LEAST_0, help="Seed of fresh parameters for the suite."),
        _option("--samples", type=_AT_LEAST_1, help="Answers for each task.  [100]"),
        _option("--limit-tasks", type=_AT_LEAST_1, help="Most tasks of every category.  [all]"),
        _option("--category", multiple=True, help="Only this category; may be repeated."),
        _option("--prompt-style", help="direct, few-shot or cot.  [the model's own]"),
        _option("--sampling", type=click.Choice(["independent", "batch"]),
                help="One answer a request, or several in one reply.  [independent]"),
        _option("--batch-size", type=click.IntRange(min=2),
                help="Answers in one reply, for --sampling batch.  [20]"),
        _option("--temperature", callback=_temperature,
                help="Sampling temperature, or none to leave it to the server.  [1.0]"),
        _option("--max-tokens", type=_AT_LEAST_1, help="Most tokens of an answer."),
        _option("--seed", type=_AT_LEAST_0,
                help="Base seed: every slot gets one of its own.  [no seed is sent]"),
        _option("--n-hint", type=_AT_LEAST_1, help="Choices one request may ask for.  [1]"),
        _option("--stop", type=click.Choice(["never", "curtail", "evalue"]),
                help="Ask no more of a task that is certain to fail, or when the evidence against "
                     "its law is overwhelming.  [never]"),
        _option("--concurrency", type=_AT_LEAST_1, help="Most requests under way.  [64]"),
        _option("--timeout", "timeout_s", type=_FROM_0, help="Seconds for one request."),
        _option("--max-cost", type=_FROM_0, help="Stop before the run costs more."),
        _option("--max-tokens-total", type=_AT_LEAST_0, help="Stop before more tokens are used."),
        _option("--max-requests", type=_AT_LEAST_0, help="Stop before more requests are made."),
        _option("--price-input", type=_FROM_0, help="Price of a million tokens asked."),
        _option("--price-output", type=_FROM_0, help="Price of a million tokens answered."),
        _option("--force", is_flag=True, default=None,
                help="Ask for several answers at temperature 0 all the same."),
        _option("--dry-run", is_flag=True, default=None,
                help="Print requests, tokens and cost, and ask nothing."),
        _option("--json", is_flag=True, default=None, help="Print the scores as JSON."),
        _option("-y", "--yes", is_flag=True, default=None, help="Do not ask before paid requests."),
    ],
)  # fmt: skip
