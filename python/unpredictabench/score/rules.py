"""How a run is to be scored: sizes, level, protocol; checked once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from unpredictabench.errors import InputError

if TYPE_CHECKING:
    from unpredictabench.records import Reading

Protocol: TypeAlias = Literal["strict", "valid", "paper"]
SIZES: Final = (1, 2, 5, 10, 20, 50, 100)
"""The published sizes N (arXiv 2606.06622)."""
ALPHA: Final = 1e-4
"""The published level."""
MARGIN: Final = 0.25
"""Distance that still counts as equivalent: half of that of always answering the median, and the
smallest round one within which 100 faithful answers can be expected to be found (docs/score.md)."""
SMALLEST_MARGIN: Final = 1e-6
"""A smaller one would ask for more answers than any run can hold."""
LEVELS: Final = (0.05, 0.01, 1e-4)
"""Further levels at which the verdicts of whole samples are given."""
VACUOUS: Final = 1
"""At this N only an invalid, off-support or extreme answer can fail."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a run is scored.

    Parameters
    ----------
    n : tuple of int
        Sizes N at which KS@N is given, at least 1.
    alpha : float
        Level of the tests, in (0, 1).
    protocol : {"strict", "valid", "paper"}
        Invalid answers count against the model; or only valid answers are looked at, but N of
        them are demanded; or the published rule.
    mode : {"lenient", "strict"}
        The reading of the extractor.
    n_resamples : int
        Bootstrap replicates.
    confidence_level : float
        Coverage of the intervals, in (0, 1).
    margin : float
        Largest distance from the law that counts as equivalent, from 1e-6 and below 1.
    """

    n: tuple[int, ...] = SIZES
    alpha: float = ALPHA
    protocol: Protocol = "strict"
    mode: Reading = "lenient"
    n_resamples: int = 9999
    confidence_level: float = 0.95
    margin: float = MARGIN

    def __post_init__(self) -> None:
        sizes = self.n
        if not sizes or not all(_is_size(size) for size in sizes):
            raise InputError("n", "hold whole numbers of at least 1", sizes)
        object.__setattr__(self, "n", tuple(sorted({int(size) for size in sizes})))
        for name in ("alpha", "confidence_level", "margin"):
            value = getattr(self, name)
            if not (isinstance(value, Real) and 0 < float(value) < 1):
                raise InputError(name, "lie strictly between 0 and 1", value)
        if float(self.margin) < SMALLEST_MARGIN:
            raise InputError("margin", f"be at least {SMALLEST_MARGIN:g}", self.margin)
        if self.protocol not in get_args(Protocol):
            raise InputError("protocol", "be 'strict', 'valid' or 'paper'", self.protocol)
        if not _is_size(self.n_resamples):
            raise InputError("n_resamples", "be a whole number of at least 1", self.n_resamples)


def _is_size(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def sizes_of(n: object) -> tuple[int, ...]:
    """Return the sizes a caller asked for as a tuple, to be checked by `Rules`."""
    if isinstance(n, str) or not isinstance(n, Iterable):
        raise InputError("n", "hold whole numbers of at least 1", n)
    return tuple(n)
