"""Speed of training and parsing, compared with spaCy if it is installed.

    python benchmarks/bench_parser.py --treebank DIR     # a folder with train, dev and test files

Parsing times include reading the file, features, trees, labels and writing. Everything uses one
thread unless a line says otherwise, and is measured in turns. spaCy's parser is trained on a few
sentences, which does not change its speed, and gets tokenised text.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import arbora
from arbora.data import format_named
from arbora.fitting.loop import PassRecord
from arbora.options import ParseOptions

Parse = Callable[[], int]  # parses the test file and returns its number of words


class Stopwatch:
    """Records the sentences per second of each training pass, without evaluation on dev."""

    def __init__(self) -> None:
        self.rates: list[float] = []
        self._seen, self._started = 0, 0.0

    def begin(self, sentences: int, passes: int) -> None:  # noqa: ARG002
        self._started = time.perf_counter()

    def tick(self, sentences: int) -> None:
        self._seen += sentences
        self._last = time.perf_counter()

    def end_pass(self, record: PassRecord, is_best: bool) -> None:  # noqa: ARG002
        self.rates.append(self._seen / (self._last - self._started))
        self._seen, self._started = 0, time.perf_counter()


def find(folder: Path, part: str) -> Path:
    found = sorted(folder.glob(f"{part}.conll*"))
    if not found:
        raise SystemExit(f"{folder}: there is no {part} file here.")
    return found[0]


def training(folder: Path) -> None:
    print("Training, sentences per second, unlabelled trees, best of six passes, in turns")
    for name, options in {
        "perceptron": {"learner": "perceptron"},
        "loglinear by sgd": {"optimizer": "sgd"},
        "loglinear by adagrad": {},
        "mira": {"learner": "mira"},
    }.items():
        best = {1: 0.0, 2: 0.0}
        for threads in (1, 2, 1, 2, 1, 2):
            watch = Stopwatch()
            arbora.Parser(threads=threads, labels="none", passes=2, **options).fit(
                find(folder, "train"), find(folder, "dev"), observer=watch
            )
            best[threads] = max(best[threads], *watch.rates)
        ratio = best[2] / best[1]
        print(f"  {name:22} {best[1]:7.0f}   two threads {best[2]:7.0f} ({ratio:.2f}x)", flush=True)


def arbora_parse(model: Path, test: Path, threads: int, output: Path) -> Parse:
    parser, options = arbora.load(model, threads=threads), ParseOptions()
    stage = parser.stage(options)

    def parse() -> int:
        words = 0
        with output.open("wb") as file:
            for chunk in parser.chunks(test, options):
                file.write(format_named(chunk.format).writer.write(stage(chunk.block)))
                words += chunk.block.total_words
        return words

    return parse


def spacy_parse(train: Path, test: Path) -> Parse | None:
    try:
        import spacy
        from spacy.tokens import Doc
        from spacy.training import Example
    except ImportError:
        return None
    nlp = spacy.blank("xx")
    parser = nlp.add_pipe("parser")
    examples = []
    for number, sentence in enumerate(arbora.read_conllu(train)):
        if number == 200:
            break
        heads = [h - 1 if h else i for i, h in enumerate(sentence.heads)]
        gold = Doc(nlp.vocab, words=sentence.forms, heads=heads, deps=sentence.labels)
        examples.append(Example(Doc(nlp.vocab, words=sentence.forms), gold))
    nlp.initialize(lambda: examples)
    nlp.update(examples)

    def parse() -> int:
        docs = [Doc(nlp.vocab, words=s.forms) for s in arbora.read_conllu(test)]
        for batch in range(0, len(docs), 256):
            for _ in parser.pipe(docs[batch : batch + 256]):
                pass
        return sum(len(doc) for doc in docs)

    return parse


def parsing(folder: Path, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        model, output = Path(scratch) / "model.arbora", Path(scratch) / "parsed.conllu"
        train, test = find(folder, "train"), find(folder, "test")
        arbora.Parser(passes=2).fit(train, find(folder, "dev")).save(model)
        candidates: dict[str, Parse | None] = {
            "arbora": arbora_parse(model, test, 1, output),
            "arbora, two threads": arbora_parse(model, test, 2, output),
            "spacy": spacy_parse(train, test),
        }
        times: dict[str, list[float]] = {name: [] for name, parse in candidates.items() if parse}
        words = 0
        for _ in range(rounds):
            for name, parse in candidates.items():
                if parse is None:
                    continue
                started = time.perf_counter()
                words = parse()
                times[name].append(time.perf_counter() - started)
        print(f"Labelled parsing of {words} words, words per second: best and median of {rounds}")
        for name, seconds in times.items():
            ranked = sorted(seconds)
            middle = ranked[len(ranked) // 2]
            print(f"  {name:22} {words / ranked[0]:9.0f} {words / middle:9.0f}")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"Peak memory of this process, including training: {peak:.0f} MB")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--treebank", type=Path, required=True)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--only", choices=("training", "parsing"))
    chosen = arguments.parse_args()
    if chosen.only != "training":
        parsing(chosen.treebank, chosen.rounds)
    if chosen.only != "parsing":
        training(chosen.treebank)


if __name__ == "__main__":
    main()
