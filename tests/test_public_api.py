"""Public names exist, are typed and documented."""

from __future__ import annotations

import inspect
import re
import tomllib
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import arbora

QUESTIONS = [
    "argmax", "mbr", "kbest", "sample", "log_prob", "entropy", "kl", "cross_entropy", "expect",
    "variance", "covariance", "vjp", "constrain", "batch", "pair_marginal", "arc_margins", "greedy",
]  # fmt: skip


def test_the_names_of_parsing_are_public():
    assert {"Parser", "load", "ParsedSentence", "ModelError"} <= set(arbora.__all__)
    assert issubclass(arbora.ModelError, arbora.ArboraError)
    assert issubclass(arbora.ParsedSentence, arbora.Sentence)
    for question in ("fit", "parse", "distribution", "evaluate", "save"):
        assert inspect.getdoc(getattr(arbora.Parser, question))


@pytest.mark.parametrize("name", arbora.__all__)
def test_public_names_are_documented(name):
    thing = getattr(arbora, name)
    if not isinstance(thing, str):
        assert inspect.getdoc(thing)


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_can_be_asked(kind, name):
    question = getattr(kind, name)
    assert callable(question)
    assert inspect.getdoc(question)


@pytest.mark.parametrize("name", ["log_partition", "marginals"])
def test_cached_answers_are_attributes(kind, name):
    assert isinstance(inspect.getattr_static(kind, name), property)
    assert kind.exact is True


def test_version_is_the_installed_one():
    assert arbora.__version__ == version("arbora")


def test_the_version_is_written_once():
    """pyproject.toml has the version; no other file of the package repeats it."""
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert arbora.__version__ == project["version"]
    others = [*root.glob("src/**/*.py"), *root.glob("tools/*.py"), root / "CITATION.cff"]
    others += [root / "CMakeLists.txt", *root.glob("tests/*.py")]
    quoted = re.compile(rf"""(version["': =]+|["']){re.escape(project["version"])}\b""", re.I)
    for path in others:
        assert not quoted.search(path.read_text(encoding="utf-8")), path


def test_types_are_shipped():
    folder = Path(arbora.__file__).parent
    assert (folder / "py.typed").exists()


def test_stubs_are_those_of_the_compiled_module():
    """The build generates the stubs from the module, and they contain every kernel."""
    core = Path(arbora._core.__file__).parent / "_core"
    layers = (
        ("data", 5),
        ("features", 5),
        ("scoring", 8),
        ("segmentation", 8),
        ("inference", 8),
        ("learning", 5),
    )
    for layer, least in layers:
        text = (core / f"{layer}.pyi").read_text(encoding="utf-8")
        kernels = [name for name in dir(getattr(arbora._core, layer)) if not name.startswith("_")]
        assert len(kernels) >= least
        for name in kernels:
            written = (f"def {name}(", f"{name}: ", f"class {name}:", f"class {name}(")
            assert any(form in text for form in written)


def test_a_tree_is_a_value():
    trees = arbora.SpanningTrees(np.arange(16.0).reshape(4, 4))
    a, b = trees.argmax(), trees.kbest(1)[0]
    assert a == b
    assert hash(a) == hash(b)
    assert a != trees.kbest(2)[1]
    assert a != "tree"
    assert len(a) == 3
    assert np.asarray(a).tolist() == a.heads.tolist()
    assert a.arcs == [(int(h), m) for m, h in enumerate(a.heads, start=1)]
    assert repr(trees) == "SpanningTrees(3 words, root='single')"


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [("arbora", "Scores", "AttachmentScores"),
     ("arbora.evaluation", "Scores", "AttachmentScores"),
     ("arbora.evaluation", "Rule", "EvaluationRule")],
)  # fmt: skip
def test_renamed_names_work_with_a_warning(module, old, new):
    home = import_module(module)
    with pytest.warns(DeprecationWarning, match=f"{old} is deprecated .* use {new}") as seen:
        assert getattr(home, old) is getattr(home, new)
    assert seen[0].filename == __file__
    assert old not in home.__all__
