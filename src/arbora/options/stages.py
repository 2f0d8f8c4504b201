"""Options of the stages before a parser."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from arbora.errors import ArgumentError
from arbora.options.declare import Component, option
from arbora.options.segmentation import SegmenterOptions
from arbora.options.spelling import spelled
from arbora.options.tagging import LemmatiserOptions, TaggerOptions

__all__ = ["StageOptions"]


@dataclass(frozen=True)
class StageOptions(Component):
    """The options of the stages before the parser.

    `folds` is the number of taggers and lemmatisers with which the parser's training data is
    annotated, each trained on the other folds: so the parser meets tags as wrong as those it will
    be given. 0 leaves the tags and lemmas of the treebank. With `mix`, the parser is trained on
    every sentence twice, with the treebank's tags and with predicted ones.
    """

    tag: ClassVar[str] = "stages"
    segmenter: SegmenterOptions = field(default_factory=SegmenterOptions)
    tagger: TaggerOptions = field(default_factory=TaggerOptions)
    lemmatiser: LemmatiserOptions = field(default_factory=LemmatiserOptions)
    folds: int = option(
        5,
        "The parser is trained on tags and lemmas predicted by N-fold cross-validation; 0: only on "
        "those of the treebank.",
        "Stages", low=0, high=100, common=True,
    )  # fmt: skip
    mix: bool = option(
        True,
        "Train the parser on every sentence twice, with the treebank's tags and with predicted "
        "ones.",
        "Stages",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folds == 1:
            raise ArgumentError(f"{spelled('folds')} must be 0 or at least 2, not 1.")
