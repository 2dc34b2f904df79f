"""Measure how faithfully a language model samples from a target distribution."""

from __future__ import annotations
