"""Scores as plain JSON data: missing values are null, with a reason beside them."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from unpredictabench.score.samplers import is_below_median

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unpredictabench.score.results import GroupScore, Rate, RunScore, TaskScore
    from unpredictabench.score.samplers import Baseline

Json: TypeAlias = dict[str, Any]

NO_ANSWERS: Final = "no answer"


def document(runs: Sequence[tuple[RunScore, Sequence[Baseline]]]) -> Json:
    """Return the scores of runs with the rows to read them by.

    Parameters
    ----------
    runs : sequence of (RunScore, sequence of Baseline)
        Runs scored by the same rules, each with its baselines.

    Returns
    -------
    dict
        What ``unpredictabench score --json`` prints.
    """
    first = runs[0][0] if runs else None
    return {
        "suite": first and first.suite,
        "suite_hash": first and first.suite_hash,
        "alpha": first and first.alpha,
        "protocol": first and first.protocol,
        "runs": [_with_marks(run, rows) for run, rows in runs],
        "baselines": [baseline_json(row, run.name) for run, rows in runs for row in rows],
    }


def _with_marks(run: RunScore, rows: Sequence[Baseline]) -> Json:
    """Tell for each N whether a run is below the constant median."""
    found = run_json(run)
    marks = {str(n): is_below_median(run.ks_at_n, rows, n) for n in run.n}
    if None in marks.values():
        found["reasons"]["is_below_median"] = "no score or no baseline at this N"
    return found | {"is_below_median": marks}


def run_json(run: RunScore) -> Json:
    """Return everything about one run."""
    largest = max((n for n, share in run.coverage.items() if share > 0), default=None)
    return {
        "run": run.name,
        "model": run.model,
        "suite": run.suite,
        "n_tasks": run.n_tasks,
        "n_slots": run.n_slots,
        "validity": run.validity,
        "statuses": dict(run.statuses),
        "coverage": run.coverage[largest] if largest else 0.0,
        "coverage_at_n": _by_n(run.coverage),
        "ks_at_n": _rates(run.ks_at_n),
        "this_benchmark": _rates(run.this_benchmark),
        "as_published": _by_n(run.as_published),
        "ks_at_alpha": {f"{a:g}": dataclasses.asdict(r) for a, r in run.ks_at_alpha.items()},
        "alpha_area": dataclasses.asdict(run.alpha_area),
        "equivalence": {"margin": run.margin, "n_tasks": dict(run.equivalence)},
        "categories": {
            name: group_json(group, [task for task in run.tasks if task.category == name])
            for name, group in run.categories.items()
        },
        "families": {
            name: group_json(group, [task for task in run.tasks if task.family == name])
            for name, group in run.families.items()
        },
        "n_star": dataclasses.asdict(run.n_star),
        "curve": {
            "n": run.curve_n.tolist(),
            "pass_rate": [_clean(v) for v in run.curve.tolist()],
            "interpolated": {
                "n": sorted({n for task in run.tasks for n in task.interpolated}),
                "n_tasks": sum(bool(task.interpolated) for task in run.tasks),
            },
        },
        "area": run.area,
        "area_method": run.area_method,
        "measures": dict(run.measures),
        "reasons": _run_reasons(run),
        "notes": list(run.notes),
        "strict": run.strict
        and {
            "ks_at_n": _rates(run.strict.ks_at_n),
            "categories": {
                name: group_json(group, [t for t in run.strict.tasks if t.category == name])
                for name, group in run.strict.categories.items()
            },
        },
        "tasks": _tasks(run),
    }


def _tasks(run: RunScore) -> list[Json]:
    tasks = [task_json(task) for task in run.tasks]
    for one, strict in zip(tasks, run.strict.tasks if run.strict else (), strict=False):
        both = task_json(strict)
        one["strict"] = {name: both[name] for name in ("method", "statistic", "pvalue", "pass")}
    return tasks


def _run_reasons(run: RunScore) -> dict[str, str]:
    """Say of what a whole run lacks why it does."""
    found = _measure_reasons(run.measures, run.tasks)
    if run.validity is None:
        found["validity"] = NO_ANSWERS
    if None in run.as_published.values():
        found["as_published"] = "a published category has no task with enough answers"
    if run.area is None:
        found["area"] = found["area_method"] = "needs more than five answers to a task"
    if run.strict is None:
        found["strict"] = "given beside the protocol 'paper' alone"
    if run.name and not run.model:
        found["model"] = "the run names none"
    return found


def _measure_reasons(
    measures: Mapping[str, float | None], tasks: Sequence[TaskScore]
) -> dict[str, str]:
    """Say of each missing measure why it is missing."""
    numbers = [task for task in tasks if task.support != "nominal"]
    found = {}
    for name, value in measures.items():
        if value is not None:
            continue
        able = tasks if name in {"jsd", "jsd_floor"} else numbers
        if tasks and not able:
            found[name] = "labels have no order and no distance"
        elif not any(task.n_valid for task in able):
            found[name] = "no valid answer"
        else:
            found[name] = "too few valid answers, or answers too large for a mean"
    return found


def group_json(group: GroupScore, tasks: Sequence[TaskScore]) -> Json:
    """Return the scores of a category or family, its measures beside KS@N."""
    reasons = _measure_reasons(group.measures, tasks)
    return {
        "n_tasks": group.n_tasks,
        "validity": group.validity,
        "ks_at_n": _rates(group.ks_at_n),
        **group.measures,
        "reasons": reasons if group.validity is not None else {"validity": NO_ANSWERS, **reasons},
    }


def task_json(task: TaskScore) -> Json:
    """Return what the answers to one task came to."""
    return {
        "task": task.task,
        "category": task.category,
        "family": task.family,
        "n_slots": task.n_slots,
        "n_valid": task.n_valid,
        "n_invalid": task.n_invalid,
        "n_off_support": task.n_off_support,
        "statuses": dict(task.statuses),
        "method": task.method,
        "statistic": task.statistic,
        "location": task.location,
        "sign": task.sign,
        "pvalue": task.pvalue,
        "log_pvalue": task.log_pvalue,
        "pass": _by_n(task.passes),
        "pass_rate": _by_n(task.pass_rates),
        "pass_rate_error": _by_n(task.pass_rate_errors),
        "attainable_size": _by_n(task.attainable_sizes),
        "n_star": {
            "estimate": task.n_star,
            "at_90": task.n_star_90,
            "at_10": task.n_star_10,
            "is_censored": task.is_censored,
        },
        "equivalence": dataclasses.asdict(task.equivalence),
        "measures": dict(task.measures),
        "reasons": {**_measure_reasons(task.measures, [task]), **task.reasons, **_place(task)},
        "stopped": task.stopped,
        "diagnosis": None,
    }


def _place(task: TaskScore) -> dict[str, str]:
    if task.location is not None or task.statistic is None:
        return {}
    is_label = task.support == "nominal" or task.method == "published"
    return {"location": "the test has none" if is_label else "no finite answer lies there"}


def baseline_json(row: Baseline, run: str) -> Json:
    """Return a baseline, and the run whose tasks it was scored on."""
    return {
        "name": row.name,
        "run": run,
        "ks_at_n": _rates(row.ks_at_n),
        "categories": {name: {"ks_at_n": _rates(by_n)} for name, by_n in row.categories.items()},
    }


def _rates(by_n: Mapping[int, Rate]) -> Json:
    return {str(n): dataclasses.asdict(rate) for n, rate in by_n.items()}


def _by_n(by_n: Mapping[int, Any]) -> Json:
    return {str(n): value for n, value in by_n.items()}


def _clean(value: float) -> float | None:
    return value if math.isfinite(value) else None
