"""Ray and Spark against two threads of the plain command, on the same files.

    python benchmarks/distributed.py --words 5000000 --rounds 5 --json results.json

Files are made of the example treebank, repeated. In each round, the plain run (two threads), Ray
(two workers of one thread) and Spark (`local[2]`) parse files of their own in turns; clusters run
through all rounds. Outputs are compared byte for byte. Start-up is measured apart. Processor time
is that of this process and all that it started, so that other programs on the machine count less.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import arbora
from arbora.corpus.file_parser import FileParser
from arbora.corpus.files import corpus_files
from arbora.corpus.folder_run import FolderRun
from arbora.distributed import spark as on_spark
from arbora.distributed.ray import RaySpread, ray_cluster
from arbora.options import ParseOptions

TREEBANK = Path(__file__).parents[1] / "examples" / "treebank"
CORES = 2
TICKS = os.sysconf("SC_CLK_TCK")
ORDERS: dict[str, dict[str, Any]] = {
    "first order, non-projective": {},
    "first order, projective": {"trees": "projective"},
    "sibling, projective, exact": {"trees": "projective", "order": "sibling"},
    "grandsibling, projective, exact": {"trees": "projective", "order": "grandsibling"},
    "sibling, non-projective, dual": {"order": "sibling", "learner": "mira", "inference": "dual"},
    "grandsibling, non-projective, dual": {
        "order": "grandsibling", "learner": "mira", "inference": "dual",
    },
}  # fmt: skip


_SEEN: dict[tuple[int, str], float] = {}  # processor time of processes, by number and start


def processor_seconds() -> float:
    """Of this process and all that ever descended from it, as far as earlier calls saw them."""
    parents: dict[int, int] = {}
    used: dict[int, tuple[str, float]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            used[int(entry.name)] = fields[19], (int(fields[11]) + int(fields[12])) / TICKS
    own = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in own} - own:
        own |= more
    for process in own & set(used):
        start, seconds = used[process]
        _SEEN[process, start] = seconds
    return sum(_SEEN.values())


@contextmanager
def measured(into: dict[str, list[dict[str, float]]], name: str, words: int) -> Iterator[None]:
    wall, busy = time.perf_counter(), processor_seconds()
    yield
    wall, busy = time.perf_counter() - wall, processor_seconds() - busy
    into.setdefault(name, []).append({"words": words, "seconds": wall, "processor": busy})
    print(f"{name}: {words / wall:,.0f} words/s, {words / busy:,.0f} per core-second", flush=True)


def make_files(folder: Path, words: int, count: int) -> int:
    """Files of the treebank's sentences with about `words` words in all; returns their number."""
    text = (TREEBANK / "train.conllu").read_bytes()
    own = sum(len(sentence) for sentence in arbora.read_conllu(TREEBANK / "train.conllu"))
    copies = max(1, round(words / own / count))
    folder.mkdir()
    for i in range(count):
        (folder / f"{i:04d}.conllu").write_bytes(text * copies)
    return own * copies * count


def sums(texts: list[bytes]) -> list[str]:
    return sorted(hashlib.sha256(text).hexdigest() for text in texts)


def compare(work: Path, model: str, words: int, rounds: int, count: int) -> dict[str, Any]:
    """The rounds, and the seconds to start the clusters."""
    source = work / "in"
    total = make_files(source, words // rounds, count)
    files, options = corpus_files([source]), ParseOptions()
    plain = FileParser(arbora.load(model, threads=CORES), options)
    single = FileParser(arbora.load(model, threads=1), options)
    runs: dict[str, list[dict[str, float]]] = {}
    started: dict[str, float] = {}
    with ExitStack() as clusters:
        before = time.perf_counter()
        clusters.enter_context(ray_cluster("local"))
        started["ray"] = time.perf_counter() - before
        before = time.perf_counter()
        session = clusters.enter_context(spark_session())
        started["spark"] = time.perf_counter() - before
        warm_up(session, single, files[:CORES], work, started)
        for turn in range(rounds):
            tasks: dict[str, Callable[[Path], object]] = {
                "plain": lambda out: FolderRun(out, {}).parse(files, plain),
                "ray": lambda out: FolderRun(out, {}).parse(files, single, spread=RaySpread()),
                "spark": lambda out: run_spark(session, source, single, out),
            }
            for name in [*tasks][turn % 3 :] + [*tasks][: turn % 3]:
                with measured(runs, name, total):
                    tasks[name](work / f"{name}{turn}")
            check_same(work, turn)
    given = sum(file.path.stat().st_size for file in files)
    made = sum(path.stat().st_size for path in (work / "plain0").glob("*.conllu"))
    return {
        "runs": runs, "start_seconds": started, "cpus": os.cpu_count(),
        "load": os.getloadavg(), "bytes_in_per_word": given / total,
        "bytes_out_per_word": made / total,
    }  # fmt: skip


def check_same(work: Path, turn: int) -> None:
    import pyarrow.parquet as parquet

    folders = [work / f"{name}{turn}" for name in ("plain", "ray", "spark")]
    plain, ray = ([p.read_bytes() for p in f.glob("*.conllu")] for f in folders[:2])
    rows = [parquet.read_table(path) for path in folders[2].glob("*.parquet")]
    spark = [text.encode() for part in rows for text in part.column("conllu").to_pylist()]
    if not sums(plain) == sums(ray) == sums(spark):
        raise SystemExit("the outputs differ.")


def warm_up(
    session: Any, single: FileParser, files: list[Any], work: Path, started: dict[str, float]
) -> None:
    """The first task on each cluster starts the workers and their models."""
    before = time.perf_counter()
    FolderRun(work / "first", {}).parse(files, single, spread=RaySpread())
    started["first task on ray"] = time.perf_counter() - before
    before = time.perf_counter()
    frame = session.createDataFrame([("It rains.",)] * 4, ["text"])
    on_spark.parse(frame, single.parser, output="conllu").collect()
    started["first task on spark"] = time.perf_counter() - before


@contextmanager
def spark_session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master(f"local[{CORES}]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.files.maxPartitionBytes", "8m")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "4")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


def run_spark(session: Any, source: Path, single: FileParser, out: Path) -> None:
    frame = session.read.text(str(source), wholetext=True)
    found = on_spark.parse(frame, single.parser, column="value", format="conllu", output="conllu")
    found.select("conllu").write.parquet(str(out))


def nothing(_: Any, item: int) -> int:
    return item


def parse_once(parser: arbora.Parser, path: Path) -> dict[str, float]:
    """On a worker: its largest and its own memory in bytes, after parsing a file."""
    parser.parse(list(arbora.read_conllu(path)))
    status = Path("/proc/self/status").read_text().splitlines()
    kilobytes = {line.split(":")[0]: line.split()[1] for line in status if "kB" in line}
    return {
        "largest": int(kilobytes["VmHWM"]) * 1024, "own": int(kilobytes["RssAnon"]) * 1024,
    }  # fmt: skip


def small_costs(model: str) -> dict[str, Any]:
    """Empty tasks per second, the memory of a worker, raw text, and compression."""
    parser = arbora.load(model, threads=1)
    gold = TREEBANK / "train.conllu"
    with ray_cluster("local"):
        spread = RaySpread()
        list(spread(nothing, None, range(20)))
        before = time.perf_counter()
        count = sum(1 for _ in spread(nothing, None, range(2000)))
        tasks = count / (time.perf_counter() - before)
        ((_, memory),) = spread(parse_once, parser, [gold])
    sentences = list(arbora.read_conllu(gold))
    words = sum(map(len, sentences))
    text = " ".join(sentence.text or " ".join(sentence.forms) for sentence in sentences)
    before = time.process_time()
    document = parser(text)
    busy = time.process_time() - before
    parsed = str(document).encode()
    return {
        "tasks_per_second": tasks, "worker_bytes": memory,
        "raw_text_words_per_core_second": sum(map(len, document)) / busy,
        "raw_text_bytes_per_word": len(text.encode()) / words,
        "parsed_bytes_per_word": len(parsed) / words,
        "gzip_bytes_per_word": len(gzip.compress(parsed, 6, mtime=0)) / words,
    }  # fmt: skip


def by_order(words: int) -> dict[str, dict[str, float]]:
    """Words per core-second of small models on one and two threads."""
    answer: dict[str, dict[str, float]] = {}
    sentences = list(arbora.read_conllu(TREEBANK / "train.conllu"))
    own = sum(map(len, sentences))
    many = sentences * max(1, words // own)
    for name, settings in ORDERS.items():
        parser = arbora.Parser(passes=2, threads=1, **settings)
        parser.fit(sentences, TREEBANK / "dev.conllu")
        answer[name] = {}
        for threads in (1, CORES):
            parser.threads = threads
            wall, busy = time.perf_counter(), time.process_time()
            parser.parse(many)
            wall, busy = time.perf_counter() - wall, time.process_time() - busy
            total = own * (len(many) // len(sentences))
            answer[name][f"{threads} threads, per core-second"] = total / busy
            answer[name][f"{threads} threads, per second"] = total / wall
        shown = ", ".join(f"{key} {value:,.0f}" for key, value in answer[name].items())
        print(f"{name}: {shown}", flush=True)
    return answer


def report(found: dict[str, Any]) -> None:
    runs = found["runs"]
    for unit in ("seconds", "processor"):
        plain = sum(one["words"] for one in runs["plain"]) / sum(one[unit] for one in runs["plain"])
        for name in ("ray", "spark"):
            speed = sum(one["words"] for one in runs[name]) / sum(one[unit] for one in runs[name])
            ratios = [
                other[unit] / one[unit]
                for one, other in zip(runs[name], runs["plain"], strict=True)
            ]
            shown = " ".join(f"{ratio:.2f}" for ratio in ratios)
            print(f"{name}, words per {unit}: {speed / plain:.1%} of plain ({shown})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--words", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=16, help="in each round")
    parser.add_argument("--model", default="en")
    parser.add_argument("--order-words", type=int, default=30_000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--small", action="store_true", help="add small costs to the file only")
    given = parser.parse_args()
    if given.small:
        found = json.loads(given.json.read_text()) | {"small": small_costs(given.model)}
        given.json.write_text(json.dumps(found, indent=1) + "\n")
        print(found["small"])
        return
    with tempfile.TemporaryDirectory() as folder:
        found = compare(Path(folder), given.model, given.words, given.rounds, given.files)
    report(found)
    print(json.dumps({key: value for key, value in found.items() if key != "runs"}))
    found["orders"] = by_order(given.order_words)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
