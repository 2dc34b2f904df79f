"""Ask any endpoint that speaks OpenAI's chat or completions dialect."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unpredictabench.clients.faults import Fault
from unpredictabench.clients.gather import Gatherer
from unpredictabench.clients.limiter import Limiter
from unpredictabench.clients.transport import Endpoint, Transport
from unpredictabench.clients.waiting import Clock, RetryPolicy
from unpredictabench.errors import FatalClientError, InputError, SlotError, counted
from unpredictabench.records import Completion
from unpredictabench.streams import seed_of, stream
from unpredictabench.tasks.styles import FRAME_STOP, framed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unpredictabench.clients.reply import Choice, Reply
    from unpredictabench.records import Request

# These have an argument of their own, or would break "one row a slot".
_RESERVED = frozenset({"model", "messages", "prompt", "stream", "n", "best_of", "seed"})
# An endpoint that was never reached, or never spoke the dialect, is more likely misspelt than busy.
_ATTEMPTS_BEFORE_CONTACT = 3
# After so many slots in a row that failed for good, the rest would fail as well.
_MOST_FAILURES_IN_A_ROW = 20
# The usual default of the completions endpoint, 16, cuts answers.
_COMPLETIONS_MAX_TOKENS = 256
SHORTEST_TIMEOUT_S = 0.001
"""Seconds for one request below which no server could answer."""
_N_SEEDS = 2**31  # what every server takes for a seed


@dataclass(frozen=True, slots=True)
class _Arrival:
    """How a reply came; the fields are those of a `Completion`."""

    created_at: float
    latency_s: float
    attempts: int
    seed: int | None


class OpenAIClient:
    """A model behind an OpenAI-compatible endpoint: OpenAI, OpenRouter, vLLM, llama.cpp, Ollama.

    Parameters
    ----------
    model : str
        Name of the model as the endpoint knows it.
    base_url : str, optional
        Endpoint up to and including ``/v1``, without user name or password. The default is
        OPENAI_BASE_URL, then OpenAI's own.
    api_key_env : str, optional
        Environment variable that holds the key. The default is OPENROUTER_API_KEY for
        openrouter.ai and OPENAI_API_KEY elsewhere; without either no key is sent.
    endpoint : {"chat", "completions"}
        "completions" is for base models: the conversation is put into the frame of
        `unpredictabench.tasks.styles.framed`.
    temperature : float or None, default 1.0
        Sampling temperature; None leaves it to the server.
    max_tokens : int, optional
        Most tokens of an answer, at least 1. The default leaves it to the server, except that
        the completions endpoint gets 256.
    seed : int, optional
        Base seed, at least 0. Slot i of a task is asked with a number that depends on base and
        task, plus i: no two slots of a task share one. The default sends none.
    n_hint : int, default 1
        Choices one request may ask for. Slots left without one are asked for again.
    extra_body : mapping, optional
        Further parameters, sent as they are; ``{"provider": {"order": ["a"],
        "allow_fallbacks": False}}`` pins a provider of OpenRouter.
    concurrency : int, default 64
        Most requests in flight, at least 1; fewer while the server answers 429.
    timeout_s : float, default 120
        Longest time for one request, up to the last byte of its reply, in seconds.
    retries : RetryPolicy, optional
        How often and after which wait a request is repeated.
    clock : Clock, optional
        Source of time.

    Raises
    ------
    InputError
        If an argument breaks its rule.

    Notes
    -----
    The key is never part of a representation, error, log line or record. With `n_hint` above 1
    the usage of a request is stored with the first of its slots and 0 with the others, and each
    slot's response id ends in the number of its choice.

    Examples
    --------
    >>> client = OpenAIClient("qwen", base_url="http://localhost:8000/v1", max_tokens=32)
    >>> client.parameters
    {'temperature': 1.0, 'max_tokens': 32}
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key_env: str | None = None,
        endpoint: Endpoint = "chat",
        temperature: float | None = 1.0,
        max_tokens: int | None = None,
        seed: int | None = None,
        n_hint: int = 1,
        extra_body: Mapping[str, object] | None = None,
        concurrency: int = 64,
        timeout_s: float = 120.0,
        retries: RetryPolicy | None = None,
        clock: Clock | None = None,
    ) -> None:
        if endpoint not in {"chat", "completions"}:
            raise InputError("endpoint", "be 'chat' or 'completions'", endpoint)
        check_at_least(1, concurrency=concurrency, n_hint=n_hint, max_tokens=max_tokens)
        check_at_least(0, seed=seed, temperature=temperature)
        check_at_least(SHORTEST_TIMEOUT_S, timeout_s=timeout_s)
        if seed is not None and n_hint > 1:
            raise InputError("n_hint", "be 1 when a seed is given: a seed fits one slot", n_hint)
        reserved = _RESERVED & (extra_body or {}).keys()
        if reserved:
            raise InputError("extra_body", "leave out what has an argument here", min(reserved))
        _check_json(extra_body)
        self._model, self._endpoint, self._seed, self._n_hint = model, endpoint, seed, n_hint
        self._retries, self._clock = retries or RetryPolicy(), clock or Clock()
        self._transport = Transport(
            base_url,
            api_key_env=api_key_env,
            endpoint=endpoint,
            timeout_s=timeout_s,
            clock=self._clock,
        )
        self._sent = self._sent_always(temperature, max_tokens) | dict(extra_body or {})
        self._limiter = Limiter(concurrency, self._clock)
        self._gatherer = Gatherer(self._exchange, n_hint) if n_hint > 1 else None
        self._end: str | None = None
        self._n_replies = self._n_failed_in_a_row = 0

    def __repr__(self) -> str:
        return f"OpenAIClient({self._model!r}, base_url={self.base_url!r})"

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._model

    @property
    def base_url(self) -> str | None:
        """Endpoint, without credentials."""
        return self._transport.base_url

    @property
    def parameters(self) -> Mapping[str, object]:
        """What is sent with every request; ``seed`` is the base seed, ``n`` the hint."""
        own = {"seed": self._seed} if self._seed is not None else {}
        hint = {"n": self._n_hint} if self._n_hint > 1 else {}
        return {**self._sent, **own, **hint}

    async def ask(self, request: Request) -> Completion:
        """Put one question; see `unpredictabench.clients.protocol.Client.ask`."""
        if self._gatherer is not None:
            return await self._gatherer.ask(request)
        return (await self._exchange((request,)))[0]

    async def aclose(self) -> None:
        """Give up what is under way and close all connections."""
        if self._gatherer is not None:
            await self._gatherer.aclose()
        await self._transport.aclose()

    async def _exchange(self, slots: Sequence[Request]) -> list[Completion]:
        """Get completions for the first of `slots`, at least one; they share their words."""
        body = self._body(slots)
        n_replies_before = self._n_replies
        attempt = 0
        while True:
            attempt += 1
            async with self._limiter:
                if self._end is not None:
                    raise FatalClientError(self._end)
                began_at = self._clock.monotonic()
                outcome = await self._transport.post(body)
                latency_s = self._clock.monotonic() - began_at
                self._note(outcome, began_at)
                if isinstance(outcome, Fault) and self._is_last(outcome, attempt):
                    raise self._failure(slots[0], outcome, attempt, n_replies_before)
            if not isinstance(outcome, Fault):
                seed = self._seed_of(slots[0])
                arrival = _Arrival(self._clock.now(), latency_s, attempt, seed)
                return _completions(slots, outcome, arrival)
            await self._wait(slots[0], outcome, attempt)

    def _body(self, slots: Sequence[Request]) -> dict[str, object]:
        messages = slots[0].messages
        words: dict[str, object] = (
            {"messages": [{"role": m.role, "content": m.content} for m in messages]}
            if self._endpoint == "chat"
            else {"prompt": framed(messages)}
        )
        seed = self._seed_of(slots[0])
        own = {"seed": seed} if seed is not None else {}
        hint = {"n": len(slots)} if len(slots) > 1 else {}
        return {"model": self._model, **words, **self._sent, **own, **hint}

    def _seed_of(self, slot: Request) -> int | None:
        return None if self._seed is None else slot_seed(self._seed, slot.task.id, slot.index)

    def _sent_always(self, temperature: float | None, max_tokens: int | None) -> dict[str, object]:
        sent: dict[str, object] = {}
        if temperature is not None:
            sent["temperature"] = temperature
        if self._endpoint == "completions":
            sent["max_tokens"] = max_tokens or _COMPLETIONS_MAX_TOKENS
            sent["stop"] = [FRAME_STOP]
        elif max_tokens is not None:
            # OpenAI's newer models refuse the older name, other servers do not know the newer.
            is_openai = self._transport.host == "api.openai.com"
            sent["max_completion_tokens" if is_openai else "max_tokens"] = max_tokens
        return sent

    def _note(self, outcome: Reply | Fault, began_at: float) -> None:
        if not isinstance(outcome, Fault):
            self._n_replies += 1
            self._n_failed_in_a_row = 0
            self._limiter.succeeded()
        elif outcome.is_overload:
            self._limiter.overloaded(began_at=began_at, wait_s=outcome.wait_s or 0.0)

    def _is_last(self, fault: Fault, attempt: int) -> bool:
        most = self._retries.max_attempts
        if (fault.is_unreachable or fault.is_foreign) and self._n_replies == 0:
            most = min(most, _ATTEMPTS_BEFORE_CONTACT)
        too_long = (fault.wait_s or 0.0) > self._retries.longest_asked_wait_s
        return fault.kind != "retry" or attempt >= most or too_long

    def _failure(
        self, slot: Request, fault: Fault, attempt: int, n_replies_before: int
    ) -> FatalClientError | SlotError:
        self._n_failed_in_a_row += 1
        sentence, times = f"{self._model}: {fault.sentence}", counted(attempt, "attempt")
        if fault.kind == "run":
            self._end = sentence
        elif (fault.wait_s or 0.0) > self._retries.longest_asked_wait_s:
            self._end = f"{sentence}; it asks to wait {fault.wait_s:.0f} s: run again after that"
        elif fault.is_unreachable and self._n_replies == n_replies_before:
            self._end = (
                f"{sentence} in {times}: check the URL and that the server runs, "
                "then run again to resume"
            )
        elif fault.is_foreign and self._n_replies == 0:
            self._end = (
                f"{sentence} in {times}: check that the base URL is that of an "
                "OpenAI-compatible server, up to and including /v1"
            )
        elif self._n_failed_in_a_row >= _MOST_FAILURES_IN_A_ROW:
            self._end = f"{sentence}; {self._n_failed_in_a_row} slots in a row failed like this"
        if self._end is not None:
            return FatalClientError(self._end)
        return SlotError(f"{slot.task.id} #{slot.index} got no answer in {times}: {sentence}")

    async def _wait(self, slot: Request, fault: Fault, attempt: int) -> None:
        rng = stream("backoff", slot.task.id, slot.index, attempt)
        wait_s = self._retries.wait_s(attempt, asked_s=fault.wait_s, rng=rng)
        await self._clock.sleep(wait_s)


def _completions(slots: Sequence[Request], reply: Reply, arrival: _Arrival) -> list[Completion]:
    """Give each choice its slot; a reply without any is the first slot's."""
    choices: Sequence[Choice | None] = reply.choices[: len(slots)] or (None,)
    return [
        Completion(
            task=slot.task.id,
            index=slot.index,
            text=choice.text if choice else None,
            status=choice.status if choice else "no_choice",
            reasoning=choice.reasoning if choice else None,
            finish_reason=choice.finish_reason if choice else None,
            model=reply.model,
            fingerprint=reply.fingerprint,
            response_id=_id_of_choice(reply.response_id, place, len(slots)),
            prompt_tokens=_share(reply.prompt_tokens, place),
            completion_tokens=_share(reply.completion_tokens, place),
            created_at=arrival.created_at,
            latency_s=arrival.latency_s,
            attempts=arrival.attempts,
            seed=arrival.seed,
            n_asked=slot.n_asked,
        )
        for place, (slot, choice) in enumerate(zip(slots, choices, strict=False))
    ]


def _id_of_choice(response_id: str | None, place: int, n_slots: int) -> str | None:
    return response_id if response_id is None or n_slots == 1 else f"{response_id}#{place}"


def _share(tokens: int | None, place: int) -> int | None:
    return tokens if tokens is None or place == 0 else 0


def slot_seed(base: int, task: str, index: int) -> int:
    """Return the seed to send for a slot: its own, from the base seed and the task.

    Parameters
    ----------
    base : int
        The seed that the user gave.
    task : str
        Id of the task.
    index : int
        Number of the slot.

    Examples
    --------
    >>> slot_seed(1, "t", 4) - slot_seed(1, "t", 3)
    1
    """
    return (seed_of("request", base, task, bits=32) + index) % _N_SEEDS


def check_at_least(least: float, /, **values: float | None) -> None:
    """Refuse arguments below a bound; None passes.

    Parameters
    ----------
    least : int
        The bound.
    **values : float or None
        Arguments by name.

    Raises
    ------
    InputError
        For the first below the bound or infinite.
    """
    for name, value in values.items():
        if value is not None and not value >= least:
            raise InputError(name, f"be at least {least}", value)
        if value == math.inf:
            raise InputError(name, "be finite", value)


def _check_json(extra_body: Mapping[str, object] | None) -> None:
    """Refuse what cannot be sent as JSON: dates and infinities, which TOML has."""
    for name, value in (extra_body or {}).items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise InputError(f"extra_body.{name}", "be JSON data", value) from None
