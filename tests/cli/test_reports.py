"""evaluate, compare and stats: their reports and their JSON."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from arbora.evaluation import RULES, compare, evaluate
from tests.cli.conftest import GOLD, assert_one_sentence

pytestmark = pytest.mark.usefixtures("files")

TREEBANKS = Path(os.environ.get("ARBORA_TREEBANKS", "no treebanks"))


def test_evaluate(run):
    done = run("evaluate", "gold.conllu", "a.conllu")
    assert done.exit_code == 0
    assert "7 words in 2 sentences" in done.stdout
    assert "rule conll2018: every word counts" in done.stdout
    assert re.search(r"UAS +85\.71", done.stdout)
    assert re.search(r"LAS, full labels +71\.43", done.stdout)
    assert done.stderr == ""


def test_notes_go_to_standard_error_and_into_json(run, files):
    system = GOLD.replace("\t2\tpunct", "\t0\tpunct")
    (files / "a.conllu").write_text(system, encoding="utf-8")
    done = run("evaluate", "gold.conllu", "a.conllu")
    assert done.exit_code == 0
    assert_one_sentence(done.stderr, "arbora: warning: the system has", "1 with several roots")
    done = run("evaluate", "gold.conllu", "a.conllu", "--json")
    assert "1 with several roots" in json.loads(done.stdout)["notes"][0]
    assert json.loads(done.stdout)["system_faults"]["several_roots"] == 1
    assert "1 with several roots" in done.stderr
    done = run("compare", "gold.conllu", "gold.conllu", "a.conllu", "--json")
    assert_one_sentence(done.stderr, "arbora: warning: B has")
    assert len(json.loads(done.stdout)["notes"]) == 1


def test_evaluate_json(run):
    done = run("evaluate", "gold.conllu", "a.conllu", "--json")
    answer = json.loads(done.stdout)
    assert answer == evaluate("gold.conllu", "a.conllu").to_dict()
    assert answer["uas"] == pytest.approx(600 / 7)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_can_be_asked_for(run, rule):
    done = run("evaluate", "gold.conllu", "a.conllu", "--rule", rule, "--json")
    assert json.loads(done.stdout)["rule"] == rule
    done = run("compare", "gold.conllu", "a.conllu", "b.conllu", "--rule", rule)
    assert f"rule {rule}" in done.stdout


def test_the_format_can_be_said(run):
    """The format determines the rule, and thereby whether punctuation counts."""
    forced = ("--format", "conllx", "--json")
    answer = json.loads(run("evaluate", "gold.conllu", "a.conllu", *forced).stdout)
    assert answer == evaluate("gold.conllu", "a.conllu", format="conllx").to_dict()
    assert (answer["rule"], answer["tokens"]) == ("conllx", 5)
    answer = json.loads(run("compare", "gold.conllu", "a.conllu", "b.conllu", *forced).stdout)
    assert (answer["rule"], answer["tokens"]) == ("conllx", 5)
    (answer,) = json.loads(run("stats", "gold.conllu", *forced).stdout)["treebanks"]
    assert answer["format"] == "conllx"


def test_partial_gold(run, files):
    (files / "partial.conllu").write_text(GOLD.replace("\t3\tpunct", "\t_\t_"), encoding="utf-8")
    said = "1 word without a head in gold is excluded"
    for command in (["evaluate"], ["compare", "b.conllu"]):
        done = run(command[0], "partial.conllu", "a.conllu", *command[1:])
        assert "6 words in 2 sentences" in done.stdout
        assert said in done.stdout


def test_evaluate_in_parts(run):
    parts = ["--by", "label", "--by", "distance", "--by", "length"]
    text = run("evaluate", "gold.conllu", "a.conllu", *parts).stdout
    assert re.search(r"nsubj +2 +2 +100\.00 +100\.00 +100\.00", text)
    assert re.search(r"root +2 +2 +100\.00", text)
    assert re.search(r"1-10 +2 +7 +85\.71", text)


def test_standard_input(run):
    done = run("evaluate", "gold.conllu", "-", input=GOLD)
    assert re.search(r"UAS +100\.00", done.stdout)
    assert "LAS, whole" not in done.stdout
    done = run("evaluate", "-", "-", input=GOLD)
    assert done.exit_code == 2
    assert "one file only" in done.stderr


def test_compare(run):
    done = run("compare", "gold.conllu", "a.conllu", "b.conllu")
    assert re.search(r"UAS +85\.71 +71\.43 +-14\.29", done.stdout)
    assert "UAS: B is better in 0 sentences, A in 1, equal in 1." in done.stdout


def test_compare_json(run):
    done = run("compare", "gold.conllu", "a.conllu", "b.conllu", "--seed", "7", "--json")
    expected = compare("gold.conllu", "a.conllu", "b.conllu", seed=7).to_dict()
    assert json.loads(done.stdout) == expected


def test_stats_of_a_file(run):
    done = run("stats", "gold.conllu")
    assert re.search(r"gold\.conllu +CoNLL-U +2 / 7", done.stdout)
    assert re.search(r"gold\.conllu +0\.00 +0\.00 +0\.0 +0\.0 +3\.5 +4 +5 +-", done.stdout)


def test_stats_of_a_folder(run, files):
    bank = files / "bank"
    bank.mkdir()
    (bank / "xx_own-ud-train.conllu").write_text(GOLD, encoding="utf-8")
    (bank / "xx_own-ud-test.conllu").write_text(GOLD.replace("cat", "dog"), encoding="utf-8")
    (bank / "README.md").write_text("ours", encoding="utf-8")
    done = run("stats", "bank", "gold.conllu", "--json")
    folder, file = json.loads(done.stdout)["treebanks"]
    assert folder["name"] == "bank"
    assert folder["sentences"] == 4
    assert list(folder["splits"]) == ["train", "test"]
    assert folder["test_in_train_percent"] == 50
    assert file["splits"] == {}
    assert file["test_in_train_percent"] is None
    text = run("stats", "bank", "gold.conllu").stdout
    assert re.search(r"bank +CoNLL-U +2 / 7 +2 / 7", text)
    assert re.search(r"gold\.conllu +CoNLL-U +2 / 7", text)
    (bank / "train.conllu").write_text(GOLD, encoding="utf-8")
    done = run("stats", "bank")
    assert done.exit_code == 2
    assert "several train files" in done.stderr


def test_stats_skips_bad_sentences_when_told_to(run, files):
    bad = GOLD + "1\tloop\t_\t_\t_\t_\t2\tdep\t_\t_\n2\tloop\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"
    (files / "bad.conllu").write_text(bad, encoding="utf-8")
    done = run("stats", "bad.conllu")
    assert done.exit_code == 2
    assert "bad.conllu" in done.stderr
    done = run("stats", "bad.conllu", "--skip-bad", "--json")
    assert json.loads(done.stdout)["treebanks"][0]["sentences"] == 2
    assert done.stderr.startswith("arbora: skipped: bad.conllu, line ")


def test_stats_of_an_empty_file(run, files):
    (files / "empty.conllu").write_text("", encoding="utf-8")
    done = run("stats", "empty.conllu", "--json")
    assert json.loads(done.stdout)["treebanks"][0]["tokens"] == 0
    assert run("stats", "empty.conllu").exit_code == 0


@pytest.mark.skipif(not TREEBANKS.is_dir(), reason="ARBORA_TREEBANKS names no folder of treebanks")
def test_stats_of_real_treebanks(run):
    """The figures agree with the published descriptions of the treebanks."""
    page = (TREEBANKS / "README.md").read_text(encoding="utf-8")
    described = {
        cells[0]: cells[1:13]
        for line in page.splitlines()
        if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 14
    }
    names = sorted(path.name for path in TREEBANKS.iterdir() if path.is_dir())
    done = run("stats", *(str(TREEBANKS / name) for name in names))
    printed = [re.split(r"  +", line.strip()) for line in done.stdout.splitlines()]
    for name in names:
        size, shape = (row for row in printed if row[0] == name)
        expected = ["-" if cell == "—" else cell for cell in described[name]]
        assert size[1:] == expected[:4]
        assert [float(x) for x in shape[1:]] == [float(x) for x in expected[4:]]


def test_evaluate_errors(run):
    options = ("--confusion", "label", "--confusion", "head", "--worst", "5")
    text = run("evaluate", "gold.conllu", "b.conllu", *options).stdout
    assert "Labels taken for others" in text
    assert re.search(r"NOUN +VERB +1 +100.00", text)  # The depends on sleeps, not on cat
    assert re.search(r"VERB +NOUN +1 +100.00", text)
    assert re.search(r"\n1 +4 +2 +2 +The cat sleeps \.", text)
    assert "Worst sentences" in text
    answer = json.loads(run("evaluate", "gold.conllu", "b.conllu", *options, "--json").stdout)
    assert answer["confusion"]["head"] == {"NOUN": {"VERB": 1}, "VERB": {"NOUN": 1}}
    assert answer["confusion"]["label"]["nsubj"] == {"nsubj": 2}
    assert [one["name"] for one in answer["worst"]] == ["1"]
    assert "calibration" not in answer


@pytest.mark.parametrize("as_text", [[], ["--text"]])
def test_evaluate_probabilities(run, files, as_text):
    """Calibration is reported wherever the system has ArcProb."""
    lines = (files / "a.conllu").read_text(encoding="utf-8").replace("\t_\n", "\tArcProb=0.75\n")
    (files / "p.conllu").write_text(lines, encoding="utf-8")
    text = run("evaluate", "gold.conllu", "p.conllu", *as_text).stdout
    assert "expected calibration error 10.71 %" in text  # 6 of 7 heads are right
    answer = json.loads(run("evaluate", "gold.conllu", "p.conllu", *as_text, "--json").stdout)
    assert answer["calibration"]["ece"] == pytest.approx(6 / 7 - 0.75)
    assert answer["calibration"]["count"] == 7


def test_errors_of_a_text(run):
    options = ("--text", "--confusion", "head", "--worst", "1", "--json")
    answer = json.loads(run("evaluate", "gold.conllu", "b.conllu", *options).stdout)
    assert answer["confusion"] == {"head": {"NOUN": {"VERB": 1}, "VERB": {"NOUN": 1}}}
    assert answer["worst"][0]["text"] == "The cat sleeps ."
    assert answer["UAS"]["correct"] == 5


def test_worst_must_be_positive(run):
    assert run("evaluate", "gold.conllu", "b.conllu", "--worst", "0").exit_code == 2
