"""Every public name of the package has a docstring, and so have its public methods."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Iterator
from types import ModuleType

import pytest

import arbora

PACKAGES = [
    "data", "drawing", "evaluation", "fitting", "inference", "losses", "models", "options",
    "parsers", "scores", "scoring",
]  # fmt: skip


def modules() -> Iterator[ModuleType]:
    yield arbora
    yield importlib.import_module("arbora.errors")
    yield importlib.import_module("arbora.types")
    for name in PACKAGES:
        package = importlib.import_module(f"arbora.{name}")
        yield package
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)


def own_members(thing: type) -> Iterator[tuple[str, object]]:
    """Public methods and properties that the class itself defines."""
    generated = set(getattr(thing, "_fields", ()))  # a named tuple's fields are properties, too
    for name, member in vars(thing).items():
        is_documented = isinstance(member, property | classmethod | staticmethod)
        if name.startswith("_") or name in generated:
            continue
        if is_documented or inspect.isfunction(member):
            yield name, getattr(thing, name)


def is_described(thing: object) -> bool:
    """A docstring of its own or of the method that it overrides, not one that Python made up."""
    text = inspect.getdoc(thing) or ""
    made_up = inspect.isclass(thing) and text.startswith(f"{thing.__name__}(")
    return bool(text.strip()) and not made_up


def undocumented(module: ModuleType) -> Iterator[str]:
    if not (module.__doc__ or "").strip():
        yield module.__name__
    for name in getattr(module, "__all__", ()):
        thing = getattr(module, name)
        if not (inspect.isclass(thing) or inspect.isroutine(thing)):
            continue  # tables, versions and types of callables
        if typing.get_origin(thing) is None and not is_described(thing):
            yield f"{module.__name__}.{name}"
        if inspect.isclass(thing) and thing.__module__ == module.__name__:
            for member_name, member in own_members(thing):
                inherited = any(
                    is_described(getattr(base, member_name, None)) for base in thing.__mro__[1:]
                )
                if not is_described(member) and not inherited:
                    yield f"{module.__name__}.{name}.{member_name}"


@pytest.mark.parametrize("module", list(modules()), ids=lambda module: module.__name__)
def test_public_names_have_docstrings(module):
    assert not list(undocumented(module))
