"""Conversion between public option names and components."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeVar

from arbora.errors import ArgumentError
from arbora.options.declare import (
    Component,
    FieldOption,
    Kind,
    Spec,
    alternatives,
    options_of,
)
from arbora.options.spelling import spelled

__all__ = ["PublicOption", "build", "flatten", "public_options"]

Some = TypeVar("Some", bound=Component)


class PublicOption(NamedTuple):
    """An option by its public name, merged over all components that have it."""

    name: str
    spec: Spec
    kind: Kind
    default: Any  # None if it depends on other choices
    tags: tuple[str, ...]  # the alternatives of a slot
    owners: tuple[tuple[str, str], ...]  # (slot, tag) of the components that have it


def public_options(root: type[Component]) -> dict[str, PublicOption]:
    """All options of `root` and of the components in its slots, each once."""
    found: dict[str, PublicOption] = {}
    for one, owner in _walk(root, ()):
        tags = tuple(component.tag for component in one.spec.components)
        default = one.default.tag if isinstance(one.default, Component) else one.default
        owners = (owner,) if owner else ()
        new = PublicOption(one.name, one.spec, one.kind, default, tags, owners)
        old = found.get(one.name)
        found[one.name] = new if old is None else _merged(old, new)
    return found


def _walk(
    root: type[Component], owner: tuple[str, str] | tuple[()]
) -> Iterator[tuple[FieldOption, Any]]:
    for one in options_of(root):
        yield one, owner
        for component in one.spec.components:
            yield from _walk(component, (one.name, component.tag))


def _merged(old: PublicOption, new: PublicOption) -> PublicOption:
    tags = tuple(dict.fromkeys(old.tags + new.tags))
    owners = tuple(dict.fromkeys(old.owners + new.owners))
    return old._replace(
        tags=tags, owners=owners, default=old.default if old.default == new.default else None
    )


def build(
    root: type[Some], keywords: Mapping[str, Any], kept: Mapping[str, Any] | None = None
) -> Some:
    """A component from options by their public names; options without effect raise an error.

    Options in `kept` are used where they apply and ignored elsewhere.
    """
    used: set[str] = set()
    built = _build(root, keywords, kept or {}, used)
    for name in keywords:
        if name not in used:
            raise _without_effect(root, name)
    return built


def _build(
    component: type[Some], keywords: Mapping[str, Any], kept: Mapping[str, Any], used: set[str]
) -> Some:
    values: dict[str, Any] = {}
    for one in options_of(component):
        used.add(one.name)
        if one.name in keywords:
            value = keywords[one.name]
        elif one.name in kept and _applies(one, kept[one.name]):
            value = kept[one.name]
        else:
            value = one.default
        if one.spec.components:
            value = _component(one, value, keywords, kept, used)
        values[one.field] = value
    return component(**values)


def _applies(one: FieldOption, value: Any) -> bool:
    """Whether this component allows a kept value: it may have fewer choices than another."""
    tags = list(alternatives(one.spec.components))
    return value in tags if tags else True


def _component(
    one: FieldOption, value: Any, keywords: Mapping[str, Any], kept: Mapping[str, Any],
    used: set[str],
) -> Any:  # fmt: skip
    if isinstance(value, Component):
        if one.name in keywords:  # given as an object, with its options inside
            return value
        value = value.tag
    known = alternatives(one.spec.components)
    if isinstance(value, str) and value in known:
        return _build(known[value], keywords, kept, used)
    one.check(value)  # refuses what is not a tag
    return value


def flatten(component: Component, *, only_kept: bool = False) -> dict[str, Any]:
    """Options by their public names, slots by their tags."""
    values: dict[str, Any] = {}
    for one in options_of(type(component)):
        value = getattr(component, one.field)
        if isinstance(value, Component):
            values |= flatten(value, only_kept=only_kept)
        if one.spec.kept or not only_kept:
            values[one.name] = value.tag if isinstance(value, Component) else value
    return values


def _without_effect(root: type[Component], name: str) -> ArgumentError:
    known = public_options(root)
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f"; did you mean {spelled(near[0])}?" if near else "."
        return ArgumentError(f"there is no option {spelled(name)}{hint}")
    owners = [spelled(slot, tag) for slot, tag in known[name].owners]
    return ArgumentError(f"{spelled(name)} has no effect here: it belongs to {_listed(owners)}.")


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]
