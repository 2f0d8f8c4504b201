"""Runs the server: opens the socket, prints the address, and ends in order."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from arbora.errors import FileError, reason
from arbora.pipeline import Pipeline
from arbora.server.application import guarded, make_state
from arbora.server.settings import Settings
from arbora.server.state import State

__all__ = ["address", "run"]


def run(
    models: Sequence[str] | dict[str, Pipeline] = (),
    settings: Settings | None = None,
    *,
    open_browser: bool = False,
    tell: Callable[[str], None] | None = None,
) -> None:
    """Serves until SIGTERM or Ctrl+C; then takes no new requests, and answers those it has.

    `models` are files, names of installed models or NAME=FILE; or pipelines by name. `tell` is
    called with the address when the server answers; by default it is printed.
    """
    settings = settings or Settings()
    listening = _listen(settings)
    try:
        state = make_state(models, settings)
        url = address(settings, listening)
        server = _Server(state, url, tell or _print, open_browser)
        server.run(sockets=[listening])
    finally:
        listening.close()


def address(settings: Settings, listening: socket.socket) -> str:
    """The address of the page, with the token, which the browser does not send to anybody."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "localhost"
    name = f"[{host}]" if ":" in host else host
    fragment = "" if settings.token is None else f"#token={settings.token}"
    return f"http://{name}:{port}/{fragment}"


class _Protocol(H11Protocol):
    """HTTP whose clients must send the head of a request in time; `Guard` watches the body."""

    patience = 30.0
    _watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begins to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Takes what has arrived."""
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the wait."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._watch is None:
            self._watch = self.loop.call_later(self.patience, self.transport.close)

    def _stop(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None


class _Server(uvicorn.Server):
    """Uvicorn, which says when it listens, and whose end by a signal is no failure."""

    def __init__(
        self, state: State, url: str, tell: Callable[[str], None], open_browser: bool
    ) -> None:
        limits = state.settings.limits
        protocol = type("Protocol", (_Protocol,), {"patience": limits.seconds})
        super().__init__(
            uvicorn.Config(
                guarded(state), http=protocol, log_config=None, access_log=False,
                server_header=False, proxy_headers=False, timeout_keep_alive=15, lifespan="on",
                timeout_graceful_shutdown=int(limits.seconds) + 5,
                h11_max_incomplete_event_size=1 << 16,
            )
        )  # fmt: skip
        self._state, self._url, self._tell = state, url, tell
        self._open_browser = open_browser

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to listen, and tells the address."""
        await super().startup(sockets)
        self._tell(self._url)
        self._state.log("start", address=self._url.partition("#")[0])
        if self._open_browser:
            threading.Thread(target=webbrowser.open, args=(self._url,), daemon=True).start()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ends in order at SIGTERM and Ctrl+C, at once at the second Ctrl+C."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self._end) for one in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)
            self._state.log("end")

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._state.ending = True
        self.handle_exit(number, frame)


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((settings.host, settings.port))
        made.listen(2048)
    except OSError as error:
        made.close()
        raise FileError(
            f"{settings.host}, port {settings.port} cannot be used: {reason(error)}; choose "
            "another with --port."
        ) from None
    return made


def _print(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
