"""Why a word has this head and not another: the features that made the difference."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from arbora.data import Block
from arbora.errors import ArgumentError, ModelError
from arbora.features import Encoded
from arbora.parsers.model import Model
from arbora.types import FloatArray

__all__ = ["Contribution", "Explanation", "explain_arc"]

_DISTANCES = ("1", "2", "3", "4-5", "6-9", "10-19", "20+")
_ROOT = 15  # the variant of arcs from the root symbol


@dataclass(frozen=True)
class Contribution:
    """What one feature adds to the head's score minus its rival's.

    `template` names the parts of which `atoms` are the values; `variant` is the direction and
    distance that the feature goes with, or empty if it goes with any.
    """

    template: str
    atoms: tuple[str, ...]
    variant: str
    value: float


@dataclass(frozen=True)
class Explanation:
    """Why `word` hangs from `head` rather than from `against`; words count from 1, 0 is the root.

    The contributions, largest first, sum to `difference`; features that say the same of both heads
    are left out.
    """

    word: int
    head: int
    against: int
    score: float
    against_score: float
    contributions: tuple[Contribution, ...]

    @property
    def difference(self) -> float:
        return self.score - self.against_score

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"difference": self.difference}


def explain_arc(
    model: Model, block: Block, word: int, head: int, against: int | None = None
) -> Explanation:
    """Explains an arc of the only sentence of a block."""
    if model.joint or model.hidden:
        what = "labels inside the sum" if model.joint else "hidden clusters"
        raise ModelError(
            f"arcs of a model with {what} have no single score to explain: use staged labels."
        )
    scorer = model.arc_scorer(1)
    encoded = Encoded(block, model.features, model.word_clusters)
    side = block.words(0) + 1
    scores = scorer.scores(model.weights, encoded, np.array([0])).reshape(side, side)
    check_word(block, word)
    _check_head(scores, word, head)
    if against is None:
        against = _runner_up(scores, word, head)
    _check_head(scores, word, against)
    if against == head:
        raise ArgumentError(f"word {word} is compared with its head {head} itself: name another.")
    sums: dict[tuple[str, tuple[str, ...], int], float] = {}
    for place, sign in ((head, 1.0), (against, -1.0)):
        for template, atoms, variant, value in scorer.explain(
            model.weights, block, model.word_clusters, 0, place, word
        ):
            key = (template, tuple(atoms), variant)
            sums[key] = sums.get(key, 0.0) + sign * value
    return Explanation(
        word, head, against, float(scores[head, word]), float(scores[against, word]),
        tuple(_sorted(sums.items())),
    )  # fmt: skip


def _sorted(
    sums: Iterable[tuple[tuple[str, tuple[str, ...], int], float]],
) -> list[Contribution]:
    made = [
        Contribution(template, atoms, variant_text(variant), value)
        for (template, atoms, variant), value in sums
        if value != 0.0
    ]
    return sorted(made, key=lambda one: (-abs(one.value), one.template, one.atoms, one.variant))


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
