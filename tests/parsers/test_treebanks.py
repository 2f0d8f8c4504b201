"""Real treebanks: models of every class can be trained on them, and every sentence has a tree."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from arbora import Parser, read_conllu
from arbora.inference.tree_checks import in_class
from tests.small_parsers import SMALL

TREEBANKS = Path(os.environ.get("ARBORA_TREEBANKS", "no treebanks"))
FOLDERS = sorted(path.parent for path in TREEBANKS.glob("*/train.conll*"))


@pytest.mark.slow
@pytest.mark.skipif(not FOLDERS, reason="ARBORA_TREEBANKS names no folder of treebanks")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_sentence_has_a_tree(folder):
    (train,) = folder.glob("train.conll*")
    (test,) = folder.glob("test.conll*")
    learn, parse = list(islice(read_conllu(train), 150)), list(islice(read_conllu(test), 60))
    for trees in ("nonprojective", "projective"):
        for root in ("auto", "single"):
            options = SMALL | {"passes": 1, "trees": trees, "root": root, "learner": "perceptron"}
            parser = Parser(**options).fit(learn, learn[:20])
            for parsed in parser.parse(parse):
                heads = parsed.heads[None, :].astype(np.int64)
                assert in_class(heads, trees, parser.model.root).all()
                assert np.isfinite(parsed.log_prob)
