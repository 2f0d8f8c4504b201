"""Recipes: what a paper did, as a file that can be held against its sections.

A recipe is a TOML file in `recipes/`. It names the data, the systems with their options (as printed
in the paper, and ours), the tables with the published figures, and the paper's claims.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeVar

from arbora.errors import ArgumentError, reason, unreadable

__all__ = [
    "PAPERS",
    "Claim",
    "Column",
    "Corpus",
    "Quick",
    "Recipe",
    "System",
    "TableSpec",
    "Way",
    "read_recipe",
]

PAPERS = ("koo2007", "smith2007", "koo2010", "gormley2015")

Way = Literal["printed", "ours"]  # the paper's recipe, or today's defaults

Made = TypeVar("Made")


@dataclass(frozen=True)
class Corpus:
    """A language of the paper and the treebank that stands for it.

    A treebank larger than the paper's is cut to `train_words`. The validation set is taken from
    the dev file, or from the end of the training data if there is none or `validation` is "tail".
    With "none", the parser holds out sentences on its own.
    """

    language: str
    folder: str
    original: bool = False
    train_words: int | None = None
    validation: Literal["dev", "tail", "none"] = "dev"
    validation_words: int | None = None
    validation_share: float = 0.1
    test: Literal["file", "tail"] = "file"
    test_sentences: int | None = None
    universal_tags: str | None = None
    fine_tags: bool = True  # False: XPOS is left out, for instance where it is all of morphology
    known_heads: float = 1.0  # share of the training heads that are given

    @property
    def kind(self) -> str:
        """How the data relates to the paper's."""
        return "original data" if self.original else "stand-in"


@dataclass(frozen=True)
class System:
    """A parser of the paper: its options, and the values that are tried on validation.

    `stand_in` has options for treebanks that are not the paper's own, in place of the printed ones
    and of the grid. `languages` are those to train on, `ours_languages` those for our own defaults;
    None is all.
    """

    name: str
    printed: Mapping[str, Any] | None = None
    ours: Mapping[str, Any] | None = None
    grid: Mapping[str, list[Any]] = field(default_factory=dict)
    decoders: tuple[str, ...] = ("",)
    deviation: str = ""
    stand_in: Mapping[str, Any] = field(default_factory=dict)
    languages: tuple[str, ...] | None = None
    ours_languages: tuple[str, ...] | None = None
    cost: float = 1.0

    def trials(self, way: Way, corpus: Corpus) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """For every training on a treebank, the values from the grid and all options."""
        options = self.printed if way == "printed" else self.ours
        languages = self.languages if way == "printed" else self.ours_languages or self.languages
        if options is None or (languages is not None and corpus.language not in languages):
            return []
        changed = self.stand_in if way == "printed" and not corpus.original else {}
        grid = self.grid if way == "printed" else {}
        grid = {name: values for name, values in grid.items() if name not in changed}
        points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
        return [(point, {**options, **changed, **point}) for point in points]


@dataclass(frozen=True)
class Column:
    """A column of a table: a measure of a system, minus another system's if that is given.

    Of several systems, the one that is best on validation counts.
    """

    title: str
    systems: tuple[str, ...]
    decoder: str = ""
    measure: str = "uas"
    minus: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableSpec:
    """A table or figure of the paper.

    `tests` are pairs of column titles to compare. `lines` groups columns into the lines of a
    figure: a name, and the titles of its columns from left to right.
    """

    name: str
    title: str
    section: str = ""
    kind: str = "accuracy"
    columns: tuple[Column, ...] = ()
    languages: tuple[str, ...] | None = None
    published: Mapping[str, list[float | None]] = field(default_factory=dict)
    tests: tuple[tuple[str, str], ...] = ()
    ways: tuple[Way, ...] = ("printed", "ours")
    lines: Mapping[str, list[str]] = field(default_factory=dict)
    axis: tuple[str, ...] = ()
    axis_title: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    def column(self, title: str) -> Column:
        """The column with this title."""
        for column in self.columns:
            if column.title == title:
                return column
        raise KeyError(f"table {self.name} has no column {title!r}")


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and the check that decides whether it holds here."""

    text: str
    section: str
    check: str
    table: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Quick:
    """The limits of a quick run."""

    languages: tuple[str, ...]
    train_sentences: int = 300
    test_sentences: int = 100
    passes: int = 2
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Recipe:
    """The complete recipe of a paper."""

    paper: str
    citation: str
    title: str
    protocol: tuple[tuple[str, str], ...]  # where in the paper, and what is done here
    rule: str
    corpora: tuple[Corpus, ...]
    systems: tuple[System, ...]
    tables: tuple[TableSpec, ...]
    claims: tuple[Claim, ...]
    quick: Quick
    remarks: tuple[str, ...] = ()

    @cached_property
    def by_name(self) -> dict[str, System]:
        return {system.name: system for system in self.systems}

    def table(self, name: str) -> TableSpec:
        """The table with this name."""
        for table in self.tables:
            if table.name == name:
                return table
        known = ", ".join(table.name for table in self.tables)
        raise ArgumentError(f"{self.paper} has no table {name!r}: its tables are {known}.")


def read_recipe(paper: str) -> Recipe:
    """The recipe of a paper by its short name, or your own from a file that ends in .toml."""
    if paper.endswith(".toml"):
        return _read_own(Path(paper))
    if paper not in PAPERS:
        raise ArgumentError(
            f"there is no recipe for {paper!r}: choose {', '.join(PAPERS)}, or give a .toml file."
        )
    text = (files("arbora.reproduction") / "recipes" / f"{paper}.toml").read_text(encoding="utf-8")
    return recipe_from(paper, tomllib.loads(text))


def _read_own(path: Path) -> Recipe:
    try:
        return recipe_from(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise unreadable(path, error) from error
    except KeyError as error:
        raise ArgumentError(f"{path}: the recipe has no entry {error}.") from error
    except (ValueError, TypeError) as error:  # of TOML too
        raise ArgumentError(f"{path}: the recipe cannot be read: {reason(error)}.") from error


def recipe_from(paper: str, values: dict[str, Any]) -> Recipe:
    """The recipe from the contents of its file."""
    data = values["data"]
    shared = {name: value for name, value in data.items() if name not in ("treebank", "rule")}
    common = values.get("common", {})
    recipe = Recipe(
        paper=paper,
        citation=values["citation"],
        title=values["title"],
        protocol=tuple((row[0], row[1]) for row in values["protocol"]),
        rule=data["rule"],
        corpora=tuple(
            _make(Corpus, {"language": language, **shared, **corpus})
            for language, corpus in data["treebank"].items()
        ),
        systems=tuple(
            _make(System, {"name": name, **_with_common(system, common)})
            for name, system in values["system"].items()
        ),
        tables=tuple(_table(table) for table in values["table"]),
        claims=tuple(_make(Claim, claim) for claim in values.get("claim", [])),
        quick=_make(Quick, values["quick"]),
        remarks=tuple(values.get("remarks", ())),
    )
    _check(recipe)
    return recipe


def _with_common(system: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    """The system with the options that all systems share."""
    answer = dict(system)
    for way in ("printed", "ours"):
        if way in system:
            answer[way] = {**common.get(way, {}), **system[way]}
    return answer


def _table(values: dict[str, Any]) -> TableSpec:
    columns = tuple(_column(column) for column in values.get("columns", []))
    published = {
        name: [None if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells]
        for name, cells in values.get("published", {}).items()
    }  # nan: the paper has no figure
    tests = tuple((pair[0], pair[1]) for pair in values.get("tests", []))
    return _make(TableSpec, {**values, "columns": columns, "published": published, "tests": tests})


def _column(values: dict[str, Any] | str) -> Column:
    if isinstance(values, str):  # the system's name is the title
        values = {"system": values}
    values = dict(values)
    if "system" in values:
        values["systems"] = [values.pop("system")]
    if isinstance(values.get("minus"), str):
        values["minus"] = [values["minus"]]
    values.setdefault("title", values["systems"][0])
    return _make(Column, values)


def _make(kind: type[Made], values: Mapping[str, Any]) -> Made:
    """A dataclass from the values of a file; lists become tuples where a field has one."""
    known = {one.name: str(one.type) for one in fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise ValueError(f"{kind.__name__} has no {', '.join(unknown)}")
    return kind(**{
        name: tuple(value) if isinstance(value, list) and known[name].startswith("tuple") else value
        for name, value in values.items()
    })  # fmt: skip


def _check(recipe: Recipe) -> None:
    """Every name that a recipe uses is defined in it."""
    languages = {corpus.language for corpus in recipe.corpora}
    for table in recipe.tables:
        for column in table.columns:
            for name in (*column.systems, *column.minus):
                if name not in recipe.by_name:
                    raise ValueError(f"table {table.name} has an unknown system {name!r}")
        for names in (table.languages or (), [name for name in table.published if name != "mean"]):
            if not set(names) <= languages:
                raise ValueError(f"table {table.name} has unknown languages: {set(names)}")
        for name, cells in table.published.items():
            if table.columns and len(cells) != len(table.columns):
                raise ValueError(f"table {table.name}: {name} has {len(cells)} published figures")
        titles = {column.title for column in table.columns}
        used = {title for pair in table.tests for title in pair}
        used |= {title for line in table.lines.values() for title in line}
        if not used <= titles:
            raise ValueError(f"table {table.name} has no column {sorted(used - titles)}")
    tables = {table.name for table in recipe.tables}
    if not {claim.table for claim in recipe.claims if claim.table} <= tables:
        raise ValueError("a claim is about an unknown table")
