"""select, review, calibrate and the agreement of compare at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arbora import read_conllu
from arbora.evaluation import agreement
from tests.cli.conftest import GOLD, TREEBANK, assert_one_sentence

pytestmark = pytest.mark.usefixtures("files")


@pytest.fixture
def pool(tmp_path):
    """The test sentences of the small treebank without heads."""
    path = tmp_path / "pool.conllu"
    rows = []
    for line in (TREEBANK / "test.conllu").read_text(encoding="utf-8").split("\n"):
        columns = line.split("\t")
        if len(columns) == 10:
            columns[6:8] = "_", "_"
        rows.append("\t".join(columns))
    path.write_text("\n".join(rows), encoding="utf-8")
    return str(path)


def test_select(run, pool, model):
    done = run("select", pool, "--budget", "20", "--arcs", "--model", model, "-o", "next.conllu")
    assert done.exit_code == 0, done.stderr
    assert "20 words to annotate" in done.stdout
    found = list(read_conllu("next.conllu"))
    assert sum(misc.count("Ask=") for one in found for misc in one.misc) == 20
    assert all((one.heads == -1).all() for one in found)
    told = run("select", pool, "--budget", "20", "--arcs", "--model", model, "--json")
    answer = json.loads(told.stdout)
    assert answer["words"] == 20
    assert [one["sent_id"] for one in answer["selected"]] == [one.sent_id for one in found]


def test_select_to_standard_output_from_standard_input(run, pool, model):
    text = Path(pool).read_text(encoding="utf-8")
    done = run("select", "-", "--budget", "30", "--model", model, "-o", "-", input=text)
    assert done.exit_code == 0, done.stderr
    assert "# arbora.order = 1" in done.stdout
    assert "words to annotate" not in done.stdout


def test_select_refuses(run, pool, model):
    gold = str(TREEBANK / "test.conllu")
    done = run("select", gold, "--budget", "5", "--model", model)
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "every word of the pool has a head", "--ignore-heads")
    done = run("select", pool, "--budget", "5", "--model", model, "--json", "-o", "-")
    assert_one_sentence(done.stderr, "--json cannot be combined")
    done = run("select", pool, "--budget", "5", "--model", model, "-o", pool)
    assert_one_sentence(done.stderr, "is read by this command")
    assert run("select", pool, "--budget", "0", "--model", model).exit_code == 2
    done = run("select", pool, "--budget", "1", "--model", model)
    assert done.exit_code == 0
    assert "nothing is selected" in done.stderr


def test_selected_words_of_a_treebank_train_a_parser(run, model):
    gold = str(TREEBANK / "test.conllu")
    done = run(
        "select", gold, "--budget", "100", "--arcs", "--ignore-heads", "--model", model, "-o",
        "some.conllu",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    done = run(
        "train", "some.conllu", "--from", model, "--model", "new.arbora", "--passes", "1", "-q"
    )
    assert done.exit_code == 0, done.stderr


def test_the_order_of_a_review(run, model):
    gold = str(TREEBANK / "test.conllu")
    done = run("review", gold, "--model", model, "--json")
    assert done.exit_code == 0, done.stderr
    order = json.loads(done.stdout)["order"]
    assert order[0]["score"] >= order[-1]["score"]
    assert order[0]["sentence"] >= 1
    done = run("review", "a.conllu", "--against", "b.conllu", "--model", model, "--json")
    (look,) = json.loads(done.stdout)["order"]
    assert look["sentence"] == 1
    done = run("review", "a.conllu", "--against", "a.conllu", "--model", model)
    assert_one_sentence(done.stderr, "there is no difference")


def test_review_refuses(run, model):
    done = run("review", "-", "--model", model)
    assert_one_sentence(done.stderr, "name it instead of standard input")
    done = run("review", "a.conllu", "--against", "b.conllu", "--arcs", "--model", model)
    assert_one_sentence(done.stderr, "leave out --by and --arcs")
    done = run("review", "missing.conllu", "--model", model)
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "missing.conllu")


def test_a_review_opens_the_page(run, model, monkeypatch):
    pytest.importorskip("uvicorn", reason="the extra server is not installed")
    calls = []
    monkeypatch.setattr(
        "arbora.server.running.run", lambda *given, **how: calls.append((given, how))
    )
    done = run("review", "gold.conllu", "--model", model, "--no-open", "--port", "0")
    assert done.exit_code == 0, done.stderr
    ((models, settings), how) = calls[0]
    assert list(models) == ["small"]
    assert settings.file == "gold.conllu"
    assert {one.sentence for one in settings.order} == {0, 1}
    assert how == {"open_browser": False}


def test_calibrate_and_head_sets(run, model):
    dev, test = (str(TREEBANK / f"{part}.conllu") for part in ("dev", "test"))
    done = run("parse", test, "--model", model, "--head-sets", "0.9")
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "arbora calibrate MODEL TREEBANK")
    done = run("calibrate", model, dev, "--output", "ready.arbora", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["words"] > 100
    done = run("parse", test, "--model", "ready.arbora", "--head-sets", "0.9", "-q")
    assert done.exit_code == 0
    words = sum(len(one) for one in read_conllu(test))
    assert done.stdout.count("HeadSet=") == words
    done = run("parse", test, "--model", "ready.arbora", "--head-sets-by", "label")
    assert_one_sentence(done.stderr, "requires")
    done = run("calibrate", "ready.arbora", dev)
    assert done.exit_code == 0
    assert "least probability" in done.stdout
    assert "calibrated on" in run("inspect", "ready.arbora").stdout
    card = json.loads(run("inspect", "ready.arbora", "--json").stdout)["card"]
    assert set(card["head_sets"]) == {"words", "sentences", "own_tags"}


def test_calibrate_refuses(run, model):
    done = run("calibrate", "en", "gold.conllu")
    assert_one_sentence(done.stderr, "give --output")
    done = run("calibrate", model, "gold.conllu", "-o", "x.arbora")
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "at least 50")
    done = run("train", str(TREEBANK / "dev.conllu"), "--calibration-share", "0.2", "--model", "y")
    assert_one_sentence(done.stderr, "--calibration-share requires --dev")


def test_agreement(run):
    done = run("compare", "a.conllu", "b.conllu", "--disagreements", "5")
    assert done.exit_code == 0, done.stderr
    assert "kappa, head" in done.stdout
    assert "1 words differ" in done.stdout
    assert "differs in" in done.stdout
    done = run("compare", "a.conllu", "b.conllu", "--json", "--permutations", "50")
    expected = agreement("a.conllu", "b.conllu", samples=50).to_dict(0)
    assert json.loads(done.stdout) == json.loads(json.dumps(expected))
    done = run("compare", "gold.conllu", "a.conllu", "b.conllu", "--disagreements", "5")
    assert_one_sentence(done.stderr, "leave out GOLD")


def test_agreement_of_files_without_heads(run, files):
    bare = GOLD.replace("\t2\t", "\t_\t").replace("\t3\t", "\t_\t").replace("\t0\t", "\t_\t")
    (files / "bare.conllu").write_text(bare, encoding="utf-8")
    done = run("compare", "gold.conllu", "bare.conllu")
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "no word has a head in both")
