"""Text for `soak.py`, made at run time: sentences of treebanks and synthetic ones, mixed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

__all__ = ["Text"]

_LONGEST = 15  # words of a real sentence, so that ten million sentences are done in hours
_FRESH = b"@"  # in synthetic sentences: replaced by a number that no other sentence has
_TAGS = ("NOUN", "VERB", "ADJ", "ADV", "PRON", "DET", "ADP", "AUX", "CCONJ", "PROPN")


class Text:
    """Draws files of sentences; a file depends on its number only."""

    def __init__(self, treebanks: Path) -> None:
        self._real = [
            sentence for path in sorted(treebanks.glob("ud_*/dev.conllu"))
            for sentence in _short_sentences(path)
        ]  # fmt: skip
        if not self._real:
            raise SystemExit(f"{treebanks} has no folders ud_*/ with a dev.conllu.")
        chance = random.Random(0)  # not for secrets
        self._templates = [_template(chance, chance.randint(1, 15)) for _ in range(2000)]
        self._templates += [_template(chance, 200) for _ in range(2)]  # one in 1,000

    def file(self, number: int, sentences: int) -> bytes:
        """A file in CoNLL-U: half of the sentences are real, half synthetic with new words."""
        return b"".join(self._sentences(number, sentences))

    def _sentences(self, number: int, sentences: int) -> Iterator[bytes]:
        chance = random.Random(number)  # not for secrets
        real = iter(chance.choices(self._real, k=sentences))
        made = iter(chance.choices(self._templates, k=sentences))
        for place, is_real in enumerate(chance.choices((True, False), k=sentences)):
            yield (
                next(real) if is_real else next(made).replace(_FRESH, b"%d.%d" % (number, place))
            )

    def wide_file(self, number: int, sentences: int, width: int) -> bytes:
        """The same with a MISC column of `width` bytes for each word, and long comments."""
        filler = b"# note = " + b"x" * width + b"\n"
        misc = b"\tNote=" + b"x" * width + b"\n"
        return b"".join(
            filler + sentence.replace(b"\t_\n", misc)
            for sentence in self._sentences(number, sentences)
        )


def _short_sentences(path: Path) -> Iterator[bytes]:
    for sentence in path.read_bytes().split(b"\n\n"):
        words = sum(line[:1].isdigit() for line in sentence.split(b"\n"))
        if 1 <= words <= _LONGEST:
            yield sentence.strip(b"\n") + b"\n\n"


def _template(chance: random.Random, words: int) -> bytes:
    lines = ["# sent_id = @"]
    if chance.random() < 0.1 and words > 1:
        lines.append("1-2\tboth@\t" + "\t".join("_" * 8))
    for word in range(1, words + 1):
        form = f"w{word}@" if chance.random() < 0.5 else chance.choice("abcdefgh") * 3
        tag = chance.choice(_TAGS)
        head = 0 if word == 1 else chance.randint(1, word - 1)
        label = "root" if head == 0 else "dep"
        lines.append(f"{word}\t{form}\t{form}\t{tag}\t_\t_\t{head}\t{label}\t_\t_")
    return "\n".join([*lines, "", ""]).encode()
