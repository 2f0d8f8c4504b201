"""The shapes of the network's parameters, and their first values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ModelError
from arbora.neural.vocabulary import NeuralVocabulary
from arbora.options import NeuralOptions
from arbora.scores import PART_KINDS, PartKind, kind_number

__all__ = [
    "CHARACTER_WINDOW",
    "Sizes",
    "first_parameters",
    "parameter_shapes",
    "roles_of",
    "side_of",
]

CHARACTER_WINDOW = 5  # characters that a filter sees
_VECTORS = {"form": 100, "lemma": 64, "upos": 48, "xpos": 48, "feats": 48, "character": 32}
_FILTERS = 100  # of characters
_CONTEXT = 200  # of the vector of a word in its sentence


@dataclass(frozen=True)
class Sizes:
    """The sizes of the network: those of the options, labels, parts and given vectors."""

    width: int
    layers: int
    arc_width: int
    label_width: int
    rank: int
    n_labels: int  # 0: another component labels
    joint: bool  # labels are scored with the arcs
    kinds: tuple[PartKind, ...] = ()
    given: int = 0  # dimensions of word vectors from a file; 0 for none
    context: int = 0  # dimensions of a pretrained encoder's vectors; 0 for none
    context_layers: int = 0  # the encoder's last layers whose mean is a vector
    tuned: bool = False  # the encoder's arrays are parameters too

    @classmethod
    def of(
        cls, options: NeuralOptions, n_labels: int, joint: bool, kinds: tuple[PartKind, ...],
        given: int = 0, context: int = 0,
    ) -> Sizes:  # fmt: skip
        """The sizes for the options."""
        return cls(
            options.width, options.layers, options.arc_width, options.label_width, options.rank,
            n_labels, joint, kinds, given, context, options.encoder_layers if context else 0,
            options.fine_tune,
        )  # fmt: skip

    def to_store(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"kinds": list(self.kinds)}

    @classmethod
    def from_store(cls, stored: Mapping[str, Any]) -> Sizes:
        """The sizes in a model file; raises for values that no network has."""
        sizes = cls(**{**stored, "kinds": tuple(stored["kinds"])})
        numbers = (sizes.width, sizes.layers, sizes.arc_width, sizes.label_width, sizes.rank)
        counts = (sizes.n_labels, sizes.given, sizes.context, sizes.context_layers)
        known = {kind.name for kind in PART_KINDS}
        if (
            not all(type(n) is int and 0 < n < 1 << 16 for n in numbers)
            or not all(type(n) is int and 0 <= n < 1 << 20 for n in counts)
            or not known.issuperset(sizes.kinds)
            or type(sizes.tuned) is not bool
            or (sizes.context > 0) != (sizes.context_layers > 0)
            or (sizes.tuned and not sizes.context)
        ):
            raise ModelError("the scorer's sizes are not those of a network.")
        return sizes


def roles_of(kind: PartKind) -> tuple[int, ...]:
    """The index columns of a kind of parts that are words; the side is none."""
    columns = PART_KINDS[kind_number(kind)].columns
    return tuple(i for i, name in enumerate(columns) if name != "side")


def side_of(kind: PartKind) -> int | None:
    """The index column of the side of a kind of parts, if it has one."""
    columns = PART_KINDS[kind_number(kind)].columns
    return columns.index("side") if "side" in columns else None


def parameter_shapes(sizes: Sizes, vocabulary: NeuralVocabulary) -> dict[str, tuple[int, ...]]:
    """The shape of every parameter, by name; those of a pretrained encoder are none of them."""
    shapes: dict[str, tuple[int, ...]] = {
        f"vectors.{name}": (vocabulary.size(name), _VECTORS[name])
        for name in (*vocabulary.columns, "character")
    }
    shapes["spelling.filters"] = (CHARACTER_WINDOW * _VECTORS["character"], _FILTERS)
    shapes["spelling.bias"] = (_FILTERS,)
    inputs = sum(_VECTORS[name] for name in vocabulary.columns) + _FILTERS
    if sizes.given:
        shapes["given.map"] = (sizes.given, _VECTORS["form"])
    if sizes.context:
        shapes["context.map"] = (sizes.context, _CONTEXT)
        inputs += _CONTEXT
    width = inputs
    for layer in range(sizes.layers):
        for side in ("forward", "backward"):
            shapes[f"lstm.{layer}.{side}.input"] = (4 * sizes.width, width)
            shapes[f"lstm.{layer}.{side}.state"] = (4 * sizes.width, sizes.width)
            shapes[f"lstm.{layer}.{side}.bias"] = (4 * sizes.width,)
        width = 2 * sizes.width
    for role in ("head", "modifier"):
        shapes[f"arc.{role}.map"], shapes[f"arc.{role}.bias"] = (
            (width, sizes.arc_width), (sizes.arc_width,)
        )  # fmt: skip
    shapes["arc.pair"] = (sizes.arc_width + 1, sizes.arc_width)  # with a row of the modifier alone
    shapes["arc.head"] = (sizes.arc_width,)
    if sizes.n_labels:
        for role in ("head", "modifier"):
            shapes[f"label.{role}.map"], shapes[f"label.{role}.bias"] = (
                (width, sizes.label_width), (sizes.label_width,)
            )  # fmt: skip
        rows = sizes.label_width + 1
        shapes["label.pair"] = (rows, sizes.n_labels * rows)
    for kind in sizes.kinds:
        for column in roles_of(kind):
            shapes[f"part.{kind}.{column}.map"] = (width, sizes.rank)
            shapes[f"part.{kind}.{column}.none"] = (sizes.rank,)  # START, END, the root's head
        if side_of(kind) is not None:
            shapes[f"part.{kind}.side"] = (2, sizes.rank)
    return shapes


def first_parameters(
    sizes: Sizes, vocabulary: NeuralVocabulary, seed: int
) -> dict[str, NDArray[np.float32]]:
    """The parameters before training; each has its own random numbers.

    Parts begin with scores of 0, since the last of their factors does.
    """
    last = {kind: roles_of(kind)[-1] for kind in sizes.kinds}
    zero = {f"part.{kind}.{role}.{what}" for kind, role in last.items() for what in ("map", "none")}
    zero |= {"arc.pair", "arc.head", "label.pair"}
    answer: dict[str, NDArray[np.float32]] = {}
    for number, (name, shape) in enumerate(parameter_shapes(sizes, vocabulary).items()):
        random = np.random.default_rng([seed, number])
        values = np.zeros(shape)
        if name.startswith("vectors."):
            values = random.normal(0.0, shape[1] ** -0.5, shape)
        elif name.endswith(".side"):
            values = np.ones(shape)
        elif name.endswith(".none") and name not in zero:
            values = random.uniform(-0.5, 0.5, shape)
        elif name.endswith(".state"):
            values = np.concatenate(
                [_orthogonal(random, shape[1]) for _ in range(4)]
            )  # one square matrix per gate
        elif len(shape) == 2 and name not in zero:
            spread = (6.0 / (shape[0] + shape[1])) ** 0.5  # Glorot & Bengio 2010
            values = random.uniform(-spread, spread, shape)
        elif name.startswith("lstm.") and name.endswith(".bias"):
            values[shape[0] // 4 : shape[0] // 2] = 1.0  # states are kept at first
        answer[name] = values.astype(np.float32)
    return answer


def _orthogonal(random: np.random.Generator, size: int) -> NDArray[np.float64]:
    q, r = np.linalg.qr(random.normal(size=(size, size)))
    return np.asarray(q * np.sign(np.diag(r)))
