"""Clusters of words from a file, hard (one per word) or soft (several, with shares)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from arbora._core import features as kernels
from arbora.data import open_output
from arbora.data.output import WritePath
from arbora.errors import DataError, unreadable

__all__ = ["WordClusters", "read_clusters", "write_clusters"]


class WordClusters:
    """For each known form, its clusters and the share of each.

    A form that is unknown as it is has the clusters of its lower case, if that is known. Parsers of
    the first versions have clusters without `any_case`, which are those of exact forms only.
    """

    _text = b""  # of which the clusters were made, if any

    def __init__(self, rows: Iterable[tuple[str, str, float]], any_case: bool = True) -> None:
        self.rows, self.any_case = tuple(rows), any_case

    @cached_property
    def rows(self) -> tuple[tuple[str, str, float], ...]:
        """The rows of form, cluster and share."""
        groups = (line.split("\t") for line in self._text.decode().split("\n"))
        return tuple((form, name, 1.0) for name, *forms in groups for form in forms)

    @cached_property
    def kernel(self) -> kernels.Clusters:
        if self._text:  # much faster than by rows
            return kernels.read_clusters(self._text, self.any_case)
        return kernels.make_clusters(list(self.rows), self.any_case)

    def __len__(self) -> int:
        return len(self.rows)

    def to_bytes(self) -> bytes | None:
        """A line for each cluster: its name and its forms, separated by tabs.

        None if a form is in several clusters, or if a text contains a tab or the end of a line.
        """
        if self._text:
            return self._text
        groups: dict[str, list[str]] = {}
        for form, cluster, share in self.rows:
            if share != 1.0 or set(form + cluster) & {"\t", "\n"}:
                return None
            groups.setdefault(cluster, [cluster]).append(form)
        if len({form for form, _, _ in self.rows}) < len(self.rows):
            return None
        return "\n".join(map("\t".join, groups.values())).encode()

    @classmethod
    def from_bytes(cls, text: bytes, any_case: bool = True) -> WordClusters:
        """The clusters of which `to_bytes` made the text, by cluster.

        Raises `UnicodeDecodeError` if it is not UTF-8.
        """
        text.decode()
        answer = cls((), any_case)
        del answer.rows  # they are read from the text when they are needed
        answer._text = text
        return answer


def read_clusters(path: str | os.PathLike[str]) -> WordClusters:
    """Reads lines of `cluster<TAB>form[<TAB>number]`.

    Brown-cluster programs write such files (a bit string, the form, its count); other hard clusters
    need no number. A form on several lines belongs to several clusters, in proportion to the
    numbers on its lines.
    """
    name = os.fspath(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise unreadable(name, problem) from None
    except UnicodeDecodeError:
        raise DataError("this is not UTF-8; convert the file to UTF-8", name, 1) from None
    rows: list[tuple[str, str, float]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) not in (2, 3) or not fields[0] or not fields[1]:
            raise DataError("a line must be cluster<TAB>form[<TAB>number]", name, number)
        rows.append((fields[1], fields[0], _weight(fields, name, number)))
    if not rows:
        raise DataError("the file has no clusters", name, 1)
    return WordClusters(_shares(rows))


def write_clusters(path: WritePath, clusters: WordClusters) -> None:
    """Writes lines that `read_clusters` reads; the share of a hard cluster is left out."""
    with open_output(path) as write:
        for form, cluster, share in clusters.rows:
            number = "" if share == 1.0 else f"\t{share!r}"
            write(f"{cluster}\t{form}{number}\n".encode())


def _weight(fields: list[str], name: str, line: int) -> float:
    if len(fields) == 2:
        return 1.0
    try:
        weight = float(fields[2])
    except ValueError:
        weight = -1.0
    if not 0.0 < weight < float("inf"):
        raise DataError(f"{fields[2]!r} is not a positive number", name, line)
    return weight


def _shares(rows: list[tuple[str, str, float]]) -> Iterable[tuple[str, str, float]]:
    totals: dict[str, float] = {}
    for form, _, weight in rows:
        totals[form] = totals.get(form, 0.0) + weight
    return [(form, cluster, weight / totals[form]) for form, cluster, weight in rows]
