"""Training of the parser on the sentences that the annotator has accepted, by one click."""

from __future__ import annotations

import threading
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from arbora.data import Block
from arbora.data.formats import layout_named
from arbora.data.treebank import read_treebank
from arbora.errors import ArboraError, ArgumentError
from arbora.pipeline import Pipeline
from arbora.server.refusals import ConflictError
from arbora.server.settings import TrainingPlan
from arbora.server.state import State

__all__ = ["Retraining", "make_router"]


class Scores(BaseModel):
    """Scores on dev, in percent."""

    uas: float
    las: float


class RetrainingAnswer(BaseModel):
    """How far the training is, and what it has brought."""

    state: Literal["idle", "running", "done", "failed"] = "idle"
    sentences: int = Field(default=0, description="Accepted sentences of the open file.")
    passes: int = 0
    before: Scores | None = None
    after: Scores | None = None
    kept: bool | None = Field(default=None, description="Whether the server uses the new model.")
    model: str | None = Field(default=None, description="The file of the new model.")
    message: str = ""


class Retraining:
    """Further training of the default model, one at a time, in a thread of its own.

    The new model is written to a file of its own. The server takes it if it is not worse on dev.
    """

    def __init__(self, state: State, plan: TrainingPlan) -> None:
        self._state, self._plan = state, plan
        self._lock = threading.Lock()
        self.status = RetrainingAnswer()

    def start(self) -> RetrainingAnswer:
        """Begins to train; raises an error while it trains, and without accepted sentences."""
        with self._lock:
            if self.status.state == "running":
                raise ConflictError("the parser is being trained: wait until it is done.")
            block = self._accepted()
            self.status = RetrainingAnswer(state="running", sentences=len(block))
        threading.Thread(target=self._run, args=(block,), daemon=True).start()
        return self.status

    def _accepted(self) -> Block:
        document = self._state.document
        assert document is not None
        text = "".join(document.accepted())
        block = Block(text.encode(), layout_named(document.format))
        if not len(block):
            raise ArgumentError("no sentence is accepted: there is nothing to train on.")
        return block

    def _run(self, block: Block) -> None:
        try:
            self._train(block)
        except ArboraError as error:
            self._change(state="failed", message=str(error))
        except Exception as error:  # the page must not wait for ever
            self._state.log("error", message=f"{type(error).__name__}: {error}")
            self._change(state="failed", message="the training failed; see the log.")

    def _train(self, block: Block) -> None:
        name, parser = self._state.models.named(None)
        dev = read_treebank(self._plan.dev)
        before = self._scores(parser, dev)
        self._change(before=before)
        blocks = [*(read_treebank(path) for path in self._plan.train), block]
        if any(one.layout.name != block.layout.name for one in blocks):
            raise ArgumentError("the files to train on are in two formats: convert them to one.")
        whole = block.reread(b"".join(one.texts(0, len(one)) for one in blocks))
        again = Pipeline(threads=parser.threads).fit(
            whole, dev, start=parser, observer=_Passes(self)
        )
        after = self._scores(again, dev)
        again.save(self._plan.output)
        kept = after.las >= before.las
        if kept:
            self._state.models.replace(name, again)
        self._change(state="done", after=after, kept=kept, model=self._plan.output)

    @staticmethod
    def _scores(parser: Pipeline, dev: Block) -> Scores:
        found = parser.evaluate(dev, retag=parser.tagger is not None)
        return Scores(uas=found.uas, las=found.las)

    def _change(self, **values: Any) -> None:
        with self._lock:
            self.status = self.status.model_copy(update=values)

    def end_pass(self) -> None:
        """Counts a pass."""
        self._change(passes=self.status.passes + 1)


class _Passes:
    """Counts the passes of the training."""

    def __init__(self, owner: Retraining) -> None:
        self._owner = owner

    def begin(self, sentences: int, passes: int) -> None:
        pass

    def tick(self, sentences: int) -> None:
        pass

    def end_pass(self, record: object, is_best: bool) -> None:
        del record, is_best
        self._owner.end_pass()


def make_router(state: State, plan: TrainingPlan) -> APIRouter:
    """The routes of the training."""
    router = APIRouter(prefix="/api")
    training = Retraining(state, plan)

    @router.get("/retrain")
    async def progress() -> RetrainingAnswer:
        """How far the training is, and the dev scores before and after."""
        return training.status

    @router.post("/retrain")
    async def retrain() -> RetrainingAnswer:
        """Trains the parser further on the accepted sentences of the open file."""
        return training.start()

    return router
