"""Imports go down only: the package's layers (ARCHITECTURE.md), and the core's."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "arbora"
sys.path.insert(0, str(ROOT / "tools"))

from import_graph import LAYERS  # noqa: E402  # a script beside the package

DEPTH = {name: depth for depth, names in enumerate(LAYERS) for name in names}

# The core's folders, from top to bottom; siblings on one line.
CORE_LAYERS = [
    {"learning"},
    {"scoring", "inference", "segmentation", "tagging"},
    {"features"},
    {"tree"},
    {"data"},
    {"base"},
]
CORE_DEPTH = {name: depth for depth, names in enumerate(CORE_LAYERS) for name in names}

# The layer of the package that a submodule of the core belongs to, where the names differ.
KERNELS_OF = {"learning": "fitting"}


def layer_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in found if name.startswith("arbora")]


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__main__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down(path):
    here = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if here in {"__init__", "testing"}:
        return  # the public door opens on everything; `testing` may look everywhere
    for name in imports(path):
        there = layer_of(name)
        if there == "_core":
            kernels = name.split(".")[2]
            owner = KERNELS_OF.get(kernels, kernels)
            assert owner == here, f"{here} uses the kernels of another layer: {name}"
        elif there != here:
            assert DEPTH[there] > DEPTH[here], f"{path.name} ({here}) imports {name} ({there})"


def test_the_import_graph_in_the_documentation_is_up_to_date():
    script = ROOT / "tools" / "import_graph.py"
    assert subprocess.run([sys.executable, script, "--check"], check=False).returncode == 0


def test_testing_is_for_tests_only():
    for path in MODULES:
        if path.relative_to(PACKAGE).parts[0] != "testing":
            assert not any(layer_of(name) == "testing" for name in imports(path)), path


def test_the_core_does_not_know_python_and_includes_go_down():
    for path in [*ROOT.glob("cpp/include/**/*.hpp"), *ROOT.glob("cpp/src/**/*.cpp")]:
        text = path.read_text(encoding="utf-8")
        assert "nanobind" not in text, path
        assert "Python.h" not in text, path
        here = path.parent.name
        for there in re.findall(r'#include "arbora/(\w+)/', text):
            down = CORE_DEPTH[there] > CORE_DEPTH[here]
            assert down or there == here, f"{path} includes {there}"


def test_every_folder_of_the_core_is_a_namespace():
    for path in [*ROOT.glob("cpp/include/arbora/*/*.hpp"), *ROOT.glob("cpp/src/*/*.cpp")]:
        names = re.findall(r"^namespace arbora[\w:]*", path.read_text(encoding="utf-8"), re.M)
        assert set(names) <= {f"namespace arbora::{path.parent.name}"}, path


def test_namespaces_of_the_core_see_the_layers_below():
    text = (ROOT / "cpp/include/arbora/layers.hpp").read_text(encoding="utf-8")
    for here, depth in CORE_DEPTH.items():
        block = re.search(rf"^namespace {here} {{(.*?)}}", text, re.M | re.S)
        assert block is not None, here
        seen = set(re.findall(r"using namespace (\w+);", block.group(1)))
        assert seen == {there for there in CORE_DEPTH if CORE_DEPTH[there] > depth}, here


def test_files_stay_readable():
    for path in [
        *PACKAGE.rglob("*.py"),
        *ROOT.glob("cpp/**/*.[ch]pp"),
        *ROOT.glob("tests/**/*.py"),
    ]:
        lines = path.read_text(encoding="utf-8").count("\n")
        assert lines <= 420, f"{path} has {lines} lines: split it"
