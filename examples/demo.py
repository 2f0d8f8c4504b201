"""A tour in a minute; run it with `make demo`.

Parses three English sentences with the model of the package, draws them with probabilities and
corrects an arc. Then it trains a parser on the small treebank beside this file, reports the
accuracy on new sentences and the least certain arcs, and corrects a tree with one constraint.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from textwrap import shorten

import numpy as np

from arbora import ParsedSentence, Parser, Sentence, evaluate, load, read_conllu
from arbora.drawing import make_printable
from arbora.fitting.loop import PassRecord

TREEBANK = Path(__file__).parent / "treebank"
TEXT = (
    "The old sailor painted his boat. We ate the soup with the spoon that my sister made. "
    "She saw the man with a telescope."
)
PHRASES = {"nmod", "obl", "conj", "advcl"}  # labels that are hard to attach


class Lines:
    """An observer of the training that prints one line per pass."""

    def begin(self, sentences: int, passes: int) -> None:
        print(f"  {sentences} sentences, at most {passes} passes")

    def tick(self, sentences: int) -> None:
        pass

    def end_pass(self, record: PassRecord, is_best: bool) -> None:
        mark = "  best so far" if is_best else ""
        print(
            f"  pass {record.number:2}   loss {record.loss:8.5f}   "
            f"dev UAS {record.uas:.2f}  LAS {record.las:.2f}   {record.seconds:.1f} s{mark}",
            flush=True,
        )


def name(sentence: Sentence, word: int) -> str:
    return "ROOT" if word == 0 else sentence.forms[word - 1]


def parse_text() -> None:
    """Draws the trees of a text, and corrects the least certain arc of the last sentence."""
    nlp = load()
    document = nlp(TEXT)
    print("Three sentences, parsed by the English model of the package\n")
    for sentence in document:
        print(f"{sentence.draw()}\n")
    last = document[-1]
    doubt = last.least_certain(1)[0]
    print(
        f"It is least certain of {doubt.form} <- {doubt.head_form} ({doubt.probability:.0%}); next "
        f"is {doubt.form} <- {doubt.runner_up_form} ({doubt.runner_up_probability:.0%}).\n"
        f"A person decides for {doubt.runner_up_form}. The rest is parsed again around it\n"
    )
    (corrected,) = nlp.parse([last], required=[(doubt.runner_up, doubt.word)])
    print(corrected.draw())


def train() -> Parser:
    print("\nLearning from examples/treebank/train.conllu\n")
    started = time.perf_counter()
    parser = Parser().fit(TREEBANK / "train.conllu", TREEBANK / "dev.conllu", observer=Lines())
    best = parser.model.card["best_pass"]
    print(f"\n  {time.perf_counter() - started:.1f} s; pass {best} is kept")
    return parser


def show_accuracy(parser: Parser, sentences: list[Sentence]) -> list[ParsedSentence]:
    parsed = list(parser.parse(sentences))
    scores = evaluate(sentences, parsed)
    print(f"\nOn {scores.sentences} sentences that it has never seen ({scores.tokens} words)\n")
    print(f"  UAS {scores.uas:.2f} % right heads, LAS {scores.las:.2f} % right heads and labels")
    print(f"  {scores.complete:.0f} % of the sentences without a mistake")
    return parsed


def show_least_certain(sentences: list[Sentence], parsed: list[ParsedSentence]) -> None:
    print("\nThe arcs it is least certain of\n")
    arcs = [
        (probability, place, word)
        for place, sentence in enumerate(parsed)
        for word, probability in enumerate(sentence.arc_probabilities, start=1)
    ]
    for probability, place, word in sorted(arcs)[:8]:
        tree, gold = parsed[place], sentences[place].heads[word - 1]
        verdict = "right" if tree.heads[word - 1] == gold else f"wrong: {name(tree, gold)}"
        arc = f"{name(tree, word)} <- {name(tree, tree.heads[word - 1])}"
        print(f"  {probability:4.0%}  {arc:24} {verdict:16} {shorten(tree.text, 70)}")


def most_telling_answer(
    parser: Parser, sentences: list[Sentence], parsed: list[ParsedSentence]
) -> tuple[int, int]:
    """A short sentence, and the phrase whose correct head corrects the most other heads."""
    best = (0, 0, 0)
    for place, (sentence, tree) in enumerate(zip(sentences, parsed, strict=True)):
        if len(sentence) > 12:
            continue
        for word in np.flatnonzero(tree.heads != sentence.heads) + 1:
            arc = (int(sentence.heads[word - 1]), int(word))
            trees = parser.distribution(sentence)
            if sentence.labels[word - 1] not in PHRASES or trees.marginals[arc] < 0.01:
                continue
            mended = trees.constrain(required=[arc]).mbr().heads
            right = int((mended == sentence.heads).sum() - (tree.heads == sentence.heads).sum())
            best = max(best, (right, place, int(word)))
    return best[1], best[2]


def ask_a_person(parser: Parser, sentence: Sentence, word: int) -> None:
    trees = parser.distribution(sentence)
    before = trees.mbr().heads
    print(f"\n{sentence.text}\n\nThe tree, with the probability of each arc\n")
    print(trees.draw(threshold=0.05))
    head = int(sentence.heads[word - 1])
    told = trees.constrain(required=[(head, word)])
    after = told.mbr().heads
    print(
        f"\nA person says: {name(sentence, word)} belongs to {name(sentence, head)} "
        f"(it had {trees.marginals[head, word]:.0%}). The rest is parsed again around it\n"
    )
    print(told.draw(threshold=0.05))
    changed = [w for w in range(1, len(sentence) + 1) if before[w - 1] != after[w - 1]]
    changes = [f"{name(sentence, w)} <- {name(sentence, int(after[w - 1]))}" for w in changed]
    right = [int((heads == sentence.heads).sum()) for heads in (before, after)]
    print(f"\n  changed: {', '.join(changes)}")
    print(f"  right heads: {right[0]}, now {right[1]} of {len(sentence)}\n")


def main() -> None:
    make_printable(sys.stdout)
    parse_text()
    parser = train()
    sentences = list(read_conllu(TREEBANK / "test.conllu"))
    parsed = show_accuracy(parser, sentences)
    show_least_certain(sentences, parsed)
    place, word = most_telling_answer(parser, sentences, parsed)
    ask_a_person(parser, sentences[place], word)


if __name__ == "__main__":
    main()
