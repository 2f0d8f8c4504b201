"""Claims: every check decides as its definition says."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from arbora.reproduction.claims import CHECKS
from arbora.reproduction.recipe import Claim, recipe_from
from arbora.reproduction.results import Results
from arbora.reproduction.tables import Table

LANGUAGES = ("Dutch", "Turkish")
FIGURES = {  # the figure of a system by treebank; a test set of 100 words
    "a": (80, 70), "b": (90, 70), "c": (82, 71), "d": (60, 40),
}  # fmt: skip


class Remembered(SimpleNamespace):
    """A workshop whose results are the figures above."""

    def result(self, job):
        right = FIGURES[job.title][LANGUAGES.index(job.corpus.language)]
        heads = [1] * right + [0] * (100 - right)
        test = {"words": [1] * 100, "heads": heads, "both": heads, "certified": 100.0}
        return {"dev_uas": 1.0, "dev_las": None, "tests": {"": test}}

    def timing(self, _job):
        return {}


@pytest.fixture(scope="module")
def results():
    values = {
        "citation": "", "title": "", "protocol": [],
        "data": {"rule": "conllx", "treebank": {name: {"folder": name} for name in LANGUAGES}},
        "system": {name: {"printed": {}} for name in FIGURES},
        "table": [{"name": "1", "title": "", "columns": list(FIGURES), "ways": ["printed"]}],
        "quick": {"languages": []},
    }  # fmt: skip
    recipe = recipe_from("small", values)
    return Results(recipe, Remembered(), list(recipe.corpora), None)


def decision(results, check, tables=None, **settings):
    claim = Claim("A claim.", "1", check, "1", settings)
    return CHECKS[check](results, tables or {}, claim, "printed").decision


def test_better_in_all_treebanks_or_some(results):
    ask = {"check": "better", "results": results, "level": 0.05}
    assert decision(better="a", than="d", **ask) == "holds"
    assert decision(better="d", than="a", **ask) == "does not hold"
    assert decision(better="b", than="a", **ask) == "holds"
    assert decision(better="b", than="a", language="Turkish", **ask) == "does not hold"
    assert decision(better="b", than="a", without="Dutch", **ask) == "does not hold"
    assert decision(better="b", than="a", without="Dutch", not_significant=True, **ask) == "holds"


def test_ranges(results):
    assert decision(results, "narrower", columns=["a", "c"], others=["a", "d"]) == "holds"
    assert decision(results, "narrower", columns=["a", "d"], others=["a", "c"]) == "does not hold"


def test_bounds_of_one_treebank(results):
    assert decision(results, "within", columns=["a", "b"], low=75) == "does not hold"
    assert decision(results, "within", columns=["a", "b"], low=75, language="Dutch") == "holds"


def test_measurements_are_compared(results):
    values = [
        {"method": "x", "column": "%", "value": 3.0}, {"method": "y", "column": "%", "value": 2.0},
        {"method": "z", "column": "%", "value": 3.0}, {"method": "x", "column": "s", "value": 0.0},
    ]  # fmt: skip
    tables = {"1": Table("1", "", [], [], values=values)}
    x, y, z, unknown = ({"method": name, "column": "%"} for name in "xyzw")
    ask = {"check": "measured above", "results": results, "tables": tables, "where": x}
    assert decision(others=[y], **ask) == "holds"
    assert decision(others=[y, z], **ask) == "does not hold"
    assert decision(others=[y, unknown], **ask) == "not testable here"
    assert decision(results, "measured", tables, where=x, low=3.0) == "holds"
    assert decision(results, "measured", tables, where=x, low=3.1) == "does not hold"
