"""The pages of the papers: complete, of the present recipes, with a verdict on every claim."""

from __future__ import annotations

import json

import pytest

from arbora.reproduction.recipe import PAPERS, read_recipe
from tests.named_tests import ROOT

FOLDER = ROOT / "docs" / "papers"


@pytest.fixture(params=PAPERS)
def paper(request):
    return request.param


def contents(paper):
    return json.loads((FOLDER / f"{paper}.json").read_text(encoding="utf-8"))


def test_every_table_is_there_and_no_run_is_missing(paper):
    page = (FOLDER / f"{paper}.md").read_text(encoding="utf-8")
    found = contents(paper)
    assert list(found["tables"]) == [table.name for table in read_recipe(paper).tables]
    assert "runs are missing" not in page
    assert not found["quick"]
    assert "/" not in found["command"].replace("docs/papers", "")  # no folder of one machine


def test_every_claim_has_a_verdict(paper):
    claims = read_recipe(paper).claims
    found = contents(paper)["claims"]
    assert [one["claim"] for one in found] == [claim.text for claim in claims]
    for claim, one in zip(claims, found, strict=True):
        decisions = {verdict["decision"] for verdict in one["verdicts"].values()}
        if claim.check == "untestable":
            assert decisions == {"not testable here"}, claim.text
        else:
            assert decisions <= {"holds", "does not hold"}, claim.text


def test_what_does_not_hold_is_discussed(paper):
    """A claim that does not hold on our data as printed has a note: what was tried, or why."""
    for one in contents(paper)["claims"]:
        printed = one["verdicts"].get("as printed") or next(iter(one["verdicts"].values()))
        assert printed["decision"] != "does not hold" or one["note"], one["claim"]


def test_original_data_are_as_good_as_published_or_discussed(paper):
    """Accuracies on the paper's own data that are below the published ones are in the remarks."""
    remarks = " ".join(read_recipe(paper).remarks)
    for name, table in contents(paper)["tables"].items():
        cells = {
            (cell["language"], cell["column"], cell["recipe"]): cell["value"]
            for cell in table["cells"]
            if cell.get("data") == "original data"
        }
        for (language, column, recipe), value in cells.items():
            ours = cells.get((language, column, "as printed"))
            if recipe != "published" or ours is None or not 50 < value < 99 or "%" in column:
                continue  # differences, sizes of data, certificates
            if ours < value:
                assert f"{language}, {column}" in remarks, (name, language, column, value, ours)


def test_the_summary_is_that_of_the_pages(paper):
    claims = contents(paper)["claims"]
    decisions = [next(iter(one["verdicts"].values()))["decision"] for one in claims]
    times = json.loads((FOLDER / f"{paper}-times.json").read_text(encoding="utf-8"))
    kinds = ("holds", "does not hold", "not testable here")
    cells = [times["runs"], times["processor_minutes"], *map(decisions.count, kinds)]
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert f"({paper}.md) | {' | '.join(map(str, cells))} |" in index
