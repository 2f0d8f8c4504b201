"""The treebank of the examples is well formed, has trees, and agrees with its README."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "treebank"
SPLITS = ("train", "dev", "test")
FORM, HEAD, DEPREL, MISC = 1, 6, 7, 9


@dataclass
class Sentence:
    comments: dict[str, str]
    rows: list[list[str]]

    @property
    def words(self):
        return [row for row in self.rows if row[0].isdigit()]

    @property
    def heads(self):
        return [int(row[HEAD]) for row in self.words]

    @property
    def text(self):
        """The forms as they are written: a multiword token stands for its words."""
        said, covered = "", 0
        for row in self.rows:
            first, _, last = row[0].partition("-")
            if int(first) > covered:
                said += row[FORM] + ("" if "SpaceAfter=No" in row[MISC].split("|") else " ")
                covered = int(last or first)
        return said.strip()


def read(split):
    """Independent of the library's reader, so that the test does not share its bugs."""
    whole = (FOLDER / f"{split}.conllu").read_text(encoding="utf-8")
    assert whole.endswith("\n\n")
    sentences = []
    for block in whole[:-2].split("\n\n"):
        lines = block.split("\n")
        comments = [line[2:].split(" = ", 1) for line in lines if line.startswith("# ")]
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        sentences.append(Sentence(dict(comments), rows))
    return sentences


def is_ancestor(heads, above, word):
    while word not in (0, above):
        word = heads[word - 1]
    return word == above


def has_crossing_arc(heads):
    return any(
        not is_ancestor(heads, head, between)
        for word, head in enumerate(heads, 1)
        for between in range(min(word, head) + 1, max(word, head))
    )


@pytest.fixture(scope="module", params=SPLITS)
def sentences(request):
    return read(request.param)


@pytest.fixture(scope="module")
def splits():
    return {split: read(split) for split in SPLITS}


def test_columns_and_ids(sentences):
    for sentence in sentences:
        assert list(sentence.comments) == ["sent_id", "text"]
        assert all(len(row) == 10 and all(row) for row in sentence.rows)
        assert [int(row[0]) for row in sentence.words] == list(range(1, len(sentence.words) + 1))


def test_multiword_tokens_stand_before_their_words(sentences):
    for sentence in sentences:
        for row, following in zip(sentence.rows, sentence.rows[1:], strict=False):
            if not row[0].isdigit():
                first, last = map(int, row[0].split("-"))
                assert first < last <= len(sentence.words)
                assert following[0] == str(first)
                parts = [word[FORM] for word in sentence.words[first - 1 : last]]
                assert "".join(parts) == row[FORM]


def test_every_sentence_is_a_tree_with_one_root(sentences):
    for sentence in sentences:
        heads = sentence.heads
        assert all(0 <= head <= len(heads) for head in heads)
        assert heads.count(0) == 1
        assert sentence.words[heads.index(0)][DEPREL] == "root"
        for word in range(1, len(heads) + 1):
            seen = set()
            while word:
                assert word not in seen, f"cycle in: {sentence.comments['text']}"
                seen.add(word)
                word = heads[word - 1]


def test_text_is_what_the_forms_spell(sentences):
    for sentence in sentences:
        assert sentence.text == sentence.comments["text"]


def test_splits_share_no_sentence(splits):
    for a, b in combinations(SPLITS, 2):
        for key in ("sent_id", "text"):
            shared = {s.comments[key] for s in splits[a]} & {s.comments[key] for s in splits[b]}
            assert not shared
    for part in splits.values():
        assert len({s.comments["text"] for s in part}) == len(part)
        assert len({s.comments["sent_id"] for s in part}) == len(part)


def test_size_and_crossing_arcs(splits):
    everything = [sentence for part in splits.values() for sentence in part]
    assert len(everything) >= 200
    for part in (everything, *splits.values()):
        share = sum(has_crossing_arc(s.heads) for s in part) / len(part)
        assert 0.05 <= share <= 0.15


def test_figures_of_the_readme(splits):
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for split, part in splits.items():
        words = sum(len(s.words) for s in part)
        crossing = sum(has_crossing_arc(s.heads) for s in part)
        assert f"| `{split}.conllu` | {len(part)} | {words:,} | {crossing} |" in readme

    def types(split):
        return {word[FORM].lower() for s in splits[split] for word in s.words}

    new = len(types("test") - types("train")) / len(types("test"))
    claimed = re.search(r"(\d+) % of the word types", readme)
    assert claimed
    assert abs(100 * new - int(claimed[1])) <= 0.5
    assert 900 <= len(set.union(*map(types, SPLITS))) <= 1100


@pytest.mark.parametrize(
    ("heads", "crossing"),
    [([2, 0, 2], False), ([2, 3, 0], False), ([3, 4, 0, 3], True), ([2, 0, 1], True)],
)
def test_the_test_sees_crossing_arcs(heads, crossing):
    assert has_crossing_arc(heads) == crossing
