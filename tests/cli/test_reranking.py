"""`arbora train --rerank`, and what its models do."""

from __future__ import annotations

import arbora
from tests.cli.conftest import GOLD, TREEBANK, assert_one_sentence

SMALL = ["--bits", "14", "--label-bits", "7", "--passes", "2", "--threads", "1"]
SMALL += ["--only", "parser"]


def test_reranking(run, tmp_path, monkeypatch):
    """Every run of the training is announced, and the model states what its lists contain."""
    monkeypatch.chdir(tmp_path)
    options = ["--labels", "none", "--rerank", "3", "--rerank-folds", "2"]
    done = run("train", str(TREEBANK / "dev.conllu"), *options, *SMALL, "--model", "m")
    assert done.exit_code == 0, done.stderr
    runs = [line for line in done.stderr.splitlines() if not line.startswith("pass ")]
    assert runs == [
        "making the reranker's lists by cross-validation", "training the reranker",
        "retraining on all sentences",
    ]  # fmt: skip
    assert "3 trees reranked" in done.stdout
    figures = arbora.load(tmp_path / "m").model.card["reranking"]
    said = f"UAS {figures['first_uas']:.2f}, the best {figures['oracle_uas']:.2f}"
    for shown in (done.stdout, run("inspect", "m").stdout):
        assert said in shown
    assert "reranker.weights" in run("inspect", "m").stdout
    (tmp_path / "few").write_text(GOLD)
    assert run("parse", "--model", "m", "few", "--output", "out").exit_code == 0
    done = run("parse", "--model", "m", "few", "--decode", "mbr")
    assert_one_sentence(done.stderr, "a model that reranks: use map")
