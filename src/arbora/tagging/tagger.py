"""The tagger: UPOS by a linear chain, then XPOS and FEATS given UPOS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._core import tagging as kernels
from arbora.data import Block
from arbora.errors import ArgumentError, ModelError
from arbora.features import WordClusters
from arbora.inference.packed import available_threads
from arbora.tagging.stored import (
    Tensors,
    check_ends,
    finite,
    flag,
    increasing,
    names_in,
    tensor,
    within,
)  # fmt: skip
from arbora.types import FloatArray, IntArray

__all__ = ["Tagged", "Tagger", "count_threads"]

CLUSTERS, GROUPED_CLUSTERS = "clusters", "clusters.grouped"  # names of tensors

_MOST_TAGS = 255  # tags of rows are stored in a byte
_MOST_ANALYSES = 1 << 16


@dataclass(frozen=True, eq=False)
class Tagged:
    """A tagged block, with arrays of one entry per word of all sentences.

    `block` has the tags. `upos_ids` are places in `upos_names`. The probabilities are those of the
    tags in the block: p(upos) given the words, p(xpos) and p(feats) given the words and the
    UPOS tags. A known tag that was in the input and was kept has probability 1 (where the tagger
    does not know it, the probability is that of the tag it would have taken), and so have columns
    that the tagger does not fill. `posterior` is p(upos) of every word and tag, float64
    (words, tags), or None if it was not asked for.
    """

    block: Block
    upos_names: tuple[str, ...]
    upos_ids: IntArray
    upos_probabilities: FloatArray
    xpos_probabilities: FloatArray
    feats_probabilities: FloatArray
    posterior: FloatArray | None = None


class Tagger:
    """Fills in UPOS, XPOS and FEATS; a stage.

    p(upos | words) is a linear chain with exact sums. Given the UPOS tags, each word's XPOS and
    FEATS are drawn together from the analyses that its UPOS had in training. Columns that the
    training data did not have stay as they are.

    Tags that the input has are kept and restrict the others, unless `retag`: a given UPOS is fixed
    in the chain, a given XPOS restricts FEATS and the reverse. UPOS and XPOS are missing where
    they are `_`. In FEATS, `_` can also say that a word has no features, so FEATS of a sentence are
    missing if all of them are `_`.

    Taggers are immutable. `settings()` and `tensors()` hold all of one, and `from_store` makes it
    again. `train_tagger` makes new ones.
    """

    def __init__(self, settings: Mapping[str, Any], tensors: Tensors) -> None:
        self._settings = dict(settings)
        self._tensors = {name: np.ascontiguousarray(value) for name, value in tensors.items()}
        self._kernel = _kernel(self._settings, self._tensors)
        for value in self._tensors.values():
            value.setflags(write=False)

    @classmethod
    def from_store(cls, settings: Mapping[str, Any], tensors: Tensors) -> Tagger:
        """The tagger with these settings and tensors; raises `ModelError` if they are invalid."""
        return cls(settings, tensors)

    def settings(self) -> dict[str, Any]:
        """All that is not an array, for JSON."""
        return dict(self._settings)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The arrays, by name; read-only."""
        return dict(self._tensors)

    @cached_property
    def upos(self) -> tuple[str, ...]:
        """The UPOS tags that it knows."""
        return tuple(self._settings["upos"])

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it fills in."""
        filled = {"upos": True, "xpos": self._settings["has_xpos"]}
        filled["feats"] = self._settings["has_feats"]
        return tuple(name for name, is_filled in filled.items() if is_filled)

    def __call__(
        self, block: Block, /, *, retag: bool = False, threads: int | None = None
    ) -> Block:
        """The block with its missing tags filled in, or with `retag` all tags replaced."""
        answer = self._kernel.tag(block, retag, False, False, count_threads(threads))
        return self._filled(block, answer, retag)

    def tag(
        self,
        block: Block,
        *,
        retag: bool = False,
        posterior: bool = False,
        probabilities: bool = True,
        threads: int | None = None,
    ) -> Tagged:
        """The same with probabilities, and with all UPOS posteriors if asked for.

        Without `probabilities` the arrays of probabilities are empty.
        """
        answer = self._kernel.tag(block, retag, False, posterior, count_threads(threads))
        nothing = np.empty(0)
        return Tagged(
            block=self._filled(block, answer, retag),
            upos_names=self.upos,
            upos_ids=answer.upos,
            upos_probabilities=answer.p_upos if probabilities else nothing,
            xpos_probabilities=answer.p_xpos if probabilities else nothing,
            feats_probabilities=answer.p_feats if probabilities else nothing,
            posterior=answer.posterior.reshape(-1, len(self.upos)) if posterior else None,
        )

    def samples(
        self,
        block: Block,
        count: int,
        seed: int = 0,
        *,
        retag: bool = False,
        threads: int | None = None,
    ) -> list[Block]:
        """Blocks with tags drawn from p(upos, xpos, feats | words), exactly.

        A draw of a sentence depends on the seed, the sentence's number in its file and the
        number of the draw only.
        """
        if not isinstance(count, int) or count < 1:
            raise ArgumentError(f"count must be a positive whole number, not {count!r}.")
        if not isinstance(seed, int) or not 0 <= seed < 1 << 63:
            raise ArgumentError(f"seed must be a whole number from 0 to 2^63 - 1, not {seed!r}.")
        answers = self._kernel.sample(block, retag, count, seed, count_threads(threads))
        return [self._filled(block, answer, retag) for answer in answers]

    def _filled(self, block: Block, answer: kernels.TagAnswer, retag: bool) -> Block:
        try:
            return block.reread(self._kernel.render(block, answer, retag))
        except ValueError as error:
            raise ArgumentError(f"{error}.") from error


def count_threads(threads: int | None) -> int:
    """The number of threads to use: all that there are unless it is given."""
    if threads is None:
        return available_threads()
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise ArgumentError(f"threads must be a positive whole number, not {threads!r}.")
    return threads


def _kernel(settings: Mapping[str, Any], tensors: Tensors) -> kernels.TagModel:
    """The compiled tagger; raises an error for anything that does not fit."""
    upos, xpos, feats = (names_in(settings, key) for key in ("upos", "xpos", "feats"))
    if not 1 <= len(upos) <= _MOST_TAGS:
        raise ModelError(f"a tagger has between 1 and {_MOST_TAGS} UPOS tags.")
    tags = len(upos)
    analyses, widths = _analyses(tensors, tags, len(xpos), len(feats))
    count = int(tensors["analyses.first"][-1])
    rows = tensor(tensors, "upos.keys", np.uint32)
    weights = tensor(tensors, "upos.weights", np.float16, len(rows) * tags)
    keys = tensor(tensors, "analyses.keys", np.uint32)
    row_tags = tensor(tensors, "analyses.tags", np.uint8, len(keys))
    within(row_tags, 0, tags, "analyses.tags")
    own = tensor(tensors, "analyses.weights", np.float16, int(widths[row_tags].sum()))
    transitions = tensor(tensors, "upos.transitions", np.float64, (tags + 1) ** 2)
    memory = tensor(tensors, "analyses.memory", np.float64, tags * kernels.MEMORIES)
    clusters = _clusters(tensors)
    return kernels.TagModel(
        upos, xpos, feats, flag(settings, "has_xpos"), flag(settings, "has_feats"), analyses,
        _lexicon(tensors, count), None if clusters is None else clusters.kernel, rows,
        finite(weights, "upos.weights").astype(np.float32),
        finite(transitions, "upos.transitions"), keys, row_tags,
        finite(own, "analyses.weights").astype(np.float32), finite(memory, "analyses.memory"),
    )  # fmt: skip


def _analyses(
    tensors: Tensors, tags: int, xpos: int, feats: int
) -> tuple[kernels.AnalysisSet, NDArray[np.int32]]:
    """The analyses of each tag and the number of outputs of each tag."""
    first = tensor(tensors, "analyses.first", np.int32, tags + 1)
    increasing(first, "analyses.first")
    count = int(first[-1])
    if first[0] != 0 or count > _MOST_ANALYSES:
        raise ModelError("the tensor analyses.first does not count the analyses.")
    outputs = tensor(tensors, "analyses.outputs", np.int32)
    ends = tensor(tensors, "analyses.ends", np.int32, count)
    check_ends(ends, len(outputs), "analyses.ends")
    widths = tensor(tensors, "analyses.widths", np.int32, tags)
    within(widths, 0, 1 << 20, "analyses.widths")
    # Every output is one of the row of its tag.
    tag_of_analysis = np.repeat(np.arange(tags), np.diff(first))
    sizes = np.diff(ends, prepend=0)
    limits = np.repeat(widths[tag_of_analysis], sizes)
    if len(outputs) and (int(outputs.min()) < 0 or (outputs >= limits).any()):
        raise ModelError("the tensor analyses.outputs holds a number out of range.")
    names = [tensor(tensors, f"analyses.{one}", np.int32, count) for one in ("xpos", "feats")]
    within(names[0], 0, xpos, "analyses.xpos")
    within(names[1], 0, feats, "analyses.feats")
    return kernels.AnalysisSet(first, ends, outputs, widths, *names), widths


def _lexicon(tensors: Tensors, analyses: int) -> kernels.Lexicon:
    keys = tensor(tensors, "lexicon.keys", np.uint32)
    ends = tensor(tensors, "lexicon.ends", np.uint32, len(keys))
    which = tensor(tensors, "lexicon.analyses", np.uint16)
    counts = tensor(tensors, "lexicon.counts", np.uint16, len(which))
    check_ends(ends, len(which), "lexicon.ends")
    within(which, 0, analyses, "lexicon.analyses")
    return kernels.Lexicon(keys, ends, which, counts)


def _clusters(tensors: Tensors) -> WordClusters | None:
    """The word clusters, if there are any; the first versions stored lines of cluster and form."""
    name = next((name for name in (GROUPED_CLUSTERS, CLUSTERS) if name in tensors), None)
    if name is None:
        return None
    text = tensor(tensors, name, np.uint8).tobytes()
    try:
        lines = text.decode().split("\n")
    except UnicodeDecodeError:
        raise ModelError(f"the tensor {name} is not UTF-8.") from None
    if name == GROUPED_CLUSTERS:
        if not all("\t" in line for line in lines):
            raise ModelError(f"the tensor {name} must have lines of a cluster and forms.")
        return WordClusters.from_bytes(text)
    rows = [line.split("\t") for line in lines]
    if any(len(row) != 2 for row in rows):
        raise ModelError("the tensor clusters must have lines of cluster and form.")
    return WordClusters((form, cluster, 1.0) for cluster, form in rows)
