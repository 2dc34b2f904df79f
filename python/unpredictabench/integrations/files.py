"""The files of a folder that may be read: regular ones inside it, in numeric order."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unpredictabench.integrations.tally import Tally

SUFFIXES = (".json", ".jsonl", ".csv", ".tsv", ".parquet", ".eval")
ARCHIVES = (".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".zst", ".7z", ".rar")
_DIGITS = re.compile(r"(\d+)")


def files(root: Path, tally: Tally) -> list[Path]:
    """Return the files of a folder that an import may read.

    Parameters
    ----------
    root : pathlib.Path
        A folder, or one file.
    tally : Tally
        Where everything else is counted.

    Returns
    -------
    list of pathlib.Path
        Regular files with a known ending, numbers in names in numeric order. Links are followed
        only to files inside the folder, or inside the hub cache it belongs to. Archives are
        never opened.
    """
    if root.is_file():
        return [root] if _may_be_read(root, Path(root.anchor), tally) else []
    home = _home(root)
    found = []
    for folder, names, leaves in os.walk(root):
        for name in names:
            if (Path(folder) / name).is_symlink():
                tally.skip("link to a folder", Path(folder, name).relative_to(root))
        names[:] = [name for name in names if not name.startswith(".")]
        for leaf in leaves:
            path = Path(folder) / leaf
            if not leaf.startswith(".") and _may_be_read(path, home, tally):
                found.append(path)
    return sorted(found, key=natural)


def natural(path: Path) -> list[tuple[int, int, str]]:
    """Return a sort key in which run_2 comes before run_10."""
    parts = _DIGITS.split(str(path))
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def _home(root: Path) -> Path:
    """Return the folder that links may lead into."""
    resolved = root.resolve()
    caches = [p for p in (resolved, *resolved.parents) if p.name.startswith("datasets--")]
    return caches[-1] if caches else resolved


def _may_be_read(path: Path, home: Path, tally: Tally) -> bool:
    suffix = path.suffix.lower()
    if suffix in ARCHIVES:
        tally.refuse("archive, which is never opened: unpack it first", path)
    elif suffix not in SUFFIXES:
        tally.skip(f"file that ends in {suffix or 'nothing'}", path)
    elif path.is_symlink() and not path.resolve().is_relative_to(home.resolve()):
        tally.refuse("link that leads out of the folder", path)
    elif not path.is_file():
        tally.refuse("not a regular file", path)
    else:
        return True
    return False
