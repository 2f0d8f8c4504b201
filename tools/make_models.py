"""Makes model files: those that the package brings along, or one for every treebank of a folder.

python tools/make_models.py TREEBANKS                       # the bundled models, into the package
python tools/make_models.py TREEBANKS --every --out DIR     # a model for every treebank

TREEBANKS has a folder per treebank with train and dev files. Word lists of the treebank are in a
model, its sentences are not. `benchmarks/raw_text.py` scores what this makes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import arbora
from arbora.options import SegmenterOptions
from arbora.pipeline import StageOptions

BUNDLED = Path(__file__).parents[1] / "src" / "arbora" / "bundled"

# Name, treebank, licence of its annotation, and the options of the parser.
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "en": ("ud_english_ewt", "CC BY-SA 4.0 (UD English EWT)", {"bits": 21}),
}


def make(folder: Path, out: Path, licence: str | None, options: dict[str, Any]) -> None:
    """Trains a pipeline on a treebank and writes it."""
    started = time.perf_counter()
    train, dev = (next(iter(sorted(folder.glob(f"{part}.conll*"))), None) for part in ("train", "dev"))
    if train is None:
        raise SystemExit(f"{folder} has no train file.")
    stages = StageOptions(segmenter=SegmenterOptions(bits=20))
    nlp = arbora.Pipeline(**options).fit(train, dev, stages=stages, licence=licence)
    out.parent.mkdir(parents=True, exist_ok=True)
    nlp.save(out)
    scores = nlp.model.card["dev"] or {}
    print(
        f"{out.name}: {out.stat().st_size / 1e6:.1f} MB, {time.perf_counter() - started:.0f} s, "
        f"dev UAS {scores.get('uas')}, LAS {scores.get('las')}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("--every", action="store_true", help="one model for every treebank")
    parser.add_argument("--out", type=Path, default=BUNDLED)
    arguments = parser.parse_args()
    if not arguments.every:
        for name, (folder, licence, options) in MODELS.items():
            make(arguments.treebanks / folder, arguments.out / f"{name}.arbora", licence, options)
        return
    for folder in sorted(path.parent for path in arguments.treebanks.glob("*/train.conll*")):
        make(folder, arguments.out / f"{folder.name}.arbora", None, {})


if __name__ == "__main__":
    main()
