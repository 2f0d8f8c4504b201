from __future__ import annotations

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
