"""A component for spaCy: trees, tags and probabilities for the tokens of spaCy's own tokeniser.

`nlp.add_pipe("arbora")` finds it if Arbora is installed; importing this module registers it, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from arbora.data import Sentence
from arbora.errors import ArgumentError
from arbora.models.output import ParsedSentence
from arbora.pipeline import Pipeline, load

try:
    from spacy.attrs import DEP, HEAD
    from spacy.language import Language
    from spacy.parts_of_speech import IDS
    from spacy.tokens import Doc, Token
except ImportError as problem:
    raise ImportError("arbora.spacy requires spaCy: pip install 'arbora[spacy]'.") from problem

__all__ = ["ArboraComponent", "make_component"]

ROOT, SPACE = "ROOT", "dep"  # labels that spaCy's own parsers give to roots and white space
_EXTENSIONS = ("arc_probability", "label_probability")


class ArboraComponent:
    """Sets heads and labels of a `Doc`, and tags, features and lemmas where it has none.

    The tokens stay as they are. Sentences that the `Doc` has are kept; otherwise the model's
    segmenter decides where sentences begin, and without one the `Doc` is one sentence. Tags and
    lemmas that the `Doc` has are kept and seen by the parser, unless `retag`. A token of white
    space depends on the token before it. Roots have the label `ROOT`, as in spaCy's models.

    With `probabilities`, `token._.arc_probability` is the probability of the arc to the token's
    head, and `token._.label_probability` that of its label given the arc; both are None for white
    space.
    """

    def __init__(
        self, pipeline: Pipeline, *, probabilities: bool = True, retag: bool = False
    ) -> None:
        self.pipeline, self.probabilities, self.retag = pipeline, probabilities, retag
        for name in _EXTENSIONS:
            if not Token.has_extension(name):
                Token.set_extension(name, default=None)

    def __call__(self, doc: Doc) -> Doc:
        """The same document with trees."""
        return self._annotated([doc])[0]

    def pipe(self, docs: Iterable[Doc], batch_size: int = 256) -> Iterator[Doc]:
        """The documents with trees, in order; `batch_size` of them are parsed at once."""
        rest = iter(docs)
        while several := list(islice(rest, batch_size)):
            yield from self._annotated(several)

    def _annotated(self, docs: list[Doc]) -> list[Doc]:
        places = [self._sentences(doc) for doc in docs]
        given = [
            self._sentence(doc, words)
            for doc, own in zip(docs, places, strict=True)
            for words in own
        ]
        parsed: Iterator[ParsedSentence] = iter(())
        if given:
            parsed = iter(
                self.pipeline.parse(given, probabilities=self.probabilities, retag=self.retag)
            )
        for doc, own in zip(docs, places, strict=True):
            if len(doc):
                _write(doc, own, [next(parsed) for _ in own], self)
        return docs

    def _sentences(self, doc: Doc) -> list[list[int]]:
        """The places of the tokens of each sentence; those of white space are left out."""
        starts = set()
        if doc.has_annotation("SENT_START"):
            starts = {token.i for token in doc if token.is_sent_start}
        elif self.pipeline.segmenter is not None and doc.text.strip():
            found = self.pipeline.segmenter.segment(doc.text)
            first = found.starts[found.sentences]
            begins = np.array([token.idx for token in doc])
            starts = set(np.searchsorted(begins, first).tolist())
        answer: list[list[int]] = [[]]
        for token in doc:
            if token.i in starts:
                answer.append([])
            if not token.is_space:
                answer[-1].append(token.i)
        return [words for words in answer if words]

    def _sentence(self, doc: Doc, places: list[int]) -> Sentence:
        words = [doc[i] for i in places]
        columns: dict[str, Any] = {}
        if not self.retag:
            columns = {
                name: [value(word) or "_" for word in words]
                for name, annotation, value in _COLUMNS
                if doc.has_annotation(annotation)
            }
        return Sentence.from_words([word.text for word in words], **columns)


_COLUMNS = (
    ("upos", "POS", lambda word: word.pos_),
    ("xpos", "TAG", lambda word: word.tag_),
    ("feats", "MORPH", lambda word: str(word.morph)),
    ("lemmas", "LEMMA", lambda word: word.lemma_),
)


def _write(
    doc: Doc, places: list[list[int]], parsed: list[ParsedSentence], how: ArboraComponent
) -> None:
    """Sets the annotation of all tokens of a document."""
    heads, labels = _spaces(doc)
    for words, sentence in zip(places, parsed, strict=True):
        for i, head, label in zip(words, sentence.heads.tolist(), sentence.labels, strict=True):
            heads[i] = words[head - 1] - i if head else 0
            labels[i] = label if head else ROOT
        _write_words(doc, words, sentence, how)
    known = doc.vocab.strings
    columns = [heads.astype(np.uint64), np.array([known.add(x) for x in labels], dtype=np.uint64)]
    doc.from_array([HEAD, DEP], np.stack(columns, axis=1))
    if how.probabilities:
        for words, sentence in zip(places, parsed, strict=True):
            figures = (sentence.arc_probabilities, sentence.label_probabilities)
            for name, values in zip(_EXTENSIONS, figures, strict=True):
                for i, value in zip(words, values.tolist(), strict=bool(len(values))):
                    doc[i]._.set(name, value)


def _spaces(doc: Doc) -> tuple[np.ndarray[Any, np.dtype[np.int64]], list[str]]:
    """Heads, as distances, and labels, of white space: it depends on the token before it.

    At the beginning, it depends on the first word.
    """
    first = next((token.i for token in doc if not token.is_space), 0)
    places = np.arange(len(doc))
    heads = np.where(places <= first, first - places, -1)
    return heads, [ROOT if i == first else SPACE for i in range(len(doc))]


def _write_words(
    doc: Doc, words: list[int], sentence: ParsedSentence, how: ArboraComponent
) -> None:
    """Sets tags, features and lemmas that the document lacks, or all of them."""
    columns = zip(words, sentence.upos, sentence.xpos, sentence.feats, sentence.lemmas, strict=True)
    for i, upos, xpos, feats, lemma in columns:
        token = doc[i]
        if upos in IDS and (how.retag or not token.pos):
            token.pos_ = upos
        if xpos != "_" and (how.retag or not token.tag):
            token.tag_ = xpos
        if feats != "_" and (how.retag or not token.has_morph()):
            token.set_morph(feats)
        if lemma != "_" and (how.retag or not token.lemma):
            token.lemma_ = lemma


@Language.factory(  # type: ignore[untyped-decorator]  # spaCy is not installed everywhere
    "arbora",
    assigns=[
        "token.head", "token.dep", "token.pos", "token.tag", "token.morph", "token.lemma",
        "token.is_sent_start", "doc.sents", "token._.arc_probability",
        "token._.label_probability",
    ],
    default_config={"model": None, "probabilities": True, "retag": False, "threads": None},
)  # fmt: skip
def make_component(
    nlp: Language,  # noqa: ARG001  # spaCy's signature
    name: str,  # noqa: ARG001
    model: str | None,
    probabilities: bool,
    retag: bool,
    threads: int | None,
) -> ArboraComponent:
    """The component `arbora` of a spaCy pipeline.

    `model` is a model file, or the name of an installed model (default: `en`). `retag` replaces
    the tags and lemmas of the `Doc`.
    """
    pipeline = load(model, threads)
    if retag and pipeline.tagger is None:
        raise ArgumentError("retag requires a model with a tagger: train one with arbora.Pipeline.")
    return ArboraComponent(pipeline, probabilities=probabilities, retag=retag)
