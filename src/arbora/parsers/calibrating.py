"""Calibration of a trained parser on sentences that it has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from arbora.data.treebank import TreebankSource
from arbora.models.head_sets import CARD
from arbora.options import ParseOptions
from arbora.parsers.training_data import read_annotated

if TYPE_CHECKING:
    from arbora.data import Block
    from arbora.models.decoding import Decoder
    from arbora.models.model import Model

__all__ = ["Calibrating"]


class Calibrating:
    """The method of `Parser` that calibrates head sets."""

    _model: Model | None

    if TYPE_CHECKING:  # what a parser has

        @property
        def model(self) -> Model: ...

        def decoder(self, options: ParseOptions | None = None) -> Decoder: ...

        def prepare(self, block: Block, options: ParseOptions) -> Block: ...

    def calibrate(
        self, treebank: TreebankSource, *, retag: bool | None = None, **reading: Any
    ) -> Self:
        """Calibrates head sets (`parse(head_sets=0.95)`) on annotated sentences.

        They must be of the kind that will be parsed, and used neither for training nor for choosing
        the model. `retag` replaces their tags by the model's own, as raw text will have them; by
        default a model with a tagger does so. `reading` has the options of `read_conllu`.
        """
        from arbora.fitting.head_sets import calibrate_head_sets

        block = read_annotated(treebank, "calibration", **reading)
        own = "tagger" in self.model.stages if retag is None else retag
        options = ParseOptions(retag=own)
        prepared = self.prepare(block, options)
        found = calibrate_head_sets(self.decoder(options), prepared, np.asarray(block.heads), own)
        self._model = self.model.with_card(**{CARD: found.to_card()})
        return self
