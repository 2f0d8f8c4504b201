"""A hidden Markov model and a grammar as hypergraphs.

The sums are those of Gormley et al. (2015, section 5.4). A hypergraph states which items are built
from which, and provides sums, best derivations, samples and gradients. The results are compared
with the textbook recursions: forward-backward, and CKY with inside probabilities.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from arbora import Derivations, Hypergraph
from arbora.drawing import make_printable

Floats = NDArray[np.float64]

# A day is warm or cold; on each, somebody eats one, two or three ices.
STATES = ["cold", "warm"]
START = np.log([0.4, 0.6])
MOVE = np.log([[0.7, 0.3], [0.2, 0.8]])  # from a row to a column
EAT = np.log([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])
ICES = [3, 1, 2, 1, 1, 3, 3]

RULES = {
    ("S", "NP", "VP"): 1.0,
    ("VP", "V", "NP"): 0.6,
    ("VP", "VP", "PP"): 0.4,
    ("NP", "NP", "PP"): 0.2,
    ("PP", "P", "NP"): 1.0,
}
LEXICON = {
    ("NP", "she"): 0.3,
    ("NP", "stars"): 0.3,
    ("NP", "telescopes"): 0.2,
    ("V", "saw"): 1.0,
    ("P", "with"): 1.0,
}
SENTENCE = ["she", "saw", "stars", "with", "telescopes"]


def hidden_markov_model() -> tuple[Hypergraph, Floats]:
    """A node for each day and state, and one for the end; every edge has its own weight."""
    edges: list[tuple[int, int, float]] = []  # head, tail, score
    for day, ices in enumerate(ICES):
        for state in range(2):
            node, eaten = 2 * day + state, EAT[state, ices - 1]
            if day == 0:
                edges.append((node, -1, START[state] + eaten))
                continue
            edges += [
                (node, 2 * (day - 1) + before, MOVE[before, state] + eaten) for before in range(2)
            ]
    edges += [(2 * len(ICES), 2 * (len(ICES) - 1) + state, 0.0) for state in range(2)]
    graph = Hypergraph([head for head, _, _ in edges], [[tail] for _, tail, _ in edges])
    return graph, np.array([score for _, _, score in edges])


def forward_backward() -> tuple[float, Floats]:
    """log P(ices), and P(state) for every day, as in the textbook."""
    eaten = EAT[:, [ices - 1 for ices in ICES]].T
    forward, backward = np.zeros((2, len(ICES), 2))
    forward[0] = START + eaten[0]
    for day in range(1, len(ICES)):
        forward[day] = eaten[day] + np.logaddexp.reduce(forward[day - 1][:, None] + MOVE, axis=0)
    for day in reversed(range(len(ICES) - 1)):
        backward[day] = np.logaddexp.reduce(MOVE + eaten[day + 1] + backward[day + 1], axis=1)
    total = float(np.logaddexp.reduce(forward[-1]))
    return total, np.exp(forward + backward - total)


def grammar() -> tuple[Hypergraph, Floats, list[str]]:
    """A node for every symbol over every span that can be built; a weight for every rule."""
    names = [f"{a} -> {b} {c}" for a, b, c in RULES] + [f"{a} -> {word}" for a, word in LEXICON]
    scores = np.log([*RULES.values(), *LEXICON.values()])
    nodes: dict[tuple[int, int, str], int] = {}
    edges: list[tuple[int, int, int, int]] = []  # head, tails, rule

    def add(item: tuple[int, int, str], ways: list[tuple[int, int, int]]) -> None:
        if ways:
            nodes[item] = len(nodes)
            edges.extend((nodes[item], *way) for way in ways)

    for i, word in enumerate(SENTENCE):
        for place, (symbol, form) in enumerate(LEXICON):
            if form == word:
                add((i, i + 1, symbol), [(-1, -1, len(RULES) + place)])
    for width in range(2, len(SENTENCE) + 1):
        for i in range(len(SENTENCE) - width + 1):
            for symbol in dict.fromkeys(a for a, _, _ in RULES):
                k = i + width
                add((i, k, symbol), [
                    (nodes[i, j, b], nodes[j, k, c], rule)
                    for rule, (a, b, c) in enumerate(RULES)
                    for j in range(i + 1, k)
                    if a == symbol and (i, j, b) in nodes and (j, k, c) in nodes
                ])  # fmt: skip
    heads, first, second, rules = zip(*edges, strict=True)
    goal = nodes[0, len(SENTENCE), "S"]
    graph = Hypergraph(heads, np.stack([first, second], axis=1), rules, goal=goal)
    return graph, scores, names


def inside_by_cky() -> float:
    """log P(sentence), as in the textbook."""
    n = len(SENTENCE)
    inside: dict[tuple[int, int, str], float] = {}
    for i, word in enumerate(SENTENCE):
        for (symbol, form), p in LEXICON.items():
            if form == word:
                inside[i, i + 1, symbol] = p
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            for j in range(i + 1, i + width):
                for (a, b, c), p in RULES.items():
                    part = inside.get((i, j, b), 0.0) * inside.get((j, i + width, c), 0.0)
                    inside[i, i + width, a] = inside.get((i, i + width, a), 0.0) + p * part
    return float(np.log(inside[0, n, "S"]))


def show_days(days: Derivations) -> None:
    total, textbook = forward_backward()
    warm = days.node_marginals[1:-1:2]
    assert np.isclose(days.log_partition, total)
    assert np.allclose(warm, textbook[:, 1])
    print(f"Ices on seven days: {ICES}, log P = {days.log_partition:.4f}")
    print("  P(warm)        " + " ".join(f"{p:4.0%}" for p in warm))
    best = [int(node) % 2 for node in days.graph.heads[days.argmax().edges[1:]][::-1]]
    print("  likeliest days " + " ".join(STATES[state] for state in best))
    print(f"  entropy {days.entropy():.3f} nats over {2 ** len(ICES)} sequences\n")


def show_parses(parses: Derivations, names: list[str]) -> None:
    assert np.isclose(parses.log_partition, inside_by_cky())
    print(f"Parses of: {' '.join(SENTENCE)}, log P = {parses.log_partition:.4f}")
    for one in parses.kbest(5):
        used = parses.graph.weights[one.edges]
        attached = [names[rule] for rule in used if names[rule].endswith(" PP")]
        print(f"  {np.exp(one.score - parses.log_partition):4.0%}   {attached[0]}")
    rule = names.index("VP -> VP PP")
    gradient = parses.vjp(np.eye(len(names))[rule])  # of P(this rule), by the scores of all rules
    against = names[int(np.argmin(gradient))]
    print(f"  what speaks most against {names[rule]}: the score of {against}\n")


def main() -> None:
    make_printable(sys.stdout)
    days, scores = hidden_markov_model()
    show_days(days.derivations(scores))
    parses, scores, names = grammar()
    show_parses(parses.derivations(scores), names)


if __name__ == "__main__":
    main()
