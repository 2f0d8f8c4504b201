"""Accuracy of taggers and lemmatisers on gold words: trained on train, chosen on dev, tested once.

python benchmarks/tagging.py TREEBANKS [NAME ...]   # folders with train, dev and test .conllu
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from arbora.data import Block
from arbora.data.treebank import read_treebank
from arbora.tagging import Lemmatiser, Tagger, train_lemmatiser, train_tagger

NAMES = (
    "ud_english_ewt", "ud_hungarian_szeged", "ud_turkish_imst", "ud_basque_bdt",
    "ud_portuguese_bosque", "ud_arabic_padt_resplit", "ud_japanese_gsd",
)  # fmt: skip
COLUMNS = {"upos": 3, "xpos": 4, "feats": 5, "lemmas": 2}


def accuracy(gold: Block, found: Block, number: int) -> float:
    """Percent of words with the right value of a column."""
    right = sum(
        a == b
        for i in range(len(gold))
        for a, b in zip(gold.column(i, number), found.column(i, number), strict=True)
    )
    return 100.0 * right / int(gold.total_words)


def megabytes(stage: Tagger | Lemmatiser) -> float:
    return sum(value.nbytes for value in stage.tensors().values()) / 1e6


def row(folder: Path) -> str:
    """Dev and test accuracies of each column; a dash where the treebank has none."""
    train, dev, test = (
        read_treebank(folder / f"{part}.conllu") for part in ("train", "dev", "test")
    )
    began = time.process_time()
    tagger = train_tagger(train, dev, threads=1)
    has_lemmas = any(name != "_" for name, _ in train.column_names(COLUMNS["lemmas"]))
    lemmatiser = train_lemmatiser(train, dev) if has_lemmas else None
    seconds = time.process_time() - began
    cells, speed = [], 0.0
    for part in (dev, test):
        began = time.process_time()
        found = tagger(part, retag=True, threads=1)
        if lemmatiser is not None:
            found = lemmatiser(found, relemmatise=True)
        speed = int(part.total_words) / (time.process_time() - began)
        for name, number in COLUMNS.items():
            filled = name in tagger.columns or (name == "lemmas" and has_lemmas)
            cells.append(f"{accuracy(part, found, number):.2f}" if filled else "-")
    size = megabytes(tagger) + (megabytes(lemmatiser) if lemmatiser is not None else 0.0)
    numbers = [f"{seconds:.0f}", f"{speed:,.0f}", f"{size:.1f}"]
    return " | ".join([folder.name, *cells, *numbers])


def main() -> None:
    treebanks, *names = sys.argv[1:]
    parts = [f"{part} {name}" for part in ("dev", "test") for name in COLUMNS]
    print(" | ".join(["treebank", *parts, "training s", "words/s", "MB"]))
    for name in names or NAMES:
        print(row(Path(treebanks) / name), flush=True)


if __name__ == "__main__":
    main()
