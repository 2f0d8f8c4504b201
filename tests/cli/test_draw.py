"""`arbora draw`."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET

import pytest

from arbora import read_conllu

from .conftest import GOLD, arbora_process, assert_one_sentence

PROBABLE = GOLD.replace("det\t_\t_", "det\t_\tArcProb=0.4200")


@pytest.fixture
def trees(files):
    (files / "p.conllu").write_text(PROBABLE, encoding="utf-8")
    return files


@pytest.mark.usefixtures("trees")
def test_text(run):
    done = run("draw", "gold.conllu")
    assert done.exit_code == 0
    first, second = read_conllu("gold.conllu")
    assert done.stdout == f"# 1\n{first.draw().text(100)}\n\n{second.draw().text(100)}\n"
    assert "sleeps" in run("draw", "-", input=GOLD).stdout


@pytest.mark.usefixtures("trees")
@pytest.mark.parametrize(
    ("which", "words"),
    [("1", ["sleeps"]), ("2", ["sang"]), ("2-2", ["sang"]), ("1-2", ["sleeps", "sang"]),
     ("-1", ["sleeps"]), ("2-", ["sang"]), ("1-", ["sleeps", "sang"])],
)  # fmt: skip
def test_sentences_by_number(run, which, words):
    shown = run("draw", "gold.conllu", "--sentences", which).stdout
    assert [word for word in ("sleeps", "sang") if word in shown] == words


def test_sentences_by_identifier(run, trees):
    text = GOLD.replace("sent_id = 1", "sent_id = weblog-3") + GOLD.replace(" = 1", " = 99")
    (trees / "ids.conllu").write_text(text, encoding="utf-8")
    for name in ("weblog-3", "99"):
        done = run("draw", "ids.conllu", "--sentences", name)
        assert done.stdout.startswith(f"# {name}\n")
        assert "sang" not in done.stdout


@pytest.mark.usefixtures("trees")
def test_probabilities_and_tags(run):
    assert "%" not in run("draw", "p.conllu").stdout
    assert "det 42%" in run("draw", "p.conllu", "--probabilities").stdout
    assert "NOUN" in run("draw", "p.conllu").stdout
    assert "NOUN" not in run("draw", "p.conllu", "--no-tags").stdout


@pytest.mark.usefixtures("trees")
def test_width(run):
    shown = run("draw", "gold.conllu", "--width", "26").stdout
    assert "→" in shown
    assert max(map(len, shown.splitlines())) <= 26


def test_files(run, trees):
    for ending in ("svg", "tex", "html", "json", "txt"):
        done = run("draw", "p.conllu", "--sentences", "1", "--probabilities", "-o", f"x.{ending}")
        assert done.exit_code == 0, done.stderr
        assert done.stdout == ""
        assert "42" in (trees / f"x.{ending}").read_text(encoding="utf-8")
    ET.parse(trees / "x.svg")
    made = json.loads((trees / "x.json").read_text(encoding="utf-8"))
    assert [word["text"] for word in made[0]["words"]] == ["The", "cat", "sleeps", "."]
    assert run("draw", "gold.conllu", "-o", "all.html").exit_code == 0
    assert (trees / "all.html").read_text(encoding="utf-8").count("<svg") == 2


@pytest.mark.usefixtures("trees")
def test_kbest_lists(run, model):
    listed = run("parse", "--model", model, "gold.conllu", "--kbest", "5", "-o", "k.conllu")
    assert listed.exit_code == 0
    assert run("draw", "k.conllu").stdout.count("sleeps") > 2
    shown = run("draw", "k.conllu", "--threshold", "0.0").stdout
    assert shown.count("or:") == 2
    assert "%" in shown


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["gold.conllu", "-o", "x.gif"], ["x.gif", ".svg, .pdf"]),
        (["gold.conllu", "-o", "x.svg"], ["a .svg file holds one sentence, not 2"]),
        (["gold.conllu", "-o", "no/x.svg"], ["no/x.svg cannot be written"]),
        (["gold.conllu", "--sentences", "9"], ["gold.conllu has no sentence 9"]),
        (["gold.conllu", "--sentences", "7-9"], ["gold.conllu has no sentence number 7"]),
        (["gold.conllu", "--sentences", "name"], ["gold.conllu has no sentence name"]),
        (["gold.conllu", "--sentences", "3-1"], ["--sentences 3-1 is empty"]),
        (["gold.conllu", "--sentences", "0"], ["--sentences 0 is empty"]),
        (["missing.conllu"], ["missing.conllu"]),
    ],
)
def test_errors(run, trees, arguments, parts):
    done = run("draw", *arguments)
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, *parts)
    assert not list(trees.glob("x.*"))


@pytest.mark.usefixtures("trees")
def test_an_encoding_without_boxes():
    variables = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = arbora_process("draw", "gold.conllu", env=variables)
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "+-det-+" in done.stdout
    assert "\\u" not in done.stdout
