"""Run one program many times; executed as a script in a child process, never imported.

The program is compiled once and executed in a fresh namespace each time. Its standard output is
captured, never shown; it has no network. What each run printed goes to the parent as one JSON text
a line; the first run that fails ends the whole.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType


NEW_NETWORK, NEW_USER = 0x40000000, 0x10000000
"""Flags of unshare(2), which Python names from 3.12 on."""
FILE_BYTES = 64 * 2**20
"""Largest file that a program may write."""


class Captured(io.StringIO):
    """Standard output kept in memory, up to a size."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.left = limit

    def write(self, text: str) -> int:
        """Keep a text, or stop the program that writes too much."""
        self.left -= len(text)
        if self.left < 0:
            raise OverflowError("too much output")
        return super().write(text)


def limited(memory_bytes: int) -> None:
    """Limit the address space and the size of files where the system can."""
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def without_network() -> None:
    """Leave the network: in a name space without any where the system gives one, else by a hook.

    The hook stops what Python itself is asked to do, and not code that calls the system directly.
    """
    if not _in_empty_namespace():
        sys.addaudithook(_no_network)


def _in_empty_namespace() -> bool:
    """Move into a network name space of its own, as root or in a user name space of its own."""
    if sys.platform != "linux":
        return False
    import ctypes  # noqa: PLC0415 - not needed elsewhere

    libc = ctypes.CDLL(None)
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(NEW_NETWORK) == 0:
        return True
    if libc.unshare(NEW_NETWORK | NEW_USER) != 0:
        return False
    # The same user inside; where the map is refused files still open as before.
    with contextlib.suppress(OSError):
        for name, line in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            Path(f"/proc/self/{name}").write_text(line, encoding="ascii")
    return True


def _no_network(event: str, _: object) -> None:
    if event.startswith("socket.") and event != "socket.gethostname":
        raise PermissionError("programs have no network")


def printed(code: CodeType, limit: int) -> str:
    """Execute a compiled program once and return what it printed."""
    out = sys.stdout = Captured(limit)
    try:
        exec(code, {"__name__": "__main__", "__builtins__": __builtins__})  # noqa: S102 - the purpose
    except SystemExit as end:
        if end.code not in (None, 0):
            raise RuntimeError(f"exit status {end.code}") from None
    return out.getvalue()


def main() -> None:
    """Run the script named on the command line, or else what standard input orders."""
    if len(sys.argv) > 1:
        script, memory_bytes = sys.argv[1], int(sys.argv[2])
        del sys.argv[1:]
        limited(memory_bytes)
        without_network()
        runpy.run_path(script, run_name="__main__")
        return
    repeat()


def repeat() -> None:
    """Read the order from standard input, run, and report on the original standard output."""
    order = json.loads(sys.stdin.read())
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    limited(order["memory_bytes"])
    without_network()
    try:
        code = compile(order["source"], "program.py", "exec")
        for _ in range(order["runs"]):
            report.write(json.dumps({"printed": printed(code, order["output_bytes"])}) + "\n")
    except BaseException as error:  # noqa: BLE001 - whatever ends the program is reported
        report.write(json.dumps({"failed": f"{type(error).__name__}: {error}"}) + "\n")
    report.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
