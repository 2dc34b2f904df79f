"""From the word for a model to its client."""

from __future__ import annotations

import subprocess
import sys

import pytest

from unpredictabench.clients import (
    LocalClient,
    OpenAIClient,
    SimulatedClient,
    client_for,
    default_style,
)
from unpredictabench.errors import ClientError, InputError


@pytest.fixture(autouse=True)
def _no_endpoint(monkeypatch):
    """No endpoint is set in the environment."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_each_word_gives_its_client():
    """Prefixes choose the client; anything else is a model at an endpoint."""
    assert isinstance(client_for(), LocalClient)
    assert isinstance(client_for("local:some/where.gguf"), LocalClient)
    assert isinstance(client_for("sim:kpoint:3"), SimulatedClient)
    for name in ("gpt-x", "llama3.2:1b", "openai/gpt-x:free", "qwen/qwen-2"):
        client = client_for(name)
        assert isinstance(client, OpenAIClient)
        assert client.model == name
    with pytest.raises(ClientError, match="cannot be read"):
        client_for("replay:absent.jsonl")


def test_with_a_base_url_every_name_is_one_there():
    """An endpoint may call its models what it likes."""
    assert isinstance(client_for("sim:perfect", base_url="http://h/v1"), OpenAIClient)


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("lokal:smollm2", "local:smollm2"),
        ("simm:median", "sim:median"),
        ("smollm2", "local:smollm2"),
        ("model.gguf", "local:model.gguf"),
        ("perfect", "sim:perfect"),
        ("kpoint:3", "sim:kpoint:3"),
        ("sim:medain", "median"),
    ],
)
def test_slips_are_answered_with_the_nearest_word(word, near):
    """A word that means nothing here is refused, and the nearest one is named."""
    with pytest.raises(InputError, match=f"nearest: {near}"):
        client_for(word)


@pytest.mark.parametrize("word", ["", " ", "sim:", "local:", "replay:"])
def test_empty_words_are_refused(word):
    """A word without a name in it is refused."""
    with pytest.raises(InputError, match="^model must"):
        client_for(word)


def test_none_means_the_own_default_of_the_client():
    """Settings left out are those of each client; given ones arrive."""
    assert client_for().parameters["max_tokens"] == 128
    assert client_for("local:smollm2", max_tokens=9, seed=5).parameters["seed"] == 5
    assert client_for("sim:perfect", seed=5).parameters == {"seed": 5}
    assert "temperature" not in client_for("gpt-x", temperature=None).parameters


def test_prompt_style_of_the_embedded_model_is_few_shot():
    """Only the small embedded model needs solved questions by default."""
    assert default_style() == "few-shot"
    assert {default_style(m) for m in ("gpt-x", "sim:perfect", "local:x.gguf")} == {"direct"}


def test_import_stays_light():
    """Naming the clients loads neither the SDK nor NumPy."""
    code = (
        "import sys, unpredictabench.clients as c; c.client_for; c.default_style();"
        "assert not {'openai', 'numpy', 'httpx', 'xllamacpp'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
