"""Head sets: thresholds by their definition, coverage, output, and models without them."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora import Parser, Sentence, load
from arbora.errors import ArgumentError, DataError, ModelError
from arbora.models.head_sets import HeadSets, distance_groups, heads_within, places_of
from arbora.models.model_file import from_bytes, to_bytes
from tests.small_parsers import SMALL, sentences, trained

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.975, 0.99, 0.999)


@pytest.fixture(scope="module")
def parser():
    """A small parser that is calibrated on sentences it has not seen."""
    fitted = Parser(**SMALL).fit(sentences("train", 60), sentences("dev"), calibration_share=0.5)
    assert fitted.model.head_sets is not None
    return fitted


@given(scores=st.lists(st.floats(0, 1), min_size=1, max_size=300), level=st.sampled_from(LEVELS))
def test_thresholds_leave_out_no_more_than_the_level_allows(scores, level):
    array = np.array(scores)
    names = ["x"] * len(scores)
    found = HeadSets.calibrated(array, {"label": names, "distance": names}, 1, False).at(level)
    below = int((array < found.other).sum())
    # Of the n + 1 words that are as likely to be the new one, at most this share is left out.
    assert below <= (1 - level) * (len(array) + 1) + 1e-6
    # A threshold that leaves out two words more would break the promise, up to rounding down.
    k = int((1 - level) * (len(array) + 1) + 1e-9)
    if k:
        assert found.other >= np.sort(array)[k - 1] * (1 - 2e-3) - 1e-12
    else:
        assert found.other == 0.0


def test_coverage_of_exchangeable_words():
    rng, level = np.random.default_rng(1), 0.9
    covered = []
    for _ in range(200):
        scores = rng.beta(3, 1, size=400)
        names = ["x"] * 300
        sets = HeadSets.calibrated(scores[:300], {"label": names, "distance": names}, 1, False)
        covered.append((scores[300:] >= sets.at(level).other).mean())
    # The mean of 200 coverages of 100 words: an error of about 0.2 %.
    assert level - 0.008 < np.mean(covered) < level + 0.012


def slow_heads_within(table, thresholds):
    answers = []
    for word in range(1, table.shape[1]):
        heads = [h for h in range(len(table)) if h != word]
        heads.sort(key=lambda h: (-table[h, word], h))
        likely = [h for h in heads if table[h, word] >= thresholds[word - 1]]
        answers.append(likely or heads[:1])
    return answers


@given(
    seed=st.integers(0, 10**6), lengths=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    least=st.floats(0, 0.6),
)  # fmt: skip
def test_sets_by_their_definition(seed, lengths, least):
    rng = np.random.default_rng(seed)
    tables, expected = [], []
    thresholds = rng.random(sum(lengths)) * least
    start = 0
    for n in lengths:
        table = rng.dirichlet(np.ones(n + 1), size=n + 1).T
        table[:, 0] = 0.0
        np.fill_diagonal(table, 0.0)
        tables.append(table)
        expected += slow_heads_within(table, thresholds[start : start + n])
        start += n
    flat = np.concatenate([table.ravel() for table in tables])
    heads, sizes = heads_within(flat, np.array(lengths), thresholds)
    found = np.split(heads, np.cumsum(sizes)[:-1])
    assert [one.tolist() for one in found] == expected


def test_groups_of_distance():
    heads = np.array([2, 0, 2, 2, 1, 1, 14], dtype=np.int32)
    words = places_of(np.array([3, 4]))
    assert words.tolist() == [1, 2, 3, 1, 2, 3, 4]
    names = distance_groups(heads, words)
    assert names == ["1", "root", "1", "1", "1", "2", "7-10"]


@pytest.mark.parametrize("by", ["all", "label", "distance"])
def test_higher_levels_have_larger_sets(parser, by):
    sizes = []
    for level in LEVELS:
        parsed = parser.parse(sentences("test", 10), head_sets=level, head_sets_by=by)
        sets = [heads for one in parsed for heads in one.head_sets]
        assert all(len(heads) for heads in sets)
        sizes.append(sum(map(len, sets)))
    assert sizes == sorted(sizes)


def test_sets_contain_the_heads_above_the_threshold(parser):
    sentence = sentences("test", 1)[0]
    (parsed,) = parser.parse([sentence], head_sets=0.9)
    least = parser.model.head_sets.at(0.9).other
    marginals = parser.distribution(sentence).marginals
    for word, heads in enumerate(parsed.head_sets, 1):
        assert (
            heads.tolist() == slow_heads_within(marginals, np.full(len(sentence), least))[word - 1]
        )


def test_the_set_aside_part_of_dev_chooses_nothing(parser):
    dev = sentences("dev")
    aside = dev[1::2]
    rest = [one for i, one in enumerate(dev) if not i % 2]
    plain = Parser(**SMALL).fit(sentences("train", 60), rest)
    card = {k: v for k, v in parser.model.card.items() if k != "head_sets"}
    assert card == plain.model.card
    assert parser.model.temperature == plain.model.temperature
    assert plain.calibrate(aside).model.card == parser.model.card
    assert parser.model.head_sets.sentences == len(aside)


def test_files_with_and_without_misc(parser, tmp_path):
    (parsed,) = parser.parse(sentences("test", 1), head_sets=0.9)
    assert "HeadSet=" in parsed.to_conllu()
    from arbora.data.treebank import read_treebank
    from arbora.options import ParseOptions

    options = ParseOptions(head_sets=0.9)
    block = read_treebank(sentences("test", 2))
    text = parser.parse_block(block, options).to_bytes(False).decode()
    shown = [",".join(map(str, heads)) for heads in parsed.head_sets]
    lines = [line.split("\t") for line in text.split("\n\n")[0].splitlines() if "\t" in line]
    assert all(f"HeadSet={one}" in row[9] for one, row in zip(shown, lines, strict=True))
    assert "ArcProb" not in text
    assert "log_prob" not in text
    again = parser.parse_block(
        read_treebank([Sentence.from_bytes(text.split("\n\n")[0].encode() + b"\n\n")]),
        ParseOptions(),
    )
    assert b"HeadSet" not in again.to_bytes(False)  # of another tree
    rows = ["1\tw\tw\tNN\tNN\tA=b\t_\t_\t_\t_", "2\tv\tv\tVB\tVB\tA=b\t_\t_\t_\t_"]
    path = tmp_path / "x.conll"
    path.write_text("\n".join(rows) + "\n\n")
    block = read_treebank(path, "conllx")
    text = parser.parse_block(block, options).to_bytes(False).decode()
    assert "# arbora.head_sets = " in text


def test_saving_and_pickling(parser, tmp_path):
    parser.save(tmp_path / "m.arbora")
    again = load(tmp_path / "m.arbora")
    assert again.model.head_sets == parser.model.head_sets
    (parsed,) = again.parse(sentences("test", 1), head_sets=0.95)
    copied = pickle.loads(pickle.dumps(parsed))
    assert [h.tolist() for h in copied.head_sets] == [h.tolist() for h in parsed.head_sets]


def test_models_that_are_not_calibrated_say_what_to_do():
    with pytest.raises(ArgumentError, match="arbora calibrate MODEL TREEBANK"):
        trained().parse(sentences("test", 1), head_sets=0.95)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"head_sets": 0.3}, "head_sets"),
        ({"head_sets": 1.0}, "head_sets"),
        ({"head_sets": 0.9, "kbest": 2}, "cannot be combined with kbest"),
        ({"head_sets": 0.9, "samples": 2}, "cannot be combined with samples"),
        ({"head_sets": 0.9, "tag_samples": 2}, "cannot be combined with tag_samples"),
        ({"head_sets_by": "label"}, "requires head_sets"),
        ({"head_sets": 0.9, "head_sets_by": "length"}, "head_sets_by"),
        ({"head_sets": 0.9, "trees": "projective"}, "class of trees"),
    ],
)
def test_wrong_options(parser, options, reason):
    with pytest.raises(ArgumentError, match=reason):
        parser.parse(sentences("test", 1), **options)


@pytest.mark.parametrize("share", [-0.1, 0.95, "half", True])
def test_wrong_shares(share):
    with pytest.raises(ArgumentError, match=r"from 0 to 0\.9"):
        Parser(**SMALL).fit(sentences("train", 30), sentences("dev", 10), calibration_share=share)


def test_a_share_needs_dev():
    with pytest.raises(ArgumentError, match="requires dev"):
        Parser(**SMALL).fit(sentences("train", 30), calibration_share=0.2)
    with pytest.raises(ArgumentError, match="too few"):
        Parser(**SMALL).fit(sentences("train", 30), sentences("dev", 3), calibration_share=0.2)


def test_too_little_to_calibrate_on():
    with pytest.raises(DataError, match="at least 50"):
        copy.copy(trained()).calibrate(sentences("test", 1))


def test_further_training_drops_the_calibration(parser):
    more = Parser(passes=1).fit(sentences("train", 20), sentences("dev", 10), start=parser)
    assert more.model.head_sets is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: entry.pop("all"),
        lambda entry: entry.update(words=-1),
        lambda entry: entry.update(words=1.5),
        lambda entry: entry.update(all=entry["all"][:-1]),
        lambda entry: entry.update(all=entry["all"][::-1]),
        lambda entry: entry.update(all=[float("nan")] * len(entry["all"])),
        lambda entry: entry.update(all=[2.0] * len(entry["all"])),
        lambda entry: entry.update(label=[1]),
        lambda entry: entry.update(distance={"1": None}),
    ],
)
def test_damaged_cards(parser, damage):
    entry = copy.deepcopy(parser.model.card["head_sets"])
    damage(entry)
    with pytest.raises(ModelError, match="head_sets"):
        from_bytes(to_bytes(parser.model.with_card(head_sets=entry)))


def test_text_of_a_pipeline():
    from arbora.data.treebank import read_treebank

    text = b"".join(bytes(one).rstrip() + b"\n\n" for one in sentences("dev", 20))
    nlp = load("en").calibrate(io.BytesIO(text))
    assert nlp.model.head_sets.own_tags
    (sentence,) = nlp.read("The gulls sleep on the wall.", head_sets=0.9)
    assert len(sentence.head_sets) == len(sentence) == 7
    assert (
        not load("en")
        .calibrate(read_treebank(sentences("dev", 20)), retag=False)
        .model.head_sets.own_tags
    )
