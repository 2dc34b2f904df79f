"""Random numbers come from named streams or from the seed of a caller, and from nowhere else."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

import unpredictabench
from unpredictabench.streams import seed_of, stream

PACKAGE = Path(unpredictabench.__file__).parent
SOURCES = {"random", "secrets"}
MAKERS = {"default_rng", "Generator", "PCG64DXSM", "SeedSequence"}
NAMELESS = {"uuid4", "uuid1", "urandom"}


def test_a_stream_is_its_name():
    """Equal names give equal numbers, others do not; a word and a number are different names."""
    names = [("a", 1), ("a", "1"), ("a", 2), ("b", 1), ("a1",), ("a", 1, "")]
    first = [stream(*name).integers(2**63) for name in names]
    assert first == [stream(*name).integers(2**63) for name in names]
    assert len(set(first)) == len(names)
    # SHA-256 of "str:a\x1fint:1", its first four bytes, the last of them the highest.
    assert seed_of("a", 1, bits=32) == int.from_bytes(
        hashlib.sha256(b"str:a\x1fint:1").digest()[:4], "little"
    )


def test_no_draw_is_without_a_name_or_a_seed():
    """No module makes a generator without a seed, or uses a generator that all share."""
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            found += [f"{file.name}:{node.lineno}" for _ in nameless(node)]
    assert found == []


def nameless(node):
    """Yield what in a node draws without a name."""
    if isinstance(node, ast.Import):
        yield from (name for name in node.names if name.name in SOURCES)
    if isinstance(node, ast.ImportFrom) and node.module in SOURCES:
        yield node
    if isinstance(node, ast.Attribute) and node.attr in NAMELESS:
        yield node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        is_numpys = ast.unparse(node.func.value) in {"np.random", "numpy.random"}
        is_seeded = node.func.attr in MAKERS and bool(node.args or node.keywords)
        if is_numpys and not is_seeded:
            yield node
