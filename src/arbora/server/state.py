"""What all routes share: models, workers, the open file, figures and logs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Response

from arbora.pipeline import Pipeline
from arbora.server.document import Document
from arbora.server.logs import Log
from arbora.server.metrics import Metrics
from arbora.server.models import Models
from arbora.server.settings import Settings
from arbora.server.workers import Task, Workers

__all__ = ["State"]


@dataclass
class State:
    """The server while it runs; `ending` is set when it takes no new work."""

    settings: Settings
    models: Models
    workers: Workers
    metrics: Metrics
    log: Log
    document: Document | None = None
    ending: bool = False

    async def answer(self, task: Task) -> Response:
        """The answer that a worker makes."""
        made: Response = await self.workers.run(task)
        return made

    async def alone(
        self, model: str | None, work: Callable[[Pipeline], dict[str, Any]]
    ) -> Response:
        """The answer of a function of a model, with the model's name and the time it took."""
        name, pipeline = self.models.named(model)

        def timed() -> Response:
            started = time.perf_counter()
            answer = work(pipeline)
            milliseconds = round((time.perf_counter() - started) * 1000, 2)
            answer |= {"model": name, "milliseconds": milliseconds}
            return Response(json.dumps(answer), media_type="application/json")

        return await self.plain(timed)

    async def plain(self, work: Callable[[], Response]) -> Response:
        """The answer of a function, which is run by a worker."""

        def run(items: Sequence[Any], check: Callable[[], None]) -> list[Response]:
            del items, check
            return [work()]

        return await self.answer(Task(None, run))
