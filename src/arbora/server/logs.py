"""Logs: one line per event on standard error, as JSON or as text."""

from __future__ import annotations

import json
import sys
import threading
from datetime import UTC, datetime
from typing import TextIO

from arbora.server.settings import LogStyle

__all__ = ["Log"]


class Log:
    """Writes events with their fields; errors are written whatever the style."""

    def __init__(self, style: LogStyle, stream: TextIO | None = None) -> None:
        self.style = style
        self._stream = stream
        self._lock = threading.Lock()

    def __call__(self, event: str, *, level: str = "info", **fields: object) -> None:
        """Writes an event."""
        if self.style == "off" and level != "error":
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        if self.style == "json":
            line = json.dumps({"time": now, "level": level, "event": event, **fields}, default=str)
        else:
            rest = " ".join(f"{name}={_plain(value)}" for name, value in fields.items())
            line = f"{now} {level} {event} {rest}".rstrip()
        with self._lock:
            stream = self._stream or sys.stderr
            stream.write(line + "\n")
            stream.flush()


def _plain(value: object) -> str:
    """A value that cannot break the line or control the terminal."""
    text = str(value)
    simple = text.isprintable() and " " not in text and text != ""
    return text if simple else json.dumps(text)
