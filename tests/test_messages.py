"""Error messages are sentences: they end in a full stop."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import arbora

PACKAGE = Path(arbora.__file__).parent
OURS = {
    "AlignmentError", "ArgumentError", "ConstraintError", "FileError", "ModelError", "NoTreeError",
    "ScoreError", "ShapeError", "SolverError", "TooLargeError",
}  # fmt: skip  # DataError adds the file, the line and the full stop
FILES = sorted(PACKAGE.rglob("*.py"))


def end_of(node: ast.expr) -> str | None:
    """The end of a string as far as the source shows it; None if it ends in a variable."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return end_of(node.values[-1])
    if isinstance(node, ast.BinOp):
        return end_of(node.right)
    return None


def called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_errors_end_in_a_full_stop(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    ends = [end_of(node.args[0]) for node in calls if called(node) in OURS]
    assert not [end for end in ends if end is not None and not end.endswith((".", "?"))]
