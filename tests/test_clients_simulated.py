"""Simulated models follow the laws their names promise, and any order of asking."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import numpy as np
import pytest

from laws import Die, Exponential, choice_task, lines_task, number_task, order_task
from unpredictabench.clients import Client, SimulatedClient
from unpredictabench.errors import InputError
from unpredictabench.records import Request
from unpredictabench.tasks.styles import messages


def texts(name, task, n=300, *, seed=0, first=0):
    """Return the texts of slots first to first + n."""

    async def main():
        client = SimulatedClient(name, seed=seed)
        words = messages(task)
        return [(await client.ask(Request(task, i, words))).text for i in range(first, first + n)]

    return asyncio.run(main())


def numbers(name, task, n=300, **settings):
    """Return the answers as numbers."""
    return np.array([float(text) for text in texts(name, task, n, **settings)])


def distance(values, target):
    """Return the one-sample KS distance to a continuous law."""
    u = np.sort(target.cdf(values))
    n = u.size
    return max(np.max(np.arange(1, n + 1) / n - u), np.max(u - np.arange(n) / n))


def test_perfect_follows_the_target():
    """2,000 perfect answers are as near to the law as the DKW bound at 1e-6 allows."""
    bound = np.sqrt(np.log(2 / 1e-6) / (2 * 2000))
    assert distance(numbers("perfect", number_task(), 2000), Exponential()) < bound


def test_answers_do_not_depend_on_the_order_of_asking():
    """Slot 250 is the same whether asked after 250 others or first, and by another client."""
    task = number_task()
    assert texts("perfect", task, 300)[250:260] == texts("perfect", task, 10, first=250)


def test_seed_task_and_name_change_the_draws():
    """Streams are keyed by name, seed and task."""
    drawn = [
        texts("perfect", number_task(), 5),
        texts("perfect", number_task(), 5, seed=1),
        texts("perfect", number_task("b"), 5),
        texts("shifted:0", number_task(), 5),
    ]
    assert len({tuple(sample) for sample in drawn}) == 4


def test_numbers_keep_full_precision():
    """The text of a number is the shortest that gives it back; whole answers show no point."""
    task = number_task()
    for text in texts("perfect", task, 50):
        assert repr(float(text)) == text
    assert set(texts("perfect", number_task(target=Die(), is_integer=True), 200)) == set("123456")


def test_median_is_constant():
    """The median model says one thing only."""
    assert set(texts("median", number_task(), 20)) == {repr(float(np.log(2)))}


@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_kpoint_draws_its_quantiles_independently(k):
    """kpoint:k says the k quantiles (2j - 1) / (2k), about equally often."""
    values = numbers(f"kpoint:{k}", number_task(), 1400)
    expected = Exponential().ppf((2 * np.arange(1, k + 1) - 1) / (2 * k))
    assert np.array_equal(np.unique(values), expected)
    counts = np.array(list(Counter(values.tolist()).values()))
    assert np.all(np.abs(counts - 1400 / k) <= 5 * np.sqrt(1400 / k))


def test_rounding_shifting_and_scaling_transform_the_perfect_law():
    """Each fault is the stated transform of the target."""
    task, law = number_task(), Exponential()
    rounded = numbers("rounded:1", task)
    assert np.allclose(rounded, np.round(rounded, 1))
    iqr = float(law.ppf(0.75) - law.ppf(0.25))
    bound = np.sqrt(np.log(2 / 1e-6) / (2 * 2000))
    assert distance(numbers("shifted:2", task, 2000) - 2 * iqr, law) < bound
    median = float(law.ppf(0.5))
    assert distance((numbers("scaled:3", task, 2000) - median) / 3 + median, law) < bound


def test_uniform_covers_the_support():
    """Uniform answers fill the range between extreme quantiles evenly, ends of a die included."""
    values = numbers("uniform", number_task(), 2000)
    low, high = Exponential().ppf([0.001, 0.999])
    assert low <= values.min()
    assert values.max() <= high
    assert abs(values.mean() - (low + high) / 2) < 0.05 * (high - low)
    faces = Counter(texts("uniform", number_task(target=Die(), is_integer=True), 1200))
    assert set(faces) == set("123456")
    assert min(faces.values()) > 130


def test_chatty_and_refusing_wrap_the_same_values():
    """Talk surrounds a value; refusals come at the stated rate and hold no digit."""
    assert all(len(text.split("\n\n")) == 3 for text in texts("chatty", number_task(), 20))
    said = texts("refusing:0.3", number_task(), 1000)
    refusals = [text for text in said if "cannot" in text]
    assert 240 < len(refusals) < 360
    assert not any(char.isdigit() for char in refusals[0])
    assert len([t for t in texts("refusing:1", number_task(), 50) if "cannot" in t]) == 50


def test_orders_are_written_as_the_prompt_asks():
    """Orders come as JSON where JSON is asked for, else with commas; all are permutations."""
    for text in texts("perfect", order_task(), 50):
        assert sorted(json.loads(text)) == ["a", "b", "c", "d"]
    with_commas = order_task(instruction="Answer with all names, separated by commas.")
    assert sorted(texts("perfect", with_commas, 1)[0].split(", ")) == ["a", "b", "c", "d"]


def test_nominal_models():
    """Without order the median is the likeliest outcome, and kpoint spreads evenly."""
    chances = {"x": 0.2, "y": 0.5, "z": 0.3}
    task = choice_task(chances)
    assert set(texts("median", task, 10)) == {"y"}
    assert set(texts("median", order_task(), 10)) == {'["a", "b", "c", "d"]'}
    assert set(texts("kpoint:2", task, 200)) == {"y", "z"}  # quantiles 0.25 and 0.75
    assert len(set(texts("kpoint:3", order_task(), 200))) == 3
    counts = Counter(texts("perfect", task, 3000))
    for label, chance in chances.items():
        assert abs(counts[label] - 3000 * chance) < 5 * np.sqrt(3000 * chance * (1 - chance))
    evenly = Counter(texts("uniform", task, 3000))
    assert min(evenly.values()) > 850


def test_lines_are_lines_and_nothing_is_said_so():
    """A block is written line by line; the empty block as the prompt names it."""
    assert set(texts("perfect", lines_task({"a\nb": 0.5, "": 0.5}), 50)) == {"a\nb", "(no output)"}


def test_batch_replies_hold_the_same_answers_in_order():
    """Reply i with k answers holds answers i * k to i * k + k - 1 as one JSON array."""
    for task in (number_task(), order_task(), choice_task({"x": 0.5, "y": 0.5})):

        async def main(task=task):
            client = SimulatedClient("perfect")
            request = Request(task, 2, messages(task, n_asked=5), n_asked=5)
            return await client.ask(request)

        completion = asyncio.run(main())
        single = texts("perfect", task, 5, first=10)
        told = json.loads(completion.text)
        form = {"number": repr, "permutation": json.dumps, "choice": str}[task.answer.kind]
        assert [form(value) for value in told] == single
        assert completion.n_asked == 5


@pytest.mark.parametrize(
    "name",
    ["prefect", "", "kpoint", "kpoint:0", "kpoint:2.5", "kpoint:x", "kpoint:", "median:2",
     "refusing:1.5", "rounded:-1", "scaled:nan", "kpoint:inf"],
)  # fmt: skip
def test_bad_names_are_refused(name):
    """A name that is none is refused with the rule."""
    with pytest.raises(InputError, match="^name must"):
        SimulatedClient(name)


def test_nearest_name_is_offered():
    """A slip of the pen is answered with the nearest name."""
    with pytest.raises(InputError, match="nearest: perfect"):
        SimulatedClient("prefect")


def test_it_is_a_client():
    """The protocol is met, and settings tell models and seeds apart."""
    client = SimulatedClient("kpoint:3", seed=4)
    assert isinstance(client, Client)
    assert (client.model, client.base_url, client.parameters) == ("sim:kpoint:3", None, {"seed": 4})
    assert repr(client) == "SimulatedClient('kpoint:3', seed=4)"
    asyncio.run(client.aclose())
