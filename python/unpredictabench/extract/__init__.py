"""From what a model wrote to its value, or to the reason for none; pure and versioned."""

from __future__ import annotations

from unpredictabench.extract.choice import extract_choice
from unpredictabench.extract.dispatch import EXTRACTOR_VERSION, extract
from unpredictabench.extract.lines import extract_lines
from unpredictabench.extract.number import extract_number
from unpredictabench.extract.permutation import extract_permutation
from unpredictabench.extract.thoughts import reasoning_as_text

__all__ = [
    "EXTRACTOR_VERSION",
    "extract",
    "extract_choice",
    "extract_lines",
    "extract_number",
    "extract_permutation",
    "reasoning_as_text",
]
