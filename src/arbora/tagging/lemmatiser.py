"""The lemmatiser: a softmax over edit rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._core import tagging as kernels
from arbora.data import Block
from arbora.data.block import is_text
from arbora.errors import ArgumentError, ModelError
from arbora.tagging.stored import Tensors, check_ends, finite, tensor, whole_number, within
from arbora.types import FloatArray

__all__ = ["Lemmatised", "Lemmatiser"]

_KINDS = 5  # four cases of letters, and whole lemmas


@dataclass(frozen=True, eq=False)
class Lemmatised:
    """A block with lemmas, and the probability of each word's lemma (1 where it was kept)."""

    block: Block
    probabilities: FloatArray


class Lemmatiser:
    """Fills in LEMMA from FORM, UPOS, XPOS and FEATS; a stage.

    The lemmas of a word are those that the rules of the treebank make from its form: a change of
    case, another prefix and suffix, or a whole lemma that the form had in training. Their
    probabilities are a softmax over these rules. Lemmas that the input has are kept unless
    `relemmatise`; missing are those that are `_`.

    Lemmatisers are immutable. `settings()` and `tensors()` hold all of one, and `from_store` makes
    it again. `train_lemmatiser` makes new ones.
    """

    def __init__(self, settings: Mapping[str, Any], tensors: Tensors) -> None:
        self._settings = dict(settings)
        self._tensors = {name: np.ascontiguousarray(value) for name, value in tensors.items()}
        self._kernel = _kernel(self._settings, self._tensors)
        for value in self._tensors.values():
            value.setflags(write=False)

    @classmethod
    def from_store(cls, settings: Mapping[str, Any], tensors: Tensors) -> Lemmatiser:
        """The lemmatiser with these settings and tensors; `ModelError` if they are invalid."""
        return cls(settings, tensors)

    def settings(self) -> dict[str, Any]:
        """All that is not an array, for JSON."""
        return dict(self._settings)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The arrays, by name; read-only."""
        return dict(self._tensors)

    def __call__(self, block: Block, /, *, relemmatise: bool = False) -> Block:
        """The block with its missing lemmas filled in, or with `relemmatise` all replaced."""
        return self.lemmatise(block, relemmatise=relemmatise).block

    def lemmatise(self, block: Block, *, relemmatise: bool = False) -> Lemmatised:
        """The same with the probabilities of the lemmas."""
        answer = self._kernel.lemmatise(block, relemmatise)
        try:
            filled = block.reread(self._kernel.render(block, answer))
        except ValueError as error:
            raise ArgumentError(f"{error}.") from error
        return Lemmatised(filled, answer.probabilities)

    def lemmas(
        self, form: str, upos: str = "_", feats: str = "_", xpos: str = "_"
    ) -> list[tuple[str, float]]:
        """All possible lemmas of a word and their probabilities, the best first."""
        if not all(is_text(value) and value for value in (form, upos, feats, xpos)):
            raise ArgumentError("form, upos, feats and xpos must be texts that are not empty.")
        return self._kernel.analyse(form, upos, xpos, feats)


def _kernel(settings: Mapping[str, Any], tensors: Tensors) -> kernels.LemmaModel:
    """The compiled lemmatiser; raises an error for anything that does not fit."""
    bits = whole_number(settings, "bits", 8, 26)
    rules = [_rule(row) for row in _rows(tensors)]
    keys = tensor(tensors, "memory.keys", np.uint32)
    ends = tensor(tensors, "memory.ends", np.uint32, len(keys))
    which = tensor(tensors, "memory.rules", np.uint16)
    counts = tensor(tensors, "memory.counts", np.uint16, len(which))
    check_ends(ends, len(which), "memory.ends")
    within(which, 0, len(rules), "memory.rules")
    weights = finite(tensor(tensors, "weights", np.float16, 1 << bits), "weights")
    return kernels.LemmaModel(
        rules, tensor(tensors, "pairs", np.uint32), kernels.Lexicon(keys, ends, which, counts),
        tensor(tensors, "known", np.uint32), weights.astype(np.float32), bits,
    )  # fmt: skip


def _rows(tensors: Tensors) -> list[str]:
    try:
        text = tensor(tensors, "rules", np.uint8).tobytes().decode()
    except UnicodeDecodeError:
        raise ModelError("the tensor rules is not UTF-8.") from None
    return text.split("\n")


def _rule(row: str) -> tuple[int, str, str, str, str]:
    """A rule: kind, cut prefix, cut suffix, added prefix, added suffix, between tabs."""
    fields = row.split("\t")
    good = len(fields) == 5 and fields[0] in map(str, range(_KINDS)) and "\r" not in row
    if not good or (fields[0] == str(_KINDS - 1) and fields[3].strip(" ") != fields[3]):
        raise ModelError(f"the tensor rules holds {row!r}, which is no rule.")
    if fields[0] == str(_KINDS - 1) and not fields[3]:
        raise ModelError("the tensor rules holds an empty lemma.")
    return int(fields[0]), fields[1], fields[2], fields[3], fields[4]
