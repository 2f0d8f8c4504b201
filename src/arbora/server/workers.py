"""Worker threads: requests wait in one queue, and those that can be parsed together are.

Nobody waits for a batch to fill: a free worker takes what is waiting, so batches grow with the load
and a single request is answered at once. The event loop does nothing but pass jobs in and answers
out.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from arbora.errors import ArboraError
from arbora.server.metrics import Metrics
from arbora.server.refusals import QueueFullError, TimeUpError
from arbora.server.settings import Limits

__all__ = ["Job", "Task", "Workers"]

_LAST_SECONDS = 2.0

Run = Callable[[Sequence[Any], Callable[[], None]], Sequence[Any]]


@dataclass(frozen=True)
class Task:
    """What a request asks for: `run` is called with the items of several tasks of the same key.

    It returns one answer, or one error, for each. Its second argument is a function that raises
    `TimeUpError` if nobody waits for the answers any more. Tasks with the key None are run alone.
    """

    item: Any
    run: Run
    key: Hashable = None
    size: int = 1


@dataclass
class Job:
    """A task in the queue."""

    task: Task
    answer: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop
    began: float = field(default_factory=time.monotonic)
    abandoned: bool = False

    def finish(self, answer: Any) -> None:
        """Hands an answer, or an error, to the event loop."""

        def deliver() -> None:
            if self.answer.done():
                return
            if isinstance(answer, BaseException):
                self.answer.set_exception(answer)
            else:
                self.answer.set_result(answer)

        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(deliver)


class Workers:
    """Threads that run tasks from a queue of bounded length."""

    def __init__(self, count: int, limits: Limits, metrics: Metrics) -> None:
        self._limits, self._metrics = limits, metrics
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._ended = False
        self._threads = [
            threading.Thread(target=self._work, name=f"parser {i + 1}", daemon=True)
            for i in range(count)
        ]
        metrics.gauge("arbora_queue_jobs", "Requests that wait for a worker.", self.waiting)
        for thread in self._threads:
            thread.start()

    def waiting(self) -> int:
        """The number of requests in the queue."""
        return len(self._waiting)

    async def run(self, task: Task) -> Any:
        """The answer to a task; raises what it raises, or that the queue is full or time is up."""
        loop = asyncio.get_running_loop()
        job = Job(task, loop.create_future(), loop)
        with self._changed:
            if len(self._waiting) >= self._limits.queue:
                self._metrics.count("arbora_refused_total", reason="queue")
                raise QueueFullError(self._limits.queue)
            self._waiting.append(job)
            self._changed.notify()
        try:
            return await asyncio.wait_for(job.answer, self._limits.seconds)
        except TimeoutError:
            self._metrics.count("arbora_refused_total", reason="time")
            raise TimeUpError(self._limits.seconds) from None
        finally:
            job.abandoned = True

    def end(self) -> None:
        """Ends the threads after their current tasks, for whose answers nobody waits any more."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout=_LAST_SECONDS)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._ended:
                    self._changed.wait()
                if self._ended:
                    return
                batch = self._take()
            if batch:
                self._run(batch)

    def _take(self) -> list[Job]:
        """The first job, and those that can be run together with it."""
        first = self._waiting.popleft()
        batch = [] if first.abandoned else [first]
        key, size = first.task.key, first.task.size
        if key is None:
            return batch
        passed: list[Job] = []
        while self._waiting and size < self._limits.batch:
            job = self._waiting.popleft()
            if job.task.key != key or size + job.task.size > self._limits.batch:
                passed.append(job)
            elif not job.abandoned:
                batch.append(job)
                size += job.task.size
        self._waiting.extendleft(reversed(passed))
        return batch

    def _run(self, batch: list[Job]) -> None:
        self._metrics.observe("arbora_batch_requests", len(batch))
        started = time.perf_counter()

        def check() -> None:
            if all(job.abandoned for job in batch):
                raise TimeUpError(self._limits.seconds)

        try:
            answers: Sequence[Any] = batch[0].task.run([job.task.item for job in batch], check)
        except (ArboraError, MemoryError) as error:
            if len(batch) > 1:  # the fault of one of them
                for job in batch:
                    self._run([job])
                return
            answers = [error]
        except Exception as error:
            answers = [error] * len(batch)
        self._metrics.observe("arbora_work_seconds", time.perf_counter() - started)
        for job, answer in zip(batch, answers, strict=True):
            job.finish(answer)
