"""Measure how the cost of `ks_2samp` grows and draw it: python benches/growth.py [FILE.svg]."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numpy as np

from unpredictabench.stats import PreparedTruth, ks_2samp

OUT = Path(__file__).parents[1] / "docs" / "ks_growth.svg"
WIDTH, HEIGHT, MARGIN = 300, 260, 46
CURVES = {"statistic": ("asymp", "#1f77b4"), "exact p": ("exact", "#d62728")}
SWEEPS = {
    "n (m = 10,000)": [(n, n, 10_000, 200) for n in (10, 30, 100, 300, 1000, 3000)]
    + [(10_000, 10_000, 10_000, 20)],
    "m (n = 100)": [(10**k, 100, 10**k, 200) for k in (3, 4, 5, 6)],
    "pairs (n = 10, m = 1,000)": [(10**k, 10, 1000, 10**k) for k in range(7)],
}


def microseconds(n, m, n_pairs, method):
    """Return the CPU time a pair on one thread, the best of three calls."""
    rng = np.random.default_rng([n, m, n_pairs])
    x, truth = rng.normal(size=(n_pairs, n)), PreparedTruth(rng.normal(size=m))
    times = []
    for _ in range(3):
        start = time.process_time()
        ks_2samp(x, truth, method=method, workers=1)
        times.append(time.process_time() - start)
    return min(times) / n_pairs * 1e6


def panel(title, sizes, left):
    """Draw one sweep on logarithmic axes."""
    last = len(str(sizes[-1][0])) - 1
    parts = [f'<text x="{left + WIDTH / 2}" y="20" text-anchor="middle">{title}</text>']

    def place(size, cost):
        x = left + MARGIN + math.log10(size) / last * (WIDTH - 2 * MARGIN)
        y = HEIGHT - MARGIN - (math.log10(cost) + 1) / 5 * (HEIGHT - 2 * MARGIN)
        return x, y

    for k in range(last + 1):
        x, y = place(10**k, 0.1)
        parts.append(f'<text x="{x:.0f}" y="{y + 16:.0f}" text-anchor="middle">1e{k}</text>')
    for k in range(-1, 5):
        x, y = place(1, 10.0**k)
        parts.append(f'<text x="{x - 6:.0f}" y="{y + 4:.0f}" text-anchor="end">1e{k}</text>')
        end = place(10**last, 1)[0]
        line = f'x1="{x:.0f}" y1="{y:.0f}" x2="{end:.0f}" y2="{y:.0f}"'
        parts.append(f'<line {line} stroke="#dddddd"/>')
    for row, (name, (method, colour)) in enumerate(CURVES.items()):
        points = [(size, microseconds(*shape, method)) for size, *shape in sizes]
        print(title, name, [(size, float(f"{cost:.3g}")) for size, cost in points], flush=True)
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        label = f'x="{left + MARGIN + 8}" y="{52 + 14 * row}" fill="{colour}"'
        parts.append(f"<text {label}>{name}</text>")
    return parts


def draw(out):
    """Measure every sweep and write the picture."""
    size = f'width="{WIDTH * len(SWEEPS)}" height="{HEIGHT}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="10" y="{HEIGHT - 8}">µs a pair on one thread, without ties</text>',
    ]
    for i, (title, sizes) in enumerate(SWEEPS.items()):
        lines += panel(title, sizes, i * WIDTH)
    out.write_text("\n".join([*lines, "</svg>"]) + "\n")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
