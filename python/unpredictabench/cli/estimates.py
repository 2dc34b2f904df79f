"""What a command would use before anything is asked: requests, tokens, money."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from typing import TYPE_CHECKING

import click

from unpredictabench.errors import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unpredictabench.generate import Usage
    from unpredictabench.generate.study import Job


def show(jobs: Sequence[Job], *, as_json: bool) -> None:
    """Print what each job would use, and all together."""
    usages = [expected(job) for job in jobs]
    if as_json:
        click.echo(json.dumps([_record(j, u) for j, u in zip(jobs, usages, strict=True)], indent=2))
        return
    for job, usage in zip(jobs, usages, strict=True):
        click.echo(f"{job.model} -> {job.out}: {described(usage)}")
    if len(jobs) > 1:
        click.echo(f"together: {described(total(usages))}")


def confirm(jobs: Sequence[Job]) -> None:
    """Ask on a terminal before requests go to somebody else's machine."""
    usages = [expected(job) for job in jobs if not job.is_here]
    usage = total(usages) if usages else None
    if usage is not None and usage.n_requests and is_interactive():
        click.confirm(f"{described(usage)}. Go on?", abort=True, err=True)


def is_interactive() -> bool:
    """Tell whether a person can be asked."""
    return sys.stdin.isatty()


def expected(job: Job) -> Usage:
    """Estimate what is left to ask of a job."""
    from unpredictabench.errors import StoreError  # noqa: PLC0415 - --help needs none
    from unpredictabench.generate import estimated  # noqa: PLC0415 - as above
    from unpredictabench.store import open_run  # noqa: PLC0415 - as above

    earlier = []
    with contextlib.suppress(StoreError):  # no run yet
        earlier = list(open_run(job.folder()).completions())
    requests = job.work().open_requests(earlier)
    return estimated(requests, price=job.budget().price, answer_tokens=job.answer_tokens)


def total(usages: Sequence[Usage]) -> Usage:
    """Add up; the cost of all is known only where that of each is."""
    costs = [usage.cost for usage in usages]
    return dataclasses.replace(
        usages[0],
        n_requests=sum(usage.n_requests for usage in usages),
        prompt_tokens=sum(usage.prompt_tokens for usage in usages),
        completion_tokens=sum(usage.completion_tokens for usage in usages),
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
    )


def described(usage: Usage) -> str:
    """Put an estimate into words."""
    known = "unknown (--price-input and --price-output tell)"
    cost = known if usage.cost is None else f"about {usage.cost:.4g}"
    return (
        f"{counted(usage.n_requests, 'request')}, about {usage.prompt_tokens:,} tokens asked and "
        f"{usage.completion_tokens:,} answered; cost {cost}"
    )


def _record(job: Job, usage: Usage) -> dict[str, object]:
    return {
        "model": job.model,
        "run": job.out,
        "n_requests": usage.n_requests,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost": usage.cost,
        "reason": None if usage.cost is not None else "no price was given",
    }
