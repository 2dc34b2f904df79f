"""One HTTP request through the `openai` SDK: a reply, or a fault without secrets in it."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from unpredictabench.clients.faults import Fault, is_secret, redacted, reply_fault, status_fault
from unpredictabench.clients.reply import Reply, ReplyError, read_reply, without
from unpredictabench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import openai

    from unpredictabench.clients.waiting import Clock

Endpoint: TypeAlias = Literal["chat", "completions"]
OPENAI_URL = "https://api.openai.com/v1"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_NO_KEY = "none"


class Transport:
    """The way to one endpoint.

    Parameters
    ----------
    base_url : str, optional
        Endpoint up to and including ``/v1``. The default is OPENAI_BASE_URL, then OpenAI's own.
    api_key_env : str, optional
        Environment variable that holds the key. The default is OPENROUTER_API_KEY for
        openrouter.ai and OPENAI_API_KEY elsewhere.
    endpoint : {"chat", "completions"}
        Where to post to.
    timeout_s : float
        Longest time for one request, in seconds.
    clock : Clock
        Source of time.

    Raises
    ------
    InputError
        If the URL is none or holds a password, or `api_key_env` names nothing.

    Notes
    -----
    The SDK's own retries are off. Proxies of the environment are not asked for loopback.
    """

    def __init__(
        self,
        base_url: str | None,
        *,
        api_key_env: str | None,
        endpoint: Endpoint,
        timeout_s: float,
        clock: Clock,
    ) -> None:
        self.base_url = _checked(base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL)
        self.host = urlsplit(self.base_url).hostname or ""
        self._key_name = api_key_env or self._usual_key_name()
        if api_key_env is not None and not os.environ.get(api_key_env):
            # Whoever writes the key itself here must not see it in a log.
            shown = redacted(api_key_env, None) if api_key_env.isidentifier() else "[no name]"
            raise InputError("api_key_env", "name an environment variable that is set", shown)
        self._endpoint: Endpoint = endpoint
        self._timeout_s, self._clock = timeout_s, clock
        self._sdk: openai.AsyncOpenAI | None = None
        self._create: Any = None

    def __repr__(self) -> str:
        return f"Transport({self.base_url!r})"

    async def post(self, body: Mapping[str, object]) -> Reply | Fault:
        """Send one request.

        Parameters
        ----------
        body : mapping
            The whole JSON body, with ``model`` and ``messages`` or ``prompt``.

        Returns
        -------
        Reply or Fault
            What came back, or why nothing usable did.
        """
        if self._sdk is None:
            if self.base_url == OPENAI_URL and not self._key():
                return Fault("run", f"no key for {self.host}: set {self._key_name}")
            key = self._key() or _NO_KEY
            if not key.isascii() or not key.isprintable():
                return Fault("run", f"{self._key_name} holds no key (odd characters): set it again")
            self._open()
        fault = await self._attempt(body)
        if isinstance(fault, Reply):
            secret = self._key()
            return without(fault, secret) if secret and is_secret(secret) else fault
        return dataclasses.replace(fault, sentence=redacted(fault.sentence, self._key()))

    async def aclose(self) -> None:
        """Close all connections."""
        if self._sdk is not None:
            await self._sdk.close()

    async def _attempt(self, body: Mapping[str, object]) -> Reply | Fault:
        import openai  # noqa: PLC0415 - the SDK takes half a second to import

        words = "messages" if self._endpoint == "chat" else "prompt"
        sent = [name for name in body if name not in {"model", words}]
        try:
            async with asyncio.timeout(self._timeout_s):
                raw = await self._create(
                    model=body["model"],
                    **{words: body[words]},
                    extra_body={name: body[name] for name in sent},
                )
            return read_reply(raw.http_response.content)
        except ReplyError as error:
            return reply_fault(error, sent=sent)
        except TimeoutError:
            return Fault("retry", f"no whole answer came within {self._timeout_s:g} s")
        except openai.APIStatusError as error:
            return status_fault(
                error.status_code,
                error.body,
                headers=error.response.headers,
                sent=sent,
                now=self._clock.now(),
            )
        except openai.APIConnectionError as error:
            return self._connection_fault(error)

    def _connection_fault(self, error: Exception) -> Fault:
        cause = error.__cause__ or error
        is_unreachable = type(cause).__name__ in {"ConnectError", "ConnectTimeout"}
        said = str(cause) or type(cause).__name__
        what = "no connection to" if is_unreachable else "the connection broke to"
        return Fault("retry", f"{what} {self.base_url} ({said})", is_unreachable=is_unreachable)

    def _open(self) -> None:
        import openai  # noqa: PLC0415 - the SDK takes half a second to import

        # A redirect would put the question, and to the same host the key, where nobody meant it.
        http = openai.DefaultAsyncHttpxClient(
            trust_env=self.host not in _LOOPBACK, timeout=None, follow_redirects=False
        )
        self._sdk = openai.AsyncOpenAI(
            base_url=self.base_url,
            api_key=self._key() or _NO_KEY,
            max_retries=0,
            timeout=None,
            http_client=http,
        )
        resource = self._sdk.chat.completions if self._endpoint == "chat" else self._sdk.completions
        self._create = resource.with_raw_response.create

    def _key(self) -> str | None:
        return os.environ.get(self._key_name, "").strip() or None

    def _usual_key_name(self) -> str:
        is_openrouter = self.host == "openrouter.ai" or self.host.endswith(".openrouter.ai")
        is_set = bool(os.environ.get("OPENROUTER_API_KEY"))
        return "OPENROUTER_API_KEY" if is_openrouter and is_set else "OPENAI_API_KEY"


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if is_url and (parts.username or parts.password):
        raise InputError("base_url", "hold no user name or password", parts.hostname)
    if is_url and (parts.query or parts.fragment):
        raise InputError("base_url", "end with its path, without ? and #", parts.hostname)
    if not is_url:
        raise InputError(
            "base_url", "be an http or https URL such as http://localhost:8000/v1", url
        )
    return url.rstrip("/")
