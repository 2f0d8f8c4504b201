"""Connecting to a Ray cluster, or starting one on this machine."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from arbora.distributed.requirements import required
from arbora.errors import ArboraError, ArgumentError
from arbora.inference.packed import available_threads

__all__ = ["LOCAL", "ray_cluster", "ray_package"]

LOCAL = "local"
_AUTO = "auto"
_PORT_SECONDS = 5.0
_STORE_BYTES = 1 << 30  # of a local cluster; the pages are used only when something is put there


def ray_package() -> Any:
    """The package ray, without statistics for its makers."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or it warns of the future
    return required("ray")


@contextmanager
def ray_cluster(address: str | None = None) -> Iterator[Any]:
    """The package ray, connected: to `address` (HOST:PORT, `auto`), or to a local cluster.

    A connection that exists already is used, and stays. A local cluster has the cores of this
    process and ends with the context. It listens on the loopback interface only, unless Ray was
    imported before.
    """
    wanted = address or LOCAL
    if wanted == LOCAL and "ray" not in sys.modules:
        # Ray reads this when it is imported; without it, it listens on all interfaces.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    ray = ray_package()
    if ray.is_initialized():
        if address not in (None, LOCAL, _AUTO):
            raise ArgumentError(
                f"this process is connected to a Ray cluster already, so it cannot use {address}: "
                "call ray.shutdown() first."
            )
        yield ray
        return
    _connect(ray, wanted)
    try:
        yield ray
    finally:
        ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    settings: dict[str, Any] = {"address": address}
    if address == LOCAL:
        # Workers have the priority of this process; Ray's default of 15 starves on a busy machine.
        os.environ.setdefault("RAY_worker_niceness", "0")
        settings |= {
            "num_cpus": available_threads(), "include_dashboard": False,
            "object_store_memory": _STORE_BYTES,
        }  # fmt: skip
    elif address != _AUTO:
        _check_that_something_listens(address)
    try:
        with _own_signals(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **settings)
    except ConnectionError as error:
        if address == _AUTO:
            raise ArboraError(
                "no Ray cluster runs on this machine: start one with ray start --head, or leave "
                "out the address."
            ) from error
        raise _unreachable(address, error) from error
    except (RuntimeError, ValueError, OSError) as error:
        ray.shutdown()
        if "ersion mismatch" in str(error):
            raise ArboraError(
                f"the Ray cluster at {address} has another version of Ray or Python than this "
                f"machine, which has Ray {ray.__version__} and Python "
                f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}: "
                "install the same versions."
            ) from error
        raise _unreachable(address, error) from error


def _unreachable(address: str, error: BaseException) -> ArboraError:
    told = str(error).strip().partition("\n")[0].rstrip(".:") or type(error).__name__
    where = "a local Ray cluster cannot be started" if address == LOCAL else (
        f"there is no Ray cluster at {address}"
    )  # fmt: skip
    return ArboraError(f"{where} ({told}): check the address and that Ray runs there.")


def _check_that_something_listens(address: str) -> None:
    """Ray itself tries for minutes."""
    scheme, _, place = address.rpartition("://")
    if scheme not in ("", "ray"):
        raise ArgumentError(f"a Ray cluster has an address HOST:PORT or auto, not {address!r}.")
    host, _, port = place.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise ArgumentError(f"a Ray cluster has an address HOST:PORT or auto, not {address!r}.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PORT_SECONDS).close()
    except OSError as error:
        raise _unreachable(address, error) from error


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keeps what this process does at SIGTERM, which Ray would replace."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
