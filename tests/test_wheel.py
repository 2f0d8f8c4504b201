"""A wheel built from the sources works in an empty environment."""

from __future__ import annotations

import os
import re
import sys
import tomllib
import venv
import zipfile
from importlib.metadata import distribution

import pytest

from tests.builds import ROOT, TAG, no_other_build, run, set_up_folder

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


def files_of_the_package():
    """What belongs into the wheel besides the compiled module: our modules, data and its stubs."""
    package = ROOT / "src" / "arbora"
    stubs = ["__init__", "data", "features", "inference", "learning", "scores", "scoring"]
    stubs += ["segmentation", "tagging"]
    return {
        *(
            path.relative_to(package.parent).as_posix()
            for ending in ("py", "toml", "tags", "heads", "arbora", "html", "css", "js", "svg")
            for path in package.rglob(f"*.{ending}")
        ),
        *(f"arbora/_core/{name}.pyi" for name in stubs),
        "arbora/py.typed",
    }


def check_files(wheel, version):
    """Nothing is missing and nothing else is packed, such as programs of tests."""
    with zipfile.ZipFile(wheel) as archive:
        for name in ("LICENSE", "NOTICE", NOTICES):
            packed = archive.read(f"arbora-{version}.dist-info/licenses/{name}")
            assert packed == (ROOT / name).read_bytes()
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert files_of_the_package() <= names
    (compiled,) = names - files_of_the_package()
    suffix = r"\.(abi3\.so|pyd)" if TAG.endswith("abi3") else r"\.cp.*311.*\.(so|pyd)"
    assert re.fullmatch(f"arbora/_core{suffix}", compiled)


@pytest.mark.slow
def test_wheel_in_an_empty_environment(tmp_path):
    folder = set_up_folder()
    with no_other_build():
        run(
            sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT,
            env={**os.environ, **({"SKBUILD_BUILD_DIR": str(folder)} if folder else {})},
        )  # fmt: skip
    (wheel,) = tmp_path.glob("arbora-*.whl")
    assert TAG in wheel.name
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    check_files(wheel, project["version"])

    venv.create(tmp_path / "empty")
    python = tmp_path / "empty" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(
        sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile",
        "--disable-pip-version-check", wheel,
    )  # fmt: skip
    script = (
        "import sys, numpy as np, arbora\n"
        "from pathlib import Path\n"
        "trees = arbora.SpanningTrees(np.zeros((4, 4)))\n"
        "assert abs(np.exp(trees.log_partition) - 9) < 1e-12\n"
        "folder = Path(arbora.__file__).parent\n"
        "assert Path(sys.prefix) in folder.parents\n"
        "assert (folder / 'py.typed').exists()\n"
        "assert (folder / '_core' / 'inference.pyi').exists()\n"
        "print(arbora.__version__)\n"
    )
    assert run(python, "-c", script, cwd=tmp_path).strip() == project["version"]
    command = python.parent / "arbora"
    assert run(command, "--version", cwd=tmp_path).strip() == f"arbora {project['version']}"
    parsed = run(command, "parse", "She saw the man with a telescope.", cwd=tmp_path)
    assert "# text = She saw the man with a telescope." in parsed
