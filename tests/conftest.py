"""What several test modules start from."""

from __future__ import annotations

import pytest

from commands import ASKING, done
from unpredictabench.store import export_run, open_run
from unruly import KEY


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """Give a folder with a run nothing happened to, its scores, its report, and an export."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "scores.json").write_text(done(*ASKING, folder / "run"))
    done("report", folder / "run", "-o", folder / "report.html")
    export_run(open_run(folder / "run"), folder / "export.jsonl")
    return folder


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory):
    """Keep what the tests of a module compute in a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNPREDICTABENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def one_key(monkeypatch):
    """Each test sees one key and no other endpoint or proxy."""
    for name in ("OPENAI_BASE_URL", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
