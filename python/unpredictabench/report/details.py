"""The picture of one task: its law and the answers of every run, as plain JSON data.

The page draws from these data: cdf against ecdf, histogram, PIT histogram, orders by position.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from unpredictabench.errors import shortened
from unpredictabench.report.answers import outcome_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import NominalTarget, NumericTarget, Task
    from unpredictabench.report.answers import Sample
    from unpredictabench.report.contents import Contents, Entry
    from unpredictabench.score.results import TaskScore

Floats: TypeAlias = "NDArray[np.float64]"

N_BINS: Final = 20
N_PIT: Final = 10
N_OUTCOMES: Final = 12
"""Outcomes of a nominal law that are shown; the others are one bar."""
N_WRITTEN: Final = 60
"""Different answers listed for each run and task; how many more there are is said."""
_TAILS: Final = (0.002, 0.998)
_REACH: Final = 1.5
"""How far beyond the law's range answers are shown, in ranges; what lies further is counted."""


def task_data(task: Task, contents: Contents, width: int) -> dict[str, Any]:
    """Return what the page needs to draw a task.

    Parameters
    ----------
    task : Task
        The task.
    contents : Contents
        The report.
    width : int
        Length at which answers are cut.

    Returns
    -------
    dict
        Plain JSON data without NaN; "runs" has one element an entry, null where the entry has no
        answers to the task.
    """
    samples = [entry.samples.get(task.id) for entry in contents.entries]
    scores = [score_of(entry, task.id) for entry in contents.entries]
    words = [word_of(entry, task.id) for entry in contents.entries]
    picture = _labels(task, samples) if task.support == "nominal" else _numbers(task, samples)
    drawn = picture.pop("drawn")
    runs = [
        None
        if sample is None
        else _run_data(sample, score, contents, width) | {"word": word} | more
        for sample, score, word, more in zip(samples, scores, words, drawn, strict=True)
    ]
    return {"q": task.prompt, "why": task.rationale, "law": law_text(task), **picture, "runs": runs}


def score_of(entry: Entry, task: str) -> TaskScore | None:
    """Find the score of a task; None where the entry has none."""
    return next((score for score in entry.score.tasks if score.task == task), None)


def word_of(entry: Entry, task: str) -> str:
    """Return the diagnosis of a task in a sentence; empty where there is none."""
    if entry.diagnosis is None:
        return ""
    found = next((each for each in entry.diagnosis.tasks if each.task == task), None)
    return "" if found is None else f"{found.word}: {found.sentence}"


def law_text(task: Task) -> str:
    """Write a task's law in a line."""
    spec = task.target.spec
    if task.support == "nominal":
        p = cast("NominalTarget", task.target).probabilities
        what = "orders" if is_order(task) else "outcomes"
        return f"{p.size} {'equally likely ' if np.ptp(p) < 1e-9 else ''}{what}"
    if "params" not in spec:
        return shortened(json.loads(json.dumps(spec)), 160)
    params = cast("dict[str, object]", spec["params"])
    return f"{spec['family']}({', '.join(f'{name} = {value}' for name, value in params.items())})"


def verdict(score: TaskScore | None, headline: int) -> str:
    """Say what the test of a task came to.

    Parameters
    ----------
    score : TaskScore or None
        The score.
    headline : int
        The N of the headline.
    """
    if score is None:
        return "not scored"
    rate, parts = score.pass_rates.get(headline), []
    if rate is None:
        why = score.reasons.get("pass_rates") or f"fewer than {headline} answers"
        parts.append(f"KS@{headline} not available ({why})")
    else:
        parts.append(f"passes {rate:.0%} of the time at N = {headline}")
    if score.statistic is not None:
        parts.append(f"all {score.n_slots} answers: distance {score.statistic:.3f}")
    if score.pvalue is not None:
        parts.append(f"p = {_pvalue(score)}")
    parts.append(f"{score.n_valid} of {score.n_slots} valid")
    if score.n_off_support:
        parts.append(f"{score.n_off_support} outside the support")
    if score.n_star is not None:
        parts.append(f"N* {'at least ' if score.is_censored else ''}{score.n_star}")
    return "; ".join(parts)


def _pvalue(score: TaskScore) -> str:
    if score.pvalue == 0.0 and score.log_pvalue is not None and math.isfinite(score.log_pvalue):
        return f"10^{score.log_pvalue / math.log(10):.0f}"
    return f"{score.pvalue:.2g}"


def _run_data(
    sample: Sample, score: TaskScore | None, contents: Contents, width: int
) -> dict[str, Any]:
    listed = sample.written[:N_WRITTEN]
    return {
        "n": sample.n_slots,
        "w": sample.n_invalid if contents.first.protocol == "strict" else 0,
        "say": verdict(score, contents.headline),
        "d": None if score is None else _finite(score.statistic),
        "at": None if score is None else _finite(score.location),
        "sign": 0 if score is None or score.sign is None else score.sign,
        "a": [
            [cut(each.text, width), each.count, each.status, cut(each.value, width), each.reason]
            for each in listed
        ],
        "more": len(sample.written) - len(listed),
    }


def cut(text: str | None, width: int) -> str | None:
    """Cut a text at `width` characters and show that it was cut."""
    return text if text is None or len(text) <= width else f"{text[:width]}…"


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def _numbers(task: Task, samples: Sequence[Sample | None]) -> dict[str, Any]:
    law = cast("NumericTarget", task.target)
    low, high = window(law, [sample.values for sample in samples if sample is not None])
    x, y = _steps(law, low, high)
    edges = _edges(law, low, high)
    mass = np.diff(law.cdf_left(edges))
    drawn = [{} if sample is None else _drawn(law, sample.values, edges) for sample in samples]
    return {
        "kind": "number", "lo": low, "hi": high, "x": _rounded(x), "y": _rounded(y, 4),
        "edges": _rounded(edges), "mass": _rounded(mass, 4), "drawn": drawn,
    }  # fmt: skip


def window(law: NumericTarget, samples: Sequence[Floats]) -> tuple[float, float]:
    """Choose the range to show: nearly all of the law, and the answers near it.

    Parameters
    ----------
    law : NumericTarget
        The law.
    samples : sequence of numpy.ndarray
        Answers.

    Returns
    -------
    low, high : float
        ``low < high``, both finite.
    """
    low, high = (float(end) for end in law.ppf(np.array(_TAILS)))
    reach = (high - low) * _REACH or max(1.0, abs(low))
    for values in samples:
        inner = values[np.isfinite(values)]
        if inner.size:
            ends = np.quantile(inner, [0.02, 0.98])
            low, high = min(low, float(ends[0])), max(high, float(ends[1]))
    first, last = (float(end) for end in law.ppf(np.array(_TAILS)))
    low, high = max(low, first - reach), min(high, last + reach)
    pad = (high - low) * 0.03 or max(1.0, abs(low)) / 2
    return low - pad, high + pad


def _steps(law: NumericTarget, low: float, high: float) -> tuple[Floats, Floats]:
    """Return the points of the cdf between two ends, both sides of every jump."""
    levels = law.ppf(np.linspace(0.002, 0.998, 101))
    inside = levels[(levels > low) & (levels < high)]
    even = np.linspace(low, high, 61) if law.support != "discrete" else np.array([low, high])
    x = np.unique(np.concatenate([inside, even]))
    below, above = law.cdf_left(x), law.cdf(x)
    if law.support == "continuous":
        return x, above
    both_x, both_y = np.repeat(x, 2), np.column_stack([below, above]).ravel()
    return both_x, both_y


def _edges(law: NumericTarget, low: float, high: float) -> Floats:
    """Return edges of bins; between the atoms of a discrete law where they are few."""
    if law.support == "discrete":
        atoms = np.unique(law.ppf(np.linspace(0.001, 0.999, 400)))
        atoms = atoms[(atoms > low) & (atoms < high)]
        if 1 <= atoms.size <= 2 * N_BINS:
            middles = (atoms[1:] + atoms[:-1]) / 2
            ends = np.array([min(low, atoms[0] - 1e-9), max(high, atoms[-1] + 1e-9)])
            return np.concatenate([ends[:1], middles, ends[1:]])
    return np.linspace(low, high, N_BINS + 1)


def _drawn(law: NumericTarget, values: Floats, edges: Floats) -> dict[str, Any]:
    distinct, counts = np.unique(values, return_counts=True)
    ordered = np.sort(values)
    below = np.searchsorted(ordered, edges, side="left")
    return {
        "v": _rounded(np.nan_to_num(distinct, posinf=1e308, neginf=-1e308)),
        "c": counts.tolist(),
        "h": np.diff(below).tolist(),
        "out": [int(below[0]), int(values.size - below[-1])],
        "pit": _rounded(pit_histogram(law, distinct, counts), 4),
    }


def pit_histogram(
    law: NumericTarget, values: Floats, counts: NDArray[np.int64], n_bins: int = N_PIT
) -> Floats:
    """Return the shares of the probability integral transform in equal bins.

    Parameters
    ----------
    law : NumericTarget
        The law G.
    values, counts : numpy.ndarray
        Different answers, and how often each was given.
    n_bins : int
        Number of bins of [0, 1].

    Returns
    -------
    numpy.ndarray, shape (n_bins,)
        They sum to 1, and are all about ``1 / n_bins`` for a faithful sampler; zeros without
        answers.

    Notes
    -----
    An atom spreads its share evenly over (G(x-), G(x)], so that no draw is needed: the
    nonrandomised form.

    References
    ----------
    Czado, Gneiting & Held 2009, doi:10.1111/j.1541-0420.2009.01191.x.
    """
    if not values.size:
        return np.zeros(n_bins)
    with np.errstate(over="ignore"):  # a power of a huge answer; the cdf is right all the same
        left, right = law.cdf_left(values), law.cdf(values)
    edges = np.linspace(0, 1, n_bins + 1)[1:-1, None]
    jump = right - left
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(jump > 0, np.clip((edges - left) / jump, 0, 1), right <= edges)
    below = inside @ (counts / counts.sum())
    return np.diff(np.concatenate([[0.0], below, [1.0]]))


def _labels(task: Task, samples: Sequence[Sample | None]) -> dict[str, Any]:
    law = cast("NominalTarget", task.target)
    k = len(law.outcomes)
    counts = [
        None if s is None else np.bincount(s.values.astype(np.int64), minlength=k) for s in samples
    ]
    most = np.max([law.probabilities, *(c / max(c.sum(), 1) for c in counts if c is not None)], 0)
    shown = np.sort(np.argsort(-most, kind="stable")[:N_OUTCOMES])
    items = task.answer.items if task.answer.kind == "permutation" else ()
    drawn: list[dict[str, Any]] = []
    for count in counts:
        drawn.append({} if count is None else {"k": count[shown].tolist()})
        if count is not None and is_order(task):
            drawn[-1]["places"] = places(task, count).tolist()
            drawn[-1]["used"] = [int(np.count_nonzero(count)), k]
    return {
        "kind": "order" if is_order(task) else "label",
        "o": [outcome_text(law.outcomes[i], items) for i in shown],
        "p": _rounded(law.probabilities[shown], 4),
        "rest": k - shown.size,
        "items": list(items),
        "drawn": drawn,
    }


def is_order(task: Task) -> bool:
    """Whether a task asks for its items in an order."""
    outcomes = cast("NominalTarget", task.target).outcomes
    n = len(task.answer.items)
    return task.answer.kind == "permutation" and all(len(each) == n for each in outcomes)


def places(task: Task, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count how often each item stands at each position.

    Parameters
    ----------
    task : Task
        A task that asks for an order.
    counts : numpy.ndarray of int64, shape (outcomes,)
        How often each order was given.

    Returns
    -------
    numpy.ndarray of int64, shape (items, positions)
        Rows and columns sum to the number of valid answers.
    """
    n = len(task.answer.items)
    table = np.zeros((n, n), dtype=np.int64)
    for order, count in zip(cast("NominalTarget", task.target).outcomes, counts, strict=True):
        if count:
            table[np.array(order, dtype=np.int64), np.arange(n)] += count
    return table


def _rounded(values: Floats, digits: int = 6) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values.tolist()]
