"""What is written is valid UD: labels of the root, enhanced dependencies."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import Parser, Sentence, read_conllu
from arbora.models.model_file import from_bytes, to_bytes
from tests.small_parsers import SMALL, sentences, trained

WORDS = """\
# text = Gulls sleep and terns too.
1\tGulls\tgull\tNOUN\tNNS\tNumber=Plur\t{0}\tnsubj\t2:nsubj|5.1:dep\t_
2\tsleep\tsleep\tVERB\tVBP\t_\t0\troot\t0:root\tNote=1
3\tand\tand\tCCONJ\tCC\t_\t4\tcc\t4:cc\t_
4\tterns\ttern\tNOUN\tNNS\tNumber=Plur\t2\tconj\t2:conj\t_
5\ttoo\ttoo\tADV\tRB\t_\t4\torphan\t5.1:advmod\tSpaceAfter=No
5.1\tsleep\tsleep\tVERB\tVBP\t_\t_\t_\t2:conj\tCopyOf=2
6\t.\t.\tPUNCT\t.\t_\t2\tpunct\t2:punct\t_

"""
GOOD = Sentence.from_bytes(WORDS.format(2).encode())


def disordered(parser):
    """The same parser with random weights for labels, or for everything if labels are joint."""
    rng = np.random.default_rng(1)
    name = "scorer.weights" if parser.options.labels == "joint" else "labeller.weights"
    component = parser.model.scorer if "scorer" in name else parser.model.labeller.scorer
    weights = rng.normal(size=component.weights.shape).astype(np.float32)
    return Parser.from_model(parser.model.with_parameters({name: weights}), 1)


@pytest.mark.parametrize("labels", ["staged", "joint"])
@pytest.mark.parametrize("options", [{}, {"kbest": 3}, {"samples": 3}, {"decode": "mbr"}], ids=str)
def test_root_is_the_label_of_the_root(labels, options):
    """However bad the model is; and without the entry of the card, bad labels come out."""
    parser = disordered(trained(labels=labels))
    assert parser.model.card["root_labels"] == ["root"]
    parsed = parser.parse(sentences("test", 20), **options)
    assert len(parsed) >= 20
    for sentence in parsed:
        roots = [label == "root" for label in sentence.labels]
        assert roots == (sentence.heads == 0).tolist()
        assert sum(roots) == 1
        assert np.isfinite(sentence.log_prob)
    free = Parser.from_model(parser.model.with_card(root_labels=[]), 1)
    wrong = [
        (label == "root") != (head == 0)
        for sentence in free.parse(sentences("test", 20), **options)
        for label, head in zip(sentence.labels, sentence.heads.tolist(), strict=True)
    ]
    assert any(wrong)
    again = Parser.from_model(from_bytes(to_bytes(parser.model)), 1)
    assert [bytes(s) for s in again.parse(sentences("test", 5))] == [
        bytes(s) for s in parser.parse(sentences("test", 5))
    ]


def test_known_labels_come_first():
    """A correction may give the root another label."""
    first = sentences("test", 1)[0]
    for labels in ("staged", "joint"):
        parsed = trained(labels=labels).parse([first], required=[(0, 1, "obj")])[0]
        assert (parsed.heads[0], parsed.labels[0]) == (0, "obj")


def test_treebanks_that_use_a_label_everywhere():
    toys = sentences("train", 30)
    heads = [sentence.heads.tolist() for sentence in toys]
    odd = [
        sentence.with_tree(tree, ["x"] * len(tree))
        for sentence, tree in zip(toys, heads, strict=True)
    ]
    parser = Parser(**SMALL).fit(odd, odd[:3])
    assert parser.model.card["root_labels"] == []
    assert parser.model.root_labels is None


def test_enhanced_dependencies_of_the_same_tree_are_kept():
    parser = trained()
    parsed = parser.parse([GOOD], keep_heads=True)[0]
    assert bytes(parsed) == bytes(GOOD)
    labelled = parser.parse([GOOD], keep_heads=True, probabilities=True)[0]
    assert labelled.deps == GOOD.deps


def test_enhanced_dependencies_of_another_tree_are_dropped():
    wrong_head = WORDS.format(2).replace("\t4\tcc\t", "\t_\t_\t")
    gold = Sentence.from_bytes(wrong_head.encode())
    parsed = trained().parse([gold, GOOD], keep_heads=True)
    assert parsed[0].deps == ["_"] * 6
    assert "5.1" not in parsed[0].to_conllu()
    assert parsed[0].misc == gold.misc
    assert parsed[0].comments == gold.comments
    assert bytes(parsed[1]) == bytes(GOOD)
    for options in ({}, {"kbest": 5}, {"samples": 2, "probabilities": True}):
        for one in trained().parse([GOOD], **options):  # even if a tree is the same by chance
            assert one.deps == ["_"] * 6
            assert "\n5.1\t" not in one.to_conllu()
    relabelled = trained().label(GOOD, GOOD.heads)
    assert (relabelled.deps == GOOD.deps) == (relabelled.labels == GOOD.labels)


def test_empty_nodes_without_dependencies(tmp_path):
    lines = WORDS.format("_").split("\n")
    bare = "\n".join(
        "\t".join([*line.split("\t")[:8], "_", line.split("\t")[9]]) if "\t" in line else line
        for line in lines
    )
    (tmp_path / "in.conllu").write_bytes(bare.replace("\n", "\r\n").encode())
    (parsed,) = trained().parse(tmp_path / "in.conllu")
    assert "5.1" not in parsed.to_conllu()
    assert parsed.to_conllu().count("\n") == parsed.to_conllu().count("\r\n") == 8
    assert len(list(read_conllu(tmp_path / "in.conllu"))) == 1
