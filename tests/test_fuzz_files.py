"""Truncated and corrupted files: read whole, counted as damaged, or refused by name."""

from __future__ import annotations

import csv
import io
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unpredictabench.cli.summary import summary
from unpredictabench.errors import StoreError, UnpredictabenchError
from unpredictabench.integrations import import_path
from unpredictabench.records import Completion, Message, Settings
from unpredictabench.store import export_run, import_run, open_run, open_writer
from unpredictabench.store.rows import Planned
from unpredictabench.store.writing import forget_without_answers

SETTINGS = Settings("m", "v1", "hash", parameters={"temperature": 1.0})
PLAN = {f"t/{k}": Planned(5, (Message("user", "Draw."),)) for k in range(3)}
N_ANSWERS = 12


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a small run and the bytes of its file and its exports."""
    folder = tmp_path_factory.mktemp("run")
    with open_writer(folder / "r", SETTINGS, PLAN) as writer:
        for task in PLAN:
            for index in range(4):
                writer.append(Completion(task, index, f"answer {index} \u00e9", created_at=1.5))
        writer.log("stopped", {"reason": "incomplete", "failures": {"x": 3}, "marks": ["a"]})
    opened = open_run(folder / "r")
    files = {"run.sqlite": (folder / "r" / "run.sqlite").read_bytes()}
    for name in ("e.jsonl", "e.parquet"):
        files[name] = export_run(opened, folder / name).read_bytes()
    return opened, files


def counts(run):
    """Return what is counted in a run."""
    return run.n_stored, run.n_missing, run.n_spared, sum(1 for _ in run.completions())


def flipped(content, rng):
    """Return bytes with a few bits turned, or a stretch made zero."""
    changed = bytearray(content)
    if rng.random() < 0.3:
        at, n = rng.randrange(len(changed)), rng.choice([16, 100, 512, 4096])
        changed[at : at + n] = bytes(len(changed[at : at + n]))
    else:
        for _ in range(rng.choice([1, 1, 2, 8])):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def tried(call, *arguments):
    """Return what a call gave and None, or None and what the package said against it."""
    try:
        return call(*arguments), None
    except UnpredictabenchError as error:
        return None, str(error)


def told(folder):
    """Open a run, put it into words, and return what is counted in it."""
    opened = open_run(folder)
    list(summary(opened))
    return counts(opened)


def add_one(folder):
    """Add an answer to a run and return how many it holds."""
    with open_writer(folder, SETTINGS, PLAN) as writer:
        writer.append(Completion("t/0", 4, "new"))
    return open_run(folder).n_stored


def check_store(content, folder, right):
    """Read a damaged run file: every count is right, or one error names the folder."""
    for rest in folder.iterdir():
        rest.unlink()
    file = folder / "run.sqlite"
    file.write_bytes(content)
    found, refusal = tried(told, folder)
    assert found == counts(right) or str(folder) in refusal
    assert file.read_bytes() == content


def check_writer(content, folder):
    """Go on with a damaged run file: what it holds stays, or one error names the folder."""
    for rest in folder.iterdir():
        rest.unlink()
    (folder / "run.sqlite").write_bytes(content)
    forget_without_answers(folder)
    assert (folder / "run.sqlite").exists()
    n_stored, refusal = tried(add_one, folder)
    assert n_stored == N_ANSWERS + 1 or str(folder) in refusal


@pytest.mark.parametrize("seed", range(5))
def test_damaged_runs_are_refused_or_right(tmp_path, run, seed):
    """Flipped bits and zeroed stretches never change a count in silence, nor does reading write."""
    rng = random.Random(seed)
    for _ in range(40):
        content = flipped(run[1]["run.sqlite"], rng)
        check_store(content, tmp_path, run[0])


@pytest.mark.parametrize("seed", range(5))
def test_damaged_runs_lose_nothing(tmp_path, run, seed):
    """A run that cannot be gone on with stays as it is, and is never taken for an empty one."""
    rng = random.Random(seed)
    for _ in range(15):
        check_writer(flipped(run[1]["run.sqlite"], rng), tmp_path)


def test_cut_runs_are_refused(tmp_path, run):
    """A run file that ends early is refused, whatever its length."""
    content = run[1]["run.sqlite"]
    pages = [page + more for page in range(0, len(content), 4096) for more in (-1, 0, 1, 100)]
    for size in sorted({size for size in (*pages, *range(0, 200, 7)) if 0 <= size < len(content)}):
        check_store(content[:size], tmp_path, run[0])


@pytest.mark.slow
def test_prefixes_of_a_run_are_refused(tmp_path, run):
    """So it is for lengths of every fifth byte, and for thousands of flips."""
    content, rng = run[1]["run.sqlite"], random.Random(11)
    for size in range(0, len(content), 5):
        check_store(content[:size], tmp_path, run[0])
    for _ in range(5_000):
        check_store(flipped(content, rng), tmp_path, run[0])
    for _ in range(1_000):
        check_writer(flipped(content, rng), tmp_path)


def test_a_setting_of_another_kind_is_damage(tmp_path, run):
    """Settings, plan and log that nobody wrote are refused by name too."""
    for old, new in [
        (b'"m"', b"[1]"), (b'"role": "user"', b'"role": 123456'), (b'{"reason"', b'["reason"'),
        (b'"independent"', b'"undependent"'),
    ]:  # fmt: skip
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        content = run[1]["run.sqlite"]
        assert content.count(old)
        (folder / "run.sqlite").write_bytes(content.replace(old, new))
        with pytest.raises(StoreError, match=r"run.sqlite is damaged"):
            open_run(folder)


def tables():
    """Return a table of six answers in each form, as bytes by file name."""
    task = "text-explicit/poisson/spread_out"
    rows = [
        {"task": task, "model": "m", "answer": str(i), "index": i, "temperature": 1.0}
        for i in range(6)
    ]
    text, parquet = io.StringIO(), io.BytesIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    pq.write_table(pa.Table.from_pylist(rows), parquet)
    return {
        "t.csv": text.getvalue().encode(),
        "t.json": json.dumps(rows).encode(),
        "t.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows).encode(),
        "t.parquet": parquet.getvalue(),
    }


TABLES = tables()


def check_import(name, content, folder, *, most):
    """Import a damaged file: all is there, or what is missing is said, or an error names it."""
    file = folder / name
    file.write_bytes(content)
    target = folder / f"out-{len(list(folder.iterdir()))}"
    done, refusal = tried(import_path, file, target)
    assert refusal is None or name in refusal
    if refusal is not None:
        return
    n_stored = sum(run.n_stored for run in done.runs)
    noted = [e for run in done.runs for e in open_run(run.path).events if e.data.get("n_partial")]
    # A table that ends at the end of a row is a shorter table.
    is_row_end = content.endswith(b"\n") or (name.endswith("jsonl") and content.endswith(b"}"))
    assert n_stored == most or not done.is_complete or noted or is_row_end


@pytest.mark.parametrize(
    "name", ["t.csv", "t.json", "t.jsonl", "t.parquet", "e.jsonl", "e.parquet"]
)
@pytest.mark.parametrize("kind", ["prefix", "flip"])
def test_damaged_imports_say_so(tmp_path, run, name, kind):
    """Whatever is cut off or turned, nothing disappears without a word."""
    content = (TABLES | run[1])[name]
    most = N_ANSWERS if name.startswith("e.") else 6
    rng = random.Random(name)
    for _ in range(12):
        cut = content[: rng.randrange(len(content))]
        changed = cut if kind == "prefix" else flipped(content, rng)
        if name == "t.csv" and kind == "prefix" and changed.count(b",") % 4 == 0:
            continue  # cut inside the last cell, which a table cannot tell
        check_import(name, changed, tmp_path, most=most)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.parquet", "e.jsonl", "e.parquet"])
def test_every_prefix_of_an_import_says_so(tmp_path, run, name):
    """So it is for every third length of every form, and for hundreds of flips."""
    content = (TABLES | run[1])[name]
    most = N_ANSWERS if name.startswith("e.") else 6
    rng = random.Random(1)
    for size in range(0, len(content), 3):
        check_import(name, content[:size], tmp_path, most=most)
    for _ in range(300):
        check_import(name, flipped(content, rng), tmp_path, most=most)


def test_a_row_with_too_few_cells_is_refused(tmp_path):
    """A line of a table that ends early is counted, not read with empty cells."""
    (tmp_path / "t.csv").write_bytes(TABLES["t.csv"][:-8])
    done = import_path(tmp_path / "t.csv", tmp_path / "out")
    assert done.tally["refused"] == {"row with fewer cells than the header": 1}
    assert done.runs[0].n_stored == 5


def test_exported_parquet_with_damaged_names_is_refused(tmp_path, run):
    """Bytes that are no UTF-8 in the names of columns are an error that names the file."""
    content = run[1]["e.parquet"].replace(b"finish_reason", b"finish_reas\xe1n")
    (tmp_path / "x.parquet").write_bytes(content)
    with pytest.raises(StoreError, match="x.parquet"):
        import_run(tmp_path / "x.parquet", tmp_path / "r")
    with pytest.raises(UnpredictabenchError, match="x.parquet"):
        import_path(tmp_path / "x.parquet", tmp_path / "o")
