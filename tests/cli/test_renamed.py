"""Old names of options at the command line."""

from __future__ import annotations

import re

import arbora
from tests.cli.conftest import TREEBANK

TRAIN, DEV = str(TREEBANK / "train.conllu"), str(TREEBANK / "dev.conllu")
SMALL = ["--bits", "14", "--label-bits", "6", "--passes", "1", "--threads", "1"]
SMALL += ["--only", "parser"]


def test_the_old_name_of_an_option_works_with_a_note(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("train", TRAIN, "--dev", DEV, "--model", "m.arbora", "--l2", "3", *SMALL, "--quiet")
    assert done.exit_code == 0, done.stderr
    assert re.fullmatch(
        r"arbora: warning: .*l2 is deprecated .* use .*regularization\.\n", done.stderr
    )
    assert arbora.load("m.arbora").options.keywords()["regularization"] == 3.0
    assert "--l2 " not in run("train", "--help-all").stdout
