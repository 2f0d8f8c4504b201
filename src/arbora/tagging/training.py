"""Training of taggers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._core import tagging as kernels
from arbora.data import Block
from arbora.errors import ArgumentError
from arbora.features import WordClusters
from arbora.options import LemmatiserOptions, TaggerOptions
from arbora.tagging.lemma_training import train_lemmatiser
from arbora.tagging.tagger import GROUPED_CLUSTERS, Tagger, count_threads
from arbora.tagging.treebank_tags import TreebankTags

__all__ = ["jackknife", "train_tagger"]

# Called after every pass: what is learnt, the pass (from 1), the loss per word, and the accuracy on
# dev in percent, or None without dev.
Progress = Callable[[str, int, float, float | None], object]

_FOLDS = 10  # a word's features of the lexicon come from the other folds
_CUTOFF = 2  # occurrences of a feature
_BATCH = 8  # sentences
_LARGEST = 60000.0  # weights are stored as float16
_COLUMNS = {"upos": 3, "xpos": 4, "feats": 5}


def train_tagger(
    train: Block,
    dev: Block | None = None,
    options: TaggerOptions | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    word_clusters: WordClusters | None = None,
) -> Tagger:
    """A tagger for the columns of `train`, in which every word has UPOS.

    It maximises the conditional likelihood with an L2 regulariser by AdaGrad, and averages the
    weights. With `dev`, the pass with most correct tags is kept: UPOS for the chain, XPOS and FEATS
    for the rest. The result does not depend on the number of threads.
    """
    options = options or TaggerOptions()
    return _Training(train, dev, options, count_threads(threads), progress, word_clusters).run()


class _Training:
    """The state of one training: what the tagger is made of so far."""

    def __init__(
        self,
        train: Block,
        dev: Block | None,
        options: TaggerOptions,
        threads: int,
        progress: Progress | None,
        clusters: WordClusters | None,
    ) -> None:
        self.tags = TreebankTags.of(train)
        self.dev, self.options, self.threads, self.progress = dev, options, threads, progress
        self.n_words = int(train.total_words)
        self.trainer = kernels.TagTrainer(
            train, self.tags.analysis_set(), self.tags.upos, self.tags.analyses, _FOLDS, _CUTOFF,
            None if clusters is None else clusters.kernel,
        )  # fmt: skip
        keys, ends, which, counts = kernels.learn_lexicon(train, self.tags.analyses)
        self.tensors: dict[str, NDArray[Any]] = {
            **self.tags.tensors,
            "lexicon.keys": keys,
            "lexicon.ends": ends,
            "lexicon.analyses": which,
            "lexicon.counts": counts,
        }
        if clusters is not None:
            self.tensors |= _stored_clusters(clusters)
        self.take(False)
        self.take(True)

    def run(self) -> Tagger:
        self.learn(analyses=False)
        if len(self.tags.tensors["analyses.ends"]) > len(self.tags.upos):
            self.learn(analyses=True)
        return self.tagger()

    def learn(self, analyses: bool) -> None:
        """Runs all passes and keeps the tensors of the best, or of the last without dev."""
        random = np.random.default_rng(self.options.seed)
        decay = self.options.regularization * _BATCH / max(1, len(self.trainer))
        best, kept = -1.0, dict(self.tensors)
        for number in range(1, self.options.passes + 1):
            order = random.permutation(len(self.trainer)).astype(np.int64)
            loss = self.trainer.learn(
                analyses, order, _BATCH, self.options.rate, decay, self.threads
            )
            self.take(analyses)
            accuracy = None if self.dev is None else self.accuracy(analyses)
            if accuracy is None or accuracy > best:
                best, kept = accuracy or 0.0, dict(self.tensors)
            if self.progress is not None:
                what = "analyses" if analyses else "upos"
                self.progress(what, number, loss / self.n_words, accuracy)
        self.tensors = kept

    def take(self, analyses: bool) -> None:
        """Takes the averaged weights as they will be stored: few rows, and rounded."""
        keys, tags, weights, dense = self.trainer.averages(analyses)
        widths = np.full(1, len(self.tags.upos), dtype=np.int64)
        if analyses:
            widths = self.tags.tensors["analyses.widths"].astype(np.int64)
        sizes = widths[tags]
        bits = self.options.bits - 1 if analyses else self.options.bits  # their rows are wider
        chosen = _strongest(weights, sizes, 1 << bits)
        name = "analyses" if analyses else "upos"
        self.tensors[f"{name}.keys"] = keys[chosen]
        self.tensors[f"{name}.weights"] = np.clip(
            weights[np.repeat(chosen, sizes)], -_LARGEST, _LARGEST
        ).astype(np.float16)
        if analyses:
            self.tensors["analyses.tags"] = tags[chosen]
            wanted = len(self.tags.upos) * kernels.MEMORIES
            self.tensors["analyses.memory"] = dense if len(dense) else np.zeros(wanted)
        else:
            self.tensors["upos.transitions"] = dense

    def tagger(self) -> Tagger:
        tags = self.tags
        settings = {
            "upos": tags.upos, "xpos": tags.xpos, "feats": tags.feats,
            "has_xpos": tags.has_xpos, "has_feats": tags.has_feats,
        }  # fmt: skip
        return Tagger(settings, self.tensors)

    def accuracy(self, analyses: bool) -> float:
        """Percent of dev words with the right UPOS, or with the right XPOS and FEATS."""
        assert self.dev is not None
        tagger = self.tagger()
        tagged = tagger(self.dev, retag=True, threads=self.threads)
        names = [name for name in tagger.columns if (name != "upos") == analyses]
        numbers = [_COLUMNS[name] for name in names]
        right = sum(
            gold == found
            for i in range(len(self.dev))
            for gold, found in zip(
                zip(*(self.dev.column(i, n) for n in numbers), strict=True),
                zip(*(tagged.column(i, n) for n in numbers), strict=True),
                strict=True,
            )
        )
        return 100.0 * right / max(1, int(self.dev.total_words))


def _strongest(weights: NDArray[Any], sizes: NDArray[Any], most: int) -> NDArray[np.bool_]:
    """The rows with the largest norms, at most this many; rows of zeros are left out."""
    if not len(sizes):
        return np.zeros(0, dtype=np.bool_)
    ends = np.cumsum(sizes)
    squares = np.concatenate([[0.0], np.cumsum(weights.astype(np.float64) ** 2)])
    norms = np.maximum(squares[ends] - squares[ends - sizes], 0.0)
    chosen: NDArray[np.bool_] = norms > 0.0
    if int(chosen.sum()) > most:
        strongest = np.argsort(-norms, kind="stable")[:most]
        chosen = np.zeros(len(norms), dtype=np.bool_)
        chosen[strongest] = True
    return chosen


def _stored_clusters(clusters: WordClusters) -> dict[str, NDArray[Any]]:
    """The likeliest cluster of every form, as the tagger reads them."""
    best: dict[str, tuple[float, str]] = {}
    for form, cluster, share in clusters.rows:
        if form not in best or share > best[form][0]:
            best[form] = (share, cluster)
    text = WordClusters((form, cluster, 1.0) for form, (_, cluster) in best.items()).to_bytes()
    if text is None:
        raise ArgumentError("word clusters must not contain tabs or ends of lines.")
    return {GROUPED_CLUSTERS: np.frombuffer(text, dtype=np.uint8)}


def jackknife(
    train: Block,
    folds: int = 10,
    options: TaggerOptions | None = None,
    threads: int | None = None,
    word_clusters: WordClusters | None = None,
    lemmatiser: LemmatiserOptions | None = None,
    progress: Callable[[float], object] | None = None,
) -> Block:
    """The treebank with predicted tags, for training a parser on tags as it will see them.

    Each fold (neighbouring sentences) is tagged by a tagger that was trained on the others. With
    `lemmatiser`, the lemmas are predicted as well, given these tags. Columns that the treebank does
    not have stay as they are. `progress` is called with the share of the folds that is done.
    """
    if not isinstance(folds, int) or not 2 <= folds <= len(train):
        raise ArgumentError(
            f"folds must be a whole number from 2 to the number of sentences, {len(train)}, not "
            f"{folds!r}."
        )
    pieces = []
    for fold in range(folds):
        first, last = len(train) * fold // folds, len(train) * (fold + 1) // folds
        texts = train.texts(0, first), train.texts(last, len(train))
        others = train.reread(b"".join(texts))
        tagger = train_tagger(others, None, options, threads, word_clusters=word_clusters)
        part = Block(
            train.texts(first, last), train.layout, first_sentence=train.first_sentence + first
        )
        tagged = tagger(part, retag=True, threads=threads)
        if lemmatiser is not None:
            tagged = train_lemmatiser(others, None, lemmatiser)(tagged, relemmatise=True)
        pieces.append(tagged.texts(0, len(tagged)))
        if progress is not None:
            progress((fold + 1) / folds)
    return train.reread(b"".join(pieces))
