"""The web server: a page to look at trees and correct them, a JSON API, UDPipe's REST interface.

`run` starts it, as `arbora serve` does; `make_app` is the application alone, for other servers.
Requires the extra `server`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbora.errors import ArgumentError
from arbora.server.settings import Limits, Settings, Suggestion, TrainingPlan

if TYPE_CHECKING:
    from arbora.server.application import make_app
    from arbora.server.running import run

__all__ = ["Limits", "Settings", "Suggestion", "TrainingPlan", "make_app", "run"]

_PLACES = {"make_app": "arbora.server.application", "run": "arbora.server.running"}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'arbora.server' has no attribute {name!r}")
    from importlib import import_module

    try:
        return getattr(import_module(_PLACES[name]), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "arbora":
            raise
        raise ArgumentError(
            f'the server requires {error.name}: pip install "arbora[server]".'
        ) from None
