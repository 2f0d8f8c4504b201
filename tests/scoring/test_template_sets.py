"""The sets of templates: frozen features of published sets, repetition with coarse tags, names."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from arbora import Sentence
from arbora.data.treebank import read_treebank
from arbora.features import FeatureSettings
from arbora.options import GrandsiblingOptions
from arbora.scoring import LinearScorer
from tests.scoring.test_part_scores import random_mask
from tests.toys import batch_of, encode, random_weights, scored, toy_sentences

KINDS = (*GrandsiblingOptions.automata, "siblings", "head_bigrams")
PAPERS = ("carreras2007", "basic2005")

# Checksums of scores under fixed weights. Others would mean other features, and models that no
# longer parse as they did.
FROZEN = {
    "rich": -24.034589336553207,
    "mcdonald2005": -116.91539422346295,
    "morphological": 91.28510498546801,
}


def checksum(templates):
    rng = np.random.default_rng(5)
    settings, encoded = encode(toy_sentences(rng, [1, 2, 7, 9]), templates)
    scorer = LinearScorer(settings, 14, kinds=KINDS)
    weights = random_weights(rng, scorer)
    found = scored(scorer, weights, batch_of(encoded, kept=random_mask(rng, encoded)))
    values = np.concatenate([found.arcs[found.arcs > -np.inf], *found.tables.values()])
    return float(values @ rng.normal(size=len(values)))


@pytest.mark.parametrize("templates", FROZEN)
def test_features_are_those_of_earlier_models(templates):
    assert checksum(templates) == pytest.approx(FROZEN[templates], rel=1e-9)


# Forms f1 ..., fine tags F1 ..., coarse tags C1 ...; only the fifth word has over five letters.
SENTENCE = Sentence.from_words(
    ["f1", "f2", "f3", "f4", "longform5"], [f"C{i}" for i in range(1, 6)],
    [f"F{i}" for i in range(1, 6)], heads=[2, 0, 2, 3, 3], labels=["x"] * 5,
)  # fmt: skip


def settings_of(templates, **columns):
    return replace(FeatureSettings.for_training(templates, read_treebank([SENTENCE])), **columns)


def arc_features(templates, head, modifier, **columns):
    scorer = LinearScorer(settings_of(templates, **columns), 10)
    scorer = scorer.with_parameters({"weights": np.ones(scorer.size)})
    found = scorer.explain_arc(read_treebank([SENTENCE]), None, head, modifier, 0)
    return Counter((name, *atoms) for name, atoms, variant, *_ in found if variant == 0)


def part_features(templates, kind, columns, **settings):
    """The features of one part by its index columns, with their variants."""
    settings = settings_of(templates, **settings)
    scorer = LinearScorer(settings, 10, kinds=(kind,))
    scorer = scorer.with_parameters({"weights": np.ones(scorer.size)})
    _, encoded = encode([SENTENCE], settings=settings)
    mask = np.ones((6, 6), dtype=np.uint8)
    mask[:, 0] = 0
    np.fill_diagonal(mask, 0)
    scores = scorer.scores(batch_of(encoded, kept=mask.reshape(-1)))[0]
    (place,) = np.flatnonzero((scores.columns(kind, 0) == columns).all(axis=1)).tolist()
    found = scorer.explain_part(read_treebank([SENTENCE]), None, scores, kind, place)
    return [((name, *atoms), variant) for name, atoms, variant, *_ in found]


def in_coarse_tags(features):
    """What coarse tags add: the same features, p and F replaced by c and C where there are tags."""
    coarse = Counter()
    for (name, *atoms), count in features.items():
        if "p" not in name:
            continue
        names = " ".join(one[0] + "c" + one[2:] if one[1:2] == "p" else one for one in name.split())
        tags = [
            atom.replace("F", "C") if one[1:2] == "p" else atom
            for one, atom in zip(
                [one for one in name.split() if one[0].islower()], atoms, strict=True
            )
        ]
        coarse[names, *tags] += count
    return coarse


@pytest.mark.parametrize(("head", "modifier"), [(2, 5), (5, 1), (0, 3)])
def test_arcs_have_the_features_of_mcdonald_in_both_grains(head, modifier):
    fine = arc_features("mcdonald2005", head, modifier)
    assert len(fine) > 20
    assert arc_features("carreras2007", head, modifier) == fine + in_coarse_tags(fine)
    assert arc_features("carreras2007", head, modifier, xpos=False) == Counter(
        {
            (name, *(atom.replace("F", "C") for atom in atoms)): count
            for (name, *atoms), count in fine.items()
        }
    )  # with one column of tags there is one grain


def test_basic_features_are_words_and_tags_of_the_two_ends():
    fine = Counter([
        ("hw", "longform5"), ("hp", "F5"), ("hw hp", "longform5", "F5"),
        ("mw", "f1"), ("mp", "F1"), ("mw mp", "f1", "F1"),
        ("hp mp", "F5", "F1"), ("hp mw mp", "F5", "f1", "F1"),
        ("hw hp mp", "longform5", "F5", "F1"), ("hw hp mw mp", "longform5", "F5", "f1", "F1"),
        ("hw mw mp", "longform5", "f1", "F1"), ("hw hp mw", "longform5", "F5", "f1"),
        ("hw mw", "longform5", "f1"),
    ])  # fmt: skip
    assert arc_features("basic2005", 5, 1) == fine + in_coarse_tags(fine)
    assert len(in_coarse_tags(fine)) == 10


# Carreras (2007): the three tags, and c with h and with m as tags, words, tag and word, word and
# tag. A sibling is c where h and m are head and modifier; a modifier is c of its grandparent h.
def carreras(names, h, m, c):
    (h_letter, m_letter, c_letter), mark = names, "GRAND " if names[0] == "g" else ""
    features = {(f"{h_letter}p {m_letter}p {c_letter}p", f"F{h}", f"F{m}", f"F{c}"): 1}
    for letter, word, before in ((h_letter, h, ""), (m_letter, m, mark)):
        for one, other in ("pp", "ww", "pw", "wp"):
            atoms = [f"{'F' if kind == 'p' else 'f'}{i}" for kind, i in ((one, word), (other, c))]
            features[f"{before}{letter}{one} {c_letter}{other}", *atoms] = 1
    return Counter(features)


@pytest.mark.parametrize("templates", PAPERS)
@pytest.mark.parametrize(
    ("kind", "columns", "names", "words"),
    [
        ("grandparents", (2, 3, 4), "ghm", (2, 3, 4)),
        ("grandparents", (4, 2, 1), "ghm", (4, 2, 1)),
        ("siblings", (2, 3, 4), "hms", (2, 4, 3)),
        ("siblings", (4, 1, 3), "hms", (4, 1, 3)),  # the nearer one is the sibling
        ("siblings", (2, 1, 3), "hms", (2, 3, 1)),
        ("consecutive_siblings", (1, 1, 2, 4), "hms", (1, 4, 2)),
        ("consecutive_siblings", (4, 0, 3, 1), "hms", (4, 1, 3)),
    ],
)
def test_parts_have_the_features_of_carreras_in_both_grains(templates, kind, columns, names, words):
    expected = carreras(names, *words)
    assert len(expected) == 9
    found = part_features(templates, kind, columns)
    assert Counter(name for name, _ in found) == expected + in_coarse_tags(expected)
    assert len({variant for _, variant in found}) == 1  # a direction, and no distance
    alone = part_features(templates, kind, columns, upos=False)
    assert Counter(name for name, _ in alone) == expected


def test_ends_and_grandsiblings_have_both_grains():
    for kind, columns in [
        ("consecutive_siblings", (2, 1, -1, 3)), ("consecutive_siblings", (2, 0, 1, -1)),
        ("consecutive_siblings", (2, 1, -1, -1)), ("grandsiblings", (1, 2, 1, 3, 4)),
        ("grandsiblings", (1, 2, 1, -1, 3)), ("grandsiblings", (1, 2, 1, -1, -1)),
        ("head_bigrams", (3, 1, 2)),
    ]:  # fmt: skip
        one = Counter(name for name, _ in part_features("carreras2007", kind, columns, upos=False))
        both = Counter(name for name, _ in part_features("carreras2007", kind, columns))
        assert one
        assert both == one + in_coarse_tags(one)


def test_equal_tag_columns_are_one_grain():
    same = Sentence.from_words(["a", "b"], ["X", "Y"], ["X", "Y"], heads=[0, 1], labels=["x"] * 2)
    settings = FeatureSettings.for_training("carreras2007", read_treebank([same]))
    assert not settings.xpos
    found = LinearScorer(settings, 10)
    found = found.with_parameters({"weights": np.ones(found.size)})
    names = [name for name, *_ in found.explain_arc(read_treebank([same]), None, 1, 2, 0)]
    assert names
    assert not any("c" in one[1:] for name in names for one in name.split())
