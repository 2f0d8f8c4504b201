"""The error of `make` on a machine without a required program is one clear sentence."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def set_up(tmp_path, **environment):
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "set_up.py", tmp_path / "venv"],
        capture_output=True, text=True, check=False, cwd=ROOT,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_no_compiler(tmp_path):
    done = set_up(tmp_path, PATH=str(tmp_path), CXX="")
    assert done.returncode == 1
    assert done.stderr.startswith("arbora: no C++ compiler was found")
    assert done.stderr.count("\n") == 1


def test_no_venv_module(tmp_path):
    (tmp_path / "ensurepip.py").write_text("raise ImportError('not here')\n")
    done = set_up(tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("arbora: Python's venv module is missing")
    assert done.stderr.count("\n") == 1


def test_no_network(tmp_path):
    nowhere = "http://127.0.0.1:9/simple"
    done = set_up(
        tmp_path, PIP_INDEX_URL=nowhere, PIP_EXTRA_INDEX_URL="", PIP_FIND_LINKS="", PIP_RETRIES="0",
        PIP_NO_CACHE_DIR="1", PIP_CONFIG_FILE=os.devnull, PIP_TIMEOUT="2",
    )  # fmt: skip
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("arbora: ")
    assert "check the network connection" in last


def test_the_first_error_of_a_compiler_is_shown():
    reason = runpy.run_path(str(ROOT / "tools" / "set_up.py"))["reason"]
    many = [f"[{i}/300] Building" for i in range(300)]
    assert reason(many) == many[-40:]
    failed = [*many[:100], "FAILED: a.cpp.o", "a.cpp:3:1: error: expected ';'", *many[100:]]
    shown = reason(failed)
    assert "a.cpp:3:1: error: expected ';'" in shown
    assert shown[-40:] == many[-40:]
    assert len(shown) <= 61
    late = [*many, "FAILED: a.cpp.o", "stopped"]
    assert reason(late) == late[-40:]
