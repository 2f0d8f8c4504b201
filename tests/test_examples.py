"""The examples run and print something."""

from __future__ import annotations

import io
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


# Those that train long enough to notice run once, and the harder way.
LONG = ("demo", "07_train_through_beliefs", "09_train_an_encoder")
CASES = [
    pytest.param(path, encoding, id=f"{path.stem}-{encoding}")
    for path in EXAMPLES
    for encoding in ("utf-8", "ascii")
    if encoding == "ascii" or path.stem not in LONG
]


@pytest.mark.parametrize(("path", "encoding"), CASES)
def test_example(path, encoding, monkeypatch):
    """Also on terminals that show ASCII only, where any other letter is an error."""
    if "import torch" in path.read_text(encoding="utf-8"):
        pytest.importorskip("torch", reason="PyTorch is not installed (the extra torch)")
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding))
    runpy.run_path(str(path), run_name="__main__")
    sys.stdout.flush()
    said = written.getvalue().decode(encoding)
    assert len(said.splitlines()) >= 2
    assert "nan" not in said.split()


def test_the_toy_parser_learns(capsys):
    example = runpy.run_path(str(EXAMPLES[0].parent / "03_train_log_linear.py"))
    _, before = example["train"](steps=1)
    _, after = example["train"](steps=100)
    assert after > before + 5
    assert capsys.readouterr().out == ""
