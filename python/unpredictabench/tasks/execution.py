"""Run Python programs in child processes with limits on time, output, memory, files and network.

The limits keep an honest program from doing harm by mistake. They are no wall against a hostile
one: it may read whatever this user may read (docs/security.md).
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from unpredictabench.errors import SuiteError, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

CHUNK = 65_536
"""Bytes read at a time: what a pipe holds."""
RUNNER = Path(__file__).with_name("runner.py")
GIVEN = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT",
    "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
)  # fmt: skip
"""Variables of the environment that a program is given: none of them holds a key."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may use.

    Parameters
    ----------
    timeout_s : float
        Seconds for all runs together.
    output_bytes : int
        Characters that one run may print.
    memory_mb : int
        Address space of the process, in MiB, where the system can limit it.

    Notes
    -----
    Besides, a program has no network, no key from the environment, and writes no file above 64 MiB.
    """

    timeout_s: float = 60.0
    output_bytes: int = 10_000
    memory_mb: int = 4096


def run_many(source: str, runs: int, *, limits: Limits | None = None) -> tuple[str, ...]:
    """Run a program many times in one child process.

    Parameters
    ----------
    source : str
        Python source; compiled once, executed in a fresh namespace each time.
    runs : int
        How often, at least 1.
    limits : Limits, optional
        What it may use.

    Returns
    -------
    tuple of str
        What each run printed.

    Raises
    ------
    SuiteError
        When the program fails, takes too long, prints too much or needs too much memory; the
        process and everything it started are killed.
    """
    limits = limits or Limits()
    order = {
        "source": source,
        "runs": runs,
        "output_bytes": limits.output_bytes,
        "memory_bytes": limits.memory_mb * 2**20,
    }
    # Every character printed takes at most 12 bytes in JSON (an escaped surrogate pair).
    most = runs * (12 * limits.output_bytes + 64)
    report = _child([str(RUNNER)], json.dumps(order), limits.timeout_s, most)
    return _outputs(report, runs, limits)


def _outputs(report: bytes, runs: int, limits: Limits) -> tuple[str, ...]:
    """Return what each run printed, or raise for the run that went wrong."""
    try:
        entries = [json.loads(line) for line in report.decode("utf-8").splitlines()]
    except ValueError:  # the program wrote to the descriptor of the report
        raise SuiteError("the program disturbed the process that runs it") from None
    if len(entries) > runs:
        raise SuiteError("the program left a second process that went on with its runs")
    outputs: list[str] = []
    for entry in entries:
        if "failed" in entry:
            reason = f"stopped in run {len(outputs) + 1}: {shortened(entry['failed'], 200)}"
            if "too much output" in entry["failed"]:
                reason = f"printed more than {limits.output_bytes} characters in one run"
            raise SuiteError(f"the program {reason}")
        outputs.append(entry["printed"])
    if len(outputs) != runs:
        raise SuiteError(f"the program ended its process in run {len(outputs) + 1}")
    return tuple(outputs)


def run_once(source: str, *, limits: Limits | None = None) -> str:
    """Run a program as a script of its own, just as its reader would, and return what it printed.

    Parameters
    ----------
    source : str
        Python source.
    limits : Limits, optional
        What it may use.

    Raises
    ------
    SuiteError
        As for `run_many`.
    """
    limits = limits or Limits()
    with tempfile.TemporaryDirectory(prefix="unpredictabench-") as folder:
        script = Path(folder) / "program.py"
        script.write_text(source, encoding="utf-8")
        memory_bytes = str(limits.memory_mb * 2**20)
        arguments = [str(RUNNER), str(script), memory_bytes]
        printed = _child(arguments, "", limits.timeout_s, limits.output_bytes)
    return printed.decode("utf-8", errors="replace")


def _child(arguments: Sequence[str], text: str, timeout_s: float, most_bytes: int) -> bytes:
    """Start Python in a process group of its own and return its standard output."""
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    given = {name: os.environ[name] for name in GIVEN if name in os.environ}
    with tempfile.TemporaryFile() as order, tempfile.TemporaryFile() as errors:
        order.write(text.encode())
        order.seek(0)
        process = subprocess.Popen(  # noqa: S603 - programs are run on purpose, and documented so
            [sys.executable, "-P", "-X", "utf8", *arguments],
            stdin=order,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=given | threads,
            start_new_session=True,
        )
        deadline = time.monotonic() + timeout_s
        try:
            printed = _read(process, deadline, most_bytes)
            if len(printed) > most_bytes:
                raise SuiteError(f"the program printed more than {most_bytes} bytes")
            status = process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise SuiteError(f"the program took longer than {timeout_s:g} s") from None
        finally:
            _kill(process)
        if status != 0:
            errors.seek(0)
            last = errors.read()[-2000:].decode("utf-8", errors="replace").strip()
            reason = last.splitlines()[-1] if last else f"exit status {status}"
            raise SuiteError(f"the program failed: {shortened(reason, 200)}")
    return printed


def _read(process: subprocess.Popen[bytes], deadline: float, most: int) -> bytes:
    """Read until the end or until there is too much; the deadline raises `TimeoutExpired`."""
    assert process.stdout is not None
    parts = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while len(parts) <= most:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise subprocess.TimeoutExpired(process.args, left)
            chunk = os.read(process.stdout.fileno(), CHUNK)
            if not chunk:
                break
            parts += chunk
    return bytes(parts)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and all it started, and collect it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
