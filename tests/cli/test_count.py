"""`arbora count` and `arbora grep`."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

from arbora import Parser, read_conllu
from arbora.cli import app
from arbora.corpus import count, grep
from tests.cli.conftest import TREEBANK
from tests.small_parsers import sentences, trained

TEST = str(TREEBANK / "test.conllu")
DEV = str(TREEBANK / "dev.conllu")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.arbora"
    trained().save(path)
    return str(path)


@pytest.fixture
def run():
    def call(*arguments):
        done = CliRunner().invoke(app, arguments, prog_name="arbora")
        return done.exit_code, done.stdout, done.stderr

    return call


def gold_objects():
    return sum(sentence.labels.count("obj") for sentence in read_conllu(TEST))


def test_annotated_trees_are_counted(run):
    status, out, _ = run("count", TEST, "[] -obj-> []", "--annotated", "--json")
    assert status == 0
    assert json.loads(out)["total"]["count"] == gold_objects()
    status, out, _ = run("count", TEST, "[] -obj-> []", "--annotated", "--by", "2.upos")
    assert status == 0
    assert "NOUN" in out


def test_expected_counts_with_a_table_and_a_plot(run, model, tmp_path):
    table, plot = tmp_path / "t.csv", tmp_path / "p.svg"
    status, out, _ = run(
        "count", TEST, "[] -obj-> o:[]", "--model", model, "--by", "o.upos", "--gold", DEV,
        "--output", str(table), "--plot", str(plot),
    )  # fmt: skip
    assert status == 0
    assert "90% interval" in out
    assert "gold sample" in out
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert sum(float(row["expected"]) for row in rows) > 0
    for row in rows:
        assert int(row["low"]) <= float(row["count"]) + 0.5
        assert float(row["count"]) - 0.5 <= int(row["high"])
    assert plot.read_bytes().startswith(b"<?xml")


def test_intervals_say_what_they_cover(run, model):
    question = ("count", TEST, "[] -obj-> []")
    for extra, covers, said in (
        (("--annotated",), "nothing", None),
        (("--model", model), "doubt", "cover the parser's doubt only, not its bias"),
        (("--model", model, "--gold", DEV), "doubt and bias", "counts are multiplied by"),
    ):
        status, out, _ = run(*question, *extra, "--json")
        assert status == 0
        assert json.loads(out)["interval_covers"] == covers
        out = " ".join(run(*question, *extra)[1].split())
        assert said is None or said in out
        assert said is not None or "interval" not in out


def test_parquet_tables(run, model, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason='the extra "arrow" is not installed')
    table = tmp_path / "t.parquet"
    status, *_ = run(
        "count", TEST, "[] -obj-> []", "--model", model, "--by", "upos", "-o", str(table), "-q"
    )
    assert status == 0
    assert parquet.read_table(table).column_names[:3] == ["group", "count", "low"]


def test_groups_add_up_and_files_too():
    parser = trained()
    whole = count(parser, TEST, "[] -obj-> []")
    grouped = count(parser, TEST, "[] -obj-> []", by="2.lemma")
    assert sum(row.expected for row in grouped.groups) == pytest.approx(
        whole.total.expected, rel=0.05
    )
    assert sum(row.best for row in grouped.groups) == whole.total.best
    twice = count(parser, [TEST, DEV], "[] -obj-> []")
    assert twice.sentences == whole.sentences + len(list(read_conllu(DEV)))


def test_grep_lists_the_most_likely_first(run, model):
    status, out, _ = run("grep", TEST, "[] -obj-> [upos=NOUN]", "--model", model, "--limit", "5")
    assert status == 0
    chances = [float(line[:5]) for line in out.splitlines()]
    assert len(chances) == 5
    assert chances == sorted(chances, reverse=True)
    assert "[" in out
    hits = grep(None, TEST, "[] -obj-> []", most=1000)
    assert len(hits) == sum("obj" in sentence.labels for sentence in read_conllu(TEST))
    assert grep(trained(), TEST, "[] -obj-> []", most=1000, least=0.999999) != hits


def test_second_order_models_weight_their_draws(tmp_path, run):
    parser = Parser.from_model(trained(order="sibling", learner="mira", inference="dual").model, 1)
    found = count(parser, TEST, "[] -obj-> []", gold=DEV, draws=8)
    assert 1.0 <= found.effective <= 8.0
    assert found.total.low <= found.total.count <= found.total.high
    path = tmp_path / "m.arbora"
    parser.save(path)
    status, _, err = run("count", TEST, "[] -obj-> []", "--model", str(path))
    assert status == 2
    assert "give annotated sentences as gold" in err
    parser.fit_weights(list(sentences("dev", 10)))
    assert grep(parser, TEST, "[] -obj-> []", most=3, draws=4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["[] -obj> []"],
            "a label to the right ends in ->, as in -obj->.\n  [] -obj> []\n         ^",
        ),
        (["[] -nothing-> []"], "the model has no such label"),
        (["[]", "--by", "size"], "there is no column 'size'"),
        (["[]", "--by", "x.lemma"], "the pattern has no word 'x'"),
        (["[]", "--level", "2"], "level must be between 0 and 1"),
        (["[]", "--output", "x.xls"], "must end in .csv, .json or .parquet"),
        (["[]", "--plot", "x.gif"], "must end in .png, .svg or .pdf"),
        (["[]", "--gold", DEV, "--annotated"], "--gold corrects a parser"),
        ([], "a corpus and a pattern are needed"),
    ],
)
def test_errors(run, model, arguments, message):
    status, _, err = run("count", TEST, *arguments, "--model", model)
    assert status == 2
    assert message in err
    assert "Traceback" not in err


def test_a_gold_sample_needs_heads(run, model, tmp_path):
    path = tmp_path / "bare.conllu"
    path.write_text("1\ta\ta\tNOUN\tNN\t_\t_\t_\t_\t_\n\n", encoding="utf-8")
    status, _, err = run("count", TEST, "[] -> []", "--model", model, "--gold", str(path))
    assert status == 2
    assert "the gold sample must be annotated" in err
