"""The process that makes calls for `side_by_side`: ``python -m unpredictabench.score.working``.

It reads pickled calls from standard input, writes pickled answers to standard output, and ends
when its input does, so that it never outlives its parent.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import BinaryIO


def serve(calls: BinaryIO, answers: BinaryIO) -> None:
    """Make calls until there are no more.

    Parameters
    ----------
    calls : binary file
        Pickles of (function, first argument, keywords).
    answers : binary file
        Gets a pickle of (whether it worked, the result or the exception) for each.
    """
    while True:
        try:
            function, one, how = pickle.load(calls)  # noqa: S301 - our parent wrote it
        except EOFError:
            return
        try:
            answer = True, function(one, **how)
        except Exception as error:  # noqa: BLE001 - the parent raises it
            answer = False, error
        answers.write(pickle.dumps(answer))
        answers.flush()


def main() -> None:
    """Serve standard input; what a call prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
