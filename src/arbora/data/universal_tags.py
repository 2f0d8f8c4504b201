"""Universal part-of-speech tags (Petrov, Das & McDonald 2012) from the tags of a treebank.

A map gives every tag of a tagset one of twelve universal tags. Arbora has maps for the Penn
Treebank (`penn`), the Danish Dependency Treebank (`ddt`), the Spanish Cast3LB treebank (`cast3lb`)
and the Basque 3LB treebank (`eus3lb`).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import overload

from arbora.arrays import as_list
from arbora.data.block import Block
from arbora.data.formats.lines import UPOS, XPOS
from arbora.data.formats.table import layout_named
from arbora.data.sentence import Sentence
from arbora.data.tables import TableName, table_rows
from arbora.errors import ArgumentError, DataError, DataWarning

__all__ = [
    "UNIVERSAL_TAGS", "TagMap", "tag_map", "tagged_block", "warn_of_unmapped",
    "with_universal_tags",
]  # fmt: skip

UNIVERSAL_TAGS = (
    "VERB", "NOUN", "PRON", "ADJ", "ADV", "ADP", "CONJ", "DET", "NUM", "PRT", "X", ".",
)  # fmt: skip
_OF_UD = frozenset(["AUX", "CCONJ", "INTJ", "PART", "PROPN", "PUNCT", "SCONJ", "SYM"])

TagMap = TableName | Mapping[str, str]


def tag_map(name: TagMap) -> dict[str, str]:
    """The map from tags to universal tags with a name, or from a file.

    A line of the file has a tag and a universal tag, one of the twelve or one of Universal
    Dependencies. Lines that begin with `##` are comments.
    """
    if isinstance(name, Mapping):
        return dict(name)
    found: dict[str, str] = {}
    for line, row in table_rows(name, "tags", "map of universal tags"):
        fields = row.split()
        if len(fields) != 2:
            raise DataError("the line must have two words: tag, universal tag", str(name), line)
        tag, universal = fields
        if universal not in UNIVERSAL_TAGS and universal not in _OF_UD:
            raise DataError(
                f"{universal!r} is no universal tag; write one of {' '.join(UNIVERSAL_TAGS)}",
                str(name),
                line,
            )
        if found.setdefault(tag, universal) != universal:
            raise DataError(f"there are two universal tags for {tag}", str(name), line)
    return found


@overload
def with_universal_tags(source: Block, tags: TagMap) -> Block: ...
@overload
def with_universal_tags(source: Iterable[Sentence], tags: TagMap) -> list[Sentence]: ...
def with_universal_tags(source: Block | Iterable[Sentence], tags: TagMap) -> Block | list[Sentence]:
    """The same block or sentences with universal tags in UPOS (CPOSTAG), made from XPOS (POSTAG).

    `tags` is the name of a map (`"penn"`), a file, or a dictionary. The fine tag is looked up, then
    the coarse and the fine tag joined by `_`; where there is no fine tag, the coarse one. A tag
    that the map lacks becomes X, and a `DataWarning` counts such words. Words without tags stay
    without. Everything else keeps its bytes.
    """
    table = tag_map(tags)
    missing: Counter[str] = Counter()
    if isinstance(source, Block):
        made: Block | list[Sentence] = tagged_block(source, table, missing)
    else:
        made = [
            _tagged_sentence(sentence, table, missing)
            for sentence in as_list(source, "with_universal_tags takes a block or sentences")
        ]
    warn_of_unmapped(missing)
    return made


def tagged_block(block: Block, table: Mapping[str, str], missing: Counter[str]) -> Block:
    """A block with universal tags; words whose tag the map lacks are added to `missing`."""
    if block.layout.places[UPOS] < 0:
        raise ArgumentError(
            f"{block.layout.title} has no column for universal tags: convert to conllu or conllx."
        )
    columns = [
        [
            _universal(coarse, fine, table, missing)
            for coarse, fine in zip(block.column(i, UPOS), block.column(i, XPOS), strict=True)
        ]
        for i in range(len(block))
    ]
    return block.with_columns(upos=columns)


def warn_of_unmapped(missing: Mapping[str, int]) -> None:
    """Warns of words whose tag a map lacks, if there are any."""
    if missing:
        most = sorted(missing.items(), key=lambda item: (-item[1], item[0]))
        shown = ", ".join(f"{tag} {count:,}" for tag, count in most[:10])
        more = f" and {len(most) - 10} more" if len(most) > 10 else ""
        warnings.warn(
            f"the map has no universal tag for {sum(missing.values()):,} words ({shown}{more}); "
            "their tag is now X.",
            DataWarning,
            stacklevel=3,  # the caller of the public function
        )


def _tagged_sentence(
    sentence: Sentence, table: Mapping[str, str], missing: Counter[str]
) -> Sentence:
    if not isinstance(sentence, Sentence):
        raise ArgumentError(
            f"with_universal_tags takes a block or sentences, not {type(sentence).__name__}."
        )
    block = Block(bytes(sentence), layout_named(sentence.format))
    return Sentence.from_bytes(tagged_block(block, table, missing).text(0), sentence.format)


def _universal(coarse: str, fine: str, table: Mapping[str, str], missing: Counter[str]) -> str:
    if fine == "_":
        fine = coarse
    if fine == "_":
        return "_"
    found = table.get(fine) or table.get(f"{coarse}_{fine}")
    if found is None:
        missing[fine] += 1
        return "X"
    return found
