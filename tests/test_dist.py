"""What is published installs: a wheel for any Linux, from a source archive that builds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from serving import endpoint

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.slow


def checked(*words, **how):
    """Run a command; return what it printed, or fail with all it said."""
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **how)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """Build the source archive, and the wheel from it, as `make dist` does."""
    out = tmp_path_factory.mktemp("dist")
    recipe = checked("make", "--dry-run", "--always-make", "dist", cwd=ROOT).splitlines()[-1]
    _, words = recipe.split("-m maturin build ")
    words = words.replace("--out dist", f"--out {out}").split()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    checked(
        sys.executable, "-m", "maturin", "build", *words, cwd=ROOT, env=os.environ | {"PATH": path}
    )
    [wheel] = out.glob("*.whl")
    [archive] = out.glob("*.tar.gz")
    return wheel, archive


@pytest.fixture(scope="module")
def plain(dist, tmp_path_factory):
    """Install the wheel alone, without any extra, into an environment of its own."""
    folder = tmp_path_factory.mktemp("plain")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    checked(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", dist[0])
    return python


def test_wheel_is_for_any_linux_and_any_python_from_3_11(dist):
    """The wheel's tag promises the stable ABI and glibc 2.17, and maturin has checked it."""
    assert re.search(r"-cp311-abi3-manylinux2014_x86_64\.manylinux_2_17_x86_64\.whl$", dist[0].name)


def test_wheel_holds_types_and_data_and_no_tests(dist):
    """Stub, marker, tasks and page are inside; tests and benches are not."""
    names = zipfile.ZipFile(dist[0]).namelist()
    for name in ("py.typed", "_native.pyi", "_native.abi3.so", "tasks/data/v1.json"):
        assert f"unpredictabench/{name}" in names
    tracked = checked("git", "ls-files", "python/unpredictabench", cwd=ROOT).split()
    assert {name.removeprefix("python/") for name in tracked} <= set(names)
    assert not [name for name in names if name.startswith(("tests/", "benches/", "rust/"))]


def test_source_archive_holds_what_it_takes_to_build(dist):
    """The archive has both halves of the package, the lock file and the licence; no binary."""
    with tarfile.open(dist[1]) as archive:
        names = archive.getnames()
    inside = {name.split("/", 1)[1] for name in names}
    for name in ("Cargo.toml", "Cargo.lock", "pyproject.toml", "LICENSE", "README.md"):
        assert name in inside
    assert not [name for name in inside if name.endswith(".so")]


def test_plain_install_runs_the_main_job(plain, tmp_path):
    """Without any extra, a model at an endpoint is asked, stored and scored."""
    environment = os.environ | {"OPENAI_API_KEY": "sk-not-a-key"}
    words = ("run", "m", "--limit-tasks", "1", "--samples", "5", "--yes", "--json")
    with endpoint() as url:
        out = checked(
            plain, "-P", "-m", "unpredictabench", *words, "--base-url", url,
            cwd=tmp_path, env=environment,
        )  # fmt: skip
    assert '"ks_at_n"' in out
    assert (tmp_path / "runs" / "m" / "run.sqlite").exists()
    version = checked(plain.parent / "unpredictabench", "--version")
    assert version.split()[-1] in (ROOT / "Cargo.toml").read_text()


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("run", "local:smollm2", "--samples", "1", "--limit-tasks", "1"), "local"),
        (("report", "runs/p", "-o", "page.html"), "report"),
        (("tasks", "export", "tasks.parquet"), "arrow"),
    ],
)
def test_missing_extra_is_one_sentence(plain, tmp_path, words, extra):
    """A command that needs an extra says so in one line with the pip command."""
    checked(
        plain, "-m", "unpredictabench", "run", "sim:perfect", "--limit-tasks", "1",
        "--samples", "5", "-o", "runs/p", cwd=tmp_path,
    )  # fmt: skip
    done = subprocess.run(
        [plain, "-m", "unpredictabench", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    [line] = done.stderr.strip().splitlines()
    assert f"pip install 'unpredictabench[{extra}]'" in line
