"""What cannot be trained is refused before anything is learnt."""

from __future__ import annotations

from collections.abc import Sequence

from arbora.errors import ArgumentError
from arbora.options import ExponentiatedGradientOptions, ParserOptions, spelled
from arbora.scoring import Scorer

__all__ = ["check_scorer", "check_start", "is_exponentiated"]


def is_exponentiated(options: ParserOptions) -> bool:
    """Whether exponentiated gradient learns, which has duals in place of weights."""
    return isinstance(getattr(options.learner, "optimizer", None), ExponentiatedGradientOptions)


def check_start(options: ParserOptions) -> None:
    """Refuses learners that cannot continue from a model."""
    if is_exponentiated(options):
        raise ArgumentError(
            "exponentiated gradient begins with its duals: it cannot start from a model's weights."
        )


def check_scorer(options: ParserOptions, scorer: Scorer) -> None:
    """Refuses a scorer that does not score what the options' inference looks at."""
    needed = options.order.parts
    if set(scorer.kinds) != set(needed):
        raise ArgumentError(
            f"the scorer has {_listed(scorer.kinds)}, and {spelled('order', options.order.tag)} "
            f"needs {_listed(needed)}."
        )
    if scorer.n_labels is not None or options.labels == "joint":
        raise ArgumentError(
            f"a scorer of your own scores arcs without labels: use {spelled('labels', 'staged')} "
            f"or {spelled('labels', 'none')}."
        )


def _listed(kinds: Sequence[str]) -> str:
    return ", ".join(kinds) if kinds else "no parts"
