"""The same numbers whatever the threads, the order of rows, and the vector units of the machine."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from calibration import LAWS, drawn
from every_result import largest_difference
from unpredictabench import stats
from unpredictabench.streams import stream

ROOT = Path(__file__).parent.parent
SCRIPT = Path(__file__).with_name("every_result.py")
USES_LIBRARY_FUNCTIONS = {"anderson_1samp", "jensenshannon kde", "jensenshannon counts"}
"""Statistics that take logarithms or exponentials of the C library, good to about 1 ulp each."""
OF_LIBRARIES = 1e-14
"""What those may differ by between two C libraries, or two ways of one, relative."""
OF_PVALUES = 1e-12
"""Relative accuracy of exact p-values, and so what they may differ by between machines."""


def results(**environment):
    """Return every result of `stats` as another process with this environment finds it."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def here():
    """Return the results of one thread."""
    return results(RAYON_NUM_THREADS="1")


@pytest.mark.parametrize("n_threads", ["2", "3"])
def test_threads_change_no_bit(here, n_threads):
    """Every number of every function is the same on one, two and three threads."""
    assert results(RAYON_NUM_THREADS=n_threads) == here


def test_vector_units_change_no_statistic(here):
    """Without AVX2 and FMA no number changes but those that take logarithms of the C library.

    NumPy and glibc choose among versions of their functions when a program starts; both can be told
    to leave these units alone, as on a machine without them (which others than x86-64 are anyway).
    """
    from numpy._core._multiarray_umath import __cpu_dispatch__

    without = results(
        RAYON_NUM_THREADS="1",
        NPY_DISABLE_CPU_FEATURES=" ".join(__cpu_dispatch__),
        GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4",
    )
    changed = {name for name in here if here[name] != without[name]}
    assert {name.split(":")[0] for name in changed} <= USES_LIBRARY_FUNCTIONS
    assert largest_difference(here, without) <= OF_LIBRARIES < OF_PVALUES


@pytest.mark.parametrize("law", LAWS)
def test_the_order_of_rows_changes_no_bit(law):
    """Exact tests give each row the same numbers wherever in the batch it stands."""
    rng = stream("test", "row order", law)
    x, y = drawn(law, (500, 25), rng), drawn(law, 300, rng)
    order = rng.permutation(len(x))
    target = LAWS[law]
    for test, other in (
        (stats.ks_2samp, y),
        (stats.ks_1samp, target),
        (stats.kuiper_1samp, target),
        (stats.anderson_1samp, target),
        (stats.cramervonmises_1samp, target),
        (stats.wasserstein_test, y),
        (stats.energy_test, y),
        (stats.half_life, target),
    ):
        found, moved = test(x, other), test(x[order], other)
        for field in found.__slots__:
            value = getattr(found, field)
            if isinstance(value, np.ndarray):
                np.testing.assert_array_equal(getattr(moved, field), value[order], err_msg=field)


def test_the_build_is_for_every_machine_of_its_kind():
    """Nothing in the tree asks the compiler for the processor at hand, or dispatches by hand."""
    settings = [ROOT / "Cargo.toml", ROOT / "pyproject.toml", ROOT / "Makefile"]
    settings += list((ROOT / ".cargo").glob("*")) + list((ROOT / ".ci").glob("*"))
    for path in settings:
        assert not re.search(r"target-cpu|target-feature", path.read_text("utf-8")), path
    for path in (ROOT / "rust").rglob("*.rs"):
        text = path.read_text("utf-8")
        assert not re.search(r"\b(core|std)::arch\b|is_x86_feature|target_feature", text), path


def test_unsafe_code_is_denied_but_in_one_file():
    """Kernels forbid unsafe code, bindings deny it but in one file, which says why it is safe."""
    assert 'unsafe_code = "deny"' in (ROOT / "Cargo.toml").read_text("utf-8")
    assert "#![forbid(unsafe_code)]" in (ROOT / "rust/lib.rs").read_text("utf-8")
    allowing = [
        text for path in (ROOT / "rust").rglob("*.rs")
        if "allow(unsafe_code)" in (text := path.read_text("utf-8"))
    ]  # fmt: skip
    assert len(allowing) <= 1
    assert all("SAFETY" in text for text in allowing)


def test_the_module_says_that_it_needs_the_interpreter_lock():
    """Wheels are for the stable ABI, which free-threaded Python lacks; module and docs say so."""
    assert "abi3-py311" in (ROOT / "rust/python/Cargo.toml").read_text("utf-8")
    assert "gil_used = true" in (ROOT / "rust/python/lib.rs").read_text("utf-8")
    assert "free-threaded" in (ROOT / "docs/limits.md").read_text("utf-8")
    assert "Free Threading" not in (ROOT / "pyproject.toml").read_text("utf-8")
