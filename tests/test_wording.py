"""The words of the text tasks say exactly what they must, for every law and every wording."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unpredictabench.errors import InputError
from unpredictabench.streams import stream
from unpredictabench.tasks.draft import Brief
from unpredictabench.tasks.wording import write
from unpredictabench.tasks.wording.fill import Number, Vector, fields, matrix, plain, shorter
from unpredictabench.tasks.wording.phrasebook import entry, fitting, page, variant

CATEGORIES = ("text-explicit", "text-implicit", "multimodal")
LONGEST_PROMPT = 900
WORDINGS_TRIED = 40
BROKEN = re.compile(
    r"[{}]|  |None|\bnan\b|\(\)|- -|\+ -|(?<![\d.])1 (trials|draws|successes|items|stages|degrees|"
    r"readings|dimensions|times|seeds|customers|tickets|patients|bottles|cards|complaints|wolves)\b"
)

FORBIDDEN = {
    "beta": ["beta"],
    "triangular": ["triang"],
    "truncated-normal": ["truncated", "truncation", "normal"],
    "uniform": ["uniform"],
    "reciprocal": ["reciprocal", "uniform"],
    "arcsine": ["arcsin", "arc sin"],
    "erlang": ["erlang", "gamma"],
    "f": ["f distribution", "f-distribution", "fisher", "snedecor", "f law", "f("],
    "gamma": ["gamma"],
    "pareto": ["pareto", "lomax"],
    "weibull": ["weibull"],
    "chi-squared": ["chi-", "chi ", "chi2"],
    "exponential": ["exponential"],
    "inverse-gaussian": ["gauss", "wald"],
    "log-normal": ["lognormal", "log-normal", "log normal"],
    "rayleigh": ["rayleigh"],
    "rayleigh-mixture": ["rayleigh", "laplace", "mixture"],
    "frechet": ["fréchet", "frechet", "weibull", "extreme"],
    "gumbel": ["gumbel", "extreme"],
    "laplace": ["laplace", "double exponential"],
    "student-t": ["student", "t distribution", "t-distribution", "t law", "gosset", "cauchy"],
    "logistic": ["logistic"],
    "normal": ["normal", "gauss"],
    "bernoulli": ["bernoulli"],
    "poisson-binomial": ["poisson", "binomial", "bernoulli"],
    "beta-binomial": ["beta", "binomial", "pólya"],
    "binomial": ["binomial", "bernoulli"],
    "discrete-uniform": ["uniform"],
    "hypergeometric": ["geometric"],
    "poisson": ["poisson"],
    "skellam": ["skellam"],
    "geometric": ["geometric"],
    "negative-binomial": ["binomial", "pascal"],
    "categorical": ["categorical", "multinoulli"],
    "compound-poisson": ["compound", "poisson"],
    "dirichlet": ["dirichlet", "beta"],
    "multinomial": ["nomial"],
    "multivariate-normal": ["normal", "gauss", "multivariate"],
    "multivariate-t": ["student", "multivariate", "t distribution", "t-distribution", "t law"],
    "negative-multinomial": ["nomial"],
    "rectified-gaussian": ["rectif", "gauss", "relu"],
}
ODD_LAWS = [
    {"family": "beta", "params": {"alpha": 1, "beta": 1}},
    {"family": "triangular", "params": {"low": -3.5, "mode": -3.5, "high": -1}},
    {"family": "truncated-normal", "params": {"mean": -2.25, "sd": 1, "low": -4, "high": -3.1}},
    {"family": "arcsine", "params": {"low": -2, "high": -1.25}},
    {"family": "erlang", "params": {"shape": 1, "rate": 1}},
    {"family": "chi-squared", "params": {"df": 2.5}},
    {"family": "gamma", "params": {"shape": 1, "scale": 1e-05}},
    {"family": "exponential", "params": {"rate": 1}},
    {"family": "inverse-gaussian", "params": {"mean": 1, "shape": 1}},
    {"family": "log-normal", "params": {"log_mean": -0.7, "log_sd": 0.123}},
    {"family": "frechet", "params": {"shape": 2, "scale": 1, "location": 0}},
    {"family": "gumbel", "params": {"location": 0, "scale": 1}},
    {"family": "laplace", "params": {"location": -4.75, "scale": 2}},
    {"family": "student-t", "params": {"df": 1}},
    {"family": "student-t", "params": {"df": 2.5, "location": -3, "scale": 0.5}},
    {"family": "binomial", "params": {"trials": 1, "probability": 0.123}},
    {"family": "discrete-uniform", "params": {"low": -9, "high": -2}},
    {"family": "hypergeometric", "params": {"population": 9, "successes": 1, "draws": 1}},
    {"family": "geometric", "params": {"probability": 0.375}},
    {"family": "negative-binomial", "params": {"successes": 2.5, "probability": 0.4}},
    {"family": "negative-binomial", "params": {"successes": 1, "probability": 0.4}},
    {"family": "categorical", "params": {"values": [0.5, 2.25], "probabilities": [0.25, 0.75]}},
    {
        "family": "multinomial",
        "params": {"trials": 5, "probabilities": [0.5, 0.25, 0.25], "weights": [1, -2, 3]},
    },
    {
        "family": "multivariate-normal",
        "params": {"mean": [1, -1], "covariance": [[2, 0.5], [0.5, 1]], "weights": [1, -0.5]},
    },
    {
        "family": "negative-multinomial",
        "params": {"stops": 1, "probabilities": [0.25, 0.5], "coordinate": "total"},
    },
    {
        "family": "compound-poisson",
        "params": {
            "rate": 2.5,
            "jump": {"family": "uniform", "params": {"low": 0.2, "high": 0.8}},
        },
    },
    {
        "family": "rayleigh-mixture",
        "params": {
            "scale": 2.5,
            "component": "normal-location",
            "offset": 0.5,
            "slope": 1.5,
            "sd": 0.25,
        },
    },
    {
        "family": "rayleigh-mixture",
        "params": {"scale": 6, "component": "gamma", "shape": 5, "divisor": 4},
    },
    {"family": "rayleigh", "params": {"scale": 1.5}},
]


def published() -> list[tuple[str, Brief]]:
    """Return the published text tasks as briefs, by id."""
    text = resources.files("unpredictabench.tasks").joinpath("data", "laws.json").read_text("utf-8")
    rows = [(row["id"], row["id"].split("/"), row["law"]) for row in json.loads(text)]
    return [(name, Brief(*parts, law)) for name, parts, law in rows if parts[0] in CATEGORIES]


PUBLISHED = published()
SINGLE_LAWS = [
    *(brief.law for _, brief in PUBLISHED if "family" in brief.law),
    *(part["law"] for _, brief in PUBLISHED for part in brief.law.get("mixture", ())),
    *ODD_LAWS,
]


def prompt(brief: Brief, *names: str | int) -> str:
    """Return the whole prompt written from a named stream."""
    draft = write(brief, stream("test", *names))
    return f"{draft.question}\n\n{draft.instruction}"


def numbers_in(value: object) -> list[str]:
    """Return every number inside a spec, written exactly, without its sign."""
    match value:
        case bool() | str():
            return []
        case int() | float():
            return [plain(abs(value))]
        case dict():
            return [
                n for key, each in value.items() if key != "coordinate" for n in numbers_in(each)
            ]
        case _:
            return [number for each in value for number in numbers_in(each)]


def shows(number: str, text: str) -> bool:
    """Tell whether a text holds a number that is not part of a longer one."""
    return re.search(rf"(?<![\d.]){re.escape(number)}(?![\d]|\.\d)", text) is not None


def test_there_are_the_published_counts_of_text_tasks() -> None:
    """The suite asks for 79 explicit, 79 implicit and 80 multimodal texts."""
    counts = [sum(brief.category == each for _, brief in PUBLISHED) for each in CATEGORIES]
    assert counts == [79, 79, 80]


@pytest.mark.parametrize(("name", "brief"), PUBLISHED, ids=[name for name, _ in PUBLISHED])
def test_every_published_task_reads_clean_in_many_wordings(name: str, brief: Brief) -> None:
    """No wording leaves a placeholder, a broken formula or a wrong plural, and none is too long."""
    for seed in range(WORDINGS_TRIED):
        draft = write(brief, stream("test", name, seed))
        text = f"{draft.question}\n\n{draft.instruction}"
        assert not BROKEN.search(text)
        assert draft.question.endswith(".")
        assert draft.instruction.endswith(".")
        assert len(text) < LONGEST_PROMPT
        assert draft.rationale.endswith(".")
        assert draft.program is None


def test_the_same_stream_gives_the_same_words() -> None:
    """A draft depends on the brief and the state of the generator alone."""
    for name, brief in PUBLISHED:
        assert prompt(brief, name) == prompt(brief, name)


def test_no_two_published_prompts_are_the_same() -> None:
    """All 238 prompts of one seed differ."""
    prompts = [prompt(brief, name) for name, brief in PUBLISHED]
    assert len(set(prompts)) == len(prompts)


@pytest.mark.parametrize("law", SINGLE_LAWS, ids=lambda law: law["family"])
def test_an_explicit_text_shows_every_parameter(law: dict) -> None:
    """Each phrasing of a law holds all its parameters exactly, or a jump's exact inverse."""
    params = dict(law["params"])
    jump = params.pop("jump", None)
    if variant(law["family"], params) == "rayleigh-mixture.exponential":
        del params["shape"]
    wanted = numbers_in(params)
    if jump is not None and "params" in jump:
        wanted += [
            plain(shorter(value, key, "")[1]) if key in {"rate", "scale"} else plain(value)
            for key, value in jump["params"].items()
        ]
    for seed in range(WORDINGS_TRIED):
        text = write(
            Brief("text-explicit", law["family"], "concentrated", law), stream(seed)
        ).question
        assert [number for number in wanted if not shows(number, text)] == []


@pytest.mark.parametrize("law", SINGLE_LAWS, ids=lambda law: law["family"])
def test_an_implicit_text_never_names_its_law(law: dict) -> None:
    """No story holds the name of the family, its eponym or a giveaway synonym."""
    params = {"start": 1, "location": 0, "scale": 1, **law["params"]}
    options = fitting(entry(law["family"], params)["implicit"], params)
    for option in options:
        text = option["text"].format(**fields(params)).casefold()
        assert [word for word in FORBIDDEN[law["family"]] if word in text] == []


@pytest.mark.parametrize("law", SINGLE_LAWS, ids=lambda law: law["family"])
def test_every_law_has_several_wordings(law: dict) -> None:
    """A law has at least three namings and three stories, two where a count is not whole."""
    params = {"start": 1, "location": 0, "scale": 1, **law["params"]}
    phrases = entry(law["family"], params)
    is_whole = law["family"] not in {"negative-binomial", "chi-squared"} or all(
        value % 1 == 0 for key, value in params.items() if key in {"df", "successes"}
    )
    assert len(phrases["explicit"]) == 3
    assert len(fitting(phrases["explicit"], params)) >= (3 if is_whole else 1)
    assert len(fitting(phrases["implicit"], params)) >= (3 if is_whole else 2)


@pytest.mark.parametrize("law", ODD_LAWS, ids=lambda law: f"{law['family']}")
@pytest.mark.parametrize("category", CATEGORIES)
def test_unusual_parameters_read_clean(category: str, law: dict) -> None:
    """Zero, one, negative and long parameters leave no broken formula or plural."""
    other = {"family": "normal", "params": {"mean": 0, "sd": 1}}
    mixture = {"mixture": [{"weight": 0.125, "law": law}, {"weight": 0.875, "law": other}]}
    chosen = mixture if category == "multimodal" else law
    for seed in range(WORDINGS_TRIED):
        text = prompt(Brief(category, law["family"], "spread_out", chosen), seed)
        assert not BROKEN.search(text)


@pytest.mark.parametrize("category", CATEGORIES)
def test_two_seeds_share_no_prompt(category: str) -> None:
    """With redrawn parameters no prompt of one seed occurs among those of another."""

    def prompts(seed: int) -> set[str]:
        rng = np.random.default_rng(seed)
        found = set()
        for name, brief in PUBLISHED:
            if brief.category == category:
                law = nudged(brief.law, round(float(rng.uniform(0.9, 0.999)), 3))
                found.add(prompt(Brief(category, brief.family, brief.spread, law), name, seed))
        return found

    assert not prompts(1) & prompts(2)


def nudged(value: object, factor: float) -> object:
    """Multiply every float inside a spec by a factor, and give whole numbers a nudge upwards."""
    match value:
        case str() | bool():
            return value
        case int():
            return value + round(1000 * factor)
        case float():
            return round(value * factor, 6)
        case dict():
            return {
                key: each if key in {"coordinate", "start", "weight"} else nudged(each, factor)
                for key, each in value.items()
            }
        case _:
            return [nudged(each, factor) for each in value]


@pytest.mark.parametrize(
    ("family", "params", "form"),
    [
        ("poisson", {"rate": 3}, "whole"),
        ("normal", {"mean": 0, "sd": 1}, "real"),
        ("rectified-gaussian", {"mean": 0, "sd": 1}, "real-or-zero"),
        ("categorical", {"values": [1, 2], "probabilities": [0.5, 0.5]}, "whole"),
        ("categorical", {"values": [0.5, 2], "probabilities": [0.5, 0.5]}, "listed"),
        (
            "compound-poisson",
            {"rate": 1, "jump": {"finite": {"values": [1, 2], "probabilities": [0.8, 0.2]}}},
            "whole",
        ),
        (
            "compound-poisson",
            {"rate": 1, "jump": {"family": "exponential", "params": {"rate": 2}}},
            "real-or-zero",
        ),
    ],
)
def test_the_instruction_fits_the_law(family: str, params: dict, form: str) -> None:
    """Whole numbers are asked for exactly where every outcome is whole, and atoms can be named."""
    law = {"family": family, "params": params}
    draft = write(Brief("text-explicit", family, "concentrated", law), stream("test"))
    assert draft.instruction in page("frames")["instruction"][form]
    assert draft.is_integer == (form == "whole")


def test_the_counting_families_ask_for_whole_numbers() -> None:
    """Published tasks ask for whole numbers for exactly the families of counts and labels."""
    whole = {b.family for name, b in PUBLISHED if write(b, stream(name)).is_integer}
    assert whole == {
        "bernoulli", "poisson-binomial", "beta-binomial", "binomial", "discrete-uniform",
        "hypergeometric", "poisson", "skellam", "geometric", "negative-binomial", "multinomial",
        "negative-multinomial", "categorical", "compound-poisson",
    }  # fmt: skip


def test_other_categories_and_families_are_refused() -> None:
    """The message names the argument and the value."""
    law = {"family": "zeta", "params": {"s": 2}}
    with pytest.raises(InputError, match="family must be one that there are words for, got 'zeta'"):
        write(Brief("text-explicit", "zeta", "concentrated", law), stream("test"))
    with pytest.raises(InputError, match="category must be text-explicit"):
        write(Brief("code-explicit", "normal", "concentrated", ODD_LAWS[0]), stream("test"))
    with pytest.raises(InputError, match="jump must be"):
        fields({"rate": 1, "jump": {"family": "pareto", "params": {}}})


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_written_exactly(value: float) -> None:
    """The text of a number reads back as the same number, without an exponent."""
    assert float(plain(value)) == value
    assert Decimal(plain(value)) == Decimal(repr(value))
    assert "e" not in plain(value).lower()


@given(st.integers(1, 10**6), st.integers(0, 5))
def test_a_shorter_inverse_is_exact(digits: int, places: int) -> None:
    """Whichever of a rate and its inverse is shown, the other follows from it exactly."""
    value = 1 / (digits / 10**places)
    name, shown = shorter(value, "rate", "mean")
    assert (shown if name == "rate" else 1 / shown) == value


def test_formats_of_numbers_and_lists() -> None:
    """Signs, complements, plurals and lists come out as a reader expects."""
    assert f"{Number(0.08):rest} {Number(2.5):shift} {Number(-2.5):shift} {Number(0):shift}" == (
        "0.92 (x - 2.5) (x + 2.5) x"
    )
    assert f"{Number(1):stage|stages}, {Number(2.4):year|years}" == "1 stage, 2.4 years"
    assert f"{Number(1):inverse} {Number(12):inverse} {Number(-3):lead}4" == "1 1/12 -3 + 4"
    assert f"{Vector([0.1, 0.2, 0.3]):and}; {Vector([0.1]):and}" == "0.1, 0.2 and 0.3; 0.1"
    assert f"{Vector([0.24, 0.21, 0.27]):rest} {Vector([1, 2]):n}" == "0.28 2"
    assert matrix([[1.0, -0.5], [-0.5, 2]]) == "[[1, -0.5], [-0.5, 2]]"
    assert fields({"weights": [1, -0.5], "mean": [0, 0]})["coordinate"] == "1 * X1 - 0.5 * X2"


def test_variants_of_a_family_are_told_apart() -> None:
    """Conventions and components that change the story have their own phrases."""
    assert variant("geometric", {"probability": 0.5, "start": 0}) == "geometric.failures"
    assert variant("geometric", {"probability": 0.5, "start": 1}) == "geometric.trials"
    assert variant("student-t", {"df": 3, "location": 0, "scale": 2}) == "student-t"
    assert variant("student-t", {"df": 3, "location": 0, "scale": 1}) == "student-t.standard"
