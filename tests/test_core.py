"""The core's own tests, compiled with warnings as errors, also without vector extensions."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.builds import ROOT, no_other_build, run, set_up_folder

CPP = ROOT / "cpp"


def tool(name):
    """A program of the current environment, or of the system."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else name


@pytest.mark.slow
def test_core():
    """Only the tests are compiled here if `make` has compiled the core."""
    options = ["-DARBORA_BUILD_TESTS=ON", "-DARBORA_WERROR=ON"]
    folder = set_up_folder()
    if folder is None:
        folder = ROOT / "build" / "core"
        options += ["-DCMAKE_BUILD_TYPE=Release", "-DARBORA_BUILD_BINDINGS=OFF"]
    programs = ["core_tests", "core_tests_portable"]
    with no_other_build():
        run(tool("cmake"), "-S", ROOT, "-B", folder, *options)
        run(
            tool("cmake"), "--build", folder, "--parallel", "2", "--config", "Release",
            "--target", *programs,
        )  # fmt: skip
        said = run(tool("ctest"), "--test-dir", folder, "-C", "Release", "--output-on-failure")
    for program in programs:
        assert re.search(rf"{program} \.+ +Passed", said)


def includes(path):
    """The headers of the core that a file includes itself."""
    found = re.findall(r'#include "(arbora/[^"]+)"', path.read_text(encoding="utf-8"))
    return {CPP / "include" / name for name in found}


def test_what_depends_on_vector_extensions_is_compiled_without_them():
    """CMakeLists.txt lists every file that includes base/pack.hpp, directly or not."""
    files = [*CPP.rglob("*.hpp"), *CPP.rglob("*.cpp")]
    depend, before = {CPP / "include" / "arbora" / "base" / "pack.hpp"}, 0
    while len(depend) > before:
        before = len(depend)
        depend |= {path for path in files if includes(path) & depend}
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    lists = re.findall(r"set\(pack_(?:sources|tests)\b([^)]*)\)", text)
    listed = {ROOT / name for part in lists for name in re.findall(r"\S+\.cpp", part)}
    bindings = CPP / "bindings"
    assert listed == {p for p in depend if p.suffix == ".cpp" and bindings not in p.parents}
