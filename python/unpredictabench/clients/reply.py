"""Read the body of a chat or completions reply; servers differ more than their standard says."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unpredictabench.records import CompletionStatus

_STATUS = re.compile(r"[1-5][0-9]{2}")
_NO_COUNT = 2**53  # beyond what JSON numbers hold exactly nothing was counted


class ReplyError(ValueError):
    """A body of status 200 that is no reply: cut short, of another shape, or an error report.

    Parameters
    ----------
    message : str
        What is wrong with it.
    body : object
        The value of ``error``, if the body reports one.
    status : int or None
        The HTTP status that the reported error names, if it names one.
    """

    def __init__(self, message: str, *, body: object = None, status: int | None = None) -> None:
        self.body, self.status = body, status
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer of a reply.

    Parameters
    ----------
    text : str or None
        Content as it came.
    reasoning : str or None
        Reasoning that came in a field of its own.
    finish_reason : str or None
        Why the model stopped.
    """

    text: str | None
    reasoning: str | None = None
    finish_reason: str | None = None

    @property
    def status(self) -> CompletionStatus:
        """Whether there is any text."""
        return "ok" if self.text else "empty_content"


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply.

    Parameters
    ----------
    choices : tuple of Choice
        The answers, in their order; may be empty.
    model, fingerprint, response_id : str or None
        What the server says it is.
    prompt_tokens, completion_tokens : int or None
        Usage as the server counts it.
    """

    choices: tuple[Choice, ...]
    model: str | None = None
    fingerprint: str | None = None
    response_id: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


def read_reply(body: bytes | str) -> Reply:
    """Read the body of a reply with status 200.

    Parameters
    ----------
    body : bytes or str
        The body as it came.

    Returns
    -------
    Reply
        With as many choices as came, also none.

    Raises
    ------
    ReplyError
        If the body is not JSON, holds no list of choices, or reports an error instead.

    Examples
    --------
    >>> read_reply('{"choices": [{"message": {"content": "7"}}]}').choices[0].text
    '7'
    >>> read_reply('{"choices": []}').choices
    ()
    """
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):  # covers undecodable bytes and endless nesting as well
        raw = body.encode(errors="replace") if isinstance(body, str) else body
        is_page = raw.lstrip().startswith(b"<")
        what = "a web page (does the base URL end in /v1?)" if is_page else "not JSON"
        raise ReplyError(f"the reply is {what}") from None
    if not isinstance(data, dict):
        raise ReplyError("the reply is not a JSON object")
    choices = data.get("choices")
    if not isinstance(choices, list):
        _raise_if_error(data)
        raise ReplyError("the reply holds no list of choices")
    for choice in choices:
        if not isinstance(choice, dict):
            raise ReplyError("a choice of the reply is not a JSON object")
        _raise_if_error(choice)
    usage = data.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Reply(
        tuple(_choice(choice) for choice in sorted(choices, key=_place)),
        model=_text(data.get("model")),
        fingerprint=_text(data.get("system_fingerprint")),
        response_id=_text(data.get("id")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
    )


def without(reply: Reply, secret: str) -> Reply:
    """Take a secret that the server echoes out of a reply.

    Parameters
    ----------
    reply : Reply
        The reply as it came.
    secret : str
        What must not be stored.

    Returns
    -------
    Reply
        The reply with ``[key]`` in the place of the secret, wherever it stood.

    Examples
    --------
    >>> without(Reply((Choice("sk-1234567: 5"),)), "sk-1234567").choices[0].text
    '[key]: 5'
    """

    def cleaned(text: str | None) -> str | None:
        return text.replace(secret, "[key]") if text else text

    return replace(
        reply,
        choices=tuple(
            Choice(cleaned(c.text), cleaned(c.reasoning), cleaned(c.finish_reason))
            for c in reply.choices
        ),
        model=cleaned(reply.model),
        fingerprint=cleaned(reply.fingerprint),
        response_id=cleaned(reply.response_id),
    )


def _choice(choice: Mapping[str, Any]) -> Choice:
    message = choice.get("message")
    if not isinstance(message, dict):
        message = choice  # the completions endpoint has no message around the text
    content = message.get("content", message.get("text"))
    if isinstance(content, list):
        content = "".join(
            part["text"]
            for part in content
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    text = content if isinstance(content, str) else None
    reasoning = _text(message.get("reasoning_content")) or _text(message.get("reasoning"))
    return Choice(
        text or _text(message.get("refusal")) or text,
        reasoning=reasoning,
        finish_reason=_text(choice.get("finish_reason")),
    )


def _raise_if_error(data: Mapping[str, Any]) -> None:
    error = data.get("error")
    if error:
        code = error.get("code") if isinstance(error, dict) else None
        status = int(str(code)) if _STATUS.fullmatch(str(code)) else None
        raise ReplyError("the reply reports an error", body=error, status=status)


def _place(choice: Mapping[str, Any]) -> int:
    return _count(choice.get("index")) or 0


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < _NO_COUNT else None
