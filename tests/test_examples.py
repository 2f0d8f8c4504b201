"""The examples run and print something."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    said = capsys.readouterr().out
    assert len(said.splitlines()) >= 2
    assert "nan" not in said.split()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_on_an_ascii_terminal(path):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, path], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.isascii()


def test_the_toy_parser_learns(capsys):
    example = runpy.run_path(str(EXAMPLES[0].parent / "03_train_log_linear.py"))
    _, before = example["train"](steps=1)
    _, after = example["train"](steps=100)
    assert after > before + 5
    assert capsys.readouterr().out == ""
