"""The frozen records a scoring gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from unpredictabench.records import Category, Reading, Support
    from unpredictabench.score.rules import Protocol

Fidelity: TypeAlias = Literal["equivalent", "different", "undecided"]
Estimand: TypeAlias = Literal["tasks like these", "this benchmark"]


@dataclass(frozen=True, slots=True)
class Rate:
    """A share or mean over tasks with its uncertainty.

    Parameters
    ----------
    estimate : float or None
        Mean over all `n_tasks`; a task without enough answers counts as not passed.
    low, high : float or None
        Ends of the confidence interval.
    standard_error : float or None
        Its standard error.
    interval_method : str or None
        How the interval was made.
    estimand : {"tasks like these", "this benchmark"}
        What it is an interval for: a score on further tasks of this kind, or on these tasks with
        further answers.
    reason : str or None
        Why something is missing, or what is to be known about it.
    n_tasks : int
        Tasks in the denominator.
    n_covered : int
        Tasks with enough answers.
    """

    estimate: float | None
    low: float | None
    high: float | None
    standard_error: float | None
    interval_method: str | None
    estimand: Estimand
    reason: str | None
    n_tasks: int
    n_covered: int


@dataclass(frozen=True, slots=True)
class HalfLife:
    """Median over tasks of N*, the largest N that passes at least half of the time.

    Parameters
    ----------
    median : float or None
        The median; None where it lies beyond the answers there are.
    low, high : float or None
        Ends of its interval; None at `high` where it lies beyond.
    n_censored : int
        Tasks that still pass with all their answers.
    reason : str or None
        Why there is no median.
    """

    median: float | None
    low: float | None
    high: float | None
    n_censored: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Whether the law of the answers is within a margin of the law asked for.

    Parameters
    ----------
    verdict : {"equivalent", "different", "undecided"} or None
        At most the margin, more than it, or too few answers to say; None where there is no bound.
    low, high : float or None
        Bounds of the distance, invalid answers counted.
    n_needed : int or None
        Answers from which on "equivalent" is possible at all.
    reason : str or None
        Why something is missing, or cannot be told.
    """

    verdict: Fidelity | None
    low: float | None
    high: float | None
    n_needed: int | None
    reason: str | None


@dataclass(frozen=True, slots=True, eq=False)
class TaskScore:
    """What the answers to one task came to.

    Parameters
    ----------
    task, category, family, support : str
        The task.
    cluster : str
        The group it is resampled with.
    n_slots, n_valid, n_invalid, n_off_support : int
        Answers asked for and given; read; not read; read but outside the support.
    statuses : mapping
        Number of answers of each class.
    method : str or None
        The null: "law", "two-sample", "fixed_band", "total-variation", "holm".
    statistic, location, pvalue, log_pvalue : float or None
        The test of all answers.
    sign : int or None
        1 where too many answers lie at or below `location`, -1 where too few.
    passes : mapping
        For each N whether the first N answers pass; None where there are fewer.
    pass_rates : mapping
        For each N the share of all subsets of N answers that pass.
    pass_rate_errors : mapping
        Standard errors of `pass_rates`.
    attainable_sizes : mapping
        For each N the largest probability up to alpha with which a faithful sampler can fail.
    curve_n, curve : numpy.ndarray
        Sizes, and the pass rate at each.
    interpolated : tuple of int
        Sizes of the curve at which it is drawn between its neighbours and not computed.
    n_star : int or None
        Largest N that passes at least half of the time.
    n_star_90, n_star_10 : int or None
        The same for nine tenths and for one tenth.
    is_censored : bool
        Whether `n_star` is only a lower bound: all the answers there are.
    equivalence : Equivalence
        Whether the distance to the law is within the margin of the run.
    measures : mapping
        Distances and effect sizes of the valid answers by name; see docs/score.md.
    reasons : mapping
        By field name, why a value is missing or doubtful.
    stopped : str or None
        "fail (certain)", "stopped by evidence" or "stopped early" for a task that a stopping rule
        closed; it has no rates.
    """

    task: str
    category: Category
    family: str
    support: Support
    cluster: str
    n_slots: int
    n_valid: int
    n_invalid: int
    n_off_support: int
    statuses: Mapping[str, int]
    method: str | None
    statistic: float | None
    location: float | None
    sign: int | None
    pvalue: float | None
    log_pvalue: float | None
    passes: Mapping[int, bool | None]
    pass_rates: Mapping[int, float | None]
    pass_rate_errors: Mapping[int, float | None]
    attainable_sizes: Mapping[int, float | None]
    curve_n: NDArray[np.int64]
    curve: NDArray[np.float64]
    interpolated: tuple[int, ...]
    n_star: int | None
    n_star_90: int | None
    n_star_10: int | None
    is_censored: bool
    equivalence: Equivalence
    measures: Mapping[str, float | None]
    reasons: Mapping[str, str]
    stopped: str | None = None


@dataclass(frozen=True, slots=True)
class GroupScore:
    """The scores of a category or a family.

    Parameters
    ----------
    name : str
        Its name.
    n_tasks : int
        Its tasks.
    validity : float or None
        Share of answers that could be read.
    ks_at_n : mapping
        KS@N for each N.
    measures : mapping
        Mean of each measure over the tasks that have it.
    """

    name: str
    n_tasks: int
    validity: float | None
    ks_at_n: Mapping[int, Rate]
    measures: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, eq=False)
class RunScore:
    """The scores of one run.

    Parameters
    ----------
    name, model : str
        The run and what was asked.
    suite, suite_hash : str
        The suite the tasks come from.
    alpha : float
        Level of the tests.
    protocol : {"strict", "valid", "paper"}
        What counts.
    mode : {"lenient", "strict"}
        The reading.
    n : tuple of int
        Sizes N.
    decimals : int or None
        Decimals the model gives where real numbers are asked for.
    n_tasks, n_slots : int
        Tasks scored and answers they hold.
    validity : float or None
        Share of answers that could be read.
    statuses : mapping
        Number of answers of each class.
    coverage : mapping
        For each N the share of tasks with enough answers.
    ks_at_n : mapping
        KS@N for each N, for tasks like these.
    this_benchmark : mapping
        KS@N with the uncertainty from the answers alone.
    as_published : mapping
        KS@N with the categories weighted 160 / 238 / 30 / 20 as published.
    ks_at_alpha : mapping
        Share of tasks whose whole sample passes, at further levels.
    alpha_area : Rate
        Mean of that share over log alpha, from the smallest of those levels to the largest.
    margin : float
        Largest distance from a law that counts as equivalent.
    equivalence : mapping
        Number of tasks with each verdict; "not available" for those without.
    categories, families : mapping
        The same by group.
    n_star : HalfLife
        Median half-life.
    curve_n, curve : numpy.ndarray
        Sizes and the mean pass rate at each.
    area : float or None
        Mean of `curve` over log N from 5 to the number of answers.
    area_method : str or None
        How it was integrated, and on how many tasks the curve is interpolated at some N.
    measures : mapping
        Mean of each measure over the tasks that have it.
    tasks : tuple of TaskScore
        Task by task.
    notes : tuple of str
        What is to be known about the numbers.
    strict : RunScore or None
        Under the protocol "paper" the scores of the same answers under "strict".
    """

    name: str
    model: str
    suite: str
    suite_hash: str
    alpha: float
    protocol: Protocol
    mode: Reading
    n: tuple[int, ...]
    decimals: int | None
    n_tasks: int
    n_slots: int
    validity: float | None
    statuses: Mapping[str, int]
    coverage: Mapping[int, float]
    ks_at_n: Mapping[int, Rate]
    this_benchmark: Mapping[int, Rate]
    as_published: Mapping[int, float | None]
    ks_at_alpha: Mapping[float, Rate]
    alpha_area: Rate
    margin: float
    equivalence: Mapping[str, int]
    categories: Mapping[str, GroupScore]
    families: Mapping[str, GroupScore]
    n_star: HalfLife
    curve_n: NDArray[np.int64]
    curve: NDArray[np.float64]
    area: float | None
    area_method: str | None
    measures: Mapping[str, float | None]
    tasks: tuple[TaskScore, ...]
    notes: tuple[str, ...] = field(default=())
    strict: RunScore | None = None

    def has_score(self, n: int) -> bool:
        """Tell whether KS@N rests on N answers of some task, or on tasks certain to fail."""
        if self.ks_at_n[n].estimate is None:
            return False
        return self.coverage[n] > 0 or any(
            task.stopped and task.pass_rates[n] is not None for task in self.tasks
        )
