"""Reading of patterns: `[upos=VERB] -obj-> [lemma=book]`.

The grammar, with the tokens in quotes:

```
pattern   = clause { "," clause }
clause    = word { link word }
word      = [ NAME ":" ] "[" [ condition { "&" condition } ] "]"  |  NAME  |  "ROOT"
link      = "->"  |  "<-"  |  "-" labels "->"  |  "<-" labels "-"  |  "<"  |  "<<"
labels    = [ "!" ] value { "|" value }
condition = COLUMN ( "=" | "!=" ) value { "|" value }
value     = BARE  |  '"' characters '"'  |  "/" regular expression "/"
```

A label follows `<-` without a space, since `a <- b` is an arc with any label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from arbora.corpus.pattern import (
    Alternative,
    Condition,
    Pattern,
    PatternArc,
    PatternOrder,
    PatternWord,
    Values,
    known_column,
)
from arbora.errors import ArgumentError, PatternError

__all__ = ["MOST_WORDS", "read_pattern"]

MOST_WORDS = 8  # of a pattern
_LONGEST = 10_000  # characters
_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[^\W\d]\w*")
_COLUMN = re.compile(r"\w+(\.[\w\[\]-]+)?")
_BARE_VALUE = re.compile(r"""[^\s\]&|"/=!\[]+""")
_BARE_LABEL = re.compile(r"""[^\s|"/!<>\-\[\],]+""")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_REGEX = re.compile(r"/((?:[^/\\]|\\.)*)/", re.DOTALL)
_FAMILY = ":*"
_ROOT = "ROOT"


def read_pattern(text: str) -> Pattern:
    """The pattern that a text describes; raises `PatternError`, which points at the place."""
    if not isinstance(text, str):
        raise ArgumentError(f"a pattern must be a text, not {type(text).__name__}.")
    if len(text) > _LONGEST:
        raise ArgumentError(f"a pattern has at most {_LONGEST} characters, not {len(text)}.")
    return _Reader(text).pattern()


@dataclass
class _Reader:
    """The state of reading: the place in the text, and what was read so far."""

    text: str
    at: int = 0
    words: list[PatternWord] = field(default_factory=list)
    arcs: list[PatternArc] = field(default_factory=list)
    orders: list[PatternOrder] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)

    def pattern(self) -> Pattern:
        self.clause()
        while self.taken(","):
            self.clause()
        self.space()
        if self.at < len(self.text):
            raise self.error("an arc (-obj->), an order (<<) or a comma must come here")
        if all(word.is_root for word in self.words):
            raise self.error("the pattern needs a word besides ROOT", 0)
        self.check_connected()
        return Pattern(self.text, tuple(self.words), tuple(self.arcs), tuple(self.orders))

    def clause(self) -> None:
        first = self.word()
        while (link := self.link()) is not None:
            sign, label, at = link
            second = self.word()
            if first == second:
                raise self.error("a word cannot be linked to itself", at)
            if sign in ("<", "<<"):
                self.order(PatternOrder(first, second, adjacent=sign == "<"), at)
            elif sign == "->":
                self.arc(PatternArc(first, second, label), at)
            else:
                self.arc(PatternArc(second, first, label), at)
            first = second

    def word(self) -> int:
        self.space()
        at, name = self.at, self.found(_NAME)
        if name is None:
            if not self.taken("["):
                raise self.error("a word must come here, as in [upos=VERB]")
            return self.new_word("", at)
        if name == _ROOT:
            return self.places[_ROOT] if _ROOT in self.places else self.root()
        if self.taken(":"):
            if name in self.places:
                raise self.error(f"there is already a word {name}: write only its name", at)
            if not self.taken("["):
                raise self.error("the conditions of the word must come here, as in [upos=VERB]")
            return self.new_word(name, at)
        if name not in self.places:
            raise self.error(f"there is no word {name} yet: define it, as in {name}:[]", at)
        return self.places[name]

    def root(self) -> int:
        self.places[_ROOT] = len(self.words)
        self.words.append(PatternWord(_ROOT, is_root=True))
        return self.places[_ROOT]

    def new_word(self, name: str, at: int) -> int:
        conditions: list[Condition] = []
        if not self.taken("]"):
            conditions.append(self.condition())
            while self.taken("&"):
                conditions.append(self.condition())
            if not self.taken("]"):
                raise self.error("the conditions of a word end in ], and & separates them")
        if len(self.words) == MOST_WORDS:
            raise self.error(f"a pattern has at most {MOST_WORDS} words", at)
        place = len(self.words)
        name = name or self.unused_name(place)
        self.places[name] = place
        self.words.append(PatternWord(name, tuple(conditions)))
        return place

    def unused_name(self, place: int) -> str:
        """A name for a word without one; the text may use any other."""
        name = f"w{place + 1}"
        while re.search(rf"\b{name}\b", self.text):
            name += "_"
        return name

    def condition(self) -> Condition:
        self.space()
        at, column = self.at, self.found(_COLUMN)
        if column is None:
            raise self.error("a condition must come here, as in lemma=book")
        problem = known_column(column)
        if problem is not None:
            raise self.error(problem, at)
        negated = self.taken("!=")
        if not negated and not self.taken("="):
            raise self.error("= or != must follow the name of the column")
        return Condition(column, self.values(_BARE_VALUE, negated))

    def link(self) -> tuple[str, Values | None, int] | None:
        """An arc or an order, with the place where it begins; None if there is none."""
        self.space()
        at = self.at
        for sign in ("->", "<<"):
            if self.taken(sign):
                return sign, None, at
        if self.taken("<-"):
            if not self.begins_labels():
                return "<-", None, at
            labels = self.values(_BARE_LABEL, self.taken("!"))
            if not self.taken("-"):
                raise self.error("a label to the left ends in -, as in <-obj-")
            return "<-", labels, at
        if self.taken("-"):
            labels = self.values(_BARE_LABEL, self.taken("!"))
            if not self.taken("->"):
                raise self.error("a label to the right ends in ->, as in -obj->")
            return "->", labels, at
        return ("<", None, at) if self.taken("<") else None

    def begins_labels(self) -> bool:
        """Whether a label follows `<-`: it does so without a space, and a word begins with [."""
        following = self.text[self.at : self.at + 1]
        return following != "[" and not following.isspace() and following != ""

    def values(self, bare: re.Pattern[str], negated: bool) -> Values:
        self.space()
        at = self.at
        found = [self.value(bare)]
        while self.taken("|"):
            found.append(self.value(bare))
        return Values(tuple(found), negated, at)

    def value(self, bare: re.Pattern[str]) -> Alternative:
        self.space()
        at = self.at
        if self.text[at : at + 1] == '"':
            quoted = _QUOTED.match(self.text, at)
            if quoted is None:
                raise self.error('a " is missing at the end of this value', at)
            self.at = quoted.end()
            return Alternative(re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL))
        if self.text[at : at + 1] == "/":
            return self.regex(at)
        text = self.found(bare)
        if text is None:
            raise self.error('a value must come here: a text, a "quoted text" or a /regex/')
        if text.endswith(_FAMILY) and bare is _BARE_LABEL and len(text) > len(_FAMILY):
            return Alternative(text.removesuffix(_FAMILY), "family")
        return Alternative(text)

    def regex(self, at: int) -> Alternative:
        found = _REGEX.match(self.text, at)
        if found is None:
            raise self.error("a / is missing at the end of this regular expression", at)
        try:
            compiled = re.compile(found[1].replace("\\/", "/"))
        except (re.error, RecursionError, OverflowError) as error:
            place = at + 1 + (getattr(error, "pos", None) or 0)
            reason = getattr(error, "msg", str(error))
            raise self.error(f"this is not a regular expression ({reason})", place) from None
        self.at = found.end()
        return Alternative(found[1], "regex", compiled)

    def arc(self, arc: PatternArc, at: int) -> None:
        if self.words[arc.modifier].is_root:
            raise self.error("ROOT has no head", at)
        if any(other.modifier == arc.modifier for other in self.arcs):
            raise self.error("this word would have two heads", at)
        above: int | None = arc.head
        heads = {other.modifier: other.head for other in self.arcs}
        while above is not None:
            if above == arc.modifier:
                raise self.error("these arcs form a cycle, which no tree has", at)
            above = heads.get(above)
        self.arcs.append(arc)

    def order(self, order: PatternOrder, at: int) -> None:
        if self.words[order.before].is_root or self.words[order.after].is_root:
            raise self.error("ROOT has no place among the words", at)
        self.orders.append(order)

    def check_connected(self) -> None:
        """Every word must be linked to the first, so that matches are one thing."""
        links = [(arc.head, arc.modifier) for arc in self.arcs]
        links += [(order.before, order.after) for order in self.orders]
        reached, before = {0}, set[int]()
        while reached != before:
            before = set(reached)
            reached |= {b for a, b in links if a in reached}
            reached |= {a for a, b in links if b in reached}
        for place, word in enumerate(self.words):
            if place not in reached:
                raise self.error(
                    f"word {place + 1} ({word.name}) is not linked to the first: add an arc or an "
                    "order"
                )

    def space(self) -> None:
        found = _SPACE.match(self.text, self.at)
        assert found is not None
        self.at = found.end()

    def taken(self, token: str) -> bool:
        self.space()
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def found(self, expression: re.Pattern[str]) -> str | None:
        match = expression.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match[0]

    def error(self, sentence: str, at: int | None = None) -> PatternError:
        return PatternError(sentence, self.text, self.at if at is None else at)
