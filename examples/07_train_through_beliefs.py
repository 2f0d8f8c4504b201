"""A scorer in NumPy, trained through belief propagation (Gormley et al. 2015).

The data are synthetic: words have vectors, and the gold trees maximise two random bilinear forms,
one over arcs and one over grandparents and modifiers. `Bilinear` scores arcs and grandparents with
two trainable forms. The loss is the squared distance between beliefs and gold trees, and its
gradient is backpropagated through four iterations of belief propagation. The model is saved and
loaded like any other.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

import arbora
from arbora import HeadAutomata, Parser, Parts, Sentence
from arbora.drawing import make_printable
from arbora.features import FeatureSettings
from arbora.scores import PartKind, Scores
from arbora.scoring import Batch, Parameters, Pullback, register_scorer

Floats = NDArray[np.float64]
WIDTH, WORDS, VOCABULARY = 6, 6, 200
OPTIONS: dict[str, Any] = {
    "order": "grandparent", "inference": "bp", "learner": "l2", "labels": "none", "rate": 0.1,
    "regularization": 0.0, "batch_size": 1, "passes": 6, "bits": 12, "prune_threshold": 0.0,
}  # fmt: skip


def vectors(forms: list[str]) -> Floats:
    """A vector for the root and for every word; equal words have equal vectors."""
    rows = [np.random.default_rng(crc32(form.encode())).normal(size=WIDTH) for form in forms]
    return np.vstack([np.ones(WIDTH), *rows])


@register_scorer
class Bilinear:
    """Scores of arcs and grandparents from two bilinear forms of word vectors."""

    kind: ClassVar[str] = "bilinear"
    kinds: tuple[PartKind, ...] = ("grandparents",)
    n_labels: int | None = None

    def __init__(self, arcs: NDArray[Any], paths: NDArray[Any]) -> None:
        self._forms: Parameters = {"arcs": arcs, "paths": paths}

    @classmethod
    def random(cls, seed: int, scale: float) -> Bilinear:
        rng = np.random.default_rng(seed)
        return cls(*(scale * rng.normal(size=(2, WIDTH, WIDTH))))

    def tables(self, words: Floats) -> tuple[Floats, Floats]:
        """[head, modifier] and [grandparent, modifier]."""
        return words @ self._forms["arcs"] @ words.T, words @ self._forms["paths"] @ words.T

    def scores(self, batch: Batch) -> tuple[Scores, Pullback]:
        scores = Scores.over_mask(batch.kept, batch.n_words, self.kinds)
        places = batch.encoded.places[batch.sentences]
        words = [vectors(batch.encoded.block.column(int(place), 1)) for place in places]
        paths = [scores.columns("grandparents", i) for i in range(len(batch))]
        for i, rows in enumerate(words):
            scores.arcs_of(i)[:], above = self.tables(rows)
            scores.piece("grandparents", i)[:] = _at(above, paths[i])
        scores.arcs[batch.kept == 0] = -np.inf

        def pullback(d_scores: Scores) -> Parameters:
            gradient = {name: np.zeros((WIDTH, WIDTH)) for name in self._forms}
            for i, rows in enumerate(words):
                d_above = np.zeros((len(rows), len(rows)))
                inside = paths[i][:, 0] >= 0
                g, _, m = paths[i][inside].T
                np.add.at(d_above, (g, m), d_scores.piece("grandparents", i)[inside])
                gradient["arcs"] += rows.T @ d_scores.arcs_of(i) @ rows
                gradient["paths"] += rows.T @ d_above @ rows
            return gradient

        return scores, pullback

    def parameters(self) -> Parameters:
        return self._forms

    def with_parameters(self, parameters: Mapping[str, NDArray[Any]]) -> Bilinear:
        return Bilinear(**parameters)

    def state(self) -> tuple[dict[str, Any], Parameters]:
        return {}, self._forms

    @classmethod
    def from_state(
        cls,
        description: dict[str, Any],  # noqa: ARG003  # the arrays are sufficient
        arrays: Mapping[str, NDArray[Any]],
        features: FeatureSettings,  # noqa: ARG003  # words have vectors instead
    ) -> Bilinear:
        return cls(arrays["arcs"], arrays["paths"])


def _at(above: Floats, paths: NDArray[np.int64]) -> Floats:
    """The scores of paths (grandparent, head, modifier); the grandparent of the root is -1."""
    return np.where(paths[:, 0] >= 0, above[paths[:, 0], paths[:, 2]], 0.0)


def made_up(rng: np.random.Generator, count: int) -> list[Sentence]:
    """Random words with the best trees under hidden forms."""
    hidden, answer = Bilinear.random(1, 0.8), []
    ways = np.array([(g, h, m) for m in range(1, WORDS + 1) for h in range(1, WORDS + 1)
                     for g in range(WORDS + 1) if len({g, h, m}) == 3])  # fmt: skip
    for _ in range(count):
        forms = [f"word{i}" for i in rng.integers(VOCABULARY, size=WORDS)]
        arcs, above = hidden.tables(vectors(forms))
        best = HeadAutomata(Parts(arcs, grandparents=(ways, _at(above, ways)))).argmax()
        answer.append(Sentence.from_words(forms, heads=best.heads))
    return answer


def main() -> None:
    make_printable(sys.stdout)
    rng = np.random.default_rng(0)
    train, test = made_up(rng, 120), made_up(rng, 60)
    parser = Parser(scorer=Bilinear.random(0, 0.01), **OPTIONS)
    parser.fit(train, test)
    assert parser.history is not None
    for record in parser.history.passes:
        print(f"pass {record.number}: loss {record.loss:5.3f} a word, {record.uas:5.1f} % of heads")
    with tempfile.TemporaryDirectory() as folder:
        parser.save(Path(folder) / "bilinear.arbora")
        loaded = arbora.load(Path(folder) / "bilinear.arbora")
    uas = loaded.evaluate(test).uas
    print(f"loaded: {uas:5.1f} % of heads")
    assert uas is not None
    assert uas > 60.0


if __name__ == "__main__":
    main()
