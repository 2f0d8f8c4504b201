"""Significance of a difference between two systems: three tests over sentences."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.arrays import as_seed
from arbora.errors import ArgumentError
from arbora.evaluation.alignment import AnnotatedSource, align
from arbora.evaluation.counts import number, unannotated_text
from arbora.evaluation.resampling import CELLS

__all__ = ["Comparison", "Difference", "compare"]

Counts = NDArray[np.int64]

CONFIDENCE = 0.95
MOST_SAMPLES = 1_000_000  # permutations; more take gigabytes and change nothing


@dataclass(frozen=True)
class Difference:
    """One score of two systems, in percent; `difference` is B minus A.

    `a_better`, `b_better`, `ties` count sentences. `sign_p` is the two-sided sign test over the
    sentences that are not ties; `permutation_p` the paired permutation test of the difference in
    correct arcs; `interval` the bootstrap's 95 % interval of the difference.
    """

    a: float
    b: float
    difference: float
    interval: tuple[float, float]
    a_better: int
    b_better: int
    ties: int
    sign_p: float
    permutation_p: float


@dataclass(frozen=True)
class Comparison:
    """Two systems on the same gold, by UAS and LAS; `unannotated` words have no head in gold.

    `notes` are remarks on the figures.
    """

    rule: str
    rule_description: str
    sentences: int
    tokens: int
    unannotated: int
    uas: Difference
    las: Difference
    permutations: int
    seed: int
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        answer = asdict(self)
        for name in ("uas", "las"):
            answer[name]["interval"] = list(answer[name]["interval"])
        answer["notes"] = list(self.notes)
        return answer

    def left_out(self) -> str:
        """A remark on words without a gold head; empty if there are none."""
        return unannotated_text(self.unannotated)

    def _repr_html_(self) -> str:
        from arbora.drawing.page import html_table

        rows = [
            (
                name, number(d.a), number(d.b), f"{d.difference:+.2f}",
                "[{:+.2f}, {:+.2f}]".format(*d.interval), f"{d.permutation_p:.4f}",
                f"{d.sign_p:.4f}",
            )
            for name, d in (("UAS", self.uas), ("LAS", self.las))
        ]  # fmt: skip
        headings = ["in %", "A", "B", "B-A", "95 % interval", "p (permutation)", "p (sign)"]
        size = f"{self.tokens:,} words in {self.sentences:,} sentences"
        caption = f"{size}; rule {self.rule}: {self.rule_description}{self.left_out()}"
        return html_table(headings, rows, caption=caption, notes=self.notes)

    def __str__(self) -> str:
        lines = [
            f"{self.tokens:,} words in {self.sentences:,} sentences",
            f"rule {self.rule}: {self.rule_description}{self.left_out()}",
            "             A       B     B-A     95 % interval   p (permutation)   p (sign)",
        ]
        for name, d in (("UAS", self.uas), ("LAS", self.las)):
            low, high = d.interval
            lines.append(
                f"  {name}  {number(d.a)} {number(d.b)} {d.difference:+7.2f}  "
                f"[{low:+6.2f}, {high:+6.2f}]  {d.permutation_p:16.4f}  {d.sign_p:9.4f}"
            )
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def compare(
    gold: AnnotatedSource,
    a: AnnotatedSource,
    b: AnnotatedSource,
    punctuation: str | None = None,
    *,
    permutations: int = 10_000,
    seed: int = 0,
    format: str | None = None,  # noqa: A002  # the public name
) -> Comparison:
    """Compares two systems on the same gold sentences; arguments as for `evaluate`.

    `permutations` is also the number of bootstrap samples. The same seed gives the same answer.
    """
    if not isinstance(permutations, int | np.integer) or not 1 <= permutations <= MOST_SAMPLES:
        raise ArgumentError(
            f"permutations must be between 1 and {MOST_SAMPLES:,}, not {permutations!r}."
        )
    as_seed(seed)
    three = align(gold, a, b, punctuation=punctuation, format=format)
    labels, _ = three.compared_labels()
    counted = three.counted
    tokens = _per_sentence(three.sentence, counted, len(three.lengths))
    three.check_counted()
    differences = []
    for labelled in (False, True):
        correct = []
        for system in (1, 2):
            right = three.right_heads(system)
            if labelled:
                right = right & (labels[0] == labels[system])
            correct.append(_per_sentence(three.sentence, right & counted, len(three.lengths)))
        differences.append(_difference(correct[0], correct[1], tokens, permutations, seed))
    return Comparison(
        rule=three.rule.name,
        rule_description=three.rule.description,
        sentences=len(tokens),
        tokens=int(tokens.sum()),
        unannotated=int((~three.annotated).sum()),
        uas=differences[0],
        las=differences[1],
        permutations=permutations,
        seed=seed,
        notes=tuple(dict.fromkeys((*three.notes_on(1, "A"), *three.notes_on(2, "B")))),
    )


def _per_sentence(sentence: Counts, marked: NDArray[np.bool_], n_sentences: int) -> Counts:
    return np.bincount(sentence[marked], minlength=n_sentences)


def _difference(a: Counts, b: Counts, tokens: Counts, permutations: int, seed: int) -> Difference:
    gain = b - a
    total = int(tokens.sum())
    rng = np.random.default_rng(seed)
    a_better, b_better = int((gain < 0).sum()), int((gain > 0).sum())
    return Difference(
        a=100 * int(a.sum()) / total,
        b=100 * int(b.sum()) / total,
        difference=100 * int(gain.sum()) / total,
        interval=bootstrap_interval(gain, tokens, permutations, rng),
        a_better=a_better,
        b_better=b_better,
        ties=int((gain == 0).sum()),
        sign_p=sign_test(a_better, b_better),
        permutation_p=permutation_test(gain, permutations, rng),
    )


def sign_test(a_better: int, b_better: int) -> float:
    """Two-sided sign test: the p-value of a split at least this uneven under Binomial(n, 1/2).

    The distribution is symmetric, so both tails are equal. Importing scipy.stats would take a
    second.
    """
    from scipy.special import bdtr

    fewer, n = min(a_better, b_better), a_better + b_better
    return min(1.0, 2 * float(bdtr(fewer, n, 0.5)))


def permutation_test(gain: Counts, permutations: int, rng: np.random.Generator) -> float:
    """Two-sided paired permutation test: A and B are swapped at random in each sentence.

    Of k sentences with the same |gain|, a Binomial(k, 1/2) number keeps its sign, so one binomial
    draw per size of gain replaces k coin flips. The observed assignment counts as one of the
    permutations, so that p is never 0.
    """
    sizes, k = np.unique(np.abs(gain[gain != 0]), return_counts=True)
    kept = rng.binomial(k, 0.5, size=(permutations, len(sizes)))
    sums = (2 * kept - k) @ sizes
    as_far = int((np.abs(sums) >= abs(int(gain.sum()))).sum())
    return (1 + as_far) / (1 + permutations)


def bootstrap_interval(
    gain: Counts, tokens: Counts, samples: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Percentile interval of the difference, in percent, over sentences drawn with replacement."""
    scored = tokens > 0
    gain, tokens = gain[scored], tokens[scored]
    n = len(tokens)
    at_a_time = max(1, CELLS // n)
    differences = []
    for start in range(0, samples, at_a_time):
        drawn = rng.integers(n, size=(min(at_a_time, samples - start), n))
        differences.append(100 * gain[drawn].sum(axis=1) / tokens[drawn].sum(axis=1))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(np.concatenate(differences), [tail, 1 - tail])
    return float(low), float(high)
