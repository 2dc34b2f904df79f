"""The user's own statistic, compiled by numba and called from the native loops without the GIL."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, TypeAlias

import numpy as np

from unpredictabench import _native
from unpredictabench.errors import InputError
from unpredictabench.stats import _options as options
from unpredictabench.stats._arrays import nonempty_samples
from unpredictabench.stats._distances import opened_pairs
from unpredictabench.stats._unraisable import refused_exceptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unpredictabench.stats._arrays import Empty, Pairs
    from unpredictabench.stats._ragged import SampleLike, TruthLike

Resampled: TypeAlias = Literal["x", "both", "labels"]

OF_TWO: Final = "float64(CPointer(float64), intp, CPointer(float64), intp)"
"""Signature of a statistic of two samples, as numba reads it."""
OF_ONE: Final = "float64(CPointer(float64), intp)"
"""Signature of a statistic of one sample."""


@dataclass(frozen=True, slots=True, eq=False)
class CompiledStatistic:
    """A statistic in machine code: a function, and a value for `statistic` parameters.

    Made by `from_cfunc`.

    Attributes
    ----------
    name : str
        What to call it.
    n_samples : {1, 2}
        How many samples it takes.
    cfunc : numba.core.ccallback.CFunc
        The compiled function, kept alive for as long as this object.
    native : Function
        Its address, for the native loops.
    """

    name: str
    n_samples: int
    cfunc: Any = field(repr=False)
    native: _native.Function = field(repr=False)

    def __call__(
        self,
        x: SampleLike,
        y: TruthLike | None = None,
        *,
        empty: Empty = "raise",
        workers: int | None = None,
    ) -> float | NDArray[np.float64]:
        """Compute the statistic of samples and their truths, or of samples alone.

        Parameters
        ----------
        x : array_like
            Observations: 1-d (one sample), 2-d or ragged (a batch, rows are samples); +-inf are
            values.
        y : array_like or PreparedTruth, optional
            Draws from the target: one truth for all rows, or one a row. None for a statistic of
            one sample.
        empty, workers
            As for `bootstrap_2samp`.

        Returns
        -------
        float or ndarray of shape (batch,)
            What the function returned, NaN included.

        Raises
        ------
        InputError
            When an argument breaks a rule above or holds NaN, or the function raises.
        """
        workers = options.threads(workers)
        if (y is None) != (self.n_samples == 1):
            rule = "be None: the statistic takes one sample" if self.n_samples == 1 else "be given"
            raise InputError("y", rule, y)
        found, is_single = (
            self._of_one(x, empty, workers) if y is None else self._of_two(x, y, empty, workers)
        )
        return float(found[0]) if is_single else found

    def _of_one(
        self, x: object, empty: Empty, workers: int | None
    ) -> tuple[NDArray[np.float64], bool]:
        opened = nonempty_samples(x, empty)
        found = np.empty(len(opened))
        with refused_exceptions(self.name):
            for rows, values in opened.chunks():
                found[rows] = _native.own_1samp(self.native, values, workers)
        return found, opened.is_single

    def _of_two(
        self, x: object, y: object, empty: Empty, workers: int | None
    ) -> tuple[NDArray[np.float64], bool]:
        opened, _ = opened_pairs(x, y, empty, allow_infinite=True)
        return self.of_pairs(opened, workers), opened.is_single

    def of_pairs(self, opened: Pairs, workers: int | None) -> NDArray[np.float64]:
        """Return the statistic of opened pairs, NaN where one of the two is empty."""
        found = np.empty(len(opened))
        with refused_exceptions(self.name):
            for rows, left, right in opened.chunks():
                found[rows] = _native.own_2samp(self.native, left, right, workers)
        return found

    def resamples(
        self, opened: Pairs, resample: str, n_resamples: int, *, seed: int, workers: int | None
    ) -> NDArray[np.float64]:
        """Return replicates of shape (pairs, n_resamples) of "x", "both", or permuted "labels"."""
        found = np.empty((len(opened), n_resamples))
        with refused_exceptions(self.name):
            for rows, left, right in opened.chunks():
                found[rows] = _native.own_resamples(
                    self.native, left, right, resample, n_resamples, (seed, rows.start), workers
                )
        return found

    def bootstrap(
        self,
        data: NDArray[np.float64],
        clusters: list[NDArray[np.intp]],
        n_resamples: int,
        seed: int,
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the statistic of one sample, its replicates, and its values without a cluster."""
        labels = np.empty(data.size, dtype=np.int64)
        for label, members in enumerate(clusters):
            labels[members] = label
        order = np.argsort(data, kind="stable")
        # Adding 0.0 makes -0.0 positive, as everywhere.
        values, labels = data[order] + 0.0, labels[order]
        observed = self(data)
        with refused_exceptions(self.name):
            replicates, jackknife = _native.own_bootstrap(
                self.native, values, labels, len(clusters), n_resamples, seed, None
            )
        assert isinstance(observed, float)
        return observed, replicates, jackknife if jackknife.size else np.zeros(1)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"cannot pickle {self.name}, machine code of this process: send the Python function, "
            "and compile it and call from_cfunc where it is used"
        )


def from_cfunc(cfunc: Any, name: str | None = None) -> CompiledStatistic:
    """Take a statistic that numba compiled into the native loops.

    Parameters
    ----------
    cfunc : numba cfunc
        A function compiled by ``numba.cfunc`` with the signature
        ``float64(CPointer(float64), intp, CPointer(float64), intp)``: the observations and their
        number, the truth's draws and theirs. ``float64(CPointer(float64), intp)`` for a statistic
        of one sample, as of `bootstrap`. ``numba.carray(pointer, n)`` makes arrays of them.
    name : str, optional
        What to call it in messages; the name of the function by default.

    Returns
    -------
    CompiledStatistic
        A function of samples (single or batched) and truths, and a value for the parameter
        `statistic` of `bootstrap`, `bootstrap_2samp` and `permutation_test_2samp`.

    Raises
    ------
    InputError
        When `cfunc` is no numba cfunc (a Python or njit function, a ctypes pointer), or has
        another signature.

    Notes
    -----
    A statistic is a function of two *sets* of values, and gets each set in ascending order,
    finite or infinite, never NaN, never empty, -0.0 as 0.0: in the data, in bootstrap replicates
    and under permuted labels. So it need not sort, and the order of observations changes nothing.
    What depends on order (an autocorrelation, a correlation of pairs) is no such function.

    A NaN that it returns is kept as the value of that row or replicate: intervals, errors and
    p-values that would need it are NaN. An exception inside of it (a division by zero, unless
    compiled with ``error_model="numpy"``; an index out of range under ``boundscheck``) cannot
    propagate; it is heard and becomes an `InputError` when the loop has ended. It is called from
    several threads at once, so it must be pure. Ctrl-C is seen between calls of it.

    The function is machine code and is trusted: it must read its arrays only within their lengths,
    and write to neither, for they are the caller's and shared by threads.

    Examples
    --------
    >>> import numba
    >>> @numba.cfunc("float64(CPointer(float64), intp, CPointer(float64), intp)")
    ... def gap(x, n, y, m):
    ...     return abs(x[n // 2] - y[m // 2])
    >>> statistic = from_cfunc(gap)
    >>> statistic([[3.0, 1.0, 2.0], [7.0, 9.0, 8.0]], [0.0, 1.0, 2.0])
    array([1., 7.])
    """
    from numba import types  # noqa: PLC0415 - a second, and only for those who have a cfunc
    from numba.core.ccallback import CFunc  # noqa: PLC0415 - the same

    is_cfunc = isinstance(cfunc, CFunc)
    if not is_cfunc:
        raise InputError("cfunc", f'be compiled by @numba.cfunc("{OF_TWO}")', cfunc)
    pointer: Any = types.CPointer
    values, size = pointer(types.float64), types.intp
    found = cfunc._sig  # noqa: SLF001 - numba gives the types by no other name
    known = {(values, size): 1, (values, size, values, size): 2}
    if found.return_type != types.float64 or found.args not in known:
        rule = f"have the signature {OF_TWO}, or {OF_ONE} for one sample"
        raise InputError("cfunc", rule, found)
    name = cfunc.__name__ if name is None else name
    if not isinstance(name, str) or not name:
        raise InputError("name", "be a name", name)
    n_samples = known[found.args]
    native = _native.Function(cfunc, cfunc.address, n_samples)
    return CompiledStatistic(name, n_samples, cfunc, native)


def is_compiled(statistic: object, n_samples: int) -> bool:
    """Whether a statistic runs in the native loops; refuse one of the wrong kind.

    A bare cfunc can be called too, but with pointers: as a Python function it would fail strangely.
    """
    if type(statistic).__module__.startswith("numba.core.ccallback"):
        raise InputError("statistic", "be wrapped: from_cfunc(cfunc)", statistic)
    if not isinstance(statistic, CompiledStatistic):
        return False
    if statistic.n_samples != n_samples:
        signature = OF_ONE if n_samples == 1 else OF_TWO
        raise InputError("statistic", f"have the signature {signature} here", statistic)
    return True
