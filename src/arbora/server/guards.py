"""What stands before every request: host, origin, token, size and time; headers, figures, logs."""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from arbora.server.logs import Log
from arbora.server.metrics import Metrics
from arbora.server.refusals import (
    BodyTooLargeError,
    NotAllowedError,
    QueueFullError,
    RefusedError,
    SlowRequestError,
)
from arbora.server.settings import Settings

__all__ = ["OPEN_PATHS", "Guard", "error_body"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

# Paths that need no token: the page itself has no secrets, and monitors have no token.
OPEN_PATHS = ("/health", "/ready", "/favicon.ico")

_SECURITY = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def error_body(message: str) -> bytes:
    """An error as JSON."""
    return json.dumps({"error": message}, ensure_ascii=True).encode()


class Guard:
    """The outermost layer: refuses what must not come in, and reports every request."""

    def __init__(self, inside: Application, settings: Settings, metrics: Metrics, log: Log) -> None:
        self._inside, self._settings = inside, settings
        self._metrics, self._log = metrics, log
        self._reading = 0  # bytes of bodies that are being read
        self._open = 0
        metrics.gauge("arbora_open_requests", "Requests that are being answered.", self._count_open)

    def _count_open(self) -> int:
        return self._open

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answers a request, as ASGI calls it."""
        if scope["type"] != "http":
            await self._inside(scope, receive, send)
            return
        exchange = _Exchange(scope, send)
        self._open += 1
        try:
            if self._open > self._settings.limits.open:
                self._metrics.count("arbora_refused_total", reason="open")
                raise QueueFullError(self._settings.limits.open, "requests are open")
            self._check(scope, exchange)
            data = await self._body(scope, receive, exchange)
            await self._inside(scope, _replayed(data, receive), exchange.send)
        except RefusedError as error:
            await exchange.refuse(error)
        except Exception as error:
            self._log("failure", level="error", path=scope["path"], error=repr(error))
            await exchange.fail()
        finally:
            self._reading -= exchange.bytes
            self._open -= 1
            self._report(scope, exchange)

    # What is refused

    def _check(self, scope: Message, exchange: _Exchange) -> None:
        self._check_host(exchange.header("host"))
        if scope["method"] not in ("GET", "HEAD"):
            self._check_origin(exchange)
        token = self._settings.token
        path = scope["path"]
        if token is None or path == "/" or path in OPEN_PATHS or path.startswith("/static/"):
            return
        given = exchange.header("authorization").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), token.encode()):
            raise NotAllowedError(
                "this server requires a token: send the header Authorization: Bearer TOKEN.",
                401, (("WWW-Authenticate", "Bearer"),),
            )  # fmt: skip

    def _check_host(self, header: str) -> None:
        """Refuses names of hosts that are not ours: a page of another site may have made them up.

        An address cannot be made up, since it needs no name server (DNS rebinding).
        """
        name = _host_name(header)
        if name == "localhost" or name in self._settings.hosts or name == self._settings.host:
            return
        try:
            ip_address(name)
        except ValueError:
            raise NotAllowedError(
                f"this server is not {header[:100]!r}: start it with --allow-host NAME if it is.",
                421,
            ) from None

    def _check_origin(self, exchange: _Exchange) -> None:
        """Refuses requests that a page of another site sends, unless it is allowed to."""
        origin = exchange.header("origin")
        if not origin or origin in self._settings.origins:
            return
        if origin == "null" or urlsplit(origin).netloc != exchange.header("host"):
            raise NotAllowedError(
                f"pages of {origin[:100]!r} may not use this server: start it with --allow-origin "
                "if they may.",
                403,
            )

    # The body

    async def _body(self, scope: Message, receive: Receive, exchange: _Exchange) -> bytes:
        """The whole body, of bounded size, in bounded time, with or without its length."""
        limits = self._settings.limits
        declared = _declared_length(scope)
        if declared > limits.body:
            self._metrics.count("arbora_refused_total", reason="body")
            raise BodyTooLargeError(limits.body)
        if declared == 0 and scope["method"] in ("GET", "HEAD"):
            return b""
        pieces: list[bytes] = []
        try:
            async with asyncio.timeout(limits.seconds):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise SlowRequestError(limits.seconds)  # the client has gone
                    pieces.append(message.get("body", b""))
                    self._reading += len(pieces[-1])
                    exchange.bytes += len(pieces[-1])
                    if exchange.bytes > limits.body:
                        self._metrics.count("arbora_refused_total", reason="body")
                        raise BodyTooLargeError(limits.body)
                    if self._reading > limits.bodies:
                        self._metrics.count("arbora_refused_total", reason="memory")
                        raise QueueFullError(limits.bodies, "bytes of requests are being read")
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            self._metrics.count("arbora_refused_total", reason="slow")
            raise SlowRequestError(limits.seconds) from None
        self._metrics.count("arbora_read_bytes_total", exchange.bytes)
        return b"".join(pieces)

    # Reports

    def _report(self, scope: Message, exchange: _Exchange) -> None:
        route = scope.get("route")
        path = getattr(route, "path", None) or "other"
        seconds = time.perf_counter() - exchange.began
        self._metrics.count("arbora_requests_total", path=path, status=str(exchange.status))
        self._metrics.observe("arbora_request_seconds", seconds)
        if self._log.style != "off":
            self._log(
                "request", method=scope["method"], path=scope["path"], status=exchange.status,
                ms=round(seconds * 1000, 1), bytes=exchange.bytes, request=exchange.name,
                client=(scope.get("client") or ("",))[0],
            )  # fmt: skip


class _Exchange:
    """A request and its answer: its headers, its status, its name in the logs."""

    def __init__(self, scope: Message, send: Send) -> None:
        self._headers: dict[bytes, str] = {
            name: value.decode("latin-1") for name, value in scope["headers"]
        }
        self._send = send
        self.began = time.perf_counter()
        self.name = secrets.token_hex(6)
        self.status = 0
        self.bytes = 0  # of its body, so far

    def header(self, name: str) -> str:
        """A header of the request, or nothing."""
        return self._headers.get(name.encode(), "")

    async def send(self, message: Message) -> None:
        """Sends a part of the answer, with our headers."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = _SECURITY | {"X-Request-Id": self.name}
            added = [(name.lower().encode(), value.encode()) for name, value in own.items()]
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await self._send(message)

    async def refuse(self, error: RefusedError) -> None:
        """Answers with an error, and closes the connection if its body was not read."""
        await self._answer(error.status, str(error), error.headers)

    async def fail(self) -> None:
        """Answers that it is our mistake."""
        await self._answer(500, f"this is a mistake of the server (request {self.name}).")

    async def _answer(
        self, status: int, message: str, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        if self.status:  # it has begun to answer
            return
        body = error_body(message)
        lines = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *((name.lower().encode(), value.encode()) for name, value in headers),
        ]
        if status in (408, 413, 503):
            lines.append((b"connection", b"close"))
        await self.send({"type": "http.response.start", "status": status, "headers": lines})
        await self.send({"type": "http.response.body", "body": body})


def _replayed(data: bytes, receive: Receive) -> Receive:
    """A body that was read, as if it came now; afterwards what the server says."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": data, "more_body": False}

    return again


def _declared_length(scope: Message) -> int:
    """The Content-Length; 0 for no body, -1 if the length is not told."""
    names = dict(scope["headers"])
    if b"transfer-encoding" in names:
        return -1
    text = names.get(b"content-length", b"0")
    return int(text) if text.isdigit() else -1


def _host_name(header: str) -> str:
    """The name in a Host header, without its port and brackets, in lower case."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].rstrip(".").lower()
