"""The endpoint client against a real server that misbehaves on command."""

from __future__ import annotations

import asyncio
import datetime as dt
import itertools
import json
import socket

import pytest

from unpredictabench.clients import Client, OpenAIClient, RetryPolicy
from unpredictabench.errors import FatalClientError, InputError, SlotError
from unpredictabench.extract import extract, reasoning_as_text
from unpredictabench.records import Completion
from unruly import KEY, FastClock, Say, Unruly, a_client, a_request, answer, asked, error

SEVEN = answer("7")


pytestmark = pytest.mark.usefixtures("one_key")


def test_reply_is_stored_with_all_the_server_said():
    """A completion holds text, usage, model, fingerprint, id and finish reason as they came."""
    _, _, [completion] = asked(answer("7", system_fingerprint="fp"))
    assert isinstance(completion, Completion)
    assert (completion.task, completion.index) == ("text-explicit/poisson/spread_out", 0)
    assert (completion.text, completion.status, completion.finish_reason) == ("7", "ok", "stop")
    assert (completion.model, completion.fingerprint) == ("m-0613", "fp")
    assert (completion.response_id, completion.attempts, completion.seed) == ("r-1", 1, None)
    assert (completion.prompt_tokens, completion.completion_tokens) == (11, 2)
    assert completion.created_at > 1e9
    assert completion.latency_s > 0


def test_stored_parameters_are_the_sent_parameters():
    """The body is the words, the model and exactly `parameters`: no seed, no n, nothing else."""
    extra = {"provider": {"order": ["a"], "allow_fallbacks": False}, "top_p": 0.9}

    async def main():
        async with Unruly(SEVEN) as server:
            client = a_client(server, temperature=0.7, max_tokens=9, extra_body=extra)
            await client.ask(a_request())
            await client.aclose()
            assert isinstance(client, Client)
            return server.requests[0], dict(client.parameters)

    body, parameters = asyncio.run(main())
    assert body.pop("model") == "m"
    assert [m["role"] for m in body.pop("messages")] == ["user"]
    assert body == parameters == {"temperature": 0.7, "max_tokens": 9} | extra
    assert json.loads(json.dumps(parameters)) == parameters


def test_completions_endpoint_sends_the_documented_frame():
    """A base model gets one text that ends in an open answer, and stops before the next one."""
    reply = Say({"choices": [{"text": " 7", "index": 0, "finish_reason": "stop"}]})
    server, _, [completion] = asked(reply, endpoint="completions")
    assert server.paths == ["/v1/completions"]
    assert server.requests[0]["prompt"].startswith("Question: Draw.")
    assert server.requests[0]["prompt"].endswith("\nAnswer:")
    assert server.requests[0]["stop"] == ["\nQuestion:"]
    assert server.requests[0]["max_tokens"] == 256
    assert completion.text == " 7"


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_passing_errors_are_tried_again(status):
    """A status that may pass is repeated, and the number of attempts is stored."""
    _, clock, [completion] = asked(error(status, message="busy"), SEVEN)
    assert (completion.text, completion.attempts) == ("7", 2)
    assert len(clock.waits) >= 1


@pytest.mark.parametrize("how", ["reset", "cut"])
def test_broken_connections_are_tried_again(how):
    """A reset connection and a truncated body are repeated."""
    _, _, [completion] = asked(Say({"choices": []}, how=how), SEVEN)
    assert (completion.text, completion.attempts) == ("7", 2)


@pytest.mark.parametrize(
    "body", [b"", b'{"choices": [{"mess', b"[1]", b'{"hello": 1}', b"<html>", b"\xff\xfe"]
)
def test_wrong_json_is_tried_again_and_then_fails_the_slot(body):
    """A body that is no reply is repeated; when it stays so, only the slot fails."""
    _, _, [completion] = asked(Say(body), SEVEN)
    assert completion.attempts == 2
    server, _, [first, failure] = asked(SEVEN, Say(body), n=2, concurrency=1)
    assert first.text == "7"
    assert isinstance(failure, SlotError)
    assert len(server.requests) == 1 + 4
    assert "#1 got no answer in 4 attempts" in str(failure)


def test_a_server_that_only_ever_sends_garbage_ends_the_run_soon():
    """Where no reply ever came, three bodies that are none end the run and name what to check."""
    server, clock, [failure] = asked(Say(b"<html>It works!</html>"))
    assert isinstance(failure, FatalClientError)
    assert len(server.requests) == 3
    assert sum(clock.waits) < 2
    assert "in 3 attempts: check that the base URL is that of an OpenAI-compatible" in str(failure)


@pytest.mark.parametrize("how", ["drip", "hang"])
def test_timeout_covers_the_whole_request(how):
    """A server that drips for ever or says nothing is left after the timeout, then asked again."""
    _, _, [completion] = asked(Say({}, how=how), SEVEN, timeout_s=0.3)
    assert (completion.text, completion.attempts) == ("7", 2)


def test_error_inside_a_good_status_counts_as_that_error():
    """An error reported with status 200 is judged by the status it names."""
    rate = Say({"error": {"code": 429, "message": "slow down"}})
    _, _, [completion] = asked(rate, SEVEN)
    assert completion.attempts == 2
    _, _, [failure] = asked(Say({"error": {"code": 401, "message": "no"}}))
    assert isinstance(failure, FatalClientError)


def test_each_form_of_retry_after_is_waited_for():
    """The wait lasts what the server asked for, in whatever form, up to a tenth more."""
    for headers in (
        {"retry-after": "20"},
        {"retry-after-ms": "20000"},
        {"x-ratelimit-reset": "20s"},
    ):
        _, clock, [completion] = asked(error(429, headers, message="slow"), SEVEN)
        assert completion.attempts == 2
        assert 19.9 <= sum(clock.waits) <= 22.1


def test_cli_retry_budget_stale():
    """Case cli-retry-budget-stale: attempts are counted, so a long wait still brings a retry."""
    retries = RetryPolicy(max_attempts=3, longest_wait_s=5.0)
    slow = error(429, {"retry-after": "10"}, message="slow")
    server, clock, [completion] = asked(slow, slow, SEVEN, retries=retries)
    assert (completion.text, completion.attempts, len(server.requests)) == ("7", 3, 3)
    assert sum(clock.waits) >= 19.9


def test_wait_of_a_day_stops_the_run():
    """A server that asks for more than an hour ends the run with that number in the sentence."""
    server, _, [failure] = asked(error(429, {"retry-after": "86400"}, message="daily limit"))
    assert isinstance(failure, FatalClientError)
    assert "86400 s" in str(failure)
    assert len(server.requests) == 1


def test_cli_quota_is_final():
    """Case cli-quota-is-final: an exhausted quota is final at the first answer."""
    quota = error(429, code="insufficient_quota", message="You exceeded your quota")
    server, clock, [failure] = asked(quota)
    assert isinstance(failure, FatalClientError)
    assert "quota" in str(failure)
    assert (len(server.requests), clock.waits) == (1, [])


@pytest.mark.parametrize(
    ("status", "word"), [(401, "key"), (403, "key"), (402, "quota"), (404, "no such model")]
)
def test_final_errors_end_the_run_at_once(status, word):
    """A bad key, an empty account and an unknown model are final at the first answer."""
    server, clock, [failure] = asked(error(status, message="no"))
    assert isinstance(failure, FatalClientError)
    assert word in str(failure)
    assert (len(server.requests), clock.waits) == (1, [])


def test_nothing_is_sent_after_a_final_error():
    """Slots that come after the end of the run fail without a request."""
    server, _, failures = asked(error(401, message="no"), n=5, concurrency=1)
    assert all(isinstance(failure, FatalClientError) for failure in failures)
    assert len(server.requests) == 1


def test_cli_temperature_refused():
    """Case cli-temperature-refused: the refused parameter is named and never dropped."""
    refusal = error(400, param="temperature", code="unsupported_value", message="only 1")
    server, _, [failure] = asked(refusal, temperature=0.7)
    assert isinstance(failure, FatalClientError)
    assert "parameter temperature" in str(failure)
    assert [request["temperature"] for request in server.requests] == [0.7]


def test_other_refusals_fail_the_slot_only():
    """A refused prompt fails its slot at the first answer; the run goes on."""
    flagged = Say({"error": {"code": 403, "metadata": {"reasons": ["x"]}, "message": "no"}}, 403)
    for refusal in (error(400, param="messages", message="too long"), flagged):
        server, _, [failure, *_] = asked(refusal, SEVEN)
        assert isinstance(failure, SlotError)
        assert len(server.requests) == 1


def test_twenty_failures_in_a_row_stop_the_run():
    """When slot after slot fails for good, the rest is not tried."""
    server, _, failures = asked(error(400, message="odd"), n=30, concurrency=1)
    assert sum(isinstance(failure, SlotError) for failure in failures) == 19
    assert len(server.requests) == 20


def test_unreachable_endpoint_is_one_sentence():
    """Where nothing listens the run stops after three attempts and the URL is named."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/v1"

    async def main():
        client = OpenAIClient("m", base_url=url, clock=FastClock().clock)
        with pytest.raises(FatalClientError, match="3 attempts") as caught:
            await client.ask(a_request())
        await client.aclose()
        return str(caught.value)

    sentence = asyncio.run(main())
    assert url in sentence
    assert "\n" not in sentence


def test_cli_timeout_duplicate():
    """Case cli-timeout-duplicate: a late first answer never becomes a second row."""
    late = Say({"choices": [{"message": {"content": "late: 5"}}]}, how="hang")
    server, _, results = asked(late, answer("retry: 8"), timeout_s=0.3)
    assert [completion.text for completion in results] == ["retry: 8"]
    assert (len(server.requests), results[0].attempts) == (2, 2)


def test_cli_keyed_by_prompt():
    """Case cli-keyed-by-prompt: three slots of one prompt keep their three answers."""
    _, _, results = asked(answer("5"), answer("7"), answer("9"), n=3, concurrency=1)
    assert [(c.index, c.text) for c in results] == [(0, "5"), (1, "7"), (2, "9")]


def test_cli_constant_seed():
    """Case cli-constant-seed: seeds differ between slots and tasks and repeat between runs."""

    def seeds(base):
        server, _, results = asked(SEVEN, n=100, seed=base)
        sent = {request["seed"] for request in server.requests}
        assert sent == {completion.seed for completion in results}
        return [completion.seed for completion in results]

    first = seeds(42)
    assert len(set(first)) == 100
    assert first == seeds(42)
    assert [(b - a) % 2**31 for a, b in itertools.pairwise(first)] == [1] * 99
    assert not set(first) & set(seeds(43))


def test_no_seed_is_sent_by_default():
    """Without a base seed the server chooses; a stored seed would be a lie."""
    server, _, [completion] = asked(SEVEN)
    assert "seed" not in server.requests[0]
    assert completion.seed is None


@pytest.mark.parametrize(
    ("message", "reasoning"),
    [
        ({"content": None, "reasoning_content": "... so I pick 7"}, "... so I pick 7"),
        ({"content": "", "reasoning": "... so I pick 7"}, "... so I pick 7"),
    ],
)
def test_cli_answer_in_reasoning(message, reasoning):
    """Case cli-answer-in-reasoning: no text is status empty_content, and both fields are kept."""
    reply = Say({"choices": [{"message": message, "finish_reason": "stop"}]})
    server, _, [completion] = asked(reply)
    assert completion.status == "empty_content"
    assert (completion.text, completion.reasoning) == (message["content"], reasoning)
    assert len(server.requests) == 1
    form = a_request().task
    assert {one.status for one in extract(completion, form)} == {"empty"}
    [asked_for] = reasoning_as_text([completion])
    assert {one.value for one in extract(asked_for, form) if one.reading == "lenient"} == {7.0}


def test_cli_truncated_number():
    """Case cli-truncated-number: what the length limit cut keeps its finish reason."""
    for text, status in (("", "empty_content"), ("0.12", "ok"), ("1234", "ok")):
        reply = Say({"choices": [{"message": {"content": text}, "finish_reason": "length"}]})
        _, _, [completion] = asked(reply)
        assert (completion.text, completion.finish_reason) == (text, "length")
        assert completion.status == status


def test_cli_empty_choices():
    """Case cli-empty-choices: no choice is a row of its own and not an error."""
    reply = Say({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 0}})
    server, _, [completion] = asked(reply)
    assert (completion.status, completion.text) == ("no_choice", None)
    assert (completion.prompt_tokens, completion.completion_tokens) == (5, 0)
    assert len(server.requests) == 1


def test_cli_cache_key_params():
    """Case cli-cache-key-params: model, temperature and endpoint show in the settings."""
    asked_for = [
        {"model": "a", "temperature": 0.0},
        {"model": "a", "temperature": 0.7},
        {"model": "b", "temperature": 0.0},
        {"model": "a", "temperature": 0.0, "base_url": "http://other/v1"},
    ]
    clients = [OpenAIClient(**settings) for settings in asked_for]
    shown = {json.dumps([c.model, c.base_url, dict(c.parameters)]) for c in clients}
    assert len(shown) == 4


def test_concurrency_is_bounded_and_falls_under_429():
    """No more than `concurrency` requests are in flight, and half of them after an overload."""
    server, _, results = asked(SEVEN, n=30, concurrency=5)
    assert all(isinstance(completion, Completion) for completion in results)
    assert server.most_in_flight <= 5


@pytest.mark.parametrize("status", [301, 302, 307])
def test_redirects_are_told_and_not_followed(status):
    """Questions and key go nowhere but to the base URL; the message says where it points."""
    moved = Say({}, status=status, headers={"location": "http://127.0.0.1:9/other"})
    server, _, [failure] = asked(moved)
    assert isinstance(failure, FatalClientError)
    assert f"has moved ({status} to http://127.0.0.1:9/other)" in str(failure)
    assert len(server.requests) == 1


@pytest.mark.parametrize("body", [b"[" * 200_000, b'{"choices": ' + b"[" * 200_000])
def test_endless_nesting_is_no_reply(body):
    """A body that no parser can hold is tried again like any other that is no reply."""
    _, _, [completion] = asked(Say(body), SEVEN)
    assert (completion.text, completion.attempts) == ("7", 2)


@pytest.mark.parametrize("count", [-5, 10**30, 2**63, 1e300, "x"])
def test_impossible_counts_of_tokens_are_no_counts(count):
    """What no server can have counted is not stored, so that it cannot break store or budget."""
    usage = {"prompt_tokens": count, "completion_tokens": count}
    _, _, [completion] = asked(answer("7", usage=usage))
    assert (completion.prompt_tokens, completion.completion_tokens) == (None, None)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"base_url": "localhost:8000"}, "base_url"),
        ({"base_url": "http://"}, "base_url"),
        ({"base_url": f"http://me:{KEY}@host/v1"}, "base_url"),
        ({"base_url": f"http://host/v1?key={KEY}"}, "base_url"),
        ({"api_key_env": "NO_SUCH_VARIABLE"}, "api_key_env"),
        ({"api_key_env": KEY}, "api_key_env"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"temperature": float("inf")}, "temperature"),
        ({"extra_body": {"top_k": float("inf")}}, "extra_body.top_k"),
        ({"extra_body": {"since": dt.date(2026, 1, 1)}}, "extra_body.since"),
        ({"endpoint": "embeddings"}, "endpoint"),
        ({"temperature": -1.0}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"concurrency": 0}, "concurrency"),
        ({"seed": -1}, "seed"),
        ({"seed": 1, "n_hint": 2}, "n_hint"),
        ({"extra_body": {"seed": 1}}, "extra_body"),
        ({"extra_body": {"n": 5}}, "extra_body"),
    ],
)
def test_bad_settings_are_named(settings, name):
    """A setting that breaks its rule is refused by name, without the password in the message."""
    with pytest.raises(InputError, match=f"^{name} must") as caught:
        OpenAIClient("m", **settings)
    assert KEY not in str(caught.value)


def test_newer_token_limit_goes_to_openai_only():
    """OpenAI's own endpoint gets max_completion_tokens, every other one max_tokens."""
    assert "max_completion_tokens" in OpenAIClient("m", max_tokens=5).parameters
    assert "max_tokens" in OpenAIClient("m", base_url="http://h/v1", max_tokens=5).parameters


def test_lone_surrogates_survive():
    """Text that no encoding takes is kept as the server wrote it."""
    _, _, [completion] = asked(Say(b'{"choices": [{"message": {"content": "\\ud800 7\\u2028"}}]}'))
    assert completion.text == "\ud800 7\u2028"


def test_n_is_a_hint_that_is_topped_up():
    """Eight slots become requests of up to four choices; missing choices are asked for again."""

    def two_at_most(request):
        n = request.get("n", 1)
        return answer(*[str(i) for i in range(min(n, 2))])

    server, _, results = asked(two_at_most, n=8, n_hint=4)
    assert [completion.index for completion in results] == list(range(8))
    assert all(completion.text in {"0", "1"} for completion in results)
    assert sorted(request.get("n", 1) for request in server.requests) == [2, 2, 4, 4]
    ids = [completion.response_id for completion in results]
    assert set(ids) == {"r-1#0", "r-1#1"}
    assert sum(completion.completion_tokens for completion in results) == 16


def test_n_ignored_still_fills_every_slot():
    """A server that knows no n is asked once a slot in the end."""
    server, _, results = asked(SEVEN, n=3, n_hint=3)
    assert [completion.text for completion in results] == ["7"] * 3
    assert [request.get("n", 1) for request in server.requests] == [3, 2, 1]


def test_n_failure_reaches_every_slot():
    """When a gathered request fails for good, each of its slots hears it."""
    _, _, failures = asked(error(401, message="no"), n=3, n_hint=3)
    assert all(isinstance(failure, FatalClientError) for failure in failures)


def test_cancelled_questions_leave_the_client_usable():
    """Giving up a question frees its place for the next."""

    async def main():
        async with Unruly(Say({}, how="hang"), SEVEN) as server:
            client = a_client(server, concurrency=1)
            given_up = asyncio.ensure_future(client.ask(a_request()))
            await server.was_asked.wait()
            given_up.cancel()
            completion = await client.ask(a_request(1))
            await client.aclose()
            return completion

    assert asyncio.run(main()).text == "7"
