"""From the word a user writes for a model to the client that asks it."""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING, Any

from unpredictabench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from unpredictabench.clients.protocol import Client
    from unpredictabench.clients.transport import Endpoint

KINDS = ("local", "sim", "replay")
DEFAULT_MODEL = "local:smollm2"
_MODEL_RULE = "be a name at an endpoint, local:smollm2, local:FILE.gguf, sim:NAME or replay:FILE"


def client_for(
    model: str = DEFAULT_MODEL,
    *,
    base_url: str | None = None,
    api_key_env: str | None = None,
    endpoint: Endpoint = "chat",
    temperature: float | None = 1.0,
    max_tokens: int | None = None,
    seed: int | None = None,
    n_hint: int = 1,
    extra_body: Mapping[str, object] | None = None,
    concurrency: int | None = None,
    timeout_s: float | None = None,
) -> Client:
    """Return the client for a model's name.

    Parameters
    ----------
    model : str, default "local:smollm2"
        ``local:smollm2`` or ``local:FILE.gguf`` (runs on this machine), ``sim:NAME``
        (simulated), ``replay:FILE`` (answers of an exported run), or any other name: a model
        behind an endpoint. With `base_url` every name is one at that endpoint.
    base_url, api_key_env, endpoint, n_hint, extra_body
        See `OpenAIClient`; for models behind an endpoint only.
    temperature, seed
        See `OpenAIClient` and `LocalClient`. Simulated models take the seed only, recorded ones
        neither.
    max_tokens, concurrency, timeout_s
        See there; None is the client's own default.

    Returns
    -------
    Client
        Ready to be asked; nothing has been contacted, fetched or started.

    Raises
    ------
    InputError
        If there is no such model, with the nearest name, or a setting does not fit.

    Examples
    --------
    >>> client_for("sim:median").model
    'sim:median'
    """
    kind, _, name = model.partition(":")
    is_here = base_url is None and kind in KINDS and ":" in model
    if not model.strip() or (is_here and not name):
        raise InputError("model", _MODEL_RULE, model)
    chosen = {"max_tokens": max_tokens, "concurrency": concurrency, "timeout_s": timeout_s}
    tuning: dict[str, Any] = {key: value for key, value in chosen.items() if value is not None}
    if is_here and kind == "sim":
        return _simulated(name, seed)
    if is_here and kind == "replay":
        return _replayed(name)
    if is_here:
        from unpredictabench.clients.local import LocalClient  # noqa: PLC0415 - loads on demand

        return LocalClient(name, temperature=temperature, seed=seed, **tuning)
    _check_no_slip(model, base_url)
    from unpredictabench.clients.endpoint import OpenAIClient  # noqa: PLC0415 - loads on demand

    return OpenAIClient(
        model,
        base_url=base_url,
        api_key_env=api_key_env,
        endpoint=endpoint,
        temperature=temperature,
        seed=seed,
        n_hint=n_hint,
        extra_body=extra_body,
        **tuning,
    )


def default_style(model: str = DEFAULT_MODEL) -> str:
    """Return the prompt style a model is asked in when the user names none.

    The embedded model wraps nine answers of ten in talk unless it is shown solved questions.

    Examples
    --------
    >>> default_style("local:smollm2"), default_style("gpt-x")
    ('few-shot', 'direct')
    """
    return "few-shot" if model == DEFAULT_MODEL else "direct"


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the name most like a word."""
    return difflib.get_close_matches(word, list(names), n=1, cutoff=0.0)[0]


def _simulated(name: str, seed: int | None) -> Client:
    from unpredictabench.clients.simulated import SimulatedClient  # noqa: PLC0415 - needs NumPy

    return SimulatedClient(name, seed=seed or 0)


def _replayed(name: str) -> Client:
    from unpredictabench.clients.replay import ReplayClient  # noqa: PLC0415 - loads on demand

    return ReplayClient(name)


def _check_no_slip(model: str, base_url: str | None) -> None:
    """Refuse what is likely a local or simulated model, misspelt, and not one at an endpoint."""
    if base_url is not None or os.environ.get("OPENAI_BASE_URL"):
        return
    kind, colon, name = model.partition(":")
    likely = difflib.get_close_matches(kind, KINDS, n=1, cutoff=0.6)
    if colon and likely:
        raise InputError("model", f"{_MODEL_RULE} (nearest: {likely[0]}:{name})", model)
    if not colon and (model == "smollm2" or model.endswith(".gguf")):
        raise InputError("model", f"{_MODEL_RULE} (nearest: local:{model})", model)
    from unpredictabench.clients.simulated import BEHAVIOURS  # noqa: PLC0415 - needs NumPy

    if kind in BEHAVIOURS:
        raise InputError("model", f"{_MODEL_RULE} (nearest: sim:{model})", model)
