"""``unpredictabench tasks``: look at a suite, export it, rebuild it, audit it."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unpredictabench._whole import whole
from unpredictabench.cli.terminal import say
from unpredictabench.errors import SuiteError, counted
from unpredictabench.records import CATEGORIES
from unpredictabench.tasks import Suite, load_suite

if TYPE_CHECKING:
    from collections.abc import Callable

    from unpredictabench.records import Task
    from unpredictabench.tasks.audit import Finding

FORMATS = ("json", "parquet", "published")
CHECKS = ("truths", "programs", "samplers", "quantiles", "moments")
SUPPORTS = ("continuous", "discrete", "mixed", "nominal")


def selecting(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that choose a suite and tasks in it; the command receives the selection."""

    @click.option("--suite", "source", default="v1", show_default=True, help="Name, or a file.")
    @click.option("--variant", type=click.IntRange(0), help="Seed of a fresh variant of v1.")
    @click.option("--category", multiple=True, type=click.Choice(CATEGORIES), help="Keep these.")
    @click.option("--family", multiple=True, help="Keep these families, e.g. poisson.")
    @click.option("--support", multiple=True, type=click.Choice(SUPPORTS), help="Keep these.")
    @functools.wraps(function)
    def command(
        *,
        source: str,
        variant: int | None,
        category: tuple[str, ...],
        family: tuple[str, ...],
        support: tuple[str, ...],
        **rest: Any,
    ) -> None:
        chosen = load_suite(source, variant=variant).select(
            category=category or None, family=family or None, support=support or None
        )
        function(chosen, **rest)

    return command


@click.group()
def command() -> None:
    """List, show, export, rebuild and audit the tasks of a suite."""


@command.command("list")
@selecting
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_tasks(suite: Suite, *, as_json: bool) -> None:
    """Print one line a task: its id, answer kind and support."""
    fields = ("id", "category", "family", "spread", "support")
    if as_json:
        table = [{name: getattr(entry, name) for name in fields} for entry in suite.entries]
        head = {"suite": suite.name, "version": suite.version, "hash": suite.hash}
        say(json.dumps({**head, "tasks": table}, ensure_ascii=False, indent=1))
        return
    width = max((len(name) for name in suite.ids), default=0)
    for entry in suite.entries:
        say(f"{entry.id:<{width}}  {entry.answer.kind:<11}  {entry.support}")
    say(f"{counted(len(suite), 'task')} of {suite.name} {suite.version}")


@command.command("show", short_help="Print whole tasks: prompt, law and reason.")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--suite", "source", default="v1", show_default=True, help="Name, or a file.")
@click.option("--variant", type=click.IntRange(0), help="Seed of a fresh variant of v1.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(ids: tuple[str, ...], source: str, variant: int | None, *, as_json: bool) -> None:
    """Print whole tasks: the prompt, the law and why the one follows from the other."""
    suite = load_suite(source, variant=variant)
    tasks = [suite[name] for name in ids]
    if as_json:
        say(json.dumps([_described(task) for task in tasks], ensure_ascii=False, indent=1))
        return
    for task in tasks:
        say(f"{task.id}\n\n{task.prompt}\n")
        say(f"law: {json.dumps(task.target.spec, ensure_ascii=False)} ({task.support})")
        say(f"why: {task.rationale}\n")


def _described(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "prompt": task.prompt,
        "answer": {"kind": task.answer.kind, "items": list(task.answer.items)},
        "support": task.support,
        "law": task.target.spec,
        "rationale": task.rationale,
        "program": task.program,
    }


@command.command("export")
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@selecting
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="Default: by the ending of PATH. json loads again with --suite; published is the field "
    "layout of the published benchmark.",
)
def export(suite: Suite, *, path: Path, form: str | None) -> None:
    """Write tasks to PATH."""
    from unpredictabench.tasks.assemble import to_text  # noqa: PLC0415 - loads NumPy
    from unpredictabench.tasks.export import published_rows, write_parquet  # noqa: PLC0415 - rare

    form = form or ("parquet" if path.suffix == ".parquet" else "json")
    if form == "parquet":
        write_parquet(suite, path)
    elif form == "published":
        text = json.dumps(published_rows(suite), ensure_ascii=False, indent=1)
        _write(path, text + "\n")
    else:
        _write(path, to_text(suite))
    say(f"wrote {counted(len(suite), 'task')} to {path}")


def _write(path: Path, text: str) -> None:
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8")


@command.command("build", short_help="Write v1 again and compare it with the frozen one.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write here.")
def build(output: Path | None) -> None:
    """Write v1 again from laws and wording, and compare it with the frozen one byte for byte."""
    from unpredictabench.tasks.assemble import assemble, to_text  # noqa: PLC0415 - loads NumPy
    from unpredictabench.tasks.load import frozen_text  # noqa: PLC0415 - needed only here

    text = to_text(assemble())
    if output is not None:
        _write(output, text)
    if text != frozen_text("v1"):
        raise SuiteError("the suite built now differs from the frozen v1")
    say("v1 built again, byte for byte")


@command.command("audit", short_help="Test draws, programs and laws of every task.")
@selecting
@click.option("--check", "checks", multiple=True, type=click.Choice(CHECKS), help="Only these.")
@click.option("--runs", default=2000, show_default=True, type=click.IntRange(1), help="A program.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def audit(suite: Suite, *, checks: tuple[Any, ...], runs: int, as_json: bool) -> None:
    """Test draws, programs, quantiles and moments of every task against its law."""
    from unpredictabench.cli.progress import teller  # noqa: PLC0415 - --help needs none
    from unpredictabench.tasks import audit as auditing  # noqa: PLC0415 - loads NumPy

    with teller() as tell:
        tell(f"auditing {counted(len(suite), 'task')}; whole suites take minutes")
        findings = auditing.audit(suite, checks=checks or auditing.CHECKS, n_runs=runs)
    if not findings:
        raise SuiteError(
            "no check applies to a task that fits every filter, so nothing was checked"
        )
    wrong = [finding for finding in findings if not finding.is_right]
    if as_json:
        say(json.dumps([_finding(each) for each in findings], indent=1))
    else:
        for check in dict.fromkeys(finding.check for finding in findings):
            n = sum(finding.check == check for finding in findings)
            bad = sum(finding.check == check for finding in wrong)
            say(f"{check}: {n - bad} of {n} right")
        for each in wrong:
            say(f"{each.task}: {each.check}: {each.note} (statistic {each.statistic})")
    if wrong:
        raise SuiteError(f"{len(wrong)} of {len(findings)} checks failed")


def _finding(finding: Finding) -> dict[str, Any]:
    return {name: getattr(finding, name) for name in finding.__slots__}
