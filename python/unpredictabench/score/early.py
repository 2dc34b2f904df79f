"""Tasks that a stopping rule closed: what their answers still say, and what they no longer do."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Final

import numpy as np

from unpredictabench.score.equivalence import STOPPED
from unpredictabench.score.results import Equivalence

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from unpredictabench.score.results import TaskScore
    from unpredictabench.score.rules import Rules
    from unpredictabench.score.tasks import Judged

CERTAIN: Final = "fail (certain)"
"""A task whose failure at the run's size no further answer could change."""
BY_EVIDENCE: Final = "stopped by evidence"
"""A task closed by the e-process: not a verdict of the KS test."""
NO_RATE: Final = "stopped early: the size of its pool depended on its answers"
_CURTAILED: Final = re.compile(r"curtail\(n=(\d+), alpha=([^)]+)\)")


def leave_out(judged: Judged, rule: str, stopped: Collection[str], rules: Rules) -> None:
    """Take out of the verdicts what stopped tasks cannot give.

    Parameters
    ----------
    judged : Judged
        Tests of all tasks; changed in place.
    rule : str
        Name of the rule that the run was made with.
    stopped : collection of str
        Tasks it closed.
    rules : Rules
        How the run is scored.

    Notes
    -----
    No pass rate, no N*, and no p-value: the size of the pool depended on the answers. Under
    curtailment the verdict at the run's size is a failure, also in KS@N, where the level and the
    protocol are the ones it was curtailed for. The verdicts on the first N answers stay.
    """
    rows = [row for row, p in enumerate(judged.pools) if p.observed.task.id in stopped]
    v = judged.verdicts
    for column in (v.statistic, v.location, v.sign, v.pvalue, v.log_pvalue):
        column[rows] = np.nan
    for table in (v.rates, v.errors, v.curve):
        table[rows, :] = np.nan
    certain = certain_size(rule, rules)
    if certain in rules.n:
        place = rules.n.index(certain)
        v.passes[rows, place] = v.rates[rows, place] = 0.0


def certain_size(rule: str, rules: Rules) -> int | None:
    """Return the N at which stopped tasks are certain to fail by these rules; None for none."""
    found = _CURTAILED.fullmatch(rule)
    if found is None or float(found[2]) != rules.alpha or rules.protocol != "strict":
        return None
    return int(found[1])


def marked(
    scores: Sequence[TaskScore], rule: str, stopped: Collection[str], rules: Rules
) -> tuple[TaskScore, ...]:
    """Say of stopped tasks that they are, and why they have no rates."""
    if _CURTAILED.fullmatch(rule) is None:
        word = BY_EVIDENCE
    else:
        word = CERTAIN if certain_size(rule, rules) is not None else "stopped early"
    return tuple(
        dataclasses.replace(
            score,
            stopped=word,
            is_censored=False,
            equivalence=Equivalence(None, None, None, None, STOPPED),
            reasons={"stopped": rule, "pvalue": NO_RATE, "pass_rate": NO_RATE, "n_star": NO_RATE},
        )
        if score.task in stopped
        else score
        for score in scores
    )


def note(rule: str, stopped: Collection[str], rules: Rules) -> tuple[str, ...]:
    """Return what must be known about the scores of a run with stopped tasks."""
    if not stopped:
        return ()
    certain = certain_size(rule, rules)
    if certain is None:
        what = f"by {rule}: not a KS verdict, and they count as not passed"
    else:
        what = (
            f"as certain failures at N = {certain}; only KS@{certain} is a score of this run, at "
            "other N they count as not passed"
        )
    return (f"{len(stopped)} tasks were stopped {what}",)
