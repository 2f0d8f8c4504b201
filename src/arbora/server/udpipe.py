"""The REST interface of UDPipe: /process and /models, as its clients call them.

Parameters come in the query, in a form or in its parts: `data`, `model`, `tokenizer`, `input`,
`tagger`, `parser`, `output`. A stage runs if its parameter is there, even if it is empty. Errors
are plain text, as in the original.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.parser import BytesHeaderParser
from typing import Any
from urllib.parse import parse_qsl

import python_multipart  # noqa: F401  # forms need it, and would ask for it too late
from fastapi import APIRouter, Request, Response
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from arbora.data import Block, surface_tokens, treebank_text
from arbora.data.block import CONLLU_LAYOUT
from arbora.data.conllu import sentences_of
from arbora.errors import ArboraError
from arbora.models.output import ParsedBlock
from arbora.options import ParseOptions
from arbora.pipeline import Pipeline
from arbora.server.parsing import (
    Parse,
    check_words,
    parse_together,
    sentence_blocks,
    text_block,
)
from arbora.server.refusals import RefusedError, status_of
from arbora.server.state import State
from arbora.server.workers import Task

__all__ = ["make_router"]

_OUTPUTS = ("conllu", "horizontal", "vertical", "plaintext")
_INPUTS = ("conllu", "horizontal", "vertical")
_TOKENIZERS = ("", "ranges", "presegmented", "normalized_spaces")
_PARTS = 100  # of a form
_NO_FORM = "Cannot parse the multipart/form-data payload."
_ENCODED = re.compile(rb"^content-transfer-encoding:[ \t]*(base64|quoted)", re.I | re.M)
_ID = re.compile(r"^(\d+)(-\d+)?\t")


@dataclass(frozen=True)
class _Call:
    """A call of /process: the text, how it is read, and what is written."""

    data: str
    tokenizer: tuple[str, ...] | None
    input: str
    output: str

    @classmethod
    def of(cls, given: dict[str, str]) -> _Call:
        if "data" not in given:
            raise RefusedError("The parameter 'data' is required.")
        asked = given.get("input", "conllu")
        tokenizer = given.get("tokenizer")
        if asked == "generic_tokenizer" and tokenizer is None:
            tokenizer = ""
        options = None if tokenizer is None else tuple(re.split(r"[;,]", tokenizer))
        for one in options or ():
            if one not in _TOKENIZERS:
                raise RefusedError(f"Unknown option '{one}' of the tokenizer.")
        if options is None and asked not in _INPUTS:
            raise RefusedError(f"Unknown input format '{asked}'; it may be {_listed(_INPUTS)}.")
        output = given.get("output") or "conllu"
        if output not in _OUTPUTS:
            raise RefusedError(f"Unknown output format '{output}'; it may be {_listed(_OUTPUTS)}.")
        return cls(given["data"], options, asked, output)

    def blocks(self, pipeline: Pipeline) -> list[Block]:
        """The sentences of the call."""
        if self.tokenizer is None:
            return list(sentence_blocks(self.data, self.input))
        ranges = "ranges" in self.tokenizer
        if "presegmented" in self.tokenizer:
            return _presegmented(pipeline, self.data)
        return [text_block(pipeline, self.data, ranges=ranges)]


def make_router(state: State) -> APIRouter:
    """The routes of UDPipe's interface."""
    router = APIRouter()

    async def models() -> Response:
        """The models with their stages, as UDPipe lists them."""
        return Response(json.dumps(state.models.udpipe(), indent=1), media_type="application/json")

    async def process(request: Request) -> Response:
        """Processes text with the parameters of UDPipe's service."""
        try:
            given = await _parameters(request, state.settings.limits.body)
            call = _Call.of(given)
            try:
                name, pipeline = state.models.named(given.get("model"))
            except RefusedError as error:
                raise RefusedError(str(error)) from None
            task = _task(state, name, pipeline, call, "tagger" in given, "parser" in given)
            return await state.answer(task)
        except ArboraError as error:
            headers = dict(getattr(error, "headers", ()))
            return Response(f"{error}\n", status_of(error), headers, "text/plain; charset=utf-8")

    for method in ("GET", "POST"):
        router.add_api_route(
            "/models", models, methods=[method], response_class=Response, tags=["UDPipe"],
            operation_id=f"udpipe_models_{method.lower()}",
        )  # fmt: skip
        router.add_api_route(
            "/process", process, methods=[method], response_class=Response, tags=["UDPipe"],
            operation_id=f"udpipe_process_{method.lower()}", openapi_extra=_documented(method),
        )  # fmt: skip
    return router


def _task(state: State, name: str, pipeline: Pipeline, call: _Call, tag: bool, parse: bool) -> Task:
    limit = state.settings.limits.words
    options = ParseOptions(retag=tag and pipeline.tagger is not None, max_words=limit)
    how = Parse(pipeline, options, None, tag and pipeline.tagger is not None, parse)

    def run(calls: Sequence[_Call], check: Callable[[], None]) -> list[Any]:
        answers: list[Any] = [None] * len(calls)
        places, blocks = [], []
        for place, one in enumerate(calls):
            try:
                own = one.blocks(pipeline)
                for block in own:
                    check_words(block, limit)
            except ArboraError as error:
                answers[place] = error
            else:
                places.append(place)
                blocks.append(own)
        found = parse_together(how, blocks, _texts, check, state.metrics) if blocks else []
        for place, texts in zip(places, found, strict=True):
            if isinstance(texts, ArboraError):
                answers[place] = texts
            else:
                answers[place] = _result(name, texts, calls[place].output)
        return answers

    key = ("process", name, tag, parse)
    return Task(call, run, key, len(call.data) + 1)


def _texts(made: ParsedBlock | Block) -> list[bytes]:
    """The sentences of a block in CoNLL-U."""
    block = made.to_block(False) if isinstance(made, ParsedBlock) else made
    return [block.text(i) for i in range(len(block))]


def _result(name: str, texts: Sequence[bytes], output: str) -> Response:
    result = b"".join(texts).decode()
    if output != "conllu" and texts:
        result = _written(Block(b"".join(texts), CONLLU_LAYOUT), output)
    content = {"model": name, "acknowledgements": [], "result": result}
    return Response(json.dumps(content, indent=1), media_type="application/json")


def _written(block: Block, output: str) -> str:
    if output == "plaintext":
        return treebank_text(block)
    lines = [[one.form for one in surface_tokens(s)] for s in sentences_of(block)]
    if output == "horizontal":
        return "".join(" ".join(forms) + "\n" for forms in lines)
    return "".join("\n".join(forms) + "\n\n" for forms in lines)


async def _parameters(request: Request, limit: int) -> dict[str, str]:
    """All parameters, of the query and the body; the body's come last."""
    given = dict(parse_qsl(request.url.query, keep_blank_values=True))
    if request.method != "POST":
        return given
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        text = _decoded(await request.body())
        fields = parse_qsl(text, keep_blank_values=True, max_num_fields=1000)
        return given | dict(fields)
    if kind != "multipart/form-data":
        raise RefusedError(f"Unsupported payload Content-Type '{kind or '<none>'}'.")
    if _ENCODED.search(await request.body()):
        return given | await asyncio.to_thread(_encoded_parts, request, await request.body())
    try:
        async with request.form(max_files=10, max_fields=_PARTS, max_part_size=limit) as form:
            for key, value in form.multi_items():
                if isinstance(value, UploadFile):
                    given[key] = _decoded(await value.read())
                else:
                    given[key] = value
    except (HTTPException, UnicodeDecodeError, LookupError, KeyError):
        raise RefusedError(_NO_FORM) from None
    return given


def _encoded_parts(request: Request, body: bytes) -> dict[str, str]:
    """The parts of a form of which some are in base64 or quoted-printable, as in e-mails."""
    headers, found = BytesHeaderParser(), {}
    boundary = headers.parsebytes(
        b"Content-Type: " + request.headers["content-type"].encode("latin-1")
    ).get_boundary()
    if boundary is None:
        raise RefusedError(_NO_FORM)
    parts = (b"\r\n" + body).split(b"\r\n--" + boundary.encode(errors="replace"), _PARTS + 2)
    if not 3 <= len(parts) <= _PARTS + 2 or not parts[-1].startswith(b"--"):
        raise RefusedError(_NO_FORM)
    for one in parts[1:-1]:
        part = headers.parsebytes(one.partition(b"\r\n")[2])  # what is inside a part is text
        name = part.get_param("name", header="Content-Disposition")
        data: Any = part.get_payload(decode=True)
        if name:
            found[str(name)] = _decoded(data or b"")
    return found


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedError("The payload is not in UTF-8 encoding.") from None


def _presegmented(pipeline: Pipeline, text: str) -> list[Block]:
    """One sentence per line: what the segmenter cuts a line into is joined again."""
    texts = []
    for line in text.splitlines():
        block = text_block(pipeline, line)
        if len(block):
            texts.append(_joined(block))
    return [Block("".join(texts).encode(), CONLLU_LAYOUT)] if texts else []


def _joined(block: Block) -> str:
    """The sentences of a block as one; they have no heads yet."""
    first = block.text(0).decode()
    comments = [line for line in first.splitlines() if line.startswith("#")]
    whole = treebank_text(block).strip()
    comments = [f"# text = {whole}" if one.startswith("# text =") else one for one in comments]
    lines, before = [], 0
    for i in range(len(block)):
        for line in block.text(i).decode().splitlines():
            found = _ID.match(line)
            if found is None:
                continue
            last = "" if found[2] is None else f"-{int(found[2][1:]) + before}"
            lines.append(f"{int(found[1]) + before}{last}\t{line[found.end() :]}")
        before += block.words(i)
    return "\n".join([*comments, *lines, "", ""])


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" or {names[-1]}"


def _documented(method: str) -> dict[str, Any]:
    """The parameters for the OpenAPI document: of the query, and of forms."""
    texts = {
        "data": "The text, or the sentences.",
        "model": "The name of the model, or its beginning up to a hyphen.",
        "tokenizer": "Segment raw text; may be ranges or presegmented.",
        "input": f"The format of data that is not segmented: {_listed(_INPUTS)}.",
        "tagger": "Tag and lemmatise.",
        "parser": "Parse.",
        "output": f"The format of the result: {_listed(_OUTPUTS)}.",
    }
    if method == "GET":
        return {
            "parameters": [
                {"name": name, "in": "query", "required": name == "data", "description": text,
                 "schema": {"type": "string"}}
                for name, text in texts.items()
            ]
        }  # fmt: skip
    properties = {n: {"type": "string", "description": text} for n, text in texts.items()}
    schema = {"type": "object", "properties": properties, "required": ["data"]}
    kinds = ("application/x-www-form-urlencoded", "multipart/form-data")
    return {"requestBody": {"required": True, "content": {k: {"schema": schema} for k in kinds}}}
