"""What averaging over drawn tags brings: accuracy, log-loss and calibration of arcs, and speed.

python benchmarks/tag_samples.py MODEL GOLD [K ...]   # a pipeline, a treebank

Words are gold, tags and lemmas predicted. Log-loss (in nats) and expected calibration error are
those of "this arc is right" for the arcs of the parsed trees. Processor seconds, one thread. "map"
are the best-scoring trees, "mbr" those with the most expected right arcs, as with K > 0.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from arbora import Sentence, evaluate, load, read_conllu
from arbora.evaluation import calibration
from arbora.pipeline import Pipeline

SMALLEST = 1e-6  # a probability of 0 counts as this much


def row(nlp: Pipeline, gold: list[Sentence], samples: int, decode: str | None) -> str:
    bare = [Sentence.from_words(one.forms) for one in gold]
    began = time.process_time()
    parsed = list(nlp.parse(bare, tag_samples=samples, decode=decode))
    seconds = time.process_time() - began
    scores = evaluate(gold, parsed)
    right = np.concatenate([a.heads == b.heads for a, b in zip(gold, parsed, strict=True)])
    chances = np.concatenate([one.arc_probabilities for one in parsed])
    error = calibration(chances, right)
    speed = sum(map(len, gold)) / seconds
    binary = -np.log(np.maximum(np.where(right, chances, 1.0 - chances), SMALLEST)).mean()
    return (
        f"{samples:3} {decode or 'default':8} UAS {scores.uas:.2f}  LAS {scores.las:.2f}  "
        f"log-loss {binary:.4f}  ECE {100 * error.ece:.2f} %  {speed:,.0f} words/s"
    )


def main() -> None:
    model, path, *counts = sys.argv[1:]
    nlp = load(model, threads=1)
    print(f"temperature {nlp.model.temperature:.3f}, scale {nlp.model.averaging_scale:.2f}")
    gold = list(read_conllu(path))
    nlp.parse([Sentence.from_words(one.forms) for one in gold[:50]])  # warm
    print(row(nlp, gold, 0, "map"), row(nlp, gold, 0, "mbr"), sep="\n", flush=True)
    for count in [int(one) for one in counts] or [4, 8, 16]:
        print(row(nlp, gold, count, None), flush=True)


if __name__ == "__main__":
    main()
