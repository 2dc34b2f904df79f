"""What every law has: its spec, its content hash and its remembered draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.streams import stream
from unpredictabench.targets import cache
from unpredictabench.targets.canonical import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from unpredictabench.records import Support


class Law(ABC):
    """A law with a spec.

    Parameters
    ----------
    spec : mapping
        The law as plain JSON data, already validated.
    support : {"continuous", "discrete", "mixed", "nominal"}
        Kind of support.
    """

    is_exact = True
    """Whether the law itself is known; False where only draws from it are."""
    _given: NDArray[np.generic] | None = None

    def __init__(self, spec: Mapping[str, object], support: Support) -> None:
        self._spec, self._support = spec, support

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._support} {dict(self._spec)}>"

    @property
    def spec(self) -> Mapping[str, object]:
        """The law as plain JSON data; `target_from_spec` rebuilds it."""
        return self._spec

    @property
    def support(self) -> Support:
        """Kind of support."""
        return self._support

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON of the spec."""
        return content_hash(self._spec)

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.generic]:
        """Draw independent observations.

        Parameters
        ----------
        size : int
            How many, at least 0.
        rng : numpy.random.Generator
            Where the randomness comes from.

        Returns
        -------
        numpy.ndarray
            float64 values, or int64 indices into `outcomes` for nominal laws.
        """
        return self._sample(_count("size", size, least=0), rng)

    def draws(self, m: int, stream_name: str) -> NDArray[np.generic]:
        """Draw from the stream of a name, remembered on disk by content.

        Parameters
        ----------
        m : int
            How many, at least 1.
        stream_name : str
            Name of the stream; the same law, `m` and name give the same draws.

        Returns
        -------
        numpy.ndarray
            As from `sample`. Where draws came with the law they are returned, in their own order
            and never more than there are.
        """
        if self._given is not None:
            return self._given[: _count("m", m, least=1)]
        name = (stream_name, self.hash, _count("m", m, least=1))
        return cache.remembered(name, lambda: self._sample(name[2], stream(*name)))

    def with_draws(self, values: NDArray[np.generic], spec: Mapping[str, object]) -> Self:
        """Return the same law with draws that somebody else made, such as a published truth.

        Parameters
        ----------
        values : numpy.ndarray
            The draws: float64 values, or int64 indices into `outcomes` for nominal laws.
        spec : mapping
            The spec of both.
        """
        twin = copy(self)
        twin.__dict__.pop("hash", None)
        twin._spec, twin._given = spec, values  # noqa: SLF001 - another object of this class
        return twin

    @abstractmethod
    def _sample(self, size: int, rng: np.random.Generator) -> NDArray[np.generic]: ...


class NumericLaw(Law):
    """A law on the real line; subclasses give the functions with a leading underscore.

    Those receive one-dimensional float64 arrays without NaN or infinities (for `_ppf`, strictly
    between 0 and 1).

    Notes
    -----
    ``cdf_left(ppf(q)) <= q <= cdf(ppf(q))`` for every q in (0, 1): exactly at atoms; where the law
    is continuous, up to four floats beside the quantile and 1e-12 in the cdf. Between neighbouring
    floats a cdf may fall by 1e-14.
    """

    def cdf(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return P(X <= x); NaN for NaN."""
        return _applied(lambda v: self._settled(self._cdf(v), v), x, at_infinity=(0.0, 1.0))

    def cdf_left(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return P(X < x); NaN for NaN."""
        return _applied(lambda v: self._settled(self._cdf_left(v), v), x, at_infinity=(0.0, 1.0))

    def ppf(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return the smallest x with P(X <= x) >= q.

        Parameters
        ----------
        q : array_like
            Probabilities; 0 and 1 give the ends of the support, what lies outside [0, 1] NaN.

        Returns
        -------
        numpy.ndarray of float64
            Quantiles in the shape of `q`.
        """
        levels = np.asarray(q, dtype=np.float64)
        out = np.full(levels.shape, np.nan)
        out[levels == 0], out[levels == 1] = self.ends
        inside = (levels > 0) & (levels < 1)
        if inside.any():
            with np.errstate(all="ignore"):
                out[inside] = self._ppf(levels[inside])
        return out

    def levels(self, u: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the nearest values that the cdf takes or approaches, below and above `u`.

        Parameters
        ----------
        u : array_like
            Probabilities in [0, 1].

        Returns
        -------
        tuple of numpy.ndarray
            ``sup{s <= u}`` and ``inf{s >= u}`` over the closure of the range of the cdf; both are
            `u` itself where `u` is not inside a jump.
        """
        level = np.asarray(u, dtype=np.float64)
        if self.support == "continuous":
            return level.copy(), level.copy()
        if self._jumps is None:
            x = self.ppf(level)
            below, above = self.cdf_left(x), self.cdf(x)
        else:
            _, low, high = self._jumps
            place = np.minimum(np.searchsorted(high, level, side="left"), high.size - 1)
            below, above = low[place], high[place]
        is_inside = (below < level) & (level < above)
        return np.where(is_inside, below, level), np.where(is_inside, above, level)

    def pmf(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return P(X = x), which is 0 everywhere for a continuous law."""
        return _applied(lambda v: np.nan_to_num(self._pmf(v), nan=0.0), x)

    def pdf(self, x: ArrayLike) -> NDArray[np.float64] | None:
        """Return the density of the continuous part; None for a discrete law."""
        if self.support == "discrete":
            return None
        return _applied(lambda v: np.nan_to_num(self._pdf(v), nan=0.0, posinf=np.inf), x)

    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        """Tell which values lie in the (closed) support; infinities never do."""
        values = np.asarray(x, dtype=np.float64)
        return np.asarray(np.isfinite(values) & self._contains(values), dtype=np.bool_)

    @property
    @abstractmethod
    def ends(self) -> tuple[float, float]:
        """Lower and upper end of the support, which may be infinite."""

    @cached_property
    def _jumps(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None:
        """Every atom with the cdf before and at it; None where they are too many to list."""
        with np.errstate(all="ignore"):
            atoms = self._atoms()
        if atoms is None or atoms.size == 0:
            return None
        return atoms, self.cdf_left(atoms), self.cdf(atoms)

    @property
    def mean(self) -> float | None:
        """Expectation; None where it does not exist or is infinite."""
        return self._moments[0]

    @property
    def std(self) -> float | None:
        """Standard deviation; None where it does not exist or is infinite."""
        return self._moments[1]

    @property
    @abstractmethod
    def _moments(self) -> tuple[float | None, float | None]: ...

    def _settled(self, levels: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Fill in 0 or 1 where a formula overflowed to NaN, which only far tails do."""
        is_lost = np.isnan(levels)
        if not is_lost.any():
            return levels
        return np.where(is_lost, np.where(x > self.ppf(0.5), 1.0, 0.0), levels)

    @abstractmethod
    def _cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]: ...

    @abstractmethod
    def _ppf(self, q: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def _atoms(self) -> NDArray[np.float64] | None:
        """Return every atom in order, or None where they are too many to list."""
        return np.empty(0)

    def _cdf_left(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._cdf(x)

    def _pmf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.zeros_like(x)

    def _pdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.zeros_like(x)

    def _contains(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        low, high = self.ends
        return np.asarray((low <= x) & (x <= high))


def existing(mean: float, std: float) -> tuple[float | None, float | None]:
    """Return two moments as floats, None in place of one that is not finite."""
    return (
        float(mean) if np.isfinite(mean) else None,
        float(std) if np.isfinite(std) else None,
    )


def smallest(
    cdf: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    q: NDArray[np.float64],
    *,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the smallest floats at which a cdf reaches `q`, by bisection over the floats.

    Parameters
    ----------
    cdf : callable
        Monotone, on arrays.
    q : numpy.ndarray
        Levels in (0, 1).
    low, high : numpy.ndarray
        Brackets: the answer lies in [low, high].

    Notes
    -----
    The order of floats is the order of their bits read as integers, so 64 halvings reach the
    last bit at any magnitude.
    """
    left, right = _to_keys(low) - 1, _to_keys(high)
    while True:
        middle = (left & right) + ((left ^ right) >> 1)
        is_open = middle != left
        if not is_open.any():
            return _from_keys(right)
        reaches = cdf(_from_keys(middle)) >= q
        right = np.where(reaches & is_open, middle, right)
        left = np.where(reaches, left, middle)


def _to_keys(x: NDArray[np.float64]) -> NDArray[np.int64]:
    """Map floats to integers of the same order."""
    bits = np.asarray(x, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, -(bits & np.int64(2**63 - 1)))


def _from_keys(keys: NDArray[np.int64]) -> NDArray[np.float64]:
    sizes = np.abs(keys).view(np.float64)
    return np.where(keys >= 0, sizes, -sizes)


def _applied(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    x: ArrayLike,
    *,
    at_infinity: tuple[float, float] = (0.0, 0.0),
) -> NDArray[np.float64]:
    """Apply a function of finite numbers in a row to anything array-like; NaN stays NaN.

    Answers of models lie anywhere on the line: overflow on the way to a 0 or 1 is no news. Adding
    0.0 turns -0.0 into 0.0, whose reciprocal has the other sign.
    """
    values = np.asarray(x, dtype=np.float64)
    out = np.full(values.shape, np.nan)
    out[values == -np.inf], out[values == np.inf] = at_infinity
    is_finite = np.isfinite(values)
    if is_finite.any():
        with np.errstate(all="ignore"):
            out[is_finite] = function(values[is_finite] + 0.0)
    return out


def _count(name: str, value: object, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(name, f"be a whole number of at least {least}", value)
    return int(value)
