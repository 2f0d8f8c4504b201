"""The component for spaCy, in blank pipelines."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import arbora
from arbora import ArboraError
from arbora.options import LemmatiserOptions, SegmenterOptions, StageOptions, TaggerOptions

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")

TRAIN = "examples/treebank/train.conllu"
TEST = "examples/treebank/test.conllu"
TEXT = "The gulls sleep on the wall. She sees the old boat."


@pytest.fixture(scope="module")
def pipeline():
    stages = StageOptions(
        SegmenterOptions(passes=5), TaggerOptions(passes=4), LemmatiserOptions(passes=4), folds=0
    )
    options = {"threads": 1, "passes": 2, "bits": 15, "refit": False}
    return arbora.Pipeline(**options).fit(TRAIN, TEST, stages=stages)


@pytest.fixture(scope="module")
def model(pipeline, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "village.arbora"
    pipeline.save(path)
    return str(path)


@pytest.fixture
def nlp(model):
    import arbora.spacy  # registers the component

    assert arbora.spacy.ArboraComponent is not None
    nlp = spacy.blank("en")
    nlp.add_pipe("arbora", config={"model": model})
    return nlp


def parsed(pipeline, doc):
    """The sentences of a document without white space, parsed by Arbora itself."""
    words = [[word.text for word in sent if not word.is_space] for sent in doc.sents]
    return pipeline.parse([arbora.Sentence.from_words(one) for one in words])


def test_trees_tags_and_probabilities(nlp, pipeline):
    doc = nlp(TEXT)
    assert [sent.text for sent in doc.sents] == TEXT.replace(". ", ".\n").split("\n")
    for sent, tree in zip(doc.sents, parsed(pipeline, doc), strict=True):
        heads = [0 if word.head is word or word.head == word else word.head.i - sent.start + 1
                 for word in sent]  # fmt: skip
        assert heads == tree.heads.tolist()
        labels = [label if head else "ROOT" for head, label in zip(heads, tree.labels, strict=True)]
        assert [word.dep_ for word in sent] == labels
        assert [word.pos_ for word in sent] == tree.upos
        assert [word.tag_ for word in sent] == [tag.replace("_", "") for tag in tree.xpos]
        assert [str(word.morph) or "_" for word in sent] == tree.feats
        assert [word.lemma_ for word in sent] == tree.lemmas
        np.testing.assert_allclose(
            [word._.arc_probability for word in sent], tree.arc_probabilities
        )
        np.testing.assert_allclose(
            [word._.label_probability for word in sent], tree.label_probabilities
        )
    assert doc.has_annotation("DEP")


def test_white_space_depends_on_the_token_before(nlp):
    doc = nlp("  The gulls\n\nsleep on the wall.  ")
    spaces = [token for token in doc if token.is_space]
    assert len(spaces) >= 2
    assert spaces[0].head.text == "The"
    assert spaces[1].head.i == spaces[1].i - 1
    assert {token.dep_ for token in spaces} == {"dep"}
    assert all(token._.arc_probability is None for token in spaces)
    assert sum(token.dep_ == "ROOT" for token in doc) == len(list(doc.sents))


def test_documents_without_words(nlp):
    assert len(nlp("")) == 0
    doc = nlp("   ")
    assert [token.dep_ for token in doc] == ["ROOT"]


def test_the_tokens_are_those_of_spacy(nlp):
    """Words with spaces, and tokens that a segmenter would split."""
    doc = spacy.tokens.Doc(nlp.vocab, ["New York", "doesn't", "sleep", "."])
    doc = nlp(doc)
    assert [token.text for token in doc] == ["New York", "doesn't", "sleep", "."]
    assert all(token.dep_ for token in doc)


def test_sentences_of_the_document_are_kept(nlp, model):
    words = ["The", "gulls", "sleep", "The", "boat", "sinks"]
    doc = spacy.tokens.Doc(nlp.vocab, words, sent_starts=[1, 0, 0, 0, 1, 0])
    assert [len(sent) for sent in nlp(doc).sents] == [4, 2]
    before = spacy.blank("en")
    before.add_pipe("sentencizer")
    before.add_pipe("arbora", config={"model": model})
    assert [sent.text for sent in before("Gulls sleep! She sees Dr. Who.").sents] == [
        "Gulls sleep!", "She sees Dr. Who."
    ]  # fmt: skip


def test_tags_of_the_document_are_kept_unless_retag(nlp, model):
    tags = ["DET", "VERB", "NOUN"]
    doc = nlp(spacy.tokens.Doc(nlp.vocab, ["The", "gulls", "sleep"], pos=tags))
    assert [token.pos_ for token in doc] == tags
    again = spacy.blank("en")
    again.add_pipe("arbora", config={"model": model, "retag": True, "probabilities": False})
    doc = again(spacy.tokens.Doc(again.vocab, ["The", "gulls", "sleep"], pos=tags))
    assert [token.pos_ for token in doc] == ["DET", "NOUN", "VERB"]
    assert doc[0]._.arc_probability is None


def test_pipe_is_the_same_in_batches(nlp):
    texts = [TEXT, "", "She sees the wall.", TEXT, "   "]
    alone = [nlp(text) for text in texts]
    for size in (1, 2, 100):
        together = list(nlp.pipe(texts, batch_size=size))
        for one, other in zip(alone, together, strict=True):
            assert [t.head.i for t in one] == [t.head.i for t in other]
            assert [t.dep_ for t in one] == [t.dep_ for t in other]
            assert [t._.arc_probability for t in one] == [t._.arc_probability for t in other]


def test_documents_can_be_stored(nlp):
    doc = nlp(TEXT)
    again = spacy.tokens.Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [t._.arc_probability for t in again] == [t._.arc_probability for t in doc]
    assert [t.head.i for t in again] == [t.head.i for t in doc]


def test_a_model_without_stages(tmp_path, nlp):
    """It needs the tags of other components, and says so."""
    path = tmp_path / "bare.arbora"
    arbora.Parser(threads=1, passes=1, bits=12, refit=False).fit(TRAIN).save(path)
    bare = spacy.blank("en")
    bare.add_pipe("arbora", config={"model": str(path)})
    with pytest.raises(ArboraError, match="UPOS"):
        bare(TEXT)
    tagged = nlp(TEXT)
    for token in tagged:
        token._.arc_probability = None
    doc = bare.get_pipe("arbora")(tagged)
    assert all(token._.arc_probability is not None for token in doc)
    with pytest.raises(ArboraError, match="retag requires a model with a tagger"):
        bare.add_pipe("arbora", "again", config={"model": str(path), "retag": True})


def test_an_unknown_model(nlp):
    with pytest.raises(ArboraError, match=r"neither a file nor|there is no file"):
        nlp.add_pipe("arbora", "other", config={"model": "atlantis"})


def test_spacy_is_imported_only_when_asked_for():
    code = "import arbora, arbora.cli, sys; arbora.Parser; assert 'spacy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
