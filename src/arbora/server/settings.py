"""Settings of the server: where it listens, whom it answers, and how much it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from arbora.errors import ArgumentError

__all__ = ["Limits", "LogStyle", "Settings", "Suggestion", "TrainingPlan"]

LogStyle = Literal["off", "text", "json"]


@dataclass(frozen=True)
class Limits:
    """What the server takes; an answer about a limit has its number.

    `body` is the largest request in bytes, `bodies` the sum over all requests that are being read,
    `words` the longest sentence, `queue` the number of requests that wait for a worker, `seconds`
    the time in which a request is read, and then the time in which it is answered. `trees` is the
    largest number of best trees or samples, `batch` the number of characters that are parsed at
    once, `open` the number of requests that are being read or answered.
    """

    body: int = 4_000_000
    bodies: int = 256_000_000
    words: int = 1000
    queue: int = 256
    seconds: float = 30.0
    trees: int = 100
    batch: int = 1 << 16
    open: int = 4096

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not isinstance(value, int | float) or not value > 0:
                raise ArgumentError(f"the limit {name} must be a positive number, not {value!r}.")


@dataclass(frozen=True)
class Suggestion:
    """A sentence of the opened file, counted from 0, that is worth looking at, and why.

    `score` orders suggestions (the page shows it), `reason` is a short text, and `word`, counted
    from 1, is the word to look at first.
    """

    sentence: int
    score: float | None = None
    reason: str = ""
    word: int | None = None


@dataclass(frozen=True)
class TrainingPlan:
    """What the page may train: the default model, further, on accepted sentences.

    `dev` chooses the best pass and is scored before and after, `output` is the file of the new
    model, and `train` are further annotated files to train on.
    """

    dev: str
    output: str
    train: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """How the server runs.

    Requests must name in their Host header an IP address, `localhost` or one of `hosts`. Pages of
    other sites may use the server only if they are in `origins`. With a `token`, requests need the
    header `Authorization: Bearer TOKEN`. `workers` threads parse, each on `threads` threads.
    `file` is opened in the page, with its changes in a journal beside it, and `order` says which
    of its sentences come first. With `retraining`, the page can train the model on the sentences
    that are accepted.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    token: str | None = None
    workers: int = 2
    threads: int | None = None
    log: LogStyle = "off"
    file: str | None = None
    order: Sequence[Suggestion] | None = None
    retraining: TrainingPlan | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise ArgumentError(f"a port is a number from 0 to 65535, not {self.port!r}.")
        if self.workers < 1:
            raise ArgumentError(f"workers must be a positive number, not {self.workers!r}.")
        if self.token is not None and (not self.token or not self.token.isascii()):
            raise ArgumentError("the token must be a text of ASCII characters that is not empty.")
        if self.order is not None and self.file is None:
            raise ArgumentError("an order of sentences requires a file.")
        if self.retraining is not None and self.file is None:
            raise ArgumentError("retraining requires a file.")
