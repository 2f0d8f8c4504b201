"""`arbora convert`, and other commands on files of other formats."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.conftest import GOLD, TREEBANK, arbora_process, assert_one_sentence

TEST = TREEBANK / "test.conllu"


@pytest.fixture
def roles(tmp_path, run):
    """The test part of the repository's treebank in CoNLL-2009."""
    path = tmp_path / "test.conll09"
    done = run("convert", str(TEST), str(path), "--to", "conll2009", "--quiet")
    assert done.exit_code == 0
    assert done.stderr == ""
    return path


def column(path, place):
    lines = path.read_text(encoding="utf-8").split("\n")
    return [line.split("\t")[place] for line in lines if line[:1].isdigit()]


def test_summary_on_standard_error(run, files):
    done = run("convert", "gold.conllu", "out.conll", "--to", "conllx")
    assert done.exit_code == 0
    assert done.stdout == ""
    assert done.stderr == ("arbora: CoNLL-U to CoNLL-X: 2 sentences, 7 words; lost: comments 1.\n")
    assert (files / "out.conll").read_text() == GOLD.replace("# sent_id = 1\n", "")
    done = run("convert", "out.conll", "back.conllu", "--to", "conllu", "--format", "conllx")
    assert done.stderr == "arbora: CoNLL-X to CoNLL-U: 2 sentences, 7 words; nothing was lost.\n"


@pytest.mark.usefixtures("files")
def test_json(run):
    done = run("convert", "gold.conllu", "out", "--to", "conll2009", "--json")
    assert json.loads(done.stdout) == {
        "from": "conllu", "to": "conll2009", "sentences": 2, "words": 7,
        "lost": {"UPOS": 7, "comments": 1},
    }  # fmt: skip
    done = run("convert", "gold.conllu", "-", "--to", "conll2009", "--json")
    assert_one_sentence(done.stderr, "cannot both go to standard output")


def test_strict(run, files):
    done = run("convert", "gold.conllu", "out", "--to", "conllx", "--strict")
    assert_one_sentence(done.stderr, "gold.conllu, line 2: CoNLL-X cannot hold")
    assert not (files / "out").exists()


def test_standard_input_and_output():
    done = arbora_process("convert", "-", "-", "--to", "conllx", "--quiet", input=GOLD)
    assert done.stdout == GOLD.replace("# sent_id = 1\n", "")
    assert done.stderr == ""


def test_onto_itself(run, files):
    done = run("convert", "gold.conllu", "gold.conllu", "--to", "conllx")
    assert done.exit_code == 0
    assert (files / "gold.conllu").read_text() == GOLD.replace("# sent_id = 1\n", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("gold.conllu", "out", "--to", "xml"), "there is no format 'xml': choose one of conllu"),
        (("gold.conllu", "out", "--to", "conllu", "--format", "x"), "there is no format 'x'"),
        (("missing", "out", "--to", "conllu"), "missing cannot be read"),
        (("gold.conllu", "no/such/folder", "--to", "conllu"), "cannot be written"),
        (("gold.conllu", "out", "--to", "conllu", "--format", "conll2009"), "at least 14"),
    ],
)
def test_errors(run, files, arguments, words):
    assert_one_sentence(run("convert", *arguments).stderr, words)
    assert not (files / "out").exists()


def test_skip_bad(run, files):
    (files / "bad").write_text(GOLD + "1\tx\n\n" + GOLD)
    done = run("convert", "bad", "out", "--to", "conllx")
    assert_one_sentence(done.stderr, "bad, line 11: the line has")
    done = run("convert", "bad", "out", "--to", "conllx", "--skip-bad")
    assert done.exit_code == 0
    assert "skipped: bad, line 11" in done.stderr
    assert (files / "out").read_text() == 2 * GOLD.replace("# sent_id = 1\n", "")


def test_parse_writes_what_evaluate_reads(run, roles, model, tmp_path):
    """Trees go into HEAD and DEPREL of CoNLL-2009, and nothing else changes."""
    parsed = tmp_path / "parsed.conll09"
    done = run("parse", "--model", model, str(roles), "--output", str(parsed))
    assert done.exit_code == 0, done.stderr
    assert column(parsed, 8) != column(roles, 8)
    for place in (*range(8), 9, 11, 12, 13):
        assert column(parsed, place) == column(roles, place)
    done = run("evaluate", str(roles), str(parsed), "--json")
    scores = json.loads(done.stdout)
    assert scores["rule"] == "conll2009"
    heads = list(zip(column(roles, 8), column(parsed, 8), strict=True))
    assert scores["uas"] == pytest.approx(100 * sum(a == b for a, b in heads) / len(heads))
    figures = run("stats", str(roles), "--json")
    assert json.loads(figures.stdout)["treebanks"][0]["format"] == "conll2009"
    assert "CoNLL-2009" in run("stats", str(roles)).stdout


def test_probabilities_and_ranks_are_comments(run, roles, model):
    done = run("parse", "--model", model, str(roles), "--probabilities", "--kbest", "2")
    assert done.exit_code == 0, done.stderr
    assert re.search(r"^# arbora.rank = 2$", done.stdout, re.MULTILINE)
    assert "# arbora.arc_probabilities = " in done.stdout
    assert {len(line.split("\t")) for line in done.stdout.split("\n") if line[:1].isdigit()} == {14}


def test_a_model_learns_from_another_format(run, roles, tmp_path):
    model = tmp_path / "m.arbora"
    done = run(
        "train", str(roles), "--model", str(model), "--passes", "1", "--bits", "14", "--quiet",
        "--threads", "1",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    done = run("parse", "--model", str(model), str(TEST), "--format", "conllu")
    assert done.exit_code == 0, done.stderr
