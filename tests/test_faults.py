"""Full disks, read-only folders and a second process end in one sentence; a repeat completes."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from commands import (
    ASKING,
    answers,
    assert_like,
    done,
    limit_files,
    one_sentence,
    read_only,
    run,
    scores,
    small_disk,
)
from unpredictabench.store import open_run, open_writer
from unpredictabench.store.lock import LOCK_NAME


def limits(*, is_mounted, size):
    """Bound the files of a process where no small file system could be mounted."""
    return {} if is_mounted else {"preexec_fn": functools.partial(limit_files, size)}


@pytest.mark.parametrize("is_limit", [False, True], ids=["full disk", "file-size limit"])
def test_a_run_that_meets_a_full_disk_is_completed_when_there_is_room(undisturbed, is_limit):
    """One sentence, code 1, what was stored stays; with room a repeat equals an undisturbed run."""
    with small_disk("90k") as (folder, is_mounted):
        bounds = limits(is_mounted=is_mounted and not is_limit, size=60_000)
        code, out, err = run(*ASKING, folder / "run", **bounds)
        assert (code, out) == (1, "")
        one_sentence(err, f"{folder}/run", "cannot be written", "is kept: make room")
        before = answers(folder / "run")
        if is_mounted:
            subprocess.run(["mount", "-o", "remount,size=4m", str(folder)], check=True)
        told = done(*ASKING, folder / "run")
        assert set(before) <= set(answers(folder / "run"))
        assert_like(folder / "run", undisturbed)
        assert scores(told) == scores((undisturbed / "scores.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("is_limit", [False, True], ids=["full disk", "file-size limit"])
def test_reports_and_imports_on_a_full_disk_are_whole_or_absent(undisturbed, is_limit):
    """A page, a table, readings or a run that does not fit leaves no part of it under its name."""
    with small_disk("40k") as (folder, is_mounted):
        bounds = limits(is_mounted=is_mounted and not is_limit, size=1_000)
        written = {
            "report": ("-o", folder / "report.html"),
            "report ": ("--csv", folder / "table.csv"),
            "report  ": ("--figures", folder / "figures"),
        }
        for command, words in written.items():
            code, _, err = run(command.strip(), undisturbed / "run", *words, **bounds)
            assert code == 1
            one_sentence(err, str(folder), "cannot be written", "make room")
        code, _, err = run("import", undisturbed / "export.jsonl", "-o", folder / "in", **bounds)
        assert code == 1
        one_sentence(err, f"{folder}/in/export cannot be written", "make room")
        left = {file.name for file in folder.rglob("*") if file.is_file()}
        assert not {name for name in left if name.endswith((".html", ".csv", ".pdf", ".part"))}
        if is_mounted:
            subprocess.run(["mount", "-o", "remount,size=4m", str(folder)], check=True)
        done("import", undisturbed / "export.jsonl", "-o", folder / "in")
        assert answers(folder / "in" / "export") == answers(undisturbed / "run")


def test_a_full_disk_behind_standard_output_is_one_sentence(undisturbed):
    """Scores that cannot be printed end in a sentence and code 1, not in a trace."""
    with Path("/dev/full").open("w") as full:
        code, _, err = run("score", undisturbed / "run", "--no-baselines", "--json", stdout=full)
    assert code == 1
    one_sentence(err, "No space left on device", "run the same command again")


def test_a_read_only_folder_is_named_with_what_to_do(undisturbed):
    """Every command that writes names the folder, and the way out; reading still works."""
    with small_disk("4m") as (place, is_mounted):
        shutil.copytree(undisturbed / "run", place / "run")
        commands = {
            "choose another folder with -o": (*ASKING[:-3], "41", "-o", place / "run"),
            f"make the folder {place} writable": ("report", place / "run", "-o", place / "x.html"),
            "make the folder writable": ("extract", place / "run"),
            f"{place}/in": ("import", undisturbed / "export.jsonl", "-o", place / "in"),
        }
        with read_only(place, is_mounted=is_mounted) as limits:
            for way_out, words in commands.items():
                code, _, err = run(*words, **limits)
                assert code == 1
                one_sentence(err, str(place), "cannot be written", way_out)
            done("score", place / "run", "--no-baselines", "--json", **limits)


def test_a_second_process_on_one_run_is_told_who_has_it(tmp_path, undisturbed):
    """The second writer names the first one's process, changes nothing, and readers go on."""
    shutil.copytree(undisturbed / "run", tmp_path / "run")
    run_ = open_run(tmp_path / "run")
    before = answers(tmp_path / "run")
    with open_writer(tmp_path / "run", run_.settings, run_.plan):
        for words in ((*ASKING[:-1], "-o"), ("import", undisturbed / "export.jsonl", "-o")):
            out = tmp_path if words[0] == "import" else tmp_path / "run"
            if words[0] == "import":
                shutil.copy(undisturbed / "export.jsonl", tmp_path / "run.jsonl")
                words = ("import", tmp_path / "run.jsonl", "-o")  # noqa: PLW2901 - a copy by name
            code, _, err = run(*words, out)
            assert code == 1
            one_sentence(err, f"is being written by process {os.getpid()}; wait for it")
        done("score", tmp_path / "run", "--no-baselines", "--json")
    assert answers(tmp_path / "run") == before
    assert (tmp_path / "run" / LOCK_NAME).read_text() == f"{os.getpid()}\n"
