"""What averaging over drawn tags brings: accuracy, log-loss and calibration of arcs, and speed.

python benchmarks/tag_samples.py MODEL GOLD [K ...] [--scale X]   # a pipeline, a treebank

Words are gold, tags and lemmas predicted. Log-loss (in nats) and expected calibration error are
those of "this arc is right" for the arcs of the parsed trees. Processor seconds, one thread. "map"
are the trees of the best tags, "mbr" the trees with the most expected right arcs. With `--scale X`
the model's temperature is multiplied by X.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

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
    if "--scale" in counts:
        at = counts.index("--scale")
        scale = float(counts[at + 1])
        del counts[at : at + 2]
        nlp = Pipeline.from_model(
            replace(nlp.model, temperature=nlp.model.temperature * scale), threads=1
        )
    gold = list(read_conllu(path))
    nlp.parse([Sentence.from_words(one.forms) for one in gold[:50]])  # warm
    print(row(nlp, gold, 0, "map"), row(nlp, gold, 0, "mbr"), sep="\n", flush=True)
    for count in [int(one) for one in counts] or [4, 8, 16]:
        print(row(nlp, gold, count, "map"), row(nlp, gold, count, None), sep="\n", flush=True)


if __name__ == "__main__":
    main()
