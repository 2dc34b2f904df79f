"""Modules that are functions too: `score(run)` and `score.score_records(...)` are one name."""

from __future__ import annotations

import sys
from types import ModuleType


class CallableModule(ModuleType):
    """A module whose call is a call of the function of its own name in it."""

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Call the function."""
        return self.__dict__[self.__name__.rpartition(".")[2]](*args, **kwargs)


def make_callable(name: str) -> None:
    """Let the module of that name be called as its function of the same name."""
    sys.modules[name].__class__ = CallableModule
