"""The code tasks: what the programs look like, and what they print when they run."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from scipy import stats

from unpredictabench.errors import InputError
from unpredictabench.streams import seed_of, stream
from unpredictabench.targets import target_from_spec
from unpredictabench.tasks.draft import Brief
from unpredictabench.tasks.laws import published_laws
from unpredictabench.tasks.programs import CATEGORIES, choices, write
from unpredictabench.tasks.programs.recipes import NAMES, fill
from unpredictabench.tasks.variants import redrawn

FALSE_ALARM = 1e-3
ALLOWED_IMPORTS = {"bisect", "collections", "itertools", "math", "numpy", "random", "statistics"}
LONGEST_PROGRAM = 25

CHILD = """
import contextlib, io, json, random, sys
import numpy as np

for job in json.load(sys.stdin):
    random.seed(job["seed"])
    shared = np.random.Generator(np.random.PCG64DXSM(job["seed"]))
    np.random.default_rng = lambda: shared
    code = compile(job["source"], job["name"], "exec")
    lines = []
    for _ in range(job["runs"]):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, {"__name__": "__main__"})
        lines.append(out.getvalue())
    print(json.dumps(lines), flush=True)
"""

FORBIDDEN = {
    "beta": ("beta",),
    "triangular": ("triang",),
    "truncated-normal": ("trunc",),
    "uniform": ("uniform",),
    "reciprocal": ("reciprocal", "uniform"),
    "arcsine": ("arcsine", "asin", "beta"),
    "erlang": ("erlang", "gamma"),
    "f": ("fisher", "snedecor", r"\bf\b", r"\bf_", "chi"),
    "gamma": ("gamma", "erlang"),
    "pareto": ("pareto", "lomax"),
    "weibull": ("weibull",),
    "chi-squared": ("chi",),
    "exponential": (r"expo(?!nent\b)",),
    "inverse-gaussian": ("inverse", "gauss", "wald"),
    "log-normal": ("lognorm", "log_norm"),
    "rayleigh-mixture": ("rayleigh", "mixture"),
    "frechet": ("frechet", "fréchet", "weibull"),
    "gumbel": ("gumbel", "extreme"),
    "laplace": ("laplace",),
    "student-t": ("student", r"\bt\b", r"_t\b"),
    "logistic": ("logistic", "logit", "sigmoid"),
    "normal": ("normal", "gauss"),
    "bernoulli": ("bernoulli", "binomial"),
    "poisson-binomial": ("poisson", "binomial"),
    "beta-binomial": ("beta", "binomial"),
    "binomial": ("binom",),
    "discrete-uniform": ("uniform", "randint", "integers"),
    "hypergeometric": ("hyper", "geometric"),
    "poisson": ("poisson",),
    "skellam": ("skellam", "poisson"),
    "geometric": ("geom",),
    "negative-binomial": ("binom", "negative", "pascal"),
    "compound-poisson": ("compound", "poisson"),
    "dirichlet": ("dirichlet",),
    "multinomial": ("nomial",),
    "multivariate-normal": ("multivariate",),
    "multivariate-t": ("multivariate", "student", r"\bt\b", r"_t\b"),
    "negative-multinomial": ("nomial", "negative"),
    "categorical": ("categor",),
    "rectified-gaussian": ("rectif", "relu", "gauss"),
}
"""What a program that does not name its law must not contain, as regular expressions."""

FURTHER_LAWS = (
    ("beta", {"alpha": 7, "beta": 3}),
    ("beta", {"alpha": 1.2, "beta": 0.4}),
    ("triangular", {"low": -2, "mode": -2, "high": 5.5}),
    ("truncated-normal", {"mean": 3, "sd": 2, "low": 4, "high": 9.5}),
    ("f", {"df1": 4, "df2": 9}),
    ("gamma", {"shape": 3, "scale": 2}),
    ("gamma", {"shape": 2.4, "scale": 0.5}),
    ("gamma", {"shape": 0.15, "scale": 1}),
    ("chi-squared", {"df": 7}),
    ("chi-squared", {"df": 2.5}),
    ("student-t", {"df": 3, "location": -4, "scale": 2.5}),
    ("rayleigh-mixture", {"scale": 2, "component": "normal-scale"}),
    ("rayleigh-mixture", {"scale": 2.5, "component": "gamma", "shape": 1, "divisor": 2.8}),
    (
        "rayleigh-mixture",
        {"scale": 1.5, "component": "normal-location", "offset": -2, "slope": 3, "sd": 0.5},
    ),
    ("bernoulli", {"probability": 0.2718}),
    ("binomial", {"trials": 9, "probability": 0.35}),
    ("hypergeometric", {"population": 30, "successes": 25, "draws": 12}),
    ("geometric", {"probability": 0.3, "start": 0}),
    ("geometric", {"probability": 0.3, "start": 1}),
    ("negative-binomial", {"successes": 5, "probability": 0.4}),
    ("compound-poisson", {"rate": 2.5, "jump": {"family": "exponential", "params": {"rate": 4}}}),
    (
        "compound-poisson",
        {"rate": 1.5, "jump": {"finite": {"values": [1, 2, 5], "probabilities": [0.5, 0.3, 0.2]}}},
    ),
    (
        "compound-poisson",
        {"rate": 0.7, "jump": {"family": "uniform", "params": {"low": 0.5, "high": 3}}},
    ),
    ("dirichlet", {"concentration": [2, 5, 3], "coordinate": 1}),
    ("dirichlet", {"concentration": [0.5, 1.5, 1], "coordinate": 2}),
    ("multinomial", {"trials": 10, "probabilities": [0.2, 0.5, 0.3], "coordinate": 1}),
    ("multinomial", {"trials": 10, "probabilities": [0.2, 0.5, 0.3], "weights": [0, 1, 3]}),
    (
        "multivariate-normal",
        {"mean": [1, 2], "covariance": [[2, 0.6], [0.6, 0.5]], "weights": [0.5, -2]},
    ),
    (
        "multivariate-t",
        {"df": 4, "location": [1, 2], "shape": [[2, 0.6], [0.6, 0.5]], "coordinate": 1},
    ),
    ("negative-multinomial", {"stops": 2, "probabilities": [0.3, 0.2], "coordinate": 1}),
    ("negative-multinomial", {"stops": 2, "probabilities": [0.3, 0.2], "coordinate": "total"}),
    ("categorical", {"values": [-3, 10, 4], "probabilities": [0.25, 0.25, 0.5]}),
)
"""Legal laws beside the published ones: other components, jumps, starts, readings and edges."""


def published_briefs():
    """Return the briefs of the 160 code tasks."""
    return [
        Brief(category=law.category, family=law.family, spread=law.spread, law=law.law)
        for law in published_laws()
        if law.category in CATEGORIES
    ]


def further_briefs():
    """Return briefs of both categories for the further laws."""
    return [
        Brief(
            category=category,
            family=family,
            spread="spread_out",
            law={"family": family, "params": params},
        )
        for category in CATEGORIES
        for family, params in FURTHER_LAWS
    ]


def name_of(brief, number=0):
    """Name a brief in messages."""
    return f"{brief.category}/{brief.family}/{brief.spread} #{number} {brief.law['params']}"


def redrawn_briefs(seed):
    """Return the briefs of the code tasks with the parameters of a fresh variant."""
    return [
        Brief(
            category=law.category,
            family=law.family,
            spread=law.spread,
            law=redrawn(law, stream("redrawn", law.id, seed)),
        )
        for law in published_laws()
        if law.category in CATEGORIES
    ]


def programs_of(briefs):
    """Return (brief, name, source, recipe) for every recipe that suits one of the briefs."""
    return tuple(
        (brief, name_of(brief, k), fill(recipe, brief.law["params"], stream("fill", k))[0], recipe)
        for brief in briefs
        for k, recipe in enumerate(choices(brief))
    )


@cache
def every_program():
    """Return the programs of the published and of the further laws."""
    return programs_of(published_briefs() + further_briefs())


def printed_values(runs, wanted):
    """Run programs in one child process, compiled once each, and return what they print."""
    jobs = [
        {"name": name, "source": source, "runs": runs, "seed": seed_of("run", name, bits=64)}
        for _, name, source, _ in wanted
    ]
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", CHILD],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in child.stdout.splitlines()]


def level_pvalue(law, values, rng):
    """Test values against a law of any support by their randomised probability levels."""
    low, high = law.cdf_left(values), law.cdf(values)
    levels = low + rng.random(values.size) * (high - low)
    return stats.kstest(levels, "uniform").pvalue


def smallest_adjusted_pvalue(wanted, runs):
    """Run programs and return the smallest Holm-adjusted p-value, with its name."""
    pvalues = {}
    for (brief, name, _, _), texts in zip(wanted, printed_values(runs, wanted), strict=True):
        assert all(text.count("\n") == 1 for text in texts), name
        values = np.array([float(text) for text in texts])
        law = target_from_spec(brief.law)
        assert law.contains(values).all(), name
        pvalues[name] = level_pvalue(law, values, stream("levels", name, runs))
    worst = min(pvalues, key=pvalues.get)
    return pvalues[worst] * len(pvalues), worst


def test_programs_follow_their_laws():
    """Every way to write every program prints values of its law, Holm over the programs."""
    adjusted, worst = smallest_adjusted_pvalue(every_program(), 250)
    assert adjusted > FALSE_ALARM, worst


@pytest.mark.slow
def test_programs_follow_their_laws_in_2000_runs():
    """Two thousand runs of every program still follow the laws."""
    adjusted, worst = smallest_adjusted_pvalue(every_program(), 2000)
    assert adjusted > FALSE_ALARM, worst


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_programs_of_fresh_variants_follow_their_laws(seed):
    """Programs with redrawn parameters print values of the redrawn laws."""
    adjusted, worst = smallest_adjusted_pvalue(programs_of(redrawn_briefs(seed)), 1000)
    assert adjusted > FALSE_ALARM, worst


def test_a_wrong_parameter_is_noticed():
    """The comparison rejects a scale that is off by a fifth."""
    rng = stream("wrong scale")
    law = target_from_spec({"family": "exponential", "params": {"rate": 1}})
    assert level_pvalue(law, rng.exponential(1.0, 2000), rng) > FALSE_ALARM
    assert level_pvalue(law, rng.exponential(1.2, 2000), rng) < FALSE_ALARM


def run_as_shown(folder, briefs):
    """Start programs as plain scripts, two at a time, and check that each prints one number."""

    def run(item):
        number, brief = item
        draft = write(brief, stream("plain", name_of(brief)))
        path = folder / f"program{number}.py"
        path.write_text(draft.program, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-W", "error", str(path)], capture_output=True, text=True, check=False
        )
        return name_of(brief), draft, done

    with ThreadPoolExecutor(2) as pool:
        for name, draft, done in pool.map(run, enumerate(briefs)):
            assert done.returncode == 0, (name, done.stderr)
            number = r"-?\d+" if draft.is_integer else r"-?\d+(\.\d+)?(e[-+]\d+)?"
            assert re.fullmatch(number + r"\n", done.stdout), (name, done.stdout)


def test_programs_run_as_shown(tmp_path):
    """A quarter of the programs, started as plain scripts, print one line with one number."""
    run_as_shown(tmp_path, published_briefs()[::4])


@pytest.mark.slow
def test_all_programs_run_as_shown(tmp_path):
    """Each of the 160 programs, started as a plain script, prints one line with one number."""
    run_as_shown(tmp_path, published_briefs())


def test_there_are_at_least_two_programs_a_task():
    """Every published law of a code task can be written in two ways or more."""
    briefs = published_briefs()
    assert len(briefs) == 160
    assert set(FORBIDDEN) == {brief.family for brief in briefs}
    assert all(len(choices(brief)) >= 2 for brief in briefs)


def test_programs_are_short_and_import_little():
    """Programs are short, set no seed and use the standard library and NumPy only."""
    for _, name, source, _ in every_program():
        tree = ast.parse(source)
        modules = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        modules |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert modules <= ALLOWED_IMPORTS, name
        assert len(source.splitlines()) <= LONGEST_PROGRAM, name
        assert max(map(len, source.splitlines())) <= 100, name
        assert "seed" not in source, name


def test_implicit_programs_never_name_their_law():
    """No word of the law's name occurs in a code-implicit question or program."""
    for brief, name, source, _ in every_program():
        if brief.category == "code-implicit":
            for pattern in FORBIDDEN[brief.family]:
                assert not re.search(pattern, source, re.IGNORECASE), (name, pattern)
    for brief in published_briefs():
        if brief.category == "code-implicit":
            question = write(brief, stream("words")).question
            for pattern in FORBIDDEN[brief.family]:
                assert not re.search(pattern, question, re.IGNORECASE), (name_of(brief), pattern)


def test_explicit_programs_name_their_law():
    """Each word of the family's name, or its customary short form, is in the explicit program."""
    short = {
        "beta-binomial": ("beta", "binomial"),
        "chi-squared": ("chi",),
        "discrete-uniform": (r"uniform|integers",),
        "erlang": ("erlang",),
        "exponential": ("expo",),
        "f": (r"\bf\(|f_statistic",),
        "log-normal": ("lognorm",),
        "normal": ("normal|gauss",),
        "rayleigh-mixture": ("rayleigh",),
        "reciprocal": ("reciprocal|log_uniform",),
        "student-t": ("student_t|standard_t",),
        "categorical": ("categor",),
        "multivariate-t": ("multivariate.t",),
    }
    for brief, name, source, _ in every_program():
        if brief.category == "code-explicit":
            for pattern in short.get(brief.family, brief.family.split("-")):
                assert re.search(pattern, source, re.IGNORECASE), (name, pattern)


def test_names_in_programs_cannot_collide():
    """The names chosen for blanks are disjoint and never stand written out beside the blank."""
    pools = [name for pool in NAMES.values() for name in pool]
    assert len(set(pools)) == len(pools)
    for _, name, _, recipe in every_program():
        plain = set(re.findall(r"(?<![$.\w])[A-Za-z_]\w*", recipe.text))
        for role, pool in NAMES.items():
            if re.search(rf"\${role}\b", recipe.text):
                assert not plain & set(pool), (name, role)


def test_a_draft_holds_its_program_and_a_reason():
    """The question shows the program in a fence; instruction and reason are sentences."""
    for brief in published_briefs():
        draft = write(brief, stream("draft", brief.family))
        assert f"```python\n{draft.program}```" in draft.question
        assert draft.instruction.endswith(".")
        assert draft.rationale.endswith(".")
        assert "$" not in draft.question + draft.rationale


def test_whole_answers_are_marked():
    """Drafts are marked as whole exactly where the law lives on whole numbers."""
    for brief in published_briefs() + further_briefs():
        law = target_from_spec(brief.law)
        points = law.ppf(np.linspace(0.001, 0.999, 97))
        is_whole = law.support == "discrete" and bool((points == np.round(points)).all())
        assert write(brief, stream("whole")).is_integer == is_whole, name_of(brief)


def test_the_same_stream_writes_the_same_draft():
    """A draft depends on the brief and the stream alone."""
    for brief in published_briefs():
        assert write(brief, stream("same")) == write(brief, stream("same"))


def test_two_seeds_share_no_question():
    """Thirty suites over the same laws have 4,800 different questions."""
    questions = {
        write(brief, stream("many", seed, number)).question
        for seed in range(30)
        for number, brief in enumerate(published_briefs())
    }
    assert len(questions) == 30 * 160


def test_every_program_can_be_chosen():
    """Over many streams both the constructions and the identifiers vary."""
    brief = next(b for b in published_briefs() if b.family == "normal")
    programs = {write(brief, stream("vary", k)).program for k in range(60)}
    assert len(programs) >= len(choices(brief))


def test_what_cannot_be_written_is_named():
    """An unknown category or family is an error that says so."""
    law = {"family": "normal", "params": {"mean": 0, "sd": 1}}
    with pytest.raises(InputError, match="category must be code-explicit"):
        write(Brief("text-explicit", "normal", "concentrated", law), stream("x"))
    with pytest.raises(InputError, match="zeta"):
        write(Brief("code-explicit", "zeta", "concentrated", law), stream("x"))
