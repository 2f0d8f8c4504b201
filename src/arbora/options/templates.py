"""The sets of feature templates."""

from __future__ import annotations

from typing import Literal

__all__ = ["Templates"]

# A set's place here is its number in the core: new ones go to the end.
Templates = Literal[
    "rich", "mcdonald2005", "squeezed2005", "morphological", "carreras2007", "basic2005"
]
