"""The application: routes, page and guards put together."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from arbora.errors import ArboraError
from arbora.pipeline import Pipeline
from arbora.server import api, retraining, udpipe
from arbora.server.document import Document
from arbora.server.guards import Application, Guard, error_body
from arbora.server.logs import Log
from arbora.server.metrics import Metrics
from arbora.server.models import Models
from arbora.server.refusals import NotFoundError, RefusedError, status_of
from arbora.server.settings import Settings
from arbora.server.state import State
from arbora.server.workers import Workers

__all__ = ["make_app", "make_state"]

_TYPES = {
    ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml",
}  # fmt: skip
_STATIC = files("arbora.server") / "static"


def make_app(
    models: Sequence[str] | dict[str, Pipeline] = (), settings: Settings | None = None
) -> Application:
    """The server as an ASGI application.

    `models` are files, names of installed models or NAME=FILE; or pipelines by name.
    """
    return guarded(make_state(models, settings or Settings()))


def make_state(models: Sequence[str] | dict[str, Pipeline], settings: Settings) -> State:
    """Loads the models and the file, and starts the workers."""
    document = None if settings.file is None else Document(settings.file, settings.order)
    loaded = Models(models) if isinstance(models, dict) else Models.load(models, settings.threads)
    metrics = Metrics()
    metrics.gauge("arbora_resident_bytes", "Memory of the process.", _resident_bytes)
    workers = Workers(settings.workers, settings.limits, metrics)
    return State(settings, loaded, workers, metrics, Log(settings.log), document)


def guarded(state: State) -> Application:
    """The routes of a server, behind its guards."""
    inside: Application = Guard(_routes(state), state.settings, state.metrics, state.log)
    if state.settings.origins:
        inside = CORSMiddleware(
            inside, allow_origins=state.settings.origins, allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )  # fmt: skip
    return inside


def _routes(state: State) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        state.ending = True
        state.workers.end()
        if state.document is not None:
            state.document.close()

    app = FastAPI(
        title="Arbora", version=version("arbora"), docs_url=None, redoc_url=None, lifespan=lifespan,
        description="Probabilistic dependency parsing: trees with probabilities, corrections, "
        "and UDPipe's interface.",
    )  # fmt: skip
    app.include_router(api.make_router(state))
    app.include_router(udpipe.make_router(state))
    if state.settings.retraining is not None:
        app.include_router(retraining.make_router(state, state.settings.retraining))
    _add_errors(app)
    _add_status(app, state)
    _add_page(app)
    return app


def _add_errors(app: FastAPI) -> None:
    """Every error is a sentence in JSON."""

    def answer(error: Exception, status: int, message: str) -> Response:
        headers = dict(error.headers) if isinstance(error, RefusedError) else {}
        return Response(error_body(message), status, headers, "application/json")

    @app.exception_handler(ArboraError)
    async def refused(_: Request, error: Exception) -> Response:
        return answer(error, status_of(error), str(error))

    @app.exception_handler(MemoryError)
    async def too_large(_: Request, error: Exception) -> Response:
        return answer(error, 507, "there is not enough memory for this request.")

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["type"] == "model_attributes_type" and first["loc"] == ("body",):
            if "json" not in request.headers.get("content-type", ""):
                return answer(
                    error, 415, "send JSON, and the header Content-Type: application/json."
                )
            return answer(error, 422, "the body must be a JSON object.")
        if first["type"] == "json_invalid":
            return answer(error, 400, "the body is not JSON.")
        place = ".".join(str(one) for one in first["loc"][1:])
        text = f"{place}: {first['msg']}".removeprefix(": ").rstrip(".")
        return answer(error, 422, f"{text}.".encode(errors="replace").decode())

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        made = answer(error, error.status_code, f"{error.detail}.")
        made.headers.update(error.headers or {})
        documented = app.openapi()["paths"].get(request.url.path)
        if error.status_code == 405 and documented:  # a route knows its own methods only
            made.headers["Allow"] = ", ".join(sorted(documented)).upper()
        return made

    @app.exception_handler(UnicodeDecodeError)
    async def no_text(_: Request, error: Exception) -> Response:
        return answer(error, 400, "the body is not UTF-8.")


def _add_status(app: FastAPI, state: State) -> None:
    @app.get("/health", response_class=Response)
    async def health() -> Response:
        """Whether the process answers."""
        return Response("ok\n", media_type="text/plain")

    @app.get("/ready", response_class=Response)
    async def ready() -> Response:
        """Whether it takes work: not while it ends, and not while its queue is full."""
        full = state.workers.waiting() >= state.settings.limits.queue
        if state.ending or full:
            return Response("ending\n" if state.ending else "full\n", 503, media_type="text/plain")
        return Response("ready\n", media_type="text/plain")

    @app.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """Figures for Prometheus."""
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return Response(state.metrics.text(), media_type=kind)


def _add_page(app: FastAPI) -> None:
    """The page: files of the package, read once."""
    found: dict[str, tuple[bytes, str, str]] = {}
    for one in _STATIC.iterdir():
        data = one.read_bytes()
        kind = _TYPES.get(Path(one.name).suffix)
        if kind is not None:
            found[one.name] = data, kind, f'"{hashlib.sha256(data).hexdigest()[:20]}"'

    def static(name: str, request: Request) -> Response:
        if name not in found:
            raise NotFoundError(f"there is no file {name[:100]!r}.")
        data, kind, tag = found[name]
        headers = {"Cache-Control": "no-cache", "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(data, headers=headers, media_type=kind)

    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return static("index.html", request)

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon(request: Request) -> Response:
        return static("icon.svg", request)

    @app.get("/static/{name}", include_in_schema=False)
    async def file(name: str, request: Request) -> Response:
        return static(name, request)


def _resident_bytes() -> float:
    """The memory of the process, where the system tells it; else 0."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return float(pages * resource.getpagesize())
    except (OSError, ImportError, IndexError, ValueError):
        return 0.0
