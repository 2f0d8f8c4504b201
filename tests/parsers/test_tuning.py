"""Grid search on dev."""

from __future__ import annotations

from pathlib import Path

import pytest

import arbora
from arbora.options import ParserOptions
from arbora.parsers import tune
from arbora.parsers.tuning import default_grid

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"
TRAIN, DEV = TREEBANK / "train.conllu", TREEBANK / "dev.conllu"
SMALL = {"bits": 14, "label_bits": 6, "passes": 2, "threads": 1}


def test_the_best_is_kept():
    told, results = [], []
    answer = tune(
        TRAIN, DEV, {"regularization": [1e6, 0.1], "batch_size": [16]},
        on_trial=lambda *what: told.append(what), on_result=results.append, **SMALL,
    )  # fmt: skip
    assert told == [(1, 2), (2, 2)]
    assert [trial.options["regularization"] for trial in results] == [1e6, 0.1]
    assert [trial.options["regularization"] for trial in answer.trials] == [0.1, 1e6]
    best = answer.trials[0]
    assert answer.parser.options.keywords()["regularization"] == 0.1
    assert answer.parser.evaluate(DEV).las == pytest.approx(best.las)
    alone = arbora.Parser(regularization=0.1, batch_size=16, **SMALL).fit(TRAIN, DEV)
    assert (alone.model.scorer.weights == answer.parser.model.scorer.weights).all()


@pytest.mark.parametrize(
    ("options", "names"),
    [({}, {"regularization", "rate"}), ({"optimizer": "lbfgs"}, {"regularization"}),
     ({"learner": "maxmargin"}, {"regularization"}),
     ({"learner": "mira"}, {"largest_step"}), ({"learner": "perceptron"}, {"batch_size"})],
    ids=["loglinear", "lbfgs", "maxmargin", "mira", "perceptron"],
)  # fmt: skip
def test_default_grids(options, names):
    chosen = ParserOptions.from_keywords(options)
    grid = default_grid(chosen)
    assert set(grid) == names
    for name, values in grid.items():
        assert chosen.keywords()[name] in values
        assert len(values) == 3


def test_bad_grids_are_refused_before_training():
    for grid, message in [
        ({"colour": ["red"]}, "unknown option 'colour'"),
        ({"regularization": []}, "list of values"),
        ({"regularization": "0.1"}, "list of values"),
        ({"regularization": [0.1, -1]}, "regularization must be between"),
    ]:
        with pytest.raises(arbora.ArgumentError, match=message):
            tune("nowhere.conllu", grid=grid)


def test_too_little_to_compare_on():
    few = list(arbora.read_conllu(DEV))[:5]
    with pytest.raises(arbora.ArgumentError, match="no dev sentences to compare"):
        tune(few, grid={"regularization": [1.0]}, **SMALL)
