"""Models that can be asked: endpoints, the embedded one, simulated ones, recorded ones."""

from __future__ import annotations

from unpredictabench.clients.protocol import Client

__all__ = ["Client"]
