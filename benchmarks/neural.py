"""Neural and linear scorers, their sums and their losses, on several treebanks.

python benchmarks/neural.py plan TREEBANKS                   # the runs, and their time
python benchmarks/neural.py run TREEBANKS --results FILE     # all runs that FILE does not have
python benchmarks/neural.py run TREEBANKS --results FILE --only ewt
python benchmarks/neural.py table --results FILE
python benchmarks/neural.py speed MODEL GOLD [--results FILE]

Every run is one training: a treebank, a configuration and a seed. Results are written after each
run, and trainings leave checkpoints beside their models, so that an interrupted program continues
where it was. TREEBANKS is a folder of folders with train, dev and test files.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import arbora
from arbora.data import open_output
from arbora.data.folders import find_splits

# Words per second of processor time in training, per pass, for estimates: measured on 300 sentences
# of UD English EWT with the default options, on one core of a Xeon with AVX-512.
NEURAL_WORDS_PER_SECOND = 1400.0
LINEAR_WORDS_PER_SECOND = 8000.0

NEURAL: dict[str, Any] = {"scorer": "neural"}
LOSSES: dict[str, dict[str, Any]] = {
    "neural": {},
    "neural, head selection": {"learner": "head-selection"},
    "neural, max-margin": {"learner": "maxmargin"},
}
BELIEFS: dict[str, dict[str, Any]] = {
    f"neural, {name}, {count} iterations": {
        "learner": learner, "order": "grandsibling", "inference": "bp", "bp_iterations": count,
    }
    for count in (1, 2, 4)
    for name, learner in (("surrogate likelihood", "loglinear"), ("L2", "l2"))
}  # fmt: skip
BOTH: dict[str, Any] = {"scorer": "linear+neural"}
GRANDSIBLINGS: dict[str, Any] = {"order": "grandsibling"}

SMALL = ("conllx_danish_ddt", "ud_turkish_imst", "ud_swedish_lines", "ud_gothic_proiel",
         "ud_slovenian_ssj_resplit")  # fmt: skip
TRENDS = ("ud_hungarian_szeged", "ud_turkish_imst", "ud_swedish_lines", "ud_greek_gdt")


@dataclass(frozen=True)
class Run:
    """One training: a treebank, options, a seed, and the question that it belongs to."""

    question: str
    treebank: str
    name: str
    seed: int
    options: dict[str, Any] = field(hash=False)

    @property
    def key(self) -> str:
        """The name of the run in the results."""
        return f"{self.question} | {self.treebank} | {self.name} | {self.seed}"


def all_runs() -> list[Run]:
    """The runs of every question, the most important first."""
    runs = [
        Run("ewt", "ud_english_ewt", name, seed, options)
        for seed in (0, 1, 2)
        for name, options in (("neural", NEURAL), ("linear+neural", BOTH))
    ]
    runs += [
        Run("ewt", "ud_english_ewt", "linear+neural, grandsiblings", 0, {**BOTH, **GRANDSIBLINGS})
    ]
    runs += [
        Run("small", treebank, name, 0, options)
        for treebank in SMALL
        for name, options in (("grandsiblings", GRANDSIBLINGS), ("linear+neural", BOTH))
    ]
    runs += [
        Run("trends", treebank, name, 0, {**NEURAL, **options})
        for treebank in TRENDS
        for name, options in (LOSSES | BELIEFS).items()
    ]
    return runs


def files_of(treebanks: Path, name: str) -> dict[str, Path]:
    """The train, dev and test files of a treebank."""
    return find_splits(treebanks / name)


def words_of(path: Path) -> int:
    """The number of words of a file."""
    return sum(len(sentence.forms) for sentence in arbora.read_conllu(path))


def plan(treebanks: Path, runs: list[Run], cores: int) -> None:
    """Prints the runs and how long they take by the speeds that were measured."""
    total, words = 0.0, dict[str, int]()
    for run in runs:
        if run.treebank not in words:
            words[run.treebank] = words_of(files_of(treebanks, run.treebank)["train"])
        options = arbora.Parser(**run.options).options
        passes = options.passes or 1
        speed = LINEAR_WORDS_PER_SECOND
        if options.scorer.tag != "linear":
            speed = NEURAL_WORDS_PER_SECOND
        seconds = words[run.treebank] * passes / speed
        if options.order.tag != "first":
            seconds *= 2.0  # parts, and the pruner
        total += seconds
        print(f"{seconds / 60 / cores:7.0f} min  {run.key}")
    print(f"{total / 3600 / cores:7.1f} h in all on {cores} cores")


def run_all(treebanks: Path, runs: list[Run], results: Path, threads: int) -> None:
    """Trains and tests what the results do not have yet."""
    found = read(results)
    for run in runs:
        if run.key in found:
            continue
        files = files_of(treebanks, run.treebank)
        model = results.with_name(f"{results.stem}.{abs(hash_of(run.key)):x}.arbora")
        started, used = time.perf_counter(), time.process_time()
        parser = arbora.Parser(**run.options, seed=run.seed, threads=threads)
        resume = any(model.parent.glob(f"{model.name}*.checkpoint"))
        parser.fit(files["train"], files.get("dev"), checkpoint=model, resume=resume)
        minutes = (time.perf_counter() - started) / 60
        hours = (time.process_time() - used) / 3600
        parser.save(model)
        scores = parser.evaluate(files["test"])
        assert parser.history is not None
        found[run.key] = {
            **asdict(run), "uas": scores.uas, "las": scores.las, "dev": parser.model.card["dev"],
            "experts": parser.model.card.get("experts"),
            "curve": [[one.loss, one.uas, one.las] for one in parser.history.passes],
            "minutes": minutes, "processor_hours": hours, "threads": threads, "resumed": resume,
            "megabytes": model.stat().st_size / 1e6,
            "peak_memory_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        }  # fmt: skip
        write(results, found)
        print(f"{scores.uas:.2f} UAS {scores.las:.2f} LAS {minutes:.0f} min  {run.key}", flush=True)


def hash_of(text: str) -> int:
    """A number for the name of a file, the same in every process."""
    import zlib

    return zlib.crc32(text.encode())


def write(results: Path, found: dict[str, Any]) -> None:
    """Replaces the results when they are complete."""
    with open_output(results) as put:
        put((json.dumps(found, indent=1, sort_keys=True) + "\n").encode())


def read(results: Path) -> dict[str, Any]:
    """The results so far."""
    return json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}


def table(results: Path) -> None:
    """Prints means over seeds, by question and treebank."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for one in read(results).values():
        groups.setdefault((one["question"], one["treebank"], one["name"]), []).append(one)
    print(
        "| treebank | model | seeds | UAS | LAS | minutes |\n| --- | --- | --- | --- | --- | --- |"
    )
    for (_, treebank, name), runs in sorted(groups.items()):
        uas, las, minutes = (
            statistics.mean(one[figure] for one in runs) for figure in ("uas", "las", "minutes")
        )
        print(f"| {treebank} | {name} | {len(runs)} | {uas:.2f} | {las:.2f} | {minutes:.0f} |")


def speed(model: str, gold: str, results: Path | None) -> None:
    """Parses a file on one thread and reports words per second of processor time, and memory."""
    sentences = list(arbora.read_conllu(gold))
    words = sum(len(sentence.forms) for sentence in sentences)
    parser = arbora.load(model, threads=1)
    parser.parse(sentences[:20])
    seconds = []
    for _ in range(3):
        started = time.process_time()
        parser.parse(sentences)
        seconds.append(time.process_time() - started)
    found = {
        "model": Path(model).name, "words": words, "words_per_second": words / min(seconds),
        "peak_memory_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }  # fmt: skip
    print(json.dumps(found))
    if results is not None:
        write(results, found)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=["plan", "run", "table", "speed"])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--only", help="questions or treebanks whose names contain this")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    runs = [run for run in all_runs() if given.only is None or given.only in run.key]
    if given.what == "speed":
        speed(*map(str, given.paths), given.results)
    elif given.what == "plan":
        plan(given.paths[0], runs, given.threads)
    elif given.results is None:
        parser.error(f"{given.what} needs --results")
    elif given.what == "run":
        run_all(given.paths[0], runs, given.results, given.threads)
    else:
        table(given.results)


if __name__ == "__main__":
    main()
