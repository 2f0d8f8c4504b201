"""Learning: the objective and its gradient, rules, threads, and what is stored."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from arbora import ArgumentError, ModelError
from arbora._core import segmentation as core
from arbora.data import read_conllu, sentences_of, treebank_text
from arbora.options import SegmenterOptions
from arbora.segmentation import Segmenter, train_segmenter
from arbora.segmentation.known_text import known_text
from arbora.segmentation.rules import general_rules, learn_rules
from arbora.segmentation.training import count_wrong
from arbora.testing import finite_difference
from tests.segmentation.toys import toy_block, toy_segmenter

SMALL = SegmenterOptions(bits=10, passes=15)


def toy_examples(name: str, bits: int = 7) -> core.Examples:
    known = known_text(toy_block())
    rules, numbers = learn_rules(known.multiword_tokens())
    text = known.paragraphs(numbers)[:3]
    lexicon = core.Lexicon(*known.lexicon())
    if name == "boundary":
        return core.boundary_examples(text, np.ones(core.CLASSES**2, np.uint8), lexicon, bits)
    if name == "sentence":
        return core.sentence_examples(text, False, lexicon, bits)
    return core.split_examples(text, core.SplitRules(rules), lexicon, bits)


def slow_objective(examples: core.Examples, regularization: float, weights) -> float:
    """Candidate 0 has score 0; the loss is the negative log-probability of the right one."""
    slots, first_slot, first = examples.slots(), examples.first_slot(), examples.first_candidate()
    loss = regularization / 2 * float(weights @ weights)
    for e, right in enumerate(examples.right()):
        candidates = range(first[e], first[e + 1])
        scores = [
            0.0,
            *(weights[slots[first_slot[c] : first_slot[c + 1]]].sum() for c in candidates),
        ]
        loss += np.logaddexp.reduce(scores) - scores[right]
    return loss


@pytest.mark.parametrize("name", ["boundary", "sentence", "split"])
def test_the_gradient_is_that_of_the_objective(name):
    examples = toy_examples(name)
    weights = np.random.default_rng(0).normal(size=128) / 4
    gradient = np.zeros(128)
    value = core.objective(examples, 0.7, weights, gradient, 2)
    assert len(examples) > 10
    assert value == pytest.approx(slow_objective(examples, 0.7, weights), rel=1e-12)
    slow = finite_difference(lambda w: core.objective(examples, 0.7, w, np.zeros(128), 1), weights)
    assert gradient == pytest.approx(slow, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("name", ["boundary", "sentence", "split"])
def test_wrong_decisions_are_counted(name):
    examples = toy_examples(name)
    weights = np.random.default_rng(1).normal(size=128)
    slots, first_slot, first = examples.slots(), examples.first_slot(), examples.first_candidate()
    wrong = 0
    for e, right in enumerate(examples.right()):
        some = [slots[first_slot[c] : first_slot[c + 1]] for c in range(first[e], first[e + 1])]
        scores = [0.0, *(weights[one].sum() for one in some)]
        wrong += int(np.argmax(scores)) != right
    assert 0 < count_wrong(examples, weights) == wrong


def test_the_minimum_is_found():
    examples = toy_examples("sentence")
    weights, gradient = np.zeros(128), np.zeros(128)
    value = core.minimise(examples, 0.5, 500, weights, 1)

    def both(w):
        found = core.objective(examples, 0.5, w, gradient, 1)
        return found, gradient.copy()

    outside = minimize(both, np.zeros(128), jac=True, method="L-BFGS-B")
    assert value == pytest.approx(outside.fun, rel=1e-4)
    assert both(weights)[0] == value


def test_the_bytes_do_not_depend_on_the_threads():
    one, three = (train_segmenter(toy_block(), None, SMALL, threads=n) for n in (1, 3))
    assert one.settings() == three.settings()
    for name, values in one.tensors().items():
        assert values.tobytes() == three.tensors()[name].tobytes()


def test_dev_chooses_the_regulariser():
    told = []
    kept = train_segmenter(
        toy_block(), toy_block(), SMALL, progress=lambda name, share: told.append((name, share))
    )
    plain = train_segmenter(toy_block(), None, SMALL)
    assert [name for name, _ in told] == ["boundary", "sentence", "split", "done"]
    # the data that was learnt from is most probable with the weakest regulariser
    assert np.abs(kept.tensors()["sentence"]).max() > np.abs(plain.tensors()["sentence"]).max()


def test_bad_arguments():
    with pytest.raises(ArgumentError, match="no sentences"):
        train_segmenter([])
    with pytest.raises(ArgumentError, match="threads"):
        train_segmenter(toy_block(), threads=0)
    for bad in ({"passes": 0}, {"regularization": -1.0}, {"bits": 7}, {"bits": 2.0}):
        with pytest.raises(ArgumentError):
            SegmenterOptions(**bad)


@pytest.mark.parametrize(
    ("form", "words", "rule"),
    [
        ("didn't", ("did", "n't"), ("", "n't", ("", "n't"), 0, "", "")),
        ("dar-lhe", ("dar", "lhe"), ("", "-lhe", ("", "lhe"), 0, "", "")),
        ("fazê-lo", ("fazer", "o"), ("", "ê-lo", ("", "o"), 0, "", "er")),
        ("wktb", ("w", "ktb"), ("w", "", ("w", ""), 1, "", "")),
        ("no", ("em", "o"), ("n", "", ("em", ""), 1, "", "")),
        ("au", ("à", "le"), None),
        ("abcdefghijk", ("xyz", "k"), None),
    ],
)
def test_general_rules(form, words, rule):
    found = general_rules(form, words)
    assert rule in found if rule else found == []


def test_rules_of_one_form_copy_nothing():
    rules, numbers = learn_rules(
        [("no", ("em", "o")), ("Didn't", ("Did", "n't")), ("isn't", ("is", "n't"))]
    )
    assert rules[numbers["no", ("em", "o")]] == ("no", "", ("em", "o"), -1, "", "")
    assert rules[numbers["didn't", ("did", "n't")]] == rules[numbers["isn't", ("is", "n't")]]
    assert len(rules) == 2


def test_a_segmenter_is_stored_and_read_back():
    segmenter = toy_segmenter()
    settings = json.loads(json.dumps(segmenter.settings()))
    again = Segmenter.from_store(settings, segmenter.tensors())
    text = treebank_text(toy_block())
    for found in (again.segment(text), segmenter.segment(text)):
        assert [s.forms for s in sentences_of(found.block)] == [
            s.forms for s in sentences_of(toy_block())
        ]
    assert again.settings() == segmenter.settings()
    with pytest.raises(ValueError, match="read-only"):
        segmenter.tensors()["boundary"][0] = 1


def changed(name, value):
    def change(settings, tensors):
        place = settings if name in settings else tensors
        place[name] = value(place[name]) if callable(value) else value

    return change


def with_value(index, value):
    def change(array):
        array = array.copy()
        array[index] = value
        return array

    return change


@pytest.mark.parametrize(
    "change",
    [
        changed("version", 1), changed("version", True), changed("bits", 13), changed("bits", 99),
        changed("bits", "14"), changed("lines_matter", 0), changed("rules", "x"),
        changed("rules", [["a", "", ["b"], -1, "", ""]]),
        changed("rules", [["a", "", ["b", "c"], 2, "", ""]]),
        changed("rules", [["a", "", ["b", ""], -1, "", ""]]),
        changed("rules", [["", "", ["b", "c"], -1, "", ""]]),
        changed("rules", [["a", "", ["b", "c d"], -1, "", ""]]),
        changed("rules", [["a", "", ["b", 3], -1, "", ""]]), changed("rules", [[]]),
        changed("boundary", lambda a: a[:-1]), changed("boundary", lambda a: a.astype("f4")),
        changed("split", lambda a: a.reshape(2, -1)), changed("open", with_value(3, 2)),
        changed("sentence", with_value(5, np.nan)), changed("sentence", with_value(5, np.inf)),
        changed("lexicon", lambda a: a[::-1].copy()), changed("lexicon", lambda a: a.astype("i8")),
        lambda _, tensors: tensors.pop("open"),
        lambda settings, _: settings.pop("rules"),
    ],
)  # fmt: skip
def test_forged_segmenters_are_refused(change):
    settings, tensors = toy_segmenter().settings(), toy_segmenter().tensors()
    change(settings, tensors)
    with pytest.raises(ModelError, match=r"\.$"):
        Segmenter.from_store(settings, tensors)


@pytest.mark.slow
@pytest.mark.skipif("ARBORA_TREEBANKS" not in os.environ, reason="needs ARBORA_TREEBANKS")
def test_hungarian():
    folder = Path(os.environ["ARBORA_TREEBANKS"]) / "ud_hungarian_szeged"
    segmenter = train_segmenter(list(read_conllu(folder / "train.conllu")))
    gold = list(read_conllu(folder / "dev.conllu"))
    found = segmenter.segment(treebank_text(gold))
    ours = {tuple(s.forms) for s in sentences_of(found.block)}
    theirs = {tuple(s.forms) for s in gold}
    assert len(ours & theirs) > 0.95 * len(theirs)
