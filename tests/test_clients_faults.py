"""Which faults are worth another attempt, and what is said about the others."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unpredictabench.clients.faults import redacted, reply_fault, status_fault
from unpredictabench.clients.reply import ReplyError, read_reply


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (408, None, "retry"),
        (409, None, "retry"),
        (429, {"message": "slow down"}, "retry"),
        (429, {"code": "rate_limit_exceeded"}, "retry"),
        (429, {"code": "insufficient_quota"}, "run"),
        (429, {"type": "insufficient_quota"}, "run"),
        (402, {"message": "no credits"}, "run"),
        (401, None, "run"),
        (403, None, "run"),
        (403, {"metadata": {"flagged_input": "x"}}, "slot"),
        (404, "<html>", "run"),
        (400, {"param": "temperature"}, "run"),
        (400, {"message": "Unsupported parameter: 'top_k'"}, "run"),
        (422, {"detail": [{"loc": ["body", "top_k"], "msg": "extra"}]}, "run"),
        (400, {"param": "messages[0].content", "message": "too long"}, "slot"),
        (400, {"message": "context length exceeded"}, "slot"),
        (413, None, "slot"),
        (500, None, "retry"),
        (529, None, "retry"),
        (599, "text", "retry"),
    ],
)
def test_verdict_by_status_and_body(status, body, kind):
    """Passing trouble is retried; what would repeat for every slot ends the run."""
    assert status_fault(status, body, sent=("top_k", "temperature")).kind == kind


NAMES = st.sampled_from(["code", "type", "param", "message", "detail", "metadata"])
BODIES = st.recursive(
    st.none() | st.text() | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner),
    max_leaves=6,
)


@given(st.integers(400, 599), BODIES)
def test_no_body_breaks_the_judge(status, body):
    """Whatever a body holds, the verdict is one line of bounded length."""
    fault = status_fault(status, body, sent=("seed",))
    assert fault.kind in {"retry", "slot", "run"}
    assert "\n" not in fault.sentence
    assert len(fault.sentence) < 1000


def test_reported_errors_count_as_their_status():
    """An error in a good reply is judged by the status it names, 502 if none."""
    for code, kind in (
        (429, "retry"),
        ("401", "run"),
        ("odd", "retry"),
        (None, "retry"),
        ("9" * 5000, "retry"),
    ):
        with pytest.raises(ReplyError) as caught:
            read_reply(json.dumps({"error": {"code": code, "message": "m"}}))
        assert reply_fault(caught.value).kind == kind


@pytest.mark.parametrize("secret", ["plain-looking-secret", "abc/+=def$"])
def test_keys_are_cut_out(secret):
    """The own key and whatever looks like a key or follows Bearer is replaced."""
    text = f"key {secret}, Bearer {secret}x, sk-proj-abcdef123, sk-12***89, hf_abcdefgh"
    cut = redacted(text, secret)
    assert secret not in cut
    assert "abcdef" not in cut
    assert "12***" not in cut


def test_ordinary_words_stay():
    """Nothing is cut from a sentence without a key."""
    text = "the task-based key for-each or-else must be 1"
    assert redacted(text, None) == text


@given(st.binary(max_size=60))
def test_no_body_breaks_the_reader(body):
    """Bytes are a reply or a reply error, nothing else."""
    with contextlib.suppress(ReplyError):
        read_reply(body)


def test_reader_takes_what_servers_send():
    """Content in parts, refusals, unordered choices and odd usage are read."""
    parts = {"content": [{"type": "text", "text": "4"}, {"type": "image"}, {"text": "2"}]}
    body = {
        "choices": [
            {"index": 1, "message": {"content": None, "refusal": "I won't"}},
            {"index": 0, "message": parts, "finish_reason": None},
        ],
        "usage": {"prompt_tokens": "many", "completion_tokens": True},
        "id": 5,
    }
    reply = read_reply(json.dumps(body))
    assert [choice.text for choice in reply.choices] == ["42", "I won't"]
    assert (reply.prompt_tokens, reply.completion_tokens, reply.response_id) == (None, None, None)
    for choices in ([1], [None], "x"):
        with pytest.raises(ReplyError):
            read_reply(json.dumps({"choices": choices}))


def test_a_web_page_points_to_the_base_url():
    """A body in HTML, as a wrong URL gives it, is told apart from broken JSON."""
    with pytest.raises(ReplyError, match=r"a web page \(does the base URL end in /v1\?\)"):
        read_reply(b"\n<!DOCTYPE html><html></html>")
    with pytest.raises(ReplyError, match="the reply is not JSON"):
        read_reply("{half")
