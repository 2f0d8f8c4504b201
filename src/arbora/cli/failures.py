"""Error handling: one sentence on standard error, never a traceback."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from arbora.cli.terminal import tell, visible
from arbora.errors import ArboraError, DataWarning, PatternError, reason

__all__ = [
    "CLOSED_PIPE", "FAILED", "INTERRUPTED", "ReportingGroup", "tidy_up_when_terminated",
]  # fmt: skip

FAILED = 2
INTERRUPTED = 130
CLOSED_PIPE = 141  # 128 + SIGPIPE, as shells report it


def tidy_up_when_terminated() -> None:
    """Makes SIGTERM and SIGHUP exit like an error, so that temporary files are removed."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)  # the exit status that shells report

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


class ReportingGroup(TyperGroup):
    """Runs a command; expected errors end it with a message and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", DataWarning)
                warnings.showwarning = _warner(warnings.showwarning)
                answer = super().invoke(ctx)
            sys.stdout.flush()  # so that a full disk is reported here, not at interpreter exit
        except KeyboardInterrupt:
            _print_error("interrupted.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # the reader has closed the pipe, as in `| head`
            _discard_output()
            raise typer.Exit(CLOSED_PIPE) from None
        except (ArboraError, OSError, UnicodeError, MemoryError) as error:
            _discard_output()
            _print_error(_sentence(error))
            _point_at(error)
            raise typer.Exit(FAILED) from None
        return answer


def _point_at(error: Exception) -> None:
    """Shows a pattern with a caret under the place of its error."""
    if isinstance(error, PatternError):
        from arbora.drawing.pointing import pointed

        with contextlib.suppress(OSError):
            typer.echo(
                "\n".join(f"  {line}" for line in pointed(error.text, error.at).split("\n")),
                err=True,
            )


def _sentence(error: Exception) -> str:
    match error:
        case PatternError():
            text = error.sentence
        case ArboraError():
            text = str(error)
        case OSError(filename=None):
            text = f"a file cannot be read or written: {reason(error)}"
        case OSError():
            text = f"{error.filename} cannot be read or written: {reason(error)}"
        case UnicodeError():
            text = f"the input is not UTF-8 text ({error})"
        case _:
            text = "there is not enough memory"
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _warner(others: Callable[..., None]) -> Callable[..., None]:
    """Shows a `DataWarning` as one line, and leaves other warnings to Python."""

    def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if not issubclass(category, DataWarning):
            others(message, category, *place)
            return
        with contextlib.suppress(OSError):
            tell(f"warning: {message}")

    return show


def _print_error(sentence: str) -> None:
    with contextlib.suppress(OSError):
        typer.secho("arbora: ", fg=typer.colors.RED, bold=True, nl=False, err=True)
        typer.echo(visible(sentence), err=True)


def _discard_output() -> None:
    """Redirects a closed standard output, which Python would otherwise report again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
