"""`arbora parse` on a lot of text: memory, throughput, large files, full disks, damaged files.

python benchmarks/soak.py TREEBANKS --work DIR [--only STAGE ...] [--sentences N] [--out FILE]

The text is made at run time, half from short sentences of the treebanks and half synthetic with
words that no other sentence has. The parser is a small first-order perceptron with labels, trained
at the start on `examples/treebank`; one thread. Stages:

long       N sentences (10 million) in 100 files: memory and throughput of the one process
tiny       1,000 files of 1 to 3 sentences
corrupt    the same with one damaged file
large      one file of 5 GB with wide columns
full-disk  an output folder on a file system of 8 MB (Linux, as root), then with more space

Memory is the resident set, sampled every two seconds; throughput is per second of processor time.
Results are kept by stage. An interrupted stage is repeated, `long` from the last finished file on.
Texts and outputs are deleted after each stage (20 GB are needed meanwhile).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from soak_text import Text

from arbora import Parser

EXAMPLES = Path(__file__).parent.parent / "examples" / "treebank"
FILES = 100
EVERY = 2.0  # seconds between samples
ARBORA = [sys.executable, "-c", "from arbora.cli.app import main; main()"]
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")

Sample = tuple[float, float, int, int]  # wall and processor seconds, bytes in memory, files done


def small_model(place: Path) -> Path:
    """A small parser, trained once."""
    if not place.exists():
        parser = Parser(learner="perceptron", features="mcdonald2005", passes=2, threads=1)
        parser.fit(EXAMPLES / "train.conllu").save(place)
    return place


def command(model: Path, source: Path, target: Path) -> list[str]:
    return [
        *ARBORA, "parse", "--model", str(model), "--threads", "1", "--json", "--quiet",
        str(source), "--output-dir", str(target),
    ]  # fmt: skip


def watched(
    arguments: list[str], target: Path, kept: Path | None = None
) -> tuple[int, dict[str, Any], str, list[Sample]]:
    """Runs a command: exit status, its JSON, its standard error, and samples while it ran.

    `kept` is a file for the samples, so that they can be looked at meanwhile.
    """
    started = time.monotonic()
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    samples: list[Sample] = []
    while process.poll() is None:
        sample = _sample(process.pid, started, target)
        if sample is not None:
            samples.append(sample)
        if kept is not None and len(samples) % 10 == 1:
            kept.write_text(json.dumps(samples))
        time.sleep(min(EVERY, 0.05 * (1 + len(samples))))
    output, errors = process.communicate()
    return process.returncode, json.loads(output) if output else {}, errors, samples


def _sample(pid: int, started: float, target: Path) -> Sample | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:  # it has just ended
        return None
    done = len(list((target / ".arbora" / "files").glob("*.json")))
    busy = (int(fields[11]) + int(fields[12])) / TICKS
    return time.monotonic() - started, busy, pages * PAGE, done


def long_run(text: Text, model: Path, work: Path, sentences: int) -> dict[str, Any]:
    """Many sentences through one process."""
    source, target = work / "long", work / "long.parsed"
    source.mkdir(exist_ok=True)
    for number in range(FILES):
        place = source / f"{number:03d}.conllu"
        if not place.exists():
            aside = place.with_suffix(".part")
            aside.write_bytes(text.file(number, sentences // FILES))
            aside.rename(place)
    kept = work / "samples.json"
    status, summary, errors, samples = watched(command(model, source, target), target, kept)
    if status != 0:
        raise SystemExit(f"the long run failed: {errors}")
    size = sum(path.stat().st_size for path in source.glob("*.conllu"))
    figures = {name: summary[name] for name in ("sentences", "words", "finished_before")}
    each = summary["words"] / summary["parsed"]
    return figures | {"bytes": size} | memory_and_speed(samples, each)


def memory_and_speed(samples: list[Sample], words: float) -> dict[str, Any]:
    """Memory after the first tenth of the files of so many words, and speed by tenths."""
    table = np.array(samples)
    memory, done = table[:, 2], table[:, 3] - table[0, 3]
    ends = [int(np.argmax(done >= n)) for n in range(1, int(done.max()) + 1)]
    first = ends[min(FILES // 10, len(ends)) - 1]
    after = memory[first : ends[-1] + 1]
    tenths = [ends[i] for i in range(0, len(ends), max(1, FILES // 10))] + ends[-1:]
    slices = list(zip(table[tenths][:-1], table[tenths][1:], strict=True))
    return {
        "files": len(ends), "hours": round(table[ends[-1], 0] / 3600, 2),
        "processor_seconds": table[ends[-1], 1],
        "memory_after_first_tenth_mb": _mb(memory[first]),
        "memory_lowest_later_mb": _mb(after.min()), "memory_highest_later_mb": _mb(after.max()),
        "memory_by_tenth_mb": [_mb(memory[at]) for at in tenths],
        "words_per_processor_second_by_tenth": [
            round(words * (new[3] - old[3]) / (new[1] - old[1]))
            for old, new in slices if new[1] > old[1]
        ],
    }  # fmt: skip


def _mb(size: float) -> float:
    return round(float(size) / 1e6, 1)


def tiny_files(text: Text, model: Path, work: Path, damaged: bool) -> dict[str, Any]:
    """1,000 files; with a damaged one, the others must be as without."""
    source, target, whole = work / "tiny", work / "tiny.parsed", work / "whole.conllu"
    source.mkdir()
    files = [text.file(number, 1 + number % 3) for number in range(1000)]
    for number, content in enumerate(files):
        (source / f"{number:04d}.conllu").write_bytes(content)
    if damaged:
        (source / "0500.conllu").write_bytes(files[500].replace(b"\t0\troot", b"\t99999\troot"))
        (source / "0600.conllu").unlink()
        (source / "0600.conllu.gz").write_bytes(gzip.compress(files[600])[:-9])
    status, summary, _, samples = watched(command(model, source, target), target)
    whole.write_bytes(b"".join(files))
    together = subprocess.run(
        [*ARBORA, "parse", "--model", str(model), "--quiet", str(whole)],
        check=True, capture_output=True,
    ).stdout  # fmt: skip
    left_out = {500, 600} if damaged else set()
    expected = _without(together, files, left_out)
    found = b"".join(path.read_bytes() for path in sorted(target.glob("*.conllu")))
    return {
        "exit_status": status, "parsed": summary["parsed"], "failed": {
            name: reason.replace(str(work), "DIR") for name, reason in summary["failed"].items()
        },
        "same_bytes_as_one_file": found == expected,
        "files_per_processor_second": round(1000 / samples[-1][1]),
    }  # fmt: skip


def _without(together: bytes, files: list[bytes], left_out: set[int]) -> bytes:
    sentences = [part + b"\n\n" for part in together.split(b"\n\n")][:-1]
    kept, at = [], 0
    for number, content in enumerate(files):
        n = content.count(b"\n\n")
        kept += [] if number in left_out else sentences[at : at + n]
        at += n
    return b"".join(kept)


def large_file(text: Text, model: Path, work: Path, size: int) -> dict[str, Any]:
    """One file of several GB."""
    source, target = work / "large.conllu", work / "large.parsed"
    with source.open("wb") as file:
        number = 0
        while file.tell() < size:
            file.write(text.wide_file(number, 2000, 2000))
            number += 1
    status, summary, errors, samples = watched(command(model, source, target), target)
    if status != 0:
        raise SystemExit(f"the large file failed: {errors}")
    table = np.array(samples)
    memory, busy = table[:, 2], table[:, 1] / table[-1, 1]
    middle = memory[(busy > 0.1) & (busy < 0.95)]  # not the start, nor the end of the process
    parsed = target / "large.conllu"
    return {
        "bytes_in": source.stat().st_size, "bytes_out": parsed.stat().st_size,
        "sentences": summary["sentences"], "sentences_given": number * 2000,
        "words": summary["words"], "processor_seconds": samples[-1][1],
        "memory_highest_mb": _mb(memory.max()),
        "memory_lowest_after_first_tenth_mb": _mb(middle.min()),
    }  # fmt: skip


def full_disk(text: Text, model: Path, work: Path) -> dict[str, Any]:
    """A file system that becomes full, and then has space again."""
    source, small, plain = work / "full", work / "small", work / "plain"
    source.mkdir()
    small.mkdir()
    for number in range(6):
        (source / f"{number}.conllu").write_bytes(text.file(number, 5000))
    target = small / "parsed"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(small)], check=True)
    try:
        status, _, errors, _ = watched(command(model, source, target), target)
        left = sorted(path.name for path in target.rglob("*") if path.is_file())
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        again, summary, _, _ = watched(command(model, source, target), target)
        watched(command(model, source, plain), plain)
        same = _tree(target) == _tree(plain)
    finally:
        subprocess.run(["umount", str(small)], check=True)
    return {
        "exit_status_when_full": status, "message": errors.strip().replace(str(work), "DIR"),
        "files_when_full": left, "exit_status_with_space": again,
        "finished_before": summary["finished_before"], "same_bytes_as_without": same,
    }  # fmt: skip


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*")) if path.is_file()
    }  # fmt: skip


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("treebanks", type=Path)
    arguments.add_argument("--work", type=Path, required=True)
    arguments.add_argument("--only", nargs="*")
    arguments.add_argument("--sentences", type=int, default=10_000_000)
    arguments.add_argument("--bytes", type=int, default=5_000_000_000)
    arguments.add_argument("--out", type=Path, default=Path(__file__).parent / "results/soak.json")
    arguments.add_argument("--so-far", action="store_true", help="figures of a long run meanwhile")
    given = arguments.parse_args()
    if given.so_far:
        samples = json.loads((given.work / "samples.json").read_text())
        lines = (given.work / "long" / "000.conllu").read_bytes().split(b"\n")
        words = sum(line.split(b"\t")[0].isdigit() for line in lines)
        print(json.dumps(memory_and_speed(samples, words), indent=1))
        return
    given.work.mkdir(parents=True, exist_ok=True)
    model, text = small_model(given.work / "small.arbora"), Text(given.treebanks)
    stages = {
        "tiny": lambda: tiny_files(text, model, given.work, damaged=False),
        "corrupt": lambda: tiny_files(text, model, given.work, damaged=True),
        "full-disk": lambda: full_disk(text, model, given.work),
        "large": lambda: large_file(text, model, given.work, given.bytes),
        "long": lambda: long_run(text, model, given.work, given.sentences),
    }
    for name in given.only or stages:
        if name not in stages:
            arguments.error(f"there is no stage {name}: choose {', '.join(stages)}.")
        result = stages[name]()
        print(name, json.dumps(result, indent=1))
        results = json.loads(given.out.read_text()) if given.out.exists() else {}
        results[name] = result
        given.out.write_text(json.dumps(results, indent=1) + "\n")
        for path in given.work.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path != model:
                path.unlink()


if __name__ == "__main__":
    main()
