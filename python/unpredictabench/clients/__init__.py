"""Models that can be asked: endpoints, the embedded one, simulated ones, recorded ones."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unpredictabench.clients.protocol import Client
from unpredictabench.clients.words import DEFAULT_MODEL, client_for, default_style

if TYPE_CHECKING:
    from unpredictabench.clients.endpoint import OpenAIClient
    from unpredictabench.clients.local import LocalClient
    from unpredictabench.clients.replay import ReplayClient
    from unpredictabench.clients.simulated import SimulatedClient
    from unpredictabench.clients.waiting import Clock, RetryPolicy

__all__ = [
    "DEFAULT_MODEL",
    "Client",
    "Clock",
    "LocalClient",
    "OpenAIClient",
    "ReplayClient",
    "RetryPolicy",
    "SimulatedClient",
    "client_for",
    "default_style",
]

# Loaded when first named: asyncio and NumPy would slow down `import unpredictabench`.
_HOMES = {
    "Clock": "waiting",
    "LocalClient": "local",
    "OpenAIClient": "endpoint",
    "ReplayClient": "replay",
    "RetryPolicy": "waiting",
    "SimulatedClient": "simulated",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
