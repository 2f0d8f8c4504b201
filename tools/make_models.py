"""Makes model files: those that the package brings along, or one for every treebank of a folder.

    python tools/make_models.py TREEBANKS                     # the bundled models
    python tools/make_models.py TREEBANKS --keep-parsers      # with the parsers that they have
    python tools/make_models.py TREEBANKS --every --out DIR   # a model for every treebank

TREEBANKS has a folder per treebank with train and dev files. The models of a treebank share their
stages, so both bundled ones take little longer than one. The same command gives the same bytes.
Weights are rounded to 32 values, those of the stages to 64, those of pruners to 16. Word lists of
the treebank are in a model, its sentences are not. `benchmarks/raw_text.py` scores what this makes.
The parsers take most of the time; --keep-parsers trains only the stages before them, and calibrates
the probabilities. Trained stages and every pass of a parser are kept in build/make_models (--work):
the same command continues an interrupted one.

Clusters of words (--word-clusters) from vectors in the public domain: see the top of
`benchmarks/word_clusters.py` for the vectors, then

    arbora cluster glove.txt --words 60000 --clusters 512 --output clusters.txt
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
from arbora.data import Block
from arbora.data.treebank import read_treebank
from arbora.errors import ModelError
from arbora.features import WordClusters, read_clusters
from arbora.fitting.calibration import calibrated
from arbora.fitting.checkpoint import path_beside
from arbora.fitting.dev import DevSet
from arbora.fitting.sealed_file import remove_sealed
from arbora.models.decoding import Decoder
from arbora.models.model import Model
from arbora.models.model_file import read_model, to_bytes
from arbora.models.quantise import quantise
from arbora.options import ParseOptions, SegmenterOptions, StageOptions, TaggerOptions
from arbora.pipeline import train_stages
from arbora.pipeline.averaging import fit_averaging
from arbora.pipeline.stage_checkpoint import StageCheckpoint, stage_checkpoint_path
from arbora.pipeline.training import Stages

ROOT = Path(__file__).parents[1]
BUNDLED, WORK = ROOT / "src" / "arbora" / "bundled", ROOT / "build" / "make_models"
BITS, STAGE_BITS = 5, 6  # of a weight; more gain nothing on EWT dev
PRUNER_BITS = 4  # so that the largest model has less than 15 MB


@dataclass(frozen=True)
class Treebank:
    """A folder with its licence, and the options of the parsers to be trained on it, by name."""

    folder: str
    data: str
    licence: str | None
    parsers: Mapping[str, Mapping[str, Any]]
    stages: StageOptions = field(default_factory=StageOptions)


SMALL: dict[str, Any] = {"bits": 21, "label_bits": 16}
# Parts have many more features than arcs, which collide in a smaller table.
ACCURATE: dict[str, Any] = {"bits": 23, "label_bits": 17, "order": "grandsibling"}
ENGLISH = Treebank(
    folder="ud_english_ewt",
    data="UD English EWT",
    licence="CC BY-SA 4.0",
    parsers={"en": SMALL, "en-accurate": ACCURATE},
    stages=StageOptions(segmenter=SegmenterOptions(bits=20), tagger=TaggerOptions(bits=17)),
)


def find(folder: Path, part: str) -> Path | None:
    return next(iter(sorted(folder.glob(f"{part}.conll*"))), None)


class Makers:
    """The stages of a treebank, and the models that they are in."""

    def __init__(
        self, treebank: Treebank, folder: Path, work: Path, clusters: WordClusters | None
    ) -> None:
        found, dev = find(folder, "train"), find(folder, "dev")
        if found is None:
            raise SystemExit(f"{folder} has no train file.")
        self.treebank, self.clusters, self.work = treebank, clusters, work
        self.train = read_treebank(found, trees=True)
        self.dev = None if dev is None else read_treebank(dev, trees=True)
        self.files = {"train": found.name, "dev": None if dev is None else dev.name}

    def stages(self, options: StageOptions) -> Stages:
        """Trained stages; those of an interrupted run, if there are any."""
        kept = StageCheckpoint.beside(
            self.work / self.treebank.folder, self.train, self.dev, options, self.clusters
        )
        try:
            return kept.read()
        except ModelError:  # there are none, or of other options
            made = train_stages(self.train, self.dev, options, word_clusters=self.clusters)
            kept.write(made)
            return made

    def make(self, name: str, out: Path) -> None:
        """Trains the parser of this name, and writes the model."""
        began, made = time.process_time(), self.stages(self.treebank.stages)
        beside = self.work / f"{name}.arbora"
        parser = arbora.Parser(**self.treebank.parsers[name]).fit(
            made.train, made.dev, word_clusters=self.clusters, licence=self.treebank.licence,
            checkpoint=beside, resume=path_beside(beside).exists(),
        )  # fmt: skip
        size = {"sentences": len(self.train), "words": self.train.total_words}
        model = parser.model.with_card(
            files=self.files, data=self.treebank.data, stages=made.card(), trained_on=size
        )
        model = replace(model, stages=made.stored())
        self._write(quantise(model, BITS, STAGE_BITS, PRUNER_BITS), out / f"{name}.arbora")
        remove_sealed(path_beside(beside))
        print(f"{time.process_time() - began:.0f} s", flush=True)

    def renew(self, name: str, out: Path) -> None:
        """Writes the model of this name with its own parser and new stages."""
        path, made = out / f"{name}.arbora", self.stages(replace(self.treebank.stages, folds=0))
        model = read_model(path)
        trained_with = {key: model.card["stages"][key] for key in ("folds", "mixed")}
        model = replace(model, stages=made.stored())
        rounded = quantise(model, BITS, STAGE_BITS).stages  # its parser is rounded already
        card = made.card() | trained_with
        self._write(replace(model, stages=rounded).with_card(stages=card), path)

    def _write(self, model: Model, path: Path) -> None:
        if self.dev is not None:
            model = self._measured(model, self.dev)
        path.write_bytes(gzip.compress(to_bytes(model), mtime=0))  # tables of stages are sparse
        scores = model.card["dev"] or {}
        print(
            f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, dev UAS {scores.get('uas')}, LAS "
            f"{scores.get('las')}",
            flush=True,
        )

    def _measured(self, model: Model, gold: Block) -> Model:
        """The model calibrated with rounded weights, and with the scores that it then has."""
        nlp = arbora.Pipeline.from_model(model)
        dev = DevSet(nlp.prepare(gold, ParseOptions(retag=True)), model)
        model = calibrated(model, dev, 1)
        found = dev.score(Decoder(model, 1))
        scores = {"uas": found.uas, "las": found.las, "rule": dev.gold.rule}
        model = model.with_card(dev=scores)
        averaging = fit_averaging(arbora.Pipeline.from_model(model), gold)
        return model.with_card(averaging=averaging)


def make(
    treebank: Treebank,
    folder: Path,
    out: Path,
    clusters: WordClusters | None = None,
    keep_parsers: bool = False,
    work: Path = WORK,
) -> None:
    """Trains the pipelines of a treebank and writes them."""
    work.mkdir(parents=True, exist_ok=True)
    makers = Makers(treebank, folder, work, clusters)
    for name in treebank.parsers:
        (makers.renew if keep_parsers else makers.make)(name, out)
    remove_sealed(stage_checkpoint_path(work / treebank.folder))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("--every", action="store_true", help="one model for every treebank")
    parser.add_argument("--out", type=Path, default=BUNDLED)
    parser.add_argument("--word-clusters", type=Path, help="a file for the bundled models")
    parser.add_argument("--keep-parsers", action="store_true", help="only new stages")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of unfinished work")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if not given.every:
        clusters = None if given.word_clusters is None else read_clusters(given.word_clusters)
        folder = given.treebanks / ENGLISH.folder
        make(ENGLISH, folder, given.out, clusters, given.keep_parsers, given.work)
        return
    for folder in sorted(path.parent for path in given.treebanks.glob("*/train.conll*")):
        name = folder.name
        make(Treebank(name, name, None, {name: SMALL}), folder, given.out, work=given.work)


if __name__ == "__main__":
    main()
