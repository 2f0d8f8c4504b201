"""The page of the papers is complete, and all that it names exists."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from functools import cache
from itertools import pairwise
from pathlib import Path

import arbora
from arbora.errors import ArgumentError

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "papers" / "index.md").read_text(encoding="utf-8")
COUNTS = {"K07": 32, "L07": 10, "S07": 21, "G15": 36, "D10": 25}
ITEMS = [f"{paper}-{i:02d}" for paper, count in COUNTS.items() for i in range(1, count + 1)]
CODE, TEST, FIGURE = 2, 3, 4  # columns; before them the item and what the paper describes

# Names on the page that other branches bring. Remove those that are merged.
PENDING = {
    # exact second order by max-margin; minimum risk for any loss
    "arbora.minimum_risk",
    'Parser(learner="maxmargin", order="sibling", trees="projective", inference="exact")',
    "tests/fitting/test_figure_2.py::test_every_pass_is_that_of_the_paper",
    "tests/fitting/test_figure_2.py::test_max_margin_equals_a_program_over_all_trees",
    "tests/fitting/test_figure_2.py::test_log_linear_equals_scipy_over_all_trees",
    "tests/models/test_decoding.py::test_the_better_class_is_chosen_on_dev",
    "tests/inference/test_risk.py::test_any_sum_over_words_by_enumeration",
    "tests/inference/test_risk.py::TestLists::test_all_trees_with_any_loss",
    "tests/inference/test_risk.py"
    "::TestLists::test_whole_trees_give_the_best_tree_and_heads_the_usual_one",
    # reranking, word senses
    "Parser(rerank=10)",
    "arbora.models.reranker.Reranker",
    "tests/models/test_reranker.py::test_a_score_is_the_sum_over_the_parts_of_the_tree",
    "tests/models/test_reranker.py::test_among_all_trees_it_is_exact_decoding_with_the_same_parts",
    "tests/fitting/test_reranking.py"
    "::test_loss_is_the_negative_log_likelihood_of_the_gold_candidates",
    "examples/08_word_senses.py",
    "tests/examples/test_word_senses.py::test_against_enumeration",
    # clusters of edges
    "arbora.Parser.cluster_posteriors",
    "arbora.features.EdgeClusters",
    "arbora.scoring.SoftClusterScorer",
    "arbora.models.hidden_clusters.HiddenClusters",
    'Parser(clusters=16, cluster_features="all")',
    'Parser(features="squeezed2005", clusters=1000)',
    # options that reproduce
    "tests/parsers/test_reproduction.py::test_the_schedule_of_belief_propagation",
    "tests/parsers/test_reproduction.py::test_the_pruner_has_its_own_features",
    "tests/fitting/test_annealing.py::test_linear_temperatures_have_equal_differences",
    "tests/fitting/test_annealing.py::test_every_step_has_its_temperature",
    "tests/fitting/test_annealing.py::test_logarithmic_temperatures_have_equal_ratios",
    "tests/fitting/test_annealing.py"
    "::test_the_mixture_by_definition_and_its_gradient_by_differences",
}


def rows():
    """The cells of all items."""
    lines = [line for line in PAGE.splitlines() if re.match(r"\| [A-Z]\d\d-\d\d \|", line)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def spans(cell):
    """The code spans of a cell; `::` at the beginning stands for the file before."""
    found, file = [], ""
    for span in re.findall(r"`([^`]+)`", cell):
        full = file + span if span.startswith("::") else span
        if full.startswith("tests/"):
            file = full.partition("::")[0]
        found.append(full)
    return found


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


@cache
def functions_in(path):
    """The test functions of a file, those of classes with the name of the class."""
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    found = {one.name for one in body if isinstance(one, ast.FunctionDef)}
    for one in body:
        if isinstance(one, ast.ClassDef):
            found |= {f"{one.name}::{f.name}" for f in one.body if isinstance(f, ast.FunctionDef)}
    return found


def is_test(name):
    path, _, function = name.partition("::")
    return (ROOT / path).is_file() and function in functions_in(path)


def test_tests_exist():
    tests = {name for name in named(TEST) if name.startswith("tests/")}
    assert len(tests) > 150
    assert {name for name in tests if not is_test(name)} <= PENDING


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
    assert {name for name in named(CODE) if not code_exists(name)} <= PENDING


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


def test_pending_names_are_on_the_page():
    assert set(named(CODE) + named(TEST)) >= PENDING
