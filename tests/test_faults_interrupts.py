"""Ctrl-C at every stage of every command: code 130, one line, nothing half-written, resumable."""

from __future__ import annotations

import signal
import textwrap

import pytest

from commands import ASKING, answers, assert_like, done, interrupted, scores, start
from unpredictabench.store import open_run

STAGES = {
    "asking": (
        ASKING,
        """
        from unpredictabench.clients import simulated
        ask, n = simulated.SimulatedClient.ask, 0
        async def slow(self, request):
            global n
            n += 1
            if n == 100:
                print("reached", flush=True)
            if n >= 100:
                import asyncio
                await asyncio.sleep(120)
            return await ask(self, request)
        simulated.SimulatedClient.ask = slow
        """,
    ),
    "opening": (
        ASKING,
        """
        from unpredictabench.generate import running
        opening = running.open_writer
        def slow(*args, **kwargs):
            print("reached", flush=True)
            time.sleep(0.5)
            return opening(*args, **kwargs)
        running.open_writer = slow
        """,
    ),
    "reading": (
        ASKING,
        """
        from unpredictabench.generate import running
        whole = running.readings
        def slow(completions, tasks):
            for n, found in enumerate(whole(completions, tasks)):
                print("reached" if n == 50 else "", flush=True)
                time.sleep(0.0 if n < 50 else 0.1)
                yield found
        running.readings = slow
        """,
    ),
    "scoring": (
        ASKING,
        """
        import unpredictabench.score
        unpredictabench.score.score = reached
        """,
    ),
    "printing": (
        ASKING,
        """
        import unpredictabench.score
        unpredictabench.score.document = reached
        """,
    ),
}


@pytest.mark.parametrize("stage", STAGES)
def test_ctrl_c_at_every_stage_of_a_run_is_one_line_and_resumes(tmp_path, undisturbed, stage):
    """Code 130, one line without a trace; the repeat asks only the rest and equals a whole run."""
    words, patch = STAGES[stage]
    code, _, err = interrupted(start(*words, tmp_path / "run", patch=textwrap.dedent(patch)))
    lines = [line for line in err.splitlines() if not line.startswith(("sim:perfect: ", "  "))]
    told = [line for line in lines if not line.startswith(str(tmp_path))]
    assert (code, len(told), told[0].startswith("Interrupted; ")) == (130, 1, True), err
    if stage in {"asking", "reading"}:
        assert open_run(tmp_path / "run").stop_reason == "interrupted"
        assert len(answers(tmp_path / "run")) == {"asking": 99, "reading": 280}[stage]
    again = done(*ASKING, tmp_path / "run")
    assert_like(tmp_path / "run", undisturbed)
    assert scores(again) == scores((undisturbed / "scores.json").read_text())


OTHER_STAGES = {
    "score": ("score RUN", "import unpredictabench.score as m; m.score"),
    "gathering": ("report RUN -o OUT", "from unpredictabench.report import making as m; m.score"),
    "page": ("report RUN -o OUT", "from unpredictabench.report import making as m; m.page"),
    "compare": ("compare RUN RUN", "import unpredictabench.score as m; m.compare"),
    "extract": ("extract RUN", "from unpredictabench.extract import ledger as m; m.readings"),
    "recognising": (
        "import EXPORT -o OUT",
        "from unpredictabench.integrations import importing as m; m.files",
    ),
    "filing": ("import EXPORT -o OUT", "from unpredictabench.store import Writer; Writer.append"),
    "diagnose": (
        "diagnose RUN",
        "from unpredictabench.cli import diagnose as m; m.command.callback",
    ),
}
"""A command, and the function of it that waits to be interrupted."""


@pytest.mark.parametrize("stage", OTHER_STAGES)
def test_ctrl_c_in_any_other_command_is_one_line_and_leaves_no_half(tmp_path, undisturbed, stage):
    """Code 130 and one line; no file is there in part, and the command can be repeated."""
    command, place = OTHER_STAGES[stage]
    names = {"RUN": undisturbed / "run", "OUT": tmp_path / "out", "EXPORT": "export.jsonl"}
    words = [names.get(word, word) for word in command.split()]
    code, out, err = interrupted(start(*words, patch=f"{place} = reached", cwd=undisturbed))
    assert (code, out) == (130, "")
    *told, last = err.splitlines()
    assert last == "Interrupted; nothing is left half-written: repeat the command."
    # On a slow machine the command has said by then what takes its time.
    assert all(line.startswith(("reading ", "scoring ")) for line in told), told
    assert not (tmp_path / "out").is_file()


def test_a_second_ctrl_c_does_not_wait_for_the_clearing_up(tmp_path, undisturbed):
    """While the first is being answered slowly, the second ends the process at once."""
    patch = """
        from unpredictabench.generate import running
        def slow(*args):
            print("clearing up", flush=True)
            time.sleep(120)
        running._log_failure = slow
    """
    patch = textwrap.dedent(STAGES["asking"][1]) + textwrap.dedent(patch)
    process = start(*ASKING, tmp_path / "run", patch=patch)
    for line in ("reached\n", "clearing up\n"):
        assert next(said for said in process.stdout if said == line)
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    done(*ASKING, tmp_path / "run")
    assert_like(tmp_path / "run", undisturbed)
