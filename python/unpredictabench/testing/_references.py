"""What a sample may be compared with, and how each is tested and pictured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unpredictabench.errors import InputError, shortened
from unpredictabench.records import Task
from unpredictabench.stats import KsResult, PreparedTruth, ks_1samp, ks_2samp
from unpredictabench.stats._arrays import samples
from unpredictabench.stats._laws import law_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from unpredictabench.stats._laws import Cdf

Floats: TypeAlias = NDArray[np.float64]

ENDS: Final = (0.01, 0.99)
"""Quantiles between which a histogram has its bins."""
N_DRAWS: Final = 10_000
"""Draws that stand for a law of which only draws are known."""
MOST_NAME: Final = 60
"""Characters of a law's name."""
_ORDERLESS: Final = (
    "be a law on the line (labels: stats.multinomial_test, "
    "permutations: stats.permutation_test_uniform)"
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A law or a sample that observations are compared with.

    Attributes
    ----------
    label : str
        What to call it.
    test : callable
        The test of observations and a number of invalid ones.
    cdf : callable
        Share at or below each of some values.
    landmarks : ndarray
        Values between which it lies, or those that it consists of.
    """

    label: str
    test: Callable[[Floats, int], KsResult]
    cdf: Callable[[Floats], Floats]
    landmarks: Floats


def reference_of(target_or_sample: Any, cdf_left: Cdf | None) -> Reference:
    """Find out what was given, and refuse what has no order or is no law."""
    if isinstance(target_or_sample, Task):
        return _of_target(target_or_sample.target, target_or_sample.id, cdf_left)
    has_cdf = hasattr(target_or_sample, "cdf")
    if isinstance(target_or_sample, type) or hasattr(target_or_sample, "freeze"):
        raise _refusal(
            "be an object, not a class or family: freeze its parameters", target_or_sample
        )
    if getattr(target_or_sample, "support", None) == "nominal":
        raise _refusal(_ORDERLESS, target_or_sample)
    if has_cdf or callable(target_or_sample):
        return _of_target(target_or_sample, _name(target_or_sample), cdf_left)
    if cdf_left is not None:
        raise InputError("cdf_left", "be None where a sample is given", cdf_left)
    return _of_sample(target_or_sample)


def _refusal(rule: str, value: object) -> InputError:
    return InputError("target_or_sample", rule, value)


def _of_target(target: Any, label: str, cdf_left: Cdf | None) -> Reference:
    if getattr(target, "support", None) == "nominal":
        raise _refusal(_ORDERLESS, target)
    if not getattr(target, "is_exact", True):
        draws = np.asarray(target.draws(N_DRAWS, "testing"), dtype=np.float64)
        return _of_sample(draws, f"{draws.size} draws of {label}")
    if cdf_left is not None and hasattr(target, "cdf_left"):
        raise InputError("cdf_left", "be None where a target is given", cdf_left)
    cdf = law_of(target, cdf_left=cdf_left, name="target_or_sample").cdf

    def test(x: Floats, n_invalid: int) -> KsResult:
        try:
            return ks_1samp(x, target, cdf_left=cdf_left, n_invalid=n_invalid)
        except InputError as error:
            if error.argument == "target":
                raise _refusal(error.rule, error.value) from error
            raise
        except (TypeError, ValueError) as error:  # what a stranger's function does that is no cdf
            raise _refusal("have a cdf of one array", f"{target!r}: {error}") from error

    quantiles = getattr(target, "ppf", None) or getattr(target, "icdf", None)
    landmarks = np.empty(0) if quantiles is None else np.asarray(quantiles(np.array(ENDS)))
    return Reference(label, test, lambda at: np.asarray(cdf(at), dtype=np.float64), landmarks)


def _of_sample(y: ArrayLike | PreparedTruth, label: str | None = None) -> Reference:
    if not isinstance(y, PreparedTruth):
        opened = samples(y, name="target_or_sample")
        if not opened.is_single:
            rule = "be one 1-d sample, a law or a cdf"
            raise _refusal(rule, f"{len(opened)} rows")
        y = PreparedTruth(opened.flat())
    truth, values = y, y.native.sorted

    def test(x: Floats, n_invalid: int) -> KsResult:
        return ks_2samp(x, truth, n_invalid=n_invalid)

    def cdf(at: Floats) -> Floats:
        return np.searchsorted(values, at, side="right") / values.size

    return Reference(label or f"the law of the other {values.size}", test, cdf, values)


def _name(target: Any) -> str:
    """Name a law shortly: by family and parameters, or as Python would, but for addresses."""
    spec = getattr(target, "spec", {})
    family = getattr(getattr(target, "dist", None), "name", None)
    if isinstance(family, str):
        parameters = [*map(_shown, target.args), *_assigned(target.kwds)]
    elif "family" in spec and "params" in spec:
        family, parameters = spec["family"], _assigned(spec["params"])
    else:
        text = str(getattr(target, "__name__", "")) or repr(target)
        return _short(type(target).__name__ if " at 0x" in text else text)
    return _short(f"{family}({', '.join(parameters)})")


def _assigned(parameters: Mapping[str, Any]) -> list[str]:
    return [f"{name}={_shown(value)}" for name, value in parameters.items()]


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float | np.number) else shortened(value, 20)


def _short(text: str) -> str:
    return text if len(text) <= MOST_NAME else text[: MOST_NAME - 3] + "..."
