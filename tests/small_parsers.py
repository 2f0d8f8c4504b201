"""Small parsers, trained once, for the tests of models and parsers."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from arbora import Parser, read_conllu
from arbora.scoring import Batch
from tests.toys import TREEBANK

SMALL = {"bits": 14, "label_bits": 9, "passes": 2, "seed": 7}


@lru_cache
def sentences(part, count=None):
    return tuple(read_conllu(TREEBANK / f"{part}.conllu"))[:count]


@lru_cache
def trained(**options):
    """A briefly trained parser; tests share it and must not change it."""
    return Parser(**(SMALL | options)).fit(sentences("train", 60), sentences("dev", 20))


def at_temperature(parser, temperature):
    """The same parser with another temperature."""
    return Parser.from_model(replace(parser.model, temperature=temperature), parser.threads)


def arc_scores(model, encoded, chosen):
    """The scores of the arcs of some sentences, flat."""
    return model.scorer.scores(Batch(encoded, np.asarray(chosen)))[0].arcs
