"""Scores of raw text against the official scorer, on output that is wrong in every way."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from udtools import udeval

import arbora
from arbora import ArboraError
from arbora.evaluation import evaluate_text

TREEBANKS = os.environ.get("ARBORA_TREEBANKS", "")
FILES = [Path("examples/treebank/test.conllu")]
if TREEBANKS:
    FILES += sorted(Path(TREEBANKS).glob("ud_*/test.conllu"))


def rows_of(sentence):
    """Tokens of a sentence: lists of word rows, with the row of the multiword token before them."""
    tokens, last = [], 0
    for line in bytes(sentence).decode().split("\n"):
        if not line[:1].isdecimal() or "." in line.partition("\t")[0]:
            continue
        row = line.split("\t")
        first, dash, end = row[0].partition("-")
        if dash:
            tokens.append([row])
            last = int(end)
        elif int(first) <= last:
            tokens[-1].append(row)
        else:
            tokens.append([row])
    return tokens


def disturbed(sentences, rng):
    """The same characters with other sentences, tokens, words, tags, lemmas and trees."""
    lines, tokens = [], []
    for sentence in sentences:
        for token in rows_of(sentence):
            words = token[1:] if len(token) > 1 else token
            form = token[0][1]
            if len(token) > 1 and rng.random() < 0.2:
                words, token = [[*words[0][:1], form, *words[0][2:]]], None
            elif len(token) == 1 and len(form) > 1 and rng.random() < 0.05:
                cut = int(rng.integers(1, len(form)))
                if rng.random() < 0.5 and not set(form) & set(" \u00a0"):  # two tokens
                    tokens.append((None, [[*words[0][:1], form[:cut], *words[0][2:]]]))
                    words, token = [[*words[0][:1], form[cut:], *words[0][2:]]], None
                else:  # a multiword token
                    parts = form[:cut], form[cut:].upper()
                    words = [[*words[0][:1], part, *words[0][2:]] for part in parts]
                    token = form
            tokens.append((form if token is not None and len(words) > 1 else None, words))
        if rng.random() < 0.85:
            lines += written(tokens, rng)
            tokens = []
    lines += written(tokens, rng) if tokens else []
    return "\n".join(lines) + "\n"


def written(tokens, rng):
    n = sum(len(words) for _, words in tokens)
    order = rng.permutation(n)
    heads = np.zeros(n, dtype=int)
    for place, word in enumerate(order):  # a random tree, near to the gold one where that is easy
        heads[word] = 0 if place == 0 else order[rng.integers(place)] + 1
    lines, number = [], 1
    for form, words in tokens:
        if form is not None:
            lines.append("\t".join([f"{number}-{number + len(words) - 1}", form, *"________"]))
        for row in words:
            row = list(row)
            for column, other in ((2, "other"), (3, "X"), (4, "x"), (5, "Case=Nom|Own=No")):
                if rng.random() < 0.1:
                    row[column] = other
            label = row[7] if rng.random() < 0.8 else "obj:sub"
            head = int(heads[number - 1])
            lines.append("\t".join([str(number), *row[1:6], str(head), label, "_", "_"]))
            number += 1
    return [*lines, ""]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_as_the_official_scorer(path, tmp_path):
    sentences = list(arbora.read_conllu(path))[:150]
    gold = tmp_path / "gold.conllu"
    arbora.write_conllu(gold, sentences)
    system = tmp_path / "system.conllu"
    system.write_text(disturbed(sentences, np.random.default_rng(2018)), encoding="utf-8")
    with gold.open(encoding="utf-8") as a, system.open(encoding="utf-8") as b:
        expected = udeval.evaluate(*(udeval.load_conllu(file, file.name, {}) for file in (a, b)))
    found = evaluate_text(gold, system)
    assert found.aligned > 100
    for name, match in found.matches.items():
        for figure in ("precision", "recall", "f1"):
            ours, theirs = getattr(match, figure), 100 * getattr(expected[name], figure)
            assert (ours or 0.0) == pytest.approx(theirs, abs=1e-9), (name, figure)
    assert 10 < found.f1("UPOS") < 100


def test_the_same_words_give_the_scores_of_attachment():
    gold = list(arbora.read_conllu(FILES[0]))
    rng = np.random.default_rng(0)
    parsed = [
        s.with_tree([int(rng.integers(m)) if rng.random() < 0.3 else h for m, h in heads])
        for s in gold
        for heads in [list(enumerate(s.heads.tolist(), 1))]
    ]
    plain, text = arbora.evaluate(gold, parsed), evaluate_text(gold, parsed)
    assert text.f1("Words") == 100
    assert text.f1("UAS") == pytest.approx(plain.uas)
    assert text.f1("LAS") == pytest.approx(plain.las)
    assert str(text).count("\n") == len(text.matches)
    assert text.to_dict()["UAS"]["gold"] == sum(map(len, gold))


def test_other_texts_are_refused():
    gold = list(arbora.read_conllu(FILES[0]))[:2]
    other = [arbora.Sentence.from_words(["Other", "words"], heads=[0, 1])]
    with pytest.raises(ArboraError, match="not the same text: after 0 characters"):
        evaluate_text(gold, other)
    with pytest.raises(ArboraError, match="without a head"):
        evaluate_text([arbora.Sentence.from_words(["a"])], other)
    with pytest.raises(ArboraError, match="CoNLL-U"):
        evaluate_text([arbora.Sentence.from_words(["a"], heads=[0], format="conllx")], other)
