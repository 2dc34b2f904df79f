"""Ask a model that runs on this machine, in a child process of ours."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from unpredictabench.clients.child import ModelServer
from unpredictabench.clients.endpoint import SHORTEST_TIMEOUT_S, OpenAIClient, check_at_least
from unpredictabench.clients.waiting import RetryPolicy
from unpredictabench.clients.weights import MODELS, model_file
from unpredictabench.errors import ClientError, FatalClientError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unpredictabench.records import Completion, Request

# Each slot takes memory for its context, and two cores gain nothing beyond eight.
_MOST_SLOTS = 16
EMBEDDED_MIN_P = 0.05
"""Share of the likeliest token's probability below which the embedded model says nothing."""
# A server of ours is never too busy, and one that died stays dead: few attempts tell.
_RETRIES = RetryPolicy(max_attempts=3, first_wait_s=0.1)


class LocalClient:
    """A GGUF model on this machine, run by xllamacpp (extra ``local``).

    Parameters
    ----------
    name : str, default "smollm2"
        "smollm2" for the embedded SmolLM2-135M-Instruct, or the path of a GGUF file.
    temperature : float or None, default 1.0
        Sampling temperature; None leaves it to the server.
    max_tokens : int, default 128
        Most tokens of an answer, at least 1; a small model may never stop of itself.
    min_p : float, optional
        Tokens below this share of the likeliest token's probability are left out, in [0, 1]. The
        default is 0.05 for the embedded model and 0, the model's whole law, for any other.
    seed : int, optional
        Base seed, see `OpenAIClient`. The default sends none.
    concurrency : int, default 8
        Slots of the server, at least 1; at most 16 are used.
    n_context : int, default 4096
        Tokens of prompt and answer together.
    port : int, default 0
        Port on loopback; 0 takes a free one.
    timeout_s : float, default 600
        Longest time for one answer, in seconds.

    Raises
    ------
    InputError
        If an argument breaks its rule.

    Notes
    -----
    The first question fetches the file where needed and starts the server. It uses one thread a
    core, within the cores this process may use, and ends with this process, however that ends.
    llama.cpp's own narrowing (top-k 40, top-p 0.95, min-p 0.05) is switched off, except that the
    embedded model keeps its min-p: it writes noise in one answer of four without it. Without a
    seed, questions in the same words go out as one request with several choices, which reads
    their words once; this server counts the tokens of one choice only.

    Examples
    --------
    >>> LocalClient("smollm2").model
    'local:smollm2'
    """

    def __init__(
        self,
        name: str = "smollm2",
        *,
        temperature: float | None = 1.0,
        max_tokens: int = 128,
        min_p: float | None = None,
        seed: int | None = None,
        concurrency: int = 8,
        n_context: int = 4096,
        port: int = 0,
        timeout_s: float = 600.0,
    ) -> None:
        check_at_least(1, concurrency=concurrency, n_context=n_context, max_tokens=max_tokens)
        check_at_least(0, seed=seed, temperature=temperature, port=port)
        check_at_least(SHORTEST_TIMEOUT_S, timeout_s=timeout_s)
        if min_p is None:
            min_p = EMBEDDED_MIN_P if name in MODELS else 0.0
        if not 0.0 <= min_p <= 1.0:
            raise InputError("min_p", "lie in [0, 1]", min_p)
        # Sent even where they switch off: the server would narrow the law by its own defaults.
        self._sent: dict[str, object] = {"max_tokens": max_tokens, "min_p": min_p}
        self._sent |= {"top_p": 1.0, "top_k": 0}
        if temperature is not None:
            self._sent["temperature"] = temperature
        self._name, self._seed, self._timeout_s = name, seed, timeout_s
        self._n_slots = min(concurrency, _MOST_SLOTS)
        self._n_context, self._port = n_context, port
        self._server: ModelServer | None = None
        self._start: asyncio.Task[OpenAIClient] | None = None

    def __repr__(self) -> str:
        return f"LocalClient({self._name!r})"

    @property
    def model(self) -> str:
        """``local:`` and the name."""
        return f"local:{self._name}"

    @property
    def base_url(self) -> str | None:
        """None: the server is ours and its port means nothing."""
        return None

    @property
    def parameters(self) -> Mapping[str, object]:
        """What is sent with every request; ``seed`` is the base seed."""
        return self._sent | ({"seed": self._seed} if self._seed is not None else {})

    async def ask(self, request: Request) -> Completion:
        """Put one question; see `unpredictabench.clients.protocol.Client.ask`."""
        if self._start is None:
            self._start = asyncio.ensure_future(self._started())
        # The start is shared: who gives up waiting must not end it for the others.
        asker = await asyncio.shield(self._start)
        try:
            return await asker.ask(request)
        except ClientError:
            if self._server is None or self._server.is_alive:
                raise
            epitaph = self._server.epitaph()
        raise FatalClientError(f"the server of {self.model} {epitaph}; run again to resume")

    async def aclose(self) -> None:
        """End the server."""
        if self._start is not None:
            with contextlib.suppress(Exception):
                await (await self._start).aclose()
        if self._server is not None:
            self._server.close()

    async def _started(self) -> OpenAIClient:
        file = await asyncio.to_thread(model_file, self._name)
        self._server = await asyncio.to_thread(
            ModelServer,
            file,
            alias=self._name,
            n_slots=self._n_slots,
            n_context=self._n_context,
            port=self._port,
        )
        return OpenAIClient(
            self._name,
            base_url=self._server.url,
            temperature=None,
            seed=self._seed,
            extra_body=self._sent,
            concurrency=self._n_slots,
            n_hint=self._n_slots if self._seed is None else 1,
            timeout_s=self._timeout_s,
            retries=_RETRIES,
        )
