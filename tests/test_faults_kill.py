"""Commands killed again and again at random moments, then repeated, end as if nothing had been."""

from __future__ import annotations

import contextlib
import signal
import time

import pytest

import published_tree as tree
from commands import ASKING, answers, assert_like, done, scores, start
from unpredictabench.errors import StoreError
from unpredictabench.store import open_run
from unpredictabench.streams import stream

N_KILLS = 12


def disturbed(name, command, *, check=lambda: None):
    """Kill a command at random moments of its usual duration, then let it end; return its output.

    Every third time it is Ctrl-C, once or twice, instead of SIGKILL.
    """
    began_at = time.monotonic()
    warm = start(*command("warm"))
    warm.communicate()
    assert warm.returncode == 0
    lasted_s, rng = time.monotonic() - began_at, stream("faults", name)
    ends = []
    for number in range(N_KILLS):
        process = start(*command("disturbed"))
        time.sleep(rng.uniform(0.1, 1.0) * lasted_s)
        if number % 3:
            process.kill()
        for _ in range(0 if number % 3 else rng.integers(1, 3)):
            process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert process.returncode in {0, 130, -signal.SIGKILL, -signal.SIGINT}, err
        ends.append(process.returncode)
        check()
    assert sum(end != 0 for end in ends) >= N_KILLS // 2
    return done(*command("disturbed"))


@pytest.mark.slow
def test_run_killed_at_random_moments(tmp_path, undisturbed):
    """Asking, reading and scoring: no answer is lost, and the last repeat equals a whole run."""
    before = set()

    def check():
        nonlocal before
        after = set()
        with contextlib.suppress(StoreError):  # killed before there was a run
            after = set(answers(tmp_path / "disturbed"))
        assert before <= after
        before = after

    told = disturbed("run", lambda out: (*ASKING, tmp_path / out), check=check)
    assert_like(tmp_path / "disturbed", undisturbed)
    assert scores(told) == scores((undisturbed / "scores.json").read_text())


@pytest.mark.slow
def test_score_killed_at_random_moments(tmp_path, undisturbed, monkeypatch):
    """With a cache that is being filled when the process dies, the last scores are the same."""

    def command(out):
        monkeypatch.setenv("UNPREDICTABENCH_CACHE", str(tmp_path / out))
        return ("score", undisturbed / "run", "--json")

    told = disturbed("score", command)
    assert scores(told) == scores((undisturbed / "scores.json").read_text())


@pytest.mark.slow
def test_report_killed_at_random_moments(tmp_path, undisturbed):
    """A page and figures are whole or absent at any moment, and in the end byte for byte alike."""

    def command(out):
        folder = tmp_path / out
        return ("report", undisturbed / "run", "-o", folder / "r.html", "--figures", folder / "f")

    def check():
        page = tmp_path / "disturbed" / "r.html"
        assert not page.exists() or page.read_bytes() == whole

    whole = (undisturbed / "report.html").read_bytes()
    disturbed("report", command, check=check)
    assert _files(tmp_path / "disturbed") == _files(tmp_path / "warm")


def _files(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.suffix != ".part"
    }


@pytest.mark.slow
def test_import_of_an_export_killed_at_random_moments(tmp_path, undisturbed):
    """Answers, settings, plan and the whole log arrive, whenever the import died."""
    disturbed("export", lambda out: ("import", undisturbed / "export.jsonl", "-o", tmp_path / out))
    assert_like_import(tmp_path, "export")
    log = open_run(tmp_path / "disturbed" / "export").events
    original = open_run(undisturbed / "run").events
    assert log[: len(original)] == original
    assert {event.kind for event in log[len(original) :]} == {"imported"}


@pytest.mark.slow
def test_import_of_published_results_killed_at_random_moments(tmp_path):
    """Suite, truths and runs arrive as in an import that nothing happened to."""
    source = tmp_path / "published"
    tree.questions(source)
    tree.truths(source)
    for index in range(60):
        rows = [tree.number(str(7 + index % 20), 7 + index % 20)]
        tree.write(tree.run_folder(source, index), rows)
    disturbed("published", lambda out: ("import", source, "-o", tmp_path / out))
    runs = [file.parent.name for file in (tmp_path / "warm").rglob("run.sqlite")]
    assert runs
    for name in runs:
        assert_like_import(tmp_path, name)
    for file in ("suite.json", *[f"truths/{f.name}" for f in (tmp_path / "warm/truths").glob("*")]):
        assert (tmp_path / "disturbed" / file).read_bytes() == (
            tmp_path / "warm" / file
        ).read_bytes()


def assert_like_import(folder, name):
    """Compare two imported runs but for the times of their logs."""
    mended, whole = open_run(folder / "disturbed" / name), open_run(folder / "warm" / name)
    assert list(mended.completions()) == list(whole.completions())
    assert (mended.settings, mended.plan) == (whole.settings, whole.plan)
    assert (mended.stop_reason, mended.n_missing) == (whole.stop_reason, whole.n_missing)
