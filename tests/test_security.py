"""Hostile texts, files, programs and servers: shown as text, refused by name, told no key."""

from __future__ import annotations

import contextlib
import csv
import http.server
import io
import json
import os
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import unpredictabench.cli
from unpredictabench import load_suite
from unpredictabench.cli import main
from unpredictabench.cli.terminal import open_console, plain, visible
from unpredictabench.errors import StoreError, StudyError, SuiteError
from unpredictabench.generate.study import Job, read_study, slug
from unpredictabench.integrations import import_path
from unpredictabench.records import Completion, Message, Settings
from unpredictabench.report.tables import csv_row, latex_text, markdown_text
from unpredictabench.store import import_run, open_run, open_writer
from unpredictabench.store.rows import Planned
from unpredictabench.tasks import runner
from unpredictabench.tasks.execution import run_many, run_once

EVIL = "[red]m[/] \x1b[31m\x1b]0;title\x07 \x9b2J \u202ereversed \r\x08 <b>|$%&_# =1+1"
ENV = {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "PATH": os.environ["PATH"]}


def called(*words):
    """Call the command line as a user does; return all that it printed."""
    out = io.StringIO()
    streams = contextlib.redirect_stdout(out), contextlib.redirect_stderr(out)
    with streams[0], streams[1], contextlib.suppress(SystemExit):
        main([str(word) for word in words])
    return out.getvalue()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Return two runs whose models, answers and servers are hostile."""
    suite = load_suite("v1").select(ids=load_suite("v1").ids[:3])
    plan = {task.id: Planned(12, (Message("user", task.prompt),)) for task in suite}
    folders = []
    for name in ("a", "b"):
        folder = tmp_path_factory.mktemp("runs") / name
        settings = Settings(f"={name}{EVIL}", "v1", load_suite("v1").hash)
        with open_writer(folder, settings, plan) as writer:
            for task in suite:
                for index in range(12):
                    text = f"{EVIL} {index}" if index % 2 else str(index)
                    writer.append(Completion(task.id, index, text, model=EVIL, fingerprint=EVIL))
            served = [{"model": EVIL, "fingerprint": EVIL, "n_answers": 36, "first_at": 1.0,
                       "last_at": 2.0}]  # fmt: skip
            ending = {"reason": EVIL, "marks": [EVIL], "failures": {EVIL: 1}, "served": served}
            writer.log("stopped", ending)
        folders.append(folder)
    return folders


class TestTerminal:
    """What is printed."""

    def test_control_characters_are_escapes(self):
        """Escapes, 8-bit controls, bidirectional marks and half surrogates are written out."""
        assert visible("a\x1b[31m\x9b\u202e\ud800\u2028\x7f") == (
            "a\\u001b[31m\\u009b\\u202e\\ud800\\u2028\\u007f"
        )
        assert (
            visible("tab\tline\n\u00e9 \U0001f600 \u5b57") == "tab\tline\n\u00e9 \U0001f600 \u5b57"
        )

    def test_json_keeps_its_value(self):
        """JSON that is made visible reads back as the same text."""
        text = json.dumps({"model": EVIL}, ensure_ascii=False)
        assert json.loads(visible(text)) == {"model": EVIL}

    def test_brackets_are_no_markup(self, capsys):
        """Cells and lines with rich markup are printed as they are."""
        open_console().print("[red]a[/red] :smile:")
        open_console().print(plain("[bold]b\x1b"))
        assert capsys.readouterr().out == "[red]a[/red] :smile:\n[bold]b\\u001b\n"

    @pytest.mark.parametrize(
        "words",
        [
            ("score",), ("score", "--json"), ("score", "--csv"), ("score", "--markdown"),
            ("score", "--latex"), ("compare",), ("compare", "--json"), ("diagnose", "--all"),
            ("report", "--csv", "-"), ("report", "--markdown", "-"),
        ],
    )  # fmt: skip
    def test_no_command_prints_a_control_character(self, hostile, words):
        """Names and texts of a model reach the terminal as text."""
        printed = called(words[0], *hostile, *words[1:])
        assert "reversed" in printed
        assert visible(printed) == printed

    def test_no_message_prints_a_control_character(self, tmp_path, hostile):
        """Nor do errors, summaries, paths and the examples of an import."""
        table = tmp_path / "t.jsonl"
        row = {"task": EVIL, "model": EVIL, "answer": EVIL}
        table.write_text(json.dumps(row) + "\n")
        printed = [
            called("import", table, "-o", tmp_path / "o"),
            called("extract", hostile[0]),
            called("score", tmp_path / "\x1b[31m"),
            called("tasks", "show", EVIL),
            called("run", "sim:perfect", "--suite", f"\x1b{EVIL}"),
            called("run", "sim:\x1b[31m"),
            "\n".join(called("diagnose", folder) for folder in hostile),
        ]
        assert all(visible(text) == text and text for text in printed), printed

    def test_there_is_one_door(self):
        """No command prints but through `cli.terminal`."""
        folder = Path(unpredictabench.cli.__file__).parent
        for file in folder.glob("*.py"):
            if file.name != "terminal.py":
                found = re.search(
                    r"click\.s?echo\(|[^.\w]print\(|Console\(|sys\.stdout\.w", file.read_text()
                )
                assert found is None or file.name == "__init__.py", file


class TestTables:
    """What is exported."""

    @pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "  =", "＝"])
    def test_texts_are_no_formulas(self, start):
        """A text that a spreadsheet would take for a formula gets an apostrophe; numbers do not."""
        row = csv_row(
            {"model": f"{start}cmd|' /C calc'!A0", "estimate": -0.5, "n": 1, "reason": None}
        )
        assert row["model"].startswith("'")
        assert (row["estimate"], row["n"], row["reason"]) == (-0.5, 1, None)

    def test_every_exported_cell_is_safe(self, hostile, tmp_path):
        """Tables and the numbers beside figures hold no cell that begins a formula but numbers."""
        called("report", *hostile, "--csv", tmp_path / "t.csv", "--figures", tmp_path / "f")
        files = [tmp_path / "t.csv", *(tmp_path / "f").glob("*.csv")]
        assert len(files) >= 4
        for file in files:
            rows = list(csv.reader(io.StringIO(file.read_text())))
            assert any(cell.startswith("'=") for row in rows for cell in row), file
            for cell in (cell for row in rows for cell in row if cell[:1] in tuple("=+-@\t\r")):
                assert float(cell) <= 0

    def test_latex_and_markdown_signs_are_letters(self):
        """A name cannot end a cell, a row or a comment, nor call a command."""
        name = "a\\input{x} $%&_#^~ |<b>\n\r"
        assert "\\input" not in latex_text(name)
        assert latex_text(name).endswith("  ")
        assert re.search(r"(?<!\\)[$%&_#]", latex_text(name)) is None
        assert re.search(r"(?<!\\)[|_*]|[<>\n]", markdown_text(name)) is None

    def test_rows_stay_one_line(self, hostile):
        """A hostile name makes no further row of a Markdown or LaTeX table."""
        lines = called("score", *hostile, "--markdown", "--no-baselines").splitlines()
        assert sum(line.startswith("|") for line in lines) == 4


class TestNames:
    """Names that lead elsewhere."""

    @pytest.mark.parametrize(
        "name", ["../../etc/x", "..", "/etc/passwd", "a/../../b", ".", "C:\\x"]
    )
    def test_run_folders_stay_inside(self, tmp_path, name):
        """Whatever a model is called, its run lies in the folder of runs."""
        assert "/" not in slug(name)
        assert slug(name).strip(".")
        folder = Job(model=name, base_url="http://localhost/v1").folder(tmp_path).resolve()
        assert folder.parent == tmp_path.resolve()
        table = tmp_path / "t.jsonl"
        task = "text-explicit/poisson/spread_out"
        table.write_text(json.dumps({"task": task, "model": name, "answer": "7"}) + "\n")
        done = import_path(table, tmp_path / "out")
        assert done.runs[0].path.resolve().parent == (tmp_path / "out").resolve()

    def test_sql_in_names_is_text(self, tmp_path):
        """Task ids and answers full of SQL come back as they were."""
        evil = "'; DROP TABLE completions; --\""
        with open_writer(tmp_path / "r", Settings("m", "v1", "h"), {evil: Planned(1, ())}) as out:
            out.append(Completion(evil, 0, evil, model=evil))
        run = open_run(tmp_path / "r")
        assert [c.text for c in run.completions(evil)] == [evil]
        assert run.n_missing == 0


LAUGHS = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
)


class TestBombs:
    """Small files that stand for much."""

    def test_a_yaml_bomb_is_refused(self, tmp_path):
        """A few lines that stand for 9^12 texts are refused before they are written out."""
        file = tmp_path / "bomb.yaml"
        file.write_text(f"{LAUGHS}tasks: *a11\n")
        with pytest.raises(SuiteError, match=r"bomb.yaml .*more than 10,000,000"):
            load_suite(file)

    @pytest.mark.parametrize("suffix", ["json", "yaml"])
    def test_deep_suites_are_refused(self, tmp_path, suffix):
        """Thousands of brackets are one error that names the file."""
        file = tmp_path / f"deep.{suffix}"
        file.write_text("[" * 3000)
        with pytest.raises(SuiteError, match=f"deep.{suffix}"):
            load_suite(file)

    @pytest.mark.parametrize("text", ["x = " + "[" * 5000, "x = " + "{a=" * 3000])
    def test_deep_toml_is_refused(self, tmp_path, text):
        """So they are in a file of models."""
        file = tmp_path / "deep.toml"
        file.write_text(text)
        with pytest.raises(StudyError, match="deep.toml is not TOML"):
            read_study(file, {})

    @pytest.mark.parametrize("name", ["a.gz", "a.zip", "a.jsonl.gz", "a.tar", "a.zst"])
    def test_archives_are_never_opened(self, tmp_path, name):
        """An archive is refused by its name, whatever is in it."""
        (tmp_path / name).write_bytes(b"\x1f\x8b" + bytes(100))
        (tmp_path / "t.jsonl").write_text(
            json.dumps({"task": "text-explicit/poisson/spread_out", "model": "m", "answer": "7"})
        )
        done = import_path(tmp_path, tmp_path / "out")
        assert not done.is_complete
        assert any("archive" in why for why in done.tally["refused"])

    @pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000, "[" * 900 + "]" * 900])
    def test_deep_exports_and_tables_are_refused(self, tmp_path, deep):
        """Nested JSON in an exported run or a table is an error or a count, not a traceback."""
        (tmp_path / "run.jsonl").write_text(f"{deep}\n")
        with pytest.raises(StoreError, match="run.jsonl"):
            import_run(tmp_path / "run.jsonl", tmp_path / "a")
        assert "run.jsonl" in called("import", tmp_path / "run.jsonl", "-o", tmp_path / "b")


class TestPrograms:
    """Programs of suites."""

    @pytest.fixture
    def listening(self):
        """Return the port of a socket that listens on loopback."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            yield server.getsockname()[1]

    @pytest.mark.parametrize("run", [run_once, lambda source: run_many(source, 1)])
    def test_they_have_no_network(self, listening, run):
        """Not even a server on this machine can be reached."""
        source = f"import socket; socket.create_connection(('127.0.0.1', {listening}), 5)"
        with pytest.raises(SuiteError, match="unreachable|no network|not permitted"):
            run(source)

    def test_the_hook_stops_python(self):
        """Where the system gives no name space of its own, Python opens no socket."""
        folder = str(Path(runner.__file__).parent)
        code = (
            f"import sys\nsys.path.insert(0, {folder!r})\nimport runner\n"
            "runner._in_empty_namespace = lambda: False\nrunner.without_network()\n"
            "import socket; socket.socket()"
        )
        found = subprocess.run(  # noqa: PLW1510 - the failure is the point
            [sys.executable, "-c", code], capture_output=True, text=True, env=ENV
        )
        assert "PermissionError: programs have no network" in found.stderr

    def test_a_warning_is_given(self, tmp_path, monkeypatch, caplog):
        """Loading a suite that runs a program says so; the second time nothing is run."""
        monkeypatch.setenv("UNPREDICTABENCH_CACHE", str(tmp_path / "cache"))
        task = {"id": "a", "question": "Draw.", "law": {"program": {"source": "print(1)"}}}
        (tmp_path / "s.json").write_text(json.dumps({"tasks": [task]}))
        load_suite(tmp_path / "s.json")
        assert "runs a program on this machine" in caplog.text
        caplog.clear()
        load_suite(tmp_path / "s.json")
        assert not caplog.text

    @pytest.mark.parametrize("run", [run_once, lambda source: run_many(source, 1)[0]])
    def test_they_see_no_key(self, monkeypatch, run):
        """The environment of a program holds no variable but the few it needs."""
        for name in ("OPENAI_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "sk-canary")
        assert "sk-canary" not in run("import os; print(dict(os.environ))")

    @pytest.mark.parametrize("run", [run_once, lambda source: run_many(source, 1)])
    @pytest.mark.parametrize(
        ("source", "why"),
        [
            ("x = ' ' * 10**11", "MemoryError"),
            ("open('big', 'wb').write(bytes(10**8))", "too large"),
            ("print('x' * 10**6)", "printed more than"),
        ],
    )
    def test_they_have_limits(self, tmp_path, monkeypatch, run, source, why):
        """Memory, the size of files and output are limited, in both ways of running."""
        monkeypatch.chdir(tmp_path)
        with pytest.raises(SuiteError, match=why):
            run(source)


class Echo(http.server.BaseHTTPRequestHandler):
    """Says back what it was sent, key included, in every place and with every status."""

    statuses = (200, 200, 401, 400, 429, 500, 302)
    n = 0

    def do_POST(self):
        """Answer with the request's own headers."""
        self.rfile.read(int(self.headers["content-length"]))
        type(self).n += 1
        status = self.statuses[self.n % len(self.statuses)] if self.server.mixes else 200
        key = self.headers["authorization"]
        bare = key.removeprefix("Bearer ")
        choice = {"message": {"role": "assistant", "content": f"{bare} 7 {key}", "reasoning": key},
                  "finish_reason": bare}  # fmt: skip
        body = json.dumps(
            {"id": bare, "model": bare, "system_fingerprint": bare, "choices": [choice]}
            if status == 200
            else {"error": {"message": f"bad {key}", "code": bare, "type": bare, "param": bare}}
        ).encode()
        self.send_response(status, f"No {bare}")
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("retry-after", "0")
        self.send_header("location", f"/{bare}")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@pytest.mark.parametrize("mixes", [False, True])
def test_a_key_is_nowhere(tmp_path, mixes):
    """Every command against a server that echoes the key: no file, stream or argument holds it."""
    key = "sk-canary-7Qf3xW9pL2mZ"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.mixes = mixes
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    (tmp_path / "models.toml").write_text(
        f'[[model]]\nmodel = "m"\nbase_url = "{url}"\nout = "toml"\n'
    )
    few = ("--limit-tasks", "1", "--samples", "2", "--category", "shuffling", "-y")
    run, home = ("run", "m", "--base-url", url, *few, "-o", "r"), {"HOME": str(tmp_path)}
    calls = [
        (*run, "--dry-run"), (*run, "--dry-run", "--json"), run, (*run, "--json"),
        ("run", "models.toml", *few), ("score", "r", "--json"), ("score", "r", "--csv"),
        ("diagnose", "r"), ("extract", "r"), ("report", "r", "-o", "r.html"),
        ("run", "m", "--base-url", url.replace("//", f"//me:{key}@")),
        ("run", "m", "--base-url", url, "--api-key-env", key),
    ]  # fmt: skip
    told = b""
    secret = ENV | home | {"OPENAI_API_KEY": key, "UNPREDICTABENCH_CACHE": str(tmp_path / "cache")}
    with contextlib.closing(server.socket):
        for words in calls:
            command = [sys.executable, "-X", "dev", "-W", "ignore", "-m", "unpredictabench", *words]
            done = subprocess.run(  # noqa: PLW1510 - some are to fail
                command, cwd=tmp_path, capture_output=True, env=secret, timeout=120
            )
            assert b"Traceback" not in done.stderr, done.stderr
            told += done.stdout + done.stderr
        server.shutdown()
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert Echo.n > 0
    assert any(file.name == "run.sqlite" for file in files) or mixes
    for text in (told, *(file.read_bytes() for file in files)):
        assert key.encode() not in text
