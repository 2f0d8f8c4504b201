"""Higher-order parsers with dual decomposition, compared with Koo et al. (2010).

    python benchmarks/higher_order.py --treebanks DIR            # everything
    python benchmarks/higher_order.py --treebanks DIR danish     # one part

Parts: danish, orders, rivals, goals. Results are kept (`--memory`) and reused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments import EIGHT, Experiments, Result, paired_p, run_parts

# First order twice: with its default learner, and with the default learner of higher orders.
MODELS: dict[str, dict[str, Any]] = {
    "first": {"learner": "loglinear"},
    "first, MIRA": {"learner": "mira"},
    "sibling": {"order": "sibling"},
    "grandsibling": {"order": "grandsibling"},
}
DANISH = "conllx_danish_ddt"
GORMLEY = {"prune_threshold": 1e-4, "prune_heads": 10}  # the pruning of Gormley et al. (2015)
PAPER_DANISH = {
    "first": (89.74, None, None),
    "sibling": (91.08, 99.07, 0.053),
    "grandsibling": (91.78, 98.45, 0.169),
}  # UAS, % certified, seconds per sentence: their table 1


def _run(experiments: Experiments, treebank: str, model: str, seed: int, **options: str) -> Result:
    pruning = GORMLEY if treebank == DANISH and "order" in MODELS[model] else {}
    return experiments.run(treebank, seed=seed, **MODELS[model], **pruning, **options)[""]


def danish(experiments: Experiments, seeds: int) -> None:
    """CoNLL-X Danish, mean over seeds, with the pruning of Gormley et al. (2015)."""
    print("\n## CoNLL-X Danish\n")
    print("| model | seeds | UAS | LAS | % certified | ms per sentence | arcs per word | oracle |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for model in MODELS:
        runs = [_run(experiments, DANISH, model, seed) for seed in range(seeds)]
        print(f"| {model} | {seeds} | " + " | ".join(_figures(runs)) + " |")
        if model in PAPER_DANISH:
            uas, certified, seconds = PAPER_DANISH[model]
            rest = "|" if certified is None else f"{certified} | {1000 * (seconds or 0):.0f}"
            print(f"| Koo et al. 2010 | | {uas} | | {rest} | | |")


def orders(experiments: Experiments, seeds: int) -> None:
    """First order, siblings and grandsiblings on eight treebanks."""
    print("\n## Orders\n")
    print("| treebank | " + " | ".join(f"{model} UAS / LAS" for model in MODELS) + " |")
    print("| --- |" + " --- |" * len(MODELS))
    columns: dict[str, list[Result]] = {model: [] for model in MODELS}
    for treebank in EIGHT:
        cells = []
        for model, column in columns.items():
            runs = [_run(experiments, treebank, model, seed) for seed in range(seeds)]
            uas, las = np.mean([run.uas for run in runs]), np.mean([run.las for run in runs])
            cells.append(f"{uas:.2f} / {las:.2f}")
            column += runs
        print(f"| {treebank} | " + " | ".join(cells) + " |")
    means = [f"**{_mean_uas(runs):.2f}**" for runs in columns.values()]
    print("| **mean UAS** | " + " | ".join(means) + " |")
    for name, scale in (("certified", 100.0), ("seconds_per_sentence", 1000.0)):
        cells = [f"{scale * np.mean([run.card[name] for run in columns[m]]):.2f}" for m in MODELS]
        title = "% certified" if name == "certified" else "ms per sentence"
        print(f"| {title} | " + " | ".join(cells) + " |")
    print()
    for a, b in (("first", "sibling"), ("first, MIRA", "sibling"), ("sibling", "grandsibling")):
        _print_difference(columns, a, b)


RIVAL = {"sibling": "dual", "grandsibling": "automata"}  # the defaults


def rivals(experiments: Experiments, seeds: int) -> None:
    """MIRA with automaton paths and with trees as rivals; UAS on dev."""
    print("\n## Rivals\n")
    models = ("sibling", "grandsibling")
    print("| treebank | " + " | ".join(f"{m}: automata | trees" for m in models) + " |")
    print("| --- |" + " ---: |" * (2 * len(models)))
    gains: dict[str, list[float]] = {model: [] for model in models}
    for treebank in EIGHT[4:]:  # treebanks with dev files and short training times
        cells = []
        for model in models:
            for seed in range(seeds):
                runs = []
                for rival in ("automata", "dual"):
                    other = {} if rival == RIVAL[model] else {"training_inference": rival}
                    runs.append(_run(experiments, treebank, model, seed, **other).dev_uas)
                gains[model].append(runs[1] - runs[0])
                if seed == 0:
                    cells += [f"{uas:.2f}" for uas in runs]
        print(f"| {treebank} | " + " | ".join(cells) + " |")
    for model, values in gains.items():
        print(f"- {model}: {np.mean(values):+.2f} on dev")


def _mean_uas(runs: list[Result]) -> float:
    return float(np.mean([run.uas for run in runs]))


def _print_difference(columns: dict[str, list[Result]], a: str, b: str) -> None:
    gain = _mean_uas(columns[b]) - _mean_uas(columns[a])
    p = paired_p(columns[a], columns[b])
    print(f"- {b} against {a}: {gain:+.2f}, paired permutation test p = {p:.4f}")


def goals(experiments: Experiments, seeds: int) -> None:
    """Grandsiblings on treebanks with published figures."""
    print("\n## Grandsiblings\n")
    print(
        "| treebank | features | UAS | LAS | % certified | ms per sentence | arcs per word "
        "| oracle |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for treebank, features in (
        ("conllx_spanish_cast3lb", "rich"), ("conll07_basque", "rich"),
        ("conll07_basque", "morphological"), ("ud_english_ewt", "rich"),
    ):  # fmt: skip
        other = {} if features == "rich" else {"features": features}
        runs = [_run(experiments, treebank, "grandsibling", seed, **other) for seed in range(seeds)]
        print(f"| {treebank} | {features} | " + " | ".join(_figures(runs)) + " |")


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
    run_parts(__doc__ or "", danish, orders, rivals, goals)
