"""SciPy's distributions, of both its kinds, as the tests ask a law."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeGuard

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.records import NumericTarget
from unpredictabench.stats._levels import SAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

DISCRETE_CLASS: Final = "DiscreteDistribution"
"""The class that SciPy's newer discrete distributions are made from (SciPy 1.15)."""

MOST_SUMMED: Final = 10_000_000
"""Probabilities of single values that are added up at most."""


class HasCdf(Protocol):
    """Any object with a cdf, such as SciPy's frozen distributions."""

    def cdf(self, x: Any, /) -> Any:
        """Return P(X <= x)."""
        ...


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution that is not one of ours: both limits of its cdf, and its quantiles."""

    cdf: Callable[[Any], Any]
    cdf_left: Callable[[Any], Any]
    ppf: Callable[[Any], Any]
    support: Literal["continuous", "discrete"]


def is_distribution(target: object) -> TypeGuard[HasCdf]:
    """Tell whether something has a cdf and is no family whose parameters are still open."""
    return hasattr(target, "cdf") and not isinstance(target, type) and not hasattr(target, "freeze")


def opened(distribution: HasCdf, name: str = "target") -> Distribution | Callable[[Any], Any]:
    """Return what the tests need of a distribution; where it has no quantiles, its cdf alone.

    Parameters
    ----------
    distribution : HasCdf
        SciPy's frozen distributions, its newer random variables, or anything with a cdf. What has
        a `pmf` and no `pdf` is discrete.
    name : str, default "target"
        What the caller calls it.

    Raises
    ------
    InputError
        When SciPy would add up more than ten million probabilities to know the law's tail.
    """
    cdf, kind = distribution.cdf, type(distribution)
    ppf = getattr(distribution, "ppf", None) or getattr(distribution, "icdf", None)
    if ppf is None:
        return cdf
    if any(base.__name__ == DISCRETE_CLASS for base in kind.__mro__):
        # The newer ones are right at whole numbers only.
        at_whole = partial(_at, cdf, np.floor)
        return Distribution(
            at_whole, partial(_at, cdf, lambda x: np.ceil(x) - 1.0), ppf, "discrete"
        )
    if hasattr(distribution, "pmf") and not hasattr(distribution, "pdf"):
        _refuse_endless(distribution, name)
        below = partial(_at, cdf, lambda x: np.nextafter(x, -np.inf))
        return Distribution(cdf, below, partial(_quantiles, ppf, name), "discrete")
    return Distribution(cdf, cdf, ppf, "continuous")


def _refuse_endless(distribution: Any, name: str) -> None:
    """Raise for a law whose quantiles near 1 take SciPy more memory than there is.

    Without a cdf of its own, a discrete law of SciPy has the sum of its probabilities from the
    first value on, in an array; the quantiles of a heavy tail make that array endless.
    """
    family = type(getattr(distribution, "dist", None))
    bases = [base for base in family.__mro__ if base.__name__ == "rv_discrete"]
    if not bases or getattr(family, "_cdf", None) is not getattr(bases[0], "_cdf", None):
        return
    if not 1.0 - distribution.cdf(MOST_SUMMED) < SAME:
        rule = f"have a cdf of its own, or no tail beyond {MOST_SUMMED:,}: SciPy would add it up"
        raise InputError(name, rule, family.__name__)


def with_quantiles(target: NumericTarget | HasCdf) -> NumericTarget | Distribution:
    """Return a law that has both limits of its cdf and quantiles; refuse what has none."""
    if isinstance(target, NumericTarget):
        return target
    law = opened(target) if is_distribution(target) else None
    if not isinstance(law, Distribution):
        rule = "be a law with quantiles (a target, or a frozen distribution)"
        raise InputError("target", rule, target)
    return law


def _quantiles(ppf: Callable[[Any], Any], name: str, q: NDArray[np.float64]) -> Any:
    try:
        return ppf(q)
    except RuntimeError as error:  # SciPy gives up on levels that a heavy tail reaches too late
        raise InputError(name, "have a quantile for every level", str(error)) from error


def _at(
    cdf: Callable[[Any], Any], move: Callable[[Any], Any], x: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.asarray(cdf(move(np.asarray(x, dtype=np.float64))))
