"""Compares pipelines with UDPipe 1, trained on the same files: raw text, and the words of gold.

python benchmarks/against_udpipe.py TREEBANKS [NAME ...] [--systems udpipe arbora] [--models DIR]

TREEBANKS is a folder of folders with train, dev and test .conllu. UDPipe is trained with its
default options through the package ufal.udpipe, Arbora with `Pipeline(order=...).fit(train, dev)`,
both on one thread. Every metric of the CoNLL 2018 scorer is written to NAME.SYSTEM.json in
benchmarks/results/against_udpipe (`--out`), and a table of all results to table.md. What is there
is not run again. Models are in build/against_udpipe: an interrupted run continues with the next
component (UDPipe) or pass (Arbora). UDPipe takes hours: an epoch of its tokenizer takes about 4 s
whatever the treebank, tagger and parser about a minute for 1,000 words.

Files without SpaceAfter=No of languages without spaces (Japanese) are given it everywhere, for both
systems. In other files that lack it, every word is surrounded by spaces. UDPipe would train for
more than an hour on treebanks of more than `LARGE` words: there its tokenizer has fewer epochs.
"""

from __future__ import annotations

import argparse
import io
import json
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from segmentation import read  # the same folder

import arbora
from arbora.data import Block, Sentence, sentences_of, treebank_text
from arbora.evaluation import evaluate_text

ROOT = Path(__file__).parents[1]
NAMES = (
    "ud_hungarian_szeged", "ud_turkish_imst", "ud_arabic_padt_resplit", "ud_basque_bdt",
    "ud_japanese_gsd", "ud_portuguese_bosque", "ud_english_ewt",
)  # fmt: skip
SYSTEMS = ("udpipe", "arbora")
COMPONENTS = ("tokenizer", "tagger", "parser")  # of UDPipe, in the order of `Trainer.train`
METRICS = (
    "Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS",
    "CLAS", "MLAS", "BLEX",
)  # fmt: skip
LARGE = 45_000  # words; UDPipe needs about 26 minutes for 20,000
FEWER_EPOCHS = 20  # of 100; the best of them on dev is taken

Parts = dict[str, Block]  # train, dev, test
Output = tuple[str, str, float]  # CoNLL-U of raw text and of gold words; words per second


def conllu(block: Block) -> str:
    """The text of a block."""
    return block.texts(0, len(block)).decode()


def f1(gold: Block, system: str) -> dict[str, float | None]:
    """Every metric, in percent."""
    found: Iterable[Sentence] = arbora.data.read_conllu(io.BytesIO(system.encode()))
    scores = evaluate_text(sentences_of(gold), found)
    return {name: scores.f1(name) for name in METRICS}


class UDPipe:
    """UDPipe 1 with its default options."""

    def __init__(self, path: Path) -> None:
        import ufal.udpipe

        self.udpipe: Any = ufal.udpipe
        self.path = path

    def train(self, parts: Parts) -> dict[str, Any]:
        """Trains and stores a model, one component after the other; stored ones are kept."""
        large = int(parts["train"].total_words) > LARGE
        tokenizer = f"epochs={FEWER_EPOCHS}" if large else ""
        sentences = {part: self._sentences(conllu(parts[part])) for part in ("train", "dev")}
        seconds: dict[str, int] = {}
        done: dict[str, str] = dict.fromkeys(COMPONENTS, "none")
        for name in COMPONENTS:  # the parser is trained on the tags of the tagger
            path = self.path if name == COMPONENTS[-1] else self.path.with_suffix(f".{name}")
            took = self.path.with_suffix(f".{name}.seconds")
            if not (path.exists() and took.exists()):
                began = time.process_time()
                options = done | {name: tokenizer if name == "tokenizer" else ""}
                self._train(sentences, [options[one] for one in COMPONENTS], path)
                took.write_text(f"{time.process_time() - began:.0f}")
            done[name] = f"from_model=file:{path}"
            seconds[name] = int(took.read_text())
        note = f"tokenizer with {FEWER_EPOCHS} epochs instead of 100" if large else ""
        return {
            "version": version("ufal.udpipe"), "options": tokenizer or "default", "note": note,
            "seconds": seconds,
        }  # fmt: skip

    def _train(self, sentences: dict[str, list[Any]], options: list[str], path: Path) -> None:
        error = self.udpipe.ProcessingError()
        data = self.udpipe.Trainer.train(
            "morphodita_parsito", sentences["train"], sentences["dev"], *options, error
        )
        if error.occurred():
            raise SystemExit(f"UDPipe failed: {error.message}")
        unfinished = path.with_suffix(".part")
        unfinished.write_bytes(data)
        unfinished.replace(path)

    def parse(self, test: Block) -> Output:
        """The test part from raw text and from its words."""
        model = self.udpipe.Model.load(str(self.path))
        error = self.udpipe.ProcessingError()
        text = treebank_text(test)
        began = time.process_time()
        pipeline = self.udpipe.Pipeline(model, "tokenize", "", "", "conllu")
        raw = pipeline.process(text, error)
        speed = int(test.total_words) / (time.process_time() - began)
        words = self.udpipe.Pipeline(model, "conllu", "", "", "conllu").process(conllu(test), error)
        if error.occurred():
            raise SystemExit(f"UDPipe failed: {error.message}")
        return raw, words, speed

    def _sentences(self, text: str) -> list[Any]:
        reader = self.udpipe.InputFormat.newConlluInputFormat()
        reader.setText(text)
        error, found = self.udpipe.ProcessingError(), []
        sentence = self.udpipe.Sentence()
        while reader.nextSentence(sentence, error):
            found.append(sentence)
            sentence = self.udpipe.Sentence()
        if error.occurred():
            raise SystemExit(f"UDPipe cannot read the treebank: {error.message}")
        return found


class Arbora:
    """A pipeline of this package."""

    def __init__(self, path: Path, order: str) -> None:
        self.path, self.order = path, order

    def train(self, parts: Parts) -> dict[str, Any]:
        """Trains and stores a model."""
        pipeline = arbora.Pipeline(order=self.order, threads=1)
        pipeline.fit(
            parts["train"], parts["dev"], checkpoint=self.path,
            resume=any(self.path.parent.glob(f"{self.path.name}.*checkpoint")),
        )  # fmt: skip
        pipeline.save(self.path)
        return {"version": version("arbora"), "options": f"order={self.order}", "note": ""}

    def parse(self, test: Block) -> Output:
        """The test part from raw text and from its words."""
        pipeline = arbora.load(self.path, threads=1)
        text = treebank_text(test)
        began = time.process_time()
        raw = str(pipeline.read(text, probabilities=False))
        speed = int(test.total_words) / (time.process_time() - began)
        words = pipeline.parse(sentences_of(test), retag=True, probabilities=False)
        return raw, "".join(one.to_conllu() for one in words), speed


def result(folder: Path, system: str, out: Path, models: Path, order: str) -> dict[str, Any]:
    """Trains, parses and scores; or what is there."""
    path = out / f"{folder.name}.{system}.json"
    if path.exists():
        found: dict[str, Any] = json.loads(path.read_text())
        return found
    parts = {part: read(folder / f"{part}.conllu") for part in ("train", "dev", "test")}
    model_path = models / f"{folder.name}.{system}.model"
    trained_path = models / f"{folder.name}.{system}.trained.json"
    make: dict[str, Callable[[], UDPipe | Arbora]] = {
        "udpipe": lambda: UDPipe(model_path), "arbora": lambda: Arbora(model_path, order),
    }  # fmt: skip
    one = make[system]()
    if not (model_path.exists() and trained_path.exists()):
        began = time.process_time()
        about = one.train(parts)
        seconds = about.pop("seconds", {"all": round(time.process_time() - began)})
        about["training_seconds"] = sum(seconds.values())
        about["model_bytes"] = model_path.stat().st_size
        trained_path.write_text(json.dumps(about))
    about = json.loads(trained_path.read_text())
    raw, words, speed = one.parse(parts["test"])
    answer = {
        "treebank": folder.name, "system": system, **about, "words_per_second": round(speed),
        "raw_text": f1(parts["test"], raw), "gold_words": f1(parts["test"], words),
    }  # fmt: skip
    path.write_text(json.dumps(answer, indent=1) + "\n")
    trained_path.unlink()
    return answer


def table(results: list[dict[str, Any]]) -> str:
    """A Markdown table: a row per treebank, system and kind of input; then differences of LAS."""
    head = ["treebank", "input", "system", *METRICS]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for one in results:
        for kind in ("raw_text", "gold_words"):
            cells = [one["treebank"], kind.replace("_", " "), one["system"]]
            cells += ["-" if one[kind][m] is None else f"{one[kind][m]:.2f}" for m in METRICS]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *differences(results)]) + "\n"


def differences(results: list[dict[str, Any]]) -> list[str]:
    """What is below UDPipe, and LAS above it on average."""
    by_name = {(one["treebank"], one["system"]): one for one in results}
    both = [name for name, system in by_name if system == "udpipe" and (name, "arbora") in by_name]
    lines, above = [], []
    for name in both:
        for kind in ("raw_text", "gold_words"):
            theirs, ours = by_name[name, "udpipe"][kind], by_name[name, "arbora"][kind]
            known = [m for m in METRICS if None not in (ours[m], theirs[m])]
            below = [f"{m} {ours[m] - theirs[m]:.2f}" for m in known if ours[m] < theirs[m]]
            label = f"{name}, {kind.replace('_', ' ')}"
            lines.append(f"- {label}: below UDPipe in {', '.join(below) or 'nothing'}")
        above.append(
            by_name[name, "arbora"]["raw_text"]["LAS"] - by_name[name, "udpipe"]["raw_text"]["LAS"]
        )
    if above:
        lines.append(f"- LAS from raw text: {sum(above) / len(above):.2f} above UDPipe on average")
    lines += [f"- {one['treebank']}: UDPipe's {one['note']}" for one in results if one["note"]]
    return lines


def main() -> None:
    """Runs what is missing and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/against_udpipe")
    parser.add_argument("--models", type=Path, default=ROOT / "build/against_udpipe")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    parser.add_argument("--order", default="first", help="of Arbora's parser")
    given = parser.parse_args()
    for folder in (given.out, given.models):
        folder.mkdir(parents=True, exist_ok=True)
    for name in given.names or NAMES:
        for system in given.systems:
            result(given.treebanks / name, system, given.out, given.models, given.order)
            print(f"{name} {system}: done", flush=True)
    stored = [
        json.loads(path.read_text())
        for name in NAMES
        for system in SYSTEMS
        if (path := given.out / f"{name}.{system}.json").exists()
    ]
    (given.out / "table.md").write_text(table(stored))
    print(table(stored))


if __name__ == "__main__":
    main()
