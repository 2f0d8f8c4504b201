"""The JSON of the API: what requests may have, and what answers have."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Analysis", "Change", "Changed", "DocumentAnswer", "DrawRequest", "ErrorAnswer",
    "ExplainRequest", "KbestAnswer", "KbestRequest", "ModelsAnswer", "PageAnswer", "ParseAnswer",
    "ParseRequest", "Saved", "SentenceRequest",
]  # fmt: skip

_Whole = Annotated[int, Field(ge=0, le=1_000_000)]
_Label = Annotated[str, Field(min_length=1, max_length=200)]
_Text = Annotated[str, Field(description="One sentence in CoNLL-U or CoNLL-X.", max_length=10**7)]

Arc = tuple[_Whole, _Whole]
RequiredArc = tuple[_Whole, _Whole] | tuple[_Whole, _Whole, _Label]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Choices(_Request):
    model: str | None = Field(None, description="Name of the model.", max_length=200)
    decode: Literal["map", "mbr"] | None = Field(
        None, description="The best tree (map), or the tree with most expected correct arcs (mbr)."
    )
    trees: Literal["nonprojective", "projective"] | None = Field(
        None, description="Class of trees; by default the model's."
    )
    root: Literal["single", "multi"] | None = Field(
        None, description="One root, or any number; by default the model's."
    )


class ParseRequest(_Choices):
    """Text to segment, tag and parse, or sentences to parse; one of the two."""

    text: str | None = Field(None, description="Raw text.")
    conllu: str | None = Field(None, description="Sentences in CoNLL-U or CoNLL-X.")
    probabilities: bool = Field(True, description="Whether to compute probabilities.")


class SentenceRequest(_Choices):
    """One sentence, with arcs (head, word) that its tree must or must not have."""

    conllu: _Text
    required: list[RequiredArc] = Field(
        default=[], description="Arcs [head, word] or [head, word, label]; 0 is the root."
    )
    forbidden: list[Arc] = Field(default=[], description="Arcs [head, word].")
    keep: bool = Field(
        False,
        description="Keep the heads that the sentence has, and parse the rest around them; "
        "without effect on the probabilities.",
    )


class KbestRequest(SentenceRequest):
    """How many trees, and whether the best or drawn ones."""

    count: int = Field(10, ge=1, le=1000)
    samples: bool = Field(False, description="Draw trees from the distribution.")
    seed: int = Field(0, ge=0, le=2**63 - 1)


class ExplainRequest(_Request):
    """An arc to explain."""

    model: str | None = Field(None, max_length=200)
    conllu: _Text
    word: int = Field(description="The word, from 1.", ge=1, le=1_000_000)
    head: _Whole | None = Field(None, description="Its head; by default the parser's choice.")
    against: _Whole | None = Field(None, description="Another head; by default the next best.")
    top: int = Field(20, ge=1, le=1000, description="Number of features.")


class DrawRequest(_Request):
    """A tree to draw."""

    conllu: _Text
    format: Literal["svg", "latex", "text"] = "svg"
    probabilities: list[Annotated[float, Field(ge=0, le=1)] | None] | None = Field(
        None, description="Of the arcs, one per word."
    )
    tags: bool = True


class ErrorAnswer(BaseModel):
    """Why a request was refused, in a sentence."""

    error: str


class _Columns(BaseModel):
    forms: list[str]
    lemmas: list[str]
    upos: list[str]
    xpos: list[str]
    feats: list[str]
    heads: list[int]
    labels: list[str]
    multiword: list[tuple[int, int, str]]
    right_to_left: bool
    arc_probabilities: list[float]
    label_probabilities: list[float | None]
    log_prob: float | None
    source: str | None = Field(description="Where inexact probabilities are from.")


class ParsedSentence(_Columns):
    """A parsed sentence: columns with one entry per word, and the sentence as CoNLL-U."""

    text: str
    sent_id: str | None
    conllu: str


class ParseAnswer(BaseModel):
    """Parsed sentences."""

    model: str
    milliseconds: float
    sentences: list[ParsedSentence]


class Analysis(_Columns):
    """A tree, and for each word its likeliest heads, labels and tags with their probabilities."""

    model: str
    milliseconds: float
    entropy: float | None = Field(description="Of the distribution over trees, in bits.")
    expected_errors: float | None = Field(description="Expected number of wrong heads.")
    head_candidates: list[list[tuple[int, float]]]
    head_sets: list[list[int]] | None = Field(
        description="For each word, heads of which one is right in 95 % of all words; null if the "
        "model is not calibrated."
    )
    label_candidates: list[list[tuple[str, float]]]
    tag_candidates: list[list[tuple[str, float]]]


class Tree(BaseModel):
    """One of several trees."""

    heads: list[int]
    labels: list[str]
    log_prob: float | None
    arc_probabilities: list[float]


class KbestAnswer(BaseModel):
    """The best trees, best first, or samples."""

    model: str
    milliseconds: float
    trees: list[Tree]


class ModelAnswer(BaseModel):
    """A loaded model."""

    name: str
    stages: list[str]
    labels: list[str]
    tags: list[str]
    trees: str
    root: str
    order: str
    decoders: list[str]
    kbest: bool
    probabilities: str | None
    data: str | None
    licence: str | None
    uas: float | None
    las: float | None


class ModelsAnswer(BaseModel):
    """The loaded models; the first is the default."""

    models: list[ModelAnswer]
    version: str
    document: bool = Field(description="Whether the server has a file open.")
    retraining: bool = Field(description="Whether the page can train the model.")
    limits: dict[str, float]


class SuggestionAnswer(BaseModel):
    """A sentence that is worth looking at; see `Suggestion`."""

    sentence: int
    score: float | None
    reason: str
    word: int | None


class DocumentAnswer(BaseModel):
    """The file that the server has open."""

    name: str
    format: str
    sentences: int
    accepted: int
    revision: int
    changed: bool
    base: str = Field(description="SHA-256 of the file as it was opened or saved.")
    order: list[SuggestionAnswer] | None = Field(
        description="Keys of sentences in the order in which to look at them; null is the file's."
    )


class ItemAnswer(BaseModel):
    """A sentence of the file: its text, its key, and what is fixed or accepted in it."""

    text: str
    key: int
    state: dict[str, Any]
    original: str = Field(description="Its text in the file; empty if it is not there.")


class PageAnswer(BaseModel):
    """Some sentences of the file."""

    revision: int
    start: int
    items: list[ItemAnswer]


class ChangedItem(_Request):
    """A sentence as it shall be."""

    text: str = Field(max_length=10**7)
    state: dict[str, Any] = Field(default={})


class Change(_Request):
    """Replaces `removed` sentences from `start` by `items`."""

    revision: int = Field(ge=0, description="The revision that the change was made on.")
    start: int = Field(ge=0, le=10**9)
    removed: int = Field(ge=0, le=1000)
    items: list[ChangedItem] = Field(max_length=1000)


class Changed(BaseModel):
    """The revision after a change."""

    revision: int


class Saved(BaseModel):
    """The file was written."""

    revision: int
    bytes: int
    file: str
