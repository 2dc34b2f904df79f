"""The command that writes reports, on runs made by simulated models."""

from __future__ import annotations

import csv
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

import unpredictabench
from unpredictabench.cli import group
from unpredictabench.errors import MissingExtraError
from unpredictabench.report import charts, page

TASKS = ("text-explicit/beta/concentrated", "shuffling/three-animals")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Make two stored runs of simulated models."""
    folder = tmp_path_factory.mktemp("runs")
    suite = unpredictabench.load_suite("v1").select(ids=TASKS)
    made = []
    for name in ("perfect", "median"):
        client = unpredictabench.SimulatedClient(name, seed=3)
        run = unpredictabench.generate(suite, client, folder / name, n_samples=20)
        made.append(str(run.path))
    return made


def call(*arguments):
    """Run a command that must succeed and return its output."""
    done = CliRunner().invoke(group, ["report", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_page(runs, tmp_path):
    """The page holds both runs, the baselines and the published leaderboard."""
    file = tmp_path / "deep" / "r.html"
    assert str(file) in call(*runs, "-o", file, "--title", "A & B")
    html = file.read_text()
    assert "<h1>A &amp; B</h1>" in html
    for word in ("sim:perfect", "sim:median", "Published leaderboard", "sim:kpoint:3"):
        assert word in html
    assert "Diagnosis: collapse: too few different values" in html
    assert "2 tasks: none 2; answers are independent" in html
    told = html.split('id="provenance"')[1]
    for word in ("settings", "seeds", "dates", "prompt tokens", "completion tokens", "cost"):
        assert f"<dt>{word}</dt>" in told
    assert re.search(r"written from \d{4}-\d\d-\d\d \d\d:\d\d UTC to ", told)


def test_tables_alone(runs, tmp_path, monkeypatch):
    """Where only tables are asked for no page is written; - prints."""
    monkeypatch.chdir(tmp_path)
    options = ("--no-baselines", "--no-published", "-n", 5, "-n", 20)
    told = call(*runs, "--csv", "t.csv", "--latex", "t.tex", "--markdown", "-", *options)
    assert told.startswith("t.csv\n")
    assert "| Model | Valid % | KS@5 % | KS@20 % | N\\* | Note |" in told
    assert r"\toprule" in (tmp_path / "t.tex").read_text()
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert {row["kind"] for row in rows} == {"run"}
    assert {row["n"] for row in rows} == {"5", "20"}
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_score_exports_the_same_tables(runs, form):
    """`score --csv`, `--markdown` and `--latex` print what the report writes."""
    options = [*runs, "--no-baselines", "-n", "20"]
    scored = CliRunner().invoke(group, ["score", *options, f"--{form}"], catch_exceptions=False)
    told = call(*options, "--no-published", f"--{form}", "-")
    assert scored.stdout.strip() == told.strip()


def test_figures(runs, tmp_path):
    """Figures are written where they are asked for."""
    told = call(*runs, "--figures", tmp_path, "--no-baselines", "--no-published")
    assert "16 files" in told
    assert (tmp_path / "curves.svg").exists()


def test_page_by_default(runs, tmp_path, monkeypatch):
    """Without any option report.html is written."""
    monkeypatch.chdir(tmp_path)
    call(runs[0], "--no-baselines", "--no-published")
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_the_module_is_its_function(runs, tmp_path):
    """`unpredictabench.report(...)` writes a page, and the same bytes again."""
    one = unpredictabench.report(runs, tmp_path / "a.html", n=(5, 20), has_baselines=False)
    two = unpredictabench.report(runs, tmp_path / "b.html", n=(5, 20), has_baselines=False)
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_missing_extra_is_named(package, monkeypatch):
    """Without the extra the message holds the line that installs it."""
    monkeypatch.setitem(sys.modules, package, None)
    needs = charts.styled().__enter__ if package == "matplotlib" else page._environment
    with pytest.raises(MissingExtraError, match=re.escape("unpredictabench[report]")):
        needs()


def test_help_loads_no_plotting_library():
    """The help of the command and the package itself load neither matplotlib nor Jinja."""
    code = (
        "import sys, unpredictabench.cli.report, unpredictabench.report\n"
        "assert not {'matplotlib', 'jinja2'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
