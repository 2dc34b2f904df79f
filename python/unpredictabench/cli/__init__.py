"""The command line: one file a command, imported only when that command is called."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, NoReturn

import click

from unpredictabench.cli.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: dict[str, str] = {
    "run": "Ask a model, then score its answers.",
    "score": "Score stored runs.",
    "compare": "Compare stored runs on the tasks they share.",
    "report": "Write a page, tables and figures of stored runs.",
    "diagnose": "Tell in one word a task what goes wrong.",
    "power": "Print what the test of each task can see; check its calibration.",
    "tasks": "List, show, export, rebuild and audit the tasks of a suite.",
    "extract": "Read the answers of a stored run again and print what changed.",
    "import": "Bring published data, tables of answers or exported runs into runs.",
    "score-pairs": "Score a file of samples against a table of truths.",
}
"""Commands in the order --help shows them, each in a module of its name that defines `command`.

A name that Python keeps for itself has an underscore behind it.
"""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells report it."""


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is used, and not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of the commands, in the order they are meant to be met."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return a command; None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        module = import_module(f"{__name__}.{name}_" if iskeyword(name) else f"{__name__}.{name}")
        command: click.Command = module.command
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; Ctrl-C ends it, wherever it is, with one line and code 130."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort) as end:
            # A prompt makes an Abort of Ctrl-C, of the end of its input and of "no".
            if not isinstance(end.__context__ or end, KeyboardInterrupt):
                raise
            say("Interrupted; nothing is left half-written: repeat the command.", err=True)
            raise SystemExit(INTERRUPTED) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="unpredictabench", message="%(package)s %(version)s")
def group() -> None:
    """Measure how faithfully a language model samples from a target distribution."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; an error raised on purpose becomes one sentence and exit code 1."""
    from unpredictabench.errors import UnpredictabenchError  # noqa: PLC0415 - --help needs none

    _end_on_sigterm()
    try:
        group.main(arguments, prog_name="unpredictabench", standalone_mode=True)
    except UnpredictabenchError as error:
        _fail(error)
    except OSError as error:  # what no command expects: mostly a full disk behind the output
        _fail(f"{error}: mend that, then run the same command again")
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _end_at_once()
        raise
    except KeyboardInterrupt:  # a second Ctrl-C while the first was being answered
        _end_at_once()


def _end_on_sigterm() -> None:
    """Let SIGTERM, unless it is ignored, clear up as Ctrl-C does: drafts, child processes."""
    is_main = threading.current_thread() is threading.main_thread()  # only there are signals met
    if is_main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def _fail(error: Exception | str) -> NoReturn:
    say(f"unpredictabench: {error}", err=True)
    raise SystemExit(1) from None


def _end_at_once() -> NoReturn:
    """End without waiting for threads: all that is kept is on disk by now."""
    with contextlib.suppress(OSError, ValueError):  # nobody reads any more
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(INTERRUPTED)
