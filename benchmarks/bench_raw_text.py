"""Words per second from raw text to labelled trees, in turns with UDPipe 1 and spaCy.

    python benchmarks/bench_raw_text.py TREEBANK [--model en] [--rounds 5] [--json FILE]

TREEBANK is a folder with a train file; the text is that of its first sentences. All times are
processor times of one thread. Arbora reads the text from a file and writes CoNLL-U to another, as
`arbora parse --threads 1` does ("command" is that command, with the start of Python). UDPipe and
spaCy are measured if `ufal.udpipe` and `spacy` are installed. Both are trained here on a few
sentences, which makes them inaccurate, but hardly changes their speed: UDPipe on 1,000 sentences
with its default network and one pass (its own model of EWT is larger and slower); spaCy as a blank
English pipeline with its default tagger and parser. UDPipe writes CoNLL-U; spaCy's answers stay in
memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import arbora
from arbora.data import format_named, open_output, read_conllu, treebank_text
from arbora.options import ParseOptions

Run = Callable[[], int]  # parses the text and returns its number of words

UDPIPE_SENTENCES, SPACY_SENTENCES = 1000, 200


def arbora_run(model: str, text: Path, output: Path) -> Run:
    nlp = arbora.load(model, threads=1)
    options = ParseOptions()
    stage = nlp.stage(options)

    def run() -> int:
        words = 0
        with open_output(output) as write:
            for chunk in nlp.chunks(text, options, format="text"):
                parsed = stage(chunk.block)
                write(format_named(chunk.format).writer.write(parsed))
                words += int(parsed.total_words)
        return words

    return run


def command_run(model: str, text: Path, output: Path, words: int) -> Run:
    def run() -> int:
        arguments = ["--threads", "1", "--model", model, "--output", str(output), str(text)]
        subprocess.run([sys.executable, "-m", "arbora", "parse", *arguments], check=True)
        return words

    return run


def udpipe_run(train: Path, text: Path, output: Path) -> Run | None:
    try:
        import ufal.udpipe as udpipe
    except ImportError:
        return None
    reader, error = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError()
    few = islice(read_conllu(train), UDPIPE_SENTENCES)
    reader.setText("".join(sentence.to_conllu() for sentence in few))
    sentences = []
    while reader.nextSentence(sentence := udpipe.Sentence(), error):
        sentences.append(sentence)
    data = udpipe.Trainer.train(
        "morphodita_parsito", sentences, [], "epochs=1", "iterations=1", "iterations=1", error
    )
    if error.occurred():
        raise SystemExit(f"UDPipe failed: {error.message}")
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        model = udpipe.Model.load(file.name)

    def run() -> int:
        pipeline = udpipe.Pipeline(model, "tokenize", "", "", "conllu")
        found = pipeline.process(text.read_text(encoding="utf-8"), error)
        output.write_text(found, encoding="utf-8")
        return sum(
            line[:1].isdigit() and line.split("\t")[0].isdigit() for line in found.split("\n")
        )

    return run


def spacy_run(train: Path, text: Path) -> Run | None:
    try:
        import spacy
        from spacy.tokens import Doc
        from spacy.training import Example
    except ImportError:
        return None
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger")
    nlp.add_pipe("parser")
    examples = []
    for sentence in islice(read_conllu(train), SPACY_SENTENCES):
        heads = [h - 1 if h else i for i, h in enumerate(sentence.heads.tolist())]
        gold = Doc(
            nlp.vocab, words=sentence.forms, heads=heads, deps=sentence.labels, tags=sentence.xpos
        )
        examples.append(Example(Doc(nlp.vocab, words=sentence.forms), gold))
    nlp.initialize(lambda: examples)
    nlp.update(examples)

    def run() -> int:
        paragraphs = text.read_text(encoding="utf-8").split("\n\n")
        return sum(len(doc) for doc in nlp.pipe(paragraphs, batch_size=256))

    return run


def busy() -> float:
    """Processor seconds of this process and of the commands that it has run."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def rates(candidates: dict[str, Run], rounds: int) -> dict[str, list[float]]:
    """Words per second of every round."""
    found: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            began = busy()
            words = run()
            found[name].append(words / (busy() - began))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("treebank", type=Path)
    parser.add_argument("--model", action="append", help="a model; may be repeated")
    parser.add_argument("--sentences", type=int, default=4000, help="of the text")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    given = parser.parse_args()
    train = given.treebank / "train.conllu"
    with tempfile.TemporaryDirectory() as scratch:
        text, output = Path(scratch) / "text.txt", Path(scratch) / "parsed.conllu"
        beginning = islice(read_conllu(train), given.sentences)
        text.write_text(treebank_text(beginning), encoding="utf-8")
        candidates: dict[str, Run | None] = {}
        for name in given.model or ["en"]:
            candidates[f"arbora {Path(name).stem}"] = run = arbora_run(name, text, output)
            candidates[f"arbora {Path(name).stem}, command"] = command_run(
                name, text, output, run()
            )
        candidates["ufal.udpipe"] = udpipe_run(train, text, output)
        candidates["spacy tagger, parser"] = spacy_run(train, text)
        found = rates({name: run for name, run in candidates.items() if run}, given.rounds)
    summary: dict[str, Any] = {}
    for name, values in found.items():
        summary[name] = {"best": max(values), "median": median(values)}
        print(
            f"{name:26} {max(values):9,.0f} words/s at best, {median(values):9,.0f} in the median"
        )
    if given.json is not None:
        given.json.write_text(json.dumps(summary, indent=2) + "\n")


if __name__ == "__main__":
    main()
