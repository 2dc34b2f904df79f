"""Power is the rejection rate that simulation gives, and detectable effects are the edge of it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from unpredictabench.cli import group
from unpredictabench.diagnose import calibrate
from unpredictabench.errors import InputError
from unpredictabench.stats import _power, answers_needed, ks_1samp, power
from unpredictabench.stats._power import spread_of
from unpredictabench.streams import stream
from unpredictabench.targets import target_from_spec
from unpredictabench.tasks import load_suite

NORMAL = target_from_spec({"family": "normal", "params": {"mean": 3, "sd": 2}})
POISSON = target_from_spec({"family": "poisson", "params": {"rate": 6}})
UNIFORM = target_from_spec({"family": "uniform", "params": {"low": 0, "high": 1}})
LAWS = {"normal": NORMAL, "poisson": POISSON, "uniform": UNIFORM}


def simulated(law, name, effect, n, n_runs):
    """Draw answers that differ from a law by an effect."""
    x = law.sample(n * n_runs, stream("test", "power", name)).reshape(n_runs, n)
    unit, median = spread_of(law), float(law.ppf(0.5))
    is_whole = law.support == "discrete"
    if name == "shift":
        return x + (np.rint(effect * unit) if is_whole else effect * unit)
    if name == "rounding":
        step = max(1.0, np.rint(effect * unit)) if is_whole else effect * unit
        return np.floor(x / step + 0.5) * step
    stretched = median + (x - median) * effect
    return np.floor(stretched + 0.5) if is_whole else stretched


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("name", "effect"), [("shift", 0.4), ("scale", 1.8), ("narrowing", 0.5), ("rounding", 0.75)]
)
def test_power_is_the_simulated_rate(law, name, effect):
    """The exact power lies within the error of a simulated rejection rate."""
    n, n_runs, alpha = 40, 600, 0.05
    exact = power(LAWS[law], n, name, effect, alpha=alpha).power
    x = simulated(LAWS[law], name, effect, n, n_runs)
    rate = float((ks_1samp(x, LAWS[law]).pvalue <= alpha).mean())
    assert exact == pytest.approx(rate, abs=4 * math.sqrt(max(exact * (1 - exact), 0.01) / n_runs))


@pytest.mark.parametrize("law", LAWS)
def test_no_effect_is_the_attainable_size(law):
    """Without any effect the test rejects with its attainable size, which alpha bounds."""
    found = power(LAWS[law], 30, LAWS[law].cdf, alpha=0.01)
    assert found.power == pytest.approx(found.size, rel=1e-9)
    assert found.size <= 0.01


def test_single_answer_of_a_uniform_by_hand():
    """One uniform answer fails at level .1 outside of [.05, .95]; a shift moves more out there."""
    assert power(UNIFORM, 1, "shift", 0.4, alpha=0.1).power == pytest.approx(0.25, abs=1e-9)


def test_smallest_effect_is_the_edge():
    """Just below the smallest effect the power asked for is not reached, just above it is."""
    for name in ("shift", "scale"):
        found = power(NORMAL, 100, name)
        assert found.power >= 0.8
        slack = 0.01 * (found.effect - (name == "scale"))
        assert power(NORMAL, 100, name, found.effect - slack).power < 0.8


def test_location_and_scale_of_the_law_do_not_matter():
    """Effects are relative, so a moved and stretched law has the same smallest ones."""
    other = target_from_spec({"family": "normal", "params": {"mean": -50, "sd": 0.1}})
    for name in ("shift", "scale", "narrowing"):
        first, second = power(NORMAL, 50, name).effect, power(other, 50, name).effect
        assert first == pytest.approx(second, rel=1e-6)


def test_more_answers_see_smaller_effects():
    """The smallest visible shift falls with the number of answers, roughly as its root."""
    few, many = (power(NORMAL, n, "shift").effect for n in (50, 200))
    assert many < few
    assert few / many == pytest.approx(2, rel=0.25)


def test_answers_needed_agree_with_power():
    """With the answers needed the power is there, with one less it is not."""
    n = answers_needed(NORMAL, "shift", 0.5)
    assert power(NORMAL, n, "shift", 0.5).power >= 0.8
    assert power(NORMAL, n - 1, "shift", 0.5).power < 0.8
    assert answers_needed(NORMAL, "shift", 1e-3, alpha=0.5, least_power=0.999) is None


def test_no_effect_needs_no_search(monkeypatch):
    """An effect of nothing is None before any test is made, for a law of whole numbers too."""
    monkeypatch.setattr(_power, "_Test", lambda *_: pytest.fail("a test was made"))
    for target in (NORMAL, target_from_spec({"family": "poisson", "params": {"rate": 18}})):
        assert answers_needed(target, "shift", 0.0) is None
        assert answers_needed(target, "scale", 1.0) is None


def test_what_is_never_seen_says_so():
    """Two answers see no narrowing, and the reason is given."""
    found = power(NORMAL, 2, "narrowing")
    assert found.effect is None
    assert "no narrowing is seen" in found.reason


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ({"n": 0}, "n must be an integer from 1 to 10000, got 0"),
        ({"n": 5, "alternative": "skew"}, "alternative must be one of shift, scale"),
        ({"n": 5, "effect": math.nan}, "effect must be finite"),
        ({"n": 5, "alternative": "scale", "effect": -1}, "above 0 unless it is a shift, got -1"),
        ({"n": 5, "alpha": 1.0}, "alpha must lie strictly between 0 and 1"),
    ],
)
def test_arguments_are_checked(words, match):
    """Arguments outside of their range are refused by name."""
    with pytest.raises(InputError, match=match):
        power(NORMAL, **words)


def run(*words):
    """Run the command and return its exit code and output."""
    result = CliRunner().invoke(group, ["power", *words], catch_exceptions=False)
    return result.exit_code, result.stdout


def test_command_prints_a_table_and_json():
    """The command prints a line a task, or the same as JSON with null for what is not seen."""
    words = ("--limit-tasks", "1", "--samples", "30", "--category", "text-explicit")
    code, text = run(*words)
    assert code == 0
    assert "narrowing" in text.splitlines()[0]
    code, text = run(*words, "--json")
    (row,) = json.loads(text)["tasks"]
    assert set(row) == {"task", "n", "size", "shift", "scale", "narrowing", "rounding", "reason"}
    assert 0 < row["size"] <= 1e-4 * (1 + 1e-12)


def test_command_prints_answers_needed():
    """With --effect the command prints the answers that the effect needs."""
    words = ("--family", "normal", "--category", "text-explicit", "--json")
    code, text = run("--effect", "shift=0.5", *words)
    assert code == 0
    assert {row["answers"] for row in json.loads(text)["tasks"]} == {70}
    for wrong in ("shift", "skew=1", "shift=much"):
        with pytest.raises(InputError, match="--effect must be one of shift"):
            run("--effect", wrong, *words)


def test_command_calibrates():
    """With --calibrate the command counts how often faithful samples fail."""
    code, text = run("--calibrate", "--limit-tasks", "1", "--replicates", "30", "--json")
    found = json.loads(text)
    assert code == 0
    assert found["is_valid"]
    assert len(found["quantiles"]["uniform"]) == len(found["quantiles"]["pvalues"])
    code, text = run("--calibrate", "--limit-tasks", "1", "--replicates", "30")
    assert "no rate is above its level" in text


def test_calibration_needs_a_known_law():
    """Calibration without tasks, samples or answers is refused."""
    with pytest.raises(InputError, match="tasks must hold a task whose law is known"):
        calibrate([])
    with pytest.raises(InputError, match="n_replicates must be at least 1, got 0"):
        calibrate([], n_replicates=0)


@pytest.mark.slow
def test_faithful_samples_fail_at_the_rate_alpha():
    """Over the whole suite no rate is above its level, and continuous p-values are uniform."""
    suite = load_suite("v1")
    assert calibrate(list(suite), n_replicates=50).is_valid
    continuous = [task for task in suite if task.support == "continuous"]
    p = calibrate(continuous, n_replicates=40, seed=1).pvalues.ravel()
    assert ks_1samp(p, lambda u: u).pvalue > 1e-3


@pytest.mark.parametrize(
    ("argument", "alternative", "effect"),
    [
        ("effect", "shift", "much"),
        ("effect", NORMAL.cdf, 1.0),
        ("alternative", np.array(["shift", "scale"]), None),
        ("alternative", lambda x: x * math.nan, None),
        ("alternative", lambda _: 0.5, None),
    ],
)
def test_a_wrong_alternative_is_named(argument, alternative, effect):
    """What is no effect, no size or no cdf is an error with its name."""
    with pytest.raises(InputError, match=argument):
        power(NORMAL, 9, alternative, effect)


def test_whole_answers_that_are_not_moved_fail_at_the_size():
    """A shift by 0 moves whole answers by 0."""
    found = power(POISSON, 30, "shift", 0.0, alpha=0.05)
    assert found.power == pytest.approx(found.size, rel=1e-9)
