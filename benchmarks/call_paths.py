"""How much of the package one call passes through: files, folders and kernel calls.

PYTHON benchmarks/call_paths.py TREEBANK    # any installation's interpreter, a CoNLL file

Trains small parsers on the first sentences of a file and parses others with them. Counted are the
distinct source files whose functions run, the folders they are in, the changes of folder from call
to call, and the calls of compiled functions.
"""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arbora
from arbora import _core

PACKAGE = Path(arbora.__file__).parent
MODELS: dict[str, dict[str, Any]] = {
    "first order": {},
    "grandsiblings": {"order": "grandsibling"},
    "BP with L2": {"order": "grandsibling", "learner": "l2"},
}
SENTENCES, PARSED, PASSES = 200, 50, 2


class Calls:
    """What happens between `start` and `stop`."""

    def __init__(self) -> None:
        self.folders: list[str] = []
        self.files: set[str] = set()
        self.kernels = 0

    def start(self) -> None:
        sys.setprofile(self._look)

    def stop(self) -> None:
        sys.setprofile(None)

    def count_kernels(self) -> None:
        """Replaces every compiled function by one that counts its calls."""
        for _, module in inspect.getmembers(_core, inspect.ismodule):
            for name, function in vars(module).items():
                if callable(function) and not inspect.isclass(function):
                    setattr(module, name, self._counting(function))

    def _counting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **keywords: Any) -> Any:
            self.kernels += 1
            return function(*arguments, **keywords)

        return counted

    def _look(self, frame: Any, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            self.files.add(str(path))
            self.folders.append(path.relative_to(PACKAGE).parts[0])

    def row(self) -> str:
        hops = sum(a != b for a, b in itertools.pairwise(self.folders))
        return f"{len(self.files)} | {len(set(self.folders))} | {hops} | {self.kernels}"


def main() -> None:
    sentences = list(itertools.islice(arbora.read_conllu(sys.argv[1]), SENTENCES + PARSED))
    train, test = sentences[:SENTENCES], sentences[SENTENCES:]
    print(f"{SENTENCES} sentences to train in {PASSES} passes, {PARSED} to parse, one thread\n")
    print("| what | files | folders | changes of folder | kernel calls |")
    print("| --- | ---: | ---: | ---: | ---: |")
    counter = Calls()
    counter.count_kernels()
    for name, options in MODELS.items():
        parser = arbora.Parser(threads=1, passes=PASSES, **options)
        for what, work in (
            ("train", lambda parser=parser: parser.fit(train, dev=test)),
            ("parse", lambda parser=parser: parser.parse(test)),
        ):
            counter.__init__()  # type: ignore[misc]
            counter.start()
            work()
            counter.stop()
            print(f"| {what}, {name} | {counter.row()} |", flush=True)


if __name__ == "__main__":
    main()
