"""How much faster `arbora parse` is on two threads than on one, for each order.

python benchmarks/two_cores.py [--only ORDER ...] [--words N] [--rounds N] [--out FILE]

The file is the test file of `examples/treebank`, repeated until it has N words (1 million). Small
parsers are trained on `examples/treebank`. A measurement is the whole of reading, parsing and
writing in one process, without its start. The numbers of threads take turns. Wall times of a busy
machine mean little, so the share of a core that a thread had is reported with them: processor
seconds by wall second, which is 1 on one thread of an idle machine.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from bench_parser import arbora_parse
from growth import EXAMPLES, ORDERS
from timing import wall_and_processor

from arbora import Parser, read_conllu


def measure(options: dict[str, Any], words: int, rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, source = folder / "m.arbora", folder / "text.conllu"
        Parser(passes=2, threads=1, **options).fit(EXAMPLES / "train.conllu").save(model)
        test = EXAMPLES / "test.conllu"
        times = max(1, words // sum(map(len, read_conllu(test))))
        source.write_bytes(test.read_bytes() * times)
        runs = {n: arbora_parse(model, source, n, folder / "parsed.conllu") for n in (1, 2)}
        count, wall, busy = wall_and_processor(runs, rounds)
    one, two = np.array(wall[1]), np.array(wall[2])
    return {
        "words": count, "rounds": rounds,
        "seconds_one_thread": np.round(one, 2).tolist(),
        "seconds_two_threads": np.round(two, 2).tolist(),
        "share_of_core_one_thread": np.round(np.array(busy[1]) / one, 2).tolist(),
        "share_of_cores_two_threads": np.round(np.array(busy[2]) / two, 2).tolist(),
        "speedup": round(float(np.median(one / two)), 2),
        "speedup_of_best": round(float(one.min() / two.min()), 2),
    }  # fmt: skip


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--only", nargs="*", choices=list(ORDERS))
    arguments.add_argument("--words", type=int, default=1_000_000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results/two_cores.json"
    )
    given = arguments.parse_args()
    for name in given.only or ORDERS:
        found = measure(ORDERS[name], given.words, given.rounds)
        print(name, json.dumps(found, indent=1))
        results = json.loads(given.out.read_text()) if given.out.exists() else {}
        results[name] = found
        given.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
