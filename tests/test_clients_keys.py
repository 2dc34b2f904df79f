"""Keys of the endpoint client: which is sent where, and that none is told or stored."""

from __future__ import annotations

import asyncio
import logging
import traceback

import pytest

from unpredictabench.clients import OpenAIClient
from unpredictabench.errors import FatalClientError
from unruly import KEY, Say, a_request, answer, asked, error

SEVEN = answer("7")

pytestmark = pytest.mark.usefixtures("one_key")


def test_key_appears_nowhere(caplog, capsys):
    """The key is in no error, traceback, log, representation or setting, even when echoed."""
    caplog.set_level(logging.DEBUG)
    echo = error(401, message=f"Incorrect API key provided: {KEY}. Header: Bearer {KEY}")
    flaky = error(500, message=f"internal, key={KEY}")
    for say in (echo, flaky):
        server, _, [failure] = asked(say)
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
        told = "".join(traceback.format_exception(failure)) + repr(failure)
        assert "[key]" in told
        assert KEY not in told
        assert failure.__context__ is None
    client = OpenAIClient("m", base_url="http://localhost/v1")
    shown = repr(client) + repr(dict(client.parameters)) + str(client.base_url) + repr(vars(client))
    assert KEY not in shown + caplog.text + "".join(capsys.readouterr())


def test_echoed_key_is_not_stored():
    """A server that puts the key into its answer finds it cut out before anything is stored."""
    leak = {"role": "assistant", "content": f"{KEY}: 5", "reasoning": f"Bearer {KEY}"}
    says = Say(
        {"id": f"id-{KEY}", "model": KEY, "choices": [{"message": leak, "finish_reason": KEY}]}
    )
    _, _, [completion] = asked(says)
    assert KEY not in repr(completion)
    assert (completion.text, completion.reasoning) == ("[key]: 5", "Bearer [key]")


def test_placeholder_keys_leave_words_alone(monkeypatch):
    """A short word that stands for no key is neither cut out of answers nor of errors."""
    monkeypatch.setenv("OPENAI_API_KEY", "e")
    _, _, [completion] = asked(answer("seven"))
    assert completion.text == "seven"
    _, _, [failure] = asked(error(400, message="three were asked"))
    assert "three were asked" in str(failure)


@pytest.mark.parametrize("key", ["sk-schl\u00fcssel-1", "sk-two\nlines-2"])
def test_keys_that_no_header_takes_are_told(monkeypatch, key):
    """A key with odd characters ends the run with the variable's name, not with the key."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    server, _, [failure] = asked(SEVEN)
    assert isinstance(failure, FatalClientError)
    assert "OPENAI_API_KEY holds no key" in str(failure)
    assert key not in str(failure)
    assert server.requests == []


def test_blanks_around_a_key_are_not_part_of_it(monkeypatch):
    """A line end from a file of secrets does no harm."""
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    server, _, [completion] = asked(SEVEN)
    assert completion.text == "7"
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_missing_key_of_openai_is_said_before_asking(monkeypatch):
    """Without a key OpenAI's own endpoint is not contacted."""
    monkeypatch.delenv("OPENAI_API_KEY")

    async def main():
        with pytest.raises(FatalClientError, match="set OPENAI_API_KEY"):
            await OpenAIClient("m").ask(a_request())

    asyncio.run(main())


def test_openrouter_key_goes_to_openrouter_only(monkeypatch):
    """The variable depends on the host, unless one is named."""
    monkeypatch.setenv("OPENROUTER_API_KEY", "or-key")
    here = OpenAIClient("m", base_url="https://openrouter.ai/api/v1")
    there = OpenAIClient("m", base_url="https://openrouter.ai.example.org/v1")
    assert here._transport._key_name == "OPENROUTER_API_KEY"
    assert there._transport._key_name == "OPENAI_API_KEY"
