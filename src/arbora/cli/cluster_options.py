"""Options of commands that can run on a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from arbora.errors import ArgumentError
from arbora.spread import Spread, one_after_another

__all__ = ["Cluster", "RayAddress", "WorkerMemory", "with_ray_address"]

_OPTION = "--ray"
_LOCAL = "local"

RayAddress = Annotated[
    str | None,
    typer.Option(
        _OPTION,
        metavar="[ADDRESS]",
        help="Run on Ray: on a cluster at HOST:PORT, auto for one that runs on this machine, or, "
        "without an address, on the cores of this machine.",
    ),
]
WorkerMemory = Annotated[
    int | None,
    typer.Option(
        "--worker-memory",
        min=1,
        metavar="MB",
        help="With --ray: the memory that is reserved for each worker (default: by the size of the "
        "model).",
    ),
]


@dataclass(frozen=True)
class Cluster:
    """Where a command runs; `threads` are those of each worker."""

    address: str | None
    memory: int | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.address is None and self.memory is not None:
            raise ArgumentError("--worker-memory requires --ray.")

    @property
    def own_threads(self) -> int | None:
        """The threads of a parser here, or of one that is sent to a worker."""
        return self.threads if self.address is None else self.threads or 1

    def place(self, path: str) -> str:
        """A path as the workers know it, who have another current folder on other machines."""
        is_here = self.address in (None, _LOCAL) or path == "-"
        return path if is_here else os.path.abspath(path)  # noqa: PTH100  # links stay

    @contextmanager
    def spread(self) -> Iterator[Spread]:
        """Runs work on the cluster, or here, one item after the other, if there is none."""
        if self.address is None:
            yield one_after_another
            return
        from arbora.distributed.cluster import ray_cluster
        from arbora.distributed.spreading import RaySpread

        memory = None if self.memory is None else self.memory * 1_000_000
        with ray_cluster(self.address):
            yield RaySpread(threads=self.threads or 1, memory=memory)


def with_ray_address(arguments: list[str]) -> list[str]:
    """The arguments of a command, where `--ray` has its address or `local`.

    So the address may be left out: what follows is one if it has a colon or is `auto` or `local`.
    """
    answer: list[str] = []
    rest = iter(range(len(arguments)))
    for place in rest:
        argument = arguments[place]
        if argument == "--":
            return answer + arguments[place:]
        if argument != _OPTION:
            answer.append(argument)
            continue
        following = arguments[place + 1] if place + 1 < len(arguments) else "-"
        if _is_address(following):
            answer.append(f"{_OPTION}={following}")
            next(rest)
        else:
            answer.append(f"{_OPTION}={_LOCAL}")
    return answer


def _is_address(text: str) -> bool:
    if text in ("auto", _LOCAL):
        return True
    return ":" in text and not text.startswith(("-", "[")) and not Path(text).exists()
