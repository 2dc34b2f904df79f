"""The words of the text tasks: explicit, implicit, mixtures and shuffles."""

from __future__ import annotations

from unpredictabench.tasks.wording.shuffles import write_shuffles
from unpredictabench.tasks.wording.writers import write

__all__ = ["write", "write_shuffles"]
