"""Draw the table of a run as the picture of the README: ``python docs/draw_table.py RUN``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from rich.console import Console

from unpredictabench.cli._tables import print_run
from unpredictabench.score import baselines_of, score

path = Path(sys.argv[1])
run = score(path)
console = Console(record=True, width=78, file=Path("/dev/null").open("w"))  # noqa: SIM115
print_run(console, run, baselines_of(path, run))
svg = console.export_svg(title="make run", unique_id="table")
# The terminal's own font serves: a picture that loads nothing from elsewhere.
svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
Path(__file__).with_name("table.svg").write_text(svg)
