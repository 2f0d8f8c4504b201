"""What a model sees of a sentence, and what it never sees."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from arbora import DataError, FileError, Sentence
from arbora.data import Block
from arbora.data.conllu import sentences_of
from arbora.data.formats import layout_named
from arbora.data.treebank import read_treebank
from arbora.errors import ArgumentError
from arbora.features import FeatureSettings, TemplateSet, WordClusters, read_clusters
from arbora.scoring import LinearScorer
from tests.toys import batch_of, encode, scored, toy_sentence

FORMS = ["die", "Katze", "schläft", "gern"]
COLUMNS = {
    "lemmas": ["der", "Katze", "schlafen", "gern"],
    "upos": ["DET", "NOUN", "VERB", "ADV"],
    "xpos": ["ART", "NN", "VVFIN", "ADV"],
    "feats": ["Case=Nom", "Case=Nom|Number=Sing", "Number=Sing", "_"],
}


def scores(sentence, settings, clusters=None):
    _, encoded = encode([sentence], settings=settings, clusters=clusters)
    scorer = LinearScorer(settings, 14, outcomes="label", row_bits=10, width=2)
    weights = np.random.default_rng(5).normal(size=scorer.size)
    return scored(scorer, weights, batch_of(encoded)).arcs.tobytes()


def settings_for(sentence, templates="rich"):
    return FeatureSettings.for_training(templates, read_treebank([sentence]))


def full(**changes):
    return Sentence.from_words(FORMS, **(COLUMNS | changes))


@pytest.mark.parametrize("name", COLUMNS)
def test_every_column_matters(name):
    settings = settings_for(full())
    changed = [*COLUMNS[name][:-1], "X=Y"]
    assert scores(full(), settings) != scores(full(**{name: changed}), settings)


@pytest.mark.parametrize(
    "empty",
    [["lemmas"], ["upos"], ["xpos"], ["feats"], ["upos", "xpos"], list(COLUMNS)],
    ids="+".join,
)
@pytest.mark.parametrize("templates", ["rich", "mcdonald2005", "morphological"])
def test_columns_that_training_left_empty_are_not_read(empty, templates):
    gone = dict.fromkeys(empty)
    settings = settings_for(full(**gone), templates)
    used = {"lemmas": settings.lemma, "upos": settings.upos, "xpos": settings.xpos}
    assert (used | {"feats": settings.feats}) == {name: name not in empty for name in COLUMNS}
    assert scores(full(**gone), settings) == scores(full(), settings)


def test_a_second_column_of_the_same_tags_is_not_used():
    assert not settings_for(full(xpos=COLUMNS["upos"])).xpos
    assert settings_for(full()).xpos


def test_both_grains_of_tags_of_conllx_are_used():
    """CPOSTAG and POSTAG, as UPOS and XPOS (Gormley et al. 2015 have features of both)."""
    rows = zip(FORMS, COLUMNS["upos"], COLUMNS["xpos"], strict=True)
    lines = [f"{i}\t{form}\t_\t{c}\t{p}\t_\t0\tx\t_\t_" for i, (form, c, p) in enumerate(rows, 1)]
    text = "\n".join(lines) + "\n\n"
    (plain,) = sentences_of(Block(text.encode(), layout_named("conllx")))
    settings = settings_for(plain)
    assert settings.upos
    assert settings.xpos
    for old, new in (("\tDET\t", "\tPRON\t"), ("\tART\t", "\tPDS\t")):
        (changed,) = sentences_of(Block(text.replace(old, new).encode(), layout_named("conllx")))
        assert scores(changed, settings) != scores(plain, settings)


def test_heads_labels_and_the_rest_never_matter():
    bare = full()
    settings = settings_for(bare)
    annotated = full(heads=[2, 3, 0, 3], labels=["det", "nsubj", "root", "advmod"])
    assert scores(bare, settings) == scores(annotated, settings)
    rows = [line.split("\t") for line in bytes(annotated).decode().split("\n") if line]
    for row, deps in zip(rows, ["2:det", "3:nsubj", "0:root", "3:advmod"], strict=True):
        row[8:] = [deps, "SpaceAfter=No"]
    text = "\n".join("\t".join(row) for row in rows)
    assert scores(Sentence.from_bytes(f"# c\n{text}\n\n".encode()), settings) == scores(
        bare, settings
    )


def arc_scores(encoded, settings):
    scorer = LinearScorer(settings, 14)
    weights = np.random.default_rng(5).normal(size=scorer.size)
    return scored(scorer, weights, batch_of(encoded)).arcs


def test_hidden_words_are_not_seen():
    """With all forms and lemmas hidden, lemmas are not seen; with none hidden, all is as it was."""
    settings = settings_for(full())
    _, plain = encode([full()], settings=settings)
    _, other = encode([full(lemmas=["x", "y", "z", "w"])], settings=settings)
    hidden = [arc_scores(one.hiding(1e15, 3), settings) for one in (plain, other)]
    assert np.array_equal(*hidden)
    assert not np.array_equal(hidden[0], arc_scores(plain, settings))
    assert np.array_equal(arc_scores(plain.hiding(0.0, 3), settings), arc_scores(plain, settings))


def test_how_many_words_are_hidden():
    """A word that occurs c times, with probability amount / (amount + c): here 3 / (3 + 1)."""
    tags = {"upos": ["X"], "xpos": ["Y"], "feats": ["_"]}
    words = [Sentence.from_words(["a"], lemmas=[f"lemma{i}"], **tags) for i in range(600)]
    settings = settings_for(full())
    _, encoded = encode(words, settings=settings)
    whole = arc_scores(encoded, settings)[1::4]
    # The form occurs 600 times and is hardly ever hidden: lemmas make the difference.
    shares = [
        np.mean(arc_scores(encoded.hiding(3.0, seed), settings)[1::4] != whole) for seed in (0, 1)
    ]
    assert shares == pytest.approx([0.75, 0.75], abs=0.08)
    assert shares[0] != shares[1]


def test_multiword_tokens_and_empty_nodes_are_passed_over(rng):
    plain = toy_sentence(rng, 3)
    lines = bytes(plain).decode().rstrip("\n").split("\n")
    other = ["1-2\tab\t" + "\t".join("_" * 8), *lines[:2], "2.1\t" + "\t".join("_" * 9), lines[2]]
    extended = Sentence.from_bytes(("\n".join(other) + "\n\n").encode())
    settings = settings_for(plain)
    assert scores(plain, settings) == scores(extended, settings)


def test_templates_by_name():
    sets = [settings_for(full(), name) for name in get_args(TemplateSet)]
    assert len({scores(full(), settings) for settings in sets}) == len(sets)
    with pytest.raises(ArgumentError, match="features must be one of rich, mcdonald2005"):
        settings_for(full(), "best")


def test_the_morphological_set_sees_the_inflection_of_neighbours():
    """The arc from the second word to the first sees how the third is inflected."""
    other = full(feats=[*COLUMNS["feats"][:2], "Number=Plur", "_"])

    def arc(sentence, templates):
        settings = settings_for(full(), templates)
        _, encoded = encode([sentence], settings=settings)
        scorer = LinearScorer(settings, 14)
        weights = np.random.default_rng(5).normal(size=scorer.size)
        return scored(scorer, weights, batch_of(encoded)).arcs_of(0)[2, 1]

    assert arc(full(), "rich") == arc(other, "rich")
    assert arc(full(), "morphological") != arc(other, "morphological")


class TestWordClusters:
    def write(self, tmp_path, text):
        path = tmp_path / "clusters.txt"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def test_hard_clusters_change_scores(self, tmp_path):
        settings = settings_for(full())
        clusters = read_clusters(self.write(tmp_path, "0110101\tKatze\t12\n0110\tdie\t3\n"))
        assert clusters.rows == (("Katze", "0110101", 1.0), ("die", "0110", 1.0))
        assert scores(full(), settings) != scores(full(), settings, clusters)
        elsewhere = read_clusters(self.write(tmp_path, "0110101\tHund\n"))
        assert scores(full(), settings) == scores(full(), settings, elsewhere)

    def test_unknown_forms_count_as_their_lower_case(self):
        settings = settings_for(full())
        own, lower = WordClusters([("Katze", "01", 1.0)]), WordClusters([("katze", "01", 1.0)])
        assert scores(full(), settings, own) == scores(full(), settings, lower)
        both = WordClusters([("Katze", "01", 1.0), ("katze", "10", 1.0)])  # exact forms first
        assert scores(full(), settings, own) == scores(full(), settings, both)
        exact = WordClusters([("katze", "01", 1.0)], any_case=False)
        assert scores(full(), settings) == scores(full(), settings, exact)
        upper = WordClusters([("DIE", "01", 1.0)])  # only the form is changed
        assert scores(full(), settings) == scores(full(), settings, upper)

    @pytest.mark.parametrize("templates", get_args(TemplateSet))
    def test_more_templates(self, templates):
        """Models of earlier versions have few templates of clusters; other sets still do."""
        block = read_treebank([full()])
        few = FeatureSettings.for_training(templates, block)
        many = FeatureSettings.for_training(templates, block, word_clusters=True)
        clusters = WordClusters([("Katze", "0110101", 1.0), ("die", "0110", 1.0)])
        is_wide = scores(full(), few, clusters) != scores(full(), many, clusters)
        assert is_wide == (templates in ("rich", "morphological"))
        assert scores(full(), few) == scores(full(), many)  # without clusters nothing changes
        for settings in (few, many):
            assert FeatureSettings.from_stored(settings.to_store()) == settings
        assert "wide_clusters" not in few.to_store()

    def test_soft_clusters_are_shares(self, tmp_path):
        clusters = read_clusters(self.write(tmp_path, "a\tKatze\t3\r\nb\tKatze\t1\r\n\r\n"))
        assert clusters.rows == (("Katze", "a", 0.75), ("Katze", "b", 0.25))
        settings = settings_for(full())
        hard = WordClusters([("Katze", "a", 1.0)])
        assert scores(full(), settings, clusters) != scores(full(), settings, hard)

    @pytest.mark.parametrize("wide", [False, True])
    def test_soft_scores_lie_between_the_hard_ones(self, wide):
        settings = replace(settings_for(full()), wide_clusters=wide)
        scorer = LinearScorer(settings, 14)
        weights = np.random.default_rng(5).normal(size=scorer.size)

        def table(*rows):
            _, encoded = encode([full()], settings=settings, clusters=WordClusters(rows))
            answer = scored(scorer, weights, batch_of(encoded)).arcs
            return answer[np.isfinite(answer)]

        soft = table(("Katze", "a", 0.75), ("Katze", "b", 0.25))
        mixed = 0.75 * table(("Katze", "a", 1.0)) + 0.25 * table(("Katze", "b", 1.0))
        np.testing.assert_allclose(soft, mixed, atol=1e-9)  # one clustered word: linear in shares

    def test_forms_with_odd_spaces_stay_on_their_line(self, tmp_path):
        path = self.write(tmp_path, "\ufeff01\ta\u2028b\n10\tc\x85d\n")
        assert read_clusters(path).rows == (("a\u2028b", "01", 1.0), ("c\x85d", "10", 1.0))

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("01\tKatze\n10 Hund\n", r"line 2: a line must be cluster<TAB>form"),
            ("01\tKatze\tmany\n", r"line 1: 'many' is not a positive number"),
            ("01\tKatze\t0\n", r"line 1: '0' is not a positive number"),
            ("01\tKatze\tinf\n", r"line 1: 'inf' is not a positive number"),
            ("\tKatze\n", r"line 1: a line must be cluster"),
            ("", "the file has no clusters"),
            (b"01\tK\xe4tzchen\n", "not UTF-8"),
        ],
    )
    def test_bad_files(self, tmp_path, text, reason):
        with pytest.raises(DataError, match=reason):
            read_clusters(self.write(tmp_path, text))

    def test_missing_files(self, tmp_path):
        with pytest.raises(FileError, match="cannot be read: no such file or directory"):
            read_clusters(tmp_path / "nothing")
