"""Pools of answers beside what they are compared with: a law, or draws from it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from unpredictabench import _native
from unpredictabench.stats._arrays import EMPTY, Empty, Pairs, Samples, pairs, refuse_empty, samples
from unpredictabench.stats._bands import law_bands, truth_bands
from unpredictabench.stats._ks import ks_2samp
from unpredictabench.stats._ks1 import cdf_values, ks_1samp, small_chunks
from unpredictabench.stats._laws import Floats, Law, laws_of
from unpredictabench.stats._options import choice, counted, invalid_counts, threads
from unpredictabench.stats._ragged import RaggedArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from unpredictabench.stats._ragged import SampleLike

Integers: TypeAlias = "NDArray[np.int64]"


class Pools(Protocol):
    """What an estimate of KS@N needs of its pools."""

    @property
    def x(self) -> Samples:
        """The valid answers, one pool a row."""

    @property
    def invalid(self) -> Integers:
        """Invalid answers of each pool."""

    def bands(self, n: Integers, alpha: float) -> tuple[Floats, str]:
        """Return critical distances of shape (pools, n), and the null they come from."""

    def shares(self, n: Integers, alpha: float) -> tuple[Floats, Floats]:
        """Return shares of passing subsets of shape (pools, n), and their standard errors."""

    def lacks_truth(self) -> NDArray[np.bool_]:
        """Tell which pools have nothing to be compared with."""

    def pvalues(self, answers: Any, n_invalid: Integers) -> Floats:
        """Test whole rows of answers (None: the pools themselves)."""


def pools_of(
    x: SampleLike, y_or_target: Any, *, n_invalid: int | ArrayLike, workers: int | None
) -> Pools:
    """Open pools and what they are compared with."""
    workers = threads(workers)
    if _is_law(y_or_target):
        opened = samples(x, name="x", allow_empty=True)
        laws = laws_of(y_or_target, len(opened), is_single=opened.is_single)
        invalid = invalid_counts(n_invalid, len(opened))
        return LawPools(opened, invalid, x, laws, y_or_target, workers)
    both = pairs(x, y_or_target, allow_empty=True)
    invalid = invalid_counts(n_invalid, len(both))
    return TruthPools(both.x, invalid, x, both, y_or_target, workers)


def refuse_nothing(pools: Pools, empty: Empty, n_invalid: int | ArrayLike) -> None:
    """Refuse pools without any answer, valid or not, and truths without draws."""
    if choice("empty", empty, EMPTY) == "nan":
        return
    answers = pools.x.lengths()
    lost = counted("n_invalid", n_invalid)
    # One number, one a row, or (first answers) one a row and N.
    each = np.broadcast_to(lost, answers.shape) if lost.ndim == 0 else lost
    if each.size % max(answers.size, 1) == 0:
        answers = answers + each.reshape(answers.size, -1).sum(axis=1)
    refuse_empty(pools.x, answers == 0)
    if isinstance(pools, TruthPools) and isinstance(pools.both.y, Samples):
        refuse_empty(pools.both.y, pools.lacks_truth())


def _is_law(y_or_target: object) -> bool:
    if isinstance(y_or_target, list | tuple) and y_or_target:
        return _is_law(y_or_target[0])
    return callable(y_or_target) or hasattr(y_or_target, "cdf")


@dataclass(frozen=True, slots=True, eq=False)
class LawPools:
    """Pools compared with laws."""

    x: Samples
    invalid: Integers
    original: Any
    laws: Law | list[Law]
    target: Any
    workers: int | None

    def bands(self, n: Integers, alpha: float) -> tuple[Floats, str]:
        """Return critical distances of shape (pools, n), and the null they come from."""
        shape = (len(self.x), n.size)
        if isinstance(self.laws, Law):
            shared = law_bands(self.laws, n, alpha, self.workers)
            return np.broadcast_to(shared, shape).copy(), "law"
        each = [law_bands(law, n, alpha, self.workers) for law in self.laws]
        return np.array(each, dtype=np.float64).reshape(shape), "law"

    def lacks_truth(self) -> NDArray[np.bool_]:
        """Tell which pools have nothing to be compared with: none."""
        return np.zeros(len(self.x), dtype=np.bool_)

    def shares(self, n: Integers, alpha: float) -> tuple[Floats, Floats]:
        """Return shares of passing subsets of shape (pools, n), and their standard errors."""
        distances = self.bands(n, alpha)[0]
        rate, error = np.empty(distances.shape), np.empty(distances.shape)
        for rows, values, cuts in small_chunks(self.x):
            found = _native.subset_shares_law(
                (values, cuts),
                *cdf_values(self.laws, rows, values, cuts),
                self.invalid[rows],
                n,
                distances[rows].reshape(-1),
                self.workers,
            )
            rate[rows], error[rows] = (part.reshape(-1, n.size) for part in found)
        return rate, error

    def pvalues(self, answers: Any, n_invalid: Integers) -> Floats:
        """Test whole rows of answers (None: the pools themselves)."""
        found = ks_1samp(
            self.original if answers is None else answers,
            self.target,
            n_invalid=int(n_invalid[0]) if self.x.is_single else n_invalid,
            empty="nan",
            workers=self.workers,
        )
        return np.atleast_1d(found.pvalue)


@dataclass(frozen=True, slots=True, eq=False)
class TruthPools:
    """Pools compared with draws."""

    x: Samples
    invalid: Integers
    original: Any
    both: Pairs
    truth: Any
    workers: int | None

    def lacks_truth(self) -> NDArray[np.bool_]:
        """Tell which pools have nothing to be compared with."""
        if isinstance(self.both.y, _native.Truth):
            return np.zeros(len(self.x), dtype=np.bool_)
        return np.asarray(self.both.y.lengths() == 0)

    def _heights(self, n: Integers, alpha: float) -> tuple[Integers, Integers, str]:
        """Return integer bands of shape (truths, n), the truths' sizes, and the null."""
        counts = self._cumulative_counts()
        each = [
            truth_bands(count, n, alpha, self.workers) if count.size else None for count in counts
        ]
        nothing = np.zeros(n.size, dtype=np.int64)
        heights = np.array([band[0] if band else nothing for band in each], dtype=np.int64)
        names = {band[1] for band in each if band}
        sizes = np.array([count[-1] if count.size else 0 for count in counts], dtype=np.int64)
        heights = heights.reshape(-1, n.size)
        return heights, sizes, names.pop() if len(names) == 1 else "fixed_band"

    def _cumulative_counts(self) -> list[Integers]:
        if isinstance(self.both.y, _native.Truth):
            return [_cumulative_counts(self.both.y.sorted)]
        return [
            _cumulative_counts(values[start:end])
            for _, (values, cuts) in self.both.y.chunks()
            for start, end in pairwise(cuts)
        ]

    def bands(self, n: Integers, alpha: float) -> tuple[Floats, str]:
        """Return critical distances of shape (pools, n), and the null they come from."""
        heights, sizes, method = self._heights(n, alpha)
        # A truth without draws has no band: NaN.
        critical = heights / (n * np.where(sizes > 0, sizes, np.nan)[:, None])
        return np.broadcast_to(critical, (len(self.x), n.size)).copy(), method

    def shares(self, n: Integers, alpha: float) -> tuple[Floats, Floats]:
        """Return shares of passing subsets of shape (pools, n), and their standard errors."""
        shape = (len(self.x), n.size)
        heights = np.broadcast_to(self._heights(n, alpha)[0], shape)
        rate, error = np.empty(shape), np.empty(shape)
        for rows, answers, truths in self.both.chunks():
            found = _native.subset_shares_truth(
                answers,
                truths,
                self.invalid[rows],
                n,
                np.ascontiguousarray(heights[rows]).reshape(-1),
                self.workers,
            )
            rate[rows], error[rows] = (part.reshape(-1, n.size) for part in found)
        return rate, error

    def pvalues(self, answers: Any, n_invalid: Integers) -> Floats:
        """Test whole rows of answers (None: the pools themselves)."""
        found = ks_2samp(
            self.original if answers is None else answers,
            self.truth,
            n_invalid=int(n_invalid[0]) if self.x.is_single else n_invalid,
            empty="nan",
            workers=self.workers,
        )
        return np.atleast_1d(found.pvalue)


def first_answers(x: Samples, wanted: Integers) -> Any:
    """Return the first answers of every row, where there are as many as wanted; else none."""
    parts = []
    for rows, (values, cuts) in x.chunks():
        for (start, end), size in zip(pairwise(cuts), wanted[rows], strict=True):
            parts.append(values[start : start + size] if 0 <= size <= end - start else values[:0])
    return parts[0] if x.is_single else RaggedArray.from_rows(parts)


def _cumulative_counts(draws: Floats) -> Integers:
    """Count the draws at or below each distinct value."""
    return np.cumsum(np.unique(draws, return_counts=True)[1])
