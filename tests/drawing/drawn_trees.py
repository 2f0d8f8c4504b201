"""Random trees to draw."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from arbora.drawing import TreeDrawing

# As `st.text`, which takes seconds to set up.
ANY_TEXT = st.lists(
    st.integers(0, 0x10FFFF) | st.integers(0, 0x7F) | st.integers(0x2000, 0x206F), max_size=5
).map(lambda codes: "".join(map(chr, codes)))


def random_drawing(seed: int, longest: int = 12, alternatives: bool = True) -> TreeDrawing:
    """Any heads, not only of trees: nothing in a drawing requires that they have no cycle.

    The letters of words, labels and tokens differ; labels of roots are in capitals.
    """
    random = Random(seed)  # drawing every head with hypothesis is slow
    n = random.randint(1, longest)
    heads = [random.choice([h for h in range(-1, n + 1) if h != m]) for m in range(1, n + 1)]
    others = {}
    for _ in range(random.randint(0, 3) if alternatives and n > 1 else 0):
        m = random.randint(1, n)
        h = random.choice([h for h in range(n + 1) if h not in (m, heads[m - 1])])
        others[h, m] = (h, m, random.random(), "q" * random.randint(0, 6))
    labels = ["ROOT" if h == 0 else "q" * random.randint(0, 8) for h in heads]
    return TreeDrawing(
        ["a" * random.randint(1, 9) for _ in range(n)],
        heads,
        labels,
        tags=random.choice([None, ["NOUN"] * n]),
        probabilities=random.choice([None, [0.25] * n]),
        alternatives=list(others.values()),
        right_to_left=random.choice([False, True]),
        multiword=random.choice([[], [(1, n, "zzz")]]),
    )


def drawings(longest: int = 12, alternatives: bool = True) -> st.SearchStrategy[TreeDrawing]:
    return st.builds(random_drawing, st.integers(0, 2**32), st.just(longest), st.just(alternatives))
