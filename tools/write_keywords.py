"""Writes the typed signature of `Parser` from the declarations of its options.

python tools/write_keywords.py          # writes src/arbora/options/keywords.py
python tools/write_keywords.py --check  # exit status 1 if the file is out of date
"""

from __future__ import annotations

import sys
from pathlib import Path

from arbora.options import ParserOptions, PublicOption, public_options

TARGET = Path(__file__).parents[1] / "src" / "arbora" / "options" / "keywords.py"

HEAD = '''"""The options of `Parser` as keywords, for editors and type checkers.

Written by tools/write_keywords.py from the declarations in this folder; do not edit.
"""

# fmt: off
# ruff: noqa: E501

from __future__ import annotations

from typing import Literal, TypedDict

from arbora.options.declare import Component

__all__ = ["ParserKeywords"]


class ParserKeywords(TypedDict, total=False):
    """Every option of a parser; see `arbora train --help-all`."""

'''


def annotation(option: PublicOption) -> str:
    """The type of an option as source code."""
    names = option.tags or option.kind.choices
    kinds = (
        [f"Literal[{', '.join(repr(name) for name in names)}]".replace("'", '"')] if names else []
    )
    if option.kind.number is not None:
        kinds.insert(0, option.kind.number.__name__)
    if option.kind.boolean:
        kinds.insert(0, "bool")
    if option.tags:
        kinds.append("Component")
    return " | ".join(kinds)


def text() -> str:
    options = public_options(ParserOptions)
    del options["scorer"]  # `Parser` declares it: it may also be an object
    return HEAD + "".join(f"    {name}: {annotation(options[name])}\n" for name in sorted(options))


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(TARGET.read_text(encoding="utf-8") != text())
    TARGET.write_text(text(), encoding="utf-8")
