"""The tagger: gradients, analyses, constraints, samples, storage, odd words."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora import ArboraError, ArgumentError, ModelError
from arbora._core import tagging as kernels
from arbora.data import Block, Stage
from arbora.data.block import CONLLU_LAYOUT
from arbora.data.treebank import read_treebank
from arbora.features import WordClusters
from arbora.options import LemmatiserOptions, TaggerOptions
from arbora.tagging import Tagger, jackknife, train_tagger
from arbora.tagging.treebank_tags import TreebankTags, _is_made_of_names, _names_in
from arbora.testing.finite_difference import finite_difference

ROOT = Path(__file__).parents[2]
FORM, LEMMA, UPOS, XPOS, FEATS = 1, 2, 3, 4, 5
QUICK = TaggerOptions(passes=3, bits=12)


@pytest.fixture(scope="module")
def treebank():
    return read_treebank(ROOT / "examples" / "treebank" / "train.conllu")


@pytest.fixture(scope="module")
def dev():
    return read_treebank(ROOT / "examples" / "treebank" / "dev.conllu")


@pytest.fixture(scope="module")
def tagger(treebank):
    return train_tagger(treebank, options=QUICK, threads=1)


def column(block, number):
    return [value for i in range(len(block)) for value in block.column(i, number)]


def bare(block):
    forms = [block.column(i, FORM) for i in range(len(block))]
    return Block.from_columns(forms)


@pytest.mark.parametrize("analyses", [False, True])
def test_gradients(treebank, analyses):
    """The gradient of the likelihood is that of finite differences."""
    few = treebank.reread(treebank.texts(0, 12))
    tags = TreebankTags.of(few)
    trainer = kernels.TagTrainer(few, tags.analysis_set(), tags.upos, tags.analyses, 3, 3, None)
    _, _, weights, dense = trainer.averages(analyses)
    random = np.random.default_rng(0)
    at = np.concatenate([weights, dense])
    at = np.round(64 * random.normal(scale=0.3, size=len(at))) / 64  # steps are exact in float32
    sentences = np.arange(len(few), dtype=np.int64)

    def loss(values):
        rows, rest = values[: len(weights)], values[len(weights) :]
        return trainer.objective(analyses, rows.astype(np.float32), rest, sentences, 1)

    _, gradient = loss(at)
    chosen = random.choice(len(at), size=60, replace=False)
    chosen = np.append(chosen, np.arange(len(weights), len(at))[:40])

    def partly(values):
        moved = at.copy()
        moved[chosen] = values
        return loss(moved)[0]

    expected = finite_difference(partly, at[chosen], step=2.0**-6)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(gradient[chosen], expected, atol=2e-5)


def test_analyses_are_a_softmax_of_sums_of_outputs(tagger, treebank):
    """p(xpos, feats | upos) of one word by brute force, with weights of rows set by hand."""
    tensors = {name: value.copy() for name, value in tagger.tensors().items()}
    tensors["analyses.weights"][:] = 0.0
    memory = np.random.default_rng(1).normal(size=len(tensors["analyses.memory"]))
    tensors["analyses.memory"] = memory
    same = Tagger.from_store(tagger.settings(), tensors)
    block = treebank.reread(treebank.texts(0, 3))
    found = same.tag(block, retag=True, threads=1)
    first, names = tensors["analyses.first"], tagger.settings()["feats"]
    seen = {}  # the analyses of (form, upos) in the treebank, with counts
    for word in zip(*(column(treebank, n) for n in (FORM, UPOS, XPOS, FEATS)), strict=True):
        counts = seen.setdefault(word[:2], {})
        counts[word[2:]] = counts.get(word[2:], 0) + 1
    texts = [column(found.block, n) for n in (FORM, UPOS, FEATS)]
    checked = 0
    for word, (form, upos, feats) in enumerate(zip(*texts, strict=True)):
        tag = tagger.upos.index(upos)
        known = seen.get((form, upos))
        if known is None or first[tag + 1] - first[tag] == 1:
            continue
        ordered = sorted(known.items(), key=lambda one: -one[1])
        if len(ordered) > 1 and ordered[0][1] == ordered[1][1]:
            continue  # ties are broken by number
        total = sum(known.values())
        scores, chosen = [], []
        for a in range(first[tag], first[tag + 1]):
            name = (
                tagger.settings()["xpos"][tensors["analyses.xpos"][a]],
                names[tensors["analyses.feats"][a]],
            )
            rank = 3 if name not in known else 0 if name == ordered[0][0] else (
                1 if known[name] * 10 >= total else 2)  # fmt: skip
            scores.append(memory[tag * kernels.MEMORIES + rank])
            chosen.append(name[1] == feats)
        p = np.exp(scores) / np.exp(scores).sum()
        assert found.feats_probabilities[word] == pytest.approx(p[np.array(chosen)].sum())
        checked += 1
    assert checked > 5


def test_it_learns(tagger, treebank, dev):
    assert isinstance(tagger, Stage)
    assert tagger.columns == ("upos", "xpos", "feats")
    for number, least in ((UPOS, 80), (XPOS, 75), (FEATS, 70)):
        found = column(tagger(dev, retag=True), number)
        gold = column(dev, number)
        right = sum(a == b for a, b in zip(found, gold, strict=True))
        assert 100 * right / len(gold) > least
    assert tagger(treebank).texts(0, 5) == treebank.texts(0, 5)  # nothing is missing


def inflected(vowels, stems):
    """Sentences of an invented language: plurals in -lVr, negation by -mV- before the ending."""
    rows = []
    for stem in stems:
        for v in vowels:
            plural, past = f"{stem}l{v}r", f"{stem}d{v}"
            rows.append([(stem, "NOUN", "Number=Sing"), (past, "VERB", "Polarity=Pos")])
            rows.append(
                [(plural, "NOUN", "Number=Plur"), (f"{stem}m{v}d{v}", "VERB", "Polarity=Neg")]
            )
    text = "".join(
        "".join(
            f"{i}\t{form}\t_\t{upos}\t_\t{feats}\t0\troot\t_\t_\n"
            for i, (form, upos, feats) in enumerate(row, 1)
        )
        + "\n"
        for row in rows
    )
    return Block(text.encode(), CONLLU_LAYOUT)


def test_endings_with_other_vowels_and_inner_letters():
    """Vowel harmony and inner affixes: neither the stem nor the ending was ever seen."""
    stems = ("kas", "gob", "ten", "pur", "sik", "vaz", "lon", "mek")
    tagger = train_tagger(inflected("aeu", stems), options=TaggerOptions(passes=20), threads=1)
    unseen = inflected("oi", ("bat", "rog", "zut"))
    found = tagger(unseen, retag=True)
    for number in (UPOS, FEATS):
        columns = [column(unseen, FORM), column(found, number), column(unseen, number)]
        rows = list(zip(*columns, strict=True))
        inflected_forms = [row for row in rows if len(row[0]) > 3]
        assert len(inflected_forms) == 18
        assert all(answer == gold for _, answer, gold in inflected_forms)


def test_parts_of_xpos():
    """Tags that are joined names have the names as outputs, positional ones their letters."""
    names = [
        f"NOUN-{a}-{b}" for a in ("POSTP", "PRT", "AUX", "CONJ") for b in map(str, range(10, 40))
    ]
    assert _is_made_of_names(names)
    assert not _is_made_of_names([f"N---{a}--S{b}" for a in "abc" for b in range(40)])
    assert _names_in("VERB-AUX-PRT") == [
        "0 VERB", "-1 PRT", "-2 AUX PRT", "3", "* VERB", "* AUX", "* PRT", "* VERB AUX",
        "* AUX PRT",
    ]  # fmt: skip
    lines = [f"1\tw{i}\t_\tNOUN\t{tag}\t_\t0\troot\t_\t_\n\n" for i, tag in enumerate(names)]
    tags = TreebankTags.of(Block("".join(lines).encode(), CONLLU_LAYOUT))
    assert tags.tensors["analyses.widths"].tolist() == [1 + 30 + 120 + 1 + 35 + 124]


def test_threads_and_blocks_do_not_matter(tagger, treebank, dev):
    few = treebank.reread(treebank.texts(0, 60))
    made = [train_tagger(few, few, TaggerOptions(passes=2), threads=n) for n in (1, 2)]
    assert made[0].settings() == made[1].settings()
    for name, value in made[0].tensors().items():
        assert value.tobytes() == made[1].tensors()[name].tobytes(), name
    whole = tagger(dev, retag=True, threads=2)
    part = Block(dev.texts(3, 5), dev.layout, first_sentence=dev.first_sentence + 3)
    assert tagger(part, retag=True).texts(0, 2) == whole.texts(3, 5)
    draws = tagger.samples(dev, 2, seed=5, retag=True)
    assert tagger.samples(part, 2, seed=5, retag=True)[1].texts(0, 2) == draws[1].texts(3, 5)


def test_probabilities(tagger, dev):
    found = tagger.tag(dev, retag=True, posterior=True)
    np.testing.assert_allclose(found.posterior.sum(axis=1), 1.0)
    words = np.arange(dev.total_words)
    np.testing.assert_array_equal(found.posterior[words, found.upos_ids], found.upos_probabilities)
    assert [found.upos_names[i] for i in found.upos_ids] == column(found.block, UPOS)
    for p in (found.upos_probabilities, found.xpos_probabilities, found.feats_probabilities):
        assert ((p > 0.0) & (p <= 1.0)).all()


def test_values_of_the_input_are_kept_and_restrict_the_rest(tagger):
    forms = [["The", "book", "reads", "well"]]
    block = Block.from_columns(forms, upos=[["_", "VERB", "_", "XYZ"]], xpos=[["_"] * 3 + ["Q"]])
    found = tagger.tag(block, posterior=True)
    assert found.block.column(0, UPOS)[1] == "VERB"
    assert found.block.column(0, UPOS)[3] == "XYZ"  # a tag that it does not know
    assert found.block.column(0, XPOS)[3] == "Q"
    assert found.posterior[1, tagger.upos.index("VERB")] == 1.0
    assert found.upos_probabilities[1] == 1.0
    assert "_" not in found.block.column(0, UPOS)
    assert "_" not in found.block.column(0, XPOS)
    given_xpos = Block.from_columns([["book"]], upos=[["NOUN"]], xpos=[["NNS"]])
    assert tagger(given_xpos).column(0, FEATS)[0] in ("Number=Plur", "Number=Ptan")
    plural = Block.from_columns([["book"]], upos=[["NOUN"]], feats=[["Number=Plur"]])
    assert tagger(plural).column(0, XPOS) == ["NNS"]


def test_feats_are_missing_if_a_sentence_has_none(tagger):
    forms = [["A", "book"], ["A", "book"]]
    upos = [["DET", "NOUN"]] * 2
    block = Block.from_columns(forms, upos=upos, feats=[["_", "Number=Sing"], ["_", "_"]])
    found = tagger(block)
    assert found.column(0, FEATS) == ["_", "Number=Sing"]
    assert found.column(1, FEATS)[1] != "_"
    assert tagger(block, retag=True).column(0, FEATS)[0] != "_"


def test_samples_follow_the_posterior(tagger, dev):
    few = bare(dev.reread(dev.texts(0, 2)))
    count = 600
    posterior = tagger.tag(few, posterior=True).posterior
    draws = tagger.samples(few, count, seed=1)
    ids = np.array([[tagger.upos.index(tag) for tag in column(draw, UPOS)] for draw in draws])
    shares = np.stack([(ids == tag).mean(axis=0) for tag in range(len(tagger.upos))], axis=1)
    allowed = 4.5 * np.sqrt(posterior * (1 - posterior) / count) + 1e-2
    assert (np.abs(shares - posterior) < allowed).all()
    with pytest.raises(ArgumentError, match="count must be"):
        tagger.samples(few, 0)


def test_storage(tagger, dev):
    settings_, tensors = json.loads(json.dumps(tagger.settings())), tagger.tensors()
    same = Tagger.from_store(settings_, tensors)
    assert same(dev, retag=True).texts(0, len(dev)) == tagger(dev, retag=True).texts(0, len(dev))
    with pytest.raises(ValueError, match="read-only"):
        tensors["upos.transitions"][0] = 1.0


def damage(tensors, name, change):
    copies = {key: value.copy() for key, value in tensors.items()}
    copies[name] = change(copies[name])
    return copies


def put(value, at=0):
    def change(array):
        array[at] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("upos.weights", put(np.nan)), ("upos.weights", lambda a: a[:-1]),
        ("upos.weights", lambda a: a.astype(np.float32)), ("upos.transitions", put(np.inf)),
        ("analyses.first", put(5)), ("analyses.first", put(10**6, -1)),
        ("analyses.outputs", put(10**6)), ("analyses.outputs", put(-1)),
        ("analyses.tags", put(200)), ("analyses.xpos", put(10**6)), ("analyses.feats", put(-1)),
        ("analyses.widths", put(10**6)), ("analyses.ends", put(10**6)),
        ("analyses.memory", lambda a: a[:-1]), ("lexicon.analyses", put(60000)),
        ("lexicon.ends", put(10**8)), ("lexicon.keys", lambda a: a[:-1]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_damaged_tensors_are_refused(tagger, name, change):
    with pytest.raises(ModelError):
        Tagger.from_store(tagger.settings(), damage(tagger.tensors(), name, change))
    rest = {key: value for key, value in tagger.tensors().items() if key != name}
    with pytest.raises(ModelError, match=name):
        Tagger.from_store(tagger.settings(), rest)


@pytest.mark.parametrize("change", [{"upos": []}, {"xpos": ["a\tb"]}, {"has_feats": 1}])
def test_damaged_settings_are_refused(tagger, change):
    with pytest.raises(ModelError):
        Tagger.from_store(tagger.settings() | change, tagger.tensors())


WORDS = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\t\r\n"), min_size=1
).filter(lambda text: text == text.strip(" "))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(WORDS, st.sampled_from(["_", "-", "X" * 5000, "1" * 300])), min_size=1))
def test_any_words(tagger, words):
    try:
        block = Block.from_columns([words])
    except ArboraError:
        return  # not a sentence
    found = tagger.tag(block, posterior=True)
    assert found.block.column(0, FORM) == words
    assert np.isfinite(found.posterior).all()
    assert np.isfinite(found.feats_probabilities).all()


def test_columns_that_the_treebank_lacks_stay_missing(treebank):
    few = treebank.reread(treebank.texts(0, 30))
    forms = [few.column(i, FORM) for i in range(len(few))]
    upos = [few.column(i, UPOS) for i in range(len(few))]
    plain = train_tagger(Block.from_columns(forms, upos=upos), options=QUICK)
    assert plain.columns == ("upos",)
    found = plain(Block.from_columns([["The", "book"]]))
    assert found.column(0, XPOS) == found.column(0, FEATS) == ["_", "_"]
    with pytest.raises(ArgumentError, match="without UPOS"):
        train_tagger(Block.from_columns(forms))


def test_word_clusters(treebank, dev):
    few = treebank.reread(treebank.texts(0, 60))
    rows = [(form, f"{len(form) % 4:03b}1", 1.0) for form in sorted(set(column(treebank, FORM)))]
    clustered = train_tagger(few, options=QUICK, word_clusters=WordClusters(rows))
    plain = train_tagger(few, options=QUICK)
    found = clustered.tag(dev, retag=True).upos_probabilities
    assert not np.array_equal(found, plain.tag(dev, retag=True).upos_probabilities)
    same = Tagger.from_store(clustered.settings(), clustered.tensors())
    np.testing.assert_array_equal(same.tag(dev, retag=True).upos_probabilities, found)
    text = np.frombuffer(b"no tab", np.uint8)
    with pytest.raises(ModelError, match="a cluster and forms"):
        Tagger.from_store(clustered.settings(), clustered.tensors() | {"clusters.grouped": text})
    with pytest.raises(ModelError, match="cluster and form"):
        Tagger.from_store(plain.settings(), plain.tensors() | {"clusters": text})


@pytest.mark.parametrize(
    "option", [{"passes": 0}, {"rate": 0.0}, {"regularization": -1.0}, {"bits": 7}, {"seed": -1}]
)
def test_bad_options(option):
    for kind in (TaggerOptions, LemmatiserOptions):
        with pytest.raises(ArgumentError, match="must be between"):
            kind(**option)


def test_jackknife(treebank):
    few = treebank.reread(treebank.texts(0, 40))
    once, twice = (jackknife(few, 4, QUICK, threads=n) for n in (1, 2))
    assert once.texts(0, 40) == twice.texts(0, 40)
    assert column(once, FORM) == column(few, FORM)
    assert column(once, UPOS) != column(few, UPOS)
    others = train_tagger(few.reread(few.texts(10, 40)), options=QUICK)
    part = few.reread(few.texts(0, 10))
    assert others(part, retag=True).texts(0, 10) == once.texts(0, 10)
    with pytest.raises(ArgumentError, match="folds must be"):
        jackknife(few, 1)


def test_tagging_does_not_import_training():
    code = (
        "import sys, arbora.tagging; "
        "assert 'arbora.tagging.training' not in sys.modules; "
        "assert 'arbora.tagging.lemma_training' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_capitals_mean_less_in_headings():
    """What a capital means depends on the sentence, not only on the words next to it."""
    middle, tags = ["Aa", "Bb", "Xyzzy", "Cc", "Dd"], ["SYM", "SYM", "NOUN", "SYM", "SYM"]
    heading = ["Ee", *middle, "Ff"], ["SYM", *tags, "SYM"]
    name = [*tags[:2], "PROPN", *tags[3:]]
    plain = ["we", "see", *middle, "in", "it"], ["PRON", "VERB", *name, "ADP", "PRON"]
    forms, upos = zip(*[heading, plain] * 20, strict=True)
    made = train_tagger(Block.from_columns(forms, upos=upos), options=TaggerOptions(passes=5))
    found = made(Block.from_columns([heading[0], plain[0]]))
    assert [found.column(0, 3)[3], found.column(1, 3)[4]] == ["NOUN", "PROPN"]
