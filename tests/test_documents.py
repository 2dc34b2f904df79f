"""What the pages for users show is what happens: every block of theirs is run."""

from __future__ import annotations

import pytest

from documents import DOCS, run_page
from serving import endpoint

TUTORIALS = sorted(path.stem for path in (DOCS / "tutorials").glob("*.md"))


@pytest.fixture
def environment(monkeypatch):
    """Give a model to ask, and a key for it."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-key")
    with endpoint() as url:
        yield {"BASE_URL": url}


@pytest.mark.parametrize("name", TUTORIALS)
def test_tutorials_run(name, tmp_path, environment):
    """Each tutorial runs from top to bottom in an empty folder and prints what it shows."""
    page = run_page(DOCS / "tutorials" / f"{name}.md", tmp_path, environment)
    assert len(page.printed) >= 2


def test_every_kind_of_user_has_a_tutorial():
    """The index names each tutorial, and no other."""
    index = (DOCS / "tutorials.md").read_text()
    assert all(f"(tutorials/{name}.md)" in index for name in TUTORIALS)
    assert index.count("(tutorials/") == len(TUTORIALS)


def test_python_of_the_readme_runs(tmp_path):
    """The blocks of Python in the README run as they stand."""
    page = run_page(DOCS.parent / "README.md", tmp_path)
    assert len(page.printed) >= 2
