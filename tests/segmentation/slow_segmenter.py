"""The segmenter in plain Python: the same features, one after the other, and the same decisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from arbora._core import segmentation as _core
from arbora.segmentation import Segmenter
from tests.segmentation.slow_hashes import bucket, hash_of, key_of

__all__ = ["SlowSegmenter"]

_SPACE, _LOWER, _UPPER, _DIGIT, _NUMBER, _OPENING, _CLOSING = 1, 2, 3, 6, 7, 8, 9
_HIRAGANA = 14
_PART, _MATCH = 16, 12
_VOWELS = "aeiouyáàâäãåāăąæéèêëēėęěíìîïīįıóòôöõōőøœúùûüūůűųýÿ"  # noqa: RUF001
_ENDINGS = (
    "com", "net", "org", "edu", "gov", "htm", "html", "pdf", "doc", "xls", "ppt", "txt", "zip",
    "jpg", "gif", "png", "docx", "xlsx",
)  # fmt: skip


def _is_word(kind: int) -> bool:
    return _LOWER <= kind <= _NUMBER or kind >= _HIRAGANA


class SlowSegmenter:
    """Decides as `Segmenter` does, for one paragraph without a byte-order mark."""

    def __init__(self, segmenter: Segmenter) -> None:
        tensors, settings = segmenter.tensors(), segmenter.settings()
        self._tables = {
            name: tensors[name].astype(np.float32).astype(float).tolist()
            for name in ("boundary", "sentence", "split")
        }
        self._open = tensors["open"].tolist()
        self._known: list[set[int]] = [
            {int(entry) >> 3 for entry in tensors["lexicon"] if int(entry) >> bit & 1}
            for bit in range(3)
        ]
        self._rules = settings["rules"]
        self._lines_matter = settings["lines_matter"]

    def segment(self, text: str) -> tuple[list[tuple[int, int]], list[int], list[list[str]]]:
        """Tokens as ranges, the numbers of the tokens that end sentences, and words of tokens."""
        classes, lower = _core.look_at(text.encode("utf-8"))
        self._text, self._kind, self._lower = text, classes.tolist(), lower.tolist()
        self._web = [0] * len(text)
        self._mark_addresses()
        tokens = self._tokens()
        atoms = [self._atoms(*token) for token in tokens]
        for t, (_, end) in enumerate(tokens[:-1]):
            atoms[t]["gap"] = self._gap(end, tokens[t + 1][0])
        return tokens, self._sentences(tokens, atoms), self._words(tokens, atoms)

    # Tokens

    def _mark_addresses(self) -> None:
        end = 0
        for begin in range(len(self._text)):
            if begin < end or self._kind[begin] == _SPACE:
                continue
            end = begin
            while end < len(self._text) and self._kind[end] != _SPACE:
                end += 1
            self._mark_chunk(begin, end)

    def _mark_chunk(self, begin: int, end: int) -> None:
        letters = "".join(map(chr, self._lower))

        def is_part(k: int) -> bool:
            return _is_word(self._kind[k]) or letters[k] in ".-_+"

        i, marked = begin, False
        while i < end:
            if letters.startswith(("://", "www."), i):
                first = i
                while first > begin and "a" <= letters[first - 1] <= "z":
                    first -= 1
                self._web[first:end] = [1] * (end - first)
                return
            if letters[i] == "@" and begin < i < end - 1:
                first, last = i, i + 1
                while first > begin and is_part(first - 1):
                    first -= 1
                while last < end and is_part(last):
                    last += 1
                if first < i and last > i + 1:
                    self._web[first:last] = [2] * (last - first)
                    i, marked = last - 1, True
            i += 1
        if not marked:
            self._mark_file(letters[begin:end], begin)

    def _mark_file(self, chunk: str, begin: int) -> None:
        def is_word(k: int) -> bool:
            return 0 <= k < len(chunk) and _is_word(self._kind[begin + k])

        for dot in range(len(chunk) - 2, 0, -1):
            if chunk[dot] != "." or not is_word(dot - 1):
                continue
            last = dot + 1
            while is_word(last):
                last += 1
            if chunk[dot + 1 : last] in _ENDINGS:
                first = dot
                while first > 0 and (is_word(first - 1) or chunk[first - 1] in ".-_"):
                    first -= 1
                self._web[begin + first : begin + last] = [3] * (last - first)
                return

    def _tokens(self) -> list[tuple[int, int]]:
        found, begin, n = [], -1, len(self._text)
        for i in range(n):
            if self._kind[i] == _SPACE:
                continue
            begin = i if begin < 0 else begin
            if i + 1 < n and self._kind[i + 1] != _SPACE and i + 1 - begin < 1000:
                if not self._open[self._kind[i] * _core.CLASSES + self._kind[i + 1]]:
                    continue
                if not self._score("boundary", self._boundary(i)) > 0:
                    continue
            found.append((begin, i + 1))
            begin = -1
        return found

    def _score(self, table: str, keys: list[int]) -> float:
        weights = self._tables[table]
        shift = 64 - (len(weights).bit_length() - 1)
        total = 0.0
        for key in keys:
            total += weights[key >> shift]
        return total

    def _knows(self, letters: Sequence[int], kind: int) -> bool:
        return hash_of(letters) >> 35 in self._known[kind]

    def _shape(self, begin: int, end: int, repeated: int = -1) -> int:
        kinds = self._kind[begin:end]
        return hash_of(
            [k for i, k in enumerate(kinds) if i == 0 or k != kinds[i - 1] or k == repeated]
        )

    def _at(self, values: list[int], i: int) -> int:
        return values[i] if 0 <= i < len(values) else 0

    def _boundary(self, i: int) -> list[int]:
        low, kind, n = self._lower, self._kind, len(self._text)
        begin, end = i, i + 1
        while begin > 0 and i - begin < _PART and kind[begin - 1] != _SPACE:
            begin -= 1
        while end < n and end - i <= _PART and kind[end] != _SPACE:
            end += 1
        first = last = i + 1
        while first > begin and _is_word(kind[first - 1]):
            first -= 1
        while last < end and _is_word(kind[last]):
            last += 1
        after = end
        while after < n and after < end + _PART and kind[after] == _SPACE:
            after += 1
        nxt = self._at(kind, after)
        ends = starts = spans = 0
        for start in range(max(begin, i + 2 - _MATCH), i + 2):
            for stop in range(max(start, i) + 1, min(end, start + _MATCH) + 1):
                if self._knows(low[start:stop], 0):
                    size = stop - start
                    if start == i + 1:
                        starts = max(starts, size)
                    elif stop == i + 1:
                        ends = max(ends, size)
                    else:
                        # the longest known word from there, if one reaches beyond the place
                        spans = max(spans, size)
        left, right = hash_of(low[begin : i + 1]), hash_of(low[i + 1 : end])
        left_run, right_run = hash_of(low[first : i + 1]), hash_of(low[i + 1 : last])
        shapes = self._shape(begin, i + 1), self._shape(i + 1, end)
        digits = self._shape(begin, i + 1, _DIGIT), self._shape(i + 1, end, _DIGIT)
        l3, l2, l1, r1, r2, r3 = (self._at(low, i + k) for k in range(-2, 4))
        k3, k2, k1, c1, c2, c3 = (self._at(kind, i + k) for k in range(-2, 4))
        web = 4 * self._web[i] + self._web[i + 1]
        rows: list[tuple[str, tuple[int, ...]]] = [
            ("bias", ()), ("web", (web, l1, r1)), ("web kinds", (web, k1, c1, c2)),
            ("web next", (web, r1, r2, nxt)), ("l1", (l1,)), ("r1", (r1,)), ("l2", (l2,)),
            ("r2", (r2,)), ("l3", (l3,)), ("r3", (r3,)), ("l1 r1", (l1, r1)), ("l2 l1", (l2, l1)),
            ("r1 r2", (r1, r2)), ("l2 l1 r1", (l2, l1, r1)), ("l1 r1 r2", (l1, r1, r2)),
            ("l3 l2 l1", (l3, l2, l1)), ("r1 r2 r3", (r1, r2, r3)),
            ("l2 l1 r1 r2", (l2, l1, r1, r2)), ("kinds 1", (k1, c1)),
            ("kinds 2", (k2, k1, c1, c2)), ("kinds 3", (k3, k2, k1, c1, c2, c3)),
            ("left", (left,)), ("right", (right,)), ("left right", (left, right)),
            ("left next", (left, r1, nxt)), ("right next", (l1, right, nxt)), ("shapes", shapes),
            ("shapes next", (*shapes, nxt)), ("digits", digits), ("left run", (left_run, r1)),
            ("right run", (l1, right_run)), ("runs", (left_run, right_run)),
            ("left run next", (left_run, r1, r2, nxt)), ("ends", (ends, k1, c1)),
            ("starts", (starts, k1, c1)), ("spans", (spans, k1, c1)),
            ("known", (ends, starts, spans)), ("web pair", (web, k1, c1)),
            ("web goes on", (web, int(any(map(_is_word, kind[i + 2 : end]))), c1)),
        ]  # fmt: skip
        marks = (k1 if _is_word(k1) else 32 + l1, c1 if _is_word(c1) else 32 + r1)
        runs = self._known_runs(i, begin, end)
        rows += [("runs known", (runs, *marks)), ("runs known next", (runs, *marks, nxt))]
        return [key_of(name, *atoms) for name, atoms in rows]

    def _known_runs(self, i: int, begin: int, end: int) -> int:
        """Which runs of letters around the place are known, and which are empty."""
        kind = self._kind
        left = i + 1 if _is_word(kind[i]) else i
        right = i + 1 if _is_word(kind[i + 1]) else i + 2
        first, last = left, right
        while first > begin and _is_word(kind[first - 1]):
            first -= 1
        while last < end and _is_word(kind[last]):
            last += 1
        answer = 0
        for start, stop in ((first, left), (right, last), (first, last), (first, i + 1)):
            known = 0 < stop - start <= _MATCH and self._knows(self._lower[start:stop], 0)
            answer = 2 * answer + known
        return 4 * answer + 2 * (first == left) + (right >= last)

    # Sentences

    def _atoms(self, begin: int, end: int) -> dict[str, int]:
        stop = min(end, begin + _PART)

        def seen(i: int) -> int:
            return self._kind[i] if _is_word(self._kind[i]) else 32 + self._lower[i]

        capital = 0
        if self._kind[begin] == _UPPER:
            capital = 1 if self._knows(self._lower[begin:end], 2) else 2
        return {
            "form": hash_of(self._lower[begin:stop]), "shape": self._shape(begin, stop),
            "first": seen(begin), "last": seen(end - 1), "length": bucket(end - begin),
            "suffix": hash_of(self._lower[max(begin, end - 3) : end]), "capital": capital, "gap": 3,
        }  # fmt: skip

    def _gap(self, end: int, following: int) -> int:
        from arbora.data.surface import count_line_ends

        if end == following:
            return 0
        lines = count_line_ends(self._text[end:following])
        return 3 if lines > 1 else 2 if lines == 1 and self._lines_matter else 1

    def _sentences(self, tokens: list[tuple[int, int]], atoms: list[dict[str, int]]) -> list[int]:
        ends, start, brackets, quote = [], 0, 0, 0
        for t, (begin, end) in enumerate(tokens):
            if end == begin + 1:
                if self._text[begin] == '"':
                    quote = 1 - quote
                elif self._kind[begin] == _OPENING:
                    brackets += 1
                elif self._kind[begin] == _CLOSING:
                    brackets = max(0, brackets - 1)
            length = bucket(t + 1 - start)
            ends_here = t + 1 == len(tokens) or t + 1 - start >= 1000
            if not ends_here:
                keys = self._sentence(atoms, t, length, quote + 2 * min(brackets, 2))
                ends_here = self._score("sentence", keys) > 0
            if ends_here:
                ends.append(t)
                start, brackets, quote = t + 1, 0, 0
        return ends

    @staticmethod
    def _sentence(atoms: list[dict[str, int]], t: int, length: int, opened: int) -> list[int]:
        edge = dict.fromkeys(("form", "shape", "first", "last", "suffix", "length", "capital"), 0)
        edge["gap"] = 3
        seen = {
            name: atoms[t + k] if 0 <= t + k < len(atoms) else edge
            for name, k in (("p2", -2), ("p", -1), ("a", 0), ("b", 1), ("b2", 2))
        }

        def get(*names: str) -> list[int]:
            pairs = (name.split(".") for name in names)
            return [seen[token][atom] for token, atom in pairs]

        gap = seen["a"]["gap"]
        rows: list[tuple[str, list[int]]] = [
            ("bias", []), ("a", get("a.form")), ("b", get("b.form")),
            ("a gap", get("a.form", "a.gap")),
            ("a b", get("a.form", "b.form")), ("p a", get("p.form", "a.form", "b.first")),
            ("p2 p a", get("p2.form", "p.form", "a.form")),
            ("b b2", get("b.form", "b2.form", "a.gap")),
            ("a bs", get("a.form", "b.shape", "a.gap")),
            ("as bs", get("a.shape", "b.shape", "a.gap")),
            ("as b", get("a.shape", "b.form", "a.gap")),
            ("ps as bs", get("p.shape", "a.shape", "b.shape", "a.gap")),
            ("ps a bs", get("p.shape", "a.form", "b.shape", "a.gap")),
            ("p a bs", get("p.form", "a.form", "b.shape")),
            ("ps as bs b2s", get("p.shape", "a.shape", "b.shape", "b2.shape", "a.gap")),
            ("as bs b2s", get("a.shape", "b.shape", "b2.shape")),
            ("a bs b2s", get("a.form", "b.shape", "b2.shape", "a.gap")),
            ("suffix", get("a.suffix", "b.first", "a.gap")),
            ("a length", get("a.form", "a.length", "p.length")),
            ("gaps", get("p.gap", "a.gap", "b.gap", "a.last", "b.first")),
            ("last first", get("a.last", "b.first", "a.gap", "b.gap")),
            ("a first2", get("a.form", "b.first", "b2.first", "b.gap")),
            ("so far", [length, *get("a.last", "b.first")]),
            ("so far a", [length, *get("a.form", "b.first")]),
            ("capitals", get("a.capital", "b.capital", "a.gap", "a.last")),
            ("a capital", get("a.form", "b.capital", "a.gap")),
            ("suffix capital", get("a.suffix", "b.capital", "a.gap")),
            ("four capitals", [*get("p.capital", "a.capital", "b.capital", "b2.capital", "a.gap"),
                               *get("a.last")]),
            ("capital so far", [length, *get("a.last", "b.capital", "a.gap")]),
            ("p a b", get("p.form", "a.form", "b.form")),
            ("open", [opened, *get("a.form", "b.first")]),
            ("open gap", [opened, gap, *get("a.last", "b.form")]),
        ]  # fmt: skip
        return [key_of(name, *values) for name, values in rows]

    # Words

    def _words(self, tokens: list[tuple[int, int]], atoms: list[dict[str, int]]) -> list[list[str]]:
        words = []
        edge = {"form": 0, "suffix": 0, "last": 0, "first": 0}
        for t, (begin, end) in enumerate(tokens):
            small = "".join(map(chr, self._lower[begin:end]))
            best, made = 0.0, [self._text[begin:end]]
            for rule in self._rules:
                left, right, literal, core, before, after = rule
                if core < 0:
                    if small != left:
                        continue
                    place = (begin, begin)
                else:
                    if len(small) <= len(left) + len(right):
                        continue
                    if not (small.startswith(left) and small.endswith(right)):
                        continue
                    place = (begin + len(left), end - len(right))
                around = [atoms[k] if 0 <= k < len(tokens) else edge for k in range(t - 1, t + 3)]
                keys = self._split(rule, (begin, end), place, around)
                score = self._score("split", keys)
                if score > best:
                    best = score
                    cased = self._casing(begin, end)
                    copied = self._text[place[0] : place[1]]
                    made = [
                        cased(before, w == 0) + copied + cased(after, False)
                        if w == core
                        else cased(word, w == 0)
                        for w, word in enumerate(literal)
                    ]
            words.append(made)
        return words

    def _casing(self, begin: int, end: int) -> Callable[[str, bool], str]:
        kinds = self._kind[begin:end]
        all_capitals = kinds.count(_UPPER) > 1 and _LOWER not in kinds

        def cased(letters: str, first: bool) -> str:
            if all_capitals:
                return letters.upper()
            if first and kinds[0] == _UPPER:
                return letters[:1].upper() + letters[1:]
            return letters

        return cased

    def _split(
        self, rule: list[object], token: tuple[int, int], core: tuple[int, int],
        around: list[dict[str, int]],
    ) -> list[int]:  # fmt: skip
        previous, own, following, second = around
        left, right, literal, number, before, after = rule
        letters: list[int] = []
        for text in (left, right, *literal):  # type: ignore[misc]
            letters += [*map(ord, text), 0]
        letters.append(int(number) + 1)  # type: ignore[call-overload]
        for text in (before, after):
            letters += [*map(ord, text), 0]  # type: ignore[call-overload]
        name = hash_of(letters)
        kind = hash_of([ord("a") if chr(one) in _VOWELS else one for one in letters])

        def piece(begin: int, end: int) -> int:
            return hash_of(self._lower[max(begin, core[0]) : min(end, core[1])])

        word = [*map(ord, before), *self._lower[core[0] : core[1]], *map(ord, after)]  # type: ignore[call-overload]
        known = self._knows(word, 1) + 2 * self._knows(self._lower[token[0] : token[1]], 1)
        length = bucket(core[1] - core[0])
        rows = [
            ("rule", ()), ("rule form", (own["form"],)), ("rule known", (known, length)),
            ("rule shape", (own["shape"], known)),
            *((f"rule prefix {k}", (piece(core[0], core[0] + k),)) for k in (1, 2, 3)),
            *((f"rule suffix {k}", (piece(core[1] - k, core[1]),)) for k in (1, 2, 3)),
            ("rule suffix 4", (piece(core[1] - 4, core[1]), known)),
            ("rule previous", (previous["form"],)), ("rule next", (following["form"],)),
            ("rule previous suffix", (previous["suffix"],)),
            ("rule next suffix", (following["suffix"],)),
            ("rule form previous", (own["form"], previous["form"])),
            ("rule form next", (own["form"], following["form"])),
            ("rule form previous suffix", (own["form"], previous["suffix"])),
            ("rule form next suffix", (own["form"], following["suffix"])),
            ("rule form around", (own["form"], previous["form"], following["form"])),
            ("rule form second", (own["form"], second["form"])),
            ("rule form after", (own["form"], following["form"], second["form"])),
            ("rule form shapes", (own["form"], previous["last"], following["first"])),
            ("rule shapes", (previous["last"], following["first"], own["shape"])),
        ]  # fmt: skip
        keys = [key_of(label, name, *atoms) for label, atoms in rows]
        kinds = [
            ("kind", ()), ("kind known", (known, length)), ("kind shape", (own["shape"], known)),
            ("kind suffix 1", (piece(core[1] - 1, core[1]),)),
            ("kind suffix 2", (piece(core[1] - 2, core[1]),)),
            ("kind suffix 3", (piece(core[1] - 3, core[1]), known)),
            ("kind core", (hash_of(word),)),
            ("kind previous", (previous["form"],)), ("kind next", (following["form"],)),
            ("kind next suffix", (following["suffix"],)),
        ]  # fmt: skip
        keys += [key_of(label, kind, *atoms) for label, atoms in kinds]
        return [*keys, key_of("known", known, length), key_of("form", own["form"])]
