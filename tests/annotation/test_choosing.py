"""The choice within a budget: lazy greedy against plain greedy, streams against lists."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from arbora.annotation.choosing import Item, Shortlist, choose

GAINS = st.floats(0, 5, allow_nan=False)
KINDS = st.dictionaries(st.sampled_from("abcd"), st.floats(0.01, 1), min_size=1)


@st.composite
def item_lists(draw):
    count = draw(st.integers(0, 12))
    items = []
    for number in range(count):
        gain, cost, weights = draw(GAINS), draw(st.integers(1, 4)), draw(KINDS)
        total = sum(weights.values())
        shares = {kind: gain * weight / total for kind, weight in weights.items()}
        items.append(Item(gain, cost, number, 0, shares))
    return items


def total(items, diversity):
    """The value of a choice, by its definition."""
    sums = {}
    for item in items:
        for kind, share in item.shares.items():
            sums[kind] = sums.get(kind, 0.0) + share
    power = 1.0 - diversity
    return sum(
        math.log1p(g) if power == 0 else ((1 + g) ** power - 1) / power for g in sums.values()
    )


@given(items=item_lists(), budget=st.integers(1, 15), diversity=st.sampled_from([0.0, 0.3, 1.0]))
def test_every_step_adds_most_per_word(items, budget, diversity):
    """Every item is the best of those that fit, tried one by one, and none that fits is left."""
    chosen, left = [], list(items)

    def rate(item):
        return (total([*chosen, item], diversity) - total(chosen, diversity)) / item.cost

    for item in choose(items, budget, diversity):
        best = max(rate(one) for one in left if one.cost <= budget)
        assert rate(item) >= best - 1e-9  # ties are decided by rounding
        budget -= item.cost
        assert budget >= 0
        left.remove(item)
        chosen.append(item)
    assert all(item.cost > budget for item in left)


@given(items=item_lists(), budget=st.integers(1, 15))
def test_without_diversity_the_best_per_word_come_first(items, budget):
    found = choose(items, budget)
    rates = [item.gain / item.cost for item in found]
    assert rates == sorted(rates, reverse=True)


@given(items=item_lists(), budget=st.integers(1, 6))
def test_a_shortlist_keeps_what_the_choice_of_arcs_needs(items, budget):
    arcs = [Item(item.gain, 1, item.sentence, 1, item.shares) for item in items]
    shortlist = Shortlist(budget, diverse=False)
    for item in arcs:
        shortlist.add([item] if item.gain >= shortlist.floor else [])
    assert choose(shortlist.items(), budget) == choose(arcs, budget)


def test_diversity_prefers_another_kind():
    items = [
        Item(1.0, 1, 0, 1, {"NOUN": 1.0}), Item(0.9, 1, 1, 1, {"NOUN": 0.9}),
        Item(0.8, 1, 2, 1, {"VERB": 0.8}),
    ]  # fmt: skip
    assert [item.sentence for item in choose(items, 2)] == [0, 1]
    assert [item.sentence for item in choose(items, 2, 1.0)] == [0, 2]
