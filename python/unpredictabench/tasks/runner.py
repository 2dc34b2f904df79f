"""Run one program many times; executed as a script in a child process, never imported.

The program is compiled once and executed in a fresh namespace each time. Its standard output is
captured, never shown. What each run printed goes to the parent as one JSON text a line; the first
run that fails ends the whole.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType


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
    """Limit the address space where the system can."""
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


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
    """Read the order from standard input, run, and report on the original standard output."""
    order = json.loads(sys.stdin.read())
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    limited(order["memory_bytes"])
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
