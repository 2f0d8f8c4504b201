"""Head rules: which part of a phrase is its head.

A row of the table names the steps of the search for one kind of phrase. Each step looks at the
parts of the phrase from the right (`r`) or from the left (`l`) and takes the first with one of its
labels. If no step finds one, the head is the first part from the side of the last step that is not
punctuation. Arbora's own table is that of Yamada & Matsumoto (2003), in the notation that the
converters of the Penn Treebank use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from arbora.data.tables import TableName, table_rows
from arbora.errors import DataError

__all__ = ["DEFAULT_HEAD_RULES", "HeadRules", "head_rules"]

DEFAULT_HEAD_RULES = "yamada2003"

_PUNCTUATION = frozenset(["``", "''", ",", ".", ":", "-LRB-", "-RRB-", "(", ")"])
_MOST_KNOWN = 1 << 16  # phrases whose heads are kept, most of those of a treebank
_UNKNOWN = ((1, frozenset[str]()),)  # the leftmost part

Step = tuple[int, frozenset[str]]  # 1 from the left, -1 from the right; the labels


@dataclass(frozen=True)
class HeadRules:
    """A table of head rules: the steps of the search for the head of each kind of phrase.

    A step is a pair of a direction, 1 from the left and -1 from the right, and labels. `rows` maps
    the labels of phrases to their steps; the head of other phrases is the leftmost part that is no
    punctuation.
    """

    rows: Mapping[str, Sequence[Step]]
    _known: dict[tuple[str, ...], int] = field(default_factory=dict, repr=False, compare=False)

    def head(self, label: str, parts: Sequence[str]) -> int:
        """The place (from 0) of the head among the labels of a phrase's parts."""
        if len(parts) == 1:
            return 0
        key = (label, *parts)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[key] = self._search(label, parts)
        return found

    def _search(self, label: str, parts: Sequence[str]) -> int:
        steps = self.rows.get(label) or _UNKNOWN
        for direction, labels in steps:
            for place in range(len(parts))[::direction]:
                if parts[place] in labels:
                    return place
        order = range(len(parts))[:: steps[-1][0]]
        return next((place for place in order if parts[place] not in _PUNCTUATION), order[0])


def head_rules(name: TableName | HeadRules = DEFAULT_HEAD_RULES) -> HeadRules:
    """Head rules by name (`"yamada2003"`), or from a file.

    A line of the file has the label of a phrase and the steps, separated by semicolons: `r` or `l`
    and labels, like `WHPP l IN; l TO; l FW; l`. Lines that begin with `##` are comments.
    """
    if isinstance(name, HeadRules):
        return name
    rows: dict[str, tuple[Step, ...]] = {}
    for line, row in table_rows(name, "heads", "table of head rules"):
        label, _, steps = row.replace("\t", " ").partition(" ")
        if label in rows:
            raise DataError(f"there are two rows for {label}; remove one", str(name), line)
        rows[label] = tuple(
            _step(step, str(name), line) for step in steps.split(";") if step.strip()
        )
        if not rows[label]:
            raise DataError(f"the row of {label} has no step; write l or r", str(name), line)
    return HeadRules(rows)


def _step(text: str, file: str, line: int) -> Step:
    direction, *labels = text.replace("|", " ").split()
    if direction not in {"l", "r"}:
        raise DataError(
            f"a step must begin with l or r, not with {direction!r}; write it like 'l IN TO'",
            file,
            line,
        )
    return (1 if direction == "l" else -1), frozenset(labels)
