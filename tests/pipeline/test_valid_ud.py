"""What a pipeline writes passes udtools' validator at level 2, as far as its treebank does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import arbora
from benchmarks.validity import added, brief_pipeline, complaints, joined, outputs
from tests.cli.conftest import arbora_process
from tests.pipeline.conftest import TEST

TREEBANKS = Path(os.environ.get("ARBORA_TREEBANKS", "no treebanks"))
FOLDERS = sorted(TREEBANKS.glob("ud_*"))


def test_the_validator_complains():
    gold = joined(list(arbora.read_conllu(TEST))[:5])
    assert complaints(gold.replace("\troot\t", "\tdep\t", 1)) == {"root-label": 1}
    assert complaints(gold.replace("\tnsubj\t", "\tfoo\t", 1)) == {"unknown-udeprel": 1}
    assert complaints(gold.replace("# sent_id", "# id", 1)) == {"missing-sent-id": 1}


def test_the_own_treebank(nlp):
    gold = list(arbora.read_conllu(TEST))
    assert not complaints(joined(gold))
    for name, text in outputs(nlp, gold).items():
        assert not complaints(text), name


@pytest.mark.parametrize("text", [
    "She\u00a0sees  the boat.\u00a0\r\n\r\n\u3000 It is\told.\u2028",
    "I love \U0001f469\u200d\U0001f469\u200d\U0001f467 and caf\u00e9 \u2764\ufe0f.",
    "# sent_id = x\n# no comment\n1\tx|y=z",
    "can't its y'all'd've :-) ... $100,000.00 http://x.y/z?q=1",
])  # fmt: skip
def test_odd_texts(nlp, text):
    assert not complaints(str(nlp(text)))


@pytest.mark.parametrize("options", [(), ("--kbest", "3"), ("--samples", "3")])
def test_several_texts(model, options):
    texts = ["She sees it. The gulls sleep.", "He left."]
    found = arbora_process("parse", "--model", model, *texts, *options)
    assert not complaints(found.stdout)
    assert found.stdout.count("# newdoc") == found.stdout.count("# newpar") == 2


@pytest.mark.slow
@pytest.mark.skipif(not FOLDERS, reason="ARBORA_TREEBANKS is not set")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_real_treebanks(folder):
    train, dev, test = (
        list(arbora.read_conllu(folder / f"{part}.conllu")) for part in ("train", "dev", "test")
    )
    train, gold = train[:100], test[:30]
    known = complaints(joined(gold)) + complaints(joined(train))
    for name, text in outputs(brief_pipeline(train, dev[:20]), gold).items():
        assert not added(complaints(text), known), name
