"""The command line in processes of its own, which a test may kill, starve or interrupt."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from unpredictabench.store import last_readings, open_run

ASKING = ("run", "sim:perfect", "--limit-tasks", "1", "--samples", "40", "--json", "-o")
"""280 answers to seven tasks, and their scores; the run folder is to follow."""
STAGED = """
import sys, time
from unpredictabench.cli import main
def reached(*args, **kwargs):
    print("reached", flush=True)
    time.sleep(120)
{patch}
main(sys.argv[1:])
"""
"""Runs a command in which one function, replaced by `patch`, tells that it is reached."""


def start(*words, patch=None, **how):
    """Start a command; with a patch it is run through `STAGED`."""
    code = ["-m", "unpredictabench"] if patch is None else ["-c", STAGED.format(patch=patch)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    command = [sys.executable, *code, *map(str, words)]
    return subprocess.Popen(command, text=True, **(pipes | how))


def run(*words, **how):
    """Run a command to its end; return exit code, standard output and standard error."""
    process = start(*words, **how)
    out, err = process.communicate()
    return process.returncode, out, err


def done(*words, **how):
    """Run a command that must succeed; return its standard output."""
    code, out, err = run(*words, **how)
    assert code == 0, err
    return out


def interrupted(process, *, n_times=1):
    """Wait until a staged command reaches its stage, press Ctrl-C, and return how it ended."""
    for line in process.stdout:
        if line == "reached\n":
            break
    for _ in range(n_times):
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def one_sentence(err, *words):
    """Check that an error is told in one line, whole and without a trace; return that line."""
    assert "Traceback" not in err
    (line,) = [line for line in err.splitlines() if line.startswith("unpredictabench: ")]
    for word in words:
        assert word in line
    return line


def scores(text):
    """Return printed scores without the name of the run."""
    data = json.loads(text)
    for each in (*data["runs"], *data["baselines"]):
        del each["run"]
    return data


def assert_like(out, undisturbed):
    """Compare a run that was disturbed, and then repeated, with one that was not."""
    mended, whole = open_run(out), open_run(undisturbed / "run")
    assert list(mended.completions()) == list(whole.completions())
    assert (mended.settings, mended.plan) == (whole.settings, whole.plan)
    assert (mended.stop_reason, mended.n_missing) == ("complete", 0)
    assert last_readings(out) == last_readings(whole.path)


def answers(path):
    """Return the answers of a run."""
    return list(open_run(path).completions())


@contextlib.contextmanager
def small_disk(size):
    """Give a folder that holds so many bytes: a file system of its own, where one can be mounted.

    Elsewhere the folder is an ordinary one, and the caller's `limits` bound each of its files.
    """
    folder = Path(tempfile.mkdtemp())
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        is_mounted = subprocess.run(mounting, check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        is_mounted = False
    try:
        yield folder, is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def limit_files(size):
    """Bound every file a process writes, in bytes; meant for `preexec_fn`."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@contextlib.contextmanager
def read_only(folder, *, is_mounted):
    """Make a folder read-only; yield what a process needs that is to find it so.

    Root may write where permissions forbid it, so a mounted folder is mounted read-only. Where
    neither helps, the process may write no byte.
    """
    if is_mounted:
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    folder_mode = folder.stat().st_mode
    if not is_mounted:
        folder.chmod(0o555)
    is_bounded = not is_mounted and os.geteuid() == 0
    try:
        yield {"preexec_fn": functools.partial(limit_files, 0)} if is_bounded else {}
    finally:
        if not is_mounted:
            folder.chmod(folder_mode)
