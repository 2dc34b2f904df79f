"""For tests of samplers: one assertion, with a false alarm at most once in a million runs."""

from __future__ import annotations

from unpredictabench.testing._assertion import assert_same_distribution

__all__ = ["assert_same_distribution"]
