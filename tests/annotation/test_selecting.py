"""Selections: budgets, known words, streams, and files that can be trained on."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora import Parser, Sentence, read_conllu
from arbora.annotation import MEASURES, select
from arbora.errors import ArgumentError
from tests.small_parsers import SMALL, sentences, trained
from tests.toys import without_heads


@pytest.fixture(scope="module")
def pool():
    """Sentences of which some heads are known."""
    rng = np.random.default_rng(3)
    return [without_heads(one, rng, share) for one in sentences("test", 15) for share in (0.5, 1.0)]


def asked(found):
    return [(request.number, word) for request in found.requests for word in request.words]


@pytest.mark.parametrize("unit", ["sentences", "arcs"])
@pytest.mark.parametrize("by", MEASURES)
@pytest.mark.parametrize("diversity", [0.0, 0.6])
def test_selected_words_lack_a_head_and_fit_in_the_budget(pool, by, unit, diversity):
    found = select(trained(), pool, 40, by=by, unit=unit, diversity=diversity)
    words = asked(found)
    assert 0 < len(words) == found.n_words <= 40
    assert len(set(words)) == len(words)
    assert all(pool[number].heads[word - 1] < 0 for number, word in words)
    if unit == "arcs":
        assert len(words) == 40
    else:
        for request in found.requests:
            missing = np.flatnonzero(pool[request.number].heads < 0) + 1
            assert request.words == tuple(missing)
    assert found.pool_sentences == 30
    assert found.pool_words == sum(int((one.heads < 0).sum()) for one in pool)
    again = select(trained(), pool, 40, by=by, unit=unit, diversity=diversity)
    assert asked(again) == words


def test_a_file_is_streamed_with_the_same_result(pool, monkeypatch):
    text = b"".join(bytes(one).rstrip() + b"\n\n" for one in pool)
    whole = select(trained(), pool, 25, unit="arcs", by="entropy")
    monkeypatch.setattr("arbora.parsers.parser.chunk_size", lambda _: 700)
    found = select(trained(), io.BytesIO(text), 25, unit="arcs", by="entropy")
    assert asked(found) == asked(whole)
    random = [
        asked(select(trained(), source, 25, by="random", seed=5))
        for source in (pool, io.BytesIO(text))
    ]
    assert random[0] == random[1]
    assert asked(select(trained(), pool, 25, by="random", seed=6)) != random[0]


def test_arcs_by_errors_are_the_least_certain(pool):
    found = select(trained(), pool, 10, unit="arcs")
    unknown = [Sentence.from_bytes(bytes(one)) for one in pool]
    parsed = trained().parse(unknown, keep_heads=True)
    every = sorted(
        (float(chance), number)
        for number, (one, known) in enumerate(zip(parsed, pool, strict=True))
        for chance, head in zip(one.arc_probabilities, known.heads, strict=True)
        if head < 0
    )
    gains = sorted(1 - gain for request in found.requests for gain in request.gains)
    assert np.allclose(gains, [chance for chance, _ in every[:10]])


def test_the_output_is_for_annotators_and_for_training(pool, tmp_path):
    found = select(trained(), pool, 30, unit="arcs")
    assert found.write(tmp_path / "next.conllu") == len(found.requests)
    written = list(read_conllu(tmp_path / "next.conllu"))
    for request, sentence in zip(found.requests, written, strict=True):
        known = pool[request.number]
        assert sentence.heads.tolist() == known.heads.tolist()  # nothing is told, nothing is lost
        assert sentence.forms == known.forms
        marked = [word for word, misc in enumerate(sentence.misc, 1) if "Ask=" in misc]
        assert marked == sorted(request.words)
        heads = sentence.heads.copy()
        labels = list(sentence.labels)
        for word in request.words:  # the annotator believes the parser
            guess = next(p for p in sentence.misc[word - 1].split("|") if p.startswith("Guess="))
            head, _, labels[word - 1] = guess.removeprefix("Guess=").partition(":")
            heads[word - 1] = int(head)
        assert sentence.with_tree(heads, labels).heads[request.words[0] - 1] >= 0
    Parser(**SMALL | {"passes": 1}).fit(tmp_path / "next.conllu", sentences("dev", 5))


def test_ignored_heads_are_revealed_where_they_were_asked_for():
    gold = sentences("test", 10)
    with pytest.raises(ArgumentError, match="every word of the pool has a head"):
        select(trained(), gold, 10)
    found = select(trained(), gold, 12, unit="arcs", ignore_heads=True)
    for request, sentence in zip(found.requests, found.sentences, strict=True):
        shown = np.flatnonzero(sentence.heads >= 0) + 1
        assert shown.tolist() == sorted(request.words)
        own = gold[request.number]
        assert [sentence.labels[w - 1] for w in shown] == [own.labels[w - 1] for w in shown]
    assert sum(int((one.heads >= 0).sum()) for one in found.sentences) == 12


def test_enhanced_dependencies_do_not_tell_the_heads():
    rows = [
        "1 gulls gull NOUN NN _ 2 nsubj 2:nsubj _", "2 sleep sleep VERB VB _ 0 root 0:root _",
        "2.1 x x VERB _ _ _ _ 0:root _",
    ]  # fmt: skip
    block = "".join(row.replace(" ", "\t") + "\n" for row in rows) + "\n"
    given = Sentence.from_bytes(block.encode())
    (found,) = select(trained(), [given], 5, ignore_heads=True).sentences
    assert found.deps == ["_", "_"]
    assert "2.1" not in found.to_conllu()


def test_other_formats_have_comments(tmp_path):
    path = tmp_path / "pool.conll"
    rows = ["\t".join([str(i), "w", "w", "NN", "NN", "A=b", "_", "_", "_", "_"]) for i in (1, 2)]
    path.write_text("\n".join(rows) + "\n\n")
    found = select(trained(), path, 1, unit="arcs", format="conllx")
    (sentence,) = found.sentences
    assert any(line.startswith("# arbora.ask = ") for line in sentence.comments)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"by": "luck"}, "no measure 'luck'"),
        ({"unit": "words"}, "sentences or arcs"),
        ({"diversity": 2}, "between 0 and 1"),
        ({"diversity": "much"}, "between 0 and 1"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_options(pool, options, reason):
    with pytest.raises(ArgumentError, match=reason):
        select(trained(), pool, 5, **options)


@pytest.mark.parametrize("budget", [0, -3, 2.5, "many", True])
def test_wrong_budgets(pool, budget):
    with pytest.raises(ArgumentError, match="budget"):
        select(trained(), pool, budget)


def test_a_pool_of_nothing_that_is_known():
    with pytest.raises(ArgumentError, match="list"):
        select(trained(), 5, 5)
    with pytest.raises(ArgumentError, match="list of Sentence"):
        select(trained(), [1, 2], 5)


def test_an_empty_pool():
    with pytest.raises(ArgumentError, match="no sentences"):
        select(trained(), [], 5)


@settings(max_examples=25)
@given(
    budget=st.integers(1, 400), unit=st.sampled_from(["sentences", "arcs"]),
    by=st.sampled_from(list(MEASURES)), diversity=st.floats(0, 1), seed=st.integers(0, 2**40),
)  # fmt: skip
def test_any_options_keep_the_budget(budget, unit, by, diversity, seed):
    gold = sentences("test", 6)
    found = select(
        trained(), gold, budget, by=by, unit=unit, diversity=diversity, seed=seed,
        ignore_heads=True,
    )  # fmt: skip
    words = sum(len(one) for one in gold)
    assert found.n_words <= min(budget, words)
    if unit == "arcs" or budget >= words:
        assert found.n_words == min(budget, words)
