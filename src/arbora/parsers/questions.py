"""What a parser can be asked about a single sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from arbora.arrays import as_count, as_heads
from arbora.data import Block, Sentence
from arbora.data.treebank import read_treebank
from arbora.errors import ArgumentError
from arbora.inference import LoopyTrees, ProjectiveTrees, SecondOrderTrees, SpanningTrees
from arbora.inference.seen import SeenTrees
from arbora.inference.tree_checks import are_trees
from arbora.models.decoding import Decoder, Scored
from arbora.models.draws import WeightedSamples, draw_trees, fit_weight_temperature, is_weighted
from arbora.models.hidden_clusters import HiddenClusters
from arbora.models.model import Model
from arbora.models.output import ParsedSentence, label_block, parse_block
from arbora.options import BeliefPropagationOptions, ExactOptions, FirstOrderOptions, ParseOptions
from arbora.types import FloatArray

if TYPE_CHECKING:
    from arbora.models.explaining import Explanation

__all__ = ["Questions"]

Trees = TypeVar("Trees", bound=SeenTrees)


class Questions:
    """The methods of `Parser` about a sentence: its distribution, labels, explanations."""

    @property
    def model(self) -> Model:
        """The trained model."""
        raise NotImplementedError

    def decoder(self, options: ParseOptions | None = None) -> Decoder:
        """The model ready to parse."""
        raise NotImplementedError

    def prepare(self, block: Block, options: ParseOptions) -> Block:
        """The block with all columns that the model uses."""
        raise NotImplementedError

    def label(self, sentence: Sentence, heads: ArrayLike | None = None) -> ParsedSentence:
        """The sentence with labels for the given heads, or for its own."""
        block = self._block(sentence)
        array = as_heads(sentence.heads if heads is None else heads, block.words(0))
        if array.ndim != 1 or array.min() < 0 or not are_trees(array[None])[0]:
            raise ArgumentError("label() requires heads that form a tree.")
        return next(iter(label_block(self.decoder(), block, array.astype(np.int32))))

    def distribution(
        self, sentence: Sentence
    ) -> SpanningTrees | ProjectiveTrees | SecondOrderTrees:
        """The model's distribution over the trees of a sentence.

        Joint models include a label axis; other models do not. Higher-order models must have exact
        inference; for others use `beliefs` (belief propagation) or `first_order_distribution`.
        """
        order = self.model.options.order
        if isinstance(order, FirstOrderOptions):
            arcs = self._scored(sentence).summed.arcs_of(0)
            return _with_words(self._first_order(arcs), sentence)
        if isinstance(order.inference, ExactOptions):
            parts = self._calibrated(sentence).sentence(0)
            return _with_words(SecondOrderTrees(parts, root=self.model.root), sentence)
        raise ArgumentError(
            f"distribution() requires a first-order model or inference='exact'; this model has "
            f"inference={order.inference.tag!r}: use "  # type: ignore[union-attr]
            + (
                "beliefs()."
                if isinstance(order.inference, BeliefPropagationOptions)
                else "first_order_distribution(), which is that of its first-order pruner."
            )
        )

    def first_order_distribution(self, sentence: Sentence) -> SpanningTrees | ProjectiveTrees:
        """The distribution of a first-order model, or of a higher-order model's pruner."""
        companion = self.model.companion
        if companion is None:
            arcs = self._scored(sentence).summed.arcs_of(0)
            return _with_words(self._first_order(arcs), sentence)
        batch = self._scored(sentence).batch
        trees = companion.engine.trees
        arcs = companion.first_order(batch).arcs_of(0)
        return _with_words(self._first_order(arcs, trees == "projective"), sentence)

    def beliefs(self, sentence: Sentence) -> LoopyTrees:
        """The beliefs over the trees of a sentence, for models with belief propagation."""
        inference = getattr(self.model.options.order, "inference", None)
        if not isinstance(inference, BeliefPropagationOptions):
            raise ArgumentError(
                "beliefs() requires a model trained with inference='bp'; use distribution()."
            )
        beliefs = LoopyTrees(
            self._calibrated(sentence).sentence(0), self.model.options.trees, self.model.root,
            inference.iterations, inference.damping, inference.schedule,
            inference.factors or "pairs",
        )  # fmt: skip
        return _with_words(beliefs, sentence)

    def sample_weighted(
        self, sentence: Sentence, count: int = 100, seed: int = 0, temperature: float | None = None
    ) -> WeightedSamples:
        """Draws of trees, with weights for models that cannot be drawn from.

        First-order and exact second-order models give exact draws with equal weights. For other
        models the draws are those of the first-order pruner, with importance weights for the
        model's scores divided by `temperature`: by default the one that `fit_weights` has fitted.
        A small effective sample size says that the pruner and the model disagree.
        """
        encoded = self.model.encoder.encode(self._block(sentence))
        found = draw_trees(
            self.decoder(), encoded, np.array([0]), as_count(count, "count"), seed, np.array([0]),
            temperature,
        )  # fmt: skip
        heads = found.heads.reshape(found.count, -1)
        return WeightedSamples(heads, found.weights[0], float(found.effective[0]))

    def weights_temperature(self, block: Block) -> float:
        """The temperature of the weights of `sample_weighted` that fits annotated sentences best.

        1 for models whose draws need no weights.
        """
        decoder, prepared = self.decoder(), self.prepare(block, ParseOptions())
        if not is_weighted(decoder):
            return 1.0
        encoded = self.model.encoder.encode(prepared)
        return fit_weight_temperature(decoder, encoded, np.asarray(block.heads))

    def cluster_posteriors(self, sentence: Sentence) -> FloatArray:
        """The posteriors p(z | x, edge) of a model's hidden clusters, (n+1, n+1, clusters).

        `[h, m, z]` is the probability that the edge from h to m, if it is in the tree, belongs to
        cluster z. Column 0 and the diagonal are 0.
        """
        block = self._block(sentence)
        side = block.words(0) + 1
        shares = HiddenClusters(self.model).shares(block, np.array([0]))
        return shares.reshape(side, side, -1)

    def _block(self, sentence: Sentence) -> Block:
        return self.prepare(read_treebank([sentence]), ParseOptions())

    def _scored(self, sentence: Sentence) -> Scored:
        encoded = self.model.encoder.encode(self._block(sentence))
        return self.decoder().score(encoded, np.array([0]))

    def _calibrated(self, sentence: Sentence) -> Any:
        return self._scored(sentence).summed.scaled(1.0 / self.model.temperature)

    def _first_order(
        self, arcs: FloatArray, projective: bool | None = None
    ) -> SpanningTrees | ProjectiveTrees:
        if projective is None:
            projective = self.model.decode_trees == "projective"
        kind = ProjectiveTrees if projective else SpanningTrees
        return kind(arcs / self.model.temperature, root=self.model.root)

    def explain(
        self, sentence: Sentence, word: int, head: int | None = None, against: int | None = None
    ) -> Explanation:
        """The features by which the head of `word` outscores another head.

        `head` defaults to the parsed head, `against` to the best-scoring other head. Words are
        numbered from 1. With joint labels or hidden clusters, the best label or cluster of each arc
        is used. In higher-order models, all parts that change with this head are included.
        """
        from arbora.models.explaining import check_word, explain_arc

        block = self._block(sentence)
        check_word(block, word)
        heads = np.zeros(block.words(0), dtype=np.int32)
        if head is None or self.model.scorer.kinds:
            heads = parse_block(self.decoder(), block, ParseOptions()).trees.heads
            head = int(heads[word - 1]) if head is None else head
        return explain_arc(self.model, block, heads, word, head, against)


def _with_words(trees: Trees, sentence: Sentence) -> Trees:
    """The distribution, whose drawings then show the words."""
    trees.words = tuple(sentence.forms)
    return trees
