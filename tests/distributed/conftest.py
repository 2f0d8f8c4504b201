from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from tests.small_parsers import trained
from tests.toys import TREEBANK


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model file."""
    path = tmp_path_factory.mktemp("model") / "m.arbora"
    trained().save(path)
    return path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A folder of files, one of them broken."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "deep").mkdir()
    for name, part in (("a", "test"), ("b", "dev"), ("deep/c", "test"), ("d", "train")):
        (folder / f"{name}.conllu").write_bytes((TREEBANK / f"{part}.conllu").read_bytes())
    (folder / "bad.conllu").write_bytes(b"1\tbroken\n\n")
    return folder


def contents(folder):
    """Every file of a folder, with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def check_page(heading):
    """Runs the blocks of a section of the how-to page, and compares what they print."""
    page = Path(__file__).parents[2] / "docs" / "how-to" / "parse_on_a_cluster.md"
    section = page.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    ((code, expected),) = re.findall(r"```py\n(.*?)```\n+```text\n(.*?)```", section, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(page), "exec", dont_inherit=True), {"__name__": "docs"})
    assert printed.getvalue().strip() == expected.strip()
