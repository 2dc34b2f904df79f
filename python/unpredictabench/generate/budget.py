"""Money, tokens and requests: what a run may use, has used and will use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unpredictabench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unpredictabench.records import Completion, Message, Request

CHARACTERS_A_TOKEN = 4  # usual rule of thumb for English text and code
TOKENS_A_MESSAGE = 4  # role and separators of the chat format
GUESSED_ANSWER_TOKENS = 16  # until the first answers tell better
GUESSED_REASONING_TOKENS = 256


@dataclass(frozen=True, slots=True)
class Price:
    """What a model's tokens cost.

    Parameters
    ----------
    input, output : float
        Price of a million prompt and of a million completion tokens, in any one currency.
    """

    input: float
    output: float

    def __post_init__(self) -> None:
        _check_limits(self, ("input", "output"))

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return what these tokens cost.

        Examples
        --------
        >>> Price(2.0, 10.0).of(1_000_000, 100_000)
        3.0
        """
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1e6


@dataclass(frozen=True, slots=True)
class Budget:
    """What a whole run may use, earlier sessions included.

    Parameters
    ----------
    max_cost : float, optional
        Most money, in the currency of `price`.
    max_tokens_total : int, optional
        Most tokens, prompts and completions together.
    max_requests : int, optional
        Most requests, repeated attempts included.
    price : Price, optional
        What tokens cost; needed for `max_cost`.

    Notes
    -----
    A run stops before the request that would go over, counting requests under way at the mean
    of the answers so far. Where a server reports no usage, four characters count as a token.
    """

    max_cost: float | None = None
    max_tokens_total: int | None = None
    max_requests: int | None = None
    price: Price | None = None

    def __post_init__(self) -> None:
        _check_limits(self, ("max_cost", "max_tokens_total", "max_requests"))
        if self.max_cost is not None and self.price is None:
            raise InputError("price", "be given when max_cost is", None)


def _check_limits(record: Price | Budget, names: Sequence[str]) -> None:
    for name in names:
        value = getattr(record, name)
        if value is not None and not 0 <= value < float("inf"):
            raise InputError(name, "be a number from 0", value)


@dataclass(frozen=True, slots=True)
class Usage:
    """What was used.

    Parameters
    ----------
    n_requests : int
        Requests, repeated attempts included.
    prompt_tokens, completion_tokens : int
        Tokens as the server counted them, or estimated where it did not.
    n_estimated : int
        Answers whose tokens are estimated.
    cost : float or None
        Money; None without a price.
    """

    n_requests: int
    prompt_tokens: int
    completion_tokens: int
    n_estimated: int
    cost: float | None


class Meter:
    """Counts what a run uses and says when the next request would go over its budget.

    Parameters
    ----------
    budget : Budget
        The limits.
    max_tokens : int or None
        Most tokens of one answer; an upper bound for guesses.
    """

    def __init__(self, budget: Budget, *, max_tokens: int | None = None) -> None:
        self._budget, self._max_tokens = budget, max_tokens
        self._n_requests = self._n_answers = self._n_estimated = 0
        self._prompt_tokens = self._completion_tokens = 0
        self._n_under_way = self._prompt_under_way = 0

    @property
    def usage(self) -> Usage:
        """What was used so far."""
        price = self._budget.price
        return Usage(
            self._n_requests,
            self._prompt_tokens,
            self._completion_tokens,
            self._n_estimated,
            price.of(self._prompt_tokens, self._completion_tokens) if price else None,
        )

    def start(self, messages: Sequence[Message]) -> str | None:
        """Admit a request; or return the name of the limit it would break."""
        prompt = estimated_tokens(messages)
        n = self._n_under_way + 1
        prompts = self._prompt_tokens + self._prompt_under_way + prompt
        answers = self._completion_tokens + n * self._expected_answer()
        if broken := self._broken(self._n_requests + n, prompts, answers):
            return broken
        self._n_under_way, self._prompt_under_way = n, self._prompt_under_way + prompt
        return None

    def finish(self, messages: Sequence[Message], completion: Completion | None) -> None:
        """Count what an admitted request used; None for one that failed."""
        self._n_under_way -= 1
        self._prompt_under_way -= estimated_tokens(messages)
        if completion is None:
            self._n_requests += 1
        else:
            self.count(messages, completion)

    def count(self, messages: Sequence[Message], completion: Completion) -> None:
        """Count an answer, of this session or of an earlier one."""
        prompt, answer = completion.prompt_tokens, completion.completion_tokens
        self._n_requests += completion.attempts
        self._n_answers += 1
        self._n_estimated += prompt is None or answer is None
        self._prompt_tokens += estimated_tokens(messages) if prompt is None else prompt
        text = (completion.text or "") + (completion.reasoning or "")
        self._completion_tokens += _tokens(text) if answer is None else answer

    def _expected_answer(self) -> float:
        if self._n_answers:
            return self._completion_tokens / self._n_answers
        return min(GUESSED_ANSWER_TOKENS, self._max_tokens or GUESSED_ANSWER_TOKENS)

    def _broken(self, n_requests: int, prompts: float, answers: float) -> str | None:
        budget = self._budget
        if budget.max_requests is not None and n_requests > budget.max_requests:
            return "max_requests"
        if budget.max_tokens_total is not None and prompts + answers > budget.max_tokens_total:
            return "max_tokens_total"
        if budget.max_cost is not None and budget.price is not None:
            return "max_cost" if budget.price.of(prompts, answers) > budget.max_cost else None
        return None


def estimated(requests: Iterable[Request], *, price: Price | None, answer_tokens: int) -> Usage:
    """Estimate what requests would use, before anything is asked.

    Parameters
    ----------
    requests : iterable of Request
        The requests.
    price : Price or None
        What tokens cost.
    answer_tokens : int
        Tokens of one reply.

    Returns
    -------
    Usage
        Four characters count as one token of a prompt.
    """
    n_requests = prompt = answers = 0
    for request in requests:
        n_requests += 1
        prompt += estimated_tokens(request.messages)
        answers += answer_tokens
    cost = price.of(prompt, answers) if price else None
    return Usage(n_requests, prompt, answers, n_requests, cost)


def estimated_tokens(messages: Sequence[Message]) -> int:
    """Guess the tokens of a conversation from its length."""
    return sum(TOKENS_A_MESSAGE + _tokens(message.content) for message in messages)


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_A_TOKEN)
