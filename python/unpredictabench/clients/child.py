"""Start the child process that serves a local model, know whether it lives, and end it."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import queue
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from unpredictabench.errors import FatalClientError, InputError, MissingExtraError

_QUOTA_FILE = Path("/sys/fs/cgroup/cpu.max")
# Turns a thread of the model waits in a loop before it sleeps: some 30 microseconds, which is the
# usual wait on free cores. The default of GNU OpenMP, milliseconds, stalls a model whose cores have
# other work too.
_SPINS = "2000"


class ModelServer:
    """A running server for one model file.

    Parameters
    ----------
    file : Path
        The GGUF file.
    alias : str
        Name the server gives the model.
    n_slots : int
        Answers generated at the same time.
    n_context : int
        Tokens of prompt and answer together, a slot.
    port : int
        Port on loopback; 0 takes a free one.
    start_s : float
        Longest time to load the model, in seconds.

    Raises
    ------
    MissingExtraError
        If xllamacpp is not installed.
    InputError
        If the port is in use.
    FatalClientError
        If the model cannot be served.
    """

    def __init__(
        self,
        file: Path,
        *,
        alias: str,
        n_slots: int,
        n_context: int,
        port: int = 0,
        start_s: float = 120.0,
    ) -> None:
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtraError("a local model", "local")
        _check_free(port)
        self._file = file
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
        settings = {"file": str(file), "alias": alias, "n_slots": n_slots}
        settings |= {"n_context": n_context, "n_threads": allowed_cores(), "port": port}
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", "unpredictabench.clients.serve", json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={"GOMP_SPINCOUNT": _SPINS, **os.environ},
        )
        try:
            self.url = f"{self._ready(start_s)}/v1"
        except BaseException:
            self.close()
            raise

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def epitaph(self) -> str:
        """Say in a few words how the process ended, with the last line it wrote."""
        code = self._process.poll()
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - 4096))
        lines = [line.strip() for line in self._log.read().decode(errors="replace").splitlines()]
        said = next((line for line in reversed(lines) if line), "")
        how = "still runs" if code is None else f"ended with code {code}"
        return f"{how}: {said[:200]}" if said else how

    def close(self) -> None:
        """End the process and wait for it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._log.close()

    def _ready(self, start_s: float) -> str:
        """Wait for the child's one line; a thread reads it, as pipes know no timeout."""
        lines: queue.Queue[bytes] = queue.Queue()
        pipe = self._process.stdout
        assert pipe is not None
        threading.Thread(target=lambda: lines.put(pipe.readline()), daemon=True).start()
        try:
            line = lines.get(timeout=start_s)
        except queue.Empty:
            raise FatalClientError(
                f"the model in {self._file} was not ready within {start_s:g} s: "
                "free memory or choose a smaller one"
            ) from None
        message: dict[str, Any] = json.loads(line) if line.strip() else {}
        if "url" not in message:
            self._process.wait()
            raise FatalClientError(
                f"{self._file} cannot be served: is it a whole GGUF file? "
                f"(the server {self.epitaph()})"
            )
        return str(message["url"])


def allowed_cores() -> int:
    """Return how many cores this process may use: its affinity, within its control group's quota.

    Returns
    -------
    int
        At least 1.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    n_cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError):
        quota, period = _QUOTA_FILE.read_text(encoding="ascii").split()
        n_cores = min(n_cores, int(quota) // int(period))  # "max" is no number: no quota
    return max(1, n_cores)


def _check_free(port: int) -> None:
    if port == 0:
        return
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise InputError("port", f"be free on 127.0.0.1 ({error.strerror})", port) from None
