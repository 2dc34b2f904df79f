"""What the pages for users show is what happens: every block of theirs is run."""

from __future__ import annotations

import re
import tomllib

import pytest

from documents import DOCS, run_page
from serving import endpoint

ROOT = DOCS.parent
PAGES = sorted({*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("*/README.md")})
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


@pytest.mark.parametrize("name", ["clients", "own_statistic", "tasks", "testing"])
def test_python_of_the_pages_runs(name, tmp_path, environment):
    """The blocks of Python on pages that need nothing but themselves run as they stand."""
    assert run_page(DOCS / f"{name}.md", tmp_path, environment).printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    """Every link from one page to another file of the project finds it."""
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())
    inside = [link for link in links if "://" not in link]
    assert [link for link in inside if not (page.parent / link).exists()] == []


def test_contributing_shows_the_floors_that_are_checked():
    """The picture of the house is the contract of `make imports`, module for module."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    checked = [set(re.findall(r"unpredictabench\.(\w+)", layer)) for layer in layers]
    picture = re.search(r"```\n(cli\n.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert [set(line.split(" | ")) for line in picture[1].splitlines()] == checked
