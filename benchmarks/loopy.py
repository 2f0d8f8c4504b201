"""Training through belief propagation, compared with Gormley et al. (2015).

    python benchmarks/loopy.py --treebanks DIR               # everything
    python benchmarks/loopy.py --treebanks DIR exact risk    # some parts

Parts: iterations (figure 3 of the paper), factors (figure 4), exact (table 1), table2,
nonprojective, regulariser, risk, control, grid. Results are kept (`--memory`) and reused; figures 3
and 4 are also drawn there. Pruning, projective trees and five passes with early stopping are as in
the paper. Features and learning rates are ours; all losses use their default rates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from experiments import Experiments, Result, paired_p, run_parts

Options = dict[str, Any]

COMMON: Options = {"labels": "none", "trees": "projective", "passes": 5, "patience": 5}
PRUNING: Options = {"prune_threshold": 1e-4, "prune_heads": 10}
LOSSES: dict[str, Options] = {
    "CLL": {"learner": "loglinear"},
    "L2": {"learner": "l2"},
    "L2+AR": {"learner": "l2+risk"},
}
LINES = (("#2b5c8a", "o-"), ("#c44e52", "s-"), ("#8c8c3e", "^--"))  # of the losses, in this order
FACTORS = {
    "unary": "first", "grandparent": "grandparent", "sibling": "sibling", "both": "grandsibling",
}  # fmt: skip

THREE = ("wsj_sample", "ud_swedish_lines", "ud_hungarian_szeged")
TABLE2 = (
    "conllx_danish_ddt",
    "conllx_spanish_cast3lb",
    "ud_portuguese_bosque",
    "ud_swedish_lines",
    "ud_turkish_imst",
    "ud_slovenian_ssj_resplit",
    "ud_greek_gdt",
    "ud_hungarian_szeged",
)
CROSSING = ("ud_dutch_lassysmall", "ud_latin_perseus", "ud_basque_bdt", "ud_gothic_proiel")
# Table 2 of the paper: UAS of CLL, and L2 minus CLL; first order and 1, 2, 4, 8 iterations.
PAPER_TABLE2 = {
    "conllx_danish_ddt": "87.15 -0.12 | 86.31 -1.07 | 87.41 +0.03 | 87.65 -0.11 | 87.68 -0.10",
    "conllx_spanish_cast3lb": "81.49 -0.09 | 79.08 -0.37 | 80.73 +0.14 | 81.75 -0.66 | 81.52 +0.02",
}
# Table 1 of the paper: UAS on dev and test with grandparents, Penn treebank.
PAPER_TABLE1 = {
    ("CLL", "exact"): "91.99 / 91.62", ("CLL", "bp"): "91.37 / 91.25",
    ("L2", "exact"): "91.91 / 91.66", ("L2", "bp"): "91.83 / 91.63",
}  # fmt: skip


def iterations(experiments: Experiments, seeds: int) -> None:
    """Figure 3: UAS by the number of iterations, grandparents and siblings."""
    counts = list(range(1, 9))
    models = [{"order": "grandsibling", "bp_iterations": count} for count in counts]
    _compare_losses(experiments, seeds, "iterations", counts, models)


def factors(experiments: Experiments, seeds: int) -> None:
    """Figure 4: UAS by the kinds of factors, four iterations."""
    models = [{"order": order} for order in FACTORS.values()]
    _compare_losses(experiments, seeds, "factors", list(FACTORS), models)


def _compare_losses(
    experiments: Experiments, seeds: int, what: str, rows: list[Any], models: list[Options]
) -> None:
    """A table of the losses for each treebank, and a figure of all."""
    found = {}
    for treebank in THREE:
        print(f"\n## UAS by {what}: {treebank}\n")
        found[treebank] = {
            name: [_runs(experiments, treebank, seeds, loss, **model) for model in models]
            for name, loss in LOSSES.items()
        }
        _print_columns(what, rows, found[treebank])
    _draw(experiments.memory / f"{what}.svg", what, rows, found)


def exact(experiments: Experiments, seeds: int) -> None:
    """Table 1: exact sums (model 0) against four iterations, grandparents only."""
    print("\n## Exact against approximate, grandparents\n")
    print("| treebank | loss | inference | dev UAS | test UAS | Gormley et al., PTB: dev / test |")
    print("| --- | --- | --- | ---: | ---: | ---: |")
    for treebank in THREE:
        for name in ("CLL", "L2"):
            for kind in ("exact", "bp"):
                options = {"order": "grandparent", "inference": kind}
                runs = _runs(experiments, treebank, seeds, LOSSES[name], **options)
                dev = float(np.mean([run.dev_uas for run in runs]))
                paper = PAPER_TABLE1[name, kind]
                print(f"| {treebank} | {name} | {kind} | {dev:.2f} | {_uas(runs):.2f} | {paper} |")


def table2(experiments: Experiments, seeds: int) -> None:
    """Table 2: first order, and second order with 1, 2, 4 and 8 iterations."""
    print("\n## CLL and L2 - CLL\n")
    models: dict[str, Options] = {"first order": {"order": "first"}}
    models |= {
        f"{n} iterations": {"order": "grandsibling", "bp_iterations": n} for n in (1, 2, 4, 8)
    }
    print("| treebank | " + " | ".join(models) + " |")
    print("| --- |" + " ---: |" * len(models))
    found: dict[tuple[str, str], list[list[Result]]] = {}
    for treebank in TABLE2:
        cells = []
        for model, options in models.items():
            pair = [
                _runs(experiments, treebank, seeds, LOSSES[n], **options) for n in ("CLL", "L2")
            ]
            for name, runs in zip(("CLL", "L2"), pair, strict=True):
                found.setdefault((model, name), []).append(runs)
            cells.append(f"{_uas(pair[0]):.2f} {_uas(pair[1]) - _uas(pair[0]):+.2f}")
        print(f"| {treebank} | " + " | ".join(cells) + " |")
        if treebank in PAPER_TABLE2:
            print(f"| Gormley et al. | {PAPER_TABLE2[treebank]} |")
    means = []
    for model in models:
        cll, l2 = (np.mean([_uas(runs) for runs in found[model, n]]) for n in ("CLL", "L2"))
        means.append(f"**{cll:.2f} {l2 - cll:+.2f}**")
    print("| **mean** | " + " | ".join(means) + " |\n")
    for model in models:
        p = paired_p(_flat(found[model, "CLL"]), _flat(found[model, "L2"]))
        print(f"- {model}: L2 against CLL, paired permutation test p = {p:.4f}")


def nonprojective(experiments: Experiments, seeds: int) -> None:
    """Non-projective and projective tree factors on treebanks with many crossing arcs."""
    print("\n## Trees of both classes, four iterations\n")
    print("| treebank | loss | projective | nonprojective | difference |")
    print("| --- | --- | ---: | ---: | ---: |")
    for name in ("CLL", "L2"):
        both: dict[str, list[list[Result]]] = {"projective": [], "nonprojective": []}
        for treebank in CROSSING:
            for trees, runs in both.items():
                options = {"order": "grandsibling", "trees": trees}
                runs.append(_runs(experiments, treebank, seeds, LOSSES[name], **options))
            one, other = (_uas(runs[-1]) for runs in both.values())
            print(f"| {treebank} | {name} | {one:.2f} | {other:.2f} | {other - one:+.2f} |")
        p = paired_p(*(_flat(runs) for runs in both.values()))
        print(f"| **all** | {name} | | | p = {p:.4f} |")


def regulariser(experiments: Experiments, seeds: int) -> None:
    """Footnote 9: L2 depends less on the strength of the regulariser."""
    strengths = [0.1, 1.0, 10.0, 100.0]
    for treebank in THREE:
        print(f"\n## UAS on dev by the regulariser: {treebank}\n")
        print("| loss | " + " | ".join(f"{s:g}" for s in strengths) + " | range |")
        print("| --- |" + " ---: |" * (len(strengths) + 1))
        for name in ("CLL", "L2"):
            options = {"order": "grandsibling"}
            runs = [
                _runs(
                    experiments, treebank, seeds, LOSSES[name], regularization=strength, **options
                )
                for strength in strengths
            ]
            scores = [float(np.mean([run.dev_uas for run in some])) for some in runs]
            cells = " | ".join(f"{score:.2f}" for score in scores)
            print(f"| {name} | {cells} | {max(scores) - min(scores):.2f} |")


def risk(experiments: Experiments, seeds: int) -> None:
    """Annealed risk without L2 before it, which is worse than either in the paper."""
    print("\n## Annealed risk alone, four iterations\n")
    columns = {"AR": {"learner": "risk"}} | LOSSES
    _print_by_treebank(experiments, seeds, THREE, columns)


def control(experiments: Experiments, seeds: int) -> None:
    """Footnote 10: is L2 better because it is trained on non-projective trees?"""
    print("\n## Original and projectivised gold trees, four iterations\n")
    columns: dict[str, Options] = {
        "CLL, projectivised": LOSSES["CLL"],
        "L2, original trees": LOSSES["L2"],
        "L2, projectivised": LOSSES["L2"] | {"projectivise": True},
    }
    _print_by_treebank(experiments, seeds, (*CROSSING, "conllx_danish_ddt"), columns)


def grid(experiments: Experiments, seeds: int) -> None:
    """Regulariser, learning rate and passes for both losses, on dev."""
    print("\n## UAS on dev by regulariser and rate, grandparents and siblings, best pass of five\n")
    treebank, rates, strengths = "ud_hungarian_szeged", (0.005, 0.01, 0.02, 0.05), (1.0, 10.0)
    print(
        "| loss | iterations | regularization | "
        + " | ".join(f"rate {rate:g}" for rate in rates)
        + " |"
    )
    print("| --- | ---: | ---: |" + " ---: |" * len(rates))
    for name in ("CLL", "L2"):
        for count in (1, 4):
            for strength in strengths:
                options = {"order": "grandsibling", "bp_iterations": count}
                cells = []
                for rate in rates:
                    tuned = options | {"regularization": strength, "rate": rate}
                    runs = _runs(experiments, treebank, seeds, LOSSES[name], **tuned)
                    cells.append(f"{np.mean([run.dev_uas for run in runs]):.2f}")
                print(f"| {name} | {count} | {strength:g} | " + " | ".join(cells) + " |")


def _runs(
    experiments: Experiments, treebank: str, seeds: int, loss: Options, **options: Any
) -> list[Result]:
    """One result per seed; higher orders use belief propagation unless options say otherwise."""
    chosen = COMMON | loss | options
    if chosen["order"] != "first":
        chosen = PRUNING | {"inference": "bp"} | chosen
        if chosen["inference"] == "bp":  # explicit, so that every result has one name
            chosen = {"bp_iterations": 4} | chosen
    return [experiments.run(treebank, seed=seed, **chosen)[""] for seed in range(seeds)]


def _uas(runs: list[Result]) -> float:
    return float(np.mean([run.uas for run in runs]))


def _flat(runs: Iterable[list[Result]]) -> list[Result]:
    return [run for some in runs for run in some]


def _print_by_treebank(
    experiments: Experiments, seeds: int, treebanks: Iterable[str], columns: Mapping[str, Options]
) -> None:
    """UAS with grandparents and siblings, four iterations, a column per training method."""
    print("| treebank | " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * len(columns))
    for treebank in treebanks:
        runs = [
            _runs(experiments, treebank, seeds, loss, order="grandsibling")
            for loss in columns.values()
        ]
        print(f"| {treebank} | " + " | ".join(f"{_uas(some):.2f}" for some in runs) + " |")


def _print_columns(what: str, rows: list[Any], columns: Mapping[str, list[list[Result]]]) -> None:
    print(f"| {what} | " + " | ".join(columns) + " | p of L2 against CLL |")
    print("| --- |" + " ---: |" * (len(columns) + 1))
    for i, row in enumerate(rows):
        cells = " | ".join(f"{_uas(runs[i]):.2f}" for runs in columns.values())
        print(f"| {row} | {cells} | {paired_p(columns['CLL'][i], columns['L2'][i]):.4f} |")


def _draw(
    path: Path, what: str, xs: list[Any], found: Mapping[str, Mapping[str, list[list[Result]]]]
) -> None:
    """A panel per treebank and a line per loss, if Matplotlib is installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(3.6 * len(found), 3.2), layout="constrained")
    for place, (treebank, columns) in enumerate(found.items(), 1):
        axes = figure.add_subplot(1, len(found), place)
        for (loss, runs), (colour, style) in zip(columns.items(), LINES, strict=True):
            heights = [_uas(some) for some in runs]
            axes.plot(range(len(xs)), heights, style, color=colour, label=loss, linewidth=1.8)
        axes.set_xticks(range(len(xs)), [str(x) for x in xs])
        axes.set(xlabel=what, title=treebank)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        if place == 1:
            axes.set_ylabel("UAS")
            axes.legend(frameon=False)
    figure.savefig(path)
    print(f"\nDrawn to {path}")


if __name__ == "__main__":
    run_parts(
        __doc__ or "", iterations, factors, exact, table2, nonprojective, regulariser, risk,
        control, grid,
    )  # fmt: skip
