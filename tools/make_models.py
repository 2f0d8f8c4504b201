"""Makes model files: those that the package brings along, or one for every treebank of a folder.

    python tools/make_models.py TREEBANKS                     # the bundled models
    python tools/make_models.py TREEBANKS --every --out DIR   # a model for every treebank

TREEBANKS has a folder per treebank with train and dev files. The models of a treebank share their
stages, so both bundled ones take little longer than one. The same command gives the same bytes.
Weights are rounded to 32 values, those of the stages to 64. Word lists of the treebank are in a
model, its sentences are not. `benchmarks/raw_text.py` scores what this makes.
"""

from __future__ import annotations

import argparse
import gzip
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import arbora
from arbora.data.treebank import read_treebank
from arbora.features import WordClusters, read_clusters
from arbora.models.model_file import to_bytes
from arbora.models.quantise import quantise
from arbora.options import SegmenterOptions, StageOptions
from arbora.pipeline import train_stages

BUNDLED = Path(__file__).parents[1] / "src" / "arbora" / "bundled"
BITS, STAGE_BITS = 5, 6  # of a weight; more gain nothing on EWT dev


@dataclass(frozen=True)
class Treebank:
    """A folder with its licence, and the options of the parsers to be trained on it, by name."""

    folder: str
    data: str
    licence: str | None
    parsers: Mapping[str, Mapping[str, Any]]
    stages: StageOptions = field(default_factory=StageOptions)


SMALL: dict[str, Any] = {"bits": 21, "label_bits": 16}
ENGLISH = Treebank(
    folder="ud_english_ewt",
    data="UD English EWT",
    licence="CC BY-SA 4.0",
    parsers={"en": SMALL, "en-accurate": SMALL | {"bits": 22, "order": "grandsibling"}},
    stages=StageOptions(segmenter=SegmenterOptions(bits=20)),
)


def find(folder: Path, part: str) -> Path | None:
    return next(iter(sorted(folder.glob(f"{part}.conll*"))), None)


def make(treebank: Treebank, folder: Path, out: Path, clusters: WordClusters | None) -> None:
    """Trains the pipelines of a treebank and writes them."""
    began = time.process_time()
    train, dev = find(folder, "train"), find(folder, "dev")
    if train is None:
        raise SystemExit(f"{folder} has no train file.")
    blocks = [None if path is None else read_treebank(path, trees=True) for path in (train, dev)]
    assert blocks[0] is not None
    made = train_stages(blocks[0], blocks[1], treebank.stages, word_clusters=clusters)
    files = {"train": train.name, "dev": None if dev is None else dev.name}
    for name, options in treebank.parsers.items():
        parser = arbora.Parser(**options).fit(
            made.train, made.dev, word_clusters=clusters, licence=treebank.licence
        )
        size = {"sentences": len(blocks[0]), "words": blocks[0].total_words}
        model = parser.model.with_card(
            files=files, data=treebank.data, stages=made.card(), trained_on=size
        )
        path = out / f"{name}.arbora"
        small = quantise(replace(model, stages=made.stored()), BITS, STAGE_BITS)
        path.write_bytes(gzip.compress(to_bytes(small), mtime=0))  # tables of stages are sparse
        scores = model.card["dev"] or {}
        print(
            f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, dev UAS {scores.get('uas')}, LAS "
            f"{scores.get('las')} before rounding, {time.process_time() - began:.0f} s in all",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("--every", action="store_true", help="one model for every treebank")
    parser.add_argument("--out", type=Path, default=BUNDLED)
    parser.add_argument("--word-clusters", type=Path, help="a file for the bundled models")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if not given.every:
        clusters = None if given.word_clusters is None else read_clusters(given.word_clusters)
        make(ENGLISH, given.treebanks / ENGLISH.folder, given.out, clusters)
        return
    for folder in sorted(path.parent for path in given.treebanks.glob("*/train.conll*")):
        name = folder.name
        make(Treebank(name, name, None, {name: SMALL}), folder, given.out, None)


if __name__ == "__main__":
    main()
