"""Checks of the packages that clusters need."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from arbora.errors import ArgumentError

__all__ = ["required"]

_FIRST = {"ray": (2, 51), "pyspark": (4, 0)}
_EXTRAS = {"ray": "ray", "pyspark": "spark"}
_TITLES = {"ray": "Ray", "pyspark": "Spark"}


def required(package: str) -> Any:
    """The module of a package; raises an error if it is missing or too old."""
    title, extra = _TITLES[package], _EXTRAS[package]
    try:
        found = version(package)
        check_version(package, found)
        return import_module(package)
    except (PackageNotFoundError, ImportError) as error:
        missing = getattr(error, "name", None) or package
        raise ArgumentError(
            f'{title} requires {missing}: install it with pip install "arbora[{extra}]".'
        ) from None


def check_version(package: str, found: str) -> None:
    """Raises an error for a version that is too old."""
    first = _FIRST[package]
    numbers = tuple(int(number) for number in re.findall(r"\d+", found)[:2])
    if numbers < first:
        title, extra = _TITLES[package], _EXTRAS[package]
        raise ArgumentError(
            f"Arbora requires {title} {first[0]}.{first[1]} or later, and {found} is installed: "
            f'pip install --upgrade "arbora[{extra}]".'
        )
