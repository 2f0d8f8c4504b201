"""Many texts at a time, and the probabilities of tags."""

from __future__ import annotations

import numpy as np
import pytest

import arbora
from arbora import ArboraError
from arbora.features import WordClusters
from arbora.options import LemmatiserOptions, SegmenterOptions, StageOptions, TaggerOptions
from arbora.pipeline import pipeline as pipeline_module
from arbora.tagging import Tagger

TRAIN = "examples/treebank/train.conllu"
TEST = "examples/treebank/test.conllu"
TEXTS = [
    "The gulls sleep on the wall.  She doesn't see the old boat!", "", "The boat is old.",
    " \n ", "She sees the gulls. The wall is old.", "No.",
]  # fmt: skip


@pytest.fixture(scope="module")
def nlp():
    stages = StageOptions(
        SegmenterOptions(passes=5), TaggerOptions(passes=4), LemmatiserOptions(passes=4), folds=0
    )
    options = {"threads": 1, "passes": 2, "bits": 15, "refit": False}
    return arbora.Pipeline(**options).fit(TRAIN, TEST, stages=stages)


def assert_same(found, expected):
    assert found.text == expected.text
    assert str(found) == str(expected)
    assert list(found.rows()) == list(expected.rows())
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.arc_probabilities, other.arc_probabilities)
        np.testing.assert_array_equal(one.label_probabilities, other.label_probabilities)
        np.testing.assert_array_equal(one.runner_ups, other.runner_ups)
        assert one.log_prob == other.log_prob
        assert one.least_certain(3) == other.least_certain(3)  # also the sentence's number


@pytest.mark.parametrize("size", [1, 2, 4, 256])
def test_batches_are_single_texts(nlp, size):
    found = list(nlp.pipe(TEXTS, batch_size=size))
    for document, text in zip(found, TEXTS, strict=True):
        assert_same(document, nlp(text))


def test_texts_are_taken_when_they_are_needed(nlp, monkeypatch):
    """At most a batch of texts, or the texts up to some length, are taken ahead."""
    taken = []

    def texts():
        for number in range(20):
            taken.append(number)
            yield TEXTS[0]

    found = nlp.pipe(texts(), batch_size=4)
    assert next(found).text == TEXTS[0]
    assert len(taken) == 4
    taken.clear()
    monkeypatch.setattr(pipeline_module, "_AT_ONCE", 2 * len(TEXTS[0]))
    found = nlp.pipe(texts())
    next(found)
    assert len(taken) == 2
    assert len(list(found)) == 19


def test_a_bad_text_comes_after_the_good_ones(nlp):
    found = nlp.pipe([TEXTS[0], TEXTS[2], "a\0b", TEXTS[4]])
    assert next(found).text == TEXTS[0]
    assert next(found).text == TEXTS[2]
    with pytest.raises(ArboraError, match="NUL"):
        next(found)


def test_draws_of_tags_do_not_depend_on_batches(nlp):
    options = {"tag_samples": 3, "seed": 5}
    for document, text in zip(nlp.pipe(TEXTS, **options), TEXTS, strict=True):
        assert_same(document, nlp.read(text, **options))


def test_arguments(nlp):
    with pytest.raises(ArboraError, match="batch_size"):
        list(nlp.pipe(TEXTS, batch_size=0))
    with pytest.raises(ArboraError, match="one tree per sentence"):
        list(nlp.pipe(TEXTS, kbest=2))


def test_probabilities_of_tags(nlp):
    document = nlp(TEXTS[0])
    found = nlp.tag_probabilities(document)
    assert len(found) == len(document)
    block = pipeline_module.read_treebank([arbora.Sentence.from_words(s.forms) for s in document])
    tagged = nlp.tagger.tag(block, posterior=True)
    np.testing.assert_allclose(np.concatenate([one.values for one in found]), tagged.posterior)
    own = np.concatenate(
        [one.of(sentence.upos) for one, sentence in zip(found, document, strict=True)]
    )
    np.testing.assert_allclose(own, tagged.upos_probabilities)
    for one, sentence in zip(found, document, strict=True):
        np.testing.assert_allclose(one.values.sum(axis=1), 1.0)
        likeliest = one.best(2)
        assert len(likeliest) == len(sentence)
        assert all(a[1] >= b[1] for a, b in likeliest)
        assert one.best()[0][0][0] == one.names[int(one.values[0].argmax())]
        np.testing.assert_array_equal(one.of(["?"] * len(sentence)), 0.0)
        with pytest.raises(ArboraError, match="words, but 1 tags"):
            one.of(["NOUN"])


def test_tag_probabilities_need_a_tagger():
    bare = arbora.Pipeline.from_model(
        arbora.Parser(threads=1, passes=1, bits=12, refit=False).fit(TRAIN).model
    )
    with pytest.raises(ArboraError, match="requires a model with a tagger"):
        bare.tag_probabilities([arbora.Sentence.from_words(["a", "b"])])


def test_tables(nlp):
    document = nlp(TEXTS[0])
    rows = list(document.rows())
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    assert document.to_arrow().equals(pyarrow.Table.from_pylist(rows))
    assert document.to_arrow().num_rows == len(rows)


def test_word_clusters_are_stored_once(tmp_path):
    """Parser and tagger have the same words; files of the first versions have lines of each."""
    rows = [("the", "01", 1.0), ("gulls", "10", 1.0), ("boat", "10", 1.0), ("a", "01", 1.0)]
    options = {"threads": 1, "passes": 1, "bits": 12, "refit": False}
    stages = StageOptions(
        SegmenterOptions(passes=2), TaggerOptions(passes=2), LemmatiserOptions(passes=2), folds=0
    )
    nlp = arbora.Pipeline(**options).fit(
        TRAIN, TEST, stages=stages, word_clusters=WordClusters(rows)
    )
    nlp.save(tmp_path / "a.arbora")
    data = (tmp_path / "a.arbora").read_bytes()
    assert data.count(b"10\tgulls\tboat") == 1
    again = arbora.load(tmp_path / "a.arbora", threads=1)
    assert sorted(again.model.encoder.clusters.rows) == sorted(rows)
    assert str(again(TEXTS[0])) == str(nlp(TEXTS[0]))
    again.save(tmp_path / "b.arbora")
    assert (tmp_path / "b.arbora").read_bytes() == data
    tensors = nlp.tagger.tensors()
    grouped = tensors.pop("clusters.grouped")
    assert grouped.tobytes() == b"01\tthe\ta\n10\tgulls\tboat"
    lines = "\n".join(f"{cluster}\t{form}" for form, cluster, _ in rows)
    old = Tagger(
        nlp.tagger.settings(), tensors | {"clusters": np.frombuffer(lines.encode(), np.uint8)}
    )
    block = pipeline_module.read_treebank([arbora.Sentence.from_words(["The", "Gulls", "."])])
    np.testing.assert_array_equal(
        old.tag(block).upos_probabilities, nlp.tagger.tag(block).upos_probabilities
    )
