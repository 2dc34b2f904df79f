"""Is one model better than another? Both estimands: ``python difference.py difference.png``."""

from __future__ import annotations

import sys

from unpredictabench import SimulatedClient, load_suite
from unpredictabench.studies import answers_of, difference, sweep
from unpredictabench.studies.figures import draw_differences

PAIRS = (
    ("perfect", "shifted:0.3"),
    ("scaled:1.5", "shifted:0.3"),
    ("kpoint:3", "kpoint:2"),
    ("perfect", "perfect"),
)
N, N_ANSWERS = 50, 100


def main(path: str) -> None:
    """Draw the differences."""
    tasks = [task for task in load_suite("v1") if task.support == "continuous"][::3]
    families = {task.id: task.family for task in tasks}
    names = sorted({name for pair in PAIRS for name in pair})
    rates, errors = {}, {}
    for name in names:
        found = sweep(answers_of(SimulatedClient(name), tasks, N_ANSWERS), [N])
        rate, error = found.at(N)
        rates[name] = dict(zip(families, rate.tolist(), strict=True))
        errors[name] = dict(zip(families, error.tolist(), strict=True))
    compared = {
        f"{one} – {two}": difference(
            rates[one], rates[two], families, errors=(errors[one], errors[two])
        )
        for one, two in PAIRS
    }
    for name, found in compared.items():
        ends = found.tasks_like_these
        print(f"{name:<28} {found.estimate:+.3f} ({ends.low:+.3f} to {ends.high:+.3f}), "
              f"p {found.pvalue:.4f}, {found.method}")  # fmt: skip
    draw_differences(compared, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "difference.png")
