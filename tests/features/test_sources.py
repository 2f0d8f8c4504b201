"""The source of a sentence as a cluster of its edges."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ArgumentError, ModelError
from arbora.data import Block
from arbora.features import EDGE_CLUSTERS, SourceClusters, checked_shares

BLOCK = Block.from_columns(
    [["a", "b"], ["c"], ["d"], ["e"]],
    comments=[["# arbora.source = news"], ["# arbora.source = web"], [], ["# arbora.source = x"]],
)


def test_shares():
    clusters = SourceClusters(["news", "web"])
    which = np.array([0, 3, 1, 2])
    shares = clusters.shares(BLOCK, which)
    assert shares.shape == (9 + 3 * 4, 3)
    assert shares.argmax(axis=1).tolist() == [0] * 9 + [2] * 4 + [1] * 4 + [2] * 4
    everything = np.ones(len(shares), dtype=bool)
    assert (checked_shares(clusters, BLOCK, which, everything) == shares).all()
    chosen = clusters.choosing("web").shares(BLOCK, which)
    assert chosen.argmax(axis=1).tolist() == [0] * 9 + [2] * 4 + [1] * 4 + [1] * 4


def test_sources_of_a_treebank():
    assert SourceClusters.of(BLOCK).names == ("news", "web", "x")
    assert SourceClusters.of(Block.from_columns([["a"]])) is None
    with pytest.raises(ArgumentError, match="no source 'mail': choose one of news, web, x"):
        SourceClusters.of(BLOCK).choosing("mail")


def test_stored_sources():
    description, arrays = SourceClusters(["news", "web"]).state()
    assert EDGE_CLUSTERS["sources"].from_state(description, arrays).names == ("news", "web")
    for names in ("news", ["news", "news"], [""], [3]):
        with pytest.raises(ModelError, match="different names"):
            SourceClusters.from_state({"names": names}, {})
