"""Texts of our own: everything that a file may hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def row(word: object, form: str, head: object = "_", label: str = "_", **fields: str) -> str:
    columns = {"lemma": "_", "upos": "_", "xpos": "_", "feats": "_", "deps": "_", "misc": "_"}
    columns.update(fields)
    c = columns
    return "\t".join(
        [str(word), form, c["lemma"], c["upos"], c["xpos"], c["feats"], str(head), label,
         c["deps"], c["misc"]]
    )  # fmt: skip


def text(*lines: str, end: str = "\n") -> bytes:
    return "".join(line + end for line in [*lines, ""]).encode()


STORM = [
    "# sent_id = storm-1",
    "# text = Don't wake the old captain.",
    row("1-2", "Don't"),
    row(1, "Do", 3, "aux", lemma="do", upos="AUX", xpos="VB", feats="Mood=Imp|VerbForm=Fin"),
    row(2, "n't", 3, "advmod", lemma="not", upos="PART", feats="Polarity=Neg", deps="3:advmod"),
    row(3, "wake", 0, "root", lemma="wake", upos="VERB", misc="Gloss=rouse"),
    row(4, "the", 6, "det", lemma="the", upos="DET"),
    row(5, "old", 6, "amod", lemma="old", upos="ADJ"),
    row(6, "captain", 3, "obj", lemma="captain", upos="NOUN", misc="SpaceAfter=No|Rank=1"),
    row("6.1", "sleeping", deps="6:acl"),
    row(7, ".", 3, "punct", lemma=".", upos="PUNCT"),
]
SEA = [row(1, "Das", 2, "SB"), row(2, "Meer", 3, "NK"), row(3, "schläft", 0, "ROOT")]
HEADLESS = [row(1, "Wer", upos="PRON"), row(2, "wacht", 0, upos="VERB"), row(3, "海")]
TAGGED_X = [
    row(1, "Skibet", 2, "subj", upos="N", xpos="NC", feats="gender=neuter", deps="2", misc="subj"),
    row(2, "synker", 0, "ROOT", upos="V", xpos="VA", deps="0", misc="ROOT"),
]

ODD_FILES = {
    "plain": text(*STORM) + text(*SEA),
    "no heads": text(*HEADLESS),
    "CRLF": text(*STORM, end="\r\n") + text(*SEA, end="\r\n"),
    "byte order mark": b"\xef\xbb\xbf" + text(*STORM) + text(*SEA),
    "byte order mark before a word": b"\xef\xbb\xbf" + text(*SEA),
    "no final newline": text(*STORM) + text(*SEA).rstrip(b"\n"),
    "no final blank line": text(*STORM) + text(*SEA)[:-1],
    "several blank lines": b"\n\n" + text(*STORM) + b"\n \n\t\n" + text(*SEA) + b"\n\n\r\n",
    "trailing spaces": text(*[line + "  " for line in SEA]) + text(*SEA),
    "comments without words": b"# licence\n\n# more\n\n" + text(*STORM) + b"# the end\n\n# really",
    "a comment among the words": text(SEA[0], "# remark", *SEA[1:], "# last"),
    "a comment with tabs": text("#" + "\t" * 9, *SEA),
    "one word": row(1, "Ahoi", 0).encode(),
    "CoNLL-X": text(*TAGGED_X) + text(*TAGGED_X),
    "an empty node before the words": text(row("0.1", "e"), *SEA),
    "mixed line ends": text(*SEA) + text(*SEA, end="\r\n") + text(*SEA),
}
EMPTY_FILES = {"empty": b"", "blank": b"\n\n", "mark": b"\xef\xbb\xbf", "comment": b"# nothing\n"}


def treebank_files() -> list[object]:
    """Every file of the treebanks in ARBORA_TREEBANKS, or one test that is skipped."""
    folder = os.environ.get("ARBORA_TREEBANKS")
    if not folder:
        return [pytest.param(None, marks=pytest.mark.skip(reason="ARBORA_TREEBANKS is not set"))]
    files = sorted(Path(folder).glob("*/*.conll*"))
    return [pytest.param(path, id=f"{path.parent.name}-{path.stem}") for path in files]
