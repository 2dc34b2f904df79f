"""KS@N at every N from 1 to 1000 for simulated models: ``python ks_sweep.py sweep.png``."""

from __future__ import annotations

import sys

import numpy as np

from unpredictabench import SimulatedClient, load_suite
from unpredictabench.studies import answers_of, sweep
from unpredictabench.studies.figures import draw_sweeps

MODELS = ("perfect", "scaled:1.25", "shifted:0.25", "kpoint:4", "kpoint:2", "median")
N_TASKS, N_ANSWERS = 8, 1000


def main(path: str) -> None:
    """Draw the sweep."""
    suite = load_suite("v1")
    continuous = [task for task in suite if task.support == "continuous"]
    tasks = continuous[:: len(continuous) // N_TASKS][:N_TASKS]
    sizes = np.arange(1, N_ANSWERS + 1)
    found = {}
    for name in MODELS:
        found[name] = sweep(answers_of(SimulatedClient(name), tasks, N_ANSWERS), sizes)
        shown = ", ".join(f"{n}: {found[name].mean[n - 1]:.3f}" for n in (20, 100, 500))
        print(f"{name:<14} KS@N at {shown}")
    draw_sweeps(found, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "sweep.png")
