"""What a KS test can see: its exact power, the smallest visible effect, the answers needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from unpredictabench import _native
from unpredictabench.errors import InputError
from unpredictabench.stats import _options as options
from unpredictabench.stats._bands import law_bands
from unpredictabench.stats._distributions import Distribution, HasCdf, with_quantiles
from unpredictabench.stats._ks1 import tails
from unpredictabench.stats._laws import law_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unpredictabench.records import NumericTarget

    Floats: TypeAlias = NDArray[np.float64]
    Quantified: TypeAlias = NumericTarget | Distribution

Effect: TypeAlias = Literal["shift", "scale", "narrowing", "rounding"]
Alternative: TypeAlias = Effect | Callable[["NDArray[np.float64]"], "NDArray[np.float64]"]

MOST_ANSWERS: Final = 10_000
"""Largest N; the exact null has the same limit."""
_TRIALS: Final = (24, 8, 8, 8)
"""Sizes of an effect tried at once, round by round; each narrows the bracket by as much."""
_LEAST_LEVEL: Final = 1e-15
_PLACES: Final = 4095
"""Quantiles at which two cdfs are compared."""
_NOTHING: Final = 1e-12
"""Largest distance of two cdfs that 10,000 answers cannot show, at so many places."""
_RANGES: Final[dict[str, tuple[float, float]]] = {
    "shift": (1e-3, 1e3),
    "scale": (1.001, 1e6),
    "narrowing": (1e-9, 0.999),
    "rounding": (1e-2, 1e3),
}
"""Sizes that are looked at: shift and rounding in interquartile ranges, the others as ratios."""


@dataclass(frozen=True, slots=True)
class PowerResult:
    """What a test of n answers sees.

    Parameters
    ----------
    n : int
        Answers.
    alternative : str
        The kind of effect.
    effect : float or None
        Its size, given or found; None where no size is seen (`reason` says why).
    power : float or None
        Probability that the test rejects at that size, in [0, 1].
    size : float
        Probability that it rejects faithful answers: the largest attainable level up to alpha.
    critical_value : float
        Distance from which on it rejects; above 1 for never.
    reason : str or None
        Why there is no effect.
    """

    n: int
    alternative: str
    effect: float | None
    power: float | None
    size: float
    critical_value: float
    reason: str | None = None


def power(
    target: NumericTarget | HasCdf,
    n: int,
    alternative: Alternative = "shift",
    effect: float | None = None,
    *,
    alpha: float = 1e-4,
    least_power: float = 0.8,
) -> PowerResult:
    """Compute the power of the KS test at an effect, or find the smallest effect it sees.

    Parameters
    ----------
    target : NumericTarget or HasCdf
        The law under the null hypothesis: a target, or a frozen distribution of SciPy.
    n : int
        Answers, from 1 to 10,000.
    alternative : {"shift", "scale", "narrowing", "rounding"} or callable
        How the answers differ from the target: moved by `effect` interquartile ranges; stretched
        about the median by the ratio `effect`; pulled towards it; rounded to multiples of `effect`
        interquartile ranges. Or the cdf of the answers, then without `effect`.
    effect : float, optional
        Size of the effect. Without it, the smallest that is seen with `least_power`.
    alpha : float, default 1e-4
        Level, in (0, 1).
    least_power : float, default 0.8
        Power asked for, in (0, 1).

    Returns
    -------
    PowerResult
        The effect, the power at it, and the attainable size of the test.

    Raises
    ------
    InputError
        If an argument breaks a rule above.

    Notes
    -----
    Exact: the probability that the order statistics of n answers cross the boundary of the test,
    by the recurrence of its null with the boundary mapped through the cdf of the answers [1]_ [2]_,
    for laws with and without atoms. The smallest effect is the first on a grid of sizes with the
    power asked for, the grid refined three times (to .3 % or better); for rounding the power is
    not monotone in the step, and where the lattice lies matters too. Laws of whole numbers are
    moved, stretched and rounded to whole numbers. Where the interquartile range is 0, the distance
    between the quantiles .01 and .99 takes its place, or 1.

    References
    ----------
    .. [1] L. J. Gleser, "Exact power of goodness-of-fit tests of Kolmogorov type for discontinuous
       distributions", 1985, doi:10.1080/01621459.1985.10478210
    .. [2] M. Noé, "The calculation of distributions of two-sided Kolmogorov-Smirnov type
       statistics", 1972, doi:10.1214/aoms/1177692700

    Examples
    --------
    >>> from unpredictabench.targets import target_from_spec
    >>> law = target_from_spec({"family": "normal", "params": {"mean": 0, "sd": 1}})
    >>> round(power(law, 100, "shift").effect, 2)
    0.42
    """
    _checked(n, alpha, least_power)
    law = with_quantiles(target)
    test = _Test(law, n, alpha)
    if callable(alternative):
        if effect is not None:
            raise InputError("effect", "be left out beside a cdf", effect)
        found = test.powers([alternative])
        return PowerResult(n, "cdf", None, float(found[0]), test.size, test.critical)
    name = _known(alternative)
    if effect is not None:
        seen = float(test.powers_of(name, np.array([_sized(effect)]))[0])
        return PowerResult(n, name, float(effect), seen, test.size, test.critical)
    smallest, seen = _smallest(test, name, least_power)
    if smallest is None:
        reason = f"no {name} is seen with power {least_power:g}"
        return PowerResult(n, name, None, None, test.size, test.critical, reason)
    if name in {"shift", "rounding"} and _is_whole(law):
        unit = spread_of(law)
        smallest = _snapped(smallest * unit) / unit
    return PowerResult(n, name, smallest, seen, test.size, test.critical)


def answers_needed(
    target: NumericTarget | HasCdf,
    alternative: Effect,
    effect: float,
    *,
    alpha: float = 1e-4,
    least_power: float = 0.8,
) -> int | None:
    """Find how many answers the KS test needs to see an effect.

    Parameters
    ----------
    target, alternative, effect, alpha, least_power
        As for `power`.

    Returns
    -------
    int or None
        The smallest N with the power asked for; None if more than 10,000 are needed.

    Notes
    -----
    Found by doubling, then halving the bracket; the power rises with N but for small steps back
    where the attainable levels jump, so that a smaller N may, barely, do too.

    Examples
    --------
    >>> from unpredictabench.targets import target_from_spec
    >>> law = target_from_spec({"family": "normal", "params": {"mean": 0, "sd": 1}})
    >>> answers_needed(law, "shift", 0.5)
    70
    """
    name = _known(alternative)
    _checked(1, alpha, least_power)
    size, law = _sized(effect), with_quantiles(target)
    if least_power > 2 * alpha and _is_nothing(law, altered(law, name, size)):
        return None

    def is_seen(n: int) -> bool:
        seen = _Test(law, n, alpha).powers_of(name, np.array([size]))
        return bool(seen[0] >= least_power)

    low, high = 0, 1
    while not is_seen(high):
        if high == MOST_ANSWERS:
            return None
        low, high = high, min(2 * high, MOST_ANSWERS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_seen(middle) else (middle, high)
    return high


def _is_nothing(target: Quantified, cdf: Callable[[Floats], Floats]) -> bool:
    """Tell whether answers of a cdf differ from a target by so little that no test sees it."""
    x = target.ppf(np.linspace(0, 1, _PLACES + 2)[1:-1])
    return bool(np.abs(cdf(x) - target.cdf(x)).max() <= _NOTHING)


class _Test:
    """The KS test of n answers against a law at a level."""

    def __init__(self, target: Quantified, n: int, alpha: float) -> None:
        sizes = np.array([n], dtype=np.int64)
        law = law_of(target)
        self.target, self.n = target, n
        self.critical = float(law_bands(law, sizes, alpha, None)[0])
        d = np.array([self.critical])
        self.size = float(tails(law, sizes, d)[0][0]) if self.critical <= 1 else 0.0
        j = np.arange(1, n + 1)
        # Too many answers at or below x: x up to where the law's cdf passes j/n - d. Too few:
        # from where it reaches (j - 1)/n + d.
        self._over = _quantiles(target, j / n - self.critical)
        self._under = _quantiles(target, (j - 1) / n + self.critical)

    def powers(self, cdfs: list[Callable[[Floats], Floats]]) -> Floats:
        """Return the probability to reject answers of each cdf, given at and just below x."""
        below, above = [], []
        for cdf in cdfs:
            below.append(_levels(cdf, self._over, is_left=True))
            above.append(_levels(cdf, self._under, is_left=False))
        cuts = self.n * np.arange(len(cdfs) + 1, dtype=np.int64)
        rows = np.ascontiguousarray(np.concatenate(below)), cuts
        p, _ = _native.ks_1samp_stepped(
            rows, np.ascontiguousarray(np.concatenate(above)), "two-sided", None
        )
        return np.clip(p, 0.0, 1.0)

    def powers_of(self, name: Effect, effects: Floats) -> Floats:
        """Return the power at each size of an effect."""
        return self.powers([altered(self.target, name, effect) for effect in effects.tolist()])


def altered(target: Quantified, name: Effect, effect: float) -> Callable[[Floats], Floats]:
    """Return the cdf of answers that differ from a target by an effect of some size."""
    if not np.isfinite(effect) or (effect <= 0 and name != "shift"):
        raise InputError("effect", "be finite, and above 0 unless it is a shift", effect)
    unit, median = spread_of(target), float(target.ppf(0.5))
    # Whole answers stay whole: off the lattice any test sees them at once.
    is_whole = _is_whole(target)
    if name == "shift":
        move = _snapped(effect * unit) if is_whole and effect else effect * unit
        return lambda x: target.cdf(x - move)
    if name == "rounding":
        step = _snapped(effect * unit) if is_whole else effect * unit
        return lambda x: target.cdf_left((np.floor(x / step) + 0.5) * step)
    if is_whole:
        return lambda x: target.cdf_left(median + (np.floor(x) + 0.5 - median) / effect)
    return lambda x: target.cdf(median + (x - median) / effect)


def _snapped(size: float) -> float:
    """Return the whole number nearest to a size, but not 0."""
    return float(np.copysign(max(1.0, np.rint(abs(size))), size))


def _is_whole(target: Quantified) -> bool:
    if target.support != "discrete":
        return False
    values = target.ppf(np.linspace(0.01, 0.99, 25))
    return bool((values == np.rint(values)).all())


def spread_of(target: Quantified) -> float:
    """Return the interquartile range; where that is 0 the range from .01 to .99, or 1."""
    low, first, third, high = target.ppf([0.01, 0.25, 0.75, 0.99]).tolist()
    return float((third - first) or (high - low) or 1.0)


def _quantiles(target: Quantified, levels: Floats) -> Floats:
    """Return quantiles, NaN where the level is outside of (0, 1)."""
    is_inside = (levels > 0) & (levels < 1)
    found = np.full(levels.shape, np.nan)
    found[is_inside] = target.ppf(levels[is_inside])
    return found


def _levels(cdf: Callable[[Floats], Floats], x: Floats, *, is_left: bool) -> Floats:
    """Return a cdf, or its limit from below, at `x`; NaN stays NaN."""
    at = np.nextafter(x, -np.inf) if is_left else x
    levels = np.full(x.shape, np.nan)
    is_there = ~np.isnan(x)
    # The kernel takes levels for steps inside of (0, 1).
    found = np.asarray(cdf(at[is_there]), dtype=np.float64)
    if found.shape != (int(is_there.sum()),) or np.isnan(found).any():
        raise InputError("alternative", "be a cdf that gives a level for every value", found)
    levels[is_there] = np.clip(found, _LEAST_LEVEL, 1 - _LEAST_LEVEL)
    return levels


def _smallest(test: _Test, name: Effect, least: float) -> tuple[float | None, float]:
    """Find the first size of an effect on a refined grid from which on it is seen."""
    low, high = _RANGES[name]
    if name == "narrowing":
        low, high = high, low
    seen = 0.0
    for count in _TRIALS:
        grid = np.geomspace(low, high, count)
        powers = test.powers_of(name, grid)
        is_seen = powers >= least
        if not is_seen.any():
            return None, 0.0
        first = int(np.argmax(is_seen))
        seen = float(powers[first])
        if first == 0:
            return float(grid[0]), seen
        low, high = float(grid[first - 1]), float(grid[first])
    return high, seen


def _known(alternative: object) -> Effect:
    if not isinstance(alternative, str) or alternative not in get_args(Effect):
        names = ", ".join(get_args(Effect))
        raise InputError("alternative", f"be one of {names}, or a cdf", alternative)
    return alternative  # type: ignore[return-value]  # checked in the line above


def _sized(effect: object) -> float:
    return options.real("effect", effect, "be finite, and above 0 unless it is a shift")


def _checked(n: int, alpha: float, least_power: float) -> None:
    options.whole("n", n, 1, MOST_ANSWERS)
    options.level("alpha", alpha)
    options.level("least_power", least_power)
