"""Explanation of an arc: the features by which one head outscores another.

Two trees that differ in one head are compared. The explanation covers the arc into the word, and in
higher-order models also the parts that only one of the trees contains.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.errors import ArgumentError
from arbora.inference.tree_checks import in_class
from arbora.inference.tree_parts import tree_parts
from arbora.models.components import JointLabels, with_root_labels
from arbora.models.model import Model
from arbora.models.network_explaining import network_contributions
from arbora.models.variants import part_variant_text, variant_text
from arbora.scores import Scores
from arbora.scoring import Batch, Expert, LinearScorer, SumScorer
from arbora.types import FloatArray, IntArray

__all__ = ["Contribution", "Explanation", "check_word", "explain_arc"]

_DIRECTIONS = ("left", "right", "root")  # the first atom of every label template
_SHOWN = 15  # contributions in a notebook
_Name = tuple[str, tuple[str, ...], str, str]  # template, atoms, variant, outcome


@dataclass(frozen=True)
class Contribution:
    """The contribution of one feature to the difference between the head's and the rival's score.

    `template` names the properties whose values are `atoms`. `variant` is the direction and
    distance of the feature, or empty if it has none. `outcome` is its label or hidden cluster, or
    empty for features of the arc itself.
    """

    template: str
    atoms: tuple[str, ...]
    variant: str
    value: float
    outcome: str = ""


@dataclass(frozen=True)
class Explanation:
    """Why `word` is attached to `head` rather than to `against`; words count from 1, 0 is the root.

    The contributions, largest first, sum to `difference`. Features that both heads share are
    omitted. With joint labels or hidden clusters, the scores are those of each arc with its best
    label or cluster, `outcome` and `against_outcome`. In higher-order models, they include all
    parts that change with the head while all other heads stay the same. `explains` says which
    score is explained.
    """

    word: int
    head: int
    against: int
    score: float
    against_score: float
    contributions: tuple[Contribution, ...]
    explains: str = "the score of the arc"
    outcome: str = ""
    against_outcome: str = ""

    @property
    def difference(self) -> float:
        """The score of the head minus that of its rival."""
        return self.score - self.against_score

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return asdict(self) | {"difference": self.difference}

    def _repr_html_(self) -> str:
        from arbora.drawing.page import html_table

        rows = [
            (one.template, " | ".join(one.atoms), one.variant, one.outcome, f"{one.value:+.4f}")
            for one in self.contributions[:_SHOWN]
        ]
        rest = self.contributions[_SHOWN:]
        if rest:
            others = sum(one.value for one in rest)
            rows.append((f"{len(rest):,} more", "", "", "", f"{others:+.4f}"))
        names = [f"word {head}" if head else "the root" for head in (self.head, self.against)]
        caption = (
            f"word {self.word} under {names[0]} rather than {names[1]}: {self.explains}, "
            f"{self.score:.4f} and {self.against_score:.4f}, difference {self.difference:+.4f}"
        )
        headings = ["template", "its parts", "direction, distance", "speaks for", "adds"]
        return html_table(headings, rows, caption=caption)


def explain_arc(
    model: Model,
    block: Block,
    heads: IntArray,
    word: int,
    head: int,
    against: int | None = None,
) -> Explanation:
    """Explains an arc of a block's only sentence, given the other heads."""
    experts = _experts(model)
    check_word(block, word)
    batch = model.pruner.prune(Batch(model.encoder.encode(block), np.array([0])))
    scores, _ = model.scorer.scores(batch)
    if isinstance(model.labeller, JointLabels) and model.root_labels is not None:
        scores = with_root_labels(scores, model.root_labels, None)
    table = scores.arcs_of(0).reshape(len(heads) + 1, len(heads) + 1, -1)
    # Given the arc, the outcome with the best score is the most probable one.
    best, arcs = table.argmax(axis=2), table.max(axis=2)
    _check_head(model, arcs, word, head)
    if against is None:
        against = _runner_up(model, scores, arcs, heads, word, head)
    _check_head(model, arcs, word, against)
    if against == head:
        raise ArgumentError(f"the rival of head {head} for word {word} must be another head.")
    ours, theirs = _with_head(heads, word, head), _with_head(heads, word, against)
    totals, sums = [0.0, 0.0], dict[_Name, float]()
    for i, (tree, other) in enumerate(((ours, theirs), (theirs, ours))):
        outcome, sign = int(best[tree[word - 1], word]), (1.0, -1.0)[i]
        for expert in experts:
            if not isinstance(expert.scorer, LinearScorer):
                continue
            for name, value in _features(
                model, expert.scorer, block, scores, tree, other, word, outcome
            ):
                totals[i] += expert.weight * value
                sums[name] = sums.get(name, 0.0) + sign * expert.weight * value
    for expert in experts:
        if not isinstance(expert.scorer, LinearScorer):
            change = _change(scores, ours, theirs, word, best)
            both = network_contributions(expert.scorer, batch, block, change)
            for i, own in enumerate(both[0]):
                totals[i] += expert.weight * own
            for name, value in both[1].items():
                sums[name] = sums.get(name, 0.0) + expert.weight * value
    return Explanation(
        word, head, against, totals[0], totals[1], _sorted(sums), _what_is_explained(model),
        _outcome_name(model, int(best[head, word])), _outcome_name(model, int(best[against, word])),
    )  # fmt: skip


def _experts(model: Model) -> tuple[Expert, ...]:
    """The scorers whose scores add, or the only one; custom scorers cannot be explained."""
    scorer = model.scorer
    experts = scorer.experts if isinstance(scorer, SumScorer) else (Expert(scorer, 1.0),)
    known = [isinstance(one.scorer, LinearScorer) or one.scorer.kind == "neural" for one in experts]
    if not all(known):
        raise ArgumentError("explain requires a model with a linear or neural scorer.")
    if any(one.encoder is not None for one in experts):
        raise ArgumentError("explain requires one model, not an ensemble.")
    return experts


def _change(
    scores: Scores, ours: IntArray, theirs: IntArray, word: int, best: NDArray[np.int64]
) -> tuple[Scores, Scores]:
    """1 for the arc into the word and the parts that only one tree contains, for each tree."""
    answer = []
    for tree, other in ((ours, theirs), (theirs, ours)):
        own = scores.zeros()
        head = int(tree[word - 1])
        table = own.arcs_of(0).reshape(len(tree) + 1, len(tree) + 1, -1)
        table[head, word, int(best[head, word])] = 1.0
        for kind in scores.kinds:
            places = set(scores.of_tree(kind, 0, tree).tolist())
            places -= set(scores.of_tree(kind, 0, other).tolist())
            own.piece(kind, 0)[sorted(places)] = 1.0
        answer.append(own)
    return answer[0], answer[1]


def _features(
    model: Model,
    scorer: LinearScorer,
    block: Block,
    scores: Scores,
    tree: IntArray,
    other: IntArray,
    word: int,
    outcome: int,
) -> Iterator[tuple[_Name, float]]:
    """The features of the arc into a word, and of the parts that only the first tree contains."""
    clusters = model.encoder.clusters
    arc = scorer.explain_arc(block, clusters, int(tree[word - 1]), word, outcome)
    for template, atoms, variant, of_outcome, value in arc:
        yield _name(model, template, atoms, variant, outcome if of_outcome else None), value
    for kind in scores.kinds:
        own = set(scores.of_tree(kind, 0, tree).tolist())
        for place in sorted(own - set(scores.of_tree(kind, 0, other).tolist())):
            features = scorer.explain_part(block, clusters, scores, kind, place)
            for template, atoms, variant, _, value in features:
                yield (template, tuple(atoms), part_variant_text(kind, variant), ""), value


def _name(
    model: Model, template: str, atoms: list[str], variant: int, outcome: int | None
) -> _Name:
    """The readable name of a feature, including its outcome."""
    if outcome is None:
        return template, tuple(atoms), variant_text(variant), ""
    name = _outcome_name(model, outcome)
    if isinstance(model.labeller, JointLabels):
        return template, tuple(atoms[1:]), _DIRECTIONS[int(atoms[0])], name
    return template, tuple(atoms), variant_text(variant), name


def _outcome_name(model: Model, outcome: int) -> str:
    if isinstance(model.labeller, JointLabels):
        return model.labels[outcome]
    return f"cluster {outcome + 1}" if model.n_clusters else ""


def _what_is_explained(model: Model) -> str:
    if model.scorer.kinds:
        return "the score of the arc and of the parts that change with it"
    if isinstance(model.labeller, JointLabels):
        return "the score of the arc with its best label"
    if model.n_clusters:
        return "the score of the arc with its best hidden cluster"
    if model.reranker is not None:
        return "the score of the arc before reranking"
    return "the score of the arc"


def _sorted(sums: Mapping[_Name, float]) -> tuple[Contribution, ...]:
    """The non-zero contributions, largest magnitude first."""
    made = [
        Contribution(template, atoms, variant, value, outcome)
        for (template, atoms, variant, outcome), value in sums.items()
        if value != 0.0
    ]
    made.sort(key=lambda one: (-abs(one.value), one.template, one.atoms, one.variant, one.outcome))
    return tuple(made)


def check_word(block: Block, word: int) -> None:
    """Raises an error for a word that the sentence does not have."""
    if not 1 <= word <= block.words(0):
        raise ArgumentError(
            f"there is no word {word}: the sentence has words 1 to {block.words(0)}."
        )


def _check_head(model: Model, arcs: FloatArray, word: int, head: int) -> None:
    if not 0 <= head < len(arcs) or head == word:
        raise ArgumentError(
            f"the head of word {word} must be 0 (the root) or another word up to {len(arcs) - 1}, "
            f"not {head}."
        )
    if not math.isfinite(arcs[head, word]):
        why = (
            "it is longer than any training arc between the same tags"
            if model.companion is None
            else "the first-order pruner considers it too improbable"
        )
        raise ArgumentError(f"the model does not consider head {head} for word {word}: {why}.")


def _with_head(heads: IntArray, word: int, head: int) -> IntArray:
    changed = heads.copy()
    changed[word - 1] = head
    return changed


def _runner_up(
    model: Model, scores: Scores, arcs: FloatArray, heads: IntArray, word: int, head: int
) -> int:
    """The best-scoring other head; with parts, one that yields a tree if there is any."""
    column = arcs[:, word].copy()
    column[[head, word]] = -np.inf
    others = np.flatnonzero(np.isfinite(column))
    if not len(others):
        raise ArgumentError(f"word {word} has no other possible head.")
    if not scores.tables:
        return int(column.argmax())
    rivals = np.stack([_with_head(heads, word, int(other)) for other in others])
    allowed = in_class(rivals.astype(np.int64), model.decode_trees, model.root)
    values = np.array([tree_parts(scores, rival)[1][0] for rival in rivals])
    return int(others[int(np.where(allowed | ~allowed.any(), values, -np.inf).argmax())])
