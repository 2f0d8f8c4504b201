"""The recipes: complete, consistent, and with options that exist."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from arbora.errors import ArgumentError
from arbora.options import ParserOptions
from arbora.reproduction.claims import CHECKS
from arbora.reproduction.measurements import MEASUREMENTS
from arbora.reproduction.recipe import PAPERS, read_recipe, recipe_from

RECIPES = [read_recipe(paper) for paper in PAPERS]


@pytest.mark.parametrize("recipe", RECIPES, ids=PAPERS)
def test_options_of_every_system_are_valid(recipe):
    for corpus, system, way in itertools.product(
        recipe.corpora, recipe.systems, ("printed", "ours")
    ):
        for _, options in system.trials(way, corpus):
            ParserOptions.from_keywords(options)
    for table in recipe.tables:
        for variant in table.settings.get("variants", []):
            ParserOptions.from_keywords(variant["options"])


@pytest.mark.parametrize("recipe", RECIPES, ids=PAPERS)
def test_kinds_and_checks_exist(recipe):
    for table in recipe.tables:
        assert table.kind == "accuracy" or table.kind in MEASUREMENTS
    for claim in recipe.claims:
        assert claim.check == "untestable" or claim.check in CHECKS
        assert claim.text.endswith(".")
        assert claim.section
    assert set(recipe.quick.languages) <= {corpus.language for corpus in recipe.corpora}


@pytest.mark.parametrize("recipe", RECIPES, ids=PAPERS)
def test_columns_that_claims_name_exist(recipe):
    for claim in recipe.claims:
        if not claim.table:
            continue
        table = recipe.table(claim.table)
        named = [claim.settings.get(name) for name in ("better", "than", "more", "less", "column")]
        named += claim.settings.get("others", []) + claim.settings.get("columns", [])
        if table.kind == "accuracy":
            for title in filter(None, named):
                table.column(title)


# The mean that Koo et al. print for the perceptron is 0.07 above that of the cells they print.
@pytest.mark.parametrize(
    ("paper", "table", "slip"), [("koo2007", "3", 0.067), ("gormley2015", "2", 0.0061)]
)
def test_published_figures_have_the_published_mean(paper, table, slip):
    """A figure that was copied wrongly would move the mean."""
    published = dict(read_recipe(paper).table(table).published)
    mean = published.pop("mean")
    np.testing.assert_allclose(np.mean(list(published.values()), axis=0), mean, atol=slip)


def test_unknown_names_are_refused():
    with pytest.raises(ArgumentError, match="choose koo2007, smith2007, koo2010, gormley2015"):
        read_recipe("koo2008")
    with pytest.raises(ArgumentError, match="its tables are 1, 2, 3, labelled, roots"):
        read_recipe("koo2007").table("4")


def test_a_recipe_with_an_unknown_system_is_refused():
    values = {
        "citation": "", "title": "", "protocol": [], "data": {"rule": "conllx", "treebank": {}},
        "system": {}, "table": [{"name": "1", "title": "", "columns": ["A"]}],
        "quick": {"languages": []},
    }  # fmt: skip
    with pytest.raises(ValueError, match="unknown system 'A'"):
        recipe_from("koo2007", values)
