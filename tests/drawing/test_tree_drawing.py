"""Drawings of sentences, trees and distributions, and what notebooks show of every result."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from arbora import (
    ArgumentError,
    Mixture,
    Parts,
    ProjectiveTrees,
    SecondOrderTrees,
    Sentence,
    ShapeError,
    SpanningTrees,
    Tree,
    TreeDrawing,
    calibration,
    compare,
    evaluate,
)
from arbora.drawing import Arc, draw_tree_list, heat_html, heat_table, tree_lists
from arbora.fitting.loop import History, PassRecord
from arbora.models.explaining import Contribution, Explanation
from tests.small_parsers import sentences, trained

WORDS = ["to", "<b>", "go"]
FRENCH = b"""# sent_id = s-1
# text = Il parle du chat
1\tIl\til\tPRON\t_\t_\t2\tnsubj\t_\tArcProb=0.9876
2\tparle\tparler\tVERB\t_\t_\t0\troot\t_\tX=y|ArcProb=0.5
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\tArcProb=bad
4\tle\tle\tDET\t_\t_\t5\t_\t_\t_
5\tchat\tchat\tNOUN\t_\t_\t2\tobl\t_\t_

"""


def test_of_a_sentence():
    sentence = Sentence.from_bytes(FRENCH)
    drawing = sentence.draw()
    assert drawing.words == ("Il", "parle", "de", "le", "chat")
    assert drawing.labels == ("nsubj", "root", "case", "", "obl")
    assert drawing.tags[0] == "PRON"
    assert drawing.probabilities == (0.9876, 0.5, None, None, None)
    assert drawing.multiword == ((3, 4, "du"),)
    assert drawing.name == "s-1"
    assert drawing.sentence == "Il parle du chat"
    assert drawing.arcs[0] == Arc(2, 1, "nsubj", 0.9876)
    assert sentence.draw(tags=False, probabilities=False).tags == ()
    assert sentence.draw(probabilities=False).probabilities == (None,) * 5
    assert sentence.svg() == drawing.svg()
    assert sentence.svg(200) == drawing.svg(200) != drawing.svg()
    assert str(drawing) == drawing.text() == repr(drawing)
    assert sentence.draw(width=20).text() == drawing.text(20) != drawing.text(200)


def test_of_a_sentence_in_another_format():
    text = (
        b"# arbora.arc_probabilities = 0.5 0.25\n"
        + "\n".join(
            f"{i}\tw{i}\t_\t_\tNN\t_\t{head}\tx\t_\t_" for i, head in ((1, 0), (2, 1))
        ).encode()
        + b"\n\n"
    )
    drawing = Sentence.from_bytes(text, "conllx").draw()
    assert drawing.probabilities == (0.5, 0.25)
    assert drawing.tags == ("NN", "NN")
    assert Sentence.from_words(["a", "b"]).draw().tags == ()
    assert Sentence.from_words(["a", "b"]).draw().arcs == []


def test_of_a_parsed_sentence():
    parser = trained()
    gold = sentences("dev", 1)[0]
    (parsed,) = parser.parse([gold], probabilities=True)
    drawing = parsed.draw()
    assert drawing.probabilities == tuple(parsed.arc_probabilities.tolist())
    trees = parser.distribution(gold)
    assert trees.words == tuple(gold.forms)
    assert trees.constrain(required=[trees.argmax().arcs[0]]).draw().words == tuple(gold.forms)
    assert gold.forms[0] in trees._repr_html_()
    check_html(parsed)
    check_html(parser.explain(gold, 1))


def test_of_a_tree():
    tree = Tree(np.array([2, 0], dtype=np.int32), np.array([1, 0], dtype=np.int32), 3.0)
    assert tree.draw(["I", "go"]).labels == ("1", "0")
    named = tree.draw(["I", "go"], label_names=["root", "nsubj"], tags=["X", "Y"], width=30)
    assert named.labels == ("nsubj", "root")
    assert (named.tags, named.width) == (("X", "Y"), 30)
    assert tree.draw().words == ("1", "2")
    assert tree.svg(["I", "go"], width=500) == tree.draw(["I", "go"]).svg(500)
    check_html(tree)


def test_of_a_distribution():
    scores = np.full((4, 4), -2.0)
    scores[0, 2] = scores[2, 1] = 3.0
    scores[2, 3], scores[1, 3] = 1.0, 0.8
    for trees in (
        SpanningTrees(scores), ProjectiveTrees(scores, "multi"), SecondOrderTrees(Parts(scores)),
        Mixture([SpanningTrees(scores)]),
    ):  # fmt: skip
        drawing = trees.draw(WORDS, threshold=0.05)
        heads = trees.mbr().heads
        assert drawing.heads == tuple(heads)
        p = trees.marginals
        assert drawing.probabilities == pytest.approx(p[heads, [1, 2, 3]])
        others = {(a.head, a.modifier): a.probability for a in drawing.alternatives}
        assert others == pytest.approx({
            (h, m): p[h, m] for m in (1, 2, 3) for h in range(4)
            if p[h, m] >= 0.05 and h != heads[m - 1]
        })  # fmt: skip
        assert others or not isinstance(trees, SpanningTrees)
        assert trees.draw(WORDS, threshold=1.0).alternatives == ()
        second = trees.draw(tree=SpanningTrees(scores).kbest(2)[1])
        assert second.words == ("1", "2", "3")
        assert trees.svg(WORDS, threshold=0.05, width=300) == drawing.svg(300)
        check_html(trees)


def test_marginals_with_labels_are_summed():
    trees = SpanningTrees(np.zeros((3, 3, 2)))
    # Two single-root trees of two words: each has probability 1/2, over all labels.
    assert trees.draw(["a", "b"]).probabilities == pytest.approx((0.5, 0.5))
    check_html(trees)


def test_heat_table():
    p = np.array([[0, 1.0, 0.25], [0, 0, 0.75], [0, 1e-9, 0]])
    lines = heat_table(["to", "understand"], p).splitlines()
    assert lines[0].split() == ["to", "unders…"]
    assert lines[1].split() == ["ROOT", "█100", "░", "25"]
    assert lines[2].split() == ["to", "▓", "75"]
    assert lines[3].split() == ["understand", "·"]
    table = ET.fromstring(heat_html(p, ["to", "<i>"], "a & b"))
    cells = [[cell.text for cell in row] for row in table.findall("tr")]
    assert cells == [
        [None, "to", "<i>"], ["ROOT", "100", "25"], ["to", None, "75"], ["<i>", "·", None],
    ]  # fmt: skip
    assert "first 40 of 50 words" in heat_html(np.zeros((51, 51)))
    with pytest.raises(ShapeError, match="2 words"):
        heat_table(["a", "b"], np.zeros((2, 2)))


def check_html(result):
    """What a notebook shows is well-formed, escaped and free of scripts."""
    html = result._repr_html_()
    ET.fromstring(f"<div>{html}</div>")
    assert "<script" not in html
    assert "<b>" not in html


def test_results_in_a_notebook():
    gold = [Sentence.from_words(WORDS, heads=[2, 0, 2], labels=["a", "root", "<b>"])]
    system = [gold[0].with_tree([3, 3, 0])]
    scores = evaluate(gold, system)
    check_html(scores)
    assert f"{scores.uas:.2f}" in scores._repr_html_()
    comparison = compare(gold, gold, system, permutations=10)
    check_html(comparison)
    assert "p (sign)" in comparison._repr_html_()
    check_html(calibration([0.5, 0.7, 0.9], [0, 1, 1], bins=2))
    check_html(gold[0])
    check_html(gold[0].draw())
    history = History(
        [PassRecord(1, 0.5, None, None, 1.0), PassRecord(2, 0.25, 90.0, 80.0, 1.0)], 2
    )
    check_html(history)
    assert "2 (best)" in history._repr_html_()
    parts = tuple(Contribution("<b>", ("x", "&"), "", float(i), "y") for i in range(20))
    explained = Explanation(1, 0, 2, 1.0, 0.5, parts)
    check_html(explained)
    assert "5 more" in explained._repr_html_()


def test_batches_in_a_notebook():
    zeros, impossible = np.zeros((3, 3)), np.full((3, 3), -np.inf)
    batch = SpanningTrees.batch([zeros] * 11 + [impossible], errors="return")
    check_html(batch)
    assert "2 more sentences" in batch._repr_html_()
    assert "no tree" in SpanningTrees.batch([impossible], errors="return")._repr_html_().lower()
    check_html(SecondOrderTrees.batch([Parts(zeros)] * 2))


def listed(heads, rank, log_prob):
    comments = [f"# arbora.rank = {rank}"] if rank else []
    comments += [f"# arbora.log_prob = {log_prob}"] if log_prob is not None else []
    return Sentence.from_words(
        ["a", "b", "c"], heads=heads, labels=["x", "y", "z"], comments=comments
    )


def test_lists_of_trees():
    first, second = [2, 0, 2], [3, 0, 2]
    trees = [
        listed(first, 1, np.log(0.6)), listed(second, 2, np.log(0.2)),
        listed(second, 3, np.log(0.2)), listed(first, 1, None),
        listed(second, 2, None), listed(first, None, None),
    ]  # fmt: skip
    lists = list(tree_lists(trees))
    assert [len(group) for group in lists] == [3, 2, 1]
    drawing = draw_tree_list(lists[0], 0.2)
    assert drawing.probabilities == pytest.approx((0.75, 1.0, 1.0))
    (other,) = drawing.alternatives
    assert other[:3] == (3, 1, "x")
    assert other.probability == pytest.approx(0.25)
    assert draw_tree_list(lists[0], 0.3).alternatives == ()
    assert draw_tree_list(lists[1]).probabilities == pytest.approx((0.5, 1.0, 1.0))
    assert draw_tree_list(lists[2]) == trees[-1].draw()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"probabilities": [0.5]}, ShapeError, r"probabilities of shape \(1,\)"),
        ({"probabilities": [0.5, 1.5]}, ArgumentError, "1.5 is not a probability"),
        ({"alternatives": [(1, 2)]}, ArgumentError, r"must be \(head, modifier, probability\)"),
        ({"alternatives": [(1, 3, 0.5)]}, ShapeError, "an arc leads to word 3"),
        ({"alternatives": [(2, 2, 0.5)]}, ShapeError, "its own head"),
        ({"tags": ["A"]}, ShapeError, "2 words, but 1 tags"),
        ({"tags": "AB"}, ShapeError, "one string"),
        ({"multiword": [(1, 3, "x")]}, ShapeError, "words 1 to 3"),
        ({"multiword": [(1, 2, "x"), (2, 2, "y")]}, ShapeError, "overlaps"),
    ],
)
def test_bad_values(arguments, error, message):
    with pytest.raises(error, match=message):
        TreeDrawing(["a", "b"], [0, 1], **arguments)


def test_bad_marginals():
    with pytest.raises(ShapeError, match="2 words, but marginals"):
        TreeDrawing.from_marginals(["a", "b"], [0, 1], np.zeros((2, 2)))
