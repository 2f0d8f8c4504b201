"""The figures of a treebank, against their definitions and against published tables."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora import DataError, Sentence, read_conllu
from arbora._core import data as core
from arbora.data import TreebankStats, treebank_stats
from arbora.testing.slow_data import tree_shape_slowly
from tests.data.zoo import ODD_FILES, SEA, row, text


@given(st.integers(1, 9).flatmap(
    lambda n: st.lists(st.integers(-1, n), min_size=n, max_size=n)
))  # fmt: skip
def test_any_heads_against_the_definitions(heads):
    assert core.tree_shape(np.array(heads, dtype=np.int32)) == tree_shape_slowly(heads)


def test_long_trees_against_the_definitions():
    rng = np.random.default_rng(5)
    for n in (30, 80):
        order = rng.permutation(n) + 1
        heads = np.zeros(n, dtype=np.int32)
        for i in range(1, n):
            heads[order[i] - 1] = order[rng.integers(max(0, i - 3), i)]
        assert core.tree_shape(heads) == tree_shape_slowly(heads.tolist())


def test_a_small_treebank():
    crossing = [row(1, "a", 3), row(2, "b", 4, "x"), row(3, "c", 0, "x"), row(4, "d", 3, "x")]
    data = text(*SEA) + text(*crossing) + text(row(1, "e", 0), row(2, "f", 0), row(3, "g"))
    stats = treebank_stats(io.BytesIO(data))
    assert stats.sentences == 3
    assert stats.tokens == 10
    assert stats.labels == 5
    assert stats.label_counts["x"] == 3
    assert (stats.nonprojective_arcs, stats.crossing_arcs) == (1, 3)
    assert stats.nonprojective_sentences_percent == pytest.approx(100 / 3)
    assert stats.multiroot_sentences_percent == pytest.approx(100 / 3)
    assert stats.missing_heads == 1
    assert (stats.mean_length, stats.max_length) == (pytest.approx(10 / 3), 4)
    assert stats.length_histogram == {3: 2, 4: 1}
    assert stats == treebank_stats(read_conllu(io.BytesIO(data)))
    assert json.loads(json.dumps(stats.to_dict()))["crossing_arcs_percent"] == 30.0
    assert stats + TreebankStats() == stats
    assert (stats + stats).tokens == 20


def test_nothing_and_what_is_no_tree():
    assert treebank_stats(io.BytesIO(b"")).to_dict()["mean_length"] == 0
    assert treebank_stats([]) == TreebankStats()
    bad = text(row(1, "a", 2), row(2, "b", 1), row(3, "c", 0))
    with pytest.raises(DataError, match="cycle"):
        treebank_stats(io.BytesIO(bad))
    assert treebank_stats(io.BytesIO(bad + text(*SEA)), skip_bad=True).sentences == 1
    assert treebank_stats([Sentence.from_words(["a", "b"], heads=[2, 1])]).crossing_arcs == 0


def test_chunks_add_up(tmp_path):
    path = tmp_path / "many.conllu"
    path.write_bytes(ODD_FILES["plain"] * 8000)
    assert treebank_stats(path) == treebank_stats(read_conllu(path, chunk_size=10_000))


def published_rows():
    folder = os.environ.get("ARBORA_TREEBANKS")
    if not folder:
        return [pytest.param(None, marks=pytest.mark.skip(reason="ARBORA_TREEBANKS is not set"))]
    lines = (Path(folder) / "README.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return [pytest.param(c, id=c[0]) for c in cells if len(c) == 14 and c[1].startswith("CoNLL")]


@pytest.mark.parametrize("cells", published_rows())
def test_published_table(cells):
    folder = Path(os.environ["ARBORA_TREEBANKS"]) / cells[0]
    total = TreebankStats()
    for split, figures in zip(("train", "dev", "test"), cells[2:5], strict=True):
        for path in folder.glob(f"{split}.conll*"):
            stats = treebank_stats(path)
            assert f"{stats.sentences} / {stats.tokens}" == figures
            total += stats
    assert [
        round(total.nonprojective_arcs_percent, 2),
        round(total.crossing_arcs_percent, 2),
        round(total.nonprojective_sentences_percent, 1),
        round(total.multiroot_sentences_percent, 1),
        round(total.mean_length, 1),
        total.max_length,
        total.labels,
    ] == [float(cell) for cell in cells[5:12]]
