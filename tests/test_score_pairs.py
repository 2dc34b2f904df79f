"""Files of pairs: scored in a stream, whole or not at all, with every row in its place."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from unpredictabench.cli import group
from unpredictabench.errors import InputError, MissingExtraError, OutputError, StoreError
from unpredictabench.integrations import pair_files, score_pairs
from unpredictabench.stats import PreparedTruth, score_batch

RNG = np.random.default_rng(4)
IDS = ["a", "b", "c"]
DRAWS = {key: RNG.normal(size=300) for key in IDS}


def pairs_table(n_rows=60, **columns):
    """Return a table of pairs of different sizes."""
    rows = [RNG.normal(size=1 + i % 7).tolist() for i in range(n_rows)]
    ids = [IDS[i % 3] for i in range(n_rows)]
    return pa.table({"truth_id": ids, "x": rows, "number": range(n_rows)} | columns)


def truths_table(draws=None):
    """Return a table of truths."""
    draws = DRAWS if draws is None else draws
    return pa.table({"truth_id": list(draws), "y": list(draws.values())})


@pytest.fixture
def files(tmp_path):
    """Write pairs and truths side by side; return the pairs, their file, and where scores go."""
    table = pairs_table()
    parquet.write_table(table, tmp_path / "pairs.parquet", row_group_size=17)
    parquet.write_table(truths_table(), tmp_path / "truths.parquet")
    return table, tmp_path / "pairs.parquet", tmp_path / "out.parquet"


def expected(table, **how):
    """Return the scores of a table in memory."""
    truths = {key: PreparedTruth(draws) for key, draws in DRAWS.items()}
    return pa.Table.from_batches([score_batch(table, truths, **how)])


def call(*words):
    """Call the command; return exit code, output and errors."""
    done = CliRunner().invoke(group, ["score-pairs", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr or str(done.exception)


def test_scores_are_those_of_the_batch_in_order(files):
    """Every row has the scores it has in memory, whatever the row groups and the batches are."""
    table, pairs, out = files
    done = score_pairs(pairs, out, statistics=["pvalue", "method", "energy"])
    found = parquet.read_table(out)
    assert found.equals(expected(table, statistics=["pvalue", "method", "energy"]))
    assert (done.out, done.n_pairs, done.n_truths, done.n_nan) == (out, 60, 3, 0)


def test_batches_are_small_and_change_nothing(files, monkeypatch):
    """With a few observations a batch there are many batches, told one by one, and one result."""
    table, pairs, out = files
    monkeypatch.setattr(pair_files, "BATCH_VALUES", 40)
    seen = []
    names = ["pvalue", "kuiper_pvalue"]
    score_pairs(pairs, out, statistics=names, n_resamples=99, progress=seen.append)
    assert len(seen) > 4
    assert [one.n_total for one in seen] == [60] * len(seen)
    assert seen[-1].n_done == 60
    assert parquet.read_table(out).equals(expected(table, statistics=names, n_resamples=99))


def test_a_folder_is_its_files_in_order(files, tmp_path):
    """Files are read by name, and a file of other columns is refused."""
    table, _, out = files
    folder = tmp_path / "pairs"
    folder.mkdir()
    for i, (first, last) in enumerate([(0, 25), (25, 26), (26, 60)]):
        parquet.write_table(table.slice(first, last - first), folder / f"part-{i}.parquet")
    assert score_pairs(folder, out).n_pairs == 60
    assert parquet.read_table(out).equals(expected(table))
    parquet.write_table(table.drop_columns("number"), folder / "part-3.parquet")
    with pytest.raises(InputError, match="pairs must have the columns of part-0.parquet in all"):
        score_pairs(folder, out, overwrite=True)


def test_invalid_answers_are_counted_where_there_is_a_column(files):
    """A column `n_invalid` counts, and rows without any valid answer are counted as NaN."""
    _, pairs, out = files
    table = pairs_table(3, n_invalid=[0, 4, 2]).set_column(
        1, "x", pa.array([[0.1], [0.2, 1.0], []])
    )
    parquet.write_table(
        table.cast(table.schema.set(1, pa.field("x", pa.list_(pa.float64())))), pairs
    )
    done = score_pairs(pairs, out, statistics=["statistic", "wasserstein"])
    found = parquet.read_table(out)
    assert found["statistic"].equals(expected(table, n_invalid="n_invalid")["statistic"])
    assert np.isnan(found["wasserstein"][2].as_py())
    assert done.n_nan == 1


def test_the_file_says_how_it_was_made(files):
    """The metadata hold the version, the files and the options."""
    _, pairs, out = files
    score_pairs(pairs, out, statistics="pvalue", alternative="less", prefix="ks_")
    about = json.loads(parquet.read_schema(out).metadata[b"unpredictabench"])
    assert about["command"] == "score-pairs"
    assert (about["pairs"], about["truths"], about["n_truths"]) == (
        "pairs.parquet", "truths.parquet", 3,
    )  # fmt: skip
    assert about["options"]["alternative"] == "less"
    assert about["version"]
    assert parquet.read_schema(out).names == ["truth_id", "number", "ks_pvalue"]


def test_unknown_ids_are_counted_before_anything_is_scored(files, tmp_path, monkeypatch):
    """The first unknown id is named and all of them counted, over all batches; nothing is left."""
    _, pairs, out = files
    monkeypatch.setattr(pair_files, "BATCH_ROWS", 10)
    two = {key: DRAWS[key] for key in "ab"}
    parquet.write_table(truths_table(two), tmp_path / "two.parquet")
    message = (
        "truth_id must hold ids of the truths .*, got .*'c' at row 2, the first of 20 such rows"
    )
    with pytest.raises(InputError, match=message):
        score_pairs(pairs, out, truths=tmp_path / "two.parquet")
    parquet.write_table(pa.table({"x": [[1.0]] * 2, "truth_id": ["a", None]}), pairs)
    with pytest.raises(InputError, match="truth_id must hold no null, got 'null at row 1'"):
        score_pairs(pairs, out)
    assert not out.exists()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"y": [[1.0]]}, "truths must have one column truth_id, got 'truths.parquet with y'"),
        ({"truth_id": ["a"]}, "truths must have one column y"),
        ({"truth_id": ["a", "a"], "y": [[1.0], [2.0]]}, "not twice in the table of truths, .*'a'"),
        ({"truth_id": ["a", None], "y": [[1.0], [2.0]]}, "truth_id must be there"),
        ({"truth_id": ["a", "b"], "y": [[1.0], None]}, "y of truth 'b' must hold observations"),
        ({"truth_id": ["a", "b"], "y": [[1.0], [None, 1.0]]}, "y of truth 'b' must hold no null"),
        ({"truth_id": ["a", "b"], "y": [[1.0], [np.nan]]}, "y of truth 'b' must hold no NaN"),
        ({"truth_id": ["a"], "y": [["1"]]}, "y of truth 'a' must hold real numbers"),
        ({"truth_id": ["a"], "y": [1.0]}, "truths must hold lists of draws in y, got 'double'"),
    ],
)
def test_wrong_truths_are_named_errors(files, tmp_path, columns, message):
    """A table of truths has an id and draws in every row, no id twice."""
    _, pairs, out = files
    parquet.write_table(pa.table(columns), tmp_path / "truths.parquet")
    with pytest.raises(InputError, match=message):
        score_pairs(pairs, out)


def test_wrong_samples_name_their_row_in_the_file(files, monkeypatch):
    """A row is counted from the beginning of the pairs, and an older file is left as it was."""
    table, pairs, out = files
    out.write_bytes(b"older")
    monkeypatch.setattr(pair_files, "BATCH_VALUES", 40)
    rows = table["x"].to_pylist()
    rows[41][2] = float("nan")
    parquet.write_table(table.set_column(1, "x", pa.array(rows)), pairs)
    with pytest.raises(InputError, match="x must hold no NaN, got 'nan at row 41, position 2'"):
        score_pairs(pairs, out, overwrite=True)
    assert out.read_bytes() == b"older"
    assert sorted(path.name for path in out.parent.iterdir()) == [
        "out.parquet", "pairs.parquet", "truths.parquet",
    ]  # fmt: skip


def test_an_existing_file_is_kept_unless_told_otherwise(files):
    """What is there is refused, and replaced when that is asked for; inputs never are."""
    _, pairs, out = files
    score_pairs(pairs, out)
    with pytest.raises(InputError, match="out must not exist yet, unless overwrite is chosen"):
        score_pairs(pairs, out)
    score_pairs(pairs, out, statistics="pvalue", overwrite=True)
    assert parquet.read_schema(out).names[-1] == "pvalue"
    for read in (pairs, pairs.parent / "truths.parquet"):
        with pytest.raises(InputError, match="out must not be a file that is read"):
            score_pairs(pairs, read, overwrite=True)
    with pytest.raises(InputError, match="out must lie in a folder that exists"):
        score_pairs(pairs, out.parent / "no" / "out.parquet")


def test_files_that_cannot_be_read_are_named(files, tmp_path):
    """Missing, cut and foreign files are errors that name them."""
    table, pairs, out = files
    with pytest.raises(StoreError, match="none.parquet cannot be read as Parquet"):
        score_pairs(tmp_path / "none.parquet", out)
    with pytest.raises(StoreError, match="other.parquet cannot be read as Parquet"):
        score_pairs(pairs, out, truths=tmp_path / "other.parquet")
    body = pairs.read_bytes()
    pairs.write_bytes(body[: len(body) // 2])
    with pytest.raises(StoreError, match="pairs.parquet cannot be read as Parquet"):
        score_pairs(pairs, out)
    pairs.write_bytes(body[:4] + bytes(400) + body[404:])
    with pytest.raises(StoreError, match="pairs.parquet cannot be read as Parquet"):
        score_pairs(pairs, out)
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        InputError, match="pairs must be a Parquet file or a folder that holds some"
    ):
        score_pairs(tmp_path / "empty", out)
    assert not out.exists()
    parquet.write_table(table.slice(0, 0), pairs)
    assert score_pairs(pairs, out).n_pairs == 0
    assert parquet.read_schema(out).names[-1] == "method"


def test_a_disk_that_is_full_leaves_no_file(files, monkeypatch):
    """An error in writing is told with the file, and half of it does not stay."""
    _, pairs, out = files

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parquet.ParquetWriter, "write_batch", full)
    with pytest.raises(OutputError, match=r"out.parquet cannot be written \(No space left"):
        score_pairs(pairs, out)
    assert len(list(out.parent.iterdir())) == 2


def test_options_of_engines_are_checked(files):
    """An unknown engine, an address without Ray and too few workers are refused."""
    _, pairs, out = files
    for how, message in (
        ({"engine": "spark"}, "engine must be 'local' or 'ray', got 'spark'"),
        ({"address": "auto"}, "address must be left out unless engine is 'ray'"),
        ({"workers": 0}, "workers must be"),
        ({"statistics": "p"}, "statistics must be"),
    ):
        with pytest.raises(InputError, match=message):
            score_pairs(pairs, out, **how)


def test_without_ray_the_extra_is_named(files, monkeypatch):
    """One sentence with the pip line, before anything is written."""
    _, pairs, out = files
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        MissingExtraError, match=r"needs an extra: pip install 'unpredictabench\[ray"
    ):
        score_pairs(pairs, out, engine="ray")
    assert not out.exists()


def test_the_command_scores_and_tells(files):
    """The command writes the file and prints counts, as words or as one line of JSON."""
    table, pairs, out = files
    code, text, told = call(pairs, "-o", out, "--statistics", "pvalue, kuiper")
    assert (code, text) == (0, f"{out}: 60 pairs against 3 truths\n")
    assert "60 of 60 pairs (100%)" in told
    assert parquet.read_table(out).equals(expected(table, statistics=["pvalue", "kuiper"]))
    code, text, _ = call(pairs, "-o", out, "--overwrite", "--json", "--alternative", "less")
    assert (code, text.count("\n")) == (0, 1)
    assert json.loads(text) == {"out": str(out), "n_pairs": 60, "n_truths": 3, "n_nan": 0}
    assert parquet.read_table(out).equals(expected(table, alternative="less"))


def test_the_command_refuses_in_one_sentence(files):
    """An existing file and an address without Ray end the command with the rule they break."""
    _, pairs, out = files
    out.write_bytes(b"")
    assert "out must not exist yet" in call(pairs, "-o", out)[2]
    code, _, told = call(pairs, "-o", out, "--overwrite", "--address", "auto")
    assert code == 1
    assert "address must be left out" in told


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_an_interrupt_leaves_no_file(files, number):
    """An interrupted command says so, exits with 130 and leaves nothing behind."""
    _, pairs, out = files
    rows = RNG.normal(size=(3000, 100))
    table = {"truth_id": ["a"] * len(rows), "x": list(rows)}
    parquet.write_table(pa.table(table), pairs, row_group_size=100)
    script = "from unpredictabench.integrations import pair_files; pair_files.BATCH_VALUES = 1000; "
    script += "from unpredictabench.cli import main; main()"
    words = ["score-pairs", pairs, "-o", out, "--statistics", "kuiper_pvalue"]
    child = subprocess.Popen(
        [sys.executable, "-c", script, *words], stderr=subprocess.PIPE, text=True, env=os.environ
    )
    until = time.monotonic() + 60
    while not list(out.parent.glob(".out.parquet.*")) and time.monotonic() < until:
        time.sleep(0.02)
    child.send_signal(number)
    told = child.communicate(timeout=60)[1]
    assert child.returncode == 130, told
    assert f"Interrupted; {out} was not written." in told
    assert len(list(out.parent.iterdir())) == 2


def test_pages_with_checksums_are_verified(files):
    """Values that changed on the disk are an error where the file has checksums."""
    _, pairs, out = files
    values = np.arange(5000.0)
    table = pa.table({"truth_id": ["a"] * 50, "x": values.reshape(50, 100).tolist()})
    plain = {"use_dictionary": False, "compression": "none", "write_page_checksum": True}
    parquet.write_table(table, pairs, **plain)
    data = bytearray(pairs.read_bytes())
    data[data.index(values[2000].tobytes())] ^= 1
    pairs.write_bytes(data)
    with pytest.raises(StoreError, match="cannot be read as Parquet: .*CRC"):
        score_pairs(pairs, out)
    assert not out.exists()


def test_scores_do_not_go_into_the_folder_that_is_read(files, tmp_path):
    """There they would be pairs of the next call."""
    table, _, _ = files
    folder = tmp_path / "pairs"
    folder.mkdir()
    parquet.write_table(table, folder / "part-0.parquet")
    with pytest.raises(InputError, match="out must lie outside of the folder that is read"):
        score_pairs(folder, folder / "out.parquet")


@pytest.mark.parametrize("name", ["x", "truth_id"])
def test_a_missing_or_doubled_column_of_pairs_is_named_with_the_file(files, name):
    """The message has the column, the file, and the columns that are there."""
    table, pairs, out = files
    parquet.write_table(table.drop_columns(name), pairs)
    with pytest.raises(InputError, match=f"pairs must have one column {name}, got 'pairs.parquet"):
        score_pairs(pairs, out)
    doubled = pa.Table.from_arrays([*table.columns, table[name]], names=[*table.column_names, name])
    parquet.write_table(doubled, pairs)
    with pytest.raises(InputError, match=f"pairs must have one column {name}, got 'pairs.parquet"):
        score_pairs(pairs, out)


def test_ids_that_are_no_keys_are_refused_in_both_files(files):
    """Lists as ids of truths, or of pairs, are a named error."""
    table, pairs, out = files
    lists = pa.array([[one] for one in table["truth_id"].to_pylist()])
    parquet.write_table(table.set_column(0, "truth_id", lists), pairs)
    with pytest.raises(InputError, match="truth_id must hold plain ids"):
        score_pairs(pairs, out)
    parquet.write_table(table, pairs)
    parquet.write_table(pa.table({"truth_id": [["a"]], "y": [[1.0]]}), pairs.parent / "t.parquet")
    with pytest.raises(InputError, match="truth_id must hold plain ids"):
        score_pairs(pairs, out, truths=pairs.parent / "t.parquet")


def test_infinite_truths_are_refused_before_anything_is_scored(files):
    """Where a mean is taken, the truth is named, and progress never begins."""
    _, pairs, out = files
    parquet.write_table(truths_table(DRAWS | {"b": [np.inf]}), pairs.parent / "truths.parquet")
    seen = []
    with pytest.raises(InputError, match="y of truth 'b' must be finite: a mean is taken"):
        score_pairs(pairs, out, statistics="wasserstein", progress=seen.append)
    assert seen == []


def test_batches_are_cut_for_the_longest_rows(files, monkeypatch):
    """Long rows in one row group are read few at a time, though most rows are short."""
    _, pairs, _ = files
    monkeypatch.setattr(pair_files, "BATCH_VALUES", 1000)
    rows = [np.zeros(500)] * 20 + [np.zeros(1)] * 980
    table = pa.table({"truth_id": ["a"] * 1000, "x": rows})
    parquet.write_table(table, pairs, row_group_size=20)
    sizes = [len(batch["x"].flatten()) for batch in pair_files.pair_files(pairs).batches()]
    assert max(sizes) <= 1000
    assert sum(sizes) == 20 * 500 + 980
