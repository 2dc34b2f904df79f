"""Models that know the law: the perfect one, and those with a fault of known kind and size."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from unpredictabench.clients.words import nearest
from unpredictabench.errors import InputError
from unpredictabench.records import Completion
from unpredictabench.streams import stream
from unpredictabench.tasks.examples import Drawn, written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from unpredictabench.records import NominalTarget, NumericTarget, Request, Task

    Floats: TypeAlias = NDArray[np.float64]
    Numbers: TypeAlias = Callable[[NumericTarget, Floats, float], Floats]
    Places: TypeAlias = Callable[[Floats, Floats, float], Floats]

# Answers are drawn this many at a time: one call of a quantile function serves them all.
_BLOCK = 128
# "uniform" covers what lies between these quantiles, as most supports have no ends.
_ENDS = (0.001, 0.999)
_QUARTILES = (0.25, 0.5, 0.75)
_TINY = 1e-12
_CHATTER = "Sure! I simulated it once, and this is what came out:\n\n{}\n\nShall I draw again?"
_REFUSAL = "I'm sorry, but as a language model I cannot produce random values."


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a simulated model does.

    Parameters
    ----------
    numbers : callable
        From target, uniforms and amount to numbers.
    places : callable, optional
        Transforms uniforms before an outcome is looked up in the cumulated probabilities, for
        targets without order; from uniforms, probabilities and amount. The default keeps them.
    amount : float or None
        The default of the amount after the colon; None where one must be given.
    lowest, highest : float
        Bounds of the amount.
    takes_amount : bool
        Whether a name may have an amount.
    """

    numbers: Numbers
    places: Places | None = None
    amount: float | None = None
    lowest: float = -np.inf
    highest: float = np.inf
    takes_amount: bool = True


def _perfect(target: NumericTarget, u: Floats, amount: float) -> Floats:  # noqa: ARG001
    return target.ppf(u)


def _median(target: NumericTarget, u: Floats, amount: float) -> Floats:  # noqa: ARG001
    return np.repeat(target.ppf(0.5), u.size)


def _points(u: Floats, k: float) -> Floats:
    return np.asarray((np.floor(u * k) + 0.5) / k)


def _uniform(target: NumericTarget, u: Floats, amount: float) -> Floats:  # noqa: ARG001
    low, high = target.ppf(_ENDS)
    if target.support == "discrete":
        return np.asarray(np.floor(low + u * (high - low + 1.0)))
    return np.asarray(low + u * (high - low))


def _shifted(target: NumericTarget, u: Floats, amount: float) -> Floats:
    low, _, high = target.ppf(_QUARTILES)
    return np.asarray(target.ppf(u) + amount * (high - low))


def _scaled(target: NumericTarget, u: Floats, amount: float) -> Floats:
    median = target.ppf(0.5)
    return np.asarray(median + amount * (target.ppf(u) - median))


def _heavy(target: NumericTarget, u: Floats, freedom: float) -> Floats:
    from scipy.special import ndtr, ndtri, stdtrit  # noqa: PLC0415 - few runs need it

    scores = ndtri(0.75) / stdtrit(freedom, 0.75) * stdtrit(freedom, u)
    return target.ppf(np.clip(ndtr(scores), _TINY, 1.0 - _TINY))


def _tempered(target: NumericTarget, u: Floats, temperature: float) -> Floats:
    from scipy.special import ndtr, ndtri  # noqa: PLC0415 - few runs need it

    return target.ppf(np.clip(ndtr(np.sqrt(temperature) * ndtri(u)), _TINY, 1.0 - _TINY))


def _heated(u: Floats, probabilities: Floats, temperature: float) -> Floats:
    weights = probabilities ** (1.0 / temperature) if temperature > 0 else probabilities
    ends = np.cumsum(weights / weights.sum())
    chosen = np.minimum(np.searchsorted(ends, u, side="right"), ends.size - 1)
    return np.asarray(np.cumsum(probabilities)[chosen] - probabilities[chosen] / 2.0)


def _lumps(u: Floats, k: float) -> Floats:
    place = np.floor(u * k)
    return np.asarray((place + (u * k - place) / 2.0) / k)


def _likeliest(u: Floats, probabilities: Floats, amount: float) -> Floats:  # noqa: ARG001
    first = int(np.argmax(probabilities))
    middle = probabilities[:first].sum() + probabilities[first] / 2.0
    return np.full(u.size, middle)


def _evenly(u: Floats, probabilities: Floats, amount: float) -> Floats:  # noqa: ARG001
    n = probabilities.size
    ends = np.cumsum(probabilities)
    chosen = np.minimum(np.floor(u * n), n - 1).astype(np.int64)
    return np.asarray(ends[chosen] - probabilities[chosen] / 2.0)


def _outside(task: Task) -> str | None:
    """Return a number outside of a task's support; None where there is none."""
    if task.support == "nominal":
        return None
    target = cast("NumericTarget", task.target)
    low, high = target.ppf((0.0, 1.0)).tolist()
    tried = [low - 1.0, high + 1.0, low + 0.5]
    outside = [x for x in tried if np.isfinite(x) and not target.contains(x)]
    return _number(outside[0], is_integer=task.answer.is_integer) if outside else None


BEHAVIOURS: dict[str, Behaviour] = {
    "perfect": Behaviour(_perfect, takes_amount=False),
    "median": Behaviour(_median, _likeliest, takes_amount=False),
    "kpoint": Behaviour(
        lambda target, u, k: target.ppf(_points(u, k)),
        lambda u, _, k: _points(u, k),
        lowest=1,
    ),
    "rounded": Behaviour(
        lambda target, u, digits: np.round(target.ppf(u), int(digits)), amount=1, lowest=0
    ),
    "uniform": Behaviour(_uniform, _evenly, takes_amount=False),
    "shifted": Behaviour(_shifted, amount=1.0),
    "scaled": Behaviour(_scaled, amount=2.0, lowest=0.0),
    "heavy": Behaviour(_heavy, amount=1.5, lowest=0.5),
    "lumpy": Behaviour(
        lambda target, u, k: target.ppf(_lumps(u, k)), lambda u, _, k: _lumps(u, k), 2, lowest=1
    ),
    "tempered": Behaviour(_tempered, _heated, lowest=0.01),
    "cycling": Behaviour(
        lambda target, u, k: target.ppf(_points(u, k)), lambda u, _, k: _points(u, k), 10, lowest=2
    ),
    "outside": Behaviour(_perfect, amount=0.2, lowest=0.0, highest=1.0),
    "chatty": Behaviour(_perfect, takes_amount=False),
    "refusing": Behaviour(_perfect, amount=0.2, lowest=0.0, highest=1.0),
}
_SOMETIMES = frozenset({"refusing", "outside"})
"""Models whose amount is the probability of their fault."""
_WHOLE_AMOUNTS = frozenset({"kpoint", "rounded", "lumpy", "cycling"})


class SimulatedClient:
    """A model made of the task's own law.

    Parameters
    ----------
    name : str, default "perfect"
        * ``perfect``: independent draws from the target.
        * ``median``: always the median; the likeliest outcome (the first of equals) where the
          outcomes have no order.
        * ``kpoint:K``: independently one of the K quantiles (2j - 1) / (2K); K outcomes evenly
          spread over the cumulated probabilities where there is no order.
        * ``rounded:D`` (1): perfect, rounded to D decimals.
        * ``uniform``: uniform between the quantiles 0.001 and 0.999, or over the outcomes.
        * ``shifted:S`` (1): perfect, moved by S interquartile ranges.
        * ``scaled:F`` (2): perfect, stretched about the median by the factor F.
        * ``heavy:NU`` (1.5): the tails of Student's t with NU degrees of freedom, read through the
          normal scores; quartiles as they should be.
        * ``lumpy:K`` (2): only the lower half of each of K equally probable stretches.
        * ``tempered:T``: normal scores times the square root of T; chances of outcomes to the
          power 1 / T.
        * ``cycling:K`` (10): the K points of ``kpoint:K`` in turn, answer after answer.
        * ``outside:P`` (0.2): perfect, but outside of the support with probability P; where there
          is nothing outside, refuses.
        * ``chatty``: perfect, wrapped in talk.
        * ``refusing:P`` (0.2): perfect, but refuses with probability P.
    seed : int, default 0
        Another seed gives other draws.

    Raises
    ------
    InputError
        If there is no such model; the message holds the nearest name.

    Notes
    -----
    Answer number i of a task is the same whatever was asked before it. Rounding, shifting and
    scaling leave outcomes without order as they are.

    Examples
    --------
    >>> SimulatedClient("kpoint:3").parameters
    {'seed': 0}
    """

    def __init__(self, name: str = "perfect", *, seed: int = 0) -> None:
        self._name, self._seed = name, seed
        self._kind, self._amount = _parsed(name)
        self._behaviour = BEHAVIOURS[self._kind]
        self._blocks: dict[tuple[str, int], list[tuple[Drawn, bool]]] = {}
        self._ends: dict[str, Floats] = {}

    def __repr__(self) -> str:
        return f"SimulatedClient({self._name!r}, seed={self._seed})"

    @property
    def model(self) -> str:
        """``sim:`` and the name."""
        return f"sim:{self._name}"

    @property
    def base_url(self) -> str | None:
        """None: nothing is behind an endpoint."""
        return None

    @property
    def parameters(self) -> Mapping[str, object]:
        """The seed of the draws."""
        return {"seed": self._seed}

    async def ask(self, request: Request) -> Completion:
        """Answer one question; several answers in one reply come as a JSON array."""
        first = request.index * request.n_asked
        drawn = [self._drawn(request.task, first + p) for p in range(request.n_asked)]
        return Completion(
            task=request.task.id,
            index=request.index,
            text=self._said([value for value, _ in drawn], request.task, refuses=drawn[0][1]),
            finish_reason="stop",
            model=self.model,
            n_asked=request.n_asked,
        )

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""

    def _said(self, values: list[Drawn], task: Task, *, refuses: bool) -> str:
        if refuses:
            return _REFUSAL
        text = written(values[0], task.answer) if len(values) == 1 else _array(values, task)
        return _CHATTER.format(text) if self._kind == "chatty" else text

    def _drawn(self, task: Task, number: int) -> tuple[Drawn, bool]:
        """Return answer number `number` and whether the model refuses to give it."""
        block, place = divmod(number, _BLOCK)
        key = (task.id, block)
        if key not in self._blocks:
            # Answers are asked for in order; an older one that is asked for again is drawn again.
            self._blocks.pop((task.id, block - 2), None)
            self._blocks[key] = self._block(task, block)
        return self._blocks[key][place]

    def _block(self, task: Task, block: int) -> list[tuple[Drawn, bool]]:
        rng = stream("sim", self._name, self._seed, task.id, block)
        u = rng.random(_BLOCK)
        if self._kind == "cycling":
            number = block * _BLOCK + np.arange(_BLOCK)
            u = np.asarray((number % self._amount + 0.5) / self._amount)
        is_nominal = task.support == "nominal"
        values = self._outcomes(task, u) if is_nominal else self._numbers(task, u)
        is_other = rng.random(_BLOCK) < (self._amount if self._kind in _SOMETIMES else 0.0)
        outside = _outside(task) if self._kind == "outside" else None
        if outside is None:
            return list(zip(values, is_other.tolist(), strict=True))
        return [
            (outside if no else value, False) for value, no in zip(values, is_other, strict=True)
        ]

    def _numbers(self, task: Task, u: Floats) -> list[Drawn]:
        target = cast("NumericTarget", task.target)
        values = self._behaviour.numbers(target, u, self._amount)
        return [_number(value, is_integer=task.answer.is_integer) for value in values.tolist()]

    def _outcomes(self, task: Task, u: Floats) -> list[Drawn]:
        target = cast("NominalTarget", task.target)
        probabilities = np.asarray(target.probabilities)
        if task.id not in self._ends:
            self._ends[task.id] = np.cumsum(probabilities)
        ends = self._ends[task.id]
        if self._behaviour.places is not None:
            u = self._behaviour.places(u, probabilities, self._amount)
        # Scaling by the last end keeps a sum of 1 - 1e-16 from leaving the table.
        places = np.searchsorted(ends, u * ends[-1], side="right")
        outcomes = target.outcomes
        return [_outcome(outcomes[place], task) for place in places.tolist()]


def _parsed(name: str) -> tuple[str, float]:
    kind, colon, after = name.partition(":")
    behaviour = BEHAVIOURS.get(kind)
    if behaviour is None:
        near = nearest(kind, BEHAVIOURS)
        raise InputError("name", f"be one of {', '.join(BEHAVIOURS)} (nearest: {near})", name)
    if not colon and (behaviour.amount is not None or not behaviour.takes_amount):
        return kind, behaviour.amount or 0.0
    try:
        amount = float(after) if behaviour.takes_amount else np.nan
    except ValueError:
        amount = np.nan
    is_whole = kind not in _WHOLE_AMOUNTS or amount.is_integer()
    if not (behaviour.lowest <= amount <= behaviour.highest and np.isfinite(amount) and is_whole):
        raise InputError("name", _rule(kind, behaviour), name)
    return kind, amount


def _rule(kind: str, behaviour: Behaviour) -> str:
    if not behaviour.takes_amount:
        return f"be plain {kind!r}, without an amount"
    sort = "a whole number" if kind in _WHOLE_AMOUNTS else "a number"
    bounds = f" in [{behaviour.lowest:g}, {behaviour.highest:g}]"
    return f"be '{kind}:' and {sort}{bounds}"


def _number(value: float, *, is_integer: bool) -> str:
    return str(int(value)) if is_integer and value.is_integer() else repr(value)


def _outcome(outcome: str | tuple[int, ...], task: Task) -> Drawn:
    if isinstance(outcome, tuple):
        return tuple(task.answer.items[i] for i in outcome)
    return outcome or "(no output)"  # what the prompts of such tasks ask for


def _array(values: list[Drawn], task: Task) -> str:
    if task.answer.kind == "number":  # already text, to the last digit
        return f"[{', '.join(map(str, values))}]"
    return json.dumps(values)
