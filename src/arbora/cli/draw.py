"""`arbora draw`: trees of a file, or of a text, as text and pictures."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from arbora.cli.files import check_not_an_input, check_writable, report_skipped
from arbora.cli.parse import as_source, load_model
from arbora.cli.shared import FormatOption, ModelFile, SkipBad
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from arbora.data import Sentence
    from arbora.drawing import TreeDrawing

EXAMPLES = """[bold]Examples[/bold]

arbora draw "The gulls sleep on the wall." --probabilities

arbora draw test.conllu --sentences 1-5

arbora draw test.conllu --sentences weblog-17 --output tree.svg --width 900

arbora parse --model english.arbora test.conllu --probabilities | arbora draw - --probabilities

arbora parse --model english.arbora test.conllu --kbest 20 | arbora draw - --threshold 0.1"""

_RANGE = re.compile(r"(\d+)?(-)?(\d+)?")
_WITHOUT_TREES = ("text", "horizontal", "vertical")  # formats
_DRAWN_AT_ONCE = 1000  # sentences of one file


def draw(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|TEXT",
            help="Sentences with trees, or text to parse: a file, - for standard input, or an "
            "argument with spaces that names no file.",
        ),
    ],
    model: ModelFile = None,
    sentences: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH", help="Numbers from 1 (3, 1-5, 7-), or a sent_id (default: all)."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE",
            help="A file that ends in .svg, .pdf, .png, .tex, .html, .json (displaCy) or .txt "
            "(default: text on standard output).",
        ),
    ] = None,
    width: Annotated[
        int | None,
        typer.Option(
            min=20, max=1_000_000, metavar="N",
            help="Where long sentences are broken: characters of text, pixels of pictures "
            "(default: the terminal's width; 960 for .html; never for other pictures).",
        ),
    ] = None,
    tags: Annotated[bool, typer.Option("--tags/--no-tags", help="Show tags.")] = True,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities",
            help="Show the probabilities of arcs: the model's, or ArcProb of the file.",
        ),
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0, max=1.0, metavar="P",
            help="Also draw other arcs with at least this probability: of text, each word's next "
            "likeliest head; of a file, the arcs in its k-best lists or samples, each drawn as one "
            "tree.",
        ),
    ] = None,
    format: FormatOption = None,  # noqa: A002  # the option's name
    skip_bad: SkipBad = False,
) -> None:  # fmt: skip
    """Draw the trees of a file or text: as text, or as pictures by the output's ending.

    Text, and formats that have no trees (horizontal, vertical), are parsed by the model first.

    A .svg or .png file holds one sentence, a .pdf one per page, the others any number.
    .pdf and .png require matplotlib. An arc that leaves its line ends in the number of a word.
    """
    from arbora.data import open_output
    from arbora.drawing import drawings_to_bytes
    from arbora.drawing.files import ending_of

    if output is not None and output != "-":
        ending_of(output)
        check_writable(output)
        check_not_an_input(output, file)
    which = _Selection.of(sentences)
    if file == "-" and sys.stdin.isatty():
        raise ArgumentError("there is nothing to draw: name a file, or pipe in sentences or text.")
    source = as_source(file)
    file = file if isinstance(source, str) else "the text"
    read = _read(source, model, format, skip_bad)
    drawings = _drawings(which.of_file(read), tags, probabilities, threshold)
    if output is None or output == "-":
        if not _print(drawings, width):
            raise ArgumentError(which.nothing(file))
        return
    listed = [drawing for drawing, _ in zip(drawings, range(_DRAWN_AT_ONCE + 1), strict=False)]
    if not listed:
        raise ArgumentError(which.nothing(file))
    if len(listed) > _DRAWN_AT_ONCE:
        raise ArgumentError(
            f"{file} has more than {_DRAWN_AT_ONCE} sentences: select some with --sentences."
        )
    data = drawings_to_bytes(listed, output, width)
    with open_output(output) as write:
        write(data)


@dataclass(frozen=True)
class _Selection:
    """Which sentences of a file are wanted: by number, or by the identifier in a comment."""

    first: int = 1
    last: int = sys.maxsize
    name: str = ""

    @classmethod
    def of(cls, given: str | None) -> _Selection:
        if given is None:
            return cls()
        found = _RANGE.fullmatch(given)
        if found is None or given in ("", "-"):
            return cls(name=given)
        first = int(found[1] or 1)
        last = int(found[3] or sys.maxsize) if found[2] else first
        if not 1 <= first <= last:
            raise ArgumentError(
                f"--sentences {given} is empty: give numbers from 1 like 3, 1-5 or 7-."
            )
        return cls(first, last, given if found[2] is None else "")

    def of_file(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The wanted sentences; reads no further than the last of them.

        A number is also tried as an identifier, if the file has fewer sentences.
        """
        from arbora.drawing.annotated import sentence_name

        by_number = not self.name or self.name.isdecimal()
        found = False
        named = []
        for number, sentence in enumerate(sentences, start=1):
            if by_number and self.first <= number <= self.last:
                found = True
                yield sentence
                if number == self.last:
                    return
            elif self.name and sentence_name(sentence) == self.name:
                if not by_number:
                    yield sentence
                    return
                named.append(sentence)
        if not found:
            yield from named[:1]

    def nothing(self, file: str) -> str:
        """The message that there is nothing to draw."""
        name = "standard input" if file == "-" else file
        if self == _Selection():
            return f"{name} has no sentence to draw."
        wanted = self.name or f"number {self.first}"
        return f"{name} has no sentence {wanted} to draw."


def _read(
    source: str | io.BytesIO,
    model: str | None,
    format: str | None,  # noqa: A002  # as above
    skip_bad: bool,
) -> Iterator[Sentence]:
    """The sentences of a file; text is parsed."""
    from arbora.data import read_conllu
    from arbora.data.source import open_source
    from arbora.pipeline.texts import PEEKED, looks_like_text

    with open_source(source) as opened:
        if format is None and (not isinstance(source, str) or looks_like_text(opened.peek(PEEKED))):
            format = "text"  # noqa: A001  # as above
        if format not in _WITHOUT_TREES:
            yield from read_conllu(opened, format, skip_bad=skip_bad, on_error=report_skipped)
            return
        from arbora.options import ParseOptions

        parser, options = load_model(model, None), ParseOptions(probabilities=True)
        seen = parser.unfamiliar()
        chunks = parser.chunks(
            opened, options, format=format, skip_bad=skip_bad, on_error=report_skipped
        )
        for chunk in chunks:
            if len(chunk.block):
                yield from parser.parse_block(seen.watched(chunk.block), options)
        seen.warn()


def _drawings(
    sentences: Iterable[Sentence], tags: bool, probabilities: bool, threshold: float | None
) -> Iterator[TreeDrawing]:
    if threshold is None:
        for sentence in sentences:
            yield sentence.draw(tags=tags, probabilities=probabilities)
        return
    from arbora.drawing import TreeDrawing, draw_tree_list, tree_lists

    for trees in tree_lists(sentences):
        others = getattr(trees[0], "runner_ups", ())
        if len(others) == 0:
            yield draw_tree_list(trees, threshold, tags=tags)
            continue
        chances = getattr(trees[0], "runner_up_probabilities", ())
        yield TreeDrawing.from_sentence(
            trees[0], tags=tags, alternatives=[
                (int(head), word, float(chance), "")
                for word, (head, chance) in enumerate(zip(others, chances, strict=True), start=1)
                if head >= 0 and chance >= threshold
            ],
        )  # fmt: skip


def _print(drawings: Iterable[TreeDrawing], width: int | None) -> int:
    """Prints the drawings as they come, with styles on a terminal; returns their number."""
    from arbora.cli.output import report_console
    from arbora.cli.terminal import visible

    console = report_console() if sys.stdout.isatty() else None
    count = 0
    for drawing in drawings:
        heading = visible(drawing.name)
        lead = "\n" if count else ""
        if console is None:
            title = f"# {heading}\n" if heading else ""
            sys.stdout.write(f"{lead}{title}{drawing.text(width)}\n")
        else:
            drawing.width = width
            console.print(f"{lead}# {heading}" if heading else lead, markup=False, style="bold")
            console.print(drawing, soft_wrap=True)
        count += 1
    return count
