"""The solver: N draws inside one sample, each through Inspect's own `generate`."""

from __future__ import annotations

import time
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import anyio
from inspect_ai.log import Transcript
from inspect_ai.model import ContentReasoning, GenerateConfig, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from unpredictabench.clients.endpoint import slot_seed
from unpredictabench.clients.faults import redacted
from unpredictabench.errors import InputError
from unpredictabench.integrations.inspect.slots import FAILURES, SLOTS, slot_of
from unpredictabench.records import Completion

if TYPE_CHECKING:
    from inspect_ai.event import Event
    from inspect_ai.model import ChatMessage, Model, ModelOutput

FINISH_REASONS: Final = {"max_tokens": "length", "model_length": "length", "unknown": None}
"""Inspect's words for why a model stopped, where they are not those of the endpoints."""
# Raised to end the sample, not to report one call; the second has no public name.
_ENDS_SAMPLE: Final = frozenset(
    {"LimitExceededError", "TerminateSampleError", "ModelRefusalError", "PrerequisiteError"}
)
_IN_RECORD: Final = frozenset({"input_tokens", "output_tokens", "total_tokens"})
_LONGEST = 300


@solver
def draws(samples: int = 100, *, force: bool = False, events: bool = False) -> Solver:
    """Ask the model of the evaluation `samples` times, at once as far as its connections allow.

    Parameters
    ----------
    samples : int, default 100
        Draws, at least 1.
    force : bool
        Ask for several draws at temperature 0 all the same.
    events : bool
        Keep one event a draw in the transcript.

    Returns
    -------
    Solver
        Writes each draw into the sample's store when it comes, so that a limit or an error costs
        only draws that are under way. A draw that fails is counted; the sample fails when all do.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - Inspect's form
        if state.epoch > 1:
            raise InputError("epochs", "be 1: -T samples=N asks for more answers", state.epoch)
        model = get_model()
        config = _config(model)
        if config.temperature == 0 and samples > 1 and not force:
            rule = "be above 0 to ask for more than one answer (-T force=true asks all the same)"
            raise InputError("temperature", rule, config.temperature)
        if (config.num_choices or 1) > 1:
            rule = "be 1: of a reply only its first choice is a draw"
            raise InputError("num_choices", rule, config.num_choices)
        await _Draws(state, model, config, has_events=events).ask(samples)
        return state

    return solve


class _Draws:
    """The draws of one sample."""

    def __init__(
        self, state: TaskState, model: Model, config: GenerateConfig, *, has_events: bool
    ) -> None:
        self._model, self._seed = model, config.seed
        self._aside = None if has_events else _Nowhere()
        self._task = str(state.sample_id)
        self._input: list[ChatMessage] = list(state.messages)
        self._slots: list[dict[str, Any]] = []
        self._failures: list[dict[str, Any]] = []
        self._last: Exception | None = None
        self._end: Exception | None = None
        state.store.set(SLOTS, self._slots)
        state.store.set(FAILURES, self._failures)

    async def ask(self, samples: int) -> None:
        """Ask; raise what ends the sample, or the last failure where every draw failed."""
        async with anyio.create_task_group() as group:
            for index in range(samples):
                group.start_soon(self._draw, index, group.cancel_scope)
        if self._end is not None:
            raise self._end
        if self._last is not None and not self._slots:
            raise self._last
        self._slots.sort(key=lambda slot: int(slot["index"]))

    async def _draw(self, index: int, scope: anyio.CancelScope) -> None:
        seed = None if self._seed is None else slot_seed(self._seed, self._task, index)
        if self._aside is not None:
            _write_to(self._aside)
        try:
            # From a cache every draw would be the same one.
            output = await self._model.generate(
                self._input, config=GenerateConfig(seed=seed), cache=False
            )
        except Exception as error:  # noqa: BLE001 - each provider has errors of its own
            if isinstance(error, LimitExceededError) or type(error).__name__ in _ENDS_SAMPLE:
                self._end = self._end or error
                scope.cancel()
                return
            self._last = error
            said = f"{type(error).__name__}: {' '.join(str(error).split())}"
            text = redacted(said, None)[:_LONGEST]
            self._failures.append({"index": index, "error": text})
            return
        completion = _completion(self._task, index, output, seed=seed)
        self._slots.append(slot_of(completion, _more_usage(output)))


def _completion(task: str, index: int, output: ModelOutput, *, seed: int | None) -> Completion:
    """Return one reply as a record, its words untouched."""
    choice = output.choices[0] if output.choices else None
    text = choice.message.text if choice is not None else None
    stop = choice.stop_reason if choice is not None else None
    usage = output.usage
    n_prompt = (
        usage.input_tokens + (usage.input_tokens_cache_read or 0)
        + (usage.input_tokens_cache_write or 0) if usage else None
    )  # fmt: skip
    fingerprint = (output.metadata or {}).get("system_fingerprint")
    return Completion(
        task=task,
        index=index,
        text=text or None,
        status="no_choice" if choice is None else "ok" if text else "empty_content",
        reasoning=_reasoning(output),
        finish_reason=None if stop is None else FINISH_REASONS.get(stop, stop),
        model=output.model or None,
        fingerprint=fingerprint if isinstance(fingerprint, str) else None,
        response_id=getattr(output, "response_id", None),  # not in the older versions
        prompt_tokens=n_prompt,
        completion_tokens=usage.output_tokens if usage else None,
        created_at=time.time(),
        latency_s=float(output.time or 0.0),
        seed=seed,
    )


def _more_usage(output: ModelOutput) -> dict[str, Any]:
    """Return what a record has no fields for: tokens cached and reasoned with, and the cost."""
    usage = output.usage.model_dump(exclude_none=True) if output.usage else {}
    return {name: value for name, value in usage.items() if name not in _IN_RECORD}


def _reasoning(output: ModelOutput) -> str | None:
    content = output.choices[0].message.content if output.choices else ""
    if isinstance(content, str):
        return None
    return "\n".join(p.reasoning for p in content if isinstance(p, ContentReasoning)) or None


class _Nowhere(Transcript):
    """A transcript that keeps the last event; under other names Inspect's own would keep more."""

    def _event(self, event: Event) -> None:
        """Hold one event, without which Inspect would copy the same words again for each draw."""
        self._held = event

    def _event_updated(self, event: Event) -> None:
        """Drop what an event has become."""


def _write_to(transcript: Transcript) -> None:
    """Let this coroutine, and no other, write its events to a transcript that nobody keeps.

    What they hold is in the store already. Inspect has no public switch for it; where the private
    one is missing, the events are kept.
    """
    switch = _private("inspect_ai.log._transcript", "init_transcript")
    if switch:
        switch(transcript)


def _config(model: Model) -> GenerateConfig:
    """Return what a call would send besides the words, as far as Inspect tells."""
    active = _private("inspect_ai.model._generate_config", "active_generate_config")
    return model.config.merge(active()) if active else model.config


@cache
def _private(module: str, name: str) -> Any:
    try:
        return getattr(import_module(module), name, None)
    except ImportError:
        return None
