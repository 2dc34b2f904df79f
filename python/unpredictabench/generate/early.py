"""Two stopping rules: when a task is certain to fail, and when the evidence is overwhelming."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, cast, get_args

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.extract import extract
from unpredictabench.extract.coding import coder
from unpredictabench.generate.stopping import NEVER
from unpredictabench.stats import sequential
from unpredictabench.streams import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from unpredictabench.generate.stopping import StopRule
    from unpredictabench.records import Completion, Extraction, NominalTarget, NumericTarget, Task

    Floats: TypeAlias = NDArray[np.float64]

StopWord: TypeAlias = Literal["never", "curtail", "evalue"]
N_CELLS: Final = 16
"""Equally probable cells for laws on the line."""
ALPHA: Final = 1e-4
"""Level at which tasks pass or fail."""


def stop_rule(
    word: StopWord, tasks: Iterable[Task], *, n_samples: int = 100, alpha: float = ALPHA
) -> StopRule:
    """Return the stopping rule of a name.

    Parameters
    ----------
    word : {"never", "curtail", "evalue"}
        Which rule.
    tasks : iterable of Task
        The tasks of the run.
    n_samples : int
        Answers the verdict is about, for "curtail".
    alpha : float
        Level of the verdict, or of the e-process, in (0, 1).

    Returns
    -------
    StopRule
        The rule; its name holds all that decides.
    """
    if word not in get_args(StopWord):
        raise InputError("stop", f"be one of {', '.join(get_args(StopWord))}", word)
    if word == "never":
        return NEVER
    if word == "curtail":
        return Curtailment(tasks, n_samples=n_samples, alpha=alpha)
    return Evidence(tasks, alpha=alpha)


class Curtailment:
    """Stops a task when its verdict at `n_samples` is certain to be a failure.

    Parameters
    ----------
    tasks : iterable of Task
        The tasks of the run.
    n_samples : int
        Answers the verdict is about.
    alpha : float
        Level of the verdict.

    Notes
    -----
    No verdict changes. A task stopped so is a failure at `n_samples`; it has no pass rate at other
    sizes, because the size of its pool depended on its answers. Tasks known by draws only are
    never stopped.
    """

    def __init__(self, tasks: Iterable[Task], *, n_samples: int, alpha: float = ALPHA) -> None:
        if n_samples < 1:
            raise InputError("n_samples", "be at least 1", n_samples)
        if not 0 < alpha < 1:
            raise InputError("alpha", "lie strictly between 0 and 1", alpha)
        self._n, self._alpha = n_samples, alpha
        self._judges = _Judges(tasks, lambda task: _curtailed(task, n_samples, alpha))

    @property
    def name(self) -> str:
        """The rule with its numbers."""
        return f"curtail(n={self._n}, alpha={self._alpha:g})"

    def done(self, task_id: str, completions: Sequence[Completion]) -> bool:
        """Tell whether no continuation of the answers passes."""
        return self._judges.is_decided(task_id, completions)


class Evidence:
    """Stops a task when the e-process against its law reaches 1 / alpha.

    Parameters
    ----------
    tasks : iterable of Task
        The tasks of the run.
    alpha : float
        Bound for the probability that a faithful model is ever stopped.
    n_cells : int
        Cells for laws on the line, at least 2.

    Notes
    -----
    Not a KS verdict: tasks stopped so are reported apart. Answers within a cell are not told from
    each other. Valid for independent answers; replies of several answers may break that.
    """

    def __init__(
        self, tasks: Iterable[Task], *, alpha: float = ALPHA, n_cells: int = N_CELLS
    ) -> None:
        if not 0 < alpha < 1:
            raise InputError("alpha", "lie strictly between 0 and 1", alpha)
        if n_cells < 2:
            raise InputError("n_cells", "be at least 2", n_cells)
        self._alpha, self._n_cells = alpha, n_cells
        self._judges = _Judges(tasks, lambda task: _Weighed(task, alpha, n_cells))

    @property
    def name(self) -> str:
        """The rule with its numbers."""
        return f"evalue(alpha={self._alpha:g}, cells={self._n_cells})"

    def done(self, task_id: str, completions: Sequence[Completion]) -> bool:
        """Tell whether the evidence has ever reached its bound."""
        return self._judges.is_decided(task_id, completions)


class _Judge(Protocol):
    def is_decided(self, values: Floats) -> bool: ...


class _Judges:
    """Reads the answers of each task once, as they come, and asks its judge."""

    def __init__(self, tasks: Iterable[Task], make: Callable[[Task], _Judge]) -> None:
        self._tasks = {task.id: task for task in tasks}
        self._make = make
        self._judges: dict[str, _Judge | None] = {}
        self._coders: dict[str, Callable[[Extraction], float]] = {}
        self._read: dict[str, tuple[list[Completion], list[float]]] = {}

    def is_decided(self, task_id: str, completions: Sequence[Completion]) -> bool:
        task = self._tasks.get(task_id)
        if task is None or not completions:
            return False
        if task_id not in self._judges:
            is_known = bool(getattr(task.target, "is_exact", True))
            self._judges[task_id] = self._make(task) if is_known else None
            self._coders[task_id] = coder(task)
        judge = self._judges[task_id]
        return judge is not None and judge.is_decided(self._values(task, completions))

    def _values(self, task: Task, completions: Sequence[Completion]) -> Floats:
        read, values = self._read.get(task.id, ([], []))
        if len(read) > len(completions) or any(
            old is not new
            for old, new in zip(read[-1:], completions[len(read) - 1 :], strict=False)
        ):
            read, values = [], []  # another run
        code = self._coders[task.id]
        for completion in completions[len(read) :]:
            values.extend(code(found) for found in extract(completion, task))
        self._read[task.id] = list(completions), values
        return np.array(values)


def _curtailed(task: Task, n: int, alpha: float) -> _Judge:
    if task.support != "nominal":
        return _KsJudge(cast("NumericTarget", task.target), n, alpha)
    target = cast("NominalTarget", task.target)
    probabilities = np.asarray(target.probabilities)
    if task.answer.kind == "permutation" and np.ptp(probabilities) == 0:
        return _DigitJudge(np.array(target.outcomes), n, alpha)
    return _LabelJudge(probabilities, n, alpha)


class _KsJudge:
    """Certain failure of the KS test against a law."""

    def __init__(self, target: NumericTarget, n: int, alpha: float) -> None:
        self._target, self._n, self._alpha = target, n, alpha

    @cached_property
    def _critical(self) -> float:
        return sequential.critical_distance(self._target, self._n, alpha=self._alpha)

    def is_decided(self, values: Floats) -> bool:
        asked = values[: self._n]
        valid = asked[~np.isnan(asked)]
        return sequential.is_certain_failure(
            self._target.cdf(valid),
            self._target.cdf_left(valid),
            self._n,
            self._critical,
            n_invalid=asked.size - valid.size,
        )


class _LabelJudge:
    """Certain failure of the total-variation test of labels."""

    def __init__(self, probabilities: Floats, n: int, alpha: float) -> None:
        self._p, self._n, self._alpha = probabilities, n, alpha

    @cached_property
    def _critical(self) -> float:
        return sequential.critical_variation(self._p, self._n, alpha=self._alpha)

    def is_decided(self, values: Floats) -> bool:
        asked = values[: self._n]
        valid = asked[~np.isnan(asked)].astype(np.int64)
        return sequential.is_certain_label_failure(
            np.bincount(valid, minlength=self._p.size),
            self._p,
            self._n,
            self._critical,
            n_invalid=asked.size - valid.size,
        )


class _DigitJudge:
    """Certain failure of one Lehmer digit at the level that Holm's first step leaves it.

    The test of whole permutations is not looked at: a failure by it alone is seen at the end.
    """

    def __init__(self, outcomes: NDArray[np.int64], n: int, alpha: float) -> None:
        items = outcomes.shape[1]
        self._digits = sequential.lehmer_digits(outcomes)
        shares = [np.full(items - i, 1 / (items - i)) for i in range(items - 1)]
        self._judges = [_LabelJudge(share, n, alpha / items) for share in shares]

    def is_decided(self, values: Floats) -> bool:
        is_valid = ~np.isnan(values)
        digits = np.full((values.size, self._digits.shape[1]), np.nan)
        digits[is_valid] = self._digits[values[is_valid].astype(np.int64)]
        columns = zip(self._judges, digits.T, strict=True)
        return any(judge.is_decided(column) for judge, column in columns)


class _Weighed:
    """The e-process of a task."""

    def __init__(self, task: Task, alpha: float, n_cells: int) -> None:
        self._task, self._bound, self._n_cells = task, -np.log(alpha), n_cells

    def is_decided(self, values: Floats) -> bool:
        cells, probabilities = self._cells(values)
        return bool((sequential.log_e_process(cells, probabilities) >= self._bound).any())

    def _cells(self, values: Floats) -> tuple[NDArray[np.int64], Floats]:
        is_valid = ~np.isnan(values)
        cells = np.full(values.size, sequential.INVALID, dtype=np.int64)
        if self._task.support == "nominal":
            cells[is_valid] = values[is_valid].astype(np.int64)
            return cells, np.asarray(cast("NominalTarget", self._task.target).probabilities)
        target = cast("NumericTarget", self._task.target)
        # Draw i belongs to answer i, however many answers there are yet.
        v = stream("pit", self._task.id).random(values.size)[is_valid]
        upper, lower = target.cdf(values[is_valid]), target.cdf_left(values[is_valid])
        pit = lower + v * (upper - lower)
        cells[is_valid] = np.minimum((pit * self._n_cells).astype(np.int64), self._n_cells - 1)
        return cells, np.full(self._n_cells, 1 / self._n_cells)
