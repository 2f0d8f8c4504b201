"""A wheel built from the sources works in an empty environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


NOTICES = "THIRD_PARTY_LICENSES.txt"


def words(text):
    """A text without line breaks and comment markers."""
    return " ".join(re.sub(r"[*/]+", " ", text).split())


def test_notices_of_what_is_linked_statically():
    """The compiled module contains nanobind, and nanobind a hash table."""
    ours = words((ROOT / NOTICES).read_text(encoding="utf-8"))
    files = {str(file): file for file in distribution("nanobind").files or []}
    (licence,) = (file for name, file in files.items() if name.endswith("licenses/LICENSE"))
    (header,) = (file for name, file in files.items() if name.endswith("tsl/robin_hash.h"))
    assert words(licence.read_text(encoding="utf-8")) in ours
    notice = header.read_text(encoding="utf-8").split("*/")[0]
    assert words(notice).removeprefix("MIT License ") in ours


@pytest.mark.slow
def test_wheel_in_an_empty_environment(tmp_path):
    run(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT,
        env={**os.environ, "SKBUILD_BUILD_DIR": str(tmp_path / "build")},
    )  # fmt: skip
    (wheel,) = tmp_path.glob("arbora-*.whl")
    tag = "cp312-abi3" if sys.version_info >= (3, 12) else "cp311-cp311"
    assert tag in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        for name in ("LICENSE", NOTICES):
            packed = archive.read(f"arbora-0.1.0.dist-info/licenses/{name}")
            assert packed == (ROOT / name).read_bytes()

    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    script = (
        "import numpy as np, arbora\n"
        "from pathlib import Path\n"
        "trees = arbora.SpanningTrees(np.zeros((4, 4)))\n"
        "assert abs(np.exp(trees.log_partition) - 9) < 1e-12\n"
        "folder = Path(arbora.__file__).parent\n"
        "assert (folder / 'py.typed').exists()\n"
        "assert (folder / '_core' / 'inference.pyi').exists()\n"
        "print(arbora.__version__)\n"
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert run(python, "-c", script, cwd=tmp_path).strip() == project["version"]
    command = python.parent / "arbora"
    assert run(command, "--version", cwd=tmp_path).strip() == f"arbora {project['version']}"
