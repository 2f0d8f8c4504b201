"""The methods of a distribution over the trees of a sentence."""

from __future__ import annotations

import sys

import numpy as np

from arbora import Mixture, ProjectiveTrees, SpanningTrees
from arbora.drawing import make_printable

WORDS = ["old", "men", "and", "women", "left"]


def main() -> None:
    make_printable(sys.stdout)
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(6, 6))
    for head, word in [(0, 5), (5, 2), (2, 1), (2, 4), (4, 3)]:
        scores[head, word] += 2.5
    trees = SpanningTrees(scores)

    print(trees.argmax().draw(WORDS))
    print(f"log Z {trees.log_partition:.4f}, entropy {trees.entropy():.4f} nats")
    print(f"P(men <- left) = {trees.marginals[5, 2]:.3f}")

    # Does "old" also describe the women? Ask for the probability of both arcs.
    with_men = trees.pair_marginal((2, 1), (2, 4))
    print(f"P(old <- men and women <- men) = {with_men:.3f}")

    # Mean and standard deviation of the number of arcs to the left.
    left = np.triu(np.ones((6, 6)), 1).T
    print(f"arcs to the left: {trees.expect(left):.2f} +- {trees.variance(left) ** 0.5:.2f}")

    # The expected accuracy of the tree with the most expected correct arcs.
    tree = trees.mbr()
    hits = np.zeros((6, 6))
    hits[tree.heads, np.arange(1, 6)] = 1.0
    print(f"expected correct arcs: {trees.expect(hits):.2f} of {len(tree)}")

    # The smallest score change that removes an arc from the best tree.
    margins = trees.arc_margins()[tree.heads, np.arange(1, 6)]
    weakest = int(margins.argmin())
    print(f"weakest arc: the one into {WORDS[weakest]!r}, by {margins[weakest]:.2f}")

    # Exact samples, compared with a marginal.
    drawn = trees.sample(1000, seed=0)
    share = np.mean(drawn[:, 3] == 2)
    print(f"women <- men in {share:.1%} of 1000 samples, {trees.marginals[2, 4]:.1%} exactly")

    # Two models of the same sentence: their divergence, product and mixture.
    projective = ProjectiveTrees(scores)
    print(f"KL(projective || spanning) = {projective.kl(trees):.4f}")
    print(f"product: {(trees * trees).entropy():.4f} nats")
    print(f"mixture: {Mixture([trees, projective], weights=[2, 1]).mbr().heads.tolist()}")


if __name__ == "__main__":
    main()
