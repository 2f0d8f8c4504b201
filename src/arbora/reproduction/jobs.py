"""Jobs: the trainings and measurements behind a table, run once each and remembered.

Every result is a file in the output folder, named after all that determines it, so that an
interrupted reproduction continues where it was. Times are kept in files of their own.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import asdict, dataclass, fields, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from arbora.data.temporary_files import remove_leftovers, temporary_path
from arbora.errors import ArboraError, unwritable
from arbora.reproduction.recipe import Corpus, Quick
from arbora.reproduction.treebanks import Treebanks
from arbora.spread import Spread, answered, attempted, one_after_another

__all__ = ["GENERATION", "Job", "Progress", "Workshop"]

# Raised when features or learners change, so that older results are not used again.
GENERATION = 1
_MANY_WORDS = 100_000  # of a treebank that is not cut, to estimate times


@dataclass(frozen=True)
class Job:
    """Something to compute: a kind of work on a treebank with settings that fit into JSON."""

    title: str
    kind: str
    corpus: Corpus
    settings: Mapping[str, Any]
    rule: str
    quick: Quick | None
    cost: float  # relative, for the same number of words; long jobs start first

    @property
    def weight(self) -> float:
        """The expected duration, relative to that of other jobs."""
        return self.cost * min(self.corpus.train_words or _MANY_WORDS, _MANY_WORDS)

    def key(self, fingerprint: int) -> str:
        """A name that depends on everything that determines the result, and on nothing else."""
        corpus = replace(self.corpus, language="", original=False)
        quick = None if self.quick is None else replace(self.quick, languages=())
        named = [
            GENERATION, self.kind, _changed(corpus), self.settings, self.rule,
            None if quick is None else _changed(quick), fingerprint,
        ]  # fmt: skip
        text = json.dumps(named, sort_keys=True)
        return f"{self.corpus.folder.strip('.') or 'treebank'}-{_digest(text)}"


def _changed(values: Corpus | Quick) -> dict[str, Any]:
    """The fields that differ from their defaults, so that a new field changes no name."""
    found = asdict(values)
    return {one.name: found[one.name] for one in fields(values) if found[one.name] != one.default}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


Progress = Callable[[int, int, str, float | None], object]
"""Called with jobs done, jobs in all, a line about the last one, and the seconds left."""


class Workshop:
    """Runs jobs on several processes, or elsewhere by `spread`, and remembers their results."""

    def __init__(
        self, treebanks: Treebanks, folder: Path, processes: int, spread: Spread | None = None
    ) -> None:
        self.treebanks, self.folder, self.processes = treebanks, folder, processes
        self._spread = spread
        self._prints: dict[str, int] = {}
        try:
            for part in ("runs", "timings", "models"):
                (folder / part).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(os.fspath(folder), error) from error

    def result(self, job: Job) -> dict[str, Any] | None:
        """What an earlier run found; None if there is nothing, or the file is damaged."""
        found: dict[str, Any] | None = _read(self._path("runs", job))
        return found

    def timing(self, job: Job) -> dict[str, float]:
        """How long the job took; empty if unknown."""
        return _read(self._path("timings", job)) or {}

    def processor_seconds(self, jobs: Iterable[Job]) -> float:
        """The processor time of all jobs that are done; of older ones, that of training alone."""
        times = [self.timing(job) for job in {self._key(job): job for job in jobs}.values()]
        return sum(one.get("processor_seconds", one.get("train_seconds", 0.0)) for one in times)

    def missing(self, jobs: Iterable[Job]) -> tuple[int, int]:
        """How many of these jobs have no result yet, and how many there are."""
        every = {self._key(job): job for job in jobs}
        return sum(self.result(job) is None for job in every.values()), len(every)

    def run(self, jobs: Iterable[Job], progress: Progress) -> None:
        """Runs all jobs that have no result yet, original data and long jobs first."""
        every = list({self._key(job): job for job in jobs}.values())
        waiting = [job for job in every if self.result(job) is None]
        waiting.sort(key=lambda job: (not job.corpus.original, -job.weight))
        total, done = len(every), len(every) - len(waiting)
        progress(done, total, f"{done} of {total} results are here already", None)
        clock = _Clock(sum(job.weight for job in waiting))
        spread = self._spread
        if spread is None:
            spread = one_after_another if self.processes == 1 else Processes(self.processes)
        with closing(spread(_work, (self.treebanks, self.folder), waiting)) as answers:
            for place, answer in answers:
                job = waiting[place]
                self._finish(job, *answered(answer))
                done += 1
                progress(done, total, self._line(job), clock.left(job.weight))

    def _line(self, job: Job) -> str:
        seconds = self.timing(job).get("seconds", 0.0)
        return f"{job.corpus.language}, {job.title}: {seconds / 60:.1f} min"

    def _finish(self, job: Job, found: dict[str, Any], took: dict[str, float]) -> None:
        _write(self._path("timings", job), took)
        _write(self._path("runs", job), found)  # last: it marks the job as done

    def _key(self, job: Job) -> str:
        folder = job.corpus.folder
        if folder not in self._prints:
            self._prints[folder] = self.treebanks.fingerprint(job.corpus)
        return job.key(self._prints[folder])

    def _path(self, part: str, job: Job) -> Path:
        return self.folder / part / f"{self._key(job)}.json"


@dataclass(frozen=True)
class Processes:
    """Runs every item in one of several processes; see `arbora.spread.Spread`."""

    count: int

    def __call__(
        self, work: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any]
    ) -> Generator[tuple[int, Any]]:
        """The answers as they come."""
        # spawn: a forked child would inherit the state of the parent's threads.
        with ProcessPoolExecutor(self.count, get_context("spawn"), _begin_worker) as pool:
            try:
                running = {
                    pool.submit(attempted, work, shared, item): place
                    for place, item in enumerate(items)
                }
                for future in as_completed(running):
                    yield running[future], future.result()
            except BaseException as error:
                processes = pool._processes or {}  # noqa: SLF001  # no public way
                pool.shutdown(wait=False, cancel_futures=True)
                for process in list(processes.values()):
                    process.terminate()
                if isinstance(error, BrokenProcessPool):
                    raise ArboraError(
                        "a process ended by itself, for lack of memory perhaps: run the command "
                        "again with fewer --jobs; finished runs are kept."
                    ) from error
                raise


def _begin_worker() -> None:
    """Leaves Ctrl-C to the parent, which ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(shared: tuple[Treebanks, Path], job: Job) -> tuple[dict[str, Any], dict[str, float]]:
    return work(job, *shared)


def work(job: Job, treebanks: Treebanks, folder: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Does a job, in this process."""
    from arbora.reproduction.measurements import MEASUREMENTS

    started, processor = time.perf_counter(), time.process_time()
    try:
        found, took = MEASUREMENTS[job.kind](treebanks.splits(job.corpus, job.quick), job, folder)
    except ArboraError as error:
        raise ArboraError(f"{job.corpus.language}, {job.title}: {error}") from error
    took["processor_seconds"] = time.process_time() - processor
    return found, {**took, "seconds": time.perf_counter() - started}


class _Clock:
    """Estimates the time left from the weight of what is done."""

    def __init__(self, weight: float) -> None:
        self._weight, self._done, self._started = weight, 0.0, time.monotonic()

    def left(self, weight: float) -> float:
        """The seconds left after another job of this weight."""
        self._done += weight
        elapsed = time.monotonic() - self._started
        return elapsed * (self._weight - self._done) / max(self._done, 1e-9)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _write(path: Path, values: Mapping[str, Any]) -> None:
    remove_leftovers(path)
    temporary = temporary_path(path)
    try:
        temporary.write_text(json.dumps(values) + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise unwritable(os.fspath(path), error) from error
