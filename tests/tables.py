"""Read the tables in which Markdown pages name tests."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent


def named_tests(cell):
    """Return the tests of a cell, each written as ``file.py::function`` between backticks."""
    return re.findall(r"`([^`]+)`", cell)


def source_of(test):
    """Return the text of a test named ``file.py::function``; None when there is none."""
    name, _, function = test.partition("::")
    file = TESTS / name
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    return None
