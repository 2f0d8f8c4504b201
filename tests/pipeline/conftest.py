from __future__ import annotations

import pytest

import arbora
from arbora.options import LemmatiserOptions, SegmenterOptions, TaggerOptions
from arbora.pipeline import StageOptions

TRAIN = "examples/treebank/train.conllu"
TEST = "examples/treebank/test.conllu"
STAGES = StageOptions(
    SegmenterOptions(passes=5), TaggerOptions(passes=4), LemmatiserOptions(passes=4), folds=2
)


@pytest.fixture(scope="session")
def nlp():
    """A small pipeline of the repository's own treebank."""
    options = {"threads": 1, "passes": 2, "bits": 15, "refit": False}
    return arbora.Pipeline(**options).fit(TRAIN, TEST, stages=STAGES)


@pytest.fixture(scope="session")
def model(nlp, tmp_path_factory):
    """Its file."""
    path = tmp_path_factory.mktemp("models") / "village.arbora"
    nlp.save(path)
    return str(path)
