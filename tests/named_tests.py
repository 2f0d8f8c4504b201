"""Tests that pages of the documentation name (`tests/data/test_writing.py::test_streams`)."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


def spans(cell):
    """The code spans of a cell; `::` at the beginning stands for the file before."""
    found, file = [], ""
    for span in re.findall(r"`([^`]+)`", cell):
        full = file + span if span.startswith("::") else span
        if full.startswith("tests/"):
            file = full.partition("::")[0]
        found.append(full)
    return found


@cache
def functions_in(path):
    """The test functions of a file, those of classes with the name of the class."""
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    found = {one.name for one in body if isinstance(one, ast.FunctionDef)}
    for one in body:
        if isinstance(one, ast.ClassDef):
            found |= {f"{one.name}::{f.name}" for f in one.body if isinstance(f, ast.FunctionDef)}
    return found


def is_test(name):
    path, _, function = name.partition("::")
    return (ROOT / path).is_file() and function in functions_in(path)
