"""The list of mutants (benchmarks/mutants.py) fits the sources and the tests."""

from __future__ import annotations

import ast
import re
import sys
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import mutants  # noqa: E402  # a script beside the package

MUTANTS = mutants.read_mutants()
each_mutant = pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)


@lru_cache
def names_in(file):
    """The names of the tests of a file: of functions, and of methods with their class."""
    names = set()
    for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
        own = node.body if isinstance(node, ast.ClassDef) else [node]
        first = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        names |= {first + one.name for one in own if isinstance(one, ast.FunctionDef)}
    return {name for name in names if name.split("::")[-1].startswith("test_")}


@lru_cache
def cases_of_the_core():
    sources = (path.read_text(encoding="utf-8") for path in ROOT.glob("cpp/tests/*.cpp"))
    return {name for text in sources for name in re.findall(r'TEST_CASE\("(.*?)"\)', text)}


@each_mutant
def test_a_mutant_changes_one_place_and_names_its_tests(mutant):
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    assert mutant.applied(text) != text
    assert mutant.old.strip()
    assert re.fullmatch(r"(K07|L07|S07|G15|D10)-\d\d", mutant.item)
    assert mutant.tests
    for test in mutant.tests:
        if test.startswith(mutants.CORE):
            assert mutant.kind == "core"
            assert test.removeprefix(mutants.CORE) in cases_of_the_core()
            continue
        file, _, name = test.partition("::")
        assert not name or re.sub(r"\[.*\]$", "", name) in names_in(file)
        assert names_in(file)


def test_there_are_many_of_both_kinds():
    kinds = [mutant.kind for mutant in MUTANTS]
    assert kinds.count("python") >= 20
    assert kinds.count("core") >= 25


def test_only_a_failing_test_catches():
    assert [mutants.outcome_of(status) for status in (0, 1)] == ["survived", "caught"]
    for status in (2, 3, 4, 5, -11):
        assert mutants.outcome_of(status) == f"exit status {status}"


def test_a_text_that_is_not_there_or_there_twice():
    mutant = mutants.Mutant("name", "K07-01", "a.py", "old", "new", ())
    assert mutant.applied("an old text") == "an new text"
    for text in ("a text", "old and old"):
        with pytest.raises(mutants.MutantError, match=r"must occur once in a\.py"):
            mutant.applied(text)


@pytest.mark.parametrize("jobs", [1, 3, 1000])
def test_the_work_is_shared_by_file(jobs):
    work = mutants.shares(MUTANTS, jobs)
    assert len(work) <= jobs
    assert sorted(m.name for own in work for m in own) == sorted(m.name for m in MUTANTS)
    of_file = {}
    for i, own in enumerate(work):
        kinds = [mutant.kind for mutant in own]
        assert kinds == sorted(kinds, reverse=True)  # Python first, with the unchanged core
        for mutant in own:
            assert of_file.setdefault(mutant.file, i) == i


def test_the_report():
    caught, survived = (
        mutants.Result(mutant, outcome, by, 1.0)
        for mutant, outcome, by in zip(
            MUTANTS, ("caught", "survived"), ("tests/a.py::test_b", ""), strict=False
        )
    )
    report = mutants.table([caught, survived])
    assert "| `tests/a.py::test_b` | 1.0 |" in report
    assert "1 of 2 mutants were caught." in report
    assert report.endswith(f"- {MUTANTS[1].name}: survived.")


def test_the_first_failure():
    pytest_says = "..F\nFAILED tests/a.py::test_b[x] - assert 1 == 2\n1 failed"
    assert mutants.first_failure(pytest_says) == "tests/a.py::test_b[x]"
    doctest_says = "file.cpp:3:\nTEST CASE:  Wide numbers\n\nfile.cpp:9: ERROR: CHECK( false )"
    assert mutants.first_failure(doctest_says) == "core: Wide numbers"
    assert mutants.first_failure("Segmentation fault") == ""
