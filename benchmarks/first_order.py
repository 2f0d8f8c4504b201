"""The first-order parsers on real treebanks, beside what the papers printed.

    python benchmarks/first_order.py --treebanks DIR            # everything
    python benchmarks/first_order.py --treebanks DIR spanish    # one part

Parts: goals, morphology, spanish, trends, danish, roots, labels, batches, partial, calibration.
Settings were chosen on dev. Test sets are used once per setting, because results are kept
(`--memory`) and reused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments import EIGHT, Experiments, Result, paired_p, run_parts

import arbora

PAPER_SPANISH = {
    ("perceptron", "projective"): 81.19,
    ("perceptron", "nonprojective"): 80.02,
    ("maxmargin", "projective"): 81.71,
    ("maxmargin", "nonprojective"): 81.93,
    ("loglinear", "projective"): 81.75,
    ("loglinear", "nonprojective"): 81.57,
}  # Koo et al. 2007, table 2
# The paper's validation set has 11,024 words; the last 288 of the 3,306 sentences have 11,007. As
# for all treebanks without a dev file, the parser is retrained on all sentences.
VALIDATION_SPANISH = 288.5 / 3306
PASSES_SPANISH = 30  # maximum; the paper has 100, of which the perceptron never used more than 30
INFLECTED = (
    "conll07_basque",
    "ud_basque_bdt",
    "ud_turkish_imst",
    "ud_hungarian_szeged",
    "ud_greek_gdt",
    "ud_gothic_proiel",
    "ud_latin_perseus",
    "ud_slovenian_ssj_resplit",
)
STRONGLY_NONPROJECTIVE = ("ud_dutch_lassysmall", "ud_gothic_proiel", "ud_latin_perseus")


def goals(experiments: Experiments, seeds: int) -> None:
    """The default features on four treebanks; means over seeds except for the largest."""
    print("\n## Rich features\n")
    print("| treebank | learner | seeds | dev UAS | test UAS | test LAS |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for treebank in (
        "conllx_danish_ddt", "conllx_spanish_cast3lb", "conll07_basque", "ud_english_ewt",
    ):  # fmt: skip
        for learner in ("loglinear", "mira"):
            count = 1 if treebank == "ud_english_ewt" else seeds
            runs = [
                experiments.run(treebank, learner=learner, seed=seed)[""] for seed in range(count)
            ]
            dev = np.mean([run.dev_uas for run in runs])
            uas, las = np.mean([run.uas for run in runs]), np.mean([run.las for run in runs])
            print(f"| {treebank} | {learner} | {count} | {dev:.2f} | {uas:.2f} | {las:.2f} |")


def morphology(experiments: Experiments, seeds: int) -> None:  # noqa: ARG001
    """Rich and morphological features on treebanks with rich inflection."""
    print("\n## Morphological features\n")
    print("| treebank | learner | rich UAS / LAS | morphological UAS / LAS | difference | p |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for learner in ("mira", "loglinear"):
        for treebank in INFLECTED:
            rich = experiments.run(treebank, learner=learner, seed=0)[""]
            more = experiments.run(treebank, learner=learner, seed=0, features="morphological")[""]
            figures = " | ".join(f"{run.uas:.2f} / {run.las:.2f}" for run in (rich, more))
            gain = f"{more.uas - rich.uas:+.2f} / {more.las - rich.las:+.2f}"
            print(
                f"| {treebank} | {learner} | {figures} | {gain} | {paired_p([rich], [more]):.4f} |"
            )


def spanish(experiments: Experiments, seeds: int) -> None:  # noqa: ARG001
    """Koo et al. 2007, table 2, Spanish, with the papers' features."""
    print("\n## CoNLL-X Spanish, mcdonald2005 features\n")
    print("| learner | trees | paper UAS | UAS | LAS | decoded as |")
    print("| --- | --- | ---: | ---: | ---: | --- |")
    for (learner, trees), paper in PAPER_SPANISH.items():
        options: dict[str, Any] = {"batch_size": 1} if learner == "perceptron" else {}
        result = experiments.run(
            "conllx_spanish_cast3lb", learner=learner, trees=trees, features="mcdonald2005",
            decode_trees="auto", passes=PASSES_SPANISH, held_out=VALIDATION_SPANISH, **options,
        )[""]  # fmt: skip
        decoded = result.card.get("decode_trees", trees)
        figures = f"{paper:.2f} | {result.uas:.2f} | {result.las:.2f}"
        print(f"| {learner} | {trees} | {figures} | {decoded} |")


def trends(experiments: Experiments, seeds: int) -> None:  # noqa: ARG001
    """Trends of the papers on eight treebanks: marginals help, and MBR suits likelihood."""
    print("\n## Trends, unlabelled, non-projective\n")
    print("| treebank | perceptron | mira | mira mbr | loglinear map | loglinear mbr |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    columns: dict[str, list[Result]] = {}
    for treebank in EIGHT:
        found = {"perceptron": experiments.run(treebank, learner="perceptron", labels="none")[""]}
        mira = experiments.run(treebank, ("map", "mbr"), learner="mira", labels="none")
        likelihood = experiments.run(treebank, ("map", "mbr"), labels="none")
        found |= {"mira": mira["map"], "mira mbr": mira["mbr"]}
        found |= {"loglinear map": likelihood["map"], "loglinear mbr": likelihood["mbr"]}
        for name, result in found.items():
            columns.setdefault(name, []).append(result)
        print(f"| {treebank} | " + " | ".join(f"{r.uas:.2f}" for r in found.values()) + " |")
    means = {name: float(np.mean([r.uas for r in runs])) for name, runs in columns.items()}
    print("| **mean** | " + " | ".join(f"**{mean:.2f}**" for mean in means.values()) + " |\n")
    for a, b in (
        ("perceptron", "loglinear mbr"),
        ("loglinear map", "loglinear mbr"),
        ("mira", "mira mbr"),
    ):
        p = paired_p(columns[a], columns[b])
        print(f"- {b} against {a}: {means[b] - means[a]:+.2f}, paired permutation test p = {p:.4f}")
    print("\n| treebank | projective training | non-projective training | p |")
    print("| --- | ---: | ---: | ---: |")
    for treebank in STRONGLY_NONPROJECTIVE:
        one = experiments.run(treebank, trees="projective", labels="none")[""]
        other = experiments.run(treebank, ("map", "mbr"), labels="none")["mbr"]
        p = paired_p([one], [other])
        print(f"| {treebank} | {one.uas:.2f} | {other.uas:.2f} | {p:.4f} |")


def danish(experiments: Experiments, seeds: int) -> None:  # noqa: ARG001
    """Smith & Smith 2007, tables 1 and 2, Danish, with the papers' features."""
    print("\n## CoNLL-X Danish, mcdonald2005 features, unlabelled, multi-root\n")
    print("| model | map | mbr | max-z | greedy | by posterior | paper (map, mbr, max-z) |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    common: dict[str, Any] = {"labels": "none", "root": "multi", "features": "mcdonald2005"}
    rows: list[tuple[str, str, dict[str, Any]]] = [
        ("MIRA", "86.6 85.0", {"learner": "mira"}),
        ("log-linear", "87.5 87.5", {}),
        ("2 clusters", "87.5 87.3 86.3", {"clusters": 2}),
        ("16 clusters", "87.6 87.6 87.6", {"clusters": 16}),
        ("32 clusters", "87.6 87.5 87.5", {"clusters": 32}),
        ("squeezed", "", {"features": "squeezed2005"}),
        ("squeezed, 16 clusters", "", {"features": "squeezed2005", "clusters": 16}),
    ]
    for name, paper, options in rows:
        decoders = ["map", "mbr", "greedy", "greedy-posterior"]
        if "clusters" in options:
            decoders.append("max-z")
        found = experiments.run("conllx_danish_ddt", tuple(decoders), **(common | options))
        columns = ("map", "mbr", "max-z", "greedy", "greedy-posterior")
        cells = [f"{found[d].uas:.2f}" if d in found else "" for d in columns]
        print(f"| {name} | " + " | ".join(cells) + f" | {paper} |")


def roots(experiments: Experiments, seeds: int) -> None:  # noqa: ARG001
    """Single-root and multi-root models; 38 % of the sentences have several roots."""
    print("\n## Roots, conll07_basque\n")
    print("| root | UAS | LAS |\n| --- | ---: | ---: |")
    found = {
        root: experiments.run("conll07_basque", root=root, learner="loglinear", seed=0)[""]
        for root in ("single", "multi")
    }
    for root, result in found.items():
        print(f"| {root} | {result.uas:.2f} | {result.las:.2f} |")
    print(
        f"\npaired permutation test: p = {paired_p(list(found.values())[:1], [found['multi']]):.4f}"
    )


def labels(experiments: Experiments, seeds: int) -> None:  # noqa: ARG001
    """Joint and staged labels."""
    print("\n## Labels\n")
    print("| treebank | labels | dev LAS | test UAS | test LAS |")
    print("| --- | --- | ---: | ---: | ---: |")
    for treebank in ("ud_swedish_lines", "ud_turkish_imst", "conllx_danish_ddt"):
        for kind in ("staged", "joint"):
            result = experiments.run(treebank, labels=kind, learner="loglinear", seed=0)[""]
            print(
                f"| {treebank} | {kind} | {result.dev_las:.2f} | {result.uas:.2f} "
                f"| {result.las:.2f} |"
            )


def batches(experiments: Experiments, seeds: int) -> None:  # noqa: ARG001
    """The cost of mini-batches: dev scores with 16 sentences per update and with one."""
    print("\n## Mini-batches, dev UAS\n")
    print("| treebank | learner | batch_size=1 | batch_size=16 |")
    print("| --- | --- | ---: | ---: |")
    for treebank in ("ud_hungarian_szeged", "ud_turkish_imst", "ud_slovenian_ssj_resplit"):
        for learner in ("perceptron", "mira", "loglinear"):
            one, many = (
                experiments.run(treebank, learner=learner, labels="none", batch_size=size)[""]
                for size in (1, 16)
            )
            print(f"| {treebank} | {learner} | {one.dev_uas:.2f} | {many.dev_uas:.2f} |")


def partial(experiments: Experiments, seeds: int) -> None:  # noqa: ARG001
    """Training on 30 % of the heads."""
    print("\n## CoNLL-X Danish with 30 % of the heads\n")
    print("| learner | all heads | 30 % |\n| --- | ---: | ---: |")
    for learner in ("loglinear", "mira"):
        whole, some = (
            experiments.run("conllx_danish_ddt", learner=learner, labels="none", known_heads=share)[
                ""
            ]
            for share in (1.0, 0.3)
        )
        print(f"| {learner} | {whole.uas:.2f} | {some.uas:.2f} |")


def calibration(experiments: Experiments, seeds: int) -> None:  # noqa: ARG001
    """Calibration of the default learner on the test set of UD English EWT."""
    splits = experiments.splits("ud_english_ewt")
    parser = arbora.Parser(threads=experiments.threads).fit(splits.train, splits.dev)
    print(f"\n## UD English EWT, default settings\n\n```text\n{parser.evaluate(splits.test)}\n```")
    parsed = list(parser.parse(splits.test))
    probabilities = np.concatenate([sentence.arc_probabilities for sentence in parsed])
    right = np.concatenate(
        [gold.heads == found.heads for gold, found in zip(splits.test, parsed, strict=True)]
    )
    print("\n## Calibration, ud_english_ewt test\n\n```text")
    print(arbora.calibration(probabilities, right))
    print("```")


if __name__ == "__main__":
    run_parts(
        __doc__ or "", goals, morphology, spanish, trends, danish, roots, labels, batches, partial,
        calibration,
    )  # fmt: skip
