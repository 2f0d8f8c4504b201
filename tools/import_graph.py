"""Writes the graph of imports between layers into ARCHITECTURE.md.

python tools/import_graph.py          # rewrites the graph
python tools/import_graph.py --check  # exit status 1 if it is out of date
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "arbora"
TARGET = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- import graph: begin -->", "<!-- import graph: end -->"

# From top to bottom; the folders of one line do not import each other.
LAYERS: list[tuple[str, ...]] = [
    ("cli", "spacy", "torch", "jax"),
    ("server", "distributed"),
    ("annotation", "corpus", "reproduction"),
    ("pipeline",),
    ("parsers",),
    ("fitting",),
    ("models", "segmentation", "tagging"),
    ("losses", "evaluation", "neural"),
    ("inference", "scoring"),
    ("scores",),
    ("features",),
    ("data",),
    ("options",),
    ("arrays", "types"),
    ("drawing",),  # low, so that every type can draw itself; it takes plain values only
    ("names", "errors", "spread"),
]


def layer(path: Path) -> str:
    """The folder (or single module) of the package that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_layers(path: Path) -> set[str]:
    """The layers that a module imports, at the top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("arbora.")}
    return found - {layer(path)}


def graph() -> dict[str, set[str]]:
    """For every layer, the layers that it imports."""
    known = {name for names in LAYERS for name in names}
    answer: dict[str, set[str]] = {name: set() for names in LAYERS for name in names}
    for path in PACKAGE.rglob("*.py"):
        if layer(path) in known:
            answer[layer(path)] |= imported_layers(path) & known
    return answer


def drawing() -> str:
    """One line per layer with its imports."""
    imports, order = graph(), [name for names in LAYERS for name in names]
    width = max(len(name) for name in order)
    lines = [
        f"{name:<{width}}  ->  {', '.join(sorted(imports[name], key=order.index)) or '(nothing)'}"
        for name in order
    ]
    return "\n".join([BEGIN, "```", *lines, "```", END])


def updated(text: str) -> str:
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + drawing() + after


if __name__ == "__main__":
    old = TARGET.read_text(encoding="utf-8")
    if "--check" in sys.argv:
        sys.exit(old != updated(old))
    TARGET.write_text(updated(old), encoding="utf-8")
