"""Commands that are imported when they run: the overview of all commands needs none of them."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import cleandoc
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from arbora.cli.cluster_options import with_ray_address
from arbora.cli.failures import ReportingGroup

__all__ = ["CommandGroup", "LateCommand"]


class LateCommand(TyperCommand):
    """Stands for a command in the overview: its name and the first paragraph of its help."""


class CommandGroup(ReportingGroup):
    """Imports a command when it is wanted; then the context's object is called, if there is one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the first argument names, and the other arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, LateCommand):
            assert name is not None
            command = self.commands[name] = _imported(name, ctx.help_option_names)
            if ctx.obj is not None:
                ctx.obj()
        return name, command, with_ray_address(rest)


def _imported(name: str, help_options: list[str]) -> Any:
    """The command in the file of this name."""
    module = import_module(f"arbora.cli.{name}")
    callback = getattr(module, name)
    alone = typer.Typer(
        rich_markup_mode="rich", pretty_exceptions_enable=False, add_completion=False
    )
    # the terminal breaks the lines of a paragraph
    text = re.sub(r"(?<=\S)\n(?=\S)", " ", cleandoc(callback.__doc__ or ""))
    alone.command(
        name, help=text, epilog=module.EXAMPLES,
        context_settings={"help_option_names": help_options},
    )(callback)  # fmt: skip
    return get_command(alone)
