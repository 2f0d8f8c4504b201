"""Parsing of one file of a folder run, here or on another machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from arbora.corpus.folder_run import FileFigures
from arbora.data import Block, TextJoiner, format_named, open_output
from arbora.errors import DataError, unreadable
from arbora.models.limits import FALLBACKS
from arbora.options import ParseOptions
from arbora.parsers import Parser
from arbora.pipeline.installed import find_model

__all__ = ["FileParser", "fingerprint"]

_MOST_MESSAGES = 1000  # of a file, so that memory is bounded


@dataclass(frozen=True)
class FileParser:
    """Parses a file into another one; the figures are counted on the way."""

    parser: Parser
    options: ParseOptions
    format: str | None = None
    skip_bad: bool = False

    def __call__(self, source: Path, target: str) -> FileFigures:
        """The figures of a file, after it is written."""
        figures, join = FileFigures(), TextJoiner()
        if target.lower().endswith(".parquet"):
            from arbora.data.parquet import write_parquet

            write_parquet(target, (block for block, _ in self._blocks(source, figures)))
            return figures
        with open_output(target) as write:
            for block, name in self._blocks(source, figures):
                write(join(format_named(name).writer.write(block), name))
        return figures

    def _blocks(self, source: Path, figures: FileFigures) -> Iterator[tuple[Block, str]]:
        """Parsed blocks with the names of their formats."""
        parser, options = self.parser, self.options
        decoder, seen = parser.decoder(options), parser.unfamiliar()
        figures.seen = seen

        def skipped(error: DataError) -> None:
            figures.skipped[error.message] = figures.skipped.get(error.message, 0) + 1
            if len(figures.messages) < _MOST_MESSAGES:
                figures.messages.append(str(error))

        chunks = parser.chunks(
            source, options, format=self.format, skip_bad=self.skip_bad, on_error=skipped
        )
        for chunk in chunks:
            if not len(chunk.block):
                continue
            parsed = parser.parse_block(seen.watched(chunk.block), options, decoder=decoder)
            figures.sentences += len(chunk.block)
            figures.words += chunk.block.total_words
            figures.certified += int(parsed.trees.certified.sum())
            for number, reason in enumerate(FALLBACKS[1:], 1):
                found = int((parsed.trees.fallbacks == number).sum())
                if found:
                    figures.fallbacks[reason] = figures.fallbacks.get(reason, 0) + found
            yield parsed.to_block(options.probabilities, options.certificates), chunk.format
        figures.seen = seen.counts()  # without the vocabulary, which every parser has


def fingerprint(
    models: Sequence[str],
    options: ParseOptions,
    format: str | None,  # noqa: A002  # the option's name
    skip_bad: bool,
) -> dict[str, Any]:
    """What the outputs of a run depend on, besides the inputs."""
    digest = hashlib.sha256()
    for path in [find_model(model) for model in models] or [find_model(None)]:
        try:
            with Path(path).open("rb") as file:
                while piece := file.read(1 << 20):
                    digest.update(piece)
        except OSError as error:
            raise unreadable(path, error) from error
    return {
        "version": version("arbora"), "model": digest.hexdigest(),
        "format": format, "skip_bad": skip_bad, **asdict(options),
    }  # fmt: skip
