"""`arbora stats`: statistics of treebanks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arbora.cli.files import check_one_input, report_skipped
from arbora.cli.output import figure, report_console, table, write_json
from arbora.cli.shared import AsJson, FormatOption, SkipBad
from arbora.cli.terminal import plain

if TYPE_CHECKING:
    from rich.table import Table

    from arbora.data import Sentence, TreebankStats

EXAMPLES = """[bold]Examples[/bold]

arbora stats train.conllu

arbora stats UD_Danish-DDT UD_Swedish-LinES --json"""


@dataclass
class Part:
    """One file: its statistics, and the texts of its sentences."""

    counts: TreebankStats
    format: str = ""
    texts: list[str] = field(default_factory=list)


@dataclass
class Treebank:
    """A single file, or the train, dev and test files of a folder; never empty."""

    name: str
    parts: dict[str, Part]

    @property
    def is_folder(self) -> bool:
        return "" not in self.parts

    @property
    def total(self) -> TreebankStats:
        first, *others = (part.counts for part in self.parts.values())
        for other in others:
            first = first + other
        return first

    @property
    def format(self) -> str:
        return max(part.format for part in self.parts.values())

    @property
    def test_in_train(self) -> float | None:
        """The percentage of test sentences with the same words as a training sentence."""
        if not {"train", "test"} <= self.parts.keys() or not self.parts["test"].texts:
            return None
        seen = set(self.parts["train"].texts)
        test = self.parts["test"].texts
        return 100 * sum(text in seen for text in test) / len(test)

    def to_dict(self) -> dict[str, Any]:
        splits = {name: part.counts.to_dict() for name, part in self.parts.items() if name}
        return {
            "name": self.name,
            "format": self.format or None,
            **self.total.to_dict(),
            "test_in_train_percent": self.test_in_train,
            "splits": splits,
        }


def stats(
    treebanks: Annotated[
        list[str],
        typer.Argument(
            metavar="TREEBANK...", help="Files, or folders that contain train, dev and test files."
        ),
    ],
    format: FormatOption = None,  # noqa: A002  # the option's name
    skip_bad: SkipBad = False,
    as_json: AsJson = False,
) -> None:
    """Describe treebanks: sizes, non-projective and crossing arcs, roots, lengths, labels.

    A non-projective arc spans a word that its head does not dominate.
    A crossing arc crosses another arc, which may be an arc from the root.
    """
    check_one_input(*treebanks)
    found = [_read(path, {"format": format, "skip_bad": skip_bad}) for path in treebanks]
    if as_json:
        write_json({"treebanks": [treebank.to_dict() for treebank in found]})
        return
    console = report_console()
    for kind in ([bank for bank in found if bank.is_folder is folder] for folder in (True, False)):
        if kind:
            console.print()
            console.print(_sizes(kind))
    console.print()
    console.print(_shapes(found))
    for bank in found:
        if bank.total.missing_heads:
            console.print(
                f"{plain(bank.name)}: {bank.total.missing_heads} words have no head; their "
                "sentences are not counted as non-projective or crossing."
            )


def _read(path: str, how: dict[str, Any]) -> Treebank:
    folder = Path(path)
    if path == "-" or not folder.is_dir():
        name = "standard input" if path == "-" else folder.name
        return Treebank(name, {"": _read_part(path, how)})
    from arbora.data.folders import find_splits

    files = find_splits(folder)
    parts = {split: _read_part(str(file), how) for split, file in files.items()}
    return Treebank(folder.resolve().name, parts)


def _read_part(path: str, how: dict[str, Any]) -> Part:
    from arbora.data import TreebankStats, read_conllu, treebank_stats

    part = Part(TreebankStats())
    sentences = read_conllu(path, on_error=report_skipped, trees=True, **how)
    part.counts = treebank_stats(_noted(sentences, part))
    return part


def _noted(sentences: Iterable[Sentence], part: Part) -> Iterator[Sentence]:
    """Passes sentences on and records their texts, so that standard input is read once."""
    for sentence in sentences:
        part.format = part.format or sentence.format
        part.texts.append("\t".join(sentence.forms))
        yield sentence


def _sizes(found: list[Treebank]) -> Table:
    """Sentences / words of each file, or of each split of a folder."""
    from arbora.data.folders import SPLITS

    columns = [name for name in (*SPLITS, "") if any(name in bank.parts for bank in found)]
    rows = [
        (plain(bank.name), _title(bank.format), *(_size(bank.parts.get(name)) for name in columns))
        for bank in found
    ]
    return table(["sentences / words", "format", *(name or "file" for name in columns)], rows)


def _title(name: str) -> str:
    from arbora.data import FORMATS

    return FORMATS[name].title if name else "-"


def _size(part: Part | None) -> str:
    return "-" if part is None else f"{part.counts.sentences} / {part.counts.tokens}"


def _shapes(found: list[Treebank]) -> Table:
    headings = [
        "in %, except lengths\nand labels",
        "non-\nproj\narcs",
        "cross\narcs",
        "non-\nproj\nsents",
        "multi\nroot\nsents",
        "mean\nlen",
        "max\nlen",
        "labels",
        "test\nin\ntrain",
    ]
    rows = []
    for bank in found:
        total = bank.total
        rows.append(
            (
                plain(bank.name),
                figure(total.nonprojective_arcs_percent),
                figure(total.crossing_arcs_percent),
                figure(total.nonprojective_sentences_percent, 1),
                figure(total.multiroot_sentences_percent, 1),
                figure(total.mean_length, 1),
                str(total.max_length),
                str(total.labels),
                figure(bank.test_in_train, 1),
            )
        )
    return table(headings, rows)
