"""The benchmark as a task of Inspect AI, and its logs as runs.

`task` and `figures` import Inspect AI and are loaded by it, through the entry point; `slots` and
`logs` work without it.
"""
