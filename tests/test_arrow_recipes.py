"""The recipes of docs/arrow.md run as they stand there, and in flat memory."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from unpredictabench.stats import ks_2samp

PAGE = Path(__file__).parents[1] / "docs" / "arrow.md"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
N = 100


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Run all blocks of the page in their order, in one folder; return what they defined."""
    found = {"__name__": "recipes"}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("recipes"))
        for block in BLOCKS:
            exec(block, found)
        found["folder"] = Path.cwd()
    return found


def expected(names, rows=3):
    """Return the p-values of the page's batch, one call a row."""
    batch = names["batch"].to_pylist()[:rows]
    return [
        ks_2samp(row["x"], names["truths"][row["truth_id"]], n_invalid=row["n_invalid"]).pvalue
        for row in batch
    ]


def test_the_page_has_its_recipes(names):
    """The first recipe gives the p-values of single calls."""
    assert len(BLOCKS) == 5
    assert names["scored"]["pvalue"].to_pylist() == expected(names)


def test_the_parquet_recipe_keeps_every_row_in_order(names):
    """A file written a piece at a time holds the scores of all rows."""
    table = parquet.read_table(names["folder"] / "scores.parquet")
    assert table["pvalue"].to_pylist() == expected(names) * 1000


def test_the_polars_recipe_scores_what_passes(names, monkeypatch):
    """A lazy frame scored in batches has the p-values of single calls."""
    monkeypatch.chdir(names["folder"])
    frame = names["scores"].collect()
    assert frame["pvalue"].to_list() == expected(names) * 1000
    assert frame.columns == ["model", "truth_id", "n_invalid", "pvalue"]


def test_the_duckdb_recipe_scores_a_query(names):
    """A relation is scored without a detour, and its scores can be asked again."""
    assert names["scores_of_a"]["pvalue"].to_pylist() == expected(names, 2) * 1000


def test_the_files_of_the_page_are_scored(names):
    """The page's pairs give one row each, with the version in the metadata."""
    out = parquet.read_table(names["folder"] / "out.parquet")
    assert out.num_rows == names["done"].n_pairs == 3000
    assert json.loads(out.schema.metadata[b"unpredictabench"])["n_truths"] == 2


MEASURED = """
    import sys
    from pathlib import Path
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet as pq
    from unpredictabench.integrations import score_pairs
    from unpredictabench.stats import PreparedTruth, score_batch

    truths = {"a": PreparedTruth(np.arange(1000.0))}
    if sys.argv[1] == "recipe":
        {recipe}
    else:
        score_pairs("pairs.parquet", "scores.parquet", workers=1)
    # Not getrusage: its peak survives the exec and is that of the process that runs the tests.
    print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


def peak_mb(folder, how):
    """Return the peak memory of a process that scores the pairs in a folder."""
    recipe = next(block for block in BLOCKS if "split_by_row_group" in block)
    lines = [line for line in recipe.splitlines() if "write_table" not in line]
    script = textwrap.dedent(MEASURED).replace("{recipe}", "\n    ".join(lines))
    done = subprocess.run(
        [sys.executable, "-c", script, how], cwd=folder, capture_output=True, text=True, check=True
    )
    return int(done.stdout) // 1024


def write_pairs(folder, n_pairs, group):
    """Write pairs in row groups of this many rows."""
    folder.mkdir()
    offsets = np.arange(n_pairs + 1, dtype=np.int32) * N
    values = np.random.default_rng(3).normal(500, 300, n_pairs * N)
    columns = {
        "x": pa.ListArray.from_arrays(offsets, values),
        "truth_id": ["a"] * n_pairs,
        "n_invalid": np.zeros(n_pairs, dtype=np.int32),
    }
    parquet.write_table(pa.table(columns), folder / "pairs.parquet", row_group_size=group)
    laws = {"truth_id": ["a"], "y": [np.arange(1000.0)]}
    parquet.write_table(pa.table(laws), folder / "truths.parquet")


@pytest.mark.parametrize(("how", "group"), [("recipe", 20_000), ("score_pairs", 2**20)])
def test_memory_does_not_grow_with_the_file(tmp_path, how, group):
    """Twice the pairs, 200 MB more, take at most 100 MB more memory once the buffers are full."""
    write_pairs(tmp_path / "small", 250_000, group)
    write_pairs(tmp_path / "large", 500_000, group)
    peaks = [peak_mb(tmp_path / size, how) for size in ("small", "large")]
    assert peaks[1] < peaks[0] + 100, peaks
    assert parquet.read_metadata(tmp_path / "large" / "scores.parquet").num_rows == 500_000


@pytest.mark.slow
def test_a_million_pairs_take_less_than_a_gigabyte(tmp_path):
    """A million pairs of n = 100 in one row group stay below 1 GB, in less than 60 CPU seconds."""
    write_pairs(tmp_path / "million", 10**6, 10**6)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert peak_mb(tmp_path / "million", "score_pairs") < 1000
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 60
