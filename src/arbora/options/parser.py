"""The options of `Parser(...)` and `arbora train`, checked and complete."""

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
    HeadSelectionOptions,
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
from arbora.options.scorers import (
    LinearNeuralOptions,
    LinearOptions,
    NeuralOptions,
    ScorerOptions,
)
from arbora.options.spelling import spelled
from arbora.options.templates import Templates

__all__ = ["LabelsName", "ParserOptions", "RootName"]

LabelsName = Literal["staged", "joint", "none"]
RootName = Literal["auto", "single", "multi"]

# Options that determine the meaning of the weights; continued training cannot change them.
_FIXED = (
    "order", "features", "labels", "clusters", "cluster_of", "cluster_features", "cluster_bits",
    "bits", "label_bits", "pruner_features", "pruner_passes", "scorer", "width", "layers",
    "arc_width", "label_width", "rank", "fine_tune", "encoder_layers",
)  # fmt: skip


@dataclass(frozen=True)
class ParserOptions(Component):
    """All options of a parser; `from_keywords` fills in defaults."""

    learner: LearnerOptions = slot(
        (
            PerceptronOptions, MiraOptions, LogLinearOptions, HeadSelectionOptions,
            MaxMarginOptions, L2Options, RiskOptions, L2RiskOptions,
        ),
        None,
        "Learner. l2, risk and l2+risk are trained through the inference that will be used.",
        "Learning", common=True, default_text="loglinear; mira with inference dual",
    )  # fmt: skip
    order: OrderOptions = slot(
        (FirstOrderOptions, SiblingOptions, GrandparentOptions, GrandsiblingOptions),
        "first",
        "Parts that are scored: single arcs (first), pairs of modifiers (sibling), an arc with the "
        "head's own head (grandparent), or both (grandsibling).",
        "Trees and decoding", common=True,
    )  # fmt: skip
    scorer: ScorerOptions = slot(
        (LinearOptions, NeuralOptions, LinearNeuralOptions),
        LinearOptions(),
        "What scores arcs and parts: weights of features (linear), a network (neural; training "
        "needs PyTorch), or both.",
        "Model", common=True,
    )  # fmt: skip
    trees: TreeClass = option(
        "nonprojective", "Class of trees to learn.", "Trees and decoding", common=True
    )
    root: RootName = option(
        "auto",
        "Number of words attached to the root: one (single) or any number (multi); auto decides "
        "from the training data.",
        "Trees and decoding", common=True, kept=False,
    )  # fmt: skip
    decode: DecodeName | None = option(
        None,
        "Decoding: the best-scoring tree (map), the tree with most expected correct arcs (mbr), "
        "each word's best head by score (greedy) or probability (greedy-posterior), or the best "
        "tree with its hidden clusters (max-z).",
        "Trees and decoding", default_text="mbr; map with perceptron, mira and maxmargin",
    )  # fmt: skip
    decode_trees: TreeClass | Literal["auto"] | None = option(
        None,
        "Class of trees to decode; auto decides on dev.",
        "Trees and decoding", default_text="as trees",
    )  # fmt: skip
    features: Templates = option(
        "rich",
        "Feature templates; morphological suits languages with rich inflection in FEATS, and the "
        "sets with a year are those of papers.",
        "Model", common=True,
    )  # fmt: skip
    labels: LabelsName = option(
        "staged",
        "Labels: assigned after the tree (staged), scored with the tree (joint), or none.",
        "Model", common=True,
    )  # fmt: skip
    passes: int | None = option(
        None,
        "Maximum number of passes over the data, per phase with l2+risk.",
        "Learning", low=1, high=10_000, common=True, kept=False,
        default_text="15; 10 with lbfgs and cg; 30 with maxmargin, eg and dual training; 5 with "
        "l2 and risk; 25 with adam",
    )  # fmt: skip
    patience: int = option(
        4,
        "Stop after N passes without a better dev score; at least 20 with exponentiated gradient.",
        "Learning", low=1, high=10_000, kept=False,
    )  # fmt: skip
    held_out: float = option(
        0.1,
        "Without dev data: fraction of the sentences held out to choose the best pass.",
        "Learning", low=0.0, high=0.9, kept=False,
    )  # fmt: skip
    refit: bool = option(
        True,
        "Without dev data: retrain on all sentences once the best pass is known.",
        "Learning", kept=False,
    )  # fmt: skip
    arc_filter: bool = option(
        True, "Exclude arcs longer than any training arc between the same tags.", "Model"
    )
    bits: int = option(22, "Size of the weight table: 2^N weights.", "Model", low=8, high=28)
    label_bits: int | None = option(
        None, "Size of the label table: 2^N rows.", "Model", low=4, high=24,
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
        """Options from keywords by public name; missing ones get defaults that suit the others.

        An option without effect raises an error. `kept` has further options, for instance of an
        earlier model; they are ignored where they do not apply.
        """
        chosen = default_choices(keywords, kept or {})
        built = build(cls, chosen, kept or {})
        complete = fill(built, default_values(built))
        check_combinations(complete, keywords)
        return complete

    def keywords(self) -> dict[str, Any]:
        """The options by public name, without those that have no effect."""
        return flatten(self)

    def continued(self, keywords: Mapping[str, Any]) -> ParserOptions:
        """The options for continued training of a model that has these options."""
        own = self.keywords()
        for name in _FIXED:
            if name in own and name in keywords:
                given = keywords[name]
                _check_same(name, own[name], given.tag if isinstance(given, Component) else given)
        kept = {name: own[name] for name in flatten(self, only_kept=True)}
        if keywords.get("trees", own["trees"]) != own["trees"]:
            kept.pop("decode_trees", None)  # depends on the class of trees
            kept.pop("projectivise", None)
        if keywords.get("learner", own["learner"]) != own["learner"]:
            kept.pop("training_inference", None)  # depends on the learner
            kept.pop("decode", None)
        if keywords.get("annealing", own.get("annealing")) != own.get("annealing"):
            kept.pop("first_temperature", None)  # depend on the schedule
            kept.pop("last_temperature", None)
        if "rerank" in keywords and keywords["rerank"] != own.get("rerank"):
            kept.pop("rerank_folds", None)  # belongs to it
            kept.pop("decode", None)
        further = ParserOptions.from_keywords(keywords, kept)
        for name in _FIXED:
            _check_same(name, own.get(name), further.keywords().get(name))
        if self.order.parts != further.order.parts:
            raise ArgumentError(
                "the model to continue from scores other parts: do not change "
                f"{spelled('inference')} or {spelled('factors')}."
            )
        return further

    def with_values(self, **values: Any) -> ParserOptions:
        """A copy with other values of its own fields."""
        return replace(self, **values)


def _check_same(name: str, old: Any, new: Any) -> None:
    if old != new:
        raise ArgumentError(
            f"the model to continue from has {spelled(name, old)}, which cannot be changed to "
            f"{new!r}: leave out {spelled(name)}."
        )
