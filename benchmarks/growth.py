"""Time per word by the length of the sentence, for each order, with fitted exponents.

python benchmarks/growth.py [--only ORDER ...] [--longest N] [--out FILE]

Small parsers, trained on `examples/treebank`, parse sentences of 10 to 2,000 words on one thread.
Sentences are the words of the test file, one sentence after the other, cut to length; short ones
are many per call. Times are processor seconds per word of everything from the bytes of the file to
those of the output, the smallest of the rounds. The exponent is the slope of log(time per word) on
log(length); it is fitted below and above 200 words, since longer sentences are pruned to three
heads per word in higher orders and get fewer iterations. Memory is the largest resident set of the
process so far, so run the orders apart (`--only`) to compare it.
"""

from __future__ import annotations

import argparse
import io
import json
import resource
import time
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from arbora import Parser, read_conllu
from arbora.options import ParseOptions

EXAMPLES = Path(__file__).parent.parent / "examples" / "treebank"
LENGTHS = (10, 20, 50, 100, 200, 500, 1000, 2000)
LONG = 200
WORDS = 4000  # per call, at least
ROUNDS = 3
ORDERS: dict[str, dict[str, Any]] = {
    "first": {"order": "first"},
    "first, projective": {"order": "first", "trees": "projective"},
    "sibling": {"order": "sibling", "learner": "mira"},
    "grandparent": {"order": "grandparent", "learner": "mira"},
    "grandsibling": {"order": "grandsibling", "learner": "mira"},
}


def words() -> list[list[str]]:
    """The columns of the words of the test file."""
    return [
        [str(number), *columns]
        for sentence in read_conllu(EXAMPLES / "test.conllu")
        for number, columns in enumerate(
            zip(
                sentence.forms, sentence.lemmas, sentence.upos, sentence.xpos, sentence.feats,
                strict=True,
            ),
            1,
        )
    ]  # fmt: skip


def text(length: int) -> bytes:
    """Sentences of a length."""
    source, lines = cycle(words()), []
    for _ in range(max(1, WORDS // length)):
        for number in range(1, length + 1):
            columns = "\t".join(next(source)[1:])
            lines.append(f"{number}\t{columns}\t_\t_\t_\t_")
        lines.append("")
    return ("\n".join(lines) + "\n").encode()


def seconds_per_word(parser: Parser, content: bytes) -> tuple[float, int]:
    """Processor seconds per word, and how many trees are not certified or a fallback."""
    options, times, marked = ParseOptions(), [], 0
    for _ in range(ROUNDS):
        began, count, marked = time.process_time(), 0, 0
        for chunk in parser.chunks(io.BytesIO(content), options):
            parsed = parser.parse_block(chunk.block, options)
            parsed.to_bytes(probabilities=False)
            marked += int((parsed.trees.fallbacks > 0).sum())
            count += chunk.block.total_words
        times.append((time.process_time() - began) / count)
    return min(times), marked


def slope(lengths: list[int], times: list[float]) -> float:
    return round(float(np.polyfit(np.log(lengths), np.log(times), 1)[0]), 2)


def measure(options: dict[str, Any], longest: int) -> dict[str, Any]:
    parser = Parser(passes=2, threads=1, **options).fit(EXAMPLES / "train.conllu")
    lengths = [length for length in LENGTHS if length <= longest]
    times, marks = [], []
    for length in lengths:
        each, marked = seconds_per_word(parser, text(length))
        times.append(each)
        marks.append(marked)
    short = [i for i, length in enumerate(lengths) if length <= LONG]
    long = [i for i, length in enumerate(lengths) if length >= LONG]
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "microseconds_per_word": {
            str(n): round(each * 1e6, 1) for n, each in zip(lengths, times, strict=True)
        },
        "fallbacks": {str(n): mark for n, mark in zip(lengths, marks, strict=True) if mark},
        "exponent_to_200": slope([lengths[i] for i in short], [times[i] for i in short]),
        "exponent_from_200":
            slope([lengths[i] for i in long], [times[i] for i in long]) if long[1:] else None,
        "seconds_of_longest": round(times[-1] * lengths[-1], 2),
        "largest_memory_mb": round(largest),
    }  # fmt: skip


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--only", nargs="*", choices=list(ORDERS))
    arguments.add_argument("--longest", type=int, default=LENGTHS[-1])
    arguments.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results/growth.json"
    )
    given = arguments.parse_args()
    for name in given.only or ORDERS:
        found = measure(ORDERS[name], given.longest)
        print(name, json.dumps(found, indent=1))
        results = json.loads(given.out.read_text()) if given.out.exists() else {}
        results[name] = found
        given.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
