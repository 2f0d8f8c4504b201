"""The options of `arbora train` and `arbora tune`, derived from `arbora.options`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import typer

from arbora.cli.terminal import tell
from arbora.errors import ArgumentError
from arbora.options import (
    RENAMED_OPTIONS,
    Component,
    ParserOptions,
    PublicOption,
    current_names,
    public_options,
    spelled,
)

__all__ = ["help_all", "read_value", "take_options", "with_current_names"]

Command = Callable[..., None]

_METAVARS: dict[type | None, str] = {int: "N", float: "X", None: "NAME"}


def take_options(*roots: type[Component]) -> Callable[[Command], Command]:
    """Adds one option per choice of these components to a command.

    It gets those that were given as dict `options`.
    """
    known: dict[str, PublicOption] = {}
    for root in roots:
        known |= public_options(root)

    def decorate(command: Command) -> Command:
        def with_options(**arguments: Any) -> None:
            given = {name: arguments.pop(name) for name in (*known, *RENAMED_OPTIONS)}
            given["rate"] = None if given["rate"] is None else read_value("rate", given["rate"])
            options = with_current_names(
                {name: value for name, value in given.items() if value is not None}
            )
            command(options=options, **arguments)

        own = inspect.signature(command, eval_str=True)
        parameters = [p for p in own.parameters.values() if p.name != "options"]
        parameters += [_parameter(option) for option in known.values()]
        parameters += [_old_parameter(name, known) for name in RENAMED_OPTIONS]
        with_options.__doc__ = command.__doc__
        with_options.__name__ = command.__name__
        with_options.__annotations__ = {p.name: p.annotation for p in parameters}
        with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # as wraps
            [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
        )
        return with_options

    return decorate


def with_current_names(options: dict[str, Any]) -> dict[str, Any]:
    """Options by their current names; old names get a note on standard error."""
    current, deprecated = current_names(options)
    for warning in deprecated:
        tell(f"warning: {warning}")
    return current


def read_value(name: str, text: str) -> Any:
    """The value of an option from text; its range is checked when it is used."""
    kind = public_options(ParserOptions)[name].kind
    if kind.boolean:
        if text.lower() not in ("true", "false", "yes", "no"):
            raise ArgumentError(f"{spelled(name)} must be yes or no, not {text!r}.")
        return text.lower() in ("true", "yes")
    if kind.number is None or text in kind.choices:
        return text
    try:
        return kind.number(text)
    except ValueError:
        what = "a whole number" if kind.number is int else "a number"
        others = "".join(f" or {choice}" for choice in kind.choices)
        raise ArgumentError(f"{spelled(name)} must be {what}{others}, not {text!r}.") from None


def _parameter(option: PublicOption) -> inspect.Parameter:
    dashed = option.name.replace("_", "-")
    kind, names = option.kind, option.tags or option.kind.choices
    flags = [f"--{dashed}/--no-{dashed}"] if kind.boolean else [f"--{dashed}"]
    expected: Any = bool if kind.boolean else kind.number or Literal[names]
    metavar = None if kind.boolean else _METAVARS[kind.number]
    if kind.number is not None and kind.choices:
        expected, metavar = str, f"X|{'|'.join(kind.choices)}"
    info = typer.Option(
        *flags, help=_help(option), rich_help_panel=option.spec.panel, metavar=metavar,
        show_default=False, hidden=not option.spec.common,
    )  # fmt: skip
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[expected | None, info],
    )


def _old_parameter(old: str, known: Mapping[str, PublicOption]) -> inspect.Parameter:
    """The parameter of a renamed option under its old name, hidden from help."""
    option = known[RENAMED_OPTIONS[old].name]
    spec = replace(option.spec, common=False)
    return _parameter(option._replace(name=old, spec=spec))


def _help(option: PublicOption) -> str:
    """Help, choices and default in one paragraph."""
    text = option.spec.help
    names = option.tags or option.kind.choices
    if names and not all(name in text for name in names) and option.kind.number is None:
        text += f" One of {', '.join(names)}."
    default = option.spec.default_text
    if not default and option.default is not None:
        value = option.default
        default = {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
    return f"{text.removesuffix('.')} (default: {default})." if default else text


def help_all(ctx: typer.Context, wanted: bool) -> None:
    """Shows the help of a command with all options."""
    if not wanted:
        return
    for parameter in ctx.command.params:
        if getattr(parameter, "hidden", False) and parameter.name not in RENAMED_OPTIONS:
            parameter.hidden = False  # type: ignore[attr-defined]  # options have it
    typer.echo(ctx.get_help())
    raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option("--help-all", callback=help_all, is_eager=True, help="Show all options and exit."),
]
