"""Data compressed inside a page: one gzip member a task, in base64."""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Final

from unpredictabench.report.details import task_data

if TYPE_CHECKING:
    from unpredictabench.report.contents import Contents

WIDTHS: Final = (200, 100, 50, 24)
"""Lengths at which answers are cut: the first that keeps the page small enough."""
BUDGET: Final = 7_500_000
"""Most bytes of packed data; the whole page stays under 10 MB."""


def packed(contents: Contents, budget: int = BUDGET) -> tuple[dict[str, str], int]:
    """Pack the data of every task.

    Parameters
    ----------
    contents : Contents
        The report.
    budget : int
        Most bytes in total.

    Returns
    -------
    data : dict of str to str
        By task id.
    width : int
        Length at which answers were cut.
    """
    for width in WIDTHS:
        found = {task.id: pack(task_data(task, contents, width)) for task in contents.tasks}
        if sum(map(len, found.values())) <= budget:
            break
    return found, width


def pack(data: object) -> str:
    """Write plain data as JSON, compress it and encode it for a page; the same in, the same out."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("ascii"), 9, mtime=0)).decode("ascii")


def unpack(text: str) -> object:
    """Undo `pack`."""
    return json.loads(gzip.decompress(base64.b64decode(text)))
