"""Score answers that are at hand, and runs that are stored."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

from unpredictabench.errors import InputError
from unpredictabench.extract.observations import observe
from unpredictabench.score.early import leave_out, marked, note
from unpredictabench.score.measures import measure
from unpredictabench.score.paper import could_differ
from unpredictabench.score.rules import ALPHA, MARGIN, SIZES, Rules, sizes_of
from unpredictabench.score.runs import run_score
from unpredictabench.score.samplers import Baseline, baselines
from unpredictabench.score.side_by_side import each
from unpredictabench.score.suites import planned_tasks
from unpredictabench.score.tasks import judge_all, task_scores
from unpredictabench.store import Run, open_run

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from unpredictabench.extract.observations import Observed
    from unpredictabench.records import Completion, Reading, Task
    from unpredictabench.score.results import RunScore
    from unpredictabench.score.rules import Protocol
    from unpredictabench.tasks import Suite


def score_records(
    tasks: Sequence[Task],
    completions: Iterable[Completion],
    *,
    n: Sequence[int] = SIZES,
    alpha: float = ALPHA,
    protocol: Protocol = "strict",
    mode: Reading = "lenient",
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    margin: float = MARGIN,
    stop: str = "never",
    stopped: Collection[str] = (),
) -> RunScore:
    """Score answers: read them, test every task, sum up with intervals.

    The null hypothesis of every test is that the answers are independent draws from the task's
    law; KS@N is the probability that N answers do not reject it at level `alpha`.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks; every one of them is in the denominators.
    completions : iterable of Completion
        The replies, in any order, one a slot.
    n : sequence of int, default (1, 2, 5, 10, 20, 50, 100)
        Sizes N.
    alpha : float, default 1e-4
        Level of the tests, in (0, 1).
    protocol : {"strict", "valid", "paper"}, default "strict"
        "strict": N answers asked for, invalid ones count against the model. "valid": N valid
        answers. "paper": the published rule.
    mode : {"lenient", "strict"}, default "lenient"
        The reading of the extractor.
    n_resamples : int, default 9999
        Bootstrap replicates of the intervals.
    confidence_level : float, default 0.95
        Coverage of the intervals.
    margin : float, default 0.25
        Largest distance from a law that counts as equivalent, in (0, 1): see
        `unpredictabench.score.equivalence`.
    stop : str, default "never"
        Name of the rule by which tasks were stopped early.
    stopped : collection of str
        The tasks it stopped: see `unpredictabench.score.early`.

    Returns
    -------
    RunScore
        Everything; its `tasks` are in the order given.

    Raises
    ------
    InputError
        If an argument breaks a rule above, or two replies fill one slot.

    Notes
    -----
    A pass means "not rejected", which for small N means little: N = 1 is vacuous. Pass rates are
    averages over all subsets of N answers, computed exactly. Answers to other tasks are counted in
    `notes`.

    References
    ----------
    UnpredictaBench, arXiv:2606.06622; Chen et al. (2021), arXiv:2107.03374 (subset averages).
    """
    rules = Rules(sizes_of(n), alpha, protocol, mode, n_resamples, confidence_level, margin)
    observed, n_foreign = observe(tasks, completions, mode=mode)
    notes = (f"{n_foreign} answers belong to other tasks",) if n_foreign else ()
    found = _scored(observed, rules, notes, (stop, stopped))
    if protocol != "paper":
        return found
    # The published verdicts are shown beside ours on the same answers.
    strict_rules = dataclasses.replace(rules, protocol="strict")
    strict = _scored(observed, strict_rules, notes, (stop, stopped))
    return dataclasses.replace(found, strict=strict)


def score_observed(observed: Sequence[Observed], *, alpha: float = ALPHA) -> RunScore:
    """Score answers that were read already, under the protocol "strict"; see `score_records`.

    Parameters
    ----------
    observed : sequence of Observed
        What the slots of each task hold.
    alpha : float, default 1e-4
        Level of the tests, in (0, 1).

    Returns
    -------
    RunScore
        The same as that of the replies they were read from.
    """
    return _scored(observed, Rules(alpha=alpha), (), ("never", ()))


def _scored(
    observed: Sequence[Observed],
    rules: Rules,
    notes: tuple[str, ...],
    early: tuple[str, Collection[str]],
) -> RunScore:
    stop, stopped = early
    judged = judge_all(observed, rules)
    leave_out(judged, stop, stopped, rules)
    notes = (*notes, *note(stop, stopped, rules))
    measures = measure(judged.pools)
    scores = marked(task_scores(judged, rules, measures), stop, stopped, rules)
    if rules.protocol == "paper":
        tasks = [each.task for each in observed]
        near = could_differ(tasks, [task.pvalue for task in scores], rules.alpha)
        if near:
            notes = (*notes, f"drawn p-values near alpha could differ: {', '.join(near)}")
    return run_score(judged, scores, rules, measures=measures, notes=notes)


def score(
    run: Run | str | os.PathLike[str],
    *,
    n: Sequence[int] = SIZES,
    alpha: float = ALPHA,
    protocol: Protocol = "strict",
    mode: Reading = "lenient",
    margin: float = MARGIN,
    suite: Suite | str | os.PathLike[str] | None = None,
    tell: Callable[[str], None] | None = None,
) -> RunScore:
    """Score a stored run; no model is asked.

    Parameters
    ----------
    run : Run or path
        The run, or its folder.
    n, alpha, protocol, mode, margin
        As for `score_records`.
    suite : Suite, str or path, optional
        The suite the run was made with, where its name is not enough to find it and there is no
        ``suite.json`` beside the run.
    tell : callable, optional
        Told in a few words what is being done.

    Returns
    -------
    RunScore
        The scores. Denominators are the tasks that the run set out to ask.

    Raises
    ------
    SuiteError
        If the suite is not the one the run was made with.
    StoreError
        If the run cannot be read.
    """
    opened = run if isinstance(run, Run) else open_run(run)
    if tell is not None:
        n_asked = sum(planned.n_slots for planned in opened.plan.values())
        n_answers = n_asked - opened.n_missing - opened.n_spared
        tell(f"scoring {n_answers:,} answers to {len(opened.plan):,} tasks in {opened.path}")
    tasks = planned_tasks(opened, suite)
    found = score_records(
        tasks,
        opened.completions(),
        n=n,
        alpha=alpha,
        protocol=protocol,
        mode=mode,
        margin=margin,
        stop=opened.settings.stop,
        stopped=opened.stopped_tasks,
    )
    missing = f"{opened.n_missing} answers are missing: repeat the run to complete it"
    return dataclasses.replace(
        found,
        name=str(opened.path),
        model=opened.settings.model,
        suite=opened.settings.suite,
        suite_hash=opened.settings.suite_hash,
        notes=(*found.notes, *((missing,) if opened.n_missing else ())),
    )


def score_runs(
    runs: Sequence[Run | str | os.PathLike[str]],
    *,
    n: Sequence[int] = SIZES,
    alpha: float = ALPHA,
    protocol: Protocol = "strict",
    mode: Reading = "lenient",
    margin: float = MARGIN,
    suite: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    tell: Callable[[str], None] | None = None,
) -> list[RunScore]:
    """Score several stored runs, as many at a time as there are cores.

    Parameters
    ----------
    runs : sequence of Run or path
        The runs, or their folders.
    n, alpha, protocol, mode, margin, suite
        As for `score`; the suite by name or path.
    workers : int, optional
        Processes; all allowed cores by default.
    tell : callable, optional
        Told in a few words how far it is.

    Returns
    -------
    list of RunScore
        In the order of the runs; it does not depend on `workers`.

    Raises
    ------
    InputError, SuiteError, StoreError
        As for `score`.
    """
    if isinstance(runs, str | os.PathLike):
        raise InputError("runs", "be a list of runs", runs)
    paths = [run.path if isinstance(run, Run) else run for run in runs]
    # A view or a generator cannot be sent to another process, nor be read twice.
    how = {"n": sizes_of(n), "alpha": alpha, "protocol": protocol, "mode": mode, "margin": margin}
    return each(score, paths, {**how, "suite": suite}, workers=workers, tell=tell)


def baselines_of(
    run: Run | str | os.PathLike[str],
    scores: RunScore,
    *,
    suite: Suite | str | os.PathLike[str] | None = None,
) -> tuple[Baseline, ...]:
    """Score simple samplers on the tasks of a run, by the rules the run was scored by.

    Parameters
    ----------
    run : Run or path
        The run.
    scores : RunScore
        Its scores.
    suite : Suite, str or path, optional
        As for `score`.

    Returns
    -------
    tuple of Baseline
        With as many answers a task as the run has.
    """
    opened = run if isinstance(run, Run) else open_run(run)
    rules = Rules(scores.n, scores.alpha, scores.protocol, scores.mode)
    n_slots = max((task.n_slots for task in scores.tasks), default=0)
    if opened.stopped_tasks:  # they were to have as many as planned
        n_slots = max(planned.n_slots for planned in opened.plan.values())
    tasks = planned_tasks(opened, suite)
    return baselines(tasks, rules, n_slots=n_slots, decimals=scores.decimals)
