"""Reports: what stands in them, and what may not."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import reports
from unpredictabench import integrations
from unpredictabench.errors import InputError
from unpredictabench.records import Completion
from unpredictabench.report import report, table_text, write_figures
from unpredictabench.report.answers import Sample, sample_of
from unpredictabench.report.contents import doubts, headline_n
from unpredictabench.report.details import N_OUTCOMES, pit_histogram, places, task_data
from unpredictabench.report.findings import contrast, example, findings
from unpredictabench.report.making import assembled, letters
from unpredictabench.report.packing import pack, packed, unpack
from unpredictabench.report.page import page
from unpredictabench.report.provenance import Account
from unpredictabench.report.tables import COLUMNS
from unpredictabench.score.results import Rate
from unpredictabench.stats import wilson_interval


@pytest.fixture(scope="module")
def two():
    """Return the report of a faithful and a constant run."""
    return reports.contents(reports.constant(), reports.good())


@pytest.fixture(scope="module")
def evil():
    """Return the report of a run that tries to break out, beside a faithful one."""
    return reports.contents(reports.hostile(), reports.good())


def unanswered():
    """Return an entry without answers."""
    made = reports.entry({reports.IDS[0]: ["0.5"]}, "empty")
    lost = Rate(
        None, None, None, None, None, "tasks like these", "no task has enough answers", 4, 0
    )
    score = replace(
        made.score, ks_at_n=dict.fromkeys(made.score.n, lost), tasks=(), categories={}, families={}
    )
    return replace(made, score=score, samples={})


class TestProvenance:
    """Where answers come from."""

    def test_account(self):
        """Dates, tokens and seeds are those of the answers; one uncounted reply voids a sum."""
        account = Account()
        account.add([Completion("t", 0, "1", created_at=5.0, prompt_tokens=3, seed=1)])
        account.add([Completion("t", 1, "1", created_at=2.0, prompt_tokens=4)])
        assert (account.first, account.last, account.n_answers) == (2.0, 5.0, 2)
        assert (account.prompt_tokens, account.completion_tokens, account.n_seeds) == (7, None, 1)


class TestContents:
    """What is gathered and how it is ordered."""

    def test_best_first(self, two):
        """Runs are ordered by KS@N at the headline, and named by letters in that order."""
        assert [(entry.key, entry.label) for entry in two.entries] == [
            ("A", "good"),
            ("B", "constant"),
        ]
        assert two.headline == 20

    def test_letters_never_repeat(self):
        """A thousand runs have a thousand keys."""
        assert len({letters(i) for i in range(1000)}) == 1000

    def test_models_of_one_name_are_told_apart(self):
        """Two runs of one model carry the names of their runs."""
        first, second = reports.good("same"), reports.good("same")
        second = replace(second, score=replace(second.score, name="runs/other"))
        labels = {entry.label for entry in reports.contents(first, second).entries}
        assert labels == {"same (same)", "same (other)"}

    @pytest.mark.parametrize("field", ["suite_hash", "alpha", "protocol", "mode", "n"])
    def test_scores_that_cannot_be_compared_are_refused(self, field):
        """Runs on different suites or by different rules never stand in one table."""
        odd = {"suite_hash": "other", "alpha": 0.05, "protocol": "valid", "mode": "strict"}
        second = reports.good("second")
        changed = replace(second.score, **{field: odd.get(field, (1, 5))})
        with pytest.raises(InputError, match=f"runs must agree in their {field.replace('_', ' ')}"):
            reports.contents(reports.good(), replace(second, score=changed))

    def test_no_runs_are_refused(self):
        """A report of nothing is refused."""
        with pytest.raises(InputError, match="runs must be a list of at least one run"):
            report([])

    def test_scores_alone_make_a_report(self, two, tmp_path):
        """Scores without their runs are reported without answers."""
        file = report([entry.score for entry in two.entries], tmp_path / "deep" / "r.html")
        assert "good" in file.read_text()


class TestCases:
    """Faults of other tools; each case has its id in its name."""

    def test_rep_missing_tasks(self):
        """rep-missing-tasks: a run that was asked fewer tasks is marked and not ranked above."""
        some = reports.tasks()[:1]
        full = reports.constant("full")
        part = reports.entry({some[0].id: reports.faithful(some[0])}, "part", some)
        found = reports.contents(part, full)
        assert [entry.label for entry in found.entries] == ["full", "part"]
        assert doubts(found.entries[1], found.entries, 20)[0] == "3 of 4 tasks missing"
        assert "part is incomplete and not ranked: 3 of 4 tasks missing." in findings(found)
        assert "incomplete: 3 of 4 tasks missing" in table_text(found, "markdown")
        assert len(contrast(*(entry.score for entry in found.entries), 20).tasks) == 1

    def test_rep_nan_raises_score(self):
        """rep-nan-raises-score: failed tasks stay in the denominator, and the run is marked."""
        task, other = reports.tasks()[:2]
        among = [task, other]
        a = reports.entry({task.id: reports.faithful(task), other.id: ["1e9"] * 20}, "A", among)
        b = reports.entry({task.id: reports.faithful(task)}, "B", among)
        found = reports.contents(b, a, among=among)
        rates = {entry.label: entry.rate(20) for entry in found.entries}
        assert (rates["A"].estimate, rates["A"].n_covered, rates["A"].n_tasks) == (0.5, 2, 2)
        assert (rates["B"].estimate, rates["B"].n_covered, rates["B"].n_tasks) == (0.5, 1, 2)
        assert [entry.label for entry in found.entries] == ["A", "B"]
        assert doubts(found.entries[1], found.entries, 20) == ("1 of 2 tasks have 20 answers",)
        assert "incomplete: 1 of 2 tasks have 20 answers" in page(found)

    def test_rep_ci_zero_width(self):
        """rep-ci-zero-width: 5 of 5 has the Wilson interval (statsmodels: 0.5655175352168252)."""
        assert wilson_interval(5, 5).low == pytest.approx(0.5655175352168252, rel=1e-12)
        found = reports.contents(reports.good())
        rate = found.entries[0].rate(20)
        assert rate.estimate == 1.0
        assert rate.low < 0.9
        assert f"{100 * rate.low:.1f} to 100.0" in page(found)

    def test_rep_html_injection(self):
        """rep-html-injection: markup and pipes of a model are escaped in HTML and Markdown."""
        text = "<script>alert(1)</script> | x"
        found = reports.contents(reports.entry({name: [text] * 20 for name in reports.IDS}, text))
        html, markdown = page(found), table_text(found, "markdown")
        assert text not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt; | x" in html
        assert "<script" not in markdown
        rows = [line for line in markdown.splitlines() if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1

    def test_rep_first_n_short(self):
        """rep-first-n-short: with 37 answers, N = 50 and 100 are not available."""
        among = reports.tasks()[:1]
        texts = {among[0].id: reports.faithful(among[0], 37)}
        made = reports.entry(texts, "short", among, n=(20, 50, 100))
        found = reports.contents(made, among=among)
        assert found.headline == 20
        row = table_text(found, "markdown").splitlines()[2]
        assert [cell.strip() for cell in row.split("|")][4:6] == ["not available"] * 2
        assert page(found).count("not available</span>") == 2


class TestRefusals:
    """Reports of little or of much."""

    def test_zero_valid_answers(self, tmp_path):
        """A run without any valid answer is reported as such, on the page and in figures."""
        made = reports.entry({name: ["I cannot."] * 20 for name in reports.IDS}, "mute")
        found = reports.contents(made)
        assert found.entries[0].score.validity == 0.0
        assert "0 of 20 valid" in page(found)
        write_figures(found, tmp_path)

    def test_no_answers_at_all(self, tmp_path):
        """A run that holds no answers says that it cannot be judged."""
        found = reports.contents(unanswered())
        assert findings(found)[0] == (
            "empty cannot be judged at N = 20: no task has enough answers."
        )
        page(found)
        write_figures(found, tmp_path)

    @pytest.mark.parametrize("name", reports.IDS)
    def test_one_task(self, name, tmp_path):
        """A report of one task of any kind renders."""
        among = reports.tasks([name])
        found = reports.contents(reports.good(among=among), among=among)
        assert page(found).count('class="task"') == 1
        write_figures(found, tmp_path)

    def test_twenty_three_models(self, tmp_path):
        """A report of 23 models names each of them once in its table."""
        one = reports.good("m")
        many = [
            replace(one, label=f"model {i}", score=replace(one.score, model=f"model {i}"))
            for i in range(23)
        ]
        found = reports.contents(*many)
        html = page(found)
        assert found.entries[-1].key == "W"
        assert html.split('<table class="scores">')[1].split("</tbody>")[0].count("<tr>") == 24
        write_figures(found, tmp_path)


class TestFindings:
    """The sentences."""

    def test_who_by_how_much_and_how_sure(self, two):
        """The better run, the difference and its interval are said."""
        text = " ".join(findings(two))
        assert re.search(r"good passes [\d.]+ points more often than constant", text)
        assert "4 common tasks" in text

    def test_contrast_is_antisymmetric(self, two):
        """Swapping two runs changes the sign of the difference and nothing else."""
        a, b = (entry.score for entry in two.entries)
        one, other = contrast(a, b, 10), contrast(b, a, 10)
        assert one.difference == -other.difference
        assert one.sign_flip == other.sign_flip
        assert contrast(a, b, 10, "shuffling").tasks[0].task == "shuffling/three-animals"
        assert contrast(a, b, 10, "multimodal") is None

    def test_example_shows_the_difference(self, two):
        """The example is a task on which the two best runs differ most."""
        a, b = (
            {score.task: score.pass_rates[20] for score in entry.score.tasks}
            for entry in two.entries
        )
        gaps = {task: abs(a[task] - b[task]) for task in a}
        assert gaps[example(two)] == max(gaps.values())

    def test_headline_is_what_all_can_be_judged_at(self, two):
        """The headline N is the largest with full coverage everywhere, else with any."""
        score = two.entries[0].score
        lost = Rate(None, None, None, None, None, "tasks like these", "none", 4, 0)
        part = replace(score.ks_at_n[20], n_covered=3)
        assert headline_n([score, replace(score, ks_at_n=score.ks_at_n | {20: part})]) == 10
        assert headline_n([replace(score, ks_at_n=dict.fromkeys(score.n, lost) | {20: part})]) == 20
        assert headline_n([replace(score, ks_at_n=dict.fromkeys(score.n, lost))]) == 20


class TestDetails:
    """The data that pictures are drawn from."""

    def test_pit_histogram_sums_to_one(self):
        """Shares are not negative and sum to 1, with atoms and outliers too."""
        for task in reports.tasks()[:2]:
            values = np.array([-1e300, 0.0, 0.5, 0.7, 1e300])
            found = pit_histogram(task.target, values, np.array([1, 2, 3, 4, 5]))
            assert found.min() >= 0
            assert found.sum() == pytest.approx(1)

    def test_pit_of_the_law_is_flat(self):
        """Every atom of a discrete law, counted as often as it is likely, gives a flat PIT."""
        task = next(t for t in reports.load_suite("v1") if t.support == "discrete")
        atoms = np.unique(task.target.ppf(np.linspace(1e-12, 1 - 1e-12, 200_001)))
        weights = np.round(task.target.pmf(atoms) * 10**9).astype(np.int64)
        found = pit_histogram(task.target, atoms, weights)
        assert found == pytest.approx(np.full(10, 0.1), abs=1e-4)

    def test_places_are_doubly_stochastic(self):
        """Rows and columns of the item-by-position table sum to the number of answers."""
        task = reports.tasks()[2]
        table = places(task, np.arange(6))
        assert table.sum(axis=0).tolist() == table.sum(axis=1).tolist() == [15, 15, 15]
        alone = places(task, np.array([1, 0, 0, 0, 0, 0]))
        assert alone.tolist() == np.eye(3, dtype=int).tolist()

    def test_histogram_counts_every_valid_answer(self, evil):
        """Bins and what lies beyond them hold all valid answers."""
        for task in reports.tasks()[:2]:
            data = task_data(task, evil, 200)
            for entry, run in zip(evil.entries, data["runs"], strict=True):
                n_valid = entry.samples[task.id].values.size
                assert sum(run["h"]) + sum(run["out"]) == n_valid == sum(run["c"])

    def test_answers_are_counted_and_cut(self, evil):
        """Different answers stand once with their number, cut at 200 characters."""
        data = task_data(reports.tasks()[0], evil, 200)
        rows = data["runs"][1]["a"]
        assert sum(row[1] for row in rows) == 2 * len(reports.HOSTILE)
        assert max(len(row[0]) for row in rows) == 201

    def test_each_reply_is_read_once_and_unlisted_labels_are_marked(self):
        """An order of other items is no valid answer, and a label outside the law is unlisted."""
        task = reports.tasks()[3]
        made = reports.entry({task.id: ["rowan", "rowan", "nothing"]}, "m", [task])
        sample = made.samples[task.id]
        assert (sample.n_slots, sample.n_invalid) == (3, 1)
        assert {row.status for row in sample.written} - {"valid"}

    def test_batches_show_their_pieces(self):
        """Of a reply with several answers every one is listed, with its own text."""
        task = reports.tasks()[0]
        found = sample_of(task, [Completion(task.id, 0, "[0.5, 0.25]", n_asked=3)])
        assert found.values.tolist() == [0.5, 0.25]
        assert [row.text for row in found.written if row.status == "valid"] == ["0.5", "0.25"]
        assert found.n_invalid == 1

    def test_every_task_of_the_suite_can_be_pictured(self, two):
        """Every law gives finite data: a rising cdf, bins that hold what the window holds."""
        template = two.entries[0].samples[reports.IDS[0]]
        for task in reports.load_suite("v1"):
            values = task.truth(30, rng=1).astype(np.float64)
            if task.support != "nominal":
                values = np.concatenate([values, [-1e300, 0.0, 1e300]])
            sample = Sample(values, values.size + 2, template.written)
            found = replace(two, entries=(replace(two.entries[0], samples={task.id: sample}),))
            data = json.loads(json.dumps(task_data(task, found, 50), allow_nan=False))
            if data["kind"] == "number":
                assert data["lo"] < data["hi"], task.id
                assert min(np.diff(data["x"]).min(), np.diff(data["y"]).min()) >= 0, task.id
                assert 0.98 < sum(data["mass"]) <= 1.001, task.id
                assert sum(data["runs"][0]["pit"]) == pytest.approx(1, abs=1e-3), task.id
            else:
                assert sum(data["p"]) <= 1.001, task.id
            assert data["law"], task.id

    def test_labels_are_limited(self):
        """Of many outcomes the most telling are shown, and how many are not."""
        among = reports.tasks(["shuffling/five-kinds"])
        found = reports.contents(reports.good(among=among), among=among)
        data = task_data(among[0], found, 200)
        assert len(data["o"]) == N_OUTCOMES
        assert data["rest"] == 120 - N_OUTCOMES


class TestPacking:
    """Compressed data."""

    def test_round_trip(self, evil):
        """What is packed comes out the same, half surrogate pairs included."""
        data = task_data(reports.tasks()[0], evil, 200)
        assert unpack(pack(data)) == json.loads(json.dumps(data))

    def test_answers_are_cut_shorter_where_there_are_too_many(self, evil):
        """The page stays within its size by showing less of every answer, and says so."""
        assert packed(evil)[1] == 200
        data, width = packed(evil, budget=10)
        assert width == 24
        assert set(data) == set(reports.IDS)


class TestPage:
    """The page as text."""

    def test_same_in_same_out(self, two):
        """The same runs give the same bytes."""
        assert page(two) == page(two)

    def test_policy_allows_one_script_and_nothing_unsafe(self, two):
        """The policy names hashes only, and the page holds no handlers and no style attributes."""
        html = page(two)
        policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)[1]
        assert "unsafe" not in policy
        assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
        assert len(re.findall(r"<script>", html)) == len(re.findall(r"<style>", html)) == 1
        assert not re.search(
            r"<[^>]+\s(style|on\w+|src)=", html.split("<body>")[1].split("<script")[0]
        )

    def test_nothing_points_elsewhere(self, two):
        """No address in the page leads out of it."""
        html = page(two)
        links = re.findall(r'(?:href|src|action)="([^"]*)"', html)
        assert links
        assert all(link.startswith("#") for link in links)

    def test_published_rows_are_marked(self, two):
        """Published rows stand apart, with their protocol and what is wrong with them."""
        rows = integrations.published_rows()
        html = page(replace(two, published=rows))
        assert "23 models, under the published protocol" in html
        marked = next(row for row in rows if row.marks)
        assert marked.marks[0].replace("'", "&#39;") in html

    def test_provenance_is_complete(self, two):
        """Suite, hash, protocol, alpha, package and the runs are told."""
        html = page(two).split('id="provenance"')[1]
        for word in ("suite hash", "abc", "strict", "0.0001", "unpredictabench", "extractor"):
            assert word in html


class TestTables:
    """Exports for papers."""

    def test_csv_has_every_number(self, two):
        """CSV reads back: one row for each model, group and N, with provenance in each."""
        import csv
        import io

        rows = list(csv.DictReader(io.StringIO(table_text(two, "csv"))))
        assert tuple(rows[0]) == COLUMNS
        whole = [r for r in rows if r["model"] == "good" and r["group"] == "all"]
        rates = two.entries[0].score.ks_at_n
        assert {int(r["n"]): float(r["estimate"]) for r in whole} == {
            n: rate.estimate for n, rate in rates.items()
        }
        assert {(r["suite_hash"], r["protocol"], float(r["alpha"])) for r in rows} == {
            ("abc", "strict", 1e-4)
        }
        assert {r["group"].split()[0] for r in rows} == {"all", "category", "family"}

    def test_missing_is_empty_with_a_reason(self):
        """A missing number is empty in CSV, with the reason beside it."""
        import csv
        import io

        found = reports.contents(unanswered())
        row = next(csv.DictReader(io.StringIO(table_text(found, "csv"))))
        assert (row["estimate"], row["reason"]) == ("", "no task has enough answers")

    def test_latex_has_no_bare_signs(self, evil):
        """Every special sign of a name is escaped, and every row has the same columns."""
        text = table_text(evil, "latex")
        rows = [line for line in text.splitlines() if line.endswith(r"\\")]
        assert len(rows) == 3
        assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1
        assert r"\textless{}b onmouseover=alert(8)\textgreater{}evil" in text
        assert r"\& \_co\textbar{}" in text
        assert all(line.startswith("%") for line in text.split(r"\begin")[0].splitlines())

    def test_unknown_form_is_refused(self, two):
        """A form that does not exist is named."""
        with pytest.raises(InputError, match="form must be 'csv', 'markdown' or 'latex'"):
            table_text(two, "excel")


class TestFigures:
    """Static charts."""

    def test_every_chart_has_its_numbers(self, two, tmp_path):
        """SVG, PDF and CSV stand beside each other, and provenance is in all of them."""
        found = replace(two, published=integrations.published_rows())
        names = {file.name for file in write_figures(found, tmp_path)}
        stems = {"headline", "curves", "categories", "families", "example"}
        expected = {f"{stem}.{ext}" for stem in stems for ext in ("svg", "pdf", "csv")}
        assert names == expected | {"provenance.json"}
        assert (tmp_path / "curves.pdf").read_bytes().startswith(b"%PDF")
        assert "suite hash" in (tmp_path / "curves.svg").read_text()
        assert json.loads((tmp_path / "provenance.json").read_text())["suite hash"] == "abc"

    def test_same_in_same_out(self, two, tmp_path):
        """Figures of the same runs are the same bytes."""
        first, again = tmp_path / "a", tmp_path / "b"
        for file in write_figures(two, first):
            write_figures(two, again)
            assert file.read_bytes() == (again / file.name).read_bytes()
            break

    def test_hostile_names_are_drawn(self, evil, tmp_path):
        """Names with markup, control signs and unknown letters are drawn."""
        strange = replace(evil.entries[0], label="\x00 \ud83d 模型 $x_$ <b>")
        found = assembled([strange], evil.tasks)
        write_figures(found, tmp_path)
        assert "<b>" not in (tmp_path / "headline.svg").read_text()
        page(found)
