"""What a user writes about a run, in words or in a file of models, made into its parts."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unpredictabench.clients import DEFAULT_MODEL, client_for, default_style
from unpredictabench.clients.words import KINDS
from unpredictabench.errors import ClientError, StudyError, UnpredictabenchError, nearest, shortened
from unpredictabench.generate.budget import (
    GUESSED_ANSWER_TOKENS,
    GUESSED_REASONING_TOKENS,
    Budget,
    Price,
)
from unpredictabench.generate.early import StopWord, stop_rule
from unpredictabench.generate.planning import Design, Work, work
from unpredictabench.generate.running import CONCURRENCY, closing, generate_async, in_own_loop
from unpredictabench.store import forget_without_answers
from unpredictabench.tasks import load_suite

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence

    from unpredictabench.clients import Client
    from unpredictabench.clients.transport import Endpoint
    from unpredictabench.generate.planning import Sampling
    from unpredictabench.generate.session import Progress
    from unpredictabench.generate.stopping import StopRule
    from unpredictabench.store import Run
    from unpredictabench.tasks import Suite

AS_SERVED = "none"
"""The word for a temperature that is left to the server."""
_DEFAULTS, _MODELS = "defaults", "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run as a user describes it; the fields are the words of the command line and of files.

    Parameters
    ----------
    model : str
        A name at an endpoint, ``local:NAME``, ``local:FILE.gguf``, ``sim:NAME`` or
        ``replay:FILE``.
    suite : str
        Name or path of the suite.
    variant : int or None
        Seed of fresh parameters for the suite.
    samples : int
        Answers for each task.
    out : str or None
        The run folder; the default is named after the model and what differs from the defaults.
    base_url, api_key_env, endpoint, temperature, max_tokens, seed, n_hint, extra_body, timeout_s
        How the model is reached and sampled: see `unpredictabench.clients.client_for`. A
        temperature of ``"none"`` is left to the server.
    prompt_style, sampling, batch_size, limit_tasks, category, force
        What is asked: see `Design`.
    stop : {"never", "curtail", "evalue"}
        When a task's remaining slots are not asked: see `unpredictabench.generate.stop_rule`.
    concurrency : int or None
        Most requests under way; None is 64, or what the client can take.
    max_cost, max_tokens_total, max_requests, price_input, price_output
        What may be used, and what a million tokens cost: see `Budget` and `Price`.
    origin : str
        Where the job was written, for messages; not a word a user writes.
    """

    model: str = DEFAULT_MODEL
    suite: str = "v1"
    variant: int | None = None
    samples: int = 100
    out: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    endpoint: Endpoint = "chat"
    temperature: float | str = 1.0
    max_tokens: int | None = None
    seed: int | None = None
    n_hint: int = 1
    extra_body: Mapping[str, object] | None = None
    timeout_s: float | None = None
    prompt_style: str | None = None
    sampling: Sampling = "independent"
    batch_size: int = 20
    limit_tasks: int | None = None
    category: tuple[str, ...] = ()
    force: bool = False
    stop: StopWord = "never"
    concurrency: int | None = None
    max_cost: float | None = None
    max_tokens_total: int | None = None
    max_requests: int | None = None
    price_input: float | None = None
    price_output: float | None = None
    origin: str = ""

    @property
    def is_here(self) -> bool:
        """Whether the model is on this machine and costs nothing."""
        return self.base_url is None and self.model.partition(":")[0] in KINDS

    @property
    def ignored(self) -> tuple[str, ...]:
        """Words that were said and that a model of this machine does not take."""
        names = _UNUSED.get(self.model.partition(":")[0], ()) if self.is_here else ()
        return tuple(name for name in names if getattr(self, name) != _FIELDS[name].default)

    @property
    def style(self) -> str:
        """The prompt style; the model's own default unless one is named."""
        return self.prompt_style or default_style(self.model)

    @property
    def answer_tokens(self) -> int:
        """Tokens of one reply to reckon with before any is there."""
        guessed = GUESSED_REASONING_TOKENS if self.style == "cot" else GUESSED_ANSWER_TOKENS
        return self.max_tokens or guessed * self.design().n_asked

    def work(self) -> Work:
        """Return what the job comes to, without asking anything."""
        suite = load_suite(self.suite, variant=self.variant)
        return work(suite, self.client(), self.design(), stop=self.rule(suite))

    def rule(self, suite: Suite) -> StopRule:
        """Return the stopping rule for the tasks of a suite."""
        return stop_rule(self.stop, suite, n_samples=self.samples)

    def client(self) -> Client:
        """Return the client; nothing is contacted yet."""
        return client_for(
            self.model,
            base_url=self.base_url,
            api_key_env=self.api_key_env,
            endpoint=self.endpoint,
            temperature=None if self.temperature == AS_SERVED else float(self.temperature),
            max_tokens=self.max_tokens,
            seed=self.seed,
            n_hint=self.n_hint,
            extra_body=self.extra_body,
            concurrency=self.concurrency,
            timeout_s=self.timeout_s,
        )

    def design(self) -> Design:
        """Return what is asked."""
        return Design(
            n_samples=self.samples,
            sampling=self.sampling,
            batch_size=self.batch_size,
            prompt_style=self.style,
            limit_tasks=self.limit_tasks,
            categories=self.category,
            force=self.force,
        )

    def budget(self) -> Budget:
        """Return what may be used; the models of this machine cost nothing."""
        given = (self.price_input, self.price_output)
        price = Price(0.0, 0.0) if self.is_here else None
        if any(value is not None for value in given):
            price = Price(self.price_input or 0.0, self.price_output or 0.0)
        return Budget(self.max_cost, self.max_tokens_total, self.max_requests, price)

    def folder(self, parent: Path = Path("runs")) -> Path:
        """Return the run folder: the same words give the same folder, so a repeat resumes.

        Examples
        --------
        >>> Job(model="org/model-7b", temperature=0.5).folder().as_posix()
        'runs/org-model-7b-temperature-0.5'
        """
        if self.out is not None:
            return Path(self.out)
        named = ("suite", "variant", "endpoint", "temperature", "max_tokens", "seed", "sampling",
                 "stop")  # fmt: skip
        words = [f"{n}-{getattr(self, n)}" for n in named if getattr(self, n) != _FIELDS[n].default]
        if self.style != default_style(self.model):
            words.insert(0, self.style)
        return parent / slug("-".join([self.model, *words]))


_FIELDS = {field.name: field for field in dataclasses.fields(Job) if field.name != "origin"}
_ENDPOINTS = ("api_key_env", "endpoint", "n_hint", "extra_body")
_UNUSED: dict[str, tuple[str, ...]] = {
    "local": _ENDPOINTS,
    "sim": ("temperature", "max_tokens", "timeout_s", *_ENDPOINTS),
    "replay": ("temperature", "max_tokens", "seed", "timeout_s", *_ENDPOINTS),
}
"""What clients of this machine have no use for."""
_KINDS: dict[str, tuple[type, ...]] = {
    "str": (str,), "Endpoint": (str,), "Sampling": (str,), "StopWord": (str,), "bool": (bool,),
    "int": (int,), "float": (int, float), "tuple": (list, tuple), "Mapping": (dict,),
    "None": (type(None),),
}  # fmt: skip
"""Python types for each word an annotation of `Job` is made of."""


def read_study(
    file: str | os.PathLike[str], words: Mapping[str, object], *, parent: Path = Path("runs")
) -> tuple[Job, ...]:
    """Read a file of models (docs/runs.md).

    Parameters
    ----------
    file : path
        A TOML file: a table ``[defaults]`` and a table ``[[model]]`` for each model.
    words : mapping
        Fields said on the command line; they win over the file.
    parent : path
        Where run folders go.

    Returns
    -------
    tuple of Job
        In the order of the file, each with a folder of its own.

    Raises
    ------
    StudyError
        The file is wrong; the message names file, model and field, and the nearest valid name.
    """
    path = Path(file)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise StudyError(f"{path} is not TOML: {error}") from error
    _known(data, (_DEFAULTS, _MODELS), f"{path}: table")
    defaults, models = data.get(_DEFAULTS, {}), data.get(_MODELS, [])
    if not isinstance(models, list) or not models:
        raise StudyError(f"{path} must hold a table [[{_MODELS}]] for each model")
    for name in {"model", "out"} & defaults.keys():
        raise StudyError(f"{path}: [{_DEFAULTS}]: {name} belongs to one model, not to all")
    _checked(defaults, f"{path}: [{_DEFAULTS}]")
    jobs = [
        _job(defaults | table | words, f"{path}: model {table.get('model', number)!r}", table)
        for number, table in enumerate(models, start=1)
    ]
    _apart(jobs, parent)
    return tuple(jobs)


def perform(job: Job, *, progress: Callable[[Progress], None] | None = None) -> Run:
    """Ask what a job says and store the answers; see `unpredictabench.generate.generate`.

    Parameters
    ----------
    job : Job
        The job.
    progress : callable, optional
        Called after each slot.

    Returns
    -------
    Run
        The stored run.

    Raises
    ------
    ClientError
        The model could not be asked; a run that got no answer is not kept.
    """
    client, budget = job.client(), job.budget()
    suite = load_suite(job.suite, variant=job.variant)

    def asking() -> Coroutine[object, object, Run]:
        return generate_async(
            suite,
            client,
            job.folder(),
            job.design(),
            concurrency=job.concurrency or CONCURRENCY,
            budget=budget,
            stop=job.rule(suite),
            progress=progress,
        )

    try:
        return in_own_loop(lambda: closing(client, asking()))
    except ClientError:
        forget_without_answers(job.folder())
        raise


def slug(text: str) -> str:
    """Return a name for a folder: letters, digits, dots and hyphens."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.") or "run"


def _job(values: Mapping[str, Any], origin: str, table: Mapping[str, Any]) -> Job:
    if "model" not in table:
        raise StudyError(f"{origin}: model must be given")
    _checked(table, origin)
    category = values.get("category", ())
    job = Job(**{**values, "category": tuple(category), "origin": origin})
    try:
        job.client()
        job.design()
        job.budget()
        stop_rule(job.stop, ())
    except UnpredictabenchError as error:
        raise StudyError(f"{origin}: {error}") from error
    return job


def _checked(table: Mapping[str, Any], origin: str) -> None:
    _known(table, _FIELDS, f"{origin}: field")
    for name, value in table.items():
        words = [word.partition("[")[0] for word in str(_FIELDS[name].type).split(" | ")]
        kinds = {kind for word in words for kind in _KINDS[word]}
        if type(value) not in kinds:
            wanted = " or ".join(word for word in words if word != "None")
            raise StudyError(f"{origin}: {name} must be {wanted}, got {shortened(value)}")


def _known(table: Mapping[str, Any], names: Collection[str], what: str) -> None:
    for name in table:
        if name not in names:
            raise StudyError(f"{what} {name!r} is unknown; the nearest are {nearest(name, names)}")


def _apart(jobs: Sequence[Job], parent: Path) -> None:
    owners: dict[Path, Job] = {}
    for job in jobs:
        first = owners.setdefault(job.folder(parent), job)
        if first is not job:
            raise StudyError(
                f"{job.origin}: another table has the same folder {job.folder(parent)}; give one "
                "of them a field out"
            )
