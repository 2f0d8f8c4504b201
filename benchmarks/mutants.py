"""Checks the tests themselves: every small wrong change to the sources must make a test fail.

    python benchmarks/mutants.py [--only NAME ...] [--kind python|core] [--jobs 1] [--folder DIR]

A mutant is a row of `mutants_python.toml` or `mutants_core.toml`: an exact text of a source file,
a wrong text to put in its place, and the tests that should fail with it. The changes are made in a
copy of the repository, never in the repository itself. The tests must first pass in the unchanged
copy. Then a mutant is caught if a test fails; it survives if all of them pass.

Python mutants need no build. Mutants of the core share a build tree, so that each costs the
compilation of one file, a link and its tests. `--folder` keeps the copy and its build tree for the
next run. The report is a Markdown table; the exit status is 1 if a mutant was not caught.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LISTS = [Path(__file__).with_name(f"mutants_{kind}.toml") for kind in ("python", "core")]
CORE = "core: "  # begins the name of a test case of the core; other tests are pytest's
SECONDS = 900  # for the tests of one mutant

# Editable installations find the package before PYTHONPATH is searched: not in the copy.
SITE = """import sys
sys.meta_path[:] = [f for f in sys.meta_path if "ScikitBuild" not in type(f).__name__]
"""


class MutantError(Exception):
    """A mutant, a build or the tests of the unchanged copy are not as they should be."""


@dataclass(frozen=True)
class Mutant:
    """A wrong change: `old` occurs once in `file`; `item` is that of the papers' checklist."""

    name: str
    item: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The language, "python" or "core"."""
        return "python" if self.file.endswith(".py") else "core"

    def applied(self, text: str) -> str:
        """The changed contents of the file."""
        if text.count(self.old) != 1 or self.old == self.new:
            raise MutantError(f"{self.name}: its text must occur once in {self.file}.")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Result:
    """What became of a mutant; `by` is the first test that failed."""

    mutant: Mutant
    outcome: str  # "caught", "survived", or what went wrong
    by: str
    seconds: float


def read_mutants() -> list[Mutant]:
    """All mutants, in the order of their lists."""
    found = []
    for path in LISTS:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))
        found += [
            Mutant(name, row["item"], row["file"], row["old"], row["new"], tuple(row["tests"]))
            for name, row in rows.items()
        ]
    return found


class Workshop:
    """A copy of the repository in which sources are changed, with a build tree of its own."""

    def __init__(self, folder: Path) -> None:
        self.root, self.tree = folder / "copy", folder / "copy" / "build" / "tree"
        _copy_repository(self.root)
        (folder / "site").mkdir(exist_ok=True)
        (folder / "site" / "sitecustomize.py").write_text(SITE)
        paths = [folder / "site", self.root / "src"]
        # Cached bytecode is told from the sources by size and second: it may be of another mutant.
        self.environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def install_extension(self, extension: Path) -> None:
        """Puts a compiled core beside the copied package."""
        package = self.root / "src" / "arbora"
        for other in package.glob("_core.*"):
            other.unlink()
        shutil.copy2(extension, package)

    def configure(self) -> None:
        """Makes the build tree."""
        cmake_dir = self._output([sys.executable, "-m", "nanobind", "--cmake_dir"])
        command = [
            _tool("cmake"), "-S", str(self.root), "-B", str(self.tree), "-G", "Ninja",
            f"-DCMAKE_MAKE_PROGRAM={_tool('ninja')}", "-DCMAKE_BUILD_TYPE=Release",
            "-DARBORA_BUILD_TESTS=ON", f"-DPython_EXECUTABLE={sys.executable}",
            f"-Dnanobind_DIR={cmake_dir}",
        ]  # fmt: skip
        if launcher := shutil.which("ccache"):
            command.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}")
        self._output(command)

    def build(self, tests: Sequence[str]) -> None:
        """Compiles what has changed, as far as the tests need it."""
        targets = ["core_tests"] if any(map(_is_core, tests)) else []
        if not all(map(_is_core, tests)):
            targets.append("_core")
        self._output([_tool("ninja"), "-C", str(self.tree), *targets])
        if "_core" in targets:
            (extension,) = (self.tree / "package" / "arbora").glob("_core.*")
            self.install_extension(extension)

    def run(self, tests: Sequence[str]) -> tuple[int, str]:
        """The exit status and the output of tests; the first failure ends them."""
        status, output = 0, ""
        ours = [name.removeprefix(CORE) for name in tests if _is_core(name)]
        if ours:
            # doctest separates names by commas; a question mark stands for any letter
            names = ",".join(name.replace(",", "?") for name in ours)
            command = [str(self.tree / "core_tests"), "--abort-after=1", f"--test-case={names}"]
            status, output = self._run(command)
        others = [name for name in tests if not _is_core(name)]
        if status == 0 and others:
            command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
            status, output = self._run([*command, *others])
        return status, output

    def check_paths(self) -> None:
        """Raises unless tests in the copy import the copied package."""
        found = self._output([sys.executable, "-c", "import arbora; print(arbora.__file__)"])
        if not Path(found).is_relative_to(self.root):
            raise MutantError(f"the copy's tests would import {found}.")

    def _run(self, command: Sequence[str], seconds: int | None = SECONDS) -> tuple[int, str]:
        try:
            done = subprocess.run(
                command, cwd=self.root, env=self.environment, text=True, timeout=seconds,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return -1, f"not done after {seconds} seconds"
        return done.returncode, done.stdout

    def _output(self, command: Sequence[str]) -> str:
        status, output = self._run(command, seconds=None)
        if status != 0:
            raise MutantError(f"{' '.join(command[:4])} ... failed:\n{output[-4000:]}")
        return output.strip()


def _copy_repository(folder: Path) -> None:
    """Copies what is or may be committed. Equal files are left alone: they need no new build."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        source, target = ROOT / name, folder / name
        if not source.is_file():
            continue
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _tool(name: str) -> str:
    """A program of this Python's environment, or else of the system."""
    own = Path(sysconfig.get_path("scripts")) / name
    found = str(own) if own.exists() else shutil.which(name)
    if found is None:
        raise MutantError(f"mutants of the core need {name}: install it, or use --kind python.")
    return found


def _is_core(test: str) -> bool:
    return test.startswith(CORE)


def outcome_of(status: int) -> str:
    """What the exit status of tests says: only a test that fails catches a mutant."""
    return {0: "survived", 1: "caught"}.get(status, f"exit status {status}")


def first_failure(output: str) -> str:
    """The name of the test that failed, from the output of pytest or doctest."""
    found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", output, re.MULTILINE)
    if found:
        return found[1]
    found = re.search(r"^TEST CASE:\s+(.+?)\s*$", output, re.MULTILINE)
    return CORE + found[1] if found else ""


def check_unchanged(workshop: Workshop, mutants: Sequence[Mutant]) -> None:
    """Raises unless all tests pass without a change; one run of all of them saves time."""
    tests = list(dict.fromkeys(test for mutant in mutants for test in mutant.tests))
    status, output = workshop.run(tests)
    if status != 0:
        raise MutantError(
            f"without any change, {first_failure(output) or 'a test'} ends with "
            f"{outcome_of(status)}:\n{output[-4000:]}"
        )


def examine(workshop: Workshop, mutant: Mutant) -> Result:
    """Makes the change, runs the tests, and takes the change back."""
    path, began = workshop.root / mutant.file, time.perf_counter()
    text = path.read_text(encoding="utf-8")
    path.write_text(mutant.applied(text), encoding="utf-8")
    try:
        if mutant.kind == "core":
            workshop.build(mutant.tests)
        status, output = workshop.run(mutant.tests)
        outcome, by = outcome_of(status), first_failure(output)
    except MutantError as error:
        outcome, by = "not built", str(error).splitlines()[-1]
    finally:
        path.write_text(text, encoding="utf-8")
    return Result(mutant, outcome, by, time.perf_counter() - began)


def work_through(folder: Path, mutants: Sequence[Mutant]) -> list[Result]:
    """All results of one copy. Python mutants come first: they use the unchanged core."""
    workshop = Workshop(folder)
    results = []
    for kind, own in groupby(mutants, key=lambda mutant: mutant.kind):
        group = list(own)
        if kind == "core":
            workshop.configure()
            workshop.build([test for mutant in group for test in mutant.tests])
        else:
            installed = importlib.util.find_spec("arbora._core")
            assert installed is not None
            assert installed.origin is not None
            workshop.install_extension(Path(installed.origin))
        workshop.check_paths()
        _say(f"{len(group)} mutants ({kind}): tests without a change")
        check_unchanged(workshop, group)
        for mutant in group:
            results.append(examine(workshop, mutant))
            last = results[-1]
            _say(f"{mutant.name}: {last.outcome}, {last.seconds:.0f} s")
    return results


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def shares(mutants: Sequence[Mutant], jobs: int) -> list[list[Mutant]]:
    """The work of each copy: all mutants of a file go to one, so that it compiles the file less."""
    ordered = sorted(mutants, key=lambda mutant: (mutant.kind != "python", mutant.file))
    files = [list(own) for _, own in groupby(ordered, key=lambda mutant: mutant.file)]
    split = [[mutant for own in files[i::jobs] for mutant in own] for i in range(jobs)]
    return [share for share in split if share]


def table(results: Sequence[Result]) -> str:
    """The report in Markdown; what was not caught is repeated at the end."""
    lines = ["| Mutant | Item | File | Caught by | Seconds |", "| --- | --- | --- | --- | --- |"]
    for result in results:
        mutant = result.mutant
        by = f"`{result.by}`" if result.outcome == "caught" else f"**{result.outcome}**"
        lines.append(
            f"| {mutant.name} | {mutant.item} | {mutant.file} | {by} | {result.seconds:.1f} |"
        )
    left = [result for result in results if result.outcome != "caught"]
    lines += ["", f"{len(results) - len(left)} of {len(results)} mutants were caught."]
    for result in left:
        lines.append(f"- {result.mutant.name}: {result.outcome}. {result.by}".rstrip())
    return "\n".join(lines)


def chosen(only: Sequence[str], kind: str | None) -> list[Mutant]:
    """The mutants that were asked for."""
    mutants = read_mutants()
    unknown = set(only) - {mutant.name for mutant in mutants}
    if unknown:
        raise MutantError(f"there is no mutant {', '.join(sorted(unknown))}.")
    return [
        mutant
        for mutant in mutants
        if (not only or mutant.name in only) and kind in (None, mutant.kind)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Check that tests catch wrong sources.")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these mutants only")
    parser.add_argument("--kind", choices=["python", "core"], help="mutants of one language only")
    parser.add_argument("--jobs", type=int, default=1, help="copies that work in parallel")
    parser.add_argument("--folder", type=Path, help="keep the copies here for the next run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        try:
            work = shares(chosen(options.only, options.kind), max(1, options.jobs))
            folders = [folder / str(i) for i in range(len(work))]
            for own in folders:
                own.mkdir(parents=True, exist_ok=True)
            with ThreadPoolExecutor(max(1, len(work))) as pool:
                results = [r for part in pool.map(work_through, folders, work) for r in part]
        except MutantError as error:
            _say(str(error))
            return 2
    print(table(results))
    return int(any(result.outcome != "caught" for result in results))


if __name__ == "__main__":
    raise SystemExit(main())
