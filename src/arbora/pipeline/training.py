"""Training of a whole pipeline from a treebank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from arbora.data import Block
from arbora.errors import ArgumentError
from arbora.features import WordClusters
from arbora.models.columns import COLUMNS, is_empty
from arbora.models.model import StoredStage
from arbora.options import StageOptions
from arbora.pipeline.accuracy import column_accuracy, segmentation_accuracy
from arbora.segmentation import Segmenter, train_segmenter
from arbora.tagging import Lemmatiser, Tagger, jackknife, train_lemmatiser, train_tagger

__all__ = ["StageOptions", "StageProgress", "Stages", "mixed", "train_stages"]

# Called with what is trained (segmenter, tagger, lemmatiser, folds) and how much of it is done.
StageProgress = Callable[[str, float], object]

_PER_FOLD = 2  # sentences; a smaller treebank is not cut into folds


@dataclass(frozen=True)
class Stages:
    """Trained stages, and the treebank as a parser should be trained on it.

    `skipped` has the reason why a stage could not be trained. `folds` is 0 if the treebank has its
    own tags, `mixed` tells whether it has every sentence twice. `accuracy` has figures of each
    stage in percent, measured on `measured_on`: dev, or the folds of the training data.
    """

    segmenter: Segmenter | None
    tagger: Tagger | None
    lemmatiser: Lemmatiser | None
    train: Block
    dev: Block | None
    skipped: dict[str, str] = field(default_factory=dict)
    accuracy: dict[str, dict[str, float]] = field(default_factory=dict)
    measured_on: str | None = None
    folds: int = 0
    mixed: bool = False

    def stored(self) -> dict[str, StoredStage]:
        """The stages as a model file has them."""
        given = {
            "segmenter": self.segmenter, "tagger": self.tagger, "lemmatiser": self.lemmatiser,
        }  # fmt: skip
        return {
            name: StoredStage(stage.settings(), stage.tensors())
            for name, stage in given.items()
            if stage is not None
        }

    def card(self) -> dict[str, Any]:
        """What a model's card says of its stages."""
        trained = {name: self.accuracy.get(name, {}) for name in self.stored()}
        return {
            "trained": trained, "skipped": self.skipped, "measured_on": self.measured_on,
            "folds": self.folds, "mixed": self.mixed,
        }  # fmt: skip


def train_stages(
    train: Block,
    dev: Block | None = None,
    options: StageOptions | None = None,
    *,
    threads: int | None = None,
    word_clusters: WordClusters | None = None,
    progress: StageProgress | None = None,
) -> Stages:
    """Trains the stages that the treebank has the annotation for.

    A segmenter needs CoNLL-U, a tagger UPOS tags, a lemmatiser lemmas and tags.
    """
    options = StageOptions() if options is None else options
    tell = progress or (lambda _name, _share: None)
    skipped: dict[str, str] = {}
    shared: dict[str, Any] = {"threads": threads}

    def trained(name: str, lacking: str | None, train_it: Callable[[], Any]) -> Any:
        """A stage, or None and the reason."""
        if lacking is None:
            tell(name, 0.0)
            try:
                return train_it()
            except ArgumentError as error:
                lacking = str(error).removesuffix(".")
        skipped[name] = lacking
        return None

    def share_of(name: str, runs: int) -> Callable[..., object]:
        """Called after every pass, of each of the runs."""
        passes = getattr(options, name).passes * runs
        done = iter(range(1, passes + 1))
        return lambda *_: tell(name, next(done, passes) / passes)

    segmenter = trained(
        "segmenter", _without_text(train),
        lambda: train_segmenter(
            train, dev, options.segmenter,
            progress=lambda _, done: tell("segmenter", done), **shared,
        ),
    )  # fmt: skip
    tagger = trained(
        "tagger", "no word has UPOS" if is_empty(train, COLUMNS["upos"]) else None,
        lambda: train_tagger(
            train, dev, options.tagger, progress=share_of("tagger", 2),
            word_clusters=word_clusters, **shared,
        ),
    )  # fmt: skip
    lemmatiser = trained(
        "lemmatiser", _without_lemmas(train, tagger),
        lambda: train_lemmatiser(
            train, dev, options.lemmatiser, progress=share_of("lemmatiser", 1)
        ),
    )  # fmt: skip
    stages = Stages(segmenter, tagger, lemmatiser, train, dev, skipped)
    if segmenter is not None and dev is not None and dev.layout.universal:
        stages.accuracy["segmenter"] = segmentation_accuracy(segmenter, dev)
    if tagger is None:
        return replace(stages, measured_on=None if dev is None else "dev")
    return _as_predicted(stages, options, shared, word_clusters, tell)


def _as_predicted(
    stages: Stages,
    options: StageOptions,
    shared: dict[str, Any],
    word_clusters: WordClusters | None,
    tell: StageProgress,
) -> Stages:
    """The stages with the treebank as they annotate it, and their accuracy."""
    train, dev, tagger, lemmatiser = stages.train, stages.dev, stages.tagger, stages.lemmatiser
    assert tagger is not None
    folds = options.folds if len(train) >= _PER_FOLD * options.folds else 0
    found_dev = found_train = None
    if dev is not None:
        found_dev = tagger(dev, retag=True, **shared)
        if lemmatiser is not None:
            found_dev = lemmatiser(found_dev, relemmatise=True)
    if folds:
        tell("folds", 0.0)
        found_train = jackknife(
            train, folds, options.tagger, word_clusters=word_clusters,
            lemmatiser=None if lemmatiser is None else options.lemmatiser,
            progress=lambda done: tell("folds", done), **shared,
        )  # fmt: skip
    gold, found = (dev, found_dev) if dev is not None else (train, found_train)
    if found is not None and gold is not None:
        measured = {name: column_accuracy(gold, found, name) for name in tagger.columns}
        stages.accuracy["tagger"] = measured
        if lemmatiser is not None:
            stages.accuracy["lemmatiser"] = {"lemma": column_accuracy(gold, found, "lemma")}
    measured_on = None if found is None else "dev" if dev is not None else "folds"
    stages = replace(stages, folds=folds, measured_on=measured_on)
    if found_train is None:
        return stages
    if options.mix:
        found_train = mixed(train, found_train)
    return replace(stages, train=found_train, dev=found_dev, mixed=options.mix)


def mixed(gold: Block, found: Block) -> Block:
    """Every sentence twice; the two are neighbours, so that they are held out together."""
    pairs = (
        block.texts(i, i + 1).rstrip(b"\r\n") + b"\n\n"
        for i in range(len(gold))
        for block in (gold, found)
    )
    return gold.reread(b"".join(pairs))


def _without_text(train: Block) -> str | None:
    if train.layout.universal:
        return None
    return f"{train.layout.title} does not say where the spaces are"


def _without_lemmas(train: Block, tagger: Tagger | None) -> str | None:
    if is_empty(train, COLUMNS["lemma"]):
        return "no word has a lemma"
    return "it needs the tags of a tagger" if tagger is None else None
