"""Two installations of Arbora learn the same models: same accuracy, and as fast?

python benchmarks/train_against.py OLD_ARBORA NEW_ARBORA --treebanks DIR [--only NAME ...]

The arguments are two `arbora` commands. Both train the same nine models one after the other, with
one thread and seed 0, and the processor time of each is taken. Finished models are kept in
`--memory`, so that an interrupted run continues.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
from pathlib import Path
from typing import Any

TREEBANKS = {
    "Danish": ("conllx_danish_ddt", "conll"),
    "Spanish": ("conllx_spanish_cast3lb", "conll"),
    "EWT": ("ud_english_ewt", "conllu"),
}
MODELS = {
    "first order": [],
    "grandsiblings": ["--order", "grandsibling"],
    "BP with L2": ["--order", "grandsibling", "--learner", "l2"],
}
PASSES = {"first order": 15, "grandsiblings": 5, "BP with L2": 5}
PASSES_OF_EWT = 2  # three times as many sentences


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--treebanks", required=True, type=Path)
    parser.add_argument("--memory", type=Path, default=Path("train_against"))
    parser.add_argument("--only", action="append", help="a treebank or a model")
    chosen = parser.parse_args()
    chosen.memory.mkdir(exist_ok=True)
    print("| treebank | model | passes | old UAS / LAS | new UAS / LAS | seconds, new / old |")
    print("| --- | --- | ---: | --- | --- | ---: |")
    for treebank in TREEBANKS:
        for model in MODELS:
            if chosen.only and not {treebank, model} & set(chosen.only):
                continue
            old, new = (
                result(command, who, treebank, model, chosen)
                for who, command in (("old", chosen.old), ("new", chosen.new))
            )
            cells = [f"{run['uas']:.2f} / {run['las']:.2f}" for run in (old, new)]
            ratio = new["seconds"] / old["seconds"]
            passes = passes_of(treebank, model)
            print(f"| {treebank} | {model} | {passes} | " + " | ".join(cells) + f" | {ratio:.3f} |",
                  flush=True)  # fmt: skip


def passes_of(treebank: str, model: str) -> int:
    return PASSES_OF_EWT if treebank == "EWT" else PASSES[model]


def result(
    command: str, who: str, treebank: str, model: str, chosen: argparse.Namespace
) -> dict[str, Any]:
    """Scores and training time of one model, from memory if it is there."""
    stem = chosen.memory / f"{who} {treebank} {model}".replace(" ", "_")
    kept = stem.with_suffix(".json")
    if not kept.exists():
        folder, ending = TREEBANKS[treebank]
        data = chosen.treebanks / folder
        seconds = train(command, data, ending, stem, [
            *MODELS[model], "--passes", str(passes_of(treebank, model)),
        ])  # fmt: skip
        test, parsed = data / f"test.{ending}", stem.with_suffix(f".{ending}")
        run(command, "parse", "--model", stem.with_suffix(".arbora"), test, "--output", parsed)
        scores = json.loads(run(command, "evaluate", test, parsed, "--json"))
        found = {"uas": scores["uas"], "las": scores["las"], "seconds": seconds}
        kept.write_text(json.dumps(found))
    answer: dict[str, Any] = json.loads(kept.read_text())
    return answer


def train(command: str, data: Path, ending: str, stem: Path, options: list[str]) -> float:
    """Train a model and return the processor seconds that it took."""
    dev = data / f"dev.{ending}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command, "train", data / f"train.{ending}", *(["--dev", dev] if dev.exists() else []),
        "--model", stem.with_suffix(".arbora"), "--threads", 1, "--quiet", *options)  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def run(*arguments: Any) -> str:
    return subprocess.run(
        [str(argument) for argument in arguments], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


if __name__ == "__main__":
    main()
