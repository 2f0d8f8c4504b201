"""The results behind a table: which run stands for a cell, and paired tests between cells."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.evaluation.significance import permutation_test, sign_test
from arbora.reproduction.jobs import Job, Workshop
from arbora.reproduction.recipe import Column, Corpus, Quick, Recipe, System, TableSpec, Way

__all__ = ["Cell", "Comparison", "Results", "jobs_of", "system_jobs"]

_PERMUTATIONS = 10_000


def system_jobs(
    recipe: Recipe, system: System, way: Way, corpus: Corpus, quick: Quick | None
) -> list[Job]:
    """The trainings of a system on a treebank: one for every point of its grid."""
    trials = system.trials(way, corpus)
    if quick is not None:
        trials = trials[:1]
    jobs = []
    for point, options in trials:
        if quick is not None:
            options = {**options, "passes": min(quick.passes, options.get("passes", quick.passes))}
        text = "".join(f", {name} {value}" for name, value in point.items())
        title = f"{system.name}{'' if way == 'printed' else ', ours'}{text}"
        settings = {"options": options, "decoders": list(system.decoders)}
        cost = system.cost * _weight(corpus)
        jobs.append(Job(title, "fit", corpus, settings, recipe.rule, quick, cost))
    return jobs


def _weight(corpus: Corpus) -> float:
    """A guess at the relative time that a treebank takes."""
    return (corpus.train_words or 50_000) / 50_000


def jobs_of(
    recipe: Recipe, tables: Iterable[TableSpec], corpora: list[Corpus], quick: Quick | None
) -> list[Job]:
    """Everything that the tables need."""
    from arbora.reproduction.measurements import measurement_jobs

    jobs: list[Job] = []
    for table in tables:
        if table.kind != "accuracy":
            jobs += measurement_jobs(recipe, table, corpora, quick)
            continue
        names = {name for column in table.columns for name in (*column.systems, *column.minus)}
        for corpus in corpora_of(recipe, table, corpora):
            for way, system in itertools.product(table.ways, recipe.systems):
                if system.name in names:
                    jobs += system_jobs(recipe, system, way, corpus, quick)
    return jobs


def corpora_of(recipe: Recipe, table: TableSpec, corpora: list[Corpus]) -> list[Corpus]:
    """The treebanks of a table; a treebank of the user's own is in every table."""
    known = {corpus.language for corpus in recipe.corpora}
    return [
        corpus
        for corpus in corpora
        if table.languages is None
        or corpus.language in table.languages
        or corpus.language not in known
    ]


@dataclass(frozen=True)
class Cell:
    """The run that validation chose for a cell, with its counts per test sentence."""

    system: str
    job: Job
    found: Mapping[str, Any]
    timing: Mapping[str, float]
    decoder: str

    @property
    def validation(self) -> float:
        """The score that validation decides by."""
        las = self.found["dev_las"]
        return float(las if las is not None else self.found["dev_uas"] or 0.0)

    @property
    def test(self) -> Mapping[str, Any]:
        return self.found["tests"][self.decoder]  # type: ignore[no-any-return]

    def right(self, measure: str) -> NDArray[np.int64]:
        """The right words of every test sentence."""
        return np.array(self.test["both" if measure == "las" else "heads"], dtype=np.int64)

    def value(self, measure: str) -> float | None:
        """A measure: accuracy in percent, or another figure of the run."""
        if measure in ("uas", "las"):
            words = int(np.sum(self.test["words"]))
            return 100.0 * float(self.right(measure).sum()) / max(1, words)
        if measure == "certified":
            return float(self.test["certified"])
        if measure == "seconds":
            seconds: float | None = self.timing.get(f"seconds_per_sentence {self.decoder}")
            return seconds
        if measure == "train_seconds":
            per_pass = self.timing.get("seconds_per_pass")
            sentences = int(self.found["train_sentences"])
            return None if per_pass is None else per_pass / sentences
        found = self.found[measure]
        return None if found is None else float(found)


@dataclass(frozen=True)
class Comparison:
    """Column b against column a over the sentences of all treebanks that have both."""

    difference: float  # of the means over treebanks
    better: int
    worse: int
    sign_p: float
    permutation_p: float


@dataclass(frozen=True)
class Results:
    """All results of a reproduction, looked up by what tables and claims ask for."""

    recipe: Recipe
    workshop: Workshop
    corpora: list[Corpus]
    quick: Quick | None

    def cell(
        self, names: tuple[str, ...], way: Way, corpus: Corpus, decoder: str = ""
    ) -> Cell | None:
        """The run of the named systems that is best on validation; None if there is none."""
        cells = []
        for name in names:
            for job in system_jobs(
                self.recipe, self.recipe.by_name[name], way, corpus, self.quick
            ):  # fmt: skip
                found = self.workshop.result(job)
                if found is not None and decoder in found["tests"]:
                    cells.append(Cell(name, job, found, self.workshop.timing(job), decoder))
        return max(cells, key=lambda cell: cell.validation, default=None)

    def value(self, column: Column, way: Way, corpus: Corpus) -> float | None:
        """The figure of a cell."""
        cell = self.cell(column.systems, way, corpus, column.decoder)
        value = None if cell is None else cell.value(column.measure)
        if value is None or not column.minus:
            return value
        other = self.cell(column.minus, way, corpus, column.decoder)
        taken = None if other is None else other.value(column.measure)
        return None if taken is None else value - taken

    def compare(
        self,
        table: TableSpec,
        a: str,
        b: str,
        way: Way,
        languages: Collection[str] | None = None,
    ) -> Comparison | None:
        """Column b against column a, over all treebanks of the table or of some languages."""
        one, other = table.column(a), table.column(b)
        gains, differences = [], []
        for corpus in corpora_of(self.recipe, table, self.corpora):
            first = self.cell(one.systems, way, corpus, one.decoder)
            second = self.cell(other.systems, way, corpus, other.decoder)
            if first is None or second is None:
                continue
            if languages is not None and corpus.language not in languages:
                continue
            measure = "las" if other.measure == "las" else "uas"
            gains.append(second.right(measure) - first.right(measure))
            differences.append((second.value(measure) or 0.0) - (first.value(measure) or 0.0))
        if not gains:
            return None
        gain = np.concatenate(gains)
        better, worse = int((gain > 0).sum()), int((gain < 0).sum())
        p = permutation_test(gain, _PERMUTATIONS, np.random.default_rng(0))
        return Comparison(float(np.mean(differences)), better, worse, sign_test(worse, better), p)
