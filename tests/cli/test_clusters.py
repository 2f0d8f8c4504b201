"""Clusters of arcs on the command line."""

from __future__ import annotations

import json

from tests.cli.conftest import TREEBANK

TRAIN = str(TREEBANK / "dev.conllu")  # small


def test_clusters_of_another_model(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = ("--bits", "10", "--passes", "1", "--labels", "none", "--only", "parser")
    clusters = ("--clusters", "2", "--cluster-bits", "8")
    assert run("train", TRAIN, "--model", "a.arbora", *small, *clusters).exit_code == 0
    done = run("train", TRAIN, "--model", "b.arbora", *small, "--edge-clusters", "a.arbora")
    assert done.exit_code == 0
    shown = json.loads(run("inspect", "b.arbora", "--json").stdout)
    assert shown["edge_clusters"] == 2
    assert "2, from outside" in run("inspect", "b.arbora").stdout
