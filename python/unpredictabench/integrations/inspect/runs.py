"""Logs of the task `ks_at_n` as ordinary runs: one run an evaluation, its retries included."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from unpredictabench.errors import InputError, SuiteError
from unpredictabench.integrations.filing import NAME_LENGTH, file_run
from unpredictabench.integrations.inspect.logs import read_header, read_samples
from unpredictabench.integrations.inspect.slots import (
    FAILURES,
    FORMAT,
    METADATA,
    SLOTS,
    TASK_NAME,
    completion_of,
)
from unpredictabench.integrations.jsonstream import DamagedError
from unpredictabench.records import Message, Settings
from unpredictabench.store import Planned
from unpredictabench.tasks import Suite, load_suite
from unpredictabench.tasks.styles import messages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from unpredictabench.integrations.filing import Filed
    from unpredictabench.integrations.inspect.logs import Data
    from unpredictabench.integrations.tally import Tally
    from unpredictabench.records import Completion

# Options of Inspect that decide how fast and how often it asks, not what; each may differ in a
# retry of the same evaluation.
_OPERATIONAL: Final = frozenset(
    {
        "max_retries", "timeout", "attempt_timeout", "stream_idle_timeout", "max_connections",
        "adaptive_connections", "batch", "cache", "cache_prompt", "fail_on_refusal",
        "system_message",
    }
)  # fmt: skip
_KIND_LENGTH: Final = 100
MOST_KINDS: Final = 20
"""Failures told apart; the rest are counted together."""


@dataclass(frozen=True, slots=True)
class Log:
    """One log, as its header describes it.

    Parameters
    ----------
    file : Path
        The log.
    evaluation : str
        Id that an evaluation shares with its retries.
    status : str
        "success", "error", "cancelled" or "started".
    settings : Settings
        How the model was asked.
    plan : mapping
        What it was asked.
    created : str
        When it was begun, as text in the order of time.
    """

    file: Path
    evaluation: str
    status: str
    settings: Settings
    plan: Mapping[str, Planned]
    created: str

    @property
    def folder(self) -> str:
        """Name of the run folder, the same whenever the log is imported."""
        safe = re.sub(r"[^A-Za-z0-9._-]+", "_", f"{self.settings.model}-{self.evaluation}")
        return safe.strip("._-")[-NAME_LENGTH:] or "run"


def import_logs(
    files: Sequence[Path], out: Path, *, suite: str | None, tally: Tally
) -> tuple[tuple[Filed, ...], str]:
    """Write the draws of logs into run folders.

    Parameters
    ----------
    files : sequence of Path
        The logs, in any order.
    out : Path
        Folder of the run folders.
    suite : str or None
        The suite; the default is the one that each log names.
    tally : Tally
        Where everything is counted.

    Returns
    -------
    runs : tuple of Filed
        One an evaluation.
    suite : str
        Names of their suites.
    """
    evaluations: dict[str, list[Log]] = defaultdict(list)
    for file in files:
        try:
            log = _log(file, suite)
        except (DamagedError, InputError, SuiteError) as error:
            tally.refuse(f"log that {error}", file)
            continue
        tally.take("logs")
        if log.status != "success":
            tally.note(f"log with the status {log.status}", file)
        evaluations[log.evaluation].append(log)
    filed = tuple(_filed(logs, out, tally) for logs in evaluations.values())
    names = {log.settings.suite for logs in evaluations.values() for log in logs}
    return filed, ", ".join(sorted(names))


def _filed(logs: Sequence[Log], out: Path, tally: Tally) -> Filed:
    in_time = sorted(logs, key=lambda log: log.created)
    plan = {name: planned for log in in_time for name, planned in log.plan.items()}
    evaluation = _Evaluation(in_time, tally)
    return file_run(
        out / in_time[-1].folder,
        in_time[-1].settings,
        plan,
        evaluation.answers(),
        failures=evaluation.failures,  # which is filled while the answers are read
        tally=tally,
    )


class _Evaluation:
    """The logs of one evaluation: of a sample that several hold, the one with the most draws."""

    def __init__(self, logs: Sequence[Log], tally: Tally) -> None:
        self._logs, self._tally = logs, tally
        self.failures: Counter[str] = Counter()

    def answers(self) -> Iterator[tuple[Completion, str]]:
        """Yield the draws; count everything else."""
        best = self._best() if len(self._logs) > 1 else {}
        seen: set[str] = set()
        for place, log in enumerate(self._logs):
            for where, sample in self._samples(log):
                name = str(sample.get("id"))
                if name not in log.plan:
                    self._tally.refuse("sample of no task that the log says it asks", where)
                elif best.get(name, place) != place:
                    self._tally.skip("sample that another log of the evaluation holds", where)
                elif name in seen:
                    self._tally.skip("sample that the log holds already", where)
                else:
                    seen.add(name)
                    yield from self._draws(name, sample, where, n_slots=log.plan[name].n_slots)
        for name in {name for log in self._logs for name in log.plan} - seen:
            self._tally.note("sample that no log holds", name)

    def _best(self) -> dict[str, int]:
        found: dict[str, tuple[int, int]] = {}
        for place, log in enumerate(self._logs):
            for _, sample in read_samples(log.file):
                if not isinstance(sample, DamagedError):
                    count = (len(_listed(sample, SLOTS)), place)
                    name = str(sample.get("id"))
                    found[name] = max(count, found.get(name, count))
        return {name: place for name, (_, place) in found.items()}

    def _samples(self, log: Log) -> Iterator[tuple[str, Data]]:
        for where, sample in read_samples(log.file):
            if isinstance(sample, DamagedError):
                self._tally.refuse(f"sample that {sample}", where)
            else:
                yield where, sample

    def _draws(
        self, task: str, sample: Data, where: str, *, n_slots: int
    ) -> Iterator[tuple[Completion, str]]:
        self._tally.take("samples")
        if isinstance(sample.get("error"), dict):
            said = _brief(sample["error"].get("message"))
            self._tally.note(f"sample that ended in an error: {said}", where)
        if isinstance(sample.get("limit"), dict):
            self._tally.note(f"sample that a limit ended: {sample['limit'].get('type')}", where)
        for failure in _listed(sample, FAILURES):
            kind = _brief(failure.get("error") if isinstance(failure, dict) else failure)
            is_known = kind in self.failures or len(self.failures) < MOST_KINDS
            self.failures[kind if is_known else "other"] += 1
            self._tally.note("draw that failed", where)
        for slot in _listed(sample, SLOTS):
            try:
                completion = completion_of(task, slot)
            except InputError as error:
                self._tally.refuse(f"draw whose {error}", where)
                continue
            if completion.index >= n_slots or completion.n_asked != 1:
                self._tally.refuse("draw beyond those asked for", where)
                continue
            yield completion, where


def _log(file: Path, wanted: str | None) -> Log:
    header = read_header(file)
    spec = _mapping(header, "eval")
    own = _mapping(_mapping(spec, "metadata"), METADATA)
    if not own:
        name = _brief(spec.get("task"))
        raise DamagedError(f"is of another Inspect task, {name}: only {TASK_NAME} can be imported")
    if own.get("format") != FORMAT:
        raise DamagedError(
            f"has the format {_brief(own.get('format'))}, this version reads {FORMAT}"
        )
    suite = _suite(own, wanted)
    style, config = str(own.get("prompt_style")), _config(header, spec)
    return Log(
        file=file,
        evaluation=str(spec.get("task_id") or file.stem),
        status=str(header.get("status", "started")),
        settings=Settings(
            model=str(spec.get("model")),
            suite=suite.name,
            suite_hash=suite.hash,
            prompt_style=style,
            base_url=_address(spec.get("model_base_url")),
            parameters={n: v for n, v in config.items() if n not in _OPERATIONAL},
        ),
        plan=_plan(spec, own, suite, style=style, system=config.get("system_message")),
        created=str(spec.get("created")),
    )


def _config(header: Data, spec: Data) -> dict[str, Any]:
    """Return what was sent besides the words; the task's settings win over the model's."""
    of_model, of_task = _mapping(spec, "model_generate_config"), _mapping(header, "plan")
    config = of_model | {n: v for n, v in _mapping(of_task, "config").items() if v is not None}
    try:
        json.dumps(config, allow_nan=False)
    except ValueError:
        raise DamagedError("has a setting that is not finite") from None
    return {name: value for name, value in config.items() if value is not None}


def _plan(spec: Data, own: Data, suite: Suite, *, style: str, system: object) -> dict[str, Planned]:
    """Return what was asked: the samples after Inspect's own selection, each so many times."""
    ids, n_slots = _mapping(spec, "dataset").get("sample_ids"), own.get("samples")
    if not isinstance(ids, list) or type(n_slots) is not int or n_slots < 1:
        raise DamagedError("does not say which samples were asked")
    unknown = [name for name in ids if name not in suite]
    if unknown:
        raise DamagedError(f"asks the task {_brief(unknown[0])}, which its suite does not have")
    first = (Message("system", system),) if isinstance(system, str) else ()
    return {name: Planned(n_slots, (*first, *messages(suite[name], style))) for name in ids}


def _suite(own: Mapping[str, Any], wanted: str | None) -> Suite:
    """Load the suite a log names, or the one that is wanted, and see that it is the one asked."""
    variant = own.get("variant")
    name = wanted if wanted is not None else str(own.get("suite"))
    suite = load_suite(name, variant=variant if wanted is None else None)
    if suite.hash != own.get("suite_hash"):
        raise DamagedError(f"was made with another suite than {suite.name}: name its file")
    return suite


def _mapping(data: Data, name: str) -> dict[str, Any]:
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def _listed(sample: Data, name: str) -> Sequence[Any]:
    value = _mapping(sample, "store").get(name)
    return value if isinstance(value, list) else ()


def _address(value: object) -> str | None:
    """Return an endpoint without credentials."""
    return re.sub(r"//[^/@]*@", "//", value) if isinstance(value, str) else None


def _brief(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _KIND_LENGTH else f"{text[: _KIND_LENGTH - 1]}…"
