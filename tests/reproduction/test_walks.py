"""The paths of automata before the first iteration, by enumeration (Koo et al. 2010, 7.6)."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.reproduction.measurements import iterations
from arbora.reproduction.measurements.scored import Scored
from arbora.scores import Scores
from arbora.testing import random_parts
from tests.inference.test_automata import all_walks
from tests.toys import random_heads


def test_precision_and_recall(rng, monkeypatch):
    some = [random_parts(rng, n, ("consecutive_siblings",)) for n in (4, 3, 4)]
    gold = [random_heads(rng, parts.n_words) for parts in some]
    counted = [np.arange(len(heads)) != 1 for heads in gold]  # the second word is punctuation
    data = Scored([Scores.from_parts(parts) for parts in some], gold, counted, "single")
    monkeypatch.setattr(iterations, "_data", lambda *_: data)
    ((_, found),) = iterations.measure_walks(None, None, None)[0]["rows"]
    right = chosen = wanted = 0
    for parts, heads, counts in zip(some, gold, counted, strict=True):
        words = np.flatnonzero(counts) + 1
        wanted += len(words)
        for head in range(parts.n_words + 1):
            _, taken, _ = max(all_walks(parts, head), key=lambda walk: walk[2])
            chosen += sum(word in words for word in taken)
            right += sum(word in words and heads[word - 1] == head for word in taken)
    assert 0 < right < wanted
    assert found["precision"] == pytest.approx(100 * right / chosen)
    assert found["recall"] == pytest.approx(100 * right / wanted)
