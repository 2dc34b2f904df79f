"""Where the answers of a run come from: settings, dates, tokens, cost, seeds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from unpredictabench.extract import EXTRACTOR_VERSION
from unpredictabench.report.contents import Provenance

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from unpredictabench.records import Completion
    from unpredictabench.report.contents import Contents, Entry
    from unpredictabench.store import Run


@dataclass(slots=True)
class Account:
    """Counts what passes by: dates, tokens and seeds of the completions of a run."""

    n_answers: int = 0
    first: float = float("inf")
    last: float = 0.0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    n_seeds: int = 0

    def add(self, completions: Iterable[Completion]) -> list[Completion]:
        """Count some completions and return them."""
        listed = list(completions)
        for each in listed:
            self.n_answers += 1
            if each.created_at > 0:
                self.first = min(self.first, each.created_at)
                self.last = max(self.last, each.created_at)
            self.prompt_tokens = _sum(self.prompt_tokens, each.prompt_tokens)
            self.completion_tokens = _sum(self.completion_tokens, each.completion_tokens)
            self.n_seeds += each.seed is not None
        return listed


def provenance_of(run: Run, account: Account) -> Provenance:
    """Describe a stored run.

    Parameters
    ----------
    run : Run
        The run.
    account : Account
        What its completions came to.

    Returns
    -------
    Provenance
        The usage that the run itself recorded where there is one, as it counts failed requests
        too; otherwise the sums over the answers.
    """
    usage: Mapping[str, Any] = run.ending.get("usage", {})
    return Provenance(
        run=run.path.name,
        settings=asdict(run.settings),
        dates=_dates(run, account),
        n_answers=account.n_answers,
        prompt_tokens=usage.get("prompt_tokens", account.prompt_tokens),
        completion_tokens=usage.get("completion_tokens", account.completion_tokens),
        cost=usage.get("cost") or None,
        seeds=_seeds(run, account),
        served=tuple(_served(each) for each in run.ending.get("served", ())),
        marks=run.marks,
    )


def common_lines(contents: Contents) -> list[tuple[str, str]]:
    """Return what all runs of a report share, as names and values."""
    score = contents.first
    return [
        ("suite", score.suite),
        ("suite hash", score.suite_hash),
        ("protocol", score.protocol),
        ("alpha", f"{score.alpha:g}"),
        ("N", ", ".join(map(str, contents.n))),
        ("package", f"unpredictabench {contents.version}, extractor {EXTRACTOR_VERSION}"),
    ]


def entry_lines(entry: Entry) -> list[tuple[str, str]]:
    """Return where the answers of an entry come from, as names and values."""
    found = entry.provenance
    if found is None:
        return [("run", entry.score.name), ("answers", f"{entry.score.n_slots:,}, not stored here")]
    settings = {
        name: value
        for name, value in found.settings.items()
        if name not in {"suite", "suite_hash"} and value not in (None, {})
    }
    lines = [
        ("run", found.run),
        ("settings", json.dumps(settings, sort_keys=True, ensure_ascii=False)),
        ("seeds", found.seeds),
        ("answers", f"{found.n_answers:,}"),
        ("dates", found.dates),
        ("prompt tokens", _count(found.prompt_tokens)),
        ("completion tokens", _count(found.completion_tokens)),
        ("cost", "not recorded" if found.cost is None else f"{found.cost:.4g}"),
    ]
    lines += [("served as", each) for each in found.served]
    return lines + [("suspicious", each) for each in found.marks]


def as_data(contents: Contents) -> dict[str, object]:
    """Return the provenance of a report as plain JSON data."""
    return {
        **dict(common_lines(contents)),
        "runs": [{"model": e.label, **dict(entry_lines(e))} for e in contents.entries],
    }


def _seeds(run: Run, account: Account) -> str:
    base = run.settings.parameters.get("seed")
    if account.n_seeds:
        shown = f" from base seed {base}" if base is not None else ""
        return (
            f"{account.n_seeds:,} of {account.n_answers:,} answers had a seed of their own{shown}"
        )
    return f"base seed {base}" if base is not None else "none sent"


def _dates(run: Run, account: Account) -> str:
    if account.last > 0:
        return f"answers from {_date(account.first)} to {_date(account.last)}"
    moments = [event.at for event in run.events]
    if not moments:
        return "not recorded"
    return f"answers without dates, written from {_date(min(moments))} to {_date(max(moments))}"


def _served(served: Mapping[str, Any]) -> str:
    name, fingerprint = served.get("model") or "unnamed", served.get("fingerprint")
    return f"{name} ({fingerprint})" if fingerprint else str(name)


def _date(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M} UTC"


def _sum(total: int | None, tokens: int | None) -> int | None:
    return None if total is None or tokens is None else total + tokens


def _count(tokens: int | None) -> str:
    return "not counted by the server" if tokens is None else f"{tokens:,}"
