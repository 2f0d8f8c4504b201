"""The tag set of a treebank: UPOS tags, and the analyses (XPOS with FEATS) of each."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbora._core import tagging as kernels
from arbora.data import Block
from arbora.errors import ArgumentError
from arbora.types import IntArray

__all__ = ["TreebankTags"]

_UPOS, _XPOS, _FEATS = 3, 4, 5
_MISSING = "_"
_MOST_XPOS = 100  # with more tags, the parts of XPOS are outputs
_MOST_WHOLES = 40  # with more analyses of a UPOS tag, they have no outputs of their own
_LONGEST_XPOS = 20  # letters that are outputs
_MOST_ANALYSES = 1 << 16
_MOST_TAGS = 255


@dataclass(frozen=True, eq=False)
class TreebankTags:
    """Names of tags, the analyses as tensors, and the analysis of every word."""

    upos: list[str]
    xpos: list[str]
    feats: list[str]
    has_xpos: bool
    has_feats: bool
    tensors: dict[str, NDArray[np.int32]]
    analyses: IntArray

    @classmethod
    def of(cls, block: Block) -> TreebankTags:
        """The tags of a treebank in which every word has UPOS."""
        columns = [_column(block, number) for number in (_UPOS, _XPOS, _FEATS)]
        if not columns[0]:
            raise ArgumentError("the treebank has no words; give one with words.")
        if _MISSING in columns[0]:
            at = columns[0].index(_MISSING)
            sentence = int(np.searchsorted(np.cumsum(block.n_words), at, side="right")) + 1
            raise ArgumentError(
                f"sentence {sentence} has a word without UPOS; a tagger learns from sentences "
                "where every word has one."
            )
        has_xpos, has_feats = (any(v != _MISSING for v in column) for column in columns[1:])
        words = list(zip(*columns, strict=True))
        known = sorted(set(words))
        if len(known) > _MOST_ANALYSES:
            raise ArgumentError(
                f"the treebank has {len(known)} different analyses, more than {_MOST_ANALYSES}; "
                "leave out XPOS or FEATS."
            )
        names = [sorted({one[i] for one in known}) for i in range(3)]
        if len(names[0]) > _MOST_TAGS:
            raise ArgumentError(
                f"the treebank has {len(names[0])} UPOS tags, more than {_MOST_TAGS}; is this "
                "another column?"
            )
        place = {analysis: number for number, analysis in enumerate(known)}
        analyses = np.array([place[word] for word in words], dtype=np.int32)
        tensors = _tensors(known, names, has_xpos)
        return cls(names[0], names[1], names[2], has_xpos, has_feats, tensors, analyses)

    def analysis_set(self) -> kernels.AnalysisSet:
        """The analyses for the core."""
        order = ("first", "ends", "outputs", "widths", "xpos", "feats")
        return kernels.AnalysisSet(*(self.tensors[f"analyses.{name}"] for name in order))


def _column(block: Block, number: int) -> list[str]:
    return [value for i in range(len(block)) for value in block.column(i, number)]


def _tensors(
    known: list[tuple[str, str, str]], names: list[list[str]], has_xpos: bool
) -> dict[str, NDArray[np.int32]]:
    """The tensors that describe the analyses, which are sorted by UPOS."""
    counts = Counter(upos for upos, _, _ in known)
    first = np.cumsum([0, *(counts[name] for name in names[0])])
    places: dict[str, dict[str, int]] = {name: {} for name in names[0]}
    outputs: list[int] = []
    ends: list[int] = []
    has_parts = len(names[1]) > _MOST_XPOS
    of_names = has_parts and _is_made_of_names(names[1])
    for upos, xpos, feats in known:
        own = places[upos]
        wanted = [] if feats == _MISSING else feats.split("|")
        if has_xpos and has_parts:
            wanted += _names_in(xpos) if of_names else _letters_of(xpos)
        elif has_xpos:
            wanted.append(f" {xpos}")
        if counts[upos] <= _MOST_WHOLES:
            wanted.append(f" {xpos} {feats}")
        outputs += sorted({own.setdefault(one, len(own)) for one in wanted})
        ends.append(len(outputs))
    numbers = [{name: i for i, name in enumerate(column)} for column in names]
    lists = {
        "first": first,
        "ends": ends,
        "outputs": outputs,
        "widths": [len(places[name]) for name in names[0]],
        "xpos": [numbers[1][xpos] for _, xpos, _ in known],
        "feats": [numbers[2][feats] for _, _, feats in known],
    }
    return {f"analyses.{name}": np.array(value, dtype=np.int32) for name, value in lists.items()}


def _is_made_of_names(tags: list[str]) -> bool:
    """Whether tags are like NOUN-POSTP, not positional like N------S4R or Ncmsn."""
    joined = sum(1 for tag in tags if all(len(part) > 1 for part in tag.split("-")) and "-" in tag)
    return 2 * joined > len(tags)


def _names_in(tag: str) -> list[str]:
    """Parts and pairs of neighbouring parts of a tag, and those that it begins and ends with."""
    parts = tag.split("-")
    some = [*parts, *(f"{a} {b}" for a, b in itertools.pairwise(parts))]
    begin, end = f"0 {parts[0]}", f"-1 {parts[-1]}"
    return [begin, end, f"-2 {some[-1]}", f"{len(parts)}", *(f"* {one}" for one in some)]


def _letters_of(tag: str) -> list[str]:
    """The letters of a tag with their places."""
    return [f"{i} {letter}" for i, letter in enumerate(tag[:_LONGEST_XPOS])]
