"""`reproduce`: splits, jobs that are remembered, tables and claims, bad input."""

from __future__ import annotations

import json
import re
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arbora.cli import app
from arbora.errors import ArboraError, ArgumentError
from arbora.reproduction import read_recipe, reproduce
from arbora.reproduction.jobs import Job
from arbora.reproduction.recipe import Corpus
from arbora.reproduction.treebanks import Treebanks

EXAMPLE = Path(__file__).parents[2] / "examples" / "treebank"


def words(sentences):
    return sum(map(len, sentences))


def test_splits_are_cut_to_the_size_of_the_paper():
    here = Treebanks(EXAMPLE)
    whole = here.splits(Corpus("", "."))
    assert whole.validation
    cut = here.splits(Corpus("", ".", train_words=100, validation_words=50))
    assert 0 < words(cut.train) <= 100 < words(whole.train)
    assert 0 < words(cut.validation) <= 50
    assert [s.forms for s in cut.train] == [s.forms for s in whole.train[: len(cut.train)]]
    tail = here.splits(Corpus("", ".", validation="tail", validation_share=0.25))
    assert len(tail.train) + len(tail.validation) == len(whole.train)
    assert len(tail.validation) == len(whole.train) // 4
    assert tail.validation[-1].forms == whole.train[-1].forms
    alone = here.splits(Corpus("", ".", validation="none"))
    assert alone.validation is None
    coarse = here.splits(Corpus("", ".", fine_tags=False))
    assert {tag for sentence in coarse.test for tag in sentence.xpos} == {"_"}
    assert [s.upos for s in coarse.test] == [s.upos for s in whole.test]
    other = here.splits(Corpus("", ".", test="tail", test_sentences=10))
    assert [s.forms for s in other.test] == [s.forms for s in whole.train[-10:]]
    assert len(other.train) == len(whole.train) - 10


def test_names_of_results_depend_on_what_matters():
    recipe = read_recipe("koo2007")
    job = Job("a", "fit", recipe.corpora[0], {"options": {"seed": 1}}, "conllx", None, 1.0)
    same = replace(job, title="b", cost=2.0, corpus=replace(job.corpus, language="other"))
    assert same.key(5) == job.key(5)
    others = [
        replace(job, settings={"options": {"seed": 2}}),
        replace(job, corpus=replace(job.corpus, train_words=3)),
        replace(job, rule="ptb"),
        replace(job, quick=recipe.quick),
    ]
    assert len({one.key(5) for one in [job, *others]} | {job.key(6)}) == 6


RECIPE = """
citation = "Nobody (2026)"
title = "A small recipe"
protocol = [["1", "The example treebank."]]
[data]
rule = "conllx"
[data.treebank]
English = { folder = "." }
[common.printed]
labels = "none"
learner = "perceptron"
[common.ours]
labels = "none"
[system.p]
printed = { trees = "projective", passes = 1 }
ours = { trees = "projective", passes = 1 }
[system.np]
printed = { trees = "nonprojective", passes = 1 }
ours = { trees = "nonprojective", passes = 2 }
grid = { batch_size = [1, 8] }
decoders = ["", "greedy"]
[[table]]
name = "1"
title = "Sizes"
kind = "statistics"
[[table]]
name = "2"
title = "UAS"
columns = ["p", "np", { title = "best", systems = ["p", "np"] },
  { title = "greedy", system = "np", decoder = "greedy" },
  { title = "gain", system = "np", minus = "p" }]
tests = [["p", "np"]]
lines = { all = ["p", "np"] }
axis = ["p", "np"]
[[claim]]
text = "Non-projective training is better."
section = "2"
check = "better"
table = "2"
settings = { better = "np", than = "p" }
[quick]
languages = ["English"]
train_sentences = 40
test_sentences = 20
passes = 2
"""


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    path = tmp_path_factory.mktemp("recipe") / "small.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


def run(recipe, out, **options):
    return reproduce(str(recipe), EXAMPLE, out=out, command="test", **options)


@pytest.fixture(scope="module")
def finished(recipe, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    return out, run(recipe, out)


def cell(report, way, column):
    found = [
        value["value"]
        for value in report.tables["2"].values
        if value["recipe"] == way and value["column"] == column
    ]
    assert len(found) == 1
    return found[0]


def test_report(finished):
    out, report = finished
    page = (out / "small.md").read_text(encoding="utf-8")
    assert "| treebank | as printed |" in page
    assert "these figures are not results" not in page
    assert "missing" not in page
    kept = json.loads((out / "small.json").read_text(encoding="utf-8"))
    assert kept["quick"] is False
    assert (out / "small-2.svg").stat().st_size > 1000
    for way in ("as printed", "ours"):
        p, np = cell(report, way, "p"), cell(report, way, "np")
        assert cell(report, way, "gain") == pytest.approx(np - p)
        assert cell(report, way, "best") in (p, np)
        holds = report.verdicts[0]["printed" if way == "as printed" else "ours"].decision == "holds"
        assert holds == (np > p)


def test_the_grid_is_decided_on_validation(finished):
    """The chosen run has the best validation score, whatever its test score."""
    out, report = finished
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in (out / "runs").glob("*.json")]
    tried = [one for one in runs if "greedy" in one.get("tests", {}) and one["passes"] == 1]
    assert len(tried) == 2
    chosen = max(tried, key=lambda one: one["dev_uas"])["tests"][""]
    wanted = 100 * sum(chosen["heads"]) / sum(chosen["words"])
    assert cell(report, "as printed", "np") == pytest.approx(wanted)


def test_counts_are_those_of_evaluate(finished):
    """The counts per sentence add up to what `arbora evaluate` says."""
    from arbora import Parser, evaluate
    from arbora.reproduction.training import train_and_test

    splits = Treebanks(EXAMPLE).splits(Corpus("", "."), finished[1].recipe.quick)
    options = {"learner": "perceptron", "passes": 1}
    found, _ = train_and_test(splits, {"options": options, "decoders": [""]}, "conllx")
    parser = Parser(threads=1, **options).fit(splits.train, splits.validation)
    scores = evaluate(splits.test, list(parser.parse(splits.test)), "conllx")
    test = found["tests"][""]
    assert 100 * sum(test["heads"]) / sum(test["words"]) == pytest.approx(scores.uas)
    assert 100 * sum(test["both"]) / sum(test["words"]) == pytest.approx(scores.las)


def test_an_interrupted_run_continues_and_ends_with_the_same_tables(recipe, finished, tmp_path):
    out, _ = finished

    class Interrupted(Exception):  # noqa: N818  # as KeyboardInterrupt
        pass

    def stop_after_three(done, *_):
        if done == 3:
            raise Interrupted

    with pytest.raises(Interrupted):
        run(recipe, tmp_path, progress=stop_after_three)
    assert not (tmp_path / "small.md").exists()
    assert len(list((tmp_path / "runs").iterdir())) == 3
    run(recipe, tmp_path, report_only=True)
    page = (tmp_path / "small.md").read_text(encoding="utf-8")
    assert re.search(r"[1-9] of \d+ runs are missing", page)
    assert len(list((tmp_path / "runs").iterdir())) == 3
    damaged = next((tmp_path / "runs").iterdir())
    damaged.write_text("{", encoding="utf-8")  # is computed again
    seen = []
    run(recipe, tmp_path, progress=lambda done, *_: seen.append(done))
    assert seen[0] == 2
    for name in ("small.md", "small.json", "small-2.svg"):
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes()


def test_processes_make_no_difference(recipe, finished, tmp_path):
    out, _ = finished
    run(recipe, tmp_path, processes=2)
    assert (tmp_path / "small.json").read_bytes() == (out / "small.json").read_bytes()


def test_a_process_that_ends_by_itself(recipe, tmp_path, monkeypatch):
    class Broken(ProcessPoolExecutor):
        def submit(self, *_):
            future = Future()
            future.set_exception(BrokenProcessPool("gone"))
            self._processes = None  # as the pool does
            return future

    monkeypatch.setattr("arbora.reproduction.jobs.ProcessPoolExecutor", Broken)
    with pytest.raises(ArboraError, match=r"fewer --jobs; finished runs are kept\.$"):
        run(recipe, tmp_path, processes=2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("citation = ", "cannot be read"),
        ("title = 'x'", "has no entry 'data'"),
        (RECIPE.replace('columns = ["p"', 'columns = ["q"'), "unknown system 'q'"),
        (RECIPE.replace("decoders", "decoder"), "system has no decoder"),
    ],
)
def test_bad_recipes(wrong, message, tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(wrong, encoding="utf-8")
    with pytest.raises(ArgumentError, match=message) as error:
        read_recipe(str(path))
    assert str(path) in str(error.value)


def test_command_line(recipe, tmp_path):
    runner = CliRunner()
    arguments = ["reproduce", str(recipe), "--table", "2", "--quick", "--treebanks", str(EXAMPLE)]
    done = runner.invoke(app, [*arguments, "--out", str(tmp_path)])
    assert done.exit_code == 0
    assert "small.md" in done.stdout
    assert "4/4  treebank, " in done.stderr
    page = (tmp_path / "small.md").read_text(encoding="utf-8")
    assert "these figures are not results" in page
    done = runner.invoke(app, [*arguments, "--out", str(tmp_path), "--json"])
    assert "4 of 4 results are here already" in done.stderr
    assert json.loads(done.stdout)["paper"] == str(recipe)
    listed = runner.invoke(app, ["reproduce", "list"])
    assert "koo2007: 1, 2, 3, labelled, roots" in listed.stdout


def test_bad_input(tmp_path):
    with pytest.raises(ArgumentError, match="there is no folder"):
        reproduce("koo2007", tmp_path / "nowhere")
    with pytest.raises(ArgumentError, match=r"no treebank .*it has no treebanks"):
        reproduce("koo2007", tmp_path)
    for name in ("conll07_basque", "mine"):
        (tmp_path / name).mkdir()
        for part in ("train", "test"):
            (tmp_path / name / f"{part}.conllu").touch()
    with pytest.raises(ArgumentError, match=r"it has conll07_basque, mine\. Choose languages"):
        reproduce("koo2007", tmp_path)
    with pytest.raises(ArgumentError, match="no language 'Danish': choose Arabic, Dutch"):
        reproduce("koo2007", tmp_path, languages=["Danish"])
    with pytest.raises(ArgumentError, match="its tables are 1, 2, 3"):
        reproduce("koo2007", tmp_path, tables=["9"])
