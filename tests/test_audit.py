"""The page of the papers is complete, and all that it names exists."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from itertools import pairwise

import arbora
from arbora.errors import ArgumentError
from tests.named_tests import ROOT, is_test, spans

PAGE = (ROOT / "docs" / "papers" / "index.md").read_text(encoding="utf-8")
COUNTS = {"K07": 32, "L07": 10, "S07": 21, "G15": 36, "D10": 25}
ITEMS = [f"{paper}-{i:02d}" for paper, count in COUNTS.items() for i in range(1, count + 1)]
CODE, TEST, FIGURE = 2, 3, 4  # columns; before them the item and what the paper describes


def rows():
    """The cells of all items."""
    lines = [line for line in PAGE.splitlines() if re.match(r"\| [A-Z]\d\d-\d\d \|", line)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def named(column):
    """Every span of a column once."""
    return list(dict.fromkeys(span for row in rows() for span in spans(row[column])))


def test_every_item_has_one_row():
    assert [row[0] for row in rows()] == sorted(
        ITEMS, key=lambda item: (list(COUNTS).index(item[:3]), item)
    )


def test_every_row_says_what_and_names_code_and_test():
    for item, what, code, test, _ in rows():
        assert len(what) > 20, item
        assert code, item
        assert any(span.startswith("tests/") for span in spans(test)), item


def test_tests_exist():
    tests = {name for name in named(TEST) if name.startswith("tests/")}
    assert len(tests) > 150
    assert {name for name in tests if not is_test(name)} == set()


def resolved(name):
    """Whether a dotted name can be imported, with attributes at its end."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(thing, part) and part not in getattr(thing, "__annotations__", {}):
                return False
            thing = getattr(thing, part, None)
        return True
    return False


def accepted(call):
    """Whether the parser takes the options."""
    keywords = ast.parse(call, mode="eval").body.keywords
    try:
        arbora.Parser(**{one.arg: ast.literal_eval(one.value) for one in keywords})
    except ArgumentError:
        return False
    return True


def command_exists(span):
    return (ROOT / "src" / "arbora" / "cli" / f"{span.split()[1]}.py").is_file()


OTHERS = ('root="multi"', 'trees="nonprojective"', "(n+1, n+1, L)", "a * b")


def code_exists(name):
    if re.fullmatch(r"arbora(\.\w+)+", name):
        return resolved(name)
    if name.startswith("Parser("):
        return accepted(name)
    if name.startswith("arbora "):
        return command_exists(name)
    return (ROOT / name).exists() if "/" in name else name in OTHERS


def test_code_exists():
    assert {name for name in named(CODE) if not code_exists(name)} == set()


def test_figures_are_of_tables_that_exist():
    for span in named(FIGURE):
        assert command_exists(span)
        _, command, *words = span.split()
        if command != "reproduce":
            continue
        recipe = ROOT / "src" / "arbora" / "reproduction" / "recipes" / f"{words[0]}.toml"
        tables = {table["name"] for table in tomllib.loads(recipe.read_text("utf-8"))["table"]}
        asked = [after for word, after in pairwise(words) if word == "--table"]
        assert set(asked) <= tables


def test_every_table_of_the_recipes_is_a_figure_here():
    """No table is reproduced that belongs to no item."""
    for recipe in (ROOT / "src" / "arbora" / "reproduction" / "recipes").glob("*.toml"):
        for table in tomllib.loads(recipe.read_text("utf-8"))["table"]:
            assert re.search(
                rf"`arbora reproduce {recipe.stem}[^`]* --table {table['name']}[` ]", PAGE
            )
