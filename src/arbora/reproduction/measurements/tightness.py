"""Does training make the relaxation tight? (Koo et al. 2010, section 7.2)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from arbora.parsers import Parser
from arbora.reproduction.jobs import Job
from arbora.reproduction.measurements.programs import LP_MULTI
from arbora.reproduction.measurements.scored import scored, trained_parser, validation_sentences
from arbora.reproduction.recipe import TableSpec
from arbora.reproduction.tables import Table
from arbora.reproduction.training import Outcome
from arbora.reproduction.treebanks import Splits

__all__ = ["measure", "table"]

_COLUMNS = ("UAS", "% certified", "% certified at 250", "% integral, LP(M)", "iterations")


def measure(splits: Splits, job: Job, folder: Path) -> Outcome:
    """Certificates of weights that were trained, or drawn at random."""
    settings = job.settings
    few = replace(splits, train=splits.train[: settings["train"]])
    parser = trained_parser(few, job, folder, settings["options"])
    if settings["weights"] == "random":
        parser = _with_random_weights(parser)
    data = scored(validation_sentences(splits, settings.get("sentences")), parser, job.rule)
    answers = data.decode("subgradient")
    certified = np.array([bool(answer.certified[0]) for answer in answers])
    iterations = np.array([int(answer.iterations[0]) for answer in answers])
    short = scored(validation_sentences(splits, 60, 30), parser, job.rule)
    whole = [LP_MULTI(parts, short.root)[1] for parts in short.parts]
    values = [
        data.uas([answer.heads for answer in answers]), 100 * certified.mean(),
        100 * (certified & (iterations <= 250)).mean(), 100 * np.mean(whole), iterations.mean(),
    ]  # fmt: skip
    return {name: float(value) for name, value in zip(_COLUMNS, values, strict=True)}, {}


def _with_random_weights(parser: Parser) -> Parser:
    """The same features and pruner with random weights."""
    model = parser.model
    size = len(model.scorer.parameters()["weights"])
    weights = np.random.default_rng(0).normal(size=size).astype(np.float32)
    return Parser.from_model(model.with_parameters({"scorer.weights": weights}), parser.threads)


def table(
    spec: TableSpec, found: Sequence[tuple[Job, Mapping[str, Any], Mapping[str, float]]]
) -> Table:
    """A row per order and kind of weights."""
    made = Table(spec.name, spec.title, ["order", "weights", *_COLUMNS], [])
    for job, result, _ in found:
        order, weights = job.settings["options"]["order"], job.settings["weights"]
        made.rows.append([order, weights, *(f"{result[name]:.2f}" for name in _COLUMNS)])
        made.values += [
            {"order": order, "weights": weights, "column": name, "value": result[name]}
            for name in _COLUMNS
        ]
    return made
