"""Declaration of options: dataclass fields with range, help and panel in their metadata.

An option has one public name: as a keyword of `Parser`, on the command line, in model files and in
the documentation. A choice between alternatives that have options of their own is a *slot*. Each
alternative is a `Component`, a small frozen dataclass with a `tag`.
"""

from __future__ import annotations

import math
import types
from dataclasses import Field, dataclass, field, fields
from typing import Any, ClassVar, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from arbora.errors import ArgumentError
from arbora.options.spelling import spelled

__all__ = ["Component", "Kind", "Panel", "Spec", "alternatives", "option", "options_of", "slot"]

Panel = Literal["Learning", "Trees and decoding", "Model", "Stages"]


@dataclass(frozen=True)
class Spec:
    """The metadata of an option, besides its type and default.

    `name` is the public name if it differs from the field name. `default_text` states a default
    that depends on other options. `--help` shows the `common` options, `--help-all` shows all.
    Continued training keeps the `kept` options of the model.
    """

    help: str
    panel: Panel
    name: str = ""
    low: float = -math.inf
    high: float = math.inf
    common: bool = False
    kept: bool = True
    default_text: str = ""
    components: tuple[type[Component], ...] = ()


def option(default: Any, help: str, panel: Panel, **spec: Any) -> Any:  # noqa: A002
    """A dataclass field that is an option."""
    return field(default=default, metadata={"spec": Spec(help, panel, **spec)})


def slot(
    components: tuple[type[Component], ...],
    default: Any,
    help: str,  # noqa: A002
    panel: Panel,
    **spec: Any,
) -> Any:
    """A dataclass field that holds one of several components."""
    return option(default, help, panel, components=components, **spec)


class Kind(NamedTuple):
    """The values that an option's annotation allows."""

    choices: tuple[str, ...]
    number: type | None  # int or float
    boolean: bool
    optional: bool
    text: bool = False  # any text


@dataclass(frozen=True)
class Component:
    """An alternative with options of its own; `tag` is its public name."""

    tag: ClassVar[str]

    def __post_init__(self) -> None:
        for one in options_of(type(self)):
            one.check(getattr(self, one.field))


class FieldOption(NamedTuple):
    """An option as a field of one component."""

    field: str
    name: str
    default: Any
    spec: Spec
    kind: Kind

    def check(self, value: Any) -> None:
        """Raises an `ArgumentError` for a value outside the type or range."""
        components, kind = self.spec.components, self.kind
        if value is None and (kind.optional or (components and self.default is None)):
            return
        if components:
            if not isinstance(value, components):
                self._refuse("one of " + ", ".join(one.tag for one in components), value)
        elif isinstance(value, str) and kind.choices:
            if value not in kind.choices:
                number = "a number or " if kind.number else "one of "
                self._refuse(number + ", ".join(kind.choices), value)
        elif kind.boolean:
            if not isinstance(value, bool):
                self._refuse("true or false", value)
        elif kind.number is not None:
            self._check_number(value)
        elif kind.text:
            if not isinstance(value, str) or not value:
                self._refuse("a text", value)
        else:
            self._refuse("one of " + ", ".join(kind.choices), value)

    def _check_number(self, value: Any) -> None:
        whole = self.kind.number is int
        accepted = int if whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, accepted) or value != value:
            what = "a whole number" if whole else "a number"
            self._refuse(
                f"{what} or {' or '.join(self.kind.choices)}" if self.kind.choices else what, value
            )
        if not self.spec.low <= value <= self.spec.high:
            self._refuse(f"between {self.spec.low:g} and {self.spec.high:g}", value)

    def _refuse(self, expected: str, value: Any) -> None:
        raise ArgumentError(f"{spelled(self.name)} must be {expected}, not {value!r}.")


def alternatives(components: tuple[type[Component], ...]) -> dict[str, type[Component]]:
    """The alternatives of a slot by tag: its components, and user-defined ones.

    User-defined components derive from one of the slot's components and define their own tag.
    """
    found = {one.tag: one for one in components if hasattr(one, "tag")}
    waiting = list(components)
    while waiting:
        for derived in waiting.pop().__subclasses__():
            waiting.append(derived)
            if "tag" in vars(derived):
                found.setdefault(derived.tag, derived)
    return found


_KNOWN: dict[type, tuple[FieldOption, ...]] = {}


def options_of(component: type[Component]) -> tuple[FieldOption, ...]:
    """The options that a component declares, in order."""
    if component not in _KNOWN:
        hints = get_type_hints(component)
        declared = [one for one in fields(component) if "spec" in one.metadata]
        _KNOWN[component] = tuple(_field_option(one, hints[one.name]) for one in declared)
    return _KNOWN[component]


def _field_option(declared: Field[Any], hint: Any) -> FieldOption:
    spec: Spec = declared.metadata["spec"]
    return FieldOption(
        declared.name, spec.name or declared.name, declared.default, spec, _kind(hint)
    )


def _kind(hint: Any) -> Kind:
    is_union = get_origin(hint) in (Union, types.UnionType)
    members = get_args(hint) if is_union else (hint,)
    choices = tuple(
        value for one in members if get_origin(one) is Literal for value in get_args(one)
    )
    number = next((one for one in members if one in (int, float)), None)
    return Kind(choices, number, bool in members, type(None) in members, str in members)
