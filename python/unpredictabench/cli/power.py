"""``unpredictabench power``: what the test of each task can see, and whether it is calibrated."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, cast, get_args

import click

from unpredictabench.cli.tasks import selecting
from unpredictabench.cli.terminal import say
from unpredictabench.errors import InputError, counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unpredictabench.diagnose import Calibration
    from unpredictabench.records import NumericTarget, Task
    from unpredictabench.stats import PowerResult
    from unpredictabench.tasks import Suite

_SHARE = click.FloatRange(0.0, 1.0, min_open=True, max_open=True)


@click.command("power")
@selecting
@click.option(
    "--samples",
    type=click.IntRange(1, 10_000),
    default=100,
    show_default=True,
    help="Answers for each task.",
)
@click.option("--alpha", type=_SHARE, default=1e-4, show_default=True, help="Level.")
@click.option(
    "--power", "least_power", type=_SHARE, default=0.8, show_default=True, help="Power asked for."
)
@click.option("--effect", help="Answers that one effect needs, such as shift=0.5 or scale=2.")
@click.option("--limit-tasks", type=click.IntRange(1), help="Most tasks of every category.")
@click.option(
    "--calibrate",
    is_flag=True,
    help="Test faithful samples instead: do they fail at the rate the level says?",
)
@click.option(
    "--replicates",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Samples a task, for --calibrate.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(suite: Suite, *, calibrate: bool, as_json: bool, **words: Any) -> None:
    """Print the smallest shift, stretch, narrowing and rounding that the KS test sees.

    Shifts and rounding steps are in interquartile ranges of the law, stretch and narrowing are
    ratios of spreads. "-" is an effect of any size that is not seen. Nominal tasks have no shift.
    """
    from unpredictabench.cli.progress import teller  # noqa: PLC0415 - --help needs none

    tasks = _limited(suite, words["limit_tasks"])
    if calibrate:
        _show_calibration(tasks, words["samples"], words["replicates"], as_json=as_json)
        return
    numeric = [task for task in tasks if task.support != "nominal"]
    reckoned = _detectable if words["effect"] is None else _needed
    with teller() as tell:
        tell(f"reckoning with {counted(len(numeric), 'task')}; whole suites take a minute")
        rows = list(reckoned(numeric, words))
    _show(rows, n_nominal=len(tasks) - len(numeric), as_json=as_json)


def _limited(suite: Suite, limit: int | None) -> tuple[Task, ...]:
    from unpredictabench.generate.planning import selected  # noqa: PLC0415 - --help needs none

    return selected(suite, limit_tasks=limit)


def _detectable(tasks: Iterable[Task], words: dict[str, Any]) -> Iterable[dict[str, Any]]:
    from unpredictabench.stats import power  # noqa: PLC0415 - --help needs none
    from unpredictabench.stats._power import Effect  # noqa: PLC0415 - as above

    for task in tasks:
        found: dict[str, PowerResult] = {
            effect: power(
                cast("NumericTarget", task.target),
                words["samples"],
                effect,
                alpha=words["alpha"],
                least_power=words["least_power"],
            )
            for effect in get_args(Effect)
        }
        reasons = [one.reason for one in found.values() if one.reason]
        yield {
            "task": task.id,
            "n": words["samples"],
            "size": found["shift"].size,
            **{effect: one.effect for effect, one in found.items()},
            "reason": "; ".join(reasons) or None,
        }


def _needed(tasks: Iterable[Task], words: dict[str, Any]) -> Iterable[dict[str, Any]]:
    from unpredictabench.stats import answers_needed  # noqa: PLC0415 - --help needs none
    from unpredictabench.stats._power import MOST_ANSWERS, Effect  # noqa: PLC0415 - as above

    name, equals, size = words["effect"].partition("=")
    try:
        effect = float(size)
    except ValueError:
        effect = 0.0
    if not equals or not effect or name not in get_args(Effect):
        rule = f"be one of {', '.join(get_args(Effect))}, an equals sign and a size"
        raise InputError("--effect", rule, words["effect"])
    for task in tasks:
        needed = answers_needed(
            cast("NumericTarget", task.target),
            name,
            effect,
            alpha=words["alpha"],
            least_power=words["least_power"],
        )
        reason = None if needed is not None else f"more than {MOST_ANSWERS}"
        yield {"task": task.id, name: effect, "answers": needed, "reason": reason}


def _show(rows: list[dict[str, Any]], *, n_nominal: int, as_json: bool) -> None:
    if as_json:
        say(json.dumps({"tasks": rows, "n_nominal": n_nominal}, indent=1))
        return
    if rows:
        names = [name for name in rows[0] if name not in {"task", "reason"}]
        width = max(len(row["task"]) for row in rows)
        say(f"{'task':<{width}}" + "".join(f"{name:>11}" for name in names))
        for row in rows:
            cells = ("-" if row[name] is None else f"{row[name]:.3g}" for name in names)
            say(f"{row['task']:<{width}}" + "".join(f"{cell:>11}" for cell in cells))
    say(f"{counted(len(rows), 'task')} on the line; {counted(n_nominal, 'nominal task')} left out")


def _show_calibration(tasks: tuple[Task, ...], n: int, n_replicates: int, *, as_json: bool) -> None:
    """Print how often faithful samples fail; exit code 1 when that is too often."""
    from unpredictabench.cli.progress import teller  # noqa: PLC0415 - --help needs none
    from unpredictabench.diagnose import calibrate  # noqa: PLC0415 - as above

    with teller() as tell:
        tell(f"testing {counted(n_replicates, 'sample')} of each of {counted(len(tasks), 'task')}")
        found = calibrate(tasks, n=n, n_replicates=n_replicates)
    say(json.dumps(_calibration(found), indent=1) if as_json else _told(found))
    if not found.is_valid:
        raise SystemExit(1)


def _calibration(found: Calibration) -> dict[str, Any]:
    expected, observed = found.quantiles()
    return {
        "n": found.n,
        "n_tasks": len(found.tasks),
        "n_pvalues": found.pvalues.size,
        "is_valid": found.is_valid,
        "levels": [
            {"level": level, "rejected": count, **dataclasses.asdict(interval)}
            for level, count, interval in zip(
                found.levels, found.rejected, found.intervals, strict=True
            )
        ],
        "quantiles": {"uniform": expected.tolist(), "pvalues": observed.tolist()},
    }


def _told(found: Calibration) -> str:
    samples = f"{counted(found.pvalues.size, 'sample')} of {counted(found.n, 'answer')}"
    lines = [f"{samples}, {counted(len(found.tasks), 'task')}"]
    lines.append("   level  expected  rejected  rate (99.9 % interval)")
    rates = zip(found.levels, found.rejected, found.intervals, strict=True)
    for level, count, ends in rates:
        rate = count / found.pvalues.size
        lines.append(
            f"{level:8g} {level * found.pvalues.size:9.1f} {count:9d}  "
            f"{rate:.2g} ({ends.low:.2g} to {ends.high:.2g})"
        )
    verdict = "no rate is above its level" if found.is_valid else "a rate is above its level"
    lines.append(f"{verdict}; laws with atoms reject less often than the level says")
    return "\n".join(lines)
