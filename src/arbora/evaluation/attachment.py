"""Agreement of heads and labels with gold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.evaluation.alignment import Aligned, AnnotatedSource, align
from arbora.evaluation.counts import (
    Attachment,
    Match,
    NonProjective,
    TreeFaults,
    number,
    percent,
    row,
    unannotated_text,
)
from arbora.evaluation.nonprojective import nonprojective_arcs
from arbora.types import IntArray

__all__ = ["AttachmentScores", "evaluate"]

Mask = NDArray[np.bool_]

DISTANCES = {"root": 0, "1": 1, "2": 2, "3-6": 3, "7-10": 7, "11+": 11}
LENGTHS = {"1-10": 1, "11-20": 11, "21-30": 21, "31-40": 31, "41-50": 41, "51+": 51}


@dataclass(frozen=True)
class AttachmentScores:
    """Attachment scores of a system, in percent, over the words that `rule` counts.

    - `tokens`: number of counted words; `unannotated`: number of words without a gold head, which
      are not counted.
    - `uas`: words with the right head; `las`: words with the right head and label, compared as the
      rule says; `las_exact`: the same with the full label, including subtypes.
    - `complete`, `complete_labelled`: sentences without an error; `root`: sentences with exactly
      the gold root words. All three leave out sentences without a counted word.
    - `by_label`: right head and label, by label; `by_distance`: right head, by distance between
      head and word; `by_length`: both, by sentence length.
    - `nonprojective`: precision over the system's non-projective arcs and recall over gold's, in
      fully annotated sentences.
    - `system_faults`: number of system sentences that are not trees or have several roots;
      `notes`: remarks on the figures.
    - `with_punctuation`, `without_punctuation`: the figures either way, independent of the rule.

    Figures without data are None.
    """

    rule: str
    rule_description: str
    sentences: int
    tokens: int
    unannotated: int
    uas: float
    las: float
    las_exact: float
    complete: float
    complete_labelled: float
    root: float
    nonprojective: NonProjective
    by_label: dict[str, Match]
    by_distance: dict[str, Match]
    by_length: dict[str, Attachment]
    with_punctuation: Attachment
    without_punctuation: Attachment
    system_faults: TreeFaults
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        answer: dict[str, Any] = {}
        for name, value in vars(self).items():
            if isinstance(value, dict):
                answer[name] = {key: entry.to_dict() for key, entry in value.items()}
            elif isinstance(value, NonProjective | Attachment | TreeFaults):
                answer[name] = value.to_dict()
            elif isinstance(value, tuple):
                answer[name] = list(value)
            else:
                answer[name] = value
        return answer

    def __str__(self) -> str:
        match = self.nonprojective
        lines = [
            f"{self.tokens:,} words in {self.sentences:,} sentences",
            f"rule {self.rule}: {self.rule_description}{self.left_out()}",
            row("UAS", number(self.uas)),
            row("LAS", number(self.las)),
        ]
        if self.las_exact != self.las:
            lines.append(row("LAS, whole label", number(self.las_exact)))
        lines += [
            row("Complete", number(self.complete)),
            row("Complete, labelled", number(self.complete_labelled)),
            row("Root", number(self.root)),
        ]
        if match.gold or match.system:
            both = f"{number(match.precision)} precision  {number(match.recall)} recall"
            lines.append(row("Non-projective", both))
        for name, other in self.other_counts().items():
            lines.append(row(name, f"{number(other.uas)} UAS      {number(other.las)} LAS"))
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from arbora.drawing.page import html_table

        rows = [("this rule", self.tokens, number(self.uas), number(self.las))]
        rows += [
            (name.lower(), other.tokens, number(other.uas), number(other.las))
            for name, other in self.other_counts().items()
        ]
        whole = f"{number(self.complete).strip()} % of {self.sentences:,} sentences without a wrong"
        return html_table(
            ["in %", "words", "UAS", "LAS"], rows,
            caption=f"rule {self.rule}: {self.rule_description}{self.left_out()}",
            notes=[f"{whole} head", *self.notes],
        )  # fmt: skip

    def left_out(self) -> str:
        """A remark on words without a gold head; empty if there are none."""
        return unannotated_text(self.unannotated)

    def other_counts(self) -> dict[str, Attachment]:
        """The figures with or without punctuation, whichever the rule does not use."""
        either = {
            "All words": self.with_punctuation,
            "No punctuation": self.without_punctuation,
        }
        return {
            name: count
            for name, count in either.items()
            if count.tokens and (count.uas, count.las) != (self.uas, self.las)
        }


def evaluate(
    gold: AnnotatedSource,
    system: AnnotatedSource,
    punctuation: str | None = None,
    *,
    format: str | None = None,  # noqa: A002  # the public name
) -> AttachmentScores:
    """Scores a system against gold; both are paths or iterables of sentences.

    `punctuation` names the rule: "conllx", "conll2018", "conll2009" or "ptb". The default depends
    on the gold format: "conllx" for CoNLL-X, "conll2018" for CoNLL-U, which agrees with the shared
    task's scorer, and "conll2009" for CoNLL-2008 and CoNLL-2009. `format` is the file format; by
    default it is detected.
    Files with different words raise `AlignmentError` with the first difference. Spaces inside a
    form and case inside a multiword token are ignored. Sentences that are not trees are scored
    word by word and counted in `system_faults`.
    """
    both = align(gold, system, punctuation=punctuation, format=format)
    return scores_of(both)


def scores_of(both: Aligned, system: int = 1) -> AttachmentScores:
    """The scores of one of the aligned systems."""
    counted = both.counted
    both.check_counted()
    labels, names = both.compared_labels()
    heads_right = both.right_heads(system)
    right = heads_right & (labels[0] == labels[system])
    exact = heads_right & (both.labels[0] == both.labels[system])
    roots_right = (both.heads[0] == 0) == (both.heads[system] == 0)
    tokens = int(counted.sum())
    return AttachmentScores(
        rule=both.rule.name,
        rule_description=both.rule.description,
        sentences=len(both.lengths),
        tokens=tokens,
        unannotated=int((~both.annotated).sum()),
        uas=100 * int(heads_right[counted].sum()) / tokens,
        las=100 * int(right[counted].sum()) / tokens,
        las_exact=100 * int(exact[counted].sum()) / tokens,
        complete=_whole_sentences(both, heads_right),
        complete_labelled=_whole_sentences(both, right),
        root=_whole_sentences(both, roots_right),
        nonprojective=_nonprojective(both, system, heads_right),
        by_label=_by_label(labels[0][counted], labels[system][counted], right[counted], names),
        by_distance=_by_distance(both, system, heads_right),
        by_length=_by_length(both, heads_right, right),
        with_punctuation=_attachment(both, both.annotated, heads_right, right),
        without_punctuation=_attachment(
            both, both.annotated & ~both.punctuation, heads_right, right
        ),
        system_faults=both.tree_faults(system),
        notes=both.notes_on(system, "the system"),
    )


def _whole_sentences(both: Aligned, right: Mask) -> float:
    """The percentage of sentences whose counted words are all right."""
    wrong = np.bincount(both.sentence, both.counted & ~right, len(both.lengths))
    scored = np.bincount(both.sentence, both.counted, len(both.lengths)) > 0
    return 100 * int((wrong[scored] == 0).sum()) / int(scored.sum())


def _nonprojective(both: Aligned, system: int, heads_right: Mask) -> NonProjective:
    # With a missing head somewhere above, it is unknown which words a head dominates.
    counted = both.counted & both.fully_annotated
    gold = nonprojective_arcs(both.heads[0], both.starts) & counted
    ours = nonprojective_arcs(both.heads[system], both.starts) & counted
    return NonProjective(
        gold=int(gold.sum()),
        system=int(ours.sum()),
        found=int((gold & heads_right).sum()),
        right=int((ours & heads_right).sum()),
    )


def _by_label(gold: IntArray, system: IntArray, right: Mask, names: list[str]) -> dict[str, Match]:
    n_gold = np.bincount(gold, minlength=len(names))
    n_system = np.bincount(system, minlength=len(names))
    n_right = np.bincount(gold[right], minlength=len(names))
    order = sorted(range(len(names)), key=lambda i: (-n_gold[i], -n_system[i], names[i]))
    return {
        names[i]: Match(int(n_gold[i]), int(n_system[i]), int(n_right[i]))
        for i in order
        if n_gold[i] or n_system[i]
    }


def _by_distance(both: Aligned, system: int, heads_right: Mask) -> dict[str, Match]:
    words = np.arange(len(both.punctuation)) - np.repeat(both.starts[:-1], both.lengths) + 1
    kinds = []
    for heads in (both.heads[0], both.heads[system]):
        distance = np.where(heads > 0, np.abs(words - heads), 0)
        kind = np.searchsorted(list(DISTANCES.values()), distance, side="right") - 1
        kinds.append(np.where(heads < 0, -1, kind)[both.counted])
    gold, ours = kinds
    found = gold[heads_right[both.counted]]
    return {
        name: Match(*(int((kind == i).sum()) for kind in (gold, ours, found)))
        for i, name in enumerate(DISTANCES)
    }


def _by_length(both: Aligned, heads_right: Mask, right: Mask) -> dict[str, Attachment]:
    bins = np.searchsorted(list(LENGTHS.values()), both.lengths, side="right") - 1
    of_word = bins[both.sentence]
    return {
        name: _attachment(both, both.counted & (of_word == i), heads_right, right)
        for i, name in enumerate(LENGTHS)
    }


def _attachment(both: Aligned, words: Mask, heads_right: Mask, right: Mask) -> Attachment:
    tokens = int(words.sum())
    return Attachment(
        sentences=len(np.unique(both.sentence[words])),
        tokens=tokens,
        uas=percent(int(heads_right[words].sum()), tokens),
        las=percent(int(right[words].sum()), tokens),
    )
