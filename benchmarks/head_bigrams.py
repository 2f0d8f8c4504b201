"""What head bigrams add to grandsibling parsers: UAS on dev, with and without them.

    python benchmarks/head_bigrams.py --treebanks DIR

Two parsers: belief propagation trained with L2, and MIRA with dual decomposition by AD3. Results
are cached (`--memory`) and reused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments import Experiments, Result, paired_p

TREEBANKS = ("ud_hungarian_szeged", "ud_swedish_lines", "ud_greek_gdt", "ud_turkish_imst")
MODELS: dict[str, dict[str, Any]] = {
    "bp, l2": {"order": "grandsibling", "learner": "l2"},
    "dual, mira": {"order": "grandsibling", "solver": "ad3", "training_inference": "dual",
                   "passes": 5, "max_iterations": 200},
}  # fmt: skip


def main() -> None:
    experiments, arguments = Experiments.from_arguments(str(__doc__))
    for model, options in MODELS.items():
        if arguments.only and model.split(",")[0] not in arguments.only:
            continue
        print(f"\n## {model}\n")
        print("| treebank | dev without | dev with | test without | test with |")
        print("| --- | ---: | ---: | ---: | ---: |")
        pairs: list[tuple[Result, Result]] = []
        for treebank in TREEBANKS:
            without, having = (
                experiments.run(treebank, seed=0, **options, **more)[""]
                for more in ({}, {"head_bigrams": True})
            )
            pairs.append((without, having))
            figures = (without.dev_uas, having.dev_uas, without.uas, having.uas)
            print(f"| {treebank} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |")
        means = [
            np.mean([getattr(pair[i], name) for pair in pairs])
            for name in ("dev_uas", "uas")
            for i in (0, 1)
        ]
        print("| **mean** | " + " | ".join(f"**{mean:.2f}**" for mean in means) + " |")
        p = paired_p([pair[0] for pair in pairs], [pair[1] for pair in pairs])
        print(f"\nTest, without against with: p = {p:.4f}.")


if __name__ == "__main__":
    main()
