"""Loading and parsing import neither SciPy nor training code, so that programs start quickly."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.small_parsers import trained
from tests.toys import TREEBANK

HEAVY = ("scipy", "rich", "matplotlib", "arbora.fitting", "arbora.losses", "arbora.evaluation")
MODELS = {
    "first order": {},
    "joint labels": {"labels": "joint"},
    "dual decomposition": {"order": "sibling"},
    "exact": {"order": "grandsibling", "trees": "projective", "inference": "exact"},
    "belief propagation": {"order": "grandsibling", "inference": "bp"},
    "hill climbing": {"order": "sibling", "inference": "hill-climbing"},
}
REPORT = (
    "\nimport json, sys\n"
    "sys.stderr.write('\\nmodules ' + json.dumps(sorted(sys.modules)))\n"
)  # fmt: skip


def heavy_modules(program, *arguments):
    """The heavy modules that a program has imported."""
    done = subprocess.run(
        [sys.executable, "-c", program + REPORT, *arguments], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    modules = json.loads(done.stderr.rpartition("modules ")[2])
    return [
        name for name in modules if name in HEAVY or name.startswith(tuple(h + "." for h in HEAVY))
    ]


@pytest.mark.parametrize("name", MODELS)
def test_loading_and_parsing(name, tmp_path):
    trained(**MODELS[name]).save(tmp_path / "model")
    program = """
import sys, arbora
parser = arbora.load(sys.argv[1])
sentences = list(arbora.read_conllu(sys.argv[2]))[:5]
assert len(parser.parse(sentences)) == 5
assert len(parser.parse(sentences, probabilities=False)) == 5
"""
    assert heavy_modules(program, str(tmp_path / "model"), str(TREEBANK / "test.conllu")) == []


def test_lists_of_trees_and_distributions(tmp_path):
    trained().save(tmp_path / "model")
    program = """
import sys, arbora
parser = arbora.load(sys.argv[1])
sentences = list(arbora.read_conllu(sys.argv[2]))[:2]
assert len(parser.parse(sentences, kbest=2)) == 4
assert len(parser.parse(sentences, samples=2)) == 4
assert parser.distribution(sentences[0]).argmax()
parser.save(sys.argv[1])
"""
    assert heavy_modules(program, str(tmp_path / "model"), str(TREEBANK / "test.conllu")) == []


def test_the_command(tmp_path):
    trained().save(tmp_path / "model")
    program = """
import sys
from arbora.cli import main
sys.argv = ["arbora", "parse", "--model", *sys.argv[1:], "--probabilities", "--output", "-"]
try:
    main()
except SystemExit as end:
    assert not end.code
"""
    assert heavy_modules(program, str(tmp_path / "model"), str(TREEBANK / "test.conllu")) == []


def test_heavy_modules_are_noticed():
    assert heavy_modules("import arbora.fitting.fit") != []
