"""All options of a parser: what `Parser(...)` and `arbora train` take, checked and complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from arbora.errors import ArgumentError
from arbora.names import TreeClass
from arbora.options.build import build, flatten
from arbora.options.checks import check_combinations
from arbora.options.declare import Component, option, slot
from arbora.options.defaults import default_choices, default_values, fill
from arbora.options.inference import DecodeName
from arbora.options.learners import (
    L2Options,
    L2RiskOptions,
    LearnerOptions,
    LogLinearOptions,
    MaxMarginOptions,
    MiraOptions,
    PerceptronOptions,
    RiskOptions,
)
from arbora.options.orders import (
    FirstOrderOptions,
    GrandparentOptions,
    GrandsiblingOptions,
    OrderOptions,
    SiblingOptions,
)
from arbora.options.spelling import spelled

__all__ = ["LabelsName", "ParserOptions", "RootName", "Templates"]

Templates = Literal["rich", "mcdonald2005", "squeezed2005", "morphological"]
LabelsName = Literal["staged", "joint", "none"]
RootName = Literal["auto", "single", "multi"]

# What fixes the meaning of the weights, which a model that is trained further cannot change.
_FIXED = ("order", "features", "labels", "clusters", "cluster_of", "bits", "label_bits")


@dataclass(frozen=True)
class ParserOptions(Component):
    """Every choice that makes a parser; `from_keywords` fills in what is not said."""

    learner: LearnerOptions = slot(
        (
            PerceptronOptions, MiraOptions, LogLinearOptions, MaxMarginOptions, L2Options,
            RiskOptions, L2RiskOptions,
        ),
        None,
        "Learner. l2, risk and l2+risk are trained through the inference that will be used.",
        "Learning", common=True, default_text="loglinear; mira with inference dual",
    )  # fmt: skip
    order: OrderOptions = slot(
        (FirstOrderOptions, SiblingOptions, GrandparentOptions, GrandsiblingOptions),
        "first",
        "Parts of the tree that are scored together: single arcs (first), pairs of modifiers "
        "(sibling), a head's own head (grandparent), or both (grandsibling).",
        "Trees and decoding", common=True,
    )  # fmt: skip
    trees: TreeClass = option(
        "nonprojective", "Class of trees that is learnt.", "Trees and decoding", common=True
    )
    root: RootName = option(
        "auto",
        "One word attached to the root (single), or any number (multi); auto decides by the "
        "training data.",
        "Trees and decoding", common=True, kept=False,
    )  # fmt: skip
    decode: DecodeName | None = option(
        None,
        "How trees are chosen: best score (map), most expected correct arcs (mbr), each word's "
        "best head by score (greedy) or probability (greedy-posterior), or with the best hidden "
        "clusters (max-z).",
        "Trees and decoding", default_text="mbr; map with perceptron, mira and maxmargin",
    )  # fmt: skip
    decode_trees: TreeClass | Literal["auto"] | None = option(
        None,
        "Class of trees to choose from; auto decides on dev.",
        "Trees and decoding", default_text="the class that is learnt",
    )  # fmt: skip
    features: Templates = option(
        "rich",
        "Feature templates. morphological suits languages with much inflection in FEATS.",
        "Model", common=True,
    )  # fmt: skip
    labels: LabelsName = option(
        "staged",
        "Labels after the tree (staged), inside the sum over trees (joint), or none.",
        "Model", common=True,
    )  # fmt: skip
    passes: int | None = option(
        None,
        "Maximum number of passes over the data, in each phase of l2+risk.",
        "Learning", low=1, high=10_000, common=True, kept=False,
        default_text="15; 10 with lbfgs and cg; 30 with maxmargin, eg and dual training; 5 with "
        "l2 and risk",
    )  # fmt: skip
    patience: int = option(
        4,
        "Stop after N passes without a better dev score; exponentiated gradient waits at least 20.",
        "Learning", low=1, high=10_000, kept=False,
    )  # fmt: skip
    held_out: float = option(
        0.1,
        "Without dev data: share of the sentences held out to choose the best pass.",
        "Learning", low=0.0, high=0.9, kept=False,
    )  # fmt: skip
    refit: bool = option(
        True,
        "Without dev data: train again on all sentences once the best pass is known.",
        "Learning", kept=False,
    )  # fmt: skip
    arc_filter: bool = option(
        True, "Drop arcs that are longer than any in training between such tags.", "Model"
    )
    bits: int = option(22, "Size of the weight table: 2^N weights.", "Model", low=8, high=28)
    label_bits: int | None = option(
        None, "Size of the label or cluster table: 2^N rows.", "Model", low=4, high=24,
        default_text="17",
    )  # fmt: skip
    seed: int = option(
        0, "Random seed; the same seed gives the same model.", "Learning", low=0, high=2**63 - 1,
        common=True, kept=False,
    )  # fmt: skip

    @classmethod
    def from_keywords(
        cls, keywords: Mapping[str, Any], kept: Mapping[str, Any] | None = None
    ) -> ParserOptions:
        """Options by their public names; what is not said gets the default that suits the rest.

        An option that has no effect under the others is an error. `kept` holds further options,
        for instance those of an earlier model, which are ignored where they do not apply.
        """
        chosen = default_choices(keywords, kept or {})
        built = build(cls, chosen, kept or {})
        complete = fill(built, default_values(built))
        check_combinations(complete, keywords)
        return complete

    def keywords(self) -> dict[str, Any]:
        """The options by their public names, without those that have no effect."""
        return flatten(self)

    def continued(self, keywords: Mapping[str, Any]) -> ParserOptions:
        """The options of a model with these ones that is trained further with new keywords."""
        own = self.keywords()
        for name in _FIXED:
            if name in own and name in keywords:
                given = keywords[name]
                _check_same(name, own[name], given.tag if isinstance(given, Component) else given)
        kept = {name: own[name] for name in flatten(self, only_kept=True)}
        if keywords.get("trees", own["trees"]) != own["trees"]:
            kept.pop("decode_trees", None)  # a choice within the class of trees
            kept.pop("projectivise", None)
        if keywords.get("learner", own["learner"]) != own["learner"]:
            kept.pop("training_inference", None)  # what suits one learner may not suit another
            kept.pop("decode", None)
        further = ParserOptions.from_keywords(keywords, kept)
        for name in _FIXED:
            _check_same(name, own.get(name), further.keywords().get(name))
        if self.order.parts != further.order.parts:
            raise ArgumentError(
                "the model that training starts from scores other parts: leave "
                f"{spelled('inference')} and {spelled('factors')} as they are."
            )
        return further

    def with_values(self, **values: Any) -> ParserOptions:
        """The same with other values of its own fields."""
        return replace(self, **values)


def _check_same(name: str, old: Any, new: Any) -> None:
    if old != new:
        raise ArgumentError(
            f"the model that training starts from has {spelled(name, old)}, which cannot become "
            f"{new!r}: leave the option out."
        )
