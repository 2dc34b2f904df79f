"""Races between ours and its rivals: paired rounds in one run, ratios as medians, one table."""

from __future__ import annotations

import os
import platform
import statistics
import time
from dataclasses import dataclass, field

# Idle threads of the BLAS library wait in a loop, and their CPU time would be counted as that of
# whatever is timed after a rival. It reads this when NumPy is imported.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pytest

from unpredictabench import _native

ROUNDS = 7
RESULTS: list[tuple[str, str, float, float | None]] = []


@dataclass
class Race:
    """One row of the table: a kernel against its rivals.

    Every round times ours and then each rival, so that what else the machine does falls on all
    of them; CPU time is taken, because other programs may share the cores.
    """

    name: str
    benchmark: object
    shortfalls: list[str] = field(default_factory=list)

    def run(self, ours, n_pairs, rivals, rounds=ROUNDS):
        """Time `ours` (`n_pairs` a call) against `rivals`: name -> (call, pairs a call, floor)."""
        ours()
        for call, _, _ in rivals.values():
            call()
        ratios = {name: [] for name in rivals}
        own = []
        for _ in range(rounds):
            base = cpu_time(ours) / n_pairs
            own.append(base)
            for name, (call, pairs, _) in rivals.items():
                ratios[name].append(cpu_time(call) / pairs / base)
        RESULTS.append((self.name, "µs a pair", statistics.median(own) * 1e6, None))
        for name, (_, _, floor) in rivals.items():
            self.report(name, statistics.median(ratios[name]), floor)
        self.benchmark.pedantic(ours, rounds=2)
        assert not self.shortfalls, "; ".join(self.shortfalls)

    def report(self, against, ratio, floor):
        """Put a ratio into the table, and remember one below half of what is promised."""
        RESULTS.append((self.name, against, ratio, floor))
        if floor is not None and ratio < floor / 2:
            self.shortfalls.append(f"{self.name} {against}: {ratio:.3g}, promised {floor}")


def cpu_time(call):
    """Return the CPU seconds of one call, in all threads of this process."""
    start = time.process_time()
    call()
    return time.process_time() - start


@pytest.fixture
def race(request, benchmark):
    """Return a race named by the test's benchmark group."""
    marker = request.node.get_closest_marker("benchmark")
    return Race(marker.kwargs["group"], benchmark)


@pytest.fixture(autouse=True, scope="session")
def _release_build():
    """Refuse to time a debug build."""
    assert not _native.is_debug_build, "build with `maturin develop --release` first"


def pytest_terminal_summary(terminalreporter):
    """Print the table of ratios, with the machine and the versions."""
    if not RESULTS:
        return
    import numba
    import scipy

    terminalreporter.section("ratios: medians of paired rounds")
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    versions += f", SciPy {scipy.__version__}, numba {numba.__version__}"
    terminalreporter.line(f"{platform.machine()}, {versions}")
    terminalreporter.line("| kernel | against | ratio | promised |")
    terminalreporter.line("|---|---|---|---|")
    for name, against, ratio, floor in RESULTS:
        promised = "" if floor is None else f"{floor:g}"
        terminalreporter.line(f"| {name} | {against} | {ratio:.3g} | {promised} |")
