"""Tell faults apart: worth another attempt, this slot's end, or the end of the run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from unpredictabench.clients.waiting import asked_wait_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from unpredictabench.clients.reply import ReplyError

Kind = Literal["retry", "slot", "run"]

RETRIED = frozenset({408, 409, 425, 429})
OVERLOADED = frozenset({429, 529})
QUOTA_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "credits_exhausted"}
)
# Parameters that hold the words: what is wrong with those concerns one slot, not the run.
_WORDS = frozenset({"messages", "prompt", "input"})
_KEY_LIKE = re.compile(r"\b(?:sk|key|or|gsk|hf|xai)[-_][\w*.\-]{6,}|(?<=Bearer )[^\s\"',]+")
_LONGEST_QUOTE = 300
_SHORTEST_SECRET = 8  # what is shorter is a word for servers that check none: "none", "EMPTY"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why one request brought no reply, and what that means for the next.

    Parameters
    ----------
    kind : {"retry", "slot", "run"}
        Whether to try again, to give up this slot, or to stop the run.
    sentence : str
        What happened, without credentials, ready to be shown.
    wait_s : float or None
        The wait the server asked for, in seconds.
    is_overload : bool
        Whether the server has too much to do.
    is_unreachable : bool
        Whether no connection came about.
    is_foreign : bool
        Whether a body came that no such endpoint sends.
    """

    kind: Kind
    sentence: str
    wait_s: float | None = None
    is_overload: bool = False
    is_unreachable: bool = False
    is_foreign: bool = False


def status_fault(
    status: int,
    body: object,
    *,
    headers: Mapping[str, str] | None = None,
    sent: Iterable[str] = (),
    now: float = 0.0,
) -> Fault:
    """Judge an HTTP status other than 2xx.

    Parameters
    ----------
    status : int
        The status.
    body : object
        The value of ``error`` in the body, or the body.
    headers : mapping, optional
        Response headers, names in lower case or case ignored.
    sent : iterable of str
        Names of the parameters sent, to find the one refused.
    now : float
        Seconds since the epoch.

    Returns
    -------
    Fault
        The verdict.

    Examples
    --------
    >>> status_fault(503, None).kind
    'retry'
    >>> status_fault(429, {"code": "insufficient_quota"}).kind
    'run'
    >>> status_fault(400, {"param": "temperature", "message": "must be 1"}).sentence
    'the model refuses the parameter temperature (400: must be 1): change or leave it out'
    """
    fields = body if isinstance(body, dict) else {}
    said = _said(status, body)
    is_quota = {str(fields.get("code")), str(fields.get("type"))} & QUOTA_CODES
    if is_quota or status == 402:
        return Fault("run", f"the quota is exhausted ({said}): raise it, then run again to resume")
    if status in RETRIED or status >= 500:
        return Fault(
            "retry",
            f"the server answered {said}",
            wait_s=asked_wait_s(headers or {}, now),
            is_overload=status in OVERLOADED,
        )
    if status == 401 or (status == 403 and not _is_moderation(fields)):
        return Fault("run", f"the key is refused ({said}): check the key and what it may use")
    if status in {404, 405, 410} or status < 400:
        return Fault("run", _wrong_place(status, said, headers or {}))
    name = _refused_parameter(fields, said, sent) if status in {400, 422} else None
    if name is not None:
        return Fault(
            "run", f"the model refuses the parameter {name} ({said}): change or leave it out"
        )
    return Fault("slot", f"the server refuses the request ({said})")


def reply_fault(error: ReplyError, *, sent: Iterable[str] = ()) -> Fault:
    """Judge a body of status 200 that is no reply; an error it reports counts as that status."""
    if error.body is None:
        return Fault("retry", str(error), is_foreign=True)
    return status_fault(error.status or 502, error.body, sent=sent)


def redacted(text: str, secret: str | None) -> str:
    """Return `text` without the key and without anything that looks like one.

    Examples
    --------
    >>> redacted("wrong key: sk-abcdef0123", None)
    'wrong key: [key]'
    """
    if secret and is_secret(secret):
        text = text.replace(secret, "[key]")
    return _KEY_LIKE.sub("[key]", text)


def is_secret(key: str | None) -> bool:
    """Tell a key from the placeholders that local servers are given."""
    return key is not None and len(key) >= _SHORTEST_SECRET


def _said(status: int, body: object) -> str:
    fields = body if isinstance(body, dict) else {}
    message = fields.get("message") or fields.get("detail") or body or ""
    text = " ".join(str(message).split())
    if text.startswith("<"):
        text = ""  # a web page tells nothing
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 1] + "…"
    return f"{status}: {text}" if text else str(status)


def _wrong_place(status: int, said: str, headers: Mapping[str, str]) -> str:
    if status >= 400:
        return f"no such model or endpoint ({said}): check model and base URL"
    place = headers.get("location", "elsewhere")
    return f"the endpoint has moved ({status} to {place}): change the base URL"


def _is_moderation(fields: Mapping[str, object]) -> bool:
    """Tell whether a 403 refuses one prompt and not the key, as OpenRouter's moderation does."""
    metadata = fields.get("metadata")
    return isinstance(metadata, dict) and bool({"reasons", "flagged_input"} & metadata.keys())


def _refused_parameter(fields: Mapping[str, object], said: str, sent: Iterable[str]) -> str | None:
    named = fields.get("param")
    if isinstance(named, str) and named:
        return None if re.split(r"[.\[]", named)[0] in _WORDS else named
    pattern = r"(?<![\w-]){}(?![\w-])"
    return next((name for name in sent if re.search(pattern.format(re.escape(name)), said)), None)
