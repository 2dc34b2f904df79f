"""Solved questions for the few-shot style; their laws belong to no task of the suite."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from unpredictabench.records import Answer

Drawn: TypeAlias = "float | str | tuple[str, ...]"


@dataclass(frozen=True, slots=True)
class Example:
    """A question with three answers drawn from its law.

    Parameters
    ----------
    slug : str
        Name of the law; the answers come from the stream ``("few-shot", slug)``.
    question : str
        What is asked, without the form.
    answers : tuple
        Three draws: numbers, labels, blocks of lines, or orders of names.
    program : str or None
        A program that draws from the law, for tasks that show one.
    """

    slug: str
    question: str
    answers: tuple[Drawn, Drawn, Drawn]
    program: str | None = None


# The draws were made once, by inversion of the law's distribution function at the first three
# uniforms of the stream, so nobody chose them; tests/test_styles.py makes them again.
REAL = (
    Example(
        "gompertz",
        "A lifetime in years follows a Gompertz distribution with hazard 0.00005 at birth that "
        "grows by a factor of e every 10 years. Draw one lifetime.",
        (85.0413, 65.5873, 67.4162),
        "import math\nimport random\n\n"
        "print(10 * math.log(1 - math.log(1 - random.random()) / 0.0005))",
    ),
    Example(
        "kumaraswamy",
        "Sample a value from the Kumaraswamy distribution with a = 2 and b = 5.",
        (0.399, 0.2972, 0.2389),
        "import random\n\nprint((1 - (1 - random.random()) ** 0.2) ** 0.5)",
    ),
    Example(
        "hyperbolic-secant",
        "A deviation follows a hyperbolic secant distribution with location 0 and scale 40. "
        "Give one simulated deviation.",
        (28.389, -6.745, -91.381),
        "import math\nimport random\n\n"
        "print(80 / math.pi * math.log(math.tan(math.pi * random.random() / 2)))",
    ),
)
WHOLE = (
    Example(
        "benford",
        "Draw a first digit that follows Benford's law.",
        (1, 2, 3),
        "import random\n\nprint(int(10 ** random.random()))",
    ),
    Example(
        "zipf",
        "A word's rank follows Zipf's law with exponent 1 on the ranks 1 to 50. Draw one rank.",
        (4, 6, 2),
        "import random\n\nprint(random.choices(range(1, 51), [1 / k for k in range(1, 51)])[0])",
    ),
    Example(
        "discrete-rayleigh",
        "A wait of whole days exceeds k days with probability 0.9997 to the power of (k + 1) "
        "squared. Simulate one wait.",
        (13, 49, 5),
        "import math\nimport random\n\n"
        "square = math.log(1 - random.random()) / math.log(0.9997)\n"
        "print(math.ceil(math.sqrt(square)) - 1)",
    ),
)
ORDERS = (
    Example(
        "race",
        "In each round of a race the next to arrive is one of those still running, with chances "
        "in proportion 3 (Ada), 2 (Ben), 1 (Cleo). Simulate one order of arrival.",
        (("Ada", "Cleo", "Ben"), ("Ada", "Cleo", "Ben"), ("Ada", "Ben", "Cleo")),
    ),
    Example(
        "queue",
        "A gardener picks the next tree to water with chances in proportion 1 (oak), 2 (fir), "
        "3 (elm), 4 (ash), until none is left. Simulate one order.",
        (
            ("fir", "ash", "elm", "oak"),
            ("oak", "fir", "elm", "ash"),
            ("oak", "elm", "ash", "fir"),
        ),
    ),
    Example(
        "gates",
        "Four gates open one after the other, the next with chances in proportion 4 (north), "
        "3 (south), 2 (east), 1 (west). Simulate one order.",
        (
            ("north", "east", "south", "west"),
            ("south", "east", "north", "west"),
            ("south", "north", "east", "west"),
        ),
    ),
)
LABELS = (
    Example(
        "weather",
        "Tomorrow brings sun, rain or fog with chances 5 : 3 : 2. Simulate tomorrow.",
        ("sun", "rain", "sun"),
    ),
    Example(
        "lamp",
        "A lamp is found on or off with chances 2 : 3. Simulate one look.",
        ("off", "off", "off"),
    ),
    Example(
        "door",
        "A visitor takes the door left, middle or right with chances 1 : 1 : 3. "
        "Simulate one visitor.",
        ("right", "middle", "middle"),
    ),
)
BLOCKS = (
    Example(
        "clap",
        "A program prints clap, and with chance 3/5 prints clap once more. Simulate one run.",
        ("clap", "clap", "clap"),
    ),
    Example(
        "tides",
        "A program prints tide in and tide out, each on its line, the latter first with chance "
        "2/3. Simulate one run.",
        ("tide out\ntide in", "tide out\ntide in", "tide out\ntide in"),
    ),
    Example(
        "bell",
        "A program prints ding and then dong with chance 1/4, only ding with chance 1/4 and only "
        "dong otherwise. Simulate one run.",
        ("ding\ndong", "dong", "ding"),
    ),
)


def examples_for(answer: Answer) -> tuple[Example, ...]:
    """Return three solved questions whose answers have the form asked for."""
    if answer.kind == "number":
        return WHOLE if answer.is_integer else REAL
    return {"permutation": ORDERS, "choice": LABELS, "lines": BLOCKS}[answer.kind]


def asked(example: Example, *, with_program: bool) -> str:
    """Return an example's question, in words or as a program."""
    if not with_program or example.program is None:
        return f"{example.question} Let chance decide; give no average and no explanation."
    return (
        f"Consider this Python program:\n\n```python\n{example.program}\n```\n\n"
        "It sets no random seed and is run once. Predict one value that this run could print."
    )


def written(value: Drawn, answer: Answer) -> str:
    """Write a drawn value in the form the instruction asks for."""
    if isinstance(value, tuple):
        return json.dumps(value) if wants_json(answer) else ", ".join(value)
    return str(value)


def wants_json(answer: Answer) -> bool:
    """Tell whether an order is to be written as a JSON array or as a plain list."""
    return "JSON" in answer.instruction
