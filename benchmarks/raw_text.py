"""Scores of pipelines from raw text and on gold words, with the metrics of the CoNLL 2018 task.

    python benchmarks/raw_text.py TREEBANK [--model NAME_OR_FILE ...] [--part dev] [--json FILE]

TREEBANK is a folder with train, dev and test files. Without --model, a pipeline is trained on it.
The text is that of `treebank_text`, the scorer is `arbora.evaluation.evaluate_text`. "gold words"
has the words and sentences of the treebank, and the pipeline's own tags and lemmas. ECE is the
expected calibration error of the arc probabilities, in percent, over the words that are aligned
with a word of the treebank; an arc is right if its head is aligned with the right head.
"""

from __future__ import annotations

import argparse
import io
import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import arbora
from arbora.data import Sentence, read_conllu, surface_tokens, treebank_text
from arbora.evaluation import calibration, evaluate_text
from arbora.evaluation.text_scores import METRICS

Word = tuple[int, int, int]  # where its token begins and ends, and its place in the token
ROOT: Word = (-1, -1, -1)


def arcs(sentences: Iterable[Sentence]) -> dict[Word, Word]:
    """The head of every word."""
    found: dict[Word, Word] = {}
    start = 0
    for sentence in sentences:
        words = [ROOT]
        for token in surface_tokens(sentence):
            end = start + len("".join(token.form.split()))
            words += [(start, end, place) for place in range(len(token.words))]
            start = end
        found |= {words[m]: words[h] for m, h in enumerate(sentence.heads.tolist(), 1)}
    return found


def calibration_error(gold: Sequence[Sentence], parsed: Sequence[Any]) -> float | None:
    """The expected calibration error of the arcs of aligned words, in percent."""
    heads = arcs(gold)
    chances = [p for sentence in parsed for p in sentence.arc_probabilities.tolist()]
    if not chances:
        return None
    pairs = [
        (chance, heads[word] == head)
        for chance, (word, head) in zip(chances, arcs(parsed).items(), strict=True)
        if word in heads
    ]
    return 100 * calibration(*zip(*pairs, strict=True)).ece


def row(nlp: arbora.Pipeline, gold: list[Sentence], kind: str, options: dict[str, Any]) -> Any:
    """F1 of all metrics, ECE, and words per second of processor time."""
    began = time.process_time()
    parsed: list[Any]
    if kind == "raw text":
        parsed = list(nlp.parse(io.BytesIO(treebank_text(gold).encode()), **options))
    else:
        parsed = list(nlp.parse(gold, retag=True, **options))
    speed = sum(len(one.forms) for one in parsed) / (time.process_time() - began)
    scores = evaluate_text(gold, parsed)
    figures: dict[str, Any] = {name: scores.f1(name) for name in METRICS}
    return figures | {"ECE": calibration_error(gold, parsed), "words/s": round(speed)}


def trained(folder: Path) -> arbora.Pipeline:
    return arbora.Pipeline(threads=1).fit(folder / "train.conllu", folder / "dev.conllu")


def table(rows: dict[str, dict[str, Any]]) -> str:
    names = [*METRICS, "ECE", "words/s"]
    width = max(map(len, rows)) + 2
    lines = [" " * width + "".join(f"{name:>10}" for name in names)]
    for title, figures in rows.items():
        cells = [figures[name] for name in names]
        shown = (f"{x:>10.2f}" if isinstance(x, float) else f"{x or '-':>10}" for x in cells)
        lines.append(f"{title:{width}}" + "".join(shown))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("treebank", type=Path)
    parser.add_argument("--model", action="append", help="a model; may be repeated")
    parser.add_argument("--part", default="dev", help="dev (default) or test")
    parser.add_argument("--tag-samples", type=int, help="average over this many drawn tags")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    given = parser.parse_args()
    options = {} if given.tag_samples is None else {"tag_samples": given.tag_samples}
    gold = list(read_conllu(given.treebank / f"{given.part}.conllu"))
    rows: dict[str, dict[str, Any]] = {}
    for name in given.model or [None]:
        nlp = trained(given.treebank) if name is None else arbora.load(name, threads=1)
        title = given.treebank.name if name is None else Path(name).stem
        for kind in ("raw text", "gold words"):
            rows[f"{title}, {kind}"] = row(nlp, gold, kind, options)
    print(table(rows))
    if given.json is not None:
        given.json.write_text(json.dumps({"part": given.part, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
