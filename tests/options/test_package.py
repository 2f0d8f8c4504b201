"""The options package: two spellings, few imports, and generated files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

from arbora.errors import ArgumentError
from arbora.options import ParserOptions, public_options, spelled, spelling
from arbora.options.keywords import ParserKeywords

ROOT = Path(__file__).parents[2]


@pytest.fixture
def at_command_line(monkeypatch):
    monkeypatch.setattr(spelling, "_at_command_line", True)


def test_python_spelling():
    assert spelled("decode_trees") == "decode_trees"
    assert spelled("order", "first") == "order='first'"


@pytest.mark.usefixtures("at_command_line")
def test_command_line_spelling():
    assert spelled("decode_trees") == "--decode-trees"
    assert spelled("order", "first") == "--order first"
    with pytest.raises(ArgumentError, match=r"^--bits must be between 8 and 28, not 3"):
        ParserOptions.from_keywords({"bits": 3})
    with pytest.raises(ArgumentError, match=r"^--k has no effect here: .* --learner mira"):
        ParserOptions.from_keywords({"k": 3})
    with pytest.raises(ArgumentError, match="no option --lerner; did you mean --learner"):
        ParserOptions.from_keywords({"lerner": "mira"})


def run(*command):
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_speaking_to_the_command_line_is_for_the_whole_process():
    program = (
        "from arbora.options import speak_command_line, spelled\n"
        "speak_command_line()\nprint(spelled('max_iterations', 3))"
    )
    assert run("-c", program).stdout == "--max-iterations 3\n"


def test_options_import_only_the_standard_library_and_errors():
    program = (
        "import sys\nimport arbora.options\n"
        "heavy = {'numpy', 'scipy', 'arbora._core'} & set(sys.modules)\n"
        "own = {name for name in sys.modules if name.startswith('arbora.')}\n"
        "print(sorted(heavy), sorted(n for n in own if not n.startswith('arbora.options')))"
    )
    done = run("-c", program)
    assert done.stdout == "[] ['arbora.errors', 'arbora.names']\n", done.stderr


def test_the_typed_signature_is_up_to_date():
    done = run("tools/write_keywords.py", "--check")
    assert done.returncode == 0, "run python tools/write_keywords.py"
    declared = {*get_type_hints(ParserKeywords), "scorer"}  # an argument of its own
    assert declared == set(public_options(ParserOptions))
