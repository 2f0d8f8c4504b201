"""Encoding: the columns that a model uses, and sentences as hashed atoms."""

from __future__ import annotations

from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from arbora._core import features as kernels
from arbora.data import Block
from arbora.errors import ArgumentError
from arbora.features.clusters import WordClusters
from arbora.features.edge_clusters import EdgeClusters
from arbora.options import Templates
from arbora.types import IntArray

__all__ = ["Encoded", "Encoder", "FeatureSettings", "TemplateSet", "count_features"]

TemplateSet = Templates  # a set's place among the choices is its number in the core

_COLUMNS = {"lemma": 2, "upos": 3, "xpos": 4, "feats": 5}  # by their place in a line


@dataclass(frozen=True)
class FeatureSettings:
    """Which templates, over which columns.

    `rich` is the default set; `mcdonald2005` is that of McDonald, Crammer & Pereira (2005), which
    the papers used; `squeezed2005` omits its features of four tags and of words together with other
    words or tags (Smith & Smith 2007, section 5.2). `morphological` is `rich` plus the inflection
    of neighbouring words, for languages with rich FEATS. `carreras2007` is `mcdonald2005` for arcs
    and Carreras (2007) for parts, with each feature of tags once more with coarse tags, if the data
    have fine and coarse ones (Gormley et al. 2015, section 7.1). `basic2005` is the same with only
    the words and tags of the two ends of an arc, for pruners. A column that is empty in the
    training data is not used.

    `early_squeeze` is set in models with `squeezed2005` of the first versions, which omitted only
    features of two words and of four tags. `wide_clusters` is set in models with word clusters,
    except in those of the first versions: `rich` and `morphological` then have more templates of
    clusters.
    """

    templates: TemplateSet = "rich"
    lemma: bool = True
    upos: bool = True
    xpos: bool = True
    feats: bool = True
    early_squeeze: bool = False
    wide_clusters: bool = False

    @classmethod
    def for_training(
        cls, templates: TemplateSet, block: Block, word_clusters: bool = False
    ) -> FeatureSettings:
        """The settings for a model trained on these sentences, with or without word clusters."""
        if templates not in get_args(TemplateSet):
            raise ArgumentError(
                f"features must be one of {', '.join(get_args(TemplateSet))}, not {templates!r}."
            )
        used = {name: _is_filled(block, place) for name, place in _COLUMNS.items()}
        both = used["upos"] and used["xpos"]
        if both and block.same_columns(_COLUMNS["upos"], _COLUMNS["xpos"]):
            used["xpos"] = False
        return cls(templates, **used, wide_clusters=word_clusters)

    def with_templates(self, templates: TemplateSet) -> FeatureSettings:
        """Other templates over the same columns."""
        return replace(self, templates=templates)

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> FeatureSettings:
        """The settings in a model file."""
        early = stored["templates"] == "squeezed2005"
        return cls(**{"early_squeeze": early, **stored})

    def to_store(self) -> dict[str, Any]:
        """What a model file holds."""
        stored = asdict(self)
        if self.templates != "squeezed2005":
            del stored["early_squeeze"]
        if not self.wide_clusters:
            del stored["wide_clusters"]
        return stored

    @property
    def columns(self) -> list[str]:
        """The columns besides the form that are used."""
        return [name for name in _COLUMNS if getattr(self, name)]

    @cached_property
    def kernel(self) -> kernels.FeatureSet:
        names = get_args(TemplateSet)
        early = self.early_squeeze and self.templates == "squeezed2005"
        number = len(names) if early else names.index(self.templates)
        return kernels.FeatureSet(
            number, self.lemma, self.upos, self.xpos, self.feats, self.wide_clusters
        )


class Encoded:
    """Sentences of a block as atoms; made once, scored as often as needed.

    `block` and `places` (the sentences' numbers in it) are for scorers that read words instead of
    atoms.
    """

    def __init__(
        self,
        block: Block,
        settings: FeatureSettings,
        clusters: WordClusters | None = None,
        sentences: NDArray[np.int64] | None = None,
    ) -> None:
        chosen = np.arange(len(block)) if sentences is None else sentences
        table = None if clusters is None else clusters.kernel
        self.block, self.places = block, chosen
        self.kernel = kernels.Encoded(block, chosen, settings.kernel, table)
        self.n_words: NDArray[np.int64] = self.kernel.n_words()
        self.hidden: tuple[float, int] | None = None  # amount and seed of `hiding`
        # What scorers derive from the words, by scorer; copies with hidden words share it.
        self.derived: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self.n_words)

    def hiding(self, amount: float, seed: int) -> Encoded:
        """The same where a form or lemma that occurs c times is hidden with amount / (amount + c).

        Features of a hidden word do not fire.
        """
        answer = copy(self)
        answer.kernel = self.kernel.hiding(amount, seed)
        answer.hidden = (amount, seed)
        return answer


@dataclass(frozen=True)
class Encoder:
    """What a model knows of sentences: its columns, templates, and clusters of words and edges."""

    settings: FeatureSettings
    clusters: WordClusters | None = None
    edge_clusters: EdgeClusters | None = None

    def encode(self, block: Block, sentences: NDArray[np.int64] | None = None) -> Encoded:
        """All sentences of a block, or the given ones."""
        return Encoded(block, self.settings, self.clusters, sentences)


def count_features(
    encoded: Encoded, settings: FeatureSettings, heads: IntArray | None = None, sample: int = 1
) -> dict[str, tuple[int, int]]:
    """How many different features the arcs of sentences have, by template.

    Of each template: the number of its features, and of their twins with direction and distance.
    The arcs are those of the given `heads` (flat, -1 is no arc), or all possible ones. With
    `sample` above 1, one feature in `sample` is counted, and the counts are estimates.
    """
    given = np.zeros(0, dtype=np.int32) if heads is None else np.ascontiguousarray(heads, np.int32)
    rows = kernels.count_features(settings.kernel, encoded.kernel, given, sample)
    return {name: (plain * sample, twins * sample) for name, plain, twins in rows}


def _is_filled(block: Block, column: int) -> bool:
    return any(name != "_" for name, _ in block.column_names(column))
