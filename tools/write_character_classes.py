"""Writes the character classes of the segmenter, from Python's Unicode data, as C++.

python tools/write_character_classes.py          # rewrites the tables
python tools/write_character_classes.py --check  # exit status 1 if they are out of date
"""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

TARGET = Path(__file__).parents[1] / "cpp" / "src" / "segmentation" / "character_tables.cpp"

# Numbers of CharacterClass (characters.hpp) by the general category.
CLASSES = {
    "Ll": 2, "Lu": 3, "Lt": 3, "Lo": 4, "Lm": 4, "Mn": 5, "Mc": 5, "Me": 5, "Nd": 6, "Nl": 7,
    "No": 7, "Ps": 8, "Pi": 8, "Pe": 9, "Pf": 9, "Pc": 10, "Pd": 10, "Po": 11, "Sm": 12, "Sc": 12,
    "Sk": 12, "So": 12, "Cc": 13, "Cf": 13, "Cs": 13, "Co": 13, "Cn": 13,
}  # fmt: skip
SPACE, HIRAGANA, KATAKANA, HAN = 1, 14, 15, 16
SCRIPTS = [
    (0x3041, 0x309F, HIRAGANA), (0x30A1, 0x30FA, KATAKANA), (0x30FC, 0x30FF, KATAKANA),
    (0x31F0, 0x31FF, KATAKANA), (0xFF66, 0xFF9F, KATAKANA), (0x3005, 0x3007, HAN),
    (0x3400, 0x4DBF, HAN), (0x4E00, 0x9FFF, HAN), (0xF900, 0xFAFF, HAN), (0x20000, 0x3FFFD, HAN),
]  # fmt: skip


def class_of(point: int) -> int:
    """The class of a character: its script, or what its general category says."""
    if chr(point).isspace():
        return SPACE
    for first, last, script in SCRIPTS:
        if first <= point <= last:
            return script
    return CLASSES[unicodedata.category(chr(point))]


def class_runs() -> list[int]:
    """Where the class changes: 32 times the first character of a run, plus its class."""
    runs, before = [], -1
    for point in range(0x110000):
        if (now := class_of(point)) != before:
            runs.append(32 * point + now)
            before = now
    return runs


def lower_of(point: int) -> int:
    """The small letter of a capital, if that is one character; else the character itself."""
    small = "i" if point == 0x130 else chr(point).lower()
    return ord(small) if len(small) == 1 else point


def lower_runs() -> list[tuple[int, int, int, int]]:
    """First and last capital of a run, the steps between them, and the distance to small ones."""
    runs: list[tuple[int, int, int, int]] = []
    for point in range(0x110000):
        distance = lower_of(point) - point
        if distance == 0:
            continue
        if runs:
            first, last, step, before = runs[-1]
            new_step = point - last
            if before == distance and new_step in (1, 2) and (first == last or step == new_step):
                runs[-1] = (first, point, new_step, distance)
                continue
        runs.append((point, point, 1, distance))
    return runs


def packed(items: list[str]) -> str:
    """Items with commas, in lines of at most 100 columns."""
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > 100:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return "\n".join([*lines, line])


def tables() -> str:
    """The text of the file."""
    classes = packed([str(run) for run in class_runs()])
    lower = packed(["{" + ", ".join(map(str, run)) + "}" for run in lower_runs()])
    return f"""\
// Written by tools/write_character_classes.py; do not edit. Unicode {unicodedata.unidata_version}.
#include "arbora/segmentation/characters.hpp"

namespace arbora::segmentation {{

// clang-format off
const std::vector<std::uint32_t> kClassRuns = {{
{classes}
}};

const std::vector<LowerRun> kLowerRuns = {{
{lower}
}};
// clang-format on

}}  // namespace arbora::segmentation
"""


def main() -> int:
    """Writes or checks the file."""
    text = tables()
    if "--check" in sys.argv[1:]:
        return int(TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
