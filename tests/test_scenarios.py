"""The thirty scenarios: their texts, their forms of answer, and their laws against simulation."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from unpredictabench.errors import InputError
from unpredictabench.streams import stream
from unpredictabench.targets import NominalLaw, target_from_spec
from unpredictabench.tasks.scenarios import SLUGS, scenarios, tell
from unpredictabench.tasks.scenarios.simulate import simulate
from unpredictabench.tasks.scenarios.story import NO_OUTPUT, ends

FALSE_ALARM = 1e-3
MIN_EXPECTED = 8.0


def story_of(slug, seed):
    """Tell a scenario from the stream of a seed."""
    return tell(slug, stream("test-scenarios", slug, seed))


def outcomes_of(draft):
    """Return the probabilities of a finite or nominal law by outcome, or None."""
    if "finite" in draft.law:
        table = draft.law["finite"]
        return dict(zip(table["values"], table["probabilities"], strict=True))
    if "nominal" in draft.law:
        table = draft.law["nominal"]
        keys = [tuple(key) if isinstance(key, list) else key for key in table["outcomes"]]
        return dict(zip(keys, table["probabilities"], strict=True))
    return None


def counts_pvalue(observed, chances):
    """Return the chi-square p-value of counts, outcomes with small expectations pooled."""
    runs = sum(observed.values())
    cells = sorted((runs * p, observed.get(outcome, 0)) for outcome, p in chances.items())
    expected, seen = [0.0], [0]
    for mean, count in cells:
        if expected[-1] < MIN_EXPECTED:
            expected[-1] += mean
            seen[-1] += count
        else:
            expected.append(mean)
            seen.append(count)
    return stats.chisquare(seen, np.array(expected) * runs / sum(expected)).pvalue


def randomised_levels(law, values, rng):
    """Return the cdf at each value, spread uniformly over the jump where there is one."""
    low, high = law.cdf_left(values), law.cdf(values)
    return low + rng.random(values.size) * (high - low)


def law_pvalue(slug, seed, runs):
    """Simulate a scenario's process and test the outcomes against its stated law."""
    story = story_of(slug, seed)
    observed = simulate(slug, story.facts, runs, stream("test-processes", slug, seed, runs))
    chances = outcomes_of(story.draft)
    if chances is not None:
        assert set(observed) <= set(chances), (slug, set(observed) - set(chances))
        return counts_pvalue(Counter(observed), chances)
    law = target_from_spec(story.draft.law)
    rng = stream("test-levels", slug, seed, runs)
    levels = randomised_levels(law, np.array(observed, dtype=float), rng)
    return stats.kstest(levels, "uniform").pvalue


def smallest_adjusted(pvalues):
    """Return the smallest p-value after Holm's correction."""
    return min(pvalues.values()) * len(pvalues)


def test_laws_match_the_processes():
    """Outcomes of the simulated processes follow the stated laws, Holm over scenarios and seeds."""
    pvalues = {(slug, seed): law_pvalue(slug, seed, 1500) for slug in SLUGS for seed in range(3)}
    assert smallest_adjusted(pvalues) > FALSE_ALARM, min(pvalues, key=pvalues.get)


@pytest.mark.slow
def test_laws_match_many_runs_of_the_processes():
    """Large simulations of four tellings of every scenario still follow the stated laws."""
    pvalues = {
        (slug, seed): law_pvalue(slug, seed, 40_000) for slug in SLUGS for seed in range(10, 14)
    }
    assert smallest_adjusted(pvalues) > FALSE_ALARM, min(pvalues, key=pvalues.get)


def test_a_wrong_law_is_noticed():
    """The comparison rejects a law that is off by a few percent."""
    story = story_of("two-lock-deadlock", 0)
    observed = Counter(simulate("two-lock-deadlock", story.facts, 20_000, stream("wrong")))
    chances = outcomes_of(story.draft)
    first, second, *rest = chances.items()
    bent = dict([(first[0], first[1] + 0.05), (second[0], second[1] - 0.05), *rest])
    assert counts_pvalue(observed, chances) > FALSE_ALARM
    assert counts_pvalue(observed, bent) < FALSE_ALARM


def test_there_are_thirty_and_all_forms_occur():
    """Numbers, choices, orders and lines all occur; the empty output is legal at least twice."""
    drafts = scenarios(stream("suite", "v1", "real-world"))
    kinds = Counter(draft.answer.kind for draft in drafts)
    assert len(drafts) == len(set(SLUGS)) == 30
    assert set(kinds) == {"number", "choice", "permutation", "lines"}
    assert kinds["number"] >= 8
    assert sum("" in (outcomes_of(draft) or ()) for draft in drafts) >= 2


@pytest.mark.parametrize("slug", SLUGS)
def test_every_outcome_is_a_legal_answer(slug):
    """Labels are listed, lines are among the items, orders use every item once."""
    for seed in range(25):
        draft = story_of(slug, seed).draft
        chances, answer = outcomes_of(draft), draft.answer
        assert draft.slug == slug
        assert draft.category == "real-world"
        if answer.kind == "choice":
            assert set(chances) <= set(answer.items)
        elif answer.kind == "lines":
            printed = {line for text in chances if text for line in text.split("\n")}
            assert printed == set(answer.items)
            assert (NO_OUTPUT in answer.instruction) == ("" in chances)
        elif answer.kind == "permutation":
            places = list(range(len(answer.items)))
            assert all(sorted(order) == places for order in chances)
            assert len(set(answer.items)) == len(places)
        elif chances is not None:
            assert all(float(value).is_integer() for value in chances)
            assert answer.is_integer


@pytest.mark.parametrize("slug", SLUGS)
def test_laws_are_proper(slug):
    """Each law is accepted by the targets, sums to one and has more than one outcome."""
    for seed in range(25):
        draft = story_of(slug, seed).draft
        law = target_from_spec(draft.law)
        chances = outcomes_of(draft)
        if chances is not None:
            assert sum(chances.values()) == pytest.approx(1, abs=1e-12)
            assert min(chances.values()) > 0
            assert len(chances) > 1
            assert max(chances.values()) < 0.95
        assert isinstance(law, NominalLaw) == (draft.answer.kind != "number")


def test_items_appear_in_the_question():
    """Whoever answers has read every label, name and line stem in the question."""
    for slug in SLUGS:
        draft = story_of(slug, 0).draft
        for item in draft.answer.items:
            assert item.split()[0] in draft.question


def test_the_same_stream_tells_the_same_story():
    """A scenario depends on its stream alone."""
    assert scenarios(stream("a", 1)) == scenarios(stream("a", 1))


def test_two_seeds_share_no_question():
    """Sixty suites have 1,800 different questions, each with words of its own."""
    questions = [draft.question for seed in range(60) for draft in scenarios(stream("many", seed))]
    assert len(set(questions)) == len(questions) == 1800


def test_an_unknown_scenario_is_named():
    """The message holds the name asked for."""
    with pytest.raises(InputError, match="dining-philosophers"):
        tell("dining-philosophers", stream("x"))
    with pytest.raises(InputError, match="dining-philosophers"):
        simulate("dining-philosophers", {}, 1, stream("x"))


def test_ends_solves_a_small_ruin():
    """A fair walk from 1 to 0 or 3, cut after four steps, has the probabilities done by hand."""

    def moves(state):
        place, steps = state
        if place in {0, 3} or steps == 4:
            return []
        return [((place - 1, steps + 1), Fraction(1, 2)), ((place + 1, steps + 1), Fraction(1, 2))]

    assert ends((1, 0), moves) == {
        (0, 1): Fraction(1, 2),
        (3, 2): Fraction(1, 4),
        (0, 3): Fraction(1, 8),
        (3, 4): Fraction(1, 16),
        (1, 4): Fraction(1, 16),
    }


def test_lost_updates_leave_at_least_two():
    """Two loops of n unlocked increments end between start + 2 and start + 2n."""
    for seed in range(10):
        story = story_of("lost-update", seed)
        values = sorted(outcomes_of(story.draft))
        start, n = story.facts["start"], story.facts["n"]
        assert values == [start + k for k in range(2, 2 * n + 1)]


def test_occupancy_agrees_with_stirling_numbers():
    """P(all keys in one bucket) = buckets^(1 - keys), the first term of the classical formula."""
    for seed in range(10):
        story = story_of("bucket-occupancy", seed)
        keys, buckets = story.facts["keys"], story.facts["buckets"]
        assert outcomes_of(story.draft)[1] == pytest.approx(buckets ** (1 - keys))
