"""The laws that faithful answers follow: cdf, quantiles, moments and draws of each."""

from __future__ import annotations

from unpredictabench.targets.build import FAMILIES, target_from_spec
from unpredictabench.targets.canonical import canonical, canonical_json, content_hash
from unpredictabench.targets.law import Law, NumericLaw
from unpredictabench.targets.nominal import NominalLaw

__all__ = [
    "FAMILIES",
    "Law",
    "NominalLaw",
    "NumericLaw",
    "canonical",
    "canonical_json",
    "content_hash",
    "target_from_spec",
]
