"""Why a word has this head in a tree of higher order: the parts that would change with it.

An arc of a higher-order tree is scored together with its neighbours. So two trees are compared that
differ in one head only, and what is explained are the arc and the parts that one of them has and
the other has not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from arbora.data import Block
from arbora.errors import ArgumentError
from arbora.features import Encoded
from arbora.inference.automata import tree_parts
from arbora.inference.tree_checks import in_class
from arbora.parsers.decoding import BlockDecoder
from arbora.parsers.explaining import Explanation, sorted_contributions, variant_text
from arbora.parsers.higher_order import PartDecoder
from arbora.parsers.model import Model
from arbora.scores import Scores, PartKind
from arbora.types import IntArray

__all__ = ["explain_in_tree", "part_variant_text"]

_EXPLAINS = "the score of the arc and of the parts that change with it"
_Feature = tuple[str, tuple[str, ...], str, str]  # template, atoms, variant, no outcome


def explain_in_tree(
    model: Model, block: Block, heads: IntArray, word: int, head: int, against: int | None = None
) -> Explanation:
    """Explains an arc of the only sentence of a block, the other heads being as given."""
    encoded, sentence = Encoded(block, model.features, model.word_clusters), np.array([0])
    pruned = BlockDecoder(model, 1).distribution(encoded, sentence)
    parts = PartDecoder(model, 1, model.decode_trees).parts(encoded, sentence, pruned)
    _check_head(parts, word, head)
    if against is None:
        against = _runner_up(model, parts, heads, word, head)
    _check_head(parts, word, against)
    if against == head:
        raise ArgumentError(f"word {word} is compared with its head {head} itself: name another.")
    ours, theirs = _with_head(heads, word, head), _with_head(heads, word, against)
    scores, sums = [0.0, 0.0], dict[_Feature, float]()
    for i, (tree, other) in enumerate(((ours, theirs), (theirs, ours))):
        for feature, value in _features_of_one(model, block, parts, tree, other, word):
            scores[i] += value
            sums[feature] = sums.get(feature, 0.0) + (value if tree is ours else -value)
    contributions = sorted_contributions(sums)
    return Explanation(word, head, against, scores[0], scores[1], contributions, _EXPLAINS)


def _features_of_one(
    model: Model, block: Block, parts: Scores, tree: IntArray, other: IntArray, word: int
) -> Iterator[tuple[_Feature, float]]:
    """The features of the arc into a word, and of the parts that only the first tree has."""
    scorer, clusters = model.part_scorer(1), model.word_clusters
    head = int(tree[word - 1])
    arc = scorer.explain_arc(model.weights, block, clusters, head, word)
    for template, atoms, variant, value in arc:
        yield (template, tuple(atoms), variant_text(variant), ""), value
    for kind in parts.kinds:
        own = set(parts.of_tree(kind, 0, tree).tolist())
        for place in sorted(own - set(parts.of_tree(kind, 0, other).tolist())):
            features = scorer.explain_part(model.weights, block, clusters, parts, kind, place)
            for template, atoms, variant, value in features:
                yield (template, tuple(atoms), part_variant_text(kind, variant), ""), value


def _with_head(heads: IntArray, word: int, head: int) -> IntArray:
    changed = heads.copy()
    changed[word - 1] = head
    return changed


def _check_head(parts: Scores, word: int, head: int) -> None:
    n_words = int(parts.n_words[0])
    if not 0 <= head <= n_words or head == word:
        raise ArgumentError(
            f"a head of word {word} is 0 (the root) or another word up to {n_words}, not {head}."
        )
    if parts.arcs[head * (n_words + 1) + word] == -np.inf:
        raise ArgumentError(
            f"the model does not consider head {head} for word {word}: the first-order model "
            "inside it finds it too unlikely."
        )


def _runner_up(model: Model, parts: Scores, heads: IntArray, word: int, head: int) -> int:
    """The other head that scores best, if there is one among those that leave a tree."""
    column = parts.arcs.reshape(len(heads) + 1, -1)[:, word]
    others = [int(h) for h in np.flatnonzero(column > -np.inf) if h != head]
    if not others:
        raise ArgumentError(
            f"word {word} has no other head that the first-order model inside finds likely."
        )
    rivals = np.stack([_with_head(heads, word, other) for other in others])
    allowed = in_class(rivals.astype(np.int64), model.decode_trees, model.root)
    scores = np.array([tree_parts(parts, rival)[1][0] for rival in rivals])
    return others[int(np.where(allowed | ~allowed.any(), scores, -np.inf).argmax())]


_SIBLING_DISTANCES = ("1", "2", "3-5", "6-10", "11+")
_GRAND_DISTANCES = ("1", "2", "3-5", "6+")
_ORDERS = ("m g h", "g m h", "g h m", "m h g", "h m g", "h g m")  # as words stand in the sentence


def part_variant_text(kind: PartKind, variant: int) -> str:
    """Direction and distance in words, or how the words of a part stand."""
    if kind in ("consecutive_siblings", "siblings"):
        if variant < 4:
            return ("left", "right", "both sides")[variant - 1]
        if variant >= 14:
            any_two = kind == "siblings"
            ends = ("both sides 1-5", "both sides 6+") if any_two else ("left end", "right end")
            return ends[variant - 14]
        direction, distance = divmod(variant - 4, len(_SIBLING_DISTANCES))
        return f"{('left', 'right')[direction]} {_SIBLING_DISTANCES[distance]}"
    if variant < 8:
        return _ORDERS[variant - 1]
    direction, distance = divmod(variant - 8, len(_GRAND_DISTANCES))
    return f"{('left', 'right')[direction]} {_GRAND_DISTANCES[distance]}"
