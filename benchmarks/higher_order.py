"""Parsers of higher order by dual decomposition on real treebanks, beside Koo et al. (2010).

    python benchmarks/higher_order.py --treebanks DIR            # everything
    python benchmarks/higher_order.py --treebanks DIR danish     # one part

Parts: danish, orders, goals. Results are kept (`--memory`) and used again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments import EIGHT, Experiments, Result, paired_p, run_parts

# The best first-order learner is the baseline.
MODELS: dict[str, dict[str, Any]] = {
    "first": {"learner": "mira"},
    "sibling": {"order": "sibling"},
    "grandsibling": {"order": "grandsibling"},
}
PAPER_DANISH = {
    "first": (89.74, None, None),
    "sibling": (91.08, 99.07, 0.053),
    "grandsibling": (91.78, 98.45, 0.169),
}  # UAS, % certified, seconds per sentence: their table 1


def danish(experiments: Experiments, seeds: int) -> None:
    """CoNLL-X Danish, mean over seeds, with the pruning of Gormley et al. (2015)."""
    print("\n## CoNLL-X Danish\n")
    print("| order | seeds | UAS | LAS | % certified | ms a sentence | arcs a word | oracle |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for order, options in MODELS.items():
        pruning = {} if order == "first" else {"prune_threshold": 1e-4, "prune_heads": 10}
        runs = [
            experiments.run("conllx_danish_ddt", seed=seed, **options, **pruning)[""]
            for seed in range(seeds)
        ]
        print(f"| {order} | {seeds} | " + " | ".join(_figures(runs)) + " |")
        uas, certified, seconds = PAPER_DANISH[order]
        rest = "" if certified is None else f"| {certified} | {1000 * (seconds or 0):.0f}"
        print(f"| Koo et al. 2010 | | {uas} | {rest} | | |")


def orders(experiments: Experiments, seeds: int) -> None:  # noqa: ARG001
    """First order, siblings and grandsiblings on eight treebanks: which order should be default?"""
    print("\n## Orders\n")
    print("| treebank | " + " | ".join(f"{order} UAS / LAS, ms" for order in MODELS) + " |")
    print("| --- |" + " --- |" * len(MODELS))
    columns: dict[str, list[Result]] = {order: [] for order in MODELS}
    for treebank in EIGHT:
        cells = []
        for order, options in MODELS.items():
            run = experiments.run(treebank, seed=0, **options)[""]
            columns[order].append(run)
            ms = 1000 * run.card["seconds_per_sentence"]
            cells.append(f"{run.uas:.2f} / {run.las:.2f}, {ms:.1f}")
        print(f"| {treebank} | " + " | ".join(cells) + " |")
    means = {order: float(np.mean([run.uas for run in runs])) for order, runs in columns.items()}
    print("| **mean UAS** | " + " | ".join(f"**{mean:.2f}**" for mean in means.values()) + " |\n")
    for a, b in (("first", "sibling"), ("sibling", "grandsibling")):
        p = paired_p(columns[a], columns[b])
        print(f"- {b} against {a}: {means[b] - means[a]:+.2f}, paired permutation test p = {p:.4f}")


def goals(experiments: Experiments, seeds: int) -> None:
    """Grandsiblings where other figures are known."""
    print("\n## Grandsiblings\n")
    print("| treebank | UAS | LAS | % certified | ms a sentence | arcs a word | oracle |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for treebank in ("conllx_spanish_cast3lb", "conll07_basque", "ud_english_ewt"):
        runs = [
            experiments.run(treebank, seed=seed, **MODELS["grandsibling"])[""]
            for seed in range(seeds)
        ]
        print(f"| {treebank} | " + " | ".join(_figures(runs)) + " |")


def _figures(runs: list[Result]) -> list[str]:
    """UAS, LAS, certificates, time, arcs per word and oracle, means over runs."""

    def mean(values: list[float]) -> float:
        return float(np.mean(values))

    figures = [
        f"{mean([run.uas for run in runs]):.2f}", f"{mean([run.las for run in runs]):.2f}",
        f"{100 * mean([run.card['certified'] for run in runs]):.2f}",
        f"{1000 * mean([run.card['seconds_per_sentence'] for run in runs]):.2f}",
    ]  # fmt: skip
    pruning = [run.card["pruning"] for run in runs if "pruning" in run.card]
    if not pruning:
        return [*figures, "", ""]
    return [
        *figures, f"{mean([one['arcs_per_word'] for one in pruning]):.1f}",
        f"{mean([one['oracle_uas'] for one in pruning]):.2f}",
    ]  # fmt: skip


if __name__ == "__main__":
    run_parts(__doc__ or "", danish, orders, goals)
