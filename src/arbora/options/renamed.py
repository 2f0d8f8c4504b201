"""Options that were renamed: their old names keep working until the version in the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from arbora.errors import ArgumentError
from arbora.options.spelling import spelled

__all__ = ["RENAMED_OPTIONS", "RenamedOption", "current_names", "stored_names"]


class RenamedOption(NamedTuple):
    """The current name of an option, and the version that removes the old one."""

    name: str
    removed_in: str


RENAMED_OPTIONS = {"l2": RenamedOption("regularization", "0.4")}


def current_names(keywords: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Keywords by their current names, and a warning for each old name among them."""
    current: dict[str, Any] = {}
    warnings: list[str] = []
    for name, value in keywords.items():
        renamed = RENAMED_OPTIONS.get(name)
        if renamed is None:
            current[name] = value
            continue
        if renamed.name in keywords:
            raise ArgumentError(
                f"{spelled(name)} is the old name of {spelled(renamed.name)}: give only "
                f"{spelled(renamed.name)}."
            )
        current[renamed.name] = value
        warnings.append(
            f"{spelled(name)} is deprecated and will be removed in version {renamed.removed_in}: "
            f"use {spelled(renamed.name)}."
        )
    return current, warnings


def stored_names(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a model file, which had an effect; None is left out.

    Older files do not name the features of hidden clusters, and their table has the size of the
    label table.
    """
    stored = {name: value for name, value in keywords.items() if value is not None}
    if stored.get("clusters") and "cluster_features" not in stored:
        stored |= {"cluster_features": "beside", "cluster_bits": stored.get("label_bits", 17)}
    return stored
