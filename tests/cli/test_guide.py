"""The commands of the guide run, with short trainings."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count"), [("parsing", 9), ("approximation_aware", 2), ("how-to/draw_trees", 5)]
)
def test_commands_of_the_guide(run, tmp_path, monkeypatch, name, count):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for part in ("train", "dev"):
        (tmp_path / f"{part}.conllu").symlink_to(ROOT / "examples" / "treebank" / f"{part}.conllu")
    vectors = np.random.default_rng(0).normal(size=(600, 4))
    rows = (f"w{i} " + " ".join(map(str, row)) for i, row in enumerate(vectors))
    (tmp_path / "glove.6B.100d.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
             for line in block.splitlines()]  # fmt: skip
    assert len(lines) >= count
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "arbora"
        if arguments[0] in ("train", "tune"):  # of an option given twice, the last counts
            arguments += ["--passes", "2", "--bits", "16"]
        if arguments[0] == "train":  # the stages are trained in test_train_pipeline.py
            arguments += ["--only", "parser"]
        done = run(*arguments)
        assert done.exit_code == 0, f"{line}: {done.stderr}"
