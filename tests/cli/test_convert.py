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


TREE = "( (S (NP-SBJ (NNS Eels)) (VP (VBP swim) (NP (-NONE- *)))))\n"


def test_brackets_of_several_folders(run, files):
    for section in ("02", "03"):
        (files / "wsj" / section).mkdir(parents=True)
        (files / "wsj" / section / f"wsj_{section}00.mrg").write_text(TREE)
    done = run(
        "convert", "wsj/02", "wsj/03", "train.conll", "--from", "ptb", "--head-rules",
        "yamada2003", "--to", "conllx", "--universal-tags", "penn",
    )  # fmt: skip
    assert done.exit_code == 0
    assert done.stderr == (
        "arbora: Penn Treebank brackets to CoNLL-X: 2 sentences, 4 words; lost: phrases 8, "
        "empty elements 2, function tags 2.\n"
    )
    sentence = "1\tEels\t_\tNOUN\tNNS\t_\t2\t_\t_\t_\n2\tswim\t_\tVERB\tVBP\t_\t0\t_\t_\t_\n\n"
    assert (files / "train.conll").read_text() == 2 * sentence


def test_two_formats_in_one_summary(run, files):
    (files / "x.mrg").write_text(TREE)
    done = run("convert", "x.mrg", "gold.conllu", "out.conllu", "--to", "conllu")
    assert "Penn Treebank brackets and CoNLL-U to CoNLL-U: 3 sentences, 9 words" in done.stderr


def test_unknown_tags_give_one_line(run, files):
    (files / "x.mrg").write_text(TREE.replace("VBP", "KNOT"))
    done = run("convert", "x.mrg", "out", "--to", "conllx", "--universal-tags", "penn", "--quiet")
    assert done.exit_code == 0
    assert_one_sentence(done.stderr, "no universal tag for 1 words (KNOT 1); their tag is now X")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("x.mrg", "out", "--to", "ptb"), "Penn Treebank brackets are read, not written"),
        (("x.mrg", "out", "--to", "conllx", "--strict"), "x.mrg, line 1: CoNLL-X cannot hold"),
        (("x.mrg", "out", "--to", "conllx", "--head-rules", "no"), "there is no table of head"),
        (("gold.conllu", "out", "--to", "conllx", "--head-rules", "yamada2003"), "which has heads"),
        (("x.mrg", "out", "--to", "conllx", "--universal-tags", "no"), "there is no map of univ"),
        (("x.mrg", "out", "--to", "conll2008", "--universal-tags", "penn"), "has no column for"),
        (("empty", "out", "--to", "conllx"), "empty has no files that end in .mrg or .parse"),
        (("bad.mrg", "out", "--to", "conllx"), "bad.mrg, line 2: a bracket is not closed"),
        (("-", "-", "out", "--to", "conllx"), "standard input (-) can be used for one file"),
    ],
)
def test_errors_with_brackets(run, files, arguments, words):
    (files / "x.mrg").write_text(TREE)
    (files / "bad.mrg").write_text(TREE + "(NP")
    (files / "empty").mkdir()
    assert_one_sentence(run("convert", *arguments).stderr, words)
    assert not (files / "out").exists()


def test_brackets_in_other_commands(run, files, model):
    (files / "x.mrg").write_text(TREE)
    done = run("parse", "--allow-missing", "--model", model, "x.mrg")
    assert done.exit_code == 0, done.stderr
    assert [line.split("\t")[1] for line in done.stdout.split("\n") if line[:1].isdigit()] == [
        "Eels", "swim",
    ]  # fmt: skip
    figures = run("stats", "x.mrg", "--json")
    assert figures.exit_code == 0, figures.stderr


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
    done = run("parse", "--allow-missing", "--model", model, str(roles), "--output", str(parsed))
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
    done = run(
        "parse", "--allow-missing", "--model", model, str(roles), "--probabilities", "--kbest", "2"
    )
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
