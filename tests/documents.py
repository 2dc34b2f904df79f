"""Run the code of a page of documentation, and hold its output against what the page shows.

Blocks marked `python` share one namespace, blocks marked `sh` one folder and one environment; a
block marked `text` shows what the block before it printed. Lines of dots stand for anything.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = 'unpredictabench() { "$PYTHON" -m unpredictabench "$@"; }\npython() { "$PYTHON" "$@"; }\n'


@dataclass
class Page:
    """What a page did: its blocks in order with what each printed, and the names it made."""

    printed: list[tuple[str, str]]
    names: dict[str, object]


def files_of(text: str) -> dict[str, str]:
    """Return the files that a page writes out under their names."""
    return dict(FILE.findall(text))


def run_page(path: Path, folder: Path, environment: dict[str, str] | None = None) -> Page:
    """Run the blocks of a page in a folder; raise AssertionError where the output differs."""
    text = path.read_text()
    page = Page([], {"__name__": "__page__"})
    files = files_of(text)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    environment = os.environ | {"PYTHON": sys.executable, "COLUMNS": "80"} | (environment or {})
    for language, code in BLOCK.findall(text):
        if code in files.values():
            continue
        if language == "text":
            _check(page.printed[-1][1], code)
        elif language == "python":
            page.printed.append((code, _python(code, page.names, folder)))
        elif language == "sh":
            page.printed.append((code, _shell(code, folder, environment)))
    return page


def _python(code: str, names: dict[str, object], folder: Path) -> str:
    out = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out):
        exec(compile(code, "<page>", "exec"), names)
    return out.getvalue()


def _shell(code: str, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", SHELL + code],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{code}\nended with {done.returncode}:\n{done.stderr}"
    return done.stdout


def _check(printed: str, shown: str) -> None:
    parts = [
        re.escape(part.strip("\n")) for part in re.split(r"^\.\.\.$\n?", shown, flags=re.MULTILINE)
    ]
    pattern = r"\n(?:.*\n)*?".join(part for part in parts if part)
    lines = "\n".join(line.rstrip() for line in printed.splitlines())
    assert re.search(pattern, lines), f"the page shows\n{shown}\nbut the code printed\n{printed}"
