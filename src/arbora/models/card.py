"""The model card: its entries and their types."""

from __future__ import annotations

from typing import Any

from arbora.errors import ModelError
from arbora.models.head_sets import HeadSets

__all__ = ["check_card"]

_NUMBER, _COUNT, _TEXT = (int, float), (int,), (str,)
_NOTHING = type(None)

# Types of the entries that are read. They may be missing; other entries may have any type.
_ENTRIES: dict[str, tuple[type, ...]] = {
    "averaging": (dict,),
    "best_pass": _COUNT,
    "date": _TEXT,
    "dev": (dict, _NOTHING),
    "files": (dict, _NOTHING),
    "head_sets": (dict, _NOTHING),
    "licence": (*_TEXT, _NOTHING),
    "multi_root_sentences": (*_NUMBER, _NOTHING),
    "passes": _COUNT,
    "phases": (list,),
    "pruning": (dict,),
    "reranking": (dict,),
    "root_labels": (list,),
    "stages": (dict,),
    "trained_on": (dict, _NOTHING),
    "vocabulary": (dict, _NOTHING),
    "weighting": (dict,),
}
# Required entries of nested tables, with their types.
_PARTS: dict[str, dict[str, tuple[type, ...]]] = {
    "averaging": {"samples": _COUNT, "scale": _NUMBER},
    "weighting": {"temperature": _NUMBER},
    "dev": {"uas": _NUMBER, "las": (*_NUMBER, _NOTHING), "rule": _TEXT},
    "pruning": {"arcs_per_word": _NUMBER, "oracle_uas": _NUMBER},
    "reranking": {"first_uas": (*_NUMBER, _NOTHING), "oracle_uas": (*_NUMBER, _NOTHING)},
    "stages": {
        "trained": (dict,),
        "skipped": (dict,),
        "folds": _COUNT,
        "measured_on": (*_TEXT, _NOTHING),
    },
    "trained_on": {"words": _COUNT, "sentences": _COUNT},
}
_PHASE: dict[str, tuple[type, ...]] = {"passes": _COUNT, "rate": (*_NUMBER, _NOTHING)}
_FILES = (*_TEXT, _NOTHING)


def check_card(card: object) -> None:
    """Raises an error if an entry of the card is missing or has the wrong type."""
    if not isinstance(card, dict):
        raise ModelError("the model's card is not a table.")
    for name, types in _ENTRIES.items():
        if name in card:
            _check(card[name], types, name)
    for name, parts in _PARTS.items():
        for part, types in parts.items() if card.get(name) is not None else ():
            _check(card[name].get(part, ...), types, f"{name}.{part}")
    for phase in card.get("phases", []):
        _check(phase, (dict,), "phases")
        for part, types in _PHASE.items():
            _check(phase.get(part, ...), types, f"phases.{part}")
    stages = card.get("stages") or {"trained": {}, "skipped": {}}
    for name, figures in stages["trained"].items():
        _check(figures, (dict,), f"stages.{name}")
        for part, value in figures.items():
            _check(value, _NUMBER, f"stages.{name}.{part}")
    for name, why in stages["skipped"].items():
        _check(why, _TEXT, f"stages.skipped.{name}")
    for name, file in (card.get("files") or {}).items():
        _check(file, _FILES, f"files.{name}")
    if "averaging" in card and not 0.01 <= card["averaging"]["scale"] <= 100:
        raise ModelError(f"the model's card has {card['averaging']['scale']} as averaging.scale.")
    HeadSets.from_card(card)
    if "best_pass" in card and "passes" not in card:
        raise ModelError("the model's card has a best_pass without passes.")


def _check(value: Any, types: tuple[type, ...], name: str) -> None:
    if value is ...:
        raise ModelError(f"the model's card has no {name}.")
    if not isinstance(value, types) or isinstance(value, bool):
        raise ModelError(f"the model's card has {_shown(value)} as {name}.")


def _shown(value: Any) -> str:
    text = ascii(value)
    return text if len(text) < 40 else f"{text[:36]}..."
