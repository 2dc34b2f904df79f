"""The frozen records every layer speaks: tasks, targets, completions, extractions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Category: TypeAlias = Literal[
    "text-explicit",
    "text-implicit",
    "code-explicit",
    "code-implicit",
    "multimodal",
    "shuffling",
    "real-world",
]
CATEGORIES: tuple[Category, ...] = (
    "text-explicit",
    "text-implicit",
    "code-explicit",
    "code-implicit",
    "multimodal",
    "shuffling",
    "real-world",
)
Support: TypeAlias = Literal["continuous", "discrete", "mixed", "nominal"]
Spread: TypeAlias = Literal["concentrated", "spread_out"]
AnswerKind: TypeAlias = Literal["number", "permutation", "choice", "lines"]
Observation: TypeAlias = float | str | tuple[int, ...]
"""One answer as a value: a number, a chosen label (lines joined by newlines), or the
permutation as indices into the task's items."""

ExtractionStatus: TypeAlias = Literal[
    "valid", "several", "off-form", "refusal", "code", "truncated", "empty", "error"
]
Reading: TypeAlias = Literal["strict", "lenient"]
CompletionStatus: TypeAlias = Literal["ok", "empty_content", "no_choice"]
Outcome: TypeAlias = str | tuple[int, ...]


@runtime_checkable
class Target(Protocol):
    """The law a task's answers should follow."""

    @property
    def support(self) -> Support:
        """Kind of support; "nominal" laws are a `NominalTarget`, the others a `NumericTarget`."""
        ...

    @property
    def spec(self) -> Mapping[str, object]:
        """The law as plain JSON data, enough to rebuild it and to hash it."""
        ...

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.generic]:
        """Draw `size` observations: float64 values, or int64 indices into `outcomes`."""
        ...

    def draws(self, m: int, stream_name: str) -> NDArray[np.generic]:
        """Draw `m` observations from the stream of that name, remembered on disk by content."""
        ...


@runtime_checkable
class NumericTarget(Target, Protocol):
    """A law on the real line."""

    def cdf(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return P(X <= x)."""
        ...

    def cdf_left(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return P(X < x)."""
        ...

    def ppf(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return the smallest x with P(X <= x) >= q."""
        ...

    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        """Tell which values lie in the support."""
        ...


@runtime_checkable
class NominalTarget(Target, Protocol):
    """A law on finitely many labels or permutations."""

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The legal outcomes, in the order of `probabilities`."""
        ...

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Probability of each outcome; they sum to 1."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """The form an answer must have.

    Parameters
    ----------
    kind : {"number", "permutation", "choice", "lines"}
        What the answer is.
    instruction : str
        The sentence at the end of the prompt that asks for this form; empty where the question
        itself does.
    items : tuple of str
        The items to permute (as the prompt shows them) or the labels to choose from; empty
        for numbers. For "lines" the legal lines, in no particular order.
    is_integer : bool
        For numbers: whether every legal answer is a whole number.
    """

    kind: AnswerKind
    instruction: str
    items: tuple[str, ...] = ()
    is_integer: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """One question whose answers should follow a known law.

    Parameters
    ----------
    id : str
        Readable and stable, e.g. ``"text-explicit/poisson/spread_out"``.
    category : str
        One of `CATEGORIES`.
    family : str
        Slug of the law's family, e.g. ``"poisson"``, or of the scenario.
    spread : {"concentrated", "spread_out"} or None
        The intent of the parameters; None for shuffles and real-world tasks.
    question : str
        What is asked, without the instruction on the form of the answer.
    answer : Answer
        The form asked for.
    target : Target
        The law of a faithful answer.
    rationale : str
        Why a careful reader arrives at exactly this law; never shown to a model.
    program : str or None
        The program inside the question, for code tasks.
    """

    id: str
    category: Category
    family: str
    spread: Spread | None
    question: str
    answer: Answer
    target: Target
    rationale: str = ""
    program: str | None = None

    @property
    def prompt(self) -> str:
        """The whole prompt: the question, then the instruction on the form of the answer."""
        instruction = self.answer.instruction
        return f"{self.question}\n\n{instruction}" if instruction else self.question

    @property
    def support(self) -> Support:
        """Kind of support of the target."""
        return self.target.support

    def truth(
        self, m: int = 10_000, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.generic]:
        """Draw `m` observations of a faithful answer.

        Parameters
        ----------
        m : int
            Number of draws, at least 1.
        rng : int or numpy.random.Generator, optional
            Where the randomness comes from. The default is the task's own named stream, and
            those draws are remembered on disk.

        Returns
        -------
        numpy.ndarray
            float64 values, or int64 indices into the target's outcomes for nominal tasks.
        """
        if rng is None:
            return self.target.draws(m, f"truth/{self.id}")
        import numpy as np  # noqa: PLC0415 - records import without NumPy's cost

        return self.target.sample(m, np.random.default_rng(rng))


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message.

    Parameters
    ----------
    role : {"system", "user", "assistant"}
        Who speaks.
    content : str
        What is said.
    """

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One question to put to a model: the slot it fills and the words it is asked in.

    Parameters
    ----------
    task : Task
        The task; simulated models answer from its target.
    index : int
        Number of the slot within the task.
    messages : tuple of Message
        The conversation as a chat model receives it.
    n_asked : int
        Answers asked for in the one reply; 1 unless sampling is "batch".
    """

    task: Task
    index: int
    messages: tuple[Message, ...]
    n_asked: int = 1


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote for one slot, verbatim, and how it came.

    Parameters
    ----------
    task : str
        Id of the task.
    index : int
        Number of the slot within the task, from 0; (task, index) is the key.
    text : str or None
        The answer exactly as it came; None when the reply held no text.
    status : {"ok", "empty_content", "no_choice"}
        Whether the reply held text, held none, or held no choice at all.
    reasoning : str or None
        Reasoning that came beside the answer; never read as the answer unless asked.
    finish_reason : str or None
        Why the model stopped ("stop", "length", ...).
    model, fingerprint, response_id : str or None
        What the server said it was.
    prompt_tokens, completion_tokens : int or None
        Usage as the server counted it.
    created_at : float
        Seconds since the epoch at which the reply was complete.
    latency_s : float
        Seconds from the request that succeeded to its reply.
    attempts : int
        Requests made for this slot, at least 1.
    seed : int or None
        Seed sent, if one was.
    n_asked : int
        Answers asked for in this one reply; more than 1 only for batch sampling, where the
        observation at position p of reply `index` is number ``index * n_asked + p`` of the task.
    """

    task: str
    index: int
    text: str | None
    status: CompletionStatus = "ok"
    reasoning: str | None = None
    finish_reason: str | None = None
    model: str | None = None
    fingerprint: str | None = None
    response_id: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    created_at: float = 0.0
    latency_s: float = 0.0
    attempts: int = 1
    seed: int | None = None
    n_asked: int = 1


@dataclass(frozen=True, slots=True)
class Extraction:
    """The observation read from a completion, or the reason there is none.

    Parameters
    ----------
    value : float, str, tuple of int, or None
        The observation; None unless `status` is "valid".
    status : str
        Exactly one class: valid, several, off-form, refusal, code, truncated, empty, error.
    reason : str
        The rule that decided, in a few words.
    span : (int, int) or None
        Where in the text the value was read.
    reading : {"strict", "lenient"}
        Which reading this is.
    position : int
        Place within the reply, for batch sampling; otherwise 0.
    """

    value: Observation | None
    status: ExtractionStatus
    reason: str = ""
    span: tuple[int, int] | None = None
    reading: Reading = "lenient"
    position: int = 0

    @property
    def is_valid(self) -> bool:
        """Whether there is a value."""
        return self.status == "valid"


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval.

    Parameters
    ----------
    low, high : float
        Its ends.
    """

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what a model is asked; two runs may be pooled only if all agree.

    Parameters
    ----------
    model : str
        Name given to the endpoint, ``local:NAME`` or ``sim:NAME``.
    suite : str
        Name of the suite.
    suite_hash : str
        Content hash of the suite.
    prompt_style : str
        "direct", "few-shot" or "cot".
    sampling : {"independent", "batch"}
        One answer a request, or several in one reply.
    n_asked : int
        Answers asked for in one reply; 1 unless `sampling` is "batch".
    base_url : str or None
        Endpoint, without credentials.
    parameters : mapping
        The parameters sent with each request (temperature, max_tokens, ...), exactly.
    stop : str
        The stopping rule; "never" is the default.
    """

    model: str
    suite: str
    suite_hash: str
    prompt_style: str = "direct"
    sampling: Literal["independent", "batch"] = "independent"
    n_asked: int = 1
    base_url: str | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    stop: str = "never"
