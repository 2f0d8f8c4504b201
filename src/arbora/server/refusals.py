"""Requests that are refused: each error knows its HTTP status, and its message has the number."""

from __future__ import annotations

from arbora.errors import ArboraError

__all__ = [
    "BodyTooLargeError", "ConflictError", "NotAllowedError", "NotFoundError", "QueueFullError",
    "RefusedError", "SlowRequestError", "TimeUpError", "status_of",
]  # fmt: skip


class RefusedError(ArboraError):
    """A request that is not answered; `status` is that of HTTP."""

    status = 400
    headers: tuple[tuple[str, str], ...] = ()


class BodyTooLargeError(RefusedError):
    """The body of a request is too large."""

    status = 413

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"the request has more than {limit:,} bytes: send it in parts, or start the server "
            "with a larger --max-body."
        )


class QueueFullError(RefusedError):
    """Too much is waiting already."""

    status = 503
    headers = (("Retry-After", "1"),)

    def __init__(self, limit: int, what: str = "requests are waiting") -> None:
        super().__init__(f"{limit:,} {what}, which is the limit: try again in a second.")


class TimeUpError(RefusedError):
    """An answer took too long."""

    status = 504

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the answer took more than {seconds:g} seconds: send less text at once, or start the "
            "server with a larger --time-limit."
        )


class SlowRequestError(RefusedError):
    """A request took too long to arrive."""

    status = 408

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the request did not arrive within {seconds:g} seconds.")


class NotAllowedError(RefusedError):
    """A request without the token, from another site, or for another host."""

    def __init__(self, message: str, status: int, headers: tuple[tuple[str, str], ...] = ()):
        super().__init__(message)
        self.status, self.headers = status, headers


class NotFoundError(RefusedError):
    """Something that a request names does not exist."""

    status = 404


class ConflictError(RefusedError):
    """The document has changed since the page has read it."""

    status = 409


def status_of(error: Exception) -> int:
    """The HTTP status for an error: 422 for input that cannot be parsed, 500 for our mistakes."""
    if isinstance(error, RefusedError):
        return error.status
    if isinstance(error, ArboraError):
        return 422
    return 507 if isinstance(error, MemoryError) else 500
