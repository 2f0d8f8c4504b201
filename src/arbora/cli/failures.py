"""What goes wrong becomes one sentence on standard error, never a traceback."""

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
from arbora.errors import ArboraError, DataWarning, reason

__all__ = ["CLOSED_PIPE", "FAILED", "INTERRUPTED", "CommandGroup", "tidy_up_when_terminated"]

FAILED = 2
INTERRUPTED = 130
CLOSED_PIPE = 141  # what a shell reports of programs that a closed pipe ends


def tidy_up_when_terminated() -> None:
    """Makes SIGTERM and SIGHUP end the program as an error would, half-written files removed."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)  # what a shell reports of programs that a signal ends

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


class CommandGroup(TyperGroup):
    """Runs a command; expected failures end it with a sentence and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", DataWarning)
                warnings.showwarning = _warner(warnings.showwarning)
                answer = super().invoke(ctx)
            sys.stdout.flush()  # a full disk shows here and not after the last line of Python
        except KeyboardInterrupt:
            _say("interrupted.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # the reader has what it wanted, as in `| head`
            _give_up_output()
            raise typer.Exit(CLOSED_PIPE) from None
        except (ArboraError, OSError, UnicodeError, MemoryError) as error:
            _give_up_output()
            _say(_sentence(error))
            raise typer.Exit(FAILED) from None
        return answer


def _sentence(error: Exception) -> str:
    match error:
        case ArboraError():
            text = str(error)
        case OSError(filename=None):
            text = f"something cannot be read or written: {reason(error)}"
        case OSError():
            text = f"{error.filename} cannot be read or written: {reason(error)}"
        case UnicodeError():
            text = f"the input is not UTF-8 text ({error})"
        case _:
            text = "there is not enough memory"
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _warner(others: Callable[..., None]) -> Callable[..., None]:
    """Shows a warning about a file as one line, and leaves others to Python."""

    def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if not issubclass(category, DataWarning):
            others(message, category, *place)
            return
        with contextlib.suppress(OSError):
            tell(f"warning: {message}")

    return show


def _say(sentence: str) -> None:
    with contextlib.suppress(OSError):
        typer.secho("arbora: ", fg=typer.colors.RED, bold=True, nl=False, err=True)
        typer.echo(visible(sentence), err=True)


def _give_up_output() -> None:
    """Lets nothing be written that cannot be: Python would complain of it once more at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
