"""How many tasks and answers show a difference of d: ``python planner.py plan.png``."""

from __future__ import annotations

import sys

import numpy as np

from unpredictabench import SimulatedClient, load_suite
from unpredictabench.studies import answers_of, plan, sweep
from unpredictabench.studies.figures import draw_plans

N, PILOT_ANSWERS = 50, 100


def main(path: str) -> None:
    """Draw the plans that a pilot of two simulated models leads to."""
    tasks = [task for task in load_suite("v1") if task.support == "continuous"][::3]
    families = {task.id: task.family for task in tasks}
    (first, first_error), (second, second_error) = (
        sweep(answers_of(SimulatedClient(name), tasks, PILOT_ANSWERS), [N]).at(N)
        for name in ("scaled:1.5", "shifted:0.3")
    )
    gaps = dict(zip(families, (first - second).tolist(), strict=True))
    errors = dict(zip(families, np.hypot(first_error, second_error).tolist(), strict=True))
    plans = [
        plan(gaps, errors, families, pilot_answers=PILOT_ANSWERS, difference=d, n_answers=m)
        for d in (0.01, 0.02, 0.03, 0.05, 0.08)
        for m in (100, 200, 1000)
    ]
    for one in plans:
        print(f"difference {one.difference:.2f}, {one.n_answers:4d} answers a task: "
              f"{one.n_tasks:,} tasks of {one.n_clusters:,} families")  # fmt: skip
    draw_plans(plans, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "plan.png")
