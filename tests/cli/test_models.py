"""`arbora inspect` and `arbora explain`; completion of commands and options."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

import arbora
from arbora import Parser
from arbora.models import checks
from tests.cli.conftest import TREEBANK, arbora_process, assert_one_sentence

TEST = str(TREEBANK / "test.conllu")


def test_inspect(run, model, parser):
    done = run("inspect", model)
    assert done.exit_code == 0
    for part in ("small.arbora", "format 2", "4,676 words in 400 sentences (train.conllu)",
                 f"UAS {parser.model.card['dev']['uas']:.2f}", "dev.conllu, rule conll2018",
                 "form, lemma, upos, xpos, feats", "temperature", "65,536, ", "nsubj",
                 "learner", "loglinear"):  # fmt: skip
        assert part in done.stdout
    (rate,) = (line for line in done.stdout.splitlines() if line.startswith("learning rate"))
    assert float(rate.split()[-1]) == parser.model.card["phases"][0]["rate"]


def test_inspect_an_older_file(run):
    path = str(TREEBANK.parents[1] / "tests" / "golden" / "format1.arbora")
    assert "format 1" in run("inspect", path).stdout
    assert json.loads(run("inspect", path, "--json").stdout)["format_version"] == 1


def test_lines_in_a_pipe(run, model, monkeypatch):
    """Lines have no trailing spaces and are not cut, unless COLUMNS limits them."""
    lines = run("inspect", model).stdout.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert max(map(len, lines)) > 100
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("inspect", model).stdout.splitlines()
    assert 50 < max(map(len, lines)) <= 60
    for columns in ("0", "many"):
        monkeypatch.setenv("COLUMNS", columns)
        assert "loglinear" in run("inspect", model).stdout


def test_inspect_json(run, model, parser):
    answer = json.loads(run("inspect", model, "--json").stdout)
    assert answer["options"] == parser.model.options.keywords()
    assert answer["labels"] == list(parser.model.labels)
    assert answer["format_version"] == 2
    weights = answer["parameters"]["scorer.weights"]
    assert weights["all"] == 2**16
    assert 0 < weights["non_zero"] <= 2**16
    assert answer["parameters"].keys() == {"scorer.weights", "labeller.weights"}
    assert answer["temperature"] == parser.model.temperature
    assert len(answer["card"]["history"]["passes"]) == 3


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_inspect_odd_cards(run, folder_of_odd_cards, extra):
    for path in folder_of_odd_cards:
        done = run("inspect", str(path), *extra)
        assert done.exit_code == 2
        assert_one_sentence(done.stderr, path.name, "the model's card has")


@pytest.fixture
def folder_of_odd_cards(parser, tmp_path, monkeypatch):
    """Models written by other programs."""
    monkeypatch.setattr(checks, "check_card", lambda _: None)
    paths = []
    for card in ({"trained_on": {}}, {"dev": {"uas": 1}}, {"best_pass": 1}, {"licence": 3}):
        paths.append(tmp_path / f"{next(iter(card))}.arbora")
        Parser.from_model(replace(parser.model, card=card)).save(paths[-1])
    monkeypatch.undo()
    return paths


def test_inspect_json_has_no_infinities(run, parser, tmp_path):
    card = parser.model.card | {"dev": {"uas": float("nan"), "las": float("inf"), "rule": "x"}}
    Parser.from_model(replace(parser.model, card=card)).save(tmp_path / "m")
    answer = json.loads(run("inspect", str(tmp_path / "m"), "--json").stdout)
    assert answer["card"]["dev"] == {"uas": None, "las": None, "rule": "x"}


def test_explain(run, model):
    done = run("explain", "--model", model, TEST, "--sentence", "2", "--word", "3", "--top", "4")
    assert done.exit_code == 0, done.stderr
    assert "“the” (3) under “roof” (4)" in done.stdout
    assert " more" in done.stdout
    assert "together" in done.stdout


def test_explain_json(run, model, parser):
    done = run("explain", "--model", model, TEST, "--word", "2", "--against", "0", "--json")
    answer = json.loads(done.stdout)
    total = sum(one["value"] for one in answer["contributions"])
    assert total == pytest.approx(answer["difference"], abs=1e-6)
    assert answer["against"] == 0
    assert answer["form"] == "frost"
    sentence = next(iter(arbora.read_conllu(TEST)))
    assert answer["head"] == parser.explain(sentence, 2).head


def test_explain_labels(run, tmp_path):
    path = tmp_path / "joint.arbora"
    options = {"labels": "joint", "bits": 12, "label_bits": 8, "passes": 1, "threads": 1}
    arbora.Parser(**options).fit(TREEBANK / "dev.conllu").save(path)
    done = run("explain", "--model", str(path), TEST, "--word", "3", "--top", "99")
    assert done.exit_code == 0, done.stderr
    for part in ("the score of the arc with its best label", " as ", "speaks", "together"):
        assert part in done.stdout


def test_explain_from_standard_input(run, model):
    text = (TREEBANK / "test.conllu").read_text(encoding="utf-8")
    assert run("explain", "--model", model, "--word", "1", input=text).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--word", "99"], "no word 99"),
        ([], "--word"),
        (["--word", "1", "--sentence", "99"], "has no sentence 99"),
        (["--word", "1", "--head", "1"], "the head of word 1"),
        (["--word", "1", "--head", "50"], "the head of word 1"),
        (["--word", "1", "--head", "2", "--against", "2"], "must be another head"),
    ],
)
def test_questions_without_an_answer(run, model, arguments, part):
    done = run("explain", "--model", model, TEST, *arguments)
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, part)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(shell):
    done = arbora_process(env={**os.environ, "_ARBORA_COMPLETE": f"source_{shell}"})
    assert done.returncode == 0
    assert "_ARBORA_COMPLETE" in done.stdout


def test_completion_of_options():
    variables = {"_ARBORA_COMPLETE": "complete_bash", "COMP_WORDS": "arbora train --learner m",
                 "COMP_CWORD": "3"}  # fmt: skip
    done = arbora_process(env={**os.environ, **variables})
    assert done.stdout.split() == ["mira", "maxmargin"]


def test_higher_orders_on_the_command_line(run, tmp_path):
    """Training, inspecting and parsing with certificates; options that need sums are refused."""
    path = str(tmp_path / "m.arbora")
    small = ["--passes", "1", "--bits", "14", "--label-bits", "9", "--threads", "1"]
    small += ["--only", "parser"]
    train, dev = str(TREEBANK / "train.conllu"), str(TREEBANK / "dev.conllu")
    done = run("train", train, "--dev", dev, "--model", path, "--order", "sibling", *small)
    assert done.exit_code == 0
    assert "sibling order" in done.stdout
    for report in (done.stdout, run("inspect", path).stdout):
        assert "arcs per word are kept" in report
    done = run("parse", "--model", path, TEST, "--certificates")
    assert done.stdout.count("# arbora.certified = ") == 77
    assert "first-order pruner" in run("parse", "--model", path, TEST, "--probabilities").stderr
    refused = run("parse", "--model", path, TEST, "--kbest", "2")
    assert_one_sentence(refused.stderr, "kbest requires a first-order model")
    refused = run("parse", "--model", path, TEST, "--samples", "2", "--certificates")
    assert_one_sentence(refused.stderr, "certificates cannot be combined with")
    done = run("explain", "--model", path, TEST, "--word", "3")
    assert done.exit_code == 0
    assert "the parts that change with it" in " ".join(done.stdout.split())
