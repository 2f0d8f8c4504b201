"""The core's own tests, compiled with warnings as errors, also without vector extensions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def tool(name):
    """A program of the current environment, or of the system."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else name


@pytest.mark.slow
@pytest.mark.parametrize("flags", ["", "-DARBORA_PORTABLE_PACK"], ids=["vectors", "portable"])
def test_core(tmp_path, flags):
    run(
        tool("cmake"), "-S", ROOT, "-B", tmp_path, "-DCMAKE_BUILD_TYPE=Release",
        "-DARBORA_BUILD_TESTS=ON", "-DARBORA_BUILD_BINDINGS=OFF", "-DARBORA_WERROR=ON",
        f"-DCMAKE_CXX_FLAGS={flags}",
    )  # fmt: skip
    run(tool("cmake"), "--build", tmp_path, "--parallel", "2", "--config", "Release")
    run(tool("ctest"), "--test-dir", tmp_path, "-C", "Release", "--output-on-failure")
