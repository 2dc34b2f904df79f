"""Which temperature is best, in pairs: ``python temperature.py temperature.png``."""

from __future__ import annotations

import sys

from unpredictabench import SimulatedClient, load_suite
from unpredictabench.studies import answers_of, paired_sweep, sweep
from unpredictabench.studies.figures import draw_settings

TEMPERATURES = (0.25, 0.3, 0.35, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 2.3, 2.6, 3.0)
N, N_ANSWERS = 200, 400


def main(path: str) -> None:
    """Draw the sweep over temperatures."""
    tasks = [task for task in load_suite("v1") if task.support == "continuous"][::5]
    families = {task.id: task.family for task in tasks}
    rates = {}
    for temperature in TEMPERATURES:
        client = SimulatedClient(f"tempered:{temperature}")
        rate, _ = sweep(answers_of(client, tasks, N_ANSWERS), [N]).at(N)
        rates[temperature] = dict(zip(families, rate.tolist(), strict=True))
    means = {t: sum(of.values()) / len(of) for t, of in rates.items()}
    compared = paired_sweep(rates, families, reference=1.0)
    for temperature, found in compared.items():
        ends = found.tasks_like_these
        print(f"{temperature:4g}: KS@{N} {means[temperature]:.3f}, against 1.0 "
              f"{found.estimate:+.3f} ({ends.low:+.3f} to {ends.high:+.3f})")  # fmt: skip
    draw_settings(means, compared, path, score=f"KS@{N}", setting="temperature", reference=1.0)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "temperature.png")
