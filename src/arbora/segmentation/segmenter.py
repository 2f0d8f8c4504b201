"""The segmenter: text to sentences, tokens and words."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from arbora._core import segmentation as _core
from arbora.data import Block
from arbora.data.block import CONLLU_LAYOUT
from arbora.data.source import ReadPath, Source, open_source
from arbora.errors import ArgumentError, TooLargeError
from arbora.segmentation.stored import checked_settings, checked_tensors

__all__ = ["Segmented", "Segmenter"]

# White space besides spaces, tabs and line ends (no-break spaces, for instance), which UD does not
# allow at the end of a field; and the items of MISC that it may be in.
_ODD_SPACE = re.compile(
    rb"[\x0b\x0c\x1c-\x1f]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f"
    rb"|\xe3\x80\x80"
)
_SPACES = re.compile(rb"(?<=[\t|])Spaces(?:After|Before)=[^|\n]*")
_AT_ONCE = 1 << 20  # bytes of a stream
_LONGEST = 1 << 30  # bytes of one text


@dataclass(frozen=True)
class Segmented:
    """Sentences of a text, with the place of every token in it.

    Token k is `text[starts[k]:ends[k]]` and has `n_words[k]` words in the block, more than one if
    it is a multiword token. `sentences` has the first token of each sentence. The probability that
    token k ends where it does is `token_probabilities[k]`, the probability that a sentence ends
    with it is `sentence_probabilities[k]`; both are 1 where the spaces leave no choice.
    """

    block: Block
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    n_words: NDArray[np.int32]
    sentences: NDArray[np.int64]
    token_probabilities: NDArray[np.float64]
    sentence_probabilities: NDArray[np.float64]


class Segmenter:
    """Splits text into sentences, tokens and words. Immutable; `train_segmenter` learns one.

    Three log-linear models decide whether a token ends between two characters, whether a sentence
    ends between two tokens, and whether and how a token is split into words. White space always
    ends a token, a blank line always ends a sentence, and a token with spaces inside is never
    found. A token has at most 1,000 characters, a sentence at most 1,000 tokens: longer ones are
    cut.
    """

    __slots__ = ("_model", "_settings", "_tensors")

    def __init__(self, settings: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> None:
        self._settings = checked_settings(settings)
        self._tensors = checked_tensors(tensors, self._settings["bits"])
        entries = self._tensors["lexicon"]
        kinds = [(entries >> bit & 1).astype(np.uint8) for bit in range(3)]
        lexicon = _core.Lexicon((entries >> 3).astype(np.uint32), *kinds)
        boundary, sentence, split = (
            self._tensors[name].astype(np.float32) for name in ("boundary", "sentence", "split")
        )
        self._model = _core.SegmenterModel(
            boundary, sentence, split, self._tensors["open"], lexicon,
            _core.SplitRules([tuple(rule) for rule in self._settings["rules"]]),
            self._settings["lines_matter"],
        )  # fmt: skip

    @classmethod
    def from_store(
        cls, settings: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]
    ) -> Segmenter:
        """A segmenter from `settings()` and `tensors()`; raises `ModelError` if they are wrong."""
        return cls(settings, tensors)

    def settings(self) -> dict[str, Any]:
        """Everything except arrays, as JSON can hold it."""
        return {
            **self._settings,
            "rules": [[*rule[:2], [*rule[2]], *rule[3:]] for rule in self._settings["rules"]],
        }

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The arrays, read-only: weights (float16), the lexicon, the table of open pairs."""
        return dict(self._tensors)

    def segment(self, text: str, *, ranges: bool = False) -> Segmented:
        """Segments a text.

        The block is CoNLL-U with `# newdoc`, `# newpar`, `# sent_id` and `# text`; with
        `SpaceAfter=No`, `SpacesAfter` and `SpacesBefore` in MISC, so that `treebank_text` gives the
        text back; and with `ranges` with `TokenRange=start:end`. Text without words has no
        sentences.
        """
        if not isinstance(text, str):
            raise ArgumentError(f"text must be a string, not {type(text).__name__}.")
        data = _encoded(text)
        if len(data) > _LONGEST:
            raise TooLargeError("the text has more than a gigabyte; segment it with blocks().")
        answer = self._model.segment(data, True, ranges, 0, 0, True, True)
        block = Block(_with_escapes(answer[0], data), CONLLU_LAYOUT)
        arrays: Any = answer[1:7]
        return Segmented(block, *map(_read_only, arrays))

    def blocks(
        self,
        source: ReadPath | Source | Iterable[str] | Iterable[bytes],
        *,
        ranges: bool = False,
        sentences_before: int = 0,
    ) -> Iterator[Block]:
        """Segments a file or stream of any size, in bounded memory.

        `source` is a path, `-` for standard input, an open file (binary UTF-8 or text), or an
        iterable of strings or bytes. The sentences are those of `segment` on the whole text, but
        numbered from `sentences_before` + 1.
        """
        rest, offset, sentences = b"", 0, sentences_before
        opens_text = opens_paragraph = True
        for piece, is_last in _pieces(source):
            rest += piece
            conllu, starts, _, _, firsts, _, _, used, characters, opens_paragraph = (
                self._model.segment(
                    rest, is_last, ranges, offset, sentences, opens_text, opens_paragraph
                )
            )
            if len(starts):
                opens_text = False
                conllu = _with_escapes(conllu, rest[:used])
                yield Block(conllu, CONLLU_LAYOUT, first_sentence=sentences)
                sentences += len(firsts)
            rest = rest[used:]
            offset += characters


def _with_escapes(conllu: bytes, text: bytes) -> bytes:
    """CoNLL-U of a text with all white space in MISC escaped, as in `SpacesAfter=\\u00A0`."""
    if _ODD_SPACE.search(text) is None:
        return conllu

    def escaped(space: re.Match[bytes]) -> bytes:
        return b"\\u%04X" % ord(space[0].decode())

    return _SPACES.sub(lambda item: _ODD_SPACE.sub(escaped, item[0]), conllu)


def _read_only(values: NDArray[Any]) -> NDArray[Any]:
    values.flags.writeable = False
    return values


def _encoded(text: str) -> bytes:
    if (place := text.find("\0")) >= 0:
        raise ArgumentError(f"character {place + 1} of the text is NUL; remove it.")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ArgumentError(
            f"character {error.start + 1} of the text is half of a surrogate pair; decode the text "
            "properly."
        ) from error


def _pieces(source: Any) -> Iterator[tuple[bytes, bool]]:
    """Valid UTF-8 in pieces of about a megabyte, each with whether it is the last."""
    if isinstance(source, bytes | bytearray):
        raise ArgumentError("blocks() reads a path or a stream; put bytes into a list.")
    if isinstance(source, str) or hasattr(source, "read") or hasattr(source, "__fspath__"):
        with open_source(source) as opened:
            yield from _checked(_read(opened), opened.name)
    else:
        try:
            given = iter(source)
        except TypeError as error:
            raise ArgumentError(
                f"text is read from a path, an open file or an iterable, not from "
                f"{type(source).__name__}."
            ) from error
        yield from _checked(_gathered(given), "the text")


def _read(opened: IO[bytes] | Any) -> Iterator[bytes]:
    while piece := opened.read(_AT_ONCE):
        yield piece


def _gathered(given: Iterator[Any]) -> Iterator[bytes]:
    """Small strings together."""
    parts: list[bytes] = []
    size = 0
    for one in given:
        if not isinstance(one, str | bytes | bytearray):
            raise ArgumentError(f"text must be strings or bytes, not {type(one).__name__}.")
        parts.append(_encoded(one) if isinstance(one, str) else bytes(one))
        size += len(parts[-1])
        if size >= _AT_ONCE:
            yield b"".join(parts)
            parts, size = [], 0
    yield b"".join(parts)


def _checked(pieces: Iterator[bytes], name: str) -> Iterator[tuple[bytes, bool]]:
    """The same bytes, cut between characters; raises for bytes that are no text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    place = 0  # bytes before the piece
    for piece in pieces:
        held = len(decoder.getstate()[0])  # the first bytes of a character
        try:
            text = decoder.decode(piece)
        except UnicodeDecodeError as error:
            raise ArgumentError(
                f"byte {place - held + error.start + 1} of {name} is not UTF-8; convert it."
            ) from error
        if (nul := piece.find(b"\0")) >= 0:
            raise ArgumentError(f"byte {place + nul + 1} of {name} is NUL; remove it.")
        place += len(piece)
        yield text.encode("utf-8"), False
    if decoder.getstate()[0]:
        raise ArgumentError(f"{name} ends inside of a UTF-8 character; give the rest of it.")
    yield b"", True
