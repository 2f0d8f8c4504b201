"""Builds Arbora into a virtual environment, or reports in one sentence what is missing.

python tools/set_up.py .venv
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

BUILD_TOOLS = ["cmake>=3.26", "ninja", "nanobind>=2.9", "scikit-build-core>=0.11"]
# The tests of the core and of the wheel build on what is compiled here, see tests/builds.py.
BUILD_FOLDER = "build/develop/{wheel_tag}"


def stop(sentence: str) -> None:
    sys.exit(f"arbora: {sentence}")


def reason(lines: list[str]) -> list[str]:
    """What to show of a failed command: its end, and before it the first error of a compiler.

    Other files are still being compiled then, so that the end alone may not contain it.
    """
    errors = [i for i, line in enumerate(lines) if "FAILED: " in line or " error: " in line]
    end = max(0, len(lines) - 40)
    if not errors or errors[0] >= end:
        return lines[end:]
    return [*lines[errors[0] : min(errors[0] + 20, end)], "...", *lines[end:]]


def run(command: list[str | Path], what: str) -> None:
    """Runs a command quietly; on failure shows the reason and exits."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    said = done.stdout + done.stderr
    sys.stderr.write("\n".join(reason(said.splitlines())) + "\n")
    offline = ("No matching distribution", "Could not find a version", "Connection", "resolve")
    if any(sign in said for sign in offline) and "error:" not in said.split("ERROR")[0]:
        stop(f"{what} failed because packages could not be fetched: check the network connection.")
    stop(f"{what} failed; the reason is above.")


def main(folder: Path) -> None:
    if sys.version_info < (3, 11):  # noqa: UP036  # this runs before anything is installed
        stop(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}.")
    compilers = [os.environ.get("CXX", ""), "c++", "g++", "clang++", "cl"]
    if not any(shutil.which(name) for name in compilers if name):
        stop("no C++ compiler was found: install one (on Debian or Ubuntu: apt install g++).")
    try:
        import ensurepip  # noqa: F401  # venv needs it
        import venv
    except ImportError:
        stop("Python's venv module is missing (on Debian or Ubuntu: apt install python3-venv).")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        sys.stderr.write(f"Making a virtual environment in {folder} ...\n")
        venv.create(folder, with_pip=True)
    pip: list[str | Path] = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    sys.stderr.write("Installing build tools ...\n")
    run([*pip, *BUILD_TOOLS], "Installing the build tools")
    sys.stderr.write("Compiling arbora and installing its dependencies (about a minute) ...\n")
    # an old editable install would break the stub generator, which imports arbora
    run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "arbora"], "Removing the old arbora")
    settings = [f"--config-settings=build-dir={BUILD_FOLDER}"]
    if "ARBORA_WERROR" in os.environ:
        settings += [f"--config-settings=cmake.define.ARBORA_WERROR={os.environ['ARBORA_WERROR']}"]
    run([*pip, *settings, "--no-build-isolation", "--editable", ".[dev]"], "Building arbora")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".venv"))
