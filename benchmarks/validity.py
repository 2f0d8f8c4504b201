"""Whether parsed output is valid UD: complaints of udtools' validator at level 2, beside gold's.

    python benchmarks/validity.py TREEBANKS [--only NAME ...] [--train 400] [--test 200]

For every UD treebank in a folder, a pipeline is trained briefly, and parses gold words (with the
treebank's tags, and with `retag`) and raw text. A treebank may have complaints of its own, such as
tags of UD version 1; the parsed files must not add any. Exits with status 1 if they do.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from udtools import Validator

import arbora
from arbora.data import sentences_of, treebank_text
from arbora.options import LemmatiserOptions, ParseOptions, SegmenterOptions, TaggerOptions
from arbora.pipeline import StageOptions

LEVEL = 2
BRIEF = StageOptions(
    SegmenterOptions(passes=3), TaggerOptions(passes=3), LemmatiserOptions(passes=3), folds=2
)


def complaints(text: str) -> Counter[str]:
    """The kinds of the validator's complaints about a CoNLL-U text, with their numbers.

    Labels of the root, which the validator leaves to level 3, are checked as well.
    """
    validator = Validator(lang="ud", level=LEVEL, output=None)
    state = validator.validate_file_handle(io.StringIO(text))
    validator.validate_end(state)
    found = Counter(
        incident.testid for incident in state.error_tracker if not incident.is_warning()
    )
    roots = sum(
        (label.partition(":")[0] == "root") != (head == 0)
        for sentence in arbora.read_conllu(io.BytesIO(text.encode()))
        for label, head in zip(sentence.labels, sentence.heads.tolist(), strict=True)
    )
    return found + Counter({"root-label": roots})


def joined(sentences: Iterable[arbora.Sentence]) -> str:
    """The text of a file with these sentences."""
    return "".join(bytes(sentence).decode() for sentence in sentences)


def brief_pipeline(train: list[arbora.Sentence], dev: list[arbora.Sentence]) -> arbora.Pipeline:
    """A pipeline that is trained for as short a time as possible."""
    options = {"threads": 1, "passes": 2, "bits": 16, "refit": False}
    return arbora.Pipeline(**options).fit(train, dev, stages=BRIEF)


def outputs(nlp: arbora.Pipeline, gold: list[arbora.Sentence]) -> dict[str, str]:
    """Parsed files by name: gold words, also with the model's own tags, and raw text."""
    how = ParseOptions(probabilities=True)
    raw = io.BytesIO(treebank_text(gold).encode())
    stage = nlp.stage(how)
    blocks = [stage(chunk.block) for chunk in nlp.chunks(raw, how, format="text")]
    return {
        "gold words": joined(nlp.parse(gold)),
        "k best": joined(nlp.parse(gold[:20], kbest=3)),
        "gold words, own tags": joined(nlp.parse(gold, retag=True)),
        "raw text": joined(sentence for block in blocks for sentence in sentences_of(block)),
    }


def added(found: Counter[str], known: Counter[str]) -> dict[str, int]:
    """The complaints of kinds that the treebank's own files do not have."""
    return {kind: count for kind, count in found.items() if kind not in known}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("--only", nargs="*", metavar="NAME")
    parser.add_argument("--train", type=int, default=400, help="sentences to train on")
    parser.add_argument("--test", type=int, default=200, help="sentences to parse")
    given = parser.parse_args()
    bad = 0
    for folder in sorted(given.treebanks.glob("ud_*")):
        if given.only and folder.name not in given.only:
            continue
        train, dev, test = (
            list(arbora.read_conllu(folder / f"{part}.conllu")) for part in ("train", "dev", "test")
        )
        gold = test[: given.test]
        nlp = brief_pipeline(train[: given.train], dev[:50])
        known = complaints(joined(gold)) | complaints(joined(train[: given.train]))
        print(f"{folder.name}: gold {dict(known) or 'none'}", flush=True)
        for name, text in outputs(nlp, gold).items():
            extra = added(complaints(text), known)
            bad += sum(extra.values())
            print(f"  {name}: added {extra or 'none'}", flush=True)
    print(f"{bad} complaints were added.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
