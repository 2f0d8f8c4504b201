"""Made `format2.arbora` and `format2.conllu`, on the treebank of that time.

    python tests/golden/make_format2.py FOLDER

writes both into a folder. The files in the repository are never made again: they show that models
of format 2 load and parse for ever as they once did. The model is of higher order, so that the
file holds every component: encoder with word clusters, scorer, pruner and labeller.
"""

from __future__ import annotations

import sys
from pathlib import Path

import arbora
from arbora.features import WordClusters

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"
CLUSTERS = (("the", "0010110", 1.0), ("of", "0110", 0.25), ("of", "1011010", 0.75))
OPTIONS = {
    "order": "grandsibling", "learner": "mira", "bits": 12, "label_bits": 8, "passes": 4,
    "threads": 1,
}  # fmt: skip


def main(folder: Path) -> None:
    parser = arbora.Parser(**OPTIONS)
    parser.fit(
        TREEBANK / "train.conllu", TREEBANK / "dev.conllu", word_clusters=WordClusters(CLUSTERS),
        licence="Apache-2.0",
    )  # fmt: skip
    parser.save(folder / "format2.arbora")
    sentences = list(arbora.read_conllu(TREEBANK / "test.conllu"))[:30]
    arbora.write_conllu(folder / "format2.conllu", parser.parse(sentences))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
