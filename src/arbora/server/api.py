"""The JSON API: parse, constrain, kbest, explain, draw, and the open file."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from arbora.data.conllu import sentences_of
from arbora.drawing import TreeDrawing
from arbora.errors import ArboraError, ArgumentError, ShapeError
from arbora.models.output import ParsedBlock
from arbora.options import ParseOptions
from arbora.pipeline import Pipeline
from arbora.server.analysis import Question, analyse, parsed_columns, several_trees
from arbora.server.document import Document
from arbora.server.parsing import (
    Parse,
    check_words,
    one_sentence,
    parse_together,
    sentence_blocks,
    text_block,
)
from arbora.server.refusals import NotFoundError
from arbora.server.schemas import (
    Analysis,
    Change,
    Changed,
    DocumentAnswer,
    DrawRequest,
    ErrorAnswer,
    ExplainRequest,
    KbestAnswer,
    KbestRequest,
    ModelsAnswer,
    PageAnswer,
    ParseAnswer,
    ParseRequest,
    Saved,
    SentenceRequest,
)
from arbora.server.state import State
from arbora.server.workers import Task

__all__ = ["make_router"]

_REFUSED: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": text}
    for status, text in {
        400: "The request is malformed.",
        401: "The token is missing.",
        403: "Pages of this site may not use the server.",
        404: "There is no such model, or no open file.",
        408: "The request arrived too slowly.",
        409: "The open file has changed in another window.",
        413: "The request is too large.",
        415: "The body is not JSON.",
        421: "The host is not this server.",
        422: "The input cannot be parsed, or a sentence is too long.",
        503: "Too many requests are waiting; try again after Retry-After seconds.",
        504: "The answer took too long.",
    }.items()
}

_PAGE = 200  # sentences of the open file in an answer


def make_router(state: State) -> APIRouter:
    """The routes of the API."""
    router = APIRouter(prefix="/api", responses=_REFUSED)
    limits = state.settings.limits

    @router.get("/models", response_model=ModelsAnswer)
    async def models() -> Response:
        """The loaded models, what they can do, and the limits of the server."""
        return _json(
            {
                "models": state.models.describe(),
                "version": version("arbora"),
                "document": state.document is not None,
                "retraining": state.settings.retraining is not None,
                "limits": asdict(limits),
            }
        )

    @router.post("/parse", response_model=ParseAnswer)
    async def parse(request: ParseRequest) -> Response:
        """Parses a text, or sentences; requests that arrive together are parsed together."""
        if (request.text is None) == (request.conllu is None):
            raise ArgumentError("send either text or conllu.")
        name, pipeline = state.models.named(request.model)
        options = ParseOptions(
            decode=request.decode, trees=request.trees, probabilities=request.probabilities,
            max_words=limits.words,
        )  # fmt: skip
        how = Parse(pipeline, options, request.root)
        given = request.text if request.text is not None else request.conllu or ""
        kind = "text" if request.text is not None else "conllu"

        def run(items: Sequence[tuple[str, str]], check: Callable[[], None]) -> list[Any]:
            return _parse_requests(state, how, name, items, check)

        key = ("parse", name, options, request.root)
        return await state.answer(Task((kind, given), run, key, len(given) + 1))

    @router.post("/constrain", response_model=Analysis)
    async def constrain(request: SentenceRequest) -> Response:
        """Parses a sentence around known arcs, with the alternatives of every word."""

        def work(pipeline: Pipeline) -> dict[str, Any]:
            return analyse(pipeline, _question(request, limits.words))

        return await state.alone(request.model, work)

    @router.post("/kbest", response_model=KbestAnswer)
    async def kbest(request: KbestRequest) -> Response:
        """The best trees of a sentence, or trees drawn from its distribution."""
        if request.count > limits.trees:
            raise ArgumentError(
                f"{request.count:,} trees are asked for, and the limit is {limits.trees:,}."
            )

        def work(pipeline: Pipeline) -> dict[str, Any]:
            question = _question(request, limits.words)
            seed = request.seed if request.samples else None
            return {"trees": several_trees(pipeline, question, request.count, seed)}

        return await state.alone(request.model, work)

    @router.post("/explain")
    async def explain(request: ExplainRequest) -> Response:
        """The features by which a head outscores another."""

        def work(pipeline: Pipeline) -> dict[str, Any]:
            (sentence,) = sentences_of(one_sentence(request.conllu, limits.words))
            found = pipeline.explain(sentence, request.word, request.head, request.against)
            answer = found.to_dict()
            answer["features"] = len(answer["contributions"])
            answer["contributions"] = answer["contributions"][: request.top]
            return answer | {"forms": sentence.forms}

        return await state.alone(request.model, work)

    @router.post("/draw", response_class=Response)
    async def draw(request: DrawRequest) -> Response:
        """The tree of a sentence as SVG, LaTeX or text."""
        return await state.plain(lambda: _drawn(request, limits.words))

    _add_document(router, state)
    return router


def _add_document(router: APIRouter, state: State) -> None:
    """The routes of the file that the server has open."""

    def opened() -> Document:
        if state.document is None:
            raise NotFoundError("the server has no file open: start it with --project FILE.")
        return state.document

    @router.get("/document", response_model=DocumentAnswer)
    async def document() -> Response:
        """The open file: its size, its state, and the order of its sentences."""
        return _json(opened().describe())

    @router.get("/document/sentences", response_model=PageAnswer)
    async def sentences(
        start: Annotated[int, Query(ge=0, le=10**9)] = 0,
        count: Annotated[int, Query(ge=1, le=_PAGE)] = 50,
    ) -> Response:
        """Some sentences of the open file."""
        return _json(opened().page(start, count))

    @router.post("/document/changes", response_model=Changed)
    async def change(request: Change) -> Response:
        """Changes sentences of the open file; the change is on the disk when it is answered."""
        target = opened()
        items = [item.model_dump() for item in request.items]

        def work() -> Response:
            revision = target.change(request.revision, request.start, request.removed, items)
            return _json({"revision": revision})

        return await state.plain(work)

    @router.post("/document/save", response_model=Saved)
    async def save() -> Response:
        """Writes the open file."""
        target = opened()
        return await state.plain(lambda: _json(target.save()))


def _parse_requests(
    state: State,
    how: Parse,
    name: str,
    items: Sequence[tuple[str, str]],
    check: Callable[[], None],
) -> list[Any]:
    """Answers for texts, or sentences, of several requests."""
    started = time.perf_counter()
    answers: list[Any] = [None] * len(items)
    blocks: list[Any] = []
    places: list[int] = []
    for place, (kind, given) in enumerate(items):
        try:
            if kind == "text":
                own = [text_block(how.pipeline, given)]
            else:
                own = list(sentence_blocks(given))
            for block in own:
                check_words(block, state.settings.limits.words)
        except ArboraError as error:
            answers[place] = error
        else:
            blocks.append(own)
            places.append(place)

    def listed(parsed: Any) -> list[Any]:
        assert isinstance(parsed, ParsedBlock)
        return list(parsed_columns(parsed))

    found = parse_together(how, blocks, listed, check, state.metrics) if blocks else []
    milliseconds = round((time.perf_counter() - started) * 1000, 2)
    for place, sentences in zip(places, found, strict=True):
        if isinstance(sentences, Exception):
            answers[place] = sentences
        else:
            answers[place] = _json(
                {"model": name, "milliseconds": milliseconds, "sentences": sentences}
            )
    return answers


def _question(request: SentenceRequest, max_words: int) -> Question:
    (sentence,) = sentences_of(one_sentence(request.conllu, max_words))
    return Question(
        sentence, request.required, request.forbidden, request.decode, request.trees, request.root,
        request.keep, max_words,
    )  # fmt: skip


def _drawn(request: DrawRequest, max_words: int) -> Response:
    (sentence,) = sentences_of(one_sentence(request.conllu, max_words))
    known = request.probabilities
    if known is not None and len(known) != len(sentence):
        raise ShapeError(f"there are {len(known)} probabilities for {len(sentence)} words.")
    drawing = TreeDrawing.from_sentence(sentence, tags=request.tags, probabilities=False)
    if known is not None:
        drawing.probabilities = tuple(known)
    if request.format == "latex":
        return Response(drawing.latex(), media_type="text/plain")
    if request.format == "text":
        return Response(drawing.text(width=100), media_type="text/plain")
    return Response(drawing.svg(), media_type="image/svg+xml")


def _json(content: Any) -> Response:
    return Response(json.dumps(content), media_type="application/json")
