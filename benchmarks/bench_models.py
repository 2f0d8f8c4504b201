"""Training time and memory by order and size of the treebank, and parsing speed.

    python benchmarks/bench_models.py TREEBANK [SENTENCES ...]   # a folder with train and dev

Every row is a process of its own with one thread: a parser (gold tags) or a whole pipeline that is
trained for two passes without refitting. Processor seconds, peak resident memory. Training time
grows with the passes (15 by default for first order), memory does not.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PASSES = 2
KINDS: dict[str, dict[str, Any]] = {
    "first": {},
    "first, pipeline": {"pipeline": True},
    "sibling, exact, projective": {"order": "sibling", "trees": "projective"},
    "grandsibling, dual": {"order": "grandsibling"},
    "grandsibling, bp": {"order": "grandsibling", "inference": "bp"},
}


def measure(folder: str, sentences: int, kind: str) -> dict[str, float]:
    """Trains, saves, loads and parses in this process."""
    import arbora

    options = dict(KINDS[kind])
    made = arbora.Pipeline if options.pop("pipeline", False) else arbora.Parser
    if options.get("trees") == "projective":
        options["inference"] = "exact"
    treebank = Path(folder)
    train = list(arbora.read_conllu(treebank / "train.conllu"))[:sentences]
    dev = list(arbora.read_conllu(treebank / "dev.conllu"))[:500]
    words = sum(map(len, train))
    began = time.process_time()
    parser = made(threads=1, passes=PASSES, refit=False, **options).fit(train, dev)
    trained = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with tempfile.TemporaryDirectory() as place:
        parser.save(Path(place) / "model.arbora")
        size = (Path(place) / "model.arbora").stat().st_size / 1e6
    given = dev
    if made is arbora.Pipeline:
        given = [arbora.Sentence.from_words(one.forms) for one in dev]
    parser.parse(given[:20], probabilities=False)
    began = time.process_time()
    parser.parse(given, probabilities=False)
    speed = sum(map(len, dev)) / (time.process_time() - began)
    return {"words": words, "seconds": trained, "peak": peak, "megabytes": size, "speed": speed}


def main() -> None:
    folder, *sizes = sys.argv[1:]
    headings = [
        "Order", "Training words", "Seconds per 10,000 words and pass", "Peak MB", "Model MB",
        "Words/s",
    ]  # fmt: skip
    print(f"| {' | '.join(headings)} |")
    print("| --- | --: | --: | --: | --: | --: |")
    context = multiprocessing.get_context("spawn")
    for size in [int(one) for one in sizes] or [1000, 4000]:
        for kind in KINDS:
            with context.Pool(1, maxtasksperchild=1) as pool:
                found = pool.apply(measure, (folder, size, kind))
            per_pass = found["seconds"] / PASSES / found["words"] * 10_000
            print(
                f"| {kind} | {found['words']:,.0f} | {per_pass:.2f} | {found['peak']:,.0f} | "
                f"{found['megabytes']:.0f} | {found['speed']:,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
