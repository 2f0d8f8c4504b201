"""The features of `mcdonald2005` are those of McDonald, Crammer & Pereira (2005), table 1."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.scoring.test_template_sets import arc_features

UNIGRAMS = ["{0}w {0}p", "{0}w", "{0}p"]
BIGRAMS = [
    "hw hp mw mp", "hp mw mp", "hw mw mp", "hw hp mp", "hw hp mw", "hw mw", "hp mp",
]  # fmt: skip
AROUND = ["hp hp+1 mp-1 mp", "hp-1 hp mp-1 mp", "hp hp+1 mp mp+1", "hp-1 hp mp mp+1"]
BACKED_OFF = ["hp hp+1 mp", "hp-1 hp mp", "hp mp-1 mp", "hp mp mp+1"]  # one neighbour left out
# Words are f1 to f4, with tags F1 to F4; the fifth is longform5 (F5), the only long one.


def atom(one, head, modifier):
    """The word or tag that a name like hp-1 stands for; m5 is the beginning of a long word."""
    place = (head if one[0] == "h" else modifier) + int(one[2:] or 0)
    if one[1] == "p":
        return {0: "<root>", 6: "<end+1>"}.get(place, f"F{place}")
    if place == 5:
        return "longf" if one[1] == "5" else "longform5"
    return f"f{place}"


def in_prefixes(name, head, modifier):
    """A feature of words once more with the first five letters of the long ones."""
    ends = {"h": head, "m": modifier}
    if not any(one[1] == "w" and ends[one[0]] == 5 for one in name.split()):
        return []
    both = all(f"{end}w" in name for end in "hm")  # then both are called by their prefixes
    return [
        " ".join(
            one[0] + "5" if one[1] == "w" and (both or ends[one[0]] == 5) else one
            for one in name.split()
        )
    ]


@pytest.mark.parametrize(("head", "modifier"), [(5, 1), (1, 5), (2, 4), (3, 2)])
def test_table_1(head, modifier):
    names = [name.format(end) for end in "hm" for name in UNIGRAMS] + BIGRAMS
    names += [short for name in names for short in in_prefixes(name, head, modifier)]
    names += AROUND + BACKED_OFF
    expected = Counter(
        (name, *(atom(one, head, modifier) for one in name.split())) for name in names
    )
    for between in range(min(head, modifier) + 1, max(head, modifier)):
        expected["hp bp mp", f"F{head}", f"F{between}", f"F{modifier}"] += 1
    assert arc_features("mcdonald2005", head, modifier) == expected
