"""Checks of a segmenter that was read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._core import segmentation as _core
from arbora.errors import ModelError

__all__ = ["VERSION", "checked_settings", "checked_tensors", "stored_entries", "table_bits"]

VERSION = 3  # of the features; weights fit the features of their version only
_PAIRS = _core.CLASSES**2
_MOST_RULES = 1_000_000
_LONGEST_TEXT = 1000  # letters of a rule


def table_bits(bits: int) -> dict[str, int]:
    """The size of each table, as a power of two."""
    return {"boundary": bits, "sentence": bits - 1, "split": bits - 2}


def stored_entries(keys: NDArray[np.uint32], *kinds: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The lexicon in one array: keys of 29 bits, and a bit for each kind of word."""
    entries = keys.astype(np.uint32) << 3
    for bit, parts in enumerate(kinds):
        entries |= (parts > 0).astype(np.uint32) << bit
    return entries.astype(np.uint32)


def checked_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with rules as tuples; raises a `ModelError` for anything unexpected."""
    if not isinstance(settings, Mapping):
        raise ModelError("the segmenter's settings are not a table.")
    names = {"version", "bits", "lines_matter", "rules"}
    if set(settings) != names:
        raise ModelError(f"the segmenter's settings must be {', '.join(sorted(names))}.")
    version, bits = settings["version"], settings["bits"]
    if version != VERSION or isinstance(version, bool):
        raise ModelError(
            f"the segmenter has version {version!r}, but this Arbora reads version {VERSION}; "
            "train it again, or use another Arbora."
        )
    if isinstance(bits, bool) or not isinstance(bits, int) or not 8 <= bits <= 28:
        raise ModelError(f"the segmenter's bits are {bits!r}, not between 8 and 28.")
    if not isinstance(settings["lines_matter"], bool):
        raise ModelError("the segmenter's lines_matter is not true or false.")
    rules = settings["rules"]
    if not isinstance(rules, list | tuple) or len(rules) > _MOST_RULES:
        raise ModelError("the segmenter's rules are not a list.")
    return {
        "version": version,
        "bits": bits,
        "lines_matter": settings["lines_matter"],
        "rules": tuple(_checked_rule(number, rule) for number, rule in enumerate(rules, 1)),
    }


def _checked_rule(number: int, rule: Any) -> tuple[Any, ...]:
    """One rule: left, right, words, core, before, after (see split_rules.hpp)."""
    bad = ModelError(f"rule {number} of the segmenter is malformed.")
    if not isinstance(rule, list | tuple) or len(rule) != 6:
        raise bad
    left, right, words, core, before, after = rule
    if not isinstance(words, list | tuple) or not 2 <= len(words) <= 100:
        raise bad
    if isinstance(core, bool) or not isinstance(core, int) or not -1 <= core < len(words):
        raise bad
    if not all(_is_text(text) for text in (left, right, before, after, *words)):
        raise bad
    # Every word must have letters, and a rule that copies nothing must name its token.
    if any(not word and place != core for place, word in enumerate(words)):
        raise bad
    if core == -1 and (not left or right or before or after):
        raise bad
    return (left, right, tuple(words), core, before, after)


def _is_text(value: Any) -> bool:
    """Whether it is text that a column can hold, or empty."""
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        return False
    if "\0" in value or any(0xD800 <= ord(c) <= 0xDFFF for c in value):
        return False
    return not any(c.isspace() for c in value)


def checked_tensors(tensors: Mapping[str, NDArray[Any]], bits: int) -> dict[str, NDArray[Any]]:
    """Read-only copies of the arrays; raises a `ModelError` for anything unexpected."""
    expected: dict[str, tuple[str, int | None]] = {
        name: ("f2", 1 << size) for name, size in table_bits(bits).items()
    }
    expected |= {"open": ("u1", _PAIRS), "lexicon": ("u4", None)}
    if not isinstance(tensors, Mapping) or set(tensors) != set(expected):
        raise ModelError(f"the segmenter's arrays must be {', '.join(expected)}.")
    made = {}
    for name, (kind, size) in expected.items():
        given = tensors[name]
        if not isinstance(given, np.ndarray) or given.dtype != np.dtype(kind) or given.ndim != 1:
            raise ModelError(f"the segmenter's {name} must be one row of {np.dtype(kind)}.")
        if size is not None and len(given) != size:
            raise ModelError(f"the segmenter's {name} must have {size} entries.")
        made[name] = np.array(given)
        made[name].flags.writeable = False
    for name in table_bits(bits):
        if not np.isfinite(made[name]).all():
            raise ModelError(f"the segmenter's {name} weights are not all finite numbers.")
    if (made["open"] > 1).any():
        raise ModelError("the segmenter's open pairs are not all 0 or 1.")
    keys = made["lexicon"] >> 3
    if len(keys) > 1 and not (keys[1:] > keys[:-1]).all():
        raise ModelError("the segmenter's lexicon is not in increasing order.")
    return made
