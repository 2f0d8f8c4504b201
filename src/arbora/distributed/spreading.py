"""Work over many items on the workers of a Ray cluster."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from arbora.distributed.cluster import ray_package
from arbora.distributed.shared import Shared, worker_memory
from arbora.errors import ArboraError, ArgumentError, DataWarning
from arbora.spread import attempted

__all__ = ["RaySpread", "check_that_it_fits"]

_AHEAD = 2  # tasks per worker that are handed to Ray: one runs, one waits
_FEWEST = 8  # so that nodes that join later get work
_SECONDS_TO_END = 10.0  # for workers that are interrupted to remove their temporary files


@dataclass(frozen=True)
class RaySpread:
    """Runs every item as a task of a Ray cluster; see `arbora.spread.Spread`.

    What the items share is put into the object store once, and every worker process reads it once.
    A task whose worker ends by itself is given to another one, up to `retries` times. `threads` and
    `memory` (bytes) are what Ray reserves for a worker; by default, the memory is that of the
    shared model and of a block of sentences.
    """

    threads: int = 1
    memory: int | None = None
    retries: int = 3

    def __call__(
        self, work: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any]
    ) -> Generator[tuple[int, Any]]:
        """The answers as they come; few more tasks are submitted than can run."""
        ray = ray_package()
        packed = Shared.of(shared)
        memory = self.memory or worker_memory(packed.size)
        check_that_it_fits(ray, self.threads, memory)
        stored = packed.stored(ray)
        task = ray.remote(_run).options(
            num_cpus=self.threads, memory=memory, max_retries=self.retries,
            scheduling_strategy="SPREAD", name=f"arbora {work.__name__.strip('_')}",
        )  # fmt: skip
        running: dict[Any, int] = {}
        waiting = iter(enumerate(items))
        try:
            while True:
                window = _window(ray, self.threads)
                while len(running) < window:
                    place, item = next(waiting, (None, None))
                    if place is None:
                        break
                    running[task.remote(work, stored, item)] = place
                if not running:
                    return
                ready, _ = ray.wait(list(running), num_returns=1)
                for reference in ready:
                    place = running.pop(reference)
                    yield place, self._answer(ray, reference)
        finally:
            _end(ray, list(running))

    def _answer(self, ray: Any, reference: Any) -> Any:
        """The answer of a task, or the reason why it has none."""
        try:
            answer, remarks = ray.get(reference)
        except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError,
                ray.exceptions.OutOfMemoryError):  # fmt: skip
            return ArboraError(
                f"its worker ended by itself {self.retries + 1} times, for lack of memory perhaps: "
                "reserve more with --worker-memory."
            )
        except ray.exceptions.RayTaskError as error:  # it could not be sent
            return ArboraError(f"a worker failed: {str(error.cause).strip().partition(chr(10))[0]}")
        for remark in remarks:
            warnings.warn(remark, DataWarning, stacklevel=3)
        return answer


def _run(
    work: Callable[[Any, Any], Any], stored: Shared, item: Any
) -> tuple[Any, list[str]]:  # pragma: no cover  # in another process
    """On a worker: the answer, or the exception, and warnings about the input."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", DataWarning)
        answer = attempted(work, stored.value(), item)
    remarks = [str(one.message) for one in found if issubclass(one.category, DataWarning)]
    return answer, remarks


def _window(ray: Any, threads: int) -> int:
    """How many tasks may be submitted at once; the cluster may have grown."""
    cores = float(ray.cluster_resources().get("CPU", 1.0))
    return max(_FEWEST, _AHEAD * int(cores / threads))


def check_that_it_fits(ray: Any, threads: int, memory: int) -> None:
    """Ray would wait for ever for a node that is large enough."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if any(node.get("CPU", 0) >= threads and node.get("memory", 0) >= memory for node in nodes):
        return
    most = max((node.get("memory", 0) for node in nodes), default=0)
    cores = max((int(node.get("CPU", 0)) for node in nodes), default=0)
    raise ArgumentError(
        f"no node of the Ray cluster has {threads} free cores and {memory / 1e6:,.0f} MB for a "
        f"worker; the largest have {cores} and {most / 1e6:,.0f} MB: reserve less."
    )


def _end(ray: Any, running: list[Any]) -> None:
    """Interrupts tasks, so that they remove what they were writing."""
    if not running:
        return
    for reference in running:
        with suppress(Exception):
            ray.cancel(reference, force=False)
    with suppress(Exception):
        ray.wait(running, num_returns=len(running), timeout=_SECONDS_TO_END)
