"""`arbora tune`."""

from __future__ import annotations

import json
import re

import pytest

import arbora
from tests.cli.conftest import TREEBANK, assert_one_sentence

TRAIN, DEV = str(TREEBANK / "train.conllu"), str(TREEBANK / "dev.conllu")
SMALL = ["--bits", "14", "--label-bits", "7", "--passes", "2", "--threads", "1"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_tune(run):
    done = run(
        "tune", TRAIN, "--dev", DEV, "--grid", "regularization=0.01,1000", "--grid",
        "features=mcdonald2005", "--model", "best.arbora", *SMALL,
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert re.findall(r"trial (\d)/2", done.stderr) == ["1", "2"]
    assert "regularization  features" in re.sub(" +", "  ", done.stdout)
    assert "Best options: --regularization 0.01 --features mcdonald2005" in done.stdout
    assert arbora.load("best.arbora").options.keywords()["regularization"] == 0.01


def test_tune_json(run):
    done = run("tune", TRAIN, "--dev", DEV, "--json", "--learner", "perceptron", *SMALL, "--quiet")
    answer = json.loads(done.stdout)
    assert done.stderr == ""
    assert answer["model"] is None
    scores = [trial["las"] for trial in answer["trials"]]
    assert scores == sorted(scores, reverse=True)
    assert sorted(trial["options"]["batch_size"] for trial in answer["trials"]) == [1, 4, 16]
    assert answer["best"] == answer["trials"][0]["options"]


@pytest.mark.parametrize(
    "grid",
    [
        "bits",
        "bits=",
        "bits=x",
        "l3=1",
        "colour=red",
        "learner=teacher",
        "passes=1.5",
        "average=maybe",
    ],
)
def test_bad_grids(run, grid):
    done = run("tune", TRAIN, "--dev", DEV, "--grid", grid)
    assert done.exit_code == 2
    assert_one_sentence(done.stderr)
