"""Speed of reading and writing treebanks, compared with the `conllu` package (`make bench`).

python benchmarks/bench_data.py [FILE | --treebanks DIR] [--rounds N]

Both read the file, make Python objects of every sentence with its forms, tags, FEATS, heads and
labels, and write everything back. Without a file, a synthetic one is made.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import conllu
import numpy as np
from timing import interleaved, ratio

from arbora import Sentence, read_conllu, write_conllu

GOAL = 20.0


def ours(source: Path, target: Path) -> Callable[[], object]:
    def run() -> None:
        sentences, columns = [], []
        for s in read_conllu(source):
            columns.append((s.forms, s.upos, s.xpos, s.feats, s.heads, s.labels))
            sentences.append(s)
        write_conllu(target, sentences)

    return run


def theirs(source: Path, target: Path) -> Callable[[], object]:
    def run() -> None:
        with source.open(encoding="utf-8") as file:
            sentences = list(conllu.parse_incr(file))
        with target.open("w", encoding="utf-8") as file:
            file.writelines(sentence.serialize() for sentence in sentences)

    return run


def synthetic(n_sentences: int = 1500) -> list[Sentence]:
    """Random sentences with word and tag frequencies like those of a treebank."""
    rng = np.random.default_rng(7)
    tags = ["NOUN", "VERB", "DET", "ADP", "ADJ", "PUNCT", "PRON"]
    feats = ["_", "Number=Sing", "Case=Nom|Gender=Fem|Number=Plur", "Mood=Ind|Person=3|Tense=Past"]
    labels = ["nsubj", "obj", "det", "case", "amod", "punct", "obl"]
    sentences = []
    for number in range(n_sentences):
        n = int(rng.integers(3, 40))
        words = [f"wörd{w}" for w in rng.zipf(1.4, size=n) % 30_000]
        kinds = rng.integers(0, len(tags), size=n)
        sentences.append(
            Sentence.from_words(
                words,
                [tags[k] for k in kinds],
                [tags[k][:2] for k in kinds],
                lemmas=words,
                feats=[feats[k] for k in rng.integers(0, len(feats), size=n)],
                heads=np.arange(n),
                labels=[labels[k] for k in kinds],
                comments=[f"# sent_id = {number}", f"# text = {' '.join(words)}"],
            )
        )
    return sentences


def compare(name: str, source: Path, folder: Path, rounds: int) -> float:
    target = folder / "written"
    write_conllu(target, read_conllu(source))
    assert target.read_bytes() == source.read_bytes(), f"{source} is not written back unchanged"
    tokens = sum(len(s) for s in read_conllu(source))
    times = interleaved(
        {"arbora": ours(source, target), "conllu": theirs(source, target)}, rounds, at_least=0.2
    )
    rates = {who: tokens / float(np.median(seconds)) for who, seconds in times.items()}
    times_faster = ratio(times, "conllu", "arbora")
    print(
        f"  {name:32} {tokens:9,d} tokens  arbora {rates['arbora']:11,.0f} /s  "
        f"conllu {rates['conllu']:9,.0f} /s  ratio {times_faster:5.1f}"
    )
    return times_faster


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("file", nargs="?", type=Path)
    options.add_argument(
        "--treebanks", type=Path, help="a folder of treebanks: the test file of each"
    )
    options.add_argument("--rounds", type=int, default=5)
    chosen = options.parse_args()
    print("\nReading and writing treebanks, with columns in Python\n")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if chosen.treebanks:
            files = {path.parent.name: path for path in sorted(chosen.treebanks.glob("*/test.*"))}
        elif chosen.file:
            files = {chosen.file.name: chosen.file}
        else:
            files = {"synthetic": folder / "synthetic.conllu"}
            write_conllu(files["synthetic"], synthetic())
        ratios = [compare(name, path, folder, chosen.rounds) for name, path in files.items()]
    print(f"\n  lowest ratio {min(ratios):.1f}, median {np.median(ratios):.1f}; goal {GOAL:.0f}")


if __name__ == "__main__":
    main()
