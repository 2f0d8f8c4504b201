"""Why a word has this head and not another: the features that made the difference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from arbora.data import Block
from arbora.errors import ArgumentError
from arbora.features import Encoded
from arbora.parsers.model import Model
from arbora.types import FloatArray

__all__ = ["Contribution", "Explanation", "explain_arc", "sorted_contributions", "variant_text"]

_DISTANCES = ("1", "2", "3", "4-5", "6-9", "10-19", "20+")
_ROOT = 15  # the variant of arcs from the root symbol
_DIRECTIONS = ("left", "right", "root")  # the first atom of every template of labels
_Feature = tuple[str, tuple[str, ...], str, str]  # template, atoms, variant, outcome


@dataclass(frozen=True)
class Contribution:
    """What one feature adds to the head's score minus its rival's.

    `template` names the parts of which `atoms` are the values; `variant` is the direction and
    distance that the feature goes with, or empty if it goes with any; `outcome` is the label or
    hidden cluster that it speaks for, or empty if it speaks for the arc.
    """

    template: str
    atoms: tuple[str, ...]
    variant: str
    value: float
    outcome: str = ""


@dataclass(frozen=True)
class Explanation:
    """Why `word` hangs from `head` rather than from `against`; words count from 1, 0 is the root.

    The contributions, largest first, sum to `difference`; features that say the same of both heads
    are left out. In models whose arcs have labels or hidden clusters inside the sum over trees, the
    scores are those of each arc with its best label or cluster, `outcome` and `against_outcome`. In
    models of higher order, they are those of the arc and of all parts that the tree has with the
    one head and not with the other, the rest of it being the same. `explains` says which.
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
        return self.score - self.against_score

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"difference": self.difference}


def explain_arc(
    model: Model, block: Block, word: int, head: int, against: int | None = None
) -> Explanation:
    """Explains an arc of the only sentence of a block."""
    scorer = model.arc_scorer(1)
    encoded = Encoded(block, model.features, model.word_clusters)
    side = block.words(0) + 1
    every = scorer.scores(model.weights, encoded, np.array([0])).reshape(side, side, -1)
    # Given its arc, an outcome's probability rises with its score: decoders choose the best one.
    best, scores = every.argmax(axis=2), every.max(axis=2)
    check_word(block, word)
    _check_head(scores, word, head)
    if against is None:
        against = _runner_up(scores, word, head)
    _check_head(scores, word, against)
    if against == head:
        raise ArgumentError(f"word {word} is compared with its head {head} itself: name another.")
    sums: dict[_Feature, float] = {}
    for place, sign in ((head, 1.0), (against, -1.0)):
        outcome = int(best[place, word])
        for template, atoms, variant, of_outcome, value in scorer.explain(
            model.weights, block, model.word_clusters, 0, place, word, outcome
        ):
            spoken_for = outcome if of_outcome else None
            feature = _feature(model, template, atoms, variant, spoken_for)
            sums[feature] = sums.get(feature, 0.0) + sign * value
    return Explanation(
        word, head, against, float(scores[head, word]), float(scores[against, word]),
        sorted_contributions(sums), _what_is_explained(model),
        _outcome_name(model, int(best[head, word])), _outcome_name(model, int(best[against, word])),
    )  # fmt: skip


def _feature(
    model: Model, template: str, atoms: list[str], variant: int, outcome: int | None
) -> _Feature:
    """The feature in words; two that differ only in the outcome are two."""
    if outcome is None:
        return template, tuple(atoms), variant_text(variant), ""
    name = _outcome_name(model, outcome)
    if model.joint:
        return template, tuple(atoms[1:]), _DIRECTIONS[int(atoms[0])], name
    return template, tuple(atoms), "", name


def _outcome_name(model: Model, outcome: int) -> str:
    if model.joint:
        return model.labels[outcome]
    return f"cluster {outcome + 1}" if model.hidden else ""


def _what_is_explained(model: Model) -> str:
    if model.joint:
        return "the score of the arc with its best label"
    if model.hidden:
        return "the score of the arc with its best hidden cluster"
    return "the score of the arc"


def sorted_contributions(sums: Mapping[_Feature, float]) -> tuple[Contribution, ...]:
    """The contributions that are not 0, the weightiest first."""
    made = [
        Contribution(template, atoms, variant, value, outcome)
        for (template, atoms, variant, outcome), value in sums.items()
        if value != 0.0
    ]
    made.sort(key=lambda one: (-abs(one.value), one.template, one.atoms, one.variant, one.outcome))
    return tuple(made)


def variant_text(variant: int) -> str:
    """Direction and distance in words."""
    if variant == 0:
        return ""
    if variant == _ROOT:
        return "root"
    direction, distance = divmod(variant - 1, len(_DISTANCES))
    return f"{('left', 'right')[direction]} {_DISTANCES[distance]}"


def check_word(block: Block, word: int) -> None:
    if not 1 <= word <= block.words(0):
        raise ArgumentError(f"the sentence has words 1 to {block.words(0)}, and no word {word}.")


def _check_head(scores: FloatArray, word: int, head: int) -> None:
    if not 0 <= head < len(scores) or head == word:
        raise ArgumentError(
            f"a head of word {word} is 0 (the root) or another word up to {len(scores) - 1}, "
            f"not {head}."
        )
    if not math.isfinite(scores[head, word]):
        raise ArgumentError(
            f"the model does not consider head {head} for word {word}: training had no arc as long "
            "between such tags."
        )


def _runner_up(scores: FloatArray, word: int, head: int) -> int:
    column = scores[:, word].copy()
    column[[head, word]] = -np.inf
    best = int(column.argmax())
    if not math.isfinite(column[best]):
        raise ArgumentError(f"word {word} has no other possible head to compare with.")
    return best
