"""Exceptions inside of compiled callbacks: they cannot propagate, so they are heard on the way."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from unpredictabench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LOCK: Final = threading.Lock()
_LISTENERS: Final[list[list[BaseException]]] = []
_HOOKS: Final[list[tuple[Callable[[Any], object], Callable[[Any], object]]]] = []
"""The hook set for the listeners, and the one that was there before."""


@contextmanager
def refused_exceptions(name: str) -> Iterator[None]:
    """Turn the first exception that a compiled callback reports meanwhile into an `InputError`.

    numba hands an exception to `sys.unraisablehook` and returns a number that means nothing: to go
    on with it would hide a failure. It names no callback, so one that fails in another thread at
    the same time counts too.
    """
    heard: list[BaseException] = []
    with _LOCK:
        if not _LISTENERS:
            before = sys.unraisablehook
            _HOOKS[:] = [(partial(_hear, before), before)]
            sys.unraisablehook = _HOOKS[0][0]
        _LISTENERS.append(heard)
    try:
        yield
    finally:
        with _LOCK:
            _LISTENERS[:] = [other for other in _LISTENERS if other is not heard]
            hook, before = _HOOKS[0]
            if not _LISTENERS and sys.unraisablehook is hook:
                sys.unraisablehook = before
    if heard:
        raise InputError(name, "not raise", heard[0]) from heard[0]


def _hear(before: Callable[[Any], object], unraisable: Any) -> None:
    """Keep what numba reports, under the text of its context; pass on the rest."""
    listeners = tuple(_LISTENERS)
    is_compiled = isinstance(unraisable.object, str) and "numba" in unraisable.object
    if not (is_compiled and listeners and isinstance(unraisable.exc_value, BaseException)):
        before(unraisable)
        return
    for heard in listeners:
        if not heard:
            heard.append(unraisable.exc_value)
