"""The child process that holds a local model: ``python -m unpredictabench.clients.serve``.

It takes its settings as JSON in the first argument, prints one JSON line when it is ready or
cannot be, and ends when its standard input does, so that it never outlives its parent.
"""

from __future__ import annotations

import json
import os
import signal
import sys


def main(settings: dict[str, int | str]) -> None:
    """Serve a model on loopback until standard input ends.

    Parameters
    ----------
    settings : dict
        ``file`` and ``alias`` of the model, ``n_slots``, ``n_context`` (tokens a slot),
        ``n_threads``, ``port`` (0 for a free one).
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    import xllamacpp  # noqa: PLC0415 - an extra

    n_slots, n_threads = int(settings["n_slots"]), int(settings["n_threads"])
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(settings["file"])
    wanted.model_alias = {str(settings["alias"])}
    wanted.port = int(settings["port"])
    wanted.n_parallel = n_slots
    wanted.n_ctx = n_slots * int(settings["n_context"])
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = n_threads
    # Waiting threads sleep: spinning would take cores from whoever else has work.
    wanted.cpuparams.poll = wanted.cpuparams_batch.poll = 0
    wanted.n_threads_http = n_slots + 2
    try:
        server = xllamacpp.Server(wanted)
    except RuntimeError as error:
        _say({"error": str(error)})
        os._exit(1)
    _say({"url": server.listening_address})
    sys.stdin.buffer.read()
    os._exit(0)  # no orderly end: it would wait for answers that nobody reads


def _say(message: dict[str, str]) -> None:
    sys.stdout.write(f"{json.dumps(message)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
