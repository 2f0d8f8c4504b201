"""Agreement of two annotators: attachment, Cohen's kappa, and where they differ.

Kappa is (p_o - p_e) / (1 - p_e), with the observed agreement p_o and the agreement p_e by chance.
For labels and tags, chance draws from each annotator's own frequencies (Cohen 1960). Heads are
numbers of words, which have no frequencies, so chance draws from each annotator's frequencies of
offsets (head minus word, the root being one of its own), among those that exist in the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.arrays import as_seed
from arbora.errors import ArgumentError
from arbora.evaluation.alignment import Aligned, AnnotatedSource, align
from arbora.evaluation.counts import number
from arbora.evaluation.resampling import resampled_counts
from arbora.evaluation.significance import CONFIDENCE, MOST_SAMPLES
from arbora.types import FloatArray, IntArray

__all__ = ["Agreement", "Disagreement", "Figure", "Kappa", "agreement"]

_TAGS = ("upos", "xpos")


@dataclass(frozen=True)
class Figure:
    """A share of words in percent, with the bootstrap's 95 % interval over sentences."""

    value: float
    interval: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        return {"value": self.value, "interval": list(self.interval)}


@dataclass(frozen=True)
class Kappa:
    """Cohen's kappa with its 95 % interval; None if chance alone would always agree.

    `observed` and `expected` agreement are in percent of the words.
    """

    kappa: float | None
    interval: tuple[float, float] | None
    observed: float
    expected: float
    words: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        interval = None if self.interval is None else list(self.interval)
        return vars(self) | {"interval": interval}


@dataclass(frozen=True)
class Disagreement:
    """A word that two annotators see differently; words and sentences count from 1.

    `kinds` says in what: head, label, upos, xpos. `a` and `b` have these columns of both.
    """

    sentence: int
    sent_id: str | None
    word: int
    form: str
    kinds: tuple[str, ...]
    a: dict[str, Any]
    b: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        return vars(self) | {"kinds": list(self.kinds)}


@dataclass(frozen=True)
class Agreement:
    """How far two annotators agree, over the words that the rule counts and both annotate.

    `uas` is the share of equal heads, `las` that of equal heads and labels. `kappas` are by column:
    head, label, and the tags (upos, xpos) that both have. `unannotated` words lack a head in A or
    B. `disagreements` has all words that differ, in the order of the text.
    """

    rule: str
    rule_description: str
    sentences: int
    tokens: int
    unannotated: int
    uas: Figure
    las: Figure
    kappas: dict[str, Kappa]
    disagreements: tuple[Disagreement, ...]
    samples: int
    seed: int

    def to_dict(self, disagreements: int | None = None) -> dict[str, Any]:
        """Plain values, as for JSON, with the first disagreements (None: with all)."""
        return vars(self) | {
            "uas": self.uas.to_dict(), "las": self.las.to_dict(),
            "kappas": {name: kappa.to_dict() for name, kappa in self.kappas.items()},
            "differing_words": len(self.disagreements),
            "disagreements": [one.to_dict() for one in self.disagreements[:disagreements]],
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [
            f"{self.tokens:,} words in {self.sentences:,} sentences",
            f"rule {self.rule}: {self.rule_description}",
        ]
        for name, figure in (("UAS", self.uas), ("LAS", self.las)):
            low, high = figure.interval
            lines.append(f"  {name:12} {number(figure.value)}  [{low:6.2f}, {high:6.2f}]")
        for name, kappa in self.kappas.items():
            shown = "undefined" if kappa.kappa is None else f"{kappa.kappa:.3f}"
            lines.append(f"  kappa {name:6} {shown:>6}")
        return "\n".join(lines)


def agreement(
    a: AnnotatedSource,
    b: AnnotatedSource,
    punctuation: str | None = None,
    *,
    samples: int = 10_000,
    seed: int = 0,
    format: str | None = None,  # noqa: A002  # the public name
) -> Agreement:
    """The agreement of two annotations of the same words; arguments as for `evaluate`.

    `samples` is the number of bootstrap samples; the same seed gives the same answer.
    """
    if not isinstance(samples, int | np.integer) or not 1 <= samples <= MOST_SAMPLES:
        raise ArgumentError(f"samples must be between 1 and {MOST_SAMPLES:,}, not {samples!r}.")
    as_seed(seed)
    texts = _Texts()
    both = align(
        a, b, punctuation=punctuation, format=format, visit=texts.add,
        roles=("annotator A", "annotator B"),
    )  # fmt: skip
    ruled = np.ones_like(both.punctuation) if both.rule.everything else ~both.punctuation
    counted = ruled & (both.heads >= 0).all(axis=0)
    if not counted.any():
        raise ArgumentError("there is nothing to compare: no word has a head in both files.")
    labels, _ = both.compared_labels()
    heads_agree = both.heads[0] == both.heads[1]
    labels_agree = labels[0] == labels[1]
    drawing = _Bootstrap(both.sentence, len(both.lengths), samples, seed)
    tags = {name: texts.ids(name) for name in _TAGS}
    kappas = {
        "head": drawing.kappa(heads_agree, counted, _chances(both, counted)),
        "label": drawing.categorical(labels, counted),
    }
    for name, ids in tags.items():
        used = ruled & texts.filled(name)
        if used.any():
            kappas[name] = drawing.categorical(ids, used)
    return Agreement(
        rule=both.rule.name, rule_description=both.rule.description,
        sentences=len(both.lengths), tokens=int(counted.sum()),
        unannotated=int((ruled & ~counted).sum()),
        uas=drawing.share(heads_agree, counted),
        las=drawing.share(heads_agree & labels_agree, counted), kappas=kappas,
        disagreements=tuple(_disagreements(both, texts, counted, ruled, labels)),
        samples=samples, seed=seed,
    )  # fmt: skip


class _Texts:
    """The tags, forms and names of all words and sentences."""

    def __init__(self) -> None:
        self.sent_ids: list[str | None] = []
        self.forms: list[str] = []
        self.labels: tuple[list[str], list[str]] = ([], [])
        self.tags: dict[str, tuple[list[str], list[str]]] = {name: ([], []) for name in _TAGS}

    def add(self, *row: Any) -> None:
        """Takes the next sentence of both."""
        self.sent_ids.append(getattr(row[0], "sent_id", None))
        self.forms += row[0].forms
        for k, sentence in enumerate(row):
            self.labels[k].extend(sentence.labels)
            for name in _TAGS:
                own = getattr(sentence, name, None)
                self.tags[name][k].extend(["_"] * len(sentence.forms) if own is None else own)

    def ids(self, name: str) -> IntArray:
        """A column of tags of both as indices, (2, words)."""
        names: dict[str, int] = {}
        columns = [[names.setdefault(tag, len(names)) for tag in own] for own in self.tags[name]]
        return np.array(columns, dtype=np.int32)

    def filled(self, name: str) -> NDArray[np.bool_]:
        """The words that both annotators have tagged."""
        pairs = zip(*self.tags[name], strict=True)
        return np.array([x != "_" and y != "_" for x, y in pairs], dtype=np.bool_)


class _Bootstrap:
    """Figures with intervals over sentences that are drawn with replacement."""

    def __init__(
        self, sentence: NDArray[np.int64], n_sentences: int, samples: int, seed: int
    ) -> None:
        self._sentence, self._count = sentence, n_sentences
        self._samples, self._seed = samples, seed

    def share(self, agree: NDArray[np.bool_], counted: NDArray[np.bool_]) -> Figure:
        """The share of counted words that agree."""
        right, words = self._sums(agree & counted), self._sums(counted)
        drawn = [100 * (w @ right) / np.maximum(w @ words, 1.0) for w in self._draws(words)]
        return Figure(100 * float(right.sum() / words.sum()), _interval(np.concatenate(drawn)))

    def kappa(
        self, agree: NDArray[np.bool_], counted: NDArray[np.bool_], chances: FloatArray
    ) -> Kappa:
        """Kappa with a chance of agreement for every word, which the bootstrap keeps."""
        right, words = self._sums(agree & counted), self._sums(counted)
        chance = self._sums(np.where(counted, chances, 0.0))
        drawn = [
            _kappa(w @ right / (w @ words), w @ chance / (w @ words)) for w in self._draws(words)
        ]
        return _made(right.sum(), chance.sum() / words.sum(), words.sum(), drawn)

    def categorical(self, values: IntArray, counted: NDArray[np.bool_]) -> Kappa:
        """Kappa of categories, with chance from the frequencies in each sample."""
        right, words = self._sums((values[0] == values[1]) & counted), self._sums(counted)
        size = int(values.max()) + 1
        tables = []
        for own in values:
            table = np.zeros((self._count, size))
            np.add.at(table, (self._sentence[counted], own[counted]), 1.0)
            tables.append(table)

        def chance(weights: FloatArray) -> FloatArray:
            one, other = ((weights @ table) for table in tables)
            return np.asarray((one * other).sum(axis=-1) / (weights @ words) ** 2)

        drawn = [_kappa(w @ right / (w @ words), chance(w)) for w in self._draws(words)]
        return _made(right.sum(), float(chance(np.ones(self._count))), words.sum(), drawn)

    def _sums(self, of_words: NDArray[Any]) -> FloatArray:
        sums = np.bincount(self._sentence, of_words.astype(np.float64), self._count)
        return sums.astype(np.float64)

    def _draws(self, words: FloatArray) -> Iterator[FloatArray]:
        """Weights of the sentences in every sample; samples without a word are left out."""
        for weights in resampled_counts(self._count, self._samples, self._seed):
            yield weights[weights @ words > 0]


def _kappa(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """Kappa of every sample; those in which chance always agrees are left out."""
    defined = expected < 1.0 - 1e-12
    return (observed[defined] - expected[defined]) / (1.0 - expected[defined])


def _made(right: float, expected: float, words: float, drawn: list[FloatArray]) -> Kappa:
    observed = float(right / words)
    values = np.concatenate(drawn)
    defined = expected < 1.0 - 1e-12 and len(values) > 0
    return Kappa(
        (observed - expected) / (1.0 - expected) if defined else None,
        _interval(values) if defined else None,
        100 * observed, 100 * float(expected), int(words),
    )  # fmt: skip


def _interval(values: FloatArray) -> tuple[float, float]:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)


def _chances(both: Aligned, counted: NDArray[np.bool_]) -> FloatArray:
    """The probability that two heads of a word, drawn from both annotators' offsets, agree."""
    longest = int(both.lengths.max())
    words = np.arange(len(counted)) - both.starts[both.sentence] + 1
    frequencies = []
    for heads in both.heads:
        # Offsets from -longest to longest, and one place more for the root.
        places = np.where(heads == 0, 2 * longest + 1, heads - words + longest)
        frequencies.append(np.bincount(places[counted], minlength=2 * longest + 2).astype(float))
    answers = []
    for n in both.lengths.tolist():
        numbers = np.arange(1, n + 1)
        offsets = numbers[:, None] - numbers + longest
        drawn = []
        for table in frequencies:
            column = np.vstack([np.full(n, table[-1]), table[offsets]])
            total = column.sum(axis=0)
            drawn.append(column / np.where(total > 0.0, total, 1.0))
        answers.append((drawn[0] * drawn[1]).sum(axis=0))
    return np.concatenate(answers)


def _disagreements(
    both: Aligned, texts: _Texts, counted: NDArray[np.bool_], ruled: NDArray[np.bool_],
    labels: IntArray,
) -> Iterator[Disagreement]:  # fmt: skip
    differing = {"head": counted & (both.heads[0] != both.heads[1])}
    differing["label"] = counted & (labels[0] != labels[1])
    for name in _TAGS:
        ids = texts.ids(name)
        differing[name] = ruled & texts.filled(name) & (ids[0] != ids[1])
    for at in np.flatnonzero(np.any(list(differing.values()), axis=0)).tolist():
        sentence = int(both.sentence[at])
        columns: list[dict[str, Any]] = [
            {
                "head": int(both.heads[k][at]), "label": texts.labels[k][at],
                **{name: texts.tags[name][k][at] for name in _TAGS},
            }
            for k in (0, 1)
        ]  # fmt: skip
        yield Disagreement(
            sentence + 1, texts.sent_ids[sentence], at - int(both.starts[sentence]) + 1,
            texts.forms[at], tuple(name for name, marked in differing.items() if marked[at]),
            *columns,
        )  # fmt: skip
