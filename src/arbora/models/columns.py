"""Columns that a model uses and its input lacks."""

from __future__ import annotations

from collections.abc import Collection

from arbora.data import Block
from arbora.errors import ArgumentError
from arbora.features import FeatureSettings

__all__ = ["COLUMNS", "check_columns", "is_empty"]

# By the name of the option, the column's place in a line.
COLUMNS = {"lemma": 2, "upos": 3, "xpos": 4, "feats": 5}
_FEW_WORDS = 30  # so few words may all be without features


def check_columns(
    block: Block, settings: FeatureSettings, remedy: str, filled: Collection[str] = ()
) -> None:
    """Raises an error if no sentence has a column that the parser was trained with.

    `filled` are the names of columns that a stage has filled in: `_` is then what it found.
    """
    missing = [
        name.upper()
        for name, place in COLUMNS.items()
        if getattr(settings, name) and name not in filled and is_empty(block, place)
    ]
    if missing:
        raise ArgumentError(
            f"the sentences have no {' and no '.join(missing)}, which this model was trained with: "
            f"{remedy}, or set allow_missing (--allow-missing) and expect many errors."
        )


def is_empty(block: Block, place: int) -> bool:
    """Whether a column is `_` throughout; in FEATS of a few words this is no surprise."""
    if not len(block) or (place == COLUMNS["feats"] and block.n_words.sum() < _FEW_WORDS):
        return False
    return all(name == "_" for name, _ in block.column_names(place))
