"""`python -m unpredictabench` is the command line."""

from __future__ import annotations

from unpredictabench.cli import main

if __name__ == "__main__":
    main()
