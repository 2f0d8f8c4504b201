"""Options of `Parser.parse`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from arbora.errors import ArgumentError
from arbora.names import TreeClass
from arbora.options.declare import Component, option
from arbora.options.inference import DecodeName, SolverName
from arbora.options.spelling import spelled

__all__ = ["HeadSetGroups", "ParseOptions"]

HeadSetGroups = Literal["all", "label", "distance"]


@dataclass(frozen=True)
class ParseOptions(Component):
    """Options of a call of `parse`; `kbest` and `samples` repeat every sentence once per tree."""

    decode: DecodeName | None = option(
        None,
        "Decoding: the best-scoring tree (map), the tree with most expected correct arcs (mbr), "
        "each word's best head by score (greedy) or probability (greedy-posterior), or the best "
        "tree with its hidden clusters (max-z).",
        "Trees and decoding", default_text="the model's",
    )  # fmt: skip
    trees: TreeClass | None = option(
        None, "Class of trees to decode.", "Trees and decoding", default_text="the model's"
    )
    probabilities: bool = option(
        False, "Write arc and label probabilities and the log-probability of the tree.",
        "Trees and decoding",
    )  # fmt: skip
    kbest: int | None = option(
        None, "Write the K best trees of each sentence.", "Trees and decoding", low=1, high=10**9
    )
    samples: int | None = option(
        None, "Write K trees drawn from the distribution.", "Trees and decoding", low=1, high=10**9
    )
    seed: int = option(
        0, "Random seed of samples and tag samples.", "Trees and decoding", low=0, high=2**63 - 1
    )
    tag_samples: int = option(
        0,
        "Average the distribution over K drawings of the tags from the model's tagger, so that "
        "doubt about tags is in the probabilities; 0 uses the best tags only.",
        "Trees and decoding", low=0, high=1000,
    )  # fmt: skip
    certificates: bool = option(
        False,
        "State in comments whether each tree is provably the best (higher orders).",
        "Trees and decoding",
    )  # fmt: skip
    head_sets: float | None = option(
        None,
        "Find a set of heads for each word that contains the right one with this probability; the "
        "model must be calibrated.",
        "Trees and decoding", low=0.5, high=0.999, default_text="none",
    )  # fmt: skip
    head_sets_by: HeadSetGroups = option(
        "all",
        "Words among which head sets have that probability: all, or those of the same label or "
        "distance in the tree.",
        "Trees and decoding",
    )  # fmt: skip
    keep_heads: bool = option(
        False,
        "Keep the heads and labels that the input has, and parse the rest around them.",
        "Trees and decoding",
    )
    allow_missing: bool = option(
        False,
        "Parse sentences without columns that the model uses; expect many errors.",
        "Trees and decoding",
    )
    retag: bool = option(
        False, "Replace the tags and lemmas of the input by the model's own.", "Trees and decoding"
    )
    source: str | None = option(
        None, "The source that sentences without the comment # arbora.source are from, one of the "
        "files that the model was trained on.", "Trees and decoding", default_text="none",
    )  # fmt: skip
    max_words: int = option(
        2000,
        "Maximum sentence length: time grows with the cube of the length, memory with the square.",
        "Trees and decoding", low=1, high=10**9,
    )  # fmt: skip

    solver: SolverName | None = option(
        None, "Solver of models with dual decomposition.", "Trees and decoding",
        default_text="the model's",
    )  # fmt: skip
    max_iterations: int | None = option(
        None, "Iterations per sentence of models with dual decomposition.", "Trees and decoding",
        low=1, high=10**9, default_text="the model's",
    )  # fmt: skip
    time_limit: float | None = option(
        None,
        "Seconds per sentence for models with dual decomposition: then the best tree so far is "
        "kept, and a comment says so. Results may differ between runs.",
        "Trees and decoding", low=0.0, default_text="none",
    )  # fmt: skip
    first_order_from: int | None = option(
        None,
        "Sentences of at least so many words get the tree of a higher-order model's first-order "
        "pruner, and a comment says so.",
        "Trees and decoding", low=1, high=10**9, default_text="none",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kbest is not None and self.samples is not None:
            raise ArgumentError(
                f"give either {spelled('kbest')} or {spelled('samples')}, not both."
            )
        if self.tag_samples and (self.kbest is not None or self.samples is not None):
            raise ArgumentError(
                f"{spelled('tag_samples')} cannot be combined with {spelled('kbest')} or "
                f"{spelled('samples')}."
            )
        if self.tag_samples and self.certificates:
            raise ArgumentError(
                f"{spelled('tag_samples')} cannot be combined with {spelled('certificates')}: an "
                "average has no best-scoring tree."
            )
        for name in ("kbest", "samples", "tag_samples"):
            if self.head_sets is not None and getattr(self, name):
                raise ArgumentError(
                    f"{spelled('head_sets')} cannot be combined with {spelled(name)}."
                )
        if self.head_sets is None and self.head_sets_by != "all":
            raise ArgumentError(f"{spelled('head_sets_by')} requires {spelled('head_sets')}.")
        if self.certificates and (self.kbest is not None or self.samples is not None):
            raise ArgumentError(
                f"{spelled('certificates')} cannot be combined with {spelled('kbest')} or "
                f"{spelled('samples')}."
            )
