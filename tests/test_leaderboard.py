"""The published leaderboard, with the intervals and marks it lacks."""

from __future__ import annotations

import pytest

from unpredictabench.integrations import published_rows
from unpredictabench.integrations.leaderboard import TASKS


def test_all_published_models_are_there_best_first():
    """23 models, three of them asked for text and code only, sorted by KS@100."""
    rows = published_rows()
    shares = [row.ks_at_n[100].estimate for row in rows]
    assert len(rows) == 23
    assert [row.scope for row in rows].count("text-code") == 3
    assert shares == sorted(shares, reverse=True)
    assert all("2606.06622" in row.source for row in rows)


def test_rows_that_contradict_their_categories_are_marked():
    """Seventeen of the twenty full rows are reproduced by their categories; three are marked."""
    full = [row for row in published_rows() if row.scope == "all"]
    wrong = {row.id for row in full if not row.is_consistent}
    assert wrong == {"qwen3.5-2b", "ministral-3b-instruct", "llama-3.2-1b-instruct"}
    assert wrong == {row.id for row in full if any("disagrees" in mark for mark in row.marks)}


def test_dropped_tasks_are_found_in_the_percentages():
    """59.09 % of the real-world tasks is 13 of 22, not of 30."""
    row = next(row for row in published_rows() if row.id == "llama-3.2-1b-instruct")
    assert row.categories["real-world"].ks_at_100.n_tasks == 22
    assert "8 of 30 real-world tasks" in " ".join(row.marks)


def test_intervals_hold_their_estimates_and_have_width():
    """Every rate lies strictly inside or at the end of an interval that has width."""
    for row in published_rows():
        rates = [*row.ks_at_n.values(), *(c.ks_at_100 for c in row.categories.values())]
        for rate in rates:
            low, high = rate.interval.low, rate.interval.high
            assert low <= rate.estimate <= high
            assert high - low > 0.005


def test_the_interval_of_the_best_row_is_wilsons():
    """146 or 147 of 448: (0.2847, 0.3712) by Wilson's formula worked out by hand."""
    rate = published_rows()[0].ks_at_n[100]
    z, n, p = 1.959963984540054, 448, 0.3264
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    assert rate.interval.low == pytest.approx(centre - half)
    assert rate.interval.high == pytest.approx(centre + half)
    assert sum(TASKS.values()) == n
