"""Reports made by hand for tests: any texts as answers, and hostile ones."""

from __future__ import annotations

from dataclasses import replace

from unpredictabench.records import Completion
from unpredictabench.report import Entry
from unpredictabench.report.answers import sample_of
from unpredictabench.report.making import assembled
from unpredictabench.score import score_records
from unpredictabench.tasks import load_suite
from unpredictabench.tasks.examples import written

IDS = (
    "text-explicit/beta/concentrated",
    "text-implicit/weibull/concentrated",
    "shuffling/three-animals",
    "real-world/two-lock-deadlock",
)
SIZES = (1, 5, 10, 20)
HOSTILE = (
    "<script>alert(1)</script> | x",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "<svg onload=alert(4)><style>@import 'http://127.0.0.1:9/x'</style>",
    '" onmouseover="alert(5)" x=\'',
    "javascript:alert(6)",
    "<iframe src='http://127.0.0.1:9/'></iframe><link rel=stylesheet href=http://127.0.0.1:9/a>",
    "{{ 7 * 7 }} {% include '/etc/passwd' %} ${alert(7)}",
    "</td></table></details><base href='http://127.0.0.1:9/'>",
    "<!-- <script> -->]]></template></style></title>",
    "\u202eevil\u202c \x00\x1b[31m \ud83d \u2028 \ufeff",
    "=cmd|' /C calc'!A0",
    "5" * 5000,
)
"""What a model might write to break out of a page, a table or a terminal."""


def tasks(ids=IDS):
    """Return some tasks of the suite."""
    suite = load_suite("v1")
    return [suite[name] for name in ids]


def faithful(task, n=20):
    """Return texts that follow the law of a task."""
    drawn = task.truth(n, rng=7)
    if task.support == "nominal":
        return [_text(task, task.target.outcomes[i]) for i in drawn]
    return [f"{value:.6f}" for value in drawn]


def _text(task, outcome):
    if isinstance(outcome, tuple):
        outcome = tuple(task.answer.items[i] for i in outcome)
    return written(outcome, task.answer)


def entry(texts, model="made", among=None, n=SIZES):
    """Score texts by task id; every task of `among` is asked, with or without an answer."""
    asked = tasks() if among is None else among
    completions = [
        Completion(task, index, text, created_at=1.7e9, prompt_tokens=5, completion_tokens=2)
        for task, listed in texts.items()
        for index, text in enumerate(listed)
    ]
    scored = score_records(asked, completions, n=n)
    scored = replace(scored, name=f"runs/{model}", model=model, suite="v1", suite_hash="abc")
    samples = {
        task.id: sample_of(task, [c for c in completions if c.task == task.id]) for task in asked
    }
    return Entry("", model, scored, samples)


def contents(*entries, among=None, **more):
    """Assemble entries."""
    return assembled(entries, tasks() if among is None else among, **more)


def good(model="good", among=None, n=20):
    """Return an entry that answers faithfully."""
    asked = tasks() if among is None else among
    return entry({task.id: faithful(task, n) for task in asked}, model, asked)


def constant(model="constant", among=None):
    """Return an entry that always gives the same faithful answer."""
    asked = tasks() if among is None else among
    return entry({task.id: faithful(task, 1) * 20 for task in asked}, model, asked)


def hostile(model="<b onmouseover=alert(8)>evil</b> & _co|"):
    """Return an entry that tries to break out, its name included."""
    return entry(dict.fromkeys(IDS, HOSTILE * 2), model)
