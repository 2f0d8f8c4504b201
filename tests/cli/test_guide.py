"""The commands of the guide run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_commands_of_the_guide(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    page = (ROOT / "docs" / "parsing.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
             for line in block.splitlines()]  # fmt: skip
    assert len(lines) > 8
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "arbora"
        done = run(*arguments)
        assert done.exit_code == 0, f"{line}: {done.stderr}"
