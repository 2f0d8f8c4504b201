"""Output of parsing: heads, labels, probabilities and comments."""

from __future__ import annotations

import re

import numpy as np
import pytest

from arbora import Parser, Sentence, read_conllu
from arbora.data import Block, Stage, sentences_of
from arbora.data.treebank import read_treebank
from arbora.options import ParseOptions
from tests.small_parsers import SMALL, sentences, trained
from tests.toys import toy_sentences


def written(parser, path, file_format=None, **options):
    how = ParseOptions(**options)
    stage = parser.stage(how)
    blocks = [stage(chunk.block) for chunk in parser.chunks(path, how, format=file_format)]
    return b"".join(block.texts(0, len(block)) for block in blocks).decode()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "in.conllu"
    path.write_bytes(b"".join(bytes(s) for s in sentences("test", 6)))
    return path


@pytest.fixture
def as_conllx(tmp_path):
    """The same sentences in the older format: ten columns, no comments."""
    path = tmp_path / "in.conllx"
    texts = []
    for s in sentences("test", 6):
        columns = zip(s.forms, s.lemmas, s.upos, s.xpos, s.feats, strict=True)
        rows = [f"{i}\t" + "\t".join([*c, *"_" * 4]) for i, c in enumerate(columns, start=1)]
        texts.append("\n".join(rows) + "\n\n")
    path.write_text("".join(texts))
    return path


def test_only_heads_and_labels_change(path):
    before, after = path.read_text().split("\n"), written(trained(), path).split("\n")
    for old, new in zip(before, after, strict=True):
        a, b = old.split("\t"), new.split("\t")
        assert a[:6] + a[8:] == b[:6] + b[8:]


def test_probabilities_go_into_misc(path, tmp_path):
    text = written(trained(), path, probabilities=True)
    (tmp_path / "out.conllu").write_text(text)
    parsed = trained().parse(path)
    for with_figures, sentence in zip(read_conllu(tmp_path / "out.conllu"), parsed, strict=True):
        for name, values in (
            ("ArcProb", sentence.arc_probabilities), ("LabelProb", sentence.label_probabilities),
        ):  # fmt: skip
            shown = [re.search(rf"{name}=([\d.]+)", misc)[1] for misc in with_figures.misc]
            np.testing.assert_allclose([float(x) for x in shown], values, atol=1e-3)
        (comment,) = [c for c in with_figures.comments if "log_prob" in c]
        assert float(comment.split("=")[1]) == pytest.approx(sentence.log_prob, abs=1e-5)


def test_models_without_labels_leave_them_out(path):
    text = written(trained(labels="none"), path, probabilities=True)
    assert "LabelProb" not in text
    rows = [line.split("\t") for line in text.split("\n") if line and line[0] != "#"]
    assert {row[7] for row in rows if row[0].isdigit()} == {"_"}


def test_the_older_format(as_conllx):
    parser = trained()
    plain = written(parser, as_conllx, "conllx")
    assert "#" not in [line[:1] for line in plain.split("\n")]
    assert all(len(line.split("\t")) == 10 for line in plain.split("\n") if line)
    text = written(parser, as_conllx, "conllx", probabilities=True)
    assert "ArcProb" not in text
    assert text.count("# arbora.arc_probabilities = ") == 6
    assert text.count("# arbora.label_probabilities = ") == 6


def test_greedy_heads_have_no_certificate(path):
    """They need not form a tree."""
    parser = trained()
    for decode, answer in (("map", "yes"), ("mbr", "yes"), ("greedy", "no")):
        text = written(parser, path, decode=decode, certificates=True)
        assert re.findall(r"# arbora.certified = (.*)", text) == [answer] * 6


def test_lists_of_trees_are_ranked(path):
    text = written(trained(), path, kbest=3)
    assert re.findall(r"# arbora.rank = (\d+)", text) == ["1", "2", "3"] * 6


def test_dev_scores_follow_the_rule_of_the_format(rng):
    """Punctuation does not count in CoNLL-X: training and evaluation report the same scores."""
    train = [
        Sentence.from_words(
            s.forms, s.upos, s.xpos, lemmas=s.lemmas, heads=s.heads, labels=s.labels,
            format="conllx",
        )
        for s in toy_sentences(rng, [6, 9, 4, 7] * 10)
    ]  # fmt: skip
    parser = Parser(**SMALL).fit(train[8:], train[:8])
    best = parser.history.passes[parser.history.best - 1]
    scores = parser.evaluate(train[:8])
    assert (best.uas, best.las) == pytest.approx((scores.uas, scores.las))
    assert scores.tokens < sum(len(s.forms) for s in train[:8])


def test_the_root_class_is_chosen(rng):
    for root in ("single", "multi"):
        train = toy_sentences(rng, [6, 9, 4, 7] * 5, root="single")
        if root == "multi":
            train[3:5] = [Sentence.from_words(["a", "b"], heads=[0, 0])] * 2
        parser = Parser(**SMALL).fit(train)
        assert parser.model.root == root
        assert parser.model.card["root"] == root


def test_what_an_earlier_parse_said_of_its_trees_is_forgotten(path, tmp_path):
    """The user's comments and MISC entries stay, those of an earlier parse are removed."""
    parser = trained()
    plain = path.read_text(encoding="utf-8")
    noted = plain.replace("# sent_id", "# arbora.note = mine\n# gap = 2\n# sent_id")
    (tmp_path / "noted.conllu").write_text(noted, encoding="utf-8")
    expected = written(parser, tmp_path / "noted.conllu")
    assert "# arbora.note = mine" in expected
    assert "# gap = 2" in expected
    for options in ({"probabilities": True, "certificates": True}, {"kbest": 1}, {"samples": 1}):
        text = written(parser, tmp_path / "noted.conllu", **options)
        assert "# arbora.log_prob" in text or "# arbora.rank" in text
        (tmp_path / "again.conllu").write_text(text, encoding="utf-8")
        again = written(parser, tmp_path / "again.conllu")
        if "probabilities" in options:
            assert again == expected
        else:  # copies have a sent_id of their own
            lines = re.sub("(# sent_id = .*)-[ks]1\n", r"\1\n", again).splitlines()
            assert sorted(lines) == sorted(expected.splitlines())


@pytest.mark.parametrize(("options", "letter"), [({"kbest": 3}, "k"), ({"samples": 3}, "s")])
def test_copies_have_a_sent_id_of_their_own(options, letter):
    first, second = sentences("test", 2)
    nameless = Sentence.from_words(second.forms, second.upos, xpos=second.xpos)
    parsed = trained().parse([first, nameless], allow_missing=True, **options)
    assert [one.sent_id for one in parsed[:3]] == [
        f"{first.sent_id}-{letter}{k}" for k in (1, 2, 3)
    ]
    assert [one.sent_id for one in parsed[3:]] == [None] * 3
    assert all(sum("sent_id" in line for line in one.comments) == 1 for one in parsed[:3])
    assert trained().parse([first])[0].sent_id == first.sent_id


def test_misc_that_only_looks_like_an_earlier_parse_stays(path, tmp_path):
    odd = "\tGloss=ArcProb||B=2|\n"
    text = path.read_text(encoding="utf-8").replace("\t_\n", odd, 1)
    (tmp_path / "odd.conllu").write_text(text, encoding="utf-8")
    assert odd in written(trained(), tmp_path / "odd.conllu")


def test_a_parser_is_a_stage(path):
    """Called with a block it gives what the command writes, and numbers of draws go on."""
    parser = trained()
    block = read_treebank(path)
    assert isinstance(parser, Stage)
    done = parser(block)
    assert done.texts(0, len(done)).decode() == written(parser, path)
    assert [s.heads.tolist() for s in sentences_of(done)] == [
        s.heads.tolist() for s in parser.parse(path)
    ]
    empty = Block.from_columns([])
    assert len(parser(empty)) == 0
    how = ParseOptions(samples=2, seed=5)
    stage = parser.stage(how)
    one = stage(block).texts(0, 2 * len(block))
    first, rest = (b"".join(block.text(i) for i in range(*ends)) for ends in ((0, 2), (2, 6)))
    pieces = [Block(first, block.layout), Block(rest, block.layout, first_sentence=2)]
    two = b"".join(stage(piece).texts(0, 2 * len(piece)) for piece in pieces)
    assert one == two
