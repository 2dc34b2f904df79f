"""A Ray cluster to work on: of an address that must answer, of this process, or one of its own."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

from unpredictabench.errors import MissingExtraError, StoreError, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWER_S: Final = 20
"""Seconds in which a cluster must answer; Ray itself would wait for minutes."""
PROBE: Final = "import ray, sys; ray.init(sys.argv[1], log_to_driver=False)"


@contextlib.contextmanager
def connected(address: str | None, workers: int | None) -> Iterator[None]:
    """Be connected to a Ray cluster.

    Parameters
    ----------
    address : str or None
        Of the head, or "auto"; None for the cluster this process is connected to, else one that
        is started here, on the loopback interface, and stopped afterwards.
    workers : int or None
        CPUs of a cluster that is started here.

    Raises
    ------
    StoreError
        When nothing answers at the address within 20 seconds, or Ray fails later.
    MissingExtraError
        When Ray is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is None:
        # What Ray does by itself on two systems: it then listens on the loopback interface.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        import ray.data  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise MissingExtraError("scoring with Ray", "ray") from error
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    is_given = address is None and ray.is_initialized()
    if address is not None:
        _check(address)
    if not is_given:
        own = {"num_cpus": workers, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        _start(ray, address or "local", own if address is None else {})
    try:
        yield
    except ray.exceptions.RayError as error:
        raise StoreError(f"Ray did not finish: {shortened(str(error), 500)}") from error
    finally:
        if not is_given:
            ray.shutdown()


def _start(ray: Any, address: str, how: dict[str, Any]) -> None:
    try:
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **how)
    except (OSError, RuntimeError) as error:
        raise StoreError(f"Ray cannot be started: {shortened(str(error), 500)}") from error


def _check(address: str) -> None:
    """Ask in a process of its own, which can be ended when it hangs."""
    probe = [sys.executable, "-c", PROBE, address]
    try:
        subprocess.run(probe, check=True, timeout=ANSWER_S, capture_output=True)  # noqa: S603 - ours
    except subprocess.SubprocessError as error:
        begin = "start one with `ray start --head`"
        raise StoreError(f"no Ray cluster answers at {address}: {begin}") from error
