"""How a scenario is put together: the facts drawn, the exact law, the form of the answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from unpredictabench.records import Answer
from unpredictabench.tasks.draft import TaskDraft

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    import numpy as np

State = TypeVar("State")
Moves: TypeAlias = "list[tuple[State, Fraction]]"
NO_OUTPUT = "(no output)"
ASKS = (
    (
        "Play one such run through with real chance and report {what}. Over many answers the "
        "results should vary as they would over many runs."
    ),
    (
        "Let it happen once, every random step drawn as described, and report {what}; each "
        "possible result should come up in your answers as often as it would in reality."
    ),
    (
        "Draw every random step of a single run as stated and report {what}. Do not pick the most "
        "likely result: over many answers each result should appear with its true frequency."
    ),
    (
        "For one fresh run, with every random step drawn with the stated probability, report "
        "{what}. Asked again and again, your answers should be spread like the real results."
    ),
)


@dataclass(frozen=True, slots=True)
class Story:
    """A scenario told once.

    Parameters
    ----------
    draft : TaskDraft
        The task it becomes.
    facts : mapping
        The numbers drawn for it, enough to simulate the process it describes.
    """

    draft: TaskDraft
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Telling:
    """The words of a scenario, without its law.

    Parameters
    ----------
    slug : str
        Last part of the task's id.
    question : str
        What is asked.
    rationale : str
        Why the law is the one given.
    facts : mapping
        What a simulation of the process needs.
    """

    slug: str
    question: str
    rationale: str
    facts: Mapping[str, Any]

    def story(self, answer: Answer, law: Mapping[str, object]) -> Story:
        """Join the words with the form of the answer and the law."""
        draft = TaskDraft(
            category="real-world",
            slug=self.slug,
            question=self.question,
            answer=answer,
            law=law,
            rationale=self.rationale,
        )
        return Story(draft, self.facts)


def counted(telling: Telling, chances: Mapping[int, Fraction], unit: str) -> Story:
    """Make a story whose answer is a whole number with finitely many values."""
    values = sorted(value for value, chance in chances.items() if chance)
    law = {
        "finite": {
            "values": [float(value) for value in values],
            "probabilities": [float(chances[value]) for value in values],
        }
    }
    assert sum(chances.values()) == 1
    return whole(telling, law, unit)


def whole(telling: Telling, law: Mapping[str, object], unit: str) -> Story:
    """Make a story whose answer is a whole number that follows a law."""
    instruction = f"Answer with {unit} only, as a whole number."
    return telling.story(Answer("number", instruction, is_integer=True), law)


def measured(telling: Telling, law: Mapping[str, object], unit: str) -> Story:
    """Make a story whose answer is a real number that follows a law."""
    instruction = f"Answer with {unit} only, as a plain decimal number with full precision."
    return telling.story(Answer("number", instruction), law)


def chosen(telling: Telling, chances: Mapping[str, Fraction]) -> Story:
    """Make a story whose answer is one of a few labels."""
    shown = ", ".join(f'"{label}"' for label in chances)
    answer = Answer("choice", f"Answer with exactly one of {shown}, and nothing else.", (*chances,))
    return telling.story(answer, nominal(chances))


def ordered(
    telling: Telling, chances: Mapping[tuple[int, ...], Fraction], items: Sequence[str]
) -> Story:
    """Make a story whose answer is the order of some items."""
    instruction = (
        f"Answer with all {len(items)} names in that order, separated by commas, and nothing else."
    )
    law = nominal({tuple(order): chance for order, chance in chances.items()})
    return telling.story(Answer("permutation", instruction, tuple(items)), law)


def printed(
    telling: Telling, chances: Mapping[tuple[str, ...], Fraction], lines: Sequence[str]
) -> Story:
    """Make a story whose answer is what a program prints: some lines, or none."""
    instruction = "Answer with the printed lines only, one per line, exactly as printed."
    if () in chances:
        instruction += f" If nothing is printed, answer {NO_OUTPUT}."
    law = nominal({"\n".join(output): chance for output, chance in chances.items()})
    return telling.story(Answer("lines", instruction, tuple(lines)), law)


def nominal(chances: Mapping[Any, Fraction]) -> dict[str, object]:
    """Return the spec of a law on labels, line blocks or orders."""
    assert sum(chances.values()) == 1
    kept = {outcome: chance for outcome, chance in chances.items() if chance}
    outcomes = [list(key) if isinstance(key, tuple) else key for key in kept]
    return {
        "nominal": {
            "outcomes": outcomes,
            "probabilities": [float(chance) for chance in kept.values()],
        }
    }


def tally(cases: Iterable[tuple[Hashable, Fraction]]) -> dict[Any, Fraction]:
    """Add up the probabilities of cases that end alike."""
    total: dict[Any, Fraction] = {}
    for outcome, chance in cases:
        total[outcome] = total.get(outcome, Fraction(0)) + chance
    return total


def ends(start: State, moves: Callable[[State], Moves[State]]) -> dict[State, Fraction]:
    """Follow a process that always ends, and return how likely each last state is.

    Parameters
    ----------
    start : hashable
        The first state.
    moves : callable
        Returns the possible next states with their probabilities; none for a last state.
    """
    last: dict[State, Fraction] = {}
    alive = {start: Fraction(1)}
    while alive:
        following: dict[State, Fraction] = {}
        for state, weight in alive.items():
            steps = moves(state)
            if not steps:
                last[state] = last.get(state, Fraction(0)) + weight
            for after, chance in steps:
                following[after] = following.get(after, Fraction(0)) + weight * chance
        alive = following
    return last


def ask(rng: np.random.Generator, what: str) -> str:
    """Return a sentence that asks for one run with honest chance."""
    return str(rng.choice(ASKS)).format(what=what)


def between(rng: np.random.Generator, low: int, high: int) -> int:
    """Return a whole number from `low` to `high`, both included."""
    return int(rng.integers(low, high + 1))


def chance(rng: np.random.Generator, low: int, high: int, *, step: int = 5) -> Fraction:
    """Return a probability of `low` to `high` percent, a multiple of `step` percent."""
    return Fraction(step * between(rng, low // step, high // step), 100)


def percent(chance: Fraction) -> str:
    """Write a probability as a whole or decimal percentage."""
    return f"{float(100 * chance):g}%"


def listed(words: Sequence[str]) -> str:
    """Write words as "a, b and c"."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
