"""Spelling of options in messages: keywords in Python, dashes at the command line."""

from __future__ import annotations

__all__ = ["speak_command_line", "spelled"]

_at_command_line = False


def speak_command_line() -> None:
    """Makes messages spell options as the command line does."""
    global _at_command_line  # a process is either the command line or not
    _at_command_line = True


def spelled(name: str, value: object = None) -> str:
    """An option, or an option with a value: `order='first'` or `--order first`."""
    if _at_command_line:
        option = "--" + name.replace("_", "-")
        return option if value is None else f"{option} {value}"
    return name if value is None else f"{name}={value!r}"
