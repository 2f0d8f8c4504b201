"""How work over many items is run: here one after the other, elsewhere on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol

__all__ = ["Spread", "answered", "attempted", "one_after_another"]


class Spread(Protocol):
    """Calls `work(shared, item)` for every item and yields places of items with their answers.

    Answers come in any order. An item whose work failed has the exception as its answer. Elsewhere,
    `work` is a function of a module, `shared` is sent once, and items and answers are pickled.
    """

    def __call__(
        self, work: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any]
    ) -> Generator[tuple[int, Any]]:
        """The answers."""
        ...


def one_after_another(
    work: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any]
) -> Generator[tuple[int, Any]]:
    """The answers, in order, in this process."""
    for place, item in enumerate(items):
        yield place, attempted(work, shared, item)


def attempted(work: Callable[[Any, Any], Any], shared: Any, item: Any) -> Any:
    """The answer for an item, or the exception."""
    try:
        return work(shared, item)
    except Exception as error:
        return error


def answered(answer: Any) -> Any:
    """The answer itself; an exception is raised."""
    if isinstance(answer, Exception):
        raise answer
    return answer
