"""One word for what is wrong with the answers to a task, and the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

import numpy as np

from unpredictabench.diagnose import fit
from unpredictabench.diagnose.occupancy import (
    Occupancy,
    is_finer,
    lattice_step,
    occupancy,
    own_cells,
    rounded_cells,
)
from unpredictabench.errors import InputError
from unpredictabench.stats import independence_test, multinomial_test, permutation_test_uniform
from unpredictabench.streams import stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from unpredictabench.extract.observations import Observed
    from unpredictabench.records import NominalTarget, NumericTarget
    from unpredictabench.stats import IndependenceResult

    Floats: TypeAlias = NDArray[np.float64]

Word: TypeAlias = Literal[
    "none", "too few", "format", "off-support", "order", "collapse", "rounding", "shift", "scale",
    "tails", "shape",
]  # fmt: skip
WORDS: Final[Mapping[Word, str]] = {
    "none": "nothing found",
    "too few": "fewer than ten valid answers",
    "format": "too many answers without a value",
    "off-support": "values that the law never takes",
    "order": "answers depend on the ones before",
    "collapse": "too few different values",
    "rounding": "the law, rounded to a lattice",
    "shift": "the law, moved",
    "scale": "the law, moved and stretched",
    "tails": "the centre of the law, with other tails",
    "shape": "another law",
}
"""Every word and what it says, in the order in which they are tried."""
LEVEL: Final = 1e-3
"""Probability that a faithful sampler is given a word, per task."""
N_GROUPS: Final = 4
"""Groups of tests that share the level: format, order, collapse, law."""
TOLERATED: Final = 0.02
"""Share of invalid or off-support answers that is no fault yet."""
FEWEST: Final = 10
N_RESAMPLES: Final = 99_999
_LARGEST: Final = 1e150  # sums and squares of larger answers overflow; no law comes near


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is wrong with the answers to a task.

    Parameters
    ----------
    task : str
        The task.
    word : str
        One of `WORDS`.
    evidence : mapping
        What it rests on: p-values, counts and effect sizes by name.
    independence : IndependenceResult or None
        Tests of the order of the valid answers; None where there are too few.
    """

    task: str
    word: Word
    evidence: Mapping[str, float] = field(default_factory=dict)
    independence: IndependenceResult | None = None

    @property
    def sentence(self) -> str:
        """The word in a few more, with its main number."""
        shown = ", ".join(f"{name} {value:.3g}" for name, value in self.evidence.items())
        return f"{WORDS[self.word]} ({shown})" if shown else WORDS[self.word]


def diagnose_task(observed: Observed, *, level: float = LEVEL) -> Diagnosis:
    """Find the word for the answers to a task.

    Parameters
    ----------
    observed : Observed
        The answers, read.
    level : float, default 1e-3
        Probability that a faithful and independent sampler is given any word, in (0, 1).

    Returns
    -------
    Diagnosis
        The first word of `WORDS` that holds, and its evidence.

    Notes
    -----
    Four groups of tests share the level equally: the share of invalid answers, the order of the
    answers, the number of different values, and the fit to the law. Only when one of them rejects
    is a word given, the first in the order of `WORDS`: what comes earlier would mislead the later
    ones (answers that depend on each other seem shifted, rounded ones seem to have a shape). A
    correction is believed when the corrected answers pass all tests at .01.
    """
    if not 0 < level < 1:
        raise InputError("level", "lie strictly between 0 and 1", level)
    share = level / N_GROUPS
    n, n_valid = observed.n_slots, observed.valid.size
    invalid = _tail(n - n_valid, n)
    if invalid <= share:
        lost = {"invalid": float(n - n_valid), "answers": float(n), "p": invalid}
        return Diagnosis(observed.task.id, "format", lost)
    if n_valid < FEWEST:
        return Diagnosis(observed.task.id, "too few", {"valid": float(n_valid)})
    if observed.task.support == "nominal":
        return _labels(observed, share)
    return _numbers(observed, share)


def _numbers(observed: Observed, share: float) -> Diagnosis:
    target = cast("NumericTarget", observed.task.target)
    x = np.clip(observed.valid, -_LARGEST, _LARGEST)
    v = stream("pit", observed.task.id).random(observed.n_slots)[observed.is_valid]
    order = independence_test(x, pit=fit.pit(target, x, v), level=share)
    n_off = observed.n_off_support

    def found(word: Word, evidence: Mapping[str, float]) -> Diagnosis:
        return Diagnosis(observed.task.id, word, evidence, order)

    off = {"off-support": float(n_off), "answers": float(x.size)}
    if _tail(n_off, x.size) <= share:
        return found("off-support", off)
    if order.verdict == "dependent":
        return found("order", _order_evidence(order))
    inside = target.contains(x)
    word, evidence = _against_law(target, x[inside], v[inside], share)
    if word == "none" and n_off:
        return found("off-support", off)
    return found(word, evidence)


def _against_law(
    target: NumericTarget, x: Floats, v: Floats, share: float
) -> tuple[Word, Mapping[str, float]]:
    values = occupancy(_loose(target, x), own_cells(target))
    pvalues = fit.tested(fit.pit(target, x, v))
    is_few, is_off = values.pvalue <= share, fit.joint(pvalues) <= share
    if not is_few and not is_off:
        return "none", {}
    step = lattice_step(x)
    if step is not None and is_finer(target, step) and _is_rounded(target, x, v, step):
        return "rounding", {"step": step, "step / IQR": step / fit.width(target)}
    if is_few:
        return "collapse", _value_evidence(values)
    return _corrected(target, x, v, pvalues)


def _corrected(
    target: NumericTarget, x: Floats, v: Floats, pvalues: Mapping[str, float]
) -> tuple[Word, Mapping[str, float]]:
    """Name the smallest correction after which answers off their law fit it."""
    evidence = {"p": fit.joint(pvalues)}
    moved = fit.shifted(target, x, v)
    if moved.fits:
        return "shift", {"shift / IQR": moved.shift, **evidence}
    wider = fit.stretched(target, x, v)
    if wider.fits:
        return "scale", {"ratio": wider.ratio, "shift / IQR": wider.shift, **evidence}
    if any(fit.has_wrong_tails(fit.pit(target, y, v)) for y in (x, wider.corrected)):
        return "tails", {"kurtosis p": pvalues["kurtosis"], "ratio": wider.ratio, **evidence}
    return "shape", pvalues


def _loose(target: NumericTarget, x: Floats) -> Floats:
    """Leave out answers at the atoms of a mixed law, where equal answers are the rule."""
    if target.support != "mixed":
        return x
    loose = x[target.cdf(x) - target.cdf_left(x) <= 0]
    return loose if loose.size else np.zeros(1)


def _is_rounded(target: NumericTarget, x: Floats, v: Floats, step: float) -> bool:
    if not fit.fits(target, x, v, step=step):
        return False
    cells = rounded_cells(target, step)
    return occupancy(x, cells).pvalue > fit.ENOUGH


def _labels(observed: Observed, share: float) -> Diagnosis:
    target = cast("NominalTarget", observed.task.target)
    probabilities = np.asarray(target.probabilities)
    x = observed.valid.astype(np.int64)
    order = independence_test(x, level=share)

    def found(word: Word, evidence: Mapping[str, float]) -> Diagnosis:
        return Diagnosis(observed.task.id, word, evidence, order)

    if order.verdict == "dependent":
        return found("order", _order_evidence(order))
    values = occupancy(x.astype(np.float64), probabilities)
    if values.pvalue <= share:
        return found("collapse", _value_evidence(values))
    if observed.task.answer.kind == "permutation" and np.ptp(probabilities) == 0:
        pvalue = permutation_test_uniform(np.array(target.outcomes)[x]).pvalue
    else:
        counts = np.bincount(x, minlength=probabilities.size)
        tested = multinomial_test(counts, probabilities, alpha=share, n_resamples=N_RESAMPLES)
        pvalue = float(tested.pvalue)
    return found("shape", {"p": pvalue}) if pvalue <= share else found("none", {})


def _order_evidence(order: IndependenceResult) -> Mapping[str, float]:
    period = {} if order.period is None else {"period": float(order.period)}
    return {**period, "lag-1": order.lag1, "p": order.pvalue}


def _value_evidence(values: Occupancy) -> Mapping[str, float]:
    return {
        "different": float(values.n_distinct),
        "expected": values.expected,
        "top share": values.top_share,
        "p": values.pvalue,
    }


def _tail(count: int, n: int) -> float:
    """Return P(at least `count` of n) at the tolerated share."""
    from scipy.special import bdtrc  # noqa: PLC0415 - keeps the package's import light

    return 1.0 if count == 0 else float(bdtrc(count - 1, n, TOLERATED))
