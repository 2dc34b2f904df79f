"""The command that scores a file of samples against a table of truths."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unpredictabench.cli import INTERRUPTED
from unpredictabench.cli.progress import duration, reporter

if TYPE_CHECKING:
    from unpredictabench.integrations.pairs import PairsProgress, PairsResult

_FILE = click.Path(path_type=Path)


@click.command("score-pairs")
@click.argument("pairs", type=_FILE)
@click.option("-o", "--out", required=True, type=_FILE, help="The Parquet file to write.")
@click.option("--truths", type=_FILE, help="The table of truths.  [truths.parquet beside PAIRS]")
@click.option(
    "--statistics", metavar="NAMES", help="Names with commas between.  [those of the KS test]"
)
@click.option(
    "--alternative",
    default="two-sided",
    show_default=True,
    type=click.Choice(["two-sided", "less", "greater"]),
    help="What the KS test looks for.",
)
@click.option(
    "--method",
    default="auto",
    show_default=True,
    type=click.Choice(["auto", "exact", "asymp"]),
    help="How its p-values are computed.",
)
@click.option("--resamples", "n_resamples", default=9999, show_default=True, help="Labelings.")
@click.option("--seed", "rng", type=int, help="Seed of the labelings.")
@click.option(
    "--empty",
    default="raise",
    show_default=True,
    type=click.Choice(["raise", "nan"]),
    help="What to do with empty samples.",
)
@click.option("--prefix", default="", help="Put before the names of the new columns.")
@click.option(
    "--engine",
    default="local",
    show_default=True,
    type=click.Choice(["local", "ray"]),
    help="Threads here, or Ray Data.",
)
@click.option("--address", help="Ray cluster, host:port or auto.  [one of its own]")
@click.option("--workers", type=click.IntRange(1), help="Threads or CPUs.  [all]")
@click.option("--overwrite", is_flag=True, help="Replace the file to write.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(pairs: Path, *, out: Path, statistics: str | None, as_json: bool, **how: Any) -> None:
    """Score the samples in PAIRS, each against its truth, in a stream.

    PAIRS is a Parquet file (or a folder of them) with the columns x (lists of numbers) and
    truth_id, and n_invalid if there are invalid answers; the table of truths has truth_id and y
    (lists of draws). The other columns of PAIRS go through. Nothing is written unless all went
    well.
    """
    if statistics is not None:
        how["statistics"] = [name.strip() for name in statistics.split(",")]
    done = performed(pairs, out, how)
    click.echo(json.dumps(as_data(done)) if as_json else described(done))


def performed(pairs: Path, out: Path, how: dict[str, Any]) -> PairsResult:
    """Score pairs while progress is shown; Ctrl-C leaves no file."""
    from unpredictabench.integrations import score_pairs  # noqa: PLC0415 - lazy command

    try:
        with reporter("pairs", told) as progress:
            return score_pairs(pairs, out, progress=progress, **how)
    except KeyboardInterrupt:
        click.echo(f"Interrupted; {out} was not written.", err=True)
        raise SystemExit(INTERRUPTED) from None


def as_data(done: PairsResult) -> dict[str, Any]:
    """Return what was scored as JSON data."""
    return asdict(done) | {"out": str(done.out)}


def described(done: PairsResult) -> str:
    """Put what was scored into words."""
    nan = f", {done.n_nan:,} with NaN" if done.n_nan else ""
    return f"{done.out}: {done.n_pairs:,} pairs against {done.n_truths:,} truths{nan}"


def told(progress: PairsProgress, elapsed_s: float) -> str:
    """Put progress into words: count, rate and time left.

    Examples
    --------
    >>> from unpredictabench.integrations.pairs import PairsProgress
    >>> told(PairsProgress(250, 1000), 5.0)
    '250 of 1,000 pairs (25%), 50/s, 15 s left'
    """
    share = progress.n_done / progress.n_total if progress.n_total else 1.0
    rate = progress.n_done / elapsed_s if elapsed_s > 0 else 0.0
    words = f"{progress.n_done:,} of {progress.n_total:,} pairs ({share:.0%})"
    if not rate:
        return words
    return f"{words}, {rate:,.3g}/s, {duration((progress.n_total - progress.n_done) / rate)} left"
